package knn

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/knn/internal/trees"
	"github.com/bigfit/bigfit/sparse"
)

// Metric is a distance between points: the smaller, the nearer.
type Metric int

const (
	// Euclidean is ‖x − z‖₂.
	Euclidean Metric = iota
	// Angle is arccos(xᵀz / ‖x‖‖z‖), in radians. A zero vector makes an angle
	// of π/2 with every vector.
	Angle
	// Manhattan is ‖x − z‖₁ = Σ |x_j − z_j|.
	Manhattan
	// Chebyshev is ‖x − z‖_∞ = max |x_j − z_j|.
	Chebyshev
	// Cosine is 1 − xᵀz / ‖x‖‖z‖, between 0 and 2: neighbours come in the order
	// of Angle. A zero vector is at distance 1 from every vector.
	Cosine
	// InnerProduct is −xᵀz, so that the nearest point has the largest inner
	// product with the query. It may be negative and is no measure of length:
	// neither a radius nor weights made of distances go with it.
	//
	// Of points z of norm at most M the search is one for Euclidean neighbours of
	// (x, 0) among the points (z, √(M² − ‖z‖²)), whose squared distance is
	// ‖x‖² + M² − 2xᵀz (Bachrach et al., RecSys 2014; Neyshabur & Srebro, ICML
	// 2015). The last coordinate need not be stored, as all these points have the
	// norm M. A point is left out of its own list, though its product with
	// itself may be the largest or not.
	InnerProduct
	// Hamming is the share of the coordinates in which two points of zeros and
	// ones differ, as in SciPy.
	Hamming
	// Jaccard is 1 − |a∩b| / |a∪b| of two sets, 0 of two empty ones. The set of a
	// point holds the coordinates that are 1; that of a sparse point those of all
	// entries that are not 0.
	Jaccard
)

var metrics = enum.New[Metric]("distance", "euclidean", "angle", "manhattan", "chebyshev", "cosine", "inner-product", "hamming", "jaccard")

// String returns the name used on the command line and in manifests.
func (m Metric) String() string { return metrics.String(m) }

// MarshalText returns the name.
func (m Metric) MarshalText() ([]byte, error) { return metrics.Marshal(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Metric) UnmarshalText(text []byte) error { return metrics.Unmarshal(m, text) }

// angular reports whether the metric is one of directions.
func (m Metric) angular() bool { return m == Angle || m == Cosine }

// ofSets reports whether the metric compares sets.
func (m Metric) ofSets() bool { return m == Hamming || m == Jaccard }

// form returns what NN-descent, which knows no other metrics, is to know of this one.
func (m Metric) form() prepared.Form {
	switch {
	case m.angular():
		return prepared.Angles
	case m == Hamming:
		return prepared.Hamming
	case m == Jaccard:
		return prepared.Jaccard
	}
	return prepared.Lengths
}

// searches lists the methods that know a metric, for dense and for sparse points.
var searches = map[Metric]struct{ dense, sparse []Method }{
	Euclidean:    {[]Method{Brute, KDTree, BallTree, NNDescent}, []Method{Brute, NNDescent}},
	Angle:        {[]Method{Brute, BallTree, NNDescent}, []Method{Brute, NNDescent}},
	Cosine:       {[]Method{Brute, BallTree, NNDescent}, []Method{Brute, NNDescent}},
	Manhattan:    {[]Method{Brute, KDTree, BallTree}, nil},
	Chebyshev:    {[]Method{Brute, KDTree, BallTree}, nil},
	InnerProduct: {[]Method{Brute}, []Method{Brute}},
	Hamming:      {[]Method{Brute, NNDescent}, []Method{Brute, NNDescent}},
	Jaccard:      {[]Method{Brute, NNDescent}, []Method{Brute, NNDescent}},
}

// Supports returns nil if the method finds neighbours among points such as x by the
// metric; otherwise an error that says which methods do:
//
//	                            dense points                          sparse points
//	euclidean                   brute, kd-tree, ball-tree, nn-descent  brute, nn-descent
//	angle, cosine               brute, ball-tree, nn-descent           brute, nn-descent
//	manhattan, chebyshev        brute, kd-tree, ball-tree
//	inner-product               brute                                  brute
//	hamming, jaccard            brute, nn-descent                      brute, nn-descent
func (m Method) Supports(metric Metric, x data.Points) error {
	known, ok := searches[metric]
	if !ok {
		return fmt.Errorf("knn: no distance is called %v", metric)
	}
	kind := "dense"
	can := known.dense
	if _, ok := x.(*sparse.CSR); ok {
		kind = "sparse"
		can = known.sparse
	}
	if m == Auto && len(can) > 0 || slices.Contains(can, m) {
		return nil
	}
	if len(can) == 0 {
		return fmt.Errorf("knn: %v distance is for dense points and these are sparse; make them dense, or take another distance, such as euclidean", metric)
	}
	names := make([]string, len(can))
	for i, c := range can {
		names[i] = c.String()
	}

	return fmt.Errorf("knn: %v does not find neighbours of %s points by %v distance; take the method %s", m, kind, metric, strings.Join(names, " or "))
}

// CheckEdges returns an error if a graph with edges such as s cannot be made of the
// distances of m.
func (m Metric) CheckEdges(s *GraphSettings) error {
	switch {
	case m != InnerProduct:
		return nil
	case s.Radius > 0:
		return fmt.Errorf("knn: %v is no length, so there is no radius %v around a point; give a number of neighbours, or take the distance cosine", m, s.Radius)
	case s.Weights.needsDistances():
		return fmt.Errorf("knn: %v weights are made of lengths, and %v is none; take the weights %v or %v, or the distance cosine", s.Weights, m, One, Shared)
	}
	return nil
}

// distance converts the result of measure to the metric's distance.
func (m Metric) distance(d float64) float64 {
	switch m {
	case Euclidean:
		return math.Sqrt(d)
	case Cosine:
		return d / 2
	case Angle:
		if d == 2 {
			return math.Pi / 2
		}
		return 2 * math.Asin(min(1, math.Sqrt(d)/2))
	}

	return d
}

// square is the inverse of distance, up to rounding.
func (m Metric) square(d float64) float64 {
	switch m {
	case Euclidean:
		return d * d
	case Cosine:
		return 2 * d
	case Angle:
		return 4 * math.Pow(math.Sin(min(d, math.Pi)/2), 2)
	}
	return d
}

// widen returns a value above all values that distance may map to the distance of v, for Angle and
// Cosine.
func (m Metric) widen(v float64) float64 {
	switch {
	case m == Cosine:
		return v
	case v > 4*(1-0x1p-40):
		return math.Inf(1)
	}
	return v * (1 + 0x1p-40)
}

// norm returns the norm of the differences of coordinates, of unit vectors for Angle and Cosine.
func (m Metric) norm() trees.Norm {
	switch m {
	case Manhattan:
		return trees.Sum
	case Chebyshev:
		return trees.Largest
	}
	return trees.Squares
}

// measure returns the distance of q from a point in the form distances are
// compared in, which Metric.distance turns into the metric's: squared for
// Euclidean and, between unit vectors, for Angle and Cosine.
func measure[T data.Element](m Metric, q []float64, x []T) float64 {
	if m != InnerProduct {
		return trees.Measure(m.norm(), q, x)
	}
	var s float64
	for j, v := range x {
		s -= q[j] * float64(v)
	}
	return s
}
