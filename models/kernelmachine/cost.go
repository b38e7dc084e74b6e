package kernelmachine

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/sparse"
)

// plan is the way that settings take for some points.
type plan struct {
	rank int // columns of the features Φ
	// expansion is the number of points that conjugate gradients make products
	// with; 0 for a direct solution on Φ.
	expansion int
}

// plan returns the way that s, with its defaults, takes for x: under limit, if
// there is one.
func (s ApproximationSettings) plan(x data.Points, k kernel.Kind, limit int64) (plan, error) {
	n, d := x.Dims()
	direct := plan{rank: s.Landmarks}
	if s.Approximation == Fourier {
		direct.rank = s.Features
	}
	p := direct
	tooMuch := func(rank int) bool { return s.fits(x, k, rank, limit) != nil }
	const iterations, outputs = 50, 10
	switch {
	case s.Approximation == MatrixFree:
		p.expansion = n
	case s.Approximation == Nystrom && (p.rank > linear.MaxFormed || tooMuch(p.rank) || iterations*(2*d+2*outputs+40) < p.rank):
		p.expansion = s.Landmarks
		fewer, _ := ApproximationSettings{}.fill(n) // the preconditioner has the default number
		for p.rank = min(p.rank, fewer.Landmarks); p.rank > 1 && tooMuch(p.rank); {
			p.rank /= 2
		}
		if tooMuch(p.rank) && direct.rank <= linear.MaxFormed {
			p = direct // what it would take says more
		}
	}
	if p.rank > linear.MaxFormed {
		return p, fmt.Errorf("kernelmachine: %d %s for a direct solution; the most is %d", p.rank, s.counted(), linear.MaxFormed)
	}
	return p, nil
}

// counted is what there are a number of.
func (s ApproximationSettings) counted() string {
	if s.Approximation == Fourier {
		return "Fourier features"
	}
	return "landmarks"
}

// fits returns an error if features of the given rank for x take more than limit.
func (s ApproximationSettings) fits(x data.Points, k kernel.Kind, rank int, limit int64) error {
	n, _ := x.Dims()
	if need := featureBytes(n, rank) + s.sideBytes(x, k); limit > 0 && need > limit {
		return fmt.Errorf("kernelmachine: %d %s of %d points take %d bytes, %d are allowed; use fewer %s, or allow more memory", rank, s.counted(), n, need, limit, s.counted())
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
func (s ApproximationSettings) sideBytes(x data.Points, k kernel.Kind) int64 {
	if _, isSparse := x.(*sparse.CSR); isSparse || k == kernel.Precomputed || s.Approximation == Fourier {
		return 0
	}
	n, d := x.Dims()
	return 8 * int64(n) * int64(d+1)
}

// suits returns an error unless machines of the settings r can be fitted by s in
// the way of p.
func (s ApproximationSettings) checkFit(r *Settings, p plan) error {
	switch {
	case r.Method > SVM:
		return fmt.Errorf("kernelmachine: %v by %v; it is fitted exactly only", r.Method, s.Approximation)
	case p.expansion > 0 && (r.Method == SVM || r.Intercept):
		return fmt.Errorf("kernelmachine: conjugate gradients (%v, %d landmarks) are for least squares without a bias; use fewer landmarks", s.Approximation, s.Landmarks)
	}
	return nil
}

// scaledCost are the bytes and operations of a problem and of a fit on it.
type ApproximateCosts struct {
	Problem, Fit             int64
	Preparation, OneFit, All float64 // all is once for any number of fits
}

// way returns s with its defaults and the plan for machines of the settings r. Only
// a plan that can be had for less memory heeds limit.
func (s ApproximationSettings) Resolve(x data.Points, k kernel.Kind, r *Settings, limit int64) (ApproximationSettings, plan, error) {
	n, _ := x.Dims()
	s, err := s.fill(n)
	if err != nil {
		return s, plan{}, err
	}
	if r.Method == SVM || r.Intercept || s.Approximation != Nystrom {
		limit = 0
	}
	p, err := s.plan(x, k, limit)
	if err == nil {
		err = s.checkFit(r, p)
	}
	return s, p, err
}

// Cost is that of the way p for n points x with l targets in the given number of
// columns; edges are those of the graph.
func (s ApproximationSettings) Cost(p plan, x data.Points, k kernel.Kind, l, columns, edges int, r *Settings) ApproximateCosts {
	const steps = 50
	rows, cols := x.Dims()
	n, d, m, c := float64(rows), float64(cols), float64(p.rank), float64(columns)
	if k == kernel.Precomputed {
		d = 0
	}
	power := float64(max(1, r.Power))
	var out ApproximateCosts
	out.Problem = featureBytes(rows, p.rank) + s.sideBytes(x, k)
	out.Problem += out.Problem / 8 // what is not collected yet

	out.Preparation = n*m*(2*d+40) + n*m*m // features
	if r.GammaI > 0 {
		out.Preparation += n*m*m + 10*power*float64(edges)*m
	}
	// Labeled rows, twice; blocks of rows; normal equations, factors and, for the
	// hinge, eigenvectors.
	values := 2*float64(l)*m + 3*data.BlockRows*m + 6*m*m
	out.OneFit = float64(l)*m*m + m*m*m/3
	if r.Method == SVM {
		out.All = 5 * m * m * m
		out.OneFit = steps * c * 8 * float64(l) * m
		if float64(l)*m > linear.SmallRows && l >= p.rank {
			out.OneFit += steps * c * 8 * m * m
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
		out.Fit = blocks
		values += 8*n*c + 256*math.Max(n, e) + e*d // a tile; answers take the points once more
		product := n * e * (2*d + 2*c + 40)
		if s.Approximation == Nystrom {
			product *= 2
			values += 3*e*e + 2*e*d
			out.Preparation += e*e*(2*d+40) + e*e*e
		}
		out.OneFit += steps * (product + c*(4*n*m+10*power*float64(edges)))
	}
	out.Fit += int64(math.Min(8*values, math.MaxInt64/4))
	return out
}

// ApproximateCost is about what [FitApproximate] takes for targets t of some of the points
// x: bytes beside points and graph, and floating-point operations, in matrix
// products. Of k the kind matters, edges is the number of them in the graph, and
// limit the same as there. Settings that cannot be fitted are an error.
func ApproximateCost(x data.Points, t *models.Targets, k kernel.Kind, edges int, r *Settings, s *ApproximationSettings, limit int64) (bytes int64, operations float64, err error) {
	if s == nil {
		s = &ApproximationSettings{}
	}
	filled, p, err := s.Resolve(x, k, r, limit)
	if err != nil {
		return 0, 0, err
	}
	_, columns := t.Y.Dims()
	c := filled.Cost(p, x, k, len(t.Labeled), columns, edges, r)
	const estimate = 5000 // points at which f is compared with that of half the features
	m := float64(p.rank)
	if p.expansion == 0 {
		c.Fit += 8 * estimate * int64(p.rank)
		c.OneFit += m*m*m*(1./3+1./24) + estimate*m*2*float64(columns)
	}
	return c.Problem + c.Fit, c.Preparation + c.All + c.OneFit, nil
}
