//go:build !race

package modeltest

const slower = 1
