package par

import (
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

func TestForCoversEveryIndexOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 64, 1000} {
		for _, grain := range []int{-1, 1, 3, 64, 5000} {
			hits := make([]atomic.Int32, n)
			For(n, grain, func(lo, hi int) {
				if lo%max(grain, 1) != 0 || hi > n || lo >= hi {
					t.Errorf("n=%d grain=%d: chunk [%d,%d)", n, grain, lo, hi)
				}
				for i := lo; i < hi; i++ {
					hits[i].Add(1)
				}
			})
			for i := range hits {
				if hits[i].Load() != 1 {
					t.Fatalf("n=%d grain=%d: index %d visited %d times", n, grain, i, hits[i].Load())
				}
			}
		}
	}
}

func TestSumIsTheSameAtAnyThreadCount(t *testing.T) {
	term := func(lo, hi int) float64 {
		var s float64
		for i := lo; i < hi; i++ {
			s += math.Sin(float64(i)) / float64(i+1)
		}
		return s
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := Sum(100_000, 37, term)
	for _, p := range []int{2, 3, 8} {
		runtime.GOMAXPROCS(p)
		if got := Sum(100_000, 37, term); got != want {
			t.Errorf("GOMAXPROCS=%d: %v, want %v", p, got, want)
		}
	}
}

func TestWorkerNumbersAreInRange(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	w := Workers(100, 7)
	ForWorker(100, 7, func(worker, _, _ int) {
		if worker < 0 || worker >= w {
			t.Errorf("worker %d outside [0,%d)", worker, w)
		}
	})
}

func TestPanicReachesTheCaller(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	defer func() {
		p, ok := recover().(*Panic)
		if !ok || p.Value != "boom" || !strings.Contains(string(p.Stack), "par_test.go") {
			t.Errorf("recovered %v, want boom and where it happened", p)
		}
	}()
	For(100, 1, func(lo, _ int) {
		if lo == 50 {
			panic("boom")
		}
	})
	t.Error("For returned after a panic")
}

// Reserved processors are beside those of For, which uses as many as before; the end brings back what was.
func TestReserve(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	workers := Workers(1000, 1)
	release := Reserve(2)
	if got := runtime.GOMAXPROCS(0); got != procs+2 {
		t.Errorf("%d processors, not two more than %d", got, procs)
	}
	if got := Workers(1000, 1); got != workers {
		t.Errorf("%d workers, %d before", got, workers)
	}
	release()
	if got := runtime.GOMAXPROCS(0); got != procs || Workers(1000, 1) != workers {
		t.Errorf("%d processors after the end, %d before", got, procs)
	}
}
