package models

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/sparse"
)

// scalePlan is the way that settings take for some points.
type scalePlan struct {
	rank int // columns of the features Φ
	// expansion is the number of points that conjugate gradients make products
	// with; 0 for a direct solution on Φ.
	expansion int
}

// plan returns the way that s, with its defaults, takes for x: under limit, if
// there is one.
func (s ScaleSettings) plan(x data.Points, k kernel.Kind, limit int64) (scalePlan, error) {
	n, d := x.Dims()
	direct := scalePlan{rank: s.Landmarks}
	if s.Means == ByFeatures {
		direct.rank = s.Features
	}
	p := direct
	tooMuch := func(rank int) bool { return s.fits(x, k, rank, limit) != nil }
	const iterations, outputs = 50, 10
	switch {
	case s.Means == MatrixFree:
		p.expansion = n
	case s.Means == ByLandmarks && (p.rank > formedSize || tooMuch(p.rank) || iterations*(2*d+2*outputs+40) < p.rank):
		p.expansion = s.Landmarks
		fewer, _ := ScaleSettings{}.fill(n) // the preconditioner has the default number
		for p.rank = min(p.rank, fewer.Landmarks); p.rank > 1 && tooMuch(p.rank); {
			p.rank /= 2
		}
		if tooMuch(p.rank) && direct.rank <= formedSize {
			p = direct // what it would take says more
		}
	}
	if p.rank > formedSize {
		return p, fmt.Errorf("models: %d %s for a direct solution; the most is %d", p.rank, s.counted(), formedSize)
	}
	return p, nil
}

// counted is what there are a number of.
func (s ScaleSettings) counted() string {
	if s.Means == ByFeatures {
		return "Fourier features"
	}
	return "landmarks"
}

// fits returns an error if features of the given rank for x take more than limit.
func (s ScaleSettings) fits(x data.Points, k kernel.Kind, rank int, limit int64) error {
	n, _ := x.Dims()
	if need := featureBytes(n, rank) + s.sideBytes(x, k); limit > 0 && need > limit {
		return fmt.Errorf("models: %d %s of %d points take %d bytes, %d are allowed; use fewer %s, or allow more memory", rank, s.counted(), n, need, limit, s.counted())
	}
	return nil
}

// featureBytes is the memory for m features of n points: Φ, blocks of columns of
// it and its products, and four m×m matrices.
func featureBytes(n, m int) int64 {
	return 8 * (int64(n)*int64(m+4*128) + 4*int64(m)*int64(m))
}

// sideBytes is the memory of the points made ready for the kernel; features do
// without.
func (s ScaleSettings) sideBytes(x data.Points, k kernel.Kind) int64 {
	if _, isSparse := x.(*sparse.CSR); isSparse || k == kernel.Precomputed || s.Means == ByFeatures {
		return 0
	}
	n, d := x.Dims()
	return 8 * int64(n) * int64(d+1)
}

// suits returns an error unless machines of the settings r can be fitted by s in
// the way of p.
func (s ScaleSettings) suits(r *KernelSettings, p scalePlan) error {
	switch {
	case r.Method > KernelSVM:
		return fmt.Errorf("models: %v by %v; it is fitted exactly only", r.Method, s.Means)
	case p.expansion > 0 && (r.Method == KernelSVM || r.Intercept):
		return fmt.Errorf("models: conjugate gradients (%v, %d landmarks) are for least squares without a bias; use fewer landmarks", s.Means, s.Landmarks)
	}
	return nil
}

// scaledCost are the bytes and operations of a problem and of a fit on it.
type scaledCost struct {
	problem, fit             int64
	preparation, oneFit, all float64 // all is once for any number of fits
}

// way returns s with its defaults and the plan for machines of the settings r. Only
// a plan that can be had for less memory heeds limit.
func (s ScaleSettings) way(x data.Points, k kernel.Kind, r *KernelSettings, limit int64) (ScaleSettings, scalePlan, error) {
	n, _ := x.Dims()
	s, err := s.fill(n)
	if err != nil {
		return s, scalePlan{}, err
	}
	if r.Method == KernelSVM || r.Intercept || s.Means != ByLandmarks {
		limit = 0
	}
	p, err := s.plan(x, k, limit)
	if err == nil {
		err = s.suits(r, p)
	}
	return s, p, err
}

// cost is that of the way p for n points x with l targets in the given number of
// columns; edges are those of the graph.
func (s ScaleSettings) cost(p scalePlan, x data.Points, k kernel.Kind, l, columns, edges int, r *KernelSettings) scaledCost {
	const steps = 50
	rows, cols := x.Dims()
	n, d, m, c := float64(rows), float64(cols), float64(p.rank), float64(columns)
	if k == kernel.Precomputed {
		d = 0
	}
	power := float64(max(1, r.Power))
	var out scaledCost
	out.problem = featureBytes(rows, p.rank) + s.sideBytes(x, k)
	out.problem += out.problem / 8 // what is not collected yet

	out.preparation = n*m*(2*d+40) + n*m*m // features
	if r.GammaI > 0 {
		out.preparation += n*m*m + 10*power*float64(edges)*m
	}
	// Labeled rows, twice; blocks of rows; normal equations, factors and, for the
	// hinge, eigenvectors.
	values := 2*float64(l)*m + 3*blockRows*m + 6*m*m
	out.oneFit = float64(l)*m*m + m*m*m/3
	if r.Method == KernelSVM {
		out.all = 5 * m * m * m
		out.oneFit = steps * c * 8 * float64(l) * m
		if float64(l)*m > smallRows && l >= p.rank {
			out.oneFit += steps * c * 8 * m * m
		}
	}
	if p.expansion > 0 {
		e := float64(p.expansion)
		q := 0
		if r.GammaI > 0 {
			q = rows
			if int(power)%2 == 1 {
				q = edges
				values += 3 * float64(edges) * 2 // the incidence matrix and its transpose
			}
		}
		blocks, err := cg.Bytes(l+q, columns, nil)
		if err != nil {
			blocks = math.MaxInt64 / 4
		}
		out.fit = blocks
		values += 8*n*c + 256*math.Max(n, e) + e*d // a tile; answers take the points once more
		product := n * e * (2*d + 2*c + 40)
		if s.Means == ByLandmarks {
			product *= 2
			values += 3*e*e + 2*e*d
			out.preparation += e*e*(2*d+40) + e*e*e
		}
		out.oneFit += steps * (product + c*(4*n*m+10*power*float64(edges)))
	}
	out.fit += int64(math.Min(8*values, math.MaxInt64/4))
	return out
}

// ScaledCost is about what [FitScaled] takes for targets t of some of the points
// x: bytes beside points and graph, and floating-point operations, in matrix
// products. Of k the kind matters, edges is the number of them in the graph, and
// limit the same as there. Settings that cannot be fitted are an error.
func ScaledCost(x data.Points, t *Targets, k kernel.Kind, edges int, r *KernelSettings, s *ScaleSettings, limit int64) (bytes int64, operations float64, err error) {
	if s == nil {
		s = &ScaleSettings{}
	}
	filled, p, err := s.way(x, k, r, limit)
	if err != nil {
		return 0, 0, err
	}
	_, columns := t.Y.Dims()
	c := filled.cost(p, x, k, len(t.Labeled), columns, edges, r)
	const estimate = 5000 // points at which f is compared with that of half the features
	m := float64(p.rank)
	if p.expansion == 0 {
		c.fit += 8 * estimate * int64(p.rank)
		c.oneFit += m*m*m*(1./3+1./24) + estimate*m*2*float64(columns)
	}
	return c.problem + c.fit, c.preparation + c.all + c.oneFit, nil
}
