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

// final is a source of lists of K neighbours alone, without distances: K words for each point.
func (r *Run) final(words []uint32, ids []int32) error {
	t, err := tablesOf[uint32](r, r.listsName)
	if err != nil {
		return err
	}
	k := r.s.Graph.K
	for at, i := range ids {
		copy(words[at*k:][:k], t.row(i))
	}
	return nil
}

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

// recall estimates the recall of lists of the given width.
func (r *Run) recall(ctx context.Context, s *knn.RecallSample, from lists, width int) (out knn.Recall, err error) {
	ids := make([]int32, len(s.Rows))
	for i, v := range s.Rows {
		ids[i] = int32(v)
	}

	words := make([]uint32, len(ids)*2*r.s.width())
	if width == r.s.Graph.K {
		words = words[:len(ids)*width]
	}
	if err := from(words, ids); err != nil {
		return out, err
	}

	// Distances are measured again in float64, as in the sample: rounding does not count as a miss.
	_, dist, err := r.exact(ctx, ids, words, width)
	if err != nil {
		return out, err
	}

	at := 0
	return s.Estimate(func(int) []float64 {
		at++
		return dist[(at-1)*s.K : at*s.K]
	}), nil
}
