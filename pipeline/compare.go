package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models/metrics"
)

// ValuePrefix stands before the names of values in the answers of a model.
const ValuePrefix = "value_"

// ReadValues reads the values of points and returns them with the names of their columns, nil if they have none. Columns with
// names, those of order or those that answers have, are brought in this order, and a note in opt.File lists those that are left
// out; a nil order keeps that of the file. A file without names that has as many columns is taken in the order, with a
// warning in opt.File.
func ReadValues(path string, opt data.ReadOptions, order *LabelOrder) (*mat.Dense, []string, error) {
	if opt.File == nil {
		opt.File = &data.LabelFile{}
	}
	opt.Several = true
	y, err := data.ReadValues(path, opt)
	names := opt.File.Columns
	if err != nil || order == nil {
		return y, names, err
	}

	n, c := y.Dims()
	if names == nil {
		if c > 1 && c == len(order.Labels) {
			opt.File.Warnings = append(opt.File.Warnings, fmt.Sprintf("%s does not name its columns: they are taken as %s, the order of %s; "+
				"a table with names is matched by them", path, ListClasses(nil, order.Labels), order.Owner))
		}
		return y, order.Labels, nil
	}
	out := mat.NewDense(n, len(order.Labels), nil)
	left := slices.Clone(names)
	for j, name := range order.Labels {
		at := slices.Index(names, name)
		if at < 0 {
			at = slices.Index(names, ValuePrefix+name)
		}
		if at < 0 {
			return nil, nil, fmt.Errorf("%s has no column %s, which is among those of %s; it has %s", path, name, order.Owner,
				ListClasses(nil, names))
		}
		for i := range n {
			out.Set(i, j, y.At(i, at))
		}
		left = slices.DeleteFunc(left, func(other string) bool { return other == names[at] })
	}
	if len(left) > 0 {
		opt.File.Notes = append(opt.File.Notes, fmt.Sprintf("%s: left out, as %s does not have them: %s", path, order.Owner,
			ListClasses(nil, left)))
	}
	return out, order.Labels, nil
}

// CompareValues measures predicted values, n×m, where the true values are not NaN. left is the
// number of true values that are NaN. The paths name the blocks in errors.
func CompareValues(truth, predicted *mat.Dense, truthPath, predictedPath string) (r *metrics.ValueReport,
	left int, err error) {
	n, c := truth.Dims()
	if m, d := predicted.Dims(); n != m || c != d {
		return nil, 0, fmt.Errorf("%s is %d×%d, %s is %d×%d; they must be values of the same points",
			truthPath, n, c, predictedPath, m, d)
	}
	wants, gots := make([][]float64, c), make([][]float64, c)
	for i := range n {
		for j, v := range truth.RawRowView(i) {
			p := predicted.At(i, j)
			if math.IsNaN(v) {
				left++
				continue
			}
			// A prediction that is missing where the truth is known would flatter the error.
			if math.IsNaN(p) {
				return nil, 0, fmt.Errorf("%s: row %d, column %d is NaN, but the true value is "+
					"known; predict all points, or put NaN into %s", predictedPath, i, j, truthPath)
			}
			wants[j] = append(wants[j], v)
			gots[j] = append(gots[j], p)
		}
	}

	want, got := slices.Concat(wants...), slices.Concat(gots...)
	if len(want) == 0 {
		return nil, 0, fmt.Errorf("%s: all values are NaN; at least one is needed to measure on", truthPath)
	}
	if r, err = metrics.NewValueReport(want, got); err != nil || c == 1 {
		return r, left, err
	}
	for j := range wants {
		column := &metrics.ValueReport{R2: metrics.Number(math.NaN())}
		if len(wants[j]) > 0 {
			if column, err = metrics.NewValueReport(wants[j], gots[j]); err != nil {
				return nil, 0, err
			}
		}
		r.AddColumn(column)
	}
	return r, left, nil
}

// KnownScores returns the given rows of scores, read from path, of the n points of the truth
// in truthPath. A NaN there is an error.
func KnownScores(all *mat.Dense, rows []int, n int, path, truthPath string) (*mat.Dense, error) {
	have, c := all.Dims()
	if have != n {
		return nil, fmt.Errorf("%s has %d rows for %d points in %s; it must have one a point", path, have, n,
			truthPath)
	}
	out := mat.NewDense(len(rows), c, nil)
	for p, i := range rows {
		for j, v := range all.RawRowView(i) {
			if math.IsNaN(v) {
				return nil, fmt.Errorf("%s: row %d, column %d is NaN, but the point has a true "+
					"label; score all points, or mark it as unlabeled in %s", path, i, j, truthPath)
			}
		}
		out.SetRow(p, all.RawRowView(i))
	}

	return out, nil
}

// ClassesByName returns the classes that texts name: positions in names, or integers if names
// is nil. A class that appears twice is an error. noun is the word for a class in errors,
// "class" or "label".
func ClassesByName(texts, names []string, noun string) ([]int64, error) {
	var out []int64
	for _, text := range texts {
		v, err := strconv.ParseInt(text, 10, 64)
		switch {
		case names != nil:
			if v = int64(slices.Index(names, text)); v < 0 {
				return nil, fmt.Errorf("%q is no %s; there are %s", text, noun,
					strings.Join(names[:min(20, len(names))], ", "))
			}
		case err != nil:
			return nil, fmt.Errorf("%q is no integer, as the name of a %s is here", text, noun)
		}
		if slices.Contains(out, v) {
			return nil, fmt.Errorf("the %s %s is there twice; each must be another one", noun, text)
		}
		out = append(out, v)
	}

	return out, nil
}

// SomeClasses writes the first of some classes, by names unless they are nil.
func SomeClasses(classes []int64, names []string) string {
	if names == nil {
		return ListClasses(classes, nil)
	}
	var some []string
	for _, c := range classes {
		some = append(some, data.ClassName(nil, names, int32(c)))
	}
	return ListClasses(classes, some)
}
