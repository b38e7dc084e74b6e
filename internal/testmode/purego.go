//go:build purego

package testmode

const pureGo = PureGo
