package knn_test

import (
	"fmt"

	"github.com/bigfit/bigfit/knn"
)

// Lists of another program become a graph; here each begins with the point itself.
func ExampleFromLists() {
	index := []int64{
		0, 1, 2,
		1, 0, 2,
		2, 1, 0,
	}
	dist := []float64{
		0, 1, 3,
		0, 1, 2,
		0, 2, 3,
	}
	nb, err := knn.FromLists(3, 3, index, dist, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range nb.Len() {
		fmt.Println(nb.Row(i))
	}
	// Output:
	// [1 2] [1 3]
	// [0 2] [1 2]
	// [1 0] [2 3]
}
