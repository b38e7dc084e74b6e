package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/sparse"
)

// SpectralName is the name of [Spectral] in manifests.
const SpectralName = "spectral"

// SpectralSettings of [FitSpectral].
type SpectralSettings struct {
	// Gamma is γ = γ_A/γ_I, the weight of the ambient norm; it must be positive.
	Gamma float64 `json:"gamma"`
	// Components is the number p of functions. Default Clusters − 1, or 2
	// without clusters.
	Components int `json:"components"`
	// Clusters, if not 0, makes clusters of the points: two by the sign of the
	// first function, more by k-means on all p.
	Clusters int `json:"clusters,omitempty"`
	// Landmarks is the number of points, drawn by Seed, that the functions are
	// expansions over. Default 0: all.
	Landmarks int `json:"landmarks,omitempty"`
	// Restarts of k-means. Default 10.
	Restarts int    `json:"restarts,omitempty"`
	Seed     uint64 `json:"seed"`
	// Laplacian and Power say what L was; FitSpectral sets them.
	Laplacian sparse.Kind `json:"laplacian"`
	Power     int         `json:"power"`
}

// fill returns s with its defaults, or all faults at once.
func (s SpectralSettings) fill() (SpectralSettings, error) {
	var faults []error
	if !(s.Gamma > 0) || math.IsInf(s.Gamma, 0) {
		faults = append(faults, fmt.Errorf("cluster: γ is %v; it must be positive", s.Gamma))
	}
	if s.Clusters < 0 || s.Clusters == 1 {
		faults = append(faults, fmt.Errorf("cluster: %d clusters; there must be at least 2, or 0 for none", s.Clusters))
	}
	if s.Components < 0 || s.Landmarks < 0 || s.Restarts < 0 {
		faults = append(faults, fmt.Errorf("cluster: %d components, %d landmarks and %d restarts; none may be negative", s.Components, s.Landmarks, s.Restarts))
	}
	if s.Components == 0 {
		s.Components = 2
		if s.Clusters > 0 {
			s.Components = s.Clusters - 1
		}
	}
	if s.Restarts == 0 && s.Clusters > 2 {
		s.Restarts = 10
	}
	return s, errors.Join(faults...)
}

// Spectral is a regularized Laplacian eigenmap, and with clusters regularized
// spectral clustering (Belkin, Niyogi & Sindhwani 2006, section 6.1): functions
//
//	f_j(x) = Σ_i α_ij k(x, x_i),  j = 1 … p
//
// that are defined everywhere. Clusters are numbered from 0. Of two, cluster 1 is
// where f_1 > 0, f_1 being positive where it is largest in magnitude; of more, a
// point is in that of the nearest centre. It is immutable.
type Spectral struct {
	Settings     SpectralSettings
	Kernel       kernel.Kernel
	Points       data.Points // the x_i: all training points, or the landmarks
	Coefficients *mat.Dense  // α
	Values       []float64   // λ_j, ascending
	Centres      *mat.Dense  // clusters×p, of three or more clusters; else nil
	// Embedding is f at the n training points, n×p, with Σ_i f_j(x_i) = 0 and
	// orthonormal columns; nil after Load.
	Embedding *mat.Dense
}

// Name is SpectralName.
func (m *Spectral) Name() string { return SpectralName }

// Outcomes are the numbers of the clusters; nil without clusters.
func (m *Spectral) Outcomes() []int64 {
	if m.Settings.Clusters == 0 {
		return nil
	}
	out := make([]int64, m.Settings.Clusters)
	for c := range out {
		out[c] = int64(c)
	}
	return out
}

// Transform evaluates the functions. It costs the m×n kernel values and the
// memory of 256 rows of them. At the training points it is Embedding up to
// rounding.
func (m *Spectral) Transform(ctx context.Context, x data.Points) (*mat.Dense, error) {
	return m.transform(ctx, x, nil)
}

func (m *Spectral) transform(ctx context.Context, x data.Points, s *models.PredictSettings) (*mat.Dense, error) {
	f, err := kernelmachine.ExpansionOf(m.Kernel, m.Points, m.Coefficients, make([]float64, len(m.Values)), nil).Predict(ctx, x, s)
	if err != nil {
		return nil, err
	}
	return f.Scores, nil
}

// Predict returns the clusters of new points. Their scores are ∓f_1 for two, and
// −‖f(x) − c‖² for the centres c of more. Without clusters the values are the
// coordinates, as Transform gives them. Of s only OnProgress counts.
func (m *Spectral) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	f, err := m.transform(ctx, x, s)
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
	scores := mat.NewDense(n, k, nil)
	for i := range n {
		for c := range k {
			scores.Set(i, c, -squaredDistance(f.RawRowView(i), m.Centres.RawRowView(c)))
		}
	}
	return &models.Prediction{Classes: models.Argmax(scores), Scores: scores}
}

// Clusters returns the clusters of the training points; nil without clusters and
// after Load.
func (m *Spectral) Clusters() []int32 {
	if m.Embedding == nil {
		return nil
	}
	return m.clusters(m.Embedding).Classes
}
