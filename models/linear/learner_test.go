package linear

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/param"
)

// learnerCase is an input for all learners, with their values.
func learnerCase(t *testing.T) (in models.Input, values map[string]models.Values) {
	t.Helper()
	c := newLinearCase(t, 150, 9, 40)
	in = models.Input{Points: c.x, Targets: c.t, Graph: models.NewGraph(c.w)}
	return in, map[string]models.Values{
		RLSName:    {"gamma-a": "0.03"},
		SVMName:    {"gamma-a": "0.03", "loss": "huberized-hinge", "width": "0.2"},
		LapRLSName: {"gamma-a": "0.03", "gamma-i": "0.01", "power": "2", "laplacian": "normalized", "scaling": "per-pair"},
		LapSVMName: {"gamma-a": "0.03", "gamma-i": "0.01"},
		TSVMName:   {"gamma-a": "0.1", "unlabeled-weight": "0.5", "priors": "2,1,1"},
	}
}

// A model of each learner names its values, and comes back from a file with the
// same answers; the fit shows its progress.
func TestLearners(t *testing.T) {
	in, values := learnerCase(t)
	for _, l := range Learners {
		name := l.Info().Name
		in.Values = values[name]
		told := 0
		for _, points := range []data.Points{in.Points, data.ToSparse(in.Points)} {
			in.Points = points
			in.Progress = func(models.Progress) { told++ }
			m, err := l.Fit(t.Context(), &in)
			if err != nil {
				t.Fatal(err)
			}
			s := m.Summary()
			if m.Name() != name || s.Labeled != 40 || m.Dim() != 9 || m.Output().Columns != 3 {
				t.Errorf("%s: %s, %+v, %+v", name, m.Name(), s, m.Output())
			}
			for key, v := range values[name] {
				if key == "priors" {
					v = "0.5,0.25,0.25"
				}
				if s.Values[key] != v {
					t.Errorf("%s: %s is %q, want %q", name, key, s.Values[key], v)
				}
			}
			if err := models.CheckValues(l.Params(), s.Values); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			path := filepath.Join(t.TempDir(), "m.npz")
			if err := models.Save(path, m, nil); err != nil {
				t.Fatal(err)
			}
			back, _, err := load(path, 0)
			if err != nil {
				t.Fatal(err)
			}
			if again := back.Summary(); again.Text != s.Text || !maps.Equal(again.Values, s.Values) || !mat.Equal(modeltest.Raw(t, m, points), modeltest.Raw(t, back, points)) {
				t.Errorf("%s: %+v came back as %+v", name, s, again)
			}
		}
		if told == 0 && name != RLSName {
			t.Errorf("%s shows no progress", name)
		}
	}
}

// With γ_I = 0 a learner makes a model of the plain one.
func TestWithoutIntrinsicNorm(t *testing.T) {
	in, _ := learnerCase(t)
	for plain, lap := range map[string]string{RLSName: LapRLSName, SVMName: LapSVMName} {
		for _, l := range Learners {
			if l.Info().Name != lap {
				continue
			}
			in.Graph, in.Values = nil, models.Values{"gamma-a": "1", "gamma-i": "0"}
			i := l.Info()
			if m, err := l.Fit(t.Context(), &in); err != nil || m.Name() != plain || i.UsesGraph(in.Values) {
				t.Errorf("%s: %v", lap, err)
			}
		}
	}
}

func TestLearnersRefuse(t *testing.T) {
	in, _ := learnerCase(t)
	for _, c := range []struct {
		learner string
		v       models.Values
		want    []string
	}{
		{RLSName, models.Values{}, []string{"gamma-a is missing"}},
		{RLSName, models.Values{"gamma-a": "1", "loss": "squared-hinge"}, []string{"loss"}},
		{LapSVMName, models.Values{"gamma-a": "0", "gamma-i": "-1", "width": "0.1", "power": "1.5", "loss": "squared"},
			[]string{"gamma-a is 0", "gamma-i is -1", "power is 1.5", `loss is "squared"`}},
		{SVMName, models.Values{"gamma-a": "1", "width": "0.1"}, []string{"width is for loss huberized-hinge, not squared-hinge"}},
		{SVMName, models.Values{"gamma-a": "1", "loss": "huberized-hinge", "width": "2"}, []string{"width is 2"}},
		{SVMName, models.Values{"gamma-a": "1", "loss": "squared"},
			[]string{`loss is "squared"; it must be squared-hinge or huberized-hinge`, "rls-linear"}},
		{TSVMName, models.Values{"gamma-a": "1", "loss": "squared"}, []string{`loss is "squared"`, "rls-linear"}},
		{TSVMName, models.Values{"gamma-a": "1", "priors": "0,0,0"}, []string{"priors are all 0"}},
		{TSVMName, models.Values{"gamma-a": "1", "priors": "1,1"}, []string{"priors names 2 shares for 3 classes"}},
		{TSVMName, models.Values{"gamma-a": "1", "priors": "1,-1,1", "unlabeled-weight": "0"}, []string{"priors has the value -1", "unlabeled-weight is 0"}},
	} {
		l := Learners[slices.IndexFunc(Learners, func(l models.Learner) bool { return l.Info().Name == c.learner })]
		in.Values = c.v
		m, err := l.Fit(t.Context(), &in)
		for _, want := range c.want {
			if m != nil || err == nil || !strings.Contains(param.Plain(err.Error()), want) {
				t.Errorf("%s %v: %q is not in %v", c.learner, c.v, want, err)
			}
		}
	}
	for name, v := range map[string]models.Values{RLSName: {"gamma-a": "1"}, TSVMName: {"gamma-a": "1"}} {
		l := Learners[slices.IndexFunc(Learners, func(l models.Learner) bool { return l.Info().Name == name })]
		in.Values = v
		if c, err := l.Cost(&in); err != nil || !strings.Contains(c.Remedy, "columns") {
			t.Errorf("%s: the remedy is %q, %v", name, c.Remedy, err)
		}
	}
}

// The answers of FitGrid are those of fits without the fold.
func TestFitGrid(t *testing.T) {
	in, _ := learnerCase(t)
	graph := in.Graph
	splits, err := in.Targets.Splits(4, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range Learners {
		k, ok := l.(models.GridLearner)
		if !ok {
			continue
		}
		g := &models.Grid{Input: in, Splits: splits, GraphOf: func(int) (*models.Graph, error) { return graph, nil }}
		g.Graph, g.Edges = nil, graph.W.NNZ()
		for _, a := range []string{"0.01", "0.1"} {
			v := models.Values{"gamma-a": a, "tolerance": "1e-11"}
			if i := l.Info(); i.Needs.Has(models.NeedsGraph) {
				g.Settings = append(g.Settings, v.With(models.Values{"gamma-i": "0"}), v.With(models.Values{"gamma-i": "0.1"}), v.With(models.Values{"gamma-i": "0.1", "power": "2"}))
			} else {
				g.Settings = append(g.Settings, v)
			}
		}
		g.GraphKey = func(i int) string { return map[bool]string{true: "graph"}[g.Settings[i].Float("gamma-i") > 0] }
		if c, err := k.GridCost(g); err != nil || c.Shared <= 0 || c.Fold <= 0 || c.Operations <= 0 {
			t.Errorf("%s: the cost is %+v, %v", l.Info().Name, c, err)
		}
		g.Settings = append(g.Settings, models.Values{"gamma-a": "-1"})
		bad := len(g.Settings) - 1
		answered := make([]int, len(g.Settings))
		g.Fail = func(settings []int, err error) {
			if !slices.Equal(settings, []int{bad}) || err == nil {
				t.Errorf("%v failed: %v", settings, err)
			}
			answered[bad]++
		}
		g.Run = func(ctx context.Context, settings []int, fit func(*models.Split) []models.Answer) error {
			for _, s := range splits {
				for p, a := range fit(s) {
					if a.Err != nil {
						return a.Err
					}
					alone := *g.With(settings[p])
					alone.Graph, alone.Targets = graph, s.Train
					m, err := l.Fit(ctx, &alone)
					if err != nil {
						return err
					}
					want, err := m.Predict(ctx, data.Select(in.Points, s.Points), nil)
					if err != nil {
						return err
					}
					modeltest.WantClose(t, l.Info().Name, a.Scores, want.Scores, 1e-6)
					if !slices.Equal(a.Classes, want.Classes) {
						return errors.New("other classes")
					}
				}
			}
			for _, i := range settings {
				answered[i]++
			}
			return nil
		}
		if err := k.FitGrid(t.Context(), g); err != nil {
			t.Errorf("%s: %v", l.Info().Name, err)
		}
		for i, times := range answered {
			if times != 1 {
				t.Errorf("%s: setting %d was answered %d times", l.Info().Name, i, times)
			}
		}
	}
}
