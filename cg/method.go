package cg

import (
	"math"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/sparse"
)

// Method is a way to precondition a graph Laplacian.
type Method int

const (
	// Auto lets [Laplacian] choose.
	Auto Method = iota
	// None is the method without preconditioner.
	None
	// Jacobi divides by the diagonal.
	Jacobi
	// ApproximateCholesky is a sparse factorization with the expectation L + cI: the condition of
	// the preconditioned operator is moderate whatever the graph (Kyng & Sachdeva, FOCS 2016; Gao,
	// Kyng & Spielman, arXiv 2303.00709). It takes O(nnz log nnz) operations to make, as much time
	// as some 20 iterations, and 6 to 14 operations for each stored edge to apply to a vector.
	ApproximateCholesky
	// Chebyshev is a polynomial of the Laplacian scaled by its diagonal, in
	// single precision.
	Chebyshev
	// Cholesky is an exact factorization by nested dissection, as for graphs of the
	// neighbours of points on a curve or surface, where it has at most 24 numbers a
	// stored edge and 2²⁶ in all, 2²⁵ if [Auto] chooses it; ApproximateCholesky elsewhere.
	Cholesky
)

var methods = enum.New[Method]("preconditioner", "auto", "none", "jacobi", "approx-cholesky", "chebyshev",
	"cholesky")

// String returns the name used on the command line and in manifests.
func (m Method) String() string { return methods.String(m) }

// MarshalText returns the name.
func (m Method) MarshalText() ([]byte, error) { return methods.Marshal(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Method) UnmarshalText(text []byte) error { return methods.Unmarshal(m, text) }

const (
	// largeCondition is the condition of L + cI from which a factorization is cheaper than a
	// polynomial, which would have a degree above 120.
	largeCondition = 2000
	// largePower is the condition of (L + cI)ᵖ from which single precision would not do.
	largePower = 1e5
	// exactCondition is the condition of L + cI from which an exact factor is cheaper, if
	// the graph itself is ill-conditioned.
	exactCondition = 50
)

// Precondition makes the preconditioner of the given method for L + cI, or chooses one, for
// Settings.Preconditioner of several calls of [Laplacian]. The power of l does not count. The
// preconditioner need not serve the null vectors of L.
func Precondition(l *sparse.Laplacian, method Method, seed uint64) (Method, Preconditioner) {
	return precondition(l, method, form{deflated: true, copies: mostCopies, seed: seed}.factor)
}

// precondition is [Precondition] with factor to make a factor by Cholesky, where it has at most so many
// numbers, or by ApproximateCholesky.
func precondition(l *sparse.Laplacian, method Method,
	factor func(s *system, method Method, most int) (Method, Preconditioner)) (Method, Preconditioner) {
	if method == None {
		return method, identity{}
	}
	s := newSystem(l)
	if method == Jacobi {
		return method, s.jacobi()
	}

	// The eigenvalues of (D+G)⁻¹(D−W+G) lie in [relative + spread, high].
	const high = 2
	relative := 1.0
	spread, bound := s.spread()
	for i, g := range s.ground {
		relative = min(relative, g/s.diagonal[i])
	}
	low := min(1, relative+spread)
	most := exactMany
	if method == Auto {
		most = exactMost
		condition := high / min(low, relative+bound)
		method = Chebyshev
		if condition > largeCondition || math.Pow(condition, float64(l.Power())) > largePower || s.paired() {
			method = Cholesky
		} else if condition > exactCondition && high/bound > largeCondition {
			if m := newExact(s, true, most); m != nil {
				return Cholesky, m
			}
		}
	}

	if method == Cholesky || method == ApproximateCholesky {
		return factor(s, method, most)
	}

	// This degree reduces residuals in the interval by 2e^-5.6, a factor of about 130.
	degree := min(max(int(math.Round(2.8*math.Sqrt(high/low))), 2), 100)
	return method, newPolynomial(s, low, high, degree)
}

// form says how a factor is made.
type form struct {
	deflated bool  // the caller deflates the null vectors
	copies   int32 // of each edge, for ApproximateCholesky
	seed     uint64
	whole    bool // not by slabs: only such a factor can be stored
}

// factor returns the factor of a system by Cholesky or ApproximateCholesky. An exact factor of more than most
// numbers falls back to the approximate one.
func (f form) factor(s *system, method Method, most int) (Method, Preconditioner) {
	if method == Cholesky {
		if m := newExact(s, f.deflated, most); m != nil {
			return Cholesky, m
		}
	}
	if f.deflated && s.shadowed() {
		// So small a ground matters along the null vectors only.
		clear(s.ground)
	}
	if !f.whole {
		if d := s.divide(); d != nil {
			return ApproximateCholesky, newDivided(s, d, f.copies, f.seed)
		}
	}
	return ApproximateCholesky, newApproximate(s, f.copies, f.seed)
}
