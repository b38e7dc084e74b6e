package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// classesAtATime is the number of classes of a part of the labels.
const classesAtATime = 16

// stagesInParts returns the stages for points that are more than the memory holds.
func (o *options) stagesInParts() []stage {
	return []stage{
		{name: "graph, in parts", args: []string{"graph", "X", "--parts", strconv.Itoa(o.parts), "--work", "graph-parts",
			"--neighbors", strconv.Itoa(o.k), "-o", "graph/"}, scratch: "graph-parts"},
		// A walk of the default, a hundred steps long, crosses the manifold: its cells need a shorter one.
		{name: "label spreading, in parts", args: []string{"fit", "--model", "lgc", "--alpha", "0.9", "--graph", "graph/", "y.npy", "--parts",
			strconv.Itoa((o.classes + classesAtATime - 1) / classesAtATime), "--work", "fit-parts", "--predictions",
			"answers.npy"}, output: "answers.npy", first: o.labels, scratch: "fit-parts"},
	}
}

// shardRows is the number of points of a file.
const shardRows = 5_000_000

// writeShards writes n points of the manifold in float16 as files of the folder X, and y.npy and truth.npy,
// unless they are there. A class is the cell of one of so many more points of the manifold. The first points
// are labeled, their order is random, and truth.npy has the classes of those that follow.
func writeShards(o *options, dir string, n int) error {
	if _, err := os.Stat(filepath.Join(dir, "truth.npy")); err == nil {
		return nil
	}
	if o.labels+o.queries > n {
		return fmt.Errorf("-labels %d and -new %d are more than %d points", o.labels, o.queries, n)
	}
	if err := os.MkdirAll(filepath.Join(dir, "X"), 0o777); err != nil {
		return err
	}

	centres := synthetic.ManifoldRows(n, n+o.classes, columns, intrinsic, noise, seed)
	y := make([]int16, n)
	truth := make([]int16, o.queries)
	for first := 0; first < n; first += shardRows {
		x := synthetic.ManifoldRows(first, min(n, first+shardRows), columns, intrinsic, noise, seed)
		for i := range x.Rows {
			at := first + i - o.labels
			y[first+i] = -1
			switch {
			case at < 0:
				y[first+i] = nearest(centres, x.Row(i))
			case at < o.queries:
				truth[at] = nearest(centres, x.Row(i))
			}
		}
		if err := writeHalves(filepath.Join(dir, "X", fmt.Sprintf("points-%03d.npy", first/shardRows)), x); err != nil {
			return err
		}
	}

	// truth.npy is written last: its presence says that the others are complete.
	if err := npy.WriteFile(filepath.Join(dir, "y.npy"), nil, y); err != nil {
		return err
	}
	return npy.WriteFile(filepath.Join(dir, "truth.npy"), nil, truth)
}

// nearest returns the number of the row of centres that is nearest to x.
func nearest(centres *data.Dense[float32], x []float32) int16 {
	best := 0
	least := math.Inf(1)
	for c := range centres.Rows {
		var d float64
		for j, v := range centres.Row(c) {
			d += float64(v-x[j]) * float64(v-x[j])
		}
		if d < least {
			best = c
			least = d
		}
	}
	return int16(best)
}

// writeHalves writes points in float16.
func writeHalves(path string, x *data.Dense[float32]) error {
	half := make([]uint16, len(x.Data))
	par.For(len(half), 1<<16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			half[i] = simd.ToHalf(x.Data[i])
		}
	})
	return npy.WriteFile(path, []int{x.Rows, x.Cols},
		archive.Raw{DType: "float16", Parts: [][]byte{numbers.Bytes(half)}})
}
