package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/data"
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

// values turns positions in classes into class values.
func values(index []int32, classes []int64) []int64 {
	out := make([]int64, len(index))
	for i, c := range index {
		out[i] = classes[c]
	}
	return out
}

// classValues returns the labels with NaN for none.
func classValues(y *data.Labels) []float64 {
	out := make([]float64, y.Len())
	for i, c := range y.Index {
		out[i] = math.NaN()
		if c != data.Unlabeled {
			out[i] = float64(y.Classes[c])
		}
	}
	return out
}
