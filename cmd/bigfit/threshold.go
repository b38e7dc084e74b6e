package main

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/threshold"
	"github.com/bigfit/bigfit/pipeline"
)

// thresholdFlags are --threshold and --threshold-labels of bigfit predict.
type thresholdFlags struct {
	rule, labels string
	settings     *threshold.Settings // nil leaves the model's own decision
}

func (t *thresholdFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&t.rule, "threshold", "", "of two classes, where the second begins: zero, prior, "+
		"prior:SHARE or break-even (default the model's own `rule`)")
	f.StringVar(&t.labels, "threshold-labels", "",
		"`file` with classes of some of the points, by which prior or break-even is decided")
}

// check reads the rule and returns an error if flags contradict each other.
func (t *thresholdFlags) check(o *predictOptions) error {
	if t.rule == "" {
		if t.labels != "" {
			return shell.Usagef("--threshold-labels decides --threshold prior or break-even; " +
				"give one of them")
		}
		return nil
	}
	var err error
	if t.settings, err = threshold.Parse(t.rule); err != nil {
		return shell.Usagef("--threshold: %v", err)
	}

	// zero and a given share do not look at labels, and rejection goes by the probabilities of the
	// decision that the threshold replaces.
	switch {
	case t.labels != "" && (t.settings.Rule == threshold.Zero || t.settings.Share > 0):
		return shell.Usagef("--threshold %s needs no labels; leave --threshold-labels out", t.rule)
	case o.reject > 0:
		return shell.Usagef("--reject goes by the probability of the model's own class; " +
			"leave --threshold out")
	}

	return nil
}

// apply decides the classes of p, if a rule was given.
func (t *thresholdFlags) apply(a *app, m models.Model, p *models.Prediction,
	label shell.LabelOptions) (*threshold.Threshold, error) {
	if t.settings == nil {
		return nil, nil
	}

	if t.labels != "" {
		if label.Unlabeled == nil && slices.Contains(m.Output().Classes, -1) {
			label.Unlabeled = []string{"none"} // as in the labels that the error is measured by
			a.Warn("-1 is a class of the model, so that it marks no unlabeled points in " + t.labels +
				"; give --unlabeled with what does")
		}
		// The labels may be of some points only, and in an order of classes of their own.
		y, err := label.ReadTruth(a.App, t.labels, p.Len())
		if err == nil {
			y, err = pipeline.CompareClasses(y, m.Output(), t.labels)
		}
		if err != nil {
			return nil, err
		}
		t.settings.Labels = y
	}

	return threshold.Decide(m, p, t.settings)
}
