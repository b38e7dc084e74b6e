package pool

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
)

// ErrNoCommittee is returned by [Model.Disagreement] for a model that cannot disagree with itself.
var ErrNoCommittee = errors.New("the model has one member, which agrees with itself")

// Disagreement returns for each of the n training points how far the members disagree about its class: the
// Jensen–Shannon divergence of their probabilities p_k with the weights w_k of the model,
//
//	(H(Σ_k w_k p_k) − Σ_k w_k H(p_k)) / log min(members, classes),
//
// from 0, where all say the same, to 1. H is the entropy. Members with a weight take part; the others were
// not fitted to all labels. The classes keep the shares that each member gives them. Members that keep no
// answers for the training points predict them again, at the cost of [Model.Predict].
//
// McCallum & Nigam, Employing EM and pool-based active learning for text classification, ICML 1998,
// section 4.
func (m *Model) Disagreement(ctx context.Context) ([]float64, error) {
	if m.output.Classes == nil {
		return nil, fmt.Errorf("pool: members disagree about classes, and this model answers with %v", m.output.Kind)
	}
	if len(m.parts) < 2 {
		return nil, ErrNoCommittee
	}

	// The mean and the entropies are added up member by member, so that one block is held beside them.
	n, c := m.points, m.output.Columns
	mean := mat.NewDense(n, c, nil)
	own := mat.NewDense(n, c, nil)
	out := make([]float64, n)
	total := 0.0
	for k := range m.parts {
		total += m.parts[k].weight
	}
	in := &models.Input{Points: m.neighborhood.Points, Targets: &models.Targets{Len: n}}
	for k := range m.parts {
		p := m.parts[k]
		p.weight /= total
		if _, trained := p.Model.(models.Trained); !trained && in.Points == nil {
			return nil, models.ErrNoPoints
		}
		scores, err := onTraining(ctx, p.Model, in, c)
		if err != nil {
			return nil, err
		}
		own.Zero()
		p.add(own, scores, true, make([]bool, n))
		par.For(n, 256, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := own.RawRowView(i)
				to := mean.RawRowView(i)
				for j, v := range row {
					to[j] += v
					row[j] = v / p.weight
				}
				out[i] -= p.weight * entropy(row)
			}
		})
	}

	most := math.Log(float64(min(len(m.parts), c)))
	for i := range out {
		out[i] = min(max((out[i]+entropy(mean.RawRowView(i)))/most, 0), 1)
	}
	return out, nil
}

// entropy returns −Σ p log p.
func entropy(p []float64) float64 {
	sum := 0.0
	for _, v := range p {
		if v > 0 {
			sum -= v * math.Log(v)
		}
	}
	return sum
}
