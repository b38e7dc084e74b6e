package metrics

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Four points by hand: sure of 0.9, 0.9, 0.6 and 0.5, of which the second and the last are wrong.
func TestProbabilityReport(t *testing.T) {
	p := mat.NewDense(4, 2, []float64{0.9, 0.1, 0.9, 0.1, 0.4, 0.6, 0.5, 0.5})
	r, err := NewProbabilityReport([]int{0, 1, 1, -1}, p)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		if !(math.Abs(got-want) < 1e-12) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("log loss", r.LogLoss, -(math.Log(0.9)+math.Log(0.1)+math.Log(0.6)+math.Log(1e-15))/4)
	near("Brier score", r.Brier, (0.02+1.62+0.32+1.5)/4)
	near("calibration error", r.ECE, (math.Abs(1-1.8)+math.Abs(1-0.6)+math.Abs(0-0.5))/4)
	points := 0
	for _, b := range r.Bins {
		points += b.Points
	}
	if len(r.Bins) != ReliabilityBins || points != 4 {
		t.Errorf("%d bins of %d points", len(r.Bins), points)
	}
	for _, c := range r.Coverage {
		if c.Threshold == 0.6 {
			near("coverage above 0.6", c.Share, 0.75)
			near("error above 0.6", float64(c.Error), 1./3)
		}
	}
	if text := r.String(); !strings.Contains(text, "expected calibration error 0.4250") {
		t.Errorf("%s", text)
	}
	for what, bad := range map[string][]float64{"a sum of 0.9": {0.8, 0.1}, "a negative one": {-0.1, 1.1}, "NaN": {math.NaN(), 1}} {
		if _, err := NewProbabilityReport([]int{0}, mat.NewDense(1, 2, bad)); err == nil || !strings.Contains(err.Error(), "row 0") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := NewProbabilityReport([]int{0}, p); err == nil {
		t.Error("one class for four rows is accepted")
	}
}

func TestIntervalReport(t *testing.T) {
	r, err := NewIntervalReport([]float64{1, 2, 3, 4}, []float64{0, 2, 4, 3}, []float64{2, 3, 5, 6})
	if err != nil || r.Coverage != 0.75 || !(math.Abs(r.Width-7./4) < 1e-12) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range [][2]float64{{2, 1}, {math.NaN(), 1}, {0, math.Inf(1)}} {
		if _, err := NewIntervalReport([]float64{1}, bad[:1], bad[1:]); err == nil {
			t.Errorf("the interval %v is accepted", bad)
		}
	}
}
