// Package machine tells how much memory and speed this computer has for a run.
package machine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
)

// Size is a number of bytes with a text form such as 8GiB or 500MB.
type Size int64

var units = []struct {
	name  string
	bytes float64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3}, {"B", 1},
}

// String returns the size in the largest binary unit it reaches.
func (m Size) String() string {
	for _, u := range units[:4] {
		if float64(m) >= u.bytes {
			return fmt.Sprintf("%.1f %s", float64(m)/u.bytes, u.name)
		}
	}
	return fmt.Sprintf("%d B", int64(m))
}

// Set parses a size; a bare number is in bytes.
func (m *Size) Set(text string) error {
	number := strings.TrimSpace(text)
	unit := 1.0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number = strings.TrimSpace(rest)
			unit = u.bytes
			break
		}
	}

	// Half of the range: callers add sizes to each other.
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || v*unit > math.MaxInt64/2 {
		return fmt.Errorf("%q is not a size such as 8GiB, 500MB or a number of bytes", text)
	}
	*m = Size(v * unit)
	return nil
}

// Type names the form in help texts.
func (m *Size) Type() string { return "size" }

// OperationRate returns the floating-point operations a second of this machine
// in float64 matrix products, measured once in a few milliseconds.
var OperationRate = sync.OnceValue(func() float64 {
	const n = 384
	a := mat.NewDense(n, n, nil)
	c := mat.NewDense(n, n, nil)

	// The best of three: the first one may wait for memory or for the clock of the processor.
	best := math.Inf(1)
	for range 3 {
		start := time.Now()
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, a, a, 0, c)
		best = min(best, time.Since(start).Seconds())
	}
	return 2 * n * n * n / best
})

// Seconds estimates the time of the given number of floating-point operations on this machine. The
// rate is not measured for fewer than 10⁸ operations: they take less than 0.1 s anywhere, and
// measuring would take longer.
func Seconds(operations float64) float64 {
	if operations < 1e8 {
		return operations / 1e9
	}
	return operations / OperationRate()
}
