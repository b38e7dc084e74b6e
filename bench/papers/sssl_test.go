package papers

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenfunction"
)

func TestSSSLOnTheSphere(t *testing.T) {
	x, values := data.Climate(20, 45, 1, 0.1, 1)
	s := &ssslSet{"sphere", x, values}
	d, err := s.draw(t.Context(), 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.errors(t.Context(), 9)
	if err != nil {
		t.Fatal(err)
	}
	_, std := meanStd(values)
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
	rank(train, test)
	if want := []float64{0.5, 0.5, 0.125, 0.5, 0.5, 0.5, 0.875, 0.5}; !slices.Equal(train.Data, want) {
		t.Errorf("%v, want %v", train.Data, want)
	}
	if want := []float64{0, 0, 0.5, 0.5, 0.75, 1}; !slices.Equal(test.Data, want) {
		t.Errorf("%v, want %v", test.Data, want)
	}
}

// The number of eigenfunctions and the width are those of the least risk.
func TestSSSLChoice(t *testing.T) {
	x, values := data.Climate(20, 45, 1, 3, 1)
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
	m, err := d.sssl(targets)
	if err != nil {
		t.Fatal(err)
	}
	least, sigma, number := math.Inf(1), 0.0, 0
	for _, w := range d.widths {
		f, err := eigenfunction.Fit(t.Context(), d.train, w.kernel, targets, &eigenfunction.Settings{Landmarks: ssslLandmarks, Folds: ssslFolds, Repeats: ssslRepeats, Seed: d.seed}, 0)
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

func TestMeanAbove(t *testing.T) {
	mean, stdErr := meanAbove([]float64{3, 5, 4}, []float64{1, 4, 1})
	if math.Abs(mean-2) > 1e-15 || math.Abs(stdErr-1/math.Sqrt(3)) > 1e-15 {
		t.Errorf("%v ± %v", mean, stdErr)
	}
}

func TestSSSLMarkdown(t *testing.T) {
	table := &SSSLTables{Notes: []string{"wine: σ"}}
	for _, set := range []string{"wine", "sphere"} {
		for _, percent := range []int{2, 3} {
			for _, m := range ssslMethods {
				r := SSSLResult{Set: set, Percent: percent, Method: m, Mean: 0.6123, Std: 0.02, Paper: Number(math.NaN()), Above: -0.0123, StdErr: 0.004}
				if set == "wine" {
					r.Paper = 0.5
				}
				table.Results = append(table.Results, r)
			}
		}
	}
	text := table.Markdown()
	for _, want := range []string{"| wine, squared error | KRR |", "| 3 % | 0.6123 ± 0.02 (0.5) |", "| 2 % | 0.6123 ± 0.02 |", "| sphere, above SSSL ± standard error | KRR |", "| 3 % | -0.012 ± 0.004 | -0.012 ± 0.004 | -0.012 ± 0.004 | 0 | -0.012", "* wine: σ\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
}
