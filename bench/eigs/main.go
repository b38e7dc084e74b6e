// Command eigs times our eigenpairs of graph Laplacians beside other programs',
// in one run:
//
//	go run ./bench/eigs                      MNIST's 8-neighbour graph, from BIGFIT_DATA
//	go run ./bench/eigs -graph W.npz -k 100  any graph saved by SciPy or bigfit
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
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

const tolerance = 1e-8

func main() {
	log.SetFlags(0)
	graph := flag.String("graph", "", "graph (default: made from MNIST in $BIGFIT_DATA)")
	pairs := flag.String("k", "20,100,1000", "numbers of eigenpairs")
	kinds := flag.String("laplacian", "normalized,combinatorial", "Laplacians")
	others := flag.Bool("peers", true, "run SciPy too")
	slow := flag.Int("peer-max", 100, "largest number of pairs that peers are asked for; 1000 take SciPy a quarter of an hour")
	out := flag.String("o", "bench-results", "folder for the results")
	memory := flag.Int64("memory", 0, "memory limit of the basis in bytes, 0 for none")
	one := flag.Bool("one", false, "measure ours once and print JSON")
	flag.Parse()
	if *one {
		if err := measure(*graph, *pairs, *kinds, *memory); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(context.Background(), *graph, strings.Split(*pairs, ","), strings.Split(*kinds, ","), *others, *slow, *out, *memory); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, graph string, pairs, kinds []string, others bool, slow int, out string, memory int64) error {
	if graph == "" {
		dir, err := os.MkdirTemp("", "bigfit-eigs-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if graph, err = mnistGraph(ctx, dir); err != nil {
			return err
		}
	}
	var rows []peers.Row
	for _, k := range pairs {
		for _, kind := range kinds {
			work := fmt.Sprintf("%s pairs, %s", k, kind)
			log.Print(work)
			objects, err := peers.Self(ctx, os.Stderr, "-one", "-graph", graph, "-k", k, "-laplacian", kind, "-memory", strconv.FormatInt(memory, 10))
			if err != nil {
				return err
			}
			if n, err := strconv.Atoi(k); err != nil {
				return err
			} else if others && n <= slow {
				more, err := peers.Run(ctx, os.Stderr, "eigs_scipy.py", graph, k, kind, fmt.Sprint(tolerance))
				if err != nil {
					return err
				}
				objects = append(objects, more...)
			}
			for _, o := range objects {
				rows = append(rows, peers.NewRow(work, o))
			}
		}
	}
	table, err := peers.Save(out, "eigs", "Eigenpairs of "+filepath.Base(graph), rows)
	if err != nil {
		return err
	}
	fmt.Print(table)
	return nil
}

// mnistGraph writes the graph of Belkin & Niyogi (2004), Table 1.
func mnistGraph(ctx context.Context, dir string) (string, error) {
	e, err := papers.MNIST(papers.Options{Dir: os.Getenv("BIGFIT_DATA")})
	if err != nil {
		return "", err
	}
	ix, err := knn.NewBrute(e.X, nil)
	if err != nil {
		return "", err
	}
	w, _, err := knn.NewGraph(ctx, ix, e.Graph)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "mnist-8nn.npz")
	return path, sparse.WriteNPZ(path, w, nil)
}

// measure computes the pairs once and prints what it took.
func measure(graph, pairs, kind string, memory int64) error {
	k, err := strconv.Atoi(pairs)
	if err != nil {
		return err
	}
	var laplacian sparse.Kind
	if err := laplacian.UnmarshalText([]byte(kind)); err != nil {
		return err
	}
	w, err := sparse.ReadNPZ(graph, 0)
	if err != nil {
		return err
	}
	start := time.Now()
	l, err := sparse.NewLaplacian(w, laplacian)
	if err != nil {
		return err
	}
	r, err := lanczos.Laplacian(context.Background(), l, w.Components(), &lanczos.Settings{K: k, Tolerance: tolerance, MemoryLimit: memory})
	if err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"peer": "bigfit", "seconds": seconds, "max_residual": r.MaxResidual(), "orthogonality": r.Orthogonality,
		"last_value": r.Values[k-1], "next_value": r.Certificate.Next, "products": r.Products, "degree": r.Degree, "restarts": r.Restarts,
		"threads": runtime.GOMAXPROCS(0), "peak_bytes": usage.Maxrss * 1024,
	})
}
