package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// intoLabeled goes to a new directory with the points of intoBlobs, of which few.npy labels
// ten, and a model of them.
func intoLabeled(t *testing.T) (y []int64) {
	t.Helper()
	intoBlobs(t)
	_, y = blobs(blobCount, 0)
	few := slices.Clone(y)
	for i := range few {
		if i%9 > 0 {
			few[i] = -1
		}
	}
	must(t, npy.WriteFile("few.npy", nil, few))
	succeed(t, "fit", "--model", "lgc", "-X", "X.npy", "-y", "few.npy", "-o", "lgc.npz", "-q")
	return y
}

// fields reads the rows of a csv.
func fields(t *testing.T, path string) [][]string {
	t.Helper()
	var out [][]string
	for _, line := range strings.Split(strings.TrimSpace(string(readFile(t, path))), "\n") {
		out = append(out, strings.Split(line, ","))
	}
	return out
}

func TestNext(t *testing.T) {
	intoLabeled(t)
	for _, rule := range []string{"combined", "vopt", "sopt", "uncertainty", "random", "typical", "cover"} {
		text := succeed(t, "next", "lgc.npz", "-n", "7", "--rule", rule, "-q")
		if !strings.Contains(text, "next.csv: 7 points to label by "+rule+", beside 10 labels of 90 points") {
			t.Errorf("%s: %q", rule, text)
		}
		rows := fields(t, "next.csv")
		if len(rows) != 8 || !slices.Equal(rows[0], []string{"row", "label", "p", "rule", "score", "component"}) {
			t.Fatalf("%s: the file has %d rows, the first %v", rule, len(rows), rows[0])
		}
		var chosen []string
		for _, r := range rows[1:] {
			chosen = append(chosen, r[0])
		}
		for i := range blobCount / 9 {
			if slices.Contains(chosen, string(rune('0'+i))) && i == 0 || slices.Contains(chosen, "9") || slices.Contains(chosen, "18") {
				t.Errorf("%s: chose %v, of which some have a label", rule, chosen)
			}
		}
		slices.Sort(chosen)
		if len(slices.Compact(chosen)) != 7 {
			t.Errorf("%s: chose points twice: %v", rule, chosen)
		}
	}
	// The same by a graph and eigenpairs in files, with names of the points, as rows alone.
	succeed(t, "graph", "X.npy", "-q")
	succeed(t, "eigs", "graph.npz", "-n", "20", "--laplacian", "normalized", "-q")
	names := make([]string, blobCount)
	for i := range names {
		names[i] = "p" + strings.Repeat("x", i)
	}
	must(t, os.WriteFile("ids.txt", []byte(strings.Join(names, "\n")+"\n"), 0o600))
	succeed(t, "next", "lgc.npz", "-n", "3", "--graph", "graph.npz", "--eigs", "eigs.npz", "--ids", "ids.txt", "-o", "n.csv", "-q")
	for _, r := range fields(t, "n.csv")[1:] {
		if !strings.HasPrefix(r[0], "px") {
			t.Errorf("the id of row %s is %q", r[1], r[0])
		}
	}
	succeed(t, "next", "lgc.npz", "-n", "3", "--graph", "graph.npz", "--eigs", "eigs.npz", "-o", "n.npy", "-q")
	x, err := data.ReadPoints("n.npy", data.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := x.Dims(); n != 3 {
		t.Errorf("n.npy has %d rows", n)
	}
	// A model that keeps no graph.
	succeed(t, "fit", "--model", "rls", "-X", "X.npy", "-y", "few.npy", "--gamma-a", "0.01", "-o", "rls.npz", "-q")
	succeed(t, "next", "rls.npz", "-n", "3", "-X", "X.npy", "-y", "few.npy", "-q")
	succeed(t, "next", "lgc.npz", "-n", "3", "-y", "few.npy", "-o", "n.jsonl", "-q", "--json")
}

// Before the first label points alone say what to label first; the answers, written into the file, are the
// labels of a fit, and the road goes on by the model.
func TestNextFirst(t *testing.T) {
	intoBlobs(t)
	_, y := blobs(blobCount, 0)
	names := map[string]string{"0": "zero", "10": "ten", "20": "two, tens"}
	ids := make([]string, blobCount)
	for i := range ids {
		ids[i] = fmt.Sprintf("T-%d", i*7%blobCount)
	}
	must(t, os.WriteFile("ids.txt", []byte(strings.Join(ids, "\n")+"\n"), 0o600))

	// fill writes the classes of all but the last few rows into the column label, as a person would.
	fill := func(path string, empty int) (classes map[string]bool) {
		f, err := os.Open(path)
		must(t, err)
		table, err := csv.NewReader(f).ReadAll()
		must(t, err)
		must(t, f.Close())
		row, label := slices.Index(table[0], "row"), slices.Index(table[0], "label")
		classes = map[string]bool{}
		for k, r := range table[1:] {
			i, err := strconv.Atoi(r[row])
			must(t, err)
			if r[slices.Index(table[0], "id")] != ids[i] {
				t.Errorf("%s: row %d has the id %s", path, i, r[0])
			}
			r[label] = ""
			if k < len(table)-1-empty {
				r[label] = names[fmt.Sprint(y[i])]
				classes[r[label]] = true
			}
		}
		var out bytes.Buffer
		must(t, csv.NewWriter(&out).WriteAll(table))
		must(t, os.WriteFile(path, out.Bytes(), 0o600))
		return classes
	}

	text := succeed(t, "next", "X.npy", "--ids", "ids.txt", "-n", "8", "-o", "first.csv", "-q")
	if !strings.Contains(text, "first.csv: 8 of 90 points to label first, by combined, here ") {
		t.Errorf("%q", text)
	}
	if rows := fields(t, "first.csv"); !slices.Equal(rows[0], []string{"id", "row", "label", "rule", "score", "component"}) || rows[1][2] != "" {
		t.Errorf("the table begins with %v", rows[:2])
	}
	if got := fill("first.csv", 1); len(got) != 3 {
		t.Errorf("the classes %v are among the first points", got)
	}
	succeed(t, "fit", "X.npy", "first.csv", "--ids", "ids.txt", "-o", "m.npz", "-q")
	succeed(t, "next", "X.npy", "first.csv", "--ids", "ids.txt", "-n", "5", "-o", "unkept.csv", "-q")
	succeed(t, "next", "m.npz", "-n", "5", "-o", "next.csv", "-q")
	if !bytes.Equal(readFile(t, "next.csv"), readFile(t, "unkept.csv")) {
		t.Error("points with labels are asked for otherwise than a model fitted to them")
	}
	fill("next.csv", 0)
	if text := succeed(t, "update", "m.npz", "-y", "next.csv", "-o", "m2.npz", "-q"); !strings.Contains(text, "12 of 90 points labeled") {
		t.Errorf("%q", text)
	}

	// A graph in place of the points, other rules, JSON.
	succeed(t, "graph", "X.npy", "-q")
	succeed(t, "next", "--graph", "graph.npz", "-n", "3", "-q")
	for _, rule := range []string{"typical", "cover", "vopt", "random"} {
		var s struct {
			Rule            string
			Rules           map[string]int
			Labeled, Points int
			Rows            []int
		}
		out := succeed(t, "next", "X.npy", "-n", "6", "--rule", rule, "-q", "--json", "-o", "n.npy")
		if err := json.Unmarshal([]byte(out), &s); err != nil || len(s.Rows) != 6 || s.Rule != rule || s.Rules[rule] != 6 ||
			s.Labeled != 0 || s.Points != blobCount {
			t.Errorf("%v: %+v", err, s)
		}
	}
	succeed(t, "next", "m2.npz", "-n", "3", "--rule", "committee", "-q")
}

// Values have a default rule, and an empty column for the answers.
func TestNextOfValues(t *testing.T) {
	intoBlobs(t)
	succeed(t, "fit", "--model", "tikhonov", "-X", "X.npy", "-y", "y.npy", "--regression", "--labels", "9", "--gamma-a", "1e-3", "--gamma-i", "0.1", "-o", "values.npz", "-q")
	text := succeed(t, "next", "values.npz", "-n", "4", "-q")
	if !strings.Contains(text, "4 points to label by combined, here sopt") {
		t.Errorf("%q", text)
	}
	if rows := fields(t, "next.csv"); rows[0][1] != "label" || rows[1][1] != "" {
		t.Errorf("the table begins with %v", rows[:2])
	}
}

func TestNextSuspects(t *testing.T) {
	y := intoLabeled(t)
	wrong := slices.Clone(y)
	for _, i := range []int{4, 40, 77} {
		wrong[i] = (y[i] + 10) % 30
	}
	must(t, npy.WriteFile("wrong.npy", nil, wrong))
	succeed(t, "fit", "--model", "lgc", "-X", "X.npy", "-y", "wrong.npy", "-o", "wrong.npz", "-q")
	for _, line := range []string{"wrong.npz", "wrong.npz --folds 10", "X.npy wrong.npy", "X.npy wrong.npy --model knn", "lgc.npz -y wrong.npy"} {
		text := succeed(t, append([]string{"suspects", "-q"}, strings.Fields(line)...)...)
		if !strings.Contains(text, "suspects.csv: 3 of 90 labels") {
			t.Errorf("%s: %q", line, text)
		}
		rows := fields(t, "suspects.csv")
		if !slices.Equal(rows[0], []string{"row", "label", "suggested", "score"}) {
			t.Errorf("%s: columns %v", line, rows[0])
		}
		for _, r := range rows[1:] {
			if r[0] != "4" && r[0] != "40" && r[0] != "77" {
				t.Errorf("%s: the label of row %s is suspected", line, r[0])
			}
		}
	}
	var s struct {
		Labeled, Suspects, Folds int
		List                     []struct{ Row int }
	}
	if err := json.Unmarshal([]byte(succeed(t, "suspects", "wrong.npz", "-n", "1", "-o", "s.npy", "--json", "-q")), &s); err != nil || s.Suspects != 3 || len(s.List) != 1 {
		t.Errorf("%v: %+v", err, s)
	}
}

func TestNextBadUsage(t *testing.T) {
	intoLabeled(t)
	succeed(t, "graph", "X.npy", "-q")
	succeed(t, "graph", "new.npy", "-k", "3", "-o", "other.npz", "-q")
	succeed(t, "eigs", "graph.npz", "-n", "8", "--laplacian", "random-walk", "-o", "walk.npz", "-q")
	succeed(t, "fit", "--model", "harmonic", "--graph", "graph.npz", "-y", "few.npy", "-o", "bare.npz", "-q")
	succeed(t, "fit", "--model", "knn", "-X", "X.npy", "-y", "few.npy", "-o", "knn.npz", "-q")
	succeed(t, "fit", "--model", "tikhonov", "-X", "X.npy", "-y", "y.npy", "--regression", "--labels", "9", "--gamma-a", "1e-3", "--gamma-i", "0.1", "-o", "values.npz", "-q")
	must(t, npy.WriteFile("short.npy", nil, make([]int64, 30)))
	for _, c := range []struct {
		line string
		want []string
	}{
		{"next", []string{"next needs a model, points or a graph"}},
		{"next X.npy --rule uncertainty", []string{"--rule uncertainty", "there is no label yet", "sopt"}},
		{"next X.npy -n 91", []string{"--count is 91 and only 90 of 90 points have no label"}},
		{"next X.npy --proba X.npy", []string{"--proba stands in place of the answers of a model"}},
		{"next graph.npz", []string{"graph.npz is a graph that bigfit made", "--graph"}},
		{"next lgc.npz X.npy -n 5", []string{"lgc.npz is a model", "give it alone", "-X"}},
		{"next --graph graph.npz -k 3 -n 5", []string{"graph.npz", "--neighbors"}},
		{"next X.npy none.csv", []string{"none.csv"}},
		{"next X.npy --neighbors 0", []string{"--neighbors is 0"}},
		{"next lgc.npz --rule committee", []string{"--rule committee", "auto", "lgc model has none"}},
		{"next lgc.npz -n 81", []string{"--count is 81 and only 80 of 90 points have no label"}},
		{"next lgc.npz -n 0", []string{"--count is 0; it must be positive"}},
		{"next lgc.npz --rule best", []string{"--rule", `"best"`, "combined", "vopt", "sopt", "cover or committee"}},
		{"next lgc.npz --rule vopt,sopt", []string{"--rule", `"vopt,sopt"`}},
		{"next lgc.npz --oracle y.npy", []string{"go run ./bench/campaigns", "checkout of the source"}},
		{"next lgc.npz --delta -1", []string{"--delta is -1"}},
		{"next lgc.npz --noise nan", []string{"--noise is NaN"}},
		{"next lgc.npz --pairs 0", []string{"--pairs is 0"}},
		{"next lgc.npz -o next.txt", []string{"next.txt", ".csv"}},
		{"next lgc.npz -k 3", []string{"--neighbors is for a graph that is made"}},
		{"next lgc.npz --graph other.npz", []string{"lgc.npz was not made from the graph in other.npz"}},
		{"next lgc.npz -X new.npy", []string{"lgc.npz was not made from the points in new.npy"}},
		{"next lgc.npz --eigs walk.npz -n 5", []string{"walk.npz", "not orthonormal", "normalized"}},
		{"next bare.npz", []string{"bare.npz", "--graph"}},
		{"next knn.npz", []string{"knn.npz", "keeps no graph", "-X", "-y"}},
		{"next knn.npz -X X.npy", []string{"labels of 10 points", "-y"}},
		{"next values.npz -n 5 --rule uncertainty", []string{"values.npz answers with values", "combined, vopt, sopt"}},
		{"next lgc.npz -y short.npy", []string{"short.npy has 30 labels for 90 points"}},
		{"suspects", []string{"suspects needs a model, or points"}},
		{"suspects lgc.npz --folds 1", []string{"--folds is 1"}},
		{"suspects lgc.npz -n 0", []string{"--count is 0"}},
		{"suspects lgc.npz --folds 11", []string{"11 folds of 10 labeled points"}},
		{"suspects lgc.npz --model lgc", []string{"--model is for points and labels"}},
		{"suspects X.npy short.npy", []string{"short.npy has 30 labels for 90 points"}},
		{"suspects X.npy y.npy --model best", []string{`"best"`, "harmonic"}},
		{"suspects X.npy y.npy --model svr", []string{"learns no classes"}},
		{"suspects values.npz", []string{"values", "no answers for values held out"}},
		{"suspects values.npz --folds 3", []string{"leave --proba, --folds and -y out"}},
	} {
		fail(t, 2, c.want, strings.Fields(c.line)...)
	}
}

// Labels and points to label are judged by the probabilities of another program, and a wrong file of them
// is refused with its place.
func TestProbabilitiesOfAnother(t *testing.T) {
	y := intoLabeled(t)
	p := make([]float64, 0, 3*len(y))
	for i, c := range y {
		row := []float64{0.1, 0.1, 0.1}
		row[c/10] = 0.8
		if i == 11 {
			row = []float64{0.34, 0.33, 0.33}
		}
		p = append(p, row...)
	}
	must(t, npy.WriteFile("p.npy", []int{len(y), 3}, p))
	wrong := slices.Clone(y)
	wrong[7] = (y[7] + 10) % 30
	must(t, npy.WriteFile("wrong.npy", nil, wrong))
	text := succeed(t, "suspects", "--proba", "p.npy", "wrong.npy", "-q")
	rows := fields(t, "suspects.csv")
	if !strings.Contains(text, "about 1 are wrong") || rows[1][0] != "7" || rows[1][3] != "0.9" {
		t.Errorf("%q, %v", text, rows)
	}
	succeed(t, "next", "lgc.npz", "--proba", "p.npy", "--rule", "uncertainty", "-n", "1", "-q")
	if rows := fields(t, "next.csv"); rows[1][0] != "11" {
		t.Errorf("next is %v, and point 11 is the least certain", rows[1])
	}

	p[5] = 1.5
	must(t, npy.WriteFile("large.npy", []int{len(y), 3}, p))
	p[5] = 0.5
	must(t, npy.WriteFile("sum.npy", []int{len(y), 3}, p))
	must(t, npy.WriteFile("two.npy", []int{len(y), 2}, p[:2*len(y)]))
	for file, want := range map[string]string{"large.npy": "row 1, column 2 is 1.5", "sum.npy": "row 1 add up to",
		"two.npy": "2 columns for 3 classes"} {
		fail(t, 2, []string{want}, "suspects", "--proba", file, "wrong.npy")
		fail(t, 2, []string{want}, "next", "lgc.npz", "--proba", file)
	}
}
