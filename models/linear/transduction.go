package linear

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
)

// Transduction says how the points without a label take part in a transductive
// support vector machine.
type Transduction struct {
	// Weight of the loss of an unlabeled point; a labeled point has the weight 1: C*/C. Default 1.
	Weight float64
	// Positive is the share of the unlabeled points that each output is to take
	// for its class. Default the share among the labeled ones.
	Positive []float64
}

// Fill returns s with its defaults for targets t, or all faults at once.
func (s Transduction) Fill(t *models.Targets) (Transduction, error) {
	l, c := t.Y.Dims()
	var faults []error
	if err := TransductionParams.Check(&TransductionChoice{Weight: s.Weight}); err != nil {
		faults = append(faults, err)
	}
	if s.Weight == 0 {
		s.Weight = 1
	}
	// The share of positive labels stands for the share among all points.
	if s.Positive == nil {
		for j := range c {
			s.Positive = append(s.Positive, 0.5+mat.Sum(t.Y.ColView(j))/float64(2*l))
		}
	}

	faults = append(faults, s.checkShares(c))
	if t.Classes == nil {
		faults = append(faults, errors.New("linear: a transductive support vector machine separates classes"))
	}
	return s, errors.Join(faults...)
}

// checkShares returns an error unless each of c outputs has a share.
func (s Transduction) checkShares(c int) error {
	var faults []error
	if len(s.Positive) != c {
		faults = append(faults, fmt.Errorf("linear: positive shares of %d classes for %d outputs",
			len(s.Positive), c))
	}
	for _, r := range s.Positive {
		if !(r >= 0 && r <= 1) {
			faults = append(faults, fmt.Errorf("linear: a share of %v of the points; it must be "+
				"between 0 and 1", r))
		}
	}
	return errors.Join(faults...)
}

// Transduced describes the fit of a transductive machine beside its function.
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

// ErrNoUnlabeled is returned where all points have a label.
var ErrNoUnlabeled = errors.New("linear: a transductive machine needs points without a label; " +
	"without them it is a support vector machine")

// ErrStillTrading comes with a usable machine whose assigned targets are not
// settled.
var ErrStillTrading = fmt.Errorf("%w: the targets of unlabeled points still change after %d rounds; "+
	"raise the tolerance", solvers.ErrNotConverged, MaxRounds)

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

// WorstFirst returns the unlabeled points with positive targets by ascending output, and the points
// with negative targets by descending output.
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

// FileFit is the part of the fit of a transductive machine in its manifest.
type FileFit struct {
	Labeled   int       `json:"labeled"`
	Objective []float64 `json:"objective"`
	Start     []float64 `json:"start"`
	Rounds    int       `json:"rounds"`
}

// File returns the part in the manifest of a fit with the given number of labeled points.
func (d *Transduced) File(labeled int) FileFit {
	return FileFit{labeled, d.Objective, d.Start, d.Rounds}
}

// Entries returns the arrays unlabeled (u) and assigned (u×m).
func (d *Transduced) Entries() []archive.Array {
	unlabeled := make([]int64, len(d.Unlabeled))
	for p, i := range d.Unlabeled {
		unlabeled[p] = int64(i)
	}
	return []archive.Array{{Name: "unlabeled", Data: unlabeled}, models.MatrixEntry("assigned", d.Assigned)}
}

// Describe adds the fit to the summary of a machine of transduction t.
func (d *Transduced) Describe(s *models.Summary, t Transduction) {
	s.Text += fmt.Sprintf("; %d points without a label at weight %g got classes in %d rounds",
		len(d.Unlabeled), t.Weight, d.Rounds)
	s.Facts = append(s.Facts, models.Fact{Key: "unlabeled", Value: len(d.Unlabeled)},
		models.Fact{Key: "rounds", Value: d.Rounds},
		models.Fact{Key: "positive", Value: t.Positive})
}

// ReadTransduced is the inverse of File and Entries, for a machine of the given number of outputs.
func ReadTransduced(r *models.Reader, f FileFit, outputs int) (Transduced, error) {
	d := Transduced{Objective: f.Objective, Start: f.Start, Rounds: f.Rounds, Assigned: r.Matrix("assigned")}
	numbers := models.Numbers[int64](r, "unlabeled")
	if r.Err != nil {
		return d, r.Err
	}
	rows, cols := d.Assigned.Dims()
	if rows != len(numbers) || cols != outputs {
		return d, fmt.Errorf("linear: assigned is %d×%d for %d points without a label and %d outputs", rows,
			cols, len(numbers), outputs)
	}
	if len(f.Objective) != outputs || len(f.Start) != outputs {
		return d, fmt.Errorf("linear: %d objectives and %d at the start for %d outputs", len(f.Objective),
			len(f.Start), outputs)
	}

	// Numbers that do not ascend would be another set of points.
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
