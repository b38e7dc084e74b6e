package knn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

func TestBrute(t *testing.T) {
	testIndex(t, knn.NewBrute, withMetrics(knn.Euclidean, knn.Angle, knn.Cosine), withTypes(float64s, float32s, bytes, sparseRows))
}

// TestBruteAsApproximate asks exact search what approximate indexes are asked.
func TestBruteAsApproximate(t *testing.T) {
	testIndex(t, knn.NewBrute, withMetrics(knn.Euclidean), withTypes(float32s), withRecall(1))
}

// TestBruteManyBlocks has more points than one product takes, far more ties at
// the k-th place than candidates are kept, and queries in several blocks.
func TestBruteManyBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([][]float64, 1700)
	for i := range rows {
		rows[i] = []float64{float64(rng.IntN(5)), float64(rng.IntN(5)), float64(rng.IntN(3))}
	}
	for _, typ := range []pointType{float64s, bytes, sparseRows} {
		ix, err := knn.NewBrute(typ.of(rows), nil)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := ix.Self(context.Background(), 30)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(rows); i += 19 {
			index, dist := nb.Row(i)
			checkRow(t, knn.Euclidean, rows, index, dist, oracle(knn.Euclidean, rows, rows[i], i), true)
		}
	}
}

// TestBruteFloat32Range has points whose comparisons overflow float32 in part.
func TestBruteFloat32Range(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, scale := range []float64{1e-100, 1e-40, 1e-24, 1e-21, 1e-19, 1e-10, 1e10, 1e17, 1e18, 1e19, 1e20, 1e38, 1e60, 1e100} {
		rows := make([][]float64, 60)
		for i := range rows {
			rows[i] = []float64{scale * rng.NormFloat64(), scale * rng.Float64(), scale}
		}
		for _, typ := range []pointType{float64s, sparseRows} {
			for _, m := range []knn.Metric{knn.Euclidean, knn.Angle} {
				t.Run(fmt.Sprint(scale, typ, m), func(t *testing.T) {
					x := typ.of(rows)
					ix, err := knn.NewBrute(x, &knn.Settings{Metric: m})
					if err != nil {
						t.Fatal(err)
					}
					nb, err := ix.Self(context.Background(), 5)
					if err != nil {
						t.Fatal(err)
					}
					want := oracles(m, rows, rows, true)
					checkLists(t, m, rows, want, nb, 5, false)
					all := distance(m, rows[0], rows[1])
					w, err := ix.Within(context.Background(), all*1.0001)
					if err != nil {
						t.Fatal(err)
					}
					for i, list := range want {
						for _, v := range list {
							if got := w.At(i, int(v.index)) > 0; got != (v.dist <= all*1.0001) {
								t.Fatalf("pair %d, %d at %g within %g: %v", i, v.index, v.dist, all, got)
							}
						}
					}
				})
			}
		}
	}
}

// TestBruteAngleZero asks for exactly the angle that zero vectors make.
func TestBruteAngleZero(t *testing.T) {
	rows := [][]float64{{0, 0}, {1, 0}, {0, 3}, {0, 0}, {-2, 0}}
	for _, typ := range []pointType{float64s, float32s, sparseRows} {
		ix, err := knn.NewBrute(typ.of(rows), &knn.Settings{Metric: knn.Angle})
		if err != nil {
			t.Fatal(err)
		}
		const quarter = 1.5707963267948966 // π/2
		w, err := ix.Within(context.Background(), quarter)
		if err != nil {
			t.Fatal(err)
		}
		if w.NNZ() != 18 { // all pairs but 1, 4, both ways
			t.Errorf("%v: %d pairs within π/2, want 18", typ, w.NNZ())
		}
		for _, d := range w.Val {
			if d != quarter {
				t.Errorf("%v: angle %v", typ, d)
			}
		}
	}
}

func TestBruteRejects(t *testing.T) {
	for _, x := range []data.Points{data.NewDense[float32](0, 3), data.NewDense[uint8](3, 0), &sparse.CSR{Cols: 2, Ptr: []int64{0}}} {
		if ix, err := knn.NewBrute(x, nil); err == nil || ix != nil {
			n, d := x.Dims()
			t.Errorf("%T of %d×%d: no error", x, n, d)
		}
	}
	if _, err := knn.NewBrute(data.NewDense[float32](3, 3), &knn.Settings{Metric: 17}); err == nil {
		t.Error("metric 17: no error")
	}
}

func TestBruteCosts(t *testing.T) {
	dense := data.NewDense[float32](1000, 20)
	if got, want := knn.BruteBytes(dense, 8), int64(1000*8*12+2*4*1000*20+8*1000*(8+8)+8*1000); got != want {
		t.Errorf("dense: %d bytes, want %d", got, want)
	}
	if got := knn.BruteOperations(dense); got != 1000*1000*20 {
		t.Errorf("dense: %g operations", got)
	}
	// Columns of 2 and 1 entries.
	m := &sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 2, 3}, Col: []int32{0, 1, 0}}
	if got := knn.BruteOperations(m); got != 2*(2*2+1) {
		t.Errorf("sparse: %g operations", got)
	}
	if got := knn.BruteBytes(m, 1); got != 12*2+16*3+16*2+16*2+int64(16*2*runtime.GOMAXPROCS(0)) {
		t.Errorf("sparse: %d bytes", got)
	}
}

// Columns that are empty cost nothing: neither the count of operations nor the search
// has memory for each column, and answers are those of the columns in use.
func TestBruteManyColumns(t *testing.T) {
	wide := &sparse.CSR{Rows: 4, Cols: 1<<31 - 1, Ptr: []int64{0, 2, 3, 5, 6}, Col: []int32{7, 1 << 30, 7, 9, 1 << 30, 1<<31 - 2}, Val: []float64{1, 2, 3, 4, 5, 6}}
	narrow, used := wide.Narrow()
	if len(used) != 4 {
		t.Fatalf("columns %v are in use", used)
	}
	if a, b := knn.BruteOperations(wide), knn.BruteOperations(narrow); a != b {
		t.Errorf("%g operations, %g of the narrow matrix", a, b)
	}
	if bytes := knn.BruteBytes(wide, 2); bytes > 1<<20 {
		t.Errorf("%d bytes", bytes)
	}
	// Columns 7 and 8, of which the points have one.
	query := &sparse.CSR{Rows: 1, Cols: wide.Cols, Ptr: []int64{0, 2}, Col: []int32{7, 8}, Val: []float64{1, 1}}
	for _, m := range []knn.Metric{knn.Euclidean, knn.Angle} {
		a, err := knn.NewBrute(wide, &knn.Settings{Metric: m})
		if err != nil {
			t.Fatal(err)
		}
		b, err := knn.NewBrute(narrow, &knn.Settings{Metric: m})
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Self(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		want, err := b.Self(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Distance, want.Distance) {
			t.Errorf("%v: %v, of the narrow matrix %v", m, got, want)
		}
		near, err := a.Query(t.Context(), query, 1)
		if err != nil {
			t.Fatal(err)
		}
		if near.Index[0] != 1 && m == knn.Angle || near.Index[0] != 1 && near.Index[0] != 0 {
			t.Errorf("%v: nearest of the query is %d", m, near.Index[0])
		}
	}
}

func ExampleNewBrute() {
	x := &data.Dense[float64]{Rows: 4, Cols: 1, Data: []float64{0, 1, 3, 7}}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		panic(err)
	}
	nb, err := ix.Self(context.Background(), 2)
	if err != nil {
		panic(err)
	}
	for i := range nb.Len() {
		index, distance := nb.Row(i)
		fmt.Println(i, index, distance)
	}
	// Output:
	// 0 [1 2] [1 3]
	// 1 [0 2] [1 2]
	// 2 [1 0] [2 3]
	// 3 [2 1] [4 6]
}
