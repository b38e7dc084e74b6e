package knn

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/sparse"
)

// Method is a way to find neighbours.
type Method int

const (
	// Auto has [Choose] pick one.
	Auto Method = iota
	// Brute compares all pairs: [NewBrute]. Exact.
	Brute
	// KDTree is [NewKDTree]. Exact.
	KDTree
	// BallTree is [NewBallTree]. Exact.
	BallTree
	// NNDescent is [NewDescent]. Approximate.
	NNDescent
)

var methods = enum.New[Method]("method", "auto", "brute", "kd-tree", "ball-tree", "nn-descent")

// String returns the name used on the command line and in manifests.
func (m Method) String() string { return methods.String(m) }

// MarshalText returns the name.
func (m Method) MarshalText() ([]byte, error) { return methods.Marshal(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Method) UnmarshalText(text []byte) error { return methods.Unmarshal(m, text) }

// Exact reports whether the method finds the true neighbours.
func (m Method) Exact() bool { return m != NNDescent }

// patience is the time in seconds that Choose gives an exact search before it
// prefers an approximate one.
const patience = 300

// rate is the number of operations a second in float64 matrix products that the
// cost model of Choose assumes. It is not measured, so that the choice does not
// depend on the machine and its load.
const rate = 1e11

// Choose picks a method for the k nearest neighbours of all points of x and says
// why. The cost model, in floating-point operations:
//
//   - all pairs: 2n²d in float32, at twice the rate of float64; sparse points as
//     [BruteOperations] counts; for Manhattan and Chebyshev at a tenth of it;
//   - a tree: per query about 16·2^min(d,30)·(1 + log₂k) points of d coordinates
//     at a tenth of the rate, as the neighbourhood touches every direction; it
//     wins in few dimensions only.
//
// The cheaper exact one is taken, unless it would take more than five minutes
// and NN-descent supports the points and the metric.
func Choose(x data.Points, metric Metric, k int) (Method, string) {
	n, d := x.Dims()
	if _, ok := x.(*sparse.CSR); ok {
		return Brute, "the points are sparse"
	}
	if metric.ofSets() || metric == InnerProduct {
		return Brute, fmt.Sprintf("no tree knows %v", metric)
	}
	brute := BruteOperations(x) / (2 * rate)
	if metric == Manhattan || metric == Chebyshev {
		brute *= 20 // no matrix product computes these
	}
	visited := math.Min(float64(n), 16*math.Exp2(math.Min(float64(d), 30))*(1+math.Log2(float64(max(k, 1)))))
	tree := 2 * float64(n) * visited * float64(d) / (rate / 10)
	best, method := brute, Brute
	if tree < brute {
		best, method = tree, KDTree
		if metric.angular() {
			method = BallTree
		}
	}
	why := fmt.Sprintf("%d points in %d dimensions: all pairs would take about %s, a tree about %s", n, d, seconds(brute), seconds(tree))
	if best > patience && NNDescent.Supports(metric, x) == nil {
		return NNDescent, why + ", both too long; the result is approximate"
	}
	return method, why
}

func seconds(s float64) string {
	switch {
	case s < 10:
		return fmt.Sprintf("%.1g s", s)
	case s < 6000:
		return fmt.Sprintf("%.0f s", s)
	}
	return fmt.Sprintf("%.0f h", s/3600)
}

// NewIndex returns an index of the given method, which must not be Auto.
func NewIndex(x data.Points, m Method, s *DescentSettings) (Index, error) {
	if s == nil {
		s = &DescentSettings{}
	}
	switch m {
	case Brute:
		return NewBrute(x, &s.Settings)
	case KDTree:
		return NewKDTree(x, &s.Settings)
	case BallTree:
		return NewBallTree(x, &s.Settings)
	case NNDescent:
		return NewDescent(x, s)
	}
	return nil, fmt.Errorf("knn: no index for method %s; choose one first", m)
}

// IndexBytes returns the memory that an index and the k nearest neighbours of
// all its points take, beside x.
func IndexBytes(x data.Points, m Method, metric Metric, k int) int64 {
	n, d := x.Dims()
	switch m {
	case KDTree:
		return kdTreeBytes(x, k)
	case BallTree:
		return ballTreeBytes(x, metric, k)
	case NNDescent:
		// The search, and a part of the exact one by which its recall is estimated.
		return int64(n)*(4*int64(d)+12*int64(k+3)+30) + 8*int64(min(n, samplePart))*int64(d)
	}
	return BruteBytes(x, k)
}
