package chart

import (
	"slices"
	"testing"
)

// The grid has a margin around the points, cells that are about squares, and centres row by
// row from below.
func TestGridAround(t *testing.T) {
	g := GridAround([]float64{0, 10}, []float64{0, 5}, 20)
	if g.Left != -0.8 || g.Right != 10.8 || g.Bottom != -0.4 || g.Top != 5.4 || g.Columns != 20 || g.Rows != 10 {
		t.Errorf("%+v", g)
	}
	if one := GridAround([]float64{3}, []float64{4}, 8); one.Left != 2 || one.Right != 4 || one.Rows != 8 {
		t.Errorf("around one point: %+v", one)
	}
	if flat := GridAround([]float64{0, 1000}, []float64{0, 0.001}, 8); flat.Rows != 2 {
		t.Errorf("around a line: %+v", flat)
	}

	small := Grid{Left: 0, Right: 2, Bottom: 0, Top: 4, Columns: 2, Rows: 2}
	if got, want := small.Centres(), []float64{0.5, 1, 1.5, 1, 0.5, 3, 1.5, 3}; !slices.Equal(got, want) {
		t.Errorf("centres %v, want %v", got, want)
	}
}
