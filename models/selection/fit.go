package selection

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// grouped returns the given points in groups of equal keys, in the order of their
// first.
func grouped[K comparable](t *tuning, points []int, key func(Point) K) [][]int {
	var out [][]int
	at := map[K]int{}
	for _, i := range points {
		k := key(t.points[i])
		g, ok := at[k]
		if !ok {
			g = len(out)
			at[k] = g
			out = append(out, nil)
		}
		out[g] = append(out[g], i)
	}
	return out
}

// all are the numbers of all points.
func (t *tuning) all() []int { return data.Range(0, len(t.points)) }

// graph returns the graph of the given number of neighbours.
func (t *tuning) graph(neighbors int) (*sparse.CSR, error) {
	if t.Graph != nil {
		return t.Graph, nil
	}
	s := t.Edges
	s.K = neighbors
	w, _, err := knn.FromNeighbors(t.Neighbors, s)
	return w, err
}

// laplacian returns that of the graph of the given number of neighbours.
func (t *tuning) laplacian(neighbors int, kind sparse.Kind) (*sparse.Laplacian, error) {
	w, err := t.graph(neighbors)
	if err != nil {
		return nil, err
	}
	return sparse.NewLaplacian(w, kind)
}

// eachNorm calls fn for the given points in groups of one intrinsic norm: with the
// Laplacian of their graph, to their power, or nil for γ_I = 0.
func (t *tuning) eachNorm(points []int, kind sparse.Kind, fn func(l *sparse.Laplacian, points []int) error) error {
	for _, half := range grouped(t, points, func(p Point) bool { return p.GammaI > 0 }) {
		for _, sameGraph := range grouped(t, half, func(p Point) int { return p.Neighbors }) {
			var l *sparse.Laplacian
			if first := t.points[sameGraph[0]]; first.GammaI > 0 {
				var err error
				if l, err = t.laplacian(first.Neighbors, kind); err != nil {
					return err
				}
			}
			for _, same := range grouped(t, sameGraph, func(p Point) int { return p.Power }) {
				if l != nil {
					l = l.With(t.points[same[0]].Power, 0)
				}
				if err := fn(l, same); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (t *tuning) linear(ctx context.Context) error {
	base, err := linear.NewProblem(ctx, t.Data.Points, nil, 1)
	if err != nil {
		return err
	}
	return t.eachNorm(t.all(), t.grid.Linear.Regularizer.Laplacian, func(l *sparse.Laplacian, points []int) error {
		problem := base
		if l != nil {
			var err error
			if problem, err = base.WithNorm(ctx, l); err != nil {
				return err
			}
		}
		return t.run(ctx, points, func(s *models.Split) []models.Answer { return t.linearAnswers(ctx, problem, s, points) })
	})
}

func (t *tuning) linearAnswers(ctx context.Context, problem *linear.Problem, s *models.Split, points []int) []models.Answer {
	settings := make([]linear.Settings, len(points))
	for i, p := range points {
		settings[i] = *t.grid.Linear
		settings[i].Regularizer = t.points[p].regularizer(settings[i].Regularizer)
	}
	fits, err := problem.Path(ctx, s.Train, settings)
	held := data.Select(t.Data.Points, s.Points)
	answers := make([]models.Answer, len(points))
	for i := range answers {
		var m *linear.Model
		fault := err
		if fits != nil {
			m = fits[i]
		} else if m, fault = problem.Fit(ctx, s.Train, &settings[i]); m == nil { // a point of the path cannot be fitted
			answers[i].Err = fault
			continue
		}
		prediction, err := m.Predict(ctx, held, nil)
		if err != nil {
			answers[i].Err = err
			continue
		}
		answers[i] = models.Answer{Scores: prediction.Scores, Classes: prediction.Classes, Err: fault}
	}
	return answers
}

func (t *tuning) kernel(ctx context.Context) error {
	for _, sameWidth := range grouped(t, t.all(), func(p Point) float64 { return p.Sigma }) {
		k := t.grid.KernelFunction
		k.Sigma = t.points[sameWidth[0]].Sigma
		var base *kernelmachine.Problem
		err := t.eachNorm(sameWidth, t.grid.Kernel.Laplacian, func(l *sparse.Laplacian, points []int) error {
			if l == nil {
				gram, err := t.labeledGram(k)
				if err != nil {
					return err
				}
				return t.run(ctx, points, func(s *models.Split) []models.Answer { return t.kernelAnswers(ctx, gram, s, points) })
			}
			if base == nil {
				var err error
				if base, err = kernelmachine.NewProblem(t.Data.Points, k, nil, t.settings.MemoryLimit); err != nil {
					return err
				}
			}
			problem := *base
			problem.Laplacian = l
			return t.warped(ctx, &problem, points)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// warped runs points of one kernel and Laplacian.
func (t *tuning) warped(ctx context.Context, problem *kernelmachine.Problem, points []int) error {
	for _, same := range t.sameRatio(points) {
		if err := ctx.Err(); err != nil {
			return err
		}
		w, err := problem.Warp(t.points[same[0]].regularizer(t.grid.Kernel.Regularizer), t.Targets.Labeled)
		if err != nil {
			t.fail(same, err)
			continue
		}
		if err := t.run(ctx, same, func(s *models.Split) []models.Answer { return t.kernelAnswers(ctx, w.Gram, s, same) }); err != nil {
			return err
		}
	}
	return nil
}

// sameRatio returns points in groups of equal γ_I/γ_A, up to 1e-12.
func (t *tuning) sameRatio(points []int) [][]int {
	var ratios []float64
	return grouped(t, points, func(p Point) int {
		ratio := p.GammaI / p.GammaA
		at := slices.IndexFunc(ratios, func(r float64) bool { return math.Abs(r-ratio) <= 1e-12*r })
		if at < 0 {
			at = len(ratios)
			ratios = append(ratios, ratio)
		}
		return at
	})
}

// scaled runs points of machines that are fitted by one of the Means.
func (t *tuning) scaled(ctx context.Context) error {
	for _, sameWidth := range grouped(t, t.all(), func(p Point) float64 { return p.Sigma }) {
		k := t.grid.KernelFunction
		k.Sigma = t.points[sameWidth[0]].Sigma
		base, err := kernelmachine.NewApproximateProblem(ctx, t.Data.Points, k, nil, 1, t.grid.Scale, t.settings.MemoryLimit)
		if err != nil {
			return err
		}
		err = t.eachNorm(sameWidth, t.grid.Kernel.Laplacian, func(l *sparse.Laplacian, points []int) error {
			problem := base
			if l != nil {
				if problem, err = base.WithNorm(ctx, l); err != nil {
					return err
				}
			}
			return t.run(ctx, points, func(s *models.Split) []models.Answer { return t.scaledAnswers(ctx, problem, s, points) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tuning) scaledAnswers(ctx context.Context, problem *kernelmachine.ApproximateProblem, s *models.Split, points []int) []models.Answer {
	settings := make([]kernelmachine.Settings, len(points))
	for i, p := range points {
		settings[i] = *t.grid.Kernel
		settings[i].Regularizer = t.points[p].regularizer(settings[i].Regularizer)
	}
	fits, err := problem.Series(ctx, s.Train, settings, false)
	answers := make([]models.Answer, len(points))
	for i := range answers {
		m, fault := []*kernelmachine.Approximate(nil), err
		if fits != nil {
			m = fits[i:]
		} else if m, fault = problem.Series(ctx, s.Train, settings[i:i+1], false); m == nil { // a point of the path cannot be fitted
			answers[i].Err = fault
			continue
		}
		prediction, err := problem.Answer(ctx, m[0], s.Points)
		if err != nil {
			answers[i].Err = err
			continue
		}
		answers[i] = models.Answer{Scores: prediction.Scores, Classes: prediction.Classes, Err: fault}
	}
	return answers
}

// eigenfunctions runs points of regression on them.
func (t *tuning) eigenfunctions(ctx context.Context) error {
	settings := func(p int) *eigenfunction.Settings {
		s := *t.grid.SSSL
		s.Eigenfunctions = t.points[p].Eigenvectors
		return &s
	}
	for _, sameWidth := range grouped(t, t.all(), func(p Point) float64 { return p.Sigma }) {
		most := 0
		var points []int
		for _, p := range sameWidth {
			_, count, err := settings(p).Fill(len(t.Targets.Labeled))
			if err != nil {
				t.fail([]int{p}, err)
				continue
			}
			most, points = max(most, count), append(points, p)
		}
		if len(points) == 0 {
			continue
		}
		k := t.grid.KernelFunction
		k.Sigma = t.points[sameWidth[0]].Sigma
		e, err := eigenfunction.New(ctx, t.Data.Points, k, most, t.grid.SSSL.Landmarks, t.grid.SSSL.Seed, t.settings.MemoryLimit)
		if err != nil {
			return err
		}
		at, err := e.At(ctx, data.Select(t.Data.Points, t.Targets.Labeled))
		if err != nil {
			return err
		}
		err = t.run(ctx, points, func(s *models.Split) []models.Answer {
			kept := dense.Gather(mat.NewDense(len(s.Kept), len(e.Values), nil), at, s.Kept)
			answers := make([]models.Answer, len(points))
			for i, p := range points {
				m, gamma, err := e.Regress(s.Train, kept, settings(p))
				if err != nil {
					answers[i].Err = err
					continue
				}
				_, c := gamma.Dims()
				f := mat.NewDense(len(s.Held), c, nil)
				dense.Gemm(dense.NoTrans, dense.NoTrans, 1, m.Design(at, s.Held, m.Settings.Eigenfunctions), gamma, 0, f)
				prediction := models.NewPrediction(f, s.Train.Classes)
				answers[i] = models.Answer{Scores: prediction.Scores, Classes: prediction.Classes, Err: nil}
			}
			return answers
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// labeledGram returns the Gram matrix of the labeled points.
func (t *tuning) labeledGram(k kernel.Kernel) (*mat.Dense, error) {
	x := data.Select(t.Data.Points, t.Targets.Labeled)
	if k.Kind != kernel.Precomputed {
		return kernel.Gram(x, k, t.settings.MemoryLimit)
	}
	n, d := t.Data.Points.Dims()
	if n != d {
		return nil, errors.New("selection: a precomputed kernel is a square matrix")
	}
	l := len(t.Targets.Labeled)
	gram, row := mat.NewDense(l, l, nil), make([]float64, n)
	for i := range l {
		data.RowTo(row, x, i)
		for j, at := range t.Targets.Labeled {
			gram.Set(i, j, row[at])
		}
	}
	return gram, nil
}

// kernelAnswers fits machines on the kernel among all labeled points.
func (t *tuning) kernelAnswers(ctx context.Context, gram *mat.Dense, s *models.Split, points []int) []models.Answer {
	among, across := dense.Part(gram, s.Kept, s.Kept), dense.Part(gram, s.Held, s.Kept)
	answers := make([]models.Answer, len(points))
	for i, p := range points {
		settings := *t.grid.Kernel
		settings.Regularizer = t.points[p].regularizer(settings.Regularizer)
		filled, err := settings.Fill()
		if err != nil {
			answers[i].Err = err
			continue
		}
		m := &kernelmachine.Machine{Settings: filled}
		var beta *mat.Dense
		if filled.Method == kernelmachine.RLS {
			beta, m.Bias, err = kernelmachine.LeastSquares(among, s.Train.Y, filled.GammaA*float64(len(s.Kept)), filled.Intercept)
		} else {
			beta, err = m.Programs(ctx, solvers.DenseRows(among), 1, s.Train)
		}
		if beta == nil {
			answers[i].Err = err
			continue
		}
		_, c := beta.Dims()
		f := mat.NewDense(len(s.Held), c, nil)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, across, beta, 0, f)
		dense.AddRow(f, m.Bias)
		prediction := models.NewPrediction(f, s.Train.Classes)
		answers[i] = models.Answer{Scores: prediction.Scores, Classes: prediction.Classes, Err: err}
	}
	return answers
}

func (t *tuning) graphs(ctx context.Context) error {
	for _, points := range grouped(t, t.all(), func(p Point) int { return p.Neighbors }) {
		w, err := t.graph(t.points[points[0]].Neighbors)
		if err != nil {
			return err
		}
		problem, err := propagation.NewProblem(w, nil)
		if err != nil {
			return err
		}
		for _, p := range points {
			one := []int{p}
			settings := *t.grid.Graph
			settings.OnIteration = nil // folds run at the same time
			settings.Alpha = t.points[p].Alpha
			if settings.Method == propagation.Tikhonov {
				settings.Regularizer = t.points[p].regularizer(settings.Regularizer)
			}
			err := t.run(ctx, one, func(s *models.Split) []models.Answer {
				g, err := problem.Fit(ctx, s.Train, &settings)
				if g == nil {
					return []models.Answer{{Err: err}}
				}
				_, c := g.Scores.Dims()
				a := models.Answer{Scores: dense.Gather(mat.NewDense(len(s.Points), c, nil), g.Scores, s.Points), Err: err}
				for _, i := range s.Points {
					if g.Labels != nil {
						a.Classes = append(a.Classes, g.Labels[i])
					}
				}
				return []models.Answer{a}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// pairs is the number of eigenpairs that the eigenmap classifier needs.
func (t *tuning) pairs() int {
	most := 1
	for _, p := range t.points {
		if p.Eigenvectors == 0 {
			p.Eigenvectors = int(math.Round(eigenmap.PaperShare * float64(len(t.Targets.Labeled))))
		}
		most = max(most, p.Eigenvectors)
	}
	return min(most, t.Targets.Len)
}

func (t *tuning) eigenmaps(ctx context.Context) error {
	for _, points := range grouped(t, t.all(), func(p Point) int { return p.Neighbors }) {
		l, err := t.laplacian(t.points[points[0]].Neighbors, t.grid.Laplacian)
		if err != nil {
			return err
		}
		components := l.Graph().Components()
		e, unfinished := lanczos.Laplacian(ctx, l, components, &lanczos.Settings{K: t.pairs(), Tolerance: t.grid.Tolerance, Seed: t.settings.Seed, MemoryLimit: t.settings.MemoryLimit})
		if e == nil || unfinished != nil && !unconverged(unfinished) {
			return unfinished
		}
		err = t.run(ctx, points, func(s *models.Split) []models.Answer {
			answers := t.eigenmapAnswers(ctx, e, components, s, points)
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

func (t *tuning) eigenmapAnswers(ctx context.Context, e *lanczos.Result, c *sparse.Components, s *models.Split, points []int) []models.Answer {
	settings := make([]eigenmap.Settings, len(points))
	for i, p := range points {
		settings[i] = *t.grid.Eigenmap
		settings[i].Eigenvectors, settings[i].Gamma = t.points[p].Eigenvectors, t.points[p].Gamma
	}
	fits, err := eigenmap.FitAll(ctx, e, c, []*data.Labels{s.Labels}, settings)
	if err != nil {
		return slices.Repeat([]models.Answer{{Err: err}}, len(points))
	}
	n, have := e.Vectors.Dims()
	rows := dense.Gather(mat.NewDense(len(s.Points), have, nil), e.Vectors, s.Points)
	reached := eigenmap.ReachedPoints(c, s.Labels)
	answers := make([]models.Answer, len(points))
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
