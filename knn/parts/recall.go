package parts

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/knn"
)

// truthSample is the number of points by which the recall is estimated.
const truthSample = 500

// truth returns the true neighbours of a sample of points, from the folder if they are there.
func (r *Run) truth(ctx context.Context) (*knn.RecallSample, error) {
	s := &knn.RecallSample{N: r.div.N, K: r.s.Graph.K}
	arrays, err := r.folder.Load(truthFile, r.folder.key, &struct{}{})
	if err != nil {
		return nil, err
	}

	if arrays != nil {
		s.Kth = checkpoint.Elements[float64](arrays, "kth")
		for _, v := range checkpoint.Elements[int32](arrays, "rows") {
			s.Rows = append(s.Rows, int(v))
		}
		return s, nil
	}

	r.observed.Begin("true neighbours of a sample")
	s, err = knn.NewRecallSample(ctx, r.rows.x, r.s.Metric, r.s.Graph.K, truthSample, r.s.Seed)
	if err != nil {
		return nil, err
	}
	r.observed.End(fmt.Sprintf("of %d points", len(s.Rows)))

	numbers := make([]int32, len(s.Rows))
	for i, v := range s.Rows {
		numbers[i] = int32(v)
	}
	return s, r.folder.Save(truthFile, r.folder.key, struct{}{},
		archive.Array{Name: "rows", Data: numbers},
		archive.Array{Name: "kth", Data: s.Kth})
}

// recall estimates the recall of the lists after the present round.
func (r *Run) recall(ctx context.Context, s *knn.RecallSample) (out knn.Recall, err error) {
	near, err := tablesOf[uint32](r, r.listsName)
	if err != nil {
		return out, err
	}
	ids := make([]int32, len(s.Rows))
	for i, v := range s.Rows {
		ids[i] = int32(v)
	}

	// Distances are measured again in float64, as in the sample: rounding does not count as a miss.
	_, dist, err := r.exact(ctx, ids, near.gather(ids), near.width)
	if err != nil {
		return out, err
	}

	at := 0
	return s.Estimate(func(int) []float64 {
		at++
		return dist[(at-1)*s.K : at*s.K]
	}), nil
}
