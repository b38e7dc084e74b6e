package bigfit_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bigfit/bigfit"
)

// The default model answers for columns in any units as for columns that were standardized before: for its own points and
// new ones, from a file, and after an update.
func TestUnitsDoNotMatter(t *testing.T) {
	t.Parallel()
	const n, fresh = 400, 100
	raw, group := blobs(n+fresh, 3)
	var even [][]float64
	for i, row := range raw {
		// Groups that overlap: members with kernels get a weight, too.
		for j := range row {
			row[j] += 0.8 * math.Sin(float64(7*i+3*j))
		}
		row[1] *= 2000
		row[3] = row[3]/100 + 5
		even = append(even, append([]float64(nil), row...))
	}
	for j := range 4 {
		var mean, square float64
		for _, row := range raw[:n] {
			mean += row[j] / n
		}
		for _, row := range raw[:n] {
			square += (row[j] - mean) * (row[j] - mean) / n
		}
		for _, row := range even {
			row[j] = (row[j] - mean) / math.Sqrt(square)
		}
	}

	fitted := func(x [][]float64) *bigfit.Model {
		m, err := bigfit.Fit(t.Context(), bigfit.Rows(x[:n]), bigfit.Names(some(group[:n], 60)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m, want := fitted(raw), fitted(even)
	if !strings.Contains(m.String(), "rls") {
		t.Fatalf("no member with kernels: %s", m)
	}
	same := func(when string, m, want *bigfit.Model) {
		t.Helper()
		got, err := m.Predict(t.Context(), bigfit.Rows(raw))
		if err != nil {
			t.Fatal(err)
		}
		expected, err := want.Predict(t.Context(), bigfit.Rows(even))
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Len() {
			for c, p := range got.Probabilities(i) {
				if d := math.Abs(p - expected.Probabilities(i)[c]); !(d < 1e-3) {
					t.Fatalf("%s, point %d: probabilities %v, want %v", when, i, got.Probabilities(i), expected.Probabilities(i))
				}
			}
		}
	}
	same("as fitted", m, want)

	path := filepath.Join(t.TempDir(), "m.npz")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	m, err := bigfit.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	same("loaded", m, want)

	var none bigfit.Labels
	if m, err = m.Update(t.Context(), bigfit.Rows(raw[n:]), none); err != nil {
		t.Fatal(err)
	}
	if want, err = want.Update(t.Context(), bigfit.Rows(even[n:]), none); err != nil {
		t.Fatal(err)
	}
	same("updated", m, want)

	// Without it the large column decides.
	m, err = bigfit.Fit(t.Context(), bigfit.Rows(raw[:n]), bigfit.Names(some(group[:n], 60)),
		&bigfit.Options{Parameters: bigfit.Parameters{"standardize": false}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), bigfit.Rows(raw))
	if err != nil {
		t.Fatal(err)
	}
	best, err := want.Predict(t.Context(), bigfit.Rows(even))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := wrong(p, group), wrong(best, group); a < 2*b {
		t.Errorf("%d wrong answers without, %d with standardized columns", a, b)
	}
}
