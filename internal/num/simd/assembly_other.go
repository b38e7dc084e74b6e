//go:build !amd64 || purego

package simd

// assembly returns no paths: this build has none.
func assembly() []*path { return nil }
