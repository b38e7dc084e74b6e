// Package trees finds exact neighbours by a kd-tree or a ball tree. It knows no types of points:
// its caller gives rows of float32 or float64, a norm and, if the distance is not the norm itself,
// the function that turns the norm into the distance.
//
// An index is restored from the order of its points alone. Boxes and balls are computed from the
// points again, so a damaged file costs time and never gives a wrong neighbour.
package trees

import "math"

// Shape describes a tree: its volumes, its norm and the dimension of its points.
type Shape struct {
	Volume Volume
	Norm   Norm
	// Scale, if not nil, turns values of the norm into distances. Without it a distance is
	// the norm itself, or the root of the norm for Squares.
	Scale *Scale
	D     int // coordinates of a point
}

// Volume is a kind of volume that encloses the points of each node.
type Volume int

const (
	// Boxes keep the smallest and the largest value of each coordinate.
	Boxes Volume = iota
	// Balls keep the mean of the points and their largest distance from it.
	Balls
)

// Norm says how the differences of coordinates are added up, in the order of the coordinates.
type Norm int

const (
	// Squares adds their squares.
	Squares Norm = iota
	// Sum adds their magnitudes.
	Sum
	// Largest takes the largest magnitude.
	Largest
)

// Scale turns values of a norm into distances, by an increasing function.
type Scale struct {
	Distance func(v float64) float64
	Square   func(distance float64) float64 // the inverse of Distance, up to rounding
	// Widen returns a value above all values that Distance may map to the distance of v.
	Widen func(v float64) float64
}

// RootTie is the relative difference below which squares may have equal roots.
const RootTie = 0x1p-50

// distance returns the distance at a value of the norm.
func (s *Shape) distance(v float64) float64 {
	switch {
	case s.Scale != nil:
		return s.Scale.Distance(v)
	case s.Norm == Squares:
		return math.Sqrt(v)
	}
	return v
}

// square returns the value of the norm at a distance, up to rounding.
func (s *Shape) square(distance float64) float64 {
	switch {
	case s.Scale != nil:
		return s.Scale.Square(distance)
	case s.Norm == Squares:
		return distance * distance
	}
	return distance
}

// widen returns a value above all values of the norm that may have the distance of v.
func (s *Shape) widen(v float64) float64 {
	switch {
	case s.Scale != nil:
		return s.Scale.Widen(v)
	case s.Norm == Squares:
		return v * (1 + RootTie)
	}
	return v
}

// Measure returns the value of the norm for the difference of q and x. It adds the coordinates in
// their order, so that all callers get the same bits.
func Measure[T uint8 | float32 | float64](norm Norm, q []float64, x []T) float64 {
	var s float64
	switch norm {
	case Sum:
		for j, v := range x {
			s += math.Abs(q[j] - float64(v))
		}
	case Largest:
		for j, v := range x {
			s = max(s, math.Abs(q[j]-float64(v)))
		}
	default:
		for j, v := range x {
			d := q[j] - float64(v)
			s += d * d
		}
	}
	return s
}

// Bytes returns the memory of a tree on n points, with element bytes a coordinate, and of k
// neighbours of each point, or the memory of building the tree if that is larger.
func (s *Shape) Bytes(n int, element int64, k int) int64 {
	levels, _ := levelsOf(n)
	node := int64(s.D)*element + 8
	if s.Volume == Boxes {
		node = 2 * int64(s.D) * element
	}
	block := int64(Padded(n)) * int64(s.D) * element
	tree := block + 4*int64(n) + (node+4)<<(levels+1)
	building := block + (4+element+8+1)*int64(n)
	return tree + max(building, 12*int64(n)*int64(k))
}
