package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/artifact"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
)

// infoOf returns the output of bigfit info --json.
func infoOf(t *testing.T, path string) artifact.Info {
	t.Helper()
	var info artifact.Info
	must(t, json.Unmarshal([]byte(succeed(t, "info", "--json", path)), &info))
	return info
}

// Answers have the same content in every format.
func TestOutputFormats(t *testing.T) {
	intoBlobs(t)
	succeed(t, "fit", "--model", "harmonic", "-X", "X.npy", "-y", "y.npy", "--labels", "20", "--calibrate", "none")
	succeed(t, "predict", "model.npz", "-X", "new.npy", "-o", "want.npy", "--scores", "scores.npy")
	labels, err := data.ReadLabels("want.npy", data.LabelOptions{})
	must(t, err)
	scores := readBlock(t, "scores.npy")
	for _, ext := range []string{".csv", ".jsonl", ".parquet"} {
		succeed(t, "predict", "model.npz", "-X", "new.npy", "-o", "p"+ext, "--scores", "s"+ext)
		p, err := table.Read("p"+ext, table.Options{})
		must(t, err)
		s, err := table.Read("s"+ext, table.Options{})
		must(t, err)
		if p.Rows != blobCount || p.Columns[0].Name != "row" || p.Columns[1].Name != "label" || s.Rows != blobCount {
			t.Fatalf("%s: %d and %d rows, columns %v", ext, p.Rows, s.Rows, p.Columns)
		}
		for i := range blobCount {
			if p.Values[0].Ints[i] != int64(i) || p.Values[1].Ints[i] != labels.Classes[labels.Index[i]] {
				t.Errorf("%s: row %d is %d, %d", ext, i, p.Values[0].Ints[i], p.Values[1].Ints[i])
			}
			got := []float64{}
			if ext == ".csv" {
				for j := range 3 {
					got = append(got, s.Column("score_" + strconv.Itoa(10*j)).Floats[i])
				}
			} else {
				got = s.Column("score").Float64s[3*i : 3*i+3]
			}
			if !slices.Equal(got, scores.RawRowView(i)) {
				t.Errorf("%s: the scores of row %d are %v, want %v", ext, i, got, scores.RawRowView(i))
			}
		}
		succeed(t, "diff", "p"+ext, "want.npy")
		succeed(t, "diff", "s"+ext, "scores.npy")
	}
	fail(t, 2, []string{"p.txt", ".parquet"}, "predict", "model.npz", "-X", "new.npy", "-o", "p.txt")
	fail(t, 2, []string{"s.xlsx", ".csv"}, "predict", "nothere.npz", "-o", "p.csv", "--scores", "s.xlsx")
	fail(t, 2, []string{"labels", ".npy"}, "cluster", "-X", "X.npy", "--clusters", "3", "-o", "labels")
}

// info reads all that commands write, with the version, date and inputs of each file.
func TestInfoOfOutputs(t *testing.T) {
	intoBlobs(t)
	for _, line := range []string{
		"graph X.npy -o graph.npz",
		"eigs graph.npz -n 10 -o eigs.npz",
		"fit --model eigenmap -X X.npy -y y.npy --labels 20 -o model.npz --predictions train.parquet",
		"predict model.npz -X new.npy -o pred.npz --scores scores.parquet",
		"predict model.npz -X new.npy -o pred.csv --scores scores.jsonl",
		"cluster -X X.npy --clusters 3 -o clusters.npz",
		"embed -X X.npy -d 2 -o embedding.parquet --model map.npz",
		"embed --transform map.npz -X new.npy -o new.npz",
		"features X.npy --graph graph.npz -o features.npz",
	} {
		succeed(t, strings.Fields(line)...)
	}
	const date = "2020-09-13T12:26:40Z" // of SOURCE_DATE_EPOCH
	for path, want := range map[string]struct{ kind, inputs string }{
		"graph.npz":         {"bigfit graph", "points X.npy"},
		"eigs.npz":          {"bigfit eigs", "graph graph.npz"},
		"model.npz":         {"bigfit model", "labels y.npy,points X.npy"},
		"map.npz":           {"bigfit model", "points X.npy"},
		"train.parquet":     {"bigfit answers", "labels y.npy,points X.npy"},
		"pred.npz":          {"bigfit answers", "model model.npz,points new.npy"},
		"scores.parquet":    {"bigfit answers", "model model.npz,points new.npy"},
		"clusters.npz":      {"bigfit answers", "points X.npy"},
		"embedding.parquet": {"bigfit answers", "points X.npy"},
		"new.npz":           {"bigfit answers", "model map.npz,points new.npy"},
		"features.npz":      {"bigfit answers", "graph graph.npz,points X.npy"},
	} {
		info := infoOf(t, path)
		var inputs []string
		for _, in := range info.Inputs {
			if in.File != "" {
				inputs = append(inputs, in.What+" "+in.File)
			}
			if in.Hash == "" && in.What != "model" {
				t.Errorf("%s: %s has no hash", path, in.What)
			}
		}
		if info.Kind != want.kind || info.Date != date || info.Program == "" || strings.Join(inputs, ",") != want.inputs {
			t.Errorf("%s: %q by %q at %q from %v", path, info.Kind, info.Program, info.Date, inputs)
		}
		if text := succeed(t, "info", path); !strings.Contains(text, "written by bigfit "+info.Program+", "+date) {
			t.Errorf("info %s: %s", path, text)
		}
	}
	for path, columns := range map[string]string{"pred.csv": "row,label,p,second,margin", "scores.jsonl": "row,score", "embedding.parquet": "row,x"} {
		info := infoOf(t, path)
		var names []string
		for _, c := range info.Columns {
			names = append(names, c.Name)
		}
		if strings.Join(names, ",") != columns || info.Rows == nil || *info.Rows != blobCount {
			t.Errorf("%s: columns %v, rows %v", path, names, info.Rows)
		}
	}
	if info := infoOf(t, "."); info.Kind != "folder" || len(info.Files) != 4+13 {
		t.Errorf("the folder is a %q of %d files", info.Kind, len(info.Files))
	}
	fail(t, 2, []string{"nothere"}, "info", "nothere")
	must(t, os.WriteFile("bad.json", []byte("{"), 0o600))
	fail(t, 2, []string{"bad.json", "JSON"}, "info", "bad.json")
}

// rewriteManifest copies a .npz file with another manifest.
func rewriteManifest(t *testing.T, from, to string, edit func(m map[string]any)) {
	t.Helper()
	a, err := npy.OpenArchive(from, 0)
	must(t, err)
	defer a.Close()
	var entries []archive.Array
	for _, name := range a.Names() {
		x, err := a.Read(name)
		must(t, err)
		if name == archive.Name {
			var m map[string]any
			must(t, json.Unmarshal(x.Data.([]uint8), &m))
			edit(m)
			text, err := json.Marshal(m)
			must(t, err)
			x.Shape, x.Data = nil, text
		}
		entries = append(entries, archive.Array{Name: name, Shape: x.Shape, Data: x.Data})
	}
	must(t, npy.WriteArchive(to, entries))
}

// A model of a build before dates and names is read, and compared.
func TestFilesWithoutOrigin(t *testing.T) {
	intoBlobs(t)
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "20")
	rewriteManifest(t, "model.npz", "old.npz", func(m map[string]any) {
		delete(m, "program")
		delete(m, "date")
		delete(m, "files")
	})
	succeed(t, "predict", "old.npz", "-X", "new.npy", "-o", "p.npy")
	if info := infoOf(t, "old.npz"); info.Kind != "bigfit model" || info.Program != "" || info.Date != "" {
		t.Errorf("%+v", info)
	}
	succeed(t, "diff", "model.npz", "old.npz")
}

// differs returns the output of bigfit diff --json for two files that differ.
func differs(t *testing.T, a, b string) artifact.Difference {
	t.Helper()
	o := bigfit(t, "diff", "--json", a, b)
	var d artifact.Difference
	if o.code != 1 || json.Unmarshal([]byte(o.out), &d) != nil || d.Equal {
		t.Fatalf("diff %s %s: exit code %d, %s %s", a, b, o.code, o.out, o.stderr)
	}
	if text := bigfit(t, "diff", a, b); text.code != 1 || !strings.Contains(text.out, "differ") {
		t.Errorf("diff %s %s: exit code %d, %s", a, b, text.code, text.out)
	}
	return d
}

func what(changes []artifact.Change) string {
	var out []string
	for _, c := range changes {
		out = append(out, c.What)
	}
	return strings.Join(out, ",")
}

func TestDiff(t *testing.T) {
	intoBlobs(t)
	for _, line := range []string{
		"graph X.npy -k 6 -o a.npz", "graph X.npy -k 5 -o b.npz",
		"eigs a.npz -n 8 -o ea.npz", "eigs b.npz -n 6 -o eb.npz",
		"fit --model harmonic -X X.npy -y y.npy --labels 20 --calibrate none -o ma.npz --predictions ta.csv",
		"fit --model harmonic -X X.npy -y y.npy --labels 20 --calibrate none -k 5 -o mb.npz",
		"fit --model harmonic -X new.npy -y newy.npy --labels 20 --calibrate none -o mc.npz --predictions tc.csv",
	} {
		succeed(t, strings.Fields(line)...)
	}
	must(t, os.Mkdir("again", 0o700))
	for _, f := range []string{"a.npz", "ea.npz", "ma.npz", "ta.csv"} {
		must(t, os.WriteFile(filepath.Join("again", f), readFile(t, f), 0o600))
		if out := succeed(t, "diff", f, "again/"+f); !strings.Contains(out, "equal") {
			t.Errorf("%s: %s", f, out)
		}
	}
	g := differs(t, "a.npz", "b.npz")
	if g.Kind != "graph" || what(g.Settings) != "graph.k" || g.Settings[0].A != "6" || g.Inputs != nil || g.Graph.OnlyA < 1 || g.Graph.OnlyB != 0 ||
		g.Graph.Edges[0]-g.Graph.OnlyA != g.Graph.Edges[1] {
		t.Errorf("%+v, %+v", g, g.Graph)
	}
	e := differs(t, "ea.npz", "eb.npz")
	if e.Eigs.Pairs != [2]int{8, 6} || what(e.Inputs) != "graph" || what(e.Names) != "graph" || !(e.Eigs.Largest > 0) || !(e.Eigs.Angle > 0 && e.Eigs.Angle < 1.6) {
		t.Errorf("%+v, %+v", e, e.Eigs)
	}
	m := differs(t, "ma.npz", "mb.npz")
	if what(m.Settings) != "fit.neighborhood.edges.k" || what(m.Inputs) != "graph" || m.Classes != nil || !strings.Contains(what(m.Arrays), "scores") {
		t.Errorf("%+v", m)
	}
	c := differs(t, "ma.npz", "mc.npz")
	if what(c.Inputs) != "graph,labels,points" || c.Answers == nil || c.Answers.Rows != blobCount || c.Answers.Differ < 1 {
		t.Errorf("%+v, %+v", c, c.Answers)
	}
	// The rows that differ are those of the files.
	p := differs(t, "ta.csv", "tc.csv")
	a, err := table.Read("ta.csv", table.Options{})
	must(t, err)
	b, err := table.Read("tc.csv", table.Options{})
	must(t, err)
	want := 0
	for i, v := range a.Column("label").Ints {
		if v != b.Column("label").Ints[i] {
			if want++; want == 1 && p.Answers.First[0].ID != strconv.Itoa(i) {
				t.Errorf("the first row that differs is %+v, want %d", p.Answers.First[0], i)
			}
		}
	}
	if p.Answers.Differ != want || c.Answers.Differ != want || p.Answers.Share != float64(want)/blobCount {
		t.Errorf("%d and %d rows differ, want %d", p.Answers.Differ, c.Answers.Differ, want)
	}
	writeFile(t, "x.csv", []byte("id,label\nb,1\na,2\nc,3\n"))
	writeFile(t, "y.csv", []byte("id,label\na,2\nb,7\nd,3\n"))
	if j := differs(t, "x.csv", "y.csv").Answers; j.Rows != 2 || j.Differ != 1 || j.OnlyA != 1 || j.OnlyB != 1 || j.Largest != 6 || j.First[0].ID != "b" {
		t.Errorf("%+v", j)
	}
	fail(t, 2, []string{"graph", "model"}, "diff", "a.npz", "ma.npz")
	fail(t, 2, []string{"again", "folder"}, "diff", "again", "ma.npz")
	fail(t, 2, []string{"nothere"}, "diff", "nothere.npz", "ma.npz")
	fail(t, 2, []string{"two files"}, "diff", "ma.npz")
	writeFile(t, "twice.csv", []byte("id,label\na,2\na,7\n"))
	fail(t, 2, []string{"twice.csv", `"a"`, "twice"}, "diff", "x.csv", "twice.csv")
}

// TestExtensions: a file of a format that the program does not write is refused before any work.
func TestExtensions(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy", "-o", "g.npz", "-q")
	succeed(t, "fit", "X.npy", "y.npy", "--model", "lgc", "-o", "m.npz", "-q")
	for _, c := range []struct{ line, want string }{
		{"graph X.npy -o z.xyz", "not that of a graph; its name must end in .npz"},
		{"eigs g.npz -n 5 -o z.xyz", "not that of eigenpairs"},
		{"neighbors X.npy -o z.xyz", "not that of neighbours"},
		{"fit X.npy y.npy -o z.xyz", "not that of a model; its name must end in .npz"},
		{"fit X.npy y.npy -o z", "not that of a model"},
		{"fit X.npy y.npy -o z.html", "not that of a model"},
		{"fit X.npy y.npy -o new.npz --predictions z.xyz", `the extension ".xyz" is not known`},
		{"fit X.npy y.npy -o new.npz --report z.xyz", "must end in .html"},
		{"update m.npz new.npy -o z.xyz", "not that of a model"},
		{"tune X.npy y.npy --model lgc -o z.xyz", "-o is \"z.xyz\"; the extension says what to write: .md, .csv, .tex or .json"},
		{"tune X.npy y.npy --model lgc -o t.json --best z.xyz", "not that of a model"},
		{"compare X.npy y.npy --models lgc --labels 9 -o z.xyz", ".md, .csv, .tex or .json"},
		{"predict m.npz new.npy -o z.xyz", `the extension ".xyz" is not known`},
		{"embed X.npy -o z.xyz", `the extension ".xyz" is not known`},
		{"embed X.npy -o e.npy --model z.xyz", "not that of a model"},
		{"cluster X.npy -c 3 -o z.xyz", `the extension ".xyz" is not known`},
		{"plot X.npy -o z.xyz", "must end in .png"},
	} {
		fail(t, 2, []string{c.want}, append(strings.Fields(c.line), "-q")...)
		for _, name := range []string{"z.xyz", "z", "new.npz", "t.json", "e.npy"} {
			if exists(name) {
				t.Errorf("bigfit %s wrote %s", c.line, name)
				must(t, os.Remove(name))
			}
		}
	}
}

// TestTuneFormats: the extension of -o says how the scores are written.
func TestTuneFormats(t *testing.T) {
	intoBlobs(t)
	for path, want := range map[string][]string{
		"t.tex": {`\usepackage{booktabs}`, `\label{tab:tune}`, `\toprule`, `\textbf{`, `\caption{Error in \% of rls by cross-validation`, "% bigfit fit --model rls"},
		"t.csv": {"gamma-a,sigma,mean,std_err,folds\n"},
		"t.md":  {"error in % of rls by cross-validation, 5 folds of ", "| gamma-a | sigma | error % | folds |"},
	} {
		succeed(t, "tune", "X.npy", "y.npy", "--model", "rls", "--gamma-a", "1e-4,1e-2", "--sigma", "median,2", "-o", path, "-q")
		text := string(readFile(t, path))
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %q:\n%s", path, part, text)
			}
		}
		if strings.HasSuffix(path, ".csv") && strings.Count(text, "\n") != 5 {
			t.Errorf("%s", text)
		}
	}
}
