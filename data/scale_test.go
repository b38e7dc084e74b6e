package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// columnsOf returns n normal points whose columns have these standard deviations, far from the origin.
func columnsOf(n int, deviations ...float64) *Dense[float64] {
	rng := rand.New(rand.NewPCG(1, 2))
	x := NewDense[float64](n, len(deviations))
	for i := range n {
		for j, s := range deviations {
			x.Row(i)[j] = 1e6 + s*rng.NormFloat64()
		}
	}
	return x
}

func TestScaleOf(t *testing.T) {
	for _, c := range []struct {
		deviations []float64
		columns    []int
	}{
		{[]float64{1, 1, 1, 40}, []int{3}},
		{[]float64{500, 1, 40, 1, 1}, []int{0, 2}},
		{[]float64{1, 1, 1, 8}, nil},                                // less than ten times the median
		{[]float64{40, 40, 1}, nil},                                 // most of the columns
		{append(slices.Repeat([]float64{1}, 400), 12), nil},         // a quarter of the variance
		{[]float64{0, 0, 0, 1, 1, 1, 1, 50}, []int{7}},              // constant columns do not count
		{[]float64{0, 0, 3}, nil},                                   // one column that varies
		{append(slices.Repeat([]float64{1}, 400), 200), []int{400}}, // its share is 0.99
	} {
		for _, n := range []int{50, 20_000} {
			s := ScaleOf(columnsOf(n, c.deviations...))
			if c.columns == nil {
				if s != nil {
					t.Errorf("%d points, %v: %+v", n, c.deviations[:min(8, len(c.deviations))], s)
				}
				continue
			}
			largest := slices.Max(c.deviations)
			if s == nil || !slices.Equal(s.Columns, c.columns) || math.Abs(s.Largest/largest-1) > 0.3 || s.Share < DominatedShare {
				t.Errorf("%d points, %v: %+v", n, c.deviations[:min(8, len(c.deviations))], s)
			}
		}
	}

	// Values that are missing do not count, also in the first point; sparse points are not judged.
	x := columnsOf(100, 1, 1, 1, 40)
	x.Row(0)[3], x.Row(50)[0], x.Row(7)[1] = math.NaN(), math.Inf(1), math.NaN()
	if s := ScaleOf(x); s == nil || !slices.Equal(s.Columns, []int{3}) {
		t.Errorf("with missing values: %+v", s)
	}
	wide := NewDense[uint8](50, scaleColumns+1)
	for i := range wide.Rows {
		wide.Row(i)[0], wide.Row(i)[1], wide.Row(i)[2] = uint8(5*i), uint8(i%2), uint8(i%3/2)
	}
	if s := ScaleOf(wide); s != nil {
		t.Errorf("of %d columns: %+v", wide.Cols, s)
	}
	wide.Cols, wide.Data = 3, slices.Concat(wide.Row(0)[:3], wide.Row(1)[:3], wide.Row(2)[:3], wide.Row(49)[:3])
	wide.Rows = 4
	if s := ScaleOf(wide); s == nil {
		t.Error("of the first three of them: none dominates")
	}
	if s := ScaleOf(ToSparse(columnsOf(100, 1, 1, 1, 40))); s != nil {
		t.Errorf("sparse: %+v", s)
	}
}

// What a program made, and groups that lie apart, are no measurements in another unit.
func TestScaleUnits(t *testing.T) {
	x := columnsOf(600, 1, 1, 1, 40)
	if s := ScaleOf(x); s == nil || !s.Units {
		t.Errorf("a column in another unit: %+v", s)
	}
	for i := range x.Rows {
		x.Row(i)[3] -= 1e6 // centred
	}
	if s := ScaleOf(x); s == nil || s.Units {
		t.Errorf("a centred column: %+v", s)
	}
	for i := range x.Rows {
		x.Row(i)[3] = float64(100*(i%7)) + x.Row(i)[0]
	}
	if s := ScaleOf(x); s == nil || s.Units {
		t.Errorf("seven groups: %+v", s)
	}
	x.Row(0)[3] = 1e5 // one point far away makes no group
	for i := 1; i < x.Rows; i++ {
		x.Row(i)[3] = 1000 + 40*float64(i%97)/97
	}
	if s := ScaleOf(x); s == nil || !s.Units {
		t.Errorf("an outlier: %+v", s)
	}
}

func TestScaleWarning(t *testing.T) {
	s := &Scale{Columns: []int{4}, Share: 0.987, Largest: 123, Median: 0.5}
	for _, c := range []struct {
		columns []int
		names   []string
		start   string
	}{
		{[]int{4}, nil, "column 4 of the coordinates holds 98.7 % of the variance"},
		{[]int{1, 0}, []string{"age", "income"}, `columns "income", "age" hold 98.7 %`},
		{[]int{9, 8, 7, 6, 5}, nil, "columns 9, 8, 7 and 2 more of the coordinates hold"},
	} {
		s.Columns = c.columns
		if text := s.Warning(c.names); !strings.HasPrefix(text, c.start) || !strings.Contains(text, fmt.Sprint(s.Largest)) {
			t.Errorf("%q, want %q", text, c.start)
		}
	}
}
