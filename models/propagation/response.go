package propagation

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// Held-out answers of label spreading and of least squares with the normalized Laplacian
// follow from moments of the graph between the labels: Chebyshev polynomials as in spectral
// densities, for all settings and folds at once. [models.Derived] keeps the moments for the
// other members of a pool on that graph.

// Cross-validation asks for answers at labeled points only. Those of label spreading and of
// least squares with the normalized Laplacian L follow from the l×l block of (L + rI)⁻¹
// between the l labeled points of all folds, with r = (1 − α)/α or γ_A/(γ_I s):
//
//	lgc       F_h = r G_ht Y_t
//	tikhonov  f_h = G_ht (G_tt + γ_I s l_t I)⁻¹ y_t
//
// (with weights w of the labels r G_ht W Y_t, and γ_I s l_t W⁻¹ with l_t = Σ w in place of γ_I s l_t I)
//
// of the points h held out and t trained on. The eigenvalues of L lie in [0, 2], and with
// a = 1 + r and q = a − √(a² − 1)
//
//	1/(λ + r) = (1 + 2 Σ_k (−q)ᵏ T_k(λ − 1)) / √(a² − 1)
//
// so that the moments, the blocks of T_k(L − I), give G for every r: one product with the
// graph a term and label, for all settings, folds and classes.

// moments are the blocks of T_k(L − I) between labeled points, k from 0 on.
type moments struct {
	labels int
	blocks [][]float32 // labels×labels each
}

// momentColumns is the number of labels that are multiplied at a time.
const momentColumns = 32

// moments returns the first terms of the moments between the points at the given places.
func (p *Problem) moments(ctx context.Context, at []int32, terms int) (*moments, error) {
	l := p.laplacian(sparse.Normalized)
	m := &moments{labels: len(at)}
	// Float32 is enough: the moments serve tolerances of 1e-3 and more.
	for range terms {
		m.blocks = append(m.blocks, make([]float32, len(at)*len(at)))
	}
	// Unit vectors at the labeled points run through the Chebyshev recurrence T_k+1 = 2(L − I)T_k
	// − T_k−1.
	for lo := 0; lo < len(at); lo += momentColumns {
		width := min(momentColumns, len(at)-lo)
		before := mat.NewDense(p.Len(), width, nil)
		now := mat.NewDense(p.Len(), width, nil)
		for j := range width {
			before.Set(int(at[lo+j]), j, 1)
		}
		l.RecurTo(now, 1, before, -1, 0, before)
		for k := range m.blocks {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for i, v := range at {
				for j, e := range before.RawRowView(int(v)) {
					m.blocks[k][i*len(at)+lo+j] = float32(e)
				}
			}
			l.RecurTo(before, 2, now, -2, -1, before)
			before, now = now, before
		}
	}

	return m, nil
}

// decay returns √(a² − 1) and q.
func decay(r float64) (root, q float64) {
	a := 1 + r
	root = math.Sqrt(a*a - 1)
	return root, a - root
}

// matrix returns (L + rI)⁻¹ between the labeled points.
func (m *moments) matrix(r float64) *mat.SymDense {
	root, q := decay(r)
	g := make([]float64, m.labels*m.labels)
	// The series of 1/(λ + r) in Chebyshev polynomials has the coefficients 2(−q)^k/√(a² − 1).
	for k, block := range m.blocks {
		factor := 2 * math.Pow(-q, float64(k)) / root
		if k == 0 {
			factor /= 2
		}
		for i, v := range block {
			g[i] += factor * float64(v)
		}
	}

	// Rounding leaves the sum nearly symmetric.
	out := mat.NewSymDense(m.labels, nil)
	for i := range m.labels {
		for j := range i + 1 {
			out.SetSym(i, j, (g[i*m.labels+j]+g[j*m.labels+i])/2)
		}
	}
	return out
}

// terms returns the number of moments for the settings on n points, and r; 0 where the
// moments do not serve.
func (s *Settings) terms(n int) (terms int, r float64) {
	switch reg := s.Regularizer; {
	case s.sharing():
		return 0, 0 // shares need the scores of all points
	case s.Method == LGC:
		r = (1 - s.Alpha) / s.Alpha
	case s.Method == Tikhonov && reg.Laplacian == sparse.Normalized && reg.Power == 1 && reg.Coefficients == nil &&
		reg.Scaling != regularizer.PerEdge:
		r = reg.GammaA / reg.Intrinsic(n, nil)
	}

	const most = 100
	if !(r > 0) || !(s.Tolerance >= 1e-3) {
		return 0, 0
	}
	// The remainder after k terms falls like q^k.
	_, q := decay(r)
	if k := 1 + math.Ceil(math.Log(s.Tolerance/2)/math.Log(q)); k <= most {
		return int(k), r
	}
	return 0, 0
}

// Bounds of what moments are used for. On larger graphs a pool leaves most members out, and
// few settings would share the products; with more labels the fits of the folds have fewer
// columns, and the blocks take much memory.
const (
	momentOperations = 3e10
	momentLabels     = 512
)

// byMoments returns the settings of one graph of a grid that moments serve, and the number of
// terms; none where the fits of the folds cost less.
func (l Learner) byMoments(g *models.Grid, settings []int) (served map[int]*Settings, terms int) {
	n := g.Len()
	labels := len(g.Targets.Labeled)
	served = map[int]*Settings{}
	for _, i := range settings {
		s, err := l.Settings(g.Settings[i])
		if err == nil {
			s, err = s.fill(g.Targets)
		}
		if err != nil {
			continue // the fit says why
		}
		if k, _ := s.terms(n); k > 0 {
			served[i] = &s
			terms = max(terms, k)
		}
	}

	// More labels than four columns a fold make the fits of the folds the cheaper way.
	if labels > min(momentLabels, 4*len(g.Splits)*columns(g.Targets)) ||
		momentCost(g, terms) > momentOperations {
		return nil, 0
	}
	return served, terms
}

// momentCost returns the number of operations for the given number of terms.
func momentCost(g *models.Grid, terms int) float64 {
	return float64(terms) * float64(len(g.Targets.Labeled)) * (4*float64(g.EdgeCount()) + 4*float64(g.Len()))
}

// momentKey is the key of the moments of a graph in [models.Derived].
type momentKey struct {
	w *sparse.CSR
	t *models.Targets
}

// fitByMoments answers for the settings that moments serve.
func (l Learner) fitByMoments(ctx context.Context, g *models.Grid, p *Problem, w *sparse.CSR,
	served map[int]*Settings, terms int) error {
	var at []int32
	for _, i := range g.Targets.Labeled {
		at = append(at, p.place[i])
	}
	// Moments of a graph are kept for the other learners and settings of the grid.
	box := g.Derived.Of(momentKey{w, g.Targets}, func() any { return &moments{} }).(*moments)
	if len(box.blocks) < terms {
		m, err := p.moments(ctx, at, terms)
		if err != nil {
			return err
		}
		*box = *m
	}

	for _, i := range g.All() {
		s := served[i]
		if s == nil {
			continue
		}
		// One block of the inverse answers for all splits of the setting.
		_, r := s.terms(p.Len())
		block := box.matrix(r)
		err := g.Run(ctx, []int{i}, func(split *models.Split) []models.Answer {
			scores, err := s.fromBlock(block, split, p.Len(), r)
			if err != nil {
				return []models.Answer{{Err: err}}
			}
			return []models.Answer{p.newDraw(split.Train, *s).answer(scores, split)}
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// fromBlock returns the scores of the points held out.
func (s *Settings) fromBlock(g *mat.SymDense, split *models.Split, n int, r float64) (*mat.Dense, error) {
	d := mat.DenseCopyOf(coded(split.Train))
	train := len(split.Kept)
	held := len(split.Held)
	if s.Method == Tikhonov && split.Train.Classes != nil {
		d.Apply(func(_, _ int, v float64) float64 { return 2*v - 1 }, d)
	}
	across := mat.NewDense(held, train, nil)
	for a, h := range split.Held {
		for b, t := range split.Kept {
			across.Set(a, b, g.At(h, t))
		}
	}

	var out mat.Dense
	// F = r(L + rI)⁻¹Y needs no further system.
	if s.Method == LGC {
		if w := split.Train.Weights; w != nil {
			dense.ScaleRows(d, w)
		}
		out.Mul(across, d)
		out.Scale(r, &out)
		return &out, nil
	}

	// Tikhonov: a system of the order of the kept labels.
	a := mat.NewSymDense(train, nil)
	for p, i := range split.Kept {
		for q, j := range split.Kept[:p+1] {
			a.SetSym(p, q, g.At(i, j))
		}
		a.SetSym(p, p, a.At(p, p)+s.Regularizer.Intrinsic(n, nil)*split.Train.TotalWeight()/split.Train.Weight(p))
	}

	var c mat.Cholesky
	if !c.Factorize(a) {
		return nil, fmt.Errorf("propagation: the %d×%d system of the labeled points is not positive definite",
			train, train)
	}
	var x mat.Dense
	if err := c.SolveTo(&x, d); err != nil {
		return nil, fmt.Errorf("propagation: %w", err)
	}
	out.Mul(across, &x)
	return &out, nil
}

// answer completes scores for the points held out as [Solution] has them: what no label
// reaches gets the mean, or the most frequent class.
func (d *draw) answer(scores *mat.Dense, split *models.Split) models.Answer {
	a := models.Answer{Scores: scores}
	if d.classes {
		a.Classes = models.Decide(scores)
	}
	for row, i := range split.Points {
		if d.reached[d.problem.components.Of[d.problem.place[i]]] {
			continue
		}
		if d.classes {
			a.Classes[row] = d.mostFrequent()
		} else {
			copy(scores.RawRowView(row), dense.ColumnMeans(d.y))
		}
	}

	return a
}
