package parts

import (
	"context"
	"math"
	"math/bits"
	"runtime"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// An idSet is a set of points, each of which has a number in it: that of the points before it.
type idSet struct {
	word   []uint64
	before []int32 // points in the words before
	count  int
}

func newIDSet(n int) *idSet { return &idSet{word: make([]uint64, (n+63)/64)} }

func (s *idSet) add(i uint32) { s.word[i/64] |= 1 << (i % 64) }

// number counts the points; it must be called after the last add.
func (s *idSet) number() {
	s.before = make([]int32, len(s.word))
	s.count = 0
	for w, v := range s.word {
		s.before[w] = int32(s.count)
		s.count += bits.OnesCount64(v)
	}
}

// at returns the number of point i in the set.
func (s *idSet) at(i uint32) int32 {
	return s.before[i/64] + int32(bits.OnesCount64(s.word[i/64]&(1<<(i%64)-1)))
}

// ids returns the points, ascending.
func (s *idSet) ids() []int32 {
	list := make([]int32, 0, s.count)
	for w, v := range s.word {
		for ; v != 0; v &= v - 1 {
			list = append(list, int32(64*w+bits.TrailingZeros64(v)))
		}
	}
	return list
}

// lists gives the lists of points: it sets words to those of ids, which ascend.
type lists func(words []uint32, ids []int32) error

// merged returns the nearest of the lists that the parts of a point found for it.
func (r *Run) merged(words []uint32, ids []int32) error {
	of := make([][]uint32, r.s.Parts)
	for p := range of {
		var err error
		if of[p], _, err = load[uint32](r.folder, partName(p)); err != nil {
			return err
		}
	}
	width := r.s.width()
	overlap := r.s.Overlap
	const block = 1 << 12
	for first := 0; first < len(ids); first += block {
		end := min(first+block, len(ids))
		par.For(end-first, 1024, func(lo, hi int) {
			for at := first + lo; at < first+hi; at++ {
				out := words[at*2*width:][:2*width]
				for a := range overlap {
					e := int(ids[at])*overlap + a
					list := of[r.div.of[e]][int(r.div.rank[e])*2*width:][:2*width]
					if a == 0 {
						copy(out, list)
					} else {
						mergeList(out, list)
					}
				}
			}
		})
		for _, table := range of {
			drop(table)
		}
	}
	return nil
}

// mergeList puts the nearest of two lists into the first.
func mergeList(words, other []uint32) {
	width := len(words) / 2
	for p, j := range other[:width] {
		if j == none {
			return
		}
		if !offer(words, j, other[width+p]) {
			return
		}
	}
}

// offer enters point j at a distance with the bits d, which order positive numbers as
// they are ordered, into a list. It reports whether the list has room for one that is
// farther.
func offer(words []uint32, j, d uint32) bool {
	width := len(words) / 2
	index := words[:width:width]
	dist := words[width:][:width:width]
	p := width
	for p > 0 && (dist[p-1] > d || dist[p-1] == d && index[p-1] > j) {
		p--
	}
	if p == width {
		return false
	}
	if p > 0 && index[p-1] == j { // a pair has one distance, so that it can be nowhere else
		return true
	}
	copy(index[p+1:], index[p:])
	copy(dist[p+1:], dist[p:])
	index[p] = j
	dist[p] = d
	return true
}

const (
	blockBytes = 80 << 20 // of what is held of the points that meet others at a time
	chunkBytes = 16 << 20 // of the rows that they are compared with at a time
)

// blockSize returns the number of points of d columns that meet the neighbours of their
// neighbours at a time: for each there are its row and the numbers of those whom it meets.
func (s *Settings) blockSize(d int) int {
	return min(1<<17, max(1<<10, blockBytes/(4*d+2*s.width()*s.width())))
}

// chunkShift makes the number of rows of d columns that are held beside theirs, 2^chunkShift:
// their numbers fit 16 bits.
func chunkShift(d int) int { return min(15, max(8, bits.Len(uint(chunkBytes/(4*d)))-1)) }

// blocks divides a list of points into blocks of about the same size, of at most so many
// points that are near each other: those with the same second part stand together. A block
// is places in the list, ascending.
func (div *division) blocks(ids []int32, size int) [][]int32 {
	places := make([]int32, len(ids))
	for i := range places {
		places[i] = int32(i)
	}
	if len(ids) <= size {
		return [][]int32{places}
	}
	overlap := div.overlap()
	second := func(at int32) uint16 { return div.of[int(ids[at])*overlap+1] }
	slices.SortStableFunc(places, func(a, b int32) int { return int(second(a)) - int(second(b)) })
	count := par.Chunks(len(ids), size)
	out := make([][]int32, count)
	for b := range out {
		out[b] = places[b*len(places)/count : (b+1)*len(places)/count]
		slices.Sort(out[b])
	}
	return out
}

// improve compares every one of a block of points, which ascend, with the neighbours of
// its neighbours, and returns the nearest of them all. The lists that it begins with are those
// of the parts or, if last is not nil, those of the last round: then points that list it are
// neighbours too.
func (r *Run) improve(ctx context.Context, own []int32, last *links) ([]uint32, error) {
	width := r.s.width()
	m := meeting{own: own, width: width, each: width, shift: chunkShift(r.rows.d), out: make([]uint32, 2*width*len(own)), all: newIDSet(r.div.N)}
	from := r.merged
	back := []uint32(nil)
	if last != nil {
		from, back, m.each = last.lists, last.listing(own, width), 2*width
	}
	if err := from(m.out, own); err != nil {
		return nil, err
	}
	m.near = make([]uint32, m.each*len(own))
	m.around = newIDSet(r.div.N)
	for i, v := range own {
		list := m.out[2*i*width:][:2*width]
		near := m.near[i*m.each:][:m.each]
		copy(near, list[:width])
		if last != nil { // the distances are not known: they are found like all others
			copy(near[width:], back[i*width:])
			for p := range width {
				list[p] = none
			}
		}
		m.around.add(uint32(v))
		m.around.addList(near)
		m.all.add(uint32(v))
		m.all.addList(near)
	}
	m.around.number()
	second, err := indices(m.around.ids(), width, from)
	if err != nil {
		return nil, err
	}
	m.all.addList(second)
	m.all.number()
	m.introduce(second)
	second = nil
	m.near = nil
	runtime.GC() // else the lists stand beside the rows
	return m.out, m.measure(ctx, r.rows)
}

// links are the lists of a round.
type links struct {
	*tables[uint32]
	from []int32 // the points of a part
}

// listing returns, for every one of the points own, which ascend, the first width points of the
// part whose lists it is in.
func (l *links) listing(own []int32, width int) []uint32 {
	set := newIDSet(l.div.N)
	for _, v := range own {
		set.add(uint32(v))
	}
	set.number()
	out := slices.Repeat([]uint32{none}, width*len(own))
	have := make([]uint16, len(own))
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

// indices returns the neighbours in the lists of points, width each.
func indices(ids []int32, width int, from lists) ([]uint32, error) {
	out := make([]uint32, width*len(ids))
	const block = 1 << 15
	words := make([]uint32, 2*width*min(block, len(ids)))
	for lo := 0; lo < len(ids); lo += block {
		some := ids[lo:min(lo+block, len(ids))]
		if err := from(words[:2*width*len(some)], some); err != nil {
			return nil, err
		}
		for i := range some {
			copy(out[(lo+i)*width:][:width], words[2*i*width:])
		}
	}
	return out, nil
}

// has reports whether point i is in the set.
func (s *idSet) has(i uint32) bool { return s.word[i/64]>>(i%64)&1 != 0 }

// addList adds the points in a list.
func (s *idSet) addList(list []uint32) {
	for _, v := range list {
		if v != none {
			s.add(v)
		}
	}
}

// A meeting compares points with the neighbours of their neighbours.
type meeting struct {
	own    []int32
	width  int
	near   []uint32 // their neighbours, of each that many
	each   int
	out    []uint32 // their lists
	around *idSet   // they and their neighbours
	all    *idSet   // they and the neighbours of those
	met    []encounters
	shift  int // chunks of the set of all are of 2^shift points
}

// meetGrain is the number of points whose encounters are kept together.
const meetGrain = 256

// encounters are whom meetGrain points are to be compared with: chunk by chunk of the set of
// all, and in a chunk point by point, by their numbers in the chunk.
type encounters struct {
	whom []uint16
	end  []int32 // of each chunk and point
}

// introduce finds whom the points are to be compared with. second are the lists of the
// set around.
func (m *meeting) introduce(second []uint32) {
	par.For(len(second), 1<<14, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			if second[p] != none {
				second[p] = uint32(m.all.at(second[p]))
			}
		}
	})
	m.met = make([]encounters, par.Chunks(len(m.own), meetGrain))
	workers := make([]introducer, par.Workers(len(m.own), meetGrain))
	par.ForWorker(len(m.own), meetGrain, func(worker, lo, hi int) {
		w := &workers[worker]
		if w.seen == nil {
			w.meeting = m
			w.second = second
			w.seen = make([]uint64, 1<<bits.Len(uint(2*m.each*(m.width+1))))
		}
		w.ids = w.ids[:0]
		w.from = w.from[:0]
		for i := lo; i < hi; i++ {
			w.point(i)
			w.from = append(w.from, len(w.ids))
		}
		m.met[lo/meetGrain] = w.sorted()
	})
}

// An introducer is the memory of one goroutine.
type introducer struct {
	*meeting
	second  []uint32
	seen    []uint64 // whom the point has met, as a hash table: a stamp of the point, and a number
	ids     []int32
	from    []int  // the end of the ids of each point
	touched uint32 // has no meaning
}

// meet reports whether the point with the stamp meets point v for the first time.
func (w *introducer) meet(stamp uint64, v uint32) bool {
	last := uint32(len(w.seen) - 1)
	entry := stamp<<32 | uint64(v)
	for at := v * 2654435769 >> 8; ; at++ {
		e := &w.seen[at&last]
		if *e == entry {
			return false
		}
		if *e>>32 != stamp {
			*e = entry
			return true
		}
	}
}

// point appends to ids whom point i of the meeting is to be compared with.
func (w *introducer) point(i int) {
	stamp := uint64(i + 1)
	list := func(j uint32) []uint32 { return w.second[int(w.around.at(j))*w.width:][:w.width] }
	near := w.near[i*w.each:][:w.each]
	for _, j := range near { // all at once: they are scattered, and each would be waited for
		if j != none {
			l := list(j)
			w.touched += l[0] + l[len(l)-1]
		}
	}
	w.meet(stamp, uint32(w.all.at(uint32(w.own[i]))))
	measured := w.out[2*i*w.width] != none
	for _, j := range near {
		if j == none {
			continue
		}
		if v := uint32(w.all.at(j)); w.meet(stamp, v) && !measured {
			w.ids = append(w.ids, int32(v))
		}
	}
	for _, j := range near {
		if j == none {
			continue
		}
		for _, v := range list(j) {
			if v != none && w.meet(stamp, v) {
				w.ids = append(w.ids, int32(v))
			}
		}
	}
}

// sorted returns the ids of all points by chunks.
func (w *introducer) sorted() encounters {
	chunks := w.chunks()
	points := len(w.from)
	e := encounters{whom: make([]uint16, len(w.ids)), end: make([]int32, chunks*points)}
	each := func(visit func(at int, v int32)) {
		i := 0
		for p, v := range w.ids {
			for p >= w.from[i] {
				i++
			}
			visit(int(v>>w.shift)*points+i, v)
		}
	}
	each(func(at int, _ int32) { e.end[at]++ })
	var sum int32
	for at, count := range e.end {
		e.end[at] = sum
		sum += count
	}
	each(func(at int, v int32) {
		e.whom[e.end[at]] = uint16(v & (1<<w.shift - 1))
		e.end[at]++
	})
	return e
}

// chunks returns the number of chunks of the set of all.
func (m *meeting) chunks() int { return (m.all.count + 1<<m.shift - 1) >> m.shift }

// measure compares the points with whom they meet, a chunk of those at a time, and puts the
// nearest into the lists.
func (m *meeting) measure(ctx context.Context, r *rows) error {
	own := make([]float32, len(m.own)*r.d)
	r.read(own, m.own)
	ids := m.all.ids()
	rows := make([]float32, min(len(ids), 1<<m.shift)*r.d)
	for c := range m.chunks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		first := c << m.shift
		some := ids[first:min(first+1<<m.shift, len(ids))]
		r.read(rows, some)
		par.For(len(m.own), meetGrain, func(lo, hi int) {
			var dist []float32
			var local []int32
			e := &m.met[lo/meetGrain]
			for i := lo; i < hi; i++ {
				at := c*(hi-lo) + i - lo
				begin := int32(0)
				if at > 0 {
					begin = e.end[at-1]
				}
				local = local[:0]
				for _, v := range e.whom[begin:e.end[at]] {
					local = append(local, int32(v))
				}
				dist = slices.Grow(dist[:0], len(local))[:len(local)]
				simd.SquaredDistances32(dist, own[i*r.d:][:r.d], rows, r.d, local)
				list := m.out[2*i*m.width:][:2*m.width]
				for p, v := range local {
					if d := math.Float32bits(dist[p]); d <= list[2*m.width-1] {
						offer(list, uint32(some[v]), d)
					}
				}
			}
		})
	}
	return nil
}
