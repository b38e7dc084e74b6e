package pipeline_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/pipeline"
)

// fitted are models of every kind of output, by what they do with new points.
func fitted(t *testing.T) map[string]models.Model {
	t.Helper()
	x, y := few(t, 90)
	block := mat.NewDense(90, 2, nil)
	for i := range 90 {
		block.SetRow(i, []float64{math.Sin(x.Row(i)[0]), math.Copysign(1, x.Row(i)[1])})
	}
	values, err := models.ValueTargets(block)
	if err != nil {
		t.Fatal(err)
	}
	several := mat.NewDense(90, 2, nil)
	several.Apply(func(_, _ int, v float64) float64 { return math.Copysign(1, v) }, block)
	labels, err := multilabel.LabelTargets(several, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &pipeline.Pipeline{}
	return map[string]models.Model{
		"votes":   fit(t, p, "knn", &models.Input{Points: x, Targets: y, Values: models.Values{"vote": "3"}}, nil),
		"graph":   fit(t, p, "harmonic", &models.Input{Points: x, Targets: y}, &pipeline.GraphSettings{PCA: 2}),
		"spectra": fit(t, p, "eigenmap", &models.Input{Points: x, Targets: y}, nil),
		"values":  fit(t, p, "rls-linear", &models.Input{Points: x, Targets: values, Values: models.Values{"gamma-a": "1e-3"}}, nil),
		"labels":  fit(t, p, "vvmr", &models.Input{Points: x, Targets: labels, Values: models.Values{"gamma-a": "1e-3", "gamma-i": "0"}}, nil),
	}
}

// Answers in batches are those for all points at once, also where the last batch is
// full, or a single point.
func TestPredictInBatches(t *testing.T) {
	const most = 2*pipeline.Batch + 3
	query, _ := clusters(most, 3)
	p := &pipeline.Pipeline{}
	for name, m := range fitted(t) {
		want := predict(t, m, query)
		for _, n := range []int{1, 5, pipeline.Batch, pipeline.Batch + 1, most} {
			for _, scores := range []bool{false, true} {
				got, err := p.Predict(t.Context(), m, data.Select(query, data.Range(0, n)), models.PredictSettings{}, scores)
				if err != nil {
					t.Fatal(err)
				}
				if kept := scores || want.Classes == nil; kept != (got.Scores != nil) {
					t.Fatalf("%s: scores are kept: %v", name, !kept)
				}
				if want.Classes != nil && !slices.Equal(got.Classes, want.Classes[:n]) || want.Classes == nil && got.Classes != nil {
					t.Errorf("%s: other classes of %d points", name, n)
				}
				if got.Scores != nil && !mat.Equal(got.Scores, want.Scores.Slice(0, n, 0, m.Output().Columns)) {
					t.Errorf("%s: other scores of %d points", name, n)
				}
				if got.Len() != n {
					t.Errorf("%s: %d answers for %d points", name, got.Len(), n)
				}
			}
		}
	}
}

// The settings of a prediction reach the model, and sparse points are points.
func TestPredictSettings(t *testing.T) {
	query, _ := clusters(50, 2)
	p := &pipeline.Pipeline{}
	byName := fitted(t)
	for name, s := range map[string]models.PredictSettings{"votes": {Neighbors: 15}, "graph": {Neighbors: 2}, "spectra": {Extension: models.Nystrom}} {
		m := byName[name]
		want, err := m.Predict(t.Context(), query, &s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Predict(t.Context(), m, query, s, true)
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, name, got, want)
		if modeltest.SamePrediction(got, predict(t, m, query)) {
			t.Errorf("%s: %+v makes no difference", name, s)
		}
		wide, err := p.Predict(t.Context(), m, data.ToSparse(query), s, false)
		if err != nil || !slices.Equal(wide.Classes, want.Classes) {
			t.Errorf("%s: other classes of sparse points, %v", name, err)
		}
	}
}

func TestPredictProgress(t *testing.T) {
	query, _ := clusters(2*pipeline.Batch+3, 3)
	m := fitted(t)["votes"]
	seen := &steps{}
	if _, err := (&pipeline.Pipeline{Observer: seen}).Predict(t.Context(), m, query, models.PredictSettings{}, false); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(seen.done) || len(seen.done) < 3 || seen.done[len(seen.done)-1] != float64(2*pipeline.Batch+3) {
		t.Errorf("%d steps up to %v", len(seen.done), seen.done[len(seen.done)-1:])
	}
	for _, total := range seen.total {
		if total != float64(2*pipeline.Batch+3) {
			t.Fatalf("a total of %v", total)
		}
	}
}

// steps keeps all updates.
type steps struct {
	recorder
	done, total []float64
}

func (s *steps) Update(done, total float64, _ string) {
	s.done, s.total = append(s.done, done), append(s.total, total)
}

func TestPredictRefuses(t *testing.T) {
	query, _ := clusters(20, 2)
	p := &pipeline.Pipeline{}
	for name, m := range fitted(t) {
		for want, x := range map[string]data.Points{"points of 2 columns for a model of points of 4": data.Columns(query, []int{0, 1}), "no points": data.NewDense[float64](0, 4)} {
			if got, err := p.Predict(t.Context(), m, x, models.PredictSettings{}, true); got != nil || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if got, err := p.Predict(cancelled(), m, query, models.PredictSettings{}, true); got != nil || err == nil {
			t.Errorf("%s, cancelled: %v", name, err)
		}
	}
	x, y := few(t, 60)
	_, made := fitComplete(t, p, "harmonic", &models.Input{Points: x, Targets: y}, nil)
	alone := fit(t, p, "harmonic", &models.Input{Targets: y, Graph: models.NewGraph(made.Graph.W)}, nil)
	if _, err := p.Predict(t.Context(), alone, query, models.PredictSettings{}, false); !errors.Is(err, models.ErrNoPoints) {
		t.Errorf("a model of a graph alone: %v", err)
	}
	if all.Learner("no such learner") != nil {
		t.Error("a learner of no name")
	}
}
