package kernel

import "fmt"

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
