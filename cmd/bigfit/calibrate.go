package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// calibrateFlag is the value of --calibrate: auto, none or a number of folds.
type calibrateFlag struct {
	folds int // 0 with none
	asked bool
	none  bool
}

// flag adds --calibrate.
func (c *calibrateFlag) flag(f *pflag.FlagSet) {
	f.Var(c, "calibrate", "hold out labels in this many `folds`, for probabilities; auto, none")
}

// Set implements pflag.Value.
func (c *calibrateFlag) Set(text string) error {
	// A flag that is given twice starts from nothing, so that its last value counts alone.
	*c = calibrateFlag{asked: text != "auto", none: text == "none"}
	if !c.asked || c.none {
		return nil
	}
	var err error
	if c.folds, err = strconv.Atoi(text); err != nil || c.folds < 2 {
		return fmt.Errorf("%q is neither auto, none nor a number of folds, at least 2", text)
	}
	return nil
}

// String implements pflag.Value.
func (c *calibrateFlag) String() string {
	switch {
	case c.none:
		return "none"
	case c.folds > 0:
		return strconv.Itoa(c.folds)
	}
	return "auto"
}

// Type implements pflag.Value.
func (c *calibrateFlag) Type() string { return "folds" }

// foreseen is the number of folds for [pipeline.Pipeline.Foresee].
func (c *calibrateFlag) foreseen() int {
	switch {
	case c.none:
		return 0
	case c.asked:
		return c.folds
	}
	return -1
}

// apply calibrates a model that l was fitted to by in.
func (c *calibrateFlag) apply(ctx context.Context, p *pipeline.Pipeline, l models.Learner, m models.Model,
	in *fitInput) (models.Model, error) {
	weighed := in.settings.ClassWeights != nil
	// Class weights put all labels into the graph, so that a label that is held out would still
	// decide.
	switch {
	case c.asked && !c.none && weighed:
		return nil, fmt.Errorf("--class-weights makes a graph of all labels, so that none can be " +
			"held out; leave --calibrate out")
	case c.none || weighed:
		return m, nil
	case c.asked:
		return p.Calibrate(ctx, l, m, &in.Input, c.folds)
	}
	// Without the flag folds are used only where a model costs little to fit again.
	return p.CalibrateByDefault(ctx, l, m, &in.Input)
}
