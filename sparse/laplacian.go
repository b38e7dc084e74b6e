package sparse

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// Kind is a definition of the graph Laplacian.
type Kind int

const (
	// Combinatorial is L = D − W with D = diag(Σ_j w_ij).
	Combinatorial Kind = iota
	// Normalized is L = I − D^-½ W D^-½, with a zero row for a vertex of
	// degree zero (Chung 1997), so that the nullity is the number of
	// components for every kind.
	Normalized
	// RandomWalk is I − D⁻¹W. It is not symmetric: it shares the eigenvalues
	// of Normalized, and its eigenvectors are D^-½ times the eigenvectors of
	// Normalized. As an operator it acts like Normalized.
	RandomWalk
)

var kinds = enum.New[Kind]("Laplacian", "combinatorial", "normalized", "random-walk")

// String returns the name used on the command line and in manifests.
func (k Kind) String() string { return kinds.String(k) }

// MarshalText returns the name.
func (k Kind) MarshalText() ([]byte, error) { return kinds.Marshal(k) }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(text []byte) error { return kinds.Unmarshal(k, text) }

// Laplacian is the operator (L + cI)ᵖ of a graph, applied and never formed: a
// product costs p passes over the graph. The zero power and shift of
// [NewLaplacian] are p = 1 and c = 0.
type Laplacian struct {
	w      *CSR // without weights where only val has them
	graph  func() *CSR
	kind   Kind
	degree []float64
	// The matrix is diag(diagonal) − val with w's columns. A normalized one has
	// val = s_i w_ij s_j with s = D^-½, or only s if w's weights are one. It is made
	// at the first product: not every Laplacian is multiplied by.
	diagonal []float64
	val      func() []float64
	scale    []float64 // s, 0 for degree zero; nil if combinatorial
	power    int
	shift    float64
}

// NewLaplacian returns the Laplacian of the graph with weights w, which is
// checked (see CheckGraph) and shared, not copied.
func NewLaplacian(w *CSR, kind Kind) (*Laplacian, error) {
	if err := w.CheckGraph(); err != nil {
		return nil, err
	}
	return newLaplacian(w, kind), nil
}

func newLaplacian(w *CSR, kind Kind) *Laplacian {
	l := &Laplacian{w: w, graph: func() *CSR { return w }, kind: kind, degree: w.Degrees(), val: func() []float64 { return w.Val }, power: 1}
	l.diagonal = l.degree
	if kind == Combinatorial {
		return l
	}
	l.scale = make([]float64, w.Rows)
	l.diagonal = make([]float64, w.Rows)
	for i, d := range l.degree {
		if d > 0 {
			l.scale[i] = 1 / math.Sqrt(d)
			l.diagonal[i] = 1
		}
	}

	if w.Val == nil {
		return l
	}
	scale := l.scale
	l.val = sync.OnceValue(func() []float64 {
		val := dense.Zeros[float64](len(w.Col))
		scaleTo(val, w, scale)
		return val
	})
	return l
}

// scaleTo sets val, which may be w's own, to s_i w_ij s_j for the entries of w.
func scaleTo(val []float64, w *CSR, s []float64) {
	par.For(w.Rows, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for p := w.Ptr[i]; p < w.Ptr[i+1]; p++ {
				// In this order, since s_i·s_j alone overflows for degrees below
				// 1e-308, and the same for (j, i).
				j := int(w.Col[p])
				val[p] = s[min(i, j)] * w.Val[p] * s[max(i, j)]
			}
		}
	})
}

// Permute returns the operator on the vertices in the given order; see
// [CSR.Permute]. One of a normalized kind keeps no weights but its own, and makes
// its Graph anew at each call.
func (l *Laplacian) Permute(order []int32) *Laplacian {
	given := l.Graph()
	w := given.Permute(order)
	given.Release(0, given.Rows)
	out := newLaplacian(w, l.kind).With(l.power, l.shift)
	if out.scale != nil && w.Val != nil {
		scaleTo(w.Val, w, out.scale)
		val := w.Val
		out.val = func() []float64 { return val }
		out.w = &CSR{Rows: w.Rows, Cols: w.Cols, Ptr: w.Ptr, Col: w.Col}
		out.graph = func() *CSR { return l.Graph().Permute(order) }
	}
	return out
}

// As returns the operator of the given kind of the same graph, which is not checked again.
func (l *Laplacian) As(kind Kind) *Laplacian {
	return newLaplacian(l.Graph(), kind).With(l.power, l.shift)
}

// With returns the operator (L + cI)ᵖ of the same graph. p must be at least 1.
func (l *Laplacian) With(power int, shift float64) *Laplacian {
	if power < 1 {
		panic(fmt.Sprintf("sparse: Laplacian power %d", power))
	}
	out := *l
	out.power = power
	out.shift = shift
	return &out
}

// Scaled returns the operator of the same graph with all weights times 2ᵉ: exactly
// 2^{ep} times this one, if it is of [Combinatorial] kind without shift. The
// normalized kinds do not depend on the scale and are returned as they are.
func (l *Laplacian) Scaled(e int) *Laplacian {
	if l.kind != Combinatorial || e == 0 {
		return l
	}
	w := *l.w
	w.Val = make([]float64, len(w.Col))
	for p := range w.Val {
		v := 1.0
		if l.w.Val != nil {
			v = l.w.Val[p]
		}
		w.Val[p] = math.Ldexp(v, e)
	}

	return newLaplacian(&w, l.kind).With(l.power, l.shift)
}

// Dim returns the number of vertices.
func (l *Laplacian) Dim() int { return l.w.Rows }

// Kind returns the definition in use.
func (l *Laplacian) Kind() Kind { return l.kind }

// Power returns the p of (L + cI)ᵖ.
func (l *Laplacian) Power() int { return l.power }

// Shift returns the c of (L + cI)ᵖ.
func (l *Laplacian) Shift() float64 { return l.shift }

// Graph returns the weights.
func (l *Laplacian) Graph() *CSR { return l.graph() }

// Degrees returns the vertex degrees d_i; it aliases l.
func (l *Laplacian) Degrees() []float64 { return l.degree }

// NullVectors returns the first limit null vectors of L in the order of the
// components, as orthonormal columns: the indicator of each component scaled
// to norm one, for the normalized kinds the same of D^½ times the indicator.
// With no shift they are exact null vectors of the operator.
func (l *Laplacian) NullVectors(c *Components, limit int) *mat.Dense {
	count := min(limit, c.Count())
	if count == 0 {
		return nil
	}

	// Degrees are divided by a power of two of their component, so that sums of
	// very large ones are finite; it cancels in the quotients.
	top := make([]float64, c.Count())
	for i, id := range c.Of {
		top[id] = max(top[id], l.degree[i])
	}
	weight := func(i int) float64 {
		if l.kind == Combinatorial || l.degree[i] == 0 {
			return 1
		}
		_, e := math.Frexp(top[c.Of[i]])
		return math.Ldexp(l.degree[i], -e)
	}

	norm := make([]float64, c.Count())
	for i, id := range c.Of {
		norm[id] += weight(i)
	}
	v := mat.NewDense(l.w.Rows, count, nil)
	for i, id := range c.Of {
		if int(id) < count {
			v.Set(i, int(id), math.Sqrt(weight(i)/norm[id]))
		}
	}
	return v
}

// UpperBound returns a bound on the largest eigenvalue of the operator: 2 for
// the normalized kinds and max_{i~j} (d_i + d_j) for D − W (Anderson & Morley
// 1985, for weighted graphs by Gershgorin's theorem on the edge matrix).
func (l *Laplacian) UpperBound() float64 {
	bound := 2.0
	if l.kind == Combinatorial {
		bound = 0
		for i := range l.w.Rows {
			col, _ := l.w.Row(i)
			for _, j := range col {
				bound = max(bound, l.degree[i]+l.degree[j])
			}
		}
	}

	top := bound + l.shift
	if l.power%2 == 0 {
		top = max(top, -l.shift) // the smallest eigenvalue of L is 0
	}
	return math.Pow(top, float64(l.power))
}

// MulTo sets dst = (L + cI)ᵖ·x for n×b blocks that must not overlap. For p > 1
// it holds one n×b block of scratch. Cost: p·(2·nnz + 3n)·b operations.
func (l *Laplacian) MulTo(dst, x *mat.Dense) {
	if l.power == 1 {
		l.step(dst, 1, x, l.shift, 0, nil)
		return
	}
	n, b := x.Dims()
	tmp := dense.New(n, b)

	// Products alternate between two blocks, such that the last one goes to dst.
	from, to := x, dst
	if l.power%2 == 0 {
		to = tmp
	}

	for range l.power {
		l.step(to, 1, from, l.shift, 0, nil)
		if to == dst {
			from = dst
			to = tmp
		} else {
			from = tmp
			to = dst
		}
	}
}

// RecurTo sets dst = α(L + cI)ᵖ·x + βx + γy; see [Recurrer]. For p = 1 it is
// one pass over the graph and the blocks.
func (l *Laplacian) RecurTo(dst *mat.Dense, alpha float64, x *mat.Dense, beta, gamma float64, y *mat.Dense) {
	if l.power == 1 {
		l.step(dst, alpha, x, alpha*l.shift+beta, gamma, y)
		return
	}

	// A power takes several passes; the combination is one more.
	n, b := x.Dims()
	ax := dense.New(n, b)
	l.MulTo(ax, x)
	par.For(n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := dst.RawRowView(i)
			a := ax.RawRowView(i)
			xr := x.RawRowView(i)
			yr := y.RawRowView(i)
			for j := range d {
				d[j] = alpha*a[j] + beta*xr[j] + gamma*yr[j]
			}
		}
	})
}

// step sets dst = αL·x + βx + γy; a nil y counts as zero.
func (l *Laplacian) step(dst *mat.Dense, alpha float64, x *mat.Dense, beta, gamma float64, y *mat.Dense) {
	xr := x.RawMatrix()
	if n, b := dst.Dims(); xr.Rows != l.Dim() || n != xr.Rows || b != xr.Cols {
		panic(fmt.Sprintf("sparse: product of a Laplacian of dimension %d: dst is %d×%d, x is %d×%d", l.Dim(),
			n, b, xr.Rows, xr.Cols))
	}
	g := simd.Graph{Ptr: l.w.Ptr, Col: l.w.Col, Val: l.val(), Scale: l.scale, Diag: l.diagonal}
	to := asBlock(dst)
	from := asBlock(x)
	other := simd.Block{}
	if y != nil {
		other = asBlock(y)
	}
	par.For(xr.Rows, rowGrain, func(lo, hi int) {
		g.Combine(to, from, other, lo, hi, -alpha, alpha, beta, gamma)
	})
}

func asBlock(x *mat.Dense) simd.Block {
	r := x.RawMatrix()
	return simd.Block{Data: r.Data, Cols: r.Cols, LD: r.Stride}
}

// Form returns the matrix gamma·L + diag(ground), for a Laplacian of power 1 and with its shift.
// Rows and columns of pinned vertices become rows and columns of the identity. ground and pinned
// may be nil. Every row has its diagonal. It takes 12 bytes an entry.
func (l *Laplacian) Form(gamma float64, ground []float64, pinned []bool) *CSR {
	if l.power != 1 {
		panic(fmt.Sprintf("sparse: the matrix of a Laplacian of power %d", l.power))
	}
	n := l.w.Rows
	fixed := func(i int) bool { return pinned != nil && pinned[i] }
	out := &CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1), Col: make([]int32, 0, len(l.w.Col)+n),
		Val: make([]float64, 0, len(l.w.Col)+n)}
	for i := range n {
		own := gamma * (l.diagonal[i] + l.shift)
		at := -1
		if ground != nil {
			own += ground[i]
		}
		if fixed(i) {
			own = 1
		}
		put := func(j int32, v float64) {
			out.Col = append(out.Col, j)
			out.Val = append(out.Val, v)
		}
		// The diagonal goes before the first larger column, or last; a loop of the graph is added
		// to it.
		for p := l.w.Ptr[i]; p < l.w.Ptr[i+1] && !fixed(i); p++ {
			j := l.w.Col[p]
			if at < 0 && int(j) >= i {
				at = len(out.Val)
				put(int32(i), own)
			}
			switch v := -gamma * l.entry(p, i); {
			case int(j) == i:
				out.Val[at] += v
			case !fixed(int(j)):
				put(j, v)
			}
		}

		if at < 0 {
			put(int32(i), own)
		}
		out.Ptr[i+1] = int64(len(out.Val))
	}

	return out
}

// entry returns the weight at place p of row i, as the Laplacian subtracts it from the diagonal.
func (l *Laplacian) entry(p int64, i int) float64 {
	v := 1.0
	if val := l.val(); val != nil {
		v = val[p]
	} else if l.scale != nil {
		v = l.scale[i] * l.scale[l.w.Col[p]]
	}
	return v
}
