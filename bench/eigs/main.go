// Command eigs times our eigenpairs of graph Laplacians beside other programs',
// in one run:
//
//	go run ./bench/eigs                      the graphs of MNIST and 20 Newsgroups, from BIGFIT_DATA
//	go run ./bench/eigs -million             and 50 pairs of a graph of a million points
//	go run ./bench/eigs -hard                ten pairs of two graphs whose weights lie six decades apart
//	go run ./bench/eigs -graph W.npz -k 100  any graph saved by SciPy or bigfit
//	go run ./bench/eigs -blocks 500000       a stochastic block graph of GraphChallenge, a pair for each block
//
// It writes eigs.json and eigs.md and prints the table. Run it on a machine that
// does nothing else.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/bigfit/bigfit/bench/graphs"
	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// tolerance is the residual, relative to the norm of L, that all programs are asked for.
const tolerance = 1e-8

// options holds the flags, described in main.
type options struct {
	graph                string
	pairs, kinds         string
	peers                bool
	turns                int
	peerMax              int
	products, newsgroups bool
	million, hard        bool
	points, blocks       int
	memory               int64
	out                  string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.graph, "graph", "", "graph (default: made from MNIST in $BIGFIT_DATA)")
	flag.StringVar(&o.pairs, "k", "20,100,1000", "numbers of eigenpairs")
	flag.StringVar(&o.kinds, "laplacian", "normalized,combinatorial", "Laplacians")
	flag.BoolVar(&o.peers, "peers", true, "run SciPy and SLEPc too")
	flag.IntVar(&o.peerMax, "peer-max", 100,
		"largest number of pairs that peers are asked for; 1000 take SciPy a quarter of an hour")
	flag.BoolVar(&o.products, "products", true, "time the products of the filter too")
	flag.BoolVar(&o.newsgroups, "newsgroups", true,
		"2000 pairs of the graph of 20 Newsgroups too, unless there is a -graph")
	flag.BoolVar(&o.million, "million", false, "50 pairs of the graph of a manifold too")
	flag.BoolVar(&o.hard, "hard", false, "ten pairs of hard graphs in place of all others, of this program alone")
	flag.IntVar(&o.points, "points", 1_000_000, "points of the manifold")
	flag.IntVar(&o.blocks, "blocks", 0, "vertices of a stochastic block graph, which alone is measured then")
	flag.IntVar(&o.turns, "turns", 3, "runs of each program for up to 50 pairs")
	flag.StringVar(&o.out, "o", "bench-results", "folder for the results")
	flag.Int64Var(&o.memory, "memory", 0, "memory limit in bytes, 0 for none")
	one := flag.String("one", "", "measure this once and print JSON: pairs, products, manifold, blocks")
	flag.Parse()

	var err error
	switch *one {
	case "":
		err = run(context.Background(), &o)
	case "pairs":
		err = measurePairs(&o)
	case "products":
		err = measureProducts(&o)
	case "manifold":
		err = measureManifold(&o)
	case "blocks":
		err = writeBlocks(&o)
	default:
		err = fmt.Errorf("-one is %q; it must be pairs, products, manifold or blocks", *one)
	}

	if err != nil {
		log.Fatal(err)
	}
}

// bench gathers the rows of a run.
type bench struct {
	*options
	ctx  context.Context
	rows []peers.Row
}

// run measures everything that the flags ask for and writes the table.
func run(ctx context.Context, o *options) error {
	dir, err := os.MkdirTemp("", "bigfit-eigs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{options: o, ctx: ctx}
	if o.hard {
		return b.measureHard(dir)
	}
	if o.blocks > 0 {
		return b.measureBlocks(filepath.Join(dir, "blocks.npz"))
	}

	graph := o.graph
	name := filepath.Base(o.graph)
	if graph == "" {
		name = "MNIST 8-NN"
		if graph, err = paperGraph(ctx, dir, papers.MNIST); err != nil {
			return err
		}
	}

	// Each number of pairs with each Laplacian, in the order of the table.
	for _, k := range strings.Split(o.pairs, ",") {
		for _, kind := range strings.Split(o.kinds, ",") {
			if err := b.eigenpairs(graph, name, k, kind); err != nil {
				return err
			}
		}
	}

	if o.products {
		for _, kind := range strings.Split(o.kinds, ",") {
			if err := b.self(fmt.Sprintf("%s: product, %s", name, kind), "products", "-graph", graph,
				"-laplacian", kind); err != nil {
				return err
			}
		}
	}

	if o.newsgroups && o.graph == "" {
		if graph, err = paperGraph(ctx, dir, papers.Newsgroups); err != nil {
			return err
		}
		if err := b.eigenpairs(graph, "20 Newsgroups 8-NN", "2000", "combinatorial"); err != nil {
			return err
		}
	}

	// The large graph is made in a process of its own: its memory is measured, too.
	if o.million {
		graph = filepath.Join(dir, "manifold.npz")
		name = fmt.Sprintf("%d-point manifold 10-NN", o.points)
		if err := b.self(name, "manifold", "-graph", graph, "-points", strconv.Itoa(o.points)); err != nil {
			return err
		}
		if err := b.self(name+": 50 pairs, normalized", "pairs", "-graph", graph, "-k", "50", "-laplacian",
			"normalized"); err != nil {
			return err
		}
	}

	return b.save("eigs")
}

// save writes and prints the table.
func (b *bench) save(name string) error {
	table, err := peers.Save(b.out, name, "Eigenpairs of graph Laplacians", b.rows)
	if err != nil {
		return err
	}
	fmt.Print(table)
	return nil
}

// measureHard measures ten pairs of a grid with jumps and of a tree with chords, both with weights over six
// decades. ARPACK in shift-invert mode takes 17 s for the grid; a complete factor of the tree does not fit.
func (b *bench) measureHard(dir string) error {
	for _, g := range []struct {
		family string
		n      int
	}{{"grid, jumps 1e6", 490_000}, {"tree with chords", 400_000}} {
		path := filepath.Join(dir, "hard.npz")
		if err := sparse.WriteNPZ(path, graphs.Named(g.family, g.n, 0), nil); err != nil {
			return err
		}
		for range b.turns {
			work := fmt.Sprintf("%s, %d vertices: 10 pairs, combinatorial", g.family, g.n)
			if err := b.self(work, "pairs", "-graph", path, "-k", "10", "-laplacian", "combinatorial"); err != nil {
				return err
			}
		}
	}
	return b.save("eigs-hard")
}

// self measures our program in a process of its own.
func (b *bench) self(work, what string, args ...string) error {
	log.Print(work)
	objects, err := peers.Self(b.ctx, os.Stderr,
		append([]string{"-one", what, "-memory", strconv.FormatInt(b.memory, 10)}, args...)...)
	b.add(work, objects)
	return err
}

// add adds measurements of a work. Measurements of several block widths get a row each.
func (b *bench) add(work string, objects []map[string]any) {
	for _, o := range objects {
		title := work
		if width, ok := o["block"].(float64); ok {
			title = fmt.Sprintf("%s, block %.0f", work, width)
		}
		b.rows = peers.Add(b.rows, title, o)
	}
}

// eigenpairs times our program and the peers. Few pairs take seconds and vary from run to
// run, so the programs take turns and the fastest run of each counts; many pairs run once.
func (b *bench) eigenpairs(graph, name, k, kind string) error {
	n, err := strconv.Atoi(k)
	if err != nil {
		return err
	}
	turns := 1
	if n <= 50 {
		turns = b.turns
	}
	for range turns {
		if err := b.turn(graph, name, k, kind, n <= b.peerMax); err != nil {
			return err
		}
	}
	return nil
}

// turn times all programs once.
func (b *bench) turn(graph, name, k, kind string, others bool) error {
	work := fmt.Sprintf("%s: %s pairs, %s", name, k, kind)
	if err := b.self(work, "pairs", "-graph", graph, "-k", k, "-laplacian", kind); err != nil {
		return err
	}
	if !b.peers || !others {
		return nil
	}
	args := []string{graph, k, kind, fmt.Sprint(tolerance)}
	scipy, err := peers.Run(b.ctx, os.Stderr, "eigs_scipy.py", args...)
	if err != nil {
		return err
	}

	slepc, err := peers.SLEPc(b.ctx, os.Stderr, args...)
	b.add(work, append(scipy, slepc...))
	return err
}

// paperGraph writes the graph of an experiment of Belkin & Niyogi (2004).
func paperGraph(ctx context.Context, dir string,
	experiment func(papers.Options) (*papers.Experiment, error)) (string, error) {
	e, err := experiment(papers.Options{Dir: os.Getenv("BIGFIT_DATA")})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, e.Name+".npz")
	return path, e.WriteGraph(ctx, path)
}

// limitMemory sets the garbage collector as bigfit does for --memory-limit.
func limitMemory(bytes int64) {
	if bytes > 0 {
		debug.SetGCPercent(40)
		debug.SetMemoryLimit(bytes)
	}
}

// readGraph reads the graph and the kind of Laplacian that the flags name.
func readGraph(o *options) (w *sparse.CSR, kind sparse.Kind, err error) {
	if err := kind.UnmarshalText([]byte(o.kinds)); err != nil {
		return nil, 0, err
	}
	w, err = sparse.ReadNPZ(o.graph, 0)
	return w, kind, err
}

// measurePairs computes the pairs once and prints time, memory and residuals.
func measurePairs(o *options) error {
	limitMemory(o.memory)
	k, err := strconv.Atoi(o.pairs)
	if err != nil {
		return err
	}
	w, kind, err := readGraph(o)
	if err != nil {
		return err
	}

	// Permutations and components belong to the time; reading the graph does not.
	start := time.Now()
	l, err := sparse.NewLaplacian(w, kind)
	if err != nil {
		return err
	}
	r, err := lanczos.Laplacian(context.Background(), l, w.Components(),
		&lanczos.Settings{K: k, Tolerance: tolerance, MemoryLimit: o.memory})
	if err != nil {
		return err
	}

	// The certificate tells the next eigenvalue behind the last pair, so that a reader sees how
	// close the two are.
	seconds := time.Since(start).Seconds()
	report := map[string]any{
		"peer": "bigfit", "seconds": seconds, "n": w.Rows, "max_residual": r.MaxResidual(), "norm": r.Norm,
		"orthogonality": r.Orthogonality,
		"last_value":    r.Values[k-1], "products": r.Products, "degree": r.Degree, "restarts": r.Restarts,
		"threads": runtime.GOMAXPROCS(0), "peak_bytes": peers.PeakBytes(),
	}

	if next := r.Certificate.Next; !math.IsInf(next, 0) {
		report["next_value"] = next
	}
	if o.memory > 0 {
		report["memory_limit"] = o.memory
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}
