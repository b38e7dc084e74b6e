package pipeline_test

import (
	"errors"
	"maps"
	"reflect"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/stage"
)

// A fit changes neither its input nor the values in it, whatever it makes: a graph,
// eigenpairs, values by cross-validation, a choice by sizes.
func TestFitLeavesItsInput(t *testing.T) {
	t.Parallel()
	x, y := few(t, 120)
	for name, values := range map[string]models.Values{
		"auto":          nil,
		"eigenmap":      {"eigenvectors": "6"},
		"harmonic":      nil,
		"laprls":        {"gamma-i": "0.01"},
		"laprls-linear": {},
		"rls":           nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := &models.Input{Points: x, Targets: y, Values: values, Seed: 9}
			before := *in
			before.Values = maps.Clone(values)

			p := &pipeline.Pipeline{Seed: 3, Memory: 1 << 30}
			if _, err := p.Fit(t.Context(), all.Learner(name), in, nil); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(*in, before) {
				t.Errorf("the input is %+v after the fit, %+v before", *in, before)
			}
		})
	}
}

// The complete input has what the fit made, and a calibration can go on from it.
func TestFitComplete(t *testing.T) {
	t.Parallel()
	x, y := few(t, 120)
	l := all.Learner("eigenmap")
	p := &pipeline.Pipeline{Seed: 3}
	m, in, err := p.FitComplete(t.Context(), l, &models.Input{Points: x, Targets: y}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if in.Graph == nil || in.Pairs == nil || in.Seed != 3 {
		t.Errorf("graph %v, pairs %v, seed %d", in.Graph != nil, in.Pairs != nil, in.Seed)
	}
	if _, err := p.Calibrate(t.Context(), l, m, in, 5); err != nil {
		t.Error(err)
	}
}

// An update changes neither what joins the model nor the labels of it.
func TestUpdateLeavesTheGrowth(t *testing.T) {
	t.Parallel()
	x, y := few(t, 120)
	l := all.Learner("lgc")
	p := &pipeline.Pipeline{Seed: 3}
	m, err := p.Fit(t.Context(), l, &models.Input{Points: x, Targets: y}, nil)
	if err != nil {
		t.Fatal(err)
	}
	growth := &pipeline.Growth{Labels: y.ClassLabels()}
	before := *growth
	if _, err := p.Update(t.Context(), l, m, growth); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*growth, before) {
		t.Errorf("what joins is %+v after the update, %+v before", *growth, before)
	}
}

// The memory limit holds with an observer that lets everything pass.
func TestMemoryHoldsWithObserver(t *testing.T) {
	t.Parallel()
	x, y := few(t, 120)
	l := all.Learner("harmonic")
	in := &models.Input{Points: x, Targets: y}
	m, err := (&pipeline.Pipeline{}).Fit(t.Context(), l, in, nil)
	if err != nil {
		t.Fatal(err)
	}

	for name, o := range map[string]stage.Observer{"silent": nil, "observed": &recorder{}} {
		p := &pipeline.Pipeline{Memory: 1 << 10, Observer: o}
		calls := map[string]func() error{
			"fit": func() error {
				_, err := p.Fit(t.Context(), l, in, nil)
				return err
			},
			"neighbours": func() error {
				_, err := p.Graph(t.Context(), x, nil)
				return err
			},
			"prediction": func() error {
				_, err := p.Predict(t.Context(), m, x, models.PredictSettings{}, true)
				return err
			},
		}
		for what, call := range calls {
			t.Run(name+" "+what, func(t *testing.T) {
				var short *pipeline.MemoryError
				if err := call(); !errors.As(err, &short) {
					t.Fatalf("1 KiB: %v", err)
				}
				if short.Stage != what || short.Limit != 1<<10 || short.Bytes <= short.Limit || short.Remedy == "" {
					t.Errorf("%+v", short)
				}
			})
		}
	}
}

// What a program may give by mistake is an error.
func TestFitWithNothing(t *testing.T) {
	t.Parallel()
	x, y := few(t, 60)
	in := &models.Input{Points: x, Targets: y}
	p := &pipeline.Pipeline{}
	if m, err := p.Fit(t.Context(), all.Learner("lcg"), in, nil); m != nil || err == nil {
		t.Errorf("a learner that is nil: %v", err)
	}
	if m, err := p.Fit(t.Context(), all.Learner("lgc"), nil, nil); m != nil || err == nil {
		t.Errorf("an input that is nil: %v", err)
	}
	bare := &models.Input{Points: data.NewDense[float64](3, 1)}
	if m, err := p.Fit(t.Context(), all.Learner("lgc"), bare, nil); m != nil || err == nil {
		t.Errorf("no targets: %v", err)
	}
}
