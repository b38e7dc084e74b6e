package expansion

import (
	"fmt"
	"time"

	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/stage"
)

// The names of approximations of kernel machines that a choice is made among. AutoApproximation
// leaves it to [ChooseApproximation].
const (
	AutoApproximation = "auto"
	exact             = "exact"
	landmarks         = "nystrom"
	features          = "fourier"
)

// exactPoints is the number of points up to which auto is exact. An exact machine with
// an intrinsic norm takes 2n³/3 operations and 4n² values: seconds and 0.8 GB here,
// minutes and 13 GB at 20,000 points.
const exactPoints = 5000

// impliedApproximation returns the approximation that v gives or that its other values
// imply; empty if it is to be chosen.
func impliedApproximation(v models.Values) string {
	if a, ok := v["approximation"]; ok && a != AutoApproximation {
		return a
	}
	for _, implied := range []struct{ param, by string }{{"features", features}, {"landmarks", landmarks},
		{"heat", exact}} {
		if _, ok := v[implied.param]; ok {
			return implied.by
		}
	}
	return ""
}

// withApproximation returns v with an approximation.
func withApproximation(v models.Values, a string) models.Values {
	return v.With(models.Values{"approximation": a})
}

// DecodeAny decodes v with the approximation that it gives or implies, or else as exact
// or, if only that has no fault, as nystrom.
func DecodeAny[S any](v models.Values, decode func(models.Values) (S, error)) (S, error) {
	if a := impliedApproximation(v); a != "" {
		return decode(withApproximation(v, a))
	}
	o, err := decode(withApproximation(v, exact))
	if err != nil {
		if other, fault := decode(withApproximation(v, landmarks)); fault == nil {
			return other, nil
		}
	}
	return o, err
}

// ChooseApproximation returns the values of in with the approximation that counts, and
// why. It is the one that they give or imply. Else it is exact if the Gram matrix is one
// of at most 5000 points, n, or if landmarks would take as many operations by cost; and
// by landmarks if not. Of more points, values that check refuses for one of the two decide
// for the other.
func ChooseApproximation(in *models.Input, n int, check func(models.Values) error,
	cost func(*models.Input) (stage.Cost, error)) (models.Values, string, error) {
	if a := impliedApproximation(in.Values); a != "" {
		return withApproximation(in.Values, a), "", nil
	}
	exactly := *in
	fewer := *in
	exactly.Values = withApproximation(in.Values, exact)
	fewer.Values = withApproximation(in.Values, landmarks)
	switch {
	case n <= exactPoints || in.Points == nil || check(fewer.Values) != nil:
		return exactly.Values, "", nil
	case check(exactly.Values) != nil:
		return fewer.Values, "", nil
	}

	by, err := cost(&fewer)
	if err != nil {
		return nil, "", err
	}
	whole, err := cost(&exactly)
	if err != nil {
		return fewer.Values, fmt.Sprintf("by landmarks: %v", err), nil
	}
	why := fmt.Sprintf(" for %d points: exact takes about %s and %s, landmarks %s and %s", n,
		duration(whole.Operations), size(whole.Bytes), duration(by.Operations), size(by.Bytes))
	if whole.Operations <= by.Operations {
		return exactly.Values, "exact" + why, nil
	}
	return fewer.Values, "by landmarks" + why, nil
}

// duration is the time of so many operations on this machine, in words.
func duration(operations float64) string {
	d := time.Duration(machine.Seconds(operations) * float64(time.Second))
	if d > time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// size is a number of bytes in words.
func size(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
