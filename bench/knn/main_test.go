package main

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/knn"
)

// column is a set of points on a line.
func column(v ...float64) *data.Dense[float64] {
	return &data.Dense[float64]{Rows: len(v), Cols: 1, Data: v}
}

// TestCompare plants one difference of each kind.
func TestCompare(t *testing.T) {
	line := column(0, 1, 2, 4)
	// Distances 1 and 1.25 from point 0; the squared norms are 2²⁴, so that a
	// float32 formula may exchange them and a float64 formula may not.
	far := column(4096, 4097, 4097.25, 0)
	plane := &data.Dense[float64]{Rows: 4, Cols: 2, Data: []float64{1, 0, 1, 1, 2, 2, 0, 0}}
	for _, c := range []struct {
		name         string
		x            data.Points
		metric       knn.Metric
		k            int
		ours, theirs []int32
		a            arithmetic
		want         []string
	}{
		{"the same", line, knn.Euclidean, 1, []int32{1, 0, 1, 2}, []int32{1, 0, 1, 2}, arithmetics["faiss"], nil},
		{"tie", line, knn.Euclidean, 1, []int32{1, 0, 1, 2}, []int32{1, 2, 1, 2}, arithmetics["faiss"], []string{tie}},
		{"order only", line, knn.Euclidean, 2, []int32{1, 2, 0, 2, 1, 0, 2, 1}, []int32{1, 2, 2, 0, 0, 1, 1, 2}, arithmetic{}, nil},
		{"ours is farther", line, knn.Euclidean, 1, []int32{1, 0, 1, 1}, []int32{1, 0, 1, 2}, arithmetics["faiss"], []string{unexplained}},
		{"theirs is farther", line, knn.Euclidean, 1, []int32{1, 0, 1, 2}, []int32{3, 0, 1, 2}, arithmetic{}, []string{unexplained}},
		// Points 0 and 3 are equally far from 2; the peer has both and lacks the nearer 1.
		{"a tie does not hide a loss", column(0, 3, 2, 4), knn.Euclidean, 2,
			[]int32{2, 1, 2, 3, 1, 0, 1, 2}, []int32{2, 1, 2, 3, 0, 3, 1, 2}, arithmetic{}, []string{unexplained}},
		{"float32", far, knn.Euclidean, 1, []int32{1, 2, 1, 0}, []int32{2, 2, 1, 0}, arithmetics["faiss"], []string{"float32 cancellation"}},
		{"float32 does not excuse us", far, knn.Euclidean, 1, []int32{2, 2, 1, 0}, []int32{1, 2, 1, 0}, arithmetics["faiss"], []string{unexplained}},
		{"float32 does not excuse all", far, knn.Euclidean, 1, []int32{1, 2, 1, 0}, []int32{3, 2, 1, 0}, arithmetics["faiss"], []string{unexplained}},
		{"float64 does not cancel so much", far, knn.Euclidean, 1, []int32{1, 2, 1, 0}, []int32{2, 2, 1, 0}, arithmetics["brute"], []string{unexplained}},
		{"no cancellation in trees", far, knn.Euclidean, 1, []int32{1, 2, 1, 0}, []int32{2, 2, 1, 0}, arithmetics["ckdtree"], []string{unexplained}},
		{"float64", column(1<<27, 1<<27+1, 1<<27+1.25, 0), knn.Euclidean, 1, []int32{1, 2, 1, 0}, []int32{2, 2, 1, 0}, arithmetics["brute"], []string{"float64 cancellation"}},
		// (1,1) and (2,2) are at the same angle from (1,0); zero is at a right angle.
		{"angle", plane, knn.Angle, 1, []int32{1, 2, 1, 0}, []int32{2, 2, 1, 0}, arithmetics["cosine"], []string{tie}},
		{"right angle", plane, knn.Angle, 1, []int32{1, 2, 1, 0}, []int32{3, 2, 1, 0}, arithmetics["cosine"], []string{unexplained}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, _ := c.x.Dims()
			ours := &knn.Neighbors{K: c.k, Index: c.ours, Distance: make([]float64, n*c.k)}
			diffs, err := compare(c.x, c.metric, ours, c.theirs, c.a)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range diffs {
				got = append(got, d.cause)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%+v, want %v", diffs, c.want)
			}
		})
	}
	ours := &knn.Neighbors{K: 2, Index: []int32{1, 2, 0, 2, 1, 0, 2, 1}, Distance: make([]float64, 8)}
	for _, bad := range [][]int32{{1, 1}, {-1, 2}, {4, 2}, {0, 1}} {
		theirs := slices.Concat(bad, ours.Index[2:])
		if _, err := compare(line, knn.Euclidean, ours, theirs, arithmetic{}); err == nil {
			t.Errorf("the list %v of point 0 was accepted", bad)
		}
	}
}

func TestSaveDifferences(t *testing.T) {
	dir := t.TempDir()
	diffs := []difference{{point: 3, theirs: 5, ours: 7, theirSq: 2, ourSq: 2, cause: tie}, {point: 4, theirs: 1, ours: 2, theirSq: 1, ourSq: 2, cause: unexplained}}
	if sum := count(diffs, 10); sum["of"] != 10 || sum[tie] != 1 || sum[unexplained] != 1 {
		t.Errorf("counted %v", sum)
	}
	bad, err := saveDifferences(dir, "d.csv", []comparison{{"a work", "a peer", diffs}})
	if err != nil || bad != 1 {
		t.Fatalf("%d unexplained, %v; want 1", bad, err)
	}
	f, err := os.Open(filepath.Join(dir, "d.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a work", "a peer", "3", "5", "7", "2", "2", "0.00", "tie"}
	if len(lines) != 3 || !slices.Equal(lines[1], want) {
		t.Errorf("%v, want a heading, %v and another", lines, want)
	}
}

// TestRecall: the points 0, 1, 2, 4 of a line; a point's own number and one that
// is missing are not neighbours, a tie is.
func TestRecall(t *testing.T) {
	x := column(0, 1, 2, 4)
	exact, err := newTruth(context.Background(), x, knn.Euclidean, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		lists []int32
		want  float64
	}{
		{[]int32{1, 2, 0, 2, 1, 0, 2, 1}, 1},
		{[]int32{1, 2, 0, 2, 1, 3, 2, 1}, 1},        // 3 is as far from 2 as 0
		{[]int32{0, 1, 1, 2, 2, 1, 3, 2}, 4.0 / 8},  // with the points themselves
		{[]int32{1, -1, 0, 3, 1, 0, 2, 0}, 5.0 / 8}, // one missing, two too far
	} {
		if got := exact.recall(c.lists); got != c.want {
			t.Errorf("recall of %v is %v, want %v", c.lists, got, c.want)
		}
	}
}

func TestReadPeer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "theirs.npz")
	// Point 1 comes behind its duplicate 0, point 2 is not in its own list.
	index := []int64{0, 1, 2, 0, 1, 2, 0, 1, -1}
	if err := npy.WriteArchive(path, []archive.Array{{Name: "indices", Shape: []int{3, 3}, Data: index}}); err != nil {
		t.Fatal(err)
	}
	got, err := readPeer(path, 2)
	if want := []int32{1, 2, 0, 2, 0, 1}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := readPeer(path, 3); err == nil {
		t.Error("lists of 2 read as lists of 3")
	}
}
