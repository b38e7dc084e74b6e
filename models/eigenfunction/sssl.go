package eigenfunction

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
)

// Name is the model's name in manifests and on the command line.
const Name = "sssl"

// Settings of [Fit].
type Settings struct {
	// Eigenfunctions is their number s. The default is chosen by cross-validation
	// from 1 to 200, or as many as each fold can fit.
	Eigenfunctions int `json:"eigenfunctions"`
	// Landmarks is the number of points that the eigenfunctions are expansions
	// over. Default all: they are exact. See [New].
	Landmarks int `json:"landmarks,omitempty"`
	// Intercept adds a constant to the eigenfunctions, which the paper does not.
	Intercept bool `json:"intercept"`
	// Folds of the cross-validation. Default 5, at most the number of labels.
	Folds int `json:"folds,omitempty"`
	// Repeats is how often labels are dealt into folds anew. Default 1.
	Repeats int `json:"repeats,omitempty"`
	// Seed of landmarks and folds.
	Seed uint64 `json:"seed"`
}

// MostEigenfunctions is the largest number to choose from by cross-validation.
const MostEigenfunctions = 200

// Fill returns s with its defaults for l labels, and the number of eigenfunctions
// to compute, or all faults at once.
func (s Settings) Fill(l int) (Settings, int, error) {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("eigenfunction: "+format, args...))
	}
	constant := 0
	if s.Intercept {
		constant = 1
	}
	if s.Eigenfunctions < 0 || s.Landmarks < 0 || s.Folds < 0 || s.Repeats < 0 {
		fault("%d eigenfunctions, %d landmarks, %d folds, %d repeats; the numbers must be positive, or 0 for the default", s.Eigenfunctions, s.Landmarks, s.Folds, s.Repeats)
	}
	if s.Eigenfunctions+constant > l {
		fault("%d eigenfunctions for %d labeled points; least squares needs a labeled point for each, and one for an intercept", s.Eigenfunctions, l)
	}
	most := s.Eigenfunctions
	if most == 0 {
		if s.Folds == 0 {
			s.Folds = min(5, l)
		}
		s.Repeats = max(1, s.Repeats)
		if s.Folds < 2 || s.Folds > l {
			fault("%d folds of %d labeled points; there must be at least 2 and at most one a point", s.Folds, l)
		} else {
			most = min(MostEigenfunctions, l-(l+s.Folds-1)/s.Folds-constant)
		}
		if s.Landmarks > 0 {
			most = min(most, s.Landmarks)
		}
		if most < 1 && len(faults) == 0 {
			fault("%d labeled points are too few to choose a number of eigenfunctions by cross-validation; give it", l)
		}
	}
	return s, most, errors.Join(faults...)
}

// Model is least squares on the leading eigenfunctions ψ_j of the integral operator of
// a kernel over all points:
//
//	f_c(x) = Σ_{j≤s} γ_jc ψ_j(x) + b_c = Σ_i a_ic k(z_i, x) + b_c
//
// with b = 0 unless there is an intercept. It is immutable.
type Model struct {
	Settings Settings
	Kernel   kernel.Kernel
	// Points are the z_i, all training points or the landmarks; nil for a
	// precomputed kernel.
	Points       data.Points
	Coefficients *mat.Dense // a, m×c
	Bias         []float64  // c
	Classes      []int64    // nil for a regression
	Labeled      int        // number of labeled points
	// Values are the eigenvalues λ_j that were in use or to choose from, descending,
	// and Trace the sum of all.
	Values []float64
	Trace  float64
	// Risk is the mean squared error of cross-validation for 1, 2, …
	// eigenfunctions; nil if their number was given.
	Risk []float64
}

// Fit is algorithm 1 of Ji et al. 2012: the coefficients minimize
//
//	Σ_{i labeled} ‖Σ_j γ_j ψ_j(x_i) + b − y_i‖²
//
// over the s leading eigenfunctions over all n points x, without regularization;
// classes are coded as [models.ClassTargets] says. Where s is not given, the one with the
// smallest squared error of cross-validation on the labels is taken, the smallest
// of equals. The cost is that of [New] and about 4ls²·(folds·repeats + 1)
// operations. A nil s means the defaults; a positive limit bounds the memory of
// matrices.
func Fit(ctx context.Context, x data.Points, k kernel.Kernel, t *models.Targets, s *Settings, limit int64) (*Model, error) {
	if s == nil {
		s = &Settings{}
	}
	if n, _ := x.Dims(); n != t.Len {
		return nil, fmt.Errorf("eigenfunction: targets for %d points, there are %d", t.Len, n)
	}
	_, most, err := s.Fill(len(t.Labeled))
	if err != nil {
		return nil, err
	}
	e, err := New(ctx, x, k, most, s.Landmarks, s.Seed, limit)
	if err != nil {
		return nil, err
	}
	at, err := e.At(ctx, data.Select(x, t.Labeled))
	if err != nil {
		return nil, err
	}
	return e.Fit(t, at, s)
}

// Fit is [Fit] on eigenfunctions that are known, with their values at the labeled
// points of t, in their order. If fewer are known than s asks for, all are taken.
func (e *Functions) Fit(t *models.Targets, at *mat.Dense, s *Settings) (*Model, error) {
	m, gamma, err := e.Regress(t, at, s)
	if err != nil {
		return nil, err
	}
	used := m.Settings.Eigenfunctions
	_, c := gamma.Dims()
	m.Bias = make([]float64, c)
	if m.Settings.Intercept {
		copy(m.Bias, gamma.RawRowView(0))
		gamma = gamma.Slice(1, 1+used, 0, c).(*mat.Dense)
	}
	size, _ := e.Expansion.Dims()
	m.Coefficients = mat.NewDense(size, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, e.Expansion.Slice(0, size, 0, used).(*mat.Dense), gamma, 0, m.Coefficients)
	return m, nil
}

// Regress returns a model without its expansion, and the coefficients of its design.
func (e *Functions) Regress(t *models.Targets, at *mat.Dense, s *Settings) (*Model, *mat.Dense, error) {
	filled, most, err := s.Fill(len(t.Labeled))
	if err != nil {
		return nil, nil, err
	}
	l, have := at.Dims()
	if l != len(t.Labeled) || have != len(e.Values) {
		return nil, nil, fmt.Errorf("eigenfunction: %d×%d values of %d eigenfunctions at %d labeled points", l, have, len(e.Values), len(t.Labeled))
	}
	m := &Model{Settings: filled, Kernel: e.Kernel, Points: e.Points, Classes: t.Classes, Labeled: l, Trace: e.Trace}
	most = min(most, have)
	m.Values = e.Values[:most]
	if m.Settings.Eigenfunctions > 0 {
		m.Settings.Eigenfunctions = most
	} else if err := m.choose(t, at, most); err != nil {
		return nil, nil, err
	}
	used := m.Settings.Eigenfunctions
	f, err := newNestedFit(m.Design(at, data.Range(0, l), used), t.Y)
	if err != nil {
		return nil, nil, err
	}
	return m, f.coefficients(used + m.constant()), nil
}

// constant is the number of columns before those of the eigenfunctions.
func (m *Model) constant() int {
	if m.Settings.Intercept {
		return 1
	}
	return 0
}

// Design copies the given rows of the first s eigenfunctions, behind a constant if
// there is an intercept.
func (m *Model) Design(at *mat.Dense, rows []int, s int) *mat.Dense {
	first := m.constant()
	x := mat.NewDense(len(rows), first+s, nil)
	for p, i := range rows {
		row := x.RawRowView(p)
		if first > 0 {
			row[0] = 1
		}
		copy(row[first:], at.RawRowView(i))
	}
	return x
}

// choose sets Risk and the number of eigenfunctions, at most most.
func (m *Model) choose(t *models.Targets, at *mat.Dense, most int) error {
	folds, err := t.RepeatedFolds(m.Settings.Folds, m.Settings.Repeats, m.Settings.Seed)
	if err != nil {
		return err
	}
	l := len(t.Labeled)
	m.Risk = make([]float64, most)
	for _, held := range folds {
		kept := t.Except(held)
		f, err := newNestedFit(m.Design(at, kept, most), t.Keep(kept).Y)
		if err != nil {
			return err
		}
		risks := f.risks(m.Design(at, held, most), t.Keep(held).Y)
		for j := range m.Risk {
			m.Risk[j] += risks[m.constant()+j] / float64(l*m.Settings.Repeats)
		}
	}
	m.Settings.Eigenfunctions = 1 + slices.Index(m.Risk, slices.Min(m.Risk))
	return nil
}

// Name is sssl.
func (m *Model) Name() string { return Name }

// Outcomes are the class values; nil for a regression.
func (m *Model) Outcomes() []int64 { return m.Classes }

// Predict evaluates f by the definition of the eigenfunctions. It takes the time of
// a product with the kernel values of each point and the z_i, and the memory of 256
// rows of them.
func (m *Model) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	return m.expansion().Predict(ctx, x, s)
}

func (m *Model) expansion() *kernelmachine.Machine {
	return kernelmachine.ExpansionOf(m.Kernel, m.Points, m.Coefficients, m.Bias, m.Classes)
}

// Captured is the part of the trace of the operator that is in the eigenfunctions in
// use.
func (m *Model) Captured() float64 {
	e := &Functions{Values: m.Values, Trace: m.Trace}
	return e.Captured(m.Settings.Eigenfunctions)
}

// modelFile is what the manifest of a model file says.
type modelFile struct {
	Settings
	Kernel  kernel.Kernel `json:"kernel"`
	Labeled int           `json:"labeled"`
	Trace   float64       `json:"trace"`
	// Risk says whether there is an array of it.
	Risk bool `json:"risk"`
}

// Save writes the model as a .npz file, whole or not at all: coefficients (m×c),
// bias (c), values, risk if there is one, classes unless it is a regression, the
// points unless the kernel is precomputed, and the manifest. hashes name what the
// model was made from.
func (m *Model) Save(path string, hashes map[string]string) error {
	entries := append(m.expansion().Entries(), npy.Entry{Name: "values", Data: m.Values})
	if m.Risk != nil {
		entries = append(entries, npy.Entry{Name: "risk", Data: m.Risk})
	}
	file := modelFile{m.Settings, m.Kernel, m.Labeled, m.Trace, m.Risk != nil}
	return models.SaveFile(path, m.Name(), file, hashes, entries)
}

func LoadSSSL(r *models.Reader, settings json.RawMessage) (models.Model, error) {
	var f modelFile
	if err := models.ReadSettings(settings, &f); err != nil {
		return nil, err
	}
	e, err := kernelmachine.ReadExpansion(r, f.Kernel)
	if err != nil {
		return nil, err
	}
	m := &Model{Settings: f.Settings, Labeled: f.Labeled, Trace: f.Trace}
	m.Kernel, m.Points, m.Coefficients, m.Bias, m.Classes = e.Kernel, e.Points, e.Coefficients, e.Bias, e.Classes
	m.Values = models.Numbers[float64](r, "values")
	if f.Risk {
		m.Risk = models.Numbers[float64](r, "risk")
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return m, m.check()
}

// check returns an error unless the parts of the model fit together.
func (m *Model) check() error {
	switch s := m.Settings.Eigenfunctions; {
	case s < 1 || s > len(m.Values) || m.Risk == nil && s != len(m.Values):
		return fmt.Errorf("eigenfunction: %d eigenfunctions with %d eigenvalues", s, len(m.Values))
	case m.Risk != nil && len(m.Risk) != len(m.Values):
		return fmt.Errorf("eigenfunction: %d errors of cross-validation for %d eigenvalues", len(m.Risk), len(m.Values))
	}
	for j, v := range m.Values {
		if !(v > 0) || j > 0 && v > m.Values[j-1] {
			return fmt.Errorf("eigenfunction: eigenvalue %d is %v; they must be positive and descend", j, v)
		}
	}
	if !(m.Trace > 0) {
		return fmt.Errorf("eigenfunction: a trace of %v", m.Trace)
	}
	return m.expansion().Check()
}

// Cost is about what [Fit] takes for n points of d dimensions, l of them
// labeled: bytes and floating-point operations.
func Cost(n, d, l int, s *Settings) (bytes int64, operations float64) {
	filled, most, err := s.Fill(l)
	if err != nil {
		return 0, 0 // FitSSSL will say so
	}
	size, pairs := eigenfunctionSize(n, most, s.Landmarks)
	search := lanczos.Settings{K: pairs, Largest: true}
	need, err := lanczos.Bytes(size, &search)
	if err != nil {
		return 0, 0
	}
	m, q := float64(size), float64(pairs)
	bytes = need + 8*int64(size)*int64(d+pairs+most)
	operations = 5 * q * 2 * m * m // products
	if held := kernel.GramBytes(size); held <= heldGram {
		bytes += held
	} else {
		operations += 5 * q / 8 * m * m * float64(2*d+40)
	}
	if size < n {
		bytes += 8 * data.BlockRows * int64(size/8+pairs)
		operations += float64(n) * m * (2*float64(d) + 2*q + 40)
	}
	return bytes, operations + 4*float64(l)*float64(most*most)*float64(filled.Folds*filled.Repeats+1)
}
