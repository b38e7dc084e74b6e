package models_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
)

func folds(t *testing.T, y *models.Targets, seed uint64) [][]int {
	t.Helper()
	out, err := y.Folds(2, seed)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(4, 60).Draw(rt, "n")
		classes := rapid.IntRange(0, 5).Draw(rt, "classes")
		k := rapid.IntRange(2, n).Draw(rt, "folds")
		seed := rapid.Uint64().Draw(rt, "seed")
		var targets *models.Targets
		counts := map[int]int{}
		if classes < 2 {
			targets, _ = models.ValueTargets(mat.NewDense(n, 1, nil))
		} else {
			values := make([]int64, n)
			for i := range values {
				values[i] = int64(rapid.IntRange(0, classes-1).Draw(rt, "class"))
			}
			values[0], values[1] = 0, 1
			y := data.NewLabels(values, nil)
			targets, _ = models.ClassTargets(y)
			for q := range n {
				if c := targets.Class(q); int32(c) != y.Index[q] {
					rt.Fatalf("class %d of point %d, want %d", c, q, y.Index[q])
				}
				counts[targets.Class(q)]++
			}
		}
		folds, err := targets.Folds(k, seed)
		if err != nil {
			rt.Fatal(err)
		}
		again, _ := targets.Folds(k, seed)
		if !reflect.DeepEqual(folds, again) {
			rt.Fatal("the same seed gives other folds")
		}
		all := slices.Concat(folds...)
		slices.Sort(all)
		if len(folds) != k || len(all) != n || all[0] != 0 || all[n-1] != n-1 || len(slices.Compact(all)) != n {
			rt.Fatalf("%d folds of %v", len(folds), all)
		}
		for _, f := range folds {
			if !slices.IsSorted(f) || len(f) < n/k || len(f) > (n+k-1)/k {
				rt.Fatalf("a fold %v of %d points in %d folds", f, n, k)
			}
			for c, count := range counts {
				have := 0
				for _, q := range f {
					if targets.Class(q) == c {
						have++
					}
				}
				if have < count/k || have > (count+k-1)/k {
					rt.Fatalf("%d of %d points of class %d in one of %d folds", have, count, c, k)
				}
			}
		}
	})
	targets, err := models.ClassTargets(data.NewLabels([]int64{1, 2, 1, 2, 1, 2, 1, 2}, nil))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := folds(t, targets, 1), folds(t, targets, 2); reflect.DeepEqual(a, b) {
		t.Error("two seeds give the same folds")
	}
	for _, k := range []int{-1, 0, 1, 9} {
		if _, err := targets.Folds(k, 0); err == nil {
			t.Errorf("%d folds of 8 points are no error", k)
		}
	}
}

// Each split trains on all but its fold, and knows the classes that are left.
func TestSplits(t *testing.T) {
	y := data.NewLabels([]int64{4, 4, 7, 7, 9, 0, 4, 7}, []bool{true, true, true, true, true, false, true, true})
	targets, err := models.ClassTargets(y)
	if err != nil {
		t.Fatal(err)
	}
	splits, err := targets.Splits(7, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(splits) != 14 {
		t.Fatalf("%d splits", len(splits))
	}
	for _, s := range splits {
		all := slices.Sorted(slices.Values(slices.Concat(s.Held, s.Kept)))
		if !slices.Equal(all, []int{0, 1, 2, 3, 4, 5, 6}) || len(s.Held) != 1 || s.Points[0] != targets.Labeled[s.Held[0]] {
			t.Errorf("held %v, points %v, kept %v", s.Held, s.Points, s.Kept)
		}
		want := []int64{4, 7, 9}
		if s.Points[0] == 4 { // the only one of its class
			want = []int64{4, 7}
		}
		if !slices.Equal(s.Train.Classes, want) || len(s.Train.Labeled) != 6 || s.Labels.Index[s.Points[0]] != data.Unlabeled {
			t.Errorf("without point %d: classes %v, labeled %v", s.Points[0], s.Train.Classes, s.Train.Labeled)
		}
		for q := range s.Train.Labeled {
			if got, want := s.Train.Classes[s.Train.Class(q)], targets.Classes[targets.Class(s.Kept[q])]; got != want {
				t.Errorf("class %d of point %d, want %d", got, s.Train.Labeled[q], want)
			}
		}
	}
	alone, err := models.ClassTargets(y.Keep([]int{0, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alone.Splits(3, 1, 0); err == nil || !strings.Contains(err.Error(), "all labels are of class 7") {
		t.Errorf("one class is left: %v", err)
	}
}
