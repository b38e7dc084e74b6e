package propagation

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

const (
	// leastGain is the share of the cut of two classes that a new division must save. Divisions that save less differ
	// from the old one by chance on graphs where the classes are no clusters: with 0.1 the mean error of 20 sets with
	// 1, 2 and 5 labels a class rises by 0.45 points, with 0.2 by 0.09. On MNIST new divisions save 0.3.
	leastGain = 0.2
	// mostRaw is the largest cut of a division by an eigenvector, relative to the present one, from which
	// rounds are worth taking. Rounds save a third of the cut at most on MNIST.
	mostRaw = 1.6
	// pairVectors eigenvectors divide a pair of classes. On MNIST the digits 4 and 9 are divided by the second one.
	pairVectors = 4
	// clearShare is how many times as many points must keep their class by other names. Of two classes that had half of
	// each other's points the new parts cut fewer edges around the labels with the right names than with wrong ones, and
	// names by a small majority err more, in 3 of 32 draws of MNIST.
	clearShare = 2
	// sameShare of the points may change in a division that counts as the present one.
	sameShare = 0.05
	// pairRounds bounds the rounds from the division by an eigenvector, and pairSteady ends them.
	pairRounds, pairSteady = 20, 1e-3
	// pairSweeps bounds the passes over all pairs.
	pairSweeps = 5
	// leastPair is the number of points of two classes that are divided anew.
	leastPair = 20
	// mostPair bounds the points of two classes by this multiple of what classes of equal size have together.
	mostPair = 2
)

// divider leaves a local minimum of the cut by dividing the points of two classes anew, the others as they are: the
// α-β swap of Boykov, Veksler & Zabih (IEEE PAMI 23, 2001), but with sizes of the classes, for which no minimum cut
// is known. Candidates are divisions by the first eigenvectors of the pair's own graph (Shi & Malik, IEEE PAMI 22, 2000),
// with rounds of PoissonMBO from each.
//
// It is for three classes and more. Two classes are the whole graph, whose smallest cut says less about them than
// the start does: new divisions raise the mean error of 15 sets of two classes, from 29.8 to 29.9 %.
type divider struct {
	start   *sizedStart
	w       *sparse.CSR
	sources *mat.Dense // of the labels, n×C
	steps   int        // of the heat equation
}

func newDivider(b *sizedStart, steps int) *divider {
	return &divider{b, b.draw.problem.plain.Graph(), b.draw.centred(), steps}
}

// sweep divides pairs of classes anew and reports which classes changed. Only pairs with a class among the given ones
// are tried; nil means all. Pairs without a class in common do not see each other, and are divided at the same time.
//
// It costs a pass over the graph and, for each of at most 2C pairs, some thirty passes over the graph of the pair's
// points for the eigenvectors and, where a candidate is near, twenty a round for all candidates of the pair together.
func (d *divider) sweep(ctx context.Context, among []bool) ([]bool, error) {
	changed := make([]bool, len(d.start.volumes.shares))
	left := d.pairs()
	if among != nil {
		left = slices.DeleteFunc(left, func(p classPair) bool { return !among[p.a] && !among[p.b] })
	}
	for len(left) > 0 {
		var now []classPair
		now, left = apart(left, len(changed))
		divisions := make([]division, len(now))
		errs := make([]error, len(now))
		par.For(len(now), 1, func(q, _ int) { divisions[q], errs[q] = d.divide(ctx, now[q]) })
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
		for q, p := range now {
			if divisions[q].labels == nil {
				continue
			}
			divisions[q].apply(d.start.volumes.labels, p)
			changed[p.a] = true
			changed[p.b] = true
		}
	}
	return changed, nil
}

// apart takes the pairs that have no class in common with a pair before them, and returns them and the others.
func apart(pairs []classPair, classes int) (now, later []classPair) {
	taken := make([]bool, classes)
	for _, p := range pairs {
		if taken[p.a] || taken[p.b] {
			later = append(later, p)
		} else {
			now = append(now, p)
		}
		taken[p.a] = true
		taken[p.b] = true
	}
	return now, later
}

// classPair holds two classes and the weight of the edges between them.
type classPair struct {
	a, b int
	cut  float64
}

// pairs returns the pairs of classes whose cut is above the mean of all pairs, the largest first, 2C at most. A new
// division cannot save more than the cut.
func (d *divider) pairs() []classPair {
	labels := d.start.volumes.labels
	classes := len(d.start.volumes.shares)
	between := make([]float64, classes*classes)
	cutEdges(d.w, labels, func(a, b int32, w float64) { between[int(a)*classes+int(b)] += w })

	var out []classPair
	var total float64
	for a := range classes {
		for b := range a {
			cut := between[a*classes+b]
			total += cut
			out = append(out, classPair{a, b, cut})
		}
	}
	mean := total / float64(len(out))
	out = slices.DeleteFunc(out, func(p classPair) bool { return !(p.cut > mean) })
	slices.SortStableFunc(out, func(p, q classPair) int { return cmp.Compare(q.cut, p.cut) })
	return out[:min(len(out), 2*classes)]
}

// cutEdges visits the edges between points of different labels, each from both ends.
func cutEdges(w *sparse.CSR, labels []int32, visit func(a, b int32, weight float64)) {
	for i, label := range labels {
		col, val := w.Row(i)
		for p, j := range col {
			if labels[j] == label {
				continue
			}
			if val == nil {
				visit(label, labels[j], 1)
			} else {
				visit(label, labels[j], val[p])
			}
		}
	}
}

// cutOf returns the weight of the edges between points of different labels.
func cutOf(w *sparse.CSR, labels []int32) float64 {
	var cut float64
	cutEdges(w, labels, func(_, _ int32, weight float64) { cut += weight })
	return cut / 2
}

// division gives points of a pair of classes the first of them, 0, or the second, 1.
type division struct {
	points []int32
	labels []int32 // nil for none
}

// apply gives the points their classes.
func (v division) apply(labels []int32, pair classPair) {
	for q, side := range v.labels {
		labels[v.points[q]] = int32([2]int{pair.a, pair.b}[side])
	}
}

// divide returns the division of a pair of classes of the smallest cut among the candidates, if there is one that saves
// leastGain of the present cut and agrees with the labels as well.
func (d *divider) divide(ctx context.Context, classes classPair) (division, error) {
	p := d.pair(classes)
	if p == nil {
		return division{}, nil
	}
	vectors, err := p.vectors(ctx)
	if vectors == nil {
		return division{}, err
	}

	present := cutOf(p.graph, p.labels)
	candidates := p.near(vectors, mostRaw*present)
	if err := p.rounds(ctx, candidates, d.steps); err != nil {
		return division{}, err
	}

	limit := (1 - leastGain) * present
	agreement := p.agreement(p.labels)
	best := division{points: p.points}
	for _, labels := range candidates {
		if cut := cutOf(p.graph, labels); cut < limit && p.agreement(labels) >= agreement {
			limit = cut
			best.labels = labels
		}
	}
	return best, nil
}

// pairGraph is the graph of the points of two classes: the largest component of it. Labels of its points are 0 and 1.
type pairGraph struct {
	points  []int32
	graph   *sparse.CSR
	labels  []int32    // at present
	first   int        // number of points with the label 0
	sources *mat.Dense // of the given labels, n×2
}

// pair returns the graph of two classes, nil where it is too small or too large or has points of one class only.
func (d *divider) pair(classes classPair) *pairGraph {
	v := d.start.volumes
	n := len(v.labels)
	var points []int32
	for i, c := range v.labels {
		if (int(c) == classes.a || int(c) == classes.b) && (v.live == nil || v.live[i]) {
			points = append(points, int32(i))
		}
	}
	if len(points) < leastPair || len(points) > mostPairPoints(n, len(v.shares)) {
		return nil
	}

	// What hangs together by other classes alone stays as it is.
	graph := d.induced(points)
	if c := graph.Components(); c.Count() > 1 {
		largest := int32(slices.Index(c.Sizes, slices.Max(c.Sizes)))
		var kept []int32
		for q, i := range points {
			if c.Of[q] == largest {
				kept = append(kept, i)
			}
		}
		points = kept
		graph = d.induced(points)
	}

	p := &pairGraph{points: points, graph: graph, labels: make([]int32, len(points)),
		sources: mat.NewDense(len(points), 2, nil)}
	for q, i := range points {
		if int(v.labels[i]) == classes.b {
			p.labels[q] = 1
		} else {
			p.first++
		}
		p.sources.Set(q, 0, d.sources.At(int(i), classes.a))
		p.sources.Set(q, 1, d.sources.At(int(i), classes.b))
	}
	if len(points) < leastPair || p.first == 0 || p.first == len(points) {
		return nil
	}
	return p
}

// mostPairPoints returns the largest number of points of a pair that is divided anew, of n points in so many classes.
func mostPairPoints(n, classes int) int { return min(n, mostPair*2*n/classes) }

// induced returns the graph of ascending points.
func (d *divider) induced(points []int32) *sparse.CSR {
	place := slices.Repeat([]int32{-1}, d.w.Rows)
	for q, i := range points {
		place[i] = int32(q)
	}
	return sparse.Induced(d.w, points, func(j int32) int32 { return place[j] })
}

// pairSettings returns the settings of the eigenvectors of a pair: the constant one and pairVectors others. Rough ones
// are enough, as rounds follow.
func pairSettings() *lanczos.Settings {
	return &lanczos.Settings{K: pairVectors + 1, Tolerance: 1e-2, Rough: true}
}

// vectors returns the first eigenvectors of the random walk on the graph without the constant one.
func (p *pairGraph) vectors(ctx context.Context) (*mat.Dense, error) {
	l, err := sparse.NewLaplacian(p.graph, sparse.RandomWalk)
	if err != nil {
		return nil, err
	}
	one := &sparse.Components{Of: make([]int32, len(p.points)), Sizes: []int{len(p.points)}}
	r, err := lanczos.Laplacian(ctx, l, one, pairSettings())
	if r == nil || !models.Usable(err) {
		return nil, err
	}
	n, k := r.Vectors.Dims()
	if k < 2 {
		return nil, nil
	}
	return r.Vectors.Slice(0, n, 1, k).(*mat.Dense), nil
}

// near returns the divisions of the points by the values of each vector whose cut is at most a limit. Each class has as
// many points as at present: those of the smallest values are of one class or of the other. A division that is the
// present one but for a few points, under either name, is left out.
func (p *pairGraph) near(vectors *mat.Dense, limit float64) [][]int32 {
	var out [][]int32
	n, columns := vectors.Dims()
	for j := range columns {
		values := mat.Col(nil, j, vectors)
		for range 2 {
			labels := make([]int32, n)
			p.split(values, labels)
			moved := changedShare(labels, p.labels)
			if min(moved, 1-moved) > sameShare && cutOf(p.graph, labels) <= limit {
				out = append(out, labels)
			}
			for q, v := range values {
				values[q] = -v
			}
		}
	}
	return out
}

// split gives the label 0 to the points of the smallest values, as many as have it at present, and 1 to the others. Of
// equal values those of the first points are smaller.
func (p *pairGraph) split(values []float64, labels []int32) {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	limit := sorted[p.first]
	equal := p.first // points of the value limit that get the label 0
	for equal > 0 && sorted[equal-1] == limit {
		equal--
	}
	equal = p.first - equal

	for q, v := range values {
		labels[q] = 1
		switch {
		case v < limit:
			labels[q] = 0
		case v == limit && equal > 0:
			equal--
			labels[q] = 0
		}
	}
}

// rename gives the parts of a division the names of the classes before. It swaps two names while at least clearShare
// times as many points keep their class with them.
func rename(labels, before []int32, classes int) {
	kept := make([]int, classes*classes) // points of each part and each class before
	for i, part := range labels {
		kept[int(part)*classes+int(before[i])]++
	}
	names := make([]int32, classes)
	for c := range names {
		names[c] = int32(c)
	}
	keeps := func(part int, name int32) int { return kept[part*classes+int(name)] }

	for swapped := true; swapped; {
		swapped = false
		for a := range classes {
			for b := range a {
				if keeps(a, names[b])+keeps(b, names[a]) > clearShare*(keeps(a, names[a])+keeps(b, names[b])) {
					names[a], names[b] = names[b], names[a]
					swapped = true
				}
			}
		}
	}
	for i, part := range labels {
		labels[i] = names[part]
	}
}

// agreement returns how well labels agree with the given ones: the sum of the sources at their classes.
func (p *pairGraph) agreement(labels []int32) float64 {
	var sum float64
	for q, side := range labels {
		sum += p.sources.At(q, int(side))
	}
	return sum
}

// rounds takes rounds of PoissonMBO from each candidate, in place, all of them at once. Of two classes the difference of
// the scores decides, so a candidate is one column: 1 for the label 1 and −1 for 0.
func (p *pairGraph) rounds(ctx context.Context, candidates [][]int32, steps int) error {
	if len(candidates) == 0 {
		return nil
	}
	l, err := sparse.NewLaplacian(p.graph, sparse.Combinatorial)
	if err != nil {
		return err
	}
	n := len(p.points)
	h := newHeat(newStepMatrix(l), steps, len(candidates))
	sources := mat.NewDense(n, len(candidates), nil)
	for q := range n {
		for j := range candidates {
			sources.Set(q, j, p.sources.At(q, 1)-p.sources.At(q, 0))
		}
	}

	supply := h.sources(sources)
	before := make([]int32, n)
	values := make([]float64, n)
	for range pairRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		u := h.from(func(to []float32, factor float32) {
			for j, labels := range candidates {
				for q, side := range labels {
					to[q*h.width+j] += factor * float32(2*side-1)
				}
			}
		}, supply)
		var most float64
		for j, labels := range candidates {
			copy(before, labels)
			mat.Col(values, j, u)
			p.split(values, labels)
			most = max(most, changedShare(before, labels))
		}
		if most <= pairSteady {
			break
		}
	}
	return nil
}

// pairBytes returns the memory of dividing pairs of classes of a graph of n points with the edges e, as many at a time as
// there are threads: the graph of a pair, the eigenvectors, and the matrix and blocks of its rounds.
func pairBytes(n int, e lanczos.Edges, classes int) (int64, error) {
	if classes < leastClasses || n == 0 {
		return 0, nil
	}
	points := mostPairPoints(n, classes)
	e.Count = int(float64(e.Count) * float64(points) / float64(n))
	vectors, _, err := lanczos.LaplacianBytes(points, nil, e, pairSettings())
	if err != nil {
		return 0, err
	}

	edge := int64(4 + 8) // the graph
	if !e.Weighted {
		edge = 4
	}
	graph := edge*int64(e.Count) + 40*int64(points) + 4*int64(n)
	rounds := sparse.SingleBytes(points, e.Count) +
		int64(points)*(3*4*int64(sparse.SingleWidth(2*pairVectors))+2*8*2*pairVectors+4*2*pairVectors+8*5)
	return int64(par.Workers(classes/2, 1)) * (stage.HeapBytes(graph+rounds) + vectors), nil
}
