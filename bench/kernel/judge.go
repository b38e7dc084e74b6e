package main

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models/kernelmachine"
)

// Bounds on the differences between answers. Both programs stop at the tolerance of 1e-4
// (see tolerance), which leaves objectives much closer than f.
const (
	objectiveBar = 1e-6 // of objectives, relative to their size
	functionBar  = 1e-6 // of f, in units of the targets
	// marginBar is the distance from the margin, in tolerances, at which a point may be a
	// support vector for one program alone.
	marginBar = 5
)

// judge adds to the objects the measures of their answers, ours first, and returns the
// faults: answers that differ by more than the bounds.
func (t *task) judge(folder string, objects []map[string]any) (faults []string, err error) {
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, t.Title+": "+fmt.Sprintf(format, args...))
		}
	}

	// Every program, ours included, is judged by the answer it wrote.
	var answers [][]float64
	for _, o := range objects {
		a, err := readValues(answerOf(folder, o["peer"].(string)))
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}

	// The coefficients of LapRLS solve a linear system: f itself can be compared.
	if t.Method == kernelmachine.LapRLSName {
		for k := 1; k < len(answers); k++ {
			var worst float64
			for i, v := range answers[k] {
				worst = math.Max(worst, math.Abs(v-answers[0][i]))
			}
			objects[k]["largest_difference_of_f"] = worst
			fault(worst <= functionBar, "f differs from %s by %g", objects[k]["peer"], worst)
		}
		return faults, nil
	}

	// Support vector machines may have many near-optimal answers: compare objectives, and the
	// points on which the supports differ.
	d, err := t.newDual(folder)
	if err != nil {
		return nil, err
	}
	var objectives []float64
	var margins [][]float64
	for k, v := range answers {
		objective, margin := d.evaluate(v, objects[k]["bias"].(float64))
		objects[k]["objective"] = objective
		support := 0
		for _, a := range v {
			if a != 0 {
				support++
			}
		}
		objects[k]["support"] = support
		off := d.infeasible(v)
		fault(off <= 1e-9, "coefficients of %s leave the constraints by %g", objects[k]["peer"], off)
		objectives = append(objectives, objective)
		margins = append(margins, margin)
	}

	for k := 1; k < len(answers); k++ {
		difference := (objectives[k] - objectives[0]) / math.Abs(objectives[0])
		objects[k]["objective_above_ours"] = difference
		fault(math.Abs(difference) <= objectiveBar, "the objective of %s is %v, ours %v", objects[k]["peer"],
			objectives[k], objectives[0])
		var alone int
		var largest, off float64
		for i, v := range answers[k] {
			if (v != 0) != (answers[0][i] != 0) {
				alone++
				largest = max(largest, math.Abs(v), math.Abs(answers[0][i]))
				off = max(off, margins[0][i])
			}
		}

		// The largest coefficient of such a point may be any; its distance from the margin may
		// not.
		objects[k]["support_of_one_alone"] = alone
		objects[k]["their_largest_coefficient"] = largest
		objects[k]["their_distance_to_margin"] = off
		fault(off <= marginBar*t.Tolerance, "a support vector of one program alone is %g off the margin", off)
	}

	return faults, nil
}

// dual is the quadratic program of the task, over the signed coefficients v.
type dual struct {
	*task
	side *kernel.Side
	y    []float64
}

// newDual reads the points and targets of the task.
func (t *task) newDual(folder string) (*dual, error) {
	x, targets, err := readFolder(folder)
	if err != nil {
		return nil, err
	}
	side, err := kernel.New(kernel.Kernel{Kind: kernel.Gaussian, Sigma: t.Sigma}, x)
	return &dual{t, side, targets.Y.RawMatrix().Data}, err
}

// evaluate returns the dual objective at the signed coefficients v, to be minimized, with
// K the kernel matrix:
//
//	½vᵀKv − yᵀv          C-SVC
//	½vᵀKv − yᵀv + ε‖v‖₁  ε-SVR
//	½vᵀKv                one class
//
// It also returns the distance of f + b from the margin at every point.
func (d *dual) evaluate(v []float64, b float64) (objective float64, margin []float64) {
	f := make([]float64, len(v))
	row := make([]float64, len(v))
	// f[i] is read for the objective first and replaced by the distance then.
	for i, a := range v {
		if a != 0 {
			d.side.RowTo(row, i)
			simd.CombineRow(f, f, 1, row, a)
		}
	}

	for i, a := range v {
		objective += a * f[i] / 2
		switch d.Method {
		case kernelmachine.SVMName:
			objective -= a * d.y[i]
			f[i] = math.Abs(1 - d.y[i]*(f[i]+b))
		case kernelmachine.SVRName:
			objective += d.Epsilon*math.Abs(a) - a*d.y[i]
			f[i] = math.Abs(math.Abs(d.y[i]-f[i]-b) - d.Epsilon)
		default:
			f[i] = math.Abs(f[i] + b)
		}
	}

	return objective, f
}

// infeasible returns the largest violation of the constraints by v: of its bounds, or of
// its sum divided by the number of points.
func (d *dual) infeasible(v []float64) (worst float64) {
	var sum float64
	for i, a := range v {
		sum += a
		switch d.Method {
		case kernelmachine.SVMName:
			worst = max(worst, -a*d.y[i], math.Abs(a)-d.C)
		case kernelmachine.SVRName:
			worst = max(worst, math.Abs(a)-d.C)
		default:
			worst = max(worst, -a, a-1)
		}
	}

	if d.Method == kernelmachine.OneClassName {
		sum -= d.Nu * float64(len(v))
	}
	return max(worst, math.Abs(sum)/float64(len(v)))
}
