package eigenmap

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Model is an eigenmap classifier with everything that it needs to classify any point. A
// model without points classifies the points of the graph only.
type Model struct {
	*Classifier
	Labels    []int32     // class of every training point, a position in Classes
	Vectors   *mat.Dense  // n×p
	Laplacian sparse.Kind // Vectors are eigenvectors of this Laplacian
	Tolerance float64     // tolerance asked of the eigenpairs; 0 is the default
	models.Neighborhood
	Given *models.Given // the points that had a label; nil if not known
}

// Kept returns what an update goes on from: the eigenvectors are the start of the
// iterations on the larger graph.
func (m *Model) Kept() *models.Kept {
	return &models.Kept{Neighborhood: &m.Neighborhood, Targets: m.Given.Targets(len(m.Labels), m.Classes,
		m.Labels), Start: m.Vectors}
}

// Name is [Name].
func (m *Model) Name() string { return Name }

// Output is the class of each point.
func (m *Model) Output() models.Output {
	o := models.OutputOf(m.Classes, len(m.Classes))
	o.Extends = true
	o.Searches = true
	return o
}

// Training returns the classes that [Classifier.Transduce] gave the training points,
// with f as their scores.
func (m *Model) Training(scores bool) *models.Prediction {
	p := &models.Prediction{Classes: m.Labels}
	if scores {
		p.Scores = m.Scores(m.Vectors, len(m.Labels))
	}
	return p
}

// neighbors returns how many training points an answer depends on.
func (m *Model) neighbors(s *models.PredictSettings) int {
	switch {
	case s.Extension == models.Nystrom:
		return m.Edges.K
	case s.Neighbors == 0:
		return 3
	}
	return s.Neighbors
}

// QueryCost returns the cost of the search, the scores and a block of extended
// eigenvectors.
func (m *Model) QueryCost(n int, s *models.PredictSettings) stage.Cost {
	if s == nil {
		s = &models.PredictSettings{}
	}
	c := m.Neighborhood.QueryCost(n, m.neighbors(s))
	c.Bytes += 8 * int64(n) * int64(len(m.Classes))
	if s.Extension == models.Nystrom {
		c.Bytes += 8 * int64(min(n, extendedRows)) * int64(len(m.Values)+2*len(m.Classes))
	}
	return c
}

// extendedRows is the number of points that are extended at a time, so that the extended
// eigenvectors of many points are never in memory at once.
const extendedRows = 2048

// Predict classifies m new points. It holds one m×c block of scores and, for Nystrom,
// 2048·p values. The neighbours come from the index of the training points, which is
// restored or built once. An index by NN-descent gives approximate neighbours, and the
// Prediction then has the recall.
//
// For a new point x with weights w_i to its nearest training points, found and
// weighted as an edge of the graph, and d = Σ w_i, the Nyström extension of an
// eigenvector solves row x of the eigenvalue equation for e(x):
//
//	e(x) = Σ w_i e(x_i) / (d − λ)                   combinatorial
//	e(x) = Σ w_i e(x_i)/√(d d_i) / (1 − λ)          normalized
//	e(x) = Σ w_i e(x_i)/d / (1 − λ)                 random walk
//
// An eigenvector with an eigenvalue above 0.9·d (or 0.9) has no smooth extension; it counts
// as zero at x. f vanishes up to rounding if all weights vanish or no label reaches the
// neighbours; x then gets the class of the nearest training point.
func (m *Model) Predict(ctx context.Context, x data.Points,
	s *models.PredictSettings) (*models.Prediction, error) {
	if s == nil {
		s = &models.PredictSettings{}
	}
	if m.Points == nil {
		return nil, models.ErrNoPoints
	}
	if s.Extension != models.LabelKNN && s.Extension != models.Nystrom {
		return nil, fmt.Errorf("eigenmap: extension %v", s.Extension)
	}
	if s.Neighbors < 0 {
		return nil, fmt.Errorf("eigenmap: a vote of %d neighbours; the number must be positive", s.Neighbors)
	}
	if s.Extension == models.Nystrom && m.Edges.K == 0 {
		return nil, fmt.Errorf("eigenmap: the Nyström extension needs a graph of nearest neighbours; "+
			"this model's graph joins points within %g", m.Edges.Radius)
	}

	nb, recall, err := m.Nearest(ctx, x, m.neighbors(s), s)
	if err != nil {
		return nil, err
	}

	if s.Extension == models.LabelKNN {
		p := nearest.Votes(nb, m.Labels, len(m.Classes), recall)
		p.Voters = nb.Index
		return p, nil
	}

	// Nyström: extend the eigenvectors to a block of points, then apply the coefficients.
	out := &models.Prediction{Scores: mat.NewDense(nb.Len(), len(m.Classes), nil), Recall: recall}
	n := len(m.Labels)
	p := m.Settings.Eigenvectors
	w, err := m.Weights(ctx, nb)
	if err != nil {
		return nil, err
	}
	ext := m.extension()
	for lo := 0; lo < nb.Len(); lo += extendedRows {
		hi := min(lo+extendedRows, nb.Len())
		e := mat.NewDense(hi-lo, p, nil)
		par.For(hi-lo, 64, func(a, b int) {
			for i := a; i < b; i++ {
				index, _ := nb.Row(lo + i)
				ext.extend(e.RawRowView(i), index, w[(lo+i)*nb.K:(lo+i+1)*nb.K])
			}
		})
		out.Scores.Slice(lo, hi, 0, len(m.Classes)).(*mat.Dense).Copy(m.Scores(e, n))
	}

	// Scores that are rounding error decide nothing: the nearest point does.
	out.Classes = models.Decide(out.Scores)
	for i := range out.Classes {
		if slices.Max(out.Scores.RawRowView(i)) < vanishing &&
			slices.Min(out.Scores.RawRowView(i)) > -vanishing {
			index, _ := nb.Row(i)
			out.Classes[i] = m.Labels[index[0]]
		}
	}

	return out, nil
}

// vanishing is the size below which a score, of order one, is rounding error.
const vanishing = 1e-9

// extension holds eigenvectors and the numbers of the Nyström formula.
type extension struct {
	values    []float64
	vectors   *mat.Dense
	degrees   []float64
	laplacian sparse.Kind
}

// extension returns the model's eigenvectors for the Nyström formula.
func (m *Model) extension() *extension {
	return &extension{m.Values, m.Vectors, m.Degrees, m.Laplacian}
}

// extend sets dst to the extended eigenvectors at a point with edges of weights w to
// the given training points.
func (m *extension) extend(dst []float64, index []int32, w []float64) {
	// The formula divides by d − λ: beyond this share of d it amplifies errors tenfold.
	const most = 0.9
	var d float64
	for _, v := range w {
		d += v
	}
	if d == 0 {
		return
	}

	// The sum over the neighbours, with the scaling of the Laplacian.
	for q, i := range index {
		v := w[q]
		switch m.laplacian {
		case sparse.Normalized:
			v /= math.Sqrt(d * m.degrees[i])
			if m.degrees[i] == 0 {
				v = 0
			}
		case sparse.RandomWalk:
			v /= d
		}
		for j, e := range m.vectors.RawRowView(int(i))[:len(dst)] {
			dst[j] += v * e
		}
	}

	// The combinatorial Laplacian has d on its diagonal, the others 1.
	total := 1.0
	if m.laplacian == sparse.Combinatorial {
		total = d
	}
	for j, lambda := range m.values {
		if lambda > most*total {
			dst[j] = 0
			continue
		}
		dst[j] /= total - lambda
	}
}
