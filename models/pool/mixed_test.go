package pool_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/pool"
	"github.com/bigfit/bigfit/models/propagation"
)

// onDescent is an input on a graph of NN-descent with its index and lists.
func onDescent(t *testing.T) *models.Input {
	t.Helper()
	x, y := synthetic.TwoMoons(700, 0.1, 3)
	known, err := y.Draw(40, 5)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := models.ClassTargets(known)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := knn.NewDescent(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := ix.Self(t.Context(), 8)
	if err != nil {
		t.Fatal(err)
	}
	w, edges, err := knn.FromNeighbors(nb, knn.GraphSettings{K: 8})
	if err != nil {
		t.Fatal(err)
	}

	g := models.NewGraph(w)
	g.Points = x
	g.Method = knn.NNDescent
	g.Index = knn.StateOf(ix)
	g.Edges = edges
	g.Lists = nb
	g.Neighborhood = g.Keep()
	return &models.Input{Points: x, Graph: g, Targets: targets}
}

// spread is label spreading to three digits on all neighbours and on five.
func spread() pool.Learner {
	lgc := propagation.Learner{Method: propagation.LGC}
	values := func(alpha string) []models.Values { return []models.Values{{"alpha": alpha, "tolerance": "0.001"}} }
	return pool.Learner{Name: "auto", Help: "spreads", Members: []pool.Member{{Learner: lgc, Settings: values("0.99")},
		{Learner: lgc, Settings: values("0.9"), Neighbors: 5}}}
}

// saved fits spread and returns the model and its file.
func saved(t *testing.T) (models.Model, string) {
	t.Helper()
	m, err := spread().Fit(t.Context(), onDescent(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.npz")
	if err := models.Save(path, m, nil); err != nil {
		t.Fatal(err)
	}
	return m, path
}

func load(t *testing.T, path string) models.Model {
	t.Helper()
	m, _, err := models.Load(path, 0, func(string) models.Decoder { return spread().Decode })
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A file is without what follows from its other arrays, and the model that is read has it bit by bit.
func TestFileLeavesOutWhatFollows(t *testing.T) {
	m, path := saved(t)
	e := modeltest.Entries(t, path)
	for name := range e {
		if name == "scores" || strings.Contains(name, "neighbor_") {
			t.Errorf("the file has %s", name)
		}
	}
	for _, name := range []string{"part0_scores", "part1_scores"} {
		if _, ok := e[name].Data.([]float32); !ok {
			t.Errorf("%s is a %T, want float32", name, e[name].Data)
		}
	}

	back := load(t, path)
	want := m.(models.Trained).Training(true)
	got := back.(models.Trained).Training(true)
	if !mat.Equal(got.Scores, want.Scores) || !reflect.DeepEqual(got.Classes, want.Classes) {
		t.Error("after loading, the answers for the training points differ")
	}
	kept := func(m models.Model) *knn.Neighbors {
		h, err := m.(models.Updater).Kept().WithLists()
		if err != nil {
			t.Fatal(err)
		}
		return h.Lists
	}
	if !reflect.DeepEqual(kept(back), kept(m)) {
		t.Error("after loading, the lists of neighbours differ")
	}

	// A model that was loaded is saved as it was.
	again := filepath.Join(t.TempDir(), "again.npz")
	if err := models.Save(again, back, nil); err != nil {
		t.Fatal(err)
	}
	other := modeltest.Entries(t, again)
	for name, a := range e {
		if name != archive.Name && !reflect.DeepEqual(other[name].Data, a.Data) {
			t.Errorf("saved again, %s differs", name)
		}
	}
	if len(other) != len(e) {
		t.Errorf("saved again, the file has %d arrays, want %d", len(other), len(e))
	}
}

// The memory that loading takes beside the arrays of the file counts against the limit.
func TestLimitCountsWhatIsMade(t *testing.T) {
	_, path := saved(t)
	size := int64(0)
	for name, a := range modeltest.Entries(t, path) {
		if name != archive.Name {
			size += int64(reflect.ValueOf(a.Data).Len()) * int64(reflect.TypeOf(a.Data).Elem().Size())
		}
	}
	decoder := func(string) models.Decoder { return spread().Decode }
	made := int64(3 * 700 * 2 * 8) // the scores of both parts and their mean as float64
	if _, _, err := models.Load(path, size+made-1, decoder); err == nil || !strings.Contains(err.Error(), "the limit is") {
		t.Errorf("below what is made of the arrays: %v", err)
	}
	if _, _, err := models.Load(path, size+made, decoder); err != nil {
		t.Errorf("with a limit of all bytes: %v", err)
	}
}

// Damage of what the left-out arrays follow from is found.
func TestDamageOfWhatFollows(t *testing.T) {
	_, path := saved(t)
	for _, c := range []struct {
		name   string
		damage func(fit map[string]any)
		want   string
	}{
		{"more neighbours than the index has", func(fit map[string]any) { neighborhood(fit)["lists"] = 9 }, "lists of 9 neighbours of an index of 8"},
		{"other arrays left out", func(fit map[string]any) { neighborhood(fit)["left_out"] = "points" }, `leaves out "points"`},
		{"lists that are not there", func(fit map[string]any) { delete(neighborhood(fit), "left_out") }, "neighbor_indices"},
		{"scores that are not there", func(fit map[string]any) { delete(fit, "mixed") }, "scores"},
		{"another number of points", func(fit map[string]any) { fit["points"] = 701 }, "701"},
		{"no points", func(fit map[string]any) { fit["points"] = -1 }, "-1"},
		{"scores of another type", func(fit map[string]any) {
			delete(fit["parts"].([]any)[1].(map[string]any)["fit"].(map[string]any), "single")
		}, "a matrix of float64 is needed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := modeltest.Entries(t, path)
			var mf map[string]any
			if err := json.Unmarshal(e[archive.Name].Data.([]uint8), &mf); err != nil {
				t.Fatal(err)
			}
			c.damage(mf["settings"].(map[string]any)["fit"].(map[string]any))
			text, err := json.Marshal(mf)
			if err != nil {
				t.Fatal(err)
			}
			e[archive.Name] = archive.Array{Name: archive.Name, Data: text}
			modeltest.WantRefused(t, e, func(path string, limit int64) (models.Model, *models.Manifest, error) {
				return models.Load(path, limit, func(string) models.Decoder { return spread().Decode })
			}, c.want)
		})
	}
}

func neighborhood(fit map[string]any) map[string]any { return fit["neighborhood"].(map[string]any) }
