package papers

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/propagation"
)

func TestPropagation(t *testing.T) {
	x, truth := synthetic.Digits(400, 3)
	e := &Propagation{X: x, Truth: truth, Graph: knn.GraphSettings{K: 8}, Seed: 5, Rows: []PropagationRow{{2, true, 3}, {60, false, 2}}}
	obs := &observer{t: t}
	table, err := e.Run(context.Background(), obs)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(obs.stages, []string{"graph", "preparation", "fits"}) || obs.open != "" {
		t.Errorf("stages %v, %q open", obs.stages, obs.open)
	}
	if len(table.Records) != 2*len(PropagationMethods) {
		t.Fatalf("%d results", len(table.Records))
	}
	for i, r := range table.Records {
		get := func(key string) results.Value { return table.Value(r, key) }
		m := PropagationMethods[i%len(PropagationMethods)]
		row := e.Rows[i/len(PropagationMethods)]
		if get("method").Text != m.Name || get("labels").Text != row.String() || get("draws").Number != float64(row.Draws) || get("iterations_max").Number < 1 {
			t.Errorf("%+v", r)
		}
		paper, published := m.Paper[row.Labels]
		if got := get("error_mean").Published; published && row.PerClass && got != paper || !(published && row.PerClass) && !math.IsNaN(got) {
			t.Errorf("%s, %s labels: the published figure is %v", m.Name, row, got)
		}
		if e := get("error_mean").Number; !(e > 0 && e < 90) || !(get("residual_max").Number <= 1e-8) || !(get("seconds_mean").Number > 0) {
			t.Errorf("%+v", r)
		}
	}
	// The last cell by hand.
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(context.Background(), ix, e.Graph)
	if err != nil {
		t.Fatal(err)
	}
	var mean float64
	for seed := range uint64(2) {
		y, err := truth.Draw(60, 5+seed)
		if err != nil {
			t.Fatal(err)
		}
		targets, err := models.ClassTargets(y)
		if err != nil {
			t.Fatal(err)
		}
		problem, err := propagation.NewProblem(w, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := propagation.FitReweighted(context.Background(), w, problem, targets, &propagation.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		mean += 100 * metrics.ErrorRate(g.Labels, truth, y) / 2
	}
	if got := table.Value(table.Records[len(table.Records)-1], "error_mean").Number; !(math.Abs(got-mean) <= 1e-9) {
		t.Errorf("error %v, by hand %v", got, mean)
	}
	for _, w := range []string{"| labels | method | error % | seconds a fit | iterations | residual | draws |\n", "| 2 a class | harmonic |", "| 60 | poisson |"} {
		if !strings.Contains(table.Markdown(), w) {
			t.Errorf("no %q in\n%s", w, table.Markdown())
		}
	}
	if d := table.Drawings(); len(d) != 2 || d[0].Title != "labels: 2 a class" || len(d[0].Bars) != len(PropagationMethods) || d[0].Unit != "%" {
		t.Errorf("drawings %+v", d)
	}
}

func TestPropagationDraws(t *testing.T) {
	truth := data.NewLabels([]int64{3, 3, 3, 7, 7, 7, 7, 9, 9}, nil)
	row := PropagationRow{Labels: 2, PerClass: true}
	seen := map[int]int{}
	for seed := range uint64(200) {
		y, err := row.draw(truth, seed)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[int32]int{}
		for _, i := range y.Labeled() {
			counts[y.Index[i]]++
			seen[i]++
			if y.Index[i] != truth.Index[i] {
				t.Fatal("another class")
			}
		}
		if len(counts) != 3 || counts[0] != 2 || counts[1] != 2 || counts[2] != 2 {
			t.Fatalf("draw %v", counts)
		}
	}
	for i, want := range []int{133, 133, 133, 100, 100, 100, 100, 200, 200} {
		if d := seen[i] - want; d > 35 || d < -35 {
			t.Errorf("point %d was drawn %d times of 200", i, seen[i])
		}
	}
	if _, err := (PropagationRow{Labels: 3, PerClass: true}).draw(truth, 1); err == nil || !strings.Contains(err.Error(), "class 9 has 2 points") {
		t.Errorf("too few points: %v", err)
	}
	if _, err := (PropagationRow{Labels: 10}).draw(truth, 1); err == nil {
		t.Error("too many labels: no error")
	}
}
