package models

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
)

// Updater is a model to which points and labels can be added at less cost than a new fit.
// The learner is fitted again to the graph that has grown, and starts from the results in
// the model, by [Input.Start].
type Updater interface {
	Model
	// Kept returns the parts of the fit that an update needs.
	Kept() *Kept
}

// A Continuer is a learner that makes choices by the targets. An update keeps them.
type Continuer interface {
	Learner
	// Continue returns a learner that fits the choices of m, a model of this learner. stay
	// holds the points of m that are still there, nil for all. change may change the values
	// that are fitted, such as the tolerance of a solver.
	Continue(m Model, stay []int, change func(l Learner, v Values)) Learner
}

// StartAt returns the rows of a start that belong to some points, all for nil.
func StartAt(start *mat.Dense, rows []int) *mat.Dense {
	if rows == nil || start == nil {
		return start
	}
	_, c := start.Dims()
	out := mat.NewDense(len(rows), c, nil)
	for k, i := range rows {
		copy(out.RawRowView(k), start.RawRowView(i))
	}
	return out
}

// Kept holds the parts of a fit to n points that an update of the model needs.
type Kept struct {
	// Neighborhood has the points, and the lists if the learner needs a graph.
	*Neighborhood
	// Targets holds the targets of the fit. It is nil if the model's file does not hold
	// them: files from before version 0.2.
	Targets *Targets
	// Rows are the numbers of the points among those of the fit, if the model keeps some of them
	// only; else nil.
	Rows []int32
	// Start holds scores or eigenvectors at all points, n×c, if the learner solves for
	// them; else nil.
	Start *mat.Dense
	// Classes names the class of each column of Start; nil if columns are not classes.
	Classes []int64
}

// Given names the points that had a target in a fit, as models keep them.
type Given struct {
	Points []int32    // ascending
	Values *mat.Dense // their values, l×m; nil for classes, which a model has for all points
	// Shares holds the distributions of soft labels, l×c, and Weights the weights of labels, l; nil
	// for hard labels, and for weights of one.
	Shares  *mat.Dense
	Weights []float64
}

// GivenOf returns the part of t that a model keeps.
func GivenOf(t *Targets) *Given {
	g := &Given{Points: make([]int32, len(t.Labeled)), Weights: t.Weights}
	for q, i := range t.Labeled {
		g.Points[q] = int32(i)
	}
	if t.Classes == nil {
		g.Values = t.Y
	} else if t.Soft {
		g.Shares = t.Shares()
	}
	return g
}

// Targets returns the targets of n points; nil for nil. labels are the classes of all
// points, positions in classes, where the targets are classes.
func (g *Given) Targets(n int, classes []int64, labels []int32) *Targets {
	if g == nil {
		return nil
	}
	t := &Targets{Len: n, Classes: classes, Y: g.Values, Labeled: make([]int, len(g.Points)), Weights: g.Weights}
	for q, i := range g.Points {
		t.Labeled[q] = int(i)
	}
	if classes == nil {
		return t
	}

	// A model has the classes of all points, so the code of the given ones is made anew.
	t.Y = mat.NewDense(len(t.Labeled), codeColumns(len(classes)), nil)
	for q, i := range t.Labeled {
		if g.Shares != nil {
			t.setShares(q, g.Shares.RawRowView(q))
			continue
		}
		codeClass(t.Y.RawRowView(q), labels[i])
	}
	return t
}

// Entries returns the arrays of the targets of l points; a nil g has none:
//
//	given_points  int32    l    points that had a target, ascending
//	given_values  float64  l×m  their values; not for classes
//	given_shares  float64  l×c  their distributions over the classes; only of soft labels
//	given_weights float64  l    weights of their labels; only if some are not one
func (g *Given) Entries() []archive.Array {
	if g == nil {
		return nil
	}
	out := []archive.Array{{Name: "given_points", Data: g.Points}}
	if g.Values != nil {
		out = append(out, MatrixEntry("given_values", g.Values))
	}
	return append(out, g.SoftEntries()...)
}

// SoftEntries returns the arrays of distributions and weights alone.
func (g *Given) SoftEntries() []archive.Array {
	var out []archive.Array
	if g.Shares != nil {
		out = append(out, MatrixEntry(givenShares, g.Shares))
	}
	if g.Weights != nil {
		out = append(out, archive.Array{Name: givenWeights, Data: g.Weights})
	}
	return out
}

// Given reads the arrays of [Given.Entries], for labeled of n points with a number of values
// each; 0 values means classes.
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
			return nil, fmt.Errorf("models: element %d of given_points is %d; they must ascend within "+
				"[0, %d)", q, i, n)
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
	return g, r.Soft(g)
}

// Soft completes g, which has its points, with the distributions and weights of its labels, if the file has any.
func (r *Reader) Soft(g *Given) error {
	if r.Manifest.Soft {
		g.Shares = r.Matrix(givenShares)
	}
	if r.Manifest.Weighted {
		g.Weights = Numbers[float64](r, givenWeights)
	}
	if r.Err != nil {
		return r.Err
	}
	return g.checkSoft(len(r.Manifest.Output.Classes))
}

// The distributions and the weights of given labels in a model file.
const givenShares, givenWeights = "given_shares", "given_weights"

// Soft tells whether e has arrays of distributions and of weights of labels.
func (e *Encoded) Soft() (shares, weights bool) {
	for _, a := range e.Arrays {
		shares = shares || a.Name == givenShares
		weights = weights || a.Name == givenWeights
	}
	return shares, weights
}

// checkSoft returns an error unless shares and weights fit the points and the number of classes.
func (g *Given) checkSoft(classes int) error {
	if g.Shares != nil {
		if rows, cols := g.Shares.Dims(); rows != len(g.Points) || cols != classes || classes < 2 {
			return fmt.Errorf("models: given_shares is %d×%d for %d points of %d classes", rows, cols,
				len(g.Points), classes)
		}
		for q, i := range g.Points {
			if sum, err := sumOfShares(g.Shares.RawRowView(q)); err != nil || sum == 0 {
				return fmt.Errorf("models: row %d of given_shares, of point %d, is no distribution", q, i)
			}
		}
	}
	if g.Weights != nil && len(g.Weights) != len(g.Points) {
		return fmt.Errorf("models: %d given_weights of %d points", len(g.Weights), len(g.Points))
	}
	for q, w := range g.Weights {
		if !(w > 0) || w-w != 0 {
			return fmt.Errorf("models: element %d of given_weights is %v; it must be finite and positive", q, w)
		}
	}
	return nil
}

// StartFor returns k.Start with a column for each of classes. A class that k.Start lacks
// has a column of zeros.
func (k *Kept) StartFor(classes []int64) *mat.Dense {
	if k.Start == nil || k.Classes == nil || slices.Equal(classes, k.Classes) {
		return k.Start
	}
	// Labels that were added may bring classes that the model has not seen.
	n, _ := k.Start.Dims()
	out := mat.NewDense(n, len(classes), nil)
	for to, class := range classes {
		if from := slices.Index(k.Classes, class); from >= 0 {
			out.SetCol(to, mat.Col(nil, from, k.Start))
		}
	}
	return out
}
