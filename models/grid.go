package models

import (
	"context"
	"math"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// GridLearner is a learner that shares work among the settings of a grid and the folds of a
// cross-validation, such as one factorization for many values of γ.
type GridLearner interface {
	Learner
	// FitGrid fits every setting of g on every split, through g.Run.
	FitGrid(ctx context.Context, g *Grid) error
	// GridCost estimates what FitGrid takes.
	GridCost(g *Grid) (GridCost, error)
}

// GridCost estimates the cost of a cross-validation beside its data.
type GridCost struct {
	Shared     int64   // bytes that are held once
	Fold       int64   // bytes for each fold that is fitted at the same time
	Operations float64 // operations of all fits, as in stage.Cost
	Remedy     string
}

// Cost returns the sum for folds that run on all threads.
func (c GridCost) Cost(splits int) stage.Cost {
	threads := min(runtime.GOMAXPROCS(0), max(1, splits))
	return stage.Cost{Bytes: c.Shared + int64(threads)*c.Fold, Operations: c.Operations, Remedy: c.Remedy}
}

// Grid holds the settings to choose from and the folds to choose by. A setting is named by
// its position.
type Grid struct {
	// Input has the points and all targets. Graph is nil, because settings may have
	// different graphs; Edges is the number of edges of the largest graph.
	Input
	// Settings holds the parameters of each setting, without parameters that do not matter
	// with the others.
	Settings []Values
	Splits   []*Split
	// GraphOf returns the graph of a setting. Settings with equal GraphKey share a graph;
	// an empty key says that the setting takes none.
	GraphOf  func(setting int) (*Graph, error)
	GraphKey func(setting int) string
	// Eigensolver, if not nil, takes the place of [lanczos.Laplacian]; it may know pairs
	// from an earlier grid.
	Eigensolver func(ctx context.Context, l *sparse.Laplacian, c *sparse.Components,
		s *lanczos.Settings) (*lanczos.Result, error)
	// Derived keeps what a learner makes of a graph for further grids; may be nil.
	Derived *Derived
	// Run has fit answer for the points held out of each split, once for each of
	// the settings, in their order. Splits run in parallel.
	Run func(ctx context.Context, settings []int, fit func(*Split) []Answer) error
	// Fail records that the settings cannot be fitted.
	Fail func(settings []int, err error)
}

// Derived holds what was made once.
type Derived struct {
	mu   sync.Mutex
	made map[any]any
}

// Of returns what make makes, once for each key; a nil d keeps nothing.
func (d *Derived) Of(key any, make func() any) any {
	if d == nil {
		return make()
	}

	// The lock is held while make works: others that ask for the same key wait for it.
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made == nil {
		d.made = map[any]any{}
	}
	v, ok := d.made[key]
	if !ok {
		v = make()
		d.made[key] = v
	}
	return v
}

// With returns the input of a setting, without a graph.
func (g *Grid) With(setting int) *Input {
	in := g.Input
	in.Values = g.Settings[setting]
	return &in
}

// Solve computes eigenpairs by Eigensolver or, without one, by [lanczos.Laplacian].
func (g *Grid) Solve(ctx context.Context, l *sparse.Laplacian, c *sparse.Components,
	s *lanczos.Settings) (*lanczos.Result, error) {
	if g.Eigensolver != nil {
		return g.Eigensolver(ctx, l, c, s)
	}
	return lanczos.Laplacian(ctx, l, c, s)
}

// All returns the positions of all settings.
func (g *Grid) All() []int { return data.Range(0, len(g.Settings)) }

// Fits returns the number of fits.
func (g *Grid) Fits() float64 { return float64(len(g.Settings) * len(g.Splits)) }

// Grouped returns the settings in groups of equal keys, in the order of their
// first.
func Grouped[K comparable](settings []int, key func(int) K) [][]int {
	var out [][]int
	at := map[K]int{}
	for _, i := range settings {
		k := key(i)
		group, ok := at[k]
		if !ok {
			group = len(out)
			at[k] = group
			out = append(out, nil)
		}
		out[group] = append(out[group], i)
	}

	return out
}

// EachGraph calls f for each graph of the grid, with the settings that share it.
func (g *Grid) EachGraph(f func(graph *Graph, settings []int) error) error {
	for _, same := range Grouped(g.All(), g.GraphKey) {
		graph, err := g.GraphOf(same[0])
		if err != nil {
			return err
		}
		if err := f(graph, same); err != nil {
			return err
		}
	}
	return nil
}

// CountOf returns the number of different keys of the settings.
func (g *Grid) CountOf(key func(setting int) any) float64 {
	// Costs are often a sum over the different graphs or kernels of a grid.
	seen := map[any]bool{}
	for i := range g.Settings {
		seen[key(i)] = true
	}
	return float64(len(seen))
}

// Sizes returns the numbers that costs depend on: points, labeled points, columns
// of the points (0 without) and columns of the targets.
func (g *Grid) Sizes() (n, l, d, outputs float64) {
	_, c := g.Targets.Y.Dims()
	if g.Points != nil {
		_, cols := g.Points.Dims()
		d = float64(cols)
	}
	return float64(g.Targets.Len), float64(len(g.Targets.Labeled)), d, float64(c)
}

// Bytes converts an estimate without overflow.
func Bytes(v float64) int64 { return int64(math.Min(v, math.MaxInt64/4)) }

// Answer holds a model's answers for the points held in a split.
type Answer struct {
	Scores  *mat.Dense // a row each
	Classes []int32    // positions in the classes of the split; nil for other targets
	Err     error      // scores are usable if it is Usable
}

// AnswerOf makes an answer of a prediction.
func AnswerOf(p *Prediction, err error) Answer {
	if p == nil {
		return Answer{Err: err}
	}
	return Answer{Scores: p.Scores, Classes: p.Classes, Err: err}
}

// AnswerAt selects the answers for the given points from the answers for all points.
func AnswerAt(p *Prediction, points []int, err error) Answer {
	a := Answer{Err: err}
	if p.Scores != nil {
		_, c := p.Scores.Dims()
		a.Scores = dense.Gather(mat.NewDense(len(points), c, nil), p.Scores, points)
	}

	if p.Classes != nil {
		for _, i := range points {
			a.Classes = append(a.Classes, p.Classes[i])
		}
	}
	return a
}
