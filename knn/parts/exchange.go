package parts

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"slices"

	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/stage"
)

// The exchange gives every point the neighbours of its neighbours across the borders of parts.
// Because it also makes up for what the search of a part has missed, that search can be quick.
//
// The first round begins with the merged lists of the parts, which have distances. A later round
// begins with the K neighbours that the round before left, without distances, and takes the points
// that list a point for its neighbours too. It measures neighbours again beside the candidates.

const (
	blockBytes = 80 << 20 // memory of the points that are joined at a time
	chunkBytes = 16 << 20 // memory of the rows that they are compared with at a time
)

// blockSize returns the number of points of d columns that are joined at a time. Each holds its row
// and about width² candidates of 16 bits.
func (s *Settings) blockSize(d int) int {
	return min(1<<17, max(1<<10, blockBytes/(4*d+2*s.width()*s.width())))
}

// chunkShift returns the binary logarithm of the number of rows of d columns in a chunk of
// candidates. Their places in a chunk fit 16 bits.
func chunkShift(d int) int { return min(15, max(8, bits.Len(uint(chunkBytes/(4*d)))-1)) }

// Recall holds the estimated recall of the lists before and after the exchange.
type Recall struct{ Before, After knn.Recall }

const (
	// enoughRecall ends the rounds of the exchange.
	enoughRecall = 0.98
	// leastGain is the smallest gain of recall in a round after which another round follows.
	leastGain = 0.02
	// mostRounds is the largest number of rounds.
	mostRounds = 3
)

// Merge merges the lists of all parts into K neighbours of each point and improves them by an
// exchange across borders, in up to three rounds: another round follows while the recall is below
// 0.98 and grew by 0.02. With parts missing the error is a [*checkpoint.MissingError].
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

	if err := r.checkCopies(); err != nil {
		return nil, err
	}

	r.round = 0
	if err := r.mergeLists(ctx); err != nil {
		return nil, err
	}
	// A sample of points with their true neighbours tells how good the lists are.
	truth, err := r.truth(ctx)
	if err != nil {
		return nil, err
	}
	recall := &Recall{}
	if recall.Before, err = r.recall(ctx, truth); err != nil {
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
		if recall.After, err = r.recall(ctx, truth); err != nil {
			return nil, err
		}
		r.observed.End(fmt.Sprintf("recall %s", recall.After))

		// A round costs as much as the one before, so it must bring something.
		gained := recall.After.Share - share
		if share = recall.After.Share; share >= enoughRecall || gained < leastGain || r.round == mostRounds {
			return recall, nil
		}
	}
}

// announceRound announces the memory and operations of a round for the largest part.
func (r *Run) announceRound(round int) error {
	largest := max(slices.Max(r.div.Own), truthSample)
	return r.observed.Announce(roundName(round), stage.Cost{
		Bytes:      exchangeBytes(r.div.N, r.div.D, largest, round, &r.s),
		Operations: exchangeOperations(r.div.N, r.div.D, &r.s),
		Remedy:     fmt.Sprintf("take more %s", param.Name("parts")),
	})
}

func roundName(round int) string {
	if round == 1 {
		return "exchange"
	}
	return fmt.Sprintf("exchange, round %d", round)
}

// exchangeAll makes the lists of the present round for all parts that have none in the folder.
func (r *Run) exchangeAll(ctx context.Context) error {
	r.observed.Begin(roundName(r.round))
	for p := range r.s.Parts {
		// A run that was stopped left lists, which are not made again.
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

		// The garbage of this part goes before the next part allocates as much again.
		runtime.GC()
	}
	return nil
}

// exchange makes the lists of the points that have p as their nearest part, block by block, and
// writes them.
func (r *Run) exchange(ctx context.Context, p int) error {
	own := r.div.own(p)
	k := r.s.Graph.K
	index := make([]uint32, len(own)*k)
	var lengths []float64
	if r.s.needsLengths() {
		lengths = make([]float64, len(own)*k)
	}

	last, err := r.links(p)
	if err != nil {
		return err
	}

	// The blocks have the same size but for one point. Their points have few second parts, so that
	// they share candidates.
	count := par.Chunks(len(own), r.s.blockSize(r.div.D))
	for b := range count {
		lo := b * len(own) / count
		ids := own[lo : (b+1)*len(own)/count]
		words, err := r.improve(ctx, ids, last)
		if err != nil {
			return err
		}
		near, dist, err := r.nearest(ctx, ids, words)
		if err != nil {
			return err
		}
		copy(index[lo*k:], near)
		if lengths != nil {
			copy(lengths[lo*k:], dist)
		}
	}
	if lengths != nil {
		if err := save(r.folder, lengthsName(r.round, p), k, lengths); err != nil {
			return err
		}
	}
	return save(r.folder, listsName(r.round, p), k, index)
}

// links are the lists of the round before. The merged lists have distances, all others not.
type links struct {
	*tables[uint32]
	squares *tables[uint32] // nil after the first round
	from    []int32         // points of the part, in which reverse neighbours are sought from the second round on
}

// links returns the lists with which the present round begins for part p.
func (r *Run) links(p int) (*links, error) {
	near, err := tablesOf[uint32](r, func(p int) string { return listsName(r.round-1, p) })
	if err != nil {
		return nil, err
	}
	if r.round > 1 {
		return &links{tables: near, from: r.div.members(p)}, nil
	}
	squares, err := tablesOf[uint32](r, squaresName)
	return &links{tables: near, squares: squares}, err
}

// improve compares the points of a block, which ascend, with the neighbours of their neighbours,
// and returns lists of the nearest of all. It begins with the lists of the last round and, where these
// have no distances, with the points that list a point too.
func (r *Run) improve(ctx context.Context, points []int32, last *links) ([]uint32, error) {
	width := r.s.width()
	m := localJoin{
		points: points,
		width:  width,
		degree: width,
		shift:  chunkShift(r.rows.d),
		out:    make([]uint32, 2*width*len(points)),
		first:  newIDSet(r.div.N),
		all:    newIDSet(r.div.N),
	}
	var reverse []uint32
	if last.squares == nil {
		reverse = last.listing(points, width)
		m.degree = 2 * width
	}

	// The neighbours of each point. Where their distances are not known, the list begins empty and
	// neighbours are measured beside the other candidates.
	m.neighbours = slices.Repeat([]uint32{none}, m.degree*len(points))
	for i, v := range points {
		list := m.out[2*i*width:][:2*width]
		neighbours := m.neighbours[i*m.degree:][:m.degree]
		copy(neighbours, last.row(v))
		if last.squares != nil {
			copy(list, neighbours)
			copy(list[width:], last.squares.row(v))
		} else {
			copy(neighbours[width:], reverse[i*width:])
			for p := range width {
				list[p] = none
				list[width+p] = infinite
			}
		}
		m.first.add(uint32(v))
		m.first.addList(neighbours)
		m.all.add(uint32(v))
		m.all.addList(neighbours)
	}
	m.first.number()

	// The neighbours of all these, and from both the candidates.
	second := last.gather(m.first.ids())
	m.all.addList(second)
	m.all.number()
	m.findCandidates(second, last.width)

	// The lists are as large as the rows that measure reads: they are collected before.
	second = nil
	m.neighbours = nil
	runtime.GC()
	return m.out, m.measure(ctx, r.rows)
}

// listing returns, for each of points, which ascend, the first width points of the part that have
// it in their list.
func (l *links) listing(points []int32, width int) []uint32 {
	set := newIDSet(l.div.N)
	for _, v := range points {
		set.add(uint32(v))
	}
	set.number()

	out := slices.Repeat([]uint32{none}, width*len(points))
	have := make([]uint16, len(points))

	// Points that list v beyond the width are left out. l.from ascends, so every run keeps the
	// same ones.
	for _, i := range l.from {
		for _, v := range l.row(i) {
			if !set.has(v) {
				continue
			}
			of := set.at(v)
			if at := int(have[of]); at < width {
				out[int(of)*width+at] = uint32(i)
				have[of]++
			}
		}
	}
	l.drop()
	return out
}
