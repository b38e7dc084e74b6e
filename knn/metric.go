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

// This file has the one table of methods, metrics and kinds of points. Cosine is Angle with
// another last step. Inner products go through the blocks of Euclidean distance with the norm
// of the longest point in place of every norm, which stands for the coordinate that Bachrach
// et al. (2014) append. Distances are then −⟨x,z⟩, so radii and weights made of lengths are
// refused.

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
	// Let M bound the norms of the points z. The search looks for Euclidean neighbours
	// of (x, 0) among the points (z, √(M² − ‖z‖²)); the squared distance of such a pair
	// is ‖x‖² + M² − 2xᵀz (Bachrach et al., RecSys 2014; Neyshabur & Srebro, ICML
	// 2015). The last coordinate need not be stored, as all these points have the
	// norm M. A point is left out of its own list, though its product with
	// itself may be the largest or not.
	InnerProduct
	// Hamming is the share of the coordinates in which two points of zeros and
	// ones differ, as in SciPy.
	Hamming
	// Jaccard is 1 − |a∩b| / |a∪b| of two sets, 0 of two empty ones. The set of a
	// dense point holds the coordinates that are 1, the set of a sparse point the
	// columns of its entries that are not 0.
	Jaccard
)

// A Space says how a metric reads points. Searches ask for the space of a metric rather than for
// the metric, so that a metric is written once, in the table below.
type Space int

const (
	// Positions are compared by the differences of their coordinates, one by one.
	Positions Space = iota
	// Vectors are compared by squared Euclidean distance, which inner products give.
	Vectors
	// Directions are Vectors scaled to norm one.
	Directions
	// Products are inner products alone, which are no lengths.
	Products
	// Sets are compared by the coordinates that are one.
	Sets
)

// metricRow describes a metric. Searches compare distances in a measured form, which is cheaper
// than the distance itself: squared for Vectors and Directions.
type metricRow struct {
	name  string
	space Space
	// dense and sparse are the methods that know the metric.
	dense, sparse []Method
	// form says how NN-descent reads the points.
	form prepared.Form
	// norm adds up the differences of coordinates, of unit vectors for Directions.
	norm trees.Norm
	// distance turns the measured form into the distance; nil if they are the same. square is
	// its inverse, up to rounding.
	distance, square func(float64) float64
	// widen returns a value above all values that distance may map to the distance of its
	// argument; for Directions only.
	widen func(float64) float64
}

// metricTable has a row for each metric.
var metricTable = [...]metricRow{
	Euclidean: {
		name: "euclidean", space: Vectors,
		dense:    []Method{Brute, KDTree, BallTree, NNDescent},
		sparse:   []Method{Brute, NNDescent},
		distance: math.Sqrt,
		square:   func(d float64) float64 { return d * d },
	},
	Angle: {
		name: "angle", space: Directions, form: prepared.Angles,
		dense:  []Method{Brute, BallTree, NNDescent},
		sparse: []Method{Brute, NNDescent},
		distance: func(d float64) float64 {
			if d == 2 {
				return math.Pi / 2
			}
			return 2 * math.Asin(min(1, math.Sqrt(d)/2))
		},
		square: func(d float64) float64 { return 4 * math.Pow(math.Sin(min(d, math.Pi)/2), 2) },
		widen: func(v float64) float64 {
			if v > 4*(1-0x1p-40) {
				return math.Inf(1)
			}
			return v * (1 + 0x1p-40)
		},
	},
	Manhattan: {
		name: "manhattan", space: Positions, norm: trees.Sum,
		dense: []Method{Brute, KDTree, BallTree},
	},
	Chebyshev: {
		name: "chebyshev", space: Positions, norm: trees.Largest,
		dense: []Method{Brute, KDTree, BallTree},
	},
	Cosine: {
		name: "cosine", space: Directions, form: prepared.Angles,
		dense:    []Method{Brute, BallTree, NNDescent},
		sparse:   []Method{Brute, NNDescent},
		distance: func(d float64) float64 { return d / 2 },
		square:   func(d float64) float64 { return 2 * d },
		widen:    func(v float64) float64 { return v },
	},
	InnerProduct: {
		name: "inner-product", space: Products,
		dense:  []Method{Brute},
		sparse: []Method{Brute},
	},
	Hamming: {
		name: "hamming", space: Sets, form: prepared.Hamming,
		dense:  []Method{Brute, NNDescent},
		sparse: []Method{Brute, NNDescent},
	},
	Jaccard: {
		name: "jaccard", space: Sets, form: prepared.Jaccard,
		dense:  []Method{Brute, NNDescent},
		sparse: []Method{Brute, NNDescent},
	},
}

var metrics = enum.Of[Metric]("distance", len(metricTable), func(i int) string { return metricTable[i].name })

// String returns the name used on the command line and in manifests.
func (m Metric) String() string { return metrics.String(m) }

// MarshalText returns the name.
func (m Metric) MarshalText() ([]byte, error) { return metrics.Marshal(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Metric) UnmarshalText(text []byte) error { return metrics.Unmarshal(m, text) }

// Metrics returns the metrics that read points as one of spaces.
func Metrics(spaces ...Space) []Metric {
	var out []Metric
	for i := range metricTable {
		if slices.Contains(spaces, metricTable[i].space) {
			out = append(out, Metric(i))
		}
	}
	return out
}

// Space returns how the metric reads points; −1 if there is no such metric.
func (m Metric) Space() Space {
	if !metrics.Valid(m) {
		return -1
	}
	return metricTable[m].space
}

// angular reports whether the metric is one of directions.
func (m Metric) angular() bool { return m.Space() == Directions }

// ofSets reports whether the metric compares sets.
func (m Metric) ofSets() bool { return m.Space() == Sets }

// squares reports whether the metric follows from squared distances of points, or of points
// scaled to norm one.
func (m Metric) squares() bool { return m.Space() == Vectors || m.Space() == Directions }

// multiplies reports whether a matrix product gives the distances between points.
func (m Metric) multiplies() bool { return m.squares() || m.Space() == Products }

// form returns how NN-descent reads the points; it knows no metric, only forms.
func (m Metric) form() prepared.Form { return metricTable[m].form }

// Supports returns nil if the method finds neighbours among points such as x by the
// metric; otherwise an error that says which methods do.
func (m Method) Supports(metric Metric, x data.Points) error {
	if !metrics.Valid(metric) {
		return fmt.Errorf("knn: no distance is called %v", metric)
	}
	kind := "dense"
	can := metricTable[metric].dense
	if _, ok := x.(*sparse.CSR); ok {
		kind = "sparse"
		can = metricTable[metric].sparse
	}

	if m == Auto && len(can) > 0 || slices.Contains(can, m) {
		return nil
	}
	if len(can) == 0 {
		return fmt.Errorf("knn: %v distance is for dense points and these are sparse; make them "+
			"dense, or take another distance, such as %v", metric, Euclidean)
	}
	names := make([]string, len(can))
	for i, c := range can {
		names[i] = c.String()
	}
	return fmt.Errorf("knn: %v does not find neighbours of %s points by %v distance; take the method %s", m,
		kind, metric, strings.Join(names, " or "))
}

// CheckEdges returns an error if a graph with edges such as s cannot be made of the
// distances of m.
func (m Metric) CheckEdges(s *GraphSettings) error {
	switch {
	case m.Space() != Products:
		return nil
	case s.Radius > 0:
		return fmt.Errorf("knn: %v is no length, so there is no radius %v around a point; give a "+
			"number of neighbours, or take the distance %v", m, s.Radius, Cosine)
	case s.Weights.needsDistances():
		return fmt.Errorf("knn: %v weights are made of lengths, and %v is none; take the weights %v "+
			"or %v, or the distance %v", s.Weights, m, One, Shared, Cosine)
	}
	return nil
}

// distance converts the result of measure to the metric's distance.
func (m Metric) distance(d float64) float64 {
	if f := metricTable[m].distance; f != nil {
		return f(d)
	}
	return d
}

// square is the inverse of distance, up to rounding.
func (m Metric) square(d float64) float64 {
	if f := metricTable[m].square; f != nil {
		return f(d)
	}
	return d
}

// widen returns a value above all values that distance may map to the distance of v, for metrics
// of directions.
func (m Metric) widen(v float64) float64 { return metricTable[m].widen(v) }

// norm returns the norm of the differences of coordinates, of unit vectors for metrics of
// directions.
func (m Metric) norm() trees.Norm { return metricTable[m].norm }

// measure returns the distance of q from a point in the form distances are
// compared in, which Metric.distance turns into the metric's: squared for
// vectors and, between unit vectors, for directions.
func measure[T data.Element](m Metric, q []float64, x []T) float64 {
	if m.Space() != Products {
		return trees.Measure(m.norm(), q, x)
	}
	var s float64
	for j, v := range x {
		s -= q[j] * float64(v)
	}
	return s
}
