//go:build !purego

package testmode

const pureGo Mode = 0
