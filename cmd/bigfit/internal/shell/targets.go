package shell

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
)

// TargetOptions say what a model is to learn.
type TargetOptions struct {
	Y          string
	Labels     int // number to use; 0 for all
	Regression bool
	Asked      bool // --regression was given
	Drawn      bool // fits draw from the labels: see pipeline.Targets
	Label      LabelOptions
	Soft       SoftOptions
}

// LearnsValues tells whether a learner can learn values.
func LearnsValues(l models.Learner) bool { return l.Info().Learns.Has(models.LearnsValues) }

// ReadTargets reads the labels or values and draws those that are used. What can be
// known to be wrong before anything is computed is refused.
func (a *App) ReadTargets(o *TargetOptions, l models.Learner, n int) (*pipeline.Targets, error) {
	if err := o.Soft.Check(); err != nil {
		return nil, err
	}
	t, err := a.readSoft(o, l, n)
	if t == nil && err == nil {
		t, err = a.readHard(o, l, n)
	}
	if err != nil {
		return nil, err
	}
	if t, err = a.weigh(o, t); err != nil {
		return nil, err
	}
	return t, refuseSoft(l, t.Targets)
}

// readHard reads labels of one class or several, or values.
func (a *App) readHard(o *TargetOptions, l models.Learner, n int) (*pipeline.Targets, error) {
	info := l.Info()
	learns := info.Learns
	regression := o.Regression
	// A file that holds no numbers is left to the reader of labels, which words the fault.
	how := &data.LabelFile{}
	// A learner of one value a point has several where they are asked for.
	several := o.Asked && regression || learns == models.LearnsValues || learns.Has(models.LearnsLabels)
	numbers, notNumbers := a.ReadNumbers(o.Y, n, several, how)
	// A flag decides; then what the learner can learn; then the numbers.
	switch {
	case o.Asked && regression && !LearnsValues(l):
		return nil, Usagef("%s is no regression; %s are", info.Name, LearnersThat(LearnsValues))
	case o.Asked && !regression && learns == models.LearnsValues:
		return nil, Usagef("%s is a regression; leave --regression=false out", info.Name)
	case !o.Asked && learns == models.LearnsValues:
		regression = true
	case !o.Asked && notNumbers == nil && pipeline.HoldsFractions(numbers):
		if regression = LearnsValues(l); !regression && !learns.Has(models.LearnsInside) {
			if _, err := o.Label.Read(a, o.Y, n); err != nil {
				return nil, fmt.Errorf("%w; %s learns classes alone, and %s values too", err, info.Name,
					LearnersThat(LearnsValues))
			}
		}
	}

	switch {
	case regression && notNumbers != nil:
		return nil, notNumbers
	case regression:
		a.Notes(how.Notes...)
		a.Warn(how.Warnings...)
		t, err := a.regression(o, numbers, how.Columns, learns)
		if err == nil && info.ShrinksToZero {
			a.warnFarFromZero(l, t)
		}
		return t, err
	case learns.Has(models.LearnsLabels) && o.Y == "":
		return nil, Usagef("--label holds one label a point; %s learns several: give them with -y", info.Name)
	case learns.Has(models.LearnsLabels):
		return a.readLabelBlock(o, n)
	}

	y, err := o.Label.Read(a, o.Y, n)
	if err != nil {
		return nil, err
	}

	if learns.Has(models.LearnsInside) {
		t, err := pipeline.InsideTargets(y, o.Labels, a.Seed)
		if err != nil {
			return nil, fmt.Errorf("%s: no point is labeled; the labeled ones are those to be inside",
				o.From(a))
		}
		return t, nil
	}

	// One column a class: many classes of many labels may not fit, and the classes are known only
	// now.
	if need := targetBytes(y, o.Labels); need > int64(a.Memory) {
		return nil, &npy.LimitError{What: o.From(a) + ": a number for each labeled point and class",
			Need: need, Limit: int64(a.Memory)}
	}
	// What was read helps to see why there is one class only.
	t, err := pipeline.ClassTargets(y, o.Labels, a.Seed)
	if t.Used() != nil {
		if err := pipeline.CheckTwoClasses(t.Used(), o.From(a)); err != nil {
			a.SayLabels(t, nil)
			return nil, err
		}
	}

	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.From(a), err)
	}
	return t, nil
}

// From names the file of the labels, or the column of the points.
func (o *TargetOptions) From(a *App) string { return cmp.Or(o.Y, "--label "+a.Points.Label) }

// targetBytes is the memory of the targets of classes: see [models.Targets].
func targetBytes(y *data.Labels, labels int) int64 {
	l := len(y.Labeled())
	if labels > 0 {
		l = min(l, labels)
	}
	return 8 * int64(l) * int64(len(y.Classes))
}

// ReadNumbers reads the values of n points, without a path those in the file of the points. A table may have several values
// a point where that is said.
func (a *App) ReadNumbers(path string, n int, several bool, how *data.LabelFile) (*mat.Dense, error) {
	if path == "" {
		return a.Points.table.Values()
	}
	opt, err := a.valueOptions(path, n, how)
	if err != nil {
		return nil, err
	}
	opt.Several = several
	return data.ReadValues(path, opt)
}

// valueOptions returns the options for reading the values of n points in the file path.
func (a *App) valueOptions(path string, n int, how *data.LabelFile) (data.ReadOptions, error) {
	a.Reads(pipeline.HashLabels, path)
	ids, err := a.Points.joining(a, path)
	return data.ReadOptions{Limit: a.Left(), Points: n, IDs: ids, Coordinates: a.Points.coordinates(), File: how}, err
}

// regression makes targets of values. The columns of several values a point have names, or nil.
func (a *App) regression(o *TargetOptions, values *mat.Dense, names []string,
	learns models.Learns) (*pipeline.Targets, error) {
	if o.Label.Unlabeled != nil {
		return nil, Usagef("--unlabeled is for classes; in a regression NaN marks points without a value")
	}
	// Models of several outputs take rows with some values missing.
	code := models.ValueTargets
	if learns.Has(models.LearnsLabels) {
		code = multilabel.PartialTargets
	}
	t, err := pipeline.BlockTargets(values, code, o.Labels, a.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.From(a), err)
	}

	t.Names = names
	a.Note("values: those of %d of %d points; the others are NaN or not listed", len(t.Labeled), t.Len)
	return t, nil
}

// warnFarFromZero warns of values that lie far from 0 where l draws its answers there.
func (a *App) warnFarFromZero(l models.Learner, t *pipeline.Targets) {
	column, mean, deviation, ok := t.FarFromZero()
	remedy := "subtract the mean from the values"
	if slices.ContainsFunc(l.Params(), func(p models.Param) bool { return p.Name == "intercept" }) {
		ok = ok && !a.Given["intercept"]
		remedy = fmt.Sprintf("give %s, or %s", param.Name("intercept"), remedy)
	}
	if !ok {
		return
	}
	of := ""
	if t.Names != nil {
		of = " of column " + t.Names[column]
	} else if _, m := t.Y.Dims(); m > 1 {
		of = fmt.Sprintf(" of column %d", column)
	}
	a.Warn(fmt.Sprintf("the values%s lie around %.6g, with a standard deviation of %.3g, and %s draws its answers towards 0: %s",
		of, mean, deviation, l.Info().Name, remedy))
}

// readLabelBlock reads labels where a point may have several.
func (a *App) readLabelBlock(o *TargetOptions, n int) (*pipeline.Targets, error) {
	if o.Label.Unlabeled != nil {
		return nil, Usagef("--unlabeled is for classes; of several labels a point NaN marks what is not known")
	}
	a.Reads(pipeline.HashLabels, o.Y)
	y, err := a.readLabelSets(o.Y, n, nil)
	if err != nil {
		return nil, err
	}

	// Numbers that are no 0, 1 or −1 look like the values of a regression.
	t, err := pipeline.BlockTargets(y.Y, func(block *mat.Dense) (*models.Targets, error) {
		t, err := multilabel.LabelTargets(block, y.Values)
		if err != nil && !y.Listed {
			err = fmt.Errorf("%w; if it holds values of a regression, give --regression", err)
		}
		return t, err
	}, o.Labels, a.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.From(a), err)
	}
	t.Names = y.Names
	return t, nil
}

// SayLabels says how labels were understood, and what may be wrong with them.
func (a *App) SayLabels(t *pipeline.Targets, x data.Points) {
	if s := t.Summary(); s != nil {
		a.Note("labels: %s", s)
	}
	a.Warn(t.Warnings()...)
	a.SayColumns(t, x)
}

// SayColumns warns of columns of the points that may be the labels. It looks at points that were read, and not at those
// of a model.
func (a *App) SayColumns(t *pipeline.Targets, x data.Points) {
	if x != nil && a.Points.table != nil {
		a.Warn(a.Points.table.Suspects(x, t.Used())...)
	}
}
