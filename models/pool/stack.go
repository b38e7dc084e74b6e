package pool

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// priorLabels is the number of labels that the prior weights of the members count as.
const priorLabels = 3

// stackSteps is the number of steps of stackedWeights. The weights that are left in play change little after some
// fifty.
const stackSteps = 200

// stackedWeights returns the weights w with the sum one that maximize
//
//	Σ_i a_i log Σ_m w_m p_im + κ Σ_m q_m log w_m
//
// where p (l×m) are the probabilities that m members give to the right class of l labels held out, a_i the
// weights of these labels, q the prior weights divided by their sum and κ = priorLabels: stacking of predictive
// distributions (Yao, Vehtari, Simpson & Gelman 2018, section 3.1). The second term, which is ours, keeps the
// weights of few labels near the prior ones. The labels judge the mean that will answer, not each member alone, so
// that members that err at different points stay beside each other.
//
// EM finds the maximum, which is unique: each step gives a label to the members by their shares of w_m p_im.
// It costs O(lm) a step.
func stackedWeights(p *mat.Dense, a, prior []float64) []float64 {
	rows, m := p.Dims()
	q := slices.Clone(prior)
	floats.Scale(1/floats.Sum(prior), q)
	w := slices.Clone(q)
	next := make([]float64, m)
	own := make([]float64, m)
	for range stackSteps {
		floats.ScaleTo(next, priorLabels, q)
		for i := range rows {
			floats.MulTo(own, w, p.RawRowView(i))
			floats.AddScaled(next, a[i]/floats.Sum(own), own)
		}
		floats.Scale(1/floats.Sum(next), next)
		w, next = next, w
	}
	return w
}

// likelihoods returns the probabilities that members give to what is aimed at: a row for each class with a share in the
// aim of a label, a column for each member. They are at least 10⁻⁹, so that one confident mistake does not
// exclude a member for good.
func (a *aims) likelihoods(held []*mat.Dense) *mat.Dense {
	var out []float64
	a.each(func(i, c int, _ float64) {
		for _, p := range held {
			out = append(out, max(p.At(i, c), 1e-9))
		}
	})
	return mat.NewDense(len(out)/len(held), len(held), out)
}

// amounts returns the weight of each row of likelihoods. Repetitions of the cross-validation count as one.
func (a *aims) amounts(repeats int) []float64 {
	var out []float64
	a.each(func(_, _ int, amount float64) { out = append(out, amount/float64(repeats)) })
	return out
}

// each calls f for each class with a share in the aim of a row, with the weight of the row times the share.
func (a *aims) each(f func(i, c int, amount float64)) {
	for i, own := range a.class {
		if a.shares == nil {
			f(i, own, a.weight(i))
			continue
		}
		for c, y := range a.shares.RawRowView(i) {
			if y > 0 {
				f(i, c, a.weight(i)*y)
			}
		}
	}
}

// leastWeight is the smallest weight that is kept, unless all are smaller: a member below it
// hardly moves the mean, but would cost a fit, its arrays in the file and a prediction for
// every new point.
const leastWeight = 0.05

// keepHeavy sets light weights to zero, and the sum to one.
func keepHeavy(w []float64) {
	top := slices.Max(w)
	var sum float64
	for m, v := range w {
		if v < min(leastWeight, top) {
			w[m] = 0
		}
		sum += w[m]
	}

	for m := range w {
		w[m] /= sum
	}
}
