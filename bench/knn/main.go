// Command knn times our nearest neighbours beside other programs', in one run:
//
//	go run ./bench/knn              everything; needs BIGFIT_DATA
//	go run ./bench/knn -works mnist-bytes,tree-3d
//	go run ./bench/knn -works mnist-bytes,mnist-pca,clusters    exact, all pairs
//	go run ./bench/knn -works throughput        answers of models for new points
//
// It writes knn.json, knn.md, and a list of all neighbours in which exact programs differ,
// with the cause of each difference. Ties and cancellation are explained; any other
// difference fails the run. Run it on a machine that does nothing else.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/lists"
)

// work is a set of points with a search on it.
type work struct {
	name, title string
	k           int
	metric      knn.Metric
	method      knn.Method
	peers       []string // of knn_peers.py
	points      func(dir string) (data.Points, error)
}

// manifoldSeed is the seed of the manifold and the cube.
const manifoldSeed = 1

// works lists the works in the order of the table.
var works = []work{
	{"mnist-bytes", "MNIST 60000×784 uint8, exact", 8, knn.Euclidean, knn.Brute, []string{"faiss"},
		mnistBytes},
	{"mnist-pca", "MNIST 60000×100 float32, exact", 8, knn.Euclidean, knn.Brute, []string{"brute", "faiss"},
		mnistPCA},
	{"clusters", "200,000×384 float32 of norm one in clusters, angle, exact", 8, knn.Angle, knn.Brute,
		[]string{"brute", "faiss"}, unitClusters(200_000)},
	{"newsgroups", "20 Newsgroups 19997×6000 sparse, angle, exact", 8, knn.Angle, knn.Brute,
		[]string{"cosine"}, newsgroups},
	{"tree-3d", "1,000,000×3, kd-tree", 10, knn.Euclidean, knn.KDTree, []string{"ckdtree"}, cube},
	{"ball-3d", "1,000,000×3, ball tree", 10, knn.Euclidean, knn.BallTree, []string{"balltree"}, cube},
	{"mnist-descent", "MNIST 60000×784 uint8, NN-descent", 10, knn.Euclidean, knn.NNDescent,
		[]string{"pynndescent"}, mnistBytes},
	{"manifold-descent", "1,000,000×64 manifold, NN-descent", 10, knn.Euclidean, knn.NNDescent,
		[]string{"pynndescent"}, manifold(1_000_000)},
	{"embeddings-200000", "200,000×512 float16 embeddings, NN-descent", 10, knn.Euclidean, knn.NNDescent,
		[]string{"pynndescent"}, embeddings(200_000)},
	{"embeddings", "1,000,000×512 float16 embeddings, NN-descent", 10, knn.Euclidean, knn.NNDescent,
		[]string{"pynndescent"}, embeddings(1_000_000)},
}

func main() {
	log.SetFlags(0)
	var names []string
	for _, w := range works {
		names = append(names, w.name)
	}
	names = append(names, throughput)
	only := flag.String("works", strings.Join(names, ","), "what to time")
	others := flag.Bool("peers", true, "run the peers too")
	out := flag.String("o", "bench-results", "folder for the results")
	one := flag.String("one", "", "measure this file once and print JSON")
	flag.Parse()

	var err error
	switch *one {
	case "":
		err = run(context.Background(), strings.Split(*only, ","), *others, *out)
	case throughput:
		err = measureThroughput(flag.Arg(0))
	default:
		err = measure(*one, flag.Args())
	}

	if err != nil {
		log.Fatal(err)
	}
}

// run times the named works and writes the results to the folder out.
func run(ctx context.Context, only []string, others bool, out string) error {
	tmp, err := os.MkdirTemp("", "bigfit-knn-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)

	var rows []peers.Row
	var compared []comparison
	for _, w := range works {
		if !slices.Contains(only, w.name) {
			continue
		}
		log.Print(w.title)
		more, differ, err := w.run(ctx, tmp, others)
		if err != nil {
			return fmt.Errorf("%s: %w", w.title, err)
		}
		rows = append(rows, more...)
		compared = append(compared, differ...)
	}

	// The predictions are timed last; they need no lists.
	if slices.Contains(only, throughput) {
		log.Print("answers for new points")
		more, err := runThroughput(ctx, tmp, others)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}

	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	var notes []string
	bad := 0
	if len(compared) > 0 {
		const name = "knn-differences.csv"
		if bad, err = saveDifferences(out, name, compared); err != nil {
			return err
		}
		// The results are written even if they differ: the table tells where.
		notes = append(notes, fmt.Sprintf("[%s](%s) lists every neighbour of a peer that is not "+
			"ours, with the cause; %d are unexplained.", name, name, bad))
	}

	table, err := peers.Save(out, "knn", "Nearest neighbours", rows, notes...)
	if err != nil {
		return err
	}
	fmt.Print(table)
	if bad > 0 {
		return fmt.Errorf("%d differences from the peers are unexplained; they are in knn-differences.csv", bad)
	}
	return nil
}

// run times our search and the peers', each in a process of its own. Then it compares exact
// results, or counts the recall of approximate ones.
func (w *work) run(ctx context.Context, tmp string, others bool) ([]peers.Row, []comparison, error) {
	x, err := w.points(os.Getenv("BIGFIT_DATA"))
	if err != nil {
		return nil, nil, err
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
	case *data.Stored:
		file += ".npy"
		err = npy.WriteFile(file, []int{n, d}, x.Raw())
	default:
		file = filepath.Join(os.Getenv("BIGFIT_DATA"), "news20_full_X.npz")
	}
	if err != nil {
		return nil, nil, err
	}

	x = nil
	runtime.GC()

	lists := filepath.Join(tmp, "ours.npz")
	objects, err := peers.Self(ctx, os.Stderr, "-one", file, w.method.String(), w.metric.String(),
		strconv.Itoa(w.k), lists)
	if err != nil {
		return nil, nil, err
	}

	var names []string
	if others {
		names = w.peers
	}
	for _, name := range names {
		more, err := peers.Run(ctx, os.Stderr, "knn_peers.py", file, strconv.Itoa(w.k),
			filepath.Join(tmp, name+".npz"), name)
		if err != nil {
			return nil, nil, err
		}
		objects = append(objects, more...)
	}

	differ, err := w.judge(ctx, tmp, file, lists, names, objects)
	if err != nil {
		return nil, nil, err
	}
	var rows []peers.Row
	for _, o := range objects {
		rows = append(rows, peers.NewRow(w.title, o))
	}
	return rows, differ, nil
}

// judge adds a measure of the lists to each object: ours first, then the named peers'. The
// measure is the recall, or for exact methods the differences from our lists.
func (w *work) judge(ctx context.Context, tmp, file, listed string, names []string,
	objects []map[string]any) ([]comparison, error) {
	if w.method.Exact() && len(names) == 0 {
		return nil, nil
	}
	x, err := data.ReadPoints(file, data.ReadOptions{})
	if err != nil {
		return nil, err
	}
	ours, err := lists.Read(listed, lists.Auto, 0)
	if err != nil {
		return nil, err
	}

	var t *truth
	if !w.method.Exact() {
		// Approximate lists are judged by exact neighbours, ours and the peers' alike.
		if t, err = newTruth(ctx, x, w.metric, w.k); err != nil {
			return nil, err
		}
		t.report(objects[0], ours.Index)
	}

	var differ []comparison
	for i, name := range names {
		object := objects[i+1]
		theirs, err := readPeer(filepath.Join(tmp, name+".npz"), w.k)
		if err != nil {
			return nil, err
		}
		if t != nil {
			t.report(object, theirs)
			continue
		}

		diffs, err := compare(x, w.metric, ours.Neighbors, theirs, arithmetics[name])
		if err != nil {
			return nil, fmt.Errorf("%v: %w", object["peer"], err)
		}
		object["differences"] = count(diffs, ours.Len()*w.k)
		differ = append(differ, comparison{w.title, fmt.Sprint(object["peer"]), diffs})
	}

	return differ, nil
}

// measure finds the neighbours once and prints the time and memory that it took. args holds
// the method, the metric, k and the file for the lists.
func measure(file string, args []string) error {
	var method knn.Method
	var metric knn.Metric
	if err := errors.Join(method.UnmarshalText([]byte(args[0])),
		metric.UnmarshalText([]byte(args[1]))); err != nil {
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
	// Reading the file is not timed; making the index is.
	start := time.Now()
	ix, err := knn.NewIndex(x, method, &knn.DescentSettings{Settings: knn.Settings{Metric: metric},
		Sample: -1})
	if err != nil {
		return err
	}

	nb, err := ix.Self(ctx, k)
	if err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	n, d := x.Dims()
	report := map[string]any{"peer": "bigfit", "seconds": seconds, "peak_bytes": peers.PeakBytes(),
		"threads": runtime.GOMAXPROCS(0), "n": n, "d": d, "k": k}
	if err := npy.WriteArchive(args[3], []archive.Array{{Name: "indices", Shape: []int{n, k}, Data: nb.Index},
		{Name: "distances", Shape: []int{n, k}, Data: nb.Distance}}); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}

// mnistBytes returns the training images of MNIST as bytes.
func mnistBytes(dir string) (data.Points, error) {
	return data.ReadPoints(filepath.Join(dir, "mnist_train_images.npz"), data.ReadOptions{})
}

// mnistPCA returns the first 100 principal components of the training images of MNIST.
func mnistPCA(dir string) (data.Points, error) {
	e, err := papers.MNIST(papers.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	return e.X, nil
}

// newsgroups returns the word counts of 20 Newsgroups.
func newsgroups(dir string) (data.Points, error) {
	return data.ReadPoints(filepath.Join(dir, "news20_full_X.npz"), data.ReadOptions{})
}

// cube returns a million points, uniform in a cube.
func cube(string) (data.Points, error) {
	return synthetic.Manifold(1_000_000, 3, 3, 0, manifoldSeed), nil
}

// manifold returns points on a 10-dimensional manifold in 64 coordinates, with noise.
func manifold(n int) func(string) (data.Points, error) {
	return func(string) (data.Points, error) { return synthetic.Manifold(n, 64, 10, 0.01, manifoldSeed), nil }
}
