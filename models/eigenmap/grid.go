package eigenmap

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// pairing says which eigenpairs settings of a grid share.
type pairing struct {
	graph     string
	laplacian sparse.Kind
	tolerance float64
}

// decodeGrid returns the options of all settings of a grid. A penalty needs its γ and
// its number of eigenvectors: the grid chooses them.
func decodeGrid(g *models.Grid) (all []options, err error) {
	for _, v := range g.Settings {
		o, err := decode(v)
		if err != nil {
			return nil, err
		}
		if o.Penalty != NoPenalty && (o.Gamma == 0 || o.Eigenvectors == 0) {
			return nil, models.Faultf("%s %v needs values of %s and %s to choose from",
				param.Name("penalty"), o.Penalty, param.Name("gamma"),
				param.Name("eigenvectors"))
		}
		all = append(all, o)
	}

	return all, nil
}

// most returns the largest number of eigenpairs that settings need, and the usable settings:
// the ones that ask for no more eigenpairs than there are points. least is the number of
// eigenpairs below which the labels cannot be fitted. err is the fault of the last setting
// that is not usable.
func most(g *models.Grid, all []options, settings []int, least int) (pairs int, usable []int, err error) {
	for _, i := range settings {
		k, fault := all[i].pairs(len(g.Targets.Labeled), least, g.Len())
		if fault != nil {
			err = fault
			continue
		}
		pairs = max(pairs, k)
		usable = append(usable, i)
	}
	return pairs, usable, err
}

// grouped returns the settings of a grid in groups of one pairing.
func grouped(g *models.Grid, all []options) [][]int {
	return models.Grouped(g.All(), func(i int) pairing {
		return pairing{g.GraphKey(i), all[i].Laplacian, all[i].tolerance()}
	})
}

// FitGrid computes the eigenpairs of every graph once, for the components that have a
// label. A setting with more eigenvectors than points fails.
func (Learner) FitGrid(ctx context.Context, g *models.Grid) error {
	if g.Targets.Classes == nil {
		return errNoClasses
	}
	all, err := decodeGrid(g)
	if err != nil {
		return err
	}

	// A group has one graph, one Laplacian and one tolerance, so one set of eigenpairs, the
	// largest asked for, serves all its settings and folds.
	for _, group := range grouped(g, all) {
		graph, err := g.GraphOf(group[0])
		if err != nil {
			return err
		}
		components := componentsOf(graph)
		labels := newLabelCounts(components, g.Targets.ClassLabels())
		pairs, same, fault := most(g, all, group, labels.least)
		if fault != nil {
			g.Fail(slices.DeleteFunc(group, func(i int) bool { return slices.Contains(same, i) }), fault)
		}
		if same == nil {
			continue
		}

		// Eigenpairs that did not converge are used, and every answer says so.
		e, unfinished := eigenpairs(ctx, g, graph.W, labels, &all[same[0]], pairs)
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

// eigenpairs computes k eigenpairs of a graph, component by component as [Learner.Quotas]
// distributes them.
func eigenpairs(ctx context.Context, g *models.Grid, w *sparse.CSR, c *labelCounts, o *options,
	k int) (*lanczos.Result, error) {
	l, err := sparse.NewLaplacian(w, o.Laplacian)
	if err != nil {
		return nil, err
	}
	s := lanczos.Settings{K: k, Tolerance: o.tolerance(), Seed: g.Seed, MemoryLimit: g.Memory}
	if c.Count() == 1 {
		return g.Solve(ctx, l, c.Components, &s)
	}
	return lanczos.Parts(ctx, l, c.Components, c.quotas(k), func(p *lanczos.Part) (*lanczos.Result, error) {
		s.K = p.K
		return g.Solve(ctx, p.Laplacian, p.Components, &s)
	})
}

// answersOn returns the answers of settings for the points held in a split.
func answersOn(ctx context.Context, e *lanczos.Result, c *sparse.Components, s *models.Split,
	settings []Settings) []models.Answer {
	fits, err := FitAll(ctx, e, c, []*data.Labels{s.Labels}, settings)
	if err != nil {
		return slices.Repeat([]models.Answer{{Err: err}}, len(settings))
	}
	n, have := e.Vectors.Dims()

	// Held points in a component without a label get the most frequent class.
	rows := dense.Gather(mat.NewDense(len(s.Points), have, nil), e.Vectors, s.Points)
	reached := c.Reached(s.Train.Labeled)
	answers := make([]models.Answer, len(settings))
	for i, m := range fits[0] {
		scores := m.Scores(m.Select(rows), n)
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

// GridCost returns the cost of the eigenpairs of each graph and of the fits to them.
func (Learner) GridCost(g *models.Grid) (models.GridCost, error) {
	all, err := decodeGrid(g)
	if err != nil {
		return models.GridCost{}, err
	}
	pairs, _, _ := most(g, all, g.All(), 2)
	settings := &lanczos.Settings{K: pairs, Tolerance: defaultTolerance, MemoryLimit: g.Memory}
	basis, err := lanczos.Bytes(g.Len(), settings)
	if err != nil {
		return models.GridCost{}, err
	}

	// A fit sums l·p² products and factors p×p in p³/3 operations.
	edges := g.EdgeCount()
	_, l, _, c := g.Sizes()
	p := float64(pairs)
	splits := float64(len(g.Splits))
	fits := g.Fits() * p * p * p / 3
	return models.GridCost{
		Shared: models.Bytes(24*float64(edges) + float64(basis)),
		Fold:   models.Bytes(8 * (min(l, gramRows)*(p+c) + l*p + 5*p*p)),
		Operations: float64(len(grouped(g, all)))*lanczos.Operations(g.Len(), edges, settings) +
			splits*l*p*p + fits,
		Remedy: fmt.Sprintf("give fewer points, or take fewer %s", param.Name("eigenvectors")),
	}, nil
}
