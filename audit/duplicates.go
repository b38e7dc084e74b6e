package audit

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

const (
	// NearShare bounds the distance of near duplicates, in typical distances.
	NearShare = 0.1
	// ByChance is the number of pairs that would be as near as near duplicates by chance: see [Duplicates].
	ByChance = 0.5
)

// Duplicates are points that are there more than once.
//
// Exact ones have equal coordinates: rows are hashed, and rows of one hash compared.
//
// A pair of near ones has a distance that is not 0 and at most
//
//	Threshold = f·T, f = min([NearShare], ([ByChance]/(n·k))^(1/D))
//
// with the typical distance T, the median over the points of the mean distance to their k neighbours, and the
// intrinsic dimension D. Points that lie evenly in D dimensions have about n·k·f^D ordered pairs nearer than f·T,
// so that about [ByChance] of all pairs would be as near by chance: in the plane points must be nearer than in
// many dimensions. D is estimated by Levina & Bickel (2004) with the mean of MacKay & Ghahramani (2005): 1/D is
// the mean of log(d_k/d_j) over the points and j < k. Only pairs among the k neighbours are looked at.
type Duplicates struct {
	Exact []Group // by their first rows
	Near  []Group // components of the near pairs, with the exact copies of their points
	Pairs []Pair  // the near pairs, the nearest first

	Threshold float64 // 0 if there are no neighbours
	Intrinsic float64 // D; NaN if it is not known
}

// Group is a set of points that are the same, or nearly so.
type Group struct {
	Rows []int // ascending
	// Conflict says that points of the group have different labels or values.
	Conflict bool
}

// Pair is two points that are nearly the same.
type Pair struct {
	I, J     int
	Distance float64
}

// Copies returns the number of points that could be left out so that one of each group stays.
func Copies(groups []Group) int {
	sum := 0
	for _, g := range groups {
		sum += len(g.Rows) - 1
	}
	return sum
}

// Conflicts returns the number of groups with different labels or values.
func Conflicts(groups []Group) int {
	sum := 0
	for _, g := range groups {
		if g.Conflict {
			sum++
		}
	}
	return sum
}

// exact finds groups of equal points.
func (r *run) exact(ctx context.Context) error {
	n := r.count()
	if n < 2 {
		return nil
	}
	if err := r.Observed().Announce("duplicates", stage.Cost{Bytes: 16 * int64(n),
		Remedy: "give fewer points"}); err != nil {
		return err
	}
	r.Observed().Begin("duplicates")
	hash := make([]uint64, n)
	hashRows(ctx, r.points, hash)
	if err := ctx.Err(); err != nil {
		return err
	}

	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(hash[a], hash[b]), cmp.Compare(a, b)) })
	_, d := r.points.Dims()
	same := &comparison{x: r.points, a: make([]float64, d), b: make([]float64, d)}
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && hash[order[hi]] == hash[order[lo]] {
			hi++
		}
		if hi > lo+1 {
			r.out.Duplicates.Exact = append(r.out.Duplicates.Exact, same.groups(order[lo:hi])...)
		}
		lo = hi
	}
	slices.SortFunc(r.out.Duplicates.Exact, func(a, b Group) int { return cmp.Compare(a.Rows[0], b.Rows[0]) })
	r.Observed().End(counted(len(r.out.Duplicates.Exact), "group of equal points", "groups of equal points"))
	return nil
}

// hashRows hashes all points: equal points have equal hashes, and so have zeros of both signs.
func hashRows(ctx context.Context, x data.Points, hash []uint64) {
	n, d := x.Dims()
	const odd = 0x9e3779b97f4a7c15
	mix := func(h uint64, v float64) uint64 {
		hi, lo := bits.Mul64(h^math.Float64bits(v+0), odd)
		return hi ^ lo + odd
	}
	if m, ok := x.(*sparse.CSR); ok {
		par.Until(ctx, n, data.BlockRows, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				h := uint64(odd)
				col, val := m.Row(i)
				for p, j := range col {
					if v := at(val, p); v != 0 {
						h = mix(h+uint64(j), v)
					}
				}
				hash[i] = h
			}
		})
		return
	}
	par.Until(ctx, n, data.BlockRows, func(lo, hi int) {
		row := make([]float64, d)
		for i := lo; i < hi; i++ {
			data.RowTo(row, x, i)
			h := uint64(odd)
			for _, v := range row {
				h = mix(h, v)
			}
			hash[i] = h
		}
		data.Release(x, lo, hi)
	})
}

// at returns value p of a row of a sparse matrix.
func at(val []float64, p int) float64 {
	if val == nil {
		return 1
	}
	return val[p]
}

// comparison compares points.
type comparison struct {
	x    data.Points
	a, b []float64
}

// groups parts points of one hash into groups of equal points. They are ascending.
func (c *comparison) groups(rows []int32) []Group {
	var all []Group
next:
	for _, i := range rows {
		data.RowTo(c.a, c.x, int(i))
		for g := range all {
			data.RowTo(c.b, c.x, all[g].Rows[0])
			if slices.Equal(c.a, c.b) {
				all[g].Rows = append(all[g].Rows, int(i))
				continue next
			}
		}
		all = append(all, Group{Rows: []int{int(i)}})
	}
	return slices.DeleteFunc(all, func(g Group) bool { return len(g.Rows) < 2 })
}

// near finds pairs that are nearly equal, and their groups.
func (r *run) near() {
	o := &r.out.Duplicates
	n := r.lists.Len()
	o.Intrinsic = intrinsic(r.lists)
	share := NearShare
	if o.Intrinsic > 0 { // not NaN
		share = min(share, math.Pow(ByChance/(float64(n)*float64(r.lists.K)), 1/o.Intrinsic))
	}
	o.Threshold = share * r.out.Typical

	for i := range n {
		index, distance := r.lists.Row(i)
		for p, j := range index {
			d := distance[p]
			if !(d > 0 && d <= o.Threshold) {
				continue
			}
			// A pair in both lists counts once.
			if back, _ := r.lists.Row(int(j)); int(j) < i && slices.Contains(back, int32(i)) {
				continue
			}
			o.Pairs = append(o.Pairs, Pair{min(i, int(j)), max(i, int(j)), d})
		}
	}
	slices.SortFunc(o.Pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J))
	})
	o.Near = components(n, o.Pairs, o.Exact)
}

// intrinsic estimates the dimension of the points by the growth of their distances: see [Duplicates].
func intrinsic(lists *knn.Neighbors) float64 {
	var sum float64
	count := 0
	for i := range lists.Len() {
		_, distance := lists.Row(i)
		last := distance[len(distance)-1]
		for _, d := range distance[:len(distance)-1] {
			if d > 0 {
				sum += math.Log(last / d)
				count++
			}
		}
	}
	if !(sum > 0) {
		return math.NaN()
	}
	return float64(count) / sum
}

// components returns the components of pairs of n points, in which the points of each exact group are joined.
func components(n int, pairs []Pair, exact []Group) []Group {
	if len(pairs) == 0 {
		return nil
	}
	parent := make([]int32, n)
	for i := range parent {
		parent[i] = int32(i)
	}
	find := func(i int) int {
		for int(parent[i]) != i {
			parent[i] = parent[parent[i]]
			i = int(parent[i])
		}
		return i
	}
	// The smaller root stays, so that roots are the first rows of their groups.
	join := func(i, j int) {
		a := find(i)
		b := find(j)
		parent[max(a, b)] = int32(min(a, b))
	}
	for _, g := range exact {
		for _, i := range g.Rows[1:] {
			join(g.Rows[0], i)
		}
	}
	touched := make(map[int]bool)
	for _, p := range pairs {
		join(p.I, p.J)
	}
	for _, p := range pairs {
		touched[find(p.I)] = true
	}

	place := map[int]int{}
	var out []Group
	for i := range n {
		root := find(i)
		if !touched[root] {
			continue
		}
		g, ok := place[root]
		if !ok {
			g = len(out)
			place[root] = g
			out = append(out, Group{})
		}
		out[g].Rows = append(out[g].Rows, i)
	}
	return out
}

// conflicts marks groups whose points have different labels or values.
func (r *run) conflicts() {
	differ := func(rows []int) bool { return false }
	switch {
	case r.labels != nil:
		differ = func(rows []int) bool {
			one := data.Unlabeled
			for _, i := range rows {
				c := r.labels.Index[i]
				if c != data.Unlabeled && one != data.Unlabeled && c != one {
					return true
				}
				if c != data.Unlabeled {
					one = c
				}
			}
			return false
		}
	case r.values != nil:
		differ = func(rows []int) bool {
			var one []float64
			for _, i := range rows {
				v := r.values.RawRowView(i)
				if slices.ContainsFunc(v, math.IsNaN) {
					continue
				}
				if one != nil && !slices.Equal(one, v) {
					return true
				}
				one = v
			}
			return false
		}
	}
	for g := range r.out.Duplicates.Exact {
		group := &r.out.Duplicates.Exact[g]
		group.Conflict = differ(group.Rows)
	}
	// Values of points that differ a little may differ a little.
	if r.labels == nil {
		return
	}
	for g := range r.out.Duplicates.Near {
		group := &r.out.Duplicates.Near[g]
		group.Conflict = differ(group.Rows)
	}
}
