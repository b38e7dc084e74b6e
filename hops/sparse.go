package hops

import (
	"context"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// SparseFeatures is [Features] of sparse points as a sparse matrix, n×(k+1)d in double precision. A row of AX has an
// entry wherever a neighbour's row has one, so that the rows fill up with the hops: [SparseCost] bounds their number. Each
// hop costs two operations for each pair of an edge and an entry of the neighbour it leads to.
func SparseFeatures(ctx context.Context, x, w *sparse.CSR, s *Settings) (*sparse.CSR, error) {
	f, err := s.fill()
	if err != nil {
		return nil, err
	}
	a, err := adjacency(w, x.Rows, &f)
	if err != nil {
		return nil, err
	}

	hops := []*sparse.CSR{x}
	for h := range f.Hops {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hops = append(hops, product(a, hops[h]))
		if f.OnProgress != nil {
			f.OnProgress(h+1, f.Hops)
		}
	}
	return beside(hops)
}

// productRows is the number of rows of a product in one parallel chunk.
const productRows = 512

// product returns a·x by Gustavson's algorithm (ACM TOMS 4 (1978), 250–269): a row is added up in a dense array.
func product(a, x *sparse.CSR) *sparse.CSR {
	type part struct {
		col []int32
		val []float64
	}
	parts := make([]part, par.Chunks(a.Rows, productRows))
	out := &sparse.CSR{Rows: a.Rows, Cols: x.Cols, Ptr: make([]int64, a.Rows+1)}
	type scratch struct {
		sum  []float64
		seen []int32 // the row, plus one, that was last added to a column
	}
	workers := make([]scratch, par.Workers(a.Rows, productRows))
	par.ForWorker(a.Rows, productRows, func(worker, lo, hi int) {
		t := &workers[worker]
		if t.sum == nil {
			*t = scratch{make([]float64, x.Cols), make([]int32, x.Cols)}
		}
		p := &parts[lo/productRows]
		for i := lo; i < hi; i++ {
			first := len(p.col)
			to, weights := a.Row(i)
			for e, j := range to {
				col, val := x.Row(int(j))
				for q, c := range col {
					v := weights[e]
					if val != nil {
						v *= val[q]
					}
					if t.seen[c] != int32(i+1) {
						t.seen[c] = int32(i + 1)
						t.sum[c] = 0
						p.col = append(p.col, c)
					}
					t.sum[c] += v
				}
			}

			slices.Sort(p.col[first:])
			for _, c := range p.col[first:] {
				p.val = append(p.val, t.sum[c])
			}
			out.Ptr[i+1] = int64(len(p.col) - first)
		}
	})

	for i := range a.Rows {
		out.Ptr[i+1] += out.Ptr[i]
	}
	out.Col = make([]int32, out.Ptr[a.Rows])
	out.Val = make([]float64, out.Ptr[a.Rows])
	at := 0
	for k := range parts {
		copy(out.Col[at:], parts[k].col)
		at += copy(out.Val[at:], parts[k].val)
		parts[k] = part{} // the copies of the rest must fit beside
	}
	return out
}

// beside returns matrices of one shape side by side.
func beside(hops []*sparse.CSR) (*sparse.CSR, error) {
	n, d := hops[0].Dims()
	if int64(d)*int64(len(hops)) > 1<<31-1 {
		return nil, fmt.Errorf("hops: %d times %d columns are more than a sparse matrix can have; take fewer %s",
			len(hops), d, param.Name("hops"))
	}
	entries := 0
	for _, x := range hops {
		entries += x.NNZ()
	}
	out := &sparse.CSR{Rows: n, Cols: d * len(hops), Ptr: make([]int64, n+1), Col: make([]int32, 0, entries),
		Val: make([]float64, 0, entries)}
	for i := range n {
		for h, x := range hops {
			col, val := x.Row(i)
			for p, c := range col {
				v := 1.0
				if val != nil {
					v = val[p]
				}
				out.Col = append(out.Col, c+int32(h*d))
				out.Val = append(out.Val, v)
			}
		}
		out.Ptr[i+1] = int64(len(out.Col))
	}
	return out, nil
}

// SparseCost returns the cost of [SparseFeatures], by a bound of the entries of each hop: those of the neighbours' rows
// together, and at most d in a row.
func SparseCost(x, w *sparse.CSR, s *Settings) (stage.Cost, error) {
	f, err := s.fill()
	if err != nil {
		return stage.Cost{}, err
	}
	if x.Rows != w.Rows {
		return stage.Cost{}, fmt.Errorf("hops: a graph of %d points for %d points", w.Rows, x.Rows)
	}
	n, d := x.Dims()
	rows := make([]int64, n)
	for i := range rows {
		rows[i] = x.Ptr[i+1] - x.Ptr[i]
	}

	// A product and its parts are held at once beside all hops, and then all hops twice.
	entries := int64(x.NNZ())
	var last int64
	var operations float64
	for range f.Hops {
		next := make([]int64, n)
		last = 0
		for i := range n {
			col, _ := w.Row(i)
			total := rows[i] // of the loop, or of a point without an edge
			for _, j := range col {
				total += rows[j]
			}
			operations += 2 * float64(total)
			next[i] = min(total, int64(d))
			last += next[i]
		}
		rows = next
		entries += last
	}
	bytes := max(24*entries, 12*entries+24*last) + 12*int64(w.NNZ()+n) + 64*int64(n) + 24*int64(d)
	return stage.Cost{Bytes: stage.HeapBytes(bytes), Operations: 5 * operations,
		Remedy: fmt.Sprintf("take fewer %s, or points of fewer columns, such as principal components", param.Name("hops"))}, nil
}
