package solvers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// Columns is a symmetric positive semidefinite n×n matrix A given by its entries.
type Columns interface {
	Dim() int
	// DiagonalTo sets dst[i] = A_ii.
	DiagonalTo(dst []float64)
	// ColumnsTo sets dst, n×len(j), to the columns j of A.
	ColumnsTo(dst *mat.Dense, j []int)
}

// Sampling is a way to choose columns.
type Sampling int

const (
	// RandomPivots draws with probabilities proportional to the diagonal of the
	// remainder A − FFᵀ: RPCholesky (Chen, Epperly, Tropp & Webber 2023, algorithm 1, in blocks).
	RandomPivots Sampling = iota
	// Uniform draws with equal chances.
	Uniform
	// PlusPlus draws by the squared distance A_ii + A_jj − 2A_ij to the nearest
	// column drawn before, like k-means++ (Arthur & Vassilvitskii 2007) in the
	// space of features, in blocks.
	PlusPlus
)

var samplings = enum.New[Sampling]("choice of landmarks", "rpcholesky", "uniform", "kmeans++")

// String returns the name used on the command line and in manifests.
func (s Sampling) String() string { return samplings.String(s) }

// MarshalText returns the name.
func (s Sampling) MarshalText() ([]byte, error) { return samplings.Marshal(s) }

// UnmarshalText is the inverse of MarshalText.
func (s *Sampling) UnmarshalText(text []byte) error { return samplings.Unmarshal(s, text) }

// NystromSettings of [NewNystrom].
type NystromSettings struct {
	// Rank is the number m of columns to take. It must be positive; more than n
	// counts as n.
	Rank int
	// Sampling defaults to RandomPivots.
	Sampling Sampling
	// Seed of the choice. Any value, 0 included.
	Seed uint64
	// Block is the number of columns drawn at a time. Default m/16, at least 1
	// and at most 128.
	Block int
	// Cut is relative to the largest diagonal entry of A: a column counts as zero when its diagonal
	// entry in the remainder A − FFᵀ is below it. Default 1e-12.
	Cut float64
	// OnBlock, if not nil, is told after each block how many of Rank columns are
	// taken.
	OnBlock func(done, rank int)
}

func (s NystromSettings) fill(n int) (NystromSettings, error) {
	var faults []error
	if s.Rank < 1 {
		faults = append(faults, fmt.Errorf("solvers: rank %d; it must be at least 1", s.Rank))
	}
	if !samplings.Valid(s.Sampling) {
		faults = append(faults, fmt.Errorf("solvers: choice of landmarks %v", s.Sampling))
	}
	if s.Block < 0 {
		faults = append(faults, fmt.Errorf("solvers: blocks of %d columns; they must be positive, or "+
			"0 for the default", s.Block))
	}
	if !(s.Cut >= 0 && s.Cut < 1) {
		faults = append(faults, fmt.Errorf("solvers: cut %v; it must be positive and less than 1, or "+
			"0 for the default", s.Cut))
	}
	s.Rank = min(s.Rank, n)
	if s.Block == 0 {
		s.Block = max(1, min(128, s.Rank/16))
	}
	if s.Cut == 0 {
		s.Cut = 1e-12
	}
	return s, errors.Join(faults...)
}

// Nystrom is the approximation A ≈ F·Fᵀ = C·W⁻¹·Cᵀ from r columns C of A, with W their rows at the
// same places. Among approximations with an error that is positive semidefinite and zero in these
// columns it is the best. It is immutable.
type Nystrom struct {
	Factor *mat.Dense // F, n×r
	// Pivots are the columns, in the order in which F was made of them: row
	// Pivots[p] of F is zero behind column p. The leading parts of both are the
	// approximation from fewer columns.
	Pivots []int
	// Trace is tr A, and Residual tr(A − FFᵀ).
	Trace, Residual float64
}

// NewNystrom chooses columns of a and factors the approximation, by partial Cholesky factorization.
// For each block of columns it subtracts the approximation by the blocks before, and factors the
// remainder with complete pivoting. A column with a remainder below s.Cut is left out; if there are
// too few others, the rank is less than asked for.
//
// It costs m columns of a and n·m² operations, nearly all in matrix products, and holds n·m values
// and an n×Block block. The same seed gives the same columns at any GOMAXPROCS. If ctx is cancelled
// the result is nil.
//
// Chen, Epperly, Tropp & Webber, Randomly pivoted Cholesky, Comm. Pure Appl. Math. 78 (2025), arXiv
// 2207.06503.
func NewNystrom(ctx context.Context, a Columns, s *NystromSettings) (*Nystrom, error) {
	if s == nil {
		s = &NystromSettings{}
	}
	n := a.Dim()
	filled, err := s.fill(n)
	if err != nil {
		return nil, err
	}
	w := &nystrom{NystromSettings: filled, n: n, residual: make([]float64, n)}
	w.f = dense.New(n, filled.Rank)
	w.columns = dense.New(n, filled.Block)
	a.DiagonalTo(w.residual)

	for i, v := range w.residual {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("solvers: diagonal entry %d is %v; the matrix must be positive "+
				"semidefinite", i, v)
		}
	}

	w.least = filled.Cut * slices.Max(w.residual)
	w.diagonal = slices.Clone(w.residual)
	w.taken = make([]bool, n)
	w.rng = rand.New(rand.NewPCG(filled.Seed, 0x6e797374726f6d)) // "nystrom"
	out := &Nystrom{}
	for _, v := range w.diagonal {
		out.Trace += v
	}

	// Block by block, until the rank is reached or nothing is left to draw.
	for len(w.pivots) < filled.Rank {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		block := w.draw(min(filled.Block, filled.Rank-len(w.pivots)))
		if len(block) == 0 {
			break
		}
		w.extend(a, block)
		if filled.OnBlock != nil {
			filled.OnBlock(len(w.pivots), filled.Rank)
		}
	}

	out.Pivots = w.pivots
	out.Factor = narrow(w.f, max(1, len(w.pivots)))
	for _, v := range w.residual {
		out.Residual += v
	}
	return out, nil
}

// narrow returns the first c columns of a, with rows that are adjacent, in the
// same memory.
func narrow(a *mat.Dense, c int) *mat.Dense {
	r := a.RawMatrix()
	if r.Cols == c {
		return a
	}
	for i := range r.Rows {
		copy(r.Data[i*c:][:c], r.Data[i*r.Stride:][:c])
	}
	return mat.NewDense(r.Rows, c, r.Data[:r.Rows*c])
}

// Root returns the lower triangular r×r matrix R with W = R·Rᵀ: the rows of F at
// the pivots.
func (y *Nystrom) Root() *mat.Dense {
	_, r := y.Factor.Dims()
	root := mat.NewDense(r, r, nil)
	for p, i := range y.Pivots {
		copy(root.RawRowView(p)[:p+1], y.Factor.RawRowView(i))
	}
	return root
}

// nystrom is a run of NewNystrom.
type nystrom struct {
	NystromSettings
	n        int
	f        *mat.Dense
	columns  *mat.Dense // n×Block, the columns of the present block
	pivots   []int
	taken    []bool    // columns that were chosen
	diagonal []float64 // of A
	residual []float64 // of A − FFᵀ
	square   []float64 // squared distance to the nearest chosen column; for PlusPlus
	least    float64
	rng      *rand.Rand
}

// draw returns at most b columns that are not taken, drawn one after the other without replacement
// with probabilities in proportion to their weights: it takes the smallest −ln(u)/weight
// (Efraimidis & Spirakis 2006).
func (w *nystrom) draw(b int) []int {
	type ticket struct {
		key float64
		i   int
	}
	var tickets []ticket
	for i := range w.n {
		weight := w.residual[i]
		switch {
		case w.Sampling == Uniform:
			weight = 1
		case w.Sampling == PlusPlus && w.square != nil:
			weight = w.square[i]
		case w.Sampling == PlusPlus:
			weight = 1
		}
		// Every column draws a number, so that the sequence does not depend on the columns taken.
		u := w.rng.Float64()
		if !w.taken[i] && weight > 0 && w.residual[i] > w.least {
			tickets = append(tickets, ticket{-math.Log(1-u) / weight, i})
		}
	}

	slices.SortFunc(tickets, func(p, q ticket) int {
		return cmp.Or(cmp.Compare(p.key, q.key),
			cmp.Compare(p.i, q.i))
	})
	var out []int
	for _, t := range tickets[:min(b, len(tickets))] {
		out = append(out, t.i)
	}
	return out
}

// extend adds the columns of a block to the factor.
func (w *nystrom) extend(a Columns, block []int) {
	b := len(block)
	r := len(w.pivots)
	g := w.columns.Slice(0, w.n, 0, b).(*mat.Dense)
	a.ColumnsTo(g, block)
	if w.Sampling == PlusPlus {
		w.approach(g, block)
	}
	if r > 0 {
		done := w.f.Slice(0, w.n, 0, r).(*mat.Dense)
		rows := mat.NewDense(b, r, nil)
		for p, i := range block {
			copy(rows.RawRowView(p), done.RawRowView(i))
		}
		dense.Gemm(dense.NoTrans, dense.Transposed, -1, done, rows, 1, g)
	}

	// Factor the block of the remainder at its own rows.
	h := mat.NewDense(b, b, nil)
	for p, i := range block {
		copy(h.RawRowView(p), g.RawRowView(i))
		w.taken[i] = true
	}

	keep, root := pivotedCholesky(h, w.least)
	k := len(keep)
	if k == 0 {
		return
	}
	inverse := mat.NewDense(k, k, nil) // R⁻¹
	for p := range k {
		inverse.Set(p, p, 1)
	}
	dense.SolveLower(dense.NoTrans, root, inverse)
	spread := mat.NewDense(b, k, nil) // R⁻ᵀ, rows at their places in the block
	for p, q := range keep {
		spread.SetRow(q, mat.Col(nil, p, inverse))
	}
	// New columns of F: the remainder times R⁻ᵀ, exactly triangular at the pivots.
	fresh := w.f.Slice(0, w.n, r, r+k).(*mat.Dense)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, g, spread, 0, fresh)
	for p, q := range keep {
		clear(fresh.RawRowView(block[q])[p+1:])
	}

	// The diagonal of the remainder, without rounding below zero.
	par.For(w.n, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var sum float64
			for _, v := range fresh.RawRowView(i) {
				sum += v * v
			}
			w.residual[i] = max(0, w.residual[i]-sum)
		}
	})

	for _, q := range keep {
		w.residual[block[q]] = 0
		w.pivots = append(w.pivots, block[q])
	}
}

// approach lowers the squared distances to the nearest chosen column by a block, with its columns g
// of A.
func (w *nystrom) approach(g *mat.Dense, block []int) {
	if w.square == nil {
		w.square = make([]float64, w.n)
		for i := range w.square {
			w.square[i] = math.Inf(1)
		}
	}

	par.For(w.n, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for p, v := range g.RawRowView(i) {
				w.square[i] = min(w.square[i], max(0, w.diagonal[i]+w.diagonal[block[p]]-2*v))
			}
		}
	})
}

// pivotTie is the relative difference of diagonal entries that counts as none, so that
// rounding does not choose between equal ones.
const pivotTie = 1e-9

// pivotedCholesky factors the rows and columns keep of the symmetric matrix h as R·Rᵀ. It reads
// only the lower triangle of h and overwrites h. The largest remaining diagonal entry comes first,
// and the first among entries equal up to rounding, until none is above least.
func pivotedCholesky(h *mat.Dense, least float64) (keep []int, root *mat.Dense) {
	b, _ := h.Dims()
	dense.Mirror(h)
	diagonal := make([]float64, b)
	open := make([]bool, b)
	for i := range b {
		diagonal[i] = h.At(i, i)
		open[i] = true
	}

	// Row i of rows is the row of R for column i.
	rows := mat.NewDense(b, b, nil)
	for len(keep) < b {
		next := -1
		for i, v := range diagonal {
			if open[i] && v > least && (next < 0 || v > diagonal[next]*(1+pivotTie)) {
				next = i
			}
		}

		if next < 0 {
			break
		}
		k := len(keep)
		pivot := math.Sqrt(diagonal[next])
		at := rows.RawRowView(next)
		at[k] = pivot
		open[next] = false
		for i := range b {
			if !open[i] {
				continue
			}
			row := rows.RawRowView(i)
			sum := h.At(i, next)
			for q := range k {
				sum -= row[q] * at[q]
			}
			row[k] = sum / pivot
			diagonal[i] -= row[k] * row[k]
		}

		keep = append(keep, next)
	}

	k := len(keep)
	if k == 0 {
		return nil, nil
	}
	root = mat.NewDense(k, k, nil)
	for p, i := range keep {
		copy(root.RawRowView(p), rows.RawRowView(i)[:k])
	}
	return keep, root
}
