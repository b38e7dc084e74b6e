package main

import (
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/sparse"
)

// transductionFlags are those of transductive support vector machines.
var transductionFlags = []string{"unlabeled-weight", "priors"}

// transduction returns what the flags say about points without a label. An
// output for one of two classes is for the second.
func (o *modelOptions) transduction() linear.Transduction {
	t := linear.Transduction{Weight: o.unlabeledWeight}
	var total float64
	for _, v := range o.priors {
		total += v
	}
	for _, v := range o.priors {
		t.Positive = append(t.Positive, v/total)
	}
	if len(t.Positive) == 2 {
		t.Positive = t.Positive[1:]
	}
	return t
}

// checkShares returns an error unless the priors can be shares.
func (o *modelOptions) checkShares() error {
	var total float64
	for _, v := range o.priors {
		if !(v >= 0) || math.IsInf(v, 0) {
			return usagef("--priors has the share %v; shares must be finite and not negative", v)
		}
		total += v
	}
	if len(o.priors) > 0 && total == 0 {
		return usagef("--priors are all 0; a class must have a share")
	}
	return nil
}

func (o *modelOptions) tsvmSettings(r models.Regularizer, tolerance float64) modelSettings {
	return modelSettings{tsvm: &kernelmachine.TSVMSettings{Regularizer: r, Transduction: o.transduction(), Tolerance: tolerance, MaxIterations: o.maxIterations}}
}

func (o *modelOptions) linearTSVMSettings(r models.Regularizer, tolerance float64) modelSettings {
	s := linear.Settings{Regularizer: r, Loss: o.loss, Width: o.width, Tolerance: tolerance, MaxIterations: o.maxIterations}
	return modelSettings{linearTSVM: &linear.TSVMSettings{Settings: s, Transduction: o.transduction()}}
}

// tsvmBytes is about the memory of a kernel one: the values among all points.
func tsvmBytes(x data.Points) int64 {
	n, d := x.Dims()
	return 8 * int64(n) * int64(n+d+1)
}

// linearTSVMBytes is about that of a linear one: see models.FitLinearTSVM.
func linearTSVMBytes(x data.Points, t *models.Targets) int64 {
	const rowsAtOnce = 2048 // of dense points in float64
	rows, cols := x.Dims()
	n, d, m := int64(rows), int64(cols), int64(t.Y.RawMatrix().Cols)
	bytes := 8 * 8 * (n + d) * m
	if matrix, ok := x.(*sparse.CSR); ok {
		return bytes + 12*int64(matrix.NNZ())
	}
	return bytes + 8*rowsAtOnce*d
}
