package machine

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
)

// Budget adds up what the stages of a run announce. The zero value is ready for use
// by one goroutine.
type Budget struct{ announced int64 }

// ProgramBytes is about the resident memory of the program that holds nothing: its
// code, the runtime and small things.
const ProgramBytes = 24 << 20

// Announce returns the peak of the resident memory in a stage that needs so many bytes
// beside what the process holds: the bytes in use after a collection, those of the
// program, and those of the stage, or the peak that was reached before if that is more.
//
// Unless that is more than limit, the collector then keeps the process near the largest
// announcement so far: garbage may grow to a tenth above it, and not beyond limit.
func (b *Budget) Announce(stage, limit int64) int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	held := ProgramBytes + int64(m.HeapAlloc)
	total := int64(math.MaxInt64)
	if stage < math.MaxInt64-held {
		total = max(held+stage, PeakMemory())
	}
	if total <= limit {
		b.announced = max(b.announced, total)
		debug.SetMemoryLimit(min(b.announced+b.announced/10, limit) - ProgramBytes/2)
	}
	return total
}

// String compares the largest announcement with the peak of resident memory so far,
// as in "512.3 MiB announced, 480.1 MiB at the peak"; it is empty if there was none.
func (b *Budget) String() string {
	if b.announced == 0 {
		return ""
	}
	const mib = 1 << 20
	text := fmt.Sprintf("%.1f MiB announced", float64(b.announced)/mib)
	if peak := PeakMemory(); peak > 0 {
		text += fmt.Sprintf(", %.1f MiB at the peak", float64(peak)/mib)
	}
	return text
}
