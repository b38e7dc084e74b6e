package parquet_test

import (
	"fmt"
	"log"
	"path/filepath"

	"github.com/bigfit/bigfit/data"
	_ "github.com/bigfit/bigfit/data/parquet"
)

// The blank import is all that a program needs; the readers of package data then know the
// format by the content of a file.
func Example() {
	path := filepath.Join("testdata", "hyparquet.parquet")
	x, err := data.ReadPoints(path+":vector", data.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	ids, err := data.ReadIDs(path+":id", data.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	n, d := x.Dims()
	fmt.Printf("%d points in %d dimensions, the second is called %s\n", n, d, ids.Values[1])
	// Output: 300 points in 3 dimensions, the second is called 7
}
