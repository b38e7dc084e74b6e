package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// intoNames is intoBlobs with names for the classes, and files as people have them: names.npy
// of all, few.csv of ids and names of some points, ids.txt, and points.csv with columns of ids,
// names and remarks. It returns the names.
func intoNames(t *testing.T) []string {
	t.Helper()
	intoBlobs(t)
	x, y := blobs(blobCount, 0)
	var names []string
	few, ids, points := "id,label\nnobody,owl\n", "", "img,a,b,c,d,kind,remark\n"
	for i, c := range y {
		name := []string{"cat", "grey owl", "dog"}[c/10]
		names = append(names, name)
		id := fmt.Sprintf("img_%d.jpg", i)
		ids += id + "\n"
		kind := ""
		if i%4 == 0 {
			kind = name
			few += id + "," + name + "\n"
		}
		p := x[i*blobColumns:]
		points += fmt.Sprintf("%s,%d,%d,%d,%d,%s,seen\n", id, p[0], p[1], p[2], p[3], kind)
	}
	must(t, npy.WriteFile("names.npy", nil, names))
	for name, text := range map[string]string{"few.csv": few, "ids.txt": ids, "points.csv": points} {
		must(t, os.WriteFile(name, []byte(text), 0o666))
	}
	return names
}

// Names of classes go into a model of each way to keep answers, and come back.
func TestNames(t *testing.T) {
	names := intoNames(t)
	for _, model := range []string{"lgc", "eigenmap", "rls-linear --gamma-a 1", "laprls --gamma-a 1e-4 --gamma-i 1e-4", "knn"} {
		args := strings.Fields("fit --model " + model + " -X X.npy -y few.csv --ids ids.txt -o m.npz --predictions train.npy --json")
		o := bigfit(t, args...)
		if o.code != 0 {
			t.Fatalf("%s: %s", model, o.stderr)
		}
		for _, part := range []string{"labels: 23 of 90 points, 3 classes", "not listed", `warning: few.csv: 1 of 24 ids are those of no point: "nobody"`} {
			if !strings.Contains(o.stderr, part) {
				t.Errorf("%s: stderr lacks %q:\n%s", model, part, o.stderr)
			}
		}
		var sum struct {
			Classes  []string
			Labels   struct{ Points, Labeled, Classes int }
			Warnings []string
		}
		must(t, json.Unmarshal([]byte(o.out), &sum))
		if !slices.Equal(sum.Classes, []string{"cat", "dog", "grey owl"}) || sum.Labels.Labeled != 23 || len(sum.Warnings) != 1 {
			t.Errorf("%s: %+v", model, sum)
		}
		out := succeed(t, strings.Fields("predict m.npz -X X.npy -y names.npy -o pred.npy")...)
		if !strings.Contains(out, "error 0.00 %") {
			t.Errorf("%s: %s", model, out)
		}
		for _, file := range []string{"pred.npy", "train.npy"} {
			a, err := npy.ReadFile(file, 0)
			must(t, err)
			if got, ok := a.Data.([]string); !ok || !slices.Equal(got, names) {
				t.Errorf("%s: %s holds %v", model, file, a)
			}
		}
		if out := succeed(t, "info", "m.npz", "--json"); !strings.Contains(out, `"classes":["cat","dog","grey owl"]`) {
			t.Errorf("%s: info says %s", model, out)
		}
	}
	out := succeed(t, strings.Fields("eval -y names.npy --predictions pred.npy --positive dog")...)
	if !strings.Contains(out, "class dog: precision 100.00 %") || !strings.Contains(out, "grey owl") {
		t.Errorf("%s", out)
	}
	fail(t, 2, []string{`"fish" is no class`, "cat, dog, grey owl"}, "eval", "-y", "names.npy", "--predictions", "pred.npy", "--positive", "fish")
	must(t, npy.WriteFile("other.npy", nil, slices.Repeat([]string{"fish", "bird"}, blobCount/2)))
	fail(t, 2, []string{"other.npy has the classes bird, fish", "cat, dog, grey owl"}, "predict", "m.npz", "-X", "X.npy", "-y", "other.npy", "-o", "none.npy")
}

// Ids, labels and remarks may stand beside the coordinates of the points.
func TestPointsWithColumns(t *testing.T) {
	intoNames(t)
	want := succeed(t, strings.Fields("fit --model lgc -X X.npy -y few.csv --ids ids.txt --json")...)
	for _, line := range []string{
		"-X points.csv --id img --drop remark,kind -y few.csv",
		"-X points.csv --id img --columns a,b,c,d -y few.csv:id,label",
	} {
		if got := succeed(t, strings.Fields("fit --model lgc --json "+line)...); got != want {
			t.Errorf("%s:\n%s, want\n%s", line, got, want)
		}
	}
	got := succeed(t, strings.Fields("fit --model lgc -X points.csv --id img --drop remark --label kind")...)
	if !strings.Contains(got, "23 of 90 points labeled, 3 classes") {
		t.Errorf("labels beside the points: %s", got)
	}
	fail(t, 2, []string{"points.csv", "line 2", "(remark)", "--drop remark"}, strings.Fields("fit --model eigenmap -X points.csv --id img --label kind -o none.npz")...)
	fail(t, 2, []string{"-y and --label"}, strings.Fields("fit --model eigenmap -X points.csv --id img --label kind -y few.csv -o none.npz")...)
	fail(t, 2, []string{"few.csv", "--ids FILE"}, strings.Fields("fit --model eigenmap -X X.npy -y few.csv -o none.npz")...)
	must(t, os.WriteFile("twice.csv", []byte("id,label\nimg_1.jpg,cat\nimg_1.jpg,dog\n"), 0o666))
	fail(t, 2, []string{"twice.csv: line 2", "line 3"}, strings.Fields("fit --model eigenmap -X X.npy -y twice.csv --ids ids.txt -o none.npz")...)
}

// Columns in units that cannot be compared are named, by the header where there is one.
func TestScaleIsSaid(t *testing.T) {
	intoBlobs(t)
	x, err := data.ReadPoints("X.npy", data.ReadOptions{})
	must(t, err)
	n, d := x.Dims()
	row := make([]float64, d)
	text := strings.Join([]string{"a", "b", "c", "income"}, ",") + "\n"
	for i := range n {
		data.RowTo(row, x, i)
		text += fmt.Sprintf("%g,%g,%g,%d\n", row[0], row[1], row[2], 40_000+500*(37*i%97))
	}
	must(t, os.WriteFile("units.csv", []byte(text), 0o666))
	const part = `column "income" holds 99.9 % of the variance`
	for _, line := range []string{"fit --model lgc -X units.csv -y y.npy --json", "cluster units.csv -c 3 -o c.npy", "graph units.csv -o g.npz"} {
		o := bigfit(t, strings.Fields(line)...)
		if want := strings.Contains(line, "--json"); o.code != 0 || !strings.Contains(o.stderr, "warning: units.csv: "+part) ||
			want && !strings.Contains(o.out, strings.ReplaceAll(part, `"`, `\"`)) {
			t.Errorf("%s: %+v", line, o)
		}
	}
	// A comparison with the default model is on its graph, wherever it stands in the list.
	for _, list := range []string{"lgc,auto", "auto,lgc"} {
		o := bigfit(t, strings.Fields("compare -X units.csv -y y.npy --splits 2 --labels-per-class 3 --models "+list)...)
		if o.code != 0 || strings.Contains(o.stderr, "warning: units.csv") ||
			!strings.Contains(o.stderr, "each of 4 columns is divided by its standard deviation") {
			t.Errorf("compare: %+v", o)
		}
	}
	// The default model takes the scale away and says so. Who gives the flag has decided.
	o := bigfit(t, strings.Fields("fit -X units.csv -y y.npy --labels 30")...)
	if o.code != 0 || strings.Contains(o.stderr, "warning: units.csv") || !strings.Contains(o.stderr, "units.csv: "+part) ||
		!strings.Contains(o.stderr, "each of 4 columns is divided by its standard deviation") {
		t.Errorf("the default model: %+v", o)
	}
	for _, line := range []string{"--standardize=false", "--model lgc --standardize"} {
		o := bigfit(t, strings.Fields("fit -X units.csv -y y.npy --labels 30 "+line)...)
		if o.code != 0 || strings.Contains(o.stderr, "income") || strings.Contains(o.stderr, "standard deviation") == strings.Contains(line, "false") {
			t.Errorf("%s: %+v", line, o)
		}
	}
	// A graph that is given holds the distances already.
	succeed(t, strings.Fields("graph units.csv --standardize -o g.npz -q")...)
	for _, line := range []string{"--model lgc --graph g.npz", "--graph g.npz"} {
		if o := bigfit(t, strings.Fields("fit -X units.csv -y y.npy --labels 30 "+line)...); o.code != 0 || strings.Contains(o.stderr, "income") {
			t.Errorf("%s: %+v", line, o)
		}
	}
	if o := bigfit(t, strings.Fields("fit --model lgc -X X.npy -y y.npy")...); strings.Contains(o.stderr, "variance") {
		t.Errorf("of columns of one scale: %s", o.stderr)
	}
}

// What may be meant otherwise is said on stderr and in the JSON.
func TestLabelWarningsAreSaid(t *testing.T) {
	intoBlobs(t)
	signs, few := make([]int64, blobCount), make([]float64, blobCount)
	for i := range signs {
		signs[i], few[i] = int64(i%3)-1, float64(i%3)-1
	}
	must(t, npy.WriteFile("signs.npy", nil, signs))
	must(t, npy.WriteFile("floats.npy", nil, few))
	for file, part := range map[string]string{"signs.npy": "−1, 0 and 1 occur together", "floats.npy": "of which none is NaN", "y.npy": "every point has a label"} {
		o := bigfit(t, "fit", "--model", "lgc", "-X", "X.npy", "-y", file, "--json")
		if o.code != 0 || !strings.Contains(o.stderr, "warning: ") || !strings.Contains(o.stderr, part) || !strings.Contains(o.out, part) {
			t.Errorf("%s: %s\n%s", file, o.stderr, o.out)
		}
	}
	// Two labels of different classes; which seed draws them is found.
	for seed := range 50 {
		o := bigfit(t, strings.Fields(fmt.Sprintf("fit --model lgc -X X.npy -y y.npy --labels 2 --seed %d", seed))...)
		if o.code != 0 {
			continue
		}
		if !strings.Contains(o.out, "labeled, 2 of 3 classes") || !strings.Contains(o.stderr, "used: 2, 2 classes, 1 a class") {
			t.Errorf("two labels: %s\n%s", o.out, o.stderr)
		}
		return
	}
	t.Error("no seed draws two classes")
}
