package data

import (
	"math"
	"slices"
	"testing"
)

func TestNonzero(t *testing.T) {
	x := &Dense[float32]{Rows: 3, Cols: 2, Data: []float32{0, 2, 0, 0, 3, -1}}
	m := ToSparse(x)
	if err := m.Validate(); err != nil || m.NNZ() != 3 {
		t.Fatalf("%d entries: %v", m.NNZ(), err)
	}
	row := make([]float64, 2)
	for i := range 3 {
		RowTo(row, m, i)
		for j, v := range row {
			if v != float64(x.Row(i)[j]) {
				t.Errorf("entry %d, %d is %v", i, j, v)
			}
		}
	}
	if ToSparse(m) != m {
		t.Error("a sparse set is converted")
	}
	for _, p := range []Points{x, m} {
		if got := Nonzero(p); !slices.Equal(got, []int{0, 2}) {
			t.Errorf("%T: points %v are not zero", p, got)
		}
	}
	if mean := Mean(x); mean[0] != 1 || !(math.Abs(mean[1]-1./3) <= 1e-15) {
		t.Errorf("mean %v", mean)
	}
}
