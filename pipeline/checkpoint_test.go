package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// soak makes the tests of checkpoints resume more often, overnight.
var soak = os.Getenv("BIGFIT_SOAK") != ""

var errKilled = errors.New("killed")

// often has checkpoints saved whenever they can be, and exact searches made in
// parts.
func often(t *testing.T) {
	t.Helper()
	every, atOnce := checkpoint.Every, pipeline.SetAtOnce(0)
	checkpoint.Every = 0
	t.Cleanup(func() { checkpoint.Every = every; pipeline.SetAtOnce(atOnce) })
}

// kills returns the number of kills that a test tries: most in a campaign, two otherwise.
func kills(most int) int {
	if testmode.Campaigns() {
		return most
	}
	return 2
}

// resumed runs fn with a checkpoint until it ends, a run being killed at a random
// saving, before or after it; and so again until so many runs were resumed. Each
// that ends must write what one without a checkpoint writes.
func resumed(t *testing.T, what string, least int, fn func(p *pipeline.Pipeline, out string) error) {
	t.Helper()
	dir := t.TempDir()
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if err := fn(&pipeline.Pipeline{Seed: 3}, filepath.Join(dir, "want")); !models.Usable(err) {
		t.Fatal(err)
	}
	if soak {
		least *= 10
	}
	rng := rand.New(rand.NewPCG(12, uint64(len(what))))
	kills, ends := 0, 0
	for kills < least {
		err := errKilled
		for ; errors.Is(err, errKilled); kills++ {
			writes, last, after := 0, 2+rng.IntN(6), rng.IntN(2) == 0
			c, openErr := pipeline.OpenCheckpoint(filepath.Join(dir, "ck"), true, 0, func(save func() error) error {
				if writes++; writes == last {
					if after {
						_ = save()
					}
					return errKilled
				}
				return save()
			})
			if openErr != nil {
				t.Fatal(openErr)
			}
			if err = fn(&pipeline.Pipeline{Seed: 3, Checkpoint: c}, filepath.Join(dir, "got")); err == nil {
				c.Clear()
			}
		}
		kills--
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if read("got") != read("want") {
			t.Fatalf("%s: other bits after %d kills", what, kills)
		}
		if ends++; ends > 10*least {
			t.Fatalf("%s: %d kills in %d runs; the test is too easy", what, kills, ends)
		}
	}
	t.Logf("%s: resumed %d times in %d runs", what, kills, ends)
}

// sets are points of every type, with doubles among them.
func sets(n int) map[string]data.Points {
	x, _ := clusters(n, 3)
	small, bytes := data.NewDense[float32](n, 4), data.NewDense[uint8](n, 4)
	for i := range n {
		for j, v := range x.Row(i) {
			if i%5 == 0 {
				v = x.Row(i / 10)[j]
				x.Row(i)[j] = v
			}
			small.Row(i)[j], bytes.Row(i)[j] = float32(v), uint8(10*v+60)/8
		}
	}
	return map[string]data.Points{"float64": x, "float32": small, "bytes": bytes, "sparse": data.ToSparse(bytes)}
}

// Searches that are killed and resumed give the graphs of one that is not, in parts
// and in rounds, for points of all types; so parts give what a search at once does.
func TestResumedGraph(t *testing.T) {
	often(t)
	least := kills(52)
	for name, x := range sets(500) {
		for _, s := range []pipeline.GraphSettings{
			{Method: knn.Brute, Graph: knn.GraphSettings{K: 6, Weights: knn.Heat}},
			{Method: knn.Brute, Metric: knn.Angle, Graph: knn.GraphSettings{K: 60, Weights: knn.SelfTuning}},
			{Method: knn.Brute, Metric: knn.Manhattan, Graph: knn.GraphSettings{K: 5, Weights: knn.Heat}},
			{Method: knn.Brute, Metric: knn.InnerProduct, Graph: knn.GraphSettings{K: 4}},
			{Method: knn.KDTree, Graph: knn.GraphSettings{K: 7, Weights: knn.Heat}, PCA: 3},
			{Method: knn.BallTree, Metric: knn.Angle, Graph: knn.GraphSettings{K: 7, Weights: knn.Heat}},
			{Method: knn.NNDescent, Graph: knn.GraphSettings{K: 9, Weights: knn.Heat}},
			{Method: knn.NNDescent, Recall: 1, Graph: knn.GraphSettings{K: 3, Weights: knn.Heat}},
		} {
			if name == "sparse" && (s.Method != knn.Brute || s.Metric == knn.Manhattan) {
				continue
			}
			times := kills(4)
			if name == "float64" && (s.Method == knn.NNDescent || s.Metric == knn.Angle && s.Method == knn.Brute) {
				times = least
			}
			what := fmt.Sprintf("%s, %v, %v, %+v", name, s.Method, s.Metric, s.Graph)
			resumed(t, what, times, func(p *pipeline.Pipeline, out string) error {
				return saveGraph(t.Context(), p, x, s, out)
			})
		}
	}
}

// saveGraph makes a graph and writes it to out with its settings, and the state of
// its index as JSON.
func saveGraph(ctx context.Context, p *pipeline.Pipeline, x data.Points, s pipeline.GraphSettings, out string) error {
	g, err := p.Graph(ctx, x, &s)
	if g == nil {
		return err
	}
	if err := pipeline.SaveGraph(out, g, nil); err != nil {
		return err
	}
	b, readErr := os.ReadFile(out)
	state, jsonErr := json.Marshal(struct {
		State *knn.State
		Lists []any
	}{g.Index, lists(g.Index)})
	return errors.Join(err, readErr, jsonErr, os.WriteFile(out, append(b, state...), 0o600))
}

func lists(st *knn.State) []any {
	if st == nil {
		return nil
	}
	list := []any{st.Order}
	if st.Method == knn.NNDescent {
		list = append(list, st.Neighbors, st.Splits, st.Thresholds)
	}
	return list
}

// Fits and choices that are killed and resumed give the models and tables of those
// that are not.
func TestResumedFit(t *testing.T) {
	often(t)
	x, targets := few(t, 400)
	least := kills(52)
	for learner, times := range map[string]int{"eigenmap": least, "lapsvm": kills(6), "harmonic": kills(6), "laprls": kills(6)} {
		l := all.Learner(learner)
		for _, method := range []knn.Method{knn.Brute, knn.NNDescent} {
			s := pipeline.GraphSettings{Method: method, Graph: knn.GraphSettings{Weights: knn.Heat}}
			resumed(t, fmt.Sprint(learner, " ", method), times, func(p *pipeline.Pipeline, out string) error {
				values := models.Values{}
				if strings.HasPrefix(learner, "lap") {
					values = models.Values{"gamma-a": "0.01", "gamma-i": "1"}
				}
				m, err := p.Fit(t.Context(), l, &models.Input{Points: x, Targets: targets, Values: values}, &s)
				if err != nil {
					return err
				}
				return models.Save(out, m, nil)
			})
		}
	}
}

func TestResumedTune(t *testing.T) {
	often(t)
	x, y := clusters(150, 3)
	targets := modeltest.ClassTargets(t, y.Keep(data.Range(0, 30)))
	least := kills(52)
	gammas := map[string][]string{"gamma-a": {"1e-3", "1e-2", "1"}, "gamma-i": {"0", "1e-2", "1"}}
	for _, c := range []struct {
		grid  selection.Grid
		times int
	}{
		{gridOf("laprls", models.Values{"sigma": "2"}, gammas, 4, 9), least},
		{gridOf("lapsvm", nil, gammas, 4, 9), 8},
		{gridOf("rls", nil, map[string][]string{"gamma-a": {"1e-3", "1e-2", "1"}}), 4},
		{gridOf("eigenmap", nil, map[string][]string{"eigenvectors": {"5", "10", "20"}}, 5, 8), 8},
		{gridOf("lgc", nil, map[string][]string{"alpha": {"0.9", "0.99"}}, 5, 8), 8},
		{gridOf("lapsvm-linear", nil, gammas, 4, 9), 8},
		{gridOf("knn", nil, map[string][]string{"vote": {"1", "3"}}), 3},
	} {
		resumed(t, c.grid.Learner.Info().Name, c.times, func(p *pipeline.Pipeline, out string) error {
			if p.Checkpoint != nil {
				p.Checkpoint.MadeFrom(pipeline.Hashes{"labels": "those"})
			}
			tuning, err := p.Prepare(t.Context(), &models.Input{Points: x, Targets: targets}, c.grid, nil)
			if err != nil {
				return err
			}
			r, err := tuning.Search(t.Context(), selection.Settings{Folds: 4}, nil)
			if !models.Usable(err) {
				return err
			}
			text, err := json.Marshal(r)
			if err != nil {
				return err
			}
			return os.WriteFile(out, text, 0o600)
		})
	}
}

// The computation of eigenpairs, saved after every block, goes on from any.
func TestResumedEigenpairs(t *testing.T) {
	often(t)
	// A path with one heavy edge, which takes many restarts.
	const n = 1500
	w := &sparse.CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1), Val: []float64{}}
	for i := range n {
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < n {
				v := 1.0
				if max(i, j) == n/2 {
					v = 1000
				}
				w.Col, w.Val = append(w.Col, int32(j)), append(w.Val, v)
			}
		}
		w.Ptr[i+1] = int64(len(w.Col))
	}
	g := models.NewGraph(w)
	least := kills(52)
	resumed(t, "eigenpairs", least, func(p *pipeline.Pipeline, out string) error {
		s := &pipeline.EigsSettings{K: 40, Tolerance: 1e-10} // more pairs than a search without snapshots finds
		r, err := p.Eigenpairs(t.Context(), g, s, nil)
		if err != nil {
			return err
		}
		return pipeline.SaveEigs(out, r, g, s, nil)
	})
}

// A checkpoint of other points, settings or labels is refused with its file.
func TestForeignCheckpoint(t *testing.T) {
	often(t)
	x, _ := clusters(200, 3)
	other, _ := clusters(201, 3)
	dir := t.TempDir()
	run := func(resume bool, x data.Points, k int, seed uint64) error {
		c, err := pipeline.OpenCheckpoint(dir, resume, 0, nil)
		if err != nil {
			return err
		}
		_, err = (&pipeline.Pipeline{Seed: seed, Checkpoint: c}).Graph(t.Context(), x, &pipeline.GraphSettings{Graph: knn.GraphSettings{K: k}})
		return err
	}
	if err := run(false, x, 8, 1); err != nil {
		t.Fatal(err)
	}
	want := func(err error, words ...string) {
		t.Helper()
		for _, w := range append(words, filepath.Join(dir, "graph.npz"), "another run", "without resume") {
			if err == nil || !strings.Contains(param.Plain(err.Error()), w) {
				t.Errorf("no %q in %v", w, err)
			}
		}
	}
	want(run(true, x, 9, 1), "graph")
	want(run(true, x, 8, 2), "seed is 1, here 2")
	want(run(true, other, 8, 1), "hash of the points")
	if err := run(true, x, 8, 1); err != nil {
		t.Error(err)
	}
	if err := run(false, other, 8, 1); err != nil {
		t.Error("a run that begins anew: ", err)
	}
}
