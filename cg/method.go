package cg

import "github.com/bigfit/bigfit/internal/enum"

// Method is a way to precondition a graph Laplacian.
type Method int

const (
	// Auto lets [Laplacian] choose.
	Auto Method = iota
	// None is the method without preconditioner.
	None
	// Jacobi divides by the diagonal.
	Jacobi
	// ApproximateCholesky is a sparse factorization with the expectation L + cI: the condition of
	// the preconditioned operator is moderate whatever the graph (Kyng & Sachdeva, FOCS 2016; Gao,
	// Kyng & Spielman, arXiv 2303.00709). It takes O(nnz log nnz) operations to make and about
	// 6·nnz to apply to a vector.
	ApproximateCholesky
	// Chebyshev is a polynomial of the Laplacian scaled by its diagonal, in
	// single precision.
	Chebyshev
	// Cholesky is an exact factorization by nested dissection, as for graphs of the
	// neighbours of points on a curve or surface, where it has at most 24 numbers a
	// stored edge and 2²⁵ in all; ApproximateCholesky elsewhere.
	Cholesky
)

var methods = enum.New[Method]("preconditioner", "auto", "none", "jacobi", "approx-cholesky", "chebyshev",
	"cholesky")

// String returns the name used on the command line and in manifests.
func (m Method) String() string { return methods.String(m) }

// MarshalText returns the name.
func (m Method) MarshalText() ([]byte, error) { return methods.Marshal(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Method) UnmarshalText(text []byte) error { return methods.Unmarshal(m, text) }
