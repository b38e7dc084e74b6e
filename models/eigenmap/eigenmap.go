// Package eigenmap holds the models made of eigenvectors of a graph's Laplacian: a
// classifier that fits labels by least squares on the eigenvectors, and an embedding that
// takes the eigenvectors as coordinates. Both extend eigenvectors to new points by the
// Nyström formula of [Model.Predict].
//
// Belkin & Niyogi, Machine Learning 56 (2004), 209–239; Belkin & Niyogi, Neural
// Computation 15 (2003), 1373–1396.
//
// # Components
//
// Eigenpairs are computed component by component ([lanczos.Parts]) in the order in which the
// eigenmap spends them (models.PartPaired), so that neither null vectors nor small eigenvalues
// of components without a label take the place of others. The first p pairs are the same for
// every larger number of pairs, which lets a grid share them. Pairs of a whole graph, such as
// those read from a file, lose the columns that vanish on all components with a label. The
// checkpoint keeps the pairs of the largest component. Normal equations are solved by Cholesky
// where they are well conditioned (the eigenvectors are orthonormal, and their labeled rows
// usually nearly so), and by a truncated eigendecomposition where not, which gives the answer
// of smallest norm. Draws that are fitted at once share the sums over rows that count in
// several of them, five at a time (shared.go).
package eigenmap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// PaperShare is the number of eigenvectors per label: Belkin & Niyogi (2004), section
// 6.1, recommend a fifth.
const PaperShare = 0.2

// Settings of [Fit]. The zero value is the classifier of the
// paper with its rule for the number of eigenvectors.
type Settings struct {
	// Eigenvectors is the number p of eigenvectors used. Zero means, with a penalty,
	// all eigenvectors given, and without one [PaperShare] of the number of labeled
	// points. A component with a label gets at least one eigenvector, and two if its
	// labels are of several classes, because its null vector is constant. Eigenvectors
	// that vanish on all components with a label do not count; where a graph has such
	// components, p is cut to the number of the remaining eigenvectors.
	Eigenvectors int
	// Penalty defaults to NoPenalty.
	Penalty Penalty
	// Gamma is the strength γ of the penalty. Zero has it chosen by
	// cross-validation on the labels.
	Gamma float64
	// Power is the s of Iterated. Default 2.
	Power float64
	// T is the t of HeatKernel. Default 1.
	T float64
	// Order is the k of Sum. Default 2.
	Order int
	// Coefficients are c₀, c₁, … of Polynomial. Default 0, 1: ∫⟨∇f, ∇f⟩.
	Coefficients []float64
	// Mu are μ₁, μ₂, … of Kernel, the first for the smallest eigenvalue; those that are missing are 0.
	Mu []float64
	// Unit of the eigenvalues in a penalty. Default Twentieth.
	Unit Unit
	// Folds of the cross-validation. Default 5, at most the number of labels.
	Folds int
	// Seed of the assignment to folds.
	Seed uint64
}

// defaultFolds of the cross-validation of γ.
const defaultFolds = 5

// fill returns s with all defaults filled in. There are l labeled points, which need at
// least the given number of eigenvectors, and have eigenvectors are there.
func (s Settings) fill(l, least, have int) (Settings, error) {
	var faults []error
	if err := errors.Join(params.Check(&options{Settings: s}), s.checkMu()); err != nil {
		faults = append(faults, err)
	}
	if s.Eigenvectors > have {
		faults = append(faults, models.Faultf("%s is %d and %d eigenvectors are there; compute more "+
			"or ask for fewer", param.Name("eigenvectors"), s.Eigenvectors, have))
	}
	if s.Penalty == NoPenalty && s.Gamma != 0 {
		faults = append(faults, fmt.Errorf("eigenmap: γ is %v but there is no penalty", s.Gamma))
	}
	if err := errors.Join(faults...); err != nil {
		return s, err
	}

	if s.Eigenvectors == 0 {
		s.Eigenvectors = have
		if s.Penalty == NoPenalty {
			s.Eigenvectors = defaultCount(l, least, have)
		}
	}

	s.fillPenalty()
	if s.Folds == 0 {
		s.Folds = defaultFolds
	}
	s.Folds = min(s.Folds, l)
	return s, nil
}

// defaultCount returns [PaperShare] times the l labels, but at least least and at most
// have.
func defaultCount(l, least, have int) int {
	return min(max(least, int(math.Round(PaperShare*float64(l)))), have)
}

// Classifier is a fitted eigenmap classifier
//
//	f_c(i) = √n Σ_{j≤p} a_jc e_j(i)
//
// with one column of coefficients a class, or for two classes a single one that
// is positive for the larger. It is immutable.
type Classifier struct {
	Settings     Settings
	Classes      []int64
	Values       []float64  // the p eigenvalues
	Coefficients *mat.Dense // p×c, or p×1 for two classes
	Rank         int        // rank of the labeled rows of the p eigenvectors
	Labeled      int        // number of labeled points
	// Unreached is the number of points in components without a label. They
	// get Fallback, the position in Classes of the most frequent label.
	Unreached int
	Fallback  int32
	// Candidates of the cross-validation and their errors, if it was run.
	Candidates []Candidate

	columns []int // positions of its eigenvectors among all eigenpairs; nil for the first p
}

// Candidate is a strength of the penalty that cross-validation tried.
type Candidate struct {
	Gamma float64 `json:"gamma"`
	Error float64 `json:"error"`
}

// Fit learns the classes of all n points from the labeled ones. The
// coefficients minimize
//
//	1/l Σ_{i labeled} (c_i − f(i))² + γ Σ_j r(λ_j/u) a_j²
//
// for each class against the others, where c_i = ±1 and u is the unit of [Unit] (Belkin &
// Niyogi 2004, step 3 and equation 1). If p exceeds the number of labels, the minimizer is
// not unique, and Fit takes the coefficients of smallest norm.
//
// e holds the eigenvectors and eigenvalues of the graph's Laplacian and c its
// components. Eigenvectors that vanish on all components with a label are left out,
// and where p is less than the number of those components, it is spent on those with
// most labels. It costs l·p² operations. A nil s means the defaults.
func Fit(ctx context.Context, e *lanczos.Result, c *sparse.Components, y *data.Labels,
	s *Settings) (*Classifier, error) {
	return train(ctx, e, c, y, s, func(done, total float64, note string) {})
}

// train is [Fit] with progress. The normal equations, each fold and the solution count as
// one step each.
func train(ctx context.Context, e *lanczos.Result, c *sparse.Components, y *data.Labels, s *Settings,
	progress func(done, total float64, note string)) (*Classifier, error) {
	n, _ := e.Vectors.Dims()
	if err := models.CheckLabels(y, n); err != nil {
		return nil, err
	}
	if s == nil {
		s = &Settings{}
	}
	rows := y.Labeled()
	b := basisOf(e, c, y)
	m, err := b.begin(s, y)
	if err != nil {
		return nil, err
	}

	// Without γ the folds solve again and again from the same normal equations.
	e = b.Result
	filled := m.Settings
	choose := filled.Penalty != NoPenalty && filled.Gamma == 0
	steps := 2.0
	if choose {
		steps += float64(filled.Folds)
	}
	eq, err := newNormalEquations(ctx, e.Vectors, filled.Eigenvectors, y, rows)
	if err != nil {
		return nil, err
	}

	eq.reached = b.counts.reached
	progress(1, steps, "")
	if choose {
		err := m.crossValidate(ctx, e, y, eq,
			func(folds int) { progress(float64(1+folds), steps, "cross-validation of γ") })
		if err != nil {
			return nil, err
		}
	}

	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.finish(e, c, y, eq)
	progress(steps, steps, "")

	// A cancelled factorization leaves coefficients that are not to be used.
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

// FitAll is [Fit] for several draws of the labels and several
// settings: result [i][j] belongs to ys[i] and settings[j]. A draw
// costs one pass over its labeled rows, or over the others if those are fewer,
// and one factorization for all settings without penalty; draws share the sums over rows
// that they have in common, five at a time. No cross-validation: a penalty needs its γ.
func FitAll(ctx context.Context, e *lanczos.Result, c *sparse.Components, ys []*data.Labels,
	settings []Settings) ([][]*Classifier, error) {
	n, _ := e.Vectors.Dims()
	out := make([][]*Classifier, len(ys))
	shared := &draws{result: e, components: c, several: len(ys) > 1}
	for i, y := range ys {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := models.CheckLabels(y, n); err != nil {
			return nil, err
		}

		// One Gram matrix of the largest p serves all settings of a draw: a smaller p
		// takes its leading block.
		b := basisOf(e, c, y)
		most := 0
		for _, s := range settings {
			m, err := b.begin(&s, y)
			if err != nil {
				return nil, err
			}
			if m.Settings.Penalty != NoPenalty && m.Settings.Gamma == 0 {
				return nil, errors.New("eigenmap: several fits at once need γ given")
			}
			out[i] = append(out[i], m)
			most = max(most, m.Settings.Eigenvectors)
		}

		// Only draws on all eigenvectors, in their order, have sums in common.
		if b.columns == nil {
			shared.add(y, b.counts, out[i], most)
		} else {
			eq, err := newNormalEquations(ctx, b.Vectors, most, y, y.Labeled())
			if err != nil {
				return nil, err
			}
			eq.reached = b.counts.reached
			for _, m := range out[i] {
				m.finish(b.Result, c, y, eq)
			}
		}

		if len(shared.ys) == together || i == len(ys)-1 {
			if err := shared.fit(ctx); err != nil {
				return nil, err
			}
		}
	}

	return out, nil
}

// begin returns a classifier without coefficients: its settings have their defaults.
func (b *basis) begin(s *Settings, y *data.Labels) (*Classifier, error) {
	want := *s
	_, have := b.Vectors.Dims()
	if b.columns != nil && len(b.columns) == 0 {
		return nil, errors.New("eigenmap: all eigenvectors are of components without a label; " +
			"compute more of them than the graph has components")
	}

	// A number that the caller could ask for is cut without a word to the eigenvectors
	// that say something about the labels.
	if want.Eigenvectors <= b.given {
		want.Eigenvectors = min(want.Eigenvectors, have)
	} else {
		have = b.given // the error names what the caller knows
	}

	filled, err := want.fill(len(y.Labeled()), b.counts.least, have)
	if err != nil {
		return nil, err
	}
	return &Classifier{Settings: filled, Classes: y.Classes, columns: b.columns}, nil
}

// finish solves for the coefficients and settles the points out of reach.
func (m *Classifier) finish(e *lanczos.Result, c *sparse.Components, y *data.Labels, eq *normalEquations) {
	n, _ := e.Vectors.Dims()
	p := m.Settings.Eigenvectors
	m.Values = e.Values[:p:p]
	m.Labeled = eq.rows
	m.Coefficients, m.Rank = m.coefficients(eq, n, m.Settings.Gamma)
	m.Fallback = models.Majority(y)
	for _, reached := range c.Reached(y.Labeled()) {
		if !reached {
			m.Unreached++
		}
	}
}

// coefficients solves eq and returns the coefficients of eigenvectors scaled by √n. The
// basis of eq has columns of norm one.
func (m *Classifier) coefficients(eq *normalEquations, n int, gamma float64) (*mat.Dense, int) {
	// eq is solved for α = √n·a, in which the penalty γ·r·a² is γ·r·α²/n.
	penalty := m.Settings.penalties(m.Values, eq.rows, eq.reached, gamma)
	for j := range penalty {
		penalty[j] /= float64(n)
	}
	a, rank := eq.solve(m.Settings.Eigenvectors, penalty)

	// The targets of two classes differ by their sign only: one column says all.
	if p, c := a.Dims(); c == 2 {
		a = mat.DenseCopyOf(a.Slice(0, p, 1, 2))
	}
	a.Scale(1/math.Sqrt(float64(n)), a)
	return a, rank
}

// Scores returns f at n' points: n'×c, also for two classes. The leading p columns of
// vectors hold the model's eigenvectors at these points, as [Classifier.Select] returns
// them. n is the number of points of the graph.
func (m *Classifier) Scores(vectors *mat.Dense, n int) *mat.Dense {
	rows, _ := vectors.Dims()
	p, c := m.Coefficients.Dims()
	f := mat.NewDense(rows, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, math.Sqrt(float64(n)), vectors.Slice(0, rows, 0, p).(*mat.Dense),
		m.Coefficients, 0, f)
	return models.BothClasses(f)
}

// Transduce returns the class of every point of the graph as a position in
// Classes: the given label where there is one, Fallback in components without
// a label, and else the class of the largest score.
func (m *Classifier) Transduce(e *lanczos.Result, c *sparse.Components, y *data.Labels) []int32 {
	n, _ := e.Vectors.Dims()
	return m.settle(models.Decide(m.Scores(m.Select(e.Vectors), n)), c, y)
}

// settle puts the given labels and the fallback into classes found by scores.
func (m *Classifier) settle(classes []int32, c *sparse.Components, y *data.Labels) []int32 {
	reached := c.Reached(y.Labeled())
	for i := range classes {
		switch {
		case y.Index[i] != data.Unlabeled:
			classes[i] = y.Index[i]
		case !reached[i]:
			classes[i] = m.Fallback
		}
	}
	return classes
}

// TransduceAll holds a block of this many rows and columns of scores: 8 MiB, so that the
// scores of many models are never in memory at once.
const (
	transduceRows    = 4096
	transduceColumns = 256
)

// TransduceAll is [Classifier.Transduce] for many models of one graph, each with its own
// labels. Models with the same number of eigenvectors share products, unless they left out
// some eigenvectors. TransduceAll holds 4096×256 scores.
func TransduceAll(e *lanczos.Result, c *sparse.Components, ms []*Classifier, ys []*data.Labels) [][]int32 {
	alike := map[[2]int][]int{} // by the numbers of eigenvectors and of columns of scores
	out := make([][]int32, len(ms))
	for i, m := range ms {
		if m.columns != nil {
			out[i] = m.Transduce(e, c, ys[i])
			continue
		}
		p, columns := m.Coefficients.Dims()
		alike[[2]int{p, columns}] = append(alike[[2]int{p, columns}], i)
	}

	for size, group := range alike {
		for part := range slices.Chunk(group, max(1, transduceColumns/size[1])) {
			transduce(e, ms, part, out)
			par.For(len(part), 1, func(i, _ int) {
				at := part[i]
				ms[at].settle(out[at], c, ys[at])
			})
		}
	}

	return out
}

// transduce computes the classes of the largest scores for the models of one part, which
// have the same numbers of eigenvectors and of columns, and puts them into out.
func transduce(e *lanczos.Result, ms []*Classifier, part []int, out [][]int32) {
	n, _ := e.Vectors.Dims()
	p, w := ms[part[0]].Coefficients.Dims()
	width := w * len(part)

	// The coefficients of the models stand side by side, so that one product with the
	// eigenvectors serves them all.
	a := mat.NewDense(p, width, nil)
	for i, m := range part {
		out[m] = make([]int32, n)
		a.Slice(0, p, i*w, (i+1)*w).(*mat.Dense).Copy(ms[m].Coefficients)
	}

	// A point has its scores by all models in one row, which is read as a row for each.
	scores := make([]float64, min(n, transduceRows)*width)
	for lo := 0; lo < n; lo += transduceRows {
		hi := min(lo+transduceRows, n)
		f := mat.NewDense(hi-lo, width, scores[:(hi-lo)*width])
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, e.Vectors.Slice(lo, hi, 0, p).(*mat.Dense), a, 0, f)
		each := mat.NewDense((hi-lo)*len(part), w, scores[:(hi-lo)*width])
		classes := models.Decide(models.BothClasses(each))
		for i, m := range part {
			for r := range out[m][lo:hi] {
				out[m][lo+r] = classes[r*len(part)+i]
			}
		}
	}
}

// gammaGrid lists the strengths γ that cross-validation tries: 10⁻⁵ to 10², two a decade.
var gammaGrid = func() []float64 {
	var g []float64
	for e := -10; e <= 4; e++ {
		g = append(g, math.Pow(10, float64(e)/2))
	}
	return g
}()

// crossValidate sets Gamma to the strength of least error over the folds, the largest of
// equals. all holds the normal equations of all labeled points; progress receives the
// number of folds done.
func (m *Classifier) crossValidate(ctx context.Context, e *lanczos.Result, y *data.Labels,
	all *normalEquations, progress func(folds int)) error {
	n, _ := e.Vectors.Dims()
	p := m.Settings.Eigenvectors
	m.Values = e.Values[:p:p]
	t, err := models.ClassTargets(y)
	if err != nil {
		return err
	}
	folds, err := t.Deal(m.Settings.Folds, m.Settings.Seed)
	if err != nil {
		return err
	}

	wrong := make([]int, len(gammaGrid))
	for f, fold := range folds {
		held := make([]int, len(fold))
		for i, q := range fold {
			held[i] = t.Labeled[q]
		}

		// The equations of a training set are the full ones minus the held-out rows,
		// which are fewer.
		part, err := newNormalEquations(ctx, e.Vectors, p, y, held)
		if err != nil {
			return err
		}
		training := all.minus(part)
		x := mat.NewDense(len(held), p, nil)
		for i, r := range held {
			copy(x.RawRowView(i), e.Vectors.RawRowView(r)[:p])
		}

		for g, gamma := range gammaGrid {
			if err := ctx.Err(); err != nil {
				return err
			}
			m.Coefficients, _ = m.coefficients(training, n, gamma)
			for i, class := range models.Decide(m.Scores(x, n)) {
				if class != y.Index[held[i]] {
					wrong[g]++
				}
			}
		}

		progress(f + 1)
	}

	// Among equals the larger γ wins: the smoother function.
	best := 0
	for g, w := range wrong {
		m.Candidates = append(m.Candidates, Candidate{gammaGrid[g], float64(w) / float64(all.rows)})
		if w <= wrong[best] {
			best = g
		}
	}

	m.Settings.Gamma = gammaGrid[best]
	return nil
}
