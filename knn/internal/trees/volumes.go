package trees

import "math"

// boxes are bounding boxes. Node i has lo in boxes[2id:(2i+1)d], and hi follows.
type boxes[T Real] struct {
	norm  Norm
	d     int
	boxes []T
}

// newBoxes returns room for the boxes of nodes numbered below nodes.
func newBoxes[T Real](norm Norm, d, nodes int) *boxes[T] {
	return &boxes[T]{norm, d, make([]T, 2*d*nodes)}
}

// enclose stores the smallest and largest coordinates of a node.
func (b *boxes[T]) enclose(node int, _, lo, hi []T) {
	box := b.boxes[2*b.d*node:]
	copy(box[:b.d], lo)
	copy(box[b.d:2*b.d], hi)
}

// bound returns the norm of the difference between q and the nearest point of the box. It rounds as
// [Measure] does, coordinate by coordinate, so it is never above the value of a point in the box.
func (b *boxes[T]) bound(q []float64, node int) float64 {
	d := len(q)
	box := b.boxes[2*d*node:][:2*d]
	lo := box[:d]
	hi := box[d:]

	var s float64
	switch b.norm {
	case Sum:
		for j, v := range q {
			s += math.Abs(gap(v, lo[j], hi[j]))
		}
	case Largest:
		for j, v := range q {
			s = max(s, math.Abs(gap(v, lo[j], hi[j])))
		}
	default:
		for j, v := range q {
			g := gap(v, lo[j], hi[j])
			s += g * g
		}
	}
	return s
}

// gap returns the difference of v from the nearest value in [lo, hi].
func gap[T Real](v float64, lo, hi T) float64 {
	return v - min(max(v, float64(lo)), float64(hi))
}

// balls are bounding balls. The centre of node i is centers[id:(i+1)d].
type balls[T Real] struct {
	norm    Norm
	d       int
	shrink  float64 // one minus a bound of the relative error of a distance
	centers []T
	radii   []float64
}

// newBalls returns room for the balls of nodes numbered below nodes.
func newBalls[T Real](norm Norm, d, nodes int) *balls[T] {
	return &balls[T]{norm, d, 1 - float64(d+16)*0x1p-52, make([]T, d*nodes), make([]float64, nodes)}
}

// tiny is larger than every distance with a square that underflows.
const tiny = 0x1p-500

// enclose puts the centre of a ball at the mean of the points.
func (b *balls[T]) enclose(node int, rows, lo, hi []T) {
	d := b.d
	center := b.centers[d*node:][:d]

	// Equal points have a ball of radius 0, without rounding.
	equal := true
	for c := range lo {
		equal = equal && lo[c] == hi[c]
	}
	if equal {
		copy(center, lo)
		b.radii[node] = 0
		return
	}

	mean := make([]float64, d)
	for r := rows; len(r) > 0; r = r[d:] {
		for c, v := range r[:len(mean)] {
			mean[c] += float64(v)
		}
	}
	for c := range mean {
		center[c] = T(mean[c] / float64(len(rows)/d))
		mean[c] = float64(center[c])
	}

	// The radius is widened by the rounding error of the distances.
	var r float64
	for ; len(rows) > 0; rows = rows[d:] {
		r = max(r, Measure(b.norm, mean, rows[:d]))
	}
	if b.squares() {
		r = math.Sqrt(r)
	}
	b.radii[node] = r/b.shrink + tiny
}

// squares reports whether distances are compared by their squares.
func (b *balls[T]) squares() bool { return b.norm == Squares }

// bound is negative where q lies in the ball, and smallest in its centre, so that the search turns
// to the nearer of two balls around q. A ball of radius 0 holds equal points and needs no slack.
func (b *balls[T]) bound(q []float64, node int) float64 {
	d := Measure(b.norm, q, b.centers[len(q)*node:][:len(q)])
	r := b.radii[node]
	switch {
	case r == 0:
		return d
	case !b.squares():
		return d*b.shrink - r
	}
	d = math.Sqrt(d)*b.shrink - r
	return d * math.Abs(d) * (1 - math.Copysign(0x1p-50, d))
}
