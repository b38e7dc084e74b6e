package pipeline_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/stage"
)

// announced keeps the costs of the stages of a run, and which of them began.
type announced struct {
	costs map[string]stage.Cost
	begun []string
	notes []string
}

func (a *announced) Announce(name string, c stage.Cost) error {
	if a.costs == nil {
		a.costs = map[string]stage.Cost{}
	}
	a.costs[name] = c
	return nil
}

func (a *announced) Note(text string)              { a.notes = append(a.notes, text) }
func (a *announced) Begin(name string)             { a.begun = append(a.begun, name) }
func (a *announced) Update(_, _ float64, _ string) {}
func (a *announced) End(string)                    {}

// TestForesee: every stage that a fit announces is announced before it with about the same memory, and
// nothing is begun.
func TestForesee(t *testing.T) {
	const n, d = 1500, 12
	x := &data.Dense[float64]{Rows: n, Cols: d, Data: make([]float64, n*d)}
	labels := map[int]int64{}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		for j := range d {
			x.Data[i*d+j] = float64(i%3)/2 + r.NormFloat64()
		}
		if i%20 == 0 {
			labels[i] = int64(i % 3)
		}
	}
	in := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, modeltest.Labels(n, labels))}

	// A column in another unit, which the default model takes away.
	units := *in
	scaled := &data.Dense[float64]{Rows: n, Cols: d, Data: slices.Clone(x.Data)}
	for i := range n {
		scaled.Data[i*d] = 1e5 + 1e4*r.NormFloat64()
	}
	units.Points = scaled

	for _, name := range []string{"lgc", "harmonic", "eigenmap", "knn", "rls", "laprls", "laprls-linear", "auto", "auto standardized"} {
		t.Run(name, func(t *testing.T) {
			name, kind, _ := strings.Cut(name, " ")
			in := in
			if kind != "" {
				in = &units
			}
			l := all.Learner(name)
			dry := &announced{}
			if err := (&pipeline.Pipeline{Observer: dry}).Foresee(t.Context(), l, in, nil, 0); err != nil {
				t.Fatal(err)
			}
			if len(dry.begun) > 0 {
				t.Errorf("%v began", dry.begun)
			}
			real := &announced{}
			if _, err := (&pipeline.Pipeline{Observer: real}).Fit(t.Context(), l, in, nil); !models.Usable(err) {
				t.Fatal(err)
			}
			if _, ok := real.costs["standardize"]; ok != (kind != "") {
				t.Errorf("columns are standardized: %v", ok)
			}
			for stage, want := range real.costs {
				got, ok := dry.costs[stage]
				if !ok || float64(got.Bytes) < 0.8*float64(want.Bytes) || float64(got.Bytes) > 1.5*float64(want.Bytes)+1<<20 {
					t.Errorf("%s: %d bytes foreseen, %d announced", stage, got.Bytes, want.Bytes)
				}
			}
			for stage := range dry.costs {
				if _, ok := real.costs[stage]; !ok {
					t.Errorf("%s is foreseen and not made", stage)
				}
			}
		})
	}
}
