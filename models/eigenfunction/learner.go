package eigenfunction

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/stage"
)

// Learners are the learners of this package.
var Learners = []models.Learner{Learner{}}

// choice holds all settings as users give them.
type choice struct {
	Settings
	kernel expansion.KernelChoice
}

// params are the parameters of choice.
var params = slices.Concat(
	models.Table[choice]{
		{Param: models.Param{Name: "eigenfunctions", Doc: "number of eigenfunctions",
			Default: "by cross-validation from 1 to 200", Range: models.AtLeast(1), Axis: true, Smaller: true,
			Grid: []string{"5", "10", "20", "50", "100", "200"}},
			At: func(c *choice) any { return &c.Eigenfunctions }},
	},
	models.Part(expansion.KernelParams, func(c *choice) *expansion.KernelChoice { return &c.kernel }),
	models.Table[choice]{
		{Param: models.Param{Name: "landmarks",
			Doc:     "number of points over which the eigenfunctions are expanded, drawn by the seed",
			Default: "all points", Range: models.AtLeast(1)},
			At: func(c *choice) any { return &c.Landmarks }},
		{Param: models.Param{Name: "intercept", Doc: "add a constant to the eigenfunctions",
			Default: "false"},
			At: func(c *choice) any { return &c.Intercept }},
		{Param: models.Param{Name: "folds",
			Doc: "folds of the cross-validation inside the fit, at most the number of labels", Default: "5",
			Range: models.AtLeast(2)},
			At: func(c *choice) any { return &c.Folds }},
		{Param: models.Param{Name: "repeats", Doc: "number of times that the labels are dealt into folds", Default: "1",
			Range: models.AtLeast(1)},
			At: func(c *choice) any { return &c.Repeats }},
	},
)

// decode returns the settings of v and the kernel with the points x, or values.
func decode(v models.Values, x data.Points, seed uint64) (Settings, kernel.Source, error) {
	c, err := params.Decode(v)
	if err != nil {
		return Settings{}, kernel.Source{}, err
	}
	source, err := c.kernel.On(x, seed)
	c.Seed = seed
	return c.Settings, source, err
}

// Learner fits least squares on eigenfunctions.
type Learner struct{}

// Info describes the learner.
func (Learner) Info() models.Info {
	return models.Info{Name: Name, Help: "least squares on eigenfunctions of a kernel over all points",
		Formula: "min over a  Σ over labels of (f(x_i) − y_i)²,  f = Σ_{j ≤ s} a_j φ_j,\n" +
			"φ_j the leading eigenfunctions of the kernel over all n points",
		Source: "Ji et al. 2012, algorithm 1",
		Scores: "least-squares estimate f of 1 for the class and −1 for the others, or the value",
		Learns: models.LearnsClasses | models.LearnsValues | models.LearnsShares,
		Needs:  models.NeedsPoints | models.NeedsKernel, ShrinksToZero: true}
}

// Params lists the parameters.
func (Learner) Params() []models.Param { return params.Params() }

// Resolve returns the values with the width of the kernel as a number.
func (Learner) Resolve(in *models.Input) (models.Values, error) { return expansion.ResolveWidth(in) }

// Fit is the function [Fit].
func (l Learner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	info := l.Info()
	if err := info.Check(in); err != nil {
		return nil, err
	}
	s, x, err := decode(in.Values, in.Points, in.Seed)
	if err != nil {
		return nil, err
	}
	m, err := Fit(ctx, x, in.Targets, &s, Limits{in.Memory, in.Report})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// FitGrid computes the eigenfunctions of each kernel once, over all points, and
// fits all settings and folds on them.
func (Learner) FitGrid(ctx context.Context, g *models.Grid) error {
	// A setting with more eigenfunctions than a fold can fit fails; the others go on.
	settings := make([]Settings, len(g.Settings))
	sources := make([]kernel.Source, len(g.Settings))
	counts := make([]int, len(g.Settings))
	var usable []int
	for i, v := range g.Settings {
		var err error
		if settings[i], sources[i], err = decode(v, g.Points, g.Seed); err == nil {
			_, counts[i], err = settings[i].Fill(len(g.Targets.Labeled))
		}
		if err != nil {
			g.Fail([]int{i}, err)
			continue
		}
		usable = append(usable, i)
	}

	// Settings of one kernel and one number of landmarks use the same eigenfunctions; the
	// first s of many are the s of a smaller setting.
	type span struct {
		source    kernel.Source
		landmarks int
	}
	for _, same := range models.Grouped(usable,
		func(i int) span { return span{sources[i], settings[i].Landmarks} }) {
		first := same[0]
		most := 0
		for _, i := range same {
			most = max(most, counts[i])
		}
		e, err := New(ctx, sources[first], &FunctionSettings{Count: most,
			Landmarks: settings[first].Landmarks, Seed: g.Seed, Limits: Limits{Memory: g.Memory}})
		if err != nil {
			return err
		}

		// All folds take their rows from the values at the labeled points.
		at, err := e.At(ctx, data.Select(g.Points, g.Targets.Labeled))
		if err != nil {
			return err
		}

		err = g.Run(ctx, same, func(s *models.Split) []models.Answer {
			kept := dense.Gather(mat.NewDense(len(s.Kept), len(e.Values), nil), at, s.Kept)
			answers := make([]models.Answer, len(same))
			for p, i := range same {
				answers[p] = e.answer(ctx, s, at, kept, &settings[i])
			}
			return answers
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// answer fits to the points kept by a split and answers for the points held out. at has the
// values of the functions at all labeled points, kept the rows of the points kept.
func (e *Functions) answer(ctx context.Context, s *models.Split, at, kept *mat.Dense,
	settings *Settings) models.Answer {
	m, gamma, err := e.regress(ctx, s.Train, kept, settings)
	if err != nil {
		return models.Answer{Err: err}
	}
	_, c := gamma.Dims()
	f := mat.NewDense(len(s.Held), c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, m.design(at, s.Held, m.Settings.Eigenfunctions), gamma, 0, f)
	return models.AnswerOf(models.NewPrediction(f, s.Train.Classes), nil)
}

// Summary names the number of eigenfunctions, their share of the trace and the decay of the
// eigenvalues.
func (m *Model) Summary() models.Summary {
	s := models.Summary{Labeled: m.Labeled, Values: m.values()}
	size, _ := m.Coefficients.Dims()
	captured := m.Captured()
	s.Text = fmt.Sprintf("%d eigenfunctions", m.Settings.Eigenfunctions)
	if m.Risk != nil {
		s.Text += fmt.Sprintf(" of %d by cross-validation", len(m.Risk))
		s.Facts = append(s.Facts, models.Fact{Key: "risk", Value: m.Risk})
	}

	s.Text += fmt.Sprintf(" with %.4f of the trace, expansion over %d points, %s", captured, size,
		m.DescribeKernel())
	s.Facts = append(s.Facts, models.Fact{Key: "captured_trace", Value: captured},
		models.Fact{Key: "expansion", Value: size}, m.KernelFact())
	if len(m.Values) > 1 {
		_, decay := PowerLaw(m.Values)
		s.Text += fmt.Sprintf(", eigenvalues λ_k ~ k^-%.2f", decay)
		s.Facts = append(s.Facts, models.Fact{Key: "decay", Value: decay})
	}

	// Where the choice looked at more functions than it took, the next eigenvalue is known.
	if used := m.Settings.Eigenfunctions; used < len(m.Values) {
		s.Facts = append(s.Facts, models.Fact{Key: "eigengap", Value: m.Values[used-1] - m.Values[used]},
			models.Fact{Key: "eigengap_asked", Value: GapAsked(size)})
	}
	// What Theorem 2 would take, with the fitted function for the best one.
	if m.Risk != nil {
		if count, ok := BoundCount(m.Values, m.Norm2, m.Risk[m.Settings.Eigenfunctions-1]); ok {
			s.Facts = append(s.Facts, models.Fact{Key: "eigenfunctions_of_bound", Value: count})
			s.Text += fmt.Sprintf(" (the bound of the paper takes (aR/ε)^(2/(p−1)) = %.3g of them)", count)
		}
	}

	if m.Asked > m.Settings.Eigenfunctions {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d eigenfunctions were asked for and %d are in "+
			"use: no other eigenvalue is above %g of the largest; take fewer %s, or a "+
			"smaller %s", m.Asked, m.Settings.Eigenfunctions, eigenfunctionCut,
			param.Name("eigenfunctions"), param.Name("sigma")))
	}
	return s
}

// values returns the settings and the kernel as values of parameters.
func (m *Model) values() models.Values {
	return params.Encode(&choice{m.Settings, m.KernelChoice()})
}

// fit is the part of a model in its manifest.
type fit struct {
	Seed    uint64  `json:"seed"`
	Labeled int     `json:"labeled"`
	Trace   float64 `json:"trace"`
	// Risk says whether the file has the array risk.
	Risk  bool `json:"risk"`
	Asked int  `json:"asked,omitempty"`
	// Norm2 is the squared norm of the function.
	Norm2 float64 `json:"norm2,omitempty"`
	// Fallback is the class of points where f is 0: see [expansion.Expansion].
	Fallback int32 `json:"fallback,omitempty"`
}

// Encode returns the arrays of [expansion.Expansion.Arrays] and
//
//	values  float64  p  eigenvalues λ_j in use or to choose from, descending
//	risk    float64  p  mean squared error of 1, 2, … functions: only if one was chosen
func (m *Model) Encode() (*models.Encoded, error) {
	arrays := append(m.Arrays(), archive.Array{Name: "values", Data: m.Values})
	if m.Risk != nil {
		arrays = append(arrays, archive.Array{Name: "risk", Data: m.Risk})
	}
	return &models.Encoded{Values: m.values(), Fit: fit{m.Settings.Seed, m.Labeled, m.Trace, m.Risk != nil,
		m.Asked, m.Norm2, m.Fallback}, Arrays: arrays}, nil
}

// Decode is the inverse of [Model.Encode].
func (Learner) Decode(r *models.Reader) (models.Model, error) {
	var f fit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	c, err := params.Decode(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	c.Seed = f.Seed
	e, err := expansion.Read(r, c.kernel, true)
	if err != nil {
		return nil, err
	}

	m := &Model{Settings: c.Settings, Expansion: *e, Labeled: f.Labeled, Trace: f.Trace, Asked: f.Asked, Norm2: f.Norm2,
		Values: models.Numbers[float64](r, "values")}
	if f.Risk {
		m.Risk = models.Numbers[float64](r, "risk")
	}
	if r.Err != nil {
		return nil, r.Err
	}
	if m.Fallback = f.Fallback; m.Fallback < 0 || int(m.Fallback) >= max(1, len(m.Classes)) {
		return nil, fmt.Errorf("eigenfunction: points where f is 0 get class %d of %d", m.Fallback, len(m.Classes))
	}
	return m, m.check()
}

// Cost returns the cost of the Gram matrix, the search for its eigenpairs and the fits.
func (Learner) Cost(in *models.Input) (stage.Cost, error) {
	c, err := params.Decode(in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	return cost(in, &c.Settings)
}

// cost estimates the cost of [Fit]; see [New].
func cost(in *models.Input, s *Settings) (stage.Cost, error) {
	n, d := in.Points.Dims()
	l := len(in.Targets.Labeled)
	filled, most, err := s.Fill(l)
	if err != nil {
		return stage.Cost{}, err
	}
	size, pairs := eigenfunctionSize(n, most, s.Landmarks)
	need, err := lanczos.Bytes(size, &lanczos.Settings{K: pairs, Largest: true})
	if err != nil {
		return stage.Cost{}, err
	}

	// The eigenproblem: about five products for each pair, with a held matrix or with tiles.
	m := float64(size)
	q := float64(pairs)
	bytes := need + 8*int64(size)*int64(d+pairs+most)
	operations := 5 * q * 2 * m * m // products
	if held := kernel.GramBytes(size); held <= heldGram && (in.Memory <= 0 || held <= in.Memory/2) {
		bytes += held
	} else {
		operations += 5 * q / 8 * m * m * float64(2*d+40)
	}

	// The pass over all points that projects on the functions of the landmarks.
	if size < n {
		bytes += 8 * data.BlockRows * int64(size/8+pairs)
		operations += float64(n) * m * (2*float64(d) + 2*q + 40)
	}

	// Then the values at the labeled points are copied for the fits.
	bytes = max(bytes, 4*int64(most)*int64(5*l+4*size)+8*256*int64(size))
	bytes += bytes / 8 // bases that restarts leave to the garbage collector
	operations += 4 * float64(l) * float64(most*most) * float64(filled.Folds*filled.Repeats+1)
	return stage.Cost{Bytes: stage.DenseBytes(bytes), Operations: operations,
		Remedy: fmt.Sprintf("take fewer %s, or %s", param.Name("eigenfunctions"),
			param.Name("landmarks"))}, nil
}

// GridCost returns the cost of the eigenfunctions of each kernel, which the settings share,
// and of the fits of a fold.
func (Learner) GridCost(g *models.Grid) (models.GridCost, error) {
	var out models.GridCost
	l := float64(len(g.Targets.Labeled))
	most := 0
	spans := map[expansion.KernelChoice]bool{}
	for i := range g.Settings {
		c, err := params.Decode(g.Settings[i])
		if err != nil {
			return out, err
		}
		spans[c.kernel] = true
		one, err := cost(&g.Input, &c.Settings)
		if err != nil {
			continue // FitGrid reports it
		}

		_, count, _ := c.Fill(len(g.Targets.Labeled))
		most = max(most, count)
		if out.Shared < one.Bytes {
			out.Shared = one.Bytes
			out.Operations = one.Operations
			out.Remedy = one.Remedy
		}
	}

	p := math.Min(l, float64(most))
	out.Fold = models.Bytes(8 * 3 * l * p)
	out.Operations = float64(len(spans))*out.Operations + g.Fits()*4*l*p*p
	return out, nil
}
