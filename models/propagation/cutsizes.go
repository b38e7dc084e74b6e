package propagation

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

const (
	// sizeStep is the distance of the sizes that are tried, as shares of the points.
	sizeStep = 0.1
	// doubtfulLabels is the number of labels a class at which the edges around them count half of what all edges do: see
	// [mbo.leaving]. One label says little. With one label a class a quarter had the smallest error of 0, 0.1, 0.25, 0.5, 1 and 2
	// on 48 sets of two classes that were made of six sets of many, and with five 0.25 to 2 had the same (docs/auto.md).
	doubtfulLabels = 3
	// evenRatio is the ratio of the numbers of labels up to which they say nothing about sizes. A fold of a cross-validation
	// of as many labels of each class leaves out one or two more of one.
	evenRatio = 1.25
	// equalScores is a difference that counts as none between scores from 0 to 1.
	equalScores = 1e-5
)

// trySizes gives two classes the sizes with the smallest [mbo.leaving]. It takes rounds with the sizes of the start, and with
// the first class on 10, 20, … 90 % of the points. From where each of these end it takes rounds without sizes, until the share
// has moved by 10 % of the points. The classes of the best rounds stay.
//
// The answers of Poisson learning say little about sizes where each class has one label: two classes of 12 and 88 % of the
// points, with few edges between them, get 39 and 61 %.
func (m *mbo) trySizes(ctx context.Context) error {
	b := m.start
	v := b.volumes
	counts := b.draw.counts()
	shares := []float64{v.shares[0]}
	for share := sizeStep; share < 1-sizeStep/2; share += sizeStep {
		if likely(share, 0, counts) {
			shares = append(shares, share)
		}
	}
	if len(shares) == 1 {
		return nil // the labels tell
	}
	t := m.newSizeTrials(shares)
	if err := t.run(ctx); err != nil {
		return err
	}

	best := slices.MinFunc(t.list, func(s, o *sizeTrial) int { return cmp.Compare(s.leaving, o.leaving) })
	if best.best == nil {
		return nil // a class has no edges
	}
	share := firstShare(best.best, v.live)
	v.shares = []float64{share, 1 - share}
	b.out.Shares = v.shares
	clear(v.log)
	copy(v.labels, best.best)
	return nil
}

// poissonSizes is for three classes and more. It takes rounds with the sizes that the classes have in the answers of Poisson
// learning. They stay where the normalized cut is a fifth less by them, else all is as before: classes of very uneven sizes
// that are clusters of the graph have about their sizes there, and others do not. Edges around labels do not count here: of one
// label in each of ten classes some lies badly, and sizes by Poisson learning then follow it. Sizes that the numbers of
// labels make unlikely are not tried.
func (m *mbo) poissonSizes(ctx context.Context) error {
	b := m.start
	v := b.volumes
	counts := b.draw.counts()
	shares, log, labels := v.shares, slices.Clone(v.log), slices.Clone(v.labels)
	most := (1 - leastGain) * m.normalizedCut(labels)

	clear(v.log)
	found := v.decide(b.scores, v.lowest(b.scores))
	plausible := true
	for c, share := range found {
		plausible = plausible && likely(share, c, counts)
	}
	if plausible {
		v.begin(found, b.scores)
		if err := m.settle(ctx, m.sized, looseShare); err != nil {
			return err
		}
		if m.normalizedCut(v.labels) < most {
			b.out.Shares = found
			b.out.LetGo = false
			return nil
		}
	}
	v.shares = shares
	copy(v.log, log)
	copy(v.labels, labels)
	m.u = m.heat.step(v.labels, v.live, m.sources)
	return nil
}

// likely reports whether class c may have this share of the points, by the numbers of labels: at most two standard
// deviations of a random draw lie between. About as many labels of each class say nothing: somebody chose so many.
func likely(share float64, c int, counts []float64) bool {
	if slices.Max(counts) <= evenRatio*slices.Min(counts)+1 {
		return true
	}
	var all float64
	for _, count := range counts {
		all += count
	}
	off := counts[c]/all - share
	return off*off <= 4*share*(1-share)/all
}

// trialBytes returns the memory of trials for n points: three blocks of one column a trial, and for each the classes now and
// at best, and sorted scores.
func trialBytes(n int64) int64 {
	trials := int(math.Round(1 / sizeStep))
	return 4 * n * int64(3*sparse.SingleWidth(trials)+3*trials)
}

// sizeTrials are rounds from several sizes at once, in one column each: both scores of a point have the same sum
// everywhere, so that a class has the points whose score is above a threshold.
type sizeTrials struct {
	of    *mbo
	heat  *heat
	list  []*sizeTrial
	first []float32 // what addFirst adds
}

// sizeTrial is a size of the first of two classes and where it took the points.
type sizeTrial struct {
	share   float64 // wanted, of the points that count
	labels  []int32
	best    []int32   // the labels with the smallest leaving so far
	leaving float64   // of best
	sorted  []float32 // scratch
}

// newSizeTrials begins trials with the classes that Poisson learning has with each of the shares.
func (m *mbo) newSizeTrials(shares []float64) *sizeTrials {
	b := m.start
	t := &sizeTrials{of: m, heat: newHeat(b.draw.problem.steps(), m.steps, len(shares))}
	t.first = dense.Zeros[float32](len(t.heat.a))
	for _, share := range shares {
		b.volumes.begin([]float64{share, 1 - share}, b.scores)
		t.list = append(t.list, &sizeTrial{share: share, labels: slices.Clone(b.volumes.labels), leaving: math.Inf(1)})
	}
	return t
}

// run takes the rounds of all trials, first with sizes, then without.
func (t *sizeTrials) run(ctx context.Context) error {
	live := t.of.start.volumes.live
	err := t.rounds(ctx, func(s *sizeTrial, score func(i int) float32) float64 {
		return s.decide(score, s.quantile(score, live), live)
	})
	if err != nil {
		return err
	}
	return t.rounds(ctx, func(s *sizeTrial, score func(i int) float32) float64 {
		changed := s.decide(score, 0.5, live)
		if math.Abs(firstShare(s.labels, live)-s.share) > sizeStep && s.best != nil {
			copy(s.labels, s.best)
			return 0
		}
		return changed
	})
}

// rounds takes rounds of each trial until at most looseShare of the points change, and compares where they end with the best
// before. decide decides the classes by the scores of the first one and returns the share of the points that changed.
func (t *sizeTrials) rounds(ctx context.Context, decide func(s *sizeTrial, score func(i int) float32) float64) error {
	b := t.of.start
	going := slices.Clone(t.list)
	for round := 1; round <= t.of.limit && len(going) > 0; round++ {
		width := t.mark(going)
		u := t.heat.apply(t.heat.decay, t.addFirst)
		changed := make([]float64, len(going))
		par.For(len(going), 1, func(k, _ int) {
			changed[k] = decide(going[k], func(i int) float32 { return u[i*width+k] + t.of.sources[i*t.of.heat.width] })
		})
		var next []*sizeTrial
		for k, s := range going {
			if changed[k] > looseShare {
				next = append(next, s)
			}
		}
		going = next
		b.out.Rounds++
		b.out.Changed = slices.Max(changed)
		if err := b.report(ctx, t.of.settings, round, t.of.limit); err != nil {
			return err
		}
	}

	par.For(len(t.list), 1, func(k, _ int) {
		s := t.list[k]
		if leaving := t.of.leaving(s.labels); leaving < s.leaving {
			s.leaving = leaving
			s.best = append(s.best[:0], s.labels...)
		}
	})
	return nil
}

// mark sets the indicators of the first class, a column for each of the trials, and makes the heat as wide as they are. It
// returns that width.
func (t *sizeTrials) mark(trials []*sizeTrial) int {
	width := sparse.SingleWidth(max(2, len(trials))) // one column takes longer than eight
	t.heat.narrow(width)
	live := t.of.start.volumes.live
	t.first = t.first[:t.heat.m.n*width]
	par.For(t.heat.m.n, heatGrain, func(lo, hi int) {
		clear(t.first[lo*width : hi*width])
		for i := lo; i < hi; i++ {
			if live != nil && !live[i] {
				continue
			}
			for k, s := range trials {
				t.first[i*width+k] = float32(1 - s.labels[i])
			}
		}
	})
	return width
}

// addFirst adds the indicators of the first class times a factor.
func (t *sizeTrials) addFirst(to []float32, factor float32) {
	par.For(len(to), heatGrain*t.heat.width, func(lo, hi int) {
		blas32.Axpy(factor, blas32.Vector{N: hi - lo, Inc: 1, Data: t.first[lo:hi]}, blas32.Vector{N: hi - lo, Inc: 1, Data: to[lo:hi]})
	})
}

// firstShare returns the share of the first class in the points that count.
func firstShare(labels []int32, live []bool) float64 {
	var first, all float64
	for i, c := range labels {
		if live == nil || live[i] {
			first += float64(1 - c)
			all++
		}
	}
	return first / all
}

// decide gives the first class the points whose score is at least a threshold, among those that count. It returns the share of
// the points that changed their class.
func (s *sizeTrial) decide(score func(i int) float32, least float32, live []bool) float64 {
	changed := 0
	for i, before := range s.labels {
		if live != nil && !live[i] {
			continue
		}
		now := int32(1)
		if score(i) >= least {
			now = 0
		}
		if now != before {
			changed++
		}
		s.labels[i] = now
	}
	return float64(changed) / float64(len(s.labels))
}

// quantile returns the threshold with which the first class gets its share of the points that count.
func (s *sizeTrial) quantile(score func(i int) float32, live []bool) float32 {
	s.sorted = s.sorted[:0]
	for i := range s.labels {
		if live == nil || live[i] {
			s.sorted = append(s.sorted, score(i))
		}
	}
	slices.Sort(s.sorted)
	return threshold(s.sorted, int(math.Round(s.share*float64(len(s.sorted)))))
}

// threshold returns a number that about count of the scores, which ascend, are above. Scores that differ by rounding alone
// are on one side of it: those of a component in which all points have one class.
func threshold(scores []float32, count int) float32 {
	if count == 0 {
		return float32(math.Inf(1))
	}
	at := scores[len(scores)-count]
	above, _ := slices.BinarySearch(scores, at+equalScores)
	from, _ := slices.BinarySearch(scores, at-equalScores)
	if all, none := len(scores)-from, len(scores)-above; all-count <= count-none {
		return at - equalScores
	}
	return at + equalScores
}

// normalizedCut returns Σ_c cut(c)/vol(c), the share of the edges of a class that leave it, summed (Shi & Malik, IEEE PAMI
// 22, 2000); infinity where a class has no edges.
func (m *mbo) normalizedCut(labels []int32) float64 {
	plain := m.start.draw.problem.plain
	degrees := plain.Degrees()
	volume := make([]float64, len(m.start.volumes.shares))
	for i, c := range labels {
		if live := m.start.volumes.live; live == nil || live[i] {
			volume[c] += degrees[i]
		}
	}

	cut := make([]float64, len(volume))
	cutEdges(plain.Graph(), labels, func(a, _ int32, weight float64) { cut[a] += weight })
	var sum float64
	for c, volume := range volume {
		if volume == 0 {
			return math.Inf(1)
		}
		sum += cut[c] / volume
	}
	return sum
}

// leaving returns Σ_c cut(c)/vol(c) + l/(l+3) Σ_c λ_c of two classes with l labels each in the mean: the share of the edges of a
// class that leave it, of all its points and of its labeled points alone, λ_c = Σ_q w_q y_qc (1 − p_qc) / Σ_q w_q y_qc, with
// p_qc the share of class c in the weights of the edges of label q. The second sum is large for a class that is too small
// to hold the neighbours of its own labels.
func (m *mbo) leaving(labels []int32) float64 {
	d := m.start.draw
	w := d.problem.plain.Graph()
	counts := d.counts()
	sum := m.normalizedCut(labels)
	given := (counts[0] + counts[1]) / 2
	part := given / (given + doubtfulLabels)
	for q, at := range d.at {
		around := sharesAround(w, int(at), labels, len(counts))
		for c, y := range d.y.RawRowView(q) {
			if y > 0 {
				sum += part * d.weight(q) * y * (1 - around[c]) / counts[c]
			}
		}
	}
	return sum
}

// sharesAround returns the shares of the classes in the weights of the edges of a point, ones for a point without any.
func sharesAround(w *sparse.CSR, i int, labels []int32, classes int) []float64 {
	out := make([]float64, classes)
	col, val := w.Row(i)
	var total float64
	for p, j := range col {
		weight := 1.0
		if val != nil {
			weight = val[p]
		}
		out[labels[j]] += weight
		total += weight
	}
	for c := range out {
		if total > 0 {
			out[c] /= total
		} else {
			out[c] = 1
		}
	}
	return out
}
