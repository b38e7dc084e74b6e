package eigenfunction

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
)

// Name is the name of [Learner] and its models.
const Name = "sssl"

// Settings of [Fit].
type Settings struct {
	// Eigenfunctions is the number s of eigenfunctions. By default cross-validation
	// chooses it from 1 to 200, or to the number that each fold can fit.
	Eigenfunctions int
	// Landmarks is the number of points that the eigenfunctions are expansions
	// over. Default all points, which makes the eigenfunctions exact. See [New].
	Landmarks int
	// Intercept adds a constant to the eigenfunctions. The paper has none.
	Intercept bool
	// Folds of the cross-validation. Default 5, at most the number of labels.
	Folds int
	// Repeats is the number of times that labels are dealt into folds. Default 1.
	Repeats int
	// Seed of landmarks and folds.
	Seed uint64
}

// MostEigenfunctions is the largest number that cross-validation tries; it is the largest of
// the grid too.
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
	if err := params.Check(&choice{Settings: s}); err != nil {
		faults = append(faults, err)
	}
	if s.Eigenfunctions+constant > l {
		fault("%d eigenfunctions for %d labeled points; least squares needs a labeled point for "+
			"each, and one for an intercept", s.Eigenfunctions, l)
	}

	// Without a number there are folds, and a fold must not have more columns than rows.
	most := s.Eigenfunctions
	if most == 0 {
		if s.Folds == 0 {
			s.Folds = min(5, l)
		}
		s.Repeats = max(1, s.Repeats)
		if s.Folds < 2 || s.Folds > l {
			fault("%d folds of %d labeled points; there must be at least 2 and at most one a point",
				s.Folds, l)
		} else {
			most = min(MostEigenfunctions, l-(l+s.Folds-1)/s.Folds-constant)
		}

		if s.Landmarks > 0 {
			most = min(most, s.Landmarks)
		}
		if most < 1 && len(faults) == 0 {
			fault("%d labeled points are too few to choose a number of eigenfunctions by "+
				"cross-validation; give it", l)
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
	// Expansion is f over the points z_i, all training points or the landmarks.
	expansion.Expansion
	Labeled int // number of labeled points
	// Asked is the number of eigenfunctions that was given, if fewer of them have an
	// eigenvalue above the cut of [New]; else 0.
	Asked int
	// Values holds the eigenvalues λ_j in use or to choose from, descending, and Trace the
	// sum of all eigenvalues.
	Values []float64
	Trace  float64
	// Risk is the mean squared error of cross-validation for 1, 2, …
	// eigenfunctions; nil if their number was given.
	Risk []float64
	// Norm2 is R² = Σ_c ‖f_c‖², the squared norm in the space of the kernel, without the intercepts: the ψ_j are
	// orthogonal there, of norm 1/√λ_j. 0 in files of earlier versions.
	Norm2 float64
}

// Fit is algorithm 1 of Ji et al. 2012: the coefficients minimize
//
//	Σ_{i labeled} ‖Σ_j γ_j ψ_j(x_i) + b − y_i‖²
//
// over the s leading eigenfunctions over all n points x, without regularization; classes are
// coded as [models.ClassTargets] says. If s is not given, Fit takes the number with the
// smallest squared error of cross-validation on the labels, the smallest of equals. Beside the
// cost of [New] it takes about 4ls²·(folds·repeats + 1) operations. A nil s means the
// defaults.
func Fit(ctx context.Context, x kernel.Source, t *models.Targets, s *Settings,
	limits Limits) (*Model, error) {
	if s == nil {
		s = &Settings{}
	}
	x, err := x.Fill()
	if err != nil {
		return nil, err
	}
	if n, _ := x.Rows().Dims(); n != t.Len {
		return nil, fmt.Errorf("eigenfunction: targets for %d points, there are %d", t.Len, n)
	}

	_, most, err := s.Fill(len(t.Labeled))
	if err != nil {
		return nil, err
	}
	e, err := New(ctx, x, &FunctionSettings{Count: most, Landmarks: s.Landmarks, Seed: s.Seed,
		Limits: limits})
	if err != nil {
		return nil, err
	}
	at, err := e.At(ctx, data.Select(x.Rows(), t.Labeled))
	if err != nil {
		return nil, err
	}
	return e.Fit(ctx, t, at, s)
}

// Fit is [Fit] on eigenfunctions that are known. at holds their values at the labeled points
// of t, in the order of t.Labeled. If fewer are known than s asks for, all are taken.
func (e *Functions) Fit(ctx context.Context, t *models.Targets, at *mat.Dense, s *Settings) (*Model, error) {
	m, gamma, err := e.regress(ctx, t, at, s)
	if err != nil {
		return nil, err
	}
	used := m.Settings.Eigenfunctions
	_, c := gamma.Dims()
	m.Intercepts = make([]float64, c)
	if m.Settings.Intercept {
		copy(m.Intercepts, gamma.RawRowView(0))
		gamma = gamma.Slice(1, 1+used, 0, c).(*mat.Dense)
	}

	for j := range used {
		for _, v := range gamma.RawRowView(j) {
			m.Norm2 += v * v / m.Values[j]
		}
	}

	// γ on the functions becomes a = Bγ on the kernel: the model needs no functions.
	size, _ := e.Expansion.Coefficients.Dims()
	m.Coefficients = mat.NewDense(size, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, e.Expansion.Coefficients.Slice(0, size, 0, used).(*mat.Dense),
		gamma, 0, m.Coefficients)
	return m, nil
}

// regress returns a model without its expansion, and the coefficients of its design.
func (e *Functions) regress(ctx context.Context, t *models.Targets, at *mat.Dense,
	s *Settings) (*Model, *mat.Dense, error) {
	filled, most, err := s.Fill(len(t.Labeled))
	if err != nil {
		return nil, nil, err
	}
	l, have := at.Dims()
	if l != len(t.Labeled) || have != len(e.Values) {
		return nil, nil, fmt.Errorf("eigenfunction: %d×%d values of %d eigenfunctions at %d labeled points",
			l, have, len(e.Values), len(t.Labeled))
	}
	m := &Model{Settings: filled, Labeled: l, Trace: e.Trace}
	m.Expansion = *e.Expansion
	m.Fallback = t.Majority()
	m.Coefficients = nil // set last, from the fit
	m.Classes = t.Classes

	// The cut of [New] may have left fewer functions than were asked for.
	most = min(most, have)
	m.Values = e.Values[:most]
	if asked := m.Settings.Eigenfunctions; asked > 0 {
		if m.Settings.Eigenfunctions = most; asked > most {
			m.Asked = asked
		}
	} else if err := m.choose(ctx, t, at, most); err != nil {
		return nil, nil, err
	}

	used := m.Settings.Eigenfunctions
	f, err := newNestedFit(m.design(at, data.Range(0, l), used), t.Y)
	if err != nil {
		return nil, nil, err
	}
	return m, f.coefficients(used + m.constant()), nil
}

// constant returns the number of columns of a design before the eigenfunctions.
func (m *Model) constant() int {
	if m.Settings.Intercept {
		return 1
	}
	return 0
}

// design copies the given rows of the first s eigenfunctions, behind a constant if
// there is an intercept.
func (m *Model) design(at *mat.Dense, rows []int, s int) *mat.Dense {
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
func (m *Model) choose(ctx context.Context, t *models.Targets, at *mat.Dense, most int) error {
	folds, err := t.RepeatedFolds(m.Settings.Folds, m.Settings.Repeats, m.Settings.Seed)
	if err != nil {
		return err
	}
	l := len(t.Labeled)
	m.Risk = make([]float64, most)
	for _, held := range folds {
		if err := ctx.Err(); err != nil {
			return err
		}
		kept := t.Except(held)

		// One factorization yields the errors for every number of functions.
		f, err := newNestedFit(m.design(at, kept, most), t.Keep(kept).Y)
		if err != nil {
			return err
		}
		risks := f.risks(m.design(at, held, most), t.Keep(held).Y)
		for j := range m.Risk {
			m.Risk[j] += risks[m.constant()+j] / float64(l*m.Settings.Repeats)
		}
	}

	m.Settings.Eigenfunctions = 1 + slices.Index(m.Risk, slices.Min(m.Risk))
	return nil
}

// Name is [Name].
func (m *Model) Name() string { return Name }

// Captured returns the share of the eigenfunctions in use in the trace of the operator.
func (m *Model) Captured() float64 {
	e := &Functions{Values: m.Values, Trace: m.Trace}
	return e.Captured(m.Settings.Eigenfunctions)
}

// check returns an error unless the parts of the model fit together.
func (m *Model) check() error {
	switch s := m.Settings.Eigenfunctions; {
	case s < 1 || s > len(m.Values) || m.Risk == nil && s != len(m.Values):
		return fmt.Errorf("eigenfunction: %d eigenfunctions with %d eigenvalues", s, len(m.Values))
	case m.Risk != nil && len(m.Risk) != len(m.Values):
		return fmt.Errorf("eigenfunction: %d errors of cross-validation for %d eigenvalues", len(m.Risk),
			len(m.Values))
	}

	// PowerLaw takes logarithms of the values.
	for j, v := range m.Values {
		if !(v > 0) || j > 0 && v > m.Values[j-1] {
			return fmt.Errorf("eigenfunction: eigenvalue %d is %v; they must be positive and descend", j, v)
		}
	}

	if !(m.Trace > 0) || !(m.Norm2 >= 0) {
		return fmt.Errorf("eigenfunction: a trace of %v and a squared norm of %v", m.Trace, m.Norm2)
	}
	return errors.Join(m.CheckPoints(), models.CheckOutputs(m.Coefficients, m.Intercepts, m.Classes, false))
}
