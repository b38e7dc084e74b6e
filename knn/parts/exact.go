package parts

import (
	"context"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// raw returns a copy of points, which ascend, as they are given: float64 as float64, and all others
// as float32, which holds them exactly.
func (r *rows) raw(ids []int32) data.Points {
	if data.Precise(r.x) {
		out := data.NewDense[float64](len(ids), r.d)
		r.inBlocks(ids, func(lo, hi int) {
			for at := lo; at < hi; at++ {
				data.RowTo(out.Row(at), r.x, int(ids[at]))
			}
		})
		return out
	}

	out := data.NewDense[float32](len(ids), r.d)
	plain := newRows(r.x, &prepared.Scaling{Mean: make([]float64, r.d), Scale: 1})
	plain.read(out.Data, ids)
	return out
}

// exactBlock is the number of points with lists that are measured in float64 at a time.
const exactBlock = 1 << 14

// exact measures the lists of points, which ascend, in float64, and returns the nearest K of each
// in the order of an exact search.
func (r *Run) exact(ctx context.Context, own []int32, words []uint32, width int) (
	index []uint32, dist []float64, err error) {
	stride := len(words) / max(1, len(own))
	k := r.s.Graph.K
	index = make([]uint32, 0, len(own)*k)
	dist = make([]float64, 0, len(own)*k)
	for lo := 0; lo < len(own); lo += exactBlock {
		hi := min(lo+exactBlock, len(own))
		near, far, err := r.exactly(ctx, own[lo:hi], words[lo*stride:hi*stride], width)
		if err != nil {
			return nil, nil, err
		}
		index = append(index, near...)
		dist = append(dist, far...)
	}
	return index, dist, nil
}

// exactly does the work of exact for a block.
func (r *Run) exactly(ctx context.Context, own []int32, words []uint32, width int) (
	index []uint32, dist []float64, err error) {
	// The lists become a sparse matrix over the points of the block and their neighbours, so that
	// their rows are read once.
	stride := len(words) / max(1, len(own))
	set := newIDSet(r.div.N)
	for i, v := range own {
		set.add(uint32(v))
		set.addList(words[i*stride:][:width])
	}
	set.number()
	ids := set.ids()

	near := &sparse.CSR{Rows: len(ids), Cols: len(ids), Ptr: make([]int64, len(ids)+1)}
	for i, v := range own {
		at := set.at(uint32(v))
		for _, j := range words[i*stride:][:width] {
			if j != none {
				near.Col = append(near.Col, set.at(j))
				near.Ptr[at+1]++
			}
		}
	}
	for i := range ids {
		near.Ptr[i+1] += near.Ptr[i]
	}

	lengths, err := knn.EdgeLengths(ctx, near, r.rows.raw(ids), r.s.Metric)
	if err != nil {
		return nil, nil, err
	}

	// The K nearest of each list, by distance and then by number.
	k := r.s.Graph.K
	index = make([]uint32, len(own)*k)
	dist = make([]float64, len(own)*k)
	short := make([]bool, len(own))
	par.For(len(own), 1024, func(lo, hi int) {
		var list []topk.Pair
		for i := lo; i < hi; i++ {
			col, val := lengths.Row(int(set.at(uint32(own[i]))))
			list = list[:0]
			for p, c := range col {
				list = append(list, topk.Pair{Dist: val[p], Index: ids[c]})
			}
			topk.Sort(list)
			if short[i] = len(list) < k; short[i] {
				continue
			}
			for p, c := range list[:k] {
				index[i*k+p] = uint32(c.Index)
				dist[i*k+p] = c.Dist
			}
		}
	})

	for i, s := range short {
		if s {
			return nil, nil, fmt.Errorf("point %d has less than %d neighbours; take fewer %s or more %s",
				r.div.order[own[i]], k, param.Name("parts"), param.Name("overlap"))
		}
	}
	return index, dist, nil
}

// needsLengths reports whether the weights depend on distances.
func (s *Settings) needsLengths() bool {
	return s.Graph.Weights != knn.One && s.Graph.Weights != knn.Shared
}

// nearest returns the K nearest of the lists of points, which ascend, and their distances if the
// weights need them. Otherwise the order does not matter, and a list is measured in float64 only
// where rounding may have put another neighbour in the place of the K-th.
func (r *Run) nearest(ctx context.Context, own []int32, words []uint32) (
	index []uint32, dist []float64, err error) {
	k := r.s.Graph.K
	width := r.s.width()
	if r.s.needsLengths() {
		return r.exact(ctx, own, words, width)
	}

	index = make([]uint32, len(own)*k)
	var close []int32 // places in own
	for i := range own {
		list := words[2*i*width:][:2*width]
		copy(index[i*k:][:k], list)
		last := math.Float32frombits(list[width+k-1])
		next := math.Float32frombits(list[width+k])
		if !(next-last > roundingOf(next, r.rows.d)) {
			close = append(close, int32(i))
		}
	}

	ids := make([]int32, len(close))
	some := make([]uint32, 0, 2*width*len(close))
	for p, i := range close {
		ids[p] = own[i]
		some = append(some, words[2*int(i)*width:][:2*width]...)
	}

	measured, _, err := r.exact(ctx, ids, some, width)
	for p, i := range close {
		copy(index[int(i)*k:][:k], measured[p*k:])
	}
	return index, nil, err
}

// roundingOf bounds the error of a squared distance d of scaled rows, with coordinates up to 1, in
// float32: rows are rounded by 2⁻²⁴ in every coordinate, and so are the steps of the sum.
func roundingOf(d float32, columns int) float32 {
	const unit = 0x1p-23
	root := float32(math.Sqrt(float64(columns)))
	return 4 * unit * (float32(columns)*d + 2*root*float32(math.Sqrt(float64(d))) + unit*float32(columns))
}
