package chart

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumericOrder(t *testing.T) {
	for _, want := range [][]string{
		{"k = 2", "k = 10"}, {"-1", "0", "1e-3x", "x"}, {"1e-6", "0.25", "0.5", "10"}, {"gamma 1e-6, k 3", "gamma 1e-6, k 20", "gamma 0.01, k 3"},
		{"class", "class 2", "class 10", "other"}, {"5 eigenvectors", "10 eigenvectors", "best"}, {"k-2", "k-10"},
	} {
		got := slices.Clone(want)
		slices.Reverse(got)
		slices.SortFunc(got, CompareNames)
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// Any three names have an order.
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"k", " ", "2", "10", ".", "-", "e", "", "nan", "é"}), 0, 5).Draw(t, "parts"), "")
		})
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if CompareNames(a, b) != -CompareNames(b, a) || (CompareNames(a, b) == 0) != (a == b) {
			t.Errorf("%q and %q: %d and %d", a, b, CompareNames(a, b), CompareNames(b, a))
		}
		if CompareNames(a, b) < 0 && CompareNames(b, c) < 0 && CompareNames(a, c) >= 0 {
			t.Errorf("%q < %q < %q, but not the first before the last", a, b, c)
		}
	})
}

// TestLegendOrder lists classes and curves by their numbers; colours stay those of the
// classes.
func TestLegendOrder(t *testing.T) {
	p, _ := drawn(t, &Scatter{Points: Points{X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}, Class: []int{0, 1, 2}, Classes: []string{"k = 10", "k = 2", "a"}}})
	var names []string
	for _, k := range p.Legend() {
		names = append(names, k.Name)
	}
	if want := []string{"a", "k = 2", "k = 10"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if s := p.Legend()[2].Swatch; !strings.Contains(s, "--c0") {
		t.Errorf("the first class is drawn as %s", s)
	}
	rows := []map[string]any{{"x": 1.0, "mean": 1.0, "k": "k = 10"}, {"x": 1.0, "mean": 1.0, "k": "k = 2"}}
	l, err := (&Table{"t.json", rows}).Lines(&Curves{X: "x", Value: "mean", By: []string{"k"}})
	if err != nil || l.Series[0].Name != "k = 2" {
		t.Errorf("%+v, %v", l, err)
	}
}
