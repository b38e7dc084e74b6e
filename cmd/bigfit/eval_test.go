package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
)

func TestEval(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, npy.WriteFile("y.npy", nil, []int64{0, 0, 3, 3, 3, -1}))
	must(t, npy.WriteFile("p.npy", nil, []int64{0, 3, 3, 3, 0, 0}))
	must(t, npy.WriteFile("s.npy", []int{6, 2}, []float64{9, 1, 4, 6, 3, 7, 2, 8, 5, 5, math.NaN(), 0}))
	must(t, npy.WriteFile("s1.npy", nil, []float64{1, 6, 7, 8, 5, 0}))
	must(t, npy.WriteFile("s3.npy", []int{6, 3}, []float64{9, 0, 1, 4, 0, 6, 3, 0, 7, 2, 0, 8, 5, 0, 5, 0, 0, 0}))
	out := succeed(t, "eval", "-y", "y.npy", "--predictions", "p.npy")
	for _, w := range []string{"error 40.00 % of 5 points", "class  points", "1 points without a true value"} {
		if !strings.Contains(out, w) {
			t.Errorf("no %q in\n%s", w, out)
		}
	}
	var r struct {
		Points  int
		LeftOut int `json:"left_out"`
		Error   float64
		MacroF1 float64 `json:"macro_f1"`
		Classes []struct {
			Class      int64
			PRBEP, AUC *float64
		}
		Positive *struct {
			Class      int64
			PRBEP, AUC *float64
		}
	}
	evaluate := func(line string) {
		t.Helper()
		r.Positive, r.Classes = nil, nil
		if err := json.Unmarshal([]byte(succeed(t, append(strings.Fields(line), "--json")...)), &r); err != nil {
			t.Fatal(err)
		}
	}
	evaluate("eval -y y.npy --predictions p.npy --scores s.npy")
	if r.Points != 5 || r.LeftOut != 1 || r.Error != 0.4 || r.Positive != nil || len(r.Classes) != 2 {
		t.Errorf("%+v", r)
	}
	// Of the columns of either class 5 of 6 pairs are in order.
	for _, k := range r.Classes {
		if k.AUC == nil || math.Abs(*k.AUC-5./6) > 1e-12 {
			t.Errorf("class %d: AUC %v", k.Class, k.AUC)
		}
	}
	for _, line := range []string{"--scores s.npy --positive 3", "--scores s1.npy --positive 3", "--scores s3.npy --columns 0,1,3 --positive 3"} {
		evaluate("eval -y y.npy --predictions p.npy " + line)
		if p := r.Positive; p == nil || p.Class != 3 || math.Abs(*p.PRBEP-2./3) > 1e-12 || math.Abs(*p.AUC-5./6) > 1e-12 {
			t.Errorf("%s: %+v", line, r.Positive)
		}
	}
	evaluate("eval -y y.npy --predictions p.npy --scores s1.npy") // for the larger class
	if r.Classes[0].AUC != nil || r.Classes[1].AUC == nil {
		t.Errorf("a single column: %+v", r.Classes)
	}
	evaluate("eval -y y.npy --predictions p.npy --unlabeled none")
	if r.Points != 6 || r.LeftOut != 0 || r.Error != 0.5 {
		t.Errorf("%+v", r)
	}
}

// TestEvalPredict: eval agrees with the error that predict prints.
func TestEvalPredict(t *testing.T) {
	intoBlobs(t)
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "9")
	want := errorOf(t, "predict", "model.npz", "-X", "new.npy", "-y", "newy.npy", "--scores", "scores.npy")
	if e := errorOf(t, "eval", "-y", "newy.npy", "--predictions", "pred.npy", "--scores", "scores.npy"); math.Abs(100*e-want) > 1e-9 {
		t.Errorf("eval finds an error of %v, predict %v %%", e, want)
	}
}

func TestEvalValues(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, npy.WriteFile("y.npy", nil, []float64{1, 2, math.NaN(), 3, 6}))
	must(t, npy.WriteFile("p.npy", []int{5, 1}, []float32{1, 4, 9, 2, 4}))
	must(t, npy.WriteFile("pi.npy", nil, []int64{1, 4, 9, 2, 4}))
	must(t, npy.WriteFile("yi.npy", nil, []int64{1, 2, -1, 3, 6}))
	for _, line := range []string{"eval -y y.npy --predictions p.npy", "eval -y y.npy --predictions pi.npy --regression"} {
		if out := succeed(t, strings.Fields(line)...); !strings.Contains(out, "RMSE 1.5, mean absolute error 1.25, R² 0.357143 on 4 points") {
			t.Errorf("%s: %s", line, out)
		}
		out := succeed(t, append(strings.Fields(line), "--json")...)
		if !strings.Contains(out, `"rmse":1.5`) || !strings.Contains(out, `"left_out":1`) {
			t.Errorf("%s: %s", line, out)
		}
	}
	// Tables are joined by the ids of the predictions, whatever the columns of the truth are called.
	must(t, os.WriteFile("p.csv", []byte("id,value,low,high\na,1,0,2\nb,4,3,5\nc,2,1.5,2.5\nd,4.5,0,9\n"), 0o666))
	must(t, os.WriteFile("truth.csv", []byte("bottle,quality\nd,6.5\nb,2\na,1\n"), 0o666))
	out := succeed(t, "eval", "truth.csv", "p.csv", "--interval", "p.csv")
	for _, want := range []string{"RMSE 1.63299, mean absolute error 1.33333", "on 3 points", "cover 66.67 %", "1 points without a true value"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %q", out, want)
		}
	}
	// Floats that are classes.
	if out := succeed(t, "eval", "-y", "yi.npy", "--predictions", "p.npy", "--regression=false", "--json"); !strings.Contains(out, `"error":0.75`) {
		t.Error(out)
	}
}

func TestBadEval(t *testing.T) {
	t.Chdir(t.TempDir())
	nan := math.NaN()
	must(t, npy.WriteFile("y.npy", nil, []int64{0, 1, 2, -1}))
	must(t, npy.WriteFile("p.npy", nil, []int64{0, 1, 2, 2}))
	must(t, npy.WriteFile("few.npy", nil, []int64{0, 1, 2}))
	must(t, npy.WriteFile("minus.npy", nil, []int64{0, 1, -1, 2}))
	must(t, npy.WriteFile("marks.npy", nil, []int64{-1, -1, -1, -1}))
	must(t, npy.WriteFile("half.npy", nil, []float64{0.5, 1, 2, 0}))
	must(t, npy.WriteFile("gap.npy", nil, []float64{0, nan, 2, 0}))
	must(t, npy.WriteFile("gaps.npy", nil, []float64{nan, nan, nan, nan}))
	must(t, npy.WriteFile("s.npy", []int{4, 3}, make([]float64, 12)))
	must(t, npy.WriteFile("s1.npy", []int{4, 1}, make([]float64, 4)))
	must(t, npy.WriteFile("s3.npy", []int{3, 3}, make([]float64, 9)))
	must(t, npy.WriteFile("sgap.npy", []int{4, 3}, []float64{0, 0, 0, 0, 0, nan, 0, 0, 0, 0, 0, 0}))
	must(t, npy.WriteArchive("two.npz", []archive.Array{{Name: "a", Data: []int64{1}}, {Name: "b", Data: []int64{1}}}))
	truncate(t, "p.npy", "short.npy", -3)
	for _, c := range []struct {
		line string
		want []string
	}{
		{"eval", []string{"-y", "--predictions", "see bigfit eval --help"}},
		{"eval -y y.npy", []string{"--predictions"}},
		{"eval --predictions p.npy", []string{"-y"}},
		{"eval y.npy", []string{"--predictions", "-y", "see bigfit eval --help"}},
		{"eval -y none.npy --predictions p.npy", []string{"none.npy", "no such file"}},
		{"eval -y y.npy --predictions none.npy", []string{"none.npy", "no such file"}},
		{"eval -y y.npy --predictions short.npy", []string{"short.npy", "29", "32"}},
		{"eval -y y.npy --predictions two.npz", []string{"two.npz", `"a"`, `"b"`, "KEY"}},
		{"eval -y y.npy --predictions few.npy", []string{"y.npy has 4 labels", "few.npy has 3 predictions"}},
		{"eval -y y.npy --predictions minus.npy", []string{"-1", "y.npy", "minus.npy", "--unlabeled none"}},
		{"eval -y marks.npy --predictions p.npy", []string{"marks.npy", "no point has a label"}},
		{"eval -y half.npy --predictions p.npy", []string{"half.npy", "row 0", "0.5", "--regression"}},
		{"eval -y y.npy --predictions gap.npy --regression=false", []string{"gap.npy", "row 1", "y.npy"}},
		{"eval -y y.npy --predictions p.npy --positive 7", []string{"--positive is 7", "0, 1, 2"}},
		{"eval -y y.npy --predictions p.npy --positive one", []string{`--positive: "one"`, "integer"}},
		{"eval -y y.npy --predictions p.npy --scores none.npy", []string{"none.npy", "no such file"}},
		{"eval -y y.npy --predictions p.npy --scores s3.npy", []string{"s3.npy has 3 rows", "4 points"}},
		{"eval -y y.npy --predictions p.npy --scores s1.npy", []string{"s1.npy has one column", "0, 1, 2", "--positive"}},
		{"eval -y y.npy --predictions p.npy --scores sgap.npy", []string{"sgap.npy", "row 1, column 2"}},
		{"eval -y p.npy --predictions p.npy --scores s.npy --columns 0,1", []string{"--columns names 2", "3 columns"}},
		{"eval -y p.npy --predictions p.npy --scores s.npy --columns 0,1,1", []string{"--columns", "twice"}},
		{"eval -y p.npy --predictions p.npy --scores s.npy --columns 0,x", []string{"--columns"}},
		{"eval -y minus.npy --unlabeled none --predictions p.npy --scores s.npy", []string{"s.npy has 3 columns for 4 classes", "--columns"}},
		{"eval -y y.npy --predictions p.npy --unlabeled x", []string{`--unlabeled is "x"`}},
		{"eval -y half.npy --predictions gap.npy", []string{"gap.npy", "row 1, column 0", "half.npy"}},
		{"eval -y gaps.npy --predictions half.npy", []string{"gaps.npy", "NaN"}},
		{"eval -y few.npy --predictions half.npy", []string{"few.npy is 3×1", "half.npy is 4×1"}},
		{"eval -y half.npy --predictions half.npy --scores s.npy", []string{"--scores", "--regression=false"}},
		{"eval -y y.npy --predictions p.npy --memory-limit 10", []string{"p.npy", "--memory-limit"}},
	} {
		fail(t, 2, c.want, strings.Fields(c.line)...)
	}
	succeed(t, "eval", "-y", "y.npy", "--predictions", "minus.npy", "--unlabeled", "-1")
}

// Predictions before the truth would only exchange precision and recall: what predict writes is recognized.
func TestEvalOrder(t *testing.T) {
	intoNames(t)
	succeed(t, strings.Fields("fit --model lgc -X points.csv --id img --drop remark,kind -y few.csv -o m.npz --predictions pred.csv")...)
	for _, args := range []string{"names.npy pred.csv", "-y names.npy --predictions pred.csv", "few.csv pred.csv"} {
		if o := bigfit(t, strings.Fields("eval "+args)...); o.code != 0 {
			t.Errorf("%s: %s", args, o.stderr)
		}
	}
	fail(t, 2, []string{"pred.csv has the columns that bigfit predict writes", "bigfit eval few.csv pred.csv"}, "eval", "pred.csv", "few.csv")
	// Two models may be compared, and flags say which is which.
	succeed(t, "eval", "pred.csv", "pred.csv")
}
