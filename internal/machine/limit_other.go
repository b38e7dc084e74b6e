//go:build !linux

package machine

import "math"

// AddressLimit returns RLIMIT_AS in bytes, math.MaxInt64 if there is none or the
// system has no such limit.
func AddressLimit() int64 { return math.MaxInt64 }

func addressSpace(string) int64 { return math.MaxInt64 }
