package byclass

import (
	"context"
	"math"

	"github.com/bigfit/bigfit/internal/num/simd"
)

// A source is the row of (1 − α)D^-½Y of a labeled point.
type source struct {
	place int
	row   []float32
}

// sources returns the rows of the labeled points for the classes lo ≤ c < hi, in blocks of w columns.
func (r *Run) sources(lo, hi, w int) []source {
	shares := r.in.Targets.Shares()
	var out []source
	for q, place := range r.labeled {
		s := source{int(place), make([]float32, w)}
		some := false
		for c := lo; c < hi; c++ {
			v := (1 - r.alpha) * shares.At(q, c) / math.Sqrt(r.degree(int(place)))
			s.row[c-lo] = float32(v)
			some = some || v != 0
		}
		if some {
			out = append(out, s)
		}
	}
	return out
}

// spread solves the equations of label spreading for some classes, at most mostColumns.
func (r *Run) spread(ctx context.Context, lo, hi int) ([]float32, partState, error) {
	w := width(hi - lo)
	blocks := r.room(2, w)
	z, last := blocks[0], blocks[1]
	from := r.sources(lo, hi, w)
	add := func(x []float32, a float32) {
		for _, s := range from {
			simd.CombineRow32(x[s.place*w:][:w], x[s.place*w:][:w], 1, s.row, a)
		}
	}

	// The eigenvalues lie around 1, so the first iterate is the right-hand side.
	add(z, 1)
	right := r.sums(z, z, w)
	rho := r.alpha
	for k := range r.steps {
		r.report(float64(k), float64(r.steps), "classes %d to %d, step %d of %d", lo, hi-1, k+1, r.steps)
		// z₊ = z + m(z − z₋) + a(y − z + αD⁻¹Wz)
		next := 1 / (2/r.alpha - rho)
		a := float32(2 * next / r.alpha)
		m := float32(next * rho)
		rho = next
		if err := r.step(ctx, last, z, w, factors{a, 1 + m - a, -m}); err != nil {
			return nil, partState{}, err
		}
		add(last, a)
		z, last = last, z
	}

	if err := r.step(ctx, last, z, w, factors{1, -1, 0}); err != nil {
		return nil, partState{}, err
	}
	add(last, 1)
	return z, partState{Residual: largest(r.sums(last, last, w), right), Steps: r.steps + 1}, nil
}
