package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
)

// compared is the output of compare in JSON.
type compared struct {
	Metric, Unit string
	Done, Total  int
	Notes        []string
	Warnings     []string
	Table        []struct {
		Labels, PerClass int
		Model            string
		Mean, Std        *float64
		Splits, Failed   int
		Against          string
		Difference       *float64
		DifferenceSE     *float64 `json:"difference_se"`
		Wins             int
		Ties             int
		Losses           int
		P                *float64
	}
	Fits []struct {
		Model   string
		Split   int
		Labels  int
		Value   *float64
		Setting models.Values
		Untuned bool
		Seconds float64
		Fault   string
	}
	Times []struct {
		Model   string
		Seconds float64
	}
}

func parseCompared(t *testing.T, text string) compared {
	t.Helper()
	var r compared
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return r
}

// intoClouds goes to a new directory with points X.npy and labels y.npy of classes that
// overlap.
func intoClouds(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	x, y := blobs(blobCount, 0)
	rng := rand.New(rand.NewPCG(3, 4))
	noisy := floats(x)
	for i := range noisy {
		noisy[i] += 16 * rng.NormFloat64()
	}
	must(t, npy.WriteFile("X.npy", []int{blobCount, blobColumns}, noisy))
	must(t, npy.WriteFile("y.npy", nil, y))
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// Split s of compare --labels is that of fit --labels with the seed s further, and so
// are the errors: the graph that is shared and eigenpairs of others change nothing.
func TestCompareEqualsFits(t *testing.T) {
	intoClouds(t)
	lines := map[string]string{"knn": "--vote=3", "lgc": "--alpha=0.9", "eigenmap": "", "laprls": "--gamma-a=0.01 --gamma-i=0.1", "svm-linear": "--gamma-a=1"}
	args := strings.Fields("compare X.npy y.npy --models knn,lgc,eigenmap,laprls,svm-linear --labels 9,20 --splits 3 --seed 5 --neighbors 4 --json -q")
	for name, flags := range lines {
		for _, flag := range strings.Fields(flags) {
			args = append(args, "--set", name+"."+strings.TrimPrefix(flag, "--"))
		}
	}
	r := parseCompared(t, succeed(t, args...))
	if r.Done != 30 || r.Total != 30 || len(r.Fits) != 30 || len(r.Table) != 10 || r.Unit != "%" || len(r.Warnings) != 0 {
		t.Fatalf("%+v", r)
	}
	seen := map[float64]bool{}
	for _, f := range r.Fits {
		line := fmt.Sprintf("fit X.npy y.npy --model %s --labels %d --seed %d --json -q %s", f.Model, f.Labels, 5+f.Split%3, lines[f.Model])
		if f.Model != "knn" && f.Model != "svm-linear" {
			line += " --neighbors 4"
		}
		var fit struct{ Error *float64 }
		must(t, json.Unmarshal([]byte(succeed(t, strings.Fields(line)...)), &fit))
		if fit.Error == nil || f.Value == nil || !(math.Abs(*fit.Error-*f.Value) <= 1e-9) {
			t.Errorf("%s, split %d: %v, a fit has %v", f.Model, f.Split, f.Value, fit.Error)
		} else {
			seen[*f.Value] = true
		}
	}
	if len(seen) < 5 {
		t.Errorf("the errors are %v only", seen)
	}
}

// All forms of the table hold the same, and files have the bytes of any number of
// threads; a report is written; a fit that fails is named and the others go on.
func TestCompareOutputs(t *testing.T) {
	intoClouds(t)
	line := "compare X.npy y.npy --models knn,harmonic,laprls --labels-per-class 2,8 --splits 3 --tune --set laprls.gamma-a=0.01,1 --set laprls.sigma=30 --set laprls.gamma-i=0.1"
	text := succeed(t, append(strings.Fields(line), strings.Fields("-o t.md -o t.csv,t.tex -o t.json --report r.html --threads 1 -q")...)...)
	if fileText(t, "t.md") != text || !strings.Contains(text, "| 2 a class | knn |") || !strings.Contains(text, "laprls: 3 of 6 splits (0, 1, 2) had too few labels") {
		t.Errorf("stdout\n%sfile\n%s", text, fileText(t, "t.md"))
	}
	rows, err := csv.NewReader(strings.NewReader(fileText(t, "t.csv"))).ReadAll()
	r := parseCompared(t, fileText(t, "t.json"))
	if err != nil || len(rows) != 7 || len(r.Table) != 6 || rows[1][2] != r.Table[0].Model {
		t.Fatalf("%v, %q", err, rows)
	}
	for i, row := range r.Table {
		if got := rows[i+1][3]; got != models.FormatFloat(*row.Mean) || row.Splits != 3 || row.Failed != 0 {
			t.Errorf("record %d: %s and %+v", i, got, row)
		}
	}
	for _, f := range r.Fits {
		if f.Untuned != (f.Labels == 6) && f.Model != "knn" || f.Model == "laprls" && f.Setting["gamma-i"] != "0.1" || f.Model == "harmonic" && f.Setting["neighbors"] == "" {
			t.Errorf("%+v", f)
		}
	}
	if tex := fileText(t, "t.tex"); strings.Count(tex, `\begin{tabular}`) != 2 || !strings.Contains(tex, "error \\%") {
		t.Errorf("%s", tex)
	}
	page := fileText(t, "r.html")
	for _, want := range []string{"error by number of labels", "gamma-a", "harmonic", "t-test", "Choices and fits"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	csvText, tex := fileText(t, "t.csv"), fileText(t, "t.tex")
	for format, want := range map[string]string{"csv": csvText, "latex": tex, "markdown": text} {
		if got := succeed(t, append(strings.Fields(line), "--format", format, "--threads", fmt.Sprint(1+runtime.NumCPU()), "-q")...); got != want {
			t.Errorf("%s on more threads:\n%swant\n%s", format, got, want)
		}
	}
	if r := parseCompared(t, succeed(t, append(strings.Fields(line), "--format", "json", "--metric", "auc", "--against", "knn", "--folds", "3")...)); r.Metric != "auc" || r.Table[1].Against != "knn" {
		t.Errorf("%+v", r)
	}
	// The priors give all points to the third class, of which few labels may have none.
	o := bigfit(t, strings.Fields("compare X.npy y.npy --models knn,harmonic --labels 4 --splits 8 --set harmonic.class-mass=true --set harmonic.priors=0,0,2 --json -q")...)
	if r := parseCompared(t, o.out); o.code != 0 || r.Table[1].Failed == 0 || r.Table[1].Splits != 8-r.Table[1].Failed || r.Table[0].Splits != 8 || len(r.Notes) != 1 ||
		!strings.HasPrefix(r.Notes[0], fmt.Sprintf("harmonic: %d of 8 splits (", r.Table[1].Failed)) || !strings.Contains(r.Notes[0], "failed: ") {
		t.Errorf("exit code %d, %+v\n%s", o.code, r, o.stderr)
	}
	o = bigfit(t, strings.Fields("compare X.npy y.npy --models knn,lgc --labels 9 --splits 2 --set lgc.max-iterations=1 --json -q")...)
	if r := parseCompared(t, o.out); o.code != 3 || r.Table[1].Mean == nil || r.Table[1].Failed != 0 || !strings.Contains(r.Notes[0], "lgc: 2 of 2 splits (0, 1) did not converge") {
		t.Errorf("exit code %d, %+v\n%s", o.code, r, o.stderr)
	}
}

// Values are measured by their RMSE, and given splits are those of the file.
func TestCompareValuesAndGivenSplits(t *testing.T) {
	intoFew(t)
	r := parseCompared(t, succeed(t, strings.Fields("compare X.npy v.npy --models rls,svr,tikhonov --labels 12 --splits 2 --json -q")...))
	if r.Metric != "rmse" || r.Unit != "" || len(r.Fits) != 6 || r.Table[0].Mean == nil {
		t.Errorf("%+v", r)
	}
	must(t, npy.WriteFile("s.npy", []int{2, 12}, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}))
	r = parseCompared(t, succeed(t, strings.Fields("compare X.npy y.npy --models knn --splits s.npy --json -q")...))
	if len(r.Fits) != 2 || r.Fits[1].Labels != 12 {
		t.Errorf("%+v", r)
	}
}

func TestCompareUsage(t *testing.T) {
	intoFew(t)
	must(t, npy.WriteFile("far.npy", []int{2, 2}, []int64{0, 1, 2, blobCount}))
	must(t, npy.WriteFile("none.npy", []int{2, 2}, []int64{0, 1, 2, 40}))
	_, y := blobs(blobCount, 0)
	must(t, npy.WriteFile("one.npy", []int{1, 2}, []int64{0, int64(1 + slices.Index(y[1:], y[0]))}))
	for line, want := range map[string]string{
		"X.npy y.npy --labels 9":                                                "compare needs --models",
		"X.npy y.npy --models knn":                                              "compare needs numbers of labels",
		"X.npy --models knn --labels 9":                                         "compare needs points (-X), or a graph (--graph), and labels (-y)",
		"X.npy y.npy --models knn,knn --labels 9":                               "--models names knn twice",
		"X.npy y.npy --models knn,nope --labels 9":                              `unknown model "nope"`,
		"X.npy y.npy --models oneclass --labels 9":                              "oneclass does not learn from labels",
		"X.npy y.npy --models knn,svr --labels 9":                               "svr does not learn what knn learns: values, not classes",
		"X.npy y.npy --models knn --labels 9,0":                                 "--labels has the value 0",
		"X.npy y.npy --models knn --labels-per-class 5,5":                       "--labels-per-class has the value 5",
		"X.npy y.npy --models knn --labels 100000":                              "leave none to measure on",
		"X.npy y.npy --models knn --labels 9 --splits 0":                        "--splits is 0",
		"X.npy y.npy --models knn --labels 9 --splits far.npy":                  "leave --labels and --labels-per-class out",
		"X.npy y.npy --models knn --splits far.npy":                             "far.npy: row 1, column 1 is",
		"X.npy few.npy --models knn --splits none.npy":                          "none.npy: row 1, column 1 is point 40, which has no label",
		"X.npy y.npy --models knn --splits one.npy":                             "split 0: all 2 labels are of class",
		"X.npy y.npy --models knn --labels 9 --folds 1":                         "--folds is 1",
		"X.npy y.npy --models knn --labels 9 --repeats 0":                       "--repeats is 0",
		"X.npy y.npy --models knn --labels 9 --against lgc":                     "--against is lgc",
		"X.npy y.npy --models knn --labels 9 --metric rmse":                     "--metric is rmse",
		"X.npy y.npy --models knn --labels 9 --neighbors 5":                     "--neighbors is about the graph, which none of knn uses",
		"X.npy y.npy --models knn --labels 9 -o t.pdf":                          `-o is "t.pdf"`,
		"X.npy y.npy --models knn --labels 9 --report r.pdf":                    `--report is "r.pdf"`,
		"X.npy y.npy --models knn --labels 9 -o y.csv -o y.csv":                 "written twice",
		"X.npy y.npy --models knn --labels 9 --set vote=3":                      "must be MODEL.PARAMETER=VALUE",
		"X.npy y.npy --models knn --labels 9 --set lgc.alpha=0.5":               "lgc is not among --models",
		"X.npy y.npy --models knn --labels 9 --set knn.alpha=0.5":               "knn has no parameter alpha",
		"X.npy y.npy --models knn --labels 9 --set knn.vote=3 --set knn.vote=1": "knn.vote twice",
		"X.npy y.npy --models knn --labels 9 --set knn.vote=-3":                 "--set knn.vote is -3; it must be",
		"X.npy y.npy --models knn --labels 9 --set knn.vote=3,x":                `--set knn.vote has the value "x"`,
		"X.npy y.npy --models svm --labels 9 --set svm.kernel=precomputed":      "not values of kernels",
		"X.npy y.npy --models eigenmap --labels 9 --set eigenmap.gamma=1":       "--set eigenmap.gamma is for --set eigenmap.penalty",
		"X.npy v.npy --models rls --labels-per-class 9":                         "not classes",
		"X.npy y.npy --models knn --labels 9 --resume":                          "--resume needs",
	} {
		t.Run(line, func(t *testing.T) {
			fail(t, 2, []string{want}, append([]string{"compare"}, strings.Fields(line)...)...)
		})
	}
}

// TestComparePlot: --plot draws curves over the numbers of labels, and bars of one number; LaTeX has the
// same numbers as labels × models.
func TestComparePlot(t *testing.T) {
	intoBlobs(t)
	compare := strings.Fields("compare X.npy y.npy --models knn,lgc --splits 2 -q")
	for _, c := range []struct {
		line string
		want map[string][]string
	}{
		{"--labels-per-class 1,2,5 --plot curve.svg -o t.tex", map[string][]string{
			"curve.svg": {"<svg", "labels of each class", "error, %", "knn", "lgc"},
			"t.tex": {`\label{tab:compare}`, "labels & knn & lgc", "1 a class & ", "5 a class & ", `\textbf{`, `\midrule`,
				`\label{tab:compare-differences}`},
		}},
		{"--labels 6,12 --plot curve.html", map[string][]string{"curve.html": {"<svg", "lgc", "error by number of labels"}}},
		{"--labels 12 --plot bars.pdf -o one.tex", map[string][]string{"bars.pdf": {"%PDF"},
			"one.tex": {`\label{tab:compare}`, `\textbf{`, "model & error"}}},
	} {
		succeed(t, append(compare, strings.Fields(c.line)...)...)
		for path, parts := range c.want {
			text := string(readFile(t, path))
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("%s: %s has no %q", c.line, path, part)
				}
			}
		}
	}
	for line, want := range map[string]string{
		"--labels 6 --plot curve.xyz":              "--plot is curve.xyz; its name must end in .png, .svg, .pdf, .html",
		"--labels 6 --plot r.html --report r.html": "r.html is to be written twice",
		"--labels 6 --plot X.npy":                  "--plot is X.npy",
	} {
		fail(t, 2, []string{want}, append(compare, strings.Fields(line)...)...)
	}
}
