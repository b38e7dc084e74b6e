package eigenmap

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Name is the name of [Learner] and its models.
const Name = "eigenmap"

// Learners lists the learners of this package.
var Learners = []models.Learner{Learner{}}

// Learner fits classes by least squares on eigenvectors of the Laplacian.
type Learner struct{}

// options are the values of the learner's parameters.
type options struct {
	Settings
	Laplacian sparse.Kind
	Tolerance float64 // tolerance of the eigenpairs; 0 is the default
}

const (
	// defaultTolerance is the tolerance of eigenpairs; see lanczos.Settings.
	defaultTolerance = 1e-8
	// pairsWithPenalty is the number of eigenpairs of a penalized fit that names none: the
	// penalty, not the number, bounds the freedom then, and 200 is the largest of the grid.
	pairsWithPenalty = 200
)

// laplacianParam chooses the Laplacian that the eigenvectors are computed from.
var laplacianParam = models.Param{Name: "laplacian", Doc: "definition of the Laplacian",
	Default: "combinatorial", Choices: enum.All[sparse.Kind]()}

// only returns the condition that the penalty has one of the given forms.
func only(forms ...string) *models.Condition {
	return &models.Condition{Param: "penalty", In: forms}
}

var (
	penalized = only("iterated", "heat", "sum", "polynomial", "kernel")
	unitary   = only("iterated", "heat", "sum", "polynomial")
)

// params are the parameters of options.
var params = models.Table[options]{
	{Param: models.Param{Name: "gamma", Doc: "strength γ of the penalty", Default: "by cross-validation",
		Range: models.Positive(), Axis: true, Only: penalized,
		Grid: []string{"0.001", "0.01", "0.1", "1", "10"}},
		At: func(o *options) any { return &o.Gamma }},
	{Param: models.Param{Name: "eigenvectors", Doc: "number of eigenvectors used",
		Default: "20 % of the number of labels, with a penalty 200; one or more for each component " +
			"with a label; with penalty kernel the number of its μ", Range: models.AtLeast(1), Axis: true, Smaller: true,
		Grid: []string{"5", "10", "20", "50", "100", "200"}},
		At: func(o *options) any { return &o.Eigenvectors }},
	{Param: models.Param{Name: "penalty", Doc: "penalty Σr(λ)a² on coefficients a: r = λˢ " +
		"(iterated), exp(tλ) (heat), λ²+λ⁴+…+λ²ᵏ (sum), any polynomial, or 1/μ of a list (kernel)", Default: "none",
		Choices: penalties.All()},
		At: func(o *options) any { return &o.Penalty }},
	{Param: models.Param{Name: "penalty-power", Doc: "power s of the penalty λˢ", Default: "2",
		Range: models.Positive(), Only: only("iterated")},
		At: func(o *options) any { return &o.Power }},
	{Param: models.Param{Name: "heat-t", Doc: "t of the penalty exp(tλ)", Default: "1",
		Range: models.Positive(), Only: only("heat")},
		At: func(o *options) any { return &o.T }},
	{Param: models.Param{Name: "penalty-order",
		Doc: "k of the penalty λ²+λ⁴+…+λ²ᵏ, which is Σ‖Δⁱf‖² over i = 1 … k", Default: "2",
		Range: models.Within(1, mostOrder), Only: only("sum")},
		At: func(o *options) any { return &o.Order }},
	{Param: models.Param{Name: "penalty-coefficients",
		Doc: "c₀,c₁,c₂,… of the penalty c₀ + c₁λ + c₂λ² + …", Default: "0,1",
		Range: models.NotNegative(), Only: only("polynomial")},
		At: func(o *options) any { return &o.Coefficients }},
	{Param: models.Param{Name: "penalty-mu",
		Doc: "μ₁,μ₂,… of the kernel Σμe(p)e(q), from the smallest eigenvalue on, which has the penalty Σa²/μ; 0 " +
			"leaves an eigenvector out", Default: "none: the kernel needs it", Range: models.NotNegative(), Only: only("kernel")},
		At: func(o *options) any { return &o.Mu }},
	{Param: models.Param{Name: "penalty-unit",
		Doc: "unit of λ in the penalty: the 20th eigenvalue, or one as in the paper", Default: "twentieth",
		Choices: units.All(), Only: unitary},
		At: func(o *options) any { return &o.Unit }},
	{Param: models.Param{Name: "folds", Doc: "folds of the cross-validation inside the fit, at most " +
		"the number of labels", Default: "5", Range: models.AtLeast(2), Only: penalized},
		At: func(o *options) any { return &o.Folds }},
	{Param: laplacianParam, At: func(o *options) any { return &o.Laplacian }},
	{Param: models.Param{Name: "tolerance", Doc: "relative residual at which the solver stops",
		Default: models.FormatFloat(defaultTolerance), Range: models.Between(0, 1)},
		At: func(o *options) any { return &o.Tolerance }},
}

// Info describes the learner.
func (Learner) Info() models.Info {
	return models.Info{Name: Name, Help: "least squares on eigenvectors of the Laplacian (Belkin & " +
		"Niyogi 2004)",
		Formula: "min over a  1/l Σ over labels of (f_i − y_i)² [+ γ Σ_j r(λ_j) a_j²],  f = Σ_{j ≤ p} a_j e_j,\n" +
			"Le_j = λ_j e_j the eigenpairs of the smallest eigenvalues",
		Source: "Belkin & Niyogi 2004, section 4, steps 1 to 4; penalties: section 7.1",
		Scores: "least-squares estimate f of 1 for the class, −1 for others; of new points the share " +
			"of votes (extension knn)",
		Learns: models.LearnsClasses, Needs: models.NeedsGraph | models.NeedsEigenpairs}
}

// decode returns the options that v stands for, or all faults at once.
func decode(v models.Values) (options, error) {
	o, err := params.Decode(v)
	return o, errors.Join(err, o.checkMu())
}

// Check implements [models.Checker].
func (Learner) Check(v models.Values) error {
	_, err := decode(v)
	return err
}

// Params lists the parameters.
func (Learner) Params() []models.Param { return params.Params() }

// Pairs returns the number of eigenvectors that the settings name. By default it is 200
// with a penalty and [PaperShare] of the number of labels without one, and at least one for
// each component with a label, two if its labels are of several classes.
func (Learner) Pairs(in *models.Input) (k int, kind sparse.Kind, tolerance float64, err error) {
	o, err := decode(in.Values)
	if err != nil {
		return 0, 0, 0, err
	}
	least := 2
	if g := in.Graph; g != nil && (g.Components != nil || g.W != nil) && in.Targets.Classes != nil {
		least = newLabelCounts(componentsOf(g), in.Targets.ClassLabels()).least
	}
	if k, err = o.pairs(len(in.Targets.Labeled), least, in.Len()); err != nil {
		return 0, 0, 0, err
	}
	return k, o.Laplacian, o.tolerance(), nil
}

// Quotas distributes the eigenvectors of [Learner.Pairs] over the components with a label:
// see [lanczos.Parts]. It returns nil for a connected graph.
func (l Learner) Quotas(in *models.Input) ([]int32, error) {
	c := componentsOf(in.Graph)
	if c.Count() == 1 || in.Targets.Classes == nil {
		return nil, nil
	}
	k, _, _, err := l.Pairs(in)
	if err != nil {
		return nil, err
	}
	return newLabelCounts(c, in.Targets.ClassLabels()).quotas(k), nil
}

// componentsOf returns the components of a graph, which may know them.
func componentsOf(g *models.Graph) *sparse.Components {
	if g.Components != nil {
		return g.Components
	}
	return g.W.Components()
}

// pairs returns the number of eigenpairs for l labels of n points; the labels need at least
// least.
func (o *options) pairs(l, least, n int) (int, error) {
	switch {
	case o.Eigenvectors > n:
		return 0, &models.ParamError{Name: "eigenvectors", Value: strconv.Itoa(o.Eigenvectors),
			Must: fmt.Sprintf("at most the number of the %d points", n)}
	case o.Eigenvectors > 0:
		return o.Eigenvectors, nil
	case o.Penalty == Kernel:
		return min(max(len(o.Mu), least), n), nil
	case o.Penalty != NoPenalty:
		return min(max(pairsWithPenalty, least), n), nil
	}
	return defaultCount(l, least, n), nil
}

// tolerance returns the tolerance of the eigenpairs with its default.
func (o *options) tolerance() float64 {
	if o.Tolerance == 0 {
		return defaultTolerance
	}
	return o.Tolerance
}

// Cost returns the cost of the least squares and of the scores of all points. The
// eigenpairs are given and do not count.
func (l Learner) Cost(in *models.Input) (stage.Cost, error) {
	o, err := decode(in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	p, _, _, err := l.Pairs(in)
	if err != nil {
		return stage.Cost{}, err
	}
	if in.Pairs != nil && o.Eigenvectors == 0 && o.Penalty != NoPenalty {
		_, p = in.Pairs.Vectors.Dims()
	}
	return fitCost(in.Len(), len(in.Targets.Labeled), p, len(in.Targets.Classes), &o.Settings), nil
}

// fitCost returns the cost of a fit of p eigenvectors to c classes, with l of n points
// labeled.
func fitCost(points, labels, eigenvectors, classes int, s *Settings) stage.Cost {
	n := float64(points)
	l := float64(labels)
	p := float64(eigenvectors)
	c := float64(classes)

	squares := 7.5           // p×p matrices held at once: g, its copies, the eigendecomposition
	solutions := 1.          // factorizations
	rows := min(l, gramRows) // gathered rows of a block
	var garbage float64      // numbers that many factorizations leave to the collector
	if s.Penalty != NoPenalty && s.Gamma == 0 {
		folds := float64(s.Folds)
		if s.Folds == 0 {
			folds = min(defaultFolds, l)
		}
		squares = 12
		solutions = 1 + folds*float64(len(gammaGrid))
		rows += 2 * l / folds
		garbage = min(n*p/2, 6*solutions*p*p)
	}

	// Two classes have one column of scores, then two made from it.
	scores := n * c
	if classes == 2 {
		scores = 3 * n
	}
	fit := rows*(p+c) + squares*p*p + 4*p*c
	return stage.Cost{
		Bytes: stage.HeapBytes(models.Bytes(8*(fit+scores)+16*n)) + models.Bytes(8*garbage) +
			stage.RuntimeBytes,
		Operations: 2*l*p*p + solutions*p*p*p/3 + 2*n*p*c,
		Remedy:     fmt.Sprintf("take fewer %s", param.Name("eigenvectors")),
	}
}

// Fit is the function [Fit] on the classes and the eigenpairs of in, with the
// classes of all points by [Classifier.Transduce].
func (Learner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	o, err := decode(in.Values)
	if err != nil {
		return nil, err
	}
	if err := in.Check(); err != nil {
		return nil, err
	}
	info := Learner{}.Info()
	y := in.Targets.ClassLabels()
	switch {
	case y == nil:
		return nil, errNoClasses
	case !in.Targets.Plain():
		return nil, info.CheckTargets(in.Targets)
	case in.Graph == nil || in.Pairs == nil:
		return nil, errors.New("eigenmap: there are no eigenpairs of a graph")
	}

	// More eigenvectors than points is an error; more than the vertices of components with
	// a label is a matter of the graph, and the number is cut.
	o.Settings.Seed = in.Seed
	components := componentsOf(in.Graph)
	if _, err := o.pairs(len(in.Targets.Labeled), 1, in.Len()); err != nil {
		return nil, err
	}
	o.Eigenvectors = min(o.Eigenvectors, components.Within(in.Targets.Labeled))
	c, err := train(ctx, in.Pairs, components, y, &o.Settings, in.Report)
	if err != nil {
		return nil, err
	}

	m := &Model{Classifier: c, Laplacian: in.Laplacian, Tolerance: o.Tolerance, Neighborhood: in.Graph.Keep(),
		Given: models.GivenOf(in.Targets)}
	m.Seed = in.Seed
	m.Labels = c.Transduce(in.Pairs, components, y)
	m.Vectors = c.Select(in.Pairs.Vectors).Slice(0, in.Len(), 0, c.Settings.Eigenvectors).(*mat.Dense)
	return m, nil
}

var errNoClasses = errors.New("eigenmap: the targets are not classes")

// Summary names the eigenvectors, their rank at the labeled points and the penalty.
func (m *Model) Summary() models.Summary {
	s := models.Summary{Labeled: m.Labeled, Values: params.Encode(m.options()), Unreached: m.Unreached,
		Fallback: &m.Classes[m.Fallback]}
	s.Facts = append(s.Facts, models.Fact{Key: "rank", Value: m.Rank})
	s.Text = fmt.Sprintf("%d eigenvectors (rank %d)", m.Settings.Eigenvectors, m.Rank)
	if m.Settings.Penalty != NoPenalty {
		s.Text += fmt.Sprintf(", %s penalty with γ = %.3g", m.Settings.Penalty, m.Settings.Gamma)
	}
	if len(m.Candidates) > 0 {
		s.Facts = append(s.Facts, models.Fact{Key: "candidates", Value: m.Candidates})
		s.Text += fmt.Sprintf(" by cross-validation over %d values", len(m.Candidates))
	}

	s.Warnings = m.warnings()
	return s
}

// warnings names likely faults of the answers.
func (m *Model) warnings() []string {
	var out []string
	p := m.Settings.Eigenvectors
	classes := len(m.Classes)
	if m.Settings.Penalty == NoPenalty && m.Rank < p {
		out = append(out, fmt.Sprintf("the %d labels settle %d of the coefficients of %d "+
			"eigenvectors: label more points, or take fewer %s", m.Labeled, m.Rank, p,
			param.Name("eigenvectors")))
	}
	if p < classes {
		out = append(out, fmt.Sprintf("%d eigenvectors for %d classes, which they can hardly tell "+
			"apart: label more points, or take more %s", p, classes, param.Name("eigenvectors")))
	}
	return append(out, models.OneSided(len(m.Classes), m.Labels, m.Given)...)
}

// options returns the values of the parameters that the model was fitted with.
func (m *Model) options() *options { return &options{m.Settings, m.Laplacian, m.Tolerance} }
