package pipeline_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// thirds are 30 points of three classes, of which 6 have no label; the last class has
// two labels.
func thirds(t *testing.T) *models.Targets {
	t.Helper()
	classes, given := make([]int64, 30), make([]bool, 30)
	for i := range classes {
		classes[i], given[i] = int64(i%2), i >= 6
		if i > 27 {
			classes[i] = 5
		}
	}
	y, err := models.ClassTargets(data.NewLabels(classes, given))
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// Splits of numbers of labels are the draws of a fit by the seeds one after the other;
// those of each class have as many of each.
func TestDrawSplits(t *testing.T) {
	y := thirds(t)
	s, err := pipeline.DrawSplits(y, 4, []int{5, 9}, []int{3}, 7)
	if err != nil {
		t.Fatal(err)
	}
	want := []pipeline.SplitGroup{{First: 0, Count: 4, Labels: 5}, {First: 4, Count: 4, Labels: 9}, {First: 8, Count: 4, Labels: 7, PerClass: 3}}
	if !slices.Equal(s.Groups, want) || len(s.Labeled) != 12 {
		t.Fatalf("%+v", s.Groups)
	}
	for i := range 4 {
		fit, err := pipeline.ClassTargets(y.ClassLabels(), 9, 7+uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.Labeled[4+i], fit.Labeled) {
			t.Errorf("split %d: %v, a fit has %v", i, s.Labeled[4+i], fit.Labeled)
		}
		counts := map[int64]int{}
		for _, p := range s.Labeled[8+i] {
			q, ok := slices.BinarySearch(y.Labeled, p)
			if !ok {
				t.Fatalf("point %d has no label", p)
			}
			counts[y.Classes[y.Class(q)]]++
		}
		if counts[0] != 3 || counts[1] != 3 || counts[5] != 1 {
			t.Errorf("split %d of each class: %v", i, counts)
		}
	}
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "3 labels of each class: the classes 5 have no more") {
		t.Errorf("%q", s.Notes)
	}
	if slices.Equal(s.Labeled[0], s.Labeled[1]) {
		t.Error("two splits are the same")
	}
	values, err := models.ValueTargets(mat.NewDense(4, 1, []float64{1, math.NaN(), 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := pipeline.DrawSplits(values, 2, []int{2}, nil, 1); err != nil || len(s.Labeled) != 2 || slices.Contains(s.Labeled[0], 1) {
		t.Errorf("%+v, %v", s, err)
	}
	for _, c := range []struct {
		y                *models.Targets
		labels, perClass []int
		want             string
	}{
		{y, []int{24}, nil, "24 labels of 24 points with a target leave none"},
		{y, []int{0}, nil, "cannot draw 0"},
		{y, nil, []int{0}, "cannot draw 0"},
		{values, nil, []int{1}, "are not classes"},
	} {
		if _, err := pipeline.DrawSplits(c.y, 2, c.labels, c.perClass, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Given splits are read as they are, and what is wrong in them is named with its place.
func TestReadSplits(t *testing.T) {
	y := thirds(t)
	dir := t.TempDir()
	write := func(cols int, v any) string {
		path := filepath.Join(dir, "splits.npy")
		n := map[bool]int{true: 1}[cols == 0]
		switch v := v.(type) {
		case []int32:
			n = len(v) / max(cols, 1)
		case []float64:
			n = len(v) / max(cols, 1)
		}
		if err := npy.WriteFile(path, []int{n, cols}, v); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s, err := pipeline.ReadSplits(write(3, []int32{9, 6, 7, 28, 10, 29}), y, 0)
	if err != nil || !slices.Equal(s.Labeled[0], []int{6, 7, 9}) || !slices.Equal(s.Labeled[1], []int{10, 28, 29}) || s.Groups[0] != (pipeline.SplitGroup{Count: 2, Labels: 3}) {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := s.Check(y); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		cols int
		v    any
		want string
	}{
		{3, []int32{9, 6, 7, 8, 30, 10}, "splits.npy: row 1, column 1 is 30; it must be the number of a point, from 0 to 29"},
		{3, []int32{9, -1, 7}, "row 0, column 1 is -1"},
		{2, []float64{9, 6.5}, "row 0, column 1 is 6.5"},
		{2, []float64{9, math.NaN()}, "row 0, column 1 is NaN"},
		{3, []int32{9, 6, 9}, "row 0, column 2 is point 9, which column 0 names too"},
		{2, []int32{9, 3}, "row 0, column 1 is point 3, which has no label"},
		{1, []int32{9, 6, 7}, "3 rows of one number; it must have a row for each split"},
	} {
		if _, err := pipeline.ReadSplits(write(c.cols, c.v), y, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	one, err := pipeline.ReadSplits(write(2, []int32{6, 7, 8, 10}), y, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Check(y); err == nil || !strings.Contains(err.Error(), "split 1: all 2 labels are of class 0") {
		t.Error(err)
	}
}
