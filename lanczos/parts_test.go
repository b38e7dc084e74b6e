package lanczos_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// clustered is a graph of three components, interleaved: a path of 9 vertices, a
// complete graph of 5 and one vertex alone.
func clustered() *sparse.CSR {
	m := mat.NewDense(15, 15, nil)
	join := func(i, j int, w float64) { m.Set(i, j, w); m.Set(j, i, w) }
	for i := 0; i < 8; i++ {
		join(vertex(0, i), vertex(0, i+1), 1+0.1*float64(i))
	}
	for i := range 5 {
		for j := range i {
			join(vertex(1, i), vertex(1, j), 1)
		}
	}
	return sparse.FromDense(m)
}

// vertex is vertex i of a component of clustered.
func vertex(component, i int) int {
	switch component {
	case 0:
		return []int{0, 2, 4, 6, 8, 10, 12, 13, 14}[i]
	case 1:
		return []int{1, 3, 5, 7, 9}[i]
	}
	return 11
}

// Pairs of parts satisfy the equation of the whole graph, are orthonormal, and are the
// smallest of their component; vectors are zero elsewhere.
func TestParts(t *testing.T) {
	w := clustered()
	c := w.Components()
	path, clique, alone := c.Of[0], c.Of[1], c.Of[11]
	of := []int32{path, alone, path, clique, path, clique}
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		l, err := sparse.NewLaplacian(w, kind)
		if err != nil {
			t.Fatal(err)
		}
		var solved []int
		r, err := lanczos.Parts(t.Context(), l, c, of, func(p *lanczos.Part) (*lanczos.Result, error) {
			solved = append(solved, len(p.Vertices))
			return lanczos.Laplacian(t.Context(), p.Laplacian, p.Components, &lanczos.Settings{K: p.K})
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(solved, []int{9, 5}) || r.Nullity != 2 || len(r.Values) != len(of) {
			t.Errorf("%v: parts of %v vertices, nullity %d, %d values", kind, solved, r.Nullity, len(r.Values))
		}
		for j, id := range of {
			if j > 0 && slices.Index(of, id) == j && r.Values[j] != 0 {
				t.Errorf("%v: the first value of component %d is %v", kind, id, r.Values[j])
			}
			for i := range 15 {
				if v := r.Vectors.At(i, j); c.Of[i] != id && v != 0 {
					t.Errorf("%v: vector %d of component %d is %v at point %d", kind, j, id, v, i)
				}
			}
		}
		if second := r.Values[2]; !(second > 0 && second < r.Values[4]) {
			t.Errorf("%v: values %v", kind, r.Values)
		}
		lv, gram := mat.NewDense(15, len(of), nil), new(mat.Dense)
		l.MulTo(lv, r.Vectors)
		gram.Mul(r.Vectors.T(), r.Vectors)
		for j, v := range r.Values {
			for i := range 15 {
				if e := math.Abs(lv.At(i, j) - v*r.Vectors.At(i, j)); !(e <= 1e-7) {
					t.Errorf("%v: residual %v of pair %d", kind, e, j)
				}
			}
			gram.Set(j, j, gram.At(j, j)-1)
		}
		if e := mat.Norm(gram, math.Inf(1)); !(e <= 1e-7) {
			t.Errorf("%v: VᵀV − I is %v", kind, e)
		}
		if e := math.Abs(r.Values[2] - smallest(t, w, c, kind)); !(e <= 1e-7) {
			t.Errorf("%v: the second value of the path is off by %v", kind, e)
		}
	}
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lanczos.Parts(t.Context(), l, c, []int32{alone, alone}, nil); err == nil {
		t.Error("two vectors of one vertex")
	}
	want := errors.New("no solver")
	if _, err := lanczos.Parts(t.Context(), l, c, of, func(*lanczos.Part) (*lanczos.Result, error) { return nil, want }); !errors.Is(err, want) {
		t.Errorf("the error of the solver: %v", err)
	}
}

// smallest is the smallest positive eigenvalue of the path, from the spectrum of the whole.
func smallest(t *testing.T, w *sparse.CSR, c *sparse.Components, kind sparse.Kind) float64 {
	t.Helper()
	l, err := sparse.NewLaplacian(w, kind)
	if err != nil {
		t.Fatal(err)
	}
	r, err := lanczos.Laplacian(t.Context(), l, c, &lanczos.Settings{K: 4})
	if err != nil {
		t.Fatal(err)
	}
	return r.Values[3]
}
