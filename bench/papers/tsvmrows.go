package papers

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/sparse"
)

// The columns of TSVM: on the kernel of the points, and on the warped kernel.
const (
	tsvmName   = "TSVM"
	warpedTSVM = "TSVM, warped"
)

// tsvmNote says where the settings of TSVM come from.
const tsvmNote = "TSVM has the settings that the same labels choose for SVM. On the warped kernel, which is no " +
	"column of the paper, it has the settings of LapSVM. Each class gets the share that it has in the labels"

// transductive returns the records of TSVM: of draw i with the settings that draw i chose for SVM, and on the
// warped kernel with those for LapSVM. A search without one of these machines has no record of its TSVM.
func (g *gridSearch) transductive(ctx context.Context, x data.Points, o Options, name string,
	paper map[string]float64) ([]results.Record, error) {
	var out []results.Record
	for _, c := range []struct {
		method string
		like   int // place of the machine in machines
	}{{tsvmName, 0}, {warpedTSVM, 2}} {
		if len(g.own(c.like)) == 0 {
			continue
		}
		settings := make([]setting, len(g.draws))
		for i := range settings {
			settings[i] = g.choice[i][c.like].setting
		}
		errs, err := g.tsvm(ctx, x, o, settings)
		if err != nil {
			return nil, err
		}
		out = append(out, MachineRecord(name+ownChoice, c.method, errs, paper[c.method], ""))
	}
	return out, nil
}

// tsvm returns the errors of TSVM on the draws, each with its setting. Draws of one setting share the
// kernel among all points.
func (g *gridSearch) tsvm(ctx context.Context, x data.Points, o Options, settings []setting) ([]float64, error) {
	errs := make([]float64, len(g.draws))
	var done []setting
	for _, s := range settings {
		if slices.ContainsFunc(done, func(o setting) bool { return reflect.DeepEqual(o, s) }) {
			continue
		}
		done = append(done, s)

		gram, err := kernel.Gram(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: s.sigma}, o.Limit)
		if err != nil {
			return nil, err
		}
		var l *sparse.Laplacian
		if s.reg.GammaI > 0 {
			nb, err := Neighbors(ctx, x, s.graph.neighbors)
			if err != nil {
				return nil, err
			}
			if l, err = s.graph.laplacian(nb, s.reg.Laplacian); err != nil {
				return nil, err
			}
		}
		p, err := newProblem(ctx, gram, l)
		if err != nil {
			return nil, err
		}
		w, err := p.Warp(ctx, s.reg, data.Range(0, g.truth.Len()))
		if err != nil {
			return nil, err
		}

		for i, drawn := range g.draws {
			if !reflect.DeepEqual(settings[i], s) {
				continue
			}
			m, err := transductive(ctx, w, drawn, s.reg)
			if err != nil {
				return nil, fmt.Errorf("TSVM, %s, draw %d: %w", s, i, err)
			}
			errs[i] = wrong(p.Outputs(m), g.truth, drawn)
		}
	}
	return errs, nil
}
