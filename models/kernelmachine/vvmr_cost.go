package kernelmachine

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/stage"
)

// vvmrCost returns the cost of [FitVVMR] for the values of source; a nil s is exact.
// The limit chooses the approach of landmarks only. What cannot be fitted in any
// memory is an error.
func vvmrCost(in *models.Input, source kernel.Source, r *VVMRSettings,
	s *ApproximationSettings) (stage.Cost, error) {
	t := in.Targets
	edges := in.EdgeCount()
	var cost stage.Cost
	var bytes int64
	var operations float64
	settings, err := r.fill()
	if err != nil {
		return cost, err
	}

	if settings.Loss == HingeLoss {
		return hingeCost(in, source, &settings), nil
	}

	// Missing entries make the preconditioner inexact, so more steps are expected.
	rows, d := in.Points.Dims()
	intrinsic := settings.GammaI > 0
	power := settings.Degree()
	var rank int
	product, steps := 0.0, 3.0 // with the kernel, a column; of conjugate gradients
	if slices.ContainsFunc(t.Y.RawMatrix().Data, math.IsNaN) {
		steps = 50
	}
	n := float64(rows)
	switch {
	case s != nil && s.Approximation == Fourier:
		return cost, errVVMRFourier
	case onPoints(source, s):
		rank = d
		bytes = featureBytes(rows, rank)
	case s == nil && rows > linear.MaxFormed:
		return cost, fmt.Errorf("kernelmachine: %d points for an exact kernel; the most is %d", rows,
			linear.MaxFormed)
	case s == nil:
		rank = rows
		// G and, for a kernel of full rank, Φ and its norm to the end, four more such
		// matrices while the eigenvectors of the norm are computed, and two of garbage.
		// Where conjugate gradients break down a representer has two, with the four held.
		bytes = 9*kernel.GramBytes(rows) + source.Bytes()
		operations = 5*n*n*n + n*n*float64(2*d+40)
		product = 2 * n * n
	default:
		filled, err := s.fill(rows)
		if err != nil {
			return cost, err
		}
		p, err := filled.approach(source, in.Memory)
		if err != nil {
			return cost, err
		}
		c := filled.parts(p, source, sizes{0, 1, edges}, &Settings{}) // without the graph
		bytes = c.made
		operations = c.prepare
		rank = p.rank

		if p.expansion > 0 {
			steps = 50
			if product = n * float64(p.expansion) * float64(2*d+40); filled.Approximation == Nystrom {
				product *= 2 // with its transpose
			}
		}
	}

	// The shifted systems go by the labeled rows or by one eigendecomposition, whichever takes
	// fewer operations.
	m := float64(rank)
	l := len(t.Labeled)
	outputs := t.Y.RawMatrix().Cols
	columns := float64(outputs)
	direct := math.Min(columns*(float64(l)*float64(l)*m+math.Pow(float64(l), 3)/3), 5*m*m*m)
	entries := l
	if intrinsic {
		operations += n*m*m + 10*float64(power*edges)*m
		direct += 5 * m * m * m
		root, incidence := rootSize(&settings.Regularizer, rows, edges)
		entries += root
		bytes += incidence
	}

	operations += direct + steps*columns*(8*n*m+product+10*float64(power*edges))
	// The unknowns of conjugate gradients; an overflow means that no memory is enough.
	size := float64(entries) * columns
	if size > math.MaxInt64/1024 {
		return stage.Cost{Bytes: math.MaxInt64 / 4, Operations: operations}, nil
	}
	iterates, err := cg.Bytes(entries*outputs, 1, nil)
	if err != nil {
		return cost, err
	}

	if p := len(in.OutputNorm); p > 0 {
		// The norms of the powers, and the factors of solvers.Coupled: one of all outputs where their order
		// allows it, else one for each.
		size += float64(p-1) * float64(entries) * columns
		order := m * columns
		operations += float64(p)*n*m*m + order*order*order/3
		bytes += 8 * int64(m*m*float64(p)+2*math.Min(order*order, math.Max(m*order, solvers.MaxCoupled*solvers.MaxCoupled)))
	}

	factors := math.Min(columns*float64(l)*float64(l)+float64(l)*m, 2*m*m)
	cost.Bytes = stage.DenseBytes(bytes + iterates +
		8*int64(size+4*n*columns+4*m*columns+4*columns*columns+factors))
	cost.Operations = operations + 5*columns*columns*columns
	return cost, nil
}

// hingeCost is the cost of a fit with HingeLoss: with a likeness of the outputs there are a factorization, a kernel
// among the labeled points and its functions for every output.
func hingeCost(in *models.Input, source kernel.Source, s *VVMRSettings) stage.Cost {
	cost := exactCost(in, source, &Settings{Method: SVM, Regularizer: s.Regularizer})
	if s.GammaO == 0 && in.OutputKernel == nil {
		return cost
	}
	n, _ := source.Rows().Dims()
	l := float64(len(in.Targets.Labeled))
	outputs := float64(in.Targets.Y.RawMatrix().Cols)

	// Sweeps over the outputs, of which some tens are usual, and two matrices for the block of one.
	const sweeps = 30
	more := outputs - 1
	if s.GammaI == 0 {
		n, more = len(in.Targets.Labeled), 0
	}
	size := float64(n)
	cost.Operations += more*(2*size*size*size/3+4*size*size*l) + 4*sweeps*outputs*outputs*l*l
	cost.Bytes += int64(8 * (more*(size*l+l*l) + 2*l*l + 4*size*outputs))
	return cost
}
