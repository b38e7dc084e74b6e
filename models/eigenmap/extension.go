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

// Model is an eigenmap classifier with everything that it needs to answer for
// any point. Without points it answers for those of the graph only.
type Model struct {
	*Classifier
	Labels    []int32     // class of every training point, a position in Classes
	Vectors   *mat.Dense  // n×p
	Laplacian sparse.Kind // that Vectors belong to
	// Tolerance of the eigenpairs that was asked for; 0 is the default.
	Tolerance float64
	models.Neighborhood
	Given *models.Given // the points that had a label; nil if not known
}

// Kept has the eigenvectors as the start of others.
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

// neighbors returns the number of training points that an answer looks at.
func (m *Model) neighbors(s *models.PredictSettings) int {
	switch {
	case s.Extension == models.Nystrom:
		return m.Edges.K
	case s.Neighbors == 0:
		return 3
	}
	return s.Neighbors
}

// QueryCost is that of the search, the scores and a block of extended eigenvectors.
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

// extendedRows is the number of points whose extended eigenvectors are held at once.
const extendedRows = 2048

// Predict classifies new points. It holds one m×c block of scores and, for
// Nystrom, 2048·p values. The neighbours come from the index of the training
// points, which is restored or built once; after NN-descent they are approximate
// and the Prediction has the recall.
//
// For a new point x with weights w_i to its nearest training points, found and
// weighted as an edge of the graph, and d = Σ w_i, the Nyström extension of an
// eigenvector solves row x of the eigenvalue equation for e(x):
//
//	e(x) = Σ w_i e(x_i) / (d − λ)                   combinatorial
//	e(x) = Σ w_i e(x_i)/√(d d_i) / (1 − λ)          normalized
//	e(x) = Σ w_i e(x_i)/d / (1 − λ)                 random walk
//
// An eigenvector whose eigenvalue exceeds 0.9·d (or 0.9) has no smooth
// extension; it counts as zero at x. Where f vanishes up to rounding, because
// all weights do or because no label reaches the neighbours, x gets the class of
// the nearest training point.
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

// extension holds eigenvectors and what extends them to new points.
type extension struct {
	values    []float64
	vectors   *mat.Dense
	degrees   []float64
	laplacian sparse.Kind
}

func (m *Model) extension() *extension {
	return &extension{m.Values, m.Vectors, m.Degrees, m.Laplacian}
}

// extend sets dst to the extended eigenvectors at a point with edges of weights w to
// the given training points.
func (m *extension) extend(dst []float64, index []int32, w []float64) {
	const most = 0.9
	var d float64
	for _, v := range w {
		d += v
	}
	if d == 0 {
		return
	}

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
