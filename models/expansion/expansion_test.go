package expansion

import (
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
)

// expansionOf is an expansion over m random points of d dimensions with c outputs, and a
// point to ask for.
func expansionOf(m, d, c int) (*Expansion, data.Points) {
	rng := rand.New(rand.NewPCG(1, 2))
	points, query := data.NewDense[float32](m, d), data.NewDense[float32](1, d)
	for _, x := range []*data.Dense[float32]{points, query} {
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
		}
	}
	e := New(kernel.Kernel{Kind: kernel.Gaussian, Sigma: 10}, false, nil)
	e.Points, e.Coefficients = points, mat.NewDense(m, c, nil)
	for i := range e.Coefficients.RawMatrix().Data {
		e.Coefficients.RawMatrix().Data[i] = rng.NormFloat64()
	}
	return &e, query
}

// The points are prepared by the first query, and by no other: not by queries at the
// same time, nor by those to a copy of the model.
func TestQueriesPrepareOnce(t *testing.T) {
	e, query := expansionOf(50, 7, 3)
	first, err := e.Predict(t.Context(), query, nil)
	if err != nil {
		t.Fatal(err)
	}
	prepared := e.queries.side
	if prepared == nil {
		t.Fatal("the first query kept nothing")
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			other := *e
			p, err := other.Predict(t.Context(), query, nil)
			if err != nil || !mat.Equal(p.Scores, first.Scores) || other.queries.side != prepared {
				t.Errorf("another query: prepared anew %v, %v", other.queries.side != prepared, err)
			}
		})
	}
	all.Wait()
	changed := *e
	changed.Kernel.Sigma = 3
	alone := Expansion{Kernel: changed.Kernel, Points: e.Points, Coefficients: e.Coefficients}
	got, err := changed.Predict(t.Context(), query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := alone.Predict(t.Context(), query, nil); err != nil || !mat.Equal(got.Scores, want.Scores) {
		t.Errorf("another width answers with what was kept of the first: %v", err)
	}
}

// BenchmarkQuery is one query of an expansion over 4000 landmarks in a loaded model.
func BenchmarkQuery(b *testing.B) {
	for _, size := range []struct {
		name string
		d    int
	}{{"d=16", 16}, {"d=256", 256}, {"d=784", 784}} {
		b.Run(size.name, func(b *testing.B) {
			e, query := expansionOf(4000, size.d, 10)
			if _, err := e.Predict(b.Context(), query, nil); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := e.Predict(b.Context(), query, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
