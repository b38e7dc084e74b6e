package kernelmachine

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// Outputs are the n outputs of a vector-valued function with what is known of
// their likeness: the eigenvectors U and eigenvalues of L_out†, the pseudo-inverse
// of the normalized Laplacian of a graph on them. It is immutable.
type Outputs struct {
	vectors *mat.Dense // U, n×n
	values  []float64  // of L_out†
}

// NewOutputs takes the graph of outputs W_out, n×n. It costs 5n³ operations. The
// space where L_out is zero has one dimension for every component of the graph,
// and that for an output without an edge holds that output alone.
func NewOutputs(w *sparse.CSR) (*Outputs, error) {
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		return nil, fmt.Errorf("kernelmachine: the graph of outputs: %w", err)
	}
	n := l.Dim()
	if n == 0 {
		return nil, errors.New("kernelmachine: there are no outputs")
	}
	identity, full := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		identity.Set(i, i, 1)
	}
	l.MulTo(full, identity)
	o := &Outputs{}
	if o.values, o.vectors, err = dense.EigenSym(full); err != nil {
		return nil, fmt.Errorf("kernelmachine: the Laplacian of the outputs: %w", err)
	}
	for j, v := range o.values {
		if o.values[j] = 0; v > 1e-10 { // of at most 2
			o.values[j] = 1 / v
		}
	}
	return o, nil
}

// scaled returns the eigenvalues of Q = γ_O L_out† + (1 − γ_O) I.
func (o *Outputs) scaled(gammaO float64) []float64 {
	out := make([]float64, len(o.values))
	for j, v := range o.values {
		out[j] = gammaO*v + 1 - gammaO
	}
	return out
}

// matrix returns Q with the eigenvalues theta.
func (o *Outputs) matrix(theta []float64) *mat.Dense {
	n := len(theta)
	scaled, q := mat.DenseCopyOf(o.vectors), mat.NewDense(n, n, nil)
	for j, v := range theta {
		for i := range n {
			scaled.Set(i, j, v*scaled.At(i, j))
		}
	}
	dense.Gemm(dense.NoTrans, dense.Transposed, 1, scaled, o.vectors, 0, q)
	return q
}

// independentOutputs are n outputs, none like another.
func independentOutputs(n int) *Outputs {
	o := &Outputs{mat.NewDense(n, n, nil), make([]float64, n)}
	for j := range n {
		o.vectors.Set(j, j, 1)
	}
	return o
}

// OutputGraph joins every output with the k whose columns of t.Y are nearest by
// the mean squared difference over the points where both are known, ties to the
// smaller number, with weights one and edges either way: the graph of Minh &
// Sindhwani (2011), section 6. Outputs that are never known together are not
// joined. With k ≥ n all are. It costs n²l operations.
func OutputGraph(t *models.Targets, k int) (*sparse.CSR, error) {
	if k < 1 {
		return nil, fmt.Errorf("kernelmachine: %d neighbours of an output; there must be at least 1", k)
	}
	l, n := t.Y.Dims()
	sums, counts := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range l {
		row := t.Y.RawRowView(i)
		for a, v := range row {
			to, count := sums.RawRowView(a), counts.RawRowView(a)
			for b, w := range row {
				if d := v - w; !math.IsNaN(d) {
					to[b] += d * d
					count[b]++
				}
			}
		}
	}
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
