package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
)

// staying returns the points of a model of n points that are not forgotten; nil for all.
func staying(n int, forget []int) ([]int, error) {
	if len(forget) == 0 {
		return nil, nil
	}
	stay := make([]int, 0, max(0, n-len(forget)))
	next := 0
	for k, i := range forget {
		if i < next || i >= n {
			return nil, fmt.Errorf("pipeline: element %d of the points to forget is %d; they must ascend within "+
				"[0, %d)", k, i, n)
		}
		stay = append(stay, data.Range(next, i)...)
		next = i + 1
	}

	stay = append(stay, data.Range(next, n)...)
	if len(stay) == 0 {
		return nil, fmt.Errorf("pipeline: all %d points of the model are to be forgotten", n)
	}
	return stay, nil
}

// selected returns some of the points x, all for nil.
func selected(x data.Points, rows []int) data.Points {
	if rows == nil {
		return x
	}
	return data.Select(x, rows)
}

// AppendIDs returns the ids of the points of a model and of new points, nil if all of them have
// numbers only. Points with ids beside points without are an error, and so is an id that is there
// twice.
func AppendIDs(ids, more *data.IDs, added int) (*data.IDs, error) {
	switch {
	case ids == nil && more != nil:
		return nil, fmt.Errorf("the points of the model have no ids, and the new points have, from %s; fit the "+
			"model with ids, or leave out the ids of the new points", more.From)
	case ids == nil || added == 0:
		return ids, nil
	case more == nil:
		return nil, fmt.Errorf("the points of the model have ids, such as %q, and the new points have none; say "+
			"what they are called with %s", ids.Values[0], param.Name("ids"))
	case more.Len() != added:
		return nil, fmt.Errorf("%s: %d ids for %d new points", more.From, more.Len(), added)
	}
	return ids.Append(more)
}

// name brings the new labels to the classes of the model. Equal names are equal classes; the
// digits of an integer count as its name.
func (u *Updated) name(classes []int64, names []string, growth *Growth) error {
	y := growth.Labels
	if s := growth.Shares; s != nil { // their names are those of labels without a point
		y = &data.Labels{Classes: s.Classes, Names: s.Names}
	}
	switch {
	case y == nil:
		u.names = names
	case names != nil && growth.Shares != nil:
		growth.Shares = recodeShares(growth.Shares, classes, names)
		u.names = growth.Shares.Names
	case names != nil:
		growth.Labels = y.Recode(classes, names)
		u.names = growth.Labels.Names
	case y.Names != nil:
		return fmt.Errorf("the classes of the model are integers, and those of the new labels are "+
			"names, %q among them; name integers, or fit anew", y.Names[0])
	}

	return nil
}

// targets returns the targets of all points. before holds the targets of the model, nil if they
// are not known.
func (u *Updated) targets(before *models.Targets, growth *Growth) (*models.Targets, error) {
	old := u.Old + u.Forgotten
	n := old + u.New
	given := 0
	what := ""
	switch {
	case growth.Labels != nil && growth.Values != nil, growth.Shares != nil && (growth.Labels != nil || growth.Values != nil):
		return nil, errors.New("pipeline: classes, probabilities and values at once")
	case growth.Shares != nil:
		given = growth.Shares.P.RawMatrix().Rows
		what = "rows of probabilities"
	case growth.Labels != nil:
		given = growth.Labels.Len()
		what = "labels"
	case growth.Values != nil:
		given = growth.Values.RawMatrix().Rows
		what = "values"
	}

	// Labels are for the new points alone, or for all points.
	if given != 0 && given != u.New && given != n || growth.Joined && given != n {
		text := fmt.Sprintf("%d for all points", n)
		if u.New > 0 {
			text = fmt.Sprintf("%d for the new points, or %s", u.New, text)
		}
		return nil, fmt.Errorf("there are %d %s; give %s", given, what, text)
	}

	// The first model files did not keep which points were labeled.
	if before == nil && (given != n || growth.Joined) {
		return nil, fmt.Errorf("the model file does not hold which points were labeled, as those of "+
			"before version 0.2: give the labels of all %d points with %s, or fit anew", n, param.Name("y"))
	}

	if before != nil {
		u.Labels = len(before.Labeled)
		if given != 0 && (before.Classes != nil) != (growth.Labels != nil || growth.Shares != nil) {
			return nil, errors.New("the model learned classes and values are given, or the other way round")
		}
	}

	// The points that a label is given for: those listed, or the last ones.
	listed := growth.Listed
	if !growth.Joined {
		listed = data.Range(n-given, n)
	}
	rows := u.stay
	if rows != nil {
		rows = append(slices.Clone(rows), data.Range(old, n)...)
	}
	if before != nil && before.Classes == nil || growth.Values != nil {
		return u.values(before, growth, listed, n-given, rows)
	}
	if t, err := u.soft(before, growth, listed, n-given, rows); t != nil || err != nil {
		return t, err
	}
	return u.classes(before, growth, listed, n-given, rows)
}

// classes is [Updated.targets] for classes. listed are the points that growth names, and first is
// the point of its first label. rows are the points that stay, nil for all.
func (u *Updated) classes(before *models.Targets, growth *Growth, listed []int, first int,
	rows []int) (*models.Targets, error) {
	n := u.Old + u.Forgotten + u.New
	values := make([]int64, n)
	known := make([]bool, n)
	if before != nil {
		for q, i := range before.Labeled {
			values[i] = before.Classes[before.Class(q)]
			known[i] = true
		}
	}

	// A listed point takes its new label, or loses the one it had.
	for _, i := range listed {
		c := growth.Labels.Index[i-first]
		labeled := c != data.Unlabeled
		same := known[i] && labeled && values[i] == growth.Labels.Classes[c]
		u.count(known[i], labeled, same)
		if known[i] = labeled; labeled {
			values[i] = growth.Labels.Classes[c]
		}
	}

	// Classes are numbered anew, as labels may bring new classes or take the last one of a class.
	y := data.NewLabels(values, known)
	if rows != nil {
		kept := make([]int64, len(rows))
		labeled := make([]bool, len(rows))
		for k, i := range rows {
			kept[k] = values[i]
			labeled[k] = known[i]
		}
		y = data.NewLabels(kept, labeled)
	}
	if before != nil {
		u.NewClasses = missing(y.Classes, before.Classes)
	}
	if u.names != nil {
		y.Names = u.named(y.Classes)
		u.NewNames = u.named(u.NewClasses)
	}
	return models.ClassTargets(y)
}

// values is [Updated.targets] for a regression, with the arguments of [Updated.classes].
func (u *Updated) values(before *models.Targets, growth *Growth, listed []int, first int,
	rows []int) (*models.Targets, error) {
	columns := 0
	if before != nil {
		_, columns = before.Y.Dims()
	}
	if y := growth.Values; y != nil {
		_, cols := y.Dims()
		if columns != 0 && cols != columns {
			return nil, fmt.Errorf("%d values a point for a model of %d", cols, columns)
		}
		columns = cols
	}

	// NaN marks a point without a value.
	all := mat.NewDense(u.Old+u.Forgotten+u.New, columns, nil)
	for i := range all.RawMatrix().Rows {
		blankRow(all, i)
	}
	if before != nil {
		for q, i := range before.Labeled {
			copy(all.RawRowView(i), before.Y.RawRowView(q))
		}
	}

	for _, i := range listed {
		row := growth.Values.RawRowView(i - first)
		own := all.RawRowView(i)
		u.count(own[0] == own[0], row[0] == row[0], slices.Equal(own, row))
		copy(own, row)
	}

	if rows != nil {
		kept := mat.NewDense(len(rows), columns, nil)
		for k, i := range rows {
			copy(kept.RawRowView(k), all.RawRowView(i))
		}
		all = kept
	}
	t, err := models.ValueTargets(all)
	if t != nil {
		t.Names = u.names
	}
	return t, err
}

// count counts a label that was given for a point: whether the point had a label before and has one
// now, and whether both are the same.
func (u *Updated) count(before, now, same bool) {
	switch {
	case now && !before:
		u.NewLabels++
	case same:
		u.Equal++
	case now:
		u.Changed++
	case before:
		u.Removed++
	}
}

// named returns the names of classes.
func (u *Updated) named(classes []int64) []string {
	out := make([]string, len(classes))
	for i, c := range classes {
		out[i] = u.names[c]
	}
	return out
}

// missing returns the elements of a that are not in b.
func missing(a, b []int64) []int64 {
	in := map[int64]bool{}
	for _, v := range b {
		in[v] = true
	}
	var out []int64
	for _, v := range a {
		if !in[v] {
			out = append(out, v)
		}
	}
	return out
}
