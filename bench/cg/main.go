// Command cg times our solutions of (L + cI)X = B on a graph beside SciPy's
// conjugate gradients, and label spreading on it beside scikit-learn's, in one run:
//
//	go run ./bench/cg                 MNIST's 8-neighbour graph, from BIGFIT_DATA
//	go run ./bench/cg -graph W.npz    any graph saved by SciPy or bigfit
//	go run ./bench/cg -hard 1000000   one right-hand side on the graphs of bench/graphs, of so many
//	                                  vertices, beside PETSc and splu; GOMAXPROCS=1 for one thread
//
// The programs take turns, and the fastest of -repeat runs of each counts; for label
// spreading the mean over ten draws counts. The command writes cg.json and cg.md, prints the
// table, and fails if a true residual is above the tolerance. Run it on a machine that does
// nothing else.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/sparse"
)

// tolerance is the relative residual ‖b − Ax‖₂/‖b‖₂ that all programs are asked for.
const tolerance = 1e-8

// options holds the flags, described in main.
type options struct {
	graph   string
	shifts  string
	methods string
	columns int
	repeat  int
	peers   bool
	out     string
	alpha   string // of label spreading, to be measured once
	truth   string
	// hardSize is the number of vertices of the graphs of bench/graphs, 0 to leave them out.
	hardSize int
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.graph, "graph", "", "graph (default: made from MNIST in $BIGFIT_DATA)")
	flag.StringVar(&o.shifts, "c", "0.01,1e-6", "shifts")
	flag.StringVar(&o.methods, "method", "auto,jacobi,approx-cholesky,chebyshev", "preconditioners")
	flag.IntVar(&o.columns, "rhs", 10, "right-hand sides")
	flag.IntVar(&o.repeat, "repeat", 3, "runs of each program")
	flag.BoolVar(&o.peers, "peers", true, "run SciPy too")
	flag.StringVar(&o.out, "o", "bench-results", "folder for the results")
	flag.StringVar(&o.alpha, "spreading", "", "measure our label spreading with this α once and print JSON")
	flag.StringVar(&o.truth, "truth", "", "labels of all points, for -spreading")
	flag.IntVar(&o.hardSize, "hard", 0, "vertices of graphs that are hard to solve with")
	one := flag.Bool("one", false, "measure ours once and print JSON")
	flag.Parse()

	measure := run
	switch {
	case o.hardSize > 0:
		measure = func(ctx context.Context, o *options) error { return o.hard(ctx) }
	case *one:
		measure = measureOne
	case o.alpha != "":
		measure = measureSpreading
	}

	if err := measure(context.Background(), &o); err != nil {
		log.Fatal(err)
	}
}

// run measures all shifts, and label spreading on the graph of MNIST.
func run(ctx context.Context, o *options) error {
	graph := o.graph
	name := filepath.Base(o.graph)
	dir, err := os.MkdirTemp("", "bigfit-cg-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	// The graph of MNIST is made here once; label spreading needs its labels as well.
	var mnist *papers.Experiment
	if graph == "" {
		if mnist, err = papers.MNIST(papers.Options{Dir: os.Getenv("BIGFIT_DATA")}); err != nil {
			return err
		}
		graph = filepath.Join(dir, "mnist-8nn.npz")
		name = "MNIST 8-NN"
		if err := mnist.WriteGraph(ctx, graph); err != nil {
			return err
		}
	}

	var rows []peers.Row
	for _, c := range strings.Split(o.shifts, ",") {
		more, err := o.shift(ctx, graph, fmt.Sprintf("%s, c = %s, %d right-hand sides", name, c,
			o.columns), c)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}

	if mnist != nil {
		more, err := o.spreading(ctx, dir, graph, mnist.Truth)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}

	table, err := peers.Save(o.out, "cg", "(L + cI)X = B", rows)
	if err != nil {
		return err
	}
	fmt.Print(table)
	return nil
}

// shift measures all programs for one c.
func (o *options) shift(ctx context.Context, graph, work, c string) ([]peers.Row, error) {
	var rows []peers.Row
	columns := fmt.Sprint(o.columns)
	for range o.repeat {
		log.Print(work)
		// All methods of ours, then SciPy: one turn.
		var objects []map[string]any
		for _, method := range strings.Split(o.methods, ",") {
			more, err := peers.Self(ctx, os.Stderr, "-one", "-graph", graph, "-c", c, "-rhs", columns,
				"-method", method)
			if err != nil {
				return nil, err
			}
			objects = append(objects, more...)
		}

		if o.peers {
			more, err := peers.Run(ctx, os.Stderr, "cg_scipy.py", graph, c, columns, fmt.Sprint(tolerance))
			if err != nil {
				return nil, err
			}
			objects = append(objects, more...)
		}

		// A fast answer that is not a solution ends the run. The negated comparison refuses NaN.
		for _, object := range objects {
			if residual, ok := object["max_residual"].(float64); !ok || !(residual <= tolerance) {
				return nil, fmt.Errorf("%s, %v: the residual is %v, the tolerance %v", work, object["peer"],
					object["max_residual"], tolerance)
			}
		}
		rows = peers.Add(rows, work, objects...)
	}

	return rows, nil
}

// measureOne solves once and prints time, memory and the true residuals. The time includes
// the preconditioner but not the reading of the graph.
func measureOne(ctx context.Context, o *options) error {
	var method cg.Method
	if err := method.UnmarshalText([]byte(o.methods)); err != nil {
		return err
	}
	var shift float64
	if _, err := fmt.Sscan(o.shifts, &shift); err != nil {
		return fmt.Errorf("shift %q: %w", o.shifts, err)
	}
	w, err := sparse.ReadNPZ(o.graph, 0)
	if err != nil {
		return err
	}

	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		return err
	}
	// Right-hand sides are random and equal in every run.
	rng := rand.New(rand.NewPCG(0, 0))
	b := mat.NewDense(w.Rows, o.columns, nil)
	b.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, b)
	start := time.Now()
	r, err := cg.Laplacian(ctx, l.With(1, shift), nil, b, &cg.LaplacianSettings{
		Settings: cg.Settings{Tolerance: tolerance, Project: shift == 0}, Method: method})
	// Where rounding allows no more, the residual of the row tells it.
	if rounding := (*cg.RoundingError)(nil); errors.As(err, &rounding) {
		log.Print(err)
	} else if err != nil {
		return err
	}

	// Auto is bigfit itself; a chosen preconditioner goes into the name.
	seconds := time.Since(start).Seconds()
	name := "bigfit"
	if method != cg.Auto {
		name += ", " + method.String()
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"peer": name, "seconds": seconds, "method": r.Method, "max_residual": r.MaxResidual(),
		"iterations": r.MaxIterations(), "products": r.Products,
		"threads": runtime.GOMAXPROCS(0), "peak_bytes": peers.PeakBytes(),
	})
}
