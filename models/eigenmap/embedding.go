package eigenmap

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// EmbeddingName is the name of [Embedding] in manifests.
const EmbeddingName = "embedding"

// EmbeddingSettings are how the graph of an [Embedding] was made, which is how
// new points are joined to it.
type EmbeddingSettings struct {
	Metric knn.Metric `json:"metric"`
	// Method searches for the neighbours of new points; methods that are not
	// exact compare all pairs.
	Method    knn.Method        `json:"method"`
	Graph     knn.GraphSettings `json:"graph"`
	Laplacian sparse.Kind       `json:"laplacian"`
}

// Embedding is a Laplacian eigenmap: coordinate j of a training point is its
// entry in the eigenvector of the j-th smallest eigenvalue of the graph's
// Laplacian that is not zero (Belkin & Niyogi, Neural Computation 15, 2003, with
// the random-walk Laplacian). New points get the Nyström extension of
// [Model.Predict].
type Embedding struct {
	Settings EmbeddingSettings
	Values   []float64  // p, ascending
	Vectors  *mat.Dense // n×p
	Degrees  []float64  // n
	// Points are the training points as the graph was built on them, after PCA;
	// nil if the graph came without points: then there is no Transform.
	Points data.Points
	PCA    *data.PCA // applied to new points first; may be nil

	once     sync.Once
	extender *Model
}

// NewEmbedding takes the vectors of e behind those of the null space. They are
// copied, with signs such that the entry of largest magnitude is positive.
// degrees are those of the graph. No vector beyond the null space is an error.
func NewEmbedding(e *lanczos.Result, degrees []float64, s EmbeddingSettings) (*Embedding, error) {
	n, k := e.Vectors.Dims()
	p := k - e.Nullity
	if p < 1 {
		return nil, fmt.Errorf("eigenmap: %d eigenvectors of a graph of %d components: all are constant on the components; compute more", k, e.Nullity)
	}
	m := &Embedding{Settings: s, Values: e.Values[e.Nullity:], Vectors: mat.NewDense(n, p, nil), Degrees: degrees}
	for j := range p {
		f := mat.Col(nil, e.Nullity+j, e.Vectors)
		dense.Orient(f)
		m.Vectors.SetCol(j, f)
	}
	return m, nil
}

// Name is EmbeddingName.
func (m *Embedding) Name() string { return EmbeddingName }

// Outcomes is nil.
func (m *Embedding) Outcomes() []int64 { return nil }

// Transform returns the coordinates of new points by the Nyström extension. A
// point at distance 0 from training points is the first of them and gets its
// coordinates. It costs a search for neighbours; the first call builds the index.
func (m *Embedding) Transform(ctx context.Context, x data.Points) (*mat.Dense, error) {
	return m.transform(ctx, x, nil)
}

// Predict gives the coordinates as values. Of s only OnProgress counts.
func (m *Embedding) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	var onProgress func(done, total int)
	if s != nil {
		onProgress = s.OnProgress
	}
	e, err := m.transform(ctx, x, onProgress)
	if err != nil {
		return nil, err
	}
	return &models.Prediction{Scores: e}, nil
}

func (m *Embedding) transform(ctx context.Context, x data.Points, onProgress func(done, total int)) (*mat.Dense, error) {
	if m.Points == nil {
		return nil, fmt.Errorf("eigenmap: the embedding was made of a graph without points and cannot take new ones; make it with the points")
	}
	if m.Settings.Graph.K == 0 {
		return nil, fmt.Errorf("eigenmap: the Nyström extension needs a graph of nearest neighbours; this one joins points within %g", m.Settings.Graph.Radius)
	}
	m.once.Do(func() {
		method := m.Settings.Method
		if !method.Exact() {
			method = knn.Brute
		}
		m.extender = &Model{Classifier: &Classifier{Values: m.Values}, Vectors: m.Vectors, Degrees: m.Degrees, Points: m.Points,
			Metric: m.Settings.Metric, Method: method, Graph: m.Settings.Graph, Laplacian: m.Settings.Laplacian}
	})
	ix, err := m.extender.index()
	if err != nil {
		return nil, err
	}
	nb, _, err := models.Nearest(ctx, ix, m.PCA, x, min(m.Settings.Graph.K, len(m.Degrees)), onProgress)
	if err != nil {
		return nil, err
	}
	out := mat.NewDense(nb.Len(), len(m.Values), nil)
	par.For(nb.Len(), 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			index, dist := nb.Row(i)
			if dist[0] == 0 {
				copy(out.RawRowView(i), m.Vectors.RawRowView(int(index[0])))
				continue
			}
			m.extender.extend(out.RawRowView(i), index, dist)
		}
	})
	return out, nil
}

// Save writes the model as a .npz file, whole or not at all: values (p), vectors
// (n×p), degrees (n), the points and principal components if there are any, and
// the manifest. hashes name what the model was made from.
func (m *Embedding) Save(path string, hashes map[string]string) error {
	entries := []npy.Entry{{Name: "values", Data: m.Values}, models.MatrixEntry("vectors", m.Vectors), {Name: "degrees", Data: m.Degrees}}
	return models.SaveFile(path, m.Name(), m.Settings, hashes, append(entries, models.PointEntries(m.Points, m.PCA)...))
}

func LoadEmbedding(r *models.Reader, settings json.RawMessage) (models.Model, error) {
	m := &Embedding{}
	if err := models.ReadSettings(settings, &m.Settings); err != nil {
		return nil, err
	}
	m.Values = models.Numbers[float64](r, "values")
	m.Vectors = r.Matrix("vectors")
	m.Degrees = models.Numbers[float64](r, "degrees")
	m.Points = r.Points()
	m.PCA = r.PCA()
	if r.Err != nil {
		return nil, r.Err
	}
	return m, m.check()
}

// check returns an error unless the parts of the model fit together.
func (m *Embedding) check() error {
	n, p := m.Vectors.Dims()
	if len(m.Values) != p {
		return fmt.Errorf("eigenmap: vectors are %d×%d for %d values", n, p, len(m.Values))
	}
	return models.CheckTraining(n, m.Degrees, m.Points, m.PCA, m.Settings.Graph)
}
