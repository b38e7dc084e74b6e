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

	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// TestComponents has components of which one holds most of the smallest pairs, though
// its share of the vertices is small, and others that hold none.
func TestComponents(t *testing.T) {
	long := union("torus, path and others", torus(40, 41), path(1200), isolated(7), complete(40), cycle(30), path(2))
	alike := union("tori", torus(30, 40), torus(30, 40), torus(31, 41), grid(35, 36))
	for _, f := range []family{long, alike} {
		for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
			if f.spectrum(kind) == nil {
				continue
			}
			for _, k := range []int{15, 70} {
				t.Run(fmt.Sprintf("%s/%v/%d", f.name, kind, k), func(t *testing.T) {
					r := solveFamily(t, f, kind, k)
					if next := f.spectrum(kind)[k]; !(r.Certificate.Next >= next-1e-8*r.Norm) {
						t.Errorf("the next value is at most %v, it is %v", r.Certificate.Next, next)
					}
				})
			}
		}
	}
}

// TestComponentsOfOtherScale has a component whose whole spectrum is below that of the
// others.
func TestComponentsOfOtherScale(t *testing.T) {
	f := union("path of weight 1e-6 and torus", path(60), torus(31, 32))
	f.w.Val = make([]float64, len(f.w.Col))
	for i := range f.w.Rows {
		for p := f.w.Ptr[i]; p < f.w.Ptr[i+1]; p++ {
			if f.w.Val[p] = 1; i < 60 {
				f.w.Val[p] = 1e-6
			}
		}
	}
	values := slices.Clone(path(60).combinatorial)
	for i := range values {
		values[i] *= 1e-6
	}
	f.combinatorial = append(slices.Clone(values), torus(31, 32).combinatorial...)
	slices.Sort(f.combinatorial)
	r := solveFamily(t, f, sparse.Combinatorial, 65)
	if inner := values[59]; math.Abs(r.Values[60]-inner) > 1e-12 {
		t.Errorf("value 60 is %v, the largest of the path is %v", r.Values[60], inner)
	}
}

// TestComponentBytes compares the memory of a search by component with that of the whole
// graph, and runs within the former.
func TestComponentBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // with more threads more parts are searched at a time
	f := copies(20, torus(30, 40))
	l, c := newLaplacian(t, f.w, sparse.Normalized)
	s := &lanczos.Settings{K: 100}
	whole, err := lanczos.Bytes(l.Dim(), s)
	if err != nil {
		t.Fatal(err)
	}
	parts, operations, err := lanczos.LaplacianBytes(l.Dim(), c, lanczos.EdgesOf(f.w, sparse.Normalized, s), s)
	if err != nil {
		t.Fatal(err)
	}
	if parts > whole || operations > lanczos.Operations(l.Dim(), f.w.NNZ(), s) {
		t.Errorf("components take %d bytes and %.3g operations, the whole %d and %.3g", parts, operations, whole, lanczos.Operations(l.Dim(), f.w.NNZ(), s))
	}
	s.MemoryLimit = parts
	r, err := lanczos.Laplacian(t.Context(), l, c, s)
	if err != nil {
		t.Fatal(err)
	}
	checkValues(t, r.Values, f.normalized, 1e-7)
	s.MemoryLimit = parts / 100
	if _, err := lanczos.Laplacian(t.Context(), l, c, s); err == nil {
		t.Error("a hundredth of the memory is enough")
	}
}

// TestComponentsAtATime: components that are searched at the same time have the same bits
// as one after the other, with little memory too, and what stops one stops all.
func TestComponentsAtATime(t *testing.T) {
	f := union("four", torus(30, 31), grid(70, 71), path(6000), torus(40, 41))
	l, c := newLaplacian(t, f.w, sparse.Combinatorial)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, share := range []int64{0, 2} {
		s := lanczos.Settings{K: 40}
		if share > 0 {
			free, _, err := lanczos.LaplacianBytes(l.Dim(), c, lanczos.Edges{Count: f.w.NNZ(), Hard: true}, &s)
			if err != nil {
				t.Fatal(err)
			}
			s.MemoryLimit = free / share
		}
		var first *lanczos.Result
		for _, procs := range []int{1, 3} {
			runtime.GOMAXPROCS(procs)
			r, err := lanczos.Laplacian(t.Context(), l, c, &s)
			if err != nil {
				t.Fatal(err)
			}
			checkValues(t, r.Values, f.combinatorial, 1e-7)
			if first == nil {
				first = r
			} else if !mat.Equal(first.Vectors, r.Vectors) {
				t.Errorf("other bits at %d threads, a limit of %d bytes", procs, s.MemoryLimit)
			}
		}
	}
	stop := errors.New("stop")
	if _, err := lanczos.Laplacian(t.Context(), l, c, &lanczos.Settings{K: 40, OnRestart: func(lanczos.State) error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("%v, want the error of the hook", err)
	}
}

// TestComponentsResume: a run that ended in the largest component goes on there, and
// ends with the same bits.
func TestComponentsResume(t *testing.T) {
	f := union("two", torus(30, 31), grid(50, 51))
	l, c := newLaplacian(t, f.w, sparse.Combinatorial)
	want, err := lanczos.Laplacian(t.Context(), l, c, &lanczos.Settings{K: 30})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "snapshot.npz")
	enough := errors.New("enough")
	blocks := 0
	_, err = lanczos.Laplacian(t.Context(), l, c, &lanczos.Settings{K: 30, OnCheckpoint: func(s *lanczos.Snapshot) error {
		if blocks++; blocks < 3 {
			return nil
		}
		if err := s.Save(path, "two"); err != nil {
			return err
		}
		return enough
	}})
	if !errors.Is(err, enough) {
		t.Fatalf("%v, want the error of the hook", err)
	}
	snapshot, err := lanczos.LoadSnapshot(path, "two", 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := lanczos.Laplacian(t.Context(), l, c, &lanczos.Settings{K: 30, Resume: snapshot})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want.Vectors.RawMatrix().Data {
		if got.Vectors.RawMatrix().Data[i] != v {
			t.Fatalf("element %d of the vectors is %v, without a break %v", i, got.Vectors.RawMatrix().Data[i], v)
		}
	}
}
