package pca

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// inFiles returns numbers, d a row, as points that stay in files of so many rows.
func inFiles[T npy.Half | float32 | float64](t *testing.T, v []T, d int, sizes ...int) data.Points {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, n := range sizes {
		path := filepath.Join(dir, fmt.Sprintf("x%d.npy", i))
		if err := npy.WriteFile(path, []int{n, d}, v[:n*d]); err != nil {
			t.Fatal(err)
		}
		v = v[n*d:]
		paths = append(paths, path)
	}
	x, err := data.ReadFiles(paths, data.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := x.(*data.Stored); !ok || len(s.Parts()) != len(sizes) {
		t.Fatalf("the files are %T, want stored points of %d parts", x, len(sizes))
	}
	return x
}

// Points that stay as they are stored have the components of the same points in memory.
func TestStored(t *testing.T) {
	const n, d = 5050, 20
	r := rand.New(rand.NewPCG(3, d))
	half := make([]npy.Half, n*d)
	x16 := data.NewDense[float32](n, d)
	x32 := data.NewDense[float32](n, d)
	x64 := data.NewDense[float64](n, d)
	for i := range half {
		bits := simd.ToHalf(float32(r.NormFloat64()))
		half[i] = npy.Half(bits)
		x16.Data[i] = simd.FromHalf(bits)
		x32.Data[i] = float32(r.NormFloat64())
		x64.Data[i] = r.NormFloat64()
	}
	for _, c := range []struct{ stored, same data.Points }{
		{inFiles(t, half, d, 100, 4000, 950), x16},
		{inFiles(t, x32.Data, d, 100, 4000, 950), x32},
		{inFiles(t, x64.Data, d, 100, 4000, 950), x64},
	} {
		got, err := New(t.Context(), c.stored, 5)
		if err != nil {
			t.Fatal(err)
		}
		want, err := New(t.Context(), c.same, 5)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Components.RawMatrix().Data, want.Components.RawMatrix().Data) || got.Total != want.Total {
			t.Errorf("%s: other principal components than of the same points in memory", data.Describe(c.stored))
		}
		a, err := got.Apply(c.stored)
		if err != nil {
			t.Fatal(err)
		}
		b, err := want.Apply(c.same)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Data, b.Data) {
			t.Errorf("%s: other coordinates", data.Describe(c.stored))
		}
	}
}
