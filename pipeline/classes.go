package pipeline

import (
	"context"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// weighClasses replaces the graph of in by [ClassGraph], of the graph of all points or of a graph on each
// class, as s says.
func (p *Pipeline) weighClasses(ctx context.Context, in *models.Input, s *GraphSettings) error {
	y := in.Targets.ClassLabels()
	if y == nil || len(in.Targets.Labeled) != in.Len() {
		return fmt.Errorf("pipeline: class weights need a class for every point; leave %s out",
			param.Name("class-weights"))
	}
	if in.Targets.Soft {
		return fmt.Errorf("pipeline: class weights need one class for every point, and the labels are probabilities "+
			"of classes; leave %s out", param.Name("class-weights"))
	}
	whole := in.Graph.W
	if s.ClassGraphs {
		var err error
		if whole, err = p.classGraphs(ctx, in.Graph.Points, y, s); err != nil {
			return err
		}
	}
	w, err := ClassGraph(whole, y, s.ClassWeights)
	if err != nil {
		return err
	}
	// The graph of the caller stays as it is.
	g := *in.Graph
	g.SetWeights(w)
	g.Lists = nil // they name neighbours of other classes too
	in.Graph = &g
	return nil
}

// classGraphs returns the graph whose edges are the edges of a graph on the points of each class, made as s
// says: every point is joined with its nearest neighbours among the points of its class, and a class of
// at most k points is joined completely. x are the points after PCA, labeled without exception. Where
// the weights follow from distances, t comes from each class's own.
func (p *Pipeline) classGraphs(ctx context.Context, x data.Points, y *data.Labels, s *GraphSettings) (*sparse.CSR, error) {
	if x == nil {
		return nil, models.Faultf("%s need points, and there is a graph alone", param.Name("class-graphs"))
	}
	members := make([][]int, len(y.Classes))
	for i, c := range y.Index {
		members[c] = append(members[c], i)
	}

	// The rows of each class's graph, in the numbers of all points.
	rows := make([][]int32, y.Len())
	values := make([][]float64, y.Len())
	for c, own := range members {
		if len(own) < 2 {
			continue
		}
		set := *s.filled()
		set.Standardize, set.PCA = false, 0 // x is projected already
		set.ClassWeights, set.ClassGraphs = nil, false
		set.Graph.K = min(set.Graph.K, len(own)-1)
		made, err := p.Graph(ctx, data.Select(x, own), &set)
		if err != nil {
			return nil, fmt.Errorf("class %s: %w", y.Name(int32(c)), err)
		}
		for q, i := range own {
			col, val := made.W.Row(q)
			for k, j := range col {
				rows[i] = append(rows[i], int32(own[j]))
				v := 1.0
				if val != nil {
					v = val[k]
				}
				values[i] = append(values[i], v)
			}
		}
	}

	out := &sparse.CSR{Rows: y.Len(), Cols: y.Len(), Ptr: make([]int64, y.Len()+1)}
	for i := range rows {
		out.Col = append(out.Col, rows[i]...)
		out.Val = append(out.Val, values[i]...)
		out.Ptr[i+1] = int64(len(out.Col))
	}
	return out, nil
}

// ClassGraph returns the graph w without edges between different classes and without edges of
// unlabeled points. An edge within class c (a position in y.Classes) is multiplied by
// weights[c] ≥ 0. The combinatorial Laplacian of the result is block diagonal with the blocks
// weights[c]·L_c. That is the form of the intrinsic norm of Belkin, Niyogi & Sindhwani (2006),
// section 6.2, for fully labeled data, with γ_I = 1 and the weights γ_I⁺, γ_I⁻ (or their ratios to
// γ_I); there L_c is the Laplacian of a graph on the points of the class alone, which
// [GraphSettings.ClassGraphs] makes. In Lᵖ the weights are taken to the power p. The normalized Laplacian does not depend
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
