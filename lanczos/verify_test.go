package lanczos_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// wrongPairs are eigenpairs with one error each, by name, and the fault that must be found.
func wrongPairs(r *lanczos.Result) []struct {
	name, want string
	values     []float64
	vectors    *mat.Dense
} {
	n, k := r.Vectors.Dims()
	without := func(j int) ([]float64, *mat.Dense) {
		v := mat.NewDense(n, k-1, nil)
		for i := range n {
			row := slices.Delete(slices.Clone(r.Vectors.RawRowView(i)), j, j+1)
			copy(v.RawRowView(i), row)
		}
		return slices.Delete(slices.Clone(r.Values), j, j+1), v
	}
	removedValues, removedVectors := without(k / 2)
	repeated := mat.DenseCopyOf(r.Vectors)
	for i := range n {
		repeated.Set(i, k-1, repeated.At(i, k-2))
	}
	replaced := mat.DenseCopyOf(r.Vectors)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		replaced.Set(i, k/2, rng.NormFloat64()/math.Sqrt(float64(n)))
	}
	wrong := slices.Clone(r.Values)
	wrong[k-1] *= 1.0001
	return []struct {
		name, want string
		values     []float64
		vectors    *mat.Dense
	}{
		{"a pair removed", "left out", removedValues, removedVectors},
		{"a vector repeated", "not orthonormal", r.Values, repeated},
		{"a vector replaced", "residual", r.Values, replaced},
		{"a wrong value", "residual", wrong, r.Vectors},
	}
}

func TestVerify(t *testing.T) {
	for _, f := range []family{torus(12, 13), torus(41, 60), copies(5, grid(9, 80))} {
		for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized, sparse.RandomWalk} {
			if testing.Short() && kind != sparse.Normalized {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", f.name, kind), func(t *testing.T) {
				l, comp := newLaplacian(t, f.w, kind)
				r, err := lanczos.Laplacian(context.Background(), l, comp, &lanczos.Settings{K: 26})
				if err != nil {
					t.Fatal(err)
				}
				v, err := lanczos.Verify(context.Background(), l, comp, r.Values, r.Vectors, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(v.Faults) > 0 || !v.Exact && !v.Searched || v.Zeros != comp.Count() {
					t.Errorf("true pairs: %+v", v)
				}
				for _, wrong := range wrongPairs(r) {
					v, err := lanczos.Verify(context.Background(), l, comp, wrong.values, wrong.vectors, nil)
					if err != nil {
						t.Fatal(err)
					}
					want := wrong.want
					if v.Exact && want == "left out" {
						want = "but eigenvalue"
					}
					if !strings.Contains(strings.Join(v.Faults, "\n"), want) {
						t.Errorf("%s: faults %q, want one with %q", wrong.name, v.Faults, want)
					}
				}
			})
		}
	}
}

// TestResume stops a run at every snapshot it makes and goes on from the file.
func TestResume(t *testing.T) {
	f := torus(41, 70)
	l, comp := newLaplacian(t, f.w, sparse.Combinatorial)
	settings := lanczos.Settings{K: 12, Basis: 1, Tolerance: 1e-11}
	want, err := lanczos.Laplacian(context.Background(), l, comp, &settings)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "snapshot.npz")
	resumed, stop := 0, fmt.Errorf("enough")
	var from *lanczos.Snapshot
	for {
		s := settings
		s.Resume = from
		s.OnCheckpoint = func(snap *lanczos.Snapshot) error {
			if err := snap.Save(path, "torus"); err != nil {
				return err
			}
			return stop
		}
		r, err := lanczos.Laplacian(context.Background(), l, comp, &s)
		if err == nil {
			if !slices.Equal(r.Values, want.Values) || !mat.Equal(r.Vectors, want.Vectors) || !slices.Equal(r.Residuals, want.Residuals) {
				t.Error("the resumed run ends with other bits")
			}
			break
		}
		if err != stop {
			t.Fatal(err)
		}
		resumed++
		if from, err = lanczos.LoadSnapshot(path, "torus", 0); err != nil {
			t.Fatal(err)
		}
	}
	if resumed < 2 {
		t.Errorf("the run was interrupted %d times; the test is too easy", resumed)
	}
	if _, err := lanczos.LoadSnapshot(path, "another", 0); err == nil || !strings.Contains(err.Error(), "another operator") {
		t.Errorf("snapshot of another operator: %v", err)
	}
	from, err = lanczos.LoadSnapshot(path, "torus", 0)
	if err != nil {
		t.Fatal(err)
	}
	other := settings
	other.K, other.Resume = 13, from
	if _, err := lanczos.Laplacian(context.Background(), l, comp, &other); err == nil || !strings.Contains(err.Error(), "12 pairs") {
		t.Errorf("resuming with another number of pairs: %v", err)
	}
}

// TestKnown: pairs found before come back, and cost less than finding them anew.
func TestKnown(t *testing.T) {
	f := torus(41, 70)
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		l, comp := newLaplacian(t, f.w, kind)
		first, err := lanczos.Laplacian(context.Background(), l, comp, &lanczos.Settings{K: 20, Tolerance: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		cold, err := lanczos.Laplacian(context.Background(), l, comp, &lanczos.Settings{K: 40})
		if err != nil {
			t.Fatal(err)
		}
		warm, err := lanczos.Laplacian(context.Background(), l, comp, &lanczos.Settings{K: 40, Known: first.Vectors})
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range cold.Values {
			if !(math.Abs(warm.Values[j]-v) <= 1e-9) {
				t.Errorf("%s: value %d is %v from known pairs, %v without", kind, j, warm.Values[j], v)
			}
		}
		if !(warm.Orthogonality <= 1e-12) || !(warm.MaxResidual() <= 1e-8*warm.Norm) {
			t.Errorf("%s: orthogonality %.1e, residual %.1e", kind, warm.Orthogonality, warm.MaxResidual())
		}
		if warm.Products >= cold.Products {
			t.Errorf("%s: %d products with known pairs, %d without", kind, warm.Products, cold.Products)
		}
	}
}

// TestKnownNotSmallest: accurate eigenvectors of other eigenvalues, as many as pairs
// are wanted or fewer, do not keep the smallest from being found, nor do vectors of
// no eigenvalue.
func TestKnownNotSmallest(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "accuracy; other tests of the package have the goroutines")
	for _, f := range []family{star(900), torus(30, 31), copies(40, path(25))} {
		l, comp := newLaplacian(t, f.w, sparse.Combinatorial)
		const k = 46
		smallest, err := lanczos.Laplacian(context.Background(), l, comp, &lanczos.Settings{K: k, Tolerance: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		largest, err := lanczos.Laplacian(context.Background(), l, comp, &lanczos.Settings{K: k, Tolerance: 1e-10, Largest: true})
		if err != nil {
			t.Fatal(err)
		}
		n := l.Dim()
		noise := mat.NewDense(n, 3, nil)
		rng := rand.New(rand.NewPCG(3, 4))
		for i := range n {
			for j := range 3 {
				noise.Set(i, j, rng.NormFloat64())
			}
		}
		side := func(parts ...mat.Matrix) *mat.Dense {
			out := mat.DenseCopyOf(parts[0])
			for _, p := range parts[1:] {
				var next mat.Dense
				next.Augment(out, p)
				out = &next
			}
			return out
		}
		for name, known := range map[string]*mat.Dense{
			"all of them the largest":     largest.Vectors,
			"half of them the largest":    side(largest.Vectors.Slice(0, n, 0, k/2), smallest.Vectors.Slice(0, n, 0, k-k/2)),
			"one of them the largest":     side(smallest.Vectors.Slice(0, n, 0, k-1), largest.Vectors.Slice(0, n, 0, 1)),
			"one is missing in the midst": side(smallest.Vectors.Slice(0, n, 0, k/2), smallest.Vectors.Slice(0, n, k/2+1, k)),
			"noise":                       noise,
		} {
			got, err := lanczos.Laplacian(context.Background(), l, comp, &lanczos.Settings{K: k, Known: known})
			if err != nil {
				t.Errorf("%s, %s: %v", f.name, name, err)
				continue
			}
			notDense(t, got)
			for j, v := range smallest.Values {
				if !(math.Abs(got.Values[j]-v) <= 1e-8*got.Norm) {
					t.Errorf("%s, %s: value %d is %v, want %v", f.name, name, j, got.Values[j], v)
					break
				}
			}
			if got.Certificate.Next < got.Values[k-1]-1e-7*got.Norm {
				t.Errorf("%s, %s: the certificate says %v beyond %v", f.name, name, got.Certificate.Next, got.Values[k-1])
			}
		}
	}
	// The largest pairs can begin a search for the largest, from none that are kept.
	l, comp := newLaplacian(t, grid(30, 30).w, sparse.Combinatorial)
	again := mat.NewDense(900, 2, nil)
	again.Set(0, 0, 1)
	again.Set(1, 1, 1)
	if r, err := lanczos.Laplacian(context.Background(), l, comp, &lanczos.Settings{K: 3, Largest: true, Known: again}); err != nil || !(math.Abs(r.Values[0]-largest(grid(30, 30).combinatorial)) <= 1e-7) {
		t.Errorf("the largest from unit vectors: %v, %v", r, err)
	}
}

// TestManyNearZeros: 54 eigenvalues of the size of rounding, of blocks that are hardly
// joined, are more copies than a Krylov space of one block holds. None is left out for
// an eigenvalue beyond them.
func TestManyNearZeros(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "accuracy; other tests of the package have the goroutines")
	const n = 915
	rng := rand.New(rand.NewPCG(1, 2))
	var edges []edge
	for i := 1; i < n; i++ {
		w := 1.0
		if i%17 == 0 {
			w = 2.2e-15
		}
		edges = append(edges, edge{i, i - 1, w})
		if j := i - 1 - rng.IntN(i%17+1); j >= 0 && j/17 == i/17 && j != i-1 {
			edges = append(edges, edge{i, j, 1})
		}
	}
	l, c := newLaplacian(t, newGraph(n, edges), sparse.Normalized)
	for _, power := range []int{1, 2} {
		r, err := lanczos.Laplacian(context.Background(), l.With(power, 0), c, &lanczos.Settings{K: 26})
		if err != nil {
			t.Errorf("power %d: %v", power, err)
			continue
		}
		notDense(t, r)
		for j, v := range r.Values {
			if !(v >= 0 && v <= 1e-12) {
				t.Errorf("power %d: value %d is %v, the first 54 are about 0", power, j, v)
				break
			}
		}
	}
}

// TestNormOfTwoClusters: where all eigenvalues but two lie close to 1, rounding brings
// the null vector back into the estimate of the spectrum within a few steps. The norm,
// which the tolerance refers to, is right all the same.
func TestNormOfTwoClusters(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "accuracy; other tests of the package have the goroutines")
	const half = 410
	rng := rand.New(rand.NewPCG(5, 6))
	var edges []edge
	for i := range 2 * half {
		for j := range i {
			switch {
			case i/half == j/half:
				edges = append(edges, edge{i, j, 1 + 0.1*rng.Float64()})
			case (i+j)%50 == 0:
				edges = append(edges, edge{i, j, 0.01})
			}
		}
	}
	l, c := newLaplacian(t, newGraph(2*half, edges), sparse.Normalized)
	top, err := lanczos.Laplacian(context.Background(), l, c, &lanczos.Settings{K: 1, Largest: true, Tolerance: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		r, err := lanczos.Laplacian(context.Background(), l, c, &lanczos.Settings{K: 3, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if notDense(t, r); !(r.Norm > 0.999*top.Values[0] && r.Norm < top.Values[0]*(1+1e-9)) {
			t.Errorf("seed %d: the norm is %v, that of the Laplacian %v", seed, r.Norm, top.Values[0])
		}
	}
}

// TestLargest: the other end of the spectrum.
func TestLargest(t *testing.T) {
	for _, f := range []family{grid(6, 7), grid(40, 51)} {
		l, comp := newLaplacian(t, f.w, sparse.Combinatorial)
		r, err := lanczos.Laplacian(context.Background(), l, comp, &lanczos.Settings{K: 9, Largest: true})
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(f.combinatorial)
		slices.Sort(want)
		slices.Reverse(want)
		for j, v := range r.Values {
			if !(math.Abs(v-want[j]) <= 1e-10*want[0]) {
				t.Errorf("%s: value %d is %v, want %v", f.name, j, v, want[j])
			}
		}
	}
}

// TestMemoryLimit: a smaller basis ends with the same pairs.
func TestMemoryLimit(t *testing.T) {
	f := torus(41, 90)
	l, comp := newLaplacian(t, f.w, sparse.Combinatorial)
	s := lanczos.Settings{K: 200}
	free, err := lanczos.Bytes(l.Dim(), &s)
	if err != nil {
		t.Fatal(err)
	}
	want, err := lanczos.Laplacian(context.Background(), l, comp, &s)
	if err != nil {
		t.Fatal(err)
	}
	s.MemoryLimit = free * 93 / 100
	if less, err := lanczos.Bytes(l.Dim(), &s); err != nil || less > s.MemoryLimit {
		t.Fatalf("%d bytes, error %v, limit %d", less, err, s.MemoryLimit)
	}
	got, err := lanczos.Laplacian(context.Background(), l, comp, &s)
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range want.Values {
		if !(math.Abs(got.Values[j]-v) <= 1e-9) {
			t.Errorf("value %d is %v in less memory, %v in more", j, got.Values[j], v)
		}
	}
	s.MemoryLimit = free / 4
	if _, err := lanczos.Laplacian(context.Background(), l, comp, &s); err == nil || !strings.Contains(err.Error(), "fewer pairs") {
		t.Errorf("a quarter of the memory: %v", err)
	}
}

func TestExtend(t *testing.T) {
	// A path of four; the last two points are new. 2 sees the old 1; 3 sees none.
	w := path(4).w
	old := mat.NewDense(2, 1, []float64{3, 5})
	x, err := lanczos.Extend(w, old)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := x.RawMatrix().Data, []float64{3, 5, 5, 0}; !slices.Equal(got, want) {
		t.Errorf("extended to %v, want %v", got, want)
	}
	if _, err := lanczos.Extend(path(1).w, old); err == nil {
		t.Error("no error for more vectors than points")
	}
}

// TestRefine: vectors of a graph that has hardly changed are refined to a rough
// tolerance at a fraction of the products; a merged component and vectors that are no
// eigenvectors do no harm.
func TestRefine(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "accuracy; other tests of the package have the goroutines")
	const k, tolerance = 20, 1e-2
	rng := rand.New(rand.NewPCG(3, 4))
	for _, f := range []family{torus(41, 70), copies(3, grid(30, 40))} {
		for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized, sparse.RandomWalk} {
			l, comp := newLaplacian(t, f.w, kind)
			exact, err := lanczos.Laplacian(t.Context(), l, comp, &lanczos.Settings{K: k})
			if err != nil {
				t.Fatal(err)
			}
			cold, err := lanczos.Laplacian(t.Context(), l, comp, &lanczos.Settings{K: k, Tolerance: tolerance})
			if err != nil {
				t.Fatal(err)
			}
			near := mat.DenseCopyOf(exact.Vectors)
			near.Apply(func(_, _ int, v float64) float64 { return v * (1 + 0.2*rng.NormFloat64()) }, near)
			warm, err := lanczos.Laplacian(t.Context(), l, comp, &lanczos.Settings{K: k, Tolerance: tolerance, Known: near})
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if !(warm.MaxResidual() <= tolerance*warm.Norm) || !(warm.Orthogonality <= 1e-12) || warm.Nullity != exact.Nullity {
				t.Errorf("%s: residual %.1e, orthogonality %.1e, nullity %d", kind, warm.MaxResidual(), warm.Orthogonality, warm.Nullity)
			}
			for j, v := range exact.Values {
				// A residual r has an eigenvalue within r, and Ritz values are above.
				if d := warm.Values[j] - v; !(d >= -1e-9 && d <= 2*tolerance*warm.Norm) {
					t.Errorf("%s: value %d is %v, exactly %v", kind, j, warm.Values[j], v)
				}
			}
			if warm.Certificate.Next < exact.Values[k-1]-1e-9 {
				t.Errorf("%s: the next value is at most %v, below the last, %v", kind, warm.Certificate.Next, exact.Values[k-1])
			}
			if 2*warm.Products > cold.Products {
				t.Errorf("%s: %d products with known pairs, %d without", kind, warm.Products, cold.Products)
			}
			noise := mat.NewDense(l.Dim(), k, nil)
			noise.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, noise)
			r, err := lanczos.Laplacian(t.Context(), l, comp, &lanczos.Settings{K: k, Tolerance: tolerance, Known: noise})
			if err != nil || !(r.MaxResidual() <= tolerance*r.Norm) {
				t.Errorf("%s: from noise: %v", kind, err)
			}
		}
	}
}
