// Command scale measures how the work grows with the number of points, on this machine:
//
//	go run ./bench/scale                           10⁴ to 10⁶ points
//	go run ./bench/scale -up-to 1e7 -work DIR      again with the same DIR it goes on
//	go run ./bench/scale -from 1e7 -up-to 1e7 -k 10 -pairs 50
//	go run ./bench/scale -from 1e8 -up-to 1e8 -parts 128 -labels 100000 -work DIR   two hours, 60 GB
//
// The points are a 10-dimensional manifold in 64 coordinates, float32, with 1000 labels of
// eight classes. For each size the bigfit program finds the graph of nearest neighbours,
// eigenpairs of its normalized Laplacian, scores of label propagation on it, and the classes
// of 100,000 new points. Times are of whole processes, from files to files.
//
// It writes scale.json, scale.md and scale.svg. Run it on a machine that does nothing else.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/signal"
	"runtime"
	"strconv"

	"github.com/bigfit/bigfit/bench/program"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// options holds the flags, described in main, and the program under test.
type options struct {
	from, upTo float64
	k, pairs   int
	labels     int
	queries    int
	parts      int // 0 for all at once
	classes    int // of points in parts
	keep       bool
	work, out  string
	program    string
	memory     string
	bigfit     *program.Program
}

func main() {
	log.SetFlags(log.Ltime)
	var o options
	flag.Float64Var(&o.from, "from", 1e4, "smallest number of points")
	flag.Float64Var(&o.upTo, "up-to", 1e6, "largest number of points; each size is √10 times the one before")
	flag.IntVar(&o.k, "k", 10, "neighbours")
	flag.IntVar(&o.pairs, "pairs", 50, "eigenpairs")
	flag.IntVar(&o.labels, "labels", 1000, "labeled points")
	flag.IntVar(&o.queries, "new", 100_000, "new points to predict")
	flag.IntVar(&o.parts, "parts", 0, "work in so many parts of the points")
	flag.IntVar(&o.classes, "classes", 100, "classes of the points, with -parts")
	flag.BoolVar(&o.keep, "keep", false, "keep the files of a size that is done")
	flag.StringVar(&o.work, "work", "", "folder for points, graphs and models, from which an "+
		"interrupted run goes on (default: a temporary one)")
	flag.StringVar(&o.out, "o", "bench-results", "folder for the results")
	flag.StringVar(&o.program, "bigfit", "", "bigfit program (default: built from this module)")
	flag.StringVar(&o.memory, "memory-limit", "", "--memory-limit of each run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	if err := run(ctx, &o); err != nil {
		log.Fatal(err)
	}
}

// check returns all faults of the flags.
func (o *options) check() error {
	var faults []error
	if !(o.from >= 2000 && o.from <= o.upTo && o.upTo <= 1e9) {
		faults = append(faults, fmt.Errorf("-from %g -up-to %g: sizes must be from 2000 to 1e9, the "+
			"smaller first", o.from, o.upTo))
	}
	// The number of new points may exceed the number of points.
	for name, v := range map[string]int{"k": o.k, "pairs": o.pairs, "labels": o.labels, "new": o.queries} {
		if v < 1 || float64(v) > o.from && name != "new" {
			faults = append(faults, fmt.Errorf("-%s is %d; it must be from 1 to the smallest number of points",
				name, v))
		}
	}
	return errors.Join(faults...)
}

// sizes returns the numbers of points: 1, 3, 10, 30 and so on times the first, up to the
// last.
func (o *options) sizes() []int {
	var out []int
	for i := 0; ; i++ {
		n := o.from * math.Pow(10, float64(i/2))
		if i%2 == 1 {
			n *= 3
		}
		if n > o.upTo*(1+1e-9) {
			break
		}
		out = append(out, int(math.Round(n)))
	}

	// The largest size is measured even where the steps miss it.
	if last := int(math.Round(o.upTo)); out[len(out)-1] < last {
		out = append(out, last)
	}
	return out
}

// run measures all sizes. It writes the results after each size, so that an interrupted run
// leaves a table.
func run(ctx context.Context, o *options) error {
	if err := o.check(); err != nil {
		return err
	}
	var err error
	if o.bigfit, err = program.Prepare(ctx, o.program, o.work, o.out); err != nil {
		return err
	}
	defer o.bigfit.Close()
	o.work = o.bigfit.Work

	var all []measured
	for _, n := range o.sizes() {
		// The table is written after every size.
		rows, err := measure(ctx, o, n)
		if err != nil {
			return fmt.Errorf("%d points: %w", n, err)
		}
		all = append(all, rows...)
		text, err := save(o, all)
		if err != nil {
			return err
		}
		if n == int(math.Round(o.upTo)) {
			fmt.Print(text)
		}
	}

	return nil
}

// measured holds the cost of a stage at one size.
type measured struct {
	Stage   string  `json:"stage"`
	Points  int     `json:"points"`
	Seconds float64 `json:"seconds"`
	// Peak is the most memory that the process had, in bytes, and Announced the memory that
	// it announced.
	Peak      int64  `json:"peak_bytes"`
	Announced int64  `json:"announced_bytes"`
	Note      string `json:"note,omitempty"`
}

// done reads the stages of a size that an earlier run finished. It returns none if that run
// had other flags. The file is JSON:
//
//	{"Key": flags and machine (see key), "Stages": [measured, …] in their order}
func done(path, key string) []measured {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var kept struct {
		Key    string
		Stages []measured
	}
	if json.Unmarshal(text, &kept) != nil || kept.Key != key {
		return nil
	}
	return kept.Stages
}

// key names everything that the files and times of a size depend on. Runs with different
// keys do not share results.
func (o *options) key(n int) string {
	return fmt.Sprintf("n=%d k=%d pairs=%d labels=%d new=%d parts=%d classes=%d threads=%d simd=%s %s", n, o.k, o.pairs,
		o.labels, o.queries, o.parts, o.classes, runtime.GOMAXPROCS(0), simd.Path(), o.memory)
}

// count formats a number of points as 10,000.
func count(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
