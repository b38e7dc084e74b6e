package byclass

import (
	"context"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/models/propagation"
)

// rowGrain is the number of rows in a parallel chunk.
const rowGrain = 512

// best is the best class of every vertex among those of a part, in the order of the graph.
type best struct {
	Score []float32 // largest F of the part, 0 out of reach
	Class []int32   // its class, as a position among all; −1 out of reach
	Sum   []float32 // of the positive F of the part
}

// resultBytes is the size of a best class.
const resultBytes = 12

// partState describes the stage of a part.
type partState struct {
	// Residual is the largest ‖b − Af‖ / ‖b‖ of a class, from the definition of the equations Af = b.
	Residual float64 `json:"residual"`
	// Steps is the number of times that the graph was read, the most for any sixteen classes.
	Steps int `json:"steps"`
}

// Part computes part p unless the folder holds it. It returns whether it did anything.
func (r *Run) Part(ctx context.Context, p int) (bool, error) {
	if err := r.CheckPart(p); err != nil {
		return false, err
	}
	var s partState
	if found, err := r.folder.Load(partName(p), r.keyOf(p), &s); found != nil || err != nil {
		return false, err
	}
	if err := r.Order(ctx); err != nil {
		return false, err
	}

	lo, hi := r.Classes(p)
	if r.out == nil {
		r.out = newBest(r.n)
	}
	out := r.out
	out.reset()
	s = partState{}
	for from := lo; from < hi; from += mostColumns {
		end := min(hi, from+mostColumns)
		solve := r.spread
		if r.in.Settings.Method == propagation.Harmonic {
			solve = r.harmonic
		}
		z, solved, err := solve(ctx, from, end)
		if err != nil {
			return false, err
		}
		r.enter(out, z, from, end)
		s.Residual = max(s.Residual, solved.Residual)
		s.Steps = max(s.Steps, solved.Steps)
	}
	return true, r.folder.Save(partName(p), r.keyOf(p), s, archive.Array{Name: "score", Data: out.Score},
		archive.Array{Name: "class", Data: out.Class}, archive.Array{Name: "sum", Data: out.Sum})
}

func newBest(n int) *best {
	return &best{Score: make([]float32, n), Class: make([]int32, n), Sum: make([]float32, n)}
}

// reset makes all vertices out of reach.
func (b *best) reset() {
	par.For(len(b.Class), rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			b.Score[i] = 0
			b.Class[i] = -1
			b.Sum[i] = 0
		}
	})
}

// degree returns the degree of a vertex; 1 for one without neighbours, whose F is its Y.
func (r *Run) degree(place int) float64 {
	if r.factor[place] == 0 {
		return 1
	}
	return r.alpha / float64(r.factor[place])
}

// room returns the first so many blocks for w columns, all zero.
func (r *Run) room(count, w int) [][]float32 {
	for len(r.blocks) < count {
		r.blocks = append(r.blocks, nil)
	}
	out := make([][]float32, count)
	for b := range out {
		if cap(r.blocks[b]) < r.n*w {
			r.blocks[b] = nil // a smaller one
			r.blocks[b] = make([]float32, r.n*w)
		}
		block := r.blocks[b][:r.n*w]
		par.For(r.n, rowGrain, func(lo, hi int) { clear(block[lo*w : hi*w]) })
		out[b] = block
	}
	return out
}

// factors of αD⁻¹Wx, of x and of what is there.
type factors struct{ graph, x, dst float32 }

// step sets dst = f.graph·αD⁻¹Wx + f.x·x + f.dst·dst, with α = 1 for harmonic functions.
func (r *Run) step(ctx context.Context, dst, x []float32, w int, f factors) error {
	par.Until(ctx, r.n, rowGrain, func(lo, hi int) {
		// The kernel adds a block of its own, which is dst, to the product: its last factor takes that off.
		simd.GraphStep(dst, x, dst, w, r.graph.Ptr, r.graph.Col, r.weight, nil, r.factor, lo, hi, f.graph, f.x, f.dst-f.graph)
	})
	return ctx.Err()
}

// sums returns Σ_i d_i x_ij y_ij for every column j.
func (r *Run) sums(x, y []float32, w int) []float64 {
	parts := make([]float64, par.Chunks(r.n, rowGrain)*w)
	par.For(r.n, rowGrain, func(lo, hi int) {
		sum := parts[lo/rowGrain*w:][:w]
		for i := lo; i < hi; i++ {
			d := r.degree(i)
			yr := y[i*w:][:w]
			for c, v := range x[i*w:][:w] {
				sum[c] += d * float64(v) * float64(yr[c])
			}
		}
	})
	out := make([]float64, w)
	for i, v := range parts {
		out[i%w] += v
	}
	return out
}

// largest returns the root of the largest a_c/b_c, of columns with a positive b_c.
func largest(a, b []float64) float64 {
	most := 0.
	for c, v := range b {
		if v > 0 {
			most = max(most, math.Sqrt(a[c]/v))
		}
	}
	return most
}

// enter enters the classes lo ≤ c < hi with their scores, D^½z for label spreading, into out.
func (r *Run) enter(out *best, z []float32, lo, hi int) {
	w := width(hi - lo)
	par.For(r.n, rowGrain, func(from, end int) {
		for i := from; i < end; i++ {
			root := float32(1)
			if r.in.Settings.Method == propagation.LGC {
				root = float32(math.Sqrt(r.degree(i)))
			}
			for c, v := range z[i*w:][:hi-lo] {
				out.take(i, root*v, int32(lo+c), root*max(v, 0))
			}
		}
	})
}

// take enters the score of a class, and what it adds to the sum. Of equal scores the first class counts.
func (b *best) take(i int, score float32, class int32, sum float32) {
	if score != 0 && (b.Class[i] < 0 || score > b.Score[i]) {
		b.Score[i] = score
		b.Class[i] = class
	}
	b.Sum[i] += sum
}

// Answers are the classes of all points.
type Answers struct {
	// Labels are positions among the classes: the label of a point that has a hard one, that of the largest
	// score else, the most frequent label out of reach of labels.
	Labels []int32
	// Shares are the largest score over the sum of the positive ones; 0 out of reach.
	Shares    []float32
	Unreached int // points out of reach: no label lies within as many edges as there were steps
	Steps     int // the most for any sixteen classes
	// Residual is the largest of any class, relative to its right-hand side.
	Residual float64
}

// String is the result in a line.
func (a *Answers) String() string {
	return fmt.Sprintf("%d steps to a residual of %.1e, %d points out of reach of labels", a.Steps, a.Residual, a.Unreached)
}
