package bigfit_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bigfit/bigfit"
)

// named are the ids of n points from number first on.
func named(first, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("tree %d", first+i)
	}
	return out
}

// byID gives the first count points their groups.
func byID(ids, group []string, count int) map[string]string {
	out := map[string]string{}
	for i := range count {
		out[ids[i]] = group[i]
	}
	return out
}

// TestLoopByIDs goes once around by ids: a fit, its file, points to label, labels that join, change and
// leave, new points, points to forget, answers and suspects.
func TestLoopByIDs(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"", "lgc", "eigenmap", "geodesic"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			x, group := blobs(300, 1)
			ids := named(0, 300)
			o := &bigfit.Options{Model: model}
			fitted, err := bigfit.Fit(ctx, bigfit.Rows(x).WithIDs(ids), bigfit.NamesByID(byID(ids, group, 30)), o)
			if err != nil {
				t.Fatal(err)
			}

			// Equal labels by place give the same answers.
			plain, err := bigfit.Fit(ctx, bigfit.Rows(x), bigfit.Names(some(group, 30)), o)
			if err != nil {
				t.Fatal(err)
			}
			if training(t, fitted) != training(t, plain) {
				t.Error("labels by id give other answers than labels by place")
			}
			path := filepath.Join(t.TempDir(), "m.npz")
			if err := fitted.Save(path); err != nil {
				t.Fatal(err)
			}
			m, err := bigfit.Load(path)
			if err != nil {
				t.Fatal(err)
			}

			choices, err := m.Next(ctx, 5, &bigfit.NextSettings{ClosedIDs: ids[40:60]})
			if err != nil {
				t.Fatal(err)
			}
			labels := map[string]string{ids[0]: "elm", ids[1]: group[1], ids[2]: ""}
			for _, c := range choices {
				if c.ID != ids[c.Point] || 40 <= c.Point && c.Point < 60 {
					t.Errorf("point %d, %q, is to be labeled", c.Point, c.ID)
				}
				labels[c.ID] = group[c.Point]
			}
			if m, err = m.Update(ctx, bigfit.Points{}, bigfit.NamesByID(labels)); err != nil {
				t.Fatal(err)
			}
			if got := m.Classes(); len(got) != 4 || got[3] != "elm" {
				t.Errorf("classes %v", got)
			}

			// Points of the next day, of which two have labels, beside a label of a point of the model.
			more, moreGroup := blobs(12, 2)
			fresh := named(1000, 12)
			joined := bigfit.NamesByID(map[string]string{fresh[0]: moreGroup[0], fresh[5]: moreGroup[5], ids[0]: group[0]})
			if m, err = m.Update(ctx, bigfit.Rows(more).WithIDs(fresh), joined); err != nil {
				t.Fatal(err)
			}
			if got := m.IDs(); len(got) != 312 || got[299] != ids[299] || got[311] != fresh[11] {
				t.Errorf("%d ids, the last %q", len(got), got[len(got)-1])
			}

			if m, err = m.Forget(ctx, ids[7], fresh[11], ids[3]); err != nil {
				t.Fatal(err)
			}
			if got := m.IDs(); len(got) != 309 || got[3] != ids[4] || got[308] != fresh[10] {
				t.Errorf("%d ids behind the points that were forgotten, the last %q", len(got), got[len(got)-1])
			}
			p, err := m.Training(ctx)
			if err != nil {
				t.Fatal(err)
			}
			right := 0
			for i := range p.Len() {
				if at := strings.TrimPrefix(p.ID(i), "tree "); len(at) < 4 && p.Name(i) == group[number(t, at)] {
					right++
				}
			}
			if right < 290 {
				t.Errorf("%d of 298 answers are right", right)
			}
			answer, err := m.Predict(ctx, bigfit.Rows(more).WithIDs(fresh))
			if err != nil || answer.ID(3) != fresh[3] {
				t.Errorf("the answer for %q is named %q: %v", fresh[3], answer.ID(3), err)
			}
		})
	}
}

// training writes all answers for the points of a model.
func training(t *testing.T, m *bigfit.Model) string {
	t.Helper()
	p, err := m.Training(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return answers(p)
}

// number reads digits.
func number(t *testing.T, text string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Suspects of all kinds of models are named, also of knn, whose file has its labeled points alone.
func TestSuspectsByID(t *testing.T) {
	t.Parallel()
	x, group := blobs(300, 1)
	ids := named(0, 300)
	labels := byID(ids, group, 60)
	labels[ids[17]] = "ash" // which is a cedar
	for _, model := range []string{"lgc", "knn", "rls"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			m, err := bigfit.Fit(t.Context(), bigfit.Rows(x).WithIDs(ids), bigfit.NamesByID(labels),
				&bigfit.Options{Model: model})
			if err != nil {
				t.Fatal(err)
			}
			check := func(m *bigfit.Model) {
				t.Helper()
				found, err := m.Suspects(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(found) == 0 || found[0].ID != ids[17] || found[0].Point != 17 {
					t.Errorf("suspects %+v", found)
				}
			}
			check(m)
			if model == "rls" {
				return // its file keeps no labels
			}

			path := filepath.Join(t.TempDir(), "m.npz")
			if err := m.Save(path); err != nil {
				t.Fatal(err)
			}
			if m, err = bigfit.Load(path); err != nil {
				t.Fatal(err)
			}
			check(m)
		})
	}
}

// Values of a regression join by id, and NaN takes one away.
func TestValuesByID(t *testing.T) {
	t.Parallel()
	x, y, truth := waves(100)
	ids := named(0, 100)
	values := map[string]float64{}
	for i, v := range y {
		if v == v {
			values[ids[i]] = v
		}
	}
	m, err := bigfit.Fit(t.Context(), bigfit.Rows(x).WithIDs(ids), bigfit.ValuesByID(values),
		&bigfit.Options{Model: "harmonic"})
	if err != nil {
		t.Fatal(err)
	}
	m, err = m.Update(t.Context(), bigfit.Points{}, bigfit.ValuesByID(map[string]float64{ids[50]: math.NaN(), ids[51]: 7}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Training(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Value(51) != 7 || p.Value(50) == truth[50] || p.Value(55) != truth[55] {
		t.Errorf("values %g, %g and %g", p.Value(51), p.Value(50), p.Value(55))
	}
}

// Faults of ids name the id and its places.
func TestBadIDs(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	x, group := blobs(30, 1)
	ids := named(0, 30)
	o := &bigfit.Options{Model: "lgc"}
	labels := bigfit.ClassesByID(map[string]int{ids[0]: 1, ids[1]: 2, ids[2]: 1})
	m, err := bigfit.Fit(ctx, bigfit.Rows(x).WithIDs(ids), labels, o)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := bigfit.Fit(ctx, bigfit.Rows(x), bigfit.Names(group), o)
	if err != nil {
		t.Fatal(err)
	}
	twice := named(0, 30)
	twice[9] = ids[4]
	empty := named(0, 30)
	empty[2] = ""
	fit := func(points bigfit.Points, y bigfit.Labels) error {
		_, err := bigfit.Fit(ctx, points, y, o)
		return err
	}
	update := func(m *bigfit.Model, points bigfit.Points, y bigfit.Labels) error {
		_, err := m.Update(ctx, points, y)
		return err
	}
	forget := func(m *bigfit.Model, ids ...string) error {
		_, err := m.Forget(ctx, ids...)
		return err
	}
	_, closed := m.Next(ctx, 2, &bigfit.NextSettings{ClosedIDs: []string{"oak"}})
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"twice":        {fit(bigfit.Rows(x).WithIDs(twice), labels), []string{"rows 4 and 9", "tree 4"}},
		"empty":        {fit(bigfit.Rows(x).WithIDs(empty), labels), []string{"row 2", "empty"}},
		"count":        {fit(bigfit.Rows(x).WithIDs(ids[1:]), labels), []string{"29 ids for 30 points"}},
		"unknown":      {fit(bigfit.Rows(x).WithIDs(ids), bigfit.NamesByID(map[string]string{"oak": "a", ids[0]: "b"})), []string{"1 of 2", `"oak"`, `"tree 0"`}},
		"no ids":       {fit(bigfit.Rows(x), labels), []string{"WithIDs"}},
		"no labels":    {fit(bigfit.Rows(x).WithIDs(ids), bigfit.NamesByID(nil)), []string{"no labels"}},
		"old id":       {update(m, bigfit.Rows(x[:2]).WithIDs([]string{"new", ids[3]}), bigfit.Labels{}), []string{"the new points: row 1", "tree 3", "row 3 of"}},
		"new, no ids":  {update(m, bigfit.Rows(x[:2]), bigfit.Labels{}), []string{"WithIDs", `"tree 0"`}},
		"model of no":  {update(plain, bigfit.Rows(x[:2]).WithIDs(ids[:2]), bigfit.Labels{}), []string{"have no ids"}},
		"labels of no": {update(plain, bigfit.Points{}, labels), []string{"WithIDs"}},
		"no label":     {update(m, bigfit.Points{}, bigfit.ClassesByID(nil)), []string{"no labels"}},
		"closed":       {closed, []string{"ClosedIDs", `"oak"`}},
		"forget":       {forget(m, ids[3], ids[4], ids[3]), []string{"ids 0 and 2", "tree 3"}},
		"forget none":  {forget(m), []string{"no points"}},
		"forget of no": {forget(plain, ids[3]), []string{"WithIDs"}},
		"forgotten":    {forget(m, "oak"), []string{`"oak"`, `"tree 0"`}},
	} {
		if c.err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(c.err.Error(), want) {
				t.Errorf("%s: %v; want %q", name, c.err, want)
			}
		}
	}
}
