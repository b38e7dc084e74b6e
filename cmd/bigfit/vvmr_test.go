package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/sparse"
)

func readBlock(t *testing.T, path string) *mat.Dense {
	t.Helper()
	y, err := data.ReadValues(path, data.ReadOptions{})
	must(t, err)
	return y
}

// sameBlock compares up to a share of the largest element.
func sameBlock(t *testing.T, what string, got, want *mat.Dense, tolerance float64) {
	t.Helper()
	var d mat.Dense
	d.Sub(got, want)
	if !(mat.Norm(&d, math.Inf(1)) <= tolerance*mat.Norm(want, math.Inf(1))) {
		t.Errorf("%s: other values, by %.1e", what, mat.Norm(&d, math.Inf(1)))
	}
}

// intoSeveral goes to intoValues and adds the labels without gaps: whole.npy, as
// svmlight with the points in X.svm and the labels 5, 7, 9 and 20.
func intoSeveral(t *testing.T) {
	t.Helper()
	intoValues(t)
	y := readBlock(t, "Y.npy")
	x, err := data.ReadPoints("X.npy", data.ReadOptions{})
	must(t, err)
	classes, err := data.ReadLabels("y.npy", data.LabelOptions{})
	must(t, err)
	names := []string{"5", "7", "9", "20"}
	row := make([]float64, blobColumns)
	var text strings.Builder
	for i, c := range classes.Index {
		var mine []string
		for j := range names {
			v := 0.0
			if int(c) == j || c > 0 && j == 3 {
				v = 1
				mine = append(mine, names[j])
			}
			y.Set(i, j, v)
		}
		text.WriteString(strings.Join(mine, ","))
		data.RowTo(row, x, i)
		for j, v := range row {
			fmt.Fprintf(&text, " %d:%v", j+1, v)
		}
		text.WriteString("\n")
	}
	must(t, npy.WriteFile("whole.npy", []int{blobCount, 4}, y.RawMatrix().Data))
	writeFile(t, "X.svm", []byte(text.String()))
}

// Labels in svmlight and in a block make the same model, and so does a graph of the outputs that is
// made and one in a file.
func TestVVMRInputs(t *testing.T) {
	intoSeveral(t)
	fit := func(more string) []byte {
		t.Helper()
		args := strings.Fields("fit --model vvmr --labels 40 --gamma-a 1e-3 --gamma-i 1e-3 --gamma-o 0.7 --sigma 30 --predictions s.npy " + more)
		succeed(t, args...)
		return readFile(t, "s.npy")
	}
	want := fit("-X X.npy -y whole.npy --output-neighbors 1")
	if !bytes.Equal(fit("-X X.npy -y X.svm --output-neighbors 1 -o svm.npz"), want) {
		t.Error("lists of labels give another function")
	}

	y, err := data.ReadMultiLabels("whole.npy", data.ReadOptions{})
	must(t, err)
	drawn, err := data.NewLabels(make([]int64, blobCount), nil).Draw(40, 0)
	must(t, err)
	for i, c := range drawn.Index {
		if c == data.Unlabeled {
			y.Y.SetRow(i, slices.Repeat([]float64{math.NaN()}, 4))
		}
	}
	targets, err := multilabel.LabelTargets(y.Y, nil)
	must(t, err)
	w, err := multilabel.OutputGraph(targets, 1)
	must(t, err)
	must(t, sparse.WriteNPZ("w.npz", w, nil))
	dense := mat.NewDense(4, 4, nil)
	for i := range 4 {
		col, _ := w.Row(i)
		for _, j := range col {
			dense.Set(i, int(j), 1)
		}
	}
	must(t, npy.WriteFile("w.npy", []int{4, 4}, dense.RawMatrix().Data))
	for _, file := range []string{"w.npz", "w.npy"} {
		if !bytes.Equal(fit("-X X.npy -y whole.npy --output-graph "+file), want) {
			t.Errorf("%s: another function", file)
		}
	}
	// A Gram matrix takes the place of points.
	x, err := data.ReadPoints("X.npy", data.ReadOptions{})
	must(t, err)
	gram, err := kernel.Gram(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 30}, 0)
	must(t, err)
	must(t, npy.WriteFile("gram.npy", []int{blobCount, blobCount}, gram.RawMatrix().Data))
	args := strings.Fields("fit --model vvmr --labels 40 --gamma-a 1e-3 --gamma-i 1e-3 --gamma-o 0.7 --output-neighbors 1 --predictions s.npy -X gram.npy -y whole.npy --kernel precomputed")
	fail(t, 2, []string{"--kernel precomputed", "--graph"}, append(args, "-o", "none.npz")...)
	succeed(t, "graph", "X.npy", "-o", "graph.npz")
	succeed(t, append(args, "--graph", "graph.npz")...)
	got := readBlock(t, "s.npy")
	fit("-X X.npy -y whole.npy --output-neighbors 1 --graph graph.npz")
	sameBlock(t, "a Gram matrix", got, readBlock(t, "s.npy"), 1e-8)
}

// What is printed of a fit and of scores are the library's measures, and the labels
// keep their names.
func TestMultiLabelMeasures(t *testing.T) {
	intoSeveral(t)
	fit := strings.Fields("fit --model vvmr -X X.svm -y X.svm --labels 20 --gamma-a 1e-1 --gamma-i 0 --gamma-o 0.5 --output-neighbors 1 --predictions s.npy")
	out := succeed(t, fit...)
	if long := succeed(t, "info", "model.npz"); !strings.Contains(long, "of equation (17)") {
		t.Errorf("info: %s", long)
	}
	for _, w := range []string{"4 labels", "of the points without labels: mean AUC", "on 70 points"} {
		if !strings.Contains(out, w) {
			t.Errorf("fit does not print %q: %s", w, out)
		}
	}
	if out := succeed(t, "info", "model.npz", "--json"); !strings.Contains(out, `"labels":[5,7,9,20]`) || !strings.Contains(out, `"residual":`) {
		t.Errorf("info: %s", out)
	}
	want, err := metrics.NewMultiLabelReport(readBlock(t, "whole.npy"), readBlock(t, "s.npy"))
	must(t, err)
	// Rows and labels of the truth in another order; the last rows are not known.
	lines := strings.Split(strings.TrimSpace(string(readFile(t, "X.svm"))), "\n")
	writeFile(t, "more.svm", []byte(strings.Join(lines, "\n")+"\nnan 1:1\n"))
	scores := readBlock(t, "s.npy")
	must(t, npy.WriteFile("more.npy", []int{blobCount + 1, 4}, slices.Concat(scores.RawMatrix().Data, []float64{0, 0, 0, math.NaN()})))
	turned := mat.NewDense(blobCount, 4, nil)
	for i := range blobCount {
		for j, from := range []int{3, 0, 2, 1} {
			turned.Set(i, j, scores.At(i, from))
		}
	}
	must(t, npy.WriteFile("turned.npy", []int{blobCount, 4}, turned.RawMatrix().Data))
	for _, c := range []struct {
		line   string
		labels []int64
		order  []int
		left   int
	}{
		{"-y whole.npy --predictions s.npy", nil, []int{0, 1, 2, 3}, 0},
		{"-y X.svm --predictions s.npy", []int64{5, 7, 9, 20}, []int{0, 1, 2, 3}, 0},
		{"-y X.svm --predictions s.npy --multilabel", []int64{5, 7, 9, 20}, []int{0, 1, 2, 3}, 0},
		{"-y more.svm --predictions more.npy", []int64{5, 7, 9, 20}, []int{0, 1, 2, 3}, 1},
		{"-y X.svm --predictions turned.npy --columns 20,5,9,7", []int64{20, 5, 9, 7}, []int{3, 0, 2, 1}, 0},
	} {
		t.Run(c.line, func(t *testing.T) {
			var got struct {
				metrics.MultiLabelReport
				LeftOut int `json:"left_out"`
			}
			must(t, json.Unmarshal([]byte(succeed(t, append(strings.Fields("eval --json "+c.line), "-q")...)), &got))
			if got.Points != blobCount || got.LeftOut != c.left || !slices.Equal(got.Labels, c.labels) {
				t.Errorf("%+v", got)
			}
			for name, v := range map[string][2]metrics.Number{
				"mean AUC": {got.MeanAUC, want.MeanAUC}, "ranking": {got.RankingLoss, want.RankingLoss}, "Hamming": {got.HammingLoss, want.HammingLoss},
				"micro F1": {got.MicroF1, want.MicroF1}, "macro F1": {got.MacroF1, want.MacroF1},
			} {
				if !(math.Abs(float64(v[0]-v[1])) <= 1e-12) {
					t.Errorf("%s is %v, want %v", name, v[0], v[1])
				}
			}
			for j, from := range c.order {
				if got.AUC[j] != want.AUC[from] {
					t.Errorf("AUC %v, want %v in the order %v", got.AUC, want.AUC, c.order)
				}
			}
		})
	}
	// The same numbers from predict.
	s := summaryOf(t, "predict", "model.npz", "-X", "X.svm", "-y", "X.svm", "-o", "p.npy")
	if s.MultiLabel == nil || s.MultiLabel.MeanAUC != want.MeanAUC || !slices.Equal(s.MultiLabel.Labels, []int64{5, 7, 9, 20}) {
		t.Errorf("predict: %+v", s.MultiLabel)
	}
	// A test file without one of the labels, whose area is null.
	writeFile(t, "fewer.svm", []byte(strings.ReplaceAll(strings.ReplaceAll(string(readFile(t, "X.svm")), "7,20 ", "20 "), "\n7 ", "\n ")))
	s = summaryOf(t, "predict", "model.npz", "-X", "X.svm", "-y", "fewer.svm", "-o", "p.npy")
	if s.MultiLabel == nil || s.MultiLabel.AUC[1] != 0 || s.MultiLabel.AUC[0] != want.AUC[0] {
		t.Errorf("predict: %+v", s.MultiLabel)
	}
	fail(t, 2, []string{"s.npy has 4 columns", "fewer.svm has 3 labels, 5, 9, 20", "--columns"}, "eval", "-y", "fewer.svm", "--predictions", "s.npy", "--multilabel")
	writeFile(t, "new.svm", []byte("8 1:1\n5 2:1\n"))
	fail(t, 2, []string{"new.svm has the label 8", "5, 7, 9, 20"}, "predict", "model.npz", "-X", "X.svm", "-y", "new.svm", "-o", "none.npy")
	fail(t, 2, []string{"y.npy has 90×1 values for 90 points of 4"}, "predict", "model.npz", "-X", "X.svm", "-y", "y.npy", "-o", "none.npy")
}

// Labels with names, by the ids of points, go through a fit, a prediction and a measurement, whatever the order of columns.
func TestNamedLabels(t *testing.T) {
	intoSeveral(t)
	x, whole := readBlock(t, "X.npy"), readBlock(t, "whole.npy")
	points, labels, truth := "id,u,v\n", "image,dog,car,sea,all\n", "id,sea,all,dog,car\n"
	for i := range blobCount {
		points += fmt.Sprintf("img%d,%v,%v\n", i, x.At(i, 0), x.At(i, 1))
		if row := whole.RawRowView(i); i%3 == 0 {
			labels += fmt.Sprintf("img%d,%v,%v,%v,%v\n", i, row[0], row[1], row[2], row[3])
		}
	}
	for i := blobCount - 1; i >= 0; i-- {
		row := whole.RawRowView(i)
		truth += fmt.Sprintf("img%d,%v,%v,%v,%v\n", i, row[2], row[3], row[0], row[1])
	}
	writeFile(t, "points.csv", []byte(points))
	writeFile(t, "labels.csv", []byte(labels))
	writeFile(t, "truth.csv", []byte(truth))
	inOrder := "sea,all,dog,car\n"
	for i := range blobCount {
		row := whole.RawRowView(i)
		inOrder += fmt.Sprintf("%v,%v,%v,%v\n", row[2], row[3], row[0], row[1])
	}
	writeFile(t, "inorder.csv", []byte(inOrder))

	out := succeed(t, strings.Fields("fit --model vvmr points.csv labels.csv --gamma-a 1e-2 --gamma-i 1e-3 -o named.npz")...)
	if !strings.Contains(out, "30 of 90 points labeled, 4 labels") {
		t.Errorf("fit prints %s", out)
	}
	if out := succeed(t, "info", "named.npz", "--json"); !strings.Contains(out, `"labels":["all","car","dog","sea"]`) {
		t.Errorf("info: %s", out)
	}
	measured := summaryOf(t, "predict", "named.npz", "points.csv", "-y", "truth.csv", "-o", "scores.csv")
	if head, _, _ := strings.Cut(string(readFile(t, "scores.csv")), "\n"); head != "id,score_all,score_car,score_dog,score_sea" {
		t.Errorf("header %s", head)
	}
	var got struct{ metrics.MultiLabelReport }
	must(t, json.Unmarshal([]byte(succeed(t, "eval", "--json", "-q", "-y", "truth.csv", "--predictions", "scores.csv")), &got))
	if !slices.Equal(got.Names, []string{"all", "car", "dog", "sea"}) || got.Points != blobCount || !(got.MeanAUC > 0.9) {
		t.Errorf("%+v", got)
	}
	if m := measured.MultiLabel; m == nil || m.MeanAUC != got.MeanAUC || !slices.Equal(m.Names, got.Names) {
		t.Errorf("predict measures %+v, eval %+v", m, got)
	}

	// An array does not name its columns.
	succeed(t, "predict", "named.npz", "points.csv", "-o", "scores.npy")
	for columns, warns := range map[string]bool{"": true, " --columns all,car,dog,sea": false} {
		o := bigfit(t, strings.Fields("eval -y inorder.csv --predictions scores.npy"+columns)...)
		if o.code != 0 || strings.Contains(o.stderr, "they are taken as all, car, dog, sea") != warns {
			t.Errorf("eval%s: %d, %s", columns, o.code, o.stderr)
		}
	}

	writeFile(t, "other.csv", []byte(strings.Replace(truth, "sea", "cat", 1)))
	fail(t, 2, []string{"other.csv has the label cat", "all, car, dog, sea"}, "predict", "named.npz", "points.csv", "-y", "other.csv", "-o", "none.csv")
	fail(t, 2, []string{"other.csv has the label cat", "score_cat"}, "eval", "-y", "other.csv", "--predictions", "scores.csv")
}

func TestBadVVMR(t *testing.T) {
	intoSeveral(t)
	spec := &modelSpec{all.Learner("vvmr"), "vvmr"}
	succeed(t, fitLine(spec)...)
	must(t, npy.WriteFile("two.npy", []int{2, 2}, []float64{0, 1, 1, 0}))
	must(t, npy.WriteFile("four.npy", []int{4, 4}, []float64{0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0}))
	must(t, npy.WriteFile("odd.npy", []int{4, 4}, []float64{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}))
	must(t, npy.WriteFile("mixed.npy", []int{blobCount, 2}, append(slices.Repeat([]float64{0, 1}, blobCount-1), -1, 1)))
	writeFile(t, "bad.svm", []byte("1,x 1:1\n"))
	fit := "fit --model vvmr -X X.npy -y Y.npy --gamma-a 1 --gamma-i 1 -o none.npz "
	for _, c := range []struct {
		line string
		want []string
	}{
		{fit + "--gamma-o 2", []string{"--gamma-o is 2", "from 0 to 1"}},
		{fit + "--gamma-o 0.5", []string{"--gamma-o is 0.5", "give --output-graph or --output-neighbors"}},
		{fit + "--gamma-o 0.5 --output-neighbors 1 --output-graph four.npy", []string{"--output-neighbors makes a graph of the outputs", "give one of them"}},
		{fit + "--gamma-o 0.5 --output-graph two.npy", []string{"two.npy is 2×2 for 4 outputs"}},
		{fit + "--gamma-o 0.5 --output-graph odd.npy", []string{"odd.npy", "symmetric"}},
		{fit + "--gamma-o 0.5 --output-graph nowhere.npz", []string{"nowhere.npz", "no such file"}},
		{fit + "--approximation fourier", []string{`--approximation is "fourier"`, "exact, nystrom or matrix-free", "vvmr"}},
		{fit + "--features 10", []string{"--features is not for vvmr"}},
		{fit + "--unlabeled 3", []string{"--unlabeled is for classes"}},
		{fit + "--labels 91", []string{"Y.npy", "91"}},
		{fit + "-y y.npy", []string{"y.npy", "label 0 of point", "--regression"}},
		{fit + "-y mixed.npy", []string{"mixed.npy", "−1 and 0"}},
		{fit + "-y bad.svm", []string{"bad.svm", "line 1", `"1,x"`}},
		{"fit --model rls -X X.npy -y y.npy --gamma-a 1 --gamma-o 1 -o none.npz", []string{"--gamma-o is not for rls, but for vvmr"}},
		{"fit --model vvmr -y Y.npy --gamma-a 1 --gamma-i 1 -o none.npz", []string{"needs labels (-y) and points (-X)"}},
		{"fit --model vvmr -X X.npy -y Y.npy --gamma-a 1 --gamma-i 1 --gamma-o 1 --output-graph two.npy -o two.npy", []string{"two.npy is both read and written"}},
		{"plot model.npz -X X.npy -o none.png", []string{"model.npz is a vvmr model of 4 outputs", "no surface"}},
		{"predict model.npz -X X.npy --unlabeled 3 -o none.npy", []string{"--unlabeled is for classes"}},
		{"eval -y whole.npy --predictions Y.npy --scores Y.npy", []string{"--scores", "--predictions"}},
		{"eval -y whole.npy --predictions Y.npy --positive 1", []string{"--positive"}},
		{"eval -y whole.npy --predictions Y.npy --unlabeled 1", []string{"--unlabeled"}},
		{"eval -y whole.npy --predictions Y.npy --columns 1,2,3,4", []string{"--columns names labels", "numbers its columns"}},
		{"eval -y X.svm --predictions whole.npy --columns 5,5,7,9", []string{"--columns: the label 5 is there twice"}},
		{"eval -y X.svm --predictions whole.npy --columns 5,7,9,8", []string{"X.svm has the label 20", "--columns"}},
		{"eval -y X.svm --predictions whole.npy --multilabel --regression", []string{"contradict"}},
		{"eval -y whole.npy --predictions Y.npy", []string{"Y.npy: row 0, column 0 is NaN"}},
		{"eval -y whole.npy --predictions mixed.npy", []string{"whole.npy has 4 columns and mixed.npy has 2"}},
		{"eval -y whole.npy --predictions two.npy", []string{"two.npy has 2 rows for 90 points"}},
		{"eval -y y.npy --predictions whole.npy --multilabel", []string{"y.npy", "label 0 of point"}},
	} {
		t.Run(c.line, func(t *testing.T) { fail(t, 2, c.want, strings.Fields(c.line)...) })
	}
	// Numbers that look like labels may be values all the same.
	if out := succeed(t, "eval", "-y", "whole.npy", "--predictions", "whole.npy", "--regression"); !strings.Contains(out, "RMSE 0,") {
		t.Errorf("eval --regression: %s", out)
	}
}
