package linear

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// Norm is an intrinsic norm that was summed over the rows of the points.
type Norm struct {
	M      *mat.Dense  // XᵀLᵖX, d×d
	Kind   sparse.Kind // of L
	Power  int         // p
	Volume float64     // sum of the degrees of all points
}

// NewSummed prepares fits to the dense points x with an intrinsic norm that was summed elsewhere,
// or without one if norm is nil. It costs nothing; x may be a mapped file; only its labeled rows
// are read. The norm is shared, not copied.
func NewSummed(x data.Points, norm *Norm) (*Problem, error) {
	p := &Problem{given: x, x: x}
	_, d := x.Dims()
	if !p.direct() {
		return nil, fmt.Errorf("linear: sums are for dense points of at most %d columns", MaxFormed)
	}
	if norm == nil {
		return p, nil
	}
	if r, c := norm.M.Dims(); r != d || c != d {
		return nil, fmt.Errorf("linear: XᵀLᵖX is %d×%d for points of %d columns", r, c, d)
	}
	if sum := mat.Sum(norm.M); math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, errors.New("linear: XᵀLᵖX is not finite; scale the points")
	}

	p.Norm = norm.M
	p.reg = regularizer.Regularizer{Power: norm.Power, Laplacian: norm.Kind}
	p.summed = norm
	return p, nil
}

// intrinsic returns what wᵀXᵀr(L)Xw is multiplied with.
func (p *Problem) intrinsic(r regularizer.Regularizer) float64 {
	n, _ := p.x.Dims()
	if p.summed != nil {
		return r.IntrinsicOf(n, p.summed.Volume)
	}
	return r.Intrinsic(n, p.l)
}

// Sums hold all that least squares need of labeled points: their number l, the means, and with X̃
// and Ỹ the points and targets less their means, X̃ᵀX̃ and X̃ᵀỸ.
type Sums struct {
	Rows          int        // l
	Mean          []float64  // of the points
	TargetMean    []float64  // of the targets
	Gram, Moments *mat.Dense // X̃ᵀX̃ (d×d) and X̃ᵀỸ (d×m); nil where they are not needed
}

// sumRows is the number of labeled rows that [SumLabeled] holds at a time.
const sumRows = 1 << 14

// SumLabeled returns the sums of the labeled rows of dense points. t may name labeled points of a
// part of the rows: its numbers are rows of x. It takes l(2d² + 2dm) operations and memory for
// 16384 rows and for two d×d matrices.
func SumLabeled(ctx context.Context, x data.Points, t *models.Targets) (*Sums, error) {
	_, d := x.Dims()
	_, m := t.Y.Dims()
	out := &Sums{Mean: make([]float64, d), TargetMean: make([]float64, m), Gram: mat.NewDense(d, d, nil),
		Moments: mat.NewDense(d, m, nil)}
	if t.Weights != nil {
		return nil, models.Faultf("sums of labeled points have no %s; fit at once", param.Name("label-weights"))
	}
	p, err := NewSummed(x, nil)
	if err != nil {
		return nil, err
	}

	// Sums of blocks are merged, so that few rows are held.
	for lo := 0; lo < len(t.Labeled); lo += sumRows {
		hi := min(lo+sumRows, len(t.Labeled))
		w := NewLabeled(p, &models.Targets{Len: t.Len, Labeled: t.Labeled[lo:hi],
			Y: t.Y.Slice(lo, hi, 0, m).(*mat.Dense)})
		if err := w.sumMoments(ctx); err != nil {
			return nil, err
		}
		out.Add(&w.Sums)
	}

	return out, nil
}

// Add adds the sums of other labeled points, which keep theirs:
//
//	X̃ᵀX̃ = X̃₁ᵀX̃₁ + X̃₂ᵀX̃₂ + l₁l₂/(l₁+l₂) (μ₁ − μ₂)(μ₁ − μ₂)ᵀ,
//
// and X̃ᵀỸ likewise. T. F. Chan, G. H. Golub and R. J. LeVeque, COMPSTAT 1982.
func (s *Sums) Add(other *Sums) {
	total := s.Rows + other.Rows
	if other.Rows == 0 {
		return
	}
	weight := float64(s.Rows) / float64(total) * float64(other.Rows)
	share := float64(other.Rows) / float64(total)
	points := make([]float64, len(s.Mean))
	targets := make([]float64, len(s.TargetMean))
	floats.SubTo(points, other.Mean, s.Mean)
	floats.SubTo(targets, other.TargetMean, s.TargetMean)
	s.Gram.Add(s.Gram, other.Gram)
	s.Moments.Add(s.Moments, other.Moments)

	for i, v := range points {
		floats.AddScaled(s.Gram.RawRowView(i), weight*v, points)
		floats.AddScaled(s.Moments.RawRowView(i), weight*v, targets)
	}
	floats.AddScaled(s.Mean, share, points)
	floats.AddScaled(s.TargetMean, share, targets)
	s.Rows = total
}

// FitSums is [Problem.Fit] of least squares to labeled points that were summed, by the normal
// equations.
func (p *Problem) FitSums(ctx context.Context, sums *Sums, classes []int64, s *Settings) (*Model, error) {
	filled, err := s.fill()
	if err != nil {
		return nil, err
	}
	if filled.Loss != LeastSquares {
		return nil, fmt.Errorf("linear: the %v loss needs the labeled points themselves", filled.Loss)
	}
	if err := p.check(&filled, classes); err != nil {
		return nil, err
	}
	if sums.Rows == 0 {
		return nil, errNoTarget
	}

	// The sums take the place of the labeled rows.
	_, d := p.x.Dims()
	w := &Labeled{p: p, Dim: d, Sums: *sums}
	m := &Model{Settings: filled, Classes: classes, Labeled: sums.Rows}
	return m, w.NormalEquations(ctx, m)
}

// SettingsOf decodes the values of a learner of this package that can be fitted to sums; ok is
// false of any other learner.
func SettingsOf(l models.Learner, v models.Values) (s Settings, ok bool, err error) {
	k, ok := l.(learner)
	if !ok || !InParts(l) {
		return s, false, nil
	}
	if s, err = k.settings(v); err == nil {
		s, err = s.fill()
	}
	return s, true, err
}

// InParts reports whether a learner can be fitted to sums over parts of the points.
func InParts(l models.Learner) bool {
	k, ok := l.(learner)
	return ok && (k.intrinsic || !k.hinge) // svm-linear takes labeled rows and nothing else
}
