package pipeline_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/pipeline"
)

// contenders are some learners with and without a choice.
func contenders() []selection.Contender {
	return []selection.Contender{
		{Name: "knn", Grid: gridOf("knn", nil, nil)},
		{Name: "lgc", Grid: gridOf("lgc", nil, map[string][]string{"alpha": {"0.5", "0.99"}})},
		{Name: "eigenmap", Grid: gridOf("eigenmap", nil, map[string][]string{"eigenvectors": {"3", "6"}}, 7, 9)},
		{Name: "laprls", Grid: gridOf("laprls", models.Values{"sigma": "2", "gamma-i": "0.1"}, map[string][]string{"gamma-a": {"1e-3", "1"}})},
	}
}

// outcomes are those of a comparison without their times.
func outcomes(r *selection.Compared) (out []selection.Outcome) {
	for _, c := range r.Competitors {
		for _, o := range c.Outcomes {
			plain := *o
			plain.Seconds = 0
			out = append(out, plain)
		}
	}
	return out
}

// A comparison searches for neighbours once and computes eigenpairs once for each graph,
// and its outcomes are those of selection on neighbours made by hand.
func TestComparing(t *testing.T) {
	x, y := clusters(90, 3)
	targets := modeltest.ClassTargets(t, y)
	splits, err := pipeline.DrawSplits(targets, 3, nil, []int{4}, 5)
	if err != nil {
		t.Fatal(err)
	}
	seen := &recorder{}
	p := &pipeline.Pipeline{Seed: 4, Observer: seen}
	settings := &pipeline.GraphSettings{Method: knn.Brute, Graph: knn.GraphSettings{K: 6, Weights: knn.Heat}}
	c, err := p.PrepareComparison(t.Context(), &models.Input{Points: x, Targets: targets}, contenders(), settings)
	if err != nil {
		t.Fatal(err)
	}
	seen.want(t, "prepare", "announce neighbours", "begin neighbours", "end")
	told := 0
	got, err := c.Run(t.Context(), splits.Labeled, selection.CompareSettings{Folds: 3}, func(*selection.Compared) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	seen.want(t, "run", "announce compare knn", "announce compare lgc", "announce compare eigenmap", "announce compare laprls",
		"announce eigenpairs", "begin eigenpairs", "end", "announce eigenpairs", "begin eigenpairs", "end", "begin compare", "update", "end")
	if told != 12 {
		t.Errorf("told %d times", told)
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &selection.Data{Points: x, Targets: targets, Edges: settings.Graph}
	if d.Neighbors, err = ix.Self(t.Context(), 9); err != nil {
		t.Fatal(err)
	}
	hand, err := selection.NewComparison(d, contenders(), splits.Labeled, &selection.CompareSettings{Folds: 3, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := hand.Prepare(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	want, err := hand.Run(t.Context())
	if err != nil || !reflect.DeepEqual(outcomes(got), outcomes(want)) {
		t.Errorf("%+v, want %+v, %v", outcomes(got), outcomes(want), err)
	}
	for _, stage := range []string{"compare laprls", "eigenpairs", "neighbours"} {
		p := &pipeline.Pipeline{Observer: &recorder{refuse: stage}}
		c, err := p.PrepareComparison(t.Context(), &models.Input{Points: x, Targets: targets}, contenders(), nil)
		if err == nil {
			_, err = c.Run(t.Context(), splits.Labeled, selection.CompareSettings{}, nil)
		}
		if err == nil || !strings.Contains(err.Error(), stage+" is refused") {
			t.Errorf("%s: %v", stage, err)
		}
	}
	// A graph that is given has its own neighbours.
	g, err := p.Graph(t.Context(), x, settings)
	if err != nil {
		t.Fatal(err)
	}
	given, err := p.PrepareComparison(t.Context(), &models.Input{Points: x, Targets: targets, Graph: &g.Graph}, contenders()[1:2], settings)
	if err != nil {
		t.Fatal(err)
	}
	r, err := given.Run(t.Context(), splits.Labeled, selection.CompareSettings{Folds: 3}, nil)
	if err != nil || !reflect.DeepEqual(outcomes(r)[0].Value, outcomes(got)[3].Value) {
		t.Errorf("%+v, want %+v, %v", outcomes(r), outcomes(got)[3:6], err)
	}
}

// Comparisons that are killed and resumed have the outcomes of one that is not.
func TestResumedComparison(t *testing.T) {
	often(t)
	x, y := clusters(150, 3)
	targets := modeltest.ClassTargets(t, y.Keep(data.Range(0, 140)))
	splits, err := pipeline.DrawSplits(targets, 4, []int{12}, []int{5}, 5)
	if err != nil {
		t.Fatal(err)
	}
	least := kills(8)
	resumed(t, "comparison", least, func(p *pipeline.Pipeline, out string) error {
		if p.Checkpoint != nil {
			p.Checkpoint.MadeFrom(pipeline.Hashes{"labels": "those"})
		}
		c, err := p.PrepareComparison(t.Context(), &models.Input{Points: x, Targets: targets}, contenders(), nil)
		if err != nil {
			return err
		}
		r, err := c.Run(t.Context(), splits.Labeled, selection.CompareSettings{Folds: 3}, nil)
		if !models.Usable(err) {
			return err
		}
		text, err := json.Marshal(outcomes(r))
		if err != nil {
			return err
		}
		return os.WriteFile(out, text, 0o600)
	})
}
