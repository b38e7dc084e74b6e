package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/sparse"
)

// Comparing is a comparison of learners that is ready to run: its neighbours were found, or
// its graph was given.
type Comparing struct {
	Data       selection.Data
	Contenders []selection.Contender
	pipeline   *Pipeline
	graph      *Graph // without edges until one of Neighbors is cut; nil if none is needed
}

// PrepareComparison prepares a comparison of learners on all splits. It finds the neighbours
// of in.Points for the largest graph of any learner, unless in.Graph is given. A nil g means the
// defaults, or the choice of [AutoGraph] if one of the learners leaves the graph open.
// in.Targets must be all known targets. The error knn.ErrRecall comes with a comparison by the neighbours that
// were found.
func (p *Pipeline) PrepareComparison(ctx context.Context, in *models.Input, contenders []selection.Contender,
	g *GraphSettings) (*Comparing, error) {
	c := &Comparing{Data: selectionData(in), Contenders: slices.Clone(contenders), pipeline: p}
	open := slices.ContainsFunc(contenders, func(c selection.Contender) bool { return c.Grid.Learner.Info().OpenGraph })
	chosen, err := graphSettings(&models.Info{OpenGraph: open}, in, g)
	if err != nil {
		return nil, err
	}
	s := *chosen
	own := s.Graph.K
	needed := false
	for i := range c.Contenders {
		grid := &c.Contenders[i].Grid
		fixed, err := models.OrderShares(grid.Learner.Params(), grid.Fixed, in.Targets)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Contenders[i].Name, err)
		}
		grid.Fixed = fixed
		info := grid.Learner.Info()
		if !usesGraph(grid, &info) {
			grid.Neighbors = nil
			continue
		}
		needed = true
		if len(grid.Neighbors) == 0 {
			grid.Neighbors = []int{own}
		}
		s.Graph.K = max(s.Graph.K, slices.Max(grid.Neighbors))
	}

	if !needed {
		return c, checkHeldBack(&s)
	}
	var short error
	if c.graph, short = p.gather(ctx, &c.Data, &s); !models.Usable(short) {
		return nil, short
	}

	// A graph that is given has its number of neighbours.
	if c.Data.Graph != nil {
		for i := range c.Contenders {
			c.Contenders[i].Grid.Neighbors = nil
		}
	}
	return c, short
}

// Run compares the learners on splits: labeled holds the labeled points of each split.
// Eigenpairs are computed once. onResult, if not nil, is called with the results so far
// whenever a fit is finished. See [selection.Comparison.Run].
func (c *Comparing) Run(ctx context.Context, labeled [][]int, s selection.CompareSettings,
	onResult func(*selection.Compared)) (*selection.Compared, error) {
	p := c.pipeline
	s.Seed = p.Seed
	s.Memory = p.Memory
	s.OnProgress = func(r *selection.Compared, name string) {
		p.Observed().Update(float64(r.Done), float64(r.Total), name)
		if onResult != nil {
			onResult(r)
		}
	}

	if err := c.keepOutcomes(&s, labeled); err != nil {
		return nil, err
	}
	compared, err := selection.NewComparison(&c.Data, c.Contenders, labeled, &s)
	if err != nil {
		return nil, err
	}

	// All costs are announced before the first fit, so that none is refused in the middle.
	for i, x := range c.Contenders {
		cost, err := compared.Cost(i)
		if err == nil {
			err = p.Observed().Announce("compare "+x.Name, cost)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Name, err)
		}
	}

	// The checkpoint has room for eigenpairs of one Laplacian.
	solver := *p
	solver.Checkpoint = nil
	err = compared.Prepare(ctx, func(ctx context.Context, g *models.Graph, kind sparse.Kind, k int,
		tolerance float64) (*lanczos.Result, error) {
		return solver.Eigenpairs(ctx, g, &EigsSettings{Laplacian: kind, K: k, Tolerance: tolerance}, nil)
	})
	if err != nil {
		return nil, err
	}

	p.Observed().Begin("compare")
	r, err := compared.Run(ctx)
	if r != nil && ctx.Err() == nil {
		p.Observed().End(fmt.Sprintf("%d learners on %d splits", len(c.Contenders), len(labeled)))
	}
	return r, err
}

// keepOutcomes lets a comparison save its finished outcomes and go on from saved ones.
func (c *Comparing) keepOutcomes(s *selection.CompareSettings, labeled [][]int) error {
	type named struct {
		Name string
		gridKey
	}
	key := struct {
		Models         []named
		Splits         [][]int
		Folds, Repeats int
		Seed           uint64
		Criterion      string
	}{nil, labeled, s.Folds, s.Repeats, s.Seed, s.Criterion.String()}

	for i := range c.Contenders {
		key.Models = append(key.Models, named{c.Contenders[i].Name, keyOf(&c.Contenders[i].Grid)})
	}
	return keepFits(c.pipeline, key, c.graph, &s.Known, &s.OnOutcome)
}
