package eigenmap

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// Name is the name of [Learner] and its models.
const Name = "eigenmap"

// Learners are those of this package.
var Learners = []models.Learner{Learner{}}

// Learner fits classes by least squares on eigenvectors of the Laplacian.
type Learner struct{}

// options are the values of the learner's parameters.
type options struct {
	Settings
	Laplacian sparse.Kind
	Tolerance float64 // of the eigenpairs; 0 is the default
}

const (
	// defaultTolerance of eigenpairs; see lanczos.Settings.
	defaultTolerance = 1e-8
	// pairsWithPenalty is the number of eigenpairs of a penalized fit that names none.
	pairsWithPenalty = 200
)

// laplacianParam chooses the Laplacian whose eigenvectors are used.
var laplacianParam = models.Param{Name: "laplacian", Doc: "definition of the Laplacian", Default: "combinatorial", Choices: models.Names(sparse.RandomWalk + 1)}

var penalized = &models.Condition{Param: "penalty", In: []string{"iterated", "heat"}}

// params are the parameters of options.
var params = models.Table[options]{
	{Param: models.Param{Name: "gamma", Doc: "strength γ of the penalty", Default: "by cross-validation", Range: models.Positive(), Axis: true, Only: penalized},
		At: func(o *options) any { return &o.Gamma }},
	{Param: models.Param{Name: "eigenvectors", Doc: "number of eigenvectors used", Default: "20 % of the number of labels, with a penalty 200", Range: models.AtLeast(1), Axis: true, Smaller: true},
		At: func(o *options) any { return &o.Eigenvectors }},
	{Param: models.Param{Name: "penalty", Doc: "penalty on the coefficients: λˢ (iterated) or exp(tλ) (heat) for an eigenvalue λ", Default: "none", Choices: models.Names(HeatKernel + 1)},
		At: func(o *options) any { return &o.Penalty }},
	{Param: models.Param{Name: "penalty-power", Doc: "power s of the penalty λˢ", Default: "2", Range: models.Positive(), Only: &models.Condition{Param: "penalty", In: []string{"iterated"}}},
		At: func(o *options) any { return &o.Power }},
	{Param: models.Param{Name: "heat-t", Doc: "t of the penalty exp(tλ)", Default: "1", Range: models.Positive(), Only: &models.Condition{Param: "penalty", In: []string{"heat"}}},
		At: func(o *options) any { return &o.T }},
	{Param: models.Param{Name: "folds", Doc: "folds of the cross-validation inside the fit, at most the number of labels", Default: "5", Range: models.AtLeast(2), Only: penalized},
		At: func(o *options) any { return &o.Folds }},
	{Param: laplacianParam, At: func(o *options) any { return &o.Laplacian }},
	{Param: models.Param{Name: "tolerance", Doc: "relative residual at which the solver stops", Default: models.FormatFloat(defaultTolerance), Range: models.Between(0, 1)},
		At: func(o *options) any { return &o.Tolerance }},
}

// Info describes the learner.
func (Learner) Info() models.Info {
	return models.Info{Name: Name, Help: "least squares on eigenvectors of the Laplacian (Belkin & Niyogi 2004)",
		Source: "Belkin & Niyogi 2004, section 4, steps 1 to 4; penalties: section 7.1",
		Scores: "least-squares estimate f of 1 for the class and −1 for the others, of new points with --extension knn the share of the votes of training points",
		Learns: models.LearnsClasses, Needs: models.NeedsGraph | models.NeedsEigenpairs}
}

// Params lists the parameters.
func (Learner) Params() []models.Param { return params.Params() }

// Pairs returns the eigenvectors that are named, or with a penalty 200 and without
// one [PaperShare] of the number of labels.
func (Learner) Pairs(in *models.Input) (k int, kind sparse.Kind, tolerance float64, err error) {
	o, err := params.Decode(in.Values)
	if err != nil {
		return 0, 0, 0, err
	}
	if k, err = o.pairs(len(in.Targets.Labeled), in.Len()); err != nil {
		return 0, 0, 0, err
	}
	return k, o.Laplacian, o.tolerance(), nil
}

// pairs returns the number of eigenpairs for l labels of n points.
func (o *options) pairs(l, n int) (int, error) {
	switch {
	case o.Eigenvectors > n:
		return 0, &models.ParamError{Name: "eigenvectors", Value: strconv.Itoa(o.Eigenvectors), Must: fmt.Sprintf("at most the number of the %d points", n)}
	case o.Eigenvectors > 0:
		return o.Eigenvectors, nil
	case o.Penalty != NoPenalty:
		return min(pairsWithPenalty, n), nil
	}
	return paperCount(l, n), nil
}

func (o *options) tolerance() float64 {
	if o.Tolerance == 0 {
		return defaultTolerance
	}
	return o.Tolerance
}

// Cost is that of the least squares and of the scores of all points; the eigenpairs
// are given.
func (Learner) Cost(in *models.Input) (models.Cost, error) {
	o, err := params.Decode(in.Values)
	if err != nil {
		return models.Cost{}, err
	}
	p, err := o.pairs(len(in.Targets.Labeled), in.Len())
	if err != nil {
		return models.Cost{}, err
	}
	if in.Pairs != nil && o.Eigenvectors == 0 && o.Penalty != NoPenalty {
		_, p = in.Pairs.Vectors.Dims()
	}
	return fitCost(in.Len(), len(in.Targets.Labeled), p, len(in.Targets.Classes), &o.Settings), nil
}

// fitCost is that of a fit of p eigenvectors to c classes of l of n points.
func fitCost(points, labels, eigenvectors, classes int, s *Settings) models.Cost {
	n, l, p, c := float64(points), float64(labels), float64(eigenvectors), float64(classes)
	squares, solutions := 7.5, 1. // of the order p; and factorizations
	rows := min(l, gramRows)      // of a block
	var garbage float64           // of many factorizations, beside large eigenpairs
	if s.Penalty != NoPenalty && s.Gamma == 0 {
		folds := float64(s.Folds)
		if s.Folds == 0 {
			folds = min(defaultFolds, l)
		}
		squares, solutions = 12, 1+folds*float64(len(gammaGrid))
		rows += 2 * l / folds
		garbage = min(n*p/2, 6*solutions*p*p)
	}
	scores := n * c // of all points
	if classes == 2 {
		scores = 3 * n
	}
	fit := rows*(p+c) + squares*p*p + 4*p*c
	return models.Cost{
		Bytes:      models.HeapBytes(models.Bytes(8*(fit+scores)+16*n)) + models.Bytes(8*garbage) + models.RuntimeBytes,
		Operations: 2*l*p*p + solutions*p*p*p/3 + 2*n*p*c,
		Remedy:     "take fewer --eigenvectors",
	}
}

// Fit is the function [Fit] on the classes and the eigenpairs of in, with the
// classes of all points by [Classifier.Transduce].
func (Learner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	o, err := params.Decode(in.Values)
	if err != nil {
		return nil, err
	}
	if err := in.Check(); err != nil {
		return nil, err
	}
	y := in.Targets.ClassLabels()
	switch {
	case y == nil:
		return nil, errNoClasses
	case in.Graph == nil || in.Pairs == nil:
		return nil, errors.New("eigenmap: there are no eigenpairs of a graph")
	}
	o.Settings.Seed = in.Seed
	components := in.Graph.Components
	if components == nil {
		components = in.Graph.W.Components()
	}
	c, err := train(ctx, in.Pairs, components, y, &o.Settings, in.Report)
	if err != nil {
		return nil, err
	}
	m := &Model{Classifier: c, Laplacian: in.Laplacian, Tolerance: o.Tolerance, Neighborhood: in.Graph.Keep(), Given: models.GivenOf(in.Targets)}
	m.Seed = in.Seed
	m.Labels = c.Transduce(in.Pairs, components, y)
	m.Vectors = in.Pairs.Vectors.Slice(0, in.Len(), 0, c.Settings.Eigenvectors).(*mat.Dense)
	return m, nil
}

var errNoClasses = errors.New("eigenmap: the targets are not classes")

// Summary names the eigenvectors, their rank at the labeled points and the penalty.
func (m *Model) Summary() models.Summary {
	s := models.Summary{Labeled: m.Labeled, Values: params.Encode(m.options()), Unreached: m.Unreached, Fallback: &m.Classes[m.Fallback]}
	s.Facts = append(s.Facts, models.Fact{Key: "rank", Value: m.Rank})
	s.Text = fmt.Sprintf("%d eigenvectors (rank %d)", m.Settings.Eigenvectors, m.Rank)
	if m.Settings.Penalty != NoPenalty {
		s.Text += fmt.Sprintf(", %s penalty with γ = %.3g", m.Settings.Penalty, m.Settings.Gamma)
	}
	if len(m.Candidates) > 0 {
		s.Facts = append(s.Facts, models.Fact{Key: "candidates", Value: m.Candidates})
		s.Text += fmt.Sprintf(" by cross-validation over %d values", len(m.Candidates))
	}
	return s
}

// options are those that the model was fitted with.
func (m *Model) options() *options { return &options{m.Settings, m.Laplacian, m.Tolerance} }
