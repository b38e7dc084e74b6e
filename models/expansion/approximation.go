package expansion

import (
	"fmt"
	"time"

	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/stage"
)

// The names of the approximations of kernel machines. AutoApproximation leaves the choice to
// [ChooseApproximation].
const (
	AutoApproximation = "auto"
	exact             = "exact"
	landmarks         = "nystrom"
	features          = "fourier"
)

// exactPoints is the number of points up to which auto is exact. An exact machine with an
// intrinsic norm takes 2n³/3 operations and 4n² values: seconds and 0.8 GB at 5,000 points,
// minutes and 13 GB at 20,000 points.
const exactPoints = 5000

// impliedApproximation returns the approximation in v, or the one that other values in v
// imply. It is empty if the approximation is to be chosen.
func impliedApproximation(v models.Values) string {
	if a, ok := v["approximation"]; ok && a != AutoApproximation {
		return a
	}
	for _, implied := range []struct{ param, by string }{{"features", features}, {"landmarks", landmarks},
		{"heat", exact}, {"intrinsic-sigma", exact}, {"hessian", exact}} {
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

// DecodeAny decodes v with the approximation that v gives or implies. Without one it decodes v
// as exact, or, if exact has a fault and nystrom has none, as nystrom.
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

// ChooseApproximation returns the values of in with an approximation, and the reason. An
// approximation that the values give or imply stays. Without one the choice is exact if the
// Gram matrix has n ≤ 5000 points, or if landmarks would take at least as many operations by
// cost; else it is landmarks. For more points, if check refuses the values for one of the two,
// the choice is the other.
func ChooseApproximation(in *models.Input, n int, check func(models.Values) error,
	cost func(*models.Input) (stage.Cost, error)) (models.Values, string, error) {
	if a := impliedApproximation(in.Values); a != "" {
		return withApproximation(in.Values, a), "", nil
	}

	// The cost of both is asked for with everything else equal.
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

	// An exact machine that cannot be had at any cost is no error: landmarks can.
	by, err := cost(&fewer)
	if err != nil {
		return nil, "", err
	}
	whole, err := cost(&exactly)
	if err != nil {
		return fewer.Values, fmt.Sprintf("by landmarks: %v", err), nil
	}

	// Operations decide, not seconds, so that every machine chooses the same.
	why := fmt.Sprintf(" for %d points: exact takes about %s and %s, landmarks %s and %s", n,
		duration(whole.Operations), size(whole.Bytes), duration(by.Operations), size(by.Bytes))
	if whole.Operations <= by.Operations {
		return exactly.Values, "exact" + why, nil
	}
	return fewer.Values, "by landmarks" + why, nil
}

// duration writes the time that operations take on this machine.
func duration(operations float64) string {
	d := time.Duration(machine.Seconds(operations) * float64(time.Second))
	if d > time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// size writes a number of bytes in GiB.
func size(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
