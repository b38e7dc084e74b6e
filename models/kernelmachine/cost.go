package kernelmachine

import (
	"fmt"
	"math"
	"runtime"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// approach says how an approximate machine is fitted.
type approach struct {
	rank int // columns of the features Φ
	// expansion is the number of points that conjugate gradients make products
	// with; 0 for a direct solution on Φ.
	expansion int
}

// approach chooses for the points of x, under limit if there is one; s has its
// defaults.
func (s ApproximationSettings) approach(x kernel.Source, limit int64) (approach, error) {
	n, d := x.Rows().Dims()
	direct := approach{rank: s.Landmarks}
	if s.Approximation == Fourier {
		direct.rank = s.Features
	}
	p := direct
	tooMuch := func(rank int) bool { return s.fits(x, rank, limit) != nil }
	const iterations, outputs = 50, 10
	// Landmarks go to conjugate gradients where Φ is too large, or where 50 iterations of products
	// take fewer operations than Φ, which costs its rank for each value.
	switch {
	case s.Approximation == MatrixFree:
		p.expansion = n
	case s.Approximation == Nystrom && (p.rank > linear.MaxFormed || tooMuch(p.rank) ||
		iterations*(2*d+2*outputs+40) < p.rank):
		p.expansion = s.Landmarks
		fewer, _ := ApproximationSettings{}.fill(n) // the preconditioner has the default number
		for p.rank = min(p.rank, fewer.Landmarks); p.rank > 1 && tooMuch(p.rank); {
			p.rank /= 2
		}
		if tooMuch(p.rank) && direct.rank <= linear.MaxFormed {
			p = direct // the error for it says more
		}
	}

	if p.rank > linear.MaxFormed {
		return p, fmt.Errorf("kernelmachine: %d %s for a direct solution; the most is %d", p.rank, s.basis(),
			linear.MaxFormed)
	}
	return p, nil
}

// basis names the functions that f is made of.
func (s ApproximationSettings) basis() string {
	if s.Approximation == Fourier {
		return "Fourier features"
	}
	return "landmarks"
}

// remedy says how to fit in less memory.
func (s ApproximationSettings) remedy() string {
	if s.Approximation == Fourier {
		return fmt.Sprintf("take fewer %s", param.Name("features"))
	}
	return fmt.Sprintf("take fewer %s", param.Name("landmarks"))
}

// fits returns an error if features of the given rank for x take more than limit.
func (s ApproximationSettings) fits(x kernel.Source, rank int, limit int64) error {
	n, _ := x.Rows().Dims()
	if need := featureBytes(n, rank) + s.sideBytes(x); limit > 0 && need > limit {
		return fmt.Errorf("kernelmachine: %d %s of %d points take %d bytes, %d are allowed; use "+
			"fewer %s, or allow more memory", rank, s.basis(), n, need, limit, s.basis())
	}
	return nil
}

// heldBytes is the memory that m features of n points keep: Φ and two m×m matrices.
func heldBytes(n, m int) int64 { return 8 * (int64(n)*int64(m) + 2*int64(m)*int64(m)) }

// featureBytes is the memory to make them: in addition blocks of columns of Φ and
// of its products, and two more matrices.
func featureBytes(n, m int) int64 {
	return heldBytes(n, m) + 8*(4*int64(n)*int64(min(m, 128))+2*int64(m)*int64(m))
}

// sideBytes is the memory of the points made ready for a kernel, or of the frequencies
// of features, which do without.
func (s ApproximationSettings) sideBytes(x kernel.Source) int64 {
	if s.Approximation == Fourier {
		_, d := x.Rows().Dims()
		return 8 * int64(d) * int64(s.Features/2) // the frequencies
	}
	return x.Bytes()
}

// pointBytes is the memory of the points as given.
func pointBytes(x data.Points) int64 {
	n, d := x.Dims()
	switch x := x.(type) {
	case *sparse.CSR:
		return 12*int64(x.NNZ()) + 8*int64(n)
	case *data.Dense[uint8]:
		return int64(n) * int64(d)
	case *data.Dense[float32]:
		return 4 * int64(n) * int64(d)
	case *data.Stored:
		return int64(x.Kind().Size()) * int64(n) * int64(d)
	}

	return 8 * int64(n) * int64(d)
}

// threads is the number of parts that run at the same time.
func threads() int64 { return int64(runtime.GOMAXPROCS(0)) }

// checkFit returns an error unless machines of the settings r can be fitted by the
// approach p.
func (s ApproximationSettings) checkFit(r *Settings, p approach) error {
	// An intercept would make the system of conjugate gradients indefinite.
	switch {
	case !r.Method.approximates():
		return fmt.Errorf("kernelmachine: %v by %v; it is fitted exactly only", r.Method, s.Approximation)
	case p.expansion > 0 && r.biased():
		return fmt.Errorf("kernelmachine: conjugate gradients (%v, %d landmarks) are for least "+
			"squares without an intercept; use fewer landmarks", s.Approximation, s.Landmarks)
	}
	return nil
}

// resolve returns s with its defaults and the approach for machines of the settings
// r. The limit counts only where there is an approach that takes less memory.
func (s ApproximationSettings) resolve(x kernel.Source, r *Settings, limit int64) (ApproximationSettings,
	approach, error) {
	n, _ := x.Rows().Dims()
	s, err := s.fill(n)
	if err != nil {
		return s, approach{}, err
	}
	// Only least squares without an intercept have an approach that takes less memory.
	if r.biased() || s.Approximation != Nystrom {
		limit = 0
	}
	p, err := s.approach(x, limit)
	if err == nil {
		err = s.checkFit(r, p)
	}
	return s, p, err
}

// parts are the bytes and operations of an [ApproximateProblem] and of fits on it.
type parts struct {
	held, made int64   // bytes to keep the problem, and to make it
	fit        int64   // beside held
	prepare    float64 // operations for the problem
	one        float64 // for each fit
	shared     float64 // for any number of fits to one problem
}

// rootSize returns the columns of [solvers.NormRoot] that stand for r(L), and the bytes of the incidence
// matrix of the graph and its transpose, where r has an odd power.
func rootSize(r *regularizer.Regularizer, points, edges int) (columns int, incidence int64) {
	each := edges / 2 // stored twice
	for p, c := range r.Weights() {
		switch {
		case c == 0:
		case p%2 == 0:
			columns += points
		default:
			columns += each
			incidence = 64 * int64(each)
		}
	}
	return columns, incidence
}

// sizes are the numbers that the cost of a fit depends on.
type sizes struct{ labeled, outputs, edges int }

// parts estimates the approach p for machines of the settings r on the points x.
func (s ApproximationSettings) parts(p approach, x kernel.Source, z sizes, r *Settings) parts {
	const steps = 50
	rows, cols := x.Rows().Dims()
	l := z.labeled
	edges := z.edges
	n := float64(rows)
	d := float64(cols)
	m := float64(p.rank)
	c := float64(z.outputs)
	if x.Values != nil {
		d = 0
	}
	// Values of a given kernel cost nothing to compute.
	power := float64(r.Degree())
	var out parts
	out.held = heldBytes(rows, p.rank)
	out.made = featureBytes(rows, p.rank) + s.sideBytes(x)

	out.prepare = n*m*(2*d+40) + n*m*m // features
	if r.GammaI > 0 {
		out.prepare += n*m*m + 10*power*float64(edges)*m
	}
	// Labeled rows, blocks of them, the normal equations and their factor.
	values := float64(l)*m + data.BlockRows*m + 3*m*m
	out.one = float64(l)*m*m + m*m*m/3
	if r.Method == SVM {
		// Labeled rows in the basis of eigenvectors, and Newton's method.
		few := l < p.rank || float64(l)*m <= linear.SmallRows
		if few {
			values += 2 * float64(l) * m
		}
		if r.GammaI > 0 {
			values += 4 * m * m
		}
		values += 8*float64(l)*c + 13*m*c + 12*float64(l)*math.Min(c, float64(threads()))
		out.shared = 5 * m * m * m
		out.one = steps * c * 8 * float64(l) * m
		if !few {
			out.one += steps * c * 8 * m * m
		}
	}

	// Conjugate gradients hold blocks of vectors among the labeled points and, with a graph, among
	// all points or its edges, and tiles of the kernel.
	if p.expansion > 0 {
		e := float64(p.expansion)
		q := 0
		if r.GammaI > 0 {
			var incidence int64
			q, incidence = rootSize(&r.Regularizer, rows, edges)
			values += float64(incidence / 8)
		}

		blocks, err := cg.Bytes(l+q, z.outputs, nil)
		if err != nil {
			blocks = math.MaxInt64 / 4
		}
		out.fit = blocks
		// the tile of a product and of the one before; answers take the points once more
		values += 8*(n+float64(l+q))*c + 2*256*math.Max(n, e) + e*d
		out.held += s.sideBytes(x)
		// A product makes the kernel values anew; K_nm and its transpose are two of them.
		product := n * e * (2*d + 2*c + 40)
		if s.Approximation == Nystrom {
			product *= 2
			values += 3*e*e + 2*e*d
			out.prepare += e*e*(2*d+40) + e*e*e
		}
		out.one += steps * (product + c*(4*n*m+10*power*float64(edges)))
	}

	out.fit += models.Bytes(8 * values)
	return out
}

// approximateCost returns the cost of [FitApproximate] for the values of source.
// Settings that cannot be fitted are an error.
func approximateCost(in *models.Input, source kernel.Source, r *Settings,
	s *ApproximationSettings) (stage.Cost, error) {
	filled, p, err := s.resolve(source, r, in.Memory)
	if err != nil {
		return stage.Cost{}, err
	}
	_, outputs := in.Targets.Y.Dims()
	c := filled.parts(p, source, sizes{len(in.Targets.Labeled), outputs, in.EdgeCount()}, r)
	// A direct solution comes with the estimates: rows of Φ at the compared points, and a solution
	// with half of the features. Of least squares the matrix of the equations and its factor are gone
	// when the rows are taken, see [ApproximateProblem.estimate].
	m := float64(p.rank)
	if p.expansion == 0 {
		rows := int64(min(estimated, in.Targets.Len))
		if r.Method == RLS {
			rows = max(0, rows-2*int64(p.rank))
		}
		c.fit += 8 * int64(p.rank) * rows
		c.one += m*m*m*(1./3+1./24) + estimated*m*2*float64(outputs)
	}
	return stage.Cost{Bytes: stage.DenseBytes(max(c.made, c.held+c.fit)),
		Operations: c.prepare + c.shared + c.one}, nil
}
