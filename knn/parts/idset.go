package parts

import "math/bits"

// An idSet is a set of points, a bit for each point that there is. After the last add, number
// counts its members, and each has a place in the set: the number of members before it.
type idSet struct {
	word   []uint64
	before []int32 // members in the words before
	count  int
}

// newIDSet returns an empty set for the points 0 to n−1.
func newIDSet(n int) *idSet { return &idSet{word: make([]uint64, (n+63)/64)} }

func (s *idSet) add(i uint32) { s.word[i/64] |= 1 << (i % 64) }

// addList adds the points of a list, none left out.
func (s *idSet) addList(list []uint32) {
	for _, v := range list {
		if v != none {
			s.add(v)
		}
	}
}

// has reports whether point i is in the set.
func (s *idSet) has(i uint32) bool { return s.word[i/64]>>(i%64)&1 != 0 }

// number counts the members. It must be called after the last add and before at and ids.
func (s *idSet) number() {
	s.before = make([]int32, len(s.word))
	s.count = 0
	for w, v := range s.word {
		s.before[w] = int32(s.count)
		s.count += bits.OnesCount64(v)
	}
}

// at returns the place of point i in the set.
func (s *idSet) at(i uint32) int32 {
	return s.before[i/64] + int32(bits.OnesCount64(s.word[i/64]&(1<<(i%64)-1)))
}

// ids returns the members, ascending.
func (s *idSet) ids() []int32 {
	list := make([]int32, 0, s.count)
	for w, v := range s.word {
		for ; v != 0; v &= v - 1 {
			list = append(list, int32(64*w+bits.TrailingZeros64(v)))
		}
	}
	return list
}
