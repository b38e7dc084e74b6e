package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// campaigns runs a command line in this process.
func campaigns(t *testing.T, line string) (code int, out, stderr string) {
	t.Helper()
	var stdout, errors bytes.Buffer
	code = run(strings.Fields(line), &stdout, &errors)
	return code, stdout.String(), errors.String()
}

// intoPoints goes to a new folder with points X.npy, their classes y.npy, and models of some
// of the labels: lgc and eigenmap, which keep their graph, and rls, which does not.
func intoPoints(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	x, y := uneven(160)
	n, d := x.Dims()
	classes := make([]int64, n)
	for i, c := range y.Index {
		classes[i] = y.Classes[c]
	}
	must(t, npy.WriteFile("X.npy", []int{n, d}, x.Data))
	must(t, npy.WriteFile("y.npy", nil, classes))
	must(t, npy.WriteFile("short.npy", nil, classes[:30]))

	for name, values := range map[string]models.Values{
		"lgc": {}, "eigenmap": {"eigenvectors": "4"}, "rls": {"gamma-a": "0.01"},
	} {
		few, err := models.ClassTargets(y.Keep(y.Labeled()[:12]))
		must(t, err)
		in := &models.Input{Points: x, Targets: few, Values: values}
		m, err := (&pipeline.Pipeline{}).Fit(context.Background(), all.Learner(name), in, nil)
		must(t, err)
		must(t, models.Save(name+".npz", m, pipeline.Hashes{pipeline.HashPoints: data.HashPoints(x)}))
	}
}

func TestProgram(t *testing.T) {
	intoPoints(t)
	code, out, stderr := campaigns(t, "lgc.npz y.npy -n 4 --start 0 --to 12 --draws 2 -o c.csv --plot c.svg")
	if code != 0 || !strings.Contains(out, "combined") || !strings.Contains(out, "random") || strings.Count(out, "\n") != 4 {
		t.Errorf("%d: the table is %q\n%s", code, out, stderr)
	}
	if !strings.Contains(stderr, "campaign: needs ") || !strings.Contains(stderr, "fits") {
		t.Errorf("progress: %s", stderr)
	}
	file, err := os.ReadFile("c.csv")
	must(t, err)
	if lines := strings.Split(strings.TrimSpace(string(file)), "\n"); len(lines) != 1+5*3 || lines[0] != "row,rule,labels,error,deviation" || !strings.Contains(lines[3], ",12,") {
		t.Errorf("c.csv is\n%s", file)
	}
	picture, err := os.ReadFile("c.svg")
	must(t, err)
	if !strings.Contains(string(picture), "uncertainty") || !strings.Contains(string(picture), "<svg") {
		t.Errorf("the chart is %.300q", picture)
	}

	var s struct {
		Points int
		Rows   []struct {
			Rule   string
			Labels int
			Errors []float64
		}
	}
	_, out, stderr = campaigns(t, "lgc.npz y.npy -n 4 --to 14 --draws 3 --rule vopt,random -o c.jsonl -q --json")
	if err := json.Unmarshal([]byte(out), &s); err != nil || len(s.Rows) != 4 || len(s.Rows[0].Errors) != 3 || stderr != "" {
		t.Errorf("%v: %s%s", err, out, stderr)
	}
	for _, line := range []string{"rls.npz y.npy -X X.npy -n 4 --to 14 --draws 1 -q", "eigenmap.npz y.npy -n 4 --to 14 --draws 1 -q"} {
		if code, _, stderr := campaigns(t, line); code != 0 {
			t.Errorf("%s: %d %s", line, code, stderr)
		}
	}
}

func TestBadUsage(t *testing.T) {
	intoPoints(t)
	must(t, npy.WriteFile("other.npy", []int{30, 4}, make([]float64, 120)))
	for _, c := range []struct {
		line string
		code int
		want []string
	}{
		{"lgc.npz", 2, []string{"the model and the classes", "1 are given", "see go run ./bench/campaigns --help"}},
		{"lgc.npz y.npy -n 0", 2, []string{"--count is 0; it must be positive"}},
		{"lgc.npz y.npy --rule best", 2, []string{"--rule", `"best"`, "cover or committee"}},
		{"lgc.npz y.npy --rule vopt,vopt", 2, []string{"--rule names vopt twice"}},
		{"lgc.npz y.npy --noise nan", 2, []string{"--noise is NaN"}},
		{"lgc.npz y.npy --plot c.gif", 2, []string{"--plot is c.gif", ".svg"}},
		{"lgc.npz y.npy -o c.npy", 2, []string{"--output is c.npy", ".csv"}},
		{"lgc.npz y.npy -o nowhere/c.csv", 1, []string{"nowhere/c.csv cannot be written"}},
		{"lgc.npz short.npy", 2, []string{"short.npy has 30 labels for"}},
		{"lgc.npz y.npy", 2, []string{"to 200 labels and the oracle knows"}},
		{"lgc.npz y.npy --to 10", 2, []string{"from 10 to 10 labels"}},
		{"lgc.npz y.npy -X other.npy", 2, []string{"lgc.npz was not made from the points in other.npy"}},
		{"rls.npz y.npy", 2, []string{"rls.npz", "-X"}},
		{"y.npy y.npy", 2, []string{"y.npy"}},
	} {
		t.Run(c.line, func(t *testing.T) {
			code, out, stderr := campaigns(t, c.line)
			if code != c.code || out != "" {
				t.Errorf("exit code %d, want %d; stdout %q", code, c.code, out)
			}
			for _, w := range c.want {
				if !strings.Contains(stderr, w) {
					t.Errorf("no %q in %s", w, stderr)
				}
			}
		})
	}
}

// Campaigns that begin without a label say what each strategy came to, and how forecasts fared.
func TestFirst(t *testing.T) {
	dir := os.Getenv("BIGFIT_DATA")
	if _, err := os.Stat(dir + "/sslbook_digit1.npz"); dir == "" || err != nil {
		t.Skipf("BIGFIT_DATA is %q; sslbook_digit1.npz is not there", dir)
	}
	code, out, stderr := campaigns(t, "--sets digit1 --limit 300 --at 10,20,40 --draws 1 --learner lgc --strategy random,combined,typical/uncertainty --json")
	if code != 0 {
		t.Fatal(stderr)
	}
	var s struct {
		Rows     []firstRow
		Forecast foreseen
	}
	must(t, json.Unmarshal([]byte(out), &s))
	if len(s.Rows) != 9 || s.Forecast.Forecasts == 0 || s.Forecast.Inside > s.Forecast.Forecasts || !(s.Forecast.Ratio >= 1) {
		t.Errorf("%d rows, %+v", len(s.Rows), s.Forecast)
	}
	for _, r := range s.Rows {
		if !(r.Error >= 0 && r.Error <= 60) || r.Classes != 1 {
			t.Errorf("%+v", r)
		}
	}

	for line, want := range map[string]string{
		"--sets digit1 --strategy uncertainty": "cannot choose the first labels",
		"--sets digit1 --strategy sopt/best":   "best",
		"--sets nothing":                       `no set "nothing"`,
		"--sets digit1 --at 20,10":             "must ascend",
		"--sets digit1 --learner nothing":      "nothing",
		"--sets digit1 model.npz y.npy":        "two files are needed",
	} {
		if code, _, stderr := campaigns(t, line); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", line, code, stderr)
		}
	}
}
