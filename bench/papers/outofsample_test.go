package papers

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
)

func TestOutOfSample(t *testing.T) {
	dir := t.TempDir()
	x, y := blobs(120, 2, 3, 4)
	splits := matrix("idxLabs", 3, draws(120, 10, 3), 30)
	set := []archive.Array{matrix("X", 120, x, len(x)), {Name: "y", Data: y}}
	for _, name := range []string{"sindhwani_g50c.npz", "sindhwani_uspst.npz"} {
		write(t, dir, name, append(set, splits)...)
	}
	write(t, dir, "sindhwani_text1_X.npz", set[0])
	write(t, dir, "sindhwani_text1_y_splits.npz", set[1], splits)
	x, y = blobs(80, 4, 5, 6)
	write(t, dir, "coil20.npz", matrix("X", 80, x, len(x)), archive.Array{Name: "y", Data: y})
	table, err := OutOfSample(context.Background(), Options{Dir: dir, Seed: 2}, &observer{t: t})
	if err != nil {
		t.Fatal(err)
	}
	checkCells(t, table, 4*4*2)
	for _, part := range []string{"unlabeled", "left out"} {
		r, _ := cell(t, table, "coil20, "+part, "LapRLS")
		if !(r.Number <= 10) || r.Draws != outOfSampleFolds*outOfSampleDraws || !math.IsNaN(r.Published) {
			t.Errorf("%s: %+v", part, r)
		}
	}
}

// The search finds the same errors on unlabeled points, whatever the points of the fold that is left out are.
func TestHeldOut(t *testing.T) {
	values, classes := blobs(120, 3, 3, 2.5)
	x := &data.Dense[float64]{Rows: 120, Cols: 3, Data: values}
	truth := data.NewLabels(classes, nil)
	fold := []int{1, 5, 6, 40, 77, 78, 79, 119}
	h := newHeldOut(x, truth, fold)
	if n, _ := h.x.Dims(); n != 112 || h.truth.Len() != 112 || h.truthOfLeft.Len() != len(fold) {
		t.Fatalf("%d points, %d and %d labels", n, h.truth.Len(), h.truthOfLeft.Len())
	}
	drawn, err := DrawPerClass(h.truth, 4, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGridSearch(h.truth, drawn, 3)
	if err != nil {
		t.Fatal(err)
	}
	obs := &observer{t: t}
	if err := outOfSampleGrid.search(context.Background(), h.x, Options{Seed: 1}, obs, g); err != nil {
		t.Fatal(err)
	}

	measured := func() (seen, left [][]float64) {
		seen = make([][]float64, len(machines))
		left = make([][]float64, len(machines))
		if err := h.measure(context.Background(), g, Options{}, seen, left); err != nil {
			t.Fatal(err)
		}
		return seen, left
	}
	seen, left := measured()
	for j, m := range machines {
		if !slices.Equal(seen[j], g.own(j)) {
			t.Errorf("%s: unlabeled %v, in the search %v", m.name, seen[j], g.own(j))
		}
		for _, e := range left[j] {
			if !(e >= 0 && e <= 60) {
				t.Errorf("%s: %v left out", m.name, left[j])
			}
		}
	}

	// Points far away are told by nothing: the errors on them change, the others do not.
	far := make([]float64, len(fold)*3)
	for i := range far {
		far[i] = 1e3
	}
	h.out = &data.Dense[float64]{Rows: len(fold), Cols: 3, Data: far}
	again, other := measured()
	for j, m := range machines {
		if !slices.Equal(seen[j], again[j]) || slices.Equal(left[j], other[j]) {
			t.Errorf("%s: %v and %v, left out %v and %v", m.name, seen[j], again[j], left[j], other[j])
		}
	}
}
