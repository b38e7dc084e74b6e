// Package trees finds exact neighbours by a kd-tree or a ball tree. It knows no point
// types: who uses it gives rows of float32 or float64, a norm and, where the distance is
// not that norm, how it follows from it.
package trees

import "math"

// Shape says what a tree is made of.
type Shape struct {
	Volume Volume
	Norm   Norm
	// Scale, if not nil, turns values of the norm into distances. Without it a distance
	// is the norm itself, of Squares its root.
	Scale *Scale
	D     int // coordinates of a point
}

// Volume is what encloses the points of each node.
type Volume int

const (
	// Boxes keep the smallest and the largest of each coordinate.
	Boxes Volume = iota
	// Balls keep the mean of the points and their largest distance from it.
	Balls
)

// Norm is how the differences of coordinates are added up, in their order.
type Norm int

const (
	// Squares adds their squares.
	Squares Norm = iota
	// Sum adds their magnitudes.
	Sum
	// Largest takes the largest magnitude.
	Largest
)

// Scale turns values of a norm into distances, which ascend with them.
type Scale struct {
	Distance func(v float64) float64
	Square   func(distance float64) float64 // the inverse of Distance, up to rounding
	// Widen returns a value above all those which Distance may map to the same as v.
	Widen func(v float64) float64
}

// RootTie is the relative difference below which squares may have equal roots.
const RootTie = 0x1p-50

func (s *Shape) distance(v float64) float64 {
	switch {
	case s.Scale != nil:
		return s.Scale.Distance(v)
	case s.Norm == Squares:
		return math.Sqrt(v)
	}
	return v
}

func (s *Shape) square(distance float64) float64 {
	switch {
	case s.Scale != nil:
		return s.Scale.Square(distance)
	case s.Norm == Squares:
		return distance * distance
	}
	return distance
}

func (s *Shape) widen(v float64) float64 {
	switch {
	case s.Scale != nil:
		return s.Scale.Widen(v)
	case s.Norm == Squares:
		return v * (1 + RootTie)
	}
	return v
}

// Measure returns the value of the norm for the difference of q and x. It adds the
// coordinates in their order, so that all who call it agree to the last bit.
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

// Bytes returns the memory of a tree on n points whose coordinates take so many bytes,
// and of k neighbours of each of them, or that of building it if larger.
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
