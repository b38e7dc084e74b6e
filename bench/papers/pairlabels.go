package papers

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/stage"
)

// pairCounts are the numbers of labels of [DigitPairLabels].
var pairCounts = []int{2, 4, 8, 16, 32, 64}

// pairCurves are the machines of [DigitPairLabels], with the Laplacian of the paper.
var pairCurves = []pairMachine{{machine: machines[0]}, {machine: machines[1]},
	{machine: machines[2], laplacian: section5[0]}, {machine: machines[3], laplacian: section5[0]}}

// DigitPairLabels repeats Figure 5 of Belkin, Niyogi & Sindhwani (2006): the errors of
// [DigitPairs] as a curve over the number of labels of a draw, means over the 45 pairs of
// digits.
func DigitPairLabels(ctx context.Context, o Options, obs stage.Observer) (*results.Table, error) {
	d, err := readPairs(ctx, o, obs)
	if err != nil {
		return nil, err
	}
	obs.Begin("pairs")
	t := countsTable("error at break-even", "%", false,
		"the paper draws these errors (Figure 5), prints none and does not say which numbers of "+
			"labels it has; half of the labels are of each digit; kernel, weights and graph are "+
			"those of usps, with the normalized Laplacian",
		"± is the standard deviation over the 45 pairs of digits of means over 10 draws")
	for i, labels := range pairCounts {
		pairs, err := d.run(ctx, o, labels, pairCurves, &partObserver{obs, i, len(pairCounts)})
		if err != nil {
			return nil, err
		}
		// The deviation is over pairs of digits, so the draws of a pair are averaged first.
		for j, m := range pairCurves {
			for part, name := range []string{"U", "T"} {
				var means []float64
				for _, p := range pairs {
					mean, _ := results.MeanStd(p.errors[part][j])
					means = append(means, mean)
				}
				addCount(t, "", labels, m.name+" ("+name+")", means)
			}
		}
	}

	obs.End(fmt.Sprintf("%d numbers of labels, %d draws", len(pairCounts), pairsDraws))
	return t, nil
}

// partObserver turns the progress of one part into the progress of a stage of several
// parts of equal length. at counts the parts that are finished.
type partObserver struct {
	stage.Observer
	at, parts int
}

// Update reports the progress of the whole stage.
func (p *partObserver) Update(done, total float64, note string) {
	p.Observer.Update(float64(p.at)*total+done, float64(p.parts)*total, note)
}

// countsTable returns a table, without records, of a measure over the number of labels:
// curves in panels, on unlabeled points (U) and on test points (T). more says that a larger
// measure is better.
func countsTable(measure, unit string, more bool, notes ...string) *results.Table {
	return &results.Table{
		Columns: []results.Column{
			{Key: "panel", OmitEmpty: true},
			{Key: "labels", Name: "labels", Kind: results.Integers},
			{Key: "curve"},
			{Key: "mean", Deviation: "std", Name: measure, Unit: unit, Kind: results.Numbers,
				Format: results.Format{Number: "%.2f", Deviation: "%.2f"}, MoreIsBetter: more},
		},
		Views: []results.View{{Rows: "labels", Across: "curve", Show: []string{"mean"}, Corner: "labels"}},
		Figures: []results.Figure{{Title: "By the number of labels", X: "labels", By: "curve", Value: "mean",
			LogX:    true,
			Caption: "U: unlabeled points, T: test points."}},
		Notes: notes,
	}
}

// addCount adds a record of [countsTable].
func addCount(t *results.Table, panel string, labels int, curve string, values []float64) {
	t.Add(results.Text(panel), results.Integer(labels), results.Text(curve), results.Mean(values))
}
