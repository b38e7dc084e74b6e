package cg

import "github.com/bigfit/bigfit/internal/enum"

// Method is a way to precondition a graph Laplacian.
type Method int

const (
	// Auto lets [Laplacian] choose.
	Auto Method = iota
	// None does without.
	None
	// Jacobi divides by the diagonal.
	Jacobi
	// IncompleteCholesky is [NewIncompleteCholesky].
	IncompleteCholesky
	// ApproximateCholesky is [NewApproximateCholesky].
	ApproximateCholesky
	// Chebyshev is a polynomial of the Laplacian scaled by its diagonal, in
	// single precision.
	Chebyshev
)

var methodNames = []string{"auto", "none", "jacobi", "ic", "approx-cholesky", "chebyshev"}

// String returns the name used on the command line and in manifests.
func (m Method) String() string { return enum.String(methodNames, m) }

// MarshalText returns the name.
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (m *Method) UnmarshalText(text []byte) error {
	return enum.Set(m, methodNames, "preconditioner", text)
}
