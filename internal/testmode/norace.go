//go:build !race

package testmode

const race Mode = 0
