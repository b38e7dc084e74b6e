package linear

import (
	"context"
	"errors"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// Learners are the learners of this package.
var Learners = []models.Learner{
	learner{name: RLSName, help: "regularized least squares, wᵀx + b"},
	learner{name: SVMName, help: "support vector machine, wᵀx + b", hinge: true},
	learner{name: LapRLSName, help: "rls-linear with the intrinsic norm", intrinsic: true},
	learner{name: LapSVMName, help: "svm-linear with the intrinsic norm", hinge: true, intrinsic: true},
	tsvmLearner{},
}

// norms, hinges and iterations are the parameters of Settings.
var (
	norms = models.Part(regularizer.Params,
		func(s *Settings) *regularizer.Regularizer { return &s.Regularizer }).
		Change("gamma-a", func(p *models.Param) {
			p.Grid = gammaAGrid
			p.Few = "1"
		})
	hinges = models.Table[Settings]{
		{Param: models.Param{Name: "loss",
			Doc:     "loss: the square of the hinge, or the hinge with its corner rounded",
			Default: SquaredHinge.String(),
			Choices: []string{SquaredHinge.String(), HuberizedHinge.String()},
			Why:     "rls-linear and laprls-linear have the squared loss"},
			At: func(s *Settings) any { return &s.Loss }},
		{Param: models.Param{Name: "width",
			Doc: "half the width of the rounded corner of the huberized hinge", Default: "0.1",
			Range: &models.Range{High: 1, OpenLow: true},
			Only:  &models.Condition{Param: "loss", In: []string{HuberizedHinge.String()}}},
			At: func(s *Settings) any { return &s.Width }},
	}
	iterations = models.Table[Settings]{
		{Param: models.Param{Name: "tolerance", Doc: "where an iteration stops: the norm of the " +
			"residual, or of the gradient, relative to that of f = 0", Default: "1e-8",
			Range: models.Between(0, 1)},
			At: func(s *Settings) any { return &s.Tolerance }},
		{Param: models.Param{Name: "max-iterations", Doc: "number of iterations after which the solver gives up",
			Default: "10000", Range: models.AtLeast(1)},
			At: func(s *Settings) any { return &s.MaxIterations }},
	}
)

// gammaAGrid has weights for coordinates of any size: ‖w‖² is smaller where they are
// larger.
var gammaAGrid = []string{"1e-06", "0.0001", "0.01", "1", "100", "10000", "1e+06"}

// tables holds the parameters by learner: with hinge, with an intrinsic norm.
var tables = map[[2]bool]models.Table[Settings]{}

func init() {
	for _, hinge := range []bool{false, true} {
		for _, intrinsic := range []bool{false, true} {
			t := norms[:len(regularizer.Ambient):len(regularizer.Ambient)]
			if intrinsic {
				t = norms[:len(norms):len(norms)]
			}
			last := iterations
			if hinge {
				t = append(t, hinges...)
				last = last.Change("max-iterations", func(p *models.Param) { p.Default = "200" })
			}
			tables[[2]bool{hinge, intrinsic}] = append(t, last...)
		}
	}
}

// learner fits a [Model].
type learner struct {
	name, help       string
	hinge, intrinsic bool
}

// Info describes the learner.
func (k learner) Info() models.Info {
	i := models.Info{Name: k.name, Help: k.help, Needs: models.NeedsPoints,
		Learns:  models.LearnsClasses | models.LearnsValues | models.LearnsShares | models.LearnsWeights,
		Scores:  "least-squares estimate f = wᵀx + b of 1 for the class and −1 for the others, or the value",
		Formula: "min over w, b  1/l Σ (f(x_i) − y_i)² + γ_A ‖w‖²,  f(x) = wᵀx + b",
		Source:  "Belkin, Niyogi & Sindhwani 2006, section 4.2, with γ_I = 0"}
	if k.hinge {
		i.Learns = models.LearnsClasses
		i.Source = "Keerthi & DeCoste 2005"
		i.Formula = "min over w, b  1/l Σ max(0, 1 − y_i f(x_i))² + γ_A ‖w‖²,  f(x) = wᵀx + b"
		i.Scores = "margin f = wᵀx + b of the class against the others: ±1 at the edge of the margin"
	}

	if k.intrinsic {
		i.Needs |= models.NeedsGraph
		i.GraphIf = "gamma-i"
		i.Formula = strings.Replace(i.Formula, "‖w‖²", "‖w‖² + γ_I fᵀLᵖf", 1)
		i.Source = "Belkin, Niyogi & Sindhwani 2006, section 4.2; Sindhwani, Niyogi & Belkin 2005"
		if k.hinge {
			i.Source = "Belkin, Niyogi & Sindhwani 2006, section 4.4; Sindhwani, Niyogi & Belkin 2005"
		}
	}

	return i
}

func (k learner) table() models.Table[Settings] { return tables[[2]bool{k.hinge, k.intrinsic}] }

// Params lists the parameters.
func (k learner) Params() []models.Param { return k.table().Params() }

// settings decodes values.
func (k learner) settings(v models.Values) (Settings, error) {
	s, err := k.table().Decode(v)
	if k.hinge && s.Loss == LeastSquares { // not given
		s.Loss = SquaredHinge
	}
	return s, errors.Join(err, s.Regularizer.CheckNorm())
}

// Check implements [models.Checker].
func (k learner) Check(v models.Values) error {
	_, err := k.settings(v)
	return err
}

// Fit is the function [Fit].
func (k learner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	info := k.Info()
	if err := info.Check(in); err != nil {
		return nil, err
	}
	s, err := k.settings(in.Values)
	if err != nil {
		return nil, err
	}
	var l *sparse.Laplacian
	if s.Regularizer.GammaI > 0 {
		if l, err = in.LaplacianOf(s.Regularizer.Laplacian); err != nil {
			return nil, err
		}
	}

	m, err := Fit(ctx, in.Points, l, in.Targets, &s, in.Report)
	if m == nil {
		return nil, err
	}
	return m, err
}

// FitGrid fits the settings of one intrinsic norm by [Problem.Path], which shares
// Xᵀr(L)X and its eigenvectors.
func (k learner) FitGrid(ctx context.Context, g *models.Grid) error {
	settings, usable := k.grid(g)
	base, err := NewProblem(ctx, g.Points, nil, regularizer.Regularizer{})
	if err != nil {
		return err
	}
	norm := func(i int) regularizer.Regularizer { return settings[i].Regularizer }
	return regularizer.Each(g, usable, norm, func(l *sparse.Laplacian, r regularizer.Regularizer, same []int) error {
		problem := base
		if l != nil {
			if problem, err = base.WithNorm(ctx, l, r); err != nil {
				return err
			}
		}

		path := make([]Settings, len(same))
		for p, i := range same {
			path[p] = settings[i]
		}
		return g.Run(ctx, same, func(s *models.Split) []models.Answer {
			return problem.answers(ctx, g.Points,
				s, path)
		})
	})
}

// grid decodes all settings of g and returns the positions of those that can be
// fitted.
func (k learner) grid(g *models.Grid) (settings []Settings, usable []int) {
	settings = make([]Settings, len(g.Settings))
	for i, v := range g.Settings {
		var err error
		if settings[i], err = k.settings(v); err != nil {
			g.Fail([]int{i}, err)
			continue
		}
		usable = append(usable, i)
	}
	return settings, usable
}

// answers fits a path without the points held out, and answers for those.
func (p *Problem) answers(ctx context.Context, x data.Points, s *models.Split,
	path []Settings) []models.Answer {
	fits, err := p.Path(ctx, s.Train, path)
	held := data.Select(x, s.Points)
	answers := make([]models.Answer, len(path))
	for i := range answers {
		var m *Model
		fault := err
		if fits != nil {
			m = fits[i]
			// another one of the path failed, or this one
		} else if m, fault = p.Fit(ctx, s.Train, &path[i]); m == nil {
			answers[i].Err = fault
			continue
		}
		prediction, err := m.Predict(ctx, held, nil)
		if err == nil {
			err = fault
		}
		answers[i] = models.AnswerOf(prediction, err)
	}

	return answers
}
