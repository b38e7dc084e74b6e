package models

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
)

// Updater is a model to which points and labels can be added at less cost than that
// of a fit anew: the learner is fitted again to a graph that has grown, and begins
// with what the model knows, [Input.Start].
type Updater interface {
	Model
	// Kept returns what the model keeps of its fit.
	Kept() *Kept
}

// A Continuer is a learner that makes choices by the targets. An update keeps them.
type Continuer interface {
	Learner
	// Continue returns the learner that fits what m, a model of this one, chose. change
	// may change the values of what it fits, as the tolerance of a solver.
	Continue(m Model, change func(l Learner, v Values)) Learner
}

// Kept is what a model keeps of its fit to n points.
type Kept struct {
	// Neighborhood has the points, and of a learner that needs a graph its lists.
	*Neighborhood
	// Targets are those of the fit; nil if the file of the model does not hold them,
	// as those of before version 0.2 do not.
	Targets *Targets
	// Start is n×c, of a learner that solves for something at all points: the scores,
	// or eigenvectors. It is nil of others.
	Start *mat.Dense
	// Classes are those of the columns of Start; nil if they are not of classes.
	Classes []int64
}

// Given names the points that had a target in a fit, as models keep them.
type Given struct {
	Points []int32    // ascending
	Values *mat.Dense // their values, l×m; nil of classes, which a model has of all points
}

// GivenOf returns what a model keeps of targets.
func GivenOf(t *Targets) *Given {
	g := &Given{Points: make([]int32, len(t.Labeled))}
	for q, i := range t.Labeled {
		g.Points[q] = int32(i)
	}
	if t.Classes == nil {
		g.Values = t.Y
	}
	return g
}

// Targets returns the targets of n points; nil for nil. labels are the classes of all
// points, positions in classes, where the targets are classes.
func (g *Given) Targets(n int, classes []int64, labels []int32) *Targets {
	if g == nil {
		return nil
	}
	t := &Targets{Len: n, Classes: classes, Y: g.Values, Labeled: make([]int, len(g.Points))}
	for q, i := range g.Points {
		t.Labeled[q] = int(i)
	}
	if classes == nil {
		return t
	}

	t.Y = mat.NewDense(len(t.Labeled), codeColumns(len(classes)), nil)
	for q, i := range t.Labeled {
		codeClass(t.Y.RawRowView(q), labels[i])
	}
	return t
}

// Entries returns the arrays given_points (l) and given_values (l×m); nil has none.
func (g *Given) Entries() []archive.Array {
	if g == nil {
		return nil
	}
	out := []archive.Array{{Name: "given_points", Data: g.Points}}
	if g.Values != nil {
		out = append(out, MatrixEntry("given_values", g.Values))
	}
	return out
}

// Given reads what [Given.Entries] wrote of so many labeled ones of n points, with so many
// values a point, 0 of classes.
func (r *Reader) Given(n, labeled, values int) (*Given, error) {
	g := &Given{Points: Numbers[int32](r, "given_points")}
	if values > 0 {
		g.Values = r.Matrix("given_values")
	}
	if r.Err != nil {
		return nil, r.Err
	}

	for q, i := range g.Points {
		if i < 0 || int(i) >= n || q > 0 && i <= g.Points[q-1] {
			return nil, fmt.Errorf("models: element %d of given_points is %d; they must ascend within [0, %d)", q, i, n)
		}
	}

	if len(g.Points) != labeled || labeled == 0 {
		return nil, fmt.Errorf("models: given_points has %d elements for %d labeled points",
			len(g.Points), labeled)
	}

	if g.Values != nil {
		if rows, cols := g.Values.Dims(); rows != len(g.Points) || cols != values {
			return nil, fmt.Errorf("models: given_values is %d×%d for %d points of %d values", rows, cols,
				len(g.Points), values)
		}
	}
	return g, nil
}

// StartFor returns the rows of k.Start with a column for each of classes: those of the
// classes that it has, and zeros for others.
func (k *Kept) StartFor(classes []int64) *mat.Dense {
	if k.Start == nil || k.Classes == nil || slices.Equal(classes, k.Classes) {
		return k.Start
	}
	n, _ := k.Start.Dims()
	out := mat.NewDense(n, len(classes), nil)
	for to, class := range classes {
		if from := slices.Index(k.Classes, class); from >= 0 {
			out.SetCol(to, mat.Col(nil, from, k.Start))
		}
	}
	return out
}
