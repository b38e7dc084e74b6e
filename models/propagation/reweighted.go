package propagation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// ReweightedName is the name of [ReweightedLearner] and its models.
const ReweightedName = "reweighted"

// reweightedOffset is ε of [Problem.Potential].
const reweightedOffset = 1e-5

// Potential returns γ of Poisson-reweighted Laplace learning for labels at some points, a
// factor a point: in every component with m of the labels and n points
//
//	L v = Σ_j δ_j − m/n,   γ = (v − min v)/(max v − min v) + ε,   ε = 1e-5
//
// with L = D − W and j the labeled points, so that γ is largest at labels and falls with
// the distance from them as the Green's function of the graph does. The program of the paper's authors adds ε to
// v − min v and does not divide by the range, so that ε weighs otherwise where the range is far from 1. With weights of labels δ_j has
// the weight, and m is their sum. It is 1 in components
// without a label and where v is constant. Only tolerance, iterations and hook of s count.
func (p *Problem) Potential(ctx context.Context, y *models.Targets, s *Settings) ([]float64, error) {
	plain := *y
	plain.Weights = nil // which the method that fill checks does not have
	filled, err := (Settings{Tolerance: s.Tolerance, MaxIterations: s.MaxIterations,
		OnIteration: s.OnIteration}).fill(&plain)
	if err != nil {
		return nil, err
	}
	d := p.newDraw(y, filled)
	of := p.components.Of
	sizes := make([]float64, p.components.Count())
	labels := make([]float64, len(sizes))
	for _, c := range of {
		sizes[c]++
	}
	b := mat.NewDense(p.Len(), 1, nil)
	counts := make([]float64, len(sizes))
	for q, i := range d.at {
		counts[of[i]]++
		labels[of[i]] += d.weight(q)
		b.Set(int(i), 0, d.weight(q))
	}

	// In each component the sources at labels and the uniform sinks add up to zero.
	for i, c := range of {
		b.Set(i, 0, b.At(i, 0)-labels[c]/sizes[c])
	}
	r, short := d.flows(ctx, b)
	if r == nil {
		return nil, short
	}
	v := r.X.RawMatrix().Data
	// γ grows from the offset at the farthest point of a component to one more at its labels.
	low := slices.Repeat([]float64{math.Inf(1)}, len(sizes))
	high := slices.Repeat([]float64{math.Inf(-1)}, len(sizes))
	for i, c := range of {
		low[c], high[c] = min(low[c], v[i]), max(high[c], v[i])
	}
	gamma := make([]float64, p.Len())
	for i, at := range p.place {
		c := of[at]
		gamma[i] = 1
		if d.reached[c] && counts[c] < sizes[c] && high[c] > low[c] {
			gamma[i] = (v[at]-low[c])/(high[c]-low[c]) + reweightedOffset
		}
	}

	return gamma, short
}

// Reweight returns the graph of the weights γ_i γ_j w_ij.
func Reweight(w *sparse.CSR, gamma []float64) *sparse.CSR {
	out := &sparse.CSR{Rows: w.Rows, Cols: w.Cols, Ptr: w.Ptr, Col: w.Col, Val: make([]float64, w.NNZ())}
	par.For(w.Rows, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for at := w.Ptr[i]; at < w.Ptr[i+1]; at++ {
				out.Val[at] = gamma[i] * gamma[w.Col[at]]
				if w.Val != nil {
					out.Val[at] *= w.Val[at]
				}
			}
		}
	})

	return out
}

// FitReweighted is Poisson-reweighted Laplace learning: harmonic functions on the graph of
// the weights γ_i γ_j w_ij, with γ of [Problem.Potential],
//
//	Σ_j γ_i γ_j w_ij (f_i − f_j) = 0 at points without a label,   f = y at labels.
//
// Where labels are few, harmonic functions are nearly constant, with spikes at the labels. Weights
// that grow without bound towards the labels prevent it: Calder & Slepčev, Properly-weighted graph
// Laplacian for semi-supervised learning (2020), take a power of the distance from the labels for
// γ; Miller & Calder, Poisson reweighted Laplacian uncertainty sampling (2023), the solution of
// Poisson's equation. It returns γ beside the solution. The settings of the solution are settings
// of Harmonic.
//
// p is w prepared. It costs a linear system with one right-hand side, which s.OnIteration
// is told of as the first column, and one as of Harmonic.
func FitReweighted(ctx context.Context, w *sparse.CSR, p *Problem, y *models.Targets,
	s *Settings) (*Solution, []float64, error) {
	if y.Len != p.Len() || w.Rows != p.Len() {
		return nil, nil, fmt.Errorf("propagation: targets of %d points and weights of %d for a graph of %d",
			y.Len, w.Rows, p.Len())
	}
	gamma, short := p.Potential(ctx, y, s)
	if gamma == nil || !models.Usable(short) {
		return nil, nil, short
	}
	own := *s
	if s.OnIteration != nil {
		own.OnIteration = func(state cg.State) error {
			state.Converged++
			return s.OnIteration(state)
		}
	}

	// The potential counts as one column of progress. It took the weights of the labels, which the
	// harmonic function keeps as they are.
	values := *y
	values.Weights = nil
	g, err := p.harmonicOn(ctx, Reweight(w, gamma), &values, &own)
	return g, gamma, errors.Join(short, err)
}

// harmonicOn is [Problem.Fit] on the same graph with other weights.
func (p *Problem) harmonicOn(ctx context.Context, w *sparse.CSR, y *models.Targets,
	s *Settings) (*Solution, error) {
	c := &sparse.Components{Of: make([]int32, p.Len()), Sizes: p.components.Sizes}
	for i, at := range p.place {
		c.Of[i] = p.components.Of[at]
	}
	q, err := NewProblem(w, c)
	if err != nil {
		return nil, err
	}
	return q.Fit(ctx, y, s)
}

// ReweightedLearner continues targets by [FitReweighted].
type ReweightedLearner struct{}

// Info describes the learner.
func (ReweightedLearner) Info() models.Info {
	return models.Info{Name: ReweightedName, Help: "harmonic functions on weights that grow towards " +
		"the labels, for very few labels (Miller & Calder 2023)",
		Formula: "f = y at the labels, Σ_j γ_i γ_j W_ij (f_i − f_j) = 0 at all other points,\n" +
			"γ the solution of a Poisson equation with sources at the labels",
		Source: "Miller & Calder 2023: Poisson-reweighted Laplace learning; Calder & Slepčev 2020",
		Scores: "probability that a random walk by these weights first meets a label of the class; " +
			"or the value",
		Learns: models.LearnsClasses | models.LearnsValues | models.LearnsShares | models.LearnsWeights, Needs: models.NeedsGraph}
}

// Params lists the parameters.
func (ReweightedLearner) Params() []models.Param { return reweightedParams.Params() }

var reweightedParams = join(shareParams, solverParams)

// Cost returns the cost of the potential, of the graph with other weights and of a harmonic function.
func (ReweightedLearner) Cost(in *models.Input) (stage.Cost, error) {
	s, err := reweightedParams.Decode(in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	harmonic, fit, err := bytes(in, &s)
	if err != nil {
		return stage.Cost{}, err
	}
	s.Method = Poisson
	potential, flow, err := bytes(in, &s)
	if err != nil {
		return stage.Cost{}, err
	}

	// The potential and the harmonic function are computed one after the other.
	weights := 16 * int64(in.EdgeCount()) // those of the new graph, also where all were one
	return stage.Cost{Bytes: potential + max(flow, stage.HeapBytes(weights)+harmonic+fit),
		Operations: 2 * operations(in), Remedy: fmt.Sprintf("make a graph of fewer %s", param.Name("neighbors"))}, nil
}

// Fit is [FitReweighted] on the graph and the targets of in.
func (l ReweightedLearner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	s, err := reweightedParams.Decode(in.Values)
	if err != nil {
		return nil, err
	}
	info := l.Info()
	if err := info.Check(in); err != nil {
		return nil, err
	}
	p, err := NewProblem(in.Graph.W, in.Graph.Components)
	if err != nil {
		return nil, err
	}

	s.Start = in.Start
	s.OnIteration = func(state cg.State) error {
		in.Report(float64(state.Converged), float64(1+columns(in.Targets)), state.String())
		return nil
	}
	g, gamma, err := FitReweighted(ctx, in.Graph.W, p, in.Targets, &s)
	if g == nil || !models.Usable(err) {
		return nil, err
	}
	g.round()
	return &Reweighted{&Model{Solution: g, Neighborhood: in.Graph.Keep(), Given: models.GivenOf(in.Targets),
		Gamma: gamma}}, err
}

// Reweighted is a model by [FitReweighted]. A new point x has the value
//
//	f(x) = Σ γ_i w_i f_i / Σ γ_i w_i
//
// of its equation, over its nearest training points: see [Model.Predict].
type Reweighted struct{ *Model }

// Name is [ReweightedName].
func (m *Reweighted) Name() string { return ReweightedName }

// Summary names the iterations and their residual.
func (m *Reweighted) Summary() models.Summary {
	s := m.Model.Summary()
	s.Values = reweightedParams.Encode(&m.Settings)
	return s
}

// Encode returns what [Model.Encode] does, with gamma (n).
func (m *Reweighted) Encode() (*models.Encoded, error) {
	e, err := m.Model.Encode()
	if err != nil {
		return nil, err
	}
	e.Values = reweightedParams.Encode(&m.Settings)
	e.Arrays = append(e.Arrays, archive.Array{Name: "gamma", Data: m.Gamma})
	return e, nil
}

// Decode is the inverse of [Reweighted.Encode].
func (ReweightedLearner) Decode(r *models.Reader) (models.Model, error) {
	m, err := Learner{Method: Harmonic}.Decode(r)
	if err != nil {
		return nil, err
	}
	out := &Reweighted{m.(*Model)}
	out.Gamma = models.Numbers[float64](r, "gamma")
	if r.Err != nil {
		return nil, r.Err
	}

	// Factors that are not positive would turn weights negative.
	n, _ := out.Scores.Dims()
	if len(out.Gamma) != n {
		return nil, fmt.Errorf("propagation: %d factors of weights for %d points", len(out.Gamma), n)
	}
	if i := slices.IndexFunc(out.Gamma, func(v float64) bool { return !(v > 0) }); i >= 0 {
		return nil, fmt.Errorf("propagation: the factor of the weights of point %d is %v; it must be positive", i, out.Gamma[i])
	}
	return out, nil
}
