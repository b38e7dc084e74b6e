package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// labelOptions say what an unlabeled point looks like in y.
type labelOptions struct{ unlabeled []string }

func (o *labelOptions) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.unlabeled, "unlabeled", nil, "`values` in y, integers or text, that mark unlabeled points, or none (default -1)")
}

// read reads the labels of n points, 0 if that is not known, and says how they were
// understood. Without a path they are those in the file of the points.
func (o *labelOptions) read(a *app, path string, n int) (*data.Labels, error) {
	opt, err := a.labelOptions(o.unlabeled, n)
	if err != nil {
		return nil, err
	}
	var y *data.Labels
	if path == "" { // where the points are
		y, err = a.points.table.Labels(*opt)
	} else {
		y, err = data.ReadLabels(path, *opt)
	}
	if err == nil {
		a.notes(y.Read.Notes...)
	}
	return y, err
}

// readTruth reads labels to compare answers with.
func (o *labelOptions) readTruth(a *app, path string, n int) (*data.Labels, error) {
	y, err := o.read(a, path, n)
	if err == nil {
		a.note("labels: %s", y.Summary())
		a.warn(y.Read.Warnings...)
	}
	return y, err
}

// labelOptions are those of the reader of the labels of n points.
func (a *app) labelOptions(unlabeled []string, n int) (*data.LabelOptions, error) {
	opt := &data.LabelOptions{Limit: int64(a.memory), Points: n}
	switch {
	case slices.Equal(unlabeled, []string{"none"}):
		opt.NoUnlabeled = true
	case slices.Contains(unlabeled, "none"):
		return nil, usagef("--unlabeled is %s; none stands alone", strings.Join(unlabeled, ","))
	case len(unlabeled) > 0:
		opt.Unlabeled = unlabeled
	}
	var err error
	opt.IDs, err = a.points.identify(a)
	return opt, err
}

// values turns positions in classes into class values, or names.
func values[T any](index []int32, classes []T) []T {
	out := make([]T, len(index))
	for i, c := range index {
		out[i] = classes[c]
	}
	return out
}

// numbersFor reads the truth for a model whose answers are numbers, and the labels
// of its columns; nil of values. n is the number of points.
func (a *app) numbersFor(m models.Model, path string, n int) (*mat.Dense, []int64, error) {
	labels := m.Output().Labels
	if labels == nil {
		y, err := a.readNumbers(path, n, nil)
		return y, nil, err
	}
	y, err := pipeline.ReadMultiLabels(path, labels, "the model", int64(a.memory))
	if err != nil {
		return nil, nil, err
	}
	return y.Y, labels, nil
}
