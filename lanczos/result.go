package lanczos

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// Certificate describes the search for eigenvalues that were left out.
type Certificate struct {
	// Exact: the whole spectrum was computed.
	Exact bool
	// Next bounds the first eigenvalue that is not in the result from above, as
	// far as the search found: +Inf if there is none or no search was made.
	// Without Exact it comes from a run of the process on the complement of the
	// result, from an independent random block; it is not below the last value
	// of the result by more than the tolerance, unless Missed.
	Next float64
	// Missed: the search found pairs that the first convergence had left out,
	// because an eigenvalue has more copies than the block has vectors. They
	// are in the result, unless it comes with ErrNotConverged.
	Missed bool
	// Counted: the number of pairs is the number of eigenvalues below a value behind the last one, by the
	// inertia of an exact factorization; with [Below] it is the bound. No search was made then.
	Counted bool
}

// Result holds the smallest eigenpairs, ascending.
type Result struct {
	Values []float64
	// Vectors are n×k with orthonormal columns. With [Settings.Single] they are nil, and Single has them.
	Vectors   *mat.Dense
	Single    blas32.General
	Residuals []float64 // ‖Av − λv‖₂, recomputed
	// Orthogonality is max |VᵀV − I|, recomputed.
	Orthogonality float64
	// Norm is the estimate of ‖A‖₂, not above it, that the tolerance refers to.
	Norm float64
	// Nullity is the number of exact null vectors put in front ([Laplacian]).
	Nullity     int
	Certificate Certificate
	Degree      int // degree of the filter; 0 for an inverse, or if there was no need for one
	Products    int // products of the operator with one vector
	Restarts    int
	// Rough tells that the vectors are near the span of the eigenvectors alone: [Settings.Rough].
	Rough bool
	// By names the program that found the pairs; "" for this one.
	By string
}

// vectors returns the eigenvectors in their precision.
func (r *Result) vectors() vectors { return vectors{r.Vectors, r.Single} }

// setVectors makes v the eigenvectors.
func (r *Result) setVectors(v vectors) {
	r.Vectors = v.double
	r.Single = v.single
}

// MaxResidual returns the largest residual.
func (r *Result) MaxResidual() float64 {
	var m float64
	for _, v := range r.Residuals {
		m = math.Max(m, v) // math.Max keeps NaN
	}
	return m
}

// ConvergedPairs returns the number of pairs, from the first one on, within the
// tolerance relative to Norm.
func (r *Result) ConvergedPairs(tolerance float64) int {
	for j, v := range r.Residuals {
		if !(v <= tolerance*r.Norm) {
			return j
		}
	}
	return len(r.Residuals)
}

// KeepConverged cuts r, the smallest or largest pairs, down to its first pairs within the
// tolerance, and drops pairs beyond an eigenvalue that was missed. It reports whether any are left.
func (r *Result) KeepConverged(tolerance float64, largest bool) bool {
	sign := 1.0
	if largest {
		sign = -1
	}
	k := r.ConvergedPairs(tolerance)
	for k > 0 && sign*(r.Values[k-1]-r.Certificate.Next) > 2*tolerance*r.Norm {
		k--
	}
	if k == 0 || k == len(r.Values) {
		return k > 0
	}

	// The first pair that is cut away is the next eigenvalue that the result leaves out.
	if sign*(r.Values[k]-r.Certificate.Next) < 0 {
		r.Certificate.Next = r.Values[k]
	}
	r.truncate(k)
	return true
}

// truncate keeps the first k pairs, at least one. The vectors keep their memory.
func (r *Result) truncate(k int) {
	if k == len(r.Values) {
		return
	}
	r.Values = r.Values[:k]
	r.Residuals = r.Residuals[:k]
	r.Nullity = min(r.Nullity, k)
	r.setVectors(r.vectors().together(k))
}

// String summarizes the result in one line.
func (r *Result) String() string {
	if r.Rough {
		return fmt.Sprintf("%d vectors near the smallest pairs, quotients up to %.4g, %d products", len(r.Values),
			r.Values[len(r.Values)-1], r.Products)
	}
	relative := 0.0
	if r.Norm > 0 {
		relative = r.MaxResidual() / r.Norm
	}
	return fmt.Sprintf("%d pairs up to λ = %.4g, residual %.1e·‖A‖, orthogonality %.1e, %d products",
		len(r.Values), r.Values[len(r.Values)-1], relative, r.Orthogonality, r.Products)
}
