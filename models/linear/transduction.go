package linear

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
)

// Transduction says how the points without a label take part in a transductive
// support vector machine.
type Transduction struct {
	// Weight is what the loss of an unlabeled point counts beside that of a
	// labeled one: C*/C. Default 1.
	Weight float64 `json:"weight"`
	// Positive is the share of the unlabeled points that each output is to take
	// for its class. Default the share among the labeled ones.
	Positive []float64 `json:"positive,omitempty"`
}

// Transduced is what is known of the fit of a transductive machine beside its
// function.
type Transduced struct {
	// Unlabeled are the points that took part without a label, ascending, and
	// Assigned the targets ±1 they were given, a column for each output.
	Unlabeled []int
	Assigned  *mat.Dense
	// Objective is γ_A‖f‖² + 1/l Σ loss, over the labeled points and with Weight
	// the unlabeled ones with their assigned targets, for each output. Start is
	// the same for the machine of the labeled points alone.
	Objective, Start []float64
	Rounds           int // of training, of the output with most
}

// Annealing are the parts of Weight that unlabeled points have one after the
// other.
var Annealing = []float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1}

// MaxRounds bounds the rounds of training at one weight.
const MaxRounds = 1000

var ErrNoUnlabeled = errors.New("linear: a transductive machine needs points without a label; without them it is a support vector machine")

var ErrStillTrading = fmt.Errorf("%w: the targets of unlabeled points still change after %d rounds; raise the tolerance", solvers.ErrNotConverged, MaxRounds)

// Assign gives the unlabeled points of the largest outputs, a given share of
// them, positive targets, and the others negative ones.
func Assign(y, f []float64, unlabeled []int, share float64) {
	order := slices.Clone(unlabeled)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f[b], f[a]) })
	positive := int(math.Round(share * float64(len(order))))
	for p, i := range order {
		y[i] = 1
		if p >= positive {
			y[i] = -1
		}
	}
}

// WorstFirst returns the unlabeled points of positive targets by ascending output
// and those of negative ones by descending output.
func WorstFirst(y, f []float64, unlabeled []int) (plus, minus []int) {
	for _, i := range unlabeled {
		if y[i] > 0 {
			plus = append(plus, i)
		} else {
			minus = append(minus, i)
		}
	}
	slices.SortStableFunc(plus, func(a, b int) int { return cmp.Compare(f[a], f[b]) })
	slices.SortStableFunc(minus, func(a, b int) int { return cmp.Compare(f[b], f[a]) })
	return plus, minus
}

// FileFit is what the manifest of a transductive machine says of its fit.
type FileFit struct {
	Labeled   int       `json:"labeled"`
	Objective []float64 `json:"objective"`
	Start     []float64 `json:"start"`
	Rounds    int       `json:"rounds"`
}

// ReadTransduced is the inverse of file and entries, for a machine of so many
// outputs.
func ReadTransduced(r *models.Reader, f FileFit, outputs int) (Transduced, error) {
	d := Transduced{Objective: f.Objective, Start: f.Start, Rounds: f.Rounds, Assigned: r.Matrix("assigned")}
	numbers := models.Numbers[int64](r, "unlabeled")
	if r.Err != nil {
		return d, r.Err
	}
	rows, cols := d.Assigned.Dims()
	if rows != len(numbers) || cols != outputs {
		return d, fmt.Errorf("linear: assigned is %d×%d for %d points without a label and %d outputs", rows, cols, len(numbers), outputs)
	}
	if len(f.Objective) != outputs || len(f.Start) != outputs {
		return d, fmt.Errorf("linear: %d objectives and %d at the start for %d outputs", len(f.Objective), len(f.Start), outputs)
	}
	for p, i := range numbers {
		if i < 0 || p > 0 && i <= numbers[p-1] {
			return d, fmt.Errorf("linear: element %d of unlabeled is %d; the numbers must ascend from 0", p, i)
		}
		d.Unlabeled = append(d.Unlabeled, int(i))
		for j, v := range d.Assigned.RawRowView(p) {
			if v != 1 && v != -1 {
				return d, fmt.Errorf("linear: row %d, column %d of assigned is %v; it must be −1 or 1", p, j, v)
			}
		}
	}
	return d, nil
}
