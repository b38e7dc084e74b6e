package figures

import (
	"context"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/stage"
)

// heldOutList is the number of neighbours in the list of each test point. Where enough of
// them are labeled, the baseline needs no search among the labeled points.
const heldOutList = 64

// heldOutDraws bounds the number of draws of Figure 6, because each draw fits an eigenmap to
// all points.
const heldOutDraws = 5

// heldOutVoters are the numbers of neighbours that vote in the baseline. The table shows the
// best of them on the test points.
var heldOutVoters = []int{1, 3, 5}

// heldOut adds the records of Figure 6 on the test points; add adds the error on the
// unlabeled points. The classes that the eigenmap predicts for all training points are the
// labels of a 3-NN classifier of the test points.
func (s *Subsets) heldOut(ctx context.Context, t *results.Table, e *papers.Experiment, o *papers.Outcome,
	obs stage.Observer) error {
	obs.Begin("test points")
	// The neighbours of the test points do not depend on the labels: they are searched once.
	ix, err := knn.NewBrute(e.X, &knn.Settings{Metric: e.Metric,
		OnProgress: func(done, total int) { obs.Update(float64(done), float64(total), "") }})
	if err != nil {
		return err
	}
	n, _ := e.X.Dims()
	nb, err := ix.Query(ctx, s.Test, min(heldOutList, n))
	if err != nil {
		return err
	}

	for _, row := range e.Rows {
		var answers []float64
		baseline := make([][]float64, len(heldOutVoters))
		for i := range min(e.Splits, heldOutDraws) {
			y, err := e.Truth.Draw(row.Labels, e.Seed+uint64(i))
			if err != nil {
				return err
			}
			m, err := eigenmap.Fit(ctx, o.Eigs, o.Graph.Components, y, &row.Cells[0].Settings)
			if err != nil {
				return fmt.Errorf("%d labels: %w", row.Labels, err)
			}
			labels := m.Transduce(o.Eigs, o.Graph.Components, y)
			answers = append(answers, 100*metrics.ErrorRate(votes(nb, labels, 3), s.TestTruth, nil))
			given, err := s.labeledNeighbors(ctx, e, nb, y)
			if err != nil {
				return err
			}

			for j, k := range heldOutVoters {
				voted := make([]int32, len(given))
				for p, classes := range given {
					voted[p] = nearest.Vote(classes[:min(k, len(classes))])
				}
				baseline[j] = append(baseline[j], 100*metrics.ErrorRate(voted, s.TestTruth, nil))
			}
		}

		// The paper chooses k by the test labels, which favours the baseline.
		best := results.Number(math.Inf(1))
		for _, errs := range baseline {
			if v := results.Mean(errs); v.Number < best.Number {
				best = v
			}
		}

		put := func(curve string, v results.Value) {
			t.Add(results.Text(heldOutFigure), results.Integer(n), results.Integer(row.Labels),
				results.Text(curve), v)
		}
		put("3-NN of its answers, test points", results.Mean(answers))
		put("best k-NN, test points", best)
	}

	held, _ := s.Test.Dims()
	obs.End(fmt.Sprintf("%d points held out", held))
	return nil
}

// votes returns the class of every point by a vote of its first k neighbours.
func votes(nb *knn.Neighbors, labels []int32, k int) []int32 {
	out := make([]int32, nb.Len())
	par.For(len(out), 1024, func(lo, hi int) {
		classes := make([]int32, k)
		for i := lo; i < hi; i++ {
			index, _ := nb.Row(i)
			for p := range classes {
				classes[p] = labels[index[p]]
			}
			out[i] = nearest.Vote(classes)
		}
	})

	return out
}

// labeledNeighbors returns the classes of the nearest labeled points of every test point,
// nearest first. It takes them from the lists nb where enough neighbours are labeled, and
// searches among the labeled points for the other test points.
func (s *Subsets) labeledNeighbors(ctx context.Context, e *papers.Experiment, nb *knn.Neighbors,
	y *data.Labels) ([][]int32, error) {
	labeled := y.Labeled()
	most := min(heldOutVoters[len(heldOutVoters)-1], len(labeled))
	out := make([][]int32, nb.Len())
	var rest []int
	for i := range out {
		index, _ := nb.Row(i)
		for p := 0; p < len(index) && len(out[i]) < most; p++ {
			if c := y.Index[index[p]]; c != data.Unlabeled {
				out[i] = append(out[i], c)
			}
		}
		if len(out[i]) < most {
			rest = append(rest, i)
		}
	}

	if len(rest) == 0 {
		return out, nil
	}
	// The lists were too short for some test points. They are few unless labels are few, and then
	// so are the points searched.
	ix, err := knn.NewBrute(data.Select(e.X, labeled), &knn.Settings{Metric: e.Metric})
	if err != nil {
		return nil, err
	}
	found, err := ix.Query(ctx, data.Select(s.Test, rest), most)
	if err != nil {
		return nil, err
	}

	// What the list gave is thrown away: it is the beginning of the same neighbours.
	for j, i := range rest {
		index, _ := found.Row(j)
		out[i] = out[i][:0]
		for _, at := range index {
			out[i] = append(out[i], y.Index[labeled[at]])
		}
	}

	return out, nil
}
