package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/models"
)

// labelOptions say what an unlabeled point looks like in an integer y.
type labelOptions struct{ unlabeled string }

func (o *labelOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.unlabeled, "unlabeled", "", "`integer` in y that marks an unlabeled point, or none (default -1)")
}

func (o *labelOptions) read(a *app, path string) (*data.Labels, error) {
	opt := data.LabelOptions{Limit: int64(a.memory)}
	switch o.unlabeled {
	case "":
	case "none":
		opt.NoUnlabeled = true
	default:
		v, err := strconv.ParseInt(o.unlabeled, 10, 64)
		if err != nil {
			return nil, usagef("--unlabeled is %q; it is an integer or none", o.unlabeled)
		}
		opt.Unlabeled = &v
	}
	return data.ReadLabels(path, opt)
}

// twoClasses returns an error unless at least two classes of y, read from path,
// have a label.
func (o *labelOptions) twoClasses(a *app, y *data.Labels, path string) error {
	var present []int32
	for _, c := range y.Index {
		if c != data.Unlabeled && !slices.Contains(present, c) {
			if present = append(present, c); len(present) == 2 {
				return nil
			}
		}
	}
	text := fmt.Sprintf("%s: no point is labeled; at least two classes must have a label", path)
	if len(present) == 1 {
		text = fmt.Sprintf("%s: all labels used, %d, are of class %d; at least two classes must have a label", path, len(y.Labeled()), y.Classes[present[0]])
	}
	if o.unlabeled == "" {
		all, err := (&labelOptions{"none"}).read(a, path)
		if err == nil && slices.Contains(all.Classes, -1) && !slices.Contains(y.Classes, -1) {
			text += ". -1 marks unlabeled points; if it is a class here, give --unlabeled none"
		}
	}
	return errors.New(text)
}

// readMultiLabels reads the labels of points that may have several. If the file
// says which labels they are, the columns are brought in the given order; nil is
// that of the file. A label of the file that is not among them is an error; whose
// they are is said there.
func (a *app) readMultiLabels(path string, order []int64, whose string) (*data.MultiLabels, error) {
	y, err := data.ReadMultiLabels(path, data.ReadOptions{Limit: int64(a.memory)})
	if err != nil || order == nil || y.Values == nil {
		return y, err
	}
	for _, v := range y.Values {
		if !slices.Contains(order, v) {
			return nil, fmt.Errorf("%s has the label %d, which is not among those of %s, %s; leave it out of the file", path, v, whose, list(order))
		}
	}
	n, _ := y.Y.Dims()
	if need := 8 * int64(n) * int64(len(order)); need > int64(a.memory) {
		return nil, &npy.LimitError{What: path, Need: need, Limit: int64(a.memory)}
	}
	return y.Ordered(order), nil
}

// holdsMultiLabels tells whether a file can only be labels of points that may have
// several: two and more columns of 1 and 0 or −1, or lists of them. What cannot be
// read is for another reader to complain about.
func holdsMultiLabels(path string, limit int64) bool {
	y, err := data.ReadMultiLabels(path, data.ReadOptions{Limit: limit})
	if err != nil {
		return false
	}
	if _, err := models.LabelTargets(y.Y, nil); err != nil {
		return false
	}
	n, m := y.Y.Dims()
	if y.Values == nil {
		return m > 1
	}
	for i := range n {
		if count := mat.Sum(y.Y.RowView(i)); !math.IsNaN(count) && count != 1 {
			return true
		}
	}
	return false
}

// values turns positions in classes into class values.
func values(index []int32, classes []int64) []int64 {
	out := make([]int64, len(index))
	for i, c := range index {
		out[i] = classes[c]
	}
	return out
}

// numbersFor reads the truth for a model whose answers are numbers, and the labels
// of its columns; nil of values.
func (a *app) numbersFor(m models.Model, path string) (*mat.Dense, []int64, error) {
	labels := m.Output().Labels
	if labels == nil {
		y, err := data.ReadValues(path, data.ReadOptions{Limit: int64(a.memory)})
		return y, nil, err
	}
	y, err := a.readMultiLabels(path, labels, "the model")
	if err != nil {
		return nil, nil, err
	}
	return y.Y, labels, nil
}
