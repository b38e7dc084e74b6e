package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/pipeline"
)

// throughput is the name of the work that predicts new points.
const throughput = "throughput"

// A task times the predictions of a model for the test images of MNIST. labels is the number
// of labeled images among the 60,000 training images, 0 for all.
type task struct {
	learner string
	labels  int
}

// tasks lists the models to time.
var tasks = []task{{"eigenmap", 1000}, {"harmonic", 1000}, {"lgc", 1000}, {"knn", 0}}

// title names the work.
func (t task) title() string {
	return fmt.Sprintf("10,000 MNIST images predicted from 60,000, %s", t.learner)
}

// votes is the number of neighbours that vote in FAISS.
const votes = 8

// runThroughput times the predictions of all tasks in one process, and a vote of the nearest
// neighbours by FAISS.
func runThroughput(ctx context.Context, tmp string, others bool) ([]peers.Row, error) {
	dir := os.Getenv("BIGFIT_DATA")
	ours, err := peers.Self(ctx, os.Stderr, "-one", throughput, dir)
	if err != nil {
		return nil, err
	}
	var theirs []map[string]any
	if others {
		files := map[string]string{}
		for _, part := range []string{"train", "t10k"} {
			x, y, err := papers.ReadMNIST(papers.Options{Dir: dir}, part)
			if err != nil {
				return nil, err
			}
			n, d := x.Dims()
			files[part] = filepath.Join(tmp, part+".npz")
			if err := npy.WriteArchive(files[part],
				[]archive.Array{{Name: "X", Shape: []int{n, d}, Data: x.(*data.Dense[uint8]).Data},
					{Name: "y", Shape: []int{n}, Data: y.Index}}); err != nil {
				return nil, err
			}
		}

		// FAISS reads the images and classes from files that both can read.
		if theirs, err = peers.Run(ctx, os.Stderr, "predict_faiss.py", files["train"], files["t10k"],
			fmt.Sprint(votes)); err != nil {
			return nil, err
		}
	}

	var rows []peers.Row
	// The vote of FAISS stands beside every task: it answers the same question.
	for i, t := range tasks {
		rows = append(rows, peers.NewRow(t.title(), ours[i]))
		for _, o := range theirs {
			rows = append(rows, peers.NewRow(t.title(), o))
		}
	}

	return rows, nil
}

// measureThroughput fits the models and times their predictions for the test images: the
// first prediction, which builds the index of the training images, and later ones.
func measureThroughput(dir string) error {
	ctx := context.Background()
	x, y, err := papers.ReadMNIST(papers.Options{Dir: dir}, "train")
	if err != nil {
		return err
	}
	test, truth, err := papers.ReadMNIST(papers.Options{Dir: dir}, "t10k")
	if err != nil {
		return err
	}

	none := truth.Keep(nil)
	n, _ := test.Dims()
	for _, t := range tasks {
		labels := y
		if t.labels > 0 {
			if labels, err = y.Draw(t.labels, 1); err != nil {
				return err
			}
		}

		targets, err := models.ClassTargets(labels)
		if err != nil {
			return err
		}
		m, err := (&pipeline.Pipeline{}).Fit(ctx, all.Learner(t.learner),
			&models.Input{Points: x, Targets: targets}, nil)
		if err != nil {
			return err
		}

		var seconds [4]float64
		var wrong float64
		for i := range seconds {
			runtime.GC()
			start := time.Now()
			p, err := (&pipeline.Pipeline{}).Predict(ctx, m, test, models.PredictSettings{}, false)
			if err != nil {
				return err
			}
			seconds[i] = time.Since(start).Seconds()
			wrong = 100 * metrics.ErrorRate(p.Classes, truth, none)
		}

		// The least of three: later predictions differ only by disturbances.
		again := min(seconds[1], seconds[2], seconds[3])
		report := map[string]any{"peer": "bigfit", "seconds": seconds[0],
			"points_per_second":  rate(n, seconds[0]),
			"with_index_seconds": again, "with_index_points_per_second": rate(n, again),
			"error_percent": wrong, "labels": len(targets.Labeled)}
		if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
			return err
		}
	}

	return nil
}

// rate returns points per second.
func rate(n int, seconds float64) int { return int(float64(n) / seconds) }
