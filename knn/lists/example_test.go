package lists_test

import (
	"fmt"

	"github.com/bigfit/bigfit/knn/lists"
)

// Lists of another program; each begins with the point itself, the last ends early.
func ExampleRaw_Neighbors() {
	r := &lists.Raw{K: 3, Index: []int64{
		0, 1, 2,
		1, 0, 2,
		2, 1, -1,
	}, Value: []float64{
		0, 1, 3,
		0, 1, 2,
		0, 2, 3.4e38,
	}}
	nb, kind, err := r.Neighbors(lists.Auto)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(kind)
	for i := range nb.Len() {
		fmt.Println(nb.First(i, nb.K))
	}
	// Output:
	// distances
	// [1 2] [1 3]
	// [0 2] [1 2]
	// [1] [2]
}
