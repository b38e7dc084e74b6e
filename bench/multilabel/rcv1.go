package multilabel

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// rcv1Origin says where the data of [RCV1] come from.
const rcv1Origin = "subset 1 of RCV1-v2 (Lewis et al. 2004), cut to its 944 most frequent " +
	"words, is in KKimura360/MLC_toolbox; save the points as rcv1subset1_binary944_X.npz in SciPy's " +
	"sparse form and the 101 labels as Y of rcv1subset1_binary944_Y.npz and give their folder with " +
	"--data"

// RCV1 repeats the categorization of 6000 messages: the first 3000 for training, 50 of them
// labeled, the others for the test. A point tells which of 944 words occur, scaled to length
// one. The paper has 2900 words with other weights, so its figure comes from other data. The
// labels are the 25 categories most frequent in training.
func RCV1(o papers.Options) (*Experiment, error) {
	points, y, err := readMultiLabel(o, rcv1Origin, "rcv1subset1_binary944_X.npz",
		"rcv1subset1_binary944_Y.npz")
	if err != nil {
		return nil, err
	}
	x, ok := points.(*sparse.CSR)
	if !ok {
		return nil, fmt.Errorf("papers: the points of rcv1 are not sparse")
	}

	unit := *x
	unit.Val = make([]float64, len(x.Col))
	for i := range x.Rows {
		// A matrix without values stores ones.
		_, val := x.Row(i)
		to := unit.Val[x.Ptr[i]:x.Ptr[i+1]]
		var square float64
		for p := range to {
			if to[p] = 1; val != nil {
				to[p] = val[p]
			}
			square += to[p] * to[p]
		}
		for p := range to {
			to[p] /= math.Sqrt(square)
		}
	}

	var training, test []int
	for i := range x.Rows {
		if i < x.Rows/2 {
			training = append(training, i)
		} else {
			test = append(test, i)
		}
	}

	// Categories are counted on the training half alone; the test labels choose nothing.
	_, all := y.Dims()
	counts := make([]float64, all)
	order := make([]int, all)
	for j := range all {
		order[j] = j
		for _, i := range training {
			counts[j] += y.At(i, j)
		}
	}

	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	order = order[:min(25, all)]
	frequent := mat.NewDense(x.Rows, len(order), nil)
	for c, j := range order {
		frequent.SetCol(c, mat.Col(nil, j, y))
	}
	e := &Experiment{Name: "rcv1", Kernel: kernel.Kernel{Kind: kernel.Linear}, Metric: knn.Angle, Inputs: 50,
		Outputs: 20,
		Norms:   regularizer.Regularizer{GammaA: 1, Power: 5, Laplacian: sparse.Normalized},
		GammaI:  multiLabelI, GammaO: multiLabelO, Targets: []string{signTargets}, Labeled: 50, Draws: 10,
		Paper: 85.2, Seed: o.Seed,
		Notes: []string{"points are which of 944 words occur; the paper has 2900 words of other " +
			"weights, so its figure is of other data"}}
	e.split(&unit, frequent, training, test)
	return e, nil
}
