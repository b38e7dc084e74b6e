package models_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
)

func ExampleArgmax() {
	fmt.Println(models.Argmax(mat.NewDense(2, 3, []float64{0.1, 0.7, 0.2, 5, -1, 5})))
	// Output: [1 0]
}
