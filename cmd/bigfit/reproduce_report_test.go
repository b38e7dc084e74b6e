package main

import (
	"context"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/report"
)

func TestMarkdownBlocks(t *testing.T) {
	got := markdownBlocks("above\n\n| a | b |\n|---|---|\n| 1 | |\n| 2 | x ± y (3) |\n\nnote\nsecond\n\n| c |\n|---|\n| – |\n\n* one\n* two\n")
	want := []report.Block{
		&report.Table{Caption: "above", Header: []string{"a", "b"}, Rows: [][]string{{"1", ""}, {"2", "x ± y (3)"}}},
		report.Paragraph("note"),
		&report.Table{Caption: "second", Header: []string{"c"}, Rows: [][]string{{"–"}}},
		report.Paragraph("* one\n* two"),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// TestReproductionFigures checks the curves and bars of results made up.
func TestReproductionFigures(t *testing.T) {
	none := papers.Number(math.NaN())
	type figures = func(context.Context) ([]report.Block, error)
	get := func(f figures) []report.Block {
		t.Helper()
		b, err := f(context.Background())
		must(t, err)
		return b
	}
	check := func(got []report.Series, want ...report.Series) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	chart := get(eigenmapCurves([]papers.Result{
		{Labels: 20, Method: "eigenmap", Eigenvectors: 5, Mean: 50, Std: 1, Paper: 53.7},
		{Labels: 20, Method: "eigenmap", Eigenvectors: 10, Mean: 30, Std: 2, Paper: 35.8},
		{Labels: 20, Method: "knn", K: 3, Mean: 40, Std: 3, Paper: 53.4},
		{Labels: 50, Method: "eigenmap", Eigenvectors: 10, Mean: 20, Std: 4, Paper: 24.7},
		{Labels: 100, Method: "eigenmap", Eigenvectors: 20, Mean: 6, Std: 5, Paper: none},
	}))[0].(*report.LineChart)
	check(chart.Series,
		report.Series{Name: "5 eigenvectors", X: []float64{20}, Y: []float64{50}, Err: []float64{1}},
		report.Series{Name: "10 eigenvectors", X: []float64{20, 50}, Y: []float64{30, 20}, Err: []float64{2, 4}},
		report.Series{Name: "20 eigenvectors", X: []float64{100}, Y: []float64{6}, Err: []float64{5}},
		report.Series{Name: "best k-NN", X: []float64{20}, Y: []float64{40}, Err: []float64{3}},
		report.Series{Name: "paper, best number of eigenvectors", X: []float64{20, 50}, Y: []float64{35.8, 24.7}, Dashed: true})

	chart = get(multiLabelCurves([]papers.MultiLabelResult{
		{GammaI: 0, GammaO: 0, Mean: 80}, {GammaI: 0, GammaO: 1, Mean: 81},
		{GammaI: 0.1, GammaO: 0, Mean: 82, Std: 1}, {GammaI: 0.1, GammaO: 1, Mean: 83, Std: 2},
	}))[0].(*report.LineChart)
	check(chart.Series,
		report.Series{Name: "γ_O = 0", X: []float64{0.1}, Y: []float64{82}, Err: []float64{1}},
		report.Series{Name: "γ_O = 1", X: []float64{0.1}, Y: []float64{83}, Err: []float64{2}})

	charts := get(ssslCurves([]papers.SSSLResult{
		{Set: "wine", Percent: 2, Method: "KRR", Mean: 0.9, Std: 0.1, Paper: 0.931},
		{Set: "wine", Percent: 2, Method: "SSSL", Mean: 0.6, Std: 0.2, Paper: 0.612},
		{Set: "sphere", Percent: 2, Method: "SSSL", Mean: 0.3, Std: 0.3, Paper: none},
	}))
	check(charts[0].(*report.LineChart).Series,
		report.Series{Name: "KRR", X: []float64{2}, Y: []float64{0.9}, Err: []float64{0.1}},
		report.Series{Name: "SSSL", X: []float64{2}, Y: []float64{0.6}, Err: []float64{0.2}},
		report.Series{Name: "paper, SSSL", X: []float64{2}, Y: []float64{0.612}, Err: []float64{0}, Dashed: true})
	check(charts[1].(*report.LineChart).Series, report.Series{Name: "SSSL", X: []float64{2}, Y: []float64{0.3}, Err: []float64{0.3}})

	var results []papers.MachineResult
	for _, method := range []string{"SVM", "LapSVM"} {
		for row := range mostBars {
			results = append(results, papers.MachineResult{Row: string(rune('a' + row)), Method: method, Mean: float64(row), Paper: 9.7})
		}
	}
	bars := get(machineBars(results))
	if want := (&report.Bars{Caption: "b", Unit: "%", Rows: []report.Bar{{Name: "SVM", Value: 1, Note: "paper 9.7 %"}, {Name: "LapSVM", Value: 1, Note: "paper 9.7 %"}}}); len(bars) != mostBars || !reflect.DeepEqual(bars[1], want) {
		t.Errorf("%d lists, the second %+v", len(bars), bars[1])
	}
	if machineBars(append(results, papers.MachineResult{Row: "more"})) != nil {
		t.Error("bars of too many rows")
	}
}

// TestReproduceReport runs an experiment with a report.
func TestReproduceReport(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("sets", 0o777))
	x, y := data.TwoMoons(100, 0.05, 1)
	must(t, npy.WriteArchive("sets/sindhwani_2moons.npz", []npy.Entry{
		{Name: "X", Shape: []int{100, 2}, Data: x.Data}, {Name: "y", Data: y.Index},
		{Name: "Xt", Shape: []int{100, 2}, Data: x.Data}, {Name: "yt", Data: y.Index},
	}))
	out := succeed(t, "reproduce", "moons", "--data", "sets", "--report", "r.html", "-q")
	page := string(readFile(t, "r.html"))
	for _, w := range []string{"<h1>bigfit reproduce moons</h1>", "LapRLS, Xt</th>", ">γ_I = 10</td>", "Two moons, one label a class", ">γ_I = 0: ", "<dt>data</dt><dd>sets</dd>", ">machines</th>"} {
		if !strings.Contains(page, w) {
			t.Errorf("the report lacks %q", w)
		}
	}
	if n := strings.Count(page, `<p class="panel">`); n != 6 {
		t.Errorf("%d panels", n)
	}
	if strings.Contains(page, "<dt>splits</dt>") {
		t.Error("a setting that moons does not have")
	}
	for _, line := range strings.Split(out, "\n") {
		for _, cell := range strings.Split(line, " | ") {
			if strings.Contains(cell, "±") && !strings.Contains(page, ">"+strings.Trim(cell, "| ")+"<") {
				t.Errorf("the report lacks the cell %q", cell)
			}
		}
	}
	fail(t, 2, []string{"--report", ".html"}, "reproduce", "moons", "--data", "sets", "--report", "sets/sindhwani_2moons.npz")
	fail(t, 2, []string{"--report", ".html"}, "reproduce", "moons", "--data", "sets", "--report=")
	fail(t, 1, []string{"nowhere/r.html cannot be written"}, "reproduce", "moons", "--data", "absent", "--report", "nowhere/r.html")
	fail(t, 2, []string{"absent has none of"}, "reproduce", "moons", "--data", "absent", "--report", "new.html")
}
