package cg

import (
	"iter"
	"math/bits"
)

// A link is an edge of the remaining graph, seen from one of its ends.
type link struct {
	to     int32 // the other end i, or ^i for an edge of two copies
	weight float32
}

// chunkLinks is the number of links in a chunk. Chunks of 7 or 31 made the factor of a graph with hubs take a quarter
// longer.
const chunkLinks = 15

// chunk is a part of a list of links.
type chunk struct {
	links [chunkLinks]link
	next  int32 // the next chunk of the list, or −1
	_     int32 // fills two lines of the cache
}

// linkList is a list of links in chunks. All chunks but the first are full.
type linkList struct {
	first  int32 // the first chunk
	length int32
}

// linkStore holds lists of links. Chunks that are given up are used again.
type linkStore struct {
	segments [][]chunk
	power    int   // binary logarithm of the chunks in a segment
	fresh    int32 // the first chunk that was never used
	unused   int32 // list of chunks that are given up, or −1
}

// newLinkStore returns an empty store for the lists of n vertices.
func newLinkStore(n int) linkStore {
	const largest = 14 // 2 MiB
	return linkStore{power: min(bits.Len(uint(n)), largest), unused: -1}
}

// at returns chunk i.
func (s *linkStore) at(i int32) *chunk { return &s.segments[i>>s.power][i&(1<<s.power-1)] }

// take returns a chunk that is not in use.
func (s *linkStore) take() int32 {
	if i := s.unused; i >= 0 {
		s.unused = s.at(i).next
		return i
	}
	i := s.fresh
	if int(i)>>s.power == len(s.segments) {
		s.segments = append(s.segments, make([]chunk, 1<<s.power))
	}
	s.fresh++
	return i
}

// add puts a link in front of a list.
func (s *linkStore) add(l *linkList, k link) {
	place := l.length % chunkLinks
	if place == 0 {
		i := s.take()
		s.at(i).next = l.first
		if l.length == 0 {
			s.at(i).next = -1
		}
		l.first = i
	}
	s.at(l.first).links[place] = k
	l.length++
}

// moveTo appends the links of a list to dst and empties the list.
func (s *linkStore) moveTo(dst []link, l *linkList) []link {
	for links := range s.empty(l) {
		dst = append(dst, links...)
	}
	return dst
}

// empty goes over the links of a list, a chunk at a time, and gives the chunks up. No link may be added meanwhile.
func (s *linkStore) empty(l *linkList) iter.Seq[[]link] {
	return func(yield func([]link) bool) {
		left := l.length
		l.length = 0
		for i := l.first; left > 0; {
			c := s.at(i)
			count := (left-1)%chunkLinks + 1
			left -= count
			next := c.next
			c.next = s.unused
			s.unused = i
			i = next
			if !yield(c.links[:count]) {
				return
			}
		}
	}
}
