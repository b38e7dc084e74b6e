package machine

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// AddressLimit returns RLIMIT_AS in bytes, math.MaxInt64 if there is none.
func AddressLimit() int64 {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &r); err != nil || r.Cur > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(r.Cur)
}

// addressSpace returns RLIMIT_AS less the address space in use, as statm below the folder root
// tells it.
func addressSpace(root string) int64 {
	limit := AddressLimit()
	if limit == math.MaxInt64 {
		return limit
	}

	// The first number of statm is the size of the address space in pages.
	text, err := os.ReadFile(filepath.Join(root, "proc/self/statm"))
	if err != nil {
		return limit
	}
	pages, _, _ := strings.Cut(string(text), " ")
	return leaves(limit, pages)
}

// leaves returns a limit of the address space less the given pages in use. The runtime maps the
// heap in arenas of 64 MiB, and the last one may be used in part, so one arena is subtracted too.
func leaves(limit int64, pages string) int64 {
	const arena = 64 << 20
	used, err := strconv.ParseInt(pages, 10, 64)
	if err != nil {
		return limit
	}
	return max(limit-used*int64(os.Getpagesize())-arena, 0)
}
