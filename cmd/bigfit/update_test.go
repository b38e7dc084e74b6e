package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// grown writes the points of X.npy and new.npy as one file and labels for both.
func grown(t *testing.T) {
	t.Helper()
	intoBlobs(t)
	x, y := blobs(blobCount, 0)
	z, more := blobs(blobCount, 1)
	must(t, npy.WriteFile("all.npy", []int{2 * blobCount, blobColumns}, floats(append(x, z...))))
	for i := range y {
		if i%9 > 0 {
			y[i] = -1
		}
		if i%30 > 0 {
			more[i] = -1
		}
	}
	must(t, npy.WriteFile("few.npy", nil, y))
	must(t, npy.WriteFile("night.npy", nil, more))
	must(t, npy.WriteFile("both.npy", nil, append(slices.Clone(y), more...)))
}

func TestUpdate(t *testing.T) {
	grown(t)
	for _, model := range []string{"eigenmap", "lgc", "knn"} {
		succeed(t, "fit", "--model", model, "-X", "X.npy", "-y", "few.npy", "-o", "m.npz", "-q")
		text := succeed(t, "update", "m.npz", "-X", "new.npy", "-y", "night.npy", "-o", "m2.npz", "--tolerance", "1e-8", "-q")
		if !strings.Contains(text, "90 points joined 90, 3 labels joined 10") && model != "knn" {
			t.Errorf("%s: %q", model, text)
		}
		args := []string{"fit", "--model", model, "-X", "all.npy", "-y", "both.npy", "-o", "anew.npz", "-q"}
		if model == "eigenmap" {
			args = append(args, "-p", "3") // what 10 labels in 3 components gave the first
		}
		succeed(t, args...)
		succeed(t, "predict", "m2.npz", "-X", "X.npy", "-o", "a.npy", "-q")
		succeed(t, "predict", "anew.npz", "-X", "X.npy", "-o", "b.npy", "-q")
		if string(readFile(t, "a.npy")) != string(readFile(t, "b.npy")) {
			t.Errorf("%s: other classes than those of a fit anew", model)
		}
	}
	var s struct {
		New     int     `json:"new_points"`
		Labels  int     `json:"new_labels"`
		Classes []int64 `json:"new_classes"`
		Points  int     `json:"points"`
	}
	succeed(t, "fit", "--model", "lgc", "-X", "X.npy", "-y", "few.npy", "-o", "m.npz", "-q")
	strange := slices.Repeat([]int64{-1}, blobCount)
	strange[4] = 77
	must(t, npy.WriteFile("strange.npy", nil, strange))
	must(t, json.Unmarshal([]byte(succeed(t, "update", "m.npz", "-X", "new.npy", "-y", "strange.npy", "-o", "m3.npz", "--json", "-q")), &s))
	if s.New != 90 || s.Labels != 1 || !slices.Equal(s.Classes, []int64{77}) || s.Points != 180 {
		t.Errorf("%+v", s)
	}
}

// A graph that points joined equals the graph of all points. SciPy reads it, it grows again, and
// a fit with it keeps its index.
func TestAppendedGraph(t *testing.T) {
	grown(t)
	succeed(t, "graph", "X.npy", "-k", "5", "--method", "kd-tree", "-o", "old.npz", "-q")
	succeed(t, "graph", "new.npy", "--append", "old.npz", "-X", "X.npy", "-o", "grown.npz", "-q")
	succeed(t, "graph", "all.npy", "-k", "5", "--method", "kd-tree", "-o", "anew.npz", "-q")
	if content(t, "grown.npz") != content(t, "anew.npz") {
		t.Error("the file is not that of the graph made anew")
	}
	succeed(t, "fit", "--model", "lgc", "-X", "all.npy", "-y", "both.npy", "--graph", "grown.npz", "-o", "m.npz", "-q")
	succeed(t, "fit", "--model", "lgc", "-X", "all.npy", "-y", "both.npy", "-k", "5", "--method", "kd-tree", "-o", "m2.npz", "-q")
	if content(t, "m.npz") != content(t, "m2.npz") {
		t.Error("the model of a ready graph is another one")
	}
	python, err := exec.LookPath("/usr/bin/python3")
	if err != nil || exec.Command(python, "-c", "import scipy.sparse").Run() != nil {
		t.Skip("python3 has no scipy")
	}
	path, err := filepath.Abs("grown.npz")
	must(t, err)
	out, err := exec.Command(python, "-c", "import scipy.sparse as s,sys; w=s.load_npz(sys.argv[1]); print(w.shape, abs(w-w.T).sum())", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "(180, 180) 0") {
		t.Errorf("SciPy says %s, %v", out, err)
	}
}

func TestUpdateUsage(t *testing.T) {
	grown(t)
	succeed(t, "fit", "--model", "lgc", "-X", "X.npy", "-y", "few.npy", "-o", "m.npz", "-q")
	succeed(t, "fit", "--model", "rls", "--gamma-a", "0.1", "--sigma", "20", "-X", "X.npy", "-y", "few.npy", "-o", "rls.npz", "-q")
	succeed(t, "graph", "X.npy", "-o", "old.npz", "-q")
	for want, args := range map[string][]string{
		"needs new points (-X)":              {"update", "m.npz", "-o", "m2.npz"},
		"both read and written":              {"update", "m.npz", "-X", "new.npy", "-o", "m.npz"},
		"--tolerance is 2":                   {"update", "m.npz", "-X", "new.npy", "-o", "m2.npz", "--tolerance", "2"},
		"rls.npz: a rls model cannot be":     {"update", "rls.npz", "-X", "new.npy", "-o", "m2.npz"},
		"180 labels; give 90 for all points": {"update", "m.npz", "-y", "both.npy", "-o", "m2.npz"},
		"-X and new.npy both give points":    {"graph", "new.npy", "-X", "X.npy", "-o", "g.npz"},
		"needs the points of that graph":     {"graph", "new.npy", "--append", "old.npz", "-o", "g.npz"},
		"new.npy: its manifest says points":  {"graph", "all.npy", "--append", "old.npz", "-X", "new.npy", "-o", "g.npz"},
	} {
		o := bigfit(t, args...)
		if o.code != 2 && o.code != 1 || !strings.Contains(o.stderr, want) {
			t.Errorf("%v: exit code %d, %q does not say %q", args, o.code, o.stderr, want)
		}
	}
	o := bigfit(t, "update", "m.npz", "-X", "X.npy", "-o", "m2.npz")
	if o.code != 0 || !strings.Contains(o.stderr, "count twice") {
		t.Errorf("the same points again: exit code %d, %q", o.code, o.stderr)
	}
}
