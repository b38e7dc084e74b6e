// Package choice picks the method of a search for neighbours, from counts of operations and from
// samples that are timed.
//
// All pairs or a tree is decided by counts of operations, the same on every machine; both are
// exact. Whether that takes longer than the user's patience, and NN-descent takes less, depends on
// the machine: first by the counts and its rate and, above one second, by samples of the very
// points to be searched, extrapolated ([Work.Time]). So callers print the choice and keep it in
// manifests and, where time decided, in the checkpoint.
package choice

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// Work describes a search for which [Work.Choose] picks a method: the search for the K nearest
// neighbours of all points of X or, if Queries is positive, of that number of other points.
type Work struct {
	X       data.Points
	Metric  knn.Metric
	K       int
	Queries int
}

// Operations estimates the time of a search by a method, as the number of floating-point operations
// that a float64 matrix product makes in that time:
//
//   - all pairs: n²d/2, as each pair counts once and float32 has twice the speed; 20 times
//     that for Manhattan and Chebyshev distance, which no matrix product computes;
//     n²(d + 400) for dense sets; for sparse points 15 times [knn.BruteOperations] and 100n²,
//     as every pair is looked at. A query is compared with all n points;
//   - a tree: 160·2^min(d,30)·(1 + log₂k)·2d a query, but no more than for all points, as a
//     neighbourhood extends in every direction;
//   - NN-descent: 20,000·(d + 50)·(1 + k/30) a point, mostly waiting for memory, with the
//     mean number of entries in place of d for sparse points and d/16 for dense sets.
//
// The constants are rough; [Work.Time] measures.
func (w Work) Operations(m knn.Method) float64 {
	n, dims := w.X.Dims()
	d := float64(dims)

	queries := float64(n)
	if w.Queries > 0 {
		queries = float64(w.Queries)
	}
	switch m {
	case knn.KDTree, knn.BallTree:
		// A tree visits a neighbourhood of 16·2^d points for one neighbour.
		visited := math.Min(float64(n), 16*math.Exp2(math.Min(d, 30))*(1+math.Log2(float64(max(w.K, 1)))))
		return 20 * queries * visited * d
	case knn.NNDescent:
		return 20_000 * float64(n) * (w.length() + 50) * (1 + float64(w.K)/30)
	}

	count := knn.BruteOperations(w.X) / 2
	_, isSparse := w.X.(*sparse.CSR)
	switch {
	case isSparse:
		count = 30*count + 100*float64(n)*float64(n)
	case w.Metric.Space() == knn.Sets:
		count = float64(n) * float64(n) * (d + 400)
	case w.Metric.Space() == knn.Positions:
		count *= 20 // no matrix product computes these
	}
	if w.Queries > 0 {
		count *= 2 * queries / float64(n)
	}
	return count
}

// length returns the number of float32 coordinates of a dense point that NN-descent measures in the
// time of a point of X.
func (w Work) length() float64 {
	n, d := w.X.Dims()
	if x, ok := w.X.(*sparse.CSR); ok {
		return float64(x.NNZ()) / float64(max(1, n))
	}
	if w.Metric.Space() == knn.Sets {
		return float64(d) / 16
	}
	return float64(d)
}

// Exact returns the exact method that takes fewer operations, and the reason. It depends on the
// points, the metric, K and Queries, and not on the machine.
func (w Work) Exact() (m knn.Method, why string) {
	if _, ok := w.X.(*sparse.CSR); ok {
		return knn.Brute, "it compares all pairs, and no tree knows sparse points"
	}
	_, d := w.X.Dims()
	// A kd-tree has no angles, and elsewhere its boxes are tighter than balls.
	tree := knn.KDTree
	if w.Metric.Space() == knn.Directions {
		tree = knn.BallTree
	}
	switch {
	case tree.Supports(w.Metric, w.X) != nil:
		return knn.Brute, fmt.Sprintf("it compares all pairs, and no tree knows %v", w.Metric)
	case w.Operations(tree) < w.Operations(knn.Brute):
		return tree, fmt.Sprintf("in %d dimensions a tree takes less than all pairs", d)
	}
	return knn.Brute, fmt.Sprintf("in %d dimensions all pairs take less than a tree", d)
}

// Choice is a method and the reason for it.
type Choice struct {
	Method knn.Method `json:"method"`
	Why    string     `json:"why"`
	// Timed says that an estimated time decided, so that another machine may choose another
	// method.
	Timed bool `json:"timed"`
}

// Choose picks the method of [Work.Exact], unless it takes longer than patience, in seconds, and
// NN-descent, which is approximate, takes less time. seconds estimates the time of a search by a
// method.
func (w Work) Choose(patience float64, seconds func(knn.Method) (float64, error)) (Choice, error) {
	m, why := w.Exact()
	exact, err := seconds(m)
	if err != nil || !(exact > patience) {
		return Choice{Method: m, Why: why}, err
	}

	long := fmt.Sprintf("it takes longer than %s %g s, but ", param.Name("patience"), patience)
	if err := knn.NNDescent.Supports(w.Metric, w.X); err != nil {
		why = fmt.Sprintf("%s; %snn-descent does not know %v distance of such points", why, long, w.Metric)
		return Choice{m, why, true}, nil
	}
	// The estimate for NN-descent may take a sample of a second, so it comes last.
	approximate, err := seconds(knn.NNDescent)
	if err != nil {
		return Choice{}, err
	}
	if approximate >= exact {
		return Choice{m, why + "; " + long + "so does nn-descent", true}, nil
	}

	why = fmt.Sprintf("%s, the fastest exact method, would take about %s, longer than %s %g s; "+
		"some neighbours may be missed, %s %s is exact",
		m, Duration(exact), param.Name("patience"), patience, param.Name("method"), m)
	return Choice{knn.NNDescent, why, true}, nil
}

// Duration writes seconds with the precision of an estimate.
func Duration(seconds float64) string {
	n := math.Ceil(seconds)
	switch {
	case n < 100:
		return fmt.Sprintf("%.0f s", n)
	case n < 5400:
		return fmt.Sprintf("%.0f min", n/60)
	}
	return fmt.Sprintf("%.1f h", n/3600)
}
