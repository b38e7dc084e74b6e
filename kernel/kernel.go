// Package kernel evaluates positive definite kernels between sets of points: single blocks,
// symmetric Gram matrices, and products with a Gram matrix that is never held.
//
// Values come from inner products of blocks of points, which are matrix products in float64.
// Distances are taken between centred points, and distances that would still lose digits are
// measured again from the points as given. So the exponent of a Gaussian or Laplace kernel is
// within about 1e-13 of its exact value, however far the points lie from the origin or from each
// other.
//
// A value depends on its two points, the centre and the kernel alone: it has the same bits in any
// block, at any GOMAXPROCS, and for (x, z) and (z, x).
package kernel

import (
	"errors"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/internal/enum"
)

// Kind is a family of kernels.
type Kind int

const (
	// Linear is k(x, z) = xᵀz.
	Linear Kind = iota
	// Polynomial is k(x, z) = (Scale·xᵀz + Offset)^Degree.
	Polynomial
	// Gaussian is k(x, z) = exp(−‖x−z‖²/2σ²).
	Gaussian
	// Laplace is k(x, z) = exp(−‖x−z‖/σ).
	Laplace
	// Cosine is k(x, z) = xᵀz/(‖x‖‖z‖), 0 if one of them is zero.
	Cosine
)

var kinds = enum.New[Kind]("kernel", "linear", "polynomial", "gaussian", "laplace", "cosine")

// String returns the name used on the command line and in manifests.
func (k Kind) String() string { return kinds.String(k) }

// MarshalText returns the name.
func (k Kind) MarshalText() ([]byte, error) { return kinds.Marshal(k) }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(text []byte) error { return kinds.Unmarshal(k, text) }

// HasWidth reports whether kernels of this kind have a width σ. They are functions
// of ‖x−z‖/σ with k(x, x) = 1.
func (k Kind) HasWidth() bool { return k == Gaussian || k == Laplace }

// Kernel is a kernel with its parameters. The zero value is the linear kernel.
type Kernel struct {
	Kind Kind `json:"kind"`
	// Sigma is the width σ of the kinds that have one ([Kind.HasWidth]), in the unit of the
	// points, not squared. It has no default; see [Width] for rules.
	Sigma float64 `json:"sigma,omitempty"`
	// Degree is the degree of Polynomial. Default 3.
	Degree int `json:"degree,omitempty"`
	// Scale is the scale of Polynomial. Default 1.
	Scale float64 `json:"scale,omitempty"`
	// Offset is the offset of Polynomial, not negative. Default 0.
	Offset float64 `json:"offset,omitempty"`
}

// Fill returns k with its defaults and with parameters of other kinds set to zero, or all faults at
// once.
func (k Kernel) Fill() (Kernel, error) {
	out := Kernel{Kind: k.Kind}
	var faults []error
	switch {
	case !kinds.Valid(k.Kind):
		faults = append(faults, fmt.Errorf("kernel: kind %v", k.Kind))
	case k.Kind.HasWidth():
		if out.Sigma = k.Sigma; !(k.Sigma > 0) || math.IsInf(k.Sigma, 0) {
			faults = append(faults, fmt.Errorf("kernel: the width σ of the %v kernel is %v; it must be positive",
				k.Kind, k.Sigma))
		}
	case k.Kind == Polynomial:
		out.Degree = k.Degree
		out.Scale = k.Scale
		out.Offset = k.Offset
		if k.Degree == 0 {
			out.Degree = 3
		}
		if k.Scale == 0 {
			out.Scale = 1
		}

		// With these signs the kernel is positive definite.
		if k.Degree < 0 {
			faults = append(faults, fmt.Errorf("kernel: degree %d; it must be at least 1", k.Degree))
		}
		if !(out.Scale > 0) || math.IsInf(k.Scale, 0) {
			faults = append(faults, fmt.Errorf("kernel: scale %v; it must be positive", k.Scale))
		}
		if !(k.Offset >= 0) || math.IsInf(k.Offset, 0) {
			faults = append(faults, fmt.Errorf("kernel: offset %v; it must not be negative", k.Offset))
		}
	}

	return out, errors.Join(faults...)
}

// String describes the kernel in a few words.
func (k Kernel) String() string {
	text := fmt.Sprintf("%v kernel", k.Kind)
	switch {
	case k.Kind.HasWidth():
		text += fmt.Sprintf(" with σ = %.6g", k.Sigma)
	case k.Kind == Polynomial:
		text += fmt.Sprintf(" (%g·xᵀz + %g)^%d", k.Scale, k.Offset, k.Degree)
	}
	return text
}
