package metrics

import "math"

// ShareError returns the standard error of a share that was counted among n independent things, √(p̃(1 − p̃)/n) with
// p̃ = (share·n + 1)/(n + 2). Without the two things more, one of each kind, a share of 0 or 1 would be certain however
// few things there are (Agresti & Coull 1998 add four).
func ShareError(share, n float64) float64 {
	p := (share*n + 1) / (n + 2)
	return math.Sqrt(p * (1 - p) / n)
}
