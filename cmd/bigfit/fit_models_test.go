package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/fixtures"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/pipeline"
)

// flagsFor are the flags to fit every model with.
var flagsFor = map[string]string{
	"eigenmap":      "-p 8",
	"harmonic":      "--class-mass",
	"lgc":           "--alpha 0.9",
	"tikhonov":      "--gamma-a 1e-6 --gamma-i 1e-2 --power 2",
	"poisson":       "--priors 1,1,1",
	"poisson-mbo":   "--class-shares equal --steps 20",
	"cut":           "--class-shares labels --perturbation 0.1",
	"rls-linear":    "--gamma-a 1e-3",
	"svm-linear":    "--gamma-a 1e-3",
	"laprls-linear": "--gamma-a 1e-3 --gamma-i 1e-3 --laplacian normalized",
	"lapsvm-linear": "--gamma-a 1e-3 --gamma-i 1e-3 --loss huberized-hinge --width 0.2",
	"tsvm-linear":   "--gamma-a 1e-3 --unlabeled-weight 0.5",
	"tsvm":          "--gamma-a 1e-3 --gamma-i 1e-3 --sigma 30 --priors 3,3,3",
	"knn":           "",
	"rls":           "--gamma-a 1e-3 --sigma mean --intercept",
	"svm":           "--gamma-a 1e-3 --sigma 30",
	"svr":           "--gamma-a 1e-4 --epsilon 0.05",
	"vvmr":          "--gamma-a 1e-3 --gamma-i 1e-3 --gamma-o 0.5 --output-neighbors 1",
	"sssl":          "--landmarks 100 --intercept",
	"oneclass":      "--sigma 40 --nu 0.1",
	"laprls":        "--gamma-a 1e-3 --gamma-i 1 --scaling per-pair",
	"lapsvm":        "--gamma-a 1e-3 --gamma-i 1e-3 --kernel laplace",
	"lapsvr":        "--gamma-a 1e-4 --gamma-i 1e-4",
	"lap-oneclass":  "--gamma-a 1e-3 --gamma-i 1e-3 --sigma 40 --nu 0.1",
}

// modelSpec is a learner with its name.
type modelSpec struct {
	models.Learner
	name string
}

// modelTable are all learners.
func modelTable() []*modelSpec {
	var out []*modelSpec
	for _, l := range all.Learners {
		out = append(out, &modelSpec{l, l.Info().Name})
	}
	return out
}

// uses tells whether a flag is for the model.
func (m *modelSpec) uses(flag string) bool {
	if need, ok := inputFlags[flag]; ok {
		return m.Info().Needs.Has(need)
	}
	return shell.HasParam(m.Learner, pipeline.GraphParams.Params(), flag)
}

func (m *modelSpec) transductive() bool { info := m.Info(); return info.Transductive() }

func (m *modelSpec) keepsGraph() bool { info := m.Info(); return info.KeepsGraph() }

func (m *modelSpec) inside() bool  { return m.Info().Learns.Has(models.LearnsInside) }
func (m *modelSpec) several() bool { return m.Info().Learns.Has(models.LearnsLabels) }
func (m *modelSpec) numbers() bool { return m.Info().Learns == models.LearnsValues }

// fitLine is the command line of a fit of a model on the blobs.
func fitLine(m *modelSpec, more ...string) []string {
	args := append([]string{"fit", "--model", m.name, "-X", "X.npy", "-y", truthOf(m), "--labels", "30", "--seed", "3"}, strings.Fields(flagsFor[m.name])...)
	return append(args, more...)
}

// truthOf is the file of intoValues that the model learns from, "new" before it
// that of the other points.
func truthOf(m *modelSpec) string {
	switch {
	case m.numbers():
		return "v.npy"
	case m.several():
		return "Y.npy"
	}
	return "y.npy"
}

// intoValues goes to the blobs with a smooth function of the points, v.npy of X.npy
// and newv.npy of new.npy, and four labels, Y.npy and newY.npy: the three clouds,
// and the last two together. Of Y.npy some entries are missing.
func intoValues(t *testing.T) {
	t.Helper()
	intoBlobs(t)
	for _, name := range []string{"", "new"} {
		x, err := data.ReadPoints(map[string]string{"": "X.npy", "new": "new.npy"}[name], data.ReadOptions{})
		must(t, err)
		v, row := make([]float64, blobCount), make([]float64, blobColumns)
		for i := range v {
			data.RowTo(row, x, i)
			v[i] = row[0]/40 + row[1]/50 + 0.25
		}
		must(t, npy.WriteFile(name+"v.npy", nil, v))
		classes, err := data.ReadLabels(name+"y.npy", data.LabelOptions{})
		must(t, err)
		several := make([]float64, 4*blobCount)
		for i, c := range classes.Index {
			several[4*i+int(c)] = 1
			if c > 0 {
				several[4*i+3] = 1
			}
			if name == "" && i%7 == 0 {
				several[4*i+i%4] = math.NaN()
			}
		}
		must(t, npy.WriteFile(name+"Y.npy", []int{blobCount, 4}, several))
	}
}

// summaryOf runs a command line with --json.
func summaryOf(t *testing.T, args ...string) (s struct {
	Model   string
	Classes []int64
	Labeled int
	Error   *float64
	RMSE    *float64

	MultiLabel *metrics.MultiLabelReport
}) {
	t.Helper()
	out := succeed(t, append(args, "--json", "-q")...)
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%v: %v in %q", args, err, out)
	}
	return s
}

// Every model goes from points to measured predictions. That a fit has the same bytes at any number of
// threads is checked by the conformance of each learner, and here in TestThreadsAndSeeds.
func TestEveryModel(t *testing.T) {
	intoValues(t)
	for _, m := range modelTable() {
		t.Run(m.name, func(t *testing.T) {
			s := summaryOf(t, fitLine(m, "--predictions", "train.npy")...)
			if s.Model != m.name || s.Labeled != 30 {
				t.Errorf("%+v", s)
			}
			train := readFile(t, "train.npy")
			truth := "new" + truthOf(m)
			p := summaryOf(t, "predict", "model.npz", "-X", "new.npy", "-y", truth, "-o", "p.npy")
			again := []string{"predict", "model.npz", "-X", "X.npy", "-o", "again.npy"}
			switch {
			case m.inside():
				share := insideShare(t, "train.npy")
				if s.Error != nil || !slices.Equal(s.Classes, []int64{-1, 1}) || share < 0.7 || insideShare(t, "p.npy") < 0.7 {
					t.Errorf("%v inside, %+v", share, s)
				}
			case m.numbers():
				if s.RMSE == nil || *s.RMSE > 0.2 || p.RMSE == nil || *p.RMSE > 0.2 || s.Error != nil || s.Classes != nil {
					t.Errorf("%+v, %+v", s, p)
				}
				if out := succeed(t, "eval", "-y", truth, "--predictions", "p.npy"); !strings.Contains(out, "RMSE") {
					t.Errorf("eval: %s", out)
				}
				fail(t, 2, []string{"--scores is for classes"}, append(again, "--scores", "s.npy")...)
			case m.several():
				if s.MultiLabel == nil || s.MultiLabel.Points != 60 || !(s.MultiLabel.MeanAUC > 0.98) || p.MultiLabel == nil || !(p.MultiLabel.MeanAUC > 0.98) || s.Error != nil || s.RMSE != nil || s.Classes != nil {
					t.Errorf("%+v, %+v", s, p)
				}
				if out := succeed(t, "eval", "-y", truth, "--predictions", "p.npy"); !strings.Contains(out, "mean AUC") {
					t.Errorf("eval: %s", out)
				}
				fail(t, 2, []string{"--scores is for classes"}, append(again, "--scores", "s.npy")...)
			default:
				if s.Error == nil || *s.Error > 7 || p.Error == nil || *p.Error > 7 || !slices.Equal(s.Classes, []int64{0, 10, 20}) {
					t.Errorf("%+v, %+v", s, p)
				}
				again = append(again, "--scores", "s.npy")
				succeed(t, again...)
				succeed(t, "eval", "-y", "y.npy", "--predictions", "again.npy", "--scores", "s.npy")
			}
			succeed(t, again...)
			if m.keepsGraph() {
				succeed(t, "predict", "model.npz", "-o", "again.npy")
			} else {
				fail(t, 2, []string{"model.npz", m.name, "-X"}, "predict", "model.npz", "-o", "none.npy")
				if m.name != "knn" {
					fail(t, 2, []string{"--neighbors", m.name}, "predict", "model.npz", "-X", "X.npy", "-k", "3", "-o", "none.npy")
				}
			}
			if !bytes.Equal(train, readFile(t, "again.npy")) {
				t.Error("predict differs from fit --predictions")
			}
			fail(t, 2, []string{"3", "4"}, "predict", "model.npz", "-X", threeColumns(t), "-o", "none.npy")
			if out := succeed(t, "info", "model.npz"); !strings.Contains(out, "model: "+m.name+", 30 points labeled") {
				t.Errorf("info: %s", out)
			}
			if out := succeed(t, "info", "model.npz", "--json"); !json.Valid([]byte(out)) {
				t.Errorf("info: %s", out)
			}
		})
	}
}

// --threads changes no byte, and --seed draws other labels: of auto, which fits models of all families.
func TestThreadsAndSeeds(t *testing.T) {
	intoValues(t)
	auto := &modelSpec{all.Learner("auto"), "auto"}
	fit := func(more ...string) (model, predictions []byte) {
		succeed(t, fitLine(auto, append(more, "--predictions", "train.npy")...)...)
		return readFile(t, "model.npz"), readFile(t, "train.npy")
	}
	model, predictions := fit("--threads", "1")
	again, answers := fit("--threads", "2")
	if !bytes.Equal(again, model) || !bytes.Equal(answers, predictions) {
		t.Error("two threads give other bytes")
	}
	if other, _ := fit("--seed", "4"); bytes.Equal(other, model) {
		t.Error("another seed draws the same labels")
	}
}

func insideShare(t *testing.T, path string) float64 {
	t.Helper()
	y, err := data.ReadLabels(path, data.LabelOptions{NoUnlabeled: true})
	must(t, err)
	var share float64
	for _, v := range shell.Values(y.Index, y.Classes) {
		if v == 1 {
			share += 1 / float64(y.Len())
		}
	}
	return share
}

// A graph in a file stands for its making.
func TestModelSources(t *testing.T) {
	intoValues(t)
	succeed(t, "graph", "X.npy", "-o", "graph.npz")
	succeed(t, "graph", "new.npy", "-o", "other.npz")
	succeed(t, "graph", "X.npy", "--pca", "2", "-o", "pca.npz")
	for _, m := range modelTable() {
		if !m.uses("graph") {
			continue
		}
		same := func(t *testing.T, graph string, making ...string) {
			succeed(t, fitLine(m, append(making, "-o", "made.npz")...)...)
			succeed(t, fitLine(m, "--graph", graph, "-o", "given.npz")...)
			if !m.keepsGraph() {
				if content(t, "made.npz") != content(t, "given.npz") {
					t.Errorf("%s gives another model", graph)
				}
				return
			}
			// The models differ: the one whose graph was made has the index that made it.
			for _, x := range []string{"X.npy", "new.npy"} {
				succeed(t, "predict", "made.npz", "-X", x, "-o", "want.npy")
				succeed(t, "predict", "given.npz", "-X", x, "-o", "p.npy")
				if !bytes.Equal(readFile(t, "want.npy"), readFile(t, "p.npy")) {
					t.Errorf("%s gives other answers for %s", graph, x)
				}
			}
		}
		t.Run(m.name, func(t *testing.T) {
			same(t, "graph.npz")
			// One model of each kind of use: on the graph alone, by eigenpairs, and beside points.
			if !slices.Contains([]string{"harmonic", "eigenmap", "laprls"}, m.name) {
				return
			}
			same(t, "pca.npz", "--pca", "2")
			fail(t, 2, []string{"other.npz was not made from the points in X.npy"}, fitLine(m, "--graph", "other.npz", "-o", "out.npz")...)
			fail(t, 2, []string{"--neighbors is 5"}, fitLine(m, "--graph", "graph.npz", "-k", "5", "-o", "out.npz")...)
			if m.transductive() {
				args := slices.DeleteFunc(fitLine(m, "--graph", "graph.npz"), func(s string) bool { return s == "-X" || s == "X.npy" })
				succeed(t, args...)
				succeed(t, "predict", "model.npz", "-o", "p.npy")
				fail(t, 2, []string{"without points"}, "predict", "model.npz", "-X", "new.npy", "-o", "none.npy")
			}
		})
	}
}

func TestRegression(t *testing.T) {
	intoValues(t)
	v, err := data.ReadValues("v.npy", data.ReadOptions{})
	must(t, err)
	half, two, whole := make([]float64, blobCount), make([]float64, 2*blobCount), make([]int64, blobCount)
	text := "value\n"
	for i := range half {
		half[i] = v.At(i, 0)
		two[2*i], two[2*i+1] = half[i], -half[i]
		if i%2 == 1 {
			half[i] = math.NaN()
			two[2*i], two[2*i+1] = half[i], half[i]
		}
		whole[i] = int64(10 * v.At(i, 0))
		text += fmt.Sprintln(half[i])
	}
	must(t, npy.WriteFile("half.npy", nil, half))
	must(t, npy.WriteFile("two.npy", []int{blobCount, 2}, two))
	must(t, npy.WriteFile("whole.npy", nil, whole))
	two[2] = 1
	must(t, npy.WriteFile("torn.npy", []int{blobCount, 2}, two))
	must(t, npy.WriteFile("none.npy", nil, slices.Repeat([]float64{math.NaN()}, blobCount)))
	writeFile(t, "half.txt", []byte(text))
	for _, m := range modelTable() {
		if !m.inside() {
			t.Run(m.name, func(t *testing.T) { regression(t, m) })
		}
	}
	fail(t, 2, []string{"--class-mass is for classes"}, "fit", "--model", "harmonic", "-X", "X.npy", "-y", "v.npy", "--class-mass", "-o", "out.npz")
}

// regression fits a model to the values of half the points, or is refused if the model learns classes.
// What the program says of files of values is the same for all models: three of them read the others.
func regression(t *testing.T, m *modelSpec) {
	fit := func(y string, more ...string) []string {
		args := append([]string{"fit", "--model", m.name, "-X", "X.npy", "-y", y, "-o", "m.npz"}, more...)
		return append(args, strings.Fields(strings.ReplaceAll(flagsFor[m.name], "--class-mass", ""))...)
	}
	if !shell.LearnsValues(m.Learner) {
		fail(t, 2, []string{"half.npy", "row 0", m.name + " learns classes", "rls-linear"}, fit("half.npy")...)
		fail(t, 2, []string{m.name + " is no regression", "laprls"}, fit("whole.npy", "--regression")...)
		return
	}
	want := summaryOf(t, fit("half.npy", "--predictions", "p.npy")...)
	if want.Labeled != blobCount/2 || want.Classes != nil || want.RMSE != nil {
		t.Errorf("%+v", want)
	}
	p, err := data.ReadValues("p.npy", data.ReadOptions{})
	must(t, err)
	if n, c := p.Dims(); n != blobCount || c != 1 {
		t.Errorf("predictions are %d×%d", n, c)
	}
	if s := summaryOf(t, "predict", "m.npz", "-X", "X.npy", "-y", "v.npy"); s.RMSE == nil || *s.RMSE > 0.2 {
		t.Errorf("%+v", s)
	}
	if m.numbers() {
		fail(t, 2, []string{m.name + " is a regression"}, fit("whole.npy", "--regression=false")...)
	}
	if !slices.Contains([]string{"tikhonov", "rls-linear", "vvmr"}, m.name) {
		return
	}

	file := content(t, "m.npz")
	succeed(t, fit("half.txt")...)
	if file != content(t, "m.npz") {
		t.Error("text gives another model")
	}
	fail(t, 2, []string{"two.npy has 90×2 values for 90 points of 1"}, "predict", "m.npz", "-X", "X.npy", "-y", "two.npy", "-o", "out.npy")
	succeed(t, fit("two.npy", "--regression", "--labels", "20", "--predictions", "p2.npy")...)
	if p, err := data.ReadValues("p2.npy", data.ReadOptions{}); err != nil || p.RawMatrix().Cols != 2 {
		t.Errorf("two values a point: %v", err)
	}
	if s := summaryOf(t, fit("whole.npy", "--regression", "--labels", "40")...); s.RMSE == nil || *s.RMSE > 2 {
		t.Errorf("%+v", s)
	}
	if m.several() { // single values may be missing
		succeed(t, fit("torn.npy", "--regression")...)
	} else {
		fail(t, 2, []string{"torn.npy", "point 1"}, fit("torn.npy", "--regression")...)
	}
	fail(t, 2, []string{"none.npy"}, fit("none.npy", "--regression")...)
	fail(t, 2, []string{"half.npy", "46", "45"}, fit("half.npy", "--labels", "46")...)
	fail(t, 2, []string{"--unlabeled is for classes"}, fit("half.npy", "--unlabeled", "5")...)
}

// The program refuses flags of other models, writes a learner's faults as flags, and refuses files that
// do not suit the model. The values that each learner refuses are tested in the packages of the learners.
func TestBadModelFlags(t *testing.T) {
	intoValues(t)
	succeed(t, "graph", "X.npy")
	for _, c := range []struct {
		line string
		want []string
	}{
		{"--model rls --gamma-a 1 --gamma-i 1", []string{"--gamma-i is not for rls, but for tikhonov, laprls-linear", "laprls", "see bigfit fit --help"}},
		{"--model rls --gamma-a 1 -k 5", []string{"--neighbors is not for rls"}},
		{"--model rls-linear --gamma-a 1 --graph graph.npz", []string{"--graph is not for rls-linear"}},
		{"--model harmonic --eigs eigs.npz", []string{"--eigs is not for harmonic, but for eigenmap"}},
		{"--model eigenmap --gamma-a 1", []string{"--gamma-a is not for eigenmap"}},
		{"--model svm --gamma-a 1 --unlabeled-weight 1", []string{"--unlabeled-weight is not for svm, but for tsvm-linear, tsvm"}},
		{"--model tsvm --gamma-a 1 --unlabeled-weight 0", []string{"--unlabeled-weight is 0", "positive"}},
		{"--model tsvm-linear --gamma-a 1", []string{"without a label"}},
		{"--model knn --vote 3 --neighbors 3", []string{"--neighbors is not for knn"}},
		{"--model svm --gamma-a 1 --vote 3", []string{"--vote is not for svm, but for knn"}},
		{"--model svm --gamma-a 1 --epsilon 1", []string{"--epsilon is not for svm, but for svr, lapsvr"}},
		{"--model svr --gamma-a 1 --approximation nystrom", []string{"--approximation is not for svr, but for rls, svm, laprls, lapsvm"}},
		{"--model rls --gamma-a 1 --approximation landmarks", []string{`--approximation is "landmarks"`, "exact, nystrom, fourier or matrix-free"}},
		{"--model rls --gamma-a 1 --features 6000", []string{"6000 Fourier features", "5000"}},
		{"--model rls --gamma-a 1 --approximation matrix-free --intercept", []string{"--intercept is for --approximation exact, nystrom or fourier, not matrix-free"}},
		{"--model sssl --gamma-a 1", []string{"--gamma-a is not for sssl"}},
		{"--model poisson --alpha 0.5", []string{"--alpha is not for poisson, but for lgc"}},
		{"--model rls --gamma-a 0", []string{"--gamma-a is 0", "positive"}},
		{"--model oneclass --gamma-a 1", []string{"--gamma-a is not for oneclass"}},
		{"--model poisson --priors 1,1,-1", []string{"--priors has the value -1", "each must be at least 0"}},
		{"--model laprls --gamma-a 1 --gamma-i 1 --kernel precomputed", []string{"--kernel precomputed", "--graph"}},
		{"--model svm --gamma-a 1 --kernel precomputed", []string{"90"}},
	} {
		t.Run(c.line, func(t *testing.T) {
			args := append([]string{"fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "-o", "out.npz"}, strings.Fields(c.line)...)
			fail(t, 2, c.want, args...)
		})
	}
	fail(t, 2, []string{"--model rls needs labels (-y) and points (-X)"}, "fit", "--model", "rls", "-y", "y.npy", "--gamma-a", "1", "-o", "out.npz")
	fail(t, 2, []string{"--model harmonic", "or a graph (--graph)"}, "fit", "--model", "harmonic", "-y", "y.npy", "-o", "out.npz")
	must(t, npy.WriteFile("one.npy", nil, slices.Repeat([]int64{7}, blobCount)))
	must(t, npy.WriteFile("marks.npy", nil, slices.Repeat([]int64{-1}, blobCount)))
	must(t, npy.WriteFile("few.npy", nil, []int64{1, 2, 3}))
	for _, m := range modelTable() {
		fit := func(y string) []string {
			return append([]string{"fit", "--model", m.name, "-X", "X.npy", "-y", y, "-o", "out.npz"}, strings.Fields(flagsFor[m.name])...)
		}
		switch {
		case m.inside():
			succeed(t, append(fit("one.npy"), "-o", "one.npz")...)
			fail(t, 2, []string{"marks.npy", "no point is labeled"}, fit("marks.npy")...)
		case m.numbers():
			fail(t, 2, []string{"X.npy has 90 points", "few.npy has 3"}, fit("few.npy")...)
		case m.several():
			fail(t, 2, []string{"few.npy", "label 0 of point 1 is 2", "--regression"}, fit("few.npy")...)
			fail(t, 2, []string{"X.npy has 90 points", "few.npy has 3"}, append(fit("few.npy"), "--regression")...)
		default:
			if !strings.Contains(flagsFor[m.name], "priors") {
				fail(t, 2, []string{"one.npy", "class 7", "two classes"}, fit("one.npy")...)
				fail(t, 2, []string{"marks.npy", "no point is labeled"}, fit("marks.npy")...)
			}
			if !m.uses("eigenvectors") {
				fail(t, 2, []string{"X.npy has 90 points", "few.npy has 3 labels"}, fit("few.npy")...)
			}
		}
	}
}

// Where -1 is a class of the model it does not mark points without a label.
func TestMinusOne(t *testing.T) {
	intoBlobs(t)
	signs := make([]int64, blobCount)
	for i := range signs {
		signs[i] = -1
		if i%3 == 0 {
			signs[i] = 1
		}
	}
	must(t, npy.WriteFile("signs.npy", nil, signs))
	succeed(t, "fit", "--model", "rls", "--gamma-a", "10", "-X", "X.npy", "-y", "signs.npy", "--unlabeled", "none", "-o", "signs.npz")
	succeed(t, "fit", "--model", "oneclass", "--nu", "0.3", "-X", "X.npy", "-y", "y.npy", "-o", "inside.npz")
	for _, m := range []string{"signs.npz", "inside.npz"} {
		all := errorOf(t, "predict", m, "-X", "X.npy", "-y", "signs.npy")
		if ones := errorOf(t, "predict", m, "-X", "X.npy", "-y", "signs.npy", "--unlabeled", "-1"); all == ones {
			t.Errorf("%s: -1 is left out", m)
		}
	}
}

// A Gram matrix takes the place of points.
func TestPrecomputedKernel(t *testing.T) {
	intoBlobs(t)
	x, err := data.ReadPoints("X.npy", data.ReadOptions{})
	must(t, err)
	gram := make([]float64, blobCount*blobCount)
	rows := make([][]float64, blobCount)
	for i := range rows {
		rows[i] = make([]float64, blobColumns)
		data.RowTo(rows[i], x, i)
		for j := range i + 1 {
			var d float64
			for q := range rows[i] {
				d += (rows[i][q] - rows[j][q]) * (rows[i][q] - rows[j][q])
			}
			gram[i*blobCount+j], gram[j*blobCount+i] = math.Exp(-d/1800), math.Exp(-d/1800)
		}
	}
	must(t, npy.WriteFile("gram.npy", []int{blobCount, blobCount}, gram))
	succeed(t, "graph", "X.npy")
	for _, line := range []string{"--model svm --gamma-a 1e-3", "--model laprls --gamma-a 1e-3 --gamma-i 1e-3 --graph graph.npz"} {
		fit := append([]string{"fit", "--model", "eigenmap", "-y", "y.npy", "--labels", "20"}, strings.Fields(line)...)
		succeed(t, append(fit, "-X", "X.npy", "--sigma", "30", "--predictions", "want.npy")...)
		succeed(t, append(fit, "-X", "gram.npy", "--kernel", "precomputed", "--predictions", "got.npy")...)
		if !bytes.Equal(readFile(t, "want.npy"), readFile(t, "got.npy")) {
			t.Errorf("%s: the Gram matrix gives other answers than its kernel", line)
		}
		errorOf(t, "predict", "model.npz", "-X", "gram.npy", "-y", "y.npy")
		fail(t, 2, []string{"4", "90"}, "predict", "model.npz", "-X", "X.npy", "-o", "none.npy")
	}
}

// What does not converge is written, and the exit code says so.
func TestModelNotConverged(t *testing.T) {
	intoValues(t)
	x, y := blobs(blobCount, 0)
	formats(t, x, y)
	for _, m := range modelTable() {
		if !m.uses("max-iterations") {
			continue
		}
		args := fitLine(m, "--max-iterations", "1", "--tolerance", "1e-14", "-o", m.name+".npz", "--predictions", "p.npy")
		if strings.HasSuffix(m.name, "-linear") && shell.LearnsValues(m.Learner) { // direct unless the points are sparse
			args[slices.Index(args, "X.npy")] = "csr.npz"
		}
		if m.name == "rls" || m.name == "laprls" { // direct by other means
			args = append(args, "--approximation", "matrix-free", "--landmarks", "3", "--intercept=false")
		}
		if m.transductive() && !m.Info().Needs.Has(models.NeedsEigenpairs) { // components of one class have nothing to solve
			args = append(args, "-k", "60")
		}
		o := bigfit(t, args...)
		if o.code != 3 || !exists(m.name+".npz") || !strings.Contains(o.out, m.name) || !strings.Contains(o.stderr, "not converged") {
			t.Errorf("bigfit %v: %+v", args, o)
			continue
		}
		succeed(t, "predict", m.name+".npz", "-X", "X.npy", "-o", "p.npy")
	}
}

// A fit that needs more memory than is allowed is refused with the learner's remedy, written as flags.
func TestModelMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	intoWide(t)
	ringGraph(t, "ring.npz", 1500)
	for _, c := range []struct {
		line string
		want []string
	}{
		{"--model laprls -X wide.npy --gamma-a 1 --gamma-i 1 --memory-limit 3MB", []string{"fit needs", "--approximation nystrom", "give fewer points", "a linear model", "--memory-limit"}},
		{"--model lapsvm -X wide.npy --gamma-a 1 --gamma-i 1 --landmarks 400 --memory-limit 3MB", []string{"fit needs", "take fewer --landmarks", "--memory-limit"}},
		{"--model harmonic --graph ring.npz --memory-limit 270kB", []string{"fit needs", "--neighbors", "--memory-limit"}},
	} {
		t.Run(c.line, func(t *testing.T) {
			args := append([]string{"fit", "--model", "eigenmap", "-y", "wide_y.npy", "-o", "out.npz"}, strings.Fields(c.line)...)
			fail(t, 2, c.want, args...)
		})
	}
	succeed(t, "fit", "--model", "svm", "-X", "wide.npy", "-y", "wide_y.npy", "--labels", "50", "--gamma-a", "1", "--memory-limit", "8MB")
}

// A model file with a bit flipped, an array left out or cut is an error that names
// the file and the array, and anything else wrong with it no panic.
func TestDamagedModels(t *testing.T) {
	testmode.Campaign(t)
	intoValues(t)
	x, y := blobs(blobCount, 0)
	formats(t, x, y)
	for i, m := range modelTable() {
		if !soak && i%3 != 0 && m.name != "svm" && m.name != "lgc" {
			continue // the conformance suite damages the files of every learner
		}
		if m.name == "auto" {
			continue // its parts are files of other models; its conformance damages the whole
		}
		succeed(t, fitLine(m, "-o", "whole.npz")...)
		damagedModel(t, m.name, soak || i%4 == 0)
		if m.name == "svm" || m.name == "lgc" {
			args := fitLine(m, "-o", "whole.npz")
			args[slices.Index(args, "X.npy")] = "csr.npz"
			succeed(t, args...)
			damagedModel(t, m.name+" of sparse points", soak)
		}
	}
}

// damagedModel flips a bit of each array of whole.npz and cuts the file; and if all, gives
// the arrays other shapes and types too, as the conformance of each learner does without
// the command line.
func damagedModel(t *testing.T, name string, all bool) {
	t.Helper()
	a, err := npy.OpenArchive("whole.npz", 0)
	must(t, err)
	names := a.Names()
	a.Close()
	whole := readFile(t, "whole.npz")
	for _, array := range names {
		at := bytes.Index(whole, []byte(array+".npy"))
		b := bytes.Clone(whole)
		b[at+len(array)+4+140] ^= 4 // behind the header of the array
		writeFile(t, "damaged.npz", b)
		for _, command := range []string{"predict damaged.npz -X X.npy -o out.npy", "info damaged.npz"} {
			o := bigfit(t, strings.Fields(command)...)
			if o.code != 2 || !strings.Contains(o.stderr, "damaged.npz") || !strings.Contains(o.stderr, array) {
				t.Errorf("%s, a bit of %s flipped: bigfit %s: exit code %d\n%.500s", name, array, command, o.code, o.stderr)
			}
		}
	}
	for _, size := range []int{0, 1, 100, len(whole) / 2, len(whole) - 30} {
		writeFile(t, "damaged.npz", whole[:size])
		fail(t, 2, []string{"damaged.npz"}, "predict", "damaged.npz", "-X", "X.npy", "-o", "none.npy")
	}
	if !all {
		return
	}
	fixtures.Damage(t, "whole.npz", func(what string) {
		array, how, _ := strings.Cut(what, " ")
		o := bigfit(t, "predict", "damaged.npz", "-X", "X.npy", "-o", "out.npy")
		if o.code != 0 && o.code != 2 || strings.Contains(o.stderr, "internal error") {
			t.Errorf("%s, %s: exit code %d\n%.1500s", name, what, o.code, o.stderr)
		}
		switch how {
		case "missing", "empty", "0 × 0", "cube", "smaller":
			optional := how == "missing" && (array == "classes" || strings.HasPrefix(array, "points"))
			if !optional && (o.code != 2 || !strings.Contains(o.stderr, "damaged.npz")) {
				t.Errorf("%s, %s: exit code %d\n%.1500s", name, what, o.code, o.stderr)
			}
		}
	})
}
