package propagation

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
)

// ClassShares says which shares of the points the classes of the answers get.
type ClassShares int

const (
	// FreeShares leaves the answers as the scores have them.
	FreeShares ClassShares = iota
	// EstimatedShares are the means of [LabelShares] and of the shares in the answers before.
	EstimatedShares
	// LabelShares are those of [LabelSizes].
	LabelShares
	// EqualShares are 1/C.
	EqualShares
)

var sharesNames = enum.New[ClassShares]("shares of classes", "free", "estimate", "labels", "equal")

// String returns the name used on the command line and in manifests.
func (s ClassShares) String() string { return sharesNames.String(s) }

// MarshalText returns the name.
func (s ClassShares) MarshalText() ([]byte, error) { return sharesNames.Marshal(s) }

// UnmarshalText is the inverse of MarshalText.
func (s *ClassShares) UnmarshalText(text []byte) error { return sharesNames.Unmarshal(s, text) }

// origin returns the same origin as one of [ClassSizes].
func (s ClassShares) origin() ClassSizes {
	switch s {
	case LabelShares:
		return LabelSizes
	case EqualShares:
		return EqualSizes
	}
	return EstimatedSizes
}

// ShareParams are the parameters of a method that gives classes their shares only if it is asked to, at a place of its
// settings.
func ShareParams[S any](at func(*S) (priors *[]float64, shares *ClassShares)) models.Table[S] {
	return models.Table[S]{
		{Param: models.Param{Name: "priors",
			Doc: "shares of the classes in all points, by class as in a:0.8,b:0.2 or ascending by class, up to a factor; " +
				"the answers get these shares",
			Default: "see class-shares", Range: models.NotNegative(), Named: true},
			At: func(s *S) any { priors, _ := at(s); return priors }},
		{Param: models.Param{Name: "class-shares",
			Doc: "shares of the classes without priors: free, those of the scores; labels, those of the labels; " +
				"estimate, the mean of both; or equal",
			Default: FreeShares.String(), Choices: sharesNames.All()},
			At: func(s *S) any { _, shares := at(s); return shares }},
	}
}

var shareParams = ShareParams(func(s *Settings) (*[]float64, *ClassShares) { return &s.Priors, &s.ClassShares })

// CheckShares returns an error unless targets t have the classes that priors, nil for none, and shares are for.
func CheckShares(priors []float64, shares ClassShares, t *models.Targets) error {
	switch {
	case priors == nil && shares == FreeShares:
		return nil
	case t.Classes == nil:
		return models.Faultf("%s and %s are for classes, not for values", param.Name("priors"), param.Name("class-shares"))
	case priors != nil && len(priors) != len(t.Classes):
		return models.Faultf("%s names %d shares for %d classes", param.Name("priors"), len(priors), len(t.Classes))
	case priors != nil && !(slices.Max(priors) > 0):
		return models.Faultf("%s are all 0; a class must have a share", param.Name("priors"))
	}
	return nil
}

// sharing tells whether the settings give classes their shares.
func (s *Settings) sharing() bool {
	return (s.Priors != nil || s.ClassShares != FreeShares) && !s.MassNormalization
}

// Shared says how a projection gave the classes their shares.
type Shared struct {
	// Shares of the classes in all points that a label reaches.
	Shares []float64 `json:"shares"`
	// Off is the largest difference of a class's share of these points from the one asked for.
	Off float64 `json:"off"`
}

// share gives each class its share of the points that a label reaches, and returns the result of it; nil
// where the settings ask for no shares. It makes the scores u, which are in the order of the problem,
//
//	s_c (u_ic − low)
//
// such that the largest score of a point without a label is its class. low is 0 for Harmonic and LGC, whose scores are
// not negative, else a hundredth of their range below the smallest of a point without a label. The factors s are those with which the points without a label fill up what the
// labels leave of each share. The equations of the methods for a new point are linear in u, and their weights have the
// sum one where low is not 0, so that it gets the same factors. A class without a share gets no point but its labeled
// ones.
//
// The projection is that of [Problem.FitPoissonMBO] (Calder, Cook, Thorpe & Slepčev 2020, section 2.4); its use for
// other methods is not in the paper. In place of the factors, shifts u_ic + t_c of Tikhonov and Poisson erred alike
// (USPS with 1 and 5 labels of each class: 10.5 and 10.5 %, 5.4 and 5.4 %). It costs some thirty passes over the scores.
func (d *draw) share(u *mat.Dense) *Shared {
	if !d.settings.sharing() {
		return nil
	}
	v := newVolumes(d.problem.Len(), sizesOf(d.counts(), d.settings.Priors, d.settings.ClassShares.origin()), d.live())
	v.zero = d.settings.Method == Harmonic || d.settings.Method == LGC
	if d.settings.Priors == nil && d.settings.ClassShares == EstimatedShares {
		v.estimate(u)
	}

	// Hard labels stay as they are, so that the other points have to fill up what they leave of the shares.
	out := &Shared{Shares: slices.Clone(v.shares)}
	reached := v.live
	var hard []int32
	counts := make([]float64, len(v.shares))
	if !d.soft {
		hard = d.at
		for q := range d.at {
			counts[d.class(q)]++
		}
	}
	if !v.leaveOut(hard, counts) {
		return out // nothing is left to decide
	}
	if !v.zero {
		v.lift(u, reached)
	}
	out.Off = v.project(u)

	factors := v.factors()
	for i := range v.labels {
		if reached != nil && !reached[i] {
			continue // a row of zeros says that nothing is known
		}
		row := u.RawRowView(i)
		for c := range row {
			row[c] *= factors[c]
		}
	}
	return out
}

// estimate makes the shares the means of what they are and of the shares in the answers by scores u.
func (v *volumes) estimate(u *mat.Dense) {
	for c, share := range v.decide(u, v.lowest(u)) {
		v.shares[c] = (v.shares[c] + share) / 2
	}
}

// lowMargin is the part of the range of the scores by which low is below the smallest: no factor would move a point with
// the score 0.
const lowMargin = 0.01

// lift subtracts low from the scores of points that are reached, nil for all. Labeled points do not count in it, as the
// scores of Poisson learning have peaks there.
func (v *volumes) lift(u *mat.Dense, reached []bool) {
	least := v.lowest(u)
	most := math.Inf(-1)
	for i, live := range v.live {
		if live {
			most = max(most, slices.Max(u.RawRowView(i)))
		}
	}
	low := least - lowMargin*(most-least)
	for i := range v.labels {
		if reached != nil && !reached[i] {
			continue
		}
		row := u.RawRowView(i)
		for c := range row {
			row[c] -= low
		}
	}
	v.zero = true
}

// ShareFactors returns factors s with which the largest of s_c p_ic, of scores p that are not negative (n×c), gives each class its
// share of the n points, up to a common factor of the shares. The labeled points are of their classes, in counts, whatever
// their scores. off is the largest difference that is left of a share; both are nil and 0 if all points are labeled. A class
// without a share has the factor 0. See [Shared] for the projection and its cost.
func ShareFactors(p *mat.Dense, shares []float64, labeled []int32, counts []float64) (factors []float64, off float64) {
	n, _ := p.Dims()
	v := newVolumes(n, normalized(shares), nil)
	v.zero = true
	if !v.leaveOut(labeled, counts) {
		return nil, 0
	}
	off = v.project(p)
	return v.factors(), off
}

// ShareShifts returns shifts b that give each class its share of n points: the class of point i has the largest f_ic + b_c, for
// scores f (n×c) that may be negative. It also returns the shares. The shifts are the logarithms of the factors that
// [ShareFactors] finds for exp(f), with mean 0. The shares are priors; where priors are nil, shares says how the targets t of
// the n points give them.
//
// A point whose scores are all equal does not count, as nothing is known of it. A class without a share gets a shift of
// twice the range of the scores, below all others. It takes some thirty passes over the scores, and holds n·c more values.
func ShareShifts(f *mat.Dense, priors []float64, shares ClassShares, t *models.Targets) ([]float64, *Shared) {
	n, c := f.Dims()
	exp := mat.NewDense(n, c, nil)
	live := make([]bool, n)
	var spread float64
	for i := range n {
		row := f.RawRowView(i)
		most, least := slices.Max(row), slices.Min(row)
		live[i] = most > least
		spread = max(spread, most-least)
		for k, v := range row {
			exp.Set(i, k, math.Exp(v-most))
		}
	}

	v := newVolumes(n, sizesOf(t.Masses(), priors, shares.origin()), live)
	v.zero = true
	if priors == nil && shares == EstimatedShares {
		v.estimate(exp)
	}
	out := &Shared{Shares: slices.Clone(v.shares)}
	shifts := make([]float64, c)
	var hard []int32
	counts := make([]float64, c)
	if !t.Soft {
		for q, i := range t.Labeled {
			hard = append(hard, int32(i))
			counts[t.Class(q)]++
		}
	}
	if !v.leaveOut(hard, counts) {
		return shifts, out // nothing is left to decide
	}
	out.Off = v.project(exp)

	// The mean is that of the classes with a share.
	var mean, with float64
	for _, b := range v.log {
		if !math.IsInf(b, -1) {
			mean += b
			with++
		}
	}
	mean /= with
	for k, b := range v.log {
		if shifts[k] = b - mean; math.IsInf(b, -1) {
			shifts[k] = -2 * (spread + 1)
		}
	}
	return shifts, out
}

// leaveOut takes labeled points, with the given number of each class, out of the points that count, and makes the
// shares what they leave for the others. It reports whether there are any.
func (v *volumes) leaveOut(labeled []int32, counts []float64) bool {
	live := slices.Clone(v.live)
	if live == nil {
		live = slices.Repeat([]bool{true}, len(v.labels))
	}
	total := 0.
	for _, is := range live {
		if is {
			total++
		}
	}
	for _, i := range labeled {
		live[i] = false
	}
	v.live = live

	// A class with more labels than its share gets no further point.
	var sum float64
	for c := range v.shares {
		v.shares[c] = max(0, v.shares[c]*total-counts[c])
		sum += v.shares[c]
	}
	for c := range v.shares {
		v.shares[c] /= sum
	}
	return total > float64(len(labeled)) && sum > 0
}

// Warnings returns a warning where a class has not got its share; nil else.
func (s *Shared) Warnings() []string {
	if s == nil || !(s.Off > offTolerance) {
		return nil
	}
	return []string{fmt.Sprintf("a class's share of the points differs by %.1f percentage points from the one asked "+
		"for with %s: too many points have equal scores", 100*s.Off, param.Name("priors"))}
}

// String says which shares the classes got.
func (s *Shared) String() string {
	return fmt.Sprintf("classes get %.1f to %.1f %% of the points", 100*slices.Min(s.Shares), 100*slices.Max(s.Shares))
}

// Check returns an error unless s, or nil, fits to so many classes.
func (s *Shared) Check(classes int) error {
	bad := func(v float64) bool { return !(v >= 0 && v <= 1) }
	if s != nil && (len(s.Shares) != classes || slices.ContainsFunc(s.Shares, bad) || bad(s.Off)) {
		return fmt.Errorf("propagation: shares %v, off by %v, of %d classes do not fit together", s.Shares, s.Off, classes)
	}
	return nil
}
