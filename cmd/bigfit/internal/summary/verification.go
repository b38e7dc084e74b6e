package summary

import (
	"fmt"
	"math"
	"strings"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// Verification is the output of eigs --verify.
type Verification struct {
	Pairs         int         `json:"pairs"`
	Laplacian     sparse.Kind `json:"laplacian"`
	MaxResidual   float64     `json:"max_residual"`
	WorstPair     int         `json:"worst_pair"`
	Norm          float64     `json:"norm"`
	Orthogonality float64     `json:"orthogonality"`
	Zeros         int         `json:"zeros"`
	Components    int         `json:"components"`
	Exact         bool        `json:"exact"`
	Next          *float64    `json:"next_value,omitempty"`
	Faults        []string    `json:"faults"`
}

// OfVerification describes what was found about pairs of a Laplacian.
func OfVerification(v *lanczos.Verification, kind sparse.Kind) Verification {
	s := Verification{v.Pairs, kind, v.MaxResidual, v.WorstPair, v.Norm, v.Orthogonality, v.Zeros,
		v.Components, v.Exact, nil, v.Faults}
	// JSON has no infinity, which stands for a search without a result.
	if !math.IsInf(v.Next, 0) {
		s.Next = &v.Next
	}
	return s
}

// String is a line, and one for each fault.
func (s Verification) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pairs of the %s Laplacian; max ‖Lv−λv‖ = %.2e (%.2e·‖L‖, pair %d), max "+
		"|VᵀV−I| = %.2e, %s for %s",
		s.Pairs, s.Laplacian, s.MaxResidual, s.MaxResidual/s.Norm, s.WorstPair, s.Orthogonality,
		enum.Count(s.Zeros, "zero"), enum.Count(s.Components, "component"))
	switch {
	case s.Exact:
		b.WriteString("; compared with the whole spectrum")
	case s.Next != nil:
		fmt.Fprintf(&b, "; a search on the complement found %.6g", *s.Next)
	default:
		b.WriteString("; no search for missing pairs was possible")
	}

	for _, f := range s.Faults {
		b.WriteString("\n  fault: " + f)
	}
	if len(s.Faults) == 0 {
		b.WriteString("\n  no fault found")
	}
	return b.String()
}
