package lanczos_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// spider has legs of a length that meet in vertex 0. A leg that is fixed there has the
// values 4 sin²(π(2j−1)/(4·length + 2)), each once fewer than there are legs; the others
// belong to vectors that are alike on all legs: a chain, whose first edge counts √legs.
func spider(legs, length int) family {
	var edges []edge
	for leg := range legs {
		for i := range length {
			to := 0
			if i > 0 {
				to = leg*length + i
			}
			edges = append(edges, edge{to, leg*length + i + 1, 1})
		}
	}
	f := family{name: fmt.Sprintf("spider%dx%d", legs, length), w: newGraph(legs*length+1, edges)}
	chain := mat.NewSymDense(length+1, nil)
	chain.SetSym(0, 0, float64(legs))
	chain.SetSym(0, 1, -math.Sqrt(float64(legs)))
	for i := 1; i <= length; i++ {
		chain.SetSym(i, i, 2)
		if i < length {
			chain.SetSym(i, i+1, -1)
		}
	}
	chain.SetSym(length, length, 1)
	var e mat.EigenSym
	e.Factorize(chain, false)
	f.combinatorial = e.Values(nil)
	for j := 1; j <= length; j++ {
		v := 4 * sin2(math.Pi*float64(2*j-1)/float64(4*length+2))
		for range legs - 1 {
			f.combinatorial = append(f.combinatorial, v)
		}
	}
	slices.Sort(f.combinatorial)
	f.combinatorial[0] = 0
	return f
}

// inverted stops the test unless the pairs were found by the inverse.
func inverted(t *testing.T, r *lanczos.Result) {
	t.Helper()
	if r.Degree != 0 || r.Certificate.Exact {
		t.Fatalf("a filter of degree %d (exact %t); this test is meant for the inverse", r.Degree, r.Certificate.Exact)
	}
}

// TestInverse has graphs whose low end no polynomial resolves: values far below the
// tolerance relative to ‖L‖, of one copy, of two and of more than a block has vectors; and
// some that have exact factors.
func TestInverse(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "takes minutes; the goroutines have tests of their own")
	for _, c := range []struct {
		f    family
		kind sparse.Kind
		k    int
	}{
		{path(12000), sparse.Combinatorial, 10}, {path(8000), sparse.Normalized, 5}, {cycle(9000), sparse.Normalized, 12},
		{grid(2, 4000), sparse.Combinatorial, 5}, {grid(90, 81), sparse.Combinatorial, 12}, {torus(130, 131), sparse.Normalized, 10}, {spider(12, 900), sparse.Combinatorial, 26},
		{union("path and torus", path(7000), torus(30, 31)), sparse.Combinatorial, 8},
	} {
		t.Run(fmt.Sprintf("%s/%v/%d", c.f.name, c.kind, c.k), func(t *testing.T) {
			l, comp := newLaplacian(t, c.f.w, c.kind)
			r, err := laplacian(t.Context(), l, comp, &lanczos.Settings{K: c.k})
			if err != nil {
				t.Fatal(err)
			}
			if comp.Count() == 1 {
				inverted(t, r)
			}
			want := c.f.spectrum(c.kind)
			checkPairs(t, r, c.k, largest(want), 1e-8, func(x *mat.Dense) *mat.Dense { return applyLaplacian(c.f.w, c.kind, x) })
			for j, v := range r.Values {
				// Beside rounding in Lv, values are accurate relative to themselves.
				if !(math.Abs(v-want[j]) <= 1e-7*want[j]+1e-14*largest(want)) {
					t.Errorf("value %d is %v, want %v", j, v, want[j])
				}
			}
			if next := r.Certificate.Next; !(next >= want[c.k]*(1-1e-6)) {
				t.Errorf("the next value is at most %v, it is %v", next, want[c.k])
			}
		})
	}
}

// TestInverseResume: an inverse for more pairs than descent takes is made again from a snapshot, and the run
// ends with the same bits at any number of threads.
func TestInverseResume(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	l, comp := newLaplacian(t, grid(2, 3000).w, sparse.Combinatorial)
	settings := lanczos.Settings{K: 40, Seed: 3}
	want, err := lanczos.Laplacian(t.Context(), l, comp, &settings)
	if err != nil {
		t.Fatal(err)
	}
	inverted(t, want)
	path, enough, blocks := filepath.Join(t.TempDir(), "snapshot.npz"), errors.New("enough"), 0
	stopped := settings
	stopped.OnCheckpoint = func(s *lanczos.Snapshot) error {
		if blocks++; blocks < 3 {
			return nil
		}
		return errors.Join(s.Save(path, "strip"), enough)
	}
	runtime.GOMAXPROCS(1)
	if _, err := lanczos.Laplacian(t.Context(), l, comp, &stopped); !errors.Is(err, enough) {
		t.Fatalf("%v, want the error of the hook", err)
	}
	snapshot := func() *lanczos.Snapshot {
		s, err := lanczos.LoadSnapshot(path, "strip", 0)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	settings.Resume = snapshot()
	runtime.GOMAXPROCS(3)
	got, err := lanczos.Laplacian(t.Context(), l, comp, &settings)
	if err != nil {
		t.Fatal(err)
	}
	if !sameBits(got.Values, want.Values) || !sameBits(got.Vectors.RawMatrix().Data, want.Vectors.RawMatrix().Data) || got.Products != want.Products {
		t.Errorf("the resumed run ends with other bits: %v, want %v", got, want)
	}
	// Nor does another operator take it.
	settings.Resume = snapshot()
	if _, err := lanczos.Laplacian(t.Context(), l.With(2, 0), comp, &settings); !errors.Is(err, lanczos.ErrSnapshot) {
		t.Errorf("resumed with the square of the Laplacian: %v", err)
	}
}
