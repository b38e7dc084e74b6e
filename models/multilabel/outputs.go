package multilabel

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// OutputNorm takes B₀, B₁, …, n×n each, from a matrix of n columns that has them below each other: those
// of M = Σ_p Lᵖ ⊗ B_p, the intrinsic norm of functions with n outputs in [kernelmachine.VVMRProblem.Fit].
func OutputNorm(stacked *mat.Dense) ([]*mat.Dense, error) {
	rows, n := stacked.Dims()
	if rows%n != 0 {
		return nil, fmt.Errorf("%d rows of %d columns; B₀, B₁, … of %d×%d each must stand below each other", rows, n, n, n)
	}
	var out []*mat.Dense
	for at := 0; at < rows; at += n {
		out = append(out, stacked.Slice(at, at+n, 0, n).(*mat.Dense))
	}
	return out, nil
}

// OutputGraph joins every output with its k nearest outputs by edges of weight one: the graph
// of Minh & Sindhwani (2011), section 6. The distance of two outputs is the mean squared
// difference of their columns of t.Y over the points where both are known; of equal distances
// the smaller number wins. An edge counts in both directions. Outputs that are never known
// together are not joined. With k ≥ n all others are joined. It costs n²l operations.
func OutputGraph(t *models.Targets, k int) (*sparse.CSR, error) {
	if k < 1 {
		return nil, fmt.Errorf("models: %d neighbours of an output; there must be at least 1", k)
	}

	// Sums of squared differences of all pairs of outputs, one point at a time.
	l, n := t.Y.Dims()
	sums := mat.NewDense(n, n, nil)
	counts := mat.NewDense(n, n, nil)
	for i := range l {
		row := t.Y.RawRowView(i)
		for a, v := range row {
			to := sums.RawRowView(a)
			count := counts.RawRowView(a)
			for b, w := range row {
				if d := v - w; !math.IsNaN(d) {
					to[b] += d * d
					count[b]++
				}
			}
		}
	}

	// The stable sort leaves ties in the order of the numbers.
	joined := mat.NewDense(n, n, nil)
	for a := range n {
		var others []int
		for b := range n {
			if b != a && counts.At(a, b) > 0 {
				others = append(others, b)
			}
		}
		distance := func(b int) float64 { return sums.At(a, b) / counts.At(a, b) }
		slices.SortStableFunc(others, func(p, q int) int { return cmp.Compare(distance(p), distance(q)) })
		for _, b := range others[:min(k, len(others))] {
			joined.Set(a, b, 1)
			joined.Set(b, a, 1)
		}
	}

	return sparse.FromDense(joined), nil
}
