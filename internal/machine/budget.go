package machine

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
)

// Commands announce the needs of a stage before it begins and refuse a stage that does not fit
// the memory limit. The limit is for the resident memory of the process. Budget adds to the
// bytes of a stage the bytes that are held when it is announced, measured after a collection
// (points, targets, graph, outputs), and tells the collector to stay near the sum
// (debug.SetMemoryLimit). That takes up to 4 % off the peak of five fits that were compared
// and less off others; a right sum matters more. Where no limit is given, the limit is the
// least of free memory, all control groups above the process, and RLIMIT_AS. Allowances for
// the collector and for products of matrices are stage.HeapBytes and stage.DenseBytes.
// modeltest.Costs holds the announcement of every learner against the measured peak, and make
// memory does so for whole commands: docs/memory.md.

// Budget adds up what the stages of a run announce. It is for one goroutine; Begin
// comes first.
type Budget struct {
	before    int64 // bytes in use when the run began
	announced int64
}

// ProgramBytes is about the resident memory of the program that holds nothing: its code, the runtime and
// small things. 25 to 27 MiB were measured.
const ProgramBytes = 27 << 20

// codeBytes is the part of ProgramBytes that the collector does not count: pages of the program's file,
// of which 20 to 23 MiB were resident in nine commands.
const codeBytes = 22 << 20

// Garbage in percent of the live objects at which the collector runs. Large blocks come and go, and a large run
// collects early rather than hold twice the memory. With the same share a small run, whose live objects take a
// megabyte or two, spends two fifths of its time in collections.
const (
	largeGarbage = 40
	smallGarbage = 200
	smallRun     = 64 << 20 // bytes that a small run announces at most
)

// Begin begins a run.
func (b *Budget) Begin() {
	debug.SetGCPercent(smallGarbage)
	*b = Budget{before: inUse()}
}

// inUse collects garbage and returns the bytes of the heap that remain.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Held returns the bytes that the run holds, after a collection.
func (b *Budget) Held() int64 { return max(0, inUse()-b.before) }

// Announce returns the peak of the resident memory in a stage that needs the given bytes beside the
// memory that the run holds. The peak is the sum of the bytes in use after a collection, the bytes
// of the stage and ProgramBytes, or the peak that was reached before if that is more.
//
// The stage fits if the bytes in use and the bytes of the stage are at most limit: ProgramBytes do
// not count. Then the collector keeps the process near the largest announcement so far: garbage may
// grow to a twentieth above it, and not beyond limit. From [smallRun] on it runs at [largeGarbage].
func (b *Budget) Announce(stage, limit int64) (total int64, fits bool) {
	held := b.Held()
	if stage > math.MaxInt64-held-ProgramBytes {
		return math.MaxInt64, false
	}
	if held+stage > limit {
		return held + stage + ProgramBytes, false
	}

	total = max(held+stage+ProgramBytes, PeakMemory())
	b.announced = max(b.announced, total)
	if held+stage+ProgramBytes > smallRun {
		debug.SetGCPercent(largeGarbage)
	}
	debug.SetMemoryLimit(min(b.announced+b.announced/20, limit+min(ProgramBytes, math.MaxInt64-limit)) -
		codeBytes)
	return total, true
}

// Unknown prepares for a stage that may hold any amount of memory: the collector runs at [largeGarbage].
func (b *Budget) Unknown() { debug.SetGCPercent(largeGarbage) }

// Announced returns the largest announcement so far, and forgets it: what was announced is not done.
func (b *Budget) Announced() int64 {
	announced := b.announced
	b.announced = 0
	return announced
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
