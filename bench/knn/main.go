// Command knn times our nearest neighbours beside other programs', in one run:
//
//	go run ./bench/knn              everything; needs BIGFIT_DATA
//	go run ./bench/knn -works mnist-bytes,tree-3d
//
// It writes knn.json and knn.md and prints the table. Run it on a machine that
// does nothing else.
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
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/knn"
)

// work is a set of points with a search on it.
type work struct {
	name, title string
	k           int
	metric      knn.Metric
	method      knn.Method
	peers       string // of knn_peers.py
	exact       bool   // compare indices with the first peer's
	points      func(dir string) (data.Points, error)
}

const manifoldSeed = 1

var works = []work{
	{"mnist-bytes", "MNIST 60000×784 uint8, exact", 8, knn.Euclidean, knn.Brute, "faiss", true, mnistBytes},
	{"mnist-pca", "MNIST 60000×100 float32, exact", 8, knn.Euclidean, knn.Brute, "brute,faiss", true, mnistPCA},
	{"newsgroups", "20 Newsgroups 19997×6000 sparse, angle, exact", 8, knn.Angle, knn.Brute, "cosine", false, newsgroups},
	{"tree-3d", "1,000,000×3, kd-tree", 10, knn.Euclidean, knn.KDTree, "ckdtree", true, cube},
	{"ball-3d", "1,000,000×3, ball tree", 10, knn.Euclidean, knn.BallTree, "balltree", true, cube},
	{"mnist-descent", "MNIST 60000×784 uint8, NN-descent", 10, knn.Euclidean, knn.NNDescent, "pynndescent", false, mnistBytes},
	{"manifold-descent", "1,000,000×64 manifold, NN-descent", 10, knn.Euclidean, knn.NNDescent, "pynndescent", false, manifold(1_000_000)},
	{"growth-62500", "62,500×64 manifold, NN-descent", 10, knn.Euclidean, knn.NNDescent, "", false, manifold(62_500)},
	{"growth-125000", "125,000×64 manifold, NN-descent", 10, knn.Euclidean, knn.NNDescent, "", false, manifold(125_000)},
	{"growth-250000", "250,000×64 manifold, NN-descent", 10, knn.Euclidean, knn.NNDescent, "", false, manifold(250_000)},
	{"growth-500000", "500,000×64 manifold, NN-descent", 10, knn.Euclidean, knn.NNDescent, "", false, manifold(500_000)},
}

func main() {
	log.SetFlags(0)
	var names []string
	for _, w := range works {
		names = append(names, w.name)
	}
	only := flag.String("works", strings.Join(names, ","), "what to time")
	others := flag.Bool("peers", true, "run the peers too")
	out := flag.String("o", "bench-results", "folder for the results")
	one := flag.String("one", "", "measure this file once and print JSON")
	flag.Parse()
	var err error
	if *one != "" {
		err = measure(*one, flag.Args())
	} else {
		err = run(context.Background(), strings.Split(*only, ","), *others, *out)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, only []string, others bool, out string) error {
	tmp, err := os.MkdirTemp("", "bigfit-knn-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var rows []peers.Row
	for _, w := range works {
		if !slices.Contains(only, w.name) {
			continue
		}
		log.Print(w.title)
		more, err := w.run(ctx, tmp, others)
		if err != nil {
			return fmt.Errorf("%s: %w", w.title, err)
		}
		rows = append(rows, more...)
	}
	table, err := peers.Save(out, "knn", "Nearest neighbours", rows)
	if err != nil {
		return err
	}
	fmt.Print(table)
	if e, ok := exponent(rows); ok {
		fmt.Printf("\nNN-descent's time grows like n^%.2f.\n", e)
	}
	return nil
}

// run times ours in a process of its own, and the peers.
func (w *work) run(ctx context.Context, tmp string, others bool) ([]peers.Row, error) {
	x, err := w.points(os.Getenv("BIGFIT_DATA"))
	if err != nil {
		return nil, err
	}
	file := filepath.Join(tmp, "X")
	n, d := x.Dims()
	switch x := x.(type) {
	case *data.Dense[uint8]:
		file += ".npy"
		err = npy.WriteFile(file, []int{n, d}, x.Data)
	case *data.Dense[float32]:
		file += ".npy"
		err = npy.WriteFile(file, []int{n, d}, x.Data)
	default:
		file = filepath.Join(os.Getenv("BIGFIT_DATA"), "news20_full_X.npz")
	}
	if err != nil {
		return nil, err
	}
	x = nil
	runtime.GC()
	lists := filepath.Join(tmp, "ours.npz")
	objects, err := peers.Self(ctx, os.Stderr, "-one", file, w.method.String(), w.metric.String(), strconv.Itoa(w.k), lists)
	if err != nil {
		return nil, err
	}
	if others && w.peers != "" {
		theirs := "-"
		if w.exact {
			theirs = filepath.Join(tmp, "theirs.npz")
		}
		more, err := peers.Run(ctx, os.Stderr, "knn_peers.py", file, strconv.Itoa(w.k), theirs, w.peers)
		if err != nil {
			return nil, err
		}
		if w.exact {
			if more[0]["disagreements"], err = disagreements(file, w, lists, theirs); err != nil {
				return nil, err
			}
		}
		objects = append(objects, more...)
	}
	var rows []peers.Row
	for _, o := range objects {
		rows = append(rows, peers.NewRow(w.title, o))
	}
	return rows, nil
}

// measure finds the neighbours once and prints what it took. The recall of an
// approximate search is taken outside the timing, on 1000 points.
func measure(file string, args []string) error {
	var method knn.Method
	var metric knn.Metric
	if err := errors.Join(method.UnmarshalText([]byte(args[0])), metric.UnmarshalText([]byte(args[1]))); err != nil {
		return err
	}
	k, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	x, err := data.ReadPoints(file, data.ReadOptions{})
	if err != nil {
		return err
	}
	ctx := context.Background()
	start := time.Now()
	ix, err := knn.NewIndex(x, method, &knn.DescentSettings{Settings: knn.Settings{Metric: metric}, Sample: -1})
	if err != nil {
		return err
	}
	nb, err := ix.Self(ctx, k)
	if err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	n, d := x.Dims()
	report := map[string]any{"peer": "bigfit", "seconds": seconds, "peak_bytes": usage.Maxrss * 1024, "threads": runtime.GOMAXPROCS(0), "n": n, "d": d, "k": k}
	if !method.Exact() {
		r, err := knn.EstimateRecall(ctx, x, metric, nb, 1000, 1)
		if err != nil {
			return err
		}
		report["recall"] = r.Share
	}
	if err := npy.WriteArchive(args[3], []npy.Entry{{Name: "indices", Shape: []int{n, k}, Data: nb.Index}, {Name: "distances", Shape: []int{n, k}, Data: nb.Distance}}); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}

// disagreements counts the neighbours of the peer's lists that are not in ours:
// as ties, where the true distance is that of our farthest one to 1e-6, and as
// others, where the peer's float32 arithmetic picked a farther point.
func disagreements(file string, w *work, ours, theirs string) (map[string]any, error) {
	x, err := data.ReadPoints(file, data.ReadOptions{})
	if err != nil {
		return nil, err
	}
	nb, err := knn.ReadLists(ours, 0)
	if err != nil {
		return nil, err
	}
	a, err := npy.OpenArchive(theirs, 0)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	raw, err := a.Read("indices")
	if err != nil {
		return nil, err
	}
	index, err := raw.Int64s()
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	p, q := make([]float64, d), make([]float64, d)
	width := w.k + 1
	var ties, farther, nearer int
	for i := range n {
		mine, dist := nb.Row(i)
		far := dist[w.k-1]
		counted := 0
		for _, j := range index[i*width : (i+1)*width] {
			if int(j) == i || counted == w.k {
				continue
			}
			counted++
			if slices.Contains(mine, int32(j)) {
				continue
			}
			data.RowTo(p, x, i)
			data.RowTo(q, x, int(j))
			var s float64
			for c, v := range p {
				s += (v - q[c]) * (v - q[c])
			}
			switch s = math.Sqrt(s); {
			case math.Abs(s-far) <= 1e-6*far:
				ties++
			case s > far:
				farther++
			default:
				nearer++
			}
		}
	}
	return map[string]any{"of": n * w.k, "ties": ties, "peer_farther": farther, "peer_nearer": nearer}, nil
}

// exponent fits seconds ~ nᵉ to the rows of NN-descent on the manifold.
func exponent(rows []peers.Row) (float64, bool) {
	var sx, sy, sxx, sxy, count float64
	for _, r := range rows {
		n, ok := r.More["n"].(float64)
		if !ok || r.Program != "bigfit" || !strings.Contains(r.Work, "manifold") {
			continue
		}
		x, y := math.Log(n), math.Log(r.Seconds)
		sx, sy, sxx, sxy, count = sx+x, sy+y, sxx+x*x, sxy+x*y, count+1
	}
	if count < 3 {
		return 0, false
	}
	return (count*sxy - sx*sy) / (count*sxx - sx*sx), true
}

func mnistBytes(dir string) (data.Points, error) {
	return data.ReadPoints(filepath.Join(dir, "mnist_train_images.npz"), data.ReadOptions{})
}

func mnistPCA(dir string) (data.Points, error) {
	e, err := papers.MNIST(papers.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	return e.X, nil
}

func newsgroups(dir string) (data.Points, error) {
	return data.ReadPoints(filepath.Join(dir, "news20_full_X.npz"), data.ReadOptions{})
}

// cube is a million points, uniform in a cube.
func cube(string) (data.Points, error) {
	return data.Manifold(1_000_000, 3, 3, 0, manifoldSeed), nil
}

func manifold(n int) func(string) (data.Points, error) {
	return func(string) (data.Points, error) { return data.Manifold(n, 64, 10, 0.01, manifoldSeed), nil }
}
