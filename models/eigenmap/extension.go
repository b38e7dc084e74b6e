package eigenmap

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/sparse"
)

// Model is an eigenmap classifier with everything that it needs to answer for
// any point: what bigfit fit saves and bigfit predict loads.
type Model struct {
	*Classifier
	Labels  []int32    // class of every training point, a position in Classes
	Vectors *mat.Dense // n×p
	Degrees []float64
	// Points are the training points as the graph was built on them, after PCA;
	// nil if the graph came without points: then only Labels are known.
	Points data.Points
	PCA    *data.PCA // applied to new points first; may be nil

	Metric knn.Metric
	// Method searches for the neighbours of new points; Auto compares all pairs.
	Method knn.Method
	// Index is the state of the index that the graph was built with, if it has
	// one and is at hand. Without it the first Predict builds an index by Method.
	Index     *knn.State
	Graph     knn.GraphSettings
	Laplacian sparse.Kind

	models.LazyIndex
}

// Name is EigenmapName.
func (m *Model) Name() string { return Name }

// Outcomes are the class values.
func (m *Model) Outcomes() []int64 { return m.Classes }

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
func (m *Model) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	if s == nil {
		s = &models.PredictSettings{}
	}
	if m.Points == nil {
		return nil, fmt.Errorf("eigenmap: the model was fitted on a graph without points and cannot classify new ones; fit it with the points")
	}
	if s.Extension != models.LabelKNN && s.Extension != models.Nystrom {
		return nil, fmt.Errorf("eigenmap: extension %v", s.Extension)
	}
	if s.Neighbors < 0 {
		return nil, fmt.Errorf("eigenmap: a vote of %d neighbours; the number must be positive", s.Neighbors)
	}
	ix, err := m.index()
	if err != nil {
		return nil, err
	}
	k := s.Neighbors
	if k == 0 {
		k = 3
	}
	if s.Extension == models.Nystrom {
		if m.Graph.K == 0 {
			return nil, fmt.Errorf("eigenmap: the Nyström extension needs a graph of nearest neighbours; this model's graph joins points within %g", m.Graph.Radius)
		}
		k = m.Graph.K
	}
	n := len(m.Labels)
	nb, recall, err := models.Nearest(ctx, ix, m.PCA, x, min(k, n), s.OnProgress)
	if err != nil {
		return nil, err
	}
	if s.Extension == models.LabelKNN {
		return nearest.Votes(nb, m.Labels, len(m.Classes), recall), nil
	}
	out := &models.Prediction{Scores: mat.NewDense(nb.Len(), len(m.Classes), nil), Recall: recall}
	const rows = 2048
	p := m.Settings.Eigenvectors
	for lo := 0; lo < nb.Len(); lo += rows {
		hi := min(lo+rows, nb.Len())
		e := mat.NewDense(hi-lo, p, nil)
		par.For(hi-lo, 64, func(a, b int) {
			for i := a; i < b; i++ {
				index, dist := nb.Row(lo + i)
				m.extend(e.RawRowView(i), index, dist)
			}
		})
		out.Scores.Slice(lo, hi, 0, len(m.Classes)).(*mat.Dense).Copy(m.Scores(e, n))
	}
	out.Classes = models.Decide(out.Scores)
	for i := range out.Classes {
		if slices.Max(out.Scores.RawRowView(i)) < vanishing && slices.Min(out.Scores.RawRowView(i)) > -vanishing {
			index, _ := nb.Row(i)
			out.Classes[i] = m.Labels[index[0]]
		}
	}
	return out, nil
}

// index returns the index of the training points.
func (m *Model) index() (knn.Index, error) {
	return m.Get(m.Points, m.Method, m.Index, &knn.DescentSettings{Settings: knn.Settings{Metric: m.Metric}, Seed: m.Settings.Seed})
}

// vanishing is the size below which a score, of order one, is rounding error.
const vanishing = 1e-9

// extend sets dst to the extended eigenvectors at a point with the given
// nearest training points.
func (m *Model) extend(dst []float64, index []int32, dist []float64) {
	const most = 0.9
	w := m.Graph.EdgeWeights(dist)
	var d float64
	for _, v := range w {
		d += v
	}
	if d == 0 {
		return
	}
	for q, i := range index {
		v := w[q]
		switch m.Laplacian {
		case sparse.Normalized:
			v /= math.Sqrt(d * m.Degrees[i])
			if m.Degrees[i] == 0 {
				v = 0
			}
		case sparse.RandomWalk:
			v /= d
		}
		for j, e := range m.Vectors.RawRowView(int(i))[:len(dst)] {
			dst[j] += v * e
		}
	}
	total := 1.0
	if m.Laplacian == sparse.Combinatorial {
		total = d
	}
	for j, lambda := range m.Values {
		if lambda > most*total {
			dst[j] = 0
			continue
		}
		dst[j] /= total - lambda
	}
}
