package pipeline_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/pipeline"
)

// Points and few labels from files, a model to a file, and answers for new points.
func Example() {
	dir, err := os.MkdirTemp("", "bigfit")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	writeMoons(dir)
	ctx := context.Background()

	// Fit.
	x, err := data.ReadPoints(filepath.Join(dir, "X.npy"), data.ReadOptions{})
	if err != nil {
		panic(err)
	}
	y, err := data.ReadLabels(filepath.Join(dir, "y.npy"), data.LabelOptions{})
	if err != nil {
		panic(err)
	}
	t, err := models.ClassTargets(y)
	if err != nil {
		panic(err)
	}
	l := all.Learner("lapsvm")
	m, err := (&pipeline.Pipeline{}).Fit(ctx, l, &models.Input{Points: x, Targets: t,
		Values: models.Values{"gamma-a": "1e-3", "gamma-i": "1", "sigma": "0.3"}}, nil)
	if err != nil {
		panic(err)
	}

	// Save and load.
	path := filepath.Join(dir, "model.npz")
	if err := models.Save(path, m, map[string]string{pipeline.HashPoints: data.HashPoints(x)}); err != nil {
		panic(err)
	}
	m, description, err := all.Load(path, 0)
	if err != nil {
		panic(err)
	}
	fmt.Println(description.Learner, description.Params)

	// Predict.
	fresh, truth := synthetic.TwoMoons(1000, 0.05, 2)
	p, err := (&pipeline.Pipeline{}).Predict(ctx, m, fresh, models.PredictSettings{}, false)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d labels, error %.1f %% of %d new points\n", len(t.Labeled), 100*metrics.ErrorRate(p.Classes, truth, truth.Keep(nil)), p.Len())
	// Output:
	// lapsvm approximation exact, gamma-a 0.001, gamma-i 1, kernel gaussian, laplacian combinatorial, power 1, scaling direct, sigma 0.3, tolerance 1e-06
	// 4 labels, error 0.0 % of 1000 new points
}

// writeMoons writes 300 points of two moons, and the labels of four of them.
func writeMoons(dir string) {
	x, y := synthetic.TwoMoons(300, 0.05, 1)
	labels := pipeline.ClassValues(y.Keep([]int{0, 1, 2, 3}))
	for name, e := range map[string]archive.Array{"X.npy": {Shape: []int{300, 2}, Data: x.Data}, "y.npy": {Shape: []int{300}, Data: labels}} {
		if err := npy.WriteFile(filepath.Join(dir, name), e.Shape, e.Data); err != nil {
			panic(err)
		}
	}
}

// One model answers many requests at the same time.
func ExamplePipeline_Predict() {
	ctx := context.Background()
	x, truth := synthetic.TwoMoons(300, 0.05, 1)
	t, err := models.ClassTargets(truth.Keep([]int{0, 1, 2, 3}))
	if err != nil {
		panic(err)
	}
	m, err := (&pipeline.Pipeline{}).Fit(ctx, all.Learner("harmonic"), &models.Input{Points: x, Targets: t}, nil)
	if err != nil {
		panic(err)
	}

	// A model is immutable: requests share it without locks. Each has its own
	// context, which ends its work when the client is gone.
	serve := func(ctx context.Context, points data.Points) (*models.Prediction, error) {
		return (&pipeline.Pipeline{Memory: 1 << 30}).Predict(ctx, m, points, models.PredictSettings{}, true)
	}
	const requests = 8
	wrong := make([]int, requests)
	var wg sync.WaitGroup
	for r := range requests {
		wg.Go(func() {
			points, truth := synthetic.TwoMoons(50, 0.05, uint64(2+r))
			p, err := serve(ctx, points)
			if err != nil {
				panic(err)
			}
			for i, c := range p.Classes {
				if m.Output().Classes[c] != truth.Classes[truth.Index[i]] {
					wrong[r]++
				}
			}
		})
	}
	wg.Wait()
	fmt.Println("wrong of 50:", wrong)
	// Output: wrong of 50: [0 0 0 0 0 0 0 0]
}
