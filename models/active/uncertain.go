package active

import (
	"container/heap"
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
)

// uncertain chooses the points with the largest u_i C_ii / C⁰_ii, with C⁰ the covariance before the batch. A
// label lowers variances only, so that u_i and every earlier score bound a score from above: a queue of
// bounds finds the largest from the rows of few points (lazy greedy, Minoux 1978).
type uncertain struct {
	field   *field
	first   *mat.Dense // A before the batch
	margins []float64
	changes []change // of the points chosen so far

	known map[int32]spread // of the points that were looked at
}

// spread holds the variances of a point.
type spread struct {
	first, variance float64 // C⁰_ii, and C_ii after some changes
	changes         int     // their number
}

// lookedAt is the number of points that are looked at together at most.
const lookedAt = 256

// chooseUncertain chooses for the rules Uncertainty and Committee, and for Combined that does not explore.
func (p *Pool) chooseUncertain(ctx context.Context, s *Settings, f *field) ([]Choice, error) {
	u := newUncertain(f, p.Margins)
	taken := p.taken()
	out := make([]Choice, 0, s.Count)
	ask := func(q *bounds, first bool) error {
		best, err := u.take(ctx, q)
		if err != nil {
			return err
		}
		i := int(best.point)
		taken[i] = true
		u.observe(i)
		out = append(out, Choice{Point: i, Rule: s.Rule, Component: p.Components.Of[i], First: first, Score: best.most})
		return nil
	}

	// A point of each component that comes first, then any points.
	queue := p.unlabeledComponents(s)
	for _, only := range queue[:min(len(queue), s.Count)] {
		q := u.queue(func(i int) bool { return !taken[i] && p.Components.Of[i] == only })
		if err := ask(&q, true); err != nil {
			return nil, err
		}
	}
	q := u.queue(func(i int) bool { return !taken[i] })
	for len(out) < s.Count {
		if err := ask(&q, false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func newUncertain(f *field, margins []float64) *uncertain {
	return &uncertain{field: f, first: mat.DenseCopyOf(f.covariance), margins: margins, known: map[int32]spread{}}
}

// queue returns the upper bounds of the scores of the points that are open.
func (u *uncertain) queue(open func(i int) bool) bounds {
	var q bounds
	for i := range u.margins {
		if open(i) {
			q = append(q, bound{int32(i), u.score(int32(i))})
		}
	}
	heap.Init(&q)
	return q
}

// score returns an upper bound of the score of point i, by its last variance.
func (u *uncertain) score(i int32) float64 {
	doubt := 1 - u.margins[i]
	if s, ok := u.known[i]; ok && s.first > 0 {
		return doubt * s.variance / s.first
	}
	return doubt
}

// take removes the point with the largest score from q. There must be one.
func (u *uncertain) take(ctx context.Context, q *bounds) (bound, error) {
	for {
		top := (*q)[0]
		if s, ok := u.known[top.point]; ok && s.changes == len(u.changes) {
			heap.Pop(q)
			return top, nil
		}
		if err := ctx.Err(); err != nil {
			return bound{}, err
		}

		// Those behind the first are likely to be the next ones.
		var points []int32
		for len(points) < lookedAt && len(*q) > 0 && (len(points) == 0 || (*q)[0].most == top.most) {
			points = append(points, heap.Pop(q).(bound).point)
		}
		u.look(points)
		for _, i := range points {
			heap.Push(q, bound{i, u.score(i)})
		}
	}
}

// look computes the variances of points after all changes.
func (u *uncertain) look(points []int32) {
	_, k := u.field.vectors.Dims()
	var fresh []int
	for _, i := range points {
		if _, ok := u.known[i]; !ok {
			fresh = append(fresh, int(i))
		}
	}
	if len(fresh) > 0 {
		rows := dense.Gather(mat.NewDense(len(fresh), k, nil), u.field.vectors, fresh)
		products := mat.NewDense(len(fresh), k, nil)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, rows, u.first, 0, products)
		for r, i := range fresh {
			v := max(floats.Dot(rows.RawRowView(r), products.RawRowView(r)), 0)
			u.known[int32(i)] = spread{first: v, variance: v}
		}
	}

	for _, i := range points {
		s := u.known[i]
		for _, c := range u.changes[s.changes:] {
			fall := floats.Dot(u.field.vectors.RawRowView(int(i)), c.a)
			s.variance = max(s.variance-c.scale*fall*fall, 0)
		}
		s.changes = len(u.changes)
		u.known[i] = s
	}
}

// observe takes the label of point i into account.
func (u *uncertain) observe(i int) { u.changes = append(u.changes, u.field.observe(i)) }
