package parts

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// A localJoin compares the points of a block with the neighbours of their neighbours, their
// candidates (Dong, Moses & Li, WWW 2011). The rows of all candidates of a block do not fit into
// memory: they are read a chunk at a time, and candidates are sorted by chunks beforehand.
type localJoin struct {
	points     []int32
	width      int
	neighbours []uint32 // degree for each point
	degree     int
	out        []uint32 // the list of each point
	first      *idSet   // the points and their neighbours
	all        *idSet   // first and the neighbours of its points
	candidates []candidateLists
	shift      int // a chunk is 2^shift points of all
}

// joinGrain is the number of points with candidates that are kept together.
const joinGrain = 256

// candidateLists lists, for joinGrain points, the points to compare each with: chunk by chunk of
// the set of all, and in a chunk point by point.
type candidateLists struct {
	place []uint16 // places of candidates in their chunk
	end   []int32  // the end of the list of each chunk and point in place
}

// findCandidates sets m.candidates. second holds the lists of the set first, so many points each, and
// is overwritten.
func (m *localJoin) findCandidates(second []uint32, each int) {
	par.For(len(second), 1<<14, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			if second[p] != none {
				second[p] = uint32(m.all.at(second[p]))
			}
		}
	})
	m.candidates = make([]candidateLists, par.Chunks(len(m.points), joinGrain))
	workers := make([]candidateFinder, par.Workers(len(m.points), joinGrain))
	par.ForWorker(len(m.points), joinGrain, func(worker, lo, hi int) {
		w := &workers[worker]

		// The hash table has at least twice as many places as a point has candidates.
		if w.seen == nil {
			w.localJoin = m
			w.second = second
			w.each = each
			w.seen = make([]uint64, 1<<bits.Len(uint(2*m.degree*(each+1))))
		}
		w.found = w.found[:0]
		w.ends = w.ends[:0]
		for i := lo; i < hi; i++ {
			w.point(i)
			w.ends = append(w.ends, len(w.found))
		}
		m.candidates[lo/joinGrain] = w.byChunks()
	})
}

// A candidateFinder is the memory of one goroutine.
type candidateFinder struct {
	*localJoin
	second []uint32 // neighbours of the points of first, by their places in all
	each   int      // neighbours of a point in second
	seen   []uint64 // a hash table of points seen before: a stamp, then a place in all
	found  []int32  // candidates of some points, by their places in all
	ends   []int    // the end of the candidates of each point
	sink   uint32   // keeps the compiler from dropping loads that only warm the cache
}

// isNew reports whether the point with the stamp sees the point at place v for the first time.
// A stamp of its own for every point saves clearing the table in between.
func (w *candidateFinder) isNew(stamp uint64, v uint32) bool {
	last := uint32(len(w.seen) - 1)
	entry := stamp<<32 | uint64(v)
	for at := v * 2654435769 >> 8; ; at++ { // Knuth's multiplicative hash
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

// point appends the candidates of point i of the block to w.found.
func (w *candidateFinder) point(i int) {
	stamp := uint64(i + 1)
	list := func(j uint32) []uint32 { return w.second[int(w.first.at(j))*w.each:][:w.each] }
	neighbours := w.neighbours[i*w.degree:][:w.degree]

	// The lists of neighbours are scattered. Both ends of each are loaded at once here, so that
	// the misses of the cache overlap; below each list would be waited for alone.
	for _, j := range neighbours {
		if j != none {
			l := list(j)
			w.sink += l[0] + l[len(l)-1]
		}
	}

	// Neighbours are candidates only if their distances are not known.
	w.isNew(stamp, uint32(w.all.at(uint32(w.points[i]))))
	measured := w.out[2*i*w.width] != none
	for _, j := range neighbours {
		if j == none {
			continue
		}
		if v := uint32(w.all.at(j)); w.isNew(stamp, v) && !measured {
			w.found = append(w.found, int32(v))
		}
	}

	for _, j := range neighbours {
		if j == none {
			continue
		}
		for _, v := range list(j) {
			if v != none && w.isNew(stamp, v) {
				w.found = append(w.found, int32(v))
			}
		}
	}
}

// byChunks returns the candidates found, sorted by chunk and point (a counting sort).
func (w *candidateFinder) byChunks() candidateLists {
	points := len(w.ends)
	c := candidateLists{place: make([]uint16, len(w.found)), end: make([]int32, w.chunks()*points)}
	each := func(visit func(at int, v int32)) {
		i := 0
		for p, v := range w.found {
			for p >= w.ends[i] {
				i++
			}
			visit(int(v>>w.shift)*points+i, v)
		}
	}

	each(func(at int, _ int32) { c.end[at]++ })
	var sum int32
	for at, count := range c.end {
		c.end[at] = sum
		sum += count
	}
	each(func(at int, v int32) {
		c.place[c.end[at]] = uint16(v & (1<<w.shift - 1))
		c.end[at]++
	})
	return c
}

// of returns the places of the candidates of point i in chunk c, where the lists are for points.
func (c *candidateLists) of(chunk, i, points int) []uint16 {
	at := chunk*points + i
	begin := int32(0)
	if at > 0 {
		begin = c.end[at-1]
	}
	return c.place[begin:c.end[at]]
}

// chunks returns the number of chunks of the set of all.
func (m *localJoin) chunks() int { return (m.all.count + 1<<m.shift - 1) >> m.shift }

// measure compares the points with their candidates, chunk by chunk, and enters the nearest into
// their lists.
func (m *localJoin) measure(ctx context.Context, r *rows) error {
	own := make([]float32, len(m.points)*r.d)
	r.read(own, m.points)
	ids := m.all.ids()
	chunk := make([]float32, min(len(ids), 1<<m.shift)*r.d)
	for c := range m.chunks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		first := c << m.shift
		some := ids[first:min(first+1<<m.shift, len(ids))]
		r.read(chunk, some)
		par.For(len(m.points), joinGrain, func(lo, hi int) {
			var dist []float32
			var places []int32
			lists := &m.candidates[lo/joinGrain]
			for i := lo; i < hi; i++ {
				places = places[:0]
				for _, v := range lists.of(c, i-lo, hi-lo) {
					places = append(places, int32(v))
				}
				dist = slices.Grow(dist[:0], len(places))[:len(places)]
				simd.SquaredDistances32(dist, own[i*r.d:][:r.d], chunk, r.d, places)
				offerAll(m.out[2*i*m.width:][:2*m.width], some, places, dist)
			}
		})
	}
	return nil
}

// offerAll offers the points ids[places[p]] at the distances dist[p] to a list.
func offerAll(list []uint32, ids, places []int32, dist []float32) {
	last := len(list) - 1
	for p, v := range places {
		if d := math.Float32bits(dist[p]); d <= list[last] {
			offer(list, uint32(ids[v]), d)
		}
	}
}
