package pipeline_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/pipeline"
)

func gridOf(learner string, fixed models.Values, axes map[string][]string, neighbors ...int) selection.Grid {
	return selection.Grid{Learner: all.Learner(learner), Fixed: fixed, Axes: axes, Neighbors: neighbors}
}

// A choice through the pipeline is that of selection on neighbours made by hand, and
// the model of a setting that of a fit with it.
func TestTuning(t *testing.T) {
	x, y := clusters(90, 3)
	targets := modeltest.ClassTargets(t, y.Keep([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}))
	seen := &recorder{}
	p := &pipeline.Pipeline{Seed: 4, Observer: seen}
	norms := map[string][]string{"gamma-a": {"1e-3", "1"}, "gamma-i": {"0", "1e-2"}}
	for _, c := range []struct {
		grid   selection.Grid
		g      *pipeline.GraphSettings
		stages []string
	}{
		{gridOf("laprls", models.Values{"sigma": "2"}, norms, 4, 9), heat(0), []string{"announce neighbours", "begin neighbours", "end"}},
		{gridOf("harmonic", nil, nil, 4, 9), heat(2), []string{"announce pca", "begin pca", "end", "announce neighbours", "begin neighbours", "end"}},
		{gridOf("harmonic", nil, nil), heat(0), []string{"announce neighbours", "begin neighbours", "end"}},
		{gridOf("harmonic", nil, nil), &pipeline.GraphSettings{Graph: knn.GraphSettings{Radius: 3}, Method: knn.Brute}, []string{"announce neighbours", "begin graph", "end"}},
		{gridOf("rls", models.Values{"sigma": "2"}, map[string][]string{"gamma-a": {"1e-3", "1"}}, 4, 9), heat(0), nil},
		{gridOf("knn", nil, map[string][]string{"vote": {"1", "3"}}), nil, nil},
	} {
		name := c.grid.Learner.Info().Name
		in := &models.Input{Points: x, Targets: targets}
		tuning, err := p.Prepare(t.Context(), in, c.grid, c.g)
		if err != nil {
			t.Fatal(err)
		}
		seen.want(t, name+": prepare", c.stages...)
		var told int
		r, err := tuning.Search(t.Context(), selection.Settings{Folds: 3}, func(*selection.Result) { told++ })
		if err != nil {
			t.Fatal(err)
		}
		seen.want(t, name+": search", "note", "announce tune", "begin tune", "update", "end")
		if told == 0 || r.Seed != 4 {
			t.Errorf("%s: told %d times, seed %d", name, told, r.Seed)
		}
		want, err := selection.Search(t.Context(), &tuning.Data, &tuning.Grid, &selection.Settings{Folds: 3, Seed: 4})
		if err != nil || !reflect.DeepEqual(scoresOf(r), scoresOf(want)) {
			t.Errorf("%s: %v, want %v, %v", name, scoresOf(r), scoresOf(want), err)
		}
		for _, score := range r.Scores {
			m, _, err := tuning.Fit(t.Context(), in, score.Setting)
			if err != nil {
				t.Fatal(err)
			}
			var settings pipeline.GraphSettings
			if c.g != nil {
				settings = *c.g
			}
			if score.Setting.Neighbors > 0 {
				settings.Graph.K = score.Setting.Neighbors
			}
			alone := fit(t, &pipeline.Pipeline{Seed: 4}, name, &models.Input{Points: x, Targets: targets, Values: score.Setting.Values}, &settings)
			sameBits(t, name+" "+score.Setting.String(), answers(t, m, x), answers(t, alone, x))
			if score.Setting.Neighbors > 0 {
				sameBits(t, name+", new points", predict(t, m, x), predict(t, alone, x))
			}
		}
		seen.events = nil
	}
}

// answers are those for x, or of a transductive model those that it keeps: a graph of
// a radius has no number of neighbours that new points join.
func answers(t *testing.T, m models.Model, x data.Points) *models.Prediction {
	t.Helper()
	if _, ok := m.(models.Trained); ok {
		return training(t, m)
	}
	return predict(t, m, x)
}

// scoresOf are the settings in their order, with the criterion on all folds.
func scoresOf(r *selection.Result) map[string][]any {
	out := map[string][]any{}
	for i, s := range r.Scores {
		out[s.Setting.String()] = []any{i, s.Folds}
	}
	return out
}

// On a graph that is given, nothing is searched for.
func TestTuningOnAGraph(t *testing.T) {
	x, y := few(t, 90)
	seen := &recorder{}
	p := &pipeline.Pipeline{Observer: seen}
	g, err := p.Graph(t.Context(), x, heat(0))
	if err != nil {
		t.Fatal(err)
	}
	seen.events = nil
	in := &models.Input{Points: x, Targets: y, Graph: models.NewGraph(g.W)}
	tuning, err := p.Prepare(t.Context(), in, gridOf("lgc", nil, map[string][]string{"alpha": {"0.5", "0.9"}}, 4, 5), heat(0))
	if err != nil {
		t.Fatal(err)
	}
	seen.want(t, "prepare")
	r, err := tuning.Search(t.Context(), selection.Settings{}, nil)
	if err != nil || len(r.Scores) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	m, _, err := tuning.Fit(t.Context(), in, r.Best().Setting)
	if err != nil {
		t.Fatal(err)
	}
	want := fit(t, p, "lgc", &models.Input{Points: x, Targets: y, Values: r.Best().Setting.Values}, heat(0))
	sameBits(t, "on the graph", training(t, m), training(t, want))
	if m.Dim() != 4 {
		t.Errorf("the model answers for points of %d columns", m.Dim())
	}
}

func TestTuningRefuses(t *testing.T) {
	x, y := few(t, 90)
	in := &models.Input{Points: x, Targets: y}
	for _, stage := range []string{"neighbours", "tune"} {
		seen := &recorder{refuse: stage}
		p := &pipeline.Pipeline{Observer: seen}
		tuning, err := p.Prepare(t.Context(), in, gridOf("harmonic", nil, nil, 4, 5), heat(0))
		if stage == "neighbours" {
			if tuning != nil || err == nil {
				t.Errorf("neighbours are refused: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if r, err := tuning.Search(t.Context(), selection.Settings{}, nil); r != nil || err == nil {
			t.Errorf("the search is refused: %v", err)
		}
	}
	p := &pipeline.Pipeline{}
	if tuning, err := p.Prepare(t.Context(), in, gridOf("harmonic", nil, nil, 4, 90), heat(0)); tuning != nil || err == nil {
		t.Errorf("90 neighbours of 90 points: %v", err)
	}
	if tuning, err := p.Prepare(t.Context(), in, gridOf("harmonic", nil, nil), &pipeline.GraphSettings{ClassWeights: []float64{1, 1, 1}}); tuning != nil || err == nil || !strings.Contains(err.Error(), "holds some back") {
		t.Errorf("class weights: %v", err)
	}
	tuning, err := p.Prepare(t.Context(), in, gridOf("knn", nil, map[string][]string{"vote": {"1", "3"}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := tuning.Search(cancelled(), selection.Settings{}, nil); !errors.Is(err, cancelled().Err()) || r == nil || r.Done != 0 {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
}
