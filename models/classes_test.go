package models_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
)

// Scores that are equal but for the order of a sum go by the place of the class, tiny ones
// that differ by their size.
func TestScoreTies(t *testing.T) {
	a, b, c := 0.1, 0.2, 0.3
	one, other := (a+b)+c, (c+b)+a
	if one == other {
		t.Fatal("the sums have equal bits, so that nothing is tested")
	}
	three := mat.NewDense(6, 3, []float64{
		0, one, other,
		0, other, one,
		-one, -other, -1,
		1e-200, 0, 2e-200,
		-1e-30, -2e-30, -3e-30,
		0, 0, 0,
	})
	if got, want := models.Decide(three), []int32{1, 1, 0, 2, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("three classes: %v, want %v", got, want)
	}
	two := mat.NewDense(6, 2, []float64{one, other, other, one, 0, 0, 1e-200, -1e-200, -1e-200, 1e-200, 2e-30, 1e-30})
	if got, want := models.Decide(two), []int32{1, 1, 1, 0, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("two classes: %v, want %v", got, want)
	}
}

// Zeros of either sign are equal. A row with a score that is no number has the first class, and so has one with an
// infinite score, beside which all others are equal.
func TestSpecialScores(t *testing.T) {
	zero, inf := math.Copysign(0, -1), math.Inf(1)
	scores := mat.NewDense(6, 3, []float64{
		zero, 0, -1,
		-1, 0, zero,
		-3, -2, -1e-300,
		-inf, 3, inf,
		-inf, -inf, -inf,
		1, 2, math.NaN(),
	})
	if got, want := models.Argmax(scores), []int32{0, 1, 2, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
