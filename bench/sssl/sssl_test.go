package sssl

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenfunction"
)

func TestSSSLOnTheSphere(t *testing.T) {
	x, values := synthetic.Climate(20, 45, 1, 0.1, 1)
	s := &ssslSet{"sphere", x, values}
	d, err := s.draw(t.Context(), 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.errors(t.Context(), 9)
	if err != nil {
		t.Fatal(err)
	}
	_, std := results.MeanStd(values)
	for m, v := range e {
		if mean := ssslMethods[m] == "mean"; !(v < 0.05*std*std) && !mean || mean && !(v > 0.5*std*std && v < 2*std*std) {
			t.Errorf("%s: squared error %v of a variance of %v", ssslMethods[m], v, std*std)
		}
	}
	if about := d.describe(); strings.Count(about, "eigenfunctions capture") != len(ssslWidths) {
		t.Error(about)
	}
}

// The parts of all draws are a permutation, and each is one with the rest.
func TestSSSLSplit(t *testing.T) {
	const n = 123
	var tested []int
	for draw := range ssslDraws {
		train, test := ssslSplit(n, 5, draw)
		if len(test) != n/ssslDraws && len(test) != n/ssslDraws+1 || slices.IsSorted(train) {
			t.Errorf("draw %d: %d points to test on", draw, len(test))
		}
		tested = append(tested, test...)
		all := slices.Sorted(slices.Values(slices.Concat(train, test)))
		for i, v := range all {
			if v != i || len(all) != n {
				t.Fatalf("draw %d: %v", draw, all)
			}
		}
	}
	slices.Sort(tested)
	for i, v := range tested {
		if v != i || len(tested) != n {
			t.Fatalf("tested: %v", tested)
		}
	}
}

func TestRank(t *testing.T) {
	train := &data.Dense[float64]{Rows: 4, Cols: 2, Data: []float64{3, 7, -1, 7, 3, 7, 10, 7}}
	test := &data.Dense[float64]{Rows: 3, Cols: 2, Data: []float64{-2, 6, 3, 7, 4, 8}}
	Rank(train, test)
	if want := []float64{0.5, 0.5, 0.125, 0.5, 0.5, 0.5, 0.875, 0.5}; !slices.Equal(train.Data, want) {
		t.Errorf("%v, want %v", train.Data, want)
	}
	if want := []float64{0, 0, 0.5, 0.5, 0.75, 1}; !slices.Equal(test.Data, want) {
		t.Errorf("%v, want %v", test.Data, want)
	}
}

// The number of eigenfunctions and the width are those of the least risk.
func TestSSSLChoice(t *testing.T) {
	x, values := synthetic.Climate(20, 45, 1, 3, 1)
	s := &ssslSet{"sphere", x, values}
	d, err := s.draw(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	y := mat.NewDense(len(d.y), 1, slices.Repeat([]float64{math.NaN()}, len(d.y)))
	for i := range 72 {
		y.Set(i, 0, d.y[i])
	}
	targets, err := models.ValueTargets(y)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.sssl(context.Background(), targets)
	if err != nil {
		t.Fatal(err)
	}
	least, sigma, number := math.Inf(1), 0.0, 0
	for _, w := range d.widths {
		f, err := eigenfunction.Fit(t.Context(), kernel.Source{Kernel: w.kernel, Points: d.train}, targets, &eigenfunction.Settings{Landmarks: ssslLandmarks, Folds: ssslFolds, Repeats: ssslRepeats, Seed: d.seed}, eigenfunction.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range []int{10, 20, 30, 40, 50, len(f.Risk)} {
			if j <= len(f.Risk) && f.Risk[j-1] < least {
				least, sigma, number = f.Risk[j-1], w.kernel.Sigma, j
			}
		}
	}
	if m.Settings.Eigenfunctions != number || m.Kernel.Sigma != sigma {
		t.Errorf("%d eigenfunctions of width %v, want %d of %v", m.Settings.Eigenfunctions, m.Kernel.Sigma, number, sigma)
	}
}

// What is above SSSL is the mean of the differences with its standard error.
func TestSSSLRecords(t *testing.T) {
	records := ssslRecords("wine", 1, [][]float64{{3, 0, 0, 1, 0, 0}, {5, 0, 0, 4, 0, 0}, {4, 0, 0, 1, 0, 0}}, "σ")
	if len(records) != len(ssslMethods) {
		t.Fatalf("%d records", len(records))
	}
	table := ssslTable([]string{"wine"})
	krr := records[0]
	if v := table.Value(krr, "above_sssl"); !(math.Abs(v.Number-2) <= 1e-15 && math.Abs(v.Deviation-1/math.Sqrt(3)) <= 1e-15) {
		t.Errorf("%v ± %v", v.Number, v.Deviation)
	}
	if v := table.Value(krr, "error_mean"); !(v.Number == 4 && v.Deviation == 1 && v.Published == 0.927) {
		t.Errorf("%+v", v)
	}
	if v := table.Value(records[4], "error_mean"); !math.IsNaN(v.Published) {
		t.Errorf("the second LapRLS beside %v", v.Published)
	}
	for i, r := range records {
		if remark := table.Value(r, "note").Text; table.Value(r, "percent").Number != 3 || (remark == "σ") != (i == 0) {
			t.Errorf("%+v", r)
		}
	}
}

func TestSSSLTable(t *testing.T) {
	table := ssslTable([]string{"wine", "sphere"})
	table.Notes = nil
	for _, set := range []string{"wine", "sphere"} {
		for p := range 2 {
			errs := [][]float64{{0.61, 0.6, 0.6, 0.62, 0.6, 0.7}, {0.6146, 0.6, 0.6, 0.6346, 0.6, 0.7}}
			remark := ""
			if p == 0 {
				remark = "σ of " + set
			}
			table.Records = append(table.Records, ssslRecords(set, p, errs, remark)...)
		}
	}
	got := table.Markdown()
	want := `| wine, squared error | KRR | SVR | LapRLS | SSSL | LapRLS, γ_A ≥ 1e-6 | mean |
|---|---|---|---|---|---|---|
| 2 % | 0.6123 ± 0.0033 (0.931) | 0.6 ± 0 (0.669) | 0.6 ± 0 (0.682) | 0.6273 ± 0.01 (0.612) | 0.6 ± 0 | 0.7 ± 0 |
| 3 % | 0.6123 ± 0.0033 (0.927) | 0.6 ± 0 (0.642) | 0.6 ± 0 (0.653) | 0.6273 ± 0.01 (0.606) | 0.6 ± 0 | 0.7 ± 0 |

| wine, above SSSL ± standard error | KRR | SVR | LapRLS | SSSL | LapRLS, γ_A ≥ 1e-6 | mean |
|---|---|---|---|---|---|---|
| 2 % | -0.015 ± 0.005 | -0.027 ± 0.0073 | -0.027 ± 0.0073 | 0 | -0.027 ± 0.0073 | +0.073 ± 0.0073 |
| 3 % | -0.015 ± 0.005 | -0.027 ± 0.0073 | -0.027 ± 0.0073 | 0 | -0.027 ± 0.0073 | +0.073 ± 0.0073 |

| sphere, squared error |`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, want := range []string{"| 3 % | 0.6123 ± 0.0033 | 0.6 ± 0 |", "\n\n* wine: σ of wine\n* sphere: σ of sphere\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
	d := table.Drawings()
	if len(d) != 2 || d[0].Title != "wine" || d[1].Title != "sphere" || d[0].XLabel != "labeled, %" || d[0].YLabel != "squared error" || d[0].LogX || !d[0].LogY {
		t.Fatalf("%+v", d)
	}
	if wine, sphere := d[0].Curves, d[1].Curves; len(wine) != 7 || len(sphere) != 6 || wine[3].Name != "SSSL" ||
		!reflect.DeepEqual(wine[6], results.Curve{Name: "paper, SSSL", X: []float64{2, 3}, Y: []float64{0.612, 0.606}, Published: true}) {
		t.Errorf("curves %+v", d)
	}
	table.Records = table.Records[3:4]
	table.Records[0][3].Deviation = 0.01
	text, err := json.Marshal(table)
	if want := `[{"set":"wine","percent":2,"method":"SSSL","error_mean":0.6273,"error_std":0.01,"paper":0.612,"above_sssl":0,"above_sssl_std_err":0}]`; err != nil || string(text) != want {
		t.Errorf("%v, got %s, want %s", err, text, want)
	}
}

// What is said of the claim is counted in the records.
func TestSSSLClaim(t *testing.T) {
	table := ssslTable([]string{"wine"})
	for p := range ssslShares {
		errs := []float64{0.5, 0.7, 0.7, 0.6, 0.7, 0.9} // KRR is ahead, of the others none
		if p == 3 {
			errs[0], errs[2] = 0.65, 0.55 // and LapRLS once
		}
		table.Records = append(table.Records, ssslRecords("wine", p, [][]float64{errs, errs}, "")...)
	}
	said := strings.Join(ssslClaim(table, "wine"), "\n")
	for _, want := range []string{"KRR is ahead of SSSL at 7 of 8 rates (in the paper at 0)", "SVR is ahead of SSSL at 0 of 8 rates (in the paper at 0)", "LapRLS is ahead of SSSL at 1 of 8 rates (in the paper at 1)"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	if said := ssslClaim(table, "sphere"); said != nil {
		t.Errorf("of a set that the paper has not: %q", said)
	}
}
