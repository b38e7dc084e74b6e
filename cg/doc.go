// Package cg solves linear systems A·X = B with large sparse symmetric positive
// (semi)definite operators and many right-hand sides, above all with graph
// Laplacians.
//
// [Solve] is the preconditioned conjugate gradient method on a block: all
// columns search one common Krylov space (O'Leary, Linear Algebra Appl. 29,
// 1980), so that ten columns need fewer products than one. The block of
// residuals is kept as R = Q·C with QᵀM⁻¹Q = I (Dubrulle, ETNA 12, 2001); this
// survives columns that depend on each other, or begin to, by dropping the
// directions that are no longer there. One step is
//
//	S = (PᵀAP)⁻¹
//	X ← X + P·S·C
//	W = Q − A·P·S,   Z = M⁻¹W
//	ξᵀξ = WᵀZ        (Cholesky with pivoting)
//	Q ← W·ξ⁻¹,   P ← Z·ξ⁻¹ + P·ξᵀ,   C ← ξ·C
//
// and one column gives the usual method. The residuals are then recomputed from
// the definition; columns that are not within the tolerance after all go through
// another cycle, which makes the whole an iterative refinement: a preconditioner
// may work in single precision. A tolerance relative to ‖b‖ that rounding does not allow ends in a
// [*RoundingError], which tells the backward error.
//
// [Laplacian] solves (L + cI)ᵖX = B on a graph. The null vectors of the
// components are eigenvectors of the operator for every c, so that the part of the
// solution along them is known. The iteration runs on their complement, where the
// condition does not depend on c when c is small.
//
// Results have the same bits at any GOMAXPROCS on one path of internal/num/simd.
//
// # Blocks and precision
//
// All right-hand sides of a block share one Krylov space. The preconditioner may work in
// float32: true residuals are recomputed after each cycle, and columns above the tolerance go
// through another cycle. For (L + cI)X = B the null vectors of the components are deflated
// exactly, so that the work hardly depends on a small c.
package cg
