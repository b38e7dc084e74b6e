package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// EigenmapName is the model's name in manifests and on the command line.
const EigenmapName = "eigenmap"

// fileSettings is what the manifest of a model file says.
type fileSettings struct {
	Model      string            `json:"model"`
	Eigenmap   EigenmapSettings  `json:"eigenmap"`
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
func (m *Fitted) Save(path string, hashes map[string]string) error {
	mf, err := manifest.New(manifest.Model, fileSettings{EigenmapName, m.Settings, m.Metric, m.Method, m.Graph, m.Laplacian,
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
		matrixEntry("coefficients", m.Coefficients),
		{Name: "labels", Data: m.Labels},
		matrixEntry("vectors", m.Vectors),
		{Name: "degrees", Data: m.Degrees},
		{Name: manifest.Name, Data: text},
	}
	entries = append(entries, pointEntries(m.Points, m.PCA)...)
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

// matrixEntry is an entry for a matrix, copied if its rows are not adjacent.
func matrixEntry(name string, a *mat.Dense) npy.Entry {
	r := a.RawMatrix()
	if r.Stride != r.Cols {
		r = mat.DenseCopyOf(a).RawMatrix()
	}
	return npy.Entry{Name: name, Shape: []int{r.Rows, r.Cols}, Data: r.Data}
}

// LoadEigenmap is [Load] for a file that must hold an eigenmap classifier.
func LoadEigenmap(path string, limit int64) (*Fitted, *manifest.Manifest, error) {
	m, mf, err := Load(path, limit)
	if err != nil {
		return nil, nil, err
	}
	f, ok := m.(*Fitted)
	if !ok {
		return nil, nil, fmt.Errorf("%s: a model %q; an %s is needed", path, m.Name(), EigenmapName)
	}
	return f, mf, nil
}

// loadEigenmap reads what Save wrote.
func loadEigenmap(r *reader, settings json.RawMessage) (Model, error) {
	var s fileSettings
	if err := readSettings(settings, &s); err != nil {
		return nil, err
	}
	m := &Fitted{
		Eigenmap: &Eigenmap{Settings: s.Eigenmap, Rank: s.Rank, Labeled: s.Labeled, Unreached: s.Unreached, Fallback: s.Fallback,
			Candidates: s.Candidates},
		Metric: s.Metric, Method: s.Method, Graph: s.Graph, Laplacian: s.Laplacian,
	}
	m.Classes = numbers[int64](r, "classes")
	m.Values = numbers[float64](r, "values")
	m.Coefficients = r.matrix("coefficients")
	m.Labels = numbers[int32](r, "labels")
	m.Vectors = r.matrix("vectors")
	m.Degrees = numbers[float64](r, "degrees")
	m.Points = r.points()
	m.PCA = r.pca()
	if s.Index != nil {
		m.Index = s.Index
		m.Index.Order = numbers[int32](r, "index_order")
		if m.Index.Stats != nil {
			m.Index.Neighbors = table[int32](r, "index_neighbors", m.Index.Stats.Width)
			m.Index.Splits = table[int32](r, "index_splits", 3)
			m.Index.Thresholds = numbers[float32](r, "index_thresholds")
		}
	}
	if r.err != nil {
		return nil, r.err
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
func (m *Fitted) check() error {
	var faults []error
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("models: "+format, args...))
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
	return errors.Join(append(faults, checkTraining(n, m.Degrees, m.Points, m.PCA, m.Graph))...)
}

// checkTraining returns all faults at once of what a model keeps of the graph on
// its n training points; x is nil if that came without points.
func checkTraining(n int, degrees []float64, x data.Points, p *data.PCA, g knn.GraphSettings) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("models: "+format, args...)) }
	if len(degrees) != n {
		fault("%d degrees for %d points", len(degrees), n)
	}
	if i := slices.IndexFunc(degrees, func(d float64) bool { return d < 0 }); i >= 0 {
		fault("degree %v of point %d", degrees[i], i)
	}
	if x == nil {
		return errors.Join(faults...)
	}
	rows, d := x.Dims()
	if rows != n {
		fault("%d points for %d rows", rows, n)
	}
	if g.Weights == knn.Heat && !(g.T > 0) {
		fault("heat weights with t = %v", g.T)
	}
	if g.K <= 0 && !(g.Radius > 0) {
		fault("a graph of neither neighbours nor a radius")
	}
	return errors.Join(append(faults, checkPCA(p, d))...)
}

// reader reads arrays of an archive and keeps the first error.
type reader struct {
	a     *npy.Archive
	limit int64
	err   error
}

// numbers reads a vector of the given element type; floats must be finite.
func numbers[T any](r *reader, name string) []T {
	if r.err != nil {
		return nil
	}
	x, err := r.a.Read(name)
	if err != nil {
		r.err = err
		return nil
	}
	values, ok := x.Data.([]T)
	if !ok || len(x.Shape) != 1 {
		r.err = fmt.Errorf("%s: %s is %v; a vector of %T is needed", r.a.Path(), name, x, values)
		return nil
	}
	if floats, ok := any(values).([]float64); ok {
		r.checkFinite(name, floats)
	}
	return values
}

// table reads the elements of a matrix with so many columns, row by row.
func table[T any](r *reader, name string, cols int) []T {
	if r.err != nil {
		return nil
	}
	x, err := r.a.Read(name)
	if err != nil {
		r.err = err
		return nil
	}
	values, ok := x.Data.([]T)
	if !ok || len(x.Shape) != 2 || x.Shape[1] != cols {
		r.err = fmt.Errorf("%s: %s is %v; a matrix of %T with %d columns is needed", r.a.Path(), name, x, values, cols)
		return nil
	}
	return values
}

// classes reads the class values; nil if there are none.
func (r *reader) classes() []int64 {
	if r.err != nil || !r.a.Has("classes") {
		return nil
	}
	return numbers[int64](r, "classes")
}

func (r *reader) matrix(name string) *mat.Dense {
	if r.err != nil {
		return nil
	}
	x, err := r.a.Read(name)
	if err != nil {
		r.err = err
		return nil
	}
	values, ok := x.Data.([]float64)
	if !ok || len(x.Shape) != 2 || len(values) == 0 {
		r.err = fmt.Errorf("%s: %s is %v; a matrix of float64 is needed", r.a.Path(), name, x)
		return nil
	}
	r.checkFinite(name, values)
	return mat.NewDense(x.Shape[0], x.Shape[1], values)
}

func (r *reader) checkFinite(name string, values []float64) {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			r.err = fmt.Errorf("%s: element %d of %s is %v", r.a.Path(), i, name, v)
			return
		}
	}
}

// points reads the training points; nil if there are none.
func (r *reader) points() data.Points {
	switch {
	case r.err != nil:
		return nil
	case r.a.Has("points_indptr"):
		shape := numbers[int64](r, "points_shape")
		m := &sparse.CSR{Ptr: numbers[int64](r, "points_indptr"), Col: numbers[int32](r, "points_indices"), Val: numbers[float64](r, "points_data")}
		if r.err == nil && len(shape) != 2 {
			r.err = fmt.Errorf("%s: points_shape has %d elements", r.a.Path(), len(shape))
		}
		if r.err != nil {
			return nil
		}
		m.Rows, m.Cols = int(shape[0]), int(shape[1])
		if err := m.Validate(); err != nil {
			r.err = fmt.Errorf("%s: points: %w", r.a.Path(), err)
			return nil
		}
		return m
	case r.a.Has("points"):
		x, err := data.ReadPoints(r.a.Path(), data.ReadOptions{Key: "points", Limit: r.limit})
		if err != nil {
			r.err = err
			return nil
		}
		return x
	}
	return nil
}
