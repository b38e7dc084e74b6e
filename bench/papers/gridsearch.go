package papers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
)

// grid are the settings of kernel machines that a search goes through.
type grid struct {
	widths []float64            // of the Gaussian, times the mean distance σ₀
	counts []int                // of neighbours
	norms  []models.Regularizer // with one Laplacian
}

// setting is a point of a grid.
type setting struct {
	sigma     float64
	neighbors int // 0 is no graph
	reg       models.Regularizer
}

func (s setting) String() string {
	text := fmt.Sprintf("σ = %.3g, γ_A = %g", s.sigma, s.reg.GammaA)
	if s.neighbors > 0 {
		text += fmt.Sprintf(", γ_I = %g, %d neighbours, p = %d", s.reg.GammaI, s.neighbors, s.reg.Power)
	}
	return text
}

// search shows all settings to all searches: there is a Gram matrix for each
// width, and for each of these a warped kernel for each graph and norm.
func (v grid) search(ctx context.Context, x data.Points, o Options, obs Observer, searches ...*gridSearch) error {
	var draws []*data.Labels
	for _, g := range searches {
		draws = append(draws, g.draws...)
	}
	points := union(draws)
	nb, err := neighbors(ctx, x, slices.Max(v.counts))
	if err != nil {
		return err
	}
	sigma, err := kernel.Width(x, kernel.Mean, o.Seed)
	if err != nil {
		return err
	}
	try := func(p *kernelmachine.Problem, s setting) error {
		w, err := p.Warp(s.reg, points)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		for _, g := range searches {
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
		p, err := newProblem(gram, nil)
		if err != nil {
			return err
		}
		var seen []float64
		for _, norm := range v.norms {
			if s.reg = (models.Regularizer{GammaA: norm.GammaA}); slices.Contains(seen, norm.GammaA) {
				continue
			}
			seen = append(seen, norm.GammaA)
			if err := try(p, s); err != nil {
				return err
			}
		}
		for j, count := range v.counts {
			s.neighbors = min(count, nb.K)
			l, err := laplacian(nb, knn.GraphSettings{K: s.neighbors}, v.norms[0].Laplacian)
			if err != nil {
				return err
			}
			if p, err = newProblem(gram, l); err != nil {
				return err
			}
			for _, s.reg = range v.norms {
				if err := try(p, s); err != nil {
					return err
				}
			}
			obs.Update(float64(i*len(v.counts)+j+1), float64(len(v.widths)*len(v.counts)), s.String())
		}
	}
	return nil
}

// gridSearch chooses settings for every machine, for each draw and for all.
type gridSearch struct {
	truth  *data.Labels
	draws  []*data.Labels
	local  []*models.Targets // of the labeled points alone
	folds  [][][]int
	choice [][]choice // by draw and machine
	common []choice   // by machine
}

// choice is the best setting so far: the one of smallest cross-validation
// error; of equals the one of smallest loss on the points left out, and of these
// the first.
type choice struct {
	score
	setting setting
	errors  []float64 // on the unlabeled points: of the draw, or of each
}

// score is what cross-validation found, both for a point.
type score struct{ wrong, loss float64 }

func (s score) below(t score) bool {
	return s.wrong < t.wrong || s.wrong == t.wrong && s.loss < t.loss
}

// dealings is how often five folds are dealt: with some fifty labels, what a
// setting scores depends on the folds as much as on the setting.
const dealings = 4

func newGridSearch(truth *data.Labels, draws []*data.Labels, seed uint64) (*gridSearch, error) {
	g := &gridSearch{truth: truth, draws: draws}
	worst := choice{score: score{wrong: math.Inf(1)}}
	for i, y := range draws {
		t, err := models.ClassTargets(y.Select(y.Labeled()))
		if err != nil {
			return nil, err
		}
		var folds [][]int
		for deal := range uint64(dealings) {
			more, err := t.Folds(5, seed+uint64(i)+deal<<32)
			if err != nil {
				return nil, err
			}
			folds = append(folds, more...)
		}
		g.local, g.folds = append(g.local, t), append(g.folds, folds)
		g.choice = append(g.choice, slices.Repeat([]choice{worst}, len(machines)))
	}
	g.common = slices.Repeat([]choice{worst}, len(machines))
	return g, nil
}

// own are the errors of machine j with the setting of each draw.
func (g *gridSearch) own(j int) []float64 {
	var errs []float64
	for _, c := range g.choice {
		errs = append(errs, c[j].errors...)
	}
	return errs
}

// results are the rows of a table: the choices of the draws, and one choice.
func (g *gridSearch) results(name string, paper [4]float64) []MachineResult {
	var results []MachineResult
	for j, m := range machines {
		results = append(results, newResult(name+", each draw's own choice", m.name, g.own(j), paper[j]))
	}
	for j, m := range machines {
		r := newResult(name+", one choice", m.name, g.common[j].errors, paper[j])
		r.Note = g.common[j].setting.String()
		results = append(results, r)
	}
	return results
}

// try scores a setting for the machines it is for, and takes it where it is the
// best so far.
func (g *gridSearch) try(ctx context.Context, p *kernelmachine.Problem, w *kernelmachine.Warped, points []int, at setting) error {
	reg := at.reg
	for j, m := range machines {
		if m.graph != (reg.GammaI > 0) {
			continue
		}
		scores, found := make([]score, len(g.draws)), make([]float64, len(g.draws))
		for i := range found {
			found[i] = math.NaN()
		}
		// final fits draw i to all its labels, once.
		final := func(i int) error {
			if !math.IsNaN(found[i]) {
				return nil
			}
			f, _, err := outputs(ctx, p, w, g.draws[i], m.settings(reg), nil)
			if err == nil {
				found[i] = wrong(f, g.truth, g.draws[i])
			}
			return err
		}
		faults := make([]error, len(g.draws))
		par.For(len(g.draws), 1, func(i, _ int) {
			if scores[i], faults[i] = g.score(ctx, w, points, i, m.settings(reg)); faults[i] != nil || !scores[i].below(g.choice[i][j].score) {
				return
			}
			if faults[i] = final(i); faults[i] == nil {
				g.choice[i][j] = choice{scores[i], at, []float64{found[i]}}
			}
		})
		var mean score
		for i, err := range faults {
			if err != nil {
				return fmt.Errorf("%s, draw %d: %w", m.name, i, err)
			}
			mean.wrong += scores[i].wrong
			mean.loss += scores[i].loss
		}
		if !mean.below(g.common[j].score) {
			continue
		}
		for i := range g.draws {
			if err := final(i); err != nil {
				return fmt.Errorf("%s, draw %d: %w", m.name, i, err)
			}
		}
		g.common[j] = choice{mean, at, found}
	}
	return nil
}

// score cross-validates the machine of s on draw i. A warped kernel is a kernel:
// what the folds need of it are its values among the labeled points.
func (g *gridSearch) score(ctx context.Context, w *kernelmachine.Warped, points []int, i int, s kernelmachine.Settings) (score, error) {
	t, labeled := g.local[i], g.draws[i].Labeled()
	l := len(labeled)
	gram := mat.NewDense(l, l, nil)
	at := make([]int, l)
	for a, point := range labeled {
		at[a], _ = slices.BinarySearch(points, point)
		for b := range a + 1 {
			v := w.At(at[a], at[b])
			gram.Set(a, b, v)
			gram.Set(b, a, v)
		}
	}
	p, err := newProblem(gram, nil)
	if err != nil {
		return score{}, err
	}
	s.Regularizer = models.Regularizer{GammaA: s.GammaA} // γ_I is in the kernel
	all := make([]int, l)
	for a := range all {
		all[a] = a
	}
	local, err := p.Warp(s.Regularizer, all)
	if err != nil {
		return score{}, err
	}
	var sum score
	for _, held := range g.folds[i] {
		machine, err := local.Fit(ctx, t.Keep(slices.DeleteFunc(slices.Clone(all), func(a int) bool { return slices.Contains(held, a) })), &s)
		if err != nil {
			return score{}, err
		}
		f := p.Outputs(machine)
		for _, a := range held {
			sum.add(f.RawRowView(a), t.Y.RawRowView(a), s.Method)
		}
	}
	return score{sum.wrong / float64(dealings*l), sum.loss / float64(dealings*l)}, nil
}

// add counts one point with outputs f and targets y.
func (s *score) add(f, y []float64, method kernelmachine.Method) {
	row := func(v []float64) *mat.Dense { return mat.NewDense(1, len(v), v) }
	if classesOf(row(f))[0] != classesOf(row(y))[0] {
		s.wrong++
	}
	for c, v := range f {
		if gap := 1 - y[c]*v; method == kernelmachine.RLS {
			s.loss += gap * gap // (y − f)², as y² is 1
		} else {
			s.loss += max(0, gap)
		}
	}
}
