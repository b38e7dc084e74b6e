package data

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNewLabels(t *testing.T) {
	y := NewLabels([]int64{5, math.MinInt64, 5, 0, math.MaxInt64}, []bool{true, true, true, false, true})
	if want := []int64{math.MinInt64, 5, math.MaxInt64}; !slices.Equal(y.Classes, want) {
		t.Errorf("classes %v, want %v", y.Classes, want)
	}
	if want := []int32{1, 0, 1, Unlabeled, 2}; !slices.Equal(y.Index, want) {
		t.Errorf("index %v, want %v", y.Index, want)
	}
	if y.Len() != 5 || !slices.Equal(y.Labeled(), []int{0, 1, 2, 4}) {
		t.Errorf("%d points, labeled %v", y.Len(), y.Labeled())
	}
	for _, y := range []*Labels{NewLabels(nil, nil), NewLabels([]int64{1, 2}, []bool{false, false})} {
		if len(y.Classes) != 0 || len(y.Labeled()) != 0 {
			t.Errorf("labels of nothing: %+v", y)
		}
	}
}

func TestLabelsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Int64Range(-3, 3)).Draw(t, "values")
		known := rapid.SliceOfN(rapid.Bool(), len(values), len(values)).Draw(t, "labeled")
		y := NewLabels(values, known)
		if !slices.IsSorted(y.Classes) || len(slices.Compact(slices.Clone(y.Classes))) != len(y.Classes) {
			t.Fatalf("classes %v", y.Classes)
		}
		for i, c := range y.Index {
			if known[i] != (c != Unlabeled) || known[i] && y.Classes[c] != values[i] {
				t.Fatalf("point %d has class %d", i, c)
			}
		}
		for c := range y.Classes {
			if !slices.Contains(y.Index, int32(c)) {
				t.Fatalf("class %d has no point", y.Classes[c])
			}
		}
		rows := y.Labeled()
		if len(rows) == 0 {
			return
		}
		count := rapid.IntRange(1, len(rows)).Draw(t, "count")
		drawn, err := y.Draw(count, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatalf("%v", err)
		}
		if len(drawn.Labeled()) != count || !slices.Equal(drawn.Classes, y.Classes) {
			t.Fatalf("%d of %d drawn, classes %v", len(drawn.Labeled()), count, drawn.Classes)
		}
		for _, r := range drawn.Labeled() {
			if drawn.Index[r] != y.Index[r] {
				t.Fatalf("point %d changed its class", r)
			}
		}
	})
}

func TestKeepAndSelect(t *testing.T) {
	y := NewLabels([]int64{4, 5, 6, 4}, []bool{true, true, false, true})
	before := slices.Clone(y.Index)
	if got := y.Keep([]int{3, 2}); !slices.Equal(got.Index, []int32{-1, -1, -1, 0}) || !slices.Equal(got.Classes, y.Classes) {
		t.Errorf("Keep: %+v", got)
	}
	if got := y.Select([]int{3, 2, 1, 1}); !slices.Equal(got.Index, []int32{0, -1, 1, 1}) || !slices.Equal(got.Classes, y.Classes) {
		t.Errorf("Select: %+v", got)
	}
	if !slices.Equal(before, y.Index) {
		t.Error("the labels were changed")
	}
}

// TestDraw checks that a draw is told by its seed and uniform: each of 40 points
// is in a draw of 10 with probability 1/4, independently of its class.
func TestDraw(t *testing.T) {
	values := make([]int64, 50)
	known := make([]bool, 50)
	for i := range values {
		values[i] = int64(i % 3)
		known[i] = i%5 != 0
	}
	y := NewLabels(values, known)
	const draws = 4000
	count := make([]int, 50)
	var different int
	for seed := range uint64(draws) {
		a, err := y.Draw(10, seed)
		if err != nil {
			t.Fatal(err)
		}
		b, err := y.Draw(10, seed)
		if err != nil || !slices.Equal(a.Index, b.Index) {
			t.Fatalf("seed %d: two different draws: %v", seed, err)
		}
		if c, _ := y.Draw(10, seed+1); !slices.Equal(a.Index, c.Index) {
			different++
		}
		for _, r := range a.Labeled() {
			count[r]++
		}
	}
	if different < draws-1 {
		t.Errorf("%d of %d seeds repeat the draw of their neighbour", draws-different, draws)
	}
	sd := math.Sqrt(draws * 0.25 * 0.75)
	for i, c := range count {
		want := 0.0
		if known[i] {
			want = draws / 4
		}
		if !(math.Abs(float64(c)-want) <= 5*sd*min(1, want)) {
			t.Errorf("point %d is drawn %d times, want %v ± %.0f", i, c, want, sd)
		}
	}
	for _, n := range []int{-1, 0, 41} {
		if got, err := y.Draw(n, 1); err == nil || got != nil {
			t.Errorf("%d of 40 drawn: no error", n)
		}
	}
	if all, err := y.Draw(40, 1); err != nil || !slices.Equal(all.Index, y.Index) {
		t.Errorf("all drawn: %v", err)
	}
}

func ExampleNewLabels() {
	y := NewLabels([]int64{7, -2, 0, 7}, []bool{true, true, false, true})
	fmt.Println(y.Classes, y.Index, y.Labeled())
	// Output: [-2 7] [1 0 -1 1] [0 1 3]
}

func ExampleLabels_Draw() {
	y := NewLabels([]int64{1, 1, 2, 2, 3, 3}, nil)
	drawn, err := y.Draw(4, 1)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(drawn.Labeled()), "of", drawn.Len(), "labeled, classes", drawn.Classes)
	// Output: 4 of 6 labeled, classes [1 2 3]
}
