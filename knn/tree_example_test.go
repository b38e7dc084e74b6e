package knn_test

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
)

func ExampleNewKDTree() {
	x := &data.Dense[float64]{Rows: 4, Cols: 2, Data: []float64{0, 0, 1, 0, 0, 3, 5, 5}}
	ix, err := knn.NewKDTree(x, &knn.Settings{Metric: knn.Manhattan})
	if err != nil {
		panic(err)
	}
	nb, err := ix.Self(context.Background(), 2)
	if err != nil {
		panic(err)
	}
	for i := range nb.Len() {
		fmt.Println(nb.Row(i))
	}
	// Output:
	// [1 2] [1 3]
	// [0 2] [1 4]
	// [0 1] [3 4]
	// [2 1] [7 9]
}

func ExampleNewBallTree() {
	x := &data.Dense[float32]{Rows: 4, Cols: 2, Data: []float32{1, 0, 7, 7, 0, 2, -3, 0}}
	ix, err := knn.NewBallTree(x, &knn.Settings{Metric: knn.Angle})
	if err != nil {
		panic(err)
	}
	q := &data.Dense[float32]{Rows: 1, Cols: 2, Data: []float32{5, 4}}
	nb, err := ix.Query(context.Background(), q, 2)
	if err != nil {
		panic(err)
	}
	index, distance := nb.Row(0)
	fmt.Printf("%d %.3f\n", index, distance)
	// Output: [1 0] [0.111 0.675]
}
