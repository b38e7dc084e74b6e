package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/models/metrics"
)

// intoWeather goes to a folder with points, two values of each third of them in units that differ by a thousand, and the
// values of all with the columns in another order, with ids and without.
func intoWeather(t *testing.T) {
	t.Helper()
	intoSeveral(t)
	x := readBlock(t, "X.npy")
	points, values, truth, bare := "id,u,v\n", "station,temp,load\n", "load,id,temp\n", "load,temp\n"
	for i := range blobCount {
		u, v := x.At(i, 0), x.At(i, 1)
		temp, load := 20+u, (v-u)/1000
		points += fmt.Sprintf("st%d,%v,%v\n", i, u, v)
		if i%3 == 0 {
			values += fmt.Sprintf("st%d,%v,%v\n", i, temp, load)
		}
		truth += fmt.Sprintf("%v,st%d,%v\n", load, i, temp)
		bare += fmt.Sprintf("%v,%v\n", load, temp)
	}
	writeFile(t, "points.csv", []byte(points))
	writeFile(t, "values.csv", []byte(values))
	writeFile(t, "truth.csv", []byte(truth))
	writeFile(t, "bare-truth.csv", []byte(bare))
}

// Several values a point, under their names and by the ids of points, go through a fit, a prediction and a measurement,
// whatever the order of columns.
func TestNamedValues(t *testing.T) {
	intoWeather(t)
	for _, model := range []string{"vvmr --gamma-a 1e-5 --gamma-i 1e-5", "laprls --gamma-a 1e-5 --gamma-i 1e-5", "harmonic"} {
		o := bigfit(t, strings.Fields("fit --regression points.csv values.csv -o m.npz --model "+model)...)
		if o.code != 0 || !strings.Contains(o.stderr, "the columns are the values temp, load") || !strings.Contains(o.out, "30 of 90 points labeled") {
			t.Fatalf("%s: %s%s", model, o.out, o.stderr)
		}
		if out := succeed(t, "info", "m.npz", "--json"); !strings.Contains(out, `"values":["temp","load"]`) {
			t.Errorf("%s: info: %s", model, out)
		}
		measured := summaryOf(t, "predict", "m.npz", "points.csv", "-y", "truth.csv", "-o", "p.csv")
		if head, _, _ := strings.Cut(string(readFile(t, "p.csv")), "\n"); head != "id,value_temp,value_load" {
			t.Errorf("%s: header %s", model, head)
		}
		var got metrics.ValueReport
		must(t, json.Unmarshal([]byte(succeed(t, "eval", "--json", "-q", "-y", "truth.csv", "--predictions", "p.csv")), &got))
		if len(got.Columns) != 2 || strings.Join(got.Names, " ") != "load temp" || got.Points != 2*blobCount {
			t.Fatalf("%s: %+v", model, got)
		}
		for j, c := range got.Columns {
			if !(c.R2 > 0.8) || c.Points != blobCount {
				t.Errorf("%s: %s: %+v", model, got.Names[j], c)
			}
		}
		if mean := (got.Columns[0].R2 + got.Columns[1].R2) / 2; math.Abs(float64(got.R2-mean)) > 1e-12 {
			t.Errorf("%s: R² %v of the mean %v", model, got.R2, mean)
		}
		if measured.RMSE == nil || math.Abs(*measured.RMSE-got.RMSE) > 1e-12 {
			t.Errorf("%s: predict measures %v, eval %v", model, measured.RMSE, got.RMSE)
		}
		if out := succeed(t, "eval", "-q", "-y", "truth.csv", "--predictions", "p.csv"); !strings.Contains(out, "180 values of 2 columns") {
			t.Error(out)
		}

		// An array does not name its columns.
		succeed(t, "predict", "m.npz", "points.csv", "-o", "p.npy")
		o = bigfit(t, "eval", "-y", "bare-truth.csv", "--predictions", "p.npy")
		if o.code != 0 || !strings.Contains(o.stderr, "p.npy does not name its columns: they are taken as load, temp") {
			t.Errorf("%s: %s", model, o.stderr)
		}
	}

	// The names go through updates, with the columns in any order, to intervals and to values that may be wrong.
	more, late, lateValues := "load,temp,id\n", "id,u,v\n", "load,id,temp\n"
	x := readBlock(t, "X.npy")
	for i := range 10 {
		u, v := x.At(i, 0), x.At(i, 1)
		more += fmt.Sprintf("%v,%v,st%d\n", (v-u)/1000, 20+u, i)
		late += fmt.Sprintf("new%d,%v,%v\n", i, u+0.01, v)
		lateValues += fmt.Sprintf("%v,new%d,%v\n", (v-u)/1000, i, 20+u)
	}
	writeFile(t, "more.csv", []byte(more))
	writeFile(t, "late.csv", []byte(late))
	writeFile(t, "late-values.csv", []byte(lateValues))
	succeed(t, strings.Fields("fit --regression points.csv values.csv --model harmonic --calibrate 5 -o m.npz")...)
	succeed(t, strings.Fields("update m.npz -y more.csv -o m2.npz")...)
	succeed(t, strings.Fields("update m2.npz late.csv -y late-values.csv -o m3.npz")...)
	succeed(t, strings.Fields("predict m3.npz points.csv --interval 0.9 -o p.csv")...)
	if head, _, _ := strings.Cut(string(readFile(t, "p.csv")), "\n"); head != "id,value_temp,value_load,low_temp,low_load,high_temp,high_load" {
		t.Errorf("header %s", head)
	}
	succeed(t, strings.Fields("suspects m3.npz -o s.csv")...)
	if head, _, _ := strings.Cut(string(readFile(t, "s.csv")), "\n"); head != "id,row,value_temp,value_load,predicted_temp,predicted_load,score" {
		t.Errorf("header %s", head)
	}
	var got metrics.ValueReport
	must(t, json.Unmarshal([]byte(succeed(t, "eval", "--json", "-q", "-y", "truth.csv", "--predictions", "p.csv")), &got))
	if strings.Join(got.Names, " ") != "load temp" || !(got.R2 > 0.8) {
		t.Errorf("%+v", got)
	}
	if out := succeed(t, strings.Fields("eval -q -y truth.csv --predictions p.csv --interval p.csv")...); !strings.Contains(out, "of the true values") {
		t.Error(out)
	}

	writeFile(t, "other.csv", []byte(strings.Replace(string(readFile(t, "truth.csv")), "load", "wind", 1)))
	fail(t, 2, []string{"other.csv has no column load", "the model", "wind, temp"}, "predict", "m.npz", "points.csv", "-y", "other.csv", "-o", "none.csv")
	fail(t, 2, []string{"p.csv has no column wind", "other.csv"}, "eval", "-y", "other.csv", "--predictions", "p.csv", "--regression")
	writeFile(t, "wider.csv", []byte(strings.ReplaceAll(string(readFile(t, "truth.csv")), "\n", ",7\n")))
	writeFile(t, "wider.csv", []byte(strings.Replace(string(readFile(t, "wider.csv")), "temp,7", "temp,extra", 1)))
	if o := bigfit(t, "predict", "m3.npz", "points.csv", "-y", "wider.csv", "-o", "p.csv"); o.code != 0 || !strings.Contains(o.stderr, "left out, as the model does not have them: extra") {
		t.Error(o.stderr)
	}
	// Where values are not asked for, a table of several numbers is asked for one column.
	fail(t, 2, []string{"values.csv", "which column holds the labels"}, "fit", "points.csv", "values.csv", "--model", "lgc", "-o", "none.npz")
	writeFile(t, "bare.csv", []byte("st0,1,2\nst1,2,3\n"))
	fail(t, 2, []string{"bare.csv", "no header"}, "fit", "points.csv", "bare.csv", "--regression", "--model", "harmonic", "-o", "none.npz")
}

// Values far from 0 are warned about where a model draws its answers there, and not where it has an intercept.
func TestFarFromZero(t *testing.T) {
	intoWeather(t)
	const text = "the values of column temp lie around"
	for model, warns := range map[string]bool{
		"vvmr --gamma-a 1e-5 --gamma-i 1e-5":               true,
		"laprls --gamma-a 1e-5 --gamma-i 1e-5":             true,
		"laprls --gamma-a 1e-5 --gamma-i 1e-5 --intercept": false,
		"tikhonov --gamma-a 1e-5 --gamma-i 1e-5":           true,
		"harmonic":                                         false,
	} {
		o := bigfit(t, strings.Fields("fit --regression points.csv values.csv -o m.npz --model "+model)...)
		if o.code != 0 || strings.Contains(o.stderr, text) != warns {
			t.Errorf("%s: %s", model, o.stderr)
		}
		if remedy := strings.Contains(o.stderr, "give --intercept, or subtract the mean"); remedy != (warns && strings.HasPrefix(model, "laprls")) {
			t.Errorf("%s: %s", model, o.stderr)
		}
	}
}
