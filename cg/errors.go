package cg

import (
	"errors"
	"fmt"
)

// ErrNotConverged means that at least one column is not within the tolerance.
// The Result that comes with it holds the last iterate and its residuals.
var ErrNotConverged = errors.New("cg: not converged")

// RoundingError says that columns are not within the tolerance because rounding allows no more. The
// backward error of a solution x is ‖b − Ax‖/(‖A‖‖x‖ + ‖b‖): x solves a system exactly whose matrix and
// right-hand side differ from A and b by so much, relative to their norms (Rigal & Gaches, J. ACM 14,
// 1967). Where ‖A‖‖x‖ is far above ‖b‖ a residual cannot be small beside ‖b‖, because storing x alone
// changes Ax by the unit of rounding times ‖A‖‖x‖. A RoundingError is an [ErrNotConverged].
type RoundingError struct {
	Columns   int     // beyond the tolerance
	Residual  float64 // the largest ‖b − Ax‖/‖b‖
	Tolerance float64
	Backward  float64 // the largest backward error of these columns
}

func (e *RoundingError) Error() string {
	return fmt.Sprintf("cg: rounding allows no more: %d columns have relative residuals up to %.3g, tolerance "+
		"%g, and the backward error ‖b−Ax‖/(‖A‖‖x‖+‖b‖) is %.1g", e.Columns, e.Residual, e.Tolerance,
		e.Backward)
}

// Unwrap returns [ErrNotConverged].
func (e *RoundingError) Unwrap() error { return ErrNotConverged }

// backwardLimit is the largest backward error that passes for rounding: 50 units.
const backwardLimit = 1e-14

// BreakdownError says that the method met a direction p in which the operator,
// or the preconditioner, is not positive.
type BreakdownError struct {
	// Preconditioner is false if the operator A is not positive along a direction of
	// search p, and true if M⁻¹ is not positive along a residual p.
	Preconditioner bool
	Iteration      int     // iterations done before
	Column         int     // right-hand side that has the largest share of p
	Curvature      float64 // pᵀAp, or pᵀM⁻¹p
	Norm           float64 // ‖p‖₂
}

func (e *BreakdownError) Error() string {
	what, symbol := "operator", "A"
	if e.Preconditioner {
		what = "preconditioner"
		symbol = "M⁻¹"
	}
	return fmt.Sprintf("cg: the %s is not positive definite: pᵀ%sp = %.4g for a direction of norm "+
		"%.4g, after %d iterations, right-hand side %d",
		what, symbol, e.Curvature, e.Norm, e.Iteration, e.Column)
}

// NullComponentError says that a singular system has no solution, because a
// right-hand side has a component along a null vector.
type NullComponentError struct {
	Column   int     // right-hand side
	Vector   int     // null vector, or component of the graph
	Relative float64 // |vᵀb|/‖b‖₂
}

func (e *NullComponentError) Error() string {
	return fmt.Sprintf("cg: right-hand side %d has %.3g of its norm along null vector %d, so that "+
		"there is no solution; set Project to solve for the rest",
		e.Column, e.Relative, e.Vector)
}
