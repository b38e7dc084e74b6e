package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// A stage is one run of the program, in the folder of a size.
type stage struct {
	name    string
	args    []string
	output  string // file with the predicted classes of points, empty if none
	first   int    // of them, the one that truth.npy begins with
	resumes bool   // takes --checkpoint and --resume
	scratch string // folder that is of no use once the stage is done, empty if none
}

// stages returns the stages in their order. A stage reads files of earlier stages.
func (o *options) stages() []stage {
	if o.parts > 0 {
		return o.stagesInParts()
	}
	k := strconv.Itoa(o.k)
	pairs := strconv.Itoa(o.pairs)
	return []stage{
		{name: "graph", args: []string{"graph", "X.npy", "--method", "nn-descent", "--neighbors", k, "-o",
			"graph.npz"}},
		{name: "eigenpairs", args: []string{"eigs", "graph.npz", "--laplacian", "normalized", "-n", pairs,
			"-o", "eigs.npz"}, resumes: true},
		{name: "eigenmap", args: []string{"fit", "--model", "eigenmap", "X.npy", "y.npy", "--graph",
			"graph.npz", "--eigs", "eigs.npz", "--calibrate", "none", "-o", "eigenmap.npz"}},
		{name: "propagation", args: []string{"fit", "--model", "lgc", "X.npy", "y.npy", "--graph",
			"graph.npz", "--calibrate", "none", "-o", "lgc.npz"}},
		{name: "prediction, eigenmap", args: []string{"predict", "eigenmap.npz", "new.npy", "-o",
			"eigenmap.answers.npy"}, output: "eigenmap.answers.npy"},
		{name: "prediction, propagation", args: []string{"predict", "lgc.npz", "new.npy", "-o",
			"lgc.answers.npy"}, output: "lgc.answers.npy"},
	}
}

// measure runs the stages for n points that no earlier run has finished, and records each
// one as soon as it ends. The folder of a size holds:
//
//	X.npy       n × 64 float32    points
//	new.npy     new × 64 float32  new points to predict
//	y.npy       n int64           classes of the first labels, −1 elsewhere
//	truth.npy   new int64         classes of the new points
//	graph.npz, eigs.npz, eigenmap.npz, lgc.npz, *.answers.npy   outputs of the stages
func measure(ctx context.Context, o *options, n int) ([]measured, error) {
	dir := filepath.Join(o.work, strconv.Itoa(n))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	record := filepath.Join(o.work, strconv.Itoa(n)+".json")
	// A run with the same --work goes on behind the last stage that was recorded.
	rows := done(record, o.key(n))
	stages := o.stages()
	if len(rows) >= len(stages) {
		return rows, nil
	}

	log.Printf("%s points", count(n))
	write := writePoints
	if o.parts > 0 {
		write = writeShards
	}
	if err := write(o, dir, n); err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // the stages and the page cache need it

	for _, s := range stages[len(rows):] {
		row, err := s.run(ctx, o, dir, n)
		if err != nil {
			return nil, err
		}
		log.Printf("  %-24s %8.1f s  %6.2f GiB  %s", row.Stage, row.Seconds,
			float64(row.Peak)/(1<<30), row.Note)
		rows = append(rows, row)
		if err := writeJSON(record, map[string]any{"Key": o.key(n), "Stages": rows}); err != nil {
			return nil, err
		}
	}

	if o.keep {
		return rows, nil
	}
	return rows, os.RemoveAll(dir)
}

// The manifold of the points: see [synthetic.Manifold].
const (
	columns, intrinsic = 64, 10
	noise              = 0.01
	seed               = 1
)

// writePoints writes X.npy, new.npy, y.npy and truth.npy, unless they are there. The class of
// a point tells on which side of the mean its first three coordinates lie, so the classes are
// divided by curved surfaces on the manifold.
func writePoints(o *options, dir string, n int) error {
	if _, err := os.Stat(filepath.Join(dir, "truth.npy")); err == nil {
		return nil
	}

	// Point i does not depend on how many there are.
	x := synthetic.Manifold(n+o.queries, columns, intrinsic, noise, seed)
	var mean [3]float64
	for i := range min(n, 10_000) {
		for j := range mean {
			mean[j] += float64(x.Row(i)[j]) / float64(min(n, 10_000))
		}
	}

	// Three coordinates give eight classes.
	class := func(i int) int64 {
		var c int64
		for j, m := range mean {
			if float64(x.Row(i)[j]) > m {
				c |= 1 << j
			}
		}
		return c
	}

	// The first points are labeled: their order is random.
	y := make([]int64, n)
	answers := make([]int64, o.queries)
	for i := range y {
		y[i] = -1
		if i < o.labels {
			y[i] = class(i)
		}
	}

	for i := range answers {
		answers[i] = class(n + i)
	}
	// truth.npy is written last: its presence says that the others are complete.
	rows := x.Data
	for _, f := range []struct {
		name  string
		shape []int
		data  any
	}{
		{"X.npy", []int{n, columns}, rows[:n*columns]},
		{"new.npy", []int{o.queries, columns}, rows[n*columns:]},
		{"y.npy", nil, y},
		{"truth.npy", nil, answers}, // last: the others are there
	} {
		if err := npy.WriteFile(filepath.Join(dir, f.name), f.shape, f.data); err != nil {
			return err
		}
	}

	return nil
}

// run runs the stage and returns its time, memory, and the share of wrong answers.
func (s *stage) run(ctx context.Context, o *options, dir string, n int) (measured, error) {
	args := slices.Clone(s.args)
	if o.memory != "" {
		args = append(args, "--memory-limit", o.memory)
	}
	if s.resumes {
		// A checkpoint is there if the stage was interrupted.
		args = append(args, "--checkpoint", s.name)
		if _, err := os.Stat(filepath.Join(dir, s.name)); err == nil {
			args = append(args, "--resume")
		}
	}

	used, err := o.bigfit.Run(ctx, dir, args...)
	if err != nil {
		return measured{}, err
	}
	if s.scratch != "" {
		if err := os.RemoveAll(filepath.Join(dir, s.scratch)); err != nil {
			return measured{}, err
		}
	}
	row := measured{Stage: s.name, Points: n, Seconds: used.Seconds, Peak: used.Peak,
		Announced: used.Announced}
	for _, note := range used.Notes {
		if _, recall, ok := strings.Cut(note, "recall "); ok {
			row.Note = "recall " + recall // that of the end is the last one
		}
	}
	if s.output != "" {
		wrong, answers, err := shareWrong(filepath.Join(dir, "truth.npy"), filepath.Join(dir, s.output), s.first)
		if err != nil {
			return measured{}, err
		}
		row.Note = fmt.Sprintf("%.1f %% wrong, %.0f points/s", 100*wrong, float64(answers)/row.Seconds)
	}

	return row, nil
}

// shareWrong returns the share of answers, from the first on, that differ from the truth, both read from
// files, and the number of answers.
func shareWrong(truth, answers string, first int) (share float64, count int, err error) {
	var read [2][]int64
	for i, path := range []string{truth, answers} {
		a, err := npy.ReadFile(path, math.MaxInt64)
		if err != nil {
			return 0, 0, err
		}
		if read[i], err = a.Int64s(); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", path, err)
		}
	}

	known, given := read[0], read[1]
	if len(given) < first+len(known) {
		return 0, 0, fmt.Errorf("%s has %d answers and %s %d from %d on", answers, len(given), truth, len(known), first)
	}
	wrong := 0
	for i, c := range known {
		if given[first+i] != c {
			wrong++
		}
	}
	return float64(wrong) / float64(len(known)), len(given), nil
}
