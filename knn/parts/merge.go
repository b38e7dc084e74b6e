package parts

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// truthSample is the number of points by which the recall is estimated.
const truthSample = 500

// raw returns a copy of points, which ascend, as they are given: float64 as such, all others
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

// exactBlock is the number of points whose lists are measured in float64 at a time.
const exactBlock = 1 << 14

// exact measures the lists of points, which ascend, in float64, and returns the nearest K of
// each, ordered as those of exact searches.
func (r *Run) exact(ctx context.Context, own []int32, words []uint32, width int) (index []uint32, dist []float64, err error) {
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

// exactly is exact for a block.
func (r *Run) exactly(ctx context.Context, own []int32, words []uint32, width int) (index []uint32, dist []float64, err error) {
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
			return nil, nil, fmt.Errorf("point %d has less than %d neighbours; take fewer --parts or more --overlap", own[i], k)
		}
	}
	return index, dist, nil
}

// needsLengths reports whether the weights are made of distances.
func (s *Settings) needsLengths() bool {
	return s.Graph.Weights != knn.One && s.Graph.Weights != knn.Shared
}

// Recall is that of the lists before and after the exchange across borders.
type Recall struct{ Before, After knn.Recall }

const (
	// enoughRecall ends the rounds of the exchange.
	enoughRecall = 0.98
	// leastGain is the smallest gain of recall in a round after which another one follows.
	leastGain = 0.02
	// mostRounds is the largest number of them.
	mostRounds = 3
)

// Merge merges the lists of all parts into K neighbours of each point and improves them by
// an exchange across borders: in one round or, while the recall is below 0.98 and grows, up to three.
// With parts missing the error is a [*checkpoint.MissingError].
func (r *Run) Merge(ctx context.Context) (*Recall, error) {
	missing, err := r.Missing()
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, &checkpoint.MissingError{Missing: missing, Parts: r.s.Parts, Folder: r.folder.Path("")}
	}
	if err := r.announceRound(1); err != nil {
		return nil, err
	}
	r.div.number()
	truth, err := r.truth(ctx)
	if err != nil {
		return nil, err
	}
	recall := &Recall{}
	if recall.Before, err = r.recall(ctx, truth, r.merged, r.s.width()); err != nil {
		return nil, err
	}
	r.observed.Note(fmt.Sprintf("recall before the exchange: %s", recall.Before))
	share := recall.Before.Share
	for r.round = 1; ; r.round++ {
		if r.round > 1 {
			if err := r.announceRound(r.round); err != nil {
				return nil, err
			}
		}
		if err := r.exchangeAll(ctx); err != nil {
			return nil, err
		}
		if recall.After, err = r.recall(ctx, truth, r.final, r.s.Graph.K); err != nil {
			return nil, err
		}
		r.observed.End(fmt.Sprintf("recall %s", recall.After))
		gained := recall.After.Share - share
		if share = recall.After.Share; share >= enoughRecall || gained < leastGain || r.round == mostRounds {
			return recall, nil
		}
	}
}

func (r *Run) announceRound(round int) error {
	largest := max(slices.Max(r.div.Own), truthSample)
	return r.observed.Announce(roundName(round), stage.Cost{
		Bytes:      exchangeBytes(r.div.N, r.div.D, largest, round, &r.s),
		Operations: exchangeOperations(r.div.N, r.div.D, &r.s), Remedy: "take more --parts",
	})
}

func roundName(round int) string {
	if round == 1 {
		return "exchange"
	}
	return fmt.Sprintf("exchange, round %d", round)
}

// exchangeAll makes the lists of a round that are not there.
func (r *Run) exchangeAll(ctx context.Context) error {
	r.observed.Begin(roundName(r.round))
	for p := range r.s.Parts {
		there, err := r.folder.has(listsName(r.round, p))
		if err != nil {
			return err
		}
		if there {
			continue
		}
		r.observed.Update(float64(p), float64(r.s.Parts), fmt.Sprintf("part %d", p))
		if err := r.exchange(ctx, p); err != nil {
			return err
		}
		runtime.GC() // else what it held stands beside what the next part needs
	}
	return nil
}

// exchange makes the lists of the points of which p is the nearest part.
func (r *Run) exchange(ctx context.Context, p int) error {
	own := r.div.members(p, true)
	k := r.s.Graph.K
	index := make([]uint32, len(own)*k)
	var lengths []float64
	if r.s.needsLengths() {
		lengths = make([]float64, len(own)*k)
	}
	var last *links
	if r.round > 1 {
		lists, err := tablesOf[uint32](r, func(p int) string { return listsName(r.round-1, p) })
		if err != nil {
			return err
		}
		last = &links{lists, r.div.members(p, false)}
	}
	for _, places := range r.div.blocks(own, r.s.blockSize(r.div.D)) {
		ids := make([]int32, len(places))
		for i, at := range places {
			ids[i] = own[at]
		}
		words, err := r.improve(ctx, ids, last)
		if err != nil {
			return err
		}
		near, dist, err := r.nearest(ctx, ids, words)
		if err != nil {
			return err
		}
		for i, at := range places {
			copy(index[int(at)*k:][:k], near[i*k:])
			if lengths != nil {
				copy(lengths[int(at)*k:][:k], dist[i*k:])
			}
		}
	}
	if lengths != nil {
		if err := save(r.folder, lengthsName(r.round, p), k, lengths); err != nil {
			return err
		}
	}
	return save(r.folder, listsName(r.round, p), k, index)
}

// nearest returns the K nearest of the lists of points, which ascend, and the distances if
// the weights need them. If not, the order does not matter, and lists are measured in float64
// only where rounding may have put another neighbour in the place of the last.
func (r *Run) nearest(ctx context.Context, own []int32, words []uint32) (index []uint32, dist []float64, err error) {
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

// roundingOf bounds the difference of a squared distance of scaled rows, of coordinates up to
// 1, in float32 from the true one: rows are rounded by 2⁻²⁴ in every coordinate, and so are
// the steps of the sum.
func roundingOf(d float32, columns int) float32 {
	const unit = 0x1p-23
	root := float32(math.Sqrt(float64(columns)))
	return 4 * unit * (float32(columns)*d + 2*root*float32(math.Sqrt(float64(d))) + unit*float32(columns))
}

// final gives the lists of K neighbours without their distances: words are K for each point.
func (r *Run) final(words []uint32, ids []int32) error {
	t, err := tablesOf[uint32](r, r.listsName)
	if err != nil {
		return err
	}
	k := r.s.Graph.K
	for at, i := range ids {
		copy(words[at*k:][:k], t.row(i))
	}
	return nil
}

// truth returns the true neighbours of a sample.
func (r *Run) truth(ctx context.Context) (*knn.RecallSample, error) {
	s := &knn.RecallSample{N: r.div.N, K: r.s.Graph.K}
	arrays, err := r.folder.Load(truthFile, r.folder.key, &struct{}{})
	if err != nil {
		return nil, err
	}
	if arrays != nil {
		s.Kth = checkpoint.Elements[float64](arrays, "kth")
		for _, v := range checkpoint.Elements[int32](arrays, "rows") {
			s.Rows = append(s.Rows, int(v))
		}
		return s, nil
	}
	r.observed.Begin("true neighbours of a sample")
	if s, err = knn.NewRecallSample(ctx, r.x, r.s.Metric, r.s.Graph.K, truthSample, r.s.Seed); err != nil {
		return nil, err
	}
	r.observed.End(fmt.Sprintf("of %d points", len(s.Rows)))
	numbers := make([]int32, len(s.Rows))
	for i, v := range s.Rows {
		numbers[i] = int32(v)
	}
	return s, r.folder.Save(truthFile, r.folder.key, struct{}{}, npy.Entry{Name: "rows", Data: numbers}, npy.Entry{Name: "kth", Data: s.Kth})
}

// recall estimates that of lists of the given width.
func (r *Run) recall(ctx context.Context, s *knn.RecallSample, from lists, width int) (out knn.Recall, err error) {
	ids := make([]int32, len(s.Rows))
	for i, v := range s.Rows {
		ids[i] = int32(v)
	}
	words := make([]uint32, len(ids)*2*r.s.width())
	if width == r.s.Graph.K {
		words = words[:len(ids)*width]
	}
	if err := from(words, ids); err != nil {
		return out, err
	}
	_, dist, err := r.exact(ctx, ids, words, width)
	if err != nil {
		return out, err
	}
	at := 0
	return s.Estimate(func(int) []float64 {
		at++
		return dist[(at-1)*s.K : at*s.K]
	}), nil
}
