package solvers

import (
	"cmp"
	"slices"

	"github.com/bigfit/bigfit/internal/enum"
)

// Loss is a smooth stand-in for the hinge (1 − m)₊ of a margin m = y·f(x).
type Loss int

const (
	// SquaredHinge is V(m) = (1 − m)₊².
	SquaredHinge Loss = iota
	// HuberizedHinge is the hinge with its corner rounded over a width h
	// (Chapelle 2007, section 3.3):
	//
	//	V(m) = 0                  for m ≥ 1 + h
	//	V(m) = (1 + h − m)²/(4h)  for |1 − m| < h
	//	V(m) = 1 − m              for m ≤ 1 − h
	//
	// It exceeds the hinge by at most h/4, at m = 1.
	HuberizedHinge
)

var losses = enum.New[Loss]("loss", "squared-hinge", "huberized-hinge")

// String returns the name used on the command line and in manifests.
func (l Loss) String() string { return losses.String(l) }

// MarshalText returns the name.
func (l Loss) MarshalText() ([]byte, error) { return losses.Marshal(l) }

// UnmarshalText is the inverse of MarshalText.
func (l *Loss) UnmarshalText(text []byte) error { return losses.Unmarshal(l, text) }

// pieces is a convex piecewise quadratic function with a continuous derivative:
// V(m) = c0 + c1·m + ½c2·m² with the coefficients of piece k between knot k−1,
// which belongs to it, and knot k.
type pieces struct {
	knots []float64
	of    []quadratic // one more than the knots
	most  float64     // the largest c2
}

type quadratic struct{ c0, c1, c2 float64 }

func (l Loss) pieces(h float64) pieces {
	if l == SquaredHinge {
		return pieces{[]float64{1}, []quadratic{{1, -2, 2}, {}}, 2}
	}
	round := quadratic{(1 + h) * (1 + h) / (4 * h), -(1 + h) / (2 * h), 1 / (2 * h)}
	return pieces{[]float64{1 - h, 1 + h}, []quadratic{{1, -1, 0}, round, {}}, round.c2}
}

// at returns the piece that m lies on.
func (v *pieces) at(m float64) int {
	k := 0
	for k < len(v.knots) && m >= v.knots[k] {
		k++
	}
	return k
}

// bend is where the derivative of the objective along a line changes.
type bend struct {
	t      float64
	a, b   float64 // increments of constant and slope of the derivative
	margin int
}

// exactStep returns the t ≥ 0 that minimizes
//
//	a0·t + ½a2·t² + C Σ_i c_i V(m_i + t·s_i),
//
// where nil weights are 1. The derivative is piecewise linear in t; exactStep goes through its
// bends in order, in O(l log l). It returns 0 if the function does not descend at 0. a2 is
// positive.
func (v *pieces) exactStep(a0, a2, total float64, weights, m, s []float64) float64 {
	var bends []bend
	for i, si := range s {
		c := total
		if weights != nil {
			c *= weights[i]
		}
		if si == 0 || c == 0 {
			continue
		}
		k := v.at(m[i])
		q := v.of[k]
		a0 += c * si * (q.c1 + q.c2*m[i])
		a2 += c * si * si * q.c2
		next := 1
		if si < 0 {
			next = -1
		}

		// Collect the bends that this margin meets on its way.
		for {
			knot := k // the one above, or below
			if next < 0 {
				knot--
			}
			if knot < 0 || knot == len(v.knots) {
				break
			}
			from := v.of[k]
			to := v.of[k+next]
			bends = append(bends, bend{(v.knots[knot] - m[i]) / si,
				c * si * (to.c1 - from.c1 + (to.c2-from.c2)*m[i]), c * si * si * (to.c2 - from.c2), i})
			k += next
		}
	}

	// Follow the derivative from bend to bend until it vanishes.
	if !(a0 < 0) {
		return 0
	}
	slices.SortFunc(bends, func(p, q bend) int {
		return cmp.Or(cmp.Compare(p.t, q.t),
			cmp.Compare(p.margin, q.margin))
	})
	for _, e := range bends {
		if a0+e.t*a2 >= 0 {
			break
		}
		a0 += e.a
		a2 += e.b
	}

	return -a0 / a2
}
