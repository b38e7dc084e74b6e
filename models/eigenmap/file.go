package eigenmap

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// Name is the model's name in manifests and on the command line.
const Name = "eigenmap"

// fileSettings is what the manifest of a model file says.
type fileSettings struct {
	Model      string            `json:"model"`
	Eigenmap   Settings          `json:"eigenmap"`
	Metric     knn.Metric        `json:"metric"`
	Method     knn.Method        `json:"method"`
	Graph      knn.GraphSettings `json:"graph"`
	Laplacian  sparse.Kind       `json:"laplacian"`
	Rank       int               `json:"rank"`
	Labeled    int               `json:"labeled"`
	Unreached  int               `json:"unreached"`
	Fallback   int32             `json:"fallback"`
	Candidates []Candidate       `json:"candidates,omitempty"`
	Index      *knn.State        `json:"index,omitempty"`
}

// Save writes the model as a .npz file, whole or not at all: classes (c),
// values (p), coefficients (p×c), labels (n), vectors (n×p), degrees (n), the
// points and principal components if there are any, the arrays of Index as
// index_order, index_neighbors (n×width), index_splits (nodes×3) and
// index_thresholds, and the manifest. hashes name what the model was made from.
func (m *Model) Save(path string, hashes map[string]string) error {
	mf, err := manifest.New(manifest.Model, fileSettings{Name, m.Settings, m.Metric, m.Method, m.Graph, m.Laplacian,
		m.Rank, m.Labeled, m.Unreached, m.Fallback, m.Candidates, m.Index}, hashes)
	if err != nil {
		return err
	}
	text, err := mf.Bytes()
	if err != nil {
		return err
	}
	entries := []npy.Entry{
		{Name: "classes", Data: m.Classes},
		{Name: "values", Data: m.Values},
		models.MatrixEntry("coefficients", m.Coefficients),
		{Name: "labels", Data: m.Labels},
		models.MatrixEntry("vectors", m.Vectors),
		{Name: "degrees", Data: m.Degrees},
		{Name: manifest.Name, Data: text},
	}
	entries = append(entries, models.PointEntries(m.Points, m.PCA)...)
	if st := m.Index; st != nil {
		entries = append(entries, npy.Entry{Name: "index_order", Data: st.Order})
		if st.Stats != nil {
			entries = append(entries, npy.Entry{Name: "index_neighbors", Shape: []int{len(st.Order), st.Stats.Width}, Data: st.Neighbors},
				npy.Entry{Name: "index_splits", Shape: []int{len(st.Thresholds), 3}, Data: st.Splits},
				npy.Entry{Name: "index_thresholds", Data: st.Thresholds})
		}
	}
	return npy.WriteArchive(path, entries)
}

// LoadEigenmap reads what Save wrote.
func LoadEigenmap(r *models.Reader, settings json.RawMessage) (models.Model, error) {
	var s fileSettings
	if err := models.ReadSettings(settings, &s); err != nil {
		return nil, err
	}
	m := &Model{
		Classifier: &Classifier{Settings: s.Eigenmap, Rank: s.Rank, Labeled: s.Labeled, Unreached: s.Unreached, Fallback: s.Fallback,
			Candidates: s.Candidates},
		Metric: s.Metric, Method: s.Method, Graph: s.Graph, Laplacian: s.Laplacian,
	}
	m.Classes = models.Numbers[int64](r, "classes")
	m.Values = models.Numbers[float64](r, "values")
	m.Coefficients = r.Matrix("coefficients")
	m.Labels = models.Numbers[int32](r, "labels")
	m.Vectors = r.Matrix("vectors")
	m.Degrees = models.Numbers[float64](r, "degrees")
	m.Points = r.Points()
	m.PCA = r.PCA()
	if s.Index != nil {
		m.Index = s.Index
		m.Index.Order = models.Numbers[int32](r, "index_order")
		if m.Index.Stats != nil {
			m.Index.Neighbors = models.Table[int32](r, "index_neighbors", m.Index.Stats.Width)
			m.Index.Splits = models.Table[int32](r, "index_splits", 3)
			m.Index.Thresholds = models.Numbers[float32](r, "index_thresholds")
		}
	}
	if r.Err != nil {
		return nil, r.Err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if m.Index != nil { // before anything is done with it
		if _, err := m.index(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// check returns an error unless the parts of the model fit together.
func (m *Model) check() error {
	var faults []error
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("eigenmap: "+format, args...))
		}
	}
	n, p, c := len(m.Labels), m.Settings.Eigenvectors, len(m.Classes)
	rows, cols := m.Vectors.Dims()
	expect(rows == n && cols == p && p > 0, "vectors are %d×%d for %d labels and %d eigenvectors", rows, cols, n, p)
	expect(len(m.Values) == p, "%d values for %d eigenvectors", len(m.Values), p)
	rows, cols = m.Coefficients.Dims()
	expect(rows == p && (cols == c && c > 2 || cols == 1 && c == 2), "coefficients are %d×%d for %d eigenvectors and %d classes", rows, cols, p, c)
	expect(int(m.Fallback) < c && m.Fallback >= 0, "fallback class %d of %d", m.Fallback, c)
	for i, l := range m.Labels {
		if l < 0 || int(l) >= c {
			expect(false, "label %d of point %d is not one of %d classes", l, i, c)
			break
		}
	}
	if m.Index != nil {
		expect(m.Points != nil, "an index without points")
		expect(m.Index.Method == m.Method, "the index is a %v, the method %v", m.Index.Method, m.Method)
	}
	return errors.Join(append(faults, models.CheckTraining(n, m.Degrees, m.Points, m.PCA, m.Graph))...)
}
