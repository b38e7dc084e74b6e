// Package choice picks the method by which neighbours are searched for, from counts of
// operations and from samples that are timed.
package choice

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// Work is a search for which [Work.Choose] picks a method: that for the K nearest
// neighbours of all points of X or, if Queries is positive, of so many others.
type Work struct {
	X       data.Points
	Metric  knn.Metric
	K       int
	Queries int
}

// Operations returns about how many floating-point operations in float64 matrix
// products take as long as the search by a method:
//
//   - all pairs: n²d/2, as each pair counts once and float32 has twice the speed;
//     twentyfold for Manhattan and Chebyshev distance, which are no matrix product; n²(d + 400)
//     for dense sets; of sparse points 100n², as every pair is looked at, beside 15
//     times what [knn.BruteOperations] counts. Queries compare with all n points;
//   - a tree: 160·2^min(d,30)·(1 + log₂k)·2d a query, but no more than all points,
//     as the neighbourhood touches every direction;
//   - NN-descent: 20,000·(d + 50)·(1 + k/30) a point, mostly waiting for memory, with
//     the mean number of entries in place of d for sparse points, d/16 for dense sets.
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
	case ofSets(w.Metric):
		count = float64(n) * float64(n) * (d + 400)
	case w.Metric == knn.Manhattan || w.Metric == knn.Chebyshev:
		count *= 20 // no matrix product computes these
	}
	if w.Queries > 0 {
		count *= 2 * queries / float64(n)
	}
	return count
}

// length returns as many coordinates as NN-descent takes as long for in dense points of
// float32 as for a point of X.
func (w Work) length() float64 {
	n, d := w.X.Dims()
	if x, ok := w.X.(*sparse.CSR); ok {
		return float64(x.NNZ()) / float64(max(1, n))
	}
	if ofSets(w.Metric) {
		return float64(d) / 16
	}
	return float64(d)
}

// Exact returns the exact method that takes the fewer operations, and why. It depends
// on the points and the metric only.
func (w Work) Exact() (m knn.Method, why string) {
	if _, ok := w.X.(*sparse.CSR); ok {
		return knn.Brute, "it compares all pairs, and no tree knows sparse points"
	}
	_, d := w.X.Dims()
	tree := knn.KDTree
	if w.Metric == knn.Angle || w.Metric == knn.Cosine {
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
	// Timed says that the time of a search decided, so that another machine may
	// choose otherwise.
	Timed bool `json:"timed"`
}

// Choose picks the method of [Work.Exact], unless that takes longer than so many
// seconds of patience and NN-descent, which is approximate, takes less time. seconds
// estimates the time of a search by a method.
func (w Work) Choose(patience float64, seconds func(knn.Method) (float64, error)) (Choice, error) {
	m, why := w.Exact()
	exact, err := seconds(m)
	if err != nil || !(exact > patience) {
		return Choice{Method: m, Why: why}, err
	}
	long := fmt.Sprintf("it takes longer than --patience %g s, but ", patience)
	if err := knn.NNDescent.Supports(w.Metric, w.X); err != nil {
		return Choice{m, fmt.Sprintf("%s; %snn-descent does not know %v distance of such points", why, long, w.Metric), true}, nil
	}
	approximate, err := seconds(knn.NNDescent)
	if err != nil {
		return Choice{}, err
	}
	if approximate >= exact {
		return Choice{m, why + "; " + long + "so does nn-descent", true}, nil
	}
	return Choice{knn.NNDescent, fmt.Sprintf("%s, the fastest exact method, would take about %s, longer than --patience %g s; some neighbours may be missed, --method %s is exact",
		m, Duration(exact), patience, m), true}, nil
}

// Duration writes seconds as exactly as an estimate is worth.
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

// ofSets reports whether the metric compares sets.
func ofSets(m knn.Metric) bool { return m == knn.Hamming || m == knn.Jaccard }
