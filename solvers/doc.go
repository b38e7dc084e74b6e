// Package solvers holds solvers built on operators and dense blocks: Newton
// iterations with conjugate gradients on primal objectives, sequential minimal
// optimization of dual objectives, and approximations from a few columns of a
// matrix. It knows losses and quadratic forms; package models
// decides what a quadratic form stands for.
//
// [Newton] minimizes, for each column of targets,
//
//	½ wᵀHw + C Σ_i V(y_i(x_iᵀw + b))
//
// with the squared or the Huberized hinge as V. H and X are given as products,
// so that they may be dense, sparse, or never formed at all. [SMO] minimizes
// quadratic programs within bounds and with one equality. [NewNystrom] approximates
// a positive semidefinite matrix by partial Cholesky factorization. [DualOperator] and
// [Sylvester] are the symmetric forms, with the [NormRoot] of a labeled part and a
// graph, of the linear systems of manifold regularization for one and for several
// outputs, to be solved by conjugate gradients.
//
// O. Chapelle, Training a support vector machine in the primal, Neural
// Computation 19 (2007), 1155–1178. S. S. Keerthi and D. DeCoste, A modified
// finite Newton method for fast solution of large scale linear SVMs, JMLR 6
// (2005), 341–361. V. Sindhwani and S. S. Keerthi, Large scale semi-supervised
// linear SVMs, SIGIR 2006, 477–484.
package solvers

import "errors"

// ErrNotConverged says that a solver reached its limit of iterations, or could
// not improve further, before its tolerance. The result that comes with it is
// usable and holds the last iterate.
var ErrNotConverged = errors.New("solvers: not converged")
