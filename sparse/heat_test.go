package sparse

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// cycle returns the graph of a cycle of n vertices, whose eigenpairs are known: D − W has
// 2 − 2cos(2πk/n) for cos(2πki/n).
func cycle(n int) *CSR {
	w := &CSR{Rows: n, Cols: n, Ptr: []int64{0}}
	for i := range n {
		before, after := (i+n-1)%n, (i+1)%n
		w.Col = append(w.Col, int32(min(before, after)), int32(max(before, after)))
		w.Val = append(w.Val, 1, 1)
		w.Ptr = append(w.Ptr, int64(len(w.Col)))
	}
	return w
}

// The heat semigroup multiplies an eigenvector by e^{−tλ}, also where one series would drown it in
// e^{−tλ} of another.
func TestHeat(t *testing.T) {
	const n = 24
	for _, kind := range []Kind{Combinatorial, Normalized} {
		l, err := NewLaplacian(cycle(n), kind)
		if err != nil {
			t.Fatal(err)
		}
		unit := map[Kind]float64{Combinatorial: 1, Normalized: 0.5}[kind]
		for _, time := range []float64{-2, 0, 1e-13, 1e-3, 0.1, 1, 10, 100, 1000, 1e5} {
			t.Run(fmt.Sprintf("%v/%g", kind, time), func(t *testing.T) {
				h, err := NewHeat(l.With(3, 0.5), time)
				if err != nil {
					t.Fatal(err)
				}
				x := mat.NewDense(n, n/2, nil)
				for i := range n {
					for k := range n / 2 {
						x.Set(i, k, math.Cos(2*math.Pi*float64(k*i)/n))
					}
				}
				var dst mat.Dense
				dst.CloneFrom(x)
				h.MulTo(&dst, x)
				for k := range n / 2 {
					factor := math.Exp(-time * unit * (2 - 2*math.Cos(2*math.Pi*float64(k)/n)))
					for i := range n {
						tolerance := (1e-14 + 4e-16*math.Abs(time)) * math.Max(1, math.Exp(-time*l.UpperBound()))
						if e := math.Abs(dst.At(i, k) - factor*x.At(i, k)); !(e <= tolerance) {
							t.Fatalf("eigenvector %d: off by %.1e beside %.1e, degree %d", k, e, factor, h.Degree())
						}
					}
				}
			})
		}
	}
}

func TestHeatRefuses(t *testing.T) {
	walk, err := NewLaplacian(cycle(5), RandomWalk)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewHeat(walk, 1); err == nil || !strings.Contains(err.Error(), "normalized") {
		t.Errorf("the random-walk Laplacian: %v", err)
	}
	l, err := NewLaplacian(cycle(5), Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	for _, time := range []float64{1e12, -1e3, math.Inf(1), math.NaN()} {
		if _, err := NewHeat(l, time); err == nil || !strings.Contains(err.Error(), "out of reach") {
			t.Errorf("t = %g: %v", time, err)
		}
	}
	none, err := NewLaplacian(&CSR{Rows: 3, Cols: 3, Ptr: make([]int64, 4)}, Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHeat(none, 3)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(3, 1, []float64{1, 2, 3})
	dst := mat.NewDense(3, 1, nil)
	if h.MulTo(dst, x); !mat.EqualApprox(dst, x, 1e-15) {
		t.Errorf("without edges: %v", mat.Formatted(dst))
	}
}
