package eigenmap

import (
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// pairing says which eigenpairs settings of a grid share.
type pairing struct {
	graph     string
	laplacian sparse.Kind
	tolerance float64
}

// decodeGrid returns the options of all settings of a grid and the largest number of
// eigenpairs that they need. A penalty needs its γ and its number of eigenvectors:
// the grid chooses them.
func decodeGrid(g *models.Grid) (all []options, pairs int, err error) {
	for _, v := range g.Settings {
		o, err := params.Decode(v)
		if err != nil {
			return nil, 0, err
		}
		if o.Penalty != NoPenalty && (o.Gamma == 0 || o.Eigenvectors == 0) {
			return nil, 0, models.Faultf("%s %v needs values of %s and %s to choose from", models.ParamName("penalty"), o.Penalty, models.ParamName("gamma"), models.ParamName("eigenvectors"))
		}
		k, err := o.pairs(len(g.Targets.Labeled), g.Len())
		if err != nil {
			return nil, 0, err
		}
		all, pairs = append(all, o), max(pairs, k)
	}
	return all, pairs, nil
}

// grouped returns the settings of a grid in groups of one pairing.
func grouped(g *models.Grid, all []options) [][]int {
	return models.Grouped(g.All(), func(i int) pairing {
		return pairing{g.GraphKey(i), all[i].Laplacian, all[i].tolerance()}
	})
}

// FitGrid computes the eigenpairs of every graph once, unless they are known.
func (Learner) FitGrid(ctx context.Context, g *models.Grid) error {
	if g.Targets.Classes == nil {
		return errNoClasses
	}
	all, pairs, err := decodeGrid(g)
	if err != nil {
		return err
	}
	for _, same := range grouped(g, all) {
		graph, err := g.GraphOf(same[0])
		if err != nil {
			return err
		}
		first := &all[same[0]]
		l, err := sparse.NewLaplacian(graph.W, first.Laplacian)
		if err != nil {
			return err
		}
		components := graph.Components
		if components == nil {
			components = graph.W.Components()
		}
		e, unfinished := g.KnownPairs(same[0], first.Laplacian, pairs, first.tolerance())
		if e == nil {
			e, unfinished = lanczos.Laplacian(ctx, l, components, &lanczos.Settings{K: pairs, Tolerance: first.tolerance(), Seed: g.Seed, MemoryLimit: g.Memory})
		}
		if e == nil || !models.Usable(unfinished) {
			return unfinished
		}
		settings := make([]Settings, len(same))
		for i, at := range same {
			settings[i] = all[at].Settings
			settings[i].Seed = g.Seed
		}
		err = g.Run(ctx, same, func(s *models.Split) []models.Answer {
			answers := answersOn(ctx, e, components, s, settings)
			for i := range answers {
				answers[i].Err = errors.Join(answers[i].Err, unfinished)
			}
			return answers
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// answersOn returns the answers of settings for the points held in a split.
func answersOn(ctx context.Context, e *lanczos.Result, c *sparse.Components, s *models.Split, settings []Settings) []models.Answer {
	fits, err := FitAll(ctx, e, c, []*data.Labels{s.Labels}, settings)
	if err != nil {
		return slices.Repeat([]models.Answer{{Err: err}}, len(settings))
	}
	n, have := e.Vectors.Dims()
	rows := dense.Gather(mat.NewDense(len(s.Points), have, nil), e.Vectors, s.Points)
	reached := c.Reached(s.Train.Labeled)
	answers := make([]models.Answer, len(settings))
	for i, m := range fits[0] {
		scores := m.Scores(rows, n)
		classes := models.Decide(scores)
		for q, at := range s.Points {
			if !reached[at] {
				classes[q] = m.Fallback
			}
		}
		answers[i] = models.Answer{Scores: scores, Classes: classes}
	}
	return answers
}

// GridCost is that of the eigenpairs of each graph and of the fits to them.
func (Learner) GridCost(g *models.Grid) (models.GridCost, error) {
	all, pairs, err := decodeGrid(g)
	if err != nil {
		return models.GridCost{}, err
	}
	settings := &lanczos.Settings{K: pairs, Tolerance: defaultTolerance, MemoryLimit: g.Memory}
	basis, err := lanczos.Bytes(g.Len(), settings)
	if err != nil {
		return models.GridCost{}, err
	}
	edges := g.EdgeCount()
	_, l, _, c := g.Sizes()
	p, splits := float64(pairs), float64(len(g.Splits))
	fits := g.Fits() * p * p * p / 3
	return models.GridCost{
		Shared:     models.Bytes(24*float64(edges) + float64(basis)),
		Fold:       models.Bytes(8 * (min(l, gramRows)*(p+c) + l*p + 5*p*p)),
		Operations: float64(len(grouped(g, all)))*lanczos.Operations(g.Len(), edges, settings) + splits*l*p*p + fits,
		Remedy:     "give fewer points, or take fewer --eigenvectors",
	}, nil
}
