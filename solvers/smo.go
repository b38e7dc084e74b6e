package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/internal/num/simd"
)

// QP is the quadratic program
//
//	minimize ½ vᵀKv + qᵀv + ε Σ|v_t|   over lower ≤ v ≤ upper with Σ v_t = Σ start_t
//
// in n variables. The duals of support vector machines are of this form. LIBSVM's form is ½ aᵀQa +
// pᵀa over 0 ≤ a ≤ C with yᵀa = δ and Q_tu = y_t y_u K_tu; then v_t = y_t a_t and q_t = y_t p_t:
//
//	classification   q = −y, ε = 0, v between 0 and y_t C_t
//	regression       q = −z, −C ≤ v ≤ C; LIBSVM's 2n variables are the parts of v above and below 0
//	one-class        q = 0, ε = 0, 0 ≤ v ≤ 1 with Σ v = νn
//
// K must be positive semidefinite but for rounding.
type QP struct {
	Rows         Rows
	Linear       []float64 // q, of length n
	Epsilon      float64   // ε, not negative
	Lower, Upper []float64 // finite
	// Start is a feasible point. Default zero.
	Start []float64
}

// SMOSettings of [SMO].
type SMOSettings struct {
	// Tolerance is the Violation at which the iteration ends. Default 1e-3,
	// LIBSVM's.
	Tolerance float64
	// MaxIterations bounds the steps. Default 10⁷, and at least 100·n.
	MaxIterations int
	// KeepAll switches shrinking off.
	KeepAll bool
	// OnIteration, if not nil, is called every 100 steps. An error stops the run.
	OnIteration func(SMOState) error
}

// SMOState describes the progress of a run to OnIteration.
type SMOState struct {
	Iterations int
	Active     int     // variables that are looked at
	Violation  float64 // among them
}

// SMOResult of [SMO]. Everything but V is computed from V and the definition at
// the end.
type SMOResult struct {
	V []float64
	// Product is K·v.
	Product []float64
	// Multiplier is the b of the equality: the slope Kv + q ± ε is b for
	// variables between their bounds, not less at the lower one, not more at the
	// upper one; at 0, where the slope jumps by 2ε, b is between. It is the mean
	// over the first kind, or if there are none the middle of the interval that the
	// others allow.
	Multiplier float64
	Objective  float64
	// Violation is the greatest slope downwards over v_t > lower_t minus the
	// least slope upwards over v_t < upper_t, at least 0. It is 0 where the
	// optimality conditions hold.
	Violation float64
	// Gap is Objective minus the value of the Wolfe dual at (v, b), a bound on
	// Objective minus the minimum. For support vector machines it is
	// the primal minus the dual objective.
	Gap        float64
	Iterations int
	Support    int // variables that are not 0
}

// SMO minimizes p by steps in two variables, the most violating one i and the j
// that promises the largest decrease with it. With the slopes upwards
// r_t = (Kv + q)_t ± ε, − for v_t < 0, and downwards f_t = (Kv + q)_t ± ε, + for
// v_t > 0, they are
//
//	i = argmin r_t, v_t < upper_t;  j = argmax (f_t − r_i)²/(K_ii + K_tt − 2K_it), v_t > lower_t, f_t > r_i
//
// (second-order selection: R.-E. Fan, P.-H. Chen and C.-J. Lin, JMLR 6 (2005),
// 1889–1918, section 2). A step ends where a slope jumps, so that regression
// takes the steps it takes in 2n variables.
//
// A variable at a bound is set aside while no violating pair can reach its slopes, until
// the others are optimal (shrinking: C.-C. Chang and C.-J. Lin, LIBSVM, ACM TIST 2
// (2011), section 5.1). Then the products with K are updated from the rows of the variables
// that have changed. At the end all products are summed anew; if rounding has hidden a
// violation, the steps go on.
//
// A nil s means the defaults. On [ErrNotConverged] or an error of the hook the
// result is the last iterate; on invalid input and a cancelled ctx, which is looked
// at between rows, it is nil. A step reads two rows and costs about 12 operations for each
// active variable. The memory is the memory of Rows, 12n values, and rows among the active
// variables once these are at most half and at most 4096: no more than a quarter of K, and
// 128 MB.
func SMO(ctx context.Context, p *QP, s *SMOSettings) (*SMOResult, error) {
	if s == nil {
		s = &SMOSettings{}
	}
	filled := *s
	if filled.Tolerance == 0 {
		filled.Tolerance = 1e-3
	}
	if filled.MaxIterations == 0 {
		filled.MaxIterations = max(10_000_000, 100*len(p.Linear))
	}
	if err := p.check(&filled); err != nil {
		return nil, err
	}

	m := newSMO(ctx, p, filled)
	err := m.run()
	r := m.result()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return r, err
}

func (p *QP) check(s *SMOSettings) error {
	var faults []error
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("solvers: "+format, args...))
		}
	}

	n := len(p.Linear)
	fault(n > 0, "no variables")
	fault(len(p.Lower) == n && len(p.Upper) == n, "%d lower and %d upper bounds for %d variables",
		len(p.Lower), len(p.Upper), n)
	fault(p.Rows.Dim() == n, "%d variables for %d rows", n, p.Rows.Dim())
	fault(p.Start == nil || len(p.Start) == n, "a start of %d values for %d variables", len(p.Start), n)
	fault(p.Epsilon >= 0 && !math.IsInf(p.Epsilon, 0), "ε is %v; it must not be negative", p.Epsilon)
	fault(s.Tolerance > 0 && !math.IsInf(s.Tolerance, 0), "tolerance %v; it must be positive", s.Tolerance)
	fault(s.MaxIterations > 0, "limit of %d iterations; it must be positive", s.MaxIterations)
	if err := errors.Join(faults...); err != nil {
		return err
	}

	for t, q := range p.Linear {
		v := 0.0
		if p.Start != nil {
			v = p.Start[t]
		}
		lo := p.Lower[t]
		hi := p.Upper[t]
		fault(!math.IsNaN(q) && !math.IsInf(q, 0), "linear term %v of variable %d", q, t)
		fault(lo <= v && v <= hi && !math.IsInf(lo, 0) && !math.IsInf(hi, 0),
			"variable %d begins at %v, its bounds are %v and %v", t, v, lo, hi)
		if len(faults) > 0 {
			break // of many variables the first says enough
		}
	}

	return errors.Join(faults...)
}

// candidates are the variables that steps may choose, with the values that every
// step reads side by side.
type candidates struct {
	index []int32   // of the variables, ascending
	sum   []float64 // (Kv)_t
	// Terms that added to sum give the slope upwards and downwards; +Inf and −Inf at
	// the bound.
	rise, fall []float64
	diag       []float64
}

// smo is the state of a run.
type smo struct {
	ctx context.Context
	*QP
	SMOSettings
	v       []float64
	product []float64 // K·at
	at      []float64 // v, but for changes since variables were dropped
	diag    []float64
	top     float64    // largest diagonal entry
	active  candidates // while it is all of them, sum is product
	few     []float64  // room for sum when it is not
	// Rows of K among the active variables, by place: those asked for since
	// variables were dropped, once few enough are left to keep them.
	parts    [][]float64
	gathered [2][]float64 // otherwise the latest two
	kept     []int32      // places that shrink keeps
	steps    int
	noise    float64 // bound on the rounding error of a slope
	fresh    bool    // product was summed anew since the last step
}

func newSMO(ctx context.Context, p *QP, s SMOSettings) *smo {
	n := len(p.Linear)
	values := func() []float64 { return make([]float64, n) }
	m := &smo{ctx: ctx, QP: p, SMOSettings: s, v: values(), product: values(), at: values(), diag: values(),
		few: values()}
	m.active = candidates{index: make([]int32, n), rise: values(), fall: values(), diag: values()}
	copy(m.v, p.Start)
	p.Rows.DiagonalTo(m.diag)
	for _, k := range m.diag {
		m.top = max(m.top, math.Abs(k))
	}
	m.multiply()
	m.activate()
	return m
}

// ceiling returns the largest value of variable t after one step: its bound, or the
// place where its slope jumps.
func (m *smo) ceiling(t int) float64 {
	if m.Epsilon > 0 && m.v[t] < 0 {
		return min(0, m.Upper[t])
	}
	return m.Upper[t]
}

// floor returns the smallest value of variable t after one step.
func (m *smo) floor(t int) float64 {
	if m.Epsilon > 0 && m.v[t] > 0 {
		return max(0, m.Lower[t])
	}
	return m.Lower[t]
}

// slopes returns the terms that added to (Kv)_t give the slope upwards and
// downwards.
func (m *smo) slopes(t int) (rise, fall float64) {
	rise = m.Linear[t] + m.Epsilon
	fall = m.Linear[t] - m.Epsilon
	if m.v[t] < 0 {
		rise = fall
	} else if m.v[t] > 0 {
		fall = rise
	}

	if !(m.v[t] < m.Upper[t]) {
		rise = math.Inf(1)
	}
	if !(m.v[t] > m.Lower[t]) {
		fall = math.Inf(-1)
	}
	return rise, fall
}

// activate makes all variables active. Once ctx is cancelled no rows are read, and
// the products are wrong.
func (m *smo) activate() {
	// The product lacks the steps since variables were dropped.
	for t, v := range m.v {
		if d := v - m.at[t]; d != 0 && m.ctx.Err() == nil {
			simd.CombineRow(m.product, m.product, 1, m.Rows.Row(t), d)
			m.at[t] = v
		}
	}

	n := len(m.v)
	c := &m.active
	m.parts = nil
	c.index = c.index[:n]
	c.sum = m.product
	c.rise = c.rise[:n]
	c.fall = c.fall[:n]
	c.diag = c.diag[:n]
	for t := range m.v {
		c.index[t] = int32(t)
		c.diag[t] = m.diag[t]
		c.rise[t], c.fall[t] = m.slopes(t)
	}
}

// partsKept is the largest number of active variables among which rows are kept,
// 128 MB at most, if it is not more than half of all.
const partsKept = 4096

// row returns the row of K of the active variable at p, among the active ones. It
// is valid until the second next call.
func (m *smo) row(p int) []float64 {
	index := m.active.index
	if len(index) == len(m.v) {
		return m.Rows.Row(p)
	}
	var part []float64
	if m.parts != nil {
		if m.parts[p] != nil {
			return m.parts[p]
		}
		part = make([]float64, len(index))
		m.parts[p] = part
	} else {
		m.gathered[0], m.gathered[1] = m.gathered[1], m.gathered[0]
		part = m.gathered[0][:len(index)]
	}

	// Gather the columns of the active variables.
	whole := m.Rows.Row(int(index[p]))
	for q, t := range index {
		part[q] = whole[t]
	}
	return part
}

// multiply sums K·v anew, unless that was done since the last step. Once ctx is
// cancelled no rows are read, and the products are wrong.
func (m *smo) multiply() {
	if m.fresh {
		return
	}
	m.fresh = true
	var sum float64
	for _, v := range m.v {
		sum += math.Abs(v)
	}
	m.noise = 0x1p-50 * sum * m.top
	clear(m.product)

	for t, v := range m.v {
		if m.at[t] = v; v != 0 && m.ctx.Err() == nil {
			simd.CombineRow(m.product, m.product, 1, m.Rows.Row(t), v)
		}
	}
}

// extremes returns the place of the active variable with the least slope upwards,
// −1 if none can rise, and the range of slopes: the least upwards, the greatest
// downwards.
func (m *smo) extremes() (i int, least, greatest float64) {
	i = -1
	least = math.Inf(1)
	greatest = math.Inf(-1)
	sum := m.active.sum
	rise := m.active.rise[:len(sum)]
	fall := m.active.fall[:len(sum)]
	for p, s := range sum {
		if r := s + rise[p]; r < least {
			i = p
			least = r
		}
		if f := s + fall[p]; f > greatest {
			greatest = f
		}
	}

	return i, least, greatest
}

// flat stands for a second derivative that rounding made negative or zero.
const flat = 1e-12

// partner returns the place of the active variable that promises the largest decrease together with
// the one at i, −1 if there is none. row is the row of K of that one.
func (m *smo) partner(i int, row []float64) int {
	c := &m.active
	sum := c.sum
	fall := c.fall[:len(sum)]
	diag := c.diag[:len(sum)]
	row = row[:len(sum)]
	ri := sum[i] + c.rise[i]
	ki := diag[i]

	// The largest of d²/curve, compared without a division.
	j := -1
	bestSquare := 0.0
	bestCurve := 1.0
	for p, s := range sum {
		d := s + fall[p] - ri
		if !(d > 0) {
			continue
		}
		curve := ki + diag[p] - 2*row[p]
		if !(curve > flat) {
			curve = flat
		}
		if d*d*bestCurve > bestSquare*curve {
			j = p
			bestSquare = d * d
			bestCurve = curve
		}
	}

	return j
}

// step minimizes over the variables at places pi and pj and reports whether they
// changed.
func (m *smo) step(pi, pj int, rowI, rowJ []float64) bool {
	c := &m.active
	i := int(c.index[pi])
	j := int(c.index[pj])
	curve := c.diag[pi] + c.diag[pj] - 2*rowI[pj]
	if !(curve > flat) {
		curve = flat
	}
	d := (c.sum[pj] + c.fall[pj] - c.sum[pi] - c.rise[pi]) / curve
	top := m.ceiling(i)
	bottom := m.floor(j)
	up := top - m.v[i]
	down := m.v[j] - bottom

	// The step ends at the minimum of the parabola, or where the first variable stops. A variable
	// that stops is put exactly on its bound.
	oldI := m.v[i]
	oldJ := m.v[j]
	switch {
	case d < up && d < down:
		m.v[i] = min(m.v[i]+d, top)
		m.v[j] = max(m.v[j]-d, bottom)
	case up < down:
		m.v[i] = top
		m.v[j] = max(m.v[j]-up, bottom)
	case down < up:
		m.v[i] = min(m.v[i]+down, top)
		m.v[j] = bottom
	default:
		m.v[i] = top
		m.v[j] = bottom
	}

	dI := m.v[i] - oldI
	dJ := m.v[j] - oldJ
	if dI == 0 && dJ == 0 {
		return false
	}
	c.rise[pi], c.fall[pi] = m.slopes(i)
	c.rise[pj], c.fall[pj] = m.slopes(j)
	m.fresh = false
	simd.CombineRow(c.sum, c.sum, 1, rowI, dI)
	simd.CombineRow(c.sum, c.sum, 1, rowJ, dJ)
	if len(c.sum) == len(m.v) {
		m.at[i] = m.v[i]
		m.at[j] = m.v[j]
	}
	return true
}

// shrink drops the variables at a bound with slopes outside of the range from least to greatest, if
// they are a tenth of the candidates.
func (m *smo) shrink(least, greatest float64) {
	c := &m.active
	m.kept = m.kept[:0]
	for p, s := range c.sum {
		if !(s+c.rise[p] > greatest && s+c.fall[p] < least) {
			m.kept = append(m.kept, int32(p))
		}
	}

	k := len(m.kept)
	if 10*k > 9*len(c.sum) {
		return
	}

	for q, p := range m.kept {
		c.index[q] = c.index[p]
		m.few[q] = c.sum[p]
		c.rise[q] = c.rise[p]
		c.fall[q] = c.fall[p]
		c.diag[q] = c.diag[p]
	}
	c.index = c.index[:k]
	c.sum = m.few[:k]
	c.rise = c.rise[:k]
	c.fall = c.fall[:k]
	c.diag = c.diag[:k]

	// Kept rows lose the dropped columns, in place.
	switch {
	case m.parts != nil:
		for q, p := range m.kept {
			part := m.parts[p]
			if m.parts[q] = part; part == nil {
				continue
			}
			for r, p := range m.kept {
				part[r] = part[p]
			}
			m.parts[q] = part[:k]
		}
		m.parts = m.parts[:k]
	case k <= min(partsKept, len(m.v)/2):
		m.parts = make([][]float64, k)
	case m.gathered[0] == nil:
		m.gathered = [2][]float64{make([]float64, len(m.v)), make([]float64, len(m.v))}
	}
}

// run takes steps until the violation is within the tolerance, with all
// variables active and products summed anew.
func (m *smo) run() error {
	// LIBSVM shrinks every 1000 steps; the hook is told every 100.
	const every, told = 1000, 100
	nearlyDone := false
	pause := min(len(m.v), every)
	for ; ; m.steps++ {
		i, least, greatest := m.extremes()
		violation := greatest - least
		if err := m.ctx.Err(); err != nil {
			return err
		}

		if m.OnIteration != nil && m.steps%told == 0 {
			if err := m.OnIteration(SMOState{m.steps, len(m.active.index), violation}); err != nil {
				return err
			}
		}

		// Shrinking errs while the range is wide: look at all again when it has
		// become narrow.
		if !m.KeepAll && !nearlyDone && violation <= 10*m.Tolerance {
			nearlyDone = true
			m.activate()
			i, least, greatest = m.extremes()
			violation = greatest - least
		}

		// The end is confirmed twice: with all variables, and with products summed anew.
		if !(violation > m.Tolerance) {
			switch {
			case len(m.active.index) < len(m.v):
				m.activate()
			case !m.fresh:
				m.multiply()
			default:
				return m.finite()
			}
			pause = min(len(m.v), every)
			continue
		}

		if m.steps >= m.MaxIterations {
			return fmt.Errorf("%w: violation %.3g after %d steps, %.3g is allowed", ErrNotConverged,
				violation, m.steps, m.Tolerance)
		}

		if pause--; pause == 0 && !m.KeepAll {
			pause = min(len(m.v), every)
			m.shrink(least, greatest)
			i, _, _ = m.extremes()
		}

		// A violation below the rounding of the slopes says nothing: sum the products anew first.
		if violation > m.noise {
			row := m.row(i)
			j := m.partner(i, row)
			if j >= 0 && m.step(i, j, row, m.row(j)) {
				continue
			}
		}

		if m.fresh {
			return fmt.Errorf("%w: violation %.3g after %d steps is within rounding, %.3g is allowed",
				ErrNotConverged, violation, m.steps, m.Tolerance)
		}
		m.multiply()
		m.activate()
	}
}

// finite returns an error if a product with K is not: it would look as if it met
// the conditions.
func (m *smo) finite() error {
	for i, v := range m.product {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("solvers: row %d of K times v is %v after %d steps; the entries of K "+
				"must be finite", i, v, m.steps)
		}
	}
	return nil
}

// result describes the present iterate.
func (m *smo) result() *SMOResult {
	m.multiply()
	m.activate()
	r := &SMOResult{V: m.v, Product: m.product, Iterations: m.steps}
	_, least, greatest := m.extremes()
	r.Violation = max(0, greatest-least)
	var free, sum float64
	for t, v := range m.v {
		r.Objective += v*(m.product[t]/2+m.Linear[t]) + m.Epsilon*math.Abs(v)
		if v != 0 {
			r.Support++
		}
		if rise, fall := m.slopes(t); rise == fall {
			free++
			sum += m.product[t] + rise
		}
	}

	// The multiplier is determined by free variables, and else only bounded.
	switch {
	case free > 0:
		r.Multiplier = sum / free
	case math.IsInf(least, 1) && math.IsInf(greatest, -1): // no variable can move
	case math.IsInf(least, 1):
		r.Multiplier = greatest
	case math.IsInf(greatest, -1):
		r.Multiplier = least
	default:
		r.Multiplier = least/2 + greatest/2
	}

	for t, v := range m.v {
		// The least value of d·u + ε|u| is at a bound or at 0.
		d := m.product[t] + m.Linear[t] - r.Multiplier
		lo := m.Lower[t]
		hi := m.Upper[t]
		least := min(d*lo+m.Epsilon*math.Abs(lo), d*hi+m.Epsilon*math.Abs(hi))
		if lo < 0 && hi > 0 {
			least = min(least, 0)
		}
		r.Gap += d*v + m.Epsilon*math.Abs(v) - least
	}

	return r
}
