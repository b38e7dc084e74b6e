package bigfit_test

import (
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bigfit/bigfit"
	"github.com/bigfit/bigfit/models/active"
)

// A model that was loaded chooses as the one that was saved.
func TestNext(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"auto", "lgc", "eigenmap"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, x, group := fit(t, 300, &bigfit.Options{Model: name})
			choices, err := m.Next(t.Context(), 10, nil)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[int]bool{}
			labels := some(group, 30)
			for _, c := range choices {
				if c.Point < 30 || c.Point >= len(x) || seen[c.Point] || c.Name == "" || !(c.Probability >= 0 && c.Probability <= 1) {
					t.Errorf("%+v", c)
				}
				seen[c.Point] = true
				labels[c.Point] = group[c.Point]
			}
			if len(seen) != 10 {
				t.Errorf("%d points were chosen", len(seen))
			}
			better, err := m.Update(t.Context(), bigfit.Points{}, bigfit.Names(labels))
			if err != nil {
				t.Fatal(err)
			}
			after, err := better.Next(t.Context(), 5, &bigfit.NextSettings{Rule: active.VOpt, Closed: []int{299}, Pairs: 20})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range after {
				if seen[c.Point] || c.Point == 299 {
					t.Errorf("point %d is labeled or closed", c.Point)
				}
			}

			path := filepath.Join(t.TempDir(), "m.npz")
			if err := m.Save(path); err != nil {
				t.Fatal(err)
			}
			loaded, err := bigfit.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := loaded.Next(t.Context(), 10, nil); err != nil || !reflect.DeepEqual(again, choices) {
				t.Errorf("a model that was loaded chooses %v, %v", again, err)
			}
		})
	}
}

// Points that are chosen before any label are of all groups, and their labels make a model that goes on and
// says which error to expect.
func TestFirst(t *testing.T) {
	t.Parallel()
	x, group := blobs(300, 3)
	for _, rule := range []active.Rule{active.Combined, active.Typical, active.Cover} {
		choices, err := bigfit.First(t.Context(), bigfit.Rows(x), 12, nil, &bigfit.NextSettings{Rule: rule})
		if err != nil {
			t.Fatal(err)
		}
		labels := make([]string, len(x))
		groups := map[string]bool{}
		for _, c := range choices {
			if labels[c.Point] != "" || c.Name != "" || !math.IsNaN(c.Probability) || c.Rule == active.Combined {
				t.Errorf("%v: %+v", rule, c)
			}
			labels[c.Point] = group[c.Point]
			groups[group[c.Point]] = true
		}
		if len(choices) != 12 || len(groups) != len(count(group)) {
			t.Errorf("%v: %d points of the groups %v", rule, len(choices), groups)
		}
		if rule != active.Combined {
			continue
		}

		m, err := bigfit.Fit(t.Context(), bigfit.Rows(x), bigfit.Names(labels), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Next(t.Context(), 5, nil); err != nil {
			t.Error(err)
		}
		near, err := m.Expect(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		far, err := m.Expect(t.Context(), 100)
		if err != nil || near == nil || far == nil {
			t.Fatalf("%v, %v, %v", near, far, err)
		}
		if !(far.Error < near.Error && near.Error < near.Today && near.Low < near.Error && near.Error < near.High) {
			t.Errorf("%+v and %+v", near, far)
		}
		if _, err := m.Expect(t.Context(), 0); err == nil {
			t.Error("the error with no more labels")
		}
	}
	for _, c := range []struct {
		count int
		rule  active.Rule
	}{{0, active.Combined}, {301, active.Combined}, {3, active.Uncertainty}, {3, active.Committee}} {
		if _, err := bigfit.First(t.Context(), bigfit.Rows(x), c.count, nil, &bigfit.NextSettings{Rule: c.rule}); err == nil {
			t.Errorf("%d points by %v are no error", c.count, c.rule)
		}
	}
}

// count counts names.
func count(names []string) map[string]int {
	out := map[string]int{}
	for _, name := range names {
		out[name]++
	}
	return out
}

// Models that need no graph, and regressions.
func TestNextOfOthers(t *testing.T) {
	t.Parallel()
	m, _, _ := fit(t, 120, &bigfit.Options{Model: "rls"})
	if c, err := m.Next(t.Context(), 4, nil); err != nil || len(c) != 4 {
		t.Errorf("rls: %v, %v", c, err)
	}

	x, y, _ := waves(100)
	v, err := bigfit.Fit(t.Context(), bigfit.Rows(x), bigfit.Values(y), &bigfit.Options{Model: "rls"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := v.Next(t.Context(), 4, nil)
	if err != nil || len(c) != 4 || c[0].Name != "" || c[0].Rule != active.SOpt {
		t.Errorf("values: %v, %v", c, err)
	}
	if e, err := v.Expect(t.Context(), 4); e != nil || err != nil {
		t.Errorf("the share of wrong answers of a regression is %v, %v", e, err)
	}
	if _, err := v.Next(t.Context(), 4, &bigfit.NextSettings{Rule: active.Uncertainty}); err == nil {
		t.Error("the uncertainty of a regression")
	}
	if _, err := v.Suspects(t.Context(), nil); err == nil {
		t.Error("suspects of a regression")
	}
}

// Labels that were swapped come first.
func TestSuspects(t *testing.T) {
	t.Parallel()
	x, group := blobs(240, 1)
	labels := some(group, 90)
	planted := map[int]bool{5: true, 40: true, 77: true}
	for i := range planted {
		labels[i] = "ash"
		if group[i] == "ash" {
			labels[i] = "birch"
		}
	}
	for _, name := range []string{"auto", "lgc", "harmonic", "rls"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := bigfit.Fit(t.Context(), bigfit.Rows(x), bigfit.Names(labels), &bigfit.Options{Model: name})
			if err != nil {
				t.Fatal(err)
			}
			list, err := m.Suspects(t.Context(), &bigfit.SuspectSettings{Count: 3})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				if !planted[s.Point] || s.Given != labels[s.Point] || s.Suggested != group[s.Point] || !(s.Score > 0 && s.Score <= 1) {
					t.Errorf("%+v, which is a %s", s, group[s.Point])
				}
			}
			if len(list) != 3 {
				t.Errorf("%d suspects", len(list))
			}
		})
	}
}

// A file that does not hold what is asked for says so.
func TestNextAndSuspectsRefuse(t *testing.T) {
	t.Parallel()
	m, _, _ := fit(t, 60, &bigfit.Options{Model: "lgc"})
	machine, _, _ := fit(t, 60, &bigfit.Options{Model: "rls"})
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := machine.Save(path); err != nil {
		t.Fatal(err)
	}
	bare, err := bigfit.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	next := func(m *bigfit.Model, n int, s *bigfit.NextSettings) func() error {
		return func() error {
			_, err := m.Next(t.Context(), n, s)
			return err
		}
	}
	suspects := func(m *bigfit.Model, s *bigfit.SuspectSettings) func() error {
		return func() error {
			_, err := m.Suspects(t.Context(), s)
			return err
		}
	}
	update := func(m *bigfit.Model, x bigfit.Points, y bigfit.Labels) func() error {
		return func() error {
			_, err := m.Update(t.Context(), x, y)
			return err
		}
	}
	one := bigfit.Rows([][]float64{{1, 2, 3, 4}})
	for name, c := range map[string]struct {
		call func() error
		want string
	}{
		"none":               {next(m, 0, nil), "0 points"},
		"too many":           {next(m, 31, nil), "30 of 60"},
		"closed":             {next(m, 1, &bigfit.NextSettings{Closed: []int{60}}), "point 60"},
		"rule":               {next(m, 1, &bigfit.NextSettings{Rule: 99}), "rule"},
		"pairs":              {next(m, 1, &bigfit.NextSettings{Pairs: -1}), "Pairs is -1"},
		"one fold":           {suspects(m, &bigfit.SuspectSettings{Folds: 1}), "Folds is 1"},
		"folds":              {suspects(m, &bigfit.SuspectSettings{Folds: 31}), "31"},
		"count":              {suspects(m, &bigfit.SuspectSettings{Count: -1}), "Count is -1"},
		"next from a file":   {next(bare, 1, nil), "does not hold the points"},
		"file":               {suspects(bare, nil), "does not hold the points"},
		"nothing new":        {update(m, bigfit.Points{}, bigfit.Labels{}), "neither points nor labels"},
		"columns":            {update(m, bigfit.Rows([][]float64{{1}}), bigfit.Labels{}), "1 numbers"},
		"lengths":            {update(m, one, bigfit.Names([]string{"ash", "ash"})), "2 labels"},
		"values for classes": {update(m, one, bigfit.Values([]float64{1})), "same kind"},
		"no labels":          {update(m, one, bigfit.Names([]string{""})), "none of the 1 points"},
		"infinite":           {update(m, bigfit.Rows([][]float64{{1, 2, 3, math.Inf(1)}}), bigfit.Labels{}), "row 0"},
		"machine":            {update(machine, one, bigfit.Labels{}), "fit it anew"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := c.call(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}
