package bigfit_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bigfit/bigfit"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
)

// A model that was written and read answers with the same bits, and says the same of itself.
func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"auto", "lgc", "eigenmap", "knn", "rls", "laprls-linear"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, x, _ := fit(t, 150, &bigfit.Options{Model: name})
			path := filepath.Join(t.TempDir(), "m.npz")
			if err := m.Save(path); err != nil {
				t.Fatal(err)
			}
			got, err := bigfit.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if got.Name() != name || got.String() != m.String() || got.Calibrated() != m.Calibrated() || !maps.Equal(got.Parameters(), m.Parameters()) {
				t.Errorf("%v, %v; want %v, %v", got, got.Parameters(), m, m.Parameters())
			}
			sameAnswers(t, got, m, x)

			// Once more, from the model that was read.
			again := filepath.Join(t.TempDir(), "again.npz")
			if err := got.Save(again); err != nil {
				t.Fatal(err)
			}
			_, first, err := all.Load(path, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, second, err := all.Load(again, 0)
			if err != nil || len(first.Hashes) == 0 || !maps.Equal(first.Hashes, second.Hashes) {
				t.Errorf("hashes %v, then %v: %v", first.Hashes, second.Hashes, err)
			}
		})
	}
}

// sameAnswers compares what two models answer for points.
func sameAnswers(t *testing.T, a, b *bigfit.Model, x [][]float64) {
	t.Helper()
	p, err := a.Predict(t.Context(), bigfit.Rows(x))
	if err != nil {
		t.Fatal(err)
	}
	q, err := b.Predict(t.Context(), bigfit.Rows(x))
	if err != nil {
		t.Fatal(err)
	}
	if answers(p) != answers(q) {
		t.Error("other answers")
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text.npz")
	if err := os.WriteFile(text, []byte("no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", filepath.Join(dir, "none.npz"), text, dir} {
		if m, err := bigfit.Load(path); m != nil || err == nil {
			t.Errorf("%q: a model: %v, error %v", path, m != nil, err)
		}
	}
	m, _, _ := fit(t, 60, &bigfit.Options{Model: "lgc"})
	if err := m.Save(filepath.Join(dir, "none", "m.npz")); err == nil {
		t.Error("a model was saved to a folder that is not there")
	}
}

func TestPredictRefuses(t *testing.T) {
	t.Parallel()
	m, _, _ := fit(t, 60, nil)
	for name, c := range map[string]struct {
		x    bigfit.Points
		want string
	}{
		"none":    {bigfit.Points{}, "there are no points"},
		"columns": {bigfit.Rows([][]float64{{1, 2}}), "2 columns"},
		"ragged":  {bigfit.Rows([][]float64{{1, 2, 3, 4}, {1}}), "row 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if p, err := m.Predict(t.Context(), c.x); p != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

// Goroutines share one model, and all of its methods: run with the race detector.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	log := 0
	fitted, x, _ := fit(t, 300, &bigfit.Options{Log: func(string) { log++ }, Progress: func(bigfit.Progress) { log++ }})
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := fitted.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := bigfit.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*bigfit.Model{"fitted": fitted, "loaded": loaded} {
		t.Run(name, func(t *testing.T) {
			want, err := m.Predict(t.Context(), bigfit.Rows(x))
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					if p, err := m.Predict(t.Context(), bigfit.Rows(x)); err != nil || answers(p) != answers(want) {
						t.Errorf("other answers: %v", err)
					}
					if _, err := m.Training(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Go(func() {
				if _, err := m.Next(t.Context(), 3, nil); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				if _, err := m.Suspects(t.Context(), &bigfit.SuspectSettings{Folds: 2}); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				if _, err := m.Update(t.Context(), bigfit.Rows(x[:3]), bigfit.Labels{}); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
		})
	}
	if log == 0 {
		t.Error("nothing was told")
	}
}

// What the package does not do is done with the packages below.
func TestUnderlying(t *testing.T) {
	t.Parallel()
	m, x, _ := fit(t, 60, &bigfit.Options{Model: "lgc"})
	p, err := m.Predict(t.Context(), bigfit.Rows(x))
	if err != nil {
		t.Fatal(err)
	}
	if n, c := p.Underlying().Scores.Dims(); n != 60 || c != 3 {
		t.Errorf("scores of %d×%d", n, c)
	}
	if o := m.Underlying().Output(); o.Kind != models.OutputClasses {
		t.Errorf("answers of kind %v", o.Kind)
	}
}
