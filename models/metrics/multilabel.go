package metrics

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models/multilabel"
)

// MultiLabelReport measures scores of points with several labels; a label is
// predicted where its score is positive.
type MultiLabelReport struct {
	Points int `json:"points"` // with an entry that is known
	// Labels are the labels of AUC; nil numbers them from 0.
	Labels []int64 `json:"labels,omitempty"`
	// Names are the names of the labels; nil if they are integers.
	Names []string `json:"names,omitempty"`
	// AUC is the area under the ROC curve of each label; see [AUC]. NaN if no
	// point has the label, or all have it.
	AUC []Number `json:"auc"`
	// MeanAUC is the mean of those that are not NaN.
	MeanAUC Number `json:"mean_auc"`
	// RankingLoss is the mean, over the points that have labels and lack labels,
	// of the share of pairs of one of each in which the one it lacks has the higher
	// score; equal scores count one half (Schapire & Singer 2000).
	RankingLoss Number `json:"ranking_loss"`
	// HammingLoss is the share of wrong entries.
	HammingLoss Number `json:"hamming_loss"`
	// MicroF1 is 2·tp/(2·tp + fp + fn) of all entries, and MacroF1 the mean of it
	// over the labels. It is 0 where there is nothing to find and nothing found.
	MicroF1 Number `json:"micro_f1"`
	MacroF1 Number `json:"macro_f1"`
}

// NewMultiLabelReport measures scores, N×n, against labels as [multilabel.LabelTargets] takes
// them; entries that are NaN in truth are left out. Different shapes, no known
// entry and NaN among the scores are errors. It costs O(Nn(n + log N)).
func NewMultiLabelReport(truth, scores *mat.Dense) (*MultiLabelReport, error) {
	rows, n := truth.Dims()
	if r, c := scores.Dims(); r != rows || c != n {
		return nil, fmt.Errorf("metrics: labels of %d×%d for scores of %d×%d", rows, n, r, c)
	}
	y, err := multilabel.Signs(truth)
	if err != nil {
		return nil, err
	}
	out := &MultiLabelReport{AUC: make([]Number, n)}

	// Each label is measured by itself and joins the sums over all.
	var all tally
	var macro, areas, defined float64
	for j := range n {
		var one tally
		var values []float64
		var positive []bool
		for i := range rows {
			v := y.At(i, j)
			s := scores.At(i, j)
			if math.IsNaN(s) {
				return nil, fmt.Errorf("metrics: score %d of point %d is NaN", j, i)
			}
			if !math.IsNaN(v) {
				one.add(v > 0, s > 0)
				values = append(values, s)
				positive = append(positive, v > 0)
			}
		}

		// A label that no point is known to have, or all have, has no area.
		area := math.NaN()
		if len(values) > 0 {
			if area, err = AUC(values, positive); err != nil {
				return nil, err
			}
		}

		if out.AUC[j] = Number(area); !math.IsNaN(area) {
			areas += area
			defined += 1
		}
		macro += one.f1()
		all.both += one.both
		all.found += one.found
		all.there += one.there
		all.total += one.total
	}

	if all.total == 0 {
		return nil, fmt.Errorf("metrics: no label is known to measure on")
	}

	for i := range rows {
		if slices.ContainsFunc(y.RawRowView(i), func(v float64) bool { return !math.IsNaN(v) }) {
			out.Points++
		}
	}

	// Means go over the labels with an area; the Hamming loss over all known entries.
	out.MeanAUC = Number(areas / defined)
	out.HammingLoss = Number((all.found + all.there - 2*all.both) / all.total)
	out.MicroF1 = Number(all.f1())
	out.MacroF1 = Number(macro / float64(n))
	out.RankingLoss = Number(rankingLoss(y, scores))
	return out, nil
}

// Summary is a line with all but the areas of single labels. Shares are in percent.
func (r *MultiLabelReport) Summary() string {
	return fmt.Sprintf("mean AUC %s %%, ranking loss %s %%, Hamming loss %s %%, micro F1 %s %%, "+
		"macro F1 %s %% on %d points",
		percent(r.MeanAUC), percent(r.RankingLoss), percent(r.HammingLoss), percent(r.MicroF1),
		percent(r.MacroF1), r.Points)
}

// String is the report as text: the summary, and a table with a line a label.
func (r *MultiLabelReport) String() string {
	rows := [][]string{{"label", "AUC"}}
	for j, area := range r.AUC {
		label := strconv.Itoa(j)
		switch {
		case r.Names != nil:
			label = r.Names[j]
		case r.Labels != nil:
			label = strconv.FormatInt(r.Labels[j], 10)
		}
		rows = append(rows, []string{label, percent(area)})
	}
	return r.Summary() + "\n\n" + alignRight(rows)
}

// tally counts entries: predicted and true, predicted, true, all.
type tally struct{ both, found, there, total float64 }

func (t *tally) add(truth, predicted bool) {
	t.total++
	if truth {
		t.there++
	}
	if predicted {
		t.found++
	}
	if truth && predicted {
		t.both++
	}
}

func (t *tally) f1() float64 {
	if t.there+t.found == 0 {
		return 0
	}
	return 2 * t.both / (t.there + t.found)
}

// rankingLoss is NaN if no point both has a label and lacks one.
func rankingLoss(y, scores *mat.Dense) float64 {
	rows, _ := y.Dims()
	var sum, points float64
	for i := range rows {
		labels := y.RawRowView(i)
		s := scores.RawRowView(i)
		var lost, pairs float64
		for a, v := range labels {
			for b, w := range labels {
				if v != 1 || w != -1 {
					continue
				}
				pairs++
				switch {
				case s[a] < s[b]:
					lost++
				case s[a] == s[b]:
					lost += 0.5
				}
			}
		}

		// Points with labels of one sign alone have no pairs.
		if pairs > 0 {
			sum = sum + lost/pairs
			points += 1
		}
	}

	return sum / points
}
