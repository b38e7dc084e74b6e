package papers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// grid holds the settings of kernel machines that a search goes through.
type grid struct {
	widths []float64 // of the Gaussian, times the mean distance σ₀
	graphs []gridGraph
	norms  []regularizer.Regularizer // with one Laplacian
}

// gridGraph is a graph of nearest neighbours: with weights one, or exp(−d²/2w²).
type gridGraph struct {
	neighbors int     // 0 is no graph
	width     float64 // w in mean distances of a neighbour; 0 is weights one
	mutual    bool    // joins points only if each is a neighbour of the other
}

// binary returns graphs with weights one.
func binary(counts ...int) []gridGraph {
	var out []gridGraph
	for _, count := range counts {
		out = append(out, gridGraph{neighbors: count})
	}
	return out
}

// laplacian returns the Laplacian of the graph that joins each point to the first
// g.neighbors of its neighbours in nb.
func (g gridGraph) laplacian(nb *knn.Neighbors, kind sparse.Kind) (*sparse.Laplacian, error) {
	s := knn.GraphSettings{K: min(g.neighbors, nb.K)}
	if g.mutual {
		s.Symmetry = sparse.Both
	}
	if g.width > 0 {
		var mean float64
		for i := range nb.Len() {
			_, dist := nb.First(i, s.K)
			mean += floats.Sum(dist) / float64(len(dist)) / float64(nb.Len())
		}
		s.Weights = knn.Heat
		s.T = g.width * g.width * mean * mean / 2 // 4t = 2w²
	}
	return Laplacian(nb, s, kind)
}

// setting is a point of a grid.
type setting struct {
	sigma float64
	graph gridGraph
	reg   regularizer.Regularizer
}

func (s setting) String() string {
	var parts []string
	if s.sigma > 0 {
		parts = append(parts, fmt.Sprintf("σ = %.3g, γ_A = %g", s.sigma, s.reg.GammaA))
	}
	if s.graph.neighbors > 0 {
		parts = append(parts, fmt.Sprintf("γ_I = %g, %d neighbours, p = %d", s.reg.GammaI, s.graph.neighbors,
			s.reg.Power))
	}
	text := strings.Join(parts, ", ")
	if s.graph.width > 0 {
		text += fmt.Sprintf(", w = %g mean edges", s.graph.width)
	}
	if s.graph.mutual {
		text += ", mutual"
	}
	return text
}

// search shows all settings of the grid to all searches. It computes one Gram matrix for
// each width, and from each Gram matrix one warped kernel for each graph and norm, so that
// searches and draws share the expensive parts. A search that lists graphs is shown only
// settings with these graphs.
func (v grid) search(ctx context.Context, x data.Points, o Options, obs stage.Observer,
	searches ...*gridSearch) error {
	var draws []*data.Labels
	for _, g := range searches {
		draws = append(draws, g.draws...)
	}
	// Warped kernels are computed only at points that have a label in some draw.
	points := union(draws)
	// The neighbours are found once, for the widest graph; narrower graphs take the first of them.
	widest := slices.MaxFunc(v.graphs, func(a, b gridGraph) int { return a.neighbors - b.neighbors })
	nb, err := Neighbors(ctx, x, widest.neighbors)
	if err != nil {
		return err
	}

	sigma, err := kernel.Width(x, kernel.Mean, o.Seed)
	if err != nil {
		return err
	}

	// The warped kernel of a setting is made once and shown to all searches.
	try := func(p *kernelmachine.Problem, s setting) error {
		w, err := p.Warp(ctx, s.reg, points)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}

		for _, g := range searches {
			if g.graphs != nil && !slices.Contains(g.graphs, s.graph) {
				continue
			}
			if err := g.try(ctx, p, w, points, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}

		return nil
	}

	for i, factor := range v.widths {
		s := setting{sigma: factor * sigma}
		gram, err := kernel.Gram(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: s.sigma}, o.Limit)
		if err != nil {
			return err
		}
		p, err := newProblem(ctx, gram, nil)
		if err != nil {
			return err
		}

		// Without a graph only γ_A matters: norms that differ in γ_I or p alone would repeat a
		// setting.
		var seen []float64
		for _, norm := range v.norms {
			if s.reg = (regularizer.Regularizer{GammaA: norm.GammaA}); slices.Contains(seen, norm.GammaA) {
				continue
			}
			seen = append(seen, norm.GammaA)
			if err := try(p, s); err != nil {
				return err
			}
		}

		// Settings with a graph: each Laplacian makes one problem, which serves all norms.
		for j, graph := range v.graphs {
			s.graph = graph
			l, err := graph.laplacian(nb, v.norms[0].Laplacian)
			if err != nil {
				return err
			}
			// Graph-Trans has no kernel, and so one setting for all widths.
			if i == 0 {
				if err := v.searchGraph(ctx, l, graph, points, searches); err != nil {
					return fmt.Errorf("%s: %w", s, err)
				}
			}
			if p, err = newProblem(ctx, gram, l); err != nil {
				return err
			}
			for _, s.reg = range v.norms {
				if err := try(p, s); err != nil {
					return err
				}
			}
			obs.Update(float64(i*len(v.graphs)+j+1), float64(len(v.widths)*len(v.graphs)), s.String())
		}
	}

	return nil
}

// searchGraph shows one graph with all norms to the searches that have Graph-Trans.
func (v grid) searchGraph(ctx context.Context, l *sparse.Laplacian, graph gridGraph, points []int,
	searches []*gridSearch) error {
	wanted := func(g *gridSearch) bool {
		return g.transduction && (g.graphs == nil || slices.Contains(g.graphs, graph))
	}
	if !slices.ContainsFunc(searches, wanted) {
		return nil
	}
	kernels, err := graphKernels(ctx, l, v.norms, points)
	if err != nil {
		return err
	}
	for i, k := range kernels {
		for _, g := range searches {
			if !wanted(g) {
				continue
			}
			if err := g.tryGraph(k, setting{graph: graph, reg: v.norms[i]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// gridSearch chooses settings for every machine by cross-validation: one setting for each
// draw, and one for all draws together.
//
// It differs from [selection.Search] in two ways. Search tries all settings on one draw;
// gridSearch tries one setting on all draws before it goes on, so that the draws share the
// Gram matrix, the warped kernel and the final fits. And settings of equal error, which a
// draw of a dozen labels has many of, are compared by their loss. [models.Targets.Folds]
// deals the folds and [selection.Measure] measures the errors, as in Search.
type gridSearch struct {
	truth  *data.Labels
	draws  []*data.Labels
	local  []*models.Targets // of the labeled points alone
	splits [][]*models.Split // by draw
	choice [][]choice        // by draw and machine
	common []choice          // by machine
	graphs []gridGraph       // graphs to try, the zero value for no graph; nil means all

	transduction bool // searches for Graph-Trans too
}

// graphTrans is the place of Graph-Trans in choices, behind the machines.
var graphTrans = len(machines)

// searched are the names of the methods with a choice.
var searched = func() []string {
	var names []string
	for _, m := range machines {
		names = append(names, m.name)
	}
	return append(names, "Graph-Trans")
}()

// choice holds the best setting so far, by the cross-validation error. Among settings of
// equal error the one with the smallest loss on the held-out points wins, and among equal
// losses the first.
type choice struct {
	score
	setting setting
	errors  []float64 // on the unlabeled points: one for the draw, or one for each draw
}

// score holds the share of wrong classes and the loss for a point, means over the
// folds of a cross-validation.
type score struct{ wrong, loss float64 }

// below tells whether s is better than t. Errors closer than rounding count as equal: they
// are sums of fractions in orders that differ.
func (s score) below(t score) bool {
	const rounding = 1e-12
	return s.wrong < t.wrong-rounding || s.wrong <= t.wrong+rounding && s.loss < t.loss
}

func (s *score) add(t score, weight float64) {
	s.wrong += weight * t.wrong
	s.loss += weight * t.loss
}

// dealings is how many times the labeled points are dealt into five folds. With some fifty
// labels the score of a setting depends on the folds as much as on the setting, so the
// score is a mean over several dealings.
const dealings = 4

// newGridSearch returns a search without choices. The seed deals the folds.
func newGridSearch(truth *data.Labels, draws []*data.Labels, seed uint64) (*gridSearch, error) {
	g := &gridSearch{truth: truth, draws: draws}
	worst := choice{score: score{wrong: math.Inf(1)}}
	for i, y := range draws {
		t, err := models.ClassTargets(y.Select(y.Labeled()))
		if err != nil {
			return nil, err
		}
		var splits []*models.Split
		// The number of the dealing goes into the high half of the seed, where it cannot meet the
		// number of the draw.
		for deal := range uint64(dealings) {
			folds, err := t.Folds(5, seed+uint64(i)+deal<<32)
			if err != nil {
				return nil, err
			}
			for _, held := range folds {
				// Not of Targets.Splits: some draws of ten labels have one of a class.
				kept := t.Except(held)
				splits = append(splits, &models.Split{Train: t.Keep(kept), Kept: kept, Held: held})
			}
		}

		g.local = append(g.local, t)
		g.splits = append(g.splits, splits)
		g.choice = append(g.choice, slices.Repeat([]choice{worst}, len(searched)))
	}

	g.common = slices.Repeat([]choice{worst}, len(searched))
	return g, nil
}

// own returns the errors of machine j with the setting of each draw.
func (g *gridSearch) own(j int) []float64 {
	var errs []float64
	for _, c := range g.choice {
		errs = append(errs, c[j].errors...)
	}
	return errs
}

// ownChoice and oneChoice tell in the name of a row how its settings were chosen.
const (
	ownChoice = ", each draw's own choice"
	oneChoice = ", one choice by the labels of all draws"
)

// oneChoiceReason says why rows of [oneChoice] are not compared with the paper.
const oneChoiceReason = "one choice by the labels of all draws minimizes the mean of the draws' " +
	"cross-validation errors, and so looks at labels that each draw hides from the machine; only a draw's " +
	"own choice uses no label that is called unlabeled"

// ownRecords returns records of a [MachineTable] in which each draw has the setting that
// its own labels chose. A machine that no setting of the search was for has no record.
func (g *gridSearch) ownRecords(name string, paper map[string]float64) (out []results.Record) {
	for j, method := range searched {
		if errs := g.own(j); len(errs) > 0 {
			r := MachineRecord(name+ownChoice, method, errs, paper[method], "")
			if j == graphTrans && paper[method] > 0 {
				r[2] = r[2].Judged(results.Differs, graphTransReason)
			}
			out = append(out, r)
		}
	}
	return out
}

// oneRecords returns records of a [MachineTable] in which all draws have one setting.
func (g *gridSearch) oneRecords(name string, paper map[string]float64) (out []results.Record) {
	for j, method := range searched {
		if c := g.common[j]; len(c.errors) > 0 {
			r := MachineRecord(name+oneChoice, method, c.errors, paper[method], c.setting.String())
			r[2] = r[2].Judged(results.Fitted, oneChoiceReason)
			out = append(out, r)
		}
	}
	return out
}

// with merges g with another search on the same draws: everywhere the better of the two
// choices wins.
func (g *gridSearch) with(other *gridSearch) *gridSearch {
	best := func(a, b []choice) []choice {
		a = slices.Clone(a)
		for j := range a {
			if b[j].below(a[j].score) {
				a[j] = b[j]
			}
		}
		return a
	}

	// The merged search only reports; it has no folds to try further settings with.
	out := &gridSearch{truth: g.truth, draws: g.draws, common: best(g.common, other.common)}
	for i := range g.choice {
		out.choice = append(out.choice, best(g.choice[i], other.choice[i]))
	}
	return out
}

// try scores a setting, for machines with a graph if γ_I > 0 and for the others if not, and
// keeps the setting wherever it is the best so far.
func (g *gridSearch) try(ctx context.Context, p *kernelmachine.Problem, w *kernelmachine.Warped, points []int,
	at setting) error {
	reg := at.reg
	for j, m := range machines {
		if m.graph != (reg.GammaI > 0) {
			continue
		}
		score := func(i int) (score, error) { return g.score(ctx, w, points, i, m.settings(reg)) }
		final := func(i int) (float64, error) {
			f, _, err := outputs(ctx, p, w, g.draws[i], m.settings(reg), nil)
			if err != nil {
				return 0, err
			}
			return wrong(f, g.truth, g.draws[i]), nil
		}
		if err := g.consider(j, at, score, final); err != nil {
			return err
		}
	}

	return nil
}

// consider scores a setting of method j on every draw, and keeps it wherever it is the best so far.
// final fits draw i to all its labels and returns its error in percent: this is done only for a
// setting that wins, which most never do.
func (g *gridSearch) consider(j int, at setting, scoreOf func(i int) (score, error),
	final func(i int) (float64, error)) error {
	scores := make([]score, len(g.draws))
	found := make([]float64, len(g.draws))
	for i := range found {
		found[i] = math.NaN()
	}
	once := func(i int) (err error) {
		if math.IsNaN(found[i]) {
			found[i], err = final(i)
		}
		return err
	}

	faults := make([]error, len(g.draws))
	par.For(len(g.draws), 1, func(i, _ int) {
		if scores[i], faults[i] = scoreOf(i); faults[i] != nil || !scores[i].below(g.choice[i][j].score) {
			return
		}
		if faults[i] = once(i); faults[i] == nil {
			g.choice[i][j] = choice{scores[i], at, []float64{found[i]}}
		}
	})

	var mean score
	for i, err := range faults {
		if err != nil {
			return fmt.Errorf("%s, draw %d: %w", searched[j], i, err)
		}
		mean.add(scores[i], 1/float64(len(scores)))
	}

	// The same final fits serve the common choice; draws that did not choose the setting are
	// fitted now.
	if !mean.below(g.common[j].score) {
		return nil
	}
	for i := range g.draws {
		if err := once(i); err != nil {
			return fmt.Errorf("%s, draw %d: %w", searched[j], i, err)
		}
	}
	g.common[j] = choice{mean, at, found}
	return nil
}

// score cross-validates the machine of s on draw i. The warped kernel is a kernel like any
// other, so the folds need only its values between labeled points.
func (g *gridSearch) score(ctx context.Context, w *kernelmachine.Warped, points []int, i int,
	s kernelmachine.Settings) (score, error) {
	// The warped kernel numbers its rows by points: translate the labeled points of the draw.
	at := positions(points, g.draws[i].Labeled())

	var mean score
	for _, split := range g.splits[i] {
		h, err := w.HoldOut(ctx, chosen(at, split.Kept), chosen(at, split.Held))
		if err != nil {
			return score{}, err
		}
		held, err := h.Fit(ctx, split.Train, &s)
		if err != nil {
			return score{}, err
		}
		one, err := foldScore(g.local[i], split, held, s.Method)
		if err != nil {
			return score{}, err
		}
		mean.add(one, 1/float64(len(g.splits[i])))
	}

	return mean, nil
}

// foldScore measures the outputs at the held-out points of a split: the share of wrong
// classes, and the mean over the points of the loss that the machine minimizes.
func foldScore(t *models.Targets, split *models.Split, held *mat.Dense,
	method kernelmachine.Method) (score, error) {
	var loss float64
	for i, q := range split.Held {
		y := t.Y.RawRowView(q)
		for c, v := range held.RawRowView(i) {
			if gap := 1 - y[c]*v; method == kernelmachine.RLS {
				loss += gap * gap // (y − f)², as y² is 1
			} else {
				loss += max(0, gap)
			}
		}
	}

	wrong, err := selection.Measure(t, selection.ErrorCriterion, split,
		models.AnswerOf(models.NewPrediction(held, t.Classes), nil))
	return score{wrong, loss / float64(len(split.Held))}, err
}
