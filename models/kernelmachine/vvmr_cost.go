package kernelmachine

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
)

// VVMRCost is about what [FitVVMR] takes for targets t of some of the points x:
// bytes beside points and graph, and floating-point operations. Of k the kind
// matters, edges is the number of them in the graph, and limit the same as there: of
// landmarks it decides on the way, and what takes more is no error. What cannot be
// fitted in any memory is one.
func VVMRCost(x data.Points, t *models.Targets, k kernel.Kind, edges int, r *VVMRSettings, s *ApproximationSettings, limit int64) (bytes int64, operations float64, err error) {
	settings, err := r.fill()
	if err != nil {
		return 0, 0, err
	}
	rows, d := x.Dims()
	intrinsic, power := settings.GammaI > 0, settings.Power
	var rank int
	product, steps := 0.0, 3.0 // with the kernel, a column; of conjugate gradients
	if newMask(t.Y) != nil {
		steps = 50
	}
	n := float64(rows)
	switch {
	case s != nil && s.Approximation == Fourier:
		return 0, 0, errVVMRFourier
	case onPoints(x, k, s):
		rank = d
		bytes = featureBytes(rows, rank)
	case s == nil && rows > linear.MaxFormed:
		return 0, 0, fmt.Errorf("kernelmachine: %d points for an exact kernel; the most is %d", rows, linear.MaxFormed)
	case s == nil:
		rank = rows
		bytes = 4*kernel.GramBytes(rows) + featureBytes(rows, rank)
		operations = 5*n*n*n + n*n*float64(2*d+40)
		product = 2 * n * n
	default:
		filled, err := s.fill(rows)
		if err != nil {
			return 0, 0, err
		}
		p, err := filled.plan(x, k, limit)
		if err != nil {
			return 0, 0, err
		}
		c := filled.Cost(p, x, k, 0, 1, edges, &Settings{}) // without the graph
		bytes, operations, rank = c.Problem, c.Preparation, p.rank
		if p.expansion > 0 {
			steps = 50
			if product = n * float64(p.expansion) * float64(2*d+40); filled.Approximation == Nystrom {
				product *= 2 // with its transpose
			}
		}
	}
	m, l, outputs := float64(rank), len(t.Labeled), t.Y.RawMatrix().Cols
	columns := float64(outputs)
	direct := math.Min(columns*(float64(l)*float64(l)*m+math.Pow(float64(l), 3)/3), 5*m*m*m)
	entries := l
	if intrinsic {
		operations += n*m*m + 10*float64(power*edges)*m
		direct += 5 * m * m * m
		if entries += rows; power%2 == 1 {
			entries = l + edges
			bytes += 48 * int64(edges) // the incidence matrix and its transpose
		}
	}
	operations += direct + steps*columns*(8*n*m+product+10*float64(power*edges))
	size := float64(entries) * columns
	if size > math.MaxInt64/1024 {
		return math.MaxInt64 / 4, operations, nil
	}
	iterates, err := cg.Bytes(entries*outputs, 1, nil)
	if err != nil {
		return 0, 0, err
	}
	factors := math.Min(columns*float64(l)*float64(l)+float64(l)*m, 2*m*m)
	return bytes + iterates + 8*int64(size+4*n*columns+4*m*columns+4*columns*columns+factors), operations + 5*columns*columns*columns, nil
}
