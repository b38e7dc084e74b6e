package models

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// Extension is a way to classify points outside the training set.
type Extension int

const (
	// LabelKNN labels the training points first and then takes a vote of the k
	// nearest of them (Belkin & Niyogi 2004, section 6.5).
	LabelKNN Extension = iota
	// Nystrom extends the eigenvectors to the new points through the weights of
	// their edges to the training points and applies the classifier.
	Nystrom
)

var extensionNames = []string{"knn", "nystrom"}

// String returns the name used on the command line and in manifests.
func (e Extension) String() string { return enum.String(extensionNames, e) }

// MarshalText returns the name.
func (e Extension) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (e *Extension) UnmarshalText(text []byte) error {
	return enum.Set(e, extensionNames, "extension", text)
}

// Fitted is an eigenmap classifier with everything that it needs to answer for
// any point: what bigfit fit saves and bigfit predict loads.
type Fitted struct {
	*Eigenmap
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

	lazyIndex
}

// Name is EigenmapName.
func (m *Fitted) Name() string { return EigenmapName }

// Outcomes are the class values.
func (m *Fitted) Outcomes() []int64 { return m.Classes }

// PredictSettings of [Fitted.Predict]. The zero value is a vote of the nearest 3.
type PredictSettings struct {
	Extension Extension
	// Neighbors that vote in LabelKNN, default 3, the paper's choice. Nystrom
	// uses the graph's own number.
	Neighbors int
	// OnProgress, if not nil, is told how many points are answered; see
	// knn.Settings.
	OnProgress func(done, total int)
}

// Prediction holds the answers for m points.
type Prediction struct {
	Classes []int32    // positions in the model's classes; nil for a regression
	Scores  *mat.Dense // m×c: shares of the vote, or the values of f; of a regression its m×outputs values
	// Recall is that of the graph of training points in which the neighbours
	// were searched for, as estimated when it was made; nil if they are exact
	// or it was not estimated.
	Recall *knn.Recall
}

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
func (m *Fitted) Predict(ctx context.Context, x data.Points, s *PredictSettings) (*Prediction, error) {
	if s == nil {
		s = &PredictSettings{}
	}
	if m.Points == nil {
		return nil, fmt.Errorf("models: the model was fitted on a graph without points and cannot classify new ones; fit it with the points")
	}
	if s.Extension != LabelKNN && s.Extension != Nystrom {
		return nil, fmt.Errorf("models: extension %v", s.Extension)
	}
	if s.Neighbors < 0 {
		return nil, fmt.Errorf("models: a vote of %d neighbours; the number must be positive", s.Neighbors)
	}
	ix, err := m.index()
	if err != nil {
		return nil, err
	}
	k := s.Neighbors
	if k == 0 {
		k = 3
	}
	if s.Extension == Nystrom {
		if m.Graph.K == 0 {
			return nil, fmt.Errorf("models: the Nyström extension needs a graph of nearest neighbours; this model's graph joins points within %g", m.Graph.Radius)
		}
		k = m.Graph.K
	}
	n := len(m.Labels)
	nb, recall, err := nearest(ctx, ix, m.PCA, x, min(k, n), s.OnProgress)
	if err != nil {
		return nil, err
	}
	if s.Extension == LabelKNN {
		return votes(nb, m.Labels, len(m.Classes), recall), nil
	}
	out := &Prediction{Scores: mat.NewDense(nb.Len(), len(m.Classes), nil), Recall: recall}
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
	out.Classes = decide(out.Scores)
	for i := range out.Classes {
		if slices.Max(out.Scores.RawRowView(i)) < vanishing && slices.Min(out.Scores.RawRowView(i)) > -vanishing {
			index, _ := nb.Row(i)
			out.Classes[i] = m.Labels[index[0]]
		}
	}
	return out, nil
}

// index returns the index of the training points.
func (m *Fitted) index() (knn.Index, error) {
	return m.get(m.Points, m.Method, m.Index, &knn.DescentSettings{Settings: knn.Settings{Metric: m.Metric}, Seed: m.Settings.Seed})
}

// lazyIndex is an index of training points, made when it is first needed.
type lazyIndex struct {
	mu sync.Mutex
	ix knn.Index
}

// get returns the index of x, which the first call restores from st or, if that
// is nil, builds; Auto compares all pairs.
func (l *lazyIndex) get(x data.Points, method knn.Method, st *knn.State, s *knn.DescentSettings) (knn.Index, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ix != nil {
		return l.ix, nil
	}
	var ix knn.Index
	var err error
	if st != nil {
		ix, err = knn.Restore(x, st, s)
	} else {
		if method == knn.Auto {
			method = knn.Brute
		}
		ix, err = knn.NewIndex(x, method, s)
	}
	if err != nil {
		return nil, err
	}
	l.ix = ix
	return ix, nil
}

// nearest finds the k nearest training points of every point of x, to which p, if
// not nil, is applied first. The recall is that of a Prediction.
func nearest(ctx context.Context, ix knn.Index, p *data.PCA, x data.Points, k int, onProgress func(done, total int)) (*knn.Neighbors, *knn.Recall, error) {
	if n, _ := x.Dims(); n == 0 {
		return nil, nil, errNoQuery
	}
	if p != nil {
		var err error
		if x, err = p.Apply(x); err != nil {
			return nil, nil, err
		}
	}
	nb, err := knn.WithProgress(ix, onProgress).Query(ctx, x, k)
	if err != nil {
		return nil, nil, err
	}
	if d, ok := ix.(*knn.Descent); ok {
		if r := d.Stats().Recall; r.Sample > 0 {
			return nb, &r, nil
		}
	}
	return nb, nil, nil
}

// vanishing is the size below which a score, of order one, is rounding error.
const vanishing = 1e-9

// extend sets dst to the extended eigenvectors at a point with the given
// nearest training points.
func (m *Fitted) extend(dst []float64, index []int32, dist []float64) {
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
