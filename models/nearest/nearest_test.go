package nearest

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/param"
)

// decoder knows the models of this package.
func decoder(string) models.Decoder { return Learner{}.Decode }

// With the number of votes chosen by the fit, and given.
func TestConform(t *testing.T) {
	for _, v := range []models.Values{nil, {"vote": "3", "distance": "angle"}} {
		modeltest.Conform(t, Learner{}, modeltest.Suite{Values: v})
	}
}

// nearestCase draws 120 points on a grid with many ties, half of them labeled.
func nearestCase(t *testing.T) (*data.Dense[float64], *data.Labels) {
	t.Helper()
	rng := rand.New(rand.NewPCG(2, 3))
	x, class := data.NewDense[float64](120, 2), map[int]int64{}
	for i := range 120 {
		x.Row(i)[0], x.Row(i)[1] = float64(rng.IntN(12)), float64(rng.IntN(12))
		if i%2 == 0 {
			class[i] = int64(x.Row(i)[0]) / 4
			if rng.IntN(5) == 0 {
				class[i] = int64(rng.IntN(3))
			}
		}
	}
	return x, modeltest.Labels(120, class)
}

// On the points without a label it is KNN.
func TestNearest(t *testing.T) {
	x, y := nearestCase(t)
	for _, points := range []data.Points{x, data.ToSparse(x)} {
		for _, metric := range []knn.Metric{knn.Euclidean, knn.Angle} {
			for _, k := range []int{1, 4, 1000} {
				want, err := KNN(t.Context(), points, metric, nil, y, []int{k})
				if err != nil {
					t.Fatal(err)
				}
				m, err := Fit(t.Context(), points, y, &Settings{Vote: k, Metric: metric}, nil)
				if err != nil {
					t.Fatal(err)
				}
				p, err := m.Predict(t.Context(), points, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i, c := range p.Classes {
					if y.Index[i] == data.Unlabeled && c != want[0][i] {
						t.Errorf("%T, %v, k = %d: class %d of point %d, want %d", points, metric, k, c, i, want[0][i])
					}
					if top := slices.Max(p.Scores.RawRowView(i)); p.Scores.At(i, int(c)) != top {
						t.Errorf("%v, k = %d: point %d has class %d and shares %v", metric, k, i, c, p.Scores.RawRowView(i))
					}
				}
			}
		}
	}
}

func TestNearestLeaveOneOut(t *testing.T) {
	x, y := nearestCase(t)
	m, err := Fit(t.Context(), x, y, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := y.Labeled()
	best := VoteError{Error: 2}
	for at, k := range []int{1, 3, 5, 7, 9, 11, 13, 15} {
		wrong := 0
		for p, i := range rows {
			others := slices.Delete(slices.Clone(rows), p, p+1)
			got, err := KNN(t.Context(), x, knn.Euclidean, nil, y.Keep(others), []int{k})
			if err != nil {
				t.Fatal(err)
			}
			if got[0][i] != y.Index[i] {
				wrong++
			}
		}
		want := VoteError{k, float64(wrong) / float64(len(rows))}
		if m.Tried[at] != want {
			t.Errorf("leave-one-out says %+v, want %+v", m.Tried[at], want)
		}
		if want.Error < best.Error {
			best = want
		}
	}
	if m.Settings.Vote != best.Vote || len(m.Tried) != 8 {
		t.Errorf("%d votes of %v", m.Settings.Vote, m.Tried)
	}
}

func TestNearestFile(t *testing.T) {
	x, y := nearestCase(t)
	for _, points := range []data.Points{x, data.ToSparse(x)} {
		m, err := Fit(t.Context(), points, y, &Settings{Method: knn.Brute}, nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "m.npz")
		if err := models.Save(path, m, map[string]string{"points": "abc"}); err != nil {
			t.Fatal(err)
		}
		got, mf, err := models.Load(path, 0, decoder)
		if err != nil {
			t.Fatal(err)
		}
		back := got.(*Model)
		if back.Settings != m.Settings || !slices.Equal(back.Labels, m.Labels) || !slices.Equal(back.Classes, m.Classes) || !reflect.DeepEqual(back.Tried, m.Tried) ||
			!reflect.DeepEqual(back.Points, m.Points) || mf.Hashes["points"] != "abc" {
			t.Errorf("%+v came back as %+v", m, back)
		}
		a, err := m.Predict(t.Context(), points, &models.PredictSettings{Neighbors: 2})
		if err != nil {
			t.Fatal(err)
		}
		b, err := back.Predict(t.Context(), points, &models.PredictSettings{Neighbors: 2})
		if err != nil || !modeltest.SamePrediction(a, b) {
			t.Errorf("other answers after loading, %v", err)
		}
		for what, damage := range map[string]func(m *Model){
			"60 points for 59 rows": func(m *Model) { m.Labels = m.Labels[1:] },
			"label 3 of point 7":    func(m *Model) { m.Labels[7] = 3 },
			"a vote of 0":           func(m *Model) { m.Settings.Vote = 0 },
			"no points":             func(m *Model) { m.Points = nil },
		} {
			bad := &Model{Settings: m.Settings, Classes: m.Classes, Labels: slices.Clone(m.Labels), Neighborhood: m.Keep()}
			damage(bad)
			if err := models.Save(path, bad, nil); err != nil {
				t.Fatal(err)
			}
			if _, _, err := models.Load(path, 0, decoder); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

func TestNearestRefuses(t *testing.T) {
	x, y := nearestCase(t)
	for what, fit := range map[string]func() (*Model, error){
		"a vote of -1":   func() (*Model, error) { return Fit(t.Context(), x, y, &Settings{Vote: -1}, nil) },
		"120 labels":     func() (*Model, error) { return Fit(t.Context(), data.Select(x, []int{0}), y, nil, nil) },
		"no point is":    func() (*Model, error) { return Fit(t.Context(), x, y.Keep(nil), nil, nil) },
		"all labels are": func() (*Model, error) { return Fit(t.Context(), x, y.Keep([]int{0}), nil, nil) },
	} {
		if m, err := fit(); m != nil || err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	in := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, y), Values: models.Values{"vote": "0"}}
	if m, err := (Learner{}).Fit(t.Context(), in); m != nil || err == nil || !strings.Contains(param.Plain(err.Error()), "vote is 0; it must be at least 1") {
		t.Errorf("a vote of 0: %v", err)
	}
	in.Values = nil
	if c, err := (Learner{}).Cost(in); err != nil || param.Plain(c.Remedy) != "use fewer labels" {
		t.Errorf("the remedy is %q, %v", c.Remedy, err)
	}
	m, err := Fit(t.Context(), x, y, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Predict(t.Context(), x, &models.PredictSettings{Neighbors: -1}); err == nil {
		t.Error("a vote of -1 was taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Predict(ctx, x, nil); err == nil {
		t.Error("cancelled: no error")
	}
}

// The output tells the classes and that a number of neighbours matters.
func TestNearestOutput(t *testing.T) {
	x, y := nearestCase(t)
	m, err := Fit(t.Context(), x, y, &Settings{Vote: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := models.Output{Kind: models.OutputClasses, Classes: []int64{0, 1, 2}, Columns: 3, Searches: true}
	if got := m.Output(); !reflect.DeepEqual(got, want) {
		t.Errorf("the output is %+v, want %+v", got, want)
	}
	three, err := m.Predict(t.Context(), x, &models.PredictSettings{Neighbors: 3})
	if err != nil {
		t.Fatal(err)
	}
	one, err := m.Predict(t.Context(), x, &models.PredictSettings{Neighbors: 1})
	if err != nil {
		t.Fatal(err)
	}
	own, err := m.Predict(t.Context(), x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !modeltest.SamePrediction(own, three) || modeltest.SamePrediction(own, one) {
		t.Error("the number of votes is not that of the settings, or else the model's")
	}
}

// Leave-one-out tells how far it is, up to the end.
func TestNearestProgress(t *testing.T) {
	x, y := nearestCase(t)
	var last, total float64
	if _, err := Fit(t.Context(), x, y, &Settings{Method: knn.Brute}, func(done, of float64, _ string) {
		if done < last || of <= 0 {
			t.Errorf("%v of %v done after %v", done, of, last)
		}
		last, total = done, of
	}); err != nil {
		t.Fatal(err)
	}
	if total == 0 || last != total {
		t.Errorf("%v of %v done at the end", last, total)
	}
}

func TestCosts(t *testing.T) {
	for _, v := range []models.Values{nil, {"vote": "3"}} {
		modeltest.Costs(t, Learner{}, v, 1000, 10000, 50000)
	}
}
