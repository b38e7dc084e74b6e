// Command cluster times our spectral clustering of MNIST's 8-neighbour graphs
// beside scikit-learn's SpectralClustering on the same graphs, in one run:
//
//	go run ./bench/cluster            10,000 points, and ours on all 60,000
//
// with MNIST from BIGFIT_DATA. The time includes eigenvectors and k-means, but not the graph.
// The programs take turns, and the fastest of -repeat runs of each counts. The command writes
// cluster.json and cluster.md, with the agreement of clusters and digits, and prints the
// table. Run it on a machine that does nothing else.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models/cluster"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/sparse"
)

// options holds the flags, described in main.
type options struct {
	points, clusters, repeat int
	peers                    bool
	out                      string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.IntVar(&o.points, "n", 10000, "points on which scikit-learn runs too")
	flag.IntVar(&o.clusters, "clusters", 10, "clusters")
	flag.IntVar(&o.repeat, "repeat", 3, "runs of each program")
	flag.BoolVar(&o.peers, "peers", true, "run scikit-learn too")
	flag.StringVar(&o.out, "o", "bench-results", "folder for the results")
	one := flag.Bool("one", false, "measure ours once, on the files of a graph and of labels, and print JSON")
	flag.Parse()

	var err error
	if *one {
		err = measureOne(context.Background(), flag.Arg(0), flag.Arg(1), o.clusters)
	} else {
		err = run(context.Background(), &o)
	}

	if err != nil {
		log.Fatal(err)
	}
}

// run times the programs on the first points and on all points, and writes the table.
func run(ctx context.Context, o *options) error {
	dir, err := os.MkdirTemp("", "bigfit-cluster-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e, err := papers.MNIST(papers.Options{Dir: os.Getenv("BIGFIT_DATA")})
	if err != nil {
		return err
	}

	// scikit-learn takes too long on all points: there ours runs alone.
	all, _ := e.X.Dims()
	var rows []peers.Row
	for _, n := range []int{min(o.points, all), all} {
		graph, labels, err := write(ctx, dir, e, n)
		if err != nil {
			return err
		}
		work := fmt.Sprintf("MNIST, %d points, %d clusters", n, o.clusters)
		for range o.repeat {
			log.Print(work)
			objects, err := peers.Self(ctx, os.Stderr, "-one", "-clusters", strconv.Itoa(o.clusters),
				graph, labels)
			if err != nil {
				return err
			}
			rows = peers.Add(rows, work, objects...)
			if !o.peers || n != o.points {
				continue
			}
			if objects, err = peers.Run(ctx, os.Stderr, "cluster_sklearn.py", graph, labels,
				strconv.Itoa(o.clusters)); err != nil {
				return err
			}
			rows = peers.Add(rows, work, objects...)
		}
	}

	table, err := peers.Save(o.out, "cluster", "Spectral clustering", rows)
	if err != nil {
		return err
	}
	fmt.Print(table)
	return nil
}

// write writes the graph of the first n points, and their labels.
func write(ctx context.Context, dir string, e *papers.Experiment, n int) (graph, labels string, err error) {
	rows := make([]int, n)
	classes := make([]int64, n)
	for i := range rows {
		rows[i] = i
		classes[i] = e.Truth.Classes[e.Truth.Index[i]]
	}

	// The graph is made from the first points alone, not cut out of the large one.
	first := &papers.Experiment{X: data.Select(e.X, rows), Metric: e.Metric, Graph: e.Graph}
	graph = filepath.Join(dir, fmt.Sprintf("W%d.npz", n))
	labels = filepath.Join(dir, fmt.Sprintf("y%d.npy", n))
	if err := first.WriteGraph(ctx, graph); err != nil {
		return "", "", err
	}
	return graph, labels, npy.WriteFile(labels, nil, classes)
}

// measureOne clusters once and prints the measurement.
func measureOne(ctx context.Context, graph, labels string, clusters int) error {
	w, err := sparse.ReadNPZ(graph, 0)
	if err != nil {
		return err
	}
	y, err := npy.ReadFile(labels, 0)
	if err != nil {
		return err
	}
	truth, err := y.Int64s()
	if err != nil {
		return err
	}

	// The graph is read before the clock starts.
	start := time.Now()
	c, err := cluster.NormalizedCut(ctx, w, &cluster.Settings{Clusters: clusters, Tolerance: 1e-6})
	if err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	// Agreement with the digits tells whether a faster program is also as good.
	found := make([]int64, len(c.Labels))
	for i, q := range c.Labels {
		found[i] = int64(q)
	}
	nmi, err := metrics.NMI(truth, found)
	if err != nil {
		return err
	}

	rand, err := metrics.AdjustedRand(truth, found)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"peer": "bigfit", "seconds": seconds,
		"nmi": nmi, "adjusted_rand": rand, "ncut": c.Cuts.NCut, "cheeger": c.Cuts.Cheeger,
		"peak_bytes": peers.PeakBytes()})
}
