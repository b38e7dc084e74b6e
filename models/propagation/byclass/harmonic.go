package byclass

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/par"
)

// harmonic solves L_uu z_u = W_ul y_l for some classes, at most mostColumns, by conjugate gradients with the
// degrees for a preconditioner: those of I − D⁻¹W on the points without a label, in the inner product Σ d_i x_i y_i.
// Residuals of the iteration drift in single precision, so it begins again from the residual of the definition
// until that is below the tolerance.
func (r *Run) harmonic(ctx context.Context, lo, hi int) ([]float32, partState, error) {
	w := width(hi - lo)
	b := r.room(4, w)
	z, rest, p, q := b[0], b[1], b[2], b[3]
	shares := r.in.Targets.Shares()
	for at, place := range r.labeled {
		for c := lo; c < hi; c++ {
			z[int(place)*w+c-lo] = float32(shares.At(at, c))
		}
	}

	var right []float64
	before := math.Inf(1)
	for steps := 0; ; {
		// The residual W_ul y_l − L_uu z_u over the degrees: D⁻¹Wz − z where there is no label.
		if err := r.step(ctx, rest, z, w, factors{1, -1, 0}); err != nil {
			return nil, partState{}, err
		}
		steps++
		r.clearLabels(rest, w)
		square := r.sums(rest, rest, w)
		if right == nil {
			right = square
		}
		residual := largest(square, right)
		switch {
		case residual <= r.in.tolerance():
			return z, partState{Residual: residual, Steps: steps}, nil
		case steps > r.mostSteps() || residual > before/2:
			return nil, partState{}, fmt.Errorf("byclass: %w: classes %d to %d have a relative residual of %.2g after %d "+
				"steps, tolerance %g", cg.ErrNotConverged, lo, hi-1, residual, steps, r.in.tolerance())
		}
		before = residual

		copy(p, rest)
		for {
			r.report(-math.Log(largest(square, right)), -math.Log(r.in.tolerance()), "classes %d to %d, step %d, residual %.1e",
				lo, hi-1, steps, largest(square, right))
			if err := r.step(ctx, q, p, w, factors{-1, 1, 0}); err != nil {
				return nil, partState{}, err
			}
			steps++
			r.clearLabels(q, w)
			square = r.descend(z, rest, p, q, square)
			if largest(square, right) <= r.in.tolerance()/2 || steps > r.mostSteps() {
				break
			}
		}
	}
}

// descend does a step of conjugate gradients in every column: it changes z, rest and p, and returns the squares
// of rest.
func (r *Run) descend(z, rest, p, q []float32, square []float64) []float64 {
	w := len(square)
	length := ratio(square, r.sums(p, q, w))
	back := make([]float32, w)
	one := make([]float32, w)
	for c := range w {
		back[c] = -length[c]
		one[c] = 1
	}
	r.combine(z, one, p, length)
	r.combine(rest, one, q, back)

	next := r.sums(rest, rest, w)
	r.combine(p, ratio(next, square), rest, one)
	return next
}

// ratio returns a_c/b_c for every column, 0 where b_c is not positive: such a column has converged.
func ratio(a, b []float64) []float32 {
	out := make([]float32, len(a))
	for c, v := range b {
		if v > 0 {
			out[c] = float32(a[c] / v)
		}
	}
	return out
}

// combine sets column c of dst to a_c times itself and b_c times that of x.
func (r *Run) combine(dst, a, x, b []float32) {
	w := len(a)
	par.For(r.n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dst[i*w:][:w]
			for c, v := range x[i*w:][:w] {
				to[c] = a[c]*to[c] + b[c]*v
			}
		}
	})
}

// clearLabels sets the rows of the labeled points to zero.
func (r *Run) clearLabels(x []float32, w int) {
	for _, place := range r.labeled {
		clear(x[int(place)*w:][:w])
	}
}

// mostSteps is the number of steps after which the solver gives up.
func (r *Run) mostSteps() int { return cmp.Or(r.in.Settings.MaxIterations, defaultIterations) }

const defaultIterations = 10000
