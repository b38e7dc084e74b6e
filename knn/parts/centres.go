package parts

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

const (
	samplePerPart = 256     // points of the sample for each centre
	leastSample   = 1 << 14 // points of the sample at least, if there are as many
	mostSample    = 1 << 18 // points of the sample at most
	lloydSteps    = 12      // steps of k-means; the cells need not be the best ones
	balanceSteps  = 40      // the step length falls to 0.92⁴⁰, 4 % of the first
	scoreBlock    = 2048    // rows that are compared with all centres at a time
)

// centres cut space into cells: a point belongs to the centres c with the smallest scores ‖x − c‖²
// + offset.
type centres struct {
	d      int
	at     []float32 // count×d
	offset []float32 // ‖c‖² and the offset that balances the sizes
}

func (c *centres) count() int { return len(c.offset) }

// scores sets dst, rows×count, to the scores of rows without ‖x‖², which is the same for all
// centres.
func (c *centres) scores(dst, rows []float32) {
	m := len(rows) / c.d
	k := c.count()
	dense.Gemm32(dense.NoTrans, dense.Transposed, m, k, c.d, -2, rows, c.d, c.at, c.d, 0, dst, k)
	par.For(m, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dst[i*k:][:k]
			for p, v := range c.offset {
				row[p] += v
			}
		}
	})
}

// inBlocks calls use with blocks of the scores of rows. lo is the first row of a block.
func (c *centres) inBlocks(rows []float32, use func(lo int, scores []float32)) {
	buffer := make([]float32, scoreBlock*c.count())
	for lo, n := 0, len(rows)/c.d; lo < n; lo += scoreBlock {
		hi := min(lo+scoreBlock, n)
		scores := buffer[:(hi-lo)*c.count()]
		c.scores(scores, rows[lo*c.d:hi*c.d])
		use(lo, scores)
	}
}

// squares sets the offsets to the squared norms of the centres.
func (c *centres) squares() {
	for p := range c.offset {
		var sum float64
		for _, v := range c.at[p*c.d:][:c.d] {
			sum += float64(v) * float64(v)
		}
		c.offset[p] = float32(sum)
	}
}

// nearest sets own to the centre with the smallest score of every row.
func (c *centres) nearest(own []int32, rows []float32) {
	k := c.count()
	c.inBlocks(rows, func(first int, scores []float32) {
		par.For(len(scores)/k, 256, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				own[first+i] = int32(smallest(scores[i*k:][:k]))
			}
		})
	})
}

// smallest returns the place of the smallest value, the first of equal ones.
func smallest(v []float32) int {
	at := 0
	for p, x := range v {
		if x < v[at] {
			at = p
		}
	}
	return at
}

// kMeans returns count centres of rows: k-means++ (Arthur & Vassilvitskii, SODA 2007), then
// Lloyd's steps, O(rows·count·d) each.
func kMeans(ctx context.Context, rows []float32, d, count int, seed uint64) (*centres, error) {
	n := len(rows) / d
	c := &centres{d: d, at: make([]float32, 0, count*d)}
	r := rand.New(rand.NewPCG(seed, 0x7061_7274_73))
	far := slices.Repeat([]float32{math.MaxFloat32}, n)

	// k-means++: the next centre is a row drawn with a probability that grows with its squared
	// distance from the nearest centre so far.
	for next := r.IntN(n); len(c.at) < count*d; next = draw(far, r) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}

		centre := rows[next*d:][:d]
		c.at = append(c.at, centre...)
		par.For(n, 1024, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				var sum float32
				for j, v := range rows[i*d:][:d] {
					sum += (v - centre[j]) * (v - centre[j])
				}
				far[i] = min(far[i], sum)
			}
		})
	}

	// Lloyd's steps: every row goes to its nearest centre, every centre to the mean of its rows.
	c.offset = make([]float32, count)
	own := make([]int32, n)
	for range lloydSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.squares()
		c.nearest(own, rows)
		c.move(own, rows)
	}
	c.squares()
	return c, nil
}

// draw returns a place with a probability that grows with the value there.
func draw(v []float32, r *rand.Rand) int {
	var sum float64
	for _, x := range v {
		sum += float64(x)
	}

	left := r.Float64() * sum
	for i, x := range v {
		if left -= float64(x); left < 0 {
			return i
		}
	}
	return r.IntN(len(v))
}

// move moves every centre to the mean of its rows. A centre without rows stays.
func (c *centres) move(own []int32, rows []float32) {
	sum := make([]float64, len(c.at))
	count := make([]int, c.count())
	for i, p := range own {
		count[p]++
		to := sum[int(p)*c.d:][:c.d]
		for j, v := range rows[i*c.d:][:c.d] {
			to[j] += float64(v)
		}
	}

	for p, m := range count {
		for j := range c.d {
			if m > 0 {
				c.at[p*c.d+j] = float32(sum[p*c.d+j] / float64(m))
			}
		}
	}
}

// balance changes the offsets until all cells have about the same number of rows, where a row is in
// overlap cells. The offset of a cell with too many rows grows and the offset of one with too few
// falls, in smaller and smaller steps. The offsets with the smallest largest cell stay.
func (c *centres) balance(ctx context.Context, rows []float32, overlap int) error {
	n := len(rows) / c.d
	k := c.count()
	want := float64(n) * float64(overlap) / float64(k)
	best := slices.Clone(c.offset)
	least := math.Inf(1)
	own := make([]uint16, n*overlap)
	step := 0.0
	for s := range balanceSteps {
		if err := ctx.Err(); err != nil {
			return err
		}

		var spread float64 // the mean difference between the first and the last score that are taken
		c.inBlocks(rows, func(lo int, scores []float32) {
			for i := range len(scores) / k {
				spread += choose(own[(lo+i)*overlap:][:overlap], scores[i*k:][:k]) / float64(n)
			}
		})

		size := make([]float64, k)
		for _, p := range own {
			size[p]++
		}
		if largest := slices.Max(size); largest < least {
			least = largest
			copy(best, c.offset)
		}

		// The spread of the scores sets the length of the first step.
		if s == 0 {
			step = spread
		}
		for p := range c.offset {
			c.offset[p] += float32(step * (size[p] - want) / want)
		}
		step *= 0.92
	}
	copy(c.offset, best)
	return nil
}

// choose sets dst to the places of the smallest scores, ascending, and returns the difference of
// the largest and the smallest of them.
func choose(dst []uint16, scores []float32) float64 {
	have := 0
	for p, v := range scores {
		if have == len(dst) && v >= scores[dst[have-1]] {
			continue
		}

		at := min(have, len(dst)-1)
		for at > 0 && v < scores[dst[at-1]] {
			dst[at] = dst[at-1]
			at--
		}
		dst[at] = uint16(p)
		have = min(have+1, len(dst))
	}
	return float64(scores[dst[have-1]]) - float64(scores[dst[0]])
}
