package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/internal/simd"
)

// QP is the quadratic program
//
//	minimize ½ vᵀKv + qᵀv   over lower ≤ v ≤ upper with Σ v_t = Σ start_t
//
// in N variables. The duals of support vector machines are of this form; in that
// of LIBSVM, ½ aᵀQa + pᵀa over 0 ≤ a ≤ C with yᵀa = δ and Q_tu = y_t y_u K_tu,
// it has v_t = y_t a_t and q_t = y_t p_t:
//
//	classification   q = −y, v between 0 and y_t C_t
//	regression       q = ±ε − z, v_t in [0, C] and v_{l+t} in [−C, 0], K_{t,l+u} = K_tu
//	one-class        q = 0, 0 ≤ v ≤ 1 with Σ v = νl
//
// K must be positive semidefinite but for rounding.
type QP struct {
	Rows Rows
	// Index[t] is the row of variable t in Rows; nil means t itself.
	Index        []int32
	Linear       []float64 // q, of length N
	Lower, Upper []float64 // finite
	// Start is a feasible point. Default zero.
	Start []float64
}

// SMOSettings of [SMO].
type SMOSettings struct {
	// Tolerance is the Violation at which the iteration ends. Default 1e-3,
	// LIBSVM's.
	Tolerance float64
	// MaxIterations bounds the steps. Default 10⁷, and at least 100·N.
	MaxIterations int
	// KeepAll switches shrinking off.
	KeepAll bool
	// OnIteration, if not nil, is called every 1000 steps. An error stops the
	// run.
	OnIteration func(SMOState) error
}

// SMOState is what OnIteration is told.
type SMOState struct {
	Iterations int
	Active     int     // variables that are looked at
	Violation  float64 // among them
}

// SMOResult of [SMO]. Everything but V is computed from V and the definition at
// the end.
type SMOResult struct {
	V []float64
	// Product is K·v, one value for each row of Rows.
	Product []float64
	// Multiplier is the b of the equality: gradient g = Kv + q is b for
	// variables between their bounds, not less at the lower one, not more at the
	// upper one. It is the mean over the former, or if there are none the middle
	// of what the others allow.
	Multiplier float64
	Objective  float64
	// Violation is max g_t over v_t > lower_t minus min g_t over v_t < upper_t,
	// at least 0: how far the optimality conditions are from met.
	Violation float64
	// Gap is Objective minus the value of the Wolfe dual at (v, b), which bounds
	// how far Objective is above the minimum. For support vector machines it is
	// the primal minus the dual objective.
	Gap        float64
	Iterations int
	Support    int // variables that are not 0
}

// SMO minimizes p by steps in two variables, the most violating one i and the j
// that promises the largest decrease with it:
//
//	i = argmin g_t, v_t < upper_t;  j = argmax (g_t − g_i)²/(K_ii + K_tt − 2K_it), v_t > lower_t, g_t > g_i
//
// (second-order selection: R.-E. Fan, P.-H. Chen and C.-J. Lin, JMLR 6 (2005),
// 1889–1918, section 2). Variables at a bound whose gradient leaves the range in
// which pairs are found are not looked at until the others are done (shrinking:
// C.-C. Chang and C.-J. Lin, LIBSVM, ACM TIST 2 (2011), section 5.1). Products
// with K are kept up for all rows, so that nothing is to be reconstructed then;
// once at the end they are summed anew, and should rounding have hidden a
// violation, the steps go on.
//
// A nil s means the defaults. On [ErrNotConverged], an error of the hook or a
// cancelled ctx the result is the last iterate; on invalid input it is nil. A step
// costs two rows and about 6n + 4·active operations; the memory is that of Rows
// and 8N values.
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
	m := newSMO(p, filled)
	err := m.run(ctx)
	return m.result(), err
}

func (p *QP) check(s *SMOSettings) error {
	var faults []error
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("solvers: "+format, args...))
		}
	}
	n, rows := len(p.Linear), p.Rows.Dim()
	fault(n > 0, "no variables")
	fault(len(p.Lower) == n && len(p.Upper) == n, "%d lower and %d upper bounds for %d variables", len(p.Lower), len(p.Upper), n)
	fault(p.Index == nil && rows == n || len(p.Index) == n, "%d variables, %d of them with a row, for %d rows", n, len(p.Index), rows)
	fault(p.Start == nil || len(p.Start) == n, "a start of %d values for %d variables", len(p.Start), n)
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
		lo, hi := p.Lower[t], p.Upper[t]
		fault(!math.IsNaN(q) && !math.IsInf(q, 0), "linear term %v of variable %d", q, t)
		fault(lo <= v && v <= hi && !math.IsInf(lo, 0) && !math.IsInf(hi, 0), "variable %d begins at %v, its bounds are %v and %v", t, v, lo, hi)
		fault(p.Index == nil || p.Index[t] >= 0 && int(p.Index[t]) < rows, "variable %d has no row", t)
		if len(faults) > 0 {
			break // of many variables the first says enough
		}
	}
	return errors.Join(faults...)
}

// What a variable can do.
const (
	canRise = 1 << iota // it is below its upper bound
	canFall             // it is above its lower bound
)

// candidate is a variable that is looked at, with what is read of it at every
// step side by side.
type candidate struct {
	linear   float64
	diag     float64
	gradient float64 // set by extremes
	t, row   int32
	can      uint8
}

// smo is the state of a run.
type smo struct {
	*QP
	SMOSettings
	v       []float64
	product []float64 // K·v
	diag    []float64
	top     float64 // largest diagonal entry
	active  []candidate
	steps   int
	noise   float64 // what rounding may do to a gradient
	fresh   bool    // product was summed anew since the last step
}

func newSMO(p *QP, s SMOSettings) *smo {
	n, rows := len(p.Linear), p.Rows.Dim()
	m := &smo{QP: p, SMOSettings: s, v: make([]float64, n), product: make([]float64, rows), diag: make([]float64, rows)}
	if p.Index == nil {
		q := *p
		q.Index = make([]int32, n)
		for t := range q.Index {
			q.Index[t] = int32(t)
		}
		m.QP = &q
	}
	copy(m.v, p.Start)
	p.Rows.DiagonalTo(m.diag)
	for _, k := range m.diag {
		m.top = max(m.top, math.Abs(k))
	}
	m.activate()
	m.multiply()
	return m
}

// freedom tells what variable t can do.
func (m *smo) freedom(t int) (can uint8) {
	if m.v[t] < m.Upper[t] {
		can |= canRise
	}
	if m.v[t] > m.Lower[t] {
		can |= canFall
	}
	return can
}

// activate makes all variables active.
func (m *smo) activate() {
	m.active = m.active[:0]
	for t := range m.v {
		m.active = append(m.active, candidate{linear: m.Linear[t], diag: m.diag[m.Index[t]], t: int32(t), row: m.Index[t], can: m.freedom(t)})
	}
}

// multiply sums K·v anew, unless that is what it is.
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
	weight := make([]float64, len(m.product))
	for t, v := range m.v {
		weight[m.Index[t]] += v
	}
	clear(m.product)
	for i, w := range weight {
		if w != 0 {
			simd.CombineRow(m.product, m.product, 1, m.Rows.Row(i), w)
		}
	}
}

func (m *smo) gradient(t int) float64 { return m.product[m.Index[t]] + m.Linear[t] }

// extremes computes the gradients of the active variables. It returns the place
// of the least one that can rise, −1 if there is none, and the range of gradients:
// least of those that can rise, greatest of those that can fall.
func (m *smo) extremes() (i int, least, greatest float64) {
	i, least, greatest = -1, math.Inf(1), math.Inf(-1)
	product := m.product
	for p := range m.active {
		c := &m.active[p]
		g := product[c.row] + c.linear
		c.gradient = g
		if g < least && c.can&canRise != 0 {
			i, least = p, g
		}
		if g > greatest && c.can&canFall != 0 {
			greatest = g
		}
	}
	return i, least, greatest
}

// flat stands for a second derivative that rounding made negative or zero.
const flat = 1e-12

// partner returns the place of the active variable that promises the largest
// decrease with the one at i, −1 if there is none. row is that of i.
func (m *smo) partner(i int, row []float64) int {
	gi, ki := m.active[i].gradient, m.active[i].diag
	// The largest of d²/curve, compared without a division.
	j, bestSquare, bestCurve := -1, 0.0, 1.0
	for p := range m.active {
		c := &m.active[p]
		d := c.gradient - gi
		if c.can&canFall == 0 || !(d > 0) {
			continue
		}
		curve := ki + c.diag - 2*row[c.row]
		if !(curve > flat) {
			curve = flat
		}
		if d*d*bestCurve > bestSquare*curve {
			j, bestSquare, bestCurve = p, d*d, curve
		}
	}
	return j
}

// step minimizes over the variables at places pi and pj and tells whether they
// changed.
func (m *smo) step(pi, pj int, rowI, rowJ []float64) bool {
	ci, cj := &m.active[pi], &m.active[pj]
	i, j := ci.t, cj.t
	curve := ci.diag + cj.diag - 2*rowI[cj.row]
	if !(curve > flat) {
		curve = flat
	}
	d := (cj.gradient - ci.gradient) / curve
	up, down := m.Upper[i]-m.v[i], m.v[j]-m.Lower[j]
	oldI, oldJ := m.v[i], m.v[j]
	switch {
	case d < up && d < down:
		m.v[i], m.v[j] = min(m.v[i]+d, m.Upper[i]), max(m.v[j]-d, m.Lower[j])
	case up < down:
		m.v[i], m.v[j] = m.Upper[i], max(m.v[j]-up, m.Lower[j])
	case down < up:
		m.v[i], m.v[j] = min(m.v[i]+down, m.Upper[i]), m.Lower[j]
	default:
		m.v[i], m.v[j] = m.Upper[i], m.Lower[j]
	}
	ci.can, cj.can = m.freedom(int(i)), m.freedom(int(j))
	dI, dJ := m.v[i]-oldI, m.v[j]-oldJ
	if dI == 0 && dJ == 0 {
		return false
	}
	m.fresh = false
	simd.CombineRow(m.product, m.product, 1, rowI, dI)
	simd.CombineRow(m.product, m.product, 1, rowJ, dJ)
	return true
}

// shrink drops the variables at a bound that no step can move while the range of
// gradients is what it is.
func (m *smo) shrink(least, greatest float64) {
	kept := m.active[:0]
	for _, c := range m.active {
		if c.can == canFall && c.gradient < least || c.can == canRise && c.gradient > greatest || c.can == 0 {
			continue
		}
		kept = append(kept, c)
	}
	m.active = kept
}

// run takes steps until the violation is within the tolerance, with all
// variables active and products summed anew.
func (m *smo) run(ctx context.Context) error {
	const every = 1000
	nearlyDone := false
	pause := min(len(m.v), every)
	for ; ; m.steps++ {
		i, least, greatest := m.extremes()
		violation := greatest - least
		if m.steps%every == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if m.OnIteration != nil {
				if err := m.OnIteration(SMOState{m.steps, len(m.active), violation}); err != nil {
					return err
				}
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
		if !(violation > m.Tolerance) {
			switch {
			case len(m.active) < len(m.v):
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
			return fmt.Errorf("%w: violation %.3g after %d steps, %.3g is allowed", ErrNotConverged, violation, m.steps, m.Tolerance)
		}
		if pause--; pause == 0 && !m.KeepAll {
			pause = min(len(m.v), every)
			m.shrink(least, greatest)
			i, _, _ = m.extremes()
		}
		if violation > m.noise {
			row := m.Rows.Row(int(m.active[i].row))
			j := m.partner(i, row)
			if j >= 0 && m.step(i, j, row, m.Rows.Row(int(m.active[j].row))) {
				continue
			}
		}
		if m.fresh {
			return fmt.Errorf("%w: violation %.3g after %d steps is within rounding, %.3g is allowed", ErrNotConverged, violation, m.steps, m.Tolerance)
		}
		m.multiply()
	}
}

// finite returns an error if a product with K is not: it would look as if it met
// the conditions.
func (m *smo) finite() error {
	for i, v := range m.product {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("solvers: row %d of K times v is %v after %d steps; the entries of K must be finite", i, v, m.steps)
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
		g := m.gradient(t)
		r.Objective += v * (g + m.Linear[t]) / 2
		if v != 0 {
			r.Support++
		}
		if m.freedom(t) == canRise|canFall {
			free++
			sum += g
		}
	}
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
		d := m.gradient(t) - r.Multiplier
		r.Gap += max(d*(v-m.Lower[t]), d*(v-m.Upper[t]))
	}
	return r
}
