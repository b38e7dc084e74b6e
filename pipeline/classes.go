package pipeline

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// weighClasses replaces the graph of in by [ClassGraph].
func weighClasses(in *models.Input, weights []float64) error {
	y := in.Targets.ClassLabels()
	if y == nil || len(in.Targets.Labeled) != in.Len() {
		return fmt.Errorf("pipeline: class weights need a class for every point; leave %s out",
			param.Name("class-weights"))
	}
	if in.Targets.Soft {
		return fmt.Errorf("pipeline: class weights need one class for every point, and the labels are probabilities "+
			"of classes; leave %s out", param.Name("class-weights"))
	}
	w, err := ClassGraph(in.Graph.W, y, weights)
	if err != nil {
		return err
	}
	// The graph of the caller stays as it is.
	g := *in.Graph
	g.W = w
	g.Components = w.Components()
	g.Degrees = w.Degrees()
	g.Lists = nil // they name neighbours of other classes too
	in.Graph = &g
	return nil
}

// ClassGraph returns the graph w without edges between different classes and without edges of
// unlabeled points. An edge within class c (a position in y.Classes) is multiplied by
// weights[c] ≥ 0. The combinatorial Laplacian of the result is block diagonal with the blocks
// weights[c]·L_c. This is the intrinsic norm of Belkin, Niyogi & Sindhwani (2006), section
// 6.2, for fully labeled data, with γ_I = 1 and the weights γ_I⁺, γ_I⁻ (or their ratios to
// γ_I). In Lᵖ the weights are taken to the power p. The normalized Laplacian does not depend
// on them.
func ClassGraph(w *sparse.CSR, y *data.Labels, weights []float64) (*sparse.CSR, error) {
	if w.Rows != y.Len() || w.Cols != y.Len() {
		return nil, fmt.Errorf("pipeline: a graph of %d×%d for %d labels", w.Rows, w.Cols, y.Len())
	}
	if len(weights) != len(y.Classes) {
		return nil, fmt.Errorf("pipeline: %d weights for %d classes", len(weights), len(y.Classes))
	}

	for c, v := range weights {
		if !(v >= 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("pipeline: the weight of class %s is %v; it must be finite and "+
				"not negative", y.Name(int32(c)), v)
		}
	}

	// Rows stay in order, so no sort is needed.
	out := &sparse.CSR{Rows: w.Rows, Cols: w.Cols, Ptr: make([]int64, w.Rows+1), Val: []float64{}}
	for i := range w.Rows {
		col, val := w.Row(i)
		c := y.Index[i]
		for p, j := range col {
			if c == data.Unlabeled || y.Index[j] != c || weights[c] == 0 {
				continue
			}
			v := weights[c]
			if val != nil {
				v *= val[p]
			}
			out.Col = append(out.Col, j)
			out.Val = append(out.Val, v)
		}
		out.Ptr[i+1] = int64(len(out.Col))
	}

	return out, nil
}
