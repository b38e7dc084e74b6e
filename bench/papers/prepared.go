package papers

import (
	"context"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// Prepared is (Laplacian) regularized least squares on landmarks that are chosen
// beforehand: the searches of all draws share one problem for each width, where
// [kernelmachine.Learner] makes it anew in each. The graph is in the problems.
type Prepared struct {
	kernelmachine.Learner
	laplacian sparse.Kind
	Problems  map[float64]*kernelmachine.ApproximateProblem // by σ
}

// NewPrepared returns the learner of least squares without problems; its graph, if
// it has one, is l.
func NewPrepared(l *sparse.Laplacian) *Prepared {
	p := &Prepared{Learner: kernelmachine.Learner{Method: kernelmachine.RLS, Intrinsic: l != nil},
		Problems: map[float64]*kernelmachine.ApproximateProblem{}}
	if l != nil {
		p.laplacian = l.Kind()
	}
	return p
}

// Info is that of the learner, but it takes no graph.
func (p *Prepared) Info() models.Info {
	info := p.Learner.Info()
	info.Needs &^= models.NeedsGraph
	info.GraphIf = ""
	return info
}

// settings returns the settings that v stands for.
func (p *Prepared) settings(v models.Values) kernelmachine.Settings {
	return kernelmachine.Settings{Method: p.Method,
		Regularizer: regularizer.Regularizer{GammaA: v.Float("gamma-a"), GammaI: v.Float("gamma-i"),
			Laplacian: p.laplacian}}
}

// Fit fits the problem of the width among in.Values.
func (p *Prepared) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	fits, err := p.Problems[in.Values.Float("sigma")].Path(ctx, in.Targets,
		[]kernelmachine.Settings{p.settings(in.Values)})
	if !models.Usable(err) {
		return nil, err
	}
	return fits[0], err
}

// FitGrid fits the settings of each width as one path.
func (p *Prepared) FitGrid(ctx context.Context, g *models.Grid) error {
	for _, same := range models.Grouped(g.All(),
		func(i int) float64 { return g.Settings[i].Float("sigma") }) {
		problem := p.Problems[g.Settings[same[0]].Float("sigma")]
		settings := make([]kernelmachine.Settings, len(same))
		for i, at := range same {
			settings[i] = p.settings(g.Settings[at])
		}
		err := g.Run(ctx, same, func(s *models.Split) []models.Answer {
			answers := make([]models.Answer, len(same))
			fits, fault := problem.Path(ctx, s.Train, settings)
			x := data.Select(g.Points, s.Points)
			for i := range answers {
				if !models.Usable(fault) {
					answers[i].Err = fault
					continue
				}
				f, err := fits[i].Predict(ctx, x, nil)
				if err == nil {
					err = fault
				}
				answers[i] = models.AnswerOf(f, err)
			}

			return answers
		})
		if err != nil {
			return err
		}
	}

	return nil
}
