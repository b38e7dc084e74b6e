package labeling

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/cluster"
)

// mostClusters bounds the clusters of the rule typical. Hacohen, Dekel and Weinshall stop at 500; here a
// cluster costs k-means 2np operations an iteration, and later points come from the same clusters again.
const mostClusters = 200

// Runs and steps of k-means. Clusters only spread the points that are chosen.
const (
	clusterRuns  = 3
	clusterSteps = 50
)

// fieldDelta is δ of the embedding, the default of active.Settings.
const fieldDelta = 0.01

// clusters puts the points into count clusters by the rows of the eigenvectors, for the rule typical. Points
// whose rows are zero, in components too small for a vector, have the cluster −1.
func clusters(ctx context.Context, pairs *lanczos.Result, count int, seed uint64) ([]int32, error) {
	n, k := pairs.Vectors.Dims()
	out := make([]int32, n)
	var at []int
	for i := range n {
		out[i] = -1
		if floats.Norm(pairs.Vectors.RawRowView(i), 2) > 0 {
			at = append(at, i)
		}
	}
	count = min(count, mostClusters, len(at))
	k = min(k, max(count, 2))
	if len(at) == 0 {
		return out, nil
	}

	rows := mat.NewDense(len(at), k, nil)
	for q, i := range at {
		row := rows.RawRowView(q)
		copy(row, pairs.Vectors.RawRowView(i)[:k])

		// With the weights 1/√(λ + δ) distances are spreads of differences in the field of package
		// active. Directions alone count: lengths fall with the degree of a point.
		for j := range row {
			row[j] /= math.Sqrt(pairs.Values[j] + fieldDelta)
		}
		if norm := floats.Norm(row, 2); norm > 0 {
			floats.Scale(1/norm, row)
		}
	}
	labels, err := cluster.RowClusters(ctx, rows, count, clusterRuns, clusterSteps, seed)
	if err != nil {
		return nil, err
	}
	for q, i := range at {
		out[i] = labels[q]
	}
	return out, nil
}

// typicality returns how typical each point is of its surroundings: one over the mean distance to its
// neighbours (Hacohen, Dekel & Weinshall 2022, equation 1), or its degree where the graph does not hold
// distances.
func typicality(g *models.Graph) []float64 {
	if g.Lists == nil || g.Lists.Ordered {
		return g.Degrees
	}
	return meanNearness(g.Lists)
}

// meanNearness returns one over the mean distance of each point to its neighbours; for points whose
// neighbours are all copies of it, the largest number.
func meanNearness(nb *knn.Neighbors) []float64 {
	out := make([]float64, nb.Len())
	for i := range out {
		_, dist := nb.Row(i)
		sum := 0.0
		for _, d := range dist {
			sum += d
		}
		out[i] = math.MaxFloat64
		if sum > 0 {
			out[i] = float64(len(dist)) / sum
		}
	}
	return out
}

// prepareCold completes a pool for the rules that need no label.
func (c *Candidates) prepareCold(ctx context.Context, pool *active.Pool, s *active.Settings) error {
	pool.Weights = c.Graph.W
	if s.Rule != active.Typical {
		return nil
	}
	var err error
	pool.Typicality = typicality(c.Graph)
	pool.Clusters, err = clusters(ctx, c.Pairs, len(c.Labeled)+s.Count, s.Seed)
	return err
}
