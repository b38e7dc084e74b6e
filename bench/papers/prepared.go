package papers

import (
	"context"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// Prepared is a learner of (Laplacian) regularized least squares on landmarks, with
// problems that the caller made beforehand: the searches of all draws share one problem for
// each width, where [kernelmachine.Learner] would make a new problem in each search. The
// problems hold the graph.
type Prepared struct {
	kernelmachine.Learner
	laplacian sparse.Kind
	Problems  map[float64]*kernelmachine.ApproximateProblem // by σ
}

// NewPrepared returns the learner without problems, which the caller adds to Problems. l is
// the Laplacian of their graph, or nil for least squares without a graph.
func NewPrepared(l *sparse.Laplacian) *Prepared {
	p := &Prepared{Learner: kernelmachine.Learner{Method: kernelmachine.RLS, Intrinsic: l != nil},
		Problems: map[float64]*kernelmachine.ApproximateProblem{}}
	if l != nil {
		p.laplacian = l.Kind()
	}
	return p
}

// Info describes the learner as [kernelmachine.Learner] does, without the need of a graph:
// the problems hold it.
func (p *Prepared) Info() models.Info {
	info := p.Learner.Info()
	info.Needs &^= models.NeedsGraph
	info.GraphIf = ""
	return info
}

// settings returns the settings of the machine for the values v of the parameters.
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
	// Settings of one width share a problem, and its path solves them together.
	for _, same := range models.Grouped(g.All(),
		func(i int) float64 { return g.Settings[i].Float("sigma") }) {
		problem := p.Problems[g.Settings[same[0]].Float("sigma")]
		settings := make([]kernelmachine.Settings, len(same))
		for i, at := range same {
			settings[i] = p.settings(g.Settings[at])
		}
		err := g.Run(ctx, same, func(s *models.Split) []models.Answer {
			// A fit that did not converge still predicts; its error goes along with the
			// prediction.
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
