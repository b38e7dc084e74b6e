// Package sealed closes an interface to other modules, although several packages of this module
// implement it: a method with a parameter of a type of this package cannot be written in another
// module.
package sealed

// Points is the parameter that closes data.Points.
type Points struct{}
