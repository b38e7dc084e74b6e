package choice

import (
	"context"
	"math"
	"time"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// probe returns the number of points on which Time measures a method, and the power of n with which
// its time grows from there. The boxes of a tree become smaller with n, but more of them are near a query. Dong, Moses & Li
// (WWW 2011) found 1.14 for NN-descent; among points that are numbers it begins with leaves that are carved, and 10⁵, 10⁶ and
// 10⁷ points of 64 columns took 20, 14 and 16 µs each where samples took 17 to 20.
func (w Work) probe(m knn.Method) (points int, power float64) {
	_, isSparse := w.X.(*sparse.CSR)
	switch {
	case m == knn.KDTree || m == knn.BallTree:
		return 1 << 14, 1.25
	case m == knn.NNDescent && (isSparse || w.Metric.Space() == knn.Sets):
		return 1 << 13, 1.14
	case m == knn.NNDescent:
		return 1 << 13, 1
	}
	return 1 << 13, 2
}

// Time estimates the seconds that the search by a method takes on this machine in its present state.
// It searches a few thousand points spread over X, which takes about a second, and extrapolates by
// the power of n with which the method's time grows. For all pairs, where the choice of candidates
// takes time in proportion to n at first, it also times a quarter of these points. A search of more
// points may prune ([knn.NewBrute]) and take less time than the estimate. If X has no more points
// than the sample, the search is timed as a whole.
func (w Work) Time(ctx context.Context, m knn.Method) (float64, error) {
	n, _ := w.X.Dims()
	points, power := w.probe(m)
	seconds, err := w.sample(ctx, m, min(n, points))
	if err != nil {
		return 0, err
	}

	if n > points {
		if m == knn.Brute {
			less, err := w.sample(ctx, m, points/4)
			if err != nil {
				return 0, err
			}
			seconds = allPairs(float64(n), less, seconds, float64(points))
		} else {
			seconds *= math.Pow(float64(n)/float64(points), power)
		}
	}

	switch {
	case m == knn.Brute && w.Queries > 0: // Self compares each pair once, for both ends
		seconds *= 2 * float64(w.Queries) / float64(n)
	case m.Exact() && w.Queries > 0:
		seconds *= float64(w.Queries) / float64(n)
	}
	return seconds, nil
}

// allPairs extrapolates to n points from the times of m/4 and of m points, by b·n·(n + c). c is kept
// in the range that was measured for points of 8 to 1000 dimensions.
func allPairs(n, quarter, whole, m float64) float64 {
	const least, most = 2_000, 60_000
	// Two times give b and c; b is kept in the range that c allows.
	b := (whole - 4*quarter) / (0.75 * m * m)
	b = min(max(b, whole/(m*(m+most))), whole/(m*(m+least)))
	return b*n*n + max(0, whole/m-b*m)*n
}

// sample times the search on some points, spread over X.
func (w Work) sample(ctx context.Context, m knn.Method, points int) (float64, error) {
	n, _ := w.X.Dims()
	x := w.X
	if points < n {
		rows := make([]int, points)
		for i := range rows {
			rows[i] = int(float64(i) * float64(n) / float64(points))
		}
		x = data.Select(x, rows)
	}

	start := time.Now()
	ix, err := knn.NewIndex(x, m, &knn.DescentSettings{Settings: knn.Settings{Metric: w.Metric}, Sample: -1})
	if err != nil {
		return 0, err
	}
	if _, err := ix.Self(ctx, min(w.K, points-1)); err != nil {
		return 0, err
	}
	return time.Since(start).Seconds(), nil
}
