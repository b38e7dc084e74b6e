package pipeline_test

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
)

// Weights that are not given are those of the best setting of a search over the
// documented grid on the graph of the fit, which is made once.
func TestFitChooses(t *testing.T) {
	x, y := clusters(90, 3)
	targets := modeltest.ClassTargets(t, y.Keep(data.Range(0, 30)))
	l := all.Learner("laprls")
	seen := &recorder{}
	in := &models.Input{Points: x, Targets: targets, Values: models.Values{"gamma-i": "0.01"}}
	m, complete, err := (&pipeline.Pipeline{Seed: 4, Observer: seen}).FitComplete(t.Context(), l, in, heat(0))
	if err != nil {
		t.Fatal(err)
	}
	seen.want(t, "laprls", "announce neighbours", "begin graph", "end", "note", "announce tune", "begin tune", "end", "note", "announce fit", "begin fit", "end")
	found, err := selection.Search(t.Context(), &selection.Data{Targets: targets, Points: x, Graph: complete.Graph},
		selection.Open(l, models.Values{"gamma-i": "0.01"}), &selection.Settings{Seed: 4, Repeats: 4})
	if err != nil {
		t.Fatal(err)
	}
	best := found.Best()
	c := complete.Chosen
	if c == nil || c.Values["gamma-a"] != best.Setting.Values["gamma-a"] || len(c.Values) != 1 || c.Settings != 4 || *c.Score != float64(best.Mean) {
		t.Errorf("chosen %+v, want %v", c, best.Setting)
	}
	alone := fit(t, &pipeline.Pipeline{Seed: 4}, "laprls", &models.Input{Points: x, Targets: targets, Values: best.Setting.Values}, heat(0))
	sameBits(t, "laprls", predict(t, m, x), predict(t, alone, x))
}

// Too few labels, a learner that does not learn from them, and weights of classes leave
// the choice to the rule.
func TestFitByRule(t *testing.T) {
	x, y := clusters(90, 3)
	for _, c := range []struct {
		learner string
		labels  int
		g       *pipeline.GraphSettings
		why     string
	}{
		{"svm", 9, nil, "too few labels"},
		{"lap-oneclass", 60, nil, "nothing to measure by"},
		{"laprls", 90, &pipeline.GraphSettings{ClassWeights: []float64{1, 2, 3}}, "class weights"},
	} {
		targets := modeltest.ClassTargets(t, y.Keep(data.Range(0, c.labels)))
		l := all.Learner(c.learner)
		if info := l.Info(); info.Learns.Has(models.LearnsInside) {
			targets.Classes, targets.Y = nil, mat.DenseCopyOf(targets.Y.Slice(0, c.labels, 0, 1))
		}
		in := &models.Input{Points: x, Targets: targets}
		_, complete, err := (&pipeline.Pipeline{}).FitComplete(t.Context(), l, in, c.g)
		if err != nil {
			t.Fatalf("%s: %v", c.learner, err)
		}
		in = complete
		if in.Chosen == nil || in.Chosen.Settings != 0 || !strings.Contains(in.Chosen.Why, c.why) {
			t.Errorf("%s: %+v", c.learner, in.Chosen)
		}
		for name, v := range in.Chosen.Values {
			if i := slices.IndexFunc(l.Params(), func(p models.Param) bool { return p.Name == name }); v != l.Params()[i].Few {
				t.Errorf("%s: %s is %s", c.learner, name, v)
			}
		}
	}
}

// A choice that takes long is said with a way to leave it out, before it begins and in a dry run.
func TestLongChoice(t *testing.T) {
	defer pipeline.SetLongChoice(pipeline.SetLongChoice(0))
	x, y := clusters(90, 3)
	in := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, y.Keep(data.Range(0, 30)))}
	l := all.Learner("laprls")
	fit, dry := &announced{}, &announced{}
	if _, err := (&pipeline.Pipeline{Observer: fit}).Fit(t.Context(), l, in, nil); err != nil {
		t.Fatal(err)
	}
	if err := (&pipeline.Pipeline{Observer: dry}).Foresee(t.Context(), l, in, nil, 0); err != nil {
		t.Fatal(err)
	}
	for _, o := range []*announced{fit, dry} {
		text := param.Show(strings.Join(o.notes, "\n"), param.Flag)
		for _, part := range []string{"laprls: cross-validation of ", " settings of gamma-a and gamma-i takes about ", "to leave it out give values, as --gamma-a "} {
			if !strings.Contains(text, part) {
				t.Errorf("no %q in %s", part, text)
			}
		}
	}
}
