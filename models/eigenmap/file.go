package eigenmap

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/models"
)

// modelFit is the part of a model in its manifest that is no parameter.
type modelFit struct {
	Seed         uint64          `json:"seed"`
	Rank         int             `json:"rank"`
	Labeled      int             `json:"labeled"`
	Unreached    int             `json:"unreached"`
	Fallback     int32           `json:"fallback"`
	Candidates   []Candidate     `json:"candidates,omitempty"`
	Neighborhood models.RawState `json:"neighborhood"`
	Given        bool            `json:"given,omitempty"`
}

// Encode returns the arrays of a model of n points, c classes and p eigenvectors:
//
//	classes       int64    c    values of the classes, ascending
//	values        float64  p    eigenvalues
//	coefficients  float64  p×c  coefficients of the eigenvectors; p×1 for two classes
//	labels        int32    n    class of every training point, a position in classes
//	vectors       float64  n×p  eigenvectors of norm one
//
// and the arrays of the given labels ([models.Given.Entries]) and of the neighbourhood
// ([models.Neighborhood.Encode]).
func (m *Model) Encode() (*models.Encoded, error) {
	state, arrays, err := m.Neighborhood.Encode()
	if err != nil {
		return nil, err
	}

	own := append(models.ClassEntries(m.Classes),
		archive.Array{Name: "values", Data: m.Values},
		models.MatrixEntry("coefficients", m.Coefficients),
		archive.Array{Name: "labels", Data: m.Labels},
		models.MatrixEntry("vectors", m.Vectors))

	fit := modelFit{m.Settings.Seed, m.Rank, m.Labeled, m.Unreached, m.Fallback, m.Candidates, state,
		m.Given != nil}
	return &models.Encoded{Values: params.Encode(m.options()), Fit: fit,
		Arrays: slices.Concat(own, m.Given.Entries(), arrays)}, nil
}

// Decode is the inverse of [Model.Encode].
func (Learner) Decode(r *models.Reader) (models.Model, error) {
	var f modelFit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	o, err := decode(r.Manifest.Params)
	if err != nil {
		return nil, err
	}

	m := &Model{
		Classifier: &Classifier{Classes: r.ReadClasses(), Rank: f.Rank, Labeled: f.Labeled,
			Unreached: f.Unreached, Fallback: f.Fallback,
			Candidates: f.Candidates},
		Laplacian: o.Laplacian, Tolerance: o.Tolerance,
	}

	// The reader keeps the first error, so it is looked at once.
	m.Values = models.Numbers[float64](r, "values")
	m.Coefficients = r.Matrix("coefficients")
	m.Labels = models.Numbers[int32](r, "labels")
	m.Vectors = r.Matrix("vectors")
	if r.Err != nil {
		return nil, r.Err
	}

	// Parameters that do not matter are left out of the file.
	_, have := m.Vectors.Dims()
	if m.Settings, err = o.Settings.fill(m.Labeled, 2, max(have, o.Eigenvectors)); err != nil {
		return nil, err
	}
	m.Settings.Seed = f.Seed
	if f.Given {
		if m.Given, err = r.Given(len(m.Labels), f.Labeled, 0); err != nil {
			return nil, err
		}
	}

	m.Neighborhood, err = r.Neighborhood(f.Neighborhood, len(m.Labels), true)
	return m, errors.Join(m.check(), err)
}

// check returns an error unless the parts of the model fit together.
func (m *Model) check() error {
	var faults []error
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("eigenmap: "+format, args...))
		}
	}

	// Shapes first: products would panic on arrays that do not fit together.
	n := len(m.Labels)
	p := m.Settings.Eigenvectors
	c := len(m.Classes)
	rows, cols := m.Vectors.Dims()
	expect(rows == n && cols == p && p > 0, "vectors are %d×%d for %d labels and %d eigenvectors", rows,
		cols, n, p)
	expect(len(m.Values) == p, "%d values for %d eigenvectors", len(m.Values), p)
	rows, cols = m.Coefficients.Dims()
	expect(rows == p && (cols == c && c > 2 || cols == 1 && c == 2),
		"coefficients are %d×%d for %d eigenvectors and %d classes", rows, cols, p, c)
	expect(int(m.Fallback) < c && m.Fallback >= 0, "fallback class %d of %d", m.Fallback, c)

	// One wrong label is enough to tell of: the others are likely of the same cause.
	for i, l := range m.Labels {
		if l < 0 || int(l) >= c {
			expect(false, "label %d of point %d is not one of %d classes", l, i, c)
			break
		}
	}

	return errors.Join(faults...)
}
