package papers

import (
	"context"
	"fmt"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/sparse"
)

// landmarkRun is LapRLS and RLS on many points by landmarks.
type landmarkRun struct {
	landmarks, labels, draws int
	dimensions               int // principal components that the kernel sees
	gammaA, gammaI           []float64
}

// Landmarks goes past the n³ of Belkin, Niyogi & Sindhwani (2006), section 7: LapRLS
// and RLS on the 60,000 training images of MNIST, 1000 of them labeled, 4000
// landmarks, and their errors on the others and on the 10,000 test images, over five
// draws. The images are taken as they are and deskewed ([data.Deskew]). The graph is
// that of [BestGraph], with L = D − W; the Gaussian kernel sees the first 40
// principal components, its σ is half the median distance. γ_A and γ_I are chosen
// for each draw by fivefold cross-validation on its labels.
func Landmarks(ctx context.Context, o Options, obs Observer) ([]MachineResult, error) {
	obs.Begin("data")
	x, truth, err := mnistImages(o, "train")
	if err != nil {
		return nil, err
	}
	xt, truthT, err := mnistImages(o, "t10k")
	if err != nil {
		return nil, err
	}
	obs.End(fmt.Sprintf("%d and %d images", x.Rows, xt.Rows))
	run := landmarkRun{landmarks: 4000, labels: 1000, draws: 5, dimensions: 40,
		gammaA: []float64{1e-7, 1e-5, 1e-3}, gammaI: []float64{1e-5, 1e-4, 1e-3}}
	results, err := run.images(ctx, o, "as they are", x, xt, truth, truthT, obs)
	if err != nil {
		return nil, err
	}
	for _, images := range []**data.Dense[uint8]{&x, &xt} {
		if *images, err = data.Deskew(*images, data.DigitSide); err != nil {
			return nil, err
		}
	}
	more, err := run.images(ctx, o, "deskewed", x, xt, truth, truthT, obs)
	return append(results, more...), err
}

// mnistImages are those of mnist as bytes.
func mnistImages(o Options, part string) (*data.Dense[uint8], *data.Labels, error) {
	x, y, err := mnist(o, part)
	if err != nil {
		return nil, nil, err
	}
	images, ok := x.(*data.Dense[uint8])
	if !ok {
		return nil, nil, fmt.Errorf("papers: the images of %s in %s are not bytes", part, o.Dir)
	}
	return images, y, nil
}

// images fits to images x and measures on xt as well.
func (r *landmarkRun) images(ctx context.Context, o Options, name string, x, xt *data.Dense[uint8], truth, truthT *data.Labels, obs Observer) ([]MachineResult, error) {
	obs.Begin("graph")
	w, err := bestGraph(ctx, x)
	if err != nil {
		return nil, err
	}
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		return nil, err
	}
	p, err := data.NewPCA(x, r.dimensions)
	if err != nil {
		return nil, err
	}
	var z, zt data.Points
	if z, err = p.Apply(x); err == nil {
		zt, err = p.Apply(xt)
	}
	if err != nil {
		return nil, err
	}
	obs.End("images " + name)

	var draws []*data.Labels
	for i := range r.draws {
		y, err := truth.Draw(r.labels, o.Seed+uint64(i))
		if err != nil {
			return nil, err
		}
		draws = append(draws, y)
	}
	sigma, err := kernel.Width(z, kernel.Median, o.Seed)
	if err != nil {
		return nil, err
	}
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma / 2}
	var results []MachineResult
	for _, m := range []struct {
		name   string
		l      *sparse.Laplacian
		gammaI []float64
	}{{"RLS", nil, []float64{0}}, {"LapRLS", l, r.gammaI}} {
		obs.Begin(m.name)
		start := time.Now()
		problem, err := kernelmachine.NewApproximateProblem(ctx, z, k, m.l, 1, &kernelmachine.ApproximationSettings{Landmarks: r.landmarks, Seed: o.Seed}, o.Limit)
		if err != nil {
			return nil, err
		}
		prepared := time.Since(start)
		var settings []kernelmachine.Settings
		for _, gammaA := range r.gammaA {
			for _, gammaI := range m.gammaI {
				settings = append(settings, kernelmachine.Settings{Method: kernelmachine.RLS, Regularizer: models.Regularizer{GammaA: gammaA, GammaI: gammaI}})
			}
		}
		var errs [2][]float64
		var fitted time.Duration // of the last draw
		var chosen string
		for i, y := range draws {
			t, err := models.ClassTargets(y)
			if err != nil {
				return nil, err
			}
			best, err := crossValidate(ctx, problem, z, truth, t, settings, o.Seed)
			if err != nil {
				return nil, fmt.Errorf("%s, draw %d: %w", m.name, i+1, err)
			}
			start := time.Now()
			machines, err := problem.Path(ctx, t, []kernelmachine.Settings{best})
			if err != nil {
				return nil, fmt.Errorf("%s, draw %d: %w", m.name, i+1, err)
			}
			fitted = time.Since(start)
			for part, at := range []struct {
				x            data.Points
				truth, drawn *data.Labels
			}{{z, truth, y}, {zt, truthT, nil}} {
				answer, err := machines[0].Predict(ctx, at.x, nil)
				if err != nil {
					return nil, err
				}
				errs[part] = append(errs[part], wrong(answer.Scores, at.truth, at.drawn))
			}
			chosen = fmt.Sprintf("γ_A = %g, γ_I = %g", best.GammaA, best.GammaI)
			obs.Update(float64(i+1), float64(len(draws)), "")
		}
		note := fmt.Sprintf("last draw %s; %d landmarks and the norms %.1f s, a fit %.1f s", chosen, r.landmarks, prepared.Seconds(), fitted.Seconds())
		obs.End(note)
		for part, row := range []string{"unlabeled", "test"} {
			results = append(results, newResult(row+", images "+name, m.name, errs[part], 0))
		}
		results[len(results)-2].Note = note
	}
	return results, nil
}

// bestGraph is the graph of our recipe.
func bestGraph(ctx context.Context, x data.Points) (*sparse.CSR, error) {
	p, err := data.NewPCA(x, BestDimensions)
	if err != nil {
		return nil, err
	}
	z, err := p.Apply(x)
	if err != nil {
		return nil, err
	}
	return (&Experiment{X: z, Graph: BestGraph}).graph(ctx)
}

// crossValidate returns the settings with the least error over five folds of the
// labels, the first of equals.
func crossValidate(ctx context.Context, p *kernelmachine.ApproximateProblem, x data.Points, truth *data.Labels, t *models.Targets, settings []kernelmachine.Settings, seed uint64) (kernelmachine.Settings, error) {
	folds, err := t.Folds(5, seed)
	if err != nil {
		return settings[0], err
	}
	rates := make([]float64, len(settings))
	for f, held := range folds {
		var kept, points []int
		for g, fold := range folds {
			if g != f {
				kept = append(kept, fold...)
			}
		}
		for _, q := range held {
			points = append(points, t.Labeled[q])
		}
		machines, err := p.Path(ctx, t.Keep(kept), settings)
		if err != nil {
			return settings[0], err
		}
		for i, m := range machines {
			answer, err := m.Predict(ctx, data.Select(x, points), nil)
			if err != nil {
				return settings[0], err
			}
			rates[i] += wrong(answer.Scores, truth.Select(points), nil)
		}
	}
	return settings[floats.MinIdx(rates)], nil
}
