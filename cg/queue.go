package cg

import "math/bits"

// degreeQueue hands out vertices by least degree. A vertex whose degree falls goes to a lower
// bucket at once; one whose degree grows stays where it is until it is looked at.
type degreeQueue struct {
	buckets [bucketCount][]int32
	lowest  int // no bucket below holds a vertex
	// The bucket of a vertex is the lowest one that holds it; entries in higher ones do not count.
	vertices []vertex
}

// Degrees up to 63 have a bucket each, larger ones eight for each doubling.
const (
	exactBuckets = 64
	bucketCount  = exactBuckets + 8*26
)

// bucketOf returns the bucket of a degree.
func bucketOf(degree int32) int32 {
	if degree < exactBuckets {
		return max(degree, 0)
	}
	doublings := int32(bits.Len32(uint32(degree))) - 7 // 0 for 64 … 127
	eighth := degree>>(doublings+3) - 8
	return exactBuckets + 8*doublings + eighth
}

// fill puts the first so many vertices into an empty queue. Vertices of one degree come in ascending order. The bucket of
// the others must be −1.
func (q *degreeQueue) fill(vertices []vertex, count int) {
	q.vertices = vertices
	for i := count - 1; i >= 0; i-- {
		q.add(int32(i))
	}
}

// add puts a vertex into the queue, before the others of its degree.
func (q *degreeQueue) add(i int32) {
	v := &q.vertices[i]
	v.bucket = bucketOf(v.degree)
	q.buckets[v.bucket] = append(q.buckets[v.bucket], i)
}

// change adds by to the degree of vertex i, which is v.
func (q *degreeQueue) change(v *vertex, i, by int32) {
	v.degree += by
	if b := bucketOf(v.degree); b < v.bucket {
		v.bucket = b
		q.buckets[b] = append(q.buckets[b], i)
		q.lowest = min(q.lowest, int(b))
	}
}

// pop removes a vertex of least degree: the one that came last to its bucket. The queue must not be
// empty.
func (q *degreeQueue) pop() int32 {
	for {
		b := q.lowest
		last := len(q.buckets[b]) - 1
		if last < 0 {
			q.lowest++
			continue
		}
		i := q.buckets[b][last]
		q.buckets[b] = q.buckets[b][:last]

		v := &q.vertices[i]
		if int(v.bucket) != b {
			continue // it has been in a lower bucket since
		}
		own := bucketOf(v.degree)
		if int(own) == b {
			v.bucket = -1
			return i
		}
		v.bucket = own
		q.buckets[own] = append(q.buckets[own], i)
	}
}
