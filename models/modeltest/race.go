//go:build race

package modeltest

// slower is how many times longer everything takes under the race detector.
const slower = 5
