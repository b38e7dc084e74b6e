package eigenmap

import (
	"cmp"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
)

// Penalty is the form of the penalty P(f) = Σ_j r(λ_j)a_j² on f = Σ a_j e_j: Belkin &
// Niyogi (2004), section 7.1.
type Penalty int

const (
	// NoPenalty is plain least squares: step 3 of Belkin & Niyogi (2004).
	NoPenalty Penalty = iota
	// Iterated is r(λ) = λˢ. With s = 1 it is ∫⟨∇f, ∇f⟩, with s = 2i it is ‖Δⁱf‖².
	Iterated
	// HeatKernel is r(λ) = e^{tλ} = 1/μ for the heat kernel Σ μ_j e_j(p)e_j(q),
	// μ_j = e^{−tλ_j}.
	HeatKernel
	// Sum is r(λ) = Σ_{i=1..k} λ²ⁱ, that is Σ_{i=1..k} ‖Δⁱf‖².
	Sum
	// Polynomial is r(λ) = Σ_i c_i λⁱ with nonnegative coefficients. It approximates
	// every r with a power series of nonnegative terms. c₀ is the weight of ‖f‖².
	Polynomial
	// Kernel is r_j = 1/μ_j for the kernel K(p, q) = Σ_j μ_j e_j(p)e_j(q), with any μ_j ≥ 0 in the order
	// of the eigenvalues (section 7.1, case 2). f has nothing of an eigenvector with μ_j = 0. Where
	// eigenvalues are equal, the eigenvectors are not unique, and different μ_j have no meaning.
	Kernel
)

var penalties = enum.New[Penalty]("penalty", "none", "iterated", "heat", "sum", "polynomial", "kernel")

// String returns the name used on the command line and in manifests.
func (p Penalty) String() string { return penalties.String(p) }

// MarshalText returns the name.
func (p Penalty) MarshalText() ([]byte, error) { return penalties.Marshal(p) }

// UnmarshalText is the inverse of MarshalText.
func (p *Penalty) UnmarshalText(text []byte) error { return penalties.Unmarshal(p, text) }

// Unit says by which u eigenvalues are divided in a penalty r(λ/u).
type Unit int

const (
	// Twentieth is u = λ₂₀, the 20th smallest eigenvalue (of m components with a label
	// the (19+m)th), the largest where there are fewer. γ, t and coefficients then mean
	// the same on graphs of any size and weights.
	Twentieth Unit = iota
	// One is u = 1, as in the paper.
	One
)

var units = enum.New[Unit]("unit of eigenvalues", "twentieth", "one")

// String returns the name used on the command line and in manifests.
func (u Unit) String() string { return units.String(u) }

// MarshalText returns the name.
func (u Unit) MarshalText() ([]byte, error) { return units.Marshal(u) }

// UnmarshalText is the inverse of MarshalText.
func (u *Unit) UnmarshalText(text []byte) error { return units.Unmarshal(u, text) }

// mostOrder is the largest k of Sum: λ²ᵏ then overflows only above λ/u = 1,200.
const mostOrder = 50

// fillPenalty sets the numbers of the penalty that have their defaults.
func (s *Settings) fillPenalty() {
	if s.Power == 0 {
		s.Power = 2
	}
	if s.T == 0 {
		s.T = 1
	}
	if s.Order == 0 {
		s.Order = 2
	}
	s.Mu = slices.Clone(s.Mu)
	if s.Coefficients = slices.Clone(s.Coefficients); len(s.Coefficients) == 0 {
		s.Coefficients = []float64{0, 1}
	}
}

// checkMu returns an error unless the μ_j of [Kernel] make a kernel.
func (s *Settings) checkMu() error {
	if s.Penalty != Kernel || slices.ContainsFunc(s.Mu, func(v float64) bool { return v > 0 }) {
		return nil
	}
	return models.Faultf("%s kernel needs %s, numbers of which one is positive", param.Name("penalty"),
		param.Name("penalty-mu"))
}

// at returns r(x) of settings with their defaults.
func (s *Settings) at(x float64) float64 {
	switch s.Penalty {
	case HeatKernel:
		return math.Exp(s.T * x)
	case Sum:
		var r float64
		for range s.Order { // Horner's rule in x²
			r = (r + 1) * x * x
		}
		return r
	case Polynomial:
		var r float64
		for _, c := range slices.Backward(s.Coefficients) {
			r = r*x + c
		}
		return r
	}

	return math.Pow(x, s.Power)
}

// referencePair is the position, counted from 1, of the eigenvalue that [Twentieth] takes.
const referencePair = 20

// penalties returns l·γ·r(λ_j/u) for every eigenvalue, nil without penalty. reached is the
// number of components with a label: each of them beyond the first adds a null vector, and
// so moves the position of the reference eigenvalue by one.
func (s *Settings) penalties(values []float64, l, reached int, gamma float64) []float64 {
	if s.Penalty == NoPenalty {
		return nil
	}
	if s.Penalty == Kernel {
		return s.kernelPenalties(values, l, gamma)
	}
	unit := 1.0
	if s.Unit == Twentieth {
		// Without a positive eigenvalue every penalty is r(0).
		ascending := slices.Sorted(slices.Values(values))
		unit = ascending[min(referencePair+max(reached, 1)-1, len(values))-1]
		if unit <= 0 {
			unit = math.Max(ascending[len(values)-1], math.SmallestNonzeroFloat64)
		}
	}

	out := make([]float64, len(values))
	for j, v := range values {
		out[j] = math.Min(float64(l)*gamma*s.at(math.Max(v, 0)/unit), mostPenalty) // e^{tλ} may overflow
	}
	return out
}

// mostPenalty bounds the penalties; beside it the data is nothing.
const mostPenalty = 1e150

// kernelPenalties returns l·γ/μ_j for every eigenvalue, of which μ₁ belongs to the smallest.
func (s *Settings) kernelPenalties(values []float64, l int, gamma float64) []float64 {
	order := data.Range(0, len(values))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	out := make([]float64, len(values))
	for rank, j := range order {
		out[j] = mostPenalty
		if rank < len(s.Mu) && s.Mu[rank] > 0 {
			out[j] = math.Min(float64(l)*gamma/s.Mu[rank], mostPenalty)
		}
	}
	return out
}
