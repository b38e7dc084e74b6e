package propagation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
)

// Model is a Graph with the points it was fitted on, which answers for any
// point.
type Model struct {
	*Solution
	// Points are the training points as the graph was built on them, after PCA;
	// nil if the graph came without points: then only Scores and Labels are
	// known.
	Points data.Points
	PCA    *data.PCA // applied to new points first; may be nil

	Metric knn.Metric
	// Search finds the neighbours of new points; Auto compares all pairs.
	Search knn.Method
	Edges  knn.GraphSettings // what the graph was made with

	models.LazyIndex
}

// Name is that of the method.
func (m *Model) Name() string { return m.Settings.Method.String() }

// Outcomes are the class values; nil for a regression.
func (m *Model) Outcomes() []int64 { return m.Classes }

// Predict answers for new points. For a point x with weights w_i to its nearest
// training points, found and weighted as an edge of the graph, and d = Σ w_i,
// the equation of the method for an unlabeled point gives
//
//	f(x) = Σ w_i f_i / d                  harmonic, poisson
//	F(x) = α Σ w_i F_i / √(d d_i)         lgc
//
// and tikhonov takes the first as well, its limit for small γ_A (Delalleau,
// Bengio & Le Roux 2005, equation 7). Where all weights are zero, or the
// neighbours are out of reach of any label, x gets the class, or the values, of
// the nearest training point.
//
// s.Neighbors defaults to the k of the graph and must be given for an ε graph;
// s.Extension is for eigenmaps and ignored. The first call builds an index of
// the training points; a call costs what knn says and m·k·c operations. After
// NN-descent the neighbours are approximate and the Prediction has the recall.
func (m *Model) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	if s == nil {
		s = &models.PredictSettings{}
	}
	if m.Points == nil {
		return nil, errors.New("propagation: the model was fitted on a graph without points and cannot answer for new ones; fit it with the points")
	}
	k := s.Neighbors
	switch {
	case k < 0:
		return nil, fmt.Errorf("propagation: %d neighbours; the number must be positive", k)
	case k == 0 && m.Edges.K == 0:
		return nil, fmt.Errorf("propagation: this model's graph joins points within %g and has no number of neighbours; say how many of a new point to use", m.Edges.Radius)
	case k == 0:
		k = m.Edges.K
	}
	ix, err := m.Get(m.Points, m.Search, nil, &knn.DescentSettings{Settings: knn.Settings{Metric: m.Metric}})
	if err != nil {
		return nil, err
	}
	n, c := m.Scores.Dims()
	nb, recall, err := models.Nearest(ctx, ix, m.PCA, x, min(k, n), s.OnProgress)
	if err != nil {
		return nil, err
	}
	out := &models.Prediction{Scores: mat.NewDense(nb.Len(), c, nil), Recall: recall}
	known := make([]bool, nb.Len())
	par.For(nb.Len(), 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			index, dist := nb.Row(i)
			known[i] = m.induce(out.Scores.RawRowView(i), index, dist)
		}
	})
	if m.Classes != nil {
		out.Classes = models.Decide(out.Scores)
	}
	for i, ok := range known {
		if ok {
			continue
		}
		index, _ := nb.Row(i)
		if out.Classes != nil {
			out.Classes[i] = m.Labels[index[0]]
		} else {
			copy(out.Scores.RawRowView(i), m.Scores.RawRowView(int(index[0])))
		}
	}
	return out, nil
}

// induce sets dst to the scores at a point with the given nearest training
// points; false means that nothing is known there.
func (m *Model) induce(dst []float64, index []int32, dist []float64) bool {
	w := m.Edges.EdgeWeights(dist)
	var d float64
	for _, v := range w {
		d += v
	}
	if d == 0 {
		return false
	}
	for q, i := range index {
		v := w[q] / d
		if m.Settings.Method == LGC {
			v = 0
			if m.Degrees[i] > 0 {
				v = m.Settings.Alpha * w[q] / math.Sqrt(d*m.Degrees[i])
			}
		}
		for j, f := range m.Scores.RawRowView(int(i)) {
			dst[j] += v * f
		}
	}
	return m.Classes == nil || slices.ContainsFunc(dst, func(v float64) bool { return v != 0 })
}

// modelFile is what the manifest of a model file says.
type modelFile struct {
	Graph      Settings          `json:"graph"`
	Metric     knn.Metric        `json:"metric"`
	Search     knn.Method        `json:"search"`
	Edges      knn.GraphSettings `json:"edges"`
	Iterations int               `json:"iterations"`
	Labeled    int               `json:"labeled"`
	Unreached  int               `json:"unreached"`
	Fallback   int32             `json:"fallback"`
}

// Save writes the model as a .npz file, whole or not at all: scores (n×c),
// degrees (n), residuals, for classes classes (c) and labels (n), the points and
// principal components if there are any, and the manifest. hashes name what the
// model was made from.
func (m *Model) Save(path string, hashes map[string]string) error {
	entries := []npy.Entry{models.MatrixEntry("scores", m.Scores), {Name: "degrees", Data: m.Degrees}, {Name: "residuals", Data: m.Residuals}}
	if m.Classes != nil {
		entries = append(entries, npy.Entry{Name: "classes", Data: m.Classes}, npy.Entry{Name: "labels", Data: m.Labels})
	}
	s := modelFile{m.Settings, m.Metric, m.Search, m.Edges, m.Iterations, m.Labeled, m.Unreached, m.Fallback}
	return models.SaveFile(path, m.Name(), s, hashes, append(entries, models.PointEntries(m.Points, m.PCA)...))
}

// LoadGraph is the loader of all methods of graph regularization.
func LoadGraph(r *models.Reader, settings json.RawMessage) (models.Model, error) {
	var s modelFile
	if err := models.ReadSettings(settings, &s); err != nil {
		return nil, err
	}
	m := &Model{
		Solution: &Solution{Settings: s.Graph, Iterations: s.Iterations, Labeled: s.Labeled, Unreached: s.Unreached, Fallback: s.Fallback},
		Metric:   s.Metric, Search: s.Search, Edges: s.Edges,
		Points: r.Points(), PCA: r.PCA(),
	}
	m.Scores = r.Matrix("scores")
	m.Degrees = models.Numbers[float64](r, "degrees")
	m.Residuals = models.Numbers[float64](r, "residuals")
	if m.Classes = r.ReadClasses(); m.Classes != nil {
		m.Labels = models.Numbers[int32](r, "labels")
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return m, m.check()
}

// check returns an error unless the parts of the model fit together.
func (m *Model) check() error {
	var faults []error
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("propagation: "+format, args...))
		}
	}
	n, c := m.Scores.Dims()
	expect(len(m.Residuals) == c, "%d residuals for %d columns", len(m.Residuals), c)
	if m.Classes != nil {
		expect(len(m.Classes) == c, "scores of %d columns for %d classes", c, len(m.Classes))
		expect(len(m.Labels) == n, "%d labels for %d points", len(m.Labels), n)
		expect(m.Fallback >= 0 && int(m.Fallback) < len(m.Classes), "fallback class %d of %d", m.Fallback, len(m.Classes))
		if i := slices.IndexFunc(m.Labels, func(l int32) bool { return l < 0 || int(l) >= len(m.Classes) }); i >= 0 {
			expect(false, "label %d of point %d is not one of %d classes", m.Labels[i], i, len(m.Classes))
		}
	} else {
		expect(m.Settings.Method == Harmonic || m.Settings.Method == Tikhonov, "a regression by %v", m.Settings.Method)
	}
	if m.Settings.Method == LGC {
		expect(m.Settings.Alpha > 0 && m.Settings.Alpha < 1, "α is %v", m.Settings.Alpha)
	}
	return errors.Join(append(faults, models.CheckTraining(n, m.Degrees, m.Points, m.PCA, m.Edges))...)
}
