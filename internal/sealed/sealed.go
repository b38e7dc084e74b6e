// Package sealed closes an interface to other modules whose implementations lie in
// several packages of this one: a method with a parameter of a type of this package
// cannot be written elsewhere.
package sealed

// Points is the parameter that closes data.Points.
type Points struct{}
