package bigfit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/pipeline"
)

// Labels hold the class of each of n points, or one or several values of a regression, or the mark
// for a point without either. They are made by [Names], [Classes], [Distributions], [Values], [ValueRows] or
// [FromLabels], and by [NamesByID], [ClassesByID] or [ValuesByID] for some points by id. [Labels.Weighted] gives
// them weights. The zero value stands for no labels.
type Labels struct {
	classes *data.Labels
	values  *mat.Dense // n×m, NaN for none
	shares  *data.Shares
	weights []float64 // of the labels; nil for ones
	ids     []string  // of the points that the labels are for; nil for all points by their place
}

// Names takes the class of each point by its name; "" marks a point without a label.
func Names(names []string) Labels {
	number := map[string]int32{}
	var known []string
	codes := make([]int32, len(names))
	for i, name := range names {
		codes[i] = data.Unlabeled
		if name == "" {
			continue
		}
		code, ok := number[name]
		if !ok {
			code = int32(len(known))
			number[name] = code
			known = append(known, name)
		}
		codes[i] = code
	}
	return Labels{classes: data.NewNamedLabels(known, codes)}
}

// Classes takes the class of each point as an integer; a negative number marks a point without
// a label.
func Classes(classes []int) Labels {
	values := make([]int64, len(classes))
	labeled := make([]bool, len(classes))
	for i, c := range classes {
		values[i] = int64(c)
		labeled[i] = c >= 0
	}
	return Labels{classes: data.NewLabels(values, labeled)}
}

// Values takes the value of each point for a regression; NaN marks a point without a value.
func Values(values []float64) Labels {
	y := &mat.Dense{}
	if len(values) > 0 {
		y = mat.NewDense(len(values), 1, append([]float64(nil), values...))
	}
	return Labels{values: y}
}

// ValueRows takes several values of each point from the rows of an n×m matrix, which is
// copied; a row of NaN marks a point without values.
func ValueRows(values *mat.Dense) Labels {
	y := &mat.Dense{}
	if values != nil && !values.IsEmpty() {
		y.CloneFrom(values)
	}
	return Labels{values: y}
}

// FromLabels takes labels of package data, as [data.ReadLabels] reads them from a file. They
// must not change while a model or a call uses them.
func FromLabels(y *data.Labels) Labels { return Labels{classes: y} }

// Distributions takes the probabilities of the classes of each point from the rows of an n×c matrix, which is copied:
// rows of sum 1, or of NaN or zeros for points without a label. names are the classes of the columns, ascending; nil stands
// for the integers 0 to c − 1. The models that take them learn "shares", as [Describe] says.
func Distributions(p *mat.Dense, names []string) Labels {
	s := &data.Shares{P: &mat.Dense{}, Names: append([]string(nil), names...)}
	if p != nil && !p.IsEmpty() {
		s.P.CloneFrom(p)
	}
	_, c := s.P.Dims()
	for k := range c {
		s.Classes = append(s.Classes, int64(k))
	}
	return Labels{shares: s}
}

// Weighted returns the labels of classes with a weight for each point, finite and not negative, in the order of the points, or of the ids of labels by id. A
// label of weight 0 does not count; weights of points without a label do not matter. The models that take weights learn
// "weights", as [Describe] says.
func (y Labels) Weighted(weights []float64) Labels {
	y.weights = append([]float64{}, weights...)
	return y
}

// none tells whether y is the zero value.
func (y Labels) none() bool { return y.classes == nil && y.values == nil && y.shares == nil }

// len returns the number of points.
func (y Labels) len() int {
	block := y.values
	switch {
	case y.classes != nil:
		return y.classes.Len()
	case y.shares != nil:
		block = y.shares.P
	}
	n, _ := block.Dims()
	return n
}

// known returns the number of points with a label.
func (y Labels) known() int {
	switch {
	case y.classes != nil:
		return len(y.classes.Labeled())
	case y.shares != nil:
		return len(pipeline.KnownRows(y.shares.P))
	}
	return len(pipeline.KnownRows(y.values))
}

// check returns an error unless there are labels, each of them finite.
func (y Labels) check() error {
	switch {
	case y.none() || y.len() == 0:
		return errors.New("bigfit: there are no labels")
	case y.known() == 0:
		return fmt.Errorf("bigfit: none of the %d points has a label", y.len())
	case y.values == nil:
		return nil
	}
	rows, columns := y.values.Dims()
	for i := range rows {
		for j, v := range y.values.RawRowView(i) {
			if !math.IsInf(v, 0) {
				continue
			}
			if columns == 1 {
				return fmt.Errorf("bigfit: the value of point %d is %v; it must be finite, or NaN for none", i, v)
			}
			return fmt.Errorf("bigfit: value %d of point %d is %v; it must be finite, or NaN for none", j, i, v)
		}
	}
	return nil
}

// targets codes the labels for a learner, which must be able to learn them.
func (y Labels) targets(info models.Info) (*models.Targets, error) {
	if err := y.check(); err != nil {
		return nil, err
	}
	learns := info.Learns
	if y.shares != nil || y.weights != nil {
		return y.soft(&info)
	}
	switch {
	case y.classes != nil && learns.Has(models.LearnsInside):
		t, err := pipeline.InsideTargets(y.classes, 0, 0)
		if err != nil {
			return nil, err
		}
		return t.Targets, nil
	case y.classes != nil && learns.Has(models.LearnsClasses):
		return models.ClassTargets(y.classes)
	case y.classes != nil:
		return nil, fmt.Errorf("bigfit: %s learns no classes; %s do", info.Name, learners(models.LearnsClasses))
	case !learns.Has(models.LearnsValues):
		return nil, fmt.Errorf("bigfit: %s learns no values; %s do", info.Name, learners(models.LearnsValues))
	case learns.Has(models.LearnsLabels):
		return multilabel.PartialTargets(y.values)
	}
	return models.ValueTargets(y.values)
}

// soft codes distributions, and labels with weights.
func (y Labels) soft(info *models.Info) (*models.Targets, error) {
	need := models.LearnsClasses
	var t *models.Targets
	var err error
	switch {
	case y.values != nil:
		return nil, errors.New("bigfit: weights are for labels of classes, and y holds values")
	case y.shares != nil:
		if n := len(y.shares.Names); n > 0 && n != len(y.shares.Classes) {
			return nil, fmt.Errorf("bigfit: %d names for probabilities of %d classes", n, len(y.shares.Classes))
		}
		if !slices.IsSorted(y.shares.Names) {
			return nil, errors.New("bigfit: the names of classes must ascend; bring the columns of the probabilities in their order")
		}
		t, err = models.ShareTargets(y.shares.P, y.shares.Classes, y.shares.Names)
	default:
		t, err = models.ClassTargets(y.classes)
	}
	if err == nil && y.weights != nil {
		t, err = t.Weighted(y.weights)
	}
	if err != nil {
		return nil, err
	}
	if t.Soft {
		need |= models.LearnsShares
	}
	if t.Weights != nil {
		need |= models.LearnsWeights
	}
	if !info.Learns.Has(need) {
		return nil, fmt.Errorf("bigfit: %s does not take such labels, probabilities of classes or weights; %s do", info.Name,
			learners(need))
	}
	return t, nil
}

// learners lists the models that learn what is asked for.
func learners(what models.Learns) string {
	var names []string
	for _, l := range all.Learners {
		if info := l.Info(); info.Learns.Has(what) {
			names = append(names, info.Name)
		}
	}
	return strings.Join(names, ", ")
}
