package selection_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/sparse"
)

// Two moons, and a single label in each.
func Example_fit() {
	ctx := context.Background()
	x, truth := data.TwoMoons(400, 0.05, 1)
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
	m, err := eigenmap.Fit(eigs, c, y, &eigenmap.Settings{Penalty: eigenmap.Iterated, Gamma: 0.01})
	if err != nil {
		panic(err)
	}
	fmt.Printf("error %.1f %%\n", 100*metrics.ErrorRate(m.Transduce(eigs, c, y), truth, y))
	// Output: error 0.0 %
}

func ExampleKNN() {
	x := &data.Dense[float64]{Rows: 5, Cols: 1, Data: []float64{0, 1, 2, 8, 9}}
	y := data.NewLabels([]int64{3, 0, 0, 0, 7}, []bool{true, false, false, false, true})
	classes, err := nearest.KNN(context.Background(), x, knn.Euclidean, nil, y, []int{1})
	if err != nil {
		panic(err)
	}
	for _, c := range classes[0] {
		fmt.Print(y.Classes[c], " ")
	}
	// Output: 3 3 3 7 7
}

func ExampleGeodesicKNN() {
	// The path 0 – 1 – 2 – 3, whose last edge is long.
	lengths, err := sparse.FromTriplets(4, 4, []int32{0, 1, 1, 2, 2, 3}, []int32{1, 0, 2, 1, 3, 2}, []float64{1, 1, 1, 1, 5, 5})
	if err != nil {
		panic(err)
	}
	y := data.NewLabels([]int64{3, 0, 0, 7}, []bool{true, false, false, true})
	classes, err := nearest.GeodesicKNN(lengths, y, []int{1})
	if err != nil {
		panic(err)
	}
	fmt.Println(classes[0])
	// Output: [0 0 0 1]
}

func ExampleArgmax() {
	fmt.Println(models.Argmax(mat.NewDense(2, 3, []float64{0.1, 0.7, 0.2, 5, -1, 5})))
	// Output: [1 0]
}

// The path 0 – 1 – 2 and a far pair, and two new points.
func Example_predict() {
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
	m, err := eigenmap.Fit(eigs, c, y, &eigenmap.Settings{Eigenvectors: 2})
	if err != nil {
		panic(err)
	}
	fitted := &eigenmap.Model{
		Classifier: m, Labels: m.Transduce(eigs, c, y), Vectors: eigs.Vectors, Degrees: l.Degrees(),
		Points: x, Graph: graph, Laplacian: l.Kind(),
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
