package papers

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
)

// allLabelsFolds is the number of folds of [allLabels].
const allLabelsFolds = 5

// allLabelsNote says what the rows of [allLabels] are.
const allLabelsNote = "all labels: SVM (n) and RLS (n) of the paper, which know the label of every point, by fivefold " +
	"cross-validation over all points with the width of the grid that errs least there; the paper does not say how it " +
	"measured them; ± is the deviation between folds"

// allLabels returns the records of SVM and RLS that know all labels but those of a fold, the ceiling of a set.
func allLabels(ctx context.Context, x data.Points, truth *data.Labels, o Options,
	s *pointCloudSet) ([]results.Record, error) {
	t, err := models.ClassTargets(truth)
	if err != nil {
		return nil, err
	}
	folds, err := t.Folds(allLabelsFolds, o.Seed)
	if err != nil {
		return nil, err
	}
	sigma, err := kernel.Width(x, kernel.Mean, o.Seed)
	if err != nil {
		return nil, err
	}

	reg := regularizer.Regularizer{GammaA: pointCloudGrid.norms[0].GammaA}
	var best [2][]float64 // errors in the folds, of SVM and RLS
	var widths [2]float64
	for _, factor := range pointCloudGrid.widths {
		gram, err := kernel.Gram(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: factor * sigma}, o.Limit)
		if err != nil {
			return nil, err
		}
		p, err := newProblem(ctx, gram, nil)
		if err != nil {
			return nil, err
		}
		w, err := p.Warp(ctx, reg, data.Range(0, truth.Len()))
		if err != nil {
			return nil, err
		}

		for j, m := range machines[:2] {
			var errs []float64
			for _, held := range folds {
				kept := t.Except(held)
				settings := m.settings(reg)
				h, err := w.HoldOut(ctx, kept, held)
				if err != nil {
					return nil, err
				}
				f, err := h.Fit(ctx, t.Keep(kept), &settings)
				if err != nil {
					return nil, fmt.Errorf("all labels, %s, σ = %.3g: %w", m.name, factor*sigma, err)
				}
				errs = append(errs, wrong(f, truth.Select(held), nil))
			}
			mean, _ := results.MeanStd(errs)
			if old, _ := results.MeanStd(best[j]); best[j] == nil || mean < old {
				best[j] = errs
				widths[j] = factor * sigma
			}
		}
	}

	var out []results.Record
	for j, m := range machines[:2] {
		r := MachineRecord(s.name+", all labels", m.name, best[j], 0, fmt.Sprintf("σ = %.3g", widths[j]))
		r[2].Published = s.all[m.name] // of coil20 no error at all
		out = append(out, r)
	}
	return out, nil
}
