// Package kernel evaluates positive definite kernels between sets of points:
// single blocks, symmetric Gram matrices, and products with the Gram matrix that
// never hold it.
//
// Values come from inner products of blocks of points, which are matrix
// products, in float64. Distances are taken between centred points, and those
// that would lose digits even so are measured again from the points as given:
// the exponent of a Gaussian or Laplace kernel is within about 1e-13 of its
// exact value, however far from the origin or from each other they lie.
//
// A value depends on its two points, the centre and the kernel alone: the same
// bits in whatever block, at any GOMAXPROCS, and for (x, z) as for (z, x).
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

// Kernel is a kernel with its parameters. The zero value is the linear one.
type Kernel struct {
	Kind Kind `json:"kind"`
	// Sigma is the width σ of the kinds that have one ([Kind.HasWidth]), without a
	// default; see [Width] for rules. It is in the unit of the points, not squared.
	Sigma float64 `json:"sigma,omitempty"`
	// Degree of Polynomial. Default 3. Offset must not be negative.
	Degree int `json:"degree,omitempty"`
	// Scale of Polynomial. Default 1.
	Scale float64 `json:"scale,omitempty"`
	// Offset of Polynomial. Default 0.
	Offset float64 `json:"offset,omitempty"`
}

// Fill returns k with its defaults, parameters of other kinds set to zero, or
// all faults at once.
func (k Kernel) Fill() (Kernel, error) {
	out := Kernel{Kind: k.Kind}
	var faults []error
	switch {
	case !kinds.Valid(k.Kind):
		faults = append(faults, fmt.Errorf("kernel: kind %v", k.Kind))
	case k.Kind.HasWidth():
		if out.Sigma = k.Sigma; !(k.Sigma > 0) || math.IsInf(k.Sigma, 0) {
			faults = append(faults, fmt.Errorf("kernel: the width σ of the %v kernel is %v; it must be positive", k.Kind, k.Sigma))
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
