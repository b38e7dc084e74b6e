package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/bigfit/bigfit/bench/graphs"
	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/sparse"
)

// hardPeers are the peers on graphs that are no graphs of neighbours. splu runs up to spluLargest vertices:
// beyond, its factor of all families but grids and trees does not fit.
var hardPeers = []string{"hypre", "gamg", "splu"}

const (
	spluLargest = 100_000
	// peerTime ends a peer that finds no solution.
	peerTime = time.Minute
	// peerIterations is the number of iterations after which the experiments of the paper gave up.
	peerIterations = 1000
)

// hard measures one right-hand side on each family of bench/graphs. It times the factor and
// the solution together, in µs for each nonzero of the matrix. PETSc has as many ranks as there are threads,
// which GOMAXPROCS limits.
func (o *options) hard(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bigfit-cg-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%-18s %5s %-28s %8s %8s %6s %10s\n", "family", "seed", "program", "s", "µs/nnz", "steps", "residual")
	for _, f := range graphs.Families {
		var ours []float64
		for seed := range uint64(o.repeat) {
			w := graphs.Named(f.Name, o.hardSize, seed)
			path := filepath.Join(dir, "graph.npz")
			if err := sparse.WriteNPZ(path, w, nil); err != nil {
				return err
			}
			nonzeros := float64(w.NNZ() + w.Rows)
			show := func(object map[string]any) float64 {
				seconds, _ := object["seconds"].(float64)
				fmt.Printf("%-18s %5d %-28v %8.2f %8.2f %6v %10.1e\n", f.Name, seed, object["peer"], seconds,
					1e6*seconds/nonzeros, object["iterations"], object["max_residual"])
				return 1e6 * seconds / nonzeros
			}

			objects, err := peers.Self(ctx, os.Stderr, "-one", "-graph", path, "-c", "0", "-rhs", "1", "-method",
				"auto")
			if err != nil {
				return err
			}
			ours = append(ours, show(objects[0]))
			if !o.peers {
				continue
			}
			for _, method := range hardPeers {
				if method == "splu" && w.Rows > spluLargest {
					continue
				}
				limited, cancel := context.WithTimeout(ctx, peerTime)
				ranks := runtime.GOMAXPROCS(0)
				if method == "splu" {
					ranks = 1
				}
				objects, err := peers.PETSc(limited, os.Stderr, ranks, "cg_hard.py", path, fmt.Sprint(tolerance), method,
					fmt.Sprint(peerIterations))
				cancel()
				if err != nil {
					log.Printf("%s, %s: %v", f.Name, method, errors.Join(err, ctx.Err()))
				}
				for _, object := range objects {
					show(object)
				}
			}
		}

		slices.Sort(ours)
		fmt.Printf("%-18s median of bigfit %.2f µs a nonzero, largest %.2f\n", f.Name, ours[len(ours)/2],
			ours[len(ours)-1])
	}
	return nil
}
