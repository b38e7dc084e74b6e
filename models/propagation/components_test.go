package propagation

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// strips is a graph of strips of width 3, the hard kind, whose vertices are mixed, and of
// some single vertices.
func strips(lengths ...int) *sparse.CSR {
	const width = 3
	n := 7
	for _, l := range lengths {
		n += width * l
	}
	rng := rand.New(rand.NewPCG(1, 2))
	name := rng.Perm(n)
	var rows, cols []int32
	var weights []float64
	join := func(i, j int) {
		w := 0.5 + rng.Float64()
		rows, cols = append(rows, int32(name[i]), int32(name[j])), append(cols, int32(name[j]), int32(name[i]))
		weights = append(weights, w, w)
	}
	first := 0
	for _, l := range lengths {
		for i := range width * l {
			if i%width > 0 {
				join(first+i-1, first+i)
			}
			if i >= width {
				join(first+i-width, first+i)
			}
		}
		first += width * l
	}
	w, err := sparse.FromTriplets(n, n, rows, cols, weights)
	if err != nil {
		panic(err)
	}
	return w
}

// TestByComponent: solved apart, components have the values that they have together, and
// the same bits at any number of threads.
func TestByComponent(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	p, err := NewProblem(strips(1700, 300, 1800, 100), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(p.spans()); got != 2 {
		t.Fatalf("%d spans, want 2", got)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	values, labeled := make([]int64, p.Len()), make([]bool, p.Len())
	for q, i := range rng.Perm(p.Len())[:60] {
		values[i], labeled[i] = int64(q%4), true
	}
	labels := data.NewLabels(values, labeled)
	if err != nil {
		t.Fatal(err)
	}
	y, err := models.ClassTargets(labels)
	if err != nil {
		t.Fatal(err)
	}
	weights := regularizer.Regularizer{GammaA: 1e-4, GammaI: 1, Power: 1}
	for _, s := range []Settings{{}, {Method: LGC, Alpha: 0.9999}, {Method: Poisson}, {Method: Tikhonov, Regularizer: weights}} {
		s.Tolerance = 1e-11
		filled, err := s.fill(y)
		if err != nil {
			t.Fatal(err)
		}
		d := p.newDraw(y, filled)
		want, err := d.equations(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var first *mat.Dense
		threads := []int{3}
		if s.Method == Harmonic {
			threads = []int{3, 1}
		}
		for _, procs := range threads {
			runtime.GOMAXPROCS(procs)
			got, err := d.byComponent(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var difference mat.Dense
			difference.Sub(got.X, want.X)
			if worst := mat.Max(absolute(&difference)) / mat.Max(absolute(want.X)); !(worst <= 1e-6) {
				t.Errorf("%v: values apart differ by %v", s.Method, worst)
			}
			if first == nil {
				first = got.X
			} else if !mat.Equal(first, got.X) {
				t.Errorf("%v: other bits at %d threads", s.Method, procs)
			}
			if !(got.MaxResidual() <= s.Tolerance) {
				t.Errorf("%v: residual %v", s.Method, got.MaxResidual())
			}
			if s.Method != LGC && got.MaxIterations() > 150 {
				t.Errorf("%v: %d iterations: the graph does not count as hard", s.Method, got.MaxIterations())
			}
		}
	}
	// What stops a part stops the whole.
	stop := errors.New("stop")
	if _, err := p.Fit(t.Context(), y, &Settings{OnIteration: func(cg.State) error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("%v, want the error of the hook", err)
	}
	if r, err := p.Fit(t.Context(), y, &Settings{MaxIterations: 1, Tolerance: 1e-17}); !errors.Is(err, cg.ErrNotConverged) || r == nil {
		t.Errorf("after one iteration: %v", err)
	}
}

func absolute(x *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, x)
	return &out
}
