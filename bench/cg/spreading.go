package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
)

// The draws of label spreading.
const (
	spreadingDraws  = 10
	spreadingLabels = 100 // of all classes together
)

// spreading compares local and global consistency with scikit-learn's label spreading, which
// solves the same equation, on the graph of MNIST. It measures means over draws of the
// labels, without the time of the graph. The peer reads two files from dir:
//
//	truth.npy  n int64       classes
//	draws.npy  draws×n int64 classes of the labeled points, −1 elsewhere
func (o *options) spreading(ctx context.Context, dir, graph string,
	labels *data.Labels) ([]peers.Row, error) {
	n := labels.Len()
	truth := make([]int64, n)
	draws := make([]int64, 0, spreadingDraws*n)
	for i, c := range labels.Index {
		truth[i] = labels.Classes[c]
	}
	// The peer gets the draws as a file; ours draws them again by their seeds.
	for seed := range uint64(spreadingDraws) {
		y, err := labels.Draw(spreadingLabels, seed)
		if err != nil {
			return nil, err
		}
		for i, c := range y.Index {
			if c == data.Unlabeled {
				draws = append(draws, -1)
			} else {
				draws = append(draws, truth[i])
			}
		}
	}

	truthFile := filepath.Join(dir, "truth.npy")
	drawsFile := filepath.Join(dir, "draws.npy")
	if err := npy.WriteFile(truthFile, []int{n}, truth); err != nil {
		return nil, err
	}
	if err := npy.WriteFile(drawsFile, []int{spreadingDraws, n}, draws); err != nil {
		return nil, err
	}
	// scikit-learn's default α, and the α of the paper of Zhou et al. (2004).
	var rows []peers.Row
	for _, alpha := range []string{"0.2", "0.99"} {
		work := fmt.Sprintf("label spreading, MNIST, %d labels, α = %s, mean of %d draws", spreadingLabels,
			alpha, spreadingDraws)
		log.Print(work)
		objects, err := peers.Self(ctx, os.Stderr, "-spreading", alpha, "-graph", graph, "-truth", truthFile)
		if err != nil {
			return nil, err
		}
		if o.peers {
			more, err := peers.Run(ctx, os.Stderr, "cg_spreading.py", graph, truthFile, drawsFile, alpha)
			if err != nil {
				return nil, err
			}
			objects = append(objects, more...)
		}
		rows = peers.Add(rows, work, objects...)
	}

	return rows, nil
}

// measureSpreading measures our label spreading and prints the mean over the draws. Each draw
// prepares the graph anew, as scikit-learn does.
func measureSpreading(ctx context.Context, o *options) error {
	var alpha float64
	if _, err := fmt.Sscan(o.alpha, &alpha); err != nil {
		return fmt.Errorf("α %q: %w", o.alpha, err)
	}
	w, err := sparse.ReadNPZ(o.graph, 0)
	if err != nil {
		return err
	}
	truth, err := data.ReadLabels(o.truth, data.LabelOptions{})
	if err != nil {
		return err
	}

	var seconds, wrong, residual float64
	iterations := 0
	for seed := range uint64(spreadingDraws) {
		y, err := truth.Draw(spreadingLabels, seed)
		if err != nil {
			return err
		}
		t, err := models.ClassTargets(y)
		if err != nil {
			return err
		}
		// Targets are not timed; components are, as part of the preparation.
		start := time.Now()
		m, err := propagation.Fit(ctx, w, w.Components(), t,
			&propagation.Settings{Method: propagation.LGC, Alpha: alpha})
		if err != nil {
			return err
		}

		seconds += time.Since(start).Seconds() / spreadingDraws
		wrong += metrics.ErrorRate(m.Labels, truth, y) / spreadingDraws
		iterations = max(iterations, m.Iterations)
		for _, r := range m.Residuals {
			residual = max(residual, r)
		}
	}

	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"peer": "bigfit", "seconds": seconds, "error_percent": 100 * wrong, "iterations": iterations,
		"max_residual": residual,
		"converged":    true, "threads": runtime.GOMAXPROCS(0), "peak_bytes": peers.PeakBytes(),
	})
}
