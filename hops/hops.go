// Package hops computes features of points that were averaged over their neighbourhoods in a graph: X, AX, A²X, …
// with the normalized adjacency A. Programs that know nothing of graphs, from logistic regression to boosted trees,
// take them in place of X.
//
// Frasca, Rossi, Eynard, Chamberlain, Bronstein & Monti 2020, "SIGN: Scalable Inception Graph Neural Networks",
// equation 4 with r operators that are powers of one; Wu, Souza, Zhang, Fifty, Yu & Weinberger, ICML 2019, "Simplifying
// Graph Convolutional Networks" (SGC), equation 8: the last hop with self loops.
package hops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Normalization says how weights W with degrees D become the adjacency A.
type Normalization int

const (
	// Symmetric is D^-½ W D^-½, as of SIGN and SGC.
	Symmetric Normalization = iota
	// Row is D⁻¹W: a row of AX is the weighted mean of the neighbours' rows.
	Row
)

var normalizations = enum.New[Normalization]("normalization", "symmetric", "row")

// String returns the name used on the command line and in manifests.
func (n Normalization) String() string { return normalizations.String(n) }

// MarshalText returns the name.
func (n Normalization) MarshalText() ([]byte, error) { return normalizations.Marshal(n) }

// UnmarshalText is the inverse of MarshalText.
func (n *Normalization) UnmarshalText(text []byte) error { return normalizations.Unmarshal(n, text) }

// Settings of features.
type Settings struct {
	// Hops is the largest power k of A. Default 2.
	Hops int `json:"hops"`
	// Normalization of the weights. Default [Symmetric].
	Normalization Normalization `json:"normalization"`
	// Loops adds 1 to the diagonal of W first, as SGC does with graphs whose weights are one: W + I.
	Loops bool `json:"self_loops"`
	// OnProgress, if not nil, is called with the part of the work that is done.
	OnProgress func(done, total int) `json:"-"`
}

// DefaultHops is the default of Hops.
const DefaultHops = 2

// MostHops bounds Hops: features of a far neighbourhood are all alike.
const MostHops = 1000

func (s *Settings) fill() (Settings, error) {
	out := Settings{}
	if s != nil {
		out = *s
	}
	if out.Hops == 0 {
		out.Hops = DefaultHops
	}
	if out.Hops < 0 || out.Hops > MostHops {
		return out, fmt.Errorf("hops: %s is %d; it must be from 1 to %d", param.Name("hops"), out.Hops, MostHops)
	}
	if !normalizations.Valid(out.Normalization) {
		return out, fmt.Errorf("hops: unknown normalization %d", int(out.Normalization))
	}
	return out, nil
}

// blockColumns is the number of columns of X that are multiplied at a time: the kernels of products hold rows of 32
// columns in registers.
const blockColumns = 32

// ErrOverflow is the error of features that are no finite numbers of single precision.
var ErrOverflow = errors.New("hops: the features are larger than numbers of single precision can be; scale the points")

// Features returns X, AX, …, A^k X of the points x (n×d) side by side, n×(k+1)d in single precision: columns hd to
// (h+1)d−1 are A^h X. W are the weights of a graph of these n points, symmetric and not negative, and
//
//	A = D^-½ W D^-½   or   D⁻¹W,   D = diag(Σ_j w_ij),
//
// with W + I in place of W where the settings ask for self loops. A point without an edge keeps its features: its row of
// A is the row of the identity, so that A is I − L for every kind of Laplacian of package sparse. Products are
// accumulated in double precision, 32 columns at a time, and cost 2k·nnz(W)·d operations; the result has the same bits at
// any number of threads. A nil s means the defaults. [DenseCost] is the memory.
//
// It returns an error if w is no graph of n points, and [ErrOverflow].
func Features(ctx context.Context, x data.Points, w *sparse.CSR, s *Settings) (*data.Dense[float32], error) {
	f, err := s.fill()
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	a, err := adjacency(w, n, &f)
	if err != nil {
		return nil, err
	}

	width := (f.Hops + 1) * d
	out := data.NewDense[float32](n, width)
	for lo := 0; lo < d; lo += blockColumns {
		hi := min(lo+blockColumns, d)
		block := columns(x, lo, hi)
		next := mat.NewDense(n, hi-lo, nil)
		for h := 0; ; h++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if !put(out, h*d+lo, block) {
				return nil, ErrOverflow
			}
			if f.OnProgress != nil {
				f.OnProgress(lo*(f.Hops+1)+(h+1)*(hi-lo), width)
			}
			if h == f.Hops {
				break
			}
			a.MulTo(next, block)
			block, next = next, block
		}
	}
	return out, nil
}

// adjacency returns A of a graph with weights w of n points.
func adjacency(w *sparse.CSR, n int, s *Settings) (*sparse.CSR, error) {
	if err := w.CheckGraph(); err != nil {
		return nil, err
	}
	if w.Rows != n {
		return nil, fmt.Errorf("hops: a graph of %d points for %d points", w.Rows, n)
	}
	degrees := w.Degrees()
	if s.Loops {
		for i := range degrees {
			degrees[i]++
		}
	}

	a := &sparse.CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1), Col: make([]int32, 0, w.NNZ()+n),
		Val: make([]float64, 0, w.NNZ()+n)}
	for i := range n {
		col, val := w.Row(i)
		// The entry of the diagonal that is added: the loop, or the whole row of a point without an edge.
		own := 0.0
		if s.Loops || degrees[i] == 0 {
			own = 1
		}
		placed := own == 0
		add := func(j int32, v float64) {
			a.Col = append(a.Col, j)
			a.Val = append(a.Val, scaled(v, degrees, i, int(j), s.Normalization))
		}
		for p, j := range col {
			v := 1.0
			if val != nil {
				v = val[p]
			}
			if !placed && int(j) >= i {
				if placed = true; int(j) == i {
					v += own
				} else {
					add(int32(i), own)
				}
			}
			add(j, v)
		}
		if !placed {
			add(int32(i), own)
		}
		a.Ptr[i+1] = int64(len(a.Col))
	}
	return a, nil
}

// scaled returns entry (i, j) of A for the weight v.
func scaled(v float64, degrees []float64, i, j int, n Normalization) float64 {
	if degrees[i] == 0 {
		return v // of the point itself
	}
	if n == Row {
		return v / degrees[i]
	}
	// In this order, as the product of two small degrees may be zero.
	lo, hi := min(i, j), max(i, j)
	if degrees[lo] == 0 || degrees[hi] == 0 {
		return 0
	}
	return v / math.Sqrt(degrees[lo]) / math.Sqrt(degrees[hi])
}

// columns returns columns lo to hi of the points in a block of its own.
func columns(x data.Points, lo, hi int) *mat.Dense {
	n, _ := x.Dims()
	out := mat.NewDense(n, hi-lo, nil)
	m, ok := x.(*sparse.CSR)
	if !ok {
		block, _ := data.Block(x, out.RawMatrix().Data, 0, n, lo, hi)
		out.Copy(block) // a view of points in double precision, or out itself
		return out
	}

	par.For(n, 1024, func(from, to int) {
		for i := from; i < to; i++ {
			row := out.RawRowView(i)
			col, val := m.Row(i)
			p, _ := slices.BinarySearch(col, int32(lo))
			for ; p < len(col) && int(col[p]) < hi; p++ {
				row[int(col[p])-lo] = 1
				if val != nil {
					row[int(col[p])-lo] = val[p]
				}
			}
		}
	})
	return out
}

// put writes a block to the columns of out from one on, and reports whether all its numbers are finite there.
func put(out *data.Dense[float32], at int, block *mat.Dense) bool {
	n, c := block.Dims()
	bad := make([]bool, par.Chunks(n, 1024))
	par.For(n, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := out.Row(i)[at : at+c]
			for j, v := range block.RawRowView(i) {
				to[j] = float32(v)
				if to[j]-to[j] != 0 {
					bad[lo/1024] = true
				}
			}
		}
	})
	for _, b := range bad {
		if b {
			return false
		}
	}
	return true
}

// DenseCost returns the cost of [Features] of n points of d columns on a graph with edges stored entries.
func DenseCost(n, d, edges int, s *Settings) (stage.Cost, error) {
	f, err := s.fill()
	if err != nil {
		return stage.Cost{}, err
	}
	matrix := 12*int64(edges+n) + 16*int64(n)
	blocks := 2 * 8 * int64(n) * int64(min(d, blockColumns))
	out := 4 * int64(n) * int64(d) * int64(f.Hops+1)
	return stage.Cost{Bytes: stage.DenseBytes(matrix + blocks + out),
		Operations: 5 * 2 * float64(f.Hops) * float64(edges+n) * float64(d),
		Remedy:     fmt.Sprintf("take fewer %s, or points of fewer columns", param.Name("hops"))}, nil
}
