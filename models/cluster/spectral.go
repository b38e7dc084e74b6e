package cluster

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// SpectralName is the name of [Spectral] in manifests. No learner has this name.
const SpectralName = "spectral"

// SpectralSettings of [FitSpectral].
type SpectralSettings struct {
	// Gamma is γ = γ_A/γ_I, the weight of the ambient norm; it must be positive.
	Gamma float64
	// Components is the number p of functions. Default Clusters − 1, or 2
	// without clusters.
	Components int
	// Clusters, if not 0, makes clusters of the points: two by the sign of the
	// first function, more by k-means on all p.
	Clusters int
	// Landmarks is the number of points, drawn by Seed, that the functions are
	// expansions over. Default 0: all.
	Landmarks int
	// Restarts is the number of runs of k-means. Default 10.
	Restarts int
	Seed     uint64
	// Laplacian and Power describe L; FitSpectral sets them.
	Laplacian sparse.Kind
	Power     int
}

// fill returns s with its defaults, or all faults at once.
func (s SpectralSettings) fill() (SpectralSettings, error) {
	err := spectralParams.Check(&spectralChoice{SpectralSettings: s})
	if s.Components == 0 {
		s.Components = 2
		if s.Clusters > 0 {
			s.Components = s.Clusters - 1
		}
	}

	if s.Restarts == 0 && s.Clusters > 2 {
		s.Restarts = 10
	}
	return s, err
}

// Spectral is a regularized Laplacian eigenmap, and with clusters regularized
// spectral clustering (Belkin, Niyogi & Sindhwani 2006, section 6.1): functions
//
//	f_j(x) = Σ_i α_ij k(x, x_i),  j = 1 … p
//
// that are defined everywhere. Clusters are numbered from 0. If there are two, cluster 1 is
// the set f_1 > 0, where the sign of f_1 is such that its value of largest magnitude is
// positive. If there are more, a point belongs to the cluster of the nearest centre. A
// Spectral is immutable.
type Spectral struct {
	Settings SpectralSettings
	// Expansion holds f, over all training points or the landmarks, without classes and
	// intercepts.
	expansion.Expansion
	Values  []float64  // λ_j, ascending
	Centres *mat.Dense // clusters×p for three or more clusters, else nil
	// Embedding is f at the n training points, n×p, with Σ_i f_j(x_i) = 0 and
	// orthonormal columns; nil after DecodeSpectral.
	Embedding *mat.Dense
}

// Name is SpectralName.
func (m *Spectral) Name() string { return SpectralName }

// Output describes the answer: the cluster of each point, or without clusters its p
// coordinates.
func (m *Spectral) Output() models.Output {
	if m.Settings.Clusters == 0 {
		return models.Output{Kind: models.OutputCoordinates, Columns: len(m.Values)}
	}
	classes := make([]int64, m.Settings.Clusters)
	for c := range classes {
		classes[c] = int64(c)
	}
	return models.OutputOf(classes, len(classes))
}

// QueryCost returns the cost of the kernel values, the coordinates and the scores.
func (m *Spectral) QueryCost(n int, s *models.PredictSettings) stage.Cost {
	c := m.Expansion.QueryCost(n, s)
	c.Bytes += 12 * int64(n) * int64(m.Settings.Clusters)
	return c
}

// Transform returns the coordinates of m new points, m×p. Only OnProgress of s matters.
// Transform computes m×n kernel values and holds 256 rows of them. At the training points
// it returns Embedding up to rounding.
func (m *Spectral) Transform(ctx context.Context, x data.Points,
	s *models.PredictSettings) (*mat.Dense, error) {
	f, err := m.Expansion.Predict(ctx, x, s)
	if err != nil {
		return nil, err
	}
	return f.Scores, nil
}

// Predict returns the clusters of new points. The scores are ∓f_1 for two clusters, and
// −‖f(x) − c‖² with the centres c for more. Without clusters the scores are the coordinates
// of [Spectral.Transform]. Only OnProgress of s matters.
func (m *Spectral) Predict(ctx context.Context, x data.Points,
	s *models.PredictSettings) (*models.Prediction, error) {
	f, err := m.Transform(ctx, x, s)
	if err != nil {
		return nil, err
	}
	return m.clusters(f), nil
}

// clusters makes clusters of coordinates.
func (m *Spectral) clusters(f *mat.Dense) *models.Prediction {
	n, _ := f.Dims()
	k := m.Settings.Clusters
	switch k {
	case 0:
		return &models.Prediction{Scores: f}
	case 2:
		out := &models.Prediction{Classes: make([]int32, n), Scores: mat.NewDense(n, 2, nil)}
		for i := range n {
			v := f.At(i, 0)
			if v > 0 {
				out.Classes[i] = 1
			}
			out.Scores.SetRow(i, []float64{-v, v})
		}
		return out
	}

	// A score grows as the distance to the centre shrinks, so the largest score decides.
	scores := mat.NewDense(n, k, nil)
	for i := range n {
		for c := range k {
			scores.Set(i, c, -squaredDistance(f.RawRowView(i), m.Centres.RawRowView(c)))
		}
	}
	return &models.Prediction{Classes: models.Argmax(scores), Scores: scores}
}

// Clusters returns the clusters of the training points; nil without clusters and
// after DecodeSpectral.
func (m *Spectral) Clusters() []int32 {
	if m.Embedding == nil {
		return nil
	}
	return m.clusters(m.Embedding).Classes
}
