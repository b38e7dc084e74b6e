package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/stage"
)

// witness is an observer that keeps what it is told.
type witness struct {
	notes, stages []string
	updates       map[string][][2]float64 // by stage
	operations    []float64               // announced
}

func (w *witness) Announce(_ string, c stage.Cost) error {
	w.operations = append(w.operations, c.Operations)
	return nil
}
func (w *witness) Note(text string)   { w.notes = append(w.notes, text) }
func (w *witness) Begin(stage string) { w.stages = append(w.stages, stage) }
func (w *witness) Update(done, total float64, _ string) {
	if w.updates == nil {
		w.updates = map[string][][2]float64{}
	}
	stage := w.stages[len(w.stages)-1]
	w.updates[stage] = append(w.updates[stage], [2]float64{done, total})
}
func (w *witness) End(string) {}

// times are those of a machine on which nn-descent takes a second and an exact search
// so many.
func times(exact float64) func(context.Context, choice.Work, knn.Method) (float64, error) {
	return func(_ context.Context, _ choice.Work, m knn.Method) (float64, error) {
		if m == knn.NNDescent {
			return 1, nil
		}
		return exact, nil
	}
}

// Auto is approximate only where an exact search would take longer than the patience,
// and says so; one estimate is announced, that of the search that is made.
func TestChoiceByPatience(t *testing.T) {
	x, _ := clusters(300, 3)
	for _, c := range []struct {
		s    pipeline.GraphSettings
		time float64
		want knn.Method
		note string
	}{
		{pipeline.GraphSettings{}, 59, knn.Brute, "neighbours: by brute: in 4 dimensions all pairs"},
		{pipeline.GraphSettings{}, 61, knn.NNDescent, "neighbours: by nn-descent: brute, the fastest exact method, would take about 61 s, longer than patience 60 s"},
		{pipeline.GraphSettings{Patience: 100}, 61, knn.Brute, "neighbours: by brute"},
		{pipeline.GraphSettings{Patience: 2}, 3, knn.NNDescent, "longer than patience 2 s"},
		{pipeline.GraphSettings{Method: knn.Brute}, 1e9, knn.Brute, ""},
		{pipeline.GraphSettings{Recall: 0.9}, 1, knn.NNDescent, "a recall was asked for"},
		{pipeline.GraphSettings{Metric: knn.Manhattan}, 1e9, knn.Brute, "nn-descent does not know manhattan"},
		{pipeline.GraphSettings{Graph: knn.GraphSettings{Radius: 1}}, 1e9, knn.Brute, "all pairs"},
	} {
		o := &witness{}
		p := &pipeline.Pipeline{Observer: o, Time: times(c.time)}
		g, err := p.Graph(t.Context(), x, &c.s)
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(o.notes, "\n")
		if g.Settings.Method != c.want || !strings.Contains(param.Plain(notes), c.note) || len(o.notes) > 1 || c.note == "" && notes != "" {
			t.Errorf("%+v, %v s: %s, %q", c.s, c.time, g.Settings.Method, notes)
		}
		if approximate := g.Settings.Found != nil; approximate != (c.want == knn.NNDescent) {
			t.Errorf("%+v: recall %v", c.s, g.Settings.Found)
		}
		aim := c.s.Recall
		if aim == 0 && c.want == knn.NNDescent {
			aim = pipeline.AutoRecall
		}
		if g.Settings.Recall != aim || aim > 0 && g.Settings.Found.Share < aim {
			t.Errorf("%+v: recall %v is aimed at, %v found", c.s, g.Settings.Recall, g.Settings.Found)
		}
		if len(o.operations) != 1 || (o.operations[0] > 2e13) != (c.time > 1e6) {
			t.Errorf("%+v: %v operations are announced", c.s, o.operations)
		}
	}
	fault := errors.New("interrupted")
	p := &pipeline.Pipeline{Time: func(context.Context, choice.Work, knn.Method) (float64, error) { return 0, fault }}
	if _, err := p.Graph(t.Context(), x, nil); !errors.Is(err, fault) {
		t.Error(err)
	}
}

// A run that is resumed makes the choice that it made, on whatever machine.
func TestChoiceIsResumed(t *testing.T) {
	x, _ := clusters(300, 3)
	dir := t.TempDir()
	for i, c := range []struct {
		time float64
		want knn.Method
	}{{1e3, knn.NNDescent}, {1, knn.NNDescent}} {
		folder, err := pipeline.OpenCheckpoint(dir, i > 0, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := &pipeline.Pipeline{Checkpoint: folder, Time: times(c.time)}
		g, err := p.Graph(t.Context(), x, nil)
		if err != nil || g.Settings.Method != c.want {
			t.Errorf("run %d: %v, %v", i, g, err)
		}
	}
}

// What is done of a prediction never exceeds the whole and never shrinks, also where an
// index has to be made first.
func TestPredictStages(t *testing.T) {
	x, y := few(t, 1500)
	query, _ := clusters(700, 3)
	p := &pipeline.Pipeline{}
	m := fit(t, p, "harmonic", &models.Input{Points: x, Targets: y}, &pipeline.GraphSettings{Method: knn.NNDescent}).(*propagation.Model)
	for _, kept := range []bool{true, false} {
		bare := *m
		if !kept {
			bare.Index = nil
		}
		bare.Neighborhood = bare.Keep()
		o := &witness{}
		if _, err := (&pipeline.Pipeline{Observer: o}).Predict(t.Context(), &bare, query, models.PredictSettings{}, false); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(o.stages), map[bool]string{true: "[predict]", false: "[index predict]"}[kept]; got != want {
			t.Errorf("stages %s, want %s", got, want)
		}
		for stage, updates := range o.updates {
			last := 0.0
			for _, u := range updates {
				if u[0] < last || u[0] > u[1] || stage == "predict" && u[1] != 700 {
					t.Fatalf("%s: %v of %v after %v", stage, u[0], u[1], last)
				}
				last = u[0]
			}
		}
		if len(o.updates["predict"]) == 0 || kept == (len(o.updates["index"]) > 0) {
			t.Errorf("updates %v", o.updates)
		}
	}
}
