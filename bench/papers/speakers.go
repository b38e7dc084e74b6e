package papers

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// speakersNeighbors is the number of neighbours of [Speakers].
const speakersNeighbors = 10

// speakersParts names the utterances that errors are measured on.
var speakersParts = [2]string{"unlabeled", "test"}

// Speakers repeats Figures 6 and 7 of Belkin, Niyogi & Sindhwani (2006): the first 13 letters
// against the last 13, with all utterances of one of 30 speakers labeled, each in turn.
// Experiment 1 trains on the speakers 1 to 30 and tests on the last 30; experiment 2 trains on
// the first utterance of each letter by the speakers 1 to 30 and tests on the second. It uses
// the kernel, γ_A and γ_I of [Isolet]. The graph, which the paper does not name, has 10
// neighbours and the normalized Laplacian. Errors are measured at the break-even point of
// precision and recall.
func Speakers(ctx context.Context, o Options, obs stage.Observer) (*results.Table, []results.Picture, error) {
	obs.Begin("data")
	x, truth, _, err := ReadSet(o, SetsOrigin, isoletFile, isoletFile, "")
	if err != nil {
		return nil, nil, err
	}
	speakers, err := readSpeakers(o)
	if err != nil {
		return nil, nil, err
	}

	obs.End(fmt.Sprintf("%d utterances of %d speakers", truth.Len(), len(speakers.Classes)))
	t := speakersTable()
	// The curves show experiment 1 alone, as Figure 6 does; the scatter plots show both.
	curves := results.Picture{Title: "Errors by the labeled speaker",
		Caption: "Figure 6 of Belkin, Niyogi & Sindhwani (2006), experiment 1."}
	scatters := results.Picture{Title: "Unlabeled and test utterances",
		Caption: "Figure 7 of Belkin, Niyogi & Sindhwani (2006): a point for each machine and " +
			"labeled speaker."}
	for number, split := range []func(speakers, letters *data.Labels) (train, test []int){bySpeaker,
		byUtterance} {
		obs.Begin(fmt.Sprintf("experiment %d", number+1))
		train, test := split(speakers, truth)
		if len(train) == 0 || len(test) == 0 {
			return nil, nil, fmt.Errorf("%s: experiment %d has %d utterances to train on and %d to test on",
				isoletFile, number+1, len(train), len(test))
		}
		e, err := newSpeakerSplit(ctx, o, x, [2]*data.Labels{truth, speakers}, [2][]int{train, test})
		if err != nil {
			return nil, nil, err
		}

		// The first chart is of unlabeled, the second of test utterances.
		lines := []*chart.Lines{{}, {}}
		scatter := &chart.Scatter{Title: fmt.Sprintf("experiment %d", number+1), XLabel: "unlabeled, %",
			YLabel: "test, %"}
		for i := range speakerMachines {
			m := &speakerMachines[i]
			errs, err := e.errors(ctx, m)
			if err != nil {
				return nil, nil, fmt.Errorf("experiment %d, %s, %w", number+1, m.name, err)
			}
			// Speaker 0 stands for the mean over all speakers.
			t.Add(results.Integer(number+1), results.Text(m.name), results.Integer(0), results.Mean(errs[0]),
				results.Mean(errs[1]), results.Text("mean"))
			series := chart.Series{Name: m.name}
			scatter.Classes = append(scatter.Classes, m.name)
			for s := range errs[0] {
				t.Add(results.Integer(number+1), results.Text(m.name), results.Integer(s+1),
					results.Number(errs[0][s]), results.Number(errs[1][s]), results.Text(""))
				series.X = append(series.X, float64(s+1))
				scatter.X = append(scatter.X, errs[0][s])
				scatter.Y = append(scatter.Y, errs[1][s])
				scatter.Class = append(scatter.Class, i)
			}

			for part, l := range lines {
				l.Title = speakersParts[part]
				l.XLabel = "labeled speaker"
				l.YLabel = "error at break-even, %"
				series.Y = errs[part]
				l.Series = append(l.Series, series)
			}

			obs.Update(float64(i+1), float64(len(speakerMachines)), m.name)
		}

		scatters.Charts = append(scatters.Charts, scatter)
		if number == 0 {
			curves.Charts = []chart.Chart{lines[0], lines[1]}
		}
		obs.End(fmt.Sprintf("%d utterances to train on, %d to test on, %d speakers labeled in turn",
			len(train), len(test), len(e.draws)))
	}

	return t, []results.Picture{curves, scatters}, nil
}

// speakersTable returns the table of [Speakers], without records. For each experiment and
// machine it takes a mean over the labeled speakers, which is printed, and a record for each
// speaker, which is not.
func speakersTable() *results.Table {
	share := results.Format{Number: "%.2f", Deviation: "%.2f"}
	return &results.Table{
		Columns: []results.Column{
			{Key: "experiment", Name: "experiment", Kind: results.Integers},
			{Key: "method", Name: "method"},
			{Key: "speaker", Kind: results.Integers, OmitEmpty: true}, // 0 is the mean over all
			{Key: "unlabeled_mean", Deviation: "unlabeled_std", Name: "unlabeled", Unit: "%",
				Kind: results.Numbers, Format: share},
			{Key: "test_mean", Deviation: "test_std", Name: "test", Unit: "%", Kind: results.Numbers,
				Format: share},
			{Key: "printed", PrintOnly: true},
		},
		Views: []results.View{{Caption: "errors at the break-even point of precision and recall, " +
			"letters A–M against N–Z: means over the labeled speakers ± standard deviation",
			Where: results.Where{Key: "printed", Is: "mean"},
			Show:  []string{"experiment", "method", "unlabeled_mean", "test_mean"}}},
		Notes: []string{
			"experiment 1 tests on the last 30 speakers (isolet5), experiment 2 on the second " +
				"utterance of each letter by the speakers that it trains on",
			fmt.Sprintf("the paper draws these errors (Figures 6 and 7) and prints none; it does not "+
				"name the graph, which has %d neighbours either way, weights one and the normalized "+
				"Laplacian, p = 1", speakersNeighbors),
			"TSVM has the share of the first letters that the labels have, a half, and the γ_A of " +
				"SVM; nothing is chosen by labels",
		},
	}
}

// speakerMachines are the machines of Figure 6, one curve each.
var speakerMachines = []pairMachine{
	{machine: machine{name: "TSVM", method: kernelmachine.SVM}, transducts: true},
	{machine: machines[0]}, {machine: machines[1]}, {machine: machines[2]}, {machine: machines[3]},
}

// bySpeaker returns the utterances of speakers 1 to 30 to train on, and of the last 30 to
// test on.
func bySpeaker(speakers, _ *data.Labels) (train, test []int) {
	for i, s := range speakers.Index {
		switch {
		case s < isoletSpeakers:
			train = append(train, i)
		case int(s) >= len(speakers.Classes)-isoletSpeakers:
			test = append(test, i)
		}
	}
	return train, test
}

// byUtterance splits the utterances of speakers 1 to 30: the first utterance of each letter
// to train on, the others to test on.
func byUtterance(speakers, letters *data.Labels) (train, test []int) {
	seen := map[[2]int32]bool{}
	for i, s := range speakers.Index {
		if s >= isoletSpeakers {
			continue
		}
		at := [2]int32{s, letters.Index[i]}
		if seen[at] {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
		seen[at] = true
	}

	return train, test
}

// speakerSplit holds the utterances of an experiment as two classes of letters.
type speakerSplit struct {
	plain, graph  *kernelmachine.Problem
	cross         *mat.Dense // kernel values between test and training utterances
	truth, truthT *data.Labels
	draws         []*data.Labels
}

// newSpeakerSplit prepares an experiment on the utterances x. given holds their letters and
// their speakers; rows holds the utterances to train on and to test on.
func newSpeakerSplit(ctx context.Context, o Options, x data.Points, given [2]*data.Labels,
	rows [2][]int) (*speakerSplit, error) {
	letters := given[0]
	speakers := given[1]
	train := rows[0]
	test := rows[1]
	// Class 1 is the first half of the alphabet.
	half := func(rows []int) *data.Labels {
		classes := make([]int64, len(rows))
		for i, r := range rows {
			if int(letters.Index[r]) < len(letters.Classes)/2 {
				classes[i] = 1
			}
		}
		return data.NewLabels(classes, nil)
	}

	e := &speakerSplit{truth: half(train), truthT: half(test),
		cross: mat.NewDense(len(test), len(train), nil)}
	of := make([][]int, isoletSpeakers)
	for at, i := range train {
		of[speakers.Index[i]] = append(of[speakers.Index[i]], at)
	}
	e.draws = keep(e.truth, of)
	xs := data.Select(x, train)
	gram, err := kernel.Gram(xs, isoletKernel, o.Limit)
	if err != nil {
		return nil, err
	}
	if err := kernel.Cross(e.cross, data.Select(x, test), xs, isoletKernel); err != nil {
		return nil, err
	}

	// The graph joins training utterances only: test utterances are new points.
	nb, err := Neighbors(ctx, xs, speakersNeighbors)
	if err != nil {
		return nil, err
	}
	l, err := Laplacian(nb, knn.GraphSettings{K: nb.K}, sparse.Normalized)
	if err != nil {
		return nil, err
	}
	if e.plain, err = newProblem(ctx, gram, nil); err != nil {
		return nil, err
	}

	e.graph, err = newProblem(ctx, gram, l)
	return e, err
}

// errors returns the errors at the break-even point in percent, on the unlabeled and on the
// test utterances, for each speaker.
func (e *speakerSplit) errors(ctx context.Context, m *pairMachine) (out [2][]float64, err error) {
	// The paper gives γ_A l; every draw has the same number of labels.
	l := float64(len(e.draws[0].Labeled()))
	reg := regularizer.Regularizer{GammaA: 0.05 / l}
	problem := e.plain
	points := union(e.draws)
	if m.graph {
		reg = regularizer.Regularizer{GammaA: 0.005 / l, GammaI: 0.005 / l, Power: 1,
			Laplacian: sparse.Normalized}
		problem = e.graph
	}

	if m.transducts {
		points = data.Range(0, e.truth.Len())
	}
	w, err := problem.Warp(ctx, reg, points)
	if err != nil {
		return out, err
	}
	for part := range out {
		out[part] = make([]float64, len(e.draws))
	}
	// The draws share the warped kernel and run in parallel.
	faults := make([]error, len(e.draws))
	par.For(len(e.draws), 1, func(i, _ int) {
		faults[i] = func() error {
			var f, ft *mat.Dense
			if m.transducts {
				fitted, err := transductive(ctx, w, e.draws[i], reg)
				if err != nil {
					return err
				}
				f = problem.Outputs(fitted)
				ft = outputsAt(fitted, e.cross)
			} else {
				var err error
				if f, ft, err = outputs(ctx, problem, w, e.draws[i], m.settings(reg), e.cross); err != nil {
					return err
				}
			}

			var err error
			if _, out[0][i], _, err = breakEven(mat.Col(nil, 0, f), e.truth, e.draws[i]); err != nil {
				return err
			}
			_, out[1][i], _, err = breakEven(mat.Col(nil, 0, ft), e.truthT, nil)
			return err
		}()
	})

	for i, err := range faults {
		if err != nil {
			return out, fmt.Errorf("speaker %d: %w", i+1, err)
		}
	}
	return out, nil
}
