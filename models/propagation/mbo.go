package propagation

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/stage"
)

// PoissonMBOName is the name of [PoissonMBOLearner] and its models.
const PoissonMBOName = "poisson-mbo"

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

// MBOSettings are settings of [Problem.FitPoissonMBO].
type MBOSettings struct {
	// Settings are those of Poisson learning: Priors are the shares of the classes in all points.
	Settings
	// Sizes says where they come from without Priors.
	Sizes ClassSizes
	// Steps of the heat equation between two decisions, Ns of the paper. Default 40.
	Steps int
	// Rounds bounds the decisions. Default 50.
	Rounds int
}

const (
	defaultSteps  = 40
	defaultRounds = 50
	// steadyShare of the points may change in the last round.
	steadyShare = 1e-4
)

var mboParams = join(
	models.Table[Settings]{priorParams[0]}.Change("priors", func(p *models.Param) {
		p.Default = "see class-sizes"
	}), solverParams)

// mboTable holds all parameters.
var mboTable = append(models.Part(mboParams, func(s *MBOSettings) *Settings { return &s.Settings }),
	models.Table[MBOSettings]{
		{Param: models.Param{Name: "class-sizes",
			Doc:     "sizes of the classes without priors: of labels and of answers of poisson, of labels, or equal",
			Default: EstimatedSizes.String(), Choices: sizesNames.All()},
			At: func(s *MBOSettings) any { return &s.Sizes }},
		{Param: models.Param{Name: "steps", Doc: "steps of the heat equation between two decisions",
			Default: models.FormatFloat(defaultSteps), Range: models.AtLeast(1)},
			At: func(s *MBOSettings) any { return &s.Steps }},
		{Param: models.Param{Name: "rounds", Doc: "decisions at most; fewer where classes stay",
			Default: models.FormatFloat(defaultRounds), Range: models.AtLeast(1)},
			At: func(s *MBOSettings) any { return &s.Rounds }},
	}...)

// MBOSolution is a [Solution] of [Problem.FitPoissonMBO].
type MBOSolution struct {
	*Solution
	Rounds  int       // decisions
	Changed float64   // share of the points that changed their class in the last round
	Shares  []float64 // sizes of the classes in the end, as shares of the points
	// Off is the largest difference of a class's share of the answers from its size.
	Off float64
}

// FitPoissonMBO is PoissonMBO, for very few labels and classes whose sizes are known about: it
// starts from the classes of Poisson learning and minimizes the cut of the graph under the volumes
// of the classes, by turns of
//
//	u ← u − Δt (Lu − Σ_j (y_j − ȳ) δ_j),  Steps times, from the unit vectors of the classes,
//	k_i = argmax_c s_c (u_ic − min u),    s such that class c gets its share of the points
//
// with L = D − W and Δt = 1/max d (Calder, Cook, Thorpe & Slepčev 2020, Algorithm 2). Both end
// when at most 10⁻⁴ of the points change, or after Rounds. The paper's program takes 20 rounds, in
// which a hundredth of the points may still be on the way.
//
// Priors give the sizes. Without them they are (r + q)/2: r_c = (n_c + 1)/(l + C), for n_c of l labels
// and C classes, and q the shares of the classes in the answers of Poisson learning. Draws of as many
// labels of each class say nothing about sizes, and then r is 1/C. The estimate and the limit of the
// rounds are not in the paper.
//
// Scores are s_c (u_ic − min u) of the last round. In a component without a label nothing is known;
// its points do not count in the sizes. ȳ is the mean of the labels of the component, as in [Poisson].
//
// A round costs some twenty passes over the graph for all classes at once, in place of Steps (see
// heat), and ten to thirty passes over u. It holds four n×C blocks beside those of Poisson learning.
func (p *Problem) FitPoissonMBO(ctx context.Context, y *models.Targets, s *MBOSettings) (*MBOSolution, error) {
	first := s.Settings
	first.Method = Poisson
	g, err := p.Fit(ctx, y, &first)
	if g == nil || !models.Usable(err) {
		return nil, err
	}
	short := err
	steps, rounds := s.Steps, s.Rounds
	if steps == 0 {
		steps = defaultSteps
	}
	if rounds == 0 {
		rounds = defaultRounds
	}

	d := p.newDraw(y, g.Settings)
	live := d.live()
	u := p.there(g.Scores)
	v := newVolumes(p.Len(), d.sizes(s), live)
	if s.Priors == nil && s.Sizes == EstimatedSizes {
		for c, share := range v.decide(u, v.lowest(u)) {
			v.shares[c] = (v.shares[c] + share) / 2
		}
	}
	v.project(u)
	h := newHeat(p.plain, steps, len(y.Classes))
	sources := h.sources(d.centred())

	out := &MBOSolution{Solution: g, Shares: v.shares}
	before := make([]int32, p.Len())
	for out.Rounds < rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		copy(before, v.labels)
		u = h.step(v.labels, live, sources)
		out.Off = v.project(u)
		out.Rounds++
		out.Changed = changedShare(before, v.labels)
		if s.OnIteration != nil {
			state := cg.State{Iteration: out.Rounds, Columns: rounds, Converged: out.Rounds, Residual: out.Changed}
			if err := s.OnIteration(state); err != nil {
				return nil, err
			}
		}
		if out.Changed <= steadyShare {
			break
		}
	}

	// The scores have the factors, so that their largest is the class.
	low := v.lowest(u)
	factors := v.factors()
	for i := range p.Len() {
		row := u.RawRowView(i)
		for c := range row {
			row[c] = factors[c] * (row[c] - low)
			if live != nil && !live[i] {
				row[c] = 0
			}
		}
	}
	g.Scores = p.back(u)
	g.Unreached = 0
	g.settle(d, y)
	return out, short
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

// sizes returns the shares of the classes that the settings and labels give.
func (d *draw) sizes(s *MBOSettings) []float64 {
	var out []float64
	switch {
	case s.Priors != nil:
		out = slices.Clone(s.Priors)
	case s.Sizes == EqualSizes:
		out = slices.Repeat([]float64{1}, len(d.counts()))
	default:
		out = d.counts()
		for c := range out {
			out[c]++
		}
	}

	var total float64
	for _, v := range out {
		total += v
	}
	for c := range out {
		out[c] /= total
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

// PoissonMBOLearner continues classes by [Problem.FitPoissonMBO].
type PoissonMBOLearner struct{}

// Info describes the learner.
func (PoissonMBOLearner) Info() models.Info {
	return models.Info{Name: PoissonMBOName, Help: "Poisson learning, then the smallest cut with classes of given " +
		"or estimated sizes, for very few labels",
		Source: "Calder, Cook, Thorpe & Slepčev 2020, Algorithm 2; sizes that are estimated are not in the paper",
		Scores: "heat from the points of the class, times the factor that gives the class its size; 0 out " +
			"of reach of labels",
		Learns: models.LearnsClasses, Needs: models.NeedsGraph}
}

// Params lists the parameters.
func (PoissonMBOLearner) Params() []models.Param { return mboTable.Params() }

// settings returns the settings with the given values.
func (PoissonMBOLearner) settings(v models.Values) (MBOSettings, error) {
	s, err := mboTable.Decode(v)
	s.Method = Poisson
	return s, err
}

// Cost returns the cost of Poisson learning and of the rounds.
func (l PoissonMBOLearner) Cost(in *models.Input) (stage.Cost, error) {
	s, err := l.settings(in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	problem, fit, err := bytes(in, &s.Settings)
	if err != nil {
		return stage.Cost{}, err
	}

	// The rounds hold the scores, two blocks of the recurrence, the sources and their flow.
	n := int64(in.Len())
	c := int64(columns(in.Targets))
	rounds := stage.HeapBytes(8*n*(7*c+2) + 9*n)
	const passes = 20 * 15 // of usual fits
	return stage.Cost{Bytes: problem + max(fit, rounds),
		Operations: operations(in) + passes*float64(c)*(2*float64(in.EdgeCount())+5*float64(n)),
		Remedy:     fmt.Sprintf("make a graph of fewer %s", param.Name("neighbors"))}, nil
}

// Fit is [Problem.FitPoissonMBO] on the graph and the targets of in.
func (l PoissonMBOLearner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	s, err := l.settings(in.Values)
	if err != nil {
		return nil, err
	}
	info := l.Info()
	if err := info.Check(in); err != nil {
		return nil, err
	}
	if err := models.CheckLabels(in.Targets.ClassLabels(), in.Len()); err != nil {
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
	g, err := p.FitPoissonMBO(ctx, in.Targets, &s)
	if g == nil || !models.Usable(err) {
		return nil, err
	}
	return &PoissonMBO{&Model{Solution: g.Solution, Neighborhood: in.Graph.Keep(),
		Given: models.GivenOf(in.Targets)}, s, mboFit{g.Rounds, g.Changed, g.Shares, g.Off}}, err
}

// mboFit is what a fit found out.
type mboFit struct {
	Rounds  int       `json:"rounds"`
	Changed float64   `json:"changed"`
	Shares  []float64 `json:"shares"`
	Off     float64   `json:"off"`
}

// PoissonMBO is a model by [Problem.FitPoissonMBO]. A new point has the mean of the scores of its
// nearest training points, weighted by its edges: see [Model.Predict].
type PoissonMBO struct {
	*Model
	settings MBOSettings
	fit      mboFit
}

// Name is [PoissonMBOName].
func (m *PoissonMBO) Name() string { return PoissonMBOName }

// Kept has no start: Poisson learning begins anew.
func (m *PoissonMBO) Kept() *models.Kept {
	k := m.Model.Kept()
	k.Start = nil
	return k
}

// Summary names the rounds and where the sizes of the classes come from.
func (m *PoissonMBO) Summary() models.Summary {
	s := m.Model.Summary()
	s.Values = mboTable.Encode(&m.settings)
	sizes := "equal"
	equal := slices.Max(m.fit.Shares)-slices.Min(m.fit.Shares) < 1e-9
	switch {
	case m.settings.Priors != nil:
		sizes = "given"
	case m.settings.Sizes == EstimatedSizes:
		sizes = fmt.Sprintf("estimated, %.1f to %.1f %% of the points", 100*slices.Min(m.fit.Shares),
			100*slices.Max(m.fit.Shares))
	case m.settings.Sizes == LabelSizes && !equal:
		sizes = "taken from the labels"
	}
	s.Text = fmt.Sprintf("classes' sizes %s; %d rounds, %.2g %% of the points changed in the last; %s", sizes,
		m.fit.Rounds, 100*m.fit.Changed, s.Text)
	s.Facts = append(s.Facts, models.Fact{Key: "rounds", Value: m.fit.Rounds},
		models.Fact{Key: "changed", Value: m.fit.Changed}, models.Fact{Key: "shares", Value: m.fit.Shares})
	if m.fit.Off > 5*volumeTolerance {
		s.Warnings = append(s.Warnings, fmt.Sprintf("a class's share of the points differs by %.1f percentage points "+
			"from its size: too many points have equal scores", 100*m.fit.Off))
	}
	return s
}

// Encode returns what [Model.Encode] does, with the settings and the results of the rounds.
func (m *PoissonMBO) Encode() (*models.Encoded, error) {
	e, err := m.Model.Encode()
	if err != nil {
		return nil, err
	}
	e.Values = mboTable.Encode(&m.settings)
	base, ok := e.Fit.(modelFit)
	if !ok {
		return nil, fmt.Errorf("propagation: a fit of %T", e.Fit)
	}
	e.Fit = mboModelFit{base, m.fit}
	return e, nil
}

// mboModelFit is the part of a model in its manifest that is no parameter.
type mboModelFit struct {
	modelFit
	MBO mboFit `json:"mbo"`
}

// Decode is the inverse of [PoissonMBO.Encode].
func (l PoissonMBOLearner) Decode(r *models.Reader) (models.Model, error) {
	var f mboModelFit
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

	shares := f.MBO.Shares
	bad := func(v float64) bool { return !(v >= 0 && v <= 1) }
	if len(shares) != len(m.Classes) || slices.ContainsFunc(shares, bad) || f.MBO.Rounds < 1 ||
		bad(f.MBO.Changed) || math.IsNaN(f.MBO.Off) {
		return nil, fmt.Errorf("propagation: rounds %d, changed %v, shares %v of %d classes do not fit together",
			f.MBO.Rounds, f.MBO.Changed, shares, len(m.Classes))
	}
	return &PoissonMBO{m, s, f.MBO}, nil
}
