package lanczos

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/num/dense"
)

// plan is Settings with everything filled in for one operator.
type plan struct {
	Settings
	Nullity int // exact null vectors, the first of the known ones
	n       int
	known   int    // eigenvectors known beforehand
	wanted  int    // K − known
	block   int    // vectors in a block
	basis   int    // largest number of basis vectors behind the known ones
	narrow  bool   // polynomials are applied in single precision
	scratch string // folder for vectors in place of memory; "" for none
}

// columns returns the number of vectors that a process holds.
func (p *plan) columns() int { return p.known + p.basis + p.block }

// forSearch makes p the plan of a process that only searches for eigenvalues that were left out.
func (p *plan) forSearch() *plan {
	p.block = searchBlock
	p.basis = p.K + 6*searchBlock
	return p
}

// allocate returns an n×columns block of zeros: in memory, or in the scratch folder.
func (p *plan) allocate(columns int) *mat.Dense {
	if p.scratch != "" {
		if x, err := mapped.Scratch(p.scratch, p.n*columns); err == nil {
			return mat.NewDense(p.n, columns, x)
		}
	}
	return dense.New(p.n, columns)
}

func newPlan(n int, s *Settings) (*plan, error) {
	if s == nil {
		return nil, errors.New("lanczos: settings must name the number of eigenpairs")
	}
	p := &plan{Settings: *s, n: n, narrow: s.Single}
	var faults []error
	if n < 1 {
		faults = append(faults, errors.New("lanczos: the operator has dimension 0"))
	}
	if p.K < 1 {
		faults = append(faults,
			fmt.Errorf("lanczos: %d eigenpairs asked; the number must be at least 1", p.K))
	}
	if p.Tolerance < 0 || math.IsNaN(p.Tolerance) {
		faults = append(faults, fmt.Errorf("lanczos: tolerance %v; it must not be negative", p.Tolerance))
	}
	if p.Basis < 0 || p.MaxRestarts < 0 || p.MemoryLimit < 0 {
		faults = append(faults, fmt.Errorf("lanczos: basis %d, restarts %d and memory limit %d must "+
			"not be negative", p.Basis, p.MaxRestarts, p.MemoryLimit))
	}

	if s.Single && (s.Known != nil || s.Rough) {
		faults = append(faults, errors.New("lanczos: known vectors are refined, and rough ones filtered, in double "+
			"precision; leave out the single precision, or the known vectors"))
	}
	if s.Single && s.Tolerance > 0 && s.Tolerance < SingleTolerance {
		faults = append(faults, fmt.Errorf("lanczos: a tolerance of %v in single precision, whose rounding allows %v; "+
			"raise the tolerance, or take double precision", s.Tolerance, SingleTolerance))
	}
	if s.Known != nil {
		if rows, _ := s.Known.Dims(); rows != n {
			faults = append(faults, fmt.Errorf("lanczos: known vectors of length %d for an operator "+
				"of dimension %d", rows, n))
		}
	}

	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	p.K = min(p.K, n)
	switch {
	case p.Tolerance > 0:
	case p.Single:
		p.Tolerance = 1e-6
	default:
		p.Tolerance = 1e-8
	}
	if p.MaxRestarts == 0 {
		p.MaxRestarts = 60
	}
	if p.DescentFrom == 0 {
		p.DescentFrom = 50_000
	}
	p.setKnown(0)
	if need := p.bytes(); p.MemoryLimit > 0 && need > p.MemoryLimit {
		return nil, fmt.Errorf("lanczos: %d eigenpairs of dimension %d take at least %d bytes, %d "+
			"are allowed; ask for fewer pairs or allow more", p.K, n, need, p.MemoryLimit)
	}
	return p, nil
}

// SingleTolerance is the least tolerance of vectors in single precision.
const SingleTolerance = 2e-7

// stored returns x in the precision of the result.
func (p *plan) stored(x *mat.Dense) vectors {
	if p.Single {
		return wide(x).rounded()
	}
	return wide(x)
}

// basisVectors returns memory for the vectors of a process.
func (p *plan) basisVectors() vectors {
	if p.Single {
		return newVectors(p.n, p.columns(), true)
	}
	return wide(p.allocate(p.columns()))
}

// setKnown makes p the plan for K − known pairs behind known ones, and chooses block and basis.
func (p *plan) setKnown(known int) {
	p.known = known
	p.wanted = p.K - known
	// A few pairs converge best with a long Krylov sequence of narrow blocks. Many pairs spend
	// their time in matrix products, which run at full speed from 16 and 32 columns on.
	switch {
	case p.wanted >= manyPairs:
		p.block = 32
	case p.wanted >= severalPairs:
		p.block = 16
	default:
		p.block = 8
	}

	// Six blocks beside the wanted vectors let the search for missed pairs take its steps. The default balances the cost
	// of orthogonalization, which grows with the basis, against restarts, which become rarer. Many pairs converge in 1.75
	// to 1.85 times their number of vectors, and a restart compresses them all: 1000 pairs of MNIST's graph, combinatorial,
	// took 31 s with 1.75 times as many vectors, of which a restart was eight, 26 with 1.9 and 27 with twice as many.
	least := p.wanted + 6*p.block
	p.basis = p.Basis
	switch {
	case p.basis > 0:
	case p.wanted >= manyPairs:
		p.basis = p.wanted + p.wanted*9/10
	default:
		p.basis = p.wanted + max(p.wanted*3/4, 8*p.block)
	}
	p.basis = (max(p.basis, least) + p.block - 1) / p.block * p.block
	// Whole blocks only; a memory limit takes blocks away, and restarts become more frequent.
	for p.MemoryLimit > 0 && !p.dense() && p.bytes() > p.MemoryLimit && p.basis-p.block >= least {
		p.basis -= p.block
	}
}

// severalPairs is the number of pairs from which wide blocks and a stronger filter are faster.
const severalPairs = 64

// manyPairs is the number of pairs from which orthogonalization costs so much that it must be done
// by wide matrix products.
const manyPairs = 500

// denseLimit is the dimension up to which the dense method is always used: it takes a fraction of a
// second there and depends on no estimate.
const denseLimit = 800

// roughDense is the dimension up to which the dense method takes the place of a rough search, as a multiple of the
// columns of the search.
const roughDense = 6

// dense reports whether the whole spectrum is cheaper than the basis, or than the columns of a rough search.
func (p *plan) dense() bool {
	if p.Rough {
		return p.n <= roughDense*p.refined()
	}
	return p.n <= denseLimit || p.columns() > p.n/2
}

// refined returns the number of columns of a subspace iteration: the wanted ones and guards, a multiple of four, which
// fills the registers of the products.
func (p *plan) refined() int { return (p.wanted + refineGuards + 3) / 4 * 4 }

// bytes returns the memory of a run: for the dense method four n×n matrices, otherwise the basis, the
// blocks of work, the vectors of the result and five projected matrices: Ritz vectors are packed for their product with the basis.
func (p *plan) bytes() int64 {
	rows := int64(p.n)
	if p.dense() {
		return 8 * 4 * rows * rows
	}
	if p.Rough {
		m := int64(p.refined())
		// The vectors of the result take the place of the columns: see [plan.behindNull].
		return 8 * (rows*(max(m, int64(p.K))+2*slabWidth+3*densityVectors) + 4*m*m)
	}
	basis := int64(p.columns())
	blocks := 3 * int64(p.block)
	projected := 5 * basis * basis
	switch {
	case p.Single:
		return 4*rows*basis + 8*(rows*blocks+projected)
	case 2*int64(p.K) <= basis:
		// The vectors of the result get memory of their own beside the basis, when the blocks are given up: see
		// [krylov.release].
		blocks = max(blocks, int64(p.K))
	}
	return 8 * (rows*(basis+blocks) + projected)
}

// Bytes returns the memory that Solve with these settings needs beside an
// operator of dimension n.
func Bytes(n int, s *Settings) (int64, error) {
	p, err := newPlan(n, s)
	if err != nil {
		return 0, err
	}
	return p.bytes(), nil
}

// Operations estimates the floating-point operations of Solve for an operator of dimension n with
// nnz entries, counted as operations of float64 matrix products that take as long: two passes of
// orthogonalization for a basis and what a restart adds, and filtered products, which run at the speed
// of memory; see [entryOperations].
func Operations(n, nnz int, s *Settings) float64 {
	p, err := newPlan(n, s)
	if err != nil {
		return 0
	}

	m := float64(p.basis)
	rows := float64(n)
	if p.dense() {
		return 10 * rows * rows * rows
	}

	product := entryOperations(rows) * float64(nnz) // of one column
	if p.Rough {
		m := float64(p.refined())
		return 8*rows*m*m + 30*m*product
	}
	// The usual degree of the filter of a few pairs, 8 for 10⁴ vertices and 16 for 10⁷, and the usual columns, one and a
	// half times the basis. The degree is chosen from the density, which is not known here.
	degree := p.growth() / fewGrowth * 8 * math.Pow(rows/1e4, 0.1)
	return 4*rows*m*m + 1.5*m*degree*product + 2*rows*m*float64(p.K)
}

// entryOperations is the number of operations of dense products in the time that one entry of a graph of so many vertices
// takes in one column of a product with a block of vectors. Of up to 10⁵ vertices the block stays in the caches, and
// the two operations of an entry take 20 times as long as elsewhere; for more of them it is read from memory. Measured
// with 10⁴ to 10⁷ vertices of a 10-dimensional manifold on one processor with AVX2.
func entryOperations(n float64) float64 { return 40 * math.Pow(max(1, n/1e5), 0.2) }
