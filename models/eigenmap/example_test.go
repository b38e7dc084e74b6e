package eigenmap_test

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/sparse"
)

// Two moons, and a single label in each.
func ExampleFit() {
	ctx := context.Background()
	x, truth := synthetic.TwoMoons(400, 0.05, 1)
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		panic(err)
	}
	w, _, err := knn.NewGraph(ctx, ix, knn.GraphSettings{K: 8})
	if err != nil {
		panic(err)
	}
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		panic(err)
	}
	c := w.Components()
	eigs, err := lanczos.Laplacian(ctx, l, c, &lanczos.Settings{K: 20})
	if err != nil {
		panic(err)
	}
	y := truth.Keep([]int{0, 1})
	m, err := eigenmap.Fit(ctx, eigs, c, y, &eigenmap.Settings{Penalty: eigenmap.Iterated, Gamma: 0.01})
	if err != nil {
		panic(err)
	}
	fmt.Printf("error %.1f %%\n", 100*metrics.ErrorRate(m.Transduce(eigs, c, y), truth, y))
	// Output: error 0.0 %
}

// The path 0 – 1 – 2 and a far pair, and two new points.
func ExampleModel_Predict() {
	ctx := context.Background()
	x := &data.Dense[float64]{Rows: 5, Cols: 1, Data: []float64{0, 1, 2, 10, 11}}
	y := data.NewLabels([]int64{6, 0, 0, 0, 9}, []bool{true, false, false, false, true})
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		panic(err)
	}
	w, graph, err := knn.NewGraph(ctx, ix, knn.GraphSettings{K: 1})
	if err != nil {
		panic(err)
	}
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		panic(err)
	}
	c := w.Components()
	eigs, err := lanczos.Laplacian(ctx, l, c, &lanczos.Settings{K: 2})
	if err != nil {
		panic(err)
	}
	m, err := eigenmap.Fit(ctx, eigs, c, y, &eigenmap.Settings{Eigenvectors: 2})
	if err != nil {
		panic(err)
	}
	fitted := &eigenmap.Model{
		Classifier: m, Labels: m.Transduce(eigs, c, y), Vectors: eigs.Vectors, Laplacian: l.Kind(),
		Neighborhood: models.Neighborhood{Degrees: l.Degrees(), Points: x, Edges: graph},
	}
	fresh := &data.Dense[float64]{Rows: 2, Cols: 1, Data: []float64{1.4, 9}}
	for _, e := range []models.Extension{models.LabelKNN, models.Nystrom} {
		p, err := fitted.Predict(ctx, fresh, &models.PredictSettings{Extension: e, Neighbors: 1})
		if err != nil {
			panic(err)
		}
		fmt.Println(e, m.Classes[p.Classes[0]], m.Classes[p.Classes[1]])
	}
	// Output:
	// knn 6 9
	// nystrom 6 9
}
