package byclass

import (
	"context"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
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
	// Residual is the largest ‖(1−α)y − (I−αS)f‖ / ‖(1−α)y‖ of a class.
	Residual float64 `json:"residual"`
	// Bytes of the graph that the steps read.
	Bytes int64 `json:"bytes"`
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
	s = partState{Bytes: r.ReadBytes(p)}
	for from := lo; from < hi; from += mostColumns {
		residual, err := r.spread(ctx, from, min(hi, from+mostColumns), out)
		if err != nil {
			return false, err
		}
		s.Residual = max(s.Residual, residual)
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

// A source is the row of (1 − α)D^-½Y of a labeled point.
type source struct {
	place int
	row   []float32
}

// sources returns the rows of the labeled points for the classes lo ≤ c < hi, in blocks of w columns.
func (r *Run) sources(lo, hi, w int) []source {
	shares := r.in.Targets.Shares()
	var out []source
	for q, place := range r.labeled {
		s := source{int(place), make([]float32, w)}
		some := false
		for c := lo; c < hi; c++ {
			v := (1 - r.alpha) * shares.At(q, c) / math.Sqrt(r.degree(int(place)))
			s.row[c-lo] = float32(v)
			some = some || v != 0
		}
		if some {
			out = append(out, s)
		}
	}
	return out
}

// degree returns the degree of a vertex; 1 for one without neighbours, whose F is its Y.
func (r *Run) degree(place int) float64 {
	if r.factor[place] == 0 {
		return 1
	}
	return r.alpha / float64(r.factor[place])
}

// spread solves the equations of some classes, at most mostColumns, and enters them into out. It returns
// the largest residual.
func (r *Run) spread(ctx context.Context, lo, hi int, out *best) (float64, error) {
	w := width(hi - lo)
	for b := range r.blocks {
		if cap(r.blocks[b]) < r.n*w {
			r.blocks[b] = nil // a smaller one
			r.blocks[b] = make([]float32, r.n*w)
			continue
		}
		r.blocks[b] = r.blocks[b][:r.n*w]
		block := r.blocks[b]
		par.For(r.n, rowGrain, func(lo, hi int) { clear(block[lo*w : hi*w]) })
	}

	// The eigenvalues lie around 1, so the first iterate is the right-hand side.
	z, last := r.blocks[0], r.blocks[1]
	from := r.sources(lo, hi, w)
	add := func(x []float32, a float32) {
		for _, s := range from {
			simd.CombineRow32(x[s.place*w:][:w], x[s.place*w:][:w], 1, s.row, a)
		}
	}
	add(z, 1)
	rho := r.alpha
	for k := range r.steps {
		r.report(float64(k), float64(r.steps), "classes %d to %d, step %d of %d", lo, hi-1, k+1, r.steps)
		// z₊ = z + m(z − z₋) + a(y − z + αD⁻¹Wz)
		next := 1 / (2/r.alpha - rho)
		a := float32(2 * next / r.alpha)
		m := float32(next * rho)
		rho = next
		if err := r.step(ctx, last, z, w, factors{a, 1 + m - a, -m}); err != nil {
			return 0, err
		}
		add(last, a)
		z, last = last, z
	}

	if err := r.step(ctx, last, z, w, factors{1, -1, 0}); err != nil {
		return 0, err
	}
	add(last, 1)
	residual := r.residual(last, from, w)
	r.enter(out, z, lo, hi, w)
	return residual, nil
}

// factors of αD⁻¹Wx, of x and of what is there.
type factors struct{ graph, x, dst float32 }

// step sets dst = f.graph·αD⁻¹Wx + f.x·x + f.dst·dst.
func (r *Run) step(ctx context.Context, dst, x []float32, w int, f factors) error {
	par.Until(ctx, r.n, rowGrain, func(lo, hi int) {
		// The kernel adds a block of its own, which is dst, to the product: its last factor takes that off.
		simd.GraphStep(dst, x, dst, w, r.graph.Ptr, r.graph.Col, r.weight, r.factor, lo, hi, f.graph, f.x, f.dst-f.graph)
	})
	return ctx.Err()
}

// residual returns the largest norm of a column of D^½x over that of the right-hand side.
func (r *Run) residual(x []float32, from []source, w int) float64 {
	sums := make([]float64, par.Chunks(r.n, rowGrain)*w)
	par.For(r.n, rowGrain, func(lo, hi int) {
		sum := sums[lo/rowGrain*w:][:w]
		for i := lo; i < hi; i++ {
			d := r.degree(i)
			for c, v := range x[i*w:][:w] {
				sum[c] += d * float64(v) * float64(v)
			}
		}
	})
	of := make([]float64, w)
	for i, v := range sums {
		of[i%w] += v
	}
	right := make([]float64, w)
	for _, s := range from {
		for c, v := range s.row {
			right[c] += r.degree(s.place) * float64(v) * float64(v)
		}
	}

	most := 0.
	for c, v := range right {
		if v > 0 {
			most = max(most, math.Sqrt(of[c]/v))
		}
	}
	return most
}

// enter enters the classes lo ≤ c < hi with the scores D^½z into out.
func (r *Run) enter(out *best, z []float32, lo, hi, w int) {
	par.For(r.n, rowGrain, func(from, end int) {
		for i := from; i < end; i++ {
			root := float32(math.Sqrt(r.degree(i)))
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
	// Residual is the largest of any class, relative to its right-hand side.
	Residual float64
}

// String is the result in a line.
func (a *Answers) String() string {
	return fmt.Sprintf("residual %.1e, %d points out of reach of labels", a.Residual, a.Unreached)
}
