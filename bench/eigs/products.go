package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// measureProducts times steps of the Chebyshev recurrence with blocks of several widths, in
// the order of rows that the solver uses, and copies of large arrays. It prints one object
// for each width.
//
// bytes_per_second counts the bytes that must move once: x, y and the graph are read, dst is
// written. The processor reads dst before it writes it, except in a copy:
// bytes_allocated_per_second counts these reads, too. gathered_bytes_per_second counts the
// rows of x that are read again for every edge, mostly from caches.
func measureProducts(o *options) error {
	w, kind, err := readGraph(o)
	if err != nil {
		return err
	}
	l, err := sparse.NewLaplacian(w, kind)
	if err != nil {
		return err
	}
	// Neighbours in the graph become neighbours in memory, as in the solver.
	l = l.Permute(w.ProductOrder())

	threads := runtime.GOMAXPROCS(0)
	copied := copyRate()
	enc := json.NewEncoder(os.Stdout)
	for _, width := range []int{1, 4, 8, 16, 32, 64} {
		// Once with all threads, once with one.
		seconds := stepSeconds(l, width)
		runtime.GOMAXPROCS(1)
		single := stepSeconds(l, width)
		runtime.GOMAXPROCS(threads)
		n := float64(w.Rows)
		nnz := float64(len(w.Col))
		b := float64(width)
		bytes := 8*3*n*b + 4*nnz + 8*2*n // the columns; where rows begin, and the diagonal
		if kind != sparse.Combinatorial || w.Val != nil {
			bytes += 8 * nnz
		}

		allocated := bytes + 8*n*b
		gathered := 8 * nnz * b
		err := enc.Encode(map[string]any{
			"peer": "bigfit", "block": width, "seconds": seconds, "threads": threads,
			"bytes_per_second": bytes / seconds, "bytes_allocated_per_second": allocated / seconds,
			"gathered_bytes_per_second": gathered / seconds,
			"copy_bytes_per_second":     copied, "share_of_copy": bytes / seconds / copied,
			"one_thread_seconds": single, "speedup": single / seconds,
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// stepSeconds returns the time of a step T_{j+1} = 2(1 − 2L/u)T_j − T_{j−1} of blocks. u
// bounds the spectrum of L, so that the blocks stay bounded.
func stepSeconds(l *sparse.Laplacian, width int) float64 {
	n := l.Dim()
	rng := rand.New(rand.NewPCG(1, 2))
	var t [3]*mat.Dense
	for i := range t {
		t[i] = mat.NewDense(n, width, nil)
		for j := range t[i].RawMatrix().Data {
			t[i].RawMatrix().Data[j] = rng.Float64()
		}
	}

	// The step in the form α·L·T_j + 2·T_j − T_{j−1}; the blocks then change places.
	alpha := -4 / l.UpperBound()
	return best(func() {
		l.RecurTo(t[2], alpha, t[1], 2, -1, t[0])
		t[0], t[1], t[2] = t[1], t[2], t[0]
	})
}

// copyRate returns the bytes that all threads together read and write in a second when they
// copy arrays larger than the caches.
func copyRate() float64 {
	const size = 512 << 20 / 8
	from := make([]float64, size)
	to := make([]float64, size)
	for i := range from {
		from[i] = float64(i)
	}
	seconds := best(func() {
		par.For(size, size/8, func(lo, hi int) { copy(to[lo:hi], from[lo:hi]) })
	})
	return 2 * 8 * size / seconds
}

// best returns the shortest time of fn in half a second or five calls.
func best(fn func()) float64 {
	// The first call warms caches and is not timed.
	fn()
	shortest := math.Inf(1)
	for begin, calls := time.Now(), 0; calls < 5 || time.Since(begin) < time.Second/2; calls++ {
		start := time.Now()
		fn()
		shortest = min(shortest, time.Since(start).Seconds())
	}
	return shortest
}
