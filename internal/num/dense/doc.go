// Package dense holds the dense linear algebra of bigfit: matrix products,
// Cholesky-based factorizations, triangular solves and the symmetric
// eigenproblem, on row-major matrices.
//
// Work is shared through package par, in pieces that depend on the shapes
// alone: on one path of package simd every result has the same bits at any
// GOMAXPROCS. Wrong shapes panic; conditions of the data are returned.
package dense
