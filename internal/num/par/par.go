// Package par is the project's only source of goroutines: a parallel for over chunks. The range and
// the grain alone decide where chunks begin. A computation that writes each chunk's result to its
// own place, or folds the chunks' results in order, therefore yields the same bits at any
// GOMAXPROCS.
package par

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// Chunks returns the number of chunks that For cuts [0, n) into: ⌈n/grain⌉.
// A grain below 1 counts as 1.
func Chunks(n, grain int) int {
	grain = max(grain, 1)
	if n <= 0 {
		return 0
	}
	return (n-1)/grain + 1
}

// For calls fn(lo, hi) once for every chunk [c·grain, min((c+1)·grain, n)) of
// [0, n), from at most GOMAXPROCS goroutines, and returns when all calls have
// returned. Chunks are handed out in increasing order. If a call panics, the
// remaining chunks are dropped and For panics with a *Panic of the first one.
func For(n, grain int, fn func(lo, hi int)) {
	grain = max(grain, 1)
	ForWorker(n, grain, func(_, lo, hi int) { fn(lo, hi) })
}

// Until is For until ctx is cancelled: then the remaining chunks are dropped, and the
// caller has to ask ctx whether all are done.
func Until(ctx context.Context, n, grain int, fn func(lo, hi int)) {
	For(n, grain, func(lo, hi int) {
		if ctx.Err() == nil {
			fn(lo, hi)
		}
	})
}

// Panic is the value with which For panics after a panic in one of its goroutines.
type Panic struct {
	Value any
	Stack []byte // of the goroutine
}

// Error returns the value and the stack.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\nin a worker:\n%s", p.Value, p.Stack) }

// ForWorker is For for bodies that need scratch memory: worker, in
// [0, Workers(n, grain)), identifies the calling goroutine. Which worker gets
// which chunk is not determined; results must not depend on it.
func ForWorker(n, grain int, fn func(worker, lo, hi int)) {
	grain = max(grain, 1)
	chunks := Chunks(n, grain)
	workers := Workers(n, grain)
	// A mapped file that is cut off while it is read is a panic, not the end.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if workers <= 1 {
		for c := range chunks {
			fn(0, c*grain, min((c+1)*grain, n))
		}
		return
	}

	j := newJob(n, grain, workers, fn)
	given := give(j, workers-1)
	for range workers - 1 - bits.OnesCount64(given) {
		go help(j)
	}
	j.work()
	takeBack(j, given)
	j.wait()
	if j.failure != nil {
		panic(j.failure)
	}
}

// Workers returns the largest number of goroutines of ForWorker(n, grain, …),
// min(GOMAXPROCS less those of [Reserve], Chunks(n, grain)).
func Workers(n, grain int) int {
	return min(max(1, runtime.GOMAXPROCS(0)-int(reserved.Load())), Chunks(n, grain))
}

// reserved is the number of processors of GOMAXPROCS that For leaves alone.
var reserved atomic.Int32

// Reserve raises GOMAXPROCS by k, and lets For use as many processors as before. The others wait for what must be
// answered at once, as requests of a server: where all compute, Go's scheduler looks for arrivals only every 10 ms,
// and the system would have run them at once. release undoes it. Neither may be called while a For runs.
func Reserve(k int) (release func()) {
	before := runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + k)
	reserved.Add(int32(k))
	return func() {
		reserved.Add(-int32(k))
		runtime.GOMAXPROCS(before)
	}
}

// Sum returns Σ fn(lo, hi) over the chunks of [0, n), added in chunk order.
func Sum(n, grain int, fn func(lo, hi int) float64) float64 {
	grain = max(grain, 1)
	parts := make([]float64, Chunks(n, grain))
	For(n, grain, func(lo, hi int) { parts[lo/grain] = fn(lo, hi) })
	var s float64
	for _, p := range parts {
		s += p
	}
	return s
}
