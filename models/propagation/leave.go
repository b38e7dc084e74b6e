package propagation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/stage"
)

// Graph methods are linear in the labels, so leaving one label out is a change of rank one: a
// [models.SelfChecker] answers for all labels by one system with a column each. Other
// learners, and fits with many labels, leave out folds.

// LeaveOneOut returns what the method says of each labeled point i without the label of
// i: scores in the order of y.Labeled. Every method is linear in the labels, and leaving
// one out changes its equations by a matrix of rank one, so that the value follows from
// that with all labels and from one number g_i of each labeled point:
//
//	lgc       F_i − g_i y_i                          g_i = (1 − α) [(I − αS)⁻¹]_ii
//	tikhonov  (f_i − g_i y_i) / (1 − g_i)            g_i = [(J/l + γ_A I + γ_I s Lᵖ)⁻¹]_ii / l
//	harmonic  y_i − (Lf)_i / g_i                     g_i = L_ii − L_iu L_uu⁻¹ L_ui
//	poisson   u_i − (y_i − ȳ) (m g_i − r_i)/(m − 1)  g_i = G_ii, r_i = Σ_j G_ij
//
// With weights w of the labels g_i is w_i times as large for lgc and tikhonov; for poisson m is their sum,
// r_i = Σ_j w_j G_ij, and w_i (m g_i − r_i)/(m − w_i) stands in place of the last factor. A soft label
// has its distribution for y.
//
// G is the pseudo-inverse of L on the vectors with Σ d_i u_i = 0, j runs over the m
// labels in the component of i, and u over the points without a label. The other labels
// of tikhonov keep the weight 1/l, which is a fit to them with γ_A and γ_I times
// l/(l − 1). Scores are those before class mass normalization and before classes get their shares.
//
// Where no other label is in the component, known is false and the row is zero. It costs
// a solution with l right-hand sides, in blocks, beside the fit. An error that is
// [models.Usable] comes with the scores that were reached.
//
// With 0 < probes < l the labels are dealt into as many groups as leave probes columns in all, and the
// systems stop at a relative residual of 1e-2. One right-hand side, the sum of the
// unit vectors of a group with random signs, gives the g_i of the whole group, each with an error of the
// size of the responses of the other labels of the group at i. They are small beside g_i: labels of one
// group are of different classes, or as far from each other as the order of the graph tells. seed draws
// the signs.
func (p *Problem) LeaveOneOut(ctx context.Context, y *models.Targets, s *Settings, probes int,
	seed uint64) (scores *mat.Dense, known []bool, err error) {
	if s == nil {
		s = &Settings{}
	}
	if y.Len != p.Len() {
		return nil, nil, fmt.Errorf("propagation: targets of %d points for a graph of %d", y.Len, p.Len())
	}
	filled, err := s.fill(y)
	if err != nil {
		return nil, nil, err
	}

	l := &leave{}
	if filled.sharing() || filled.MassNormalization {
		filled.Start = nil // its scores are scaled
	}
	filled.MassNormalization = false
	filled.Priors = nil
	filled.ClassShares = FreeShares
	l.draw = p.newDraw(y, filled)
	if filled.Start != nil {
		l.start = p.there(filled.Start)
	}
	l.deal(probes, seed)
	short := l.prepare(ctx)
	if !models.Usable(short) {
		return nil, nil, short
	}

	// A label that is alone in its component leaves nothing to judge it by.
	labels, masses := l.labelsOfComponents()
	scores = mat.NewDense(len(l.at), l.f.RawMatrix().Cols, nil)
	known = make([]bool, len(l.at))
	for q, i := range l.at {
		if c := p.components.Of[i]; labels[c] > 1 {
			known[q] = true
			l.row(scores.RawRowView(q), q, masses[c])
		}
	}

	return scores, known, short
}

// leave is a draw for leaving out its labels one by one.
type leave struct {
	*draw
	f      *mat.Dense            // values with all labels, n×c
	g      []float64             // g_i of the labeled points
	groups [][]probe             // of labels, each with a right-hand side
	probed bool                  // groups hold several labels
	extra  *mat.Dense            // Lf of harmonic, n×c; Σ_j G_ij of poisson, n×1
	means  map[int32][]float64   // shares of the classes in each component, for poisson
	tally  map[int32]map[int]int // labels of each most probable class in each component, for poisson with soft labels
}

// probe is a label in a group, with its factor in the right-hand side.
type probe struct {
	label int
	sign  float64
}

// probeTolerance is the relative residual at which the systems of groups of labels stop: the other labels
// of a group add errors of about that size.
const probeTolerance = 1e-2

// deal deals the labels into groups: one label each, or as many groups as leave probes right-hand sides.
func (l *leave) deal(probes int, seed uint64) {
	labels := len(l.at)
	l.probed = 0 < probes && probes < labels
	if !l.probed {
		for q := range labels {
			l.groups = append(l.groups, []probe{{q, 1}})
		}
	} else {
		if l.settings.Method == Poisson {
			probes = max(1, probes-1) // beside the sum of all labels
		}
		l.groups = make([][]probe, probes)
		rng := rand.New(rand.NewPCG(seed, 0x70726f6265)) // "probe"
		for k, q := range l.apart() {
			l.groups[k%probes] = append(l.groups[k%probes], probe{q, float64(2*rng.IntN(2) - 1)})
		}
	}

	// Poisson learning needs the response to all labels together as well.
	if l.settings.Method == Poisson {
		var all []probe
		for q := range labels {
			all = append(all, probe{q, l.weight(q)})
		}
		l.groups = append(l.groups, all)
	}
}

// apart returns the labels by class, and within a class by place: labels next to each other in that order
// are the nearest ones in the graph.
func (l *leave) apart() []int {
	order := make([]int, len(l.at))
	class := make([]int32, len(l.at))
	for q := range order {
		order[q] = q
		if l.classes {
			class[q] = l.class(q)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(class[a], class[b]), cmp.Compare(l.at[a], l.at[b]))
	})
	return order
}

// prepare solves the systems.
func (l *leave) prepare(ctx context.Context) error {
	fit, short := l.solution(ctx)
	if !models.Usable(short) {
		return short
	}
	l.start = nil // of the labels, not of the responses
	l.f = fit.X
	n := l.problem.Len()
	switch l.settings.Method {
	case Harmonic:
		l.extra = mat.NewDense(n, l.f.RawMatrix().Cols, nil)
		l.problem.plain.MulTo(l.extra, l.f)
	case Poisson:
		l.means = l.shares()
		if l.soft {
			l.tally = l.countTops()
		}
	}

	if l.probed {
		l.settings.Tolerance = max(l.settings.Tolerance, probeTolerance)
	}
	err := l.respond(ctx)
	return errors.Join(short, err)
}

// respond finds the g_i, a block of groups at a time.
func (l *leave) respond(ctx context.Context) error {
	solve := l.response()
	size := blockOf(l.problem.Len())
	l.g = make([]float64, len(l.at))
	var short error
	// Blocks of groups bound the memory of the responses.
	for lo := 0; lo < len(l.groups); lo += size {
		hi := min(lo+size, len(l.groups))
		r, err := solve(ctx, lo, hi)
		if !models.Usable(err) {
			return err
		}
		short = errors.Join(short, err)
		for j, group := range l.groups[lo:hi] {
			if l.settings.Method == Poisson && lo+j == len(l.groups)-1 {
				l.extra = mat.DenseCopyOf(r.X.Slice(0, l.problem.Len(), j, j+1))
				break
			}
			for _, p := range group {
				l.g[p.label] = l.responseOf(r.X, p, j)
			}
		}
	}

	return short
}

// blockOf is the number of right-hand sides at a time in a graph of n points.
func blockOf(n int) int { return min(max(1<<22/n, 16), 256) }

// response returns the solver of the method for a block of groups, with a column for each.
func (l *leave) response() func(ctx context.Context, lo, hi int) (*cg.Result, error) {
	units := func(lo, hi int, v float64) *mat.Dense {
		b := mat.NewDense(l.problem.Len(), hi-lo, nil)
		for j, group := range l.groups[lo:hi] {
			for _, p := range group {
				b.Set(int(l.at[p.label]), j, v*p.sign)
			}
		}
		return b
	}
	// The operator and its preconditioner are made once for all blocks.
	switch l.settings.Method {
	case Harmonic:
		a, m, fixed, err := l.pinned()
		return func(ctx context.Context, lo, hi int) (*cg.Result, error) {
			if err != nil {
				return nil, err
			}
			var at []int32
			for _, group := range l.groups[lo:hi] {
				for _, p := range group {
					at = append(at, l.at[p.label])
				}
			}
			one := mat.NewDense(len(at), hi-lo, nil)
			row := 0
			for j, group := range l.groups[lo:hi] {
				for _, p := range group {
					one.Set(row, j, p.sign)
					row++
				}
			}
			return l.solve(ctx, a, l.inflow(at, one, fixed), m, nil)
		}
	case Tikhonov:
		a, m, err := l.weighted()
		return func(ctx context.Context, lo, hi int) (*cg.Result, error) {
			if err != nil {
				return nil, err
			}
			return l.solve(ctx, a, units(lo, hi, 1/l.labels), m, nil)
		}
	case Poisson:
		return func(ctx context.Context, lo, hi int) (*cg.Result, error) {
			return l.flows(ctx, units(lo, hi, 1))
		}
	}

	// Plain steps multiply full blocks with themselves; a polynomial in single precision does without.
	method := l.method()
	if method == cg.Jacobi {
		method = cg.Chebyshev
	}
	return func(ctx context.Context, lo, hi int) (*cg.Result, error) {
		return l.spread(ctx, units(lo, hi, (1-l.settings.Alpha)/l.settings.Alpha), method)
	}
}

// responseOf returns g of a label from the solution of its group, in column j of x.
func (l *leave) responseOf(x *mat.Dense, p probe, j int) float64 {
	i := int(l.at[p.label])
	if l.settings.Method != Harmonic {
		return p.sign * x.At(i, j)
	}
	// For harmonic functions g_i is the Schur complement d_i − w_iᵤ x, the flow that keeps vertex
	// i at one.
	g := l.problem.plain.Degrees()[i]
	col, val := l.problem.plain.Graph().Row(i)
	for e, u := range col {
		v := 1.0
		if val != nil {
			v = val[e]
		}
		if int(u) == i {
			g -= v // a loop, which is in the degree and not in L
			continue
		}
		g -= v * p.sign * x.At(int(u), j) // zero at labeled points
	}

	return g
}

// row sets dst to the scores of labeled point q without its label, where labels of the total weight
// m are in its component.
func (l *leave) row(dst []float64, q int, m float64) {
	i := int(l.at[q])
	y := l.y.RawRowView(q)
	w := l.weight(q)
	g := l.g[q]
	if l.settings.Method == LGC || l.settings.Method == Tikhonov {
		g *= w
	}
	copy(dst, l.f.RawRowView(i))
	// A rank-one change of the system: the label's own share is taken out of f and divided by what
	// is left.
	switch l.settings.Method {
	case LGC:
		for c := range dst {
			dst[c] = max(dst[c]-g*y[c], 0) // below by rounding only
		}
	case Tikhonov:
		for c, v := range y {
			if l.classes {
				v = 2*v - 1
			}
			dst[c] = (dst[c] - g*v) / (1 - g)
		}
	case Harmonic:
		for c, v := range l.extra.RawRowView(i) {
			if dst[c] = y[c] - v/g; l.classes {
				dst[c] = max(dst[c], 0)
			}
		}
	case Poisson:
		// Without the label the shares of the other labels change as well, and with them all
		// sources.
		mean := l.means[l.problem.components.Of[i]]
		if l.soft && l.othersAgree(q) {
			for c, v := range y {
				dst[c] = (m*mean[c] - w*v) / (m - w)
			}
			return
		}
		for c, v := range y {
			dst[c] -= w * (v - mean[c]) * (m*g - l.extra.At(i, 0)) / (m - w)
			if rest := (m*mean[c] - w*v) / (m - w); math.Abs(rest-1) < 1e-9 { // all others are of this class: nothing flows
				dst[c] = 1
			}
		}
	}
}

// othersAgree tells whether the other labels in the component of soft label q have the same most probable class.
func (l *leave) othersAgree(q int) bool {
	classes := 0
	for class, count := range l.tally[l.problem.components.Of[l.at[q]]] {
		if class == l.top(q) {
			count--
		}
		if count > 0 {
			classes++
		}
	}
	return classes == 1
}

// countTops counts the labels of each most probable class in each component.
func (l *leave) countTops() map[int32]map[int]int {
	out := map[int32]map[int]int{}
	for q, i := range l.at {
		c := l.problem.components.Of[i]
		if out[c] == nil {
			out[c] = map[int]int{}
		}
		out[c][l.top(q)]++
	}
	return out
}

// labelsOfComponents returns the number of labeled points in each component, and the sum of the weights
// of their labels.
func (l *leave) labelsOfComponents() (count []int, masses []float64) {
	count = make([]int, l.problem.components.Count())
	masses = make([]float64, len(count))
	for q, i := range l.at {
		count[l.problem.components.Of[i]]++
		masses[l.problem.components.Of[i]] += l.weight(q)
	}
	return count, masses
}

// LeaveOneOut is [Problem.LeaveOneOut] on the graph and the targets of in.
func (l Learner) LeaveOneOut(ctx context.Context, in *models.Input, probes int) (*mat.Dense, []bool, error) {
	s, err := l.Settings(in.Values)
	if err != nil {
		return nil, nil, err
	}
	if err := in.Check(); err != nil {
		return nil, nil, err
	}
	if in.Graph == nil || in.Graph.W == nil {
		return nil, nil, errNoGraph
	}

	p, err := NewProblem(in.Graph.W, in.Graph.Components)
	if err != nil {
		return nil, nil, err
	}
	s.OnIteration = func(state cg.State) error {
		in.Report(float64(state.Converged), float64(state.Columns), state.String())
		return nil
	}
	s.Start = in.Start
	return p.LeaveOneOut(ctx, in.Targets, &s, probes, in.Seed)
}

// prepareOperations is how many operations take as long as the preparation of a graph for systems, for each of its edges:
// the order of the vertices, the matrix in it and the look at its condition find their data all over the memory.
// 22 million entries take 7 s where 10¹² operations take 20.
const prepareOperations = 16000

// LeaveOneOutCost returns the cost of a fit and of systems with a column for each probe, or for each
// labeled point.
func (l Learner) LeaveOneOutCost(in *models.Input, probes int) (stage.Cost, error) {
	own := *in
	own.Start = nil // the systems of the responses have none
	c, err := l.Cost(&own)
	if err != nil {
		return c, err
	}
	s, err := l.Settings(own.Values)
	if err != nil {
		return c, err
	}
	s.Solver = l.Solver
	problem, _, err := bytes(&own, &s)
	if err != nil {
		return c, err
	}
	labels := len(in.Targets.Labeled)
	if probes > 0 {
		labels = min(labels, probes)
	}
	n := int64(in.Len())
	columns := columns(in.Targets)
	block := min(labels, blockOf(in.Len()))
	solution, err := cg.Bytes(in.Len(), columns, &cg.Settings{})
	if err != nil {
		return c, err
	}
	responses, err := cg.Bytes(in.Len(), block, &cg.Settings{})
	if err != nil {
		return c, err
	}

	// First the solution with all labels: its right-hand side, its start and the scores of the model that is judged. Then
	// the responses: their right-hand sides, and in place of the first of these that solution. The solver of the fit is
	// gone by then.
	held := 3 * 8 * n * int64(columns)
	responses += 8 * n * int64(block)
	if s.Method == Harmonic {
		responses += 8 * n * int64(columns) // Lf
	}
	c.Bytes = max(c.Bytes, problem+stage.HeapBytes(held+max(solution, responses))+stage.RuntimeBytes)
	c.Operations *= float64(labels+columns) / float64(columns)
	c.Operations += 2 * prepareOperations * float64(in.EdgeCount()) // for the fit and for the responses
	c.Remedy = fmt.Sprintf("take fewer labels, or leave out whole folds of them with %s", param.Name("folds"))
	return c, nil
}
