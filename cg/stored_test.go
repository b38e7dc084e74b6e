package cg_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

// strip returns the graph of a strip of 4 by n/4 vertices, which has an exact factor, and with chords one
// that has none.
func strip(t testing.TB, n, chords int) *sparse.CSR {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var i, j []int32
	var w []float64
	join := func(a, b int, weight float64) {
		i = append(i, int32(a), int32(b))
		j = append(j, int32(b), int32(a))
		w = append(w, weight, weight)
	}
	for v := range n {
		if v%4 < 3 && v+1 < n {
			join(v, v+1, 1+float64(v%5))
		}
		if v+4 < n {
			join(v, v+4, 1)
		}
	}
	for range chords {
		if a, b := rng.IntN(n), rng.IntN(n); a != b {
			join(a, b, 1)
		}
	}
	graph, err := sparse.FromTriplets(n, n, i, j, w)
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

// laplacianOf returns the Laplacian of a graph.
func laplacianOf(t testing.TB, w *sparse.CSR, kind sparse.Kind, power int, shift float64) *sparse.Laplacian {
	t.Helper()
	l, err := sparse.NewLaplacian(w, kind)
	if err != nil {
		t.Fatal(err)
	}
	return l.With(power, shift)
}

// normal returns a block of normal numbers.
func normal(n, b int) *mat.Dense {
	rng := rand.New(rand.NewPCG(5, 6))
	x := mat.NewDense(n, b, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
	return x
}

// TestStoredFactor: a factor that was kept in a file solves with the same bits as before, of every method,
// kind and power; it says which method made it.
func TestStoredFactor(t *testing.T) {
	for name, w := range map[string]*sparse.CSR{"exact": strip(t, 900, 0), "approximate": strip(t, 6000, 6000)} {
		for _, shift := range []float64{0, 0.25} {
			for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
				l := laplacianOf(t, w, kind, 1, shift)
				made := cg.NewFactor(l, 7)
				if (made.Method() == cg.Cholesky) != (name == "exact") {
					t.Fatalf("%s: made by %v", name, made.Method())
				}
				path := filepath.Join(t.TempDir(), "factor.npz")
				if err := made.Save(path); err != nil {
					t.Fatal(err)
				}
				read, err := cg.LoadFactor(path, l, 1<<30)
				if err != nil {
					t.Fatal(err)
				}

				b := normal(w.Rows, 11)
				for _, power := range []int{1, 2} {
					var x [2]*mat.Dense
					for i, f := range []*cg.Factor{made, read} {
						s := cg.LaplacianSettings{}
						s.Preconditioner = f
						s.Project = true
						s.Tolerance = 1e-6
						r, err := cg.Laplacian(t.Context(), l.With(power, shift), nil, b, &s)
						if err != nil {
							t.Fatal(err)
						}
						if r.Method != made.Method() || r.MaxIterations() > 60 {
							t.Errorf("%s, power %d: %d iterations by %v", name, power, r.MaxIterations(), r.Method)
						}
						x[i] = r.X
					}
					if !mat.Equal(x[0], x[1]) {
						t.Errorf("%s, %v, shift %v: the stored factor gives other bits", name, kind, shift)
					}
				}
			}
		}
	}
}

// TestStoredFactorOfAnother: a factor of another graph, kind or shift is refused, by name and with a remedy.
func TestStoredFactorOfAnother(t *testing.T) {
	w := strip(t, 400, 0)
	l := laplacianOf(t, w, sparse.Combinatorial, 1, 0.5)
	f := cg.NewFactor(l, 0)
	path := filepath.Join(t.TempDir(), "factor.npz")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	other := strip(t, 400, 0)
	for p := range other.Val {
		other.Val[p] *= 2
	}

	for _, c := range []struct {
		l    *sparse.Laplacian
		want string
	}{
		{laplacianOf(t, other, sparse.Combinatorial, 1, 0.5), "another graph"},
		{laplacianOf(t, strip(t, 404, 0), sparse.Combinatorial, 1, 0.5), "of 404 points"},
		{laplacianOf(t, w, sparse.Combinatorial, 1, 0.25), "shifted by 0.25"},
		{laplacianOf(t, w, sparse.Normalized, 1, 0.5), "normalized"},
	} {
		_, err := cg.LoadFactor(path, c.l, 0)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "make") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}

	// Laplacian compares what it can without a hash.
	s := cg.LaplacianSettings{}
	s.Preconditioner = f
	if _, err := cg.Laplacian(t.Context(), laplacianOf(t, w, sparse.Combinatorial, 1, 1), nil, normal(400, 1), &s); err == nil || !strings.Contains(err.Error(), "shifted by 0.5") {
		t.Errorf("a factor of another shift: %v", err)
	}
	if _, err := cg.LoadFactor(path, l, 100); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a limit of 100 bytes: %v", err)
	}
	if _, err := cg.LoadFactor(filepath.Join(t.TempDir(), "none.npz"), l, 0); err == nil {
		t.Error("a file that is not there")
	}
}

// The arrays of a factor file, in their order.
var (
	exactArrays       = []string{"order", "outer", "fronts", "ends", "border", "panels"}
	approximateArrays = []string{"order", "outer", "inner", "ends", "to", "weights"}
)

// forge writes the arrays of a factor with a change, and with the hash of what is written, so that only
// the checks of the arrays are left.
func forge(t testing.TB, from, to string, change func(name string, data any) any) {
	t.Helper()
	a, err := npy.OpenArchive(from, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var settings map[string]any
	m, err := a.Manifest(archive.Factor, &settings)
	if err != nil {
		t.Fatal(err)
	}
	var arrays []archive.Array
	names := exactArrays
	if a.Has("weights") {
		names = approximateArrays
	}
	for _, name := range names {
		x, err := a.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		if data := change(name, x.Data); data != nil {
			arrays = append(arrays, archive.Array{Name: name, Data: data})
		}
	}
	if settings["sum"], err = npy.Sum(arrays); err != nil {
		t.Fatal(err)
	}
	if m.Settings, err = json.Marshal(settings); err != nil {
		t.Fatal(err)
	}
	text, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := npy.WriteArchive(to, append(arrays, archive.Array{Name: archive.Name, Data: text})); err != nil {
		t.Fatal(err)
	}
}

// TestForgedFactor: arrays that contradict each other are refused by name, in spite of a right hash.
func TestForgedFactor(t *testing.T) {
	for kind, w := range map[string]*sparse.CSR{"exact": strip(t, 400, 0), "approximate": strip(t, 3000, 3000)} {
		l := laplacianOf(t, w, sparse.Combinatorial, 1, 0.5)
		path := filepath.Join(t.TempDir(), "factor.npz")
		if err := cg.NewFactor(l, 0).Save(path); err != nil {
			t.Fatal(err)
		}
		forged := filepath.Join(t.TempDir(), "forged.npz")
		forge(t, path, forged, func(_ string, data any) any { return data })
		if _, err := cg.LoadFactor(forged, l, 0); err != nil {
			t.Fatalf("unchanged: %v", err)
		}

		tried := 0
		try := func(name, what string, change func(data any) any) {
			forge(t, path, forged, func(n string, data any) any {
				if n != name {
					return data
				}
				tried++
				return change(data)
			})
			_, err := cg.LoadFactor(forged, l, 0)
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), forged) {
				t.Errorf("%s: %s of %s: %v", kind, what, name, err)
			}
		}
		names := exactArrays
		if kind == "approximate" {
			names = approximateArrays
		}
		for _, name := range names {
			try(name, "absence", func(any) any { return nil })
			try(name, "an end", func(data any) any { return shorter(data) })
			try(name, "a negative or infinite element", func(data any) any { return spoiled(data, -1) })
			try(name, "a huge or infinite element", func(data any) any { return spoiled(data, math.MaxInt32) })
		}
		if tried < 4*len(names) {
			t.Errorf("%s: %d forgeries", kind, tried)
		}
	}
}

// shorter returns an array without its last element.
func shorter(data any) any {
	switch x := data.(type) {
	case []int32:
		return x[:len(x)-1]
	case []int64:
		return x[:len(x)-1]
	case []float32:
		return x[:len(x)-1]
	case []float64:
		return x[:len(x)-1]
	}
	panic("an array of another type")
}

// spoiled puts an element in the middle of an array, of a floating-point one infinity.
func spoiled(data any, v int) any {
	switch x := data.(type) {
	case []int32:
		x[len(x)/2] = int32(v)
	case []int64:
		x[len(x)/2] = int64(v)
	case []float32:
		x[len(x)/2] = float32(math.Inf(v))
	case []float64:
		x[len(x)/2] = math.Inf(v)
	}
	return data
}

// TestDamagedFactor: a byte that is changed anywhere is an error, or changes nothing that is read.
func TestDamagedFactor(t *testing.T) {
	w := strip(t, 200, 0)
	l := laplacianOf(t, w, sparse.Combinatorial, 1, 0.5)
	path := filepath.Join(t.TempDir(), "factor.npz")
	f := cg.NewFactor(l, 0)
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b, want, got := normal(200, 1), mat.NewDense(200, 1, nil), mat.NewDense(200, 1, nil)
	f.ApplyTo(want, b)
	refused := 0
	for at := 0; at < len(whole); at += 97 {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x41
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		read, err := cg.LoadFactor(path, l, 1<<26)
		if err != nil {
			refused++
			continue
		}
		if read.ApplyTo(got, b); !mat.Equal(got, want) {
			t.Errorf("byte %d: the factor is another one, and no error", at)
		}
	}
	if refused < len(whole)/97/2 {
		t.Errorf("%d of %d damages are refused", refused, len(whole)/97)
	}
	for _, size := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(path, whole[:size], 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := cg.LoadFactor(path, l, 0); err == nil {
			t.Errorf("the first %d bytes are read", size)
		}
	}
}

// FuzzLoadFactor: a factor with one element changed, and with the right hash of that, is read or refused;
// what is read can be applied.
func FuzzLoadFactor(f *testing.F) {
	dir := f.TempDir()
	var files []string
	var systems []*sparse.Laplacian
	for i, w := range []*sparse.CSR{strip(f, 120, 0), strip(f, 800, 800)} {
		l := laplacianOf(f, w, sparse.Combinatorial, 1, 0.5)
		path := filepath.Join(dir, fmt.Sprintf("factor%d.npz", i))
		if err := cg.NewFactor(l, 0).Save(path); err != nil {
			f.Fatal(err)
		}
		files = append(files, path)
		systems = append(systems, l)
	}
	f.Add(true, uint8(0), uint16(3), int64(-1))
	f.Add(true, uint8(2), uint16(5), int64(7))
	f.Add(false, uint8(3), uint16(9), int64(1<<40))

	forged := filepath.Join(dir, "forged.npz")
	f.Fuzz(func(t *testing.T, exact bool, which uint8, at uint16, value int64) {
		names := exactArrays
		kind := 0
		if !exact {
			names = approximateArrays
			kind = 1
		}
		name := names[int(which)%len(names)]
		forge(t, files[kind], forged, func(n string, data any) any {
			if n == name {
				put(data, int(at), value)
			}
			return data
		})
		factor, err := cg.LoadFactor(forged, systems[kind], 1<<20)
		if err != nil {
			if !strings.Contains(err.Error(), forged) {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		n := systems[kind].Dim()
		factor.ApplyTo(mat.NewDense(n, 3, nil), normal(n, 3))
	})
}

// put puts an element into an array, of a floating-point one by its bits.
func put(data any, at int, v int64) {
	switch x := data.(type) {
	case []int32:
		x[at%len(x)] = int32(v)
	case []int64:
		x[at%len(x)] = v
	case []float32:
		x[at%len(x)] = math.Float32frombits(uint32(v))
	case []float64:
		x[at%len(x)] = math.Float64frombits(uint64(v))
	}
}
