package papers

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

const (
	outOfSampleFolds = 4
	outOfSampleDraws = 10 // labeled sets of each fold
)

// outOfSampleGrid is the part of pointCloudGrid that [OutOfSample] searches. Four graphs and five widths
// on each fold would take four times as long as the whole table.
var outOfSampleGrid = grid{
	widths: []float64{1},
	graphs: binary(10, 50),
	norms:  []regularizer.Regularizer{pointCloudGrid.norms[0], pointCloudGrid.norms[1], pointCloudGrid.norms[4]},
}

var outOfSampleNotes = []string{
	"the slides draw this figure, “Out of Sample Extension (4-fold CV variant)”, without numbers and say " +
		"nothing else about it. Our reading: the points of a set are dealt into four folds of equal classes. " +
		"Each fold in turn is left out, of the graph too, and of the other three folds as many points of each " +
		"class are labeled as in the table, ten times. A cell is the mean over 40 draws",
	"settings are chosen by fivefold cross-validation on the labels of the draw, from a part of the published " +
		"grid: σ = σ₀, 10 or 50 neighbours, p of 1, 2 or 5",
}

// OutOfSample repeats the last figure of Sindhwani, Niyogi & Belkin (2005): the error of the four
// machines on the unlabeled points that the graph has, and on points of a fold that no stage has seen.
func OutOfSample(ctx context.Context, o Options, obs stage.Observer) (*results.Table, error) {
	var records []results.Record
	for i := range pointCloudSets {
		s := &pointCloudSets[i]
		obs.Begin(s.name)
		seen, left, note, err := s.outOfSample(ctx, o, obs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		for j, m := range machines {
			records = append(records, MachineRecord(s.name+", unlabeled", m.name, seen[j], 0, ""),
				MachineRecord(s.name+", left out", m.name, left[j], 0, ""))
		}
		obs.End(note)
	}
	return MachineTable(records, outOfSampleNotes...), nil
}

// outOfSample returns the errors of each machine on unlabeled points and on points left out: one for each
// draw of each fold. note describes the data.
func (s *pointCloudSet) outOfSample(ctx context.Context, o Options, obs stage.Observer) (seen, left [][]float64,
	note string, err error) {
	x, truth, rows, err := ReadSet(o, SetsOrigin, s.points, s.labels, s.draws)
	if err != nil {
		return nil, nil, "", err
	}
	each := 2
	if s.draws != "" {
		each = max(1, len(rows[0])/len(truth.Classes))
	}
	t, err := models.ClassTargets(truth)
	if err != nil {
		return nil, nil, "", err
	}
	folds, err := t.Folds(outOfSampleFolds, o.Seed)
	if err != nil {
		return nil, nil, "", err
	}

	seen = make([][]float64, len(machines))
	left = make([][]float64, len(machines))
	for i, out := range folds {
		h := newHeldOut(x, truth, out)
		draws, err := DrawPerClass(h.truth, each, outOfSampleDraws, o.Seed+uint64(i*outOfSampleDraws))
		if err != nil {
			return nil, nil, "", err
		}
		g, err := newGridSearch(h.truth, draws, o.Seed)
		if err != nil {
			return nil, nil, "", err
		}
		if err := outOfSampleGrid.search(ctx, h.x, o, obs, g); err != nil {
			return nil, nil, "", err
		}
		if err := h.measure(ctx, g, o, seen, left); err != nil {
			return nil, nil, "", err
		}
	}
	n, d := x.Dims()
	return seen, left, fmt.Sprintf("%d points × %d, %d folds, %d draws each, %d labels a class", n, d, len(folds),
		outOfSampleDraws, each), nil
}

// heldOut holds the points of a set without a fold, and the points of the fold.
type heldOut struct {
	x, out             data.Points
	truth, truthOfLeft *data.Labels
}

// newHeldOut leaves the points with the numbers fold, ascending, out of x.
func newHeldOut(x data.Points, truth *data.Labels, fold []int) *heldOut {
	var kept []int
	for i := range truth.Len() {
		if _, found := slices.BinarySearch(fold, i); !found {
			kept = append(kept, i)
		}
	}
	return &heldOut{data.Select(x, kept), data.Select(x, fold), truth.Select(kept), truth.Select(fold)}
}

// measure fits each machine to each draw of g with the setting that the draw chose, and appends the errors
// to those of the machine. Draws and machines of one setting share the warped kernel.
func (h *heldOut) measure(ctx context.Context, g *gridSearch, o Options, seen, left [][]float64) error {
	var settings []setting
	for j := range machines {
		for i := range g.draws {
			at := g.choice[i][j].setting
			if !slices.ContainsFunc(settings, func(s setting) bool { return reflect.DeepEqual(s, at) }) {
				settings = append(settings, at)
			}
		}
	}

	// The draws stay in their order, whichever setting comes first.
	errs := make([][][2]float64, len(machines))
	for j := range errs {
		errs[j] = make([][2]float64, len(g.draws))
	}
	for _, at := range settings {
		if err := h.fit(ctx, g, o, at, errs); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	for j := range machines {
		for _, e := range errs[j] {
			seen[j] = append(seen[j], e[0])
			left[j] = append(left[j], e[1])
		}
	}
	return nil
}

// fit fills in the errors, unlabeled and left out, of the machines and draws that chose a setting.
func (h *heldOut) fit(ctx context.Context, g *gridSearch, o Options, at setting, errs [][][2]float64) error {
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: at.sigma}
	gram, err := kernel.Gram(h.x, k, o.Limit)
	if err != nil {
		return err
	}
	cross := mat.NewDense(h.truthOfLeft.Len(), h.truth.Len(), nil)
	if err := kernel.Cross(cross, h.out, h.x, k); err != nil {
		return err
	}

	var l *sparse.Laplacian
	if at.reg.GammaI > 0 {
		nb, err := Neighbors(ctx, h.x, at.graph.neighbors)
		if err != nil {
			return err
		}
		if l, err = at.graph.laplacian(nb, at.reg.Laplacian); err != nil {
			return err
		}
	}
	p, err := newProblem(ctx, gram, l)
	if err != nil {
		return err
	}
	w, err := p.Warp(ctx, at.reg, union(g.draws))
	if err != nil {
		return err
	}

	for j, m := range machines {
		for i, drawn := range g.draws {
			if !reflect.DeepEqual(g.choice[i][j].setting, at) {
				continue
			}
			f, ft, err := outputs(ctx, p, w, drawn, m.settings(at.reg), cross)
			if err != nil {
				return fmt.Errorf("%s, draw %d: %w", m.name, i, err)
			}
			errs[j][i] = [2]float64{wrong(f, h.truth, drawn), wrong(ft, h.truthOfLeft, nil)}
		}
	}
	return nil
}
