package par

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// No two goroutines may have the same number at once, in calls that follow one another at once, in calls from several
// goroutines, and in calls within calls: the counters are not atomic, so the race detector sees it too.
func TestNumbersOfWorkersAreDistinct(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	count := func(n int) int {
		counts := make([]int, Workers(n, 1))
		ForWorker(n, 1, func(worker, _, _ int) { counts[worker]++ })
		sum := 0
		for _, c := range counts {
			sum += c
		}
		return sum
	}

	var callers sync.WaitGroup
	for range 3 {
		callers.Go(func() {
			for n := range 2000 {
				if got := count(n % 50); got != n%50 {
					t.Errorf("%d of %d chunks", got, n%50)
				}
			}
		})
	}
	callers.Wait()

	var inner atomic.Int64
	For(500, 1, func(_, _ int) { inner.Add(int64(count(20))) })
	if inner.Load() != 500*20 {
		t.Errorf("%d of %d chunks of calls within calls", inner.Load(), 500*20)
	}
}

// Goroutines end soon after the last call, and calls within calls leave none behind that have not begun.
func TestGoroutinesEnd(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	before := runtime.NumGoroutine()
	var most atomic.Int64
	For(8, 1, func(_, _ int) {
		for range 2000 {
			For(10, 1, func(_, _ int) {})
			most.Store(max(most.Load(), int64(runtime.NumGoroutine())))
		}
	})
	if most.Load() > int64(before)+100 {
		t.Errorf("%d goroutines at once, %d before", most.Load(), before)
	}

	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines ten seconds after the last call, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(patience)
	}
}

// A panic does not end the goroutine that meets it: it may wait for another call.
func TestCallsAfterPanics(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for n := range 500 {
		func() {
			defer func() {
				if p, ok := recover().(*Panic); !ok || p.Value != "chunk" {
					t.Errorf("call %d: %v", n, p)
				}
			}()
			For(20, 1, func(lo, _ int) {
				if lo == 7 {
					panic("chunk")
				}
			})
		}()
		var done atomic.Int64
		For(20, 1, func(_, _ int) { done.Add(1) })
		if done.Load() != 20 {
			t.Fatalf("%d of 20 chunks after a panic", done.Load())
		}
	}
}
