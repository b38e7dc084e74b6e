package nndescent

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

const (
	// carveLeaf is the largest number of points in a leaf of a carving: all of them are compared with each other.
	carveLeaf = 1024
	// carveTrees is the number of trees that a carving counts as.
	carveTrees = 4
	// carveLeaders is the largest number of leaders of a part. More of them take longer to compare with; fewer
	// make more levels, at each of which a point is read.
	carveLeaders = simd.LeastColumns
	// carveFan is the number of leaders that a point follows at the first level. Each makes it a member of one more
	// leaf. Fans at further levels find less for the same number of leaves.
	carveFan = 4
	// carveOnce is the number of coordinates from which on a pass has one carving: a distance takes so long that
	// exchanges find the rest sooner.
	carveOnce = 256
)

// A carver parts the points of a graph into overlapping leaves (the ball carving of PiPNN, arXiv 2602.21247): random points
// of a part are leaders, each of its points goes to the parts of its nearest leaders, and parts that are
// too large are carved again. Two near points follow the same leader more often than they fall on the same side of
// each of the planes of a tree: on a manifold of dimension 10 a carving with leaves of 512 found 93 % of the neighbours
// with 1,260 distances a point, and eight trees with leaves of 1024 found 95 % with 2,900.
type carver struct {
	g     *candidateGraph
	rows  Rows // that points are assigned by: sketches, if there are some
	seed  uint64
	steps []follower // one for each goroutine
	pairs atomic.Int64

	all     []int32 // the points
	members []int32 // of the parts of the first level
	buffers [2][]int32
	choice  []uint8
}

// columns returns the number of coordinates of a row; 0 of rows that are no numbers.
func columns(rows Rows) int {
	if m, ok := rows.Meter().(coordinates); ok {
		return m.Columns()
	}
	return 0
}

// newCarver returns a carver for the rows of g; nil if they are no rows of numbers.
func newCarver(g *candidateGraph, seed uint64) *carver {
	if columns(g.rows) == 0 {
		return nil
	}
	c := &carver{g: g, rows: g.rows, seed: seed}
	if s, ok := g.rows.(sketcher); ok {
		if short := s.Sketch(g.n, seed); short != nil {
			c.rows = short
		}
	}
	for range par.Workers(g.n, 1) {
		c.steps = append(c.steps, follower{coordinates: c.rows.Meter().(coordinates)})
	}
	return c
}

// carve compares all points of every leaf of a carving with each other. It returns the numbers of distances computed and of entries
// that are new in the end. Beside the lists it holds 24 bytes a point, and the leaves below one part of the first level.
func (c *carver) carve(ctx context.Context, round int) (pairs, entered int64) {
	c.g.age()
	workers := c.g.joiners(len(c.steps))
	for _, part := range c.first(round) {
		leaves := c.leaves(ctx, part, round)
		par.ForWorker(len(leaves), 1, func(worker, lo, _ int) {
			if ctx.Err() == nil {
				c.g.blend(leaves[lo], &workers[worker])
			}
		})
	}
	return pairsOf(workers) + c.pairs.Swap(0), c.g.countNewborn()
}

// first returns the parts of the first level.
func (c *carver) first(round int) [][]int32 {
	if c.all == nil {
		c.all = make([]int32, c.g.n)
		for i := range c.all {
			c.all[i] = int32(i)
		}
	}
	all := c.all
	if len(all) <= carveLeaf {
		return [][]int32{all}
	}
	c.members = slices.Grow(c.members[:0], carveFan*len(all))[:carveFan*len(all)]
	return c.divide(c.members, all, 0, round, nil)
}

// leaves returns the leaves below a part of the first level, each in ascending order. They are valid until the next call.
func (c *carver) leaves(ctx context.Context, part []int32, round int) [][]int32 {
	parts := [][]int32{part}
	for level := 1; ctx.Err() == nil; level++ {
		// Parts are written to one of two buffers from the other.
		c.buffers[level%2] = slices.Grow(c.buffers[level%2][:0], len(part))[:len(part)]
		free := c.buffers[level%2]
		room := make([][]int32, len(parts))
		more := false
		for p, part := range parts {
			room[p], free = free[:len(part)], free[len(part):]
			more = more || len(part) > carveLeaf
		}
		if !more {
			break
		}

		// Large parts are divided by all goroutines together, the others by one each.
		divided := make([][][]int32, len(parts))
		for p, part := range parts {
			if len(part) > 1<<15 {
				divided[p] = c.divide(room[p], part, level, round, nil)
			}
		}
		par.ForWorker(len(parts), 1, func(worker, p, _ int) {
			switch {
			case len(parts[p]) <= carveLeaf:
				copy(room[p], parts[p])
				divided[p] = [][]int32{room[p]}
			case divided[p] == nil:
				divided[p] = c.divide(room[p], parts[p], level, round, &c.steps[worker])
			}
		})
		parts = slices.Concat(divided...)
	}
	return parts
}

// divide writes to room the parts of the points that follow each leader of a part, and returns them. alone works on it; nil for
// all goroutines.
func (c *carver) divide(room, part []int32, level, round int, alone *follower) [][]int32 {
	fan := 1
	if level == 0 {
		fan = carveFan
	}
	// On average a child has a third of the points of a leaf: few are too large for one.
	leaders := min(carveLeaders, (3*fan*len(part)+carveLeaf-1)/carveLeaf)
	c.pairs.Add(int64(leaders * len(part)))
	h := c.lead(part, leaders, rand.New(rand.NewPCG(c.seed+uint64(round+1)<<32, uint64(level)<<60|uint64(part[0])<<32|uint64(len(part)))))

	buffer := &c.choice
	if alone != nil {
		buffer = &alone.choice
	}
	*buffer = slices.Grow((*buffer)[:0], fan*len(part))[:fan*len(part)]
	choice := *buffer
	if alone != nil {
		alone.follow(choice, part, h, fan)
	} else {
		par.ForWorker(len(part), 1<<12, func(worker, lo, hi int) {
			c.steps[worker].follow(choice[fan*lo:fan*hi], part[lo:hi], h, fan)
		})
	}

	// A counting sort by leaders keeps the order of the points.
	var counts [carveLeaders]int
	for _, l := range choice {
		counts[l]++
	}
	children := make([][]int32, leaders)
	for l := range children {
		children[l], room = room[:0:counts[l]], room[counts[l]:]
	}
	for p, l := range choice {
		children[l] = append(children[l], part[p/fan])
	}
	var out [][]int32
	for _, child := range children {
		switch {
		case len(child) < 2:
		case len(child) > carveLeaf && 10*len(child) > 9*len(part): // points that are hardly different
			out = slices.AppendSeq(out, slices.Chunk(child, carveLeaf))
		default:
			out = append(out, child)
		}
	}
	return out
}

// leaders are points that others follow.
type leaders struct {
	count int
	right *dense.Packed32
	norms []float32 // squared, of carveLeaders; infinite of those that are not there
}

// lead draws leaders from the points of a part.
func (c *carver) lead(part []int32, count int, r *rand.Rand) *leaders {
	drawn := make([]int32, count)
	for l := range drawn { // one of each of so many stretches of the part
		lo, hi := l*len(part)/count, (l+1)*len(part)/count
		drawn[l] = part[lo+r.IntN(hi-lo)]
	}
	m := c.rows.Meter().(coordinates)
	d := m.Columns()
	flat := make([]float32, count*d)
	m.Load(flat, drawn)
	h := &leaders{count: count, right: dense.NewPackedB32(count, d), norms: slices.Repeat([]float32{float32(math.Inf(1))}, carveLeaders)}
	h.right.Set(0, count, flat, d)
	for l := range count {
		h.norms[l] = squaredNorm(flat[l*d:][:d])
	}
	return h
}

// A follower is the working memory of one goroutine.
type follower struct {
	coordinates
	left     *dense.Packed32
	flat     []float32
	products []float32
	choice   []uint8
	scratch  dense.Scratch
}

// follow sets the elements of choice to the fan nearest leaders of each of the points ids.
func (f *follower) follow(choice []uint8, ids []int32, h *leaders, fan int) {
	d := f.Columns()
	if f.left == nil {
		f.left = dense.NewPackedA32(sieveStripe, d)
		f.flat = make([]float32, sieveStripe*d)
		f.products = make([]float32, sieveStripe*carveLeaders)
	}
	for lo := 0; lo < len(ids); lo += sieveStripe {
		block := ids[lo:min(lo+sieveStripe, len(ids))]
		f.Load(f.flat[:len(block)*d], block)
		f.left.Set(0, sieveStripe, f.flat, d)
		dense.Mul32(f.left, 0, len(block), h.right, 0, h.count, f.products, carveLeaders, &f.scratch)
		for p := range block {
			simd.Least(choice[(lo+p)*fan:][:fan], f.products[p*carveLeaders:][:carveLeaders], h.norms)
		}
	}
}
