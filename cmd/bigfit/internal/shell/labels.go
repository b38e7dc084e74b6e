package shell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// LabelOptions say what an unlabeled point looks like in y.
type LabelOptions struct{ Unlabeled []string }

// Flags adds the flag.
func (o *LabelOptions) Flags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.Unlabeled, "unlabeled", nil,
		"`values` in y, integers or text, that mark unlabeled points, or none (default -1)")
}

// Read reads the labels of n points, 0 if that is not known, and says how they were
// understood. Without a path they are those in the file of the points.
func (o *LabelOptions) Read(a *App, path string, n int) (*data.Labels, error) {
	opt, err := a.labelOptions(path, o.Unlabeled, n)
	if err != nil {
		return nil, err
	}
	var y *data.Labels
	a.Reads(pipeline.HashLabels, path)
	if path == "" { // where the points are
		y, err = a.Points.table.Labels(*opt)
	} else {
		y, err = data.ReadLabels(path, *opt)
	}

	// Notes tell how ambiguous text was understood, before any work begins.
	if err == nil {
		a.Notes(y.Read.Notes...)
	}
	return y, err
}

// ReadTruth reads labels to compare answers with, or to be judged. Of labels of several annotators it returns their
// consensus without a graph.
func (o *LabelOptions) ReadTruth(a *App, path string, n int) (*data.Labels, error) {
	if path == "" || !data.HasAnnotators(path, a.Left()) {
		return o.ReadSaid(a, path, n)
	}
	answers, err := o.ReadCrowd(a, path, n)
	if err != nil {
		return nil, err
	}
	y, err := pipeline.CrowdLabels(answers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	a.Note("labels: the most probable class of each point by the consensus of the annotators: %s", y.Summary())
	return y, nil
}

// ReadSaid reads a label a point and says how many there are.
func (o *LabelOptions) ReadSaid(a *App, path string, n int) (*data.Labels, error) {
	y, err := o.Read(a, path, n)
	if err == nil {
		a.Note("labels: %s", y.Summary())
		a.Warn(y.Read.Warnings...)
	}
	return y, err
}

// labelOptions returns the options for reading the labels of n points in the file path.
func (a *App) labelOptions(path string, unlabeled []string, n int) (*data.LabelOptions, error) {
	opt := &data.LabelOptions{Limit: a.Left(), Points: n, Coordinates: a.Points.coordinates()}
	// "none" turns the default mark off, so it cannot be one mark among others.
	switch {
	case slices.Equal(unlabeled, []string{"none"}):
		opt.NoUnlabeled = true
	case slices.Contains(unlabeled, "none"):
		return nil, Usagef("--unlabeled is %s; none stands alone", strings.Join(unlabeled, ","))
	case len(unlabeled) > 0:
		opt.Unlabeled = unlabeled
	}

	var err error
	opt.IDs, err = a.Points.joining(a, path)
	return opt, err
}

// Values turns positions in classes into class values, or names.
func Values[T any](index []int32, classes []T) []T {
	out := make([]T, len(index))
	for i, c := range index {
		out[i] = classes[c]
	}
	return out
}

// NumbersFor reads the truth for a model that answers with numbers. It also returns the labels
// of the columns, nil if the numbers are values. n is the number of points.
func (a *App) NumbersFor(m models.Model, path string, n int) (*mat.Dense, []int64, error) {
	o := m.Output()
	if o.Labels == nil {
		how := &data.LabelFile{}
		y, err := a.ValuesFor(m, path, n, how)
		a.Notes(how.Notes...)
		a.Warn(how.Warnings...)
		return y, nil, err
	}
	// Columns are matched by the labels of the model: a file may lack some of them.
	order := &pipeline.LabelOrder{Owner: "the model"}
	for c := range o.Labels {
		order.Labels = append(order.Labels, data.ClassName(o.Labels, o.Names, int32(c)))
	}
	y, err := a.readLabelSets(path, n, order)
	if err != nil {
		return nil, nil, err
	}
	return y.Y, o.Labels, nil
}

// ValuesFor reads values of points for a model. Columns with names are matched by those of the model.
func (a *App) ValuesFor(m models.Model, path string, n int, how *data.LabelFile) (*mat.Dense, error) {
	o := m.Output()
	if path == "" || o.Columns == 1 {
		return a.ReadNumbers(path, n, false, how)
	}
	opt, err := a.valueOptions(path, n, how)
	if err != nil {
		return nil, err
	}
	var order *pipeline.LabelOrder
	if o.Names != nil {
		order = &pipeline.LabelOrder{Labels: o.Names, Owner: "the model"}
	}
	y, names, err := pipeline.ReadValues(path, opt, order)
	if err != nil {
		return nil, err
	}
	if order == nil && names != nil {
		how.Warnings = append(how.Warnings, fmt.Sprintf("the values of the model have no names: the columns of %s are taken as they come, %s",
			path, pipeline.ListClasses(nil, names)))
	}
	return y, nil
}

// readLabelSets reads labels of n points that may have several, and says how they were understood.
func (a *App) readLabelSets(path string, n int, order *pipeline.LabelOrder) (*data.MultiLabels, error) {
	ids, err := a.Points.joining(a, path)
	if err != nil {
		return nil, err
	}
	how := &data.LabelFile{}
	y, err := pipeline.ReadMultiLabels(path, data.ReadOptions{Limit: a.Left(), Points: n, IDs: ids,
		Coordinates: a.Points.coordinates(), File: how}, order)
	if err != nil {
		return nil, err
	}
	a.Notes(how.Notes...)
	a.Warn(how.Warnings...)
	return y, nil
}
