package pruned

import (
	"cmp"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
)

// order returns the points in an order in which points of a block are near each other: sets are
// halved at the median of the coordinate in which they differ most, until a set is one block.
func (c *codes) order(block int) []int32 {
	order := make([]int32, c.n)
	spare := make([]int32, c.n)
	for i := range order {
		order[i] = int32(i)
	}

	type part struct{ lo, hi int }
	parts := []part{{0, c.n}}
	for len(parts) > 0 {
		halves := make([][]part, len(parts))
		par.For(len(parts), 1, func(i, _ int) {
			p := parts[i]
			if p.hi-p.lo <= block {
				return
			}

			// The lower half is whole blocks, so that only the last block of all is not full.
			c.sortBy(c.widest(order[p.lo:p.hi]), order[p.lo:p.hi], spare[p.lo:p.hi])
			whole := (p.hi - p.lo + block - 1) / block
			mid := p.lo + (whole+1)/2*block
			halves[i] = []part{{p.lo, mid}, {mid, p.hi}}
		})

		parts = slices.Concat(halves...)
	}
	return order
}

// widest returns the coordinate with the largest variance in the points rows, among the first 24:
// components are in the order of their variance over all points.
func (c *codes) widest(rows []int32) int {
	const among = 24
	m := min(c.m, among)
	var sum, sq [among]int64
	for _, i := range rows {
		for j, v := range c.data[int(i)*c.ld:][:m] {
			sum[j] += int64(v)
			sq[j] += int64(v) * int64(v)
		}
	}

	best, most := 0, -1.0
	for j := range m {
		mean := float64(sum[j]) / float64(len(rows))
		if v := float64(sq[j])/float64(len(rows)) - mean*mean; v > most {
			best = j
			most = v
		}
	}
	return best
}

// sortBy sorts rows by the byte of coordinate j. Rows with equal bytes keep their order.
func (c *codes) sortBy(j int, rows, spare []int32) {
	var start [257]int
	for _, i := range rows {
		start[int(c.data[int(i)*c.ld+j])/fine+1]++
	}

	for b := range 256 {
		start[b+1] += start[b]
	}

	for _, i := range rows {
		b := c.data[int(i)*c.ld+j] / fine
		spare[start[b]] = i
		start[b]++
	}

	copy(rows, spare)
}

// box is the smallest and largest byte of every column in a block of points.
type box struct{ lo, hi []uint8 }

// boxes returns the box of every block of rows of flat.
func boxes(flat []uint8, width, block int) []box {
	n := len(flat) / width
	out := make([]box, par.Chunks(n, block))
	par.For(n, block, func(lo, hi int) {
		b := box{slices.Clone(flat[lo*width:][:width]), slices.Clone(flat[lo*width:][:width])}
		for i := lo; i < hi; i++ {
			for j, v := range flat[i*width:][:width] {
				b.lo[j] = min(b.lo[j], v)
				b.hi[j] = max(b.hi[j], v)
			}
		}
		out[lo/block] = b
	})
	return out
}

// gap returns a lower bound of the squared distances between the bytes of two blocks.
func (b box) gap(o box) int32 {
	var sum int32
	for j, lo := range b.lo {
		d := max(0, int32(lo)-int32(o.hi[j]), int32(o.lo[j])-int32(b.hi[j]))
		sum += d * d
	}
	return sum
}

// between returns four times the squared distance of the middles of two boxes.
func (b box) between(o box) int32 {
	var sum int32
	for j, lo := range b.lo {
		d := int32(lo) + int32(b.hi[j]) - int32(o.lo[j]) - int32(o.hi[j])
		sum += d * d
	}
	return sum
}

// nearest returns the numbers of the count boxes whose middles are nearest to the middle of to, in
// ascending order. Of boxes that are equally near it takes those with smaller numbers.
func nearest(all []box, to box, count int) []int {
	distance := make([]int32, len(all))
	numbers := make([]int, len(all))
	for q, b := range all {
		distance[q] = b.between(to)
		numbers[q] = q
	}

	slices.SortStableFunc(numbers, func(a, b int) int { return cmp.Compare(distance[a], distance[b]) })
	out := numbers[:min(count, len(numbers))]
	slices.Sort(out)
	return out
}
