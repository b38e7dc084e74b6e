package data_test

import (
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

func TestJoin(t *testing.T) {
	bytes := &data.Dense[uint8]{Rows: 2, Cols: 2, Data: []uint8{1, 0, 3, 255}}
	singles := &data.Dense[float32]{Rows: 1, Cols: 2, Data: []float32{0.5, 0}}
	doubles := &data.Dense[float64]{Rows: 1, Cols: 2, Data: []float64{0.1, 0}}
	ones := &sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 2}, Col: []int32{0, 1}}
	values := &sparse.CSR{Rows: 1, Cols: 2, Ptr: []int64{0, 2}, Col: []int32{0, 1}, Val: []float64{2, 3}}
	halves := data.NewHalves(1, 2, []uint16{0x3c00, 0x3800}) // 1, 0.5
	for _, c := range []struct {
		x, y, want data.Points
	}{
		{halves, halves, data.NewHalves(2, 2, []uint16{0x3c00, 0x3800, 0x3c00, 0x3800})},
		{halves, singles, &data.Dense[float32]{Rows: 2, Cols: 2, Data: []float32{1, 0.5, 0.5, 0}}},
		{doubles, halves, &data.Dense[float64]{Rows: 2, Cols: 2, Data: []float64{0.1, 0, 1, 0.5}}},
		{bytes, bytes, &data.Dense[uint8]{Rows: 4, Cols: 2, Data: []uint8{1, 0, 3, 255, 1, 0, 3, 255}}},
		{bytes, singles, &data.Dense[float32]{Rows: 3, Cols: 2, Data: []float32{1, 0, 3, 255, 0.5, 0}}},
		{doubles, singles, &data.Dense[float64]{Rows: 2, Cols: 2, Data: []float64{0.1, 0, 0.5, 0}}},
		{ones, ones, &sparse.CSR{Rows: 4, Cols: 2, Ptr: []int64{0, 1, 2, 3, 4}, Col: []int32{0, 1, 0, 1}}},
		{ones, values, &sparse.CSR{Rows: 3, Cols: 2, Ptr: []int64{0, 1, 2, 4}, Col: []int32{0, 1, 0, 1}, Val: []float64{1, 1, 2, 3}}},
	} {
		got, err := data.Join(c.x, c.y)
		if err != nil {
			t.Fatal(err)
		}
		if data.HashPoints(got) != data.HashPoints(c.want) {
			t.Errorf("%v and %v make %v", c.x, c.y, got)
		}
	}
	wide := data.NewDense[uint8](1, 3)
	if _, err := data.Join(bytes, wide); err == nil {
		t.Error("points of other columns are joined")
	}
	if _, err := data.Join(bytes, ones); err == nil {
		t.Error("sparse points follow dense ones")
	}
	if !slices.Equal(bytes.Data, []uint8{1, 0, 3, 255}) {
		t.Error("the points were changed")
	}
}
