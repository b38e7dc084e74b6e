package propagation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// SizedMethod is a method that gives classes their sizes.
type SizedMethod int

const (
	// PoissonMBO is [Problem.FitPoissonMBO].
	PoissonMBO SizedMethod = iota
	// Cut is [Problem.FitCut].
	Cut
)

var sizedMethods = enum.New[SizedMethod]("method with sizes of classes", "poisson-mbo", "cut")

// String returns the name of the learner and its models.
func (m SizedMethod) String() string { return sizedMethods.String(m) }

// ClassSizes says where the sizes of the classes come from that are not given.
type ClassSizes int

const (
	// EstimatedSizes are the means of [LabelSizes] and of the shares in the answers of Poisson
	// learning.
	EstimatedSizes ClassSizes = iota
	// LabelSizes are (n_c + 1)/(l + C) for n_c of l labels and C classes.
	LabelSizes
	// EqualSizes are 1/C.
	EqualSizes
)

var sizesNames = enum.New[ClassSizes]("origin of the sizes of classes", "estimate", "labels", "equal")

// String returns the name used on the command line and in manifests.
func (s ClassSizes) String() string { return sizesNames.String(s) }

// MarshalText returns the name.
func (s ClassSizes) MarshalText() ([]byte, error) { return sizesNames.Marshal(s) }

// UnmarshalText is the inverse of MarshalText.
func (s *ClassSizes) UnmarshalText(text []byte) error { return sizesNames.Unmarshal(s, text) }

// SizedSettings are settings of [Problem.FitPoissonMBO] and [Problem.FitCut].
//
// Priors give the shares of the classes in all points. Without them Sizes says where they come from:
// by default they are (r + q)/2 with r_c = (n_c + 1)/(l + C), for n_c of l labels and C classes, and q the
// shares of the classes in the answers of Poisson learning. Draws of as many labels of each class say
// nothing about sizes, and then r is 1/C. In a component without a label nothing is known; its
// points do not count in the sizes.
type SizedSettings struct {
	// Settings are those of Poisson learning.
	Settings
	// Sizes says where the sizes come from without Priors.
	Sizes ClassSizes
	// Steps of the heat equation between two decisions, Ns of the paper, of PoissonMBO. Default 40.
	Steps int
	// Rounds bounds the rounds of Cut, 400 by default, and those of PoissonMBO, 50 by default: from a start, and again
	// after each new division of pairs and without sizes.
	Rounds int
	// KeepPairs leaves the classes where the rounds of PoissonMBO end; with sizes that stay Cut begins with Poisson learning.
	// Otherwise pairs of three classes and more are divided anew.
	KeepPairs bool
	// KeepSizes holds the sizes to the end also where Priors do not give them. Otherwise three classes and more begin
	// with the sizes and then let them go, and two take those with which the fewest edges leave them; Cut has those that
	// they came to.
	KeepSizes bool
	// Perturbation is s of Cut, in (0, 0.3]. Default 0.1.
	Perturbation float64
}

var (
	sizedParams = append(models.Part(join(
		shareParams.Without("class-shares"), solverParams), func(s *SizedSettings) *Settings { return &s.Settings }),
		models.Table[SizedSettings]{
			{Param: models.Param{Name: "class-shares",
				Doc: "shares of the classes without priors: estimate, the mean of labels and of the answers of poisson; " +
					"labels, those of the labels; or equal",
				Default: EstimatedSizes.String(), Choices: sizesNames.All()},
				At: func(s *SizedSettings) any { return &s.Sizes }},
		}...)
	roundParam = func(usual int, doc string) models.Field[SizedSettings] {
		return models.Field[SizedSettings]{Param: models.Param{Name: "rounds", Doc: doc, Default: models.FormatFloat(float64(usual)),
			Range: models.AtLeast(1)}, At: func(s *SizedSettings) any { return &s.Rounds }}
	}
	stepParam = models.Field[SizedSettings]{Param: models.Param{Name: "steps",
		Doc: "steps of the heat equation between two decisions", Default: models.FormatFloat(defaultSteps),
		Range: models.AtLeast(1)}, At: func(s *SizedSettings) any { return &s.Steps }}
	keepPairsParam = models.Field[SizedSettings]{Param: models.Param{Name: "keep-pairs",
		Doc: "do not divide pairs of classes anew; else those of three classes and more are, where that saves a fifth of the " +
			"edges between them", Default: "false"},
		At: func(s *SizedSettings) any { return &s.KeepPairs }}
	keepSizesParam = models.Field[SizedSettings]{Param: models.Param{Name: "keep-sizes",
		Doc: "hold the sizes of class-shares to the end; else three classes and more begin with them and then let them " +
			"go, and two of estimated sizes try others. Sizes of priors are always held", Default: "false"},
		At: func(s *SizedSettings) any { return &s.KeepSizes }}
	perturbationParam = models.Field[SizedSettings]{Param: models.Param{Name: "perturbation",
		Doc: "weight s of −sD, which drives each point to one class", Default: models.FormatFloat(defaultPerturbation),
		Range: models.Between(0, 0.3)}, At: func(s *SizedSettings) any { return &s.Perturbation }}
)

// sizedTables holds the parameters of each method.
var sizedTables = [...]models.Table[SizedSettings]{
	PoissonMBO: append(slices.Clone(sizedParams), stepParam, roundParam(defaultMBORounds,
		"largest number of rounds from a start, and again after each new division of pairs and without sizes; they "+
			"stop where no class changes"), keepPairsParam, keepSizesParam),
	Cut: append(slices.Clone(sizedParams), perturbationParam, roundParam(defaultCutRounds,
		"largest number of rounds; it stops where no class changes"), keepPairsParam, keepSizesParam),
}

// SizedSolution is a [Solution] whose classes have sizes.
type SizedSolution struct {
	*Solution
	Rounds  int       // rounds that were taken
	Changed float64   // share of the points that changed their class in the last ones
	Shares  []float64 // sizes of the classes, as shares of the points
	// LetGo says that the classes let go of the sizes that they began with. Shares are those that they came to then.
	LetGo bool
	// Off is the largest difference of a class's share of the answers from its size.
	Off float64
}

// sizedStart is where a method with sizes begins: the answers of Poisson learning, in the order of
// the problem, and the classes that they have with the sizes.
type sizedStart struct {
	draw    *draw
	scores  *mat.Dense
	volumes *volumes
	out     *SizedSolution
}

// beginSized solves Poisson's equation and settles the sizes. It returns nil and an error, or a start and a
// nil error or one that is usable.
func (p *Problem) beginSized(ctx context.Context, y *models.Targets, s *SizedSettings) (*sizedStart, error) {
	first := s.Settings
	first.Method = Poisson
	if _, err := first.fill(y); err != nil {
		return nil, err
	}
	first.Priors = nil // the projection below gives the classes their shares
	g, err := p.Fit(ctx, y, &first)
	if g == nil || !models.Usable(err) {
		return nil, err
	}

	d := p.newDraw(y, g.Settings)
	u := p.there(g.Scores)
	v := newVolumes(p.Len(), sizesOf(d.counts(), s.Priors, s.Sizes), d.live())
	if s.Priors == nil && s.Sizes == EstimatedSizes {
		for c, share := range v.decide(u, v.lowest(u)) {
			v.shares[c] = (v.shares[c] + share) / 2
		}
	}
	v.project(u)
	return &sizedStart{d, u, v, &SizedSolution{Solution: g, Shares: v.shares}}, err
}

// report tells the hook of the settings that so many of at most limit rounds are done, and returns its error or the
// context's.
func (b *sizedStart) report(ctx context.Context, s *SizedSettings, rounds, limit int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.OnIteration == nil {
		return nil
	}
	return s.OnIteration(cg.State{Iteration: b.out.Rounds, Columns: limit, Converged: rounds, Residual: b.out.Changed})
}

// end returns the solution with the scores u, in the order of the problem.
func (b *sizedStart) end(u *mat.Dense, y *models.Targets) *SizedSolution {
	g := b.out.Solution
	g.Scores = b.draw.problem.back(u)
	g.Unreached = 0
	g.settle(b.draw, y)
	return b.out
}

// live returns which points are in a component with a label, nil if all are.
func (d *draw) live() []bool {
	if !slices.Contains(d.reached, false) {
		return nil
	}
	live := make([]bool, d.problem.Len())
	for i, c := range d.problem.components.Of {
		live[i] = d.reached[c]
	}
	return live
}

// sizesOf returns the shares of the classes that priors, or else the counts of labels, give.
func sizesOf(counts, priors []float64, origin ClassSizes) []float64 {
	switch {
	case priors != nil:
		return normalized(priors)
	case origin == EqualSizes:
		return normalized(slices.Repeat([]float64{1}, len(counts)))
	}
	return labelShares(counts, 1)
}

// labelShares returns (n_c + a)/(l + aC), for n_c of l labels and C classes.
func labelShares(counts []float64, a float64) []float64 {
	out := slices.Clone(counts)
	for c := range out {
		out[c] += a
	}
	return normalized(out)
}

// normalized returns sizes as shares of their sum.
func normalized(sizes []float64) []float64 {
	var total float64
	for _, v := range sizes {
		total += v
	}
	out := make([]float64, len(sizes))
	for c, v := range sizes {
		out[c] = v / total
	}
	return out
}

// changedShare returns the share of the labels that differ.
func changedShare(a, b []int32) float64 {
	changed := 0
	for i := range a {
		if a[i] != b[i] {
			changed++
		}
	}
	return float64(changed) / float64(len(a))
}

// SizedLearner continues classes by a method that gives them sizes.
type SizedLearner struct{ Method SizedMethod }

// Info describes the learner.
func (l SizedLearner) Info() models.Info {
	i := models.Info{Name: l.Method.String(), Needs: models.NeedsGraph,
		Learns: models.LearnsClasses | models.LearnsShares}
	switch l.Method {
	case PoissonMBO:
		i.Learns |= models.LearnsWeights
		i.Help = "Poisson learning, then the smallest cut with classes of given or estimated sizes, for very few labels"
		i.Formula = "in turns: u ← u − Δt (Lu − Σ_j (y_j − ȳ) δ_j), so many steps of heat;\n" +
			"class of i = argmax_c s_c (u_ic − min u), s such that each class gets its size"
		i.Source = "Calder, Cook, Thorpe & Slepčev 2020, Algorithm 2; sizes that are estimated are not in the paper"
		i.Scores = "heat from the points of the class, times the factor that gives the class its size; 0 out " +
			"of reach of labels"
	case Cut:
		i.Help = "the smallest cut with classes of given or estimated sizes, as a quadratic program, for very few labels"
		i.Formula = "min over X  ½ tr Xᵀ(L − sD)X  such that  X1 = 1, Xᵀ1 = m, X ≥ 0, X = Y at the labels;\n" +
			"m the sizes of the classes, s the perturbation"
		i.Source = "Holtz, Chen, Mishne & Cloninger, NeurIPS 2024 (CutSSL); sizes that are estimated are not in the paper"
		i.Scores = "share of the point that the class gets, times the factor for its size; 0 out of reach of labels"
	}
	return i
}

// Params lists the parameters.
func (l SizedLearner) Params() []models.Param { return sizedTables[l.Method].Params() }

// settings returns the settings with the given values.
func (l SizedLearner) settings(v models.Values) (SizedSettings, error) {
	s, err := sizedTables[l.Method].Decode(v)
	s.Settings.Method = Poisson
	return s, err
}

// Cost returns the cost of Poisson learning and of the rounds.
func (l SizedLearner) Cost(in *models.Input) (stage.Cost, error) {
	c, err := l.cost(in, in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	return stage.Cost{Bytes: c.problem + c.fit, Operations: c.operations, Remedy: sizedRemedy()}, nil
}

func sizedRemedy() string { return fmt.Sprintf("make a graph of fewer %s", param.Name("neighbors")) }

// sizedCost is the cost of a fit: the bytes of the graph that is prepared, those of the rest, and the operations.
type sizedCost struct {
	problem, fit int64
	operations   float64
}

// cost returns the cost of a fit with the values v.
func (l SizedLearner) cost(in *models.Input, v models.Values) (sizedCost, error) {
	s, err := l.settings(v)
	if err != nil {
		return sizedCost{}, err
	}
	problem, fit, err := bytes(in, &s.Settings)
	if err != nil {
		return sizedCost{}, err
	}

	// PoissonMBO holds the scores, sources and flows, and in single precision the matrix and three wide blocks; Cut
	// after it a matrix and five wide blocks in single precision, and the flow and the scores in double.
	n := int64(in.Len())
	c := int64(columns(in.Targets))
	var passes float64
	var rounds int64
	if l.Method == PoissonMBO || s.searches(int(c)) {
		passes = s.heatPasses() * float64(s.usualRounds(int(c)))
		rounds = 8*n*(4*c+5) + 9*n + 3*4*n*int64(sparse.SingleWidth(int(c)))
		problem += stage.HeapBytes(sparse.SingleBytes(in.Len(), in.EdgeCount()))
		weighted := in.Graph != nil && in.Graph.W != nil && in.Graph.W.Val != nil
		pair, err := pairBytes(in.Len(), lanczos.Edges{Count: in.EdgeCount(), Weighted: weighted}, int(c))
		if err != nil {
			return sizedCost{}, err
		}
		if s.divides(int(c)) {
			rounds += pair
		}
		if s.triesSizes(int(c)) {
			rounds += trialBytes(n)
		}
	}
	if l.Method == Cut {
		passes += 2 * usualCutRounds
		rounds = max(rounds, sparse.SingleBytes(in.Len(), in.EdgeCount())+4*n*int64(5*sparse.SingleWidth(int(c)))+8*n*(3*c+8)+9*n)
	}
	return sizedCost{problem, max(fit, stage.HeapBytes(rounds)),
		operations(in) + passes*float64(c)*(2*float64(in.EdgeCount())+5*float64(n))}, nil
}

// heatPasses returns the passes over the graph of a round of PoissonMBO: 24 for 40 steps, and as the root of
// the steps for others (see heat).
func (s *SizedSettings) heatPasses() float64 {
	steps := float64(cmp.Or(s.Steps, defaultSteps))
	return min(steps, 24*math.Sqrt(steps/defaultSteps))
}

// usualRounds returns the rounds of PoissonMBO that are usual: fits of the published draws of MNIST took 41 to 66
// without priors, 11 to 23 with them, and a fourth of their time for the pairs.
func (s *SizedSettings) usualRounds(classes int) int {
	rounds := 15
	if s.releases(classes) {
		rounds += 30
	}
	if s.divides(classes) {
		rounds += 10
	}
	if s.triesSizes(classes) {
		rounds += 30 // of two columns; about 20 of ten
	}
	return rounds
}

// Fit is the method on the graph and the targets of in.
func (l SizedLearner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	s, err := l.settings(in.Values)
	if err != nil {
		return nil, err
	}
	info := l.Info()
	if err := info.Check(in); err != nil {
		return nil, err
	}
	p, err := NewProblem(in.Graph.W, in.Graph.Components)
	if err != nil {
		return nil, err
	}

	s.OnIteration = func(state cg.State) error {
		in.Report(float64(state.Converged), float64(state.Columns), state.String())
		return nil
	}
	g, err := l.solve(ctx, p, in.Targets, &s)
	if g == nil || !models.Usable(err) {
		return nil, err
	}
	g.round()
	return &Sized{&Model{Solution: g.Solution, Neighborhood: in.Graph.Keep(), Given: models.GivenOf(in.Targets)},
		l.Method, s, sizedFit{g.Rounds, g.Changed, g.Shares, g.LetGo, g.Off}}, err
}

// solve runs the method on a prepared graph.
func (l SizedLearner) solve(ctx context.Context, p *Problem, y *models.Targets, s *SizedSettings) (*SizedSolution, error) {
	if l.Method == Cut {
		return p.FitCut(ctx, y, s)
	}
	return p.FitPoissonMBO(ctx, y, s)
}

// FitGrid prepares every graph once for all settings and folds.
func (l SizedLearner) FitGrid(ctx context.Context, g *models.Grid) error {
	params := l.Params()
	return g.EachGraph(func(graph *models.Graph, same []int) error {
		p, err := NewProblem(graph.W, graph.Components)
		if err != nil {
			return err
		}

		for _, setting := range same {
			err := g.Run(ctx, []int{setting}, func(split *models.Split) []models.Answer {
				s, err := l.settings(models.SharesOf(params, g.Settings[setting], g.Targets.Classes, split.Train.Classes))
				if err != nil {
					return []models.Answer{{Err: err}}
				}
				f, err := l.solve(ctx, p, split.Train, &s)
				if f == nil || !models.Usable(err) {
					return []models.Answer{{Err: err}}
				}
				return []models.Answer{models.AnswerAt(f.answers(true), split.Points, err)}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// GridCost returns the cost of the largest graph and of a fit in each fold.
func (l SizedLearner) GridCost(g *models.Grid) (models.GridCost, error) {
	out := models.GridCost{Remedy: sizedRemedy()}
	for _, v := range g.Settings {
		c, err := l.cost(&g.Input, v)
		if err != nil {
			return models.GridCost{}, err
		}
		// The matrix of the graph before its copy in the order of the problem.
		out.Shared = max(out.Shared, c.problem+12*int64(g.EdgeCount()+g.Len()))
		out.Fold = max(out.Fold, c.fit)
		out.Operations += c.operations * float64(len(g.Splits))
	}
	return out, nil
}

// sizedFit holds the results of the rounds.
type sizedFit struct {
	Rounds  int       `json:"rounds"`
	Changed float64   `json:"changed"`
	Shares  []float64 `json:"shares"`
	LetGo   bool      `json:"let_go,omitempty"`
	Off     float64   `json:"off"`
}

// Sized is a model of a [SizedLearner]. A new point has the mean of the scores of its
// nearest training points, weighted by its edges: see [Model.Predict].
type Sized struct {
	*Model
	method   SizedMethod
	settings SizedSettings
	fit      sizedFit
}

// Name is the name of the learner.
func (m *Sized) Name() string { return m.method.String() }

// Kept has no start: Poisson learning begins anew.
func (m *Sized) Kept() *models.Kept {
	k := m.Model.Kept()
	k.Start = nil
	return k
}

// Summary names the rounds and where the sizes of the classes come from.
func (m *Sized) Summary() models.Summary {
	s := m.Model.Summary()
	s.Values = sizedTables[m.method].Encode(&m.settings)
	sizes := "equal"
	equal := slices.Max(m.fit.Shares)-slices.Min(m.fit.Shares) < 1e-9
	switch {
	case m.settings.Priors != nil:
		sizes = "given"
	case m.settings.Sizes == EstimatedSizes || m.fit.LetGo:
		sizes = fmt.Sprintf("estimated, %.1f to %.1f %% of the points", 100*slices.Min(m.fit.Shares),
			100*slices.Max(m.fit.Shares))
		if m.fit.LetGo {
			sizes += ", as they came without sizes in the end"
		}
	case m.settings.Sizes == LabelSizes && !equal:
		sizes = "taken from the labels"
	}
	s.Text = fmt.Sprintf("classes' sizes %s; %d rounds, %.2g %% of the points changed in the last; %s", sizes,
		m.fit.Rounds, 100*m.fit.Changed, s.Text)
	s.Facts = append(s.Facts, models.Fact{Key: "rounds", Value: m.fit.Rounds},
		models.Fact{Key: "changed", Value: m.fit.Changed}, models.Fact{Key: "shares", Value: m.fit.Shares})
	if m.fit.Off > offTolerance {
		s.Warnings = append(s.Warnings, fmt.Sprintf("a class's share of the points differs by %.1f percentage points "+
			"from its size: too many points have equal scores", 100*m.fit.Off))
	}
	return s
}

// Encode returns what [Model.Encode] does, with the settings and the results of the rounds.
func (m *Sized) Encode() (*models.Encoded, error) {
	e, err := m.Model.Encode()
	if err != nil {
		return nil, err
	}
	e.Values = sizedTables[m.method].Encode(&m.settings)
	base, ok := e.Fit.(modelFit)
	if !ok {
		return nil, fmt.Errorf("propagation: a fit of %T", e.Fit)
	}
	e.Fit = sizedModelFit{base, m.fit}
	return e, nil
}

// sizedModelFit is the part of a model in its manifest that is no parameter.
type sizedModelFit struct {
	modelFit
	Sized sizedFit `json:"sized"`
}

// Decode is the inverse of [Sized.Encode].
func (l SizedLearner) Decode(r *models.Reader) (models.Model, error) {
	var f sizedModelFit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	s, err := l.settings(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	m, err := decode(r, f.modelFit, s.Settings)
	if err != nil {
		return nil, err
	}

	shares := f.Sized.Shares
	bad := func(v float64) bool { return !(v >= 0 && v <= 1) }
	if len(shares) != len(m.Classes) || slices.ContainsFunc(shares, bad) || f.Sized.Rounds < 0 ||
		bad(f.Sized.Changed) || math.IsNaN(f.Sized.Off) {
		return nil, fmt.Errorf("propagation: rounds %d, changed %v, shares %v of %d classes do not fit together",
			f.Sized.Rounds, f.Sized.Changed, shares, len(m.Classes))
	}
	return &Sized{m, l.Method, s, f.Sized}, nil
}
