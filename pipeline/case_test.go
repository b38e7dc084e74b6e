package pipeline_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/stage"
)

// TestMain dates what is written, as tests compare bytes.
func TestMain(m *testing.M) {
	os.Setenv("SOURCE_DATE_EPOCH", "1600000000")
	os.Exit(m.Run())
}

// clusters are n points of four dimensions in so many noisy groups, and their groups.
func clusters(n, groups int) (*data.Dense[float64], *data.Labels) {
	rng := rand.New(rand.NewPCG(7, uint64(groups)))
	x, class := data.NewDense[float64](n, 4), make([]int64, n)
	for i := range n {
		class[i] = int64(10 + i%groups)
		for j := range x.Row(i) {
			x.Row(i)[j] = rng.NormFloat64()
		}
		x.Row(i)[i%groups] += 4
	}
	return x, data.NewLabels(class, nil)
}

// few are the classes of some points of three clusters.
func few(t *testing.T, n int) (*data.Dense[float64], *models.Targets) {
	t.Helper()
	x, y := clusters(n, 3)
	return x, modeltest.ClassTargets(t, y.Keep(data.Range(0, n/6)))
}

// training returns the scores that a model keeps of its training points.
func training(t *testing.T, m models.Model) *models.Prediction {
	t.Helper()
	own, ok := m.(models.Trained)
	if !ok {
		t.Fatalf("a %T keeps no answers", m)
	}
	return own.Training(true)
}

func predict(t *testing.T, m models.Model, x data.Points) *models.Prediction {
	t.Helper()
	p, err := m.Predict(t.Context(), x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sameBits compares predictions; NaN is not expected.
func sameBits(t *testing.T, what string, got, want *models.Prediction) {
	t.Helper()
	if want.Scores == nil || got.Scores == nil {
		t.Fatalf("%s: there are no scores", what)
	}
	if !modeltest.SamePrediction(got, want) {
		var d mat.Dense
		d.Sub(got.Scores, want.Scores)
		t.Errorf("%s: other answers, scores off by %g", what, mat.Norm(&d, math.Inf(1)))
	}
}

// recorder is an observer that keeps its calls in order; updates in a row count once.
type recorder struct {
	events []string
	costs  map[string]stage.Cost
	refuse string // the stage that it refuses
	faults []string
}

func (r *recorder) Announce(name string, c stage.Cost) error {
	r.events = append(r.events, "announce "+name)
	if r.costs == nil {
		r.costs = map[string]stage.Cost{}
	}
	r.costs[name] = c
	if name == r.refuse {
		return fmt.Errorf("%s is refused", name)
	}
	return nil
}

func (r *recorder) Note(string) { r.events = append(r.events, "note") }

func (r *recorder) Begin(stage string) { r.events = append(r.events, "begin "+stage) }

func (r *recorder) Update(done, total float64, _ string) {
	if last := r.events[len(r.events)-1]; last != "update" {
		r.events = append(r.events, "update")
		if !strings.HasPrefix(last, "begin ") {
			r.faults = append(r.faults, "an update after "+last)
		}
	}
	if !(done >= 0 && total > 0 && done <= total) {
		r.faults = append(r.faults, fmt.Sprintf("%v of %v", done, total))
	}
}

func (r *recorder) End(note string) {
	r.events = append(r.events, "end")
	if note == "" || strings.Contains(note, "\n") {
		r.faults = append(r.faults, fmt.Sprintf("an end with the line %q", note))
	}
}

// want compares what was seen, updates left out where they are not asked for.
func (r *recorder) want(t *testing.T, what string, events ...string) {
	t.Helper()
	seen := r.events
	if !slices.Contains(events, "update") {
		seen = slices.DeleteFunc(slices.Clone(seen), func(e string) bool { return e == "update" })
	}
	if !slices.Equal(seen, events) {
		t.Errorf("%s: the observer saw %q, want %q", what, seen, events)
	}
	for _, f := range r.faults {
		t.Errorf("%s: %s", what, f)
	}
	*r = recorder{refuse: r.refuse}
}

// cancelled is a context that is.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
