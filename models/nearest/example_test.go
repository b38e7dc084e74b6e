package nearest_test

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/sparse"
)

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
