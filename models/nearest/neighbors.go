package nearest

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// Vote returns the most frequent of the given classes. Of equally frequent classes it returns the
// first, the class of the nearest neighbour among them.
func Vote(classes []int32) int32 {
	best := classes[0]
	most := 0
	for i, c := range classes {
		if slices.Contains(classes[:i], c) {
			continue
		}

		// Earlier points have other classes, so the count begins here. Only a larger count wins: a
		// tie stays with the nearer class.
		count := 0
		for _, other := range classes[i:] {
			if other == c {
				count++
			}
		}
		if count > most {
			best = c
			most = count
		}
	}

	return best
}

// Votes lets the neighbours of every point vote with their labels, of c classes.
// The scores are the shares of the vote.
func Votes(nb *knn.Neighbors, labels []int32, c int, recall *knn.Recall) *models.Prediction {
	out := &models.Prediction{Classes: make([]int32, nb.Len()), Scores: mat.NewDense(nb.Len(), c, nil),
		Recall: recall}
	for i := range out.Classes {
		index, _ := nb.Row(i)
		classes := make([]int32, len(index))
		shares := out.Scores.RawRowView(i)
		for p, at := range index {
			classes[p] = labels[at]
			shares[classes[p]] += 1 / float64(len(index))
		}
		out.Classes[i] = Vote(classes)
	}

	return out
}

// KNN is [Poll.KNN] for one draw of labels.
func KNN(ctx context.Context, x data.Points, metric knn.Metric, nb *knn.Neighbors, y *data.Labels,
	ks []int) ([][]int32, error) {
	return NewPoll(x, metric, nb).KNN(ctx, y, ks)
}

// A Poll classifies points by their nearest labeled points, for one draw of labels after the
// other. It is for one goroutine.
type Poll struct {
	x      data.Points
	metric knn.Metric
	nb     *knn.Neighbors
	ranks  *knn.Ranks // once it is needed
}

// NewPoll returns a poll of points. nb may hold the nearest neighbours of all points, as many as
// the caller likes: where enough of them are labeled, no search is needed. metric is the metric of
// nb.
func NewPoll(x data.Points, metric knn.Metric, nb *knn.Neighbors) *Poll {
	return &Poll{x: x, metric: metric, nb: nb}
}

// KNN classifies every point by a vote among its k nearest labeled points,
// once for each k in ks; fewer where there are fewer labeled points. Labeled
// points keep their label.
func (v *Poll) KNN(ctx context.Context, y *data.Labels, ks []int) ([][]int32, error) {
	n, _ := v.x.Dims()
	if err := models.CheckLabels(y, n); err != nil {
		return nil, err
	}
	labeled := y.Labeled()
	most := min(slices.Max(ks), len(labeled))
	out := make([][]int32, len(ks))
	for i := range out {
		out[i] = slices.Clone(y.Index)
	}

	decideAt := func(i int, classes []int32) {
		for j, k := range ks {
			out[j][i] = Vote(classes[:min(k, len(classes))])
		}
	}

	// Lists that hold less than one labeled point each, as a rule, seldom have the answer.
	lists := v.nb
	if lists != nil && len(labeled)*lists.K < n {
		lists = nil
	}
	open := make([]bool, n) // still without an answer
	par.For(n, 1024, func(lo, hi int) {
		var classes []int32
		for i := lo; i < hi; i++ {
			if y.Index[i] != data.Unlabeled {
				continue
			}
			classes = classes[:0]
			if lists != nil {
				index, _ := lists.Row(i)
				for p := 0; p < len(index) && len(classes) < most; p++ {
					if c := y.Index[index[p]]; c != data.Unlabeled {
						classes = append(classes, c)
					}
				}
			}

			if open[i] = len(classes) < most; !open[i] {
				decideAt(i, classes)
			}
		}
	})

	rest, err := v.rank(ctx, y, labeled, open, most, decideAt)
	if err != nil {
		return nil, err
	}
	if len(rest) == 0 {
		return out, nil
	}
	ix, err := knn.NewBrute(data.Select(v.x, labeled), &knn.Settings{Metric: v.metric})
	if err != nil {
		return nil, err
	}

	found, err := ix.Query(ctx, data.Select(v.x, rest), most)
	if err != nil {
		return nil, err
	}
	classes := make([]int32, most)
	for j, i := range rest {
		index, _ := found.Row(j)
		for p, at := range index {
			classes[p] = y.Index[labeled[at]]
		}
		decideAt(i, classes)
	}

	return out, nil
}

// rank decides by float32 comparisons where these are enough, and returns the other points
// that are open.
func (v *Poll) rank(ctx context.Context, y *data.Labels, labeled []int, open []bool, most int,
	decideAt func(i int, classes []int32)) ([]int, error) {
	var rest []int
	for i, o := range open {
		if o {
			rest = append(rest, i)
		}
	}

	// Ranks serve dense points in float32 by Euclidean distance.
	x, dense := v.x.(*data.Dense[float32])
	if !dense || v.metric != knn.Euclidean || len(labeled) <= most || len(rest) == 0 {
		return rest, nil
	}
	if v.ranks == nil {
		v.ranks = knn.NewRanks(x)
	}
	unsure := make([]bool, len(rest))
	err := v.ranks.Nearest(ctx, labeled, rest, most, func(at int, near []int) {
		if unsure[at] = near == nil; near == nil {
			return
		}
		classes := make([]int32, 0, 16)
		for _, j := range near {
			classes = append(classes, y.Index[j])
		}
		decideAt(rest[at], classes)
	})

	// Points for which rounding may have changed the order of the distances stay open.
	left := rest[:0]
	for at, i := range rest {
		if unsure[at] {
			left = append(left, i)
		}
	}
	return left, err
}

// GeodesicKNN classifies every vertex of a graph with edge lengths by a vote
// among its k nearest labeled vertices, by length of the shortest path, once for
// each k in ks (Belkin & Niyogi 2004, section 6.4). Labeled vertices keep their
// label; vertices that no label reaches get the most frequent one.
//
// It is one run of Dijkstra's algorithm in which every vertex is settled by up
// to max(ks) different labeled vertices: O(k·nnz·log n).
func GeodesicKNN(lengths *sparse.CSR, y *data.Labels, ks []int) ([][]int32, error) {
	if err := models.CheckLabels(y, lengths.Rows); err != nil {
		return nil, err
	}
	found, err := shortest(context.Background(), lengths, y.Labeled(), slices.Max(ks), func(int) {})
	if err != nil {
		return nil, err
	}
	fallback := models.Majority(y)
	out := make([][]int32, len(ks))
	for i := range out {
		out[i] = slices.Clone(y.Index)
	}
	// The paths are found once for the largest k.
	var classes []int32
	for i := range lengths.Rows {
		if y.Index[i] != data.Unlabeled {
			continue
		}
		classes = classes[:0]
		from, _ := found.at(i)
		for _, s := range from {
			classes = append(classes, y.Index[s])
		}
		for j, k := range ks {
			out[j][i] = fallback
			if len(classes) > 0 {
				out[j][i] = Vote(classes[:min(k, len(classes))])
			}
		}
	}

	return out, nil
}
