package papers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Isolet repeats Table 4 of Belkin, Niyogi & Sindhwani (2006): 26 letters. The machines
// are trained on speakers 1 to 30, with all utterances of one speaker labeled, each speaker
// in turn, and tested on the last 30 speakers. The Gaussian kernel has σ = 10,
// γ_A l = 0.05 without a graph and γ_A l = γ_I l/(u+l)² = 0.005 with one. The paper does
// not name the graph: the table shows several, with the normalized Laplacian.
func Isolet(ctx context.Context, o Options, obs stage.Observer) (*results.Table, error) {
	obs.Begin("data")
	d, err := readIsolet(o)
	if err != nil {
		return nil, err
	}
	obs.End(fmt.Sprintf("%d and %d utterances", d.truth.Len(), d.truthT.Len()))

	obs.Begin("machines")
	const labels = 52 // of a speaker: 26 letters, twice
	// SVM and RLS first, which have no graph, then the Laplacian machines on each graph and power
	// of L.
	runs := []isoletRun{{machines[:2], 0, regularizer.Regularizer{GammaA: 0.05 / labels,
		Laplacian: sparse.Normalized}}}
	for _, count := range []int{6, 10, 15, 20} {
		for power := range 2 {
			runs = append(runs, isoletRun{machines[2:], count, regularizer.Regularizer{
				GammaA: 0.005 / labels, GammaI: 0.005 / labels, Power: power + 1,
				Laplacian: sparse.Normalized}})
		}
	}

	nb, err := Neighbors(ctx, d.x, 20)
	if err != nil {
		return nil, err
	}
	records, err := d.tsvm(ctx, regularizer.Regularizer{GammaA: 0.05 / labels, Laplacian: sparse.Normalized})
	if err != nil {
		return nil, fmt.Errorf("TSVM, %w", err)
	}

	for i, r := range runs {
		of, err := d.run(ctx, nb, r)
		if err != nil {
			return nil, err
		}
		records = append(records, of...)
		obs.Update(float64(i+2), float64(len(runs)+1), strings.TrimPrefix(r.String(), ", "))
	}

	obs.End(fmt.Sprintf("%d speakers labeled in turn", len(d.draws)))
	return MachineTable(records, "TSVM, one letter against the rest, has as its share of a letter "+
		"that of the labels, and the γ_A of SVM",
		"the paper does not name the graph: several are shown, with the normalized Laplacian",
		"a finding, not the authors' method: of these graphs "+closest(records)), nil
}

const (
	isoletFile = "isolet.npz"
	// isoletSpeakers is the number of speakers to train on, and again of speakers to test on.
	isoletSpeakers = 30
)

// isoletKernel is the kernel of [Isolet], with the width of the paper.
var isoletKernel = kernel.Kernel{Kind: kernel.Gaussian, Sigma: 10}

// readSpeakers reads the numbers of the speakers of the utterances.
func readSpeakers(o Options) (*data.Labels, error) {
	return data.ReadLabels(filepath.Join(o.Dir, isoletFile)+":speaker", data.LabelOptions{Limit: o.Limit,
		NoUnlabeled: true})
}

// isoletData holds the utterances with their kernel.
type isoletData struct {
	x             data.Points
	truth, truthT *data.Labels // letters of the utterances trained on, and of the test
	draws         []*data.Labels
	gram, cross   *mat.Dense
}

// readIsolet reads the utterances and splits them by their speakers.
func readIsolet(o Options) (*isoletData, error) {
	x, truth, _, err := ReadSet(o, SetsOrigin, isoletFile, isoletFile, "")
	if err != nil {
		return nil, err
	}
	speakers, err := readSpeakers(o)
	if err != nil {
		return nil, err
	}
	train, test := bySpeaker(speakers, truth)
	// A draw labels all utterances of one speaker; the rows are numbers among the training points.
	utterances := make([][]int, isoletSpeakers) // of the speakers to train on
	for at, i := range train {
		utterances[speakers.Index[i]] = append(utterances[speakers.Index[i]], at)
	}
	d := &isoletData{x: data.Select(x, train), truth: truth.Select(train), truthT: truth.Select(test),
		cross: mat.NewDense(len(test), len(train), nil)}
	d.draws = keep(d.truth, utterances)
	if d.gram, err = kernel.Gram(d.x, isoletKernel, o.Limit); err != nil {
		return nil, err
	}
	return d, kernel.Cross(d.cross, data.Select(x, test), d.x, isoletKernel)
}

// run returns the records of the machines of r.
func (d *isoletData) run(ctx context.Context, nb *knn.Neighbors, r isoletRun) ([]results.Record, error) {
	var l *sparse.Laplacian
	var err error
	if r.neighbors > 0 {
		if l, err = Laplacian(nb, knn.GraphSettings{K: min(r.neighbors, nb.K)}, r.reg.Laplacian); err != nil {
			return nil, err
		}
	}

	problem, err := newProblem(ctx, d.gram, l)
	if err != nil {
		return nil, err
	}
	w, err := problem.Warp(ctx, r.reg, union(d.draws))
	if err != nil {
		return nil, err
	}
	// All speakers share the warped kernel: it does not depend on the labels.
	var unlabeled, test []results.Record
	for _, m := range r.machines {
		var errs [2][]float64
		for s, drawn := range d.draws {
			f, ft, err := outputs(ctx, problem, w, drawn, m.settings(r.reg), d.cross)
			if err != nil {
				return nil, fmt.Errorf("%s%s, speaker %d: %w", m.name, r, s+1, err)
			}
			errs[0] = append(errs[0], wrong(f, d.truth, drawn))
			errs[1] = append(errs[1], wrong(ft, d.truthT, nil))
		}
		paper := isoletPaper[m.name]
		unlabeled = append(unlabeled, MachineRecord("unlabeled"+r.String(), m.name, errs[0], paper[0], ""))
		test = append(test, MachineRecord("test"+r.String(), m.name, errs[1], paper[1], ""))
	}

	return append(unlabeled, test...), nil
}

// tsvm returns the records of TSVM: one machine for each letter against the rest.
func (d *isoletData) tsvm(ctx context.Context, reg regularizer.Regularizer) ([]results.Record, error) {
	problem, err := newProblem(ctx, d.gram, nil)
	if err != nil {
		return nil, err
	}
	w, err := problem.Warp(ctx, reg, data.Range(0, d.truth.Len()))
	if err != nil {
		return nil, err
	}
	var errs [2][]float64
	for s, drawn := range d.draws {
		m, err := transductive(ctx, w, drawn, reg)
		if err != nil {
			return nil, fmt.Errorf("speaker %d: %w", s+1, err)
		}
		errs[0] = append(errs[0], wrong(problem.Outputs(m), d.truth, drawn))
		errs[1] = append(errs[1], wrong(outputsAt(m, d.cross), d.truthT, nil))
	}

	paper := isoletPaper["TSVM"]
	out := []results.Record{MachineRecord("unlabeled", "TSVM", errs[0], paper[0], ""),
		MachineRecord("test", "TSVM", errs[1], paper[1], "")}
	for _, r := range out {
		r[2] = r[2].Judged(results.Differs, isoletTSVM)
	}
	return out, nil
}

// isoletTSVM says why the TSVM of [Isolet] is not compared with the paper's.
const isoletTSVM = "the paper's TSVM errs by 18 points more than its SVM, ours by 9 less. The paper ran " +
	"SVMlight and does not say which share of a letter's points it took for positive, which decides the " +
	"answer of a TSVM"

// closest names the graph with the errors nearest to the paper's.
func closest(records []results.Record) string {
	sum := map[string]float64{}
	count := map[string]int{}
	var names []string
	for _, r := range records {
		_, graph, found := strings.Cut(r[0].Text, ", ")
		if !found { // of machines without a graph
			continue
		}
		if sum[graph] == 0 {
			names = append(names, graph)
		}
		sum[graph] += math.Abs(r[2].Number - r[2].Published)
		count[graph]++
	}

	// Only the Laplacian machines have a graph in their name, so the mean is over them.
	mean := func(name string) float64 { return sum[name] / float64(count[name]) }
	best := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(mean(a), mean(b)) })
	return fmt.Sprintf("%s is nearest to the paper's figures, %.2f from them in the mean", best, mean(best))
}

// isoletPaper are the errors of Table 4, unlabeled and test.
var isoletPaper = map[string][2]float64{"TSVM": {46.6, 43.3}, "SVM": {28.6, 36.9}, "RLS": {28.3, 36.3},
	"LapSVM": {24.5, 33.7}, "LapRLS": {24.1, 33.3}}

// isoletRun is a list of machines that share one graph and one warped kernel.
type isoletRun struct {
	machines  []machine
	neighbors int // 0 is no graph
	reg       regularizer.Regularizer
}

// String names the graph, behind a comma.
func (r isoletRun) String() string {
	if r.neighbors == 0 {
		return ""
	}
	return fmt.Sprintf(", %d neighbours, p = %d", r.neighbors, r.reg.Power)
}
