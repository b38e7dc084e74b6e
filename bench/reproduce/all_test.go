package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/bench/runs"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// writeMoonsAndScene writes the sets of moons and scene, small and made up.
func writeMoonsAndScene(t *testing.T, dir string) {
	t.Helper()
	x, y := synthetic.TwoMoons(100, 0.05, 1)
	must(t, npy.WriteArchive(filepath.Join(dir, "sindhwani_2moons.npz"), []archive.Array{
		{Name: "X", Shape: []int{100, 2}, Data: x.Data}, {Name: "y", Data: y.Index},
		{Name: "Xt", Shape: []int{100, 2}, Data: x.Data}, {Name: "yt", Data: y.Index},
	}))
	writeScene(t, dir)
}

// writeScene writes points of three columns whose two labels are the signs of two.
func writeScene(t *testing.T, dir string) {
	t.Helper()
	const n, d, labels = 240, 3, 2
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := make([]float64, n*d), make([]float64, n*labels)
	for i := range n {
		for j := range d {
			x[i*d+j] = rng.NormFloat64()
			if j < labels && x[i*d+j] > 0 {
				y[i*labels+j] = 1
			}
		}
	}
	must(t, npy.WriteArchive(filepath.Join(dir, "scene_multilabel.npz"), []archive.Array{{Name: "X", Shape: []int{n, d}, Data: x}, {Name: "Y", Shape: []int{n, labels}, Data: y}}))
}

// TestReproduceList checks that the list says what an experiment needs: in an empty folder
// each misses a file that the list names.
func TestReproduceList(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("empty", 0o777))
	var list []struct {
		Experiment, Paper, Shows, Needs string
		Seconds                         *float64
		Other                           string `json:"other_data"`
	}
	must(t, json.Unmarshal([]byte(succeed(t, "--list", "--json")), &list))
	help, text := succeed(t, "--help"), succeed(t, "--list")
	run := 0
	for _, e := range list {
		if e.Paper == "" || e.Shows == "" || !strings.Contains(text, "| "+e.Experiment+" | "+e.Paper+" | "+e.Shows+" |") {
			t.Errorf("%+v is not in\n%s", e, text)
		}
		if e.Seconds == nil {
			if e.Other == "" || e.Needs != "" {
				t.Errorf("%s is not run, and the list does not say why: %+v", e.Experiment, e)
			}
			fail(t, 2, []string{"unknown experiment"}, e.Experiment)
			continue
		}
		run++
		if e.Needs == "" {
			continue // it makes its points itself
		}
		if !strings.Contains(help, e.Paper+": "+e.Shows) || !(*e.Seconds > 0) {
			t.Errorf("%+v; the help is\n%s", e, help)
		}
		args := []string{e.Experiment, "--data", "empty"}
		fail(t, 2, []string{"empty has none of"}, args...)
		said := reproduce(t, args...).stderr
		if !slices.ContainsFunc(strings.Fields(strings.ReplaceAll(said, ",", " ")), func(word string) bool {
			return slices.ContainsFunc(strings.Split(e.Needs, ", "), func(file string) bool {
				ok, err := filepath.Match(file, strings.TrimRight(word, ";"))
				return ok && err == nil
			})
		}) {
			t.Errorf("%s needs %s and said %s", e.Experiment, e.Needs, said)
		}
	}
	if run < 14 {
		t.Errorf("%d experiments", run)
	}
	fail(t, 2, []string{"no experiment could be run", "empty"}, "all", "--data", "empty", "--only", "moons")
}

// TestReproduceAll runs what the data allow and looks at the pages.
func TestReproduceAll(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("sets", 0o777))
	writeMoonsAndScene(t, "sets")
	out := succeed(t, "all", "--data", "sets", "--splits", "2", "--report", "site", "-q")
	var scene []struct {
		AUC   float64 `json:"auc_mean"`
		Paper float64
	}
	must(t, json.Unmarshal(readFile(t, "site/scene.json"), &scene))
	best := 0.0
	for _, r := range scene {
		best = max(best, r.AUC)
	}
	// The signs of two columns are easier to tell than scenes; 25 rows for targets of either kind.
	if len(scene) != 50 || !(best > scene[0].Paper+5) {
		t.Fatalf("best %v of %+v", best, scene)
	}
	kept, err := runs.Read("site/scene.run.json")
	must(t, err)
	if kept.Command != "go run ./bench/reproduce scene --data DIR --splits 2" || len(kept.Tables) != 2 ||
		len(kept.Tables[0].Rows) != 5 || !(kept.Seconds > 0) || kept.Tables[0].Header[0] != `γ_I \ γ_O` {
		t.Errorf("the run of scene is %+v", kept)
	}
	index := string(readFile(t, "site/index.html"))
	for _, w := range []string{`<a href="moons.html">moons</a>`, `<a href="scene.html">scene</a>`, "<td>1 differs</td>", "plain RLS (γ_I = γ_O = 0) has", "two standard errors",
		"timit (Belkin &amp; Niyogi 2004, Table 3 and Figure 4: vowels of TIMIT) was not run", "rcv1 (Minh &amp; Sindhwani 2011, Figures 1 and 2: messages with several labels) was not run: sets has none of",
		"Two moons, one label a class", "AUC by weight of the graph", "<dt>seed</dt>"} {
		if !strings.Contains(index, w) {
			t.Errorf("the index lacks %q", w)
		}
	}
	for _, w := range []string{"## moons (", "| γ_I = 10 |", "| scene | Minh & Sindhwani 2011 | Figures 1 and 2: images with several labels | 1 differs |", "pages: site/index.html"} {
		if !strings.Contains(out, w) {
			t.Errorf("no %q in\n%s", w, out)
		}
	}
	if page := string(readFile(t, "site/scene.html")); !strings.Contains(page, `<a href="index.html">All pages</a>`) {
		t.Error("the page of scene does not lead back")
	}

	// A damaged set is an error of its experiment alone.
	writeFile(t, "sets/isolet.npz", []byte("nothing"))
	partly := reproduce(t, "all", "--data", "sets", "--only", "isolet,moons", "--report", "some", "-q")
	if partly.code != 2 || !strings.Contains(partly.stderr, "isolet.npz") || !strings.Contains(partly.out, "| moons |") {
		t.Errorf("exit code %d\n%s%s", partly.code, partly.out, partly.stderr)
	}
	if index := string(readFile(t, "some/index.html")); !strings.Contains(index, "isolet (Belkin, Niyogi &amp; Sindhwani 2006, Table 4: spoken letters) was not run: ") || !strings.Contains(index, `<a href="moons.html">`) {
		t.Error("the index does not say that isolet was not run")
	}
	var all struct {
		Rule        string
		Experiments []struct {
			Experiment string
			NotRun     string `json:"not_run"`
			Records    []json.RawMessage
		}
	}
	must(t, json.Unmarshal([]byte(succeed(t, "all", "--data", "sets", "--only", "moons", "--json")), &all))
	var got []string
	for _, e := range all.Experiments {
		got = append(got, fmt.Sprint(e.Experiment, " ", len(e.Records), " ", e.NotRun != ""))
	}
	if want := []string{"timit 0 true", "moons 56 false", "temperature 0 true"}; !slices.Equal(got, want) || all.Rule == "" {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, c := range []struct {
		say  string
		args []string
	}{
		{"did you mean moons?", []string{"--only", "mons"}},
		{"must be a folder", []string{"--report", "a.html"}},
		{"must be a folder", []string{"--report="}},
		{"--labels is for one experiment", []string{"--labels", "20"}},
		{"absent", []string{"--data", "absent"}},
		{"not a folder", []string{"--data", "sets/isolet.npz"}},
	} {
		fail(t, 2, []string{c.say}, append([]string{"all", "--data", "sets"}, c.args...)...)
	}
	fail(t, 2, []string{"--only is for reproduce all"}, "moons", "--data", "sets", "--only", "moons")
}
