package kernelmachine

import (
	"fmt"
	"time"

	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/models"
)

// autoApproximation leaves the approximation to be chosen.
const autoApproximation = "auto"

// exactPoints is the number of points up to which auto is exact. An exact machine with
// an intrinsic norm takes 2n³/3 operations and 4n² values: seconds and 0.8 GB here,
// minutes and 13 GB at 20,000 points.
const exactPoints = 5000

// impliedApproximation returns the approximation that v gives or that its other values
// imply; empty if it is to be chosen.
func impliedApproximation(v models.Values) string {
	if a, ok := v["approximation"]; ok && a != autoApproximation {
		return a
	}
	for _, implied := range []struct {
		param string
		by    Approximation
	}{{"features", Fourier}, {"landmarks", Nystrom}, {"heat", Exact}} {
		if _, ok := v[implied.param]; ok {
			return implied.by.String()
		}
	}
	return ""
}

// withApproximation returns v with an approximation.
func withApproximation(v models.Values, a string) models.Values {
	return v.With(models.Values{"approximation": a})
}

// decodeAny decodes v with the approximation that it gives or implies, or else as exact
// or, if only that has no fault, as nystrom.
func decodeAny[S any](v models.Values, decode func(models.Values) (S, error)) (S, error) {
	if a := impliedApproximation(v); a != "" {
		return decode(withApproximation(v, a))
	}
	o, err := decode(withApproximation(v, Exact.String()))
	if err != nil {
		if other, fault := decode(withApproximation(v, Nystrom.String())); fault == nil {
			return other, nil
		}
	}
	return o, err
}

// chooseApproximation returns the values of in with the approximation that counts, and
// why. It is the one that they give or imply. Else it is exact if the Gram matrix is one
// of at most 5000 points, n, or if landmarks would take as many operations by cost; and
// by landmarks if not. Of more points, values that check refuses for one of the two decide
// for the other.
func chooseApproximation(in *models.Input, n int, check func(models.Values) error, cost func(*models.Input) (models.Cost, error)) (models.Values, string, error) {
	if a := impliedApproximation(in.Values); a != "" {
		return withApproximation(in.Values, a), "", nil
	}
	exactly, landmarks := *in, *in
	exactly.Values = withApproximation(in.Values, Exact.String())
	landmarks.Values = withApproximation(in.Values, Nystrom.String())
	switch {
	case n <= exactPoints || in.Points == nil || check(landmarks.Values) != nil:
		return exactly.Values, "", nil
	case check(exactly.Values) != nil:
		return landmarks.Values, "", nil
	}
	by, err := cost(&landmarks)
	if err != nil {
		return nil, "", err
	}
	exact, err := cost(&exactly)
	if err != nil {
		return landmarks.Values, fmt.Sprintf("by landmarks: %v", err), nil
	}
	why := fmt.Sprintf(" for %d points: exact takes about %s and %s, landmarks %s and %s", n,
		duration(exact.Operations), size(exact.Bytes), duration(by.Operations), size(by.Bytes))
	if exact.Operations <= by.Operations {
		return exactly.Values, "exact" + why, nil
	}
	return landmarks.Values, "by landmarks" + why, nil
}

// duration is the time of so many operations on this machine, in words.
func duration(operations float64) string {
	d := time.Duration(operations / machine.OperationRate() * float64(time.Second))
	if d > time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// size is a number of bytes in words.
func size(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
