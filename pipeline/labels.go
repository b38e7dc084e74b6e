package pipeline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/param"
)

// Summary counts the labels and, if some are held back, the labels in use. It returns nil for
// targets that are no classes.
func (t *Targets) Summary() *data.LabelSummary {
	if t.truth == nil {
		return nil
	}
	s := t.truth.Summary()
	if t.HeldBack() {
		used := t.used.Summary()
		s.Used = &used
	}
	return &s
}

// Warnings names likely mistakes in the labels: see [data.Labels.Warnings].
func (t *Targets) Warnings() []string {
	if t.truth == nil {
		return nil
	}
	return t.truth.Warnings(t.HeldBack() || t.Drawn)
}

// CheckTwoClasses returns an error unless at least two classes of y, read from path,
// have a label.
func CheckTwoClasses(y *data.Labels, path string) error {
	s := y.Summary()
	if s.Classes > 1 {
		return nil
	}

	text := fmt.Sprintf("%s: no point is labeled; at least two classes must have a label", path)
	if s.Classes == 1 {
		text = fmt.Sprintf("%s: all labels used, %d, are of class %s; at least two classes must have a label",
			path, s.Labeled, y.Name(models.Majority(y)))
	}
	if y.Read != nil && !y.Read.Given() && slices.Contains(s.Unlabeled, "-1") {
		text += fmt.Sprintf(". -1 marks unlabeled points; if it is a class here, give %s none",
			param.Name("unlabeled"))
	}
	return errors.New(text)
}

// CompareClasses returns the classes of truth as positions in o.Classes, for answers of a model
// with the output o. Classes that the model does not know get positions behind. It is an error
// if classes have names and the model knows none of them.
func CompareClasses(truth *data.Labels, o models.Output, path string) (*data.Labels, error) {
	out := truth.Recode(o.Classes, o.Names)
	if out.Names == nil {
		return out, nil
	}

	for _, c := range out.Index {
		if c != data.Unlabeled && int(c) < len(o.Classes) {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%s has the classes %s, of which the model knows none; its classes are %s",
		path, ListClasses(truth.Classes, truth.Names), ListClasses(o.Classes, o.Names))
}

// ListClasses writes the first of several classes.
func ListClasses(classes []int64, names []string) string {
	const most = 20
	var list []string
	count := max(len(classes), len(names))
	for c := range min(most, count) {
		list = append(list, data.ClassName(classes, names, int32(c)))
	}
	if count > most {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

// A LabelOrder is an order of labels, by their names or integers as text, and says where it comes from.
type LabelOrder struct {
	Labels []string
	Owner  string
}

// ReadMultiLabels reads the labels of points that may have several. If the file says which labels its columns are of,
// they are brought in the given order; nil keeps the order of the file. A label of the file that is missing in
// order is an error.
func ReadMultiLabels(path string, opt data.ReadOptions, order *LabelOrder) (*data.MultiLabels, error) {
	y, err := data.ReadMultiLabels(path, opt)
	if err != nil || order == nil || y.Values == nil && y.Names == nil {
		return y, err
	}

	n, have := y.Y.Dims()
	for j := range have {
		if !slices.Contains(order.Labels, y.Label(j)) {
			return nil, fmt.Errorf("%s has the label %s, which is not among those of %s, %s; leave "+
				"it out of the file", path, y.Label(j), order.Owner, ListClasses(nil, order.Labels))
		}
	}

	// order may have many labels that the file lacks.
	if need := 8 * int64(n) * int64(len(order.Labels)); opt.Limit > 0 && need > opt.Limit {
		return nil, &npy.LimitError{What: path, Need: need, Limit: opt.Limit}
	}
	out := &data.MultiLabels{Y: y.Ordered(order.Labels), Listed: y.Listed}
	for _, label := range order.Labels {
		if v, err := strconv.ParseInt(label, 10, 64); err == nil && y.Names == nil {
			out.Values = append(out.Values, v)
		}
	}
	if len(out.Values) < len(order.Labels) {
		out.Values = nil
		out.Names = order.Labels
	}
	return out, nil
}

// HoldsMultiLabels tells whether a file can only hold labels of points that may have several:
// two or more columns of 1 and 0 or −1, or lists of labels. A file that cannot be read is left
// to another reader, which reports the fault.
func HoldsMultiLabels(path string, opt data.ReadOptions) bool {
	y, err := data.ReadMultiLabels(path, opt)
	if err != nil {
		return false
	}
	if _, err := multilabel.LabelTargets(y.Y, nil); err != nil {
		return false
	}
	n, m := y.Y.Dims()
	if !y.Listed {
		return m > 1
	}

	// Lists of exactly one label each are classes.
	for i := range n {
		if count := mat.Sum(y.Y.RowView(i)); !math.IsNaN(count) && count != 1 {
			return true
		}
	}
	return false
}

// HoldsFractions tells whether values are not all integers.
func HoldsFractions(v *mat.Dense) bool {
	return slices.ContainsFunc(v.RawMatrix().Data,
		func(x float64) bool { return x != math.Trunc(x) && !math.IsNaN(x) })
}
