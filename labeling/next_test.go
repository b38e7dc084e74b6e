package labeling_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// The graph that a model keeps is the one it was fitted to.
func TestKeptGraph(t *testing.T) {
	x, targets := few(t, 200)
	for _, s := range []pipeline.GraphSettings{
		{Graph: knn.GraphSettings{K: 5}},
		{Graph: knn.GraphSettings{K: 6, Weights: knn.SelfTuning}},
		{Graph: knn.GraphSettings{K: 6, Weights: knn.Shared}},
		{PCA: 2, Graph: knn.GraphSettings{K: 5, Weights: knn.Heat}},
	} {
		in := &models.Input{Points: x, Targets: targets}
		m, complete, err := (&pipeline.Pipeline{}).FitComplete(t.Context(), all.Learner("lgc"), in, &s)
		if err != nil {
			t.Fatal(err)
		}
		g, kept, err := pipeline.KeptGraph(m)
		if err != nil {
			t.Fatal(err)
		}
		if data.HashPoints(g.W) != data.HashPoints(complete.Graph.W) {
			t.Errorf("%+v: the graph is not that of the fit", s)
		}
		if !slices.Equal(kept.Targets.Labeled, targets.Labeled) {
			t.Errorf("the labeled points are %v", kept.Targets.Labeled)
		}
	}
	for name, want := range map[string]string{"knn": "keeps no graph but its labeled points; give all points with ‹X›", "rls": "do not keep the graph"} {
		in := &models.Input{Points: x, Targets: targets, Values: models.Values{}}
		if name == "rls" {
			in.Values = models.Values{"gamma-a": "0.01"}
		}
		m, err := (&pipeline.Pipeline{}).Fit(t.Context(), all.Learner(name), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := pipeline.KeptGraph(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
}

// Eigenvectors of a graph with many components are those of the largest, and zero elsewhere.
func TestFieldPairsOfManyComponents(t *testing.T) {
	var i, j []int32
	var v []float64
	n := 0
	path := func(length int) {
		for q := range length - 1 {
			a := int32(n + q)
			i, j, v = append(i, a, a+1), append(j, a+1, a), append(v, 1, 1)
		}
		n += length
	}
	for range 40 {
		path(2)
	}
	path(50)
	for range 40 {
		path(1)
	}
	path(60)
	w, err := sparse.FromTriplets(n, n, i, j, v)
	if err != nil {
		t.Fatal(err)
	}
	g := models.NewGraph(w)
	r, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{}}).FieldPairs(t.Context(), g, 6)
	if err != nil {
		t.Fatal(err)
	}
	rows, cols := r.Vectors.Dims()
	if rows != n || cols != 12 || len(r.Values) != 12 {
		t.Fatalf("%d×%d eigenvectors and %d values of %d points", rows, cols, len(r.Values), n)
	}
	var gram mat.Dense
	gram.Mul(r.Vectors.T(), r.Vectors)
	for a := range cols {
		for b := range cols {
			want := 0.0
			if a == b {
				want = 1
			}
			if !(math.Abs(gram.At(a, b)-want) <= 1e-6) {
				t.Fatalf("the vectors %d and %d have the product %v", a, b, gram.At(a, b))
			}
		}
	}
	nonzero := 0
	for i := range n {
		if mat.Norm(r.Vectors.RowView(i), 2) > 0 {
			nonzero++
		}
	}
	if nonzero != 50+60+4*2 {
		t.Errorf("%d points have a row that is not zero; the 6 largest components have 118", nonzero)
	}
	choices, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{}}).Next(t.Context(), &labeling.Candidates{Graph: g, Pairs: r},
		&labeling.NextSettings{Settings: active.Settings{Rule: active.VOpt, Count: 4}})
	if err != nil {
		t.Fatal(err)
	}
	if first, second := g.Components.Sizes[choices[0].Component], g.Components.Sizes[choices[1].Component]; first != 60 || second != 50 {
		t.Errorf("the first components have %d and %d points", first, second)
	}
}

// uneven are groups of unequal sizes, which few random labels miss.
func uneven(n int) (*data.Dense[float64], *data.Labels) {
	x, y := clusters(n, 4)
	var rows []int
	for i := range n {
		if c := y.Index[i]; c < 2 || i < n/int(4*c) {
			rows = append(rows, i)
		}
	}
	points := data.Select(x, rows).(*data.Dense[float64])
	for i := range points.Data {
		points.Data[i] *= 1.5 // no group is far from all others
	}
	return points, y.Select(rows)
}

// spy is a learner that keeps what it is fitted to.
type spy struct {
	models.Learner
	seen *[]*models.Targets
}

func (s spy) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	*s.seen = append(*s.seen, in.Targets)
	return s.Learner.Fit(ctx, in)
}

func campaign(t *testing.T, l models.Learner, x data.Points, y *data.Labels, s *labeling.CampaignSettings) []active.CampaignRow {
	t.Helper()
	rows, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{Seed: 3}}).Campaign(t.Context(), l, &models.Input{Points: x}, y, s)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// settings of small campaigns.
func rounds(count, start, to, draws int) *labeling.CampaignSettings {
	return &labeling.CampaignSettings{Round: labeling.NextSettings{Settings: active.Settings{Count: count}, Pairs: 30}, Start: start, To: to, Draws: draws}
}

func TestCampaign(t *testing.T) {
	x, y := uneven(500)
	s := rounds(6, 4, 22, 3)
	rows := campaign(t, all.Learner("lgc"), x, y, s)
	if len(rows) != 5*4 {
		t.Fatalf("%d rows", len(rows))
	}
	last := map[active.Rule]active.CampaignRow{}
	for _, r := range rows {
		if len(r.Errors) != 3 || !(r.Error >= 0 && r.Error <= 100) || !(r.Deviation >= 0) {
			t.Errorf("row %+v", r)
		}
		if r.Labels == 22 {
			last[r.Rule] = r
		}
	}
	for _, rule := range []active.Rule{active.Combined, active.Uncertainty} {
		t.Logf("%v: %.2f of random's error", rule, last[rule].Ratio)
		if r := last[rule]; !(r.Ratio <= 0.75) {
			t.Errorf("%v: with 22 labels the error is %.2f %%, %.2f of random's", rule, r.Error, r.Ratio)
		}
	}
	s.Rules, s.Draws = []active.Rule{active.Combined}, 1
	before := runtime.GOMAXPROCS(1)
	again := campaign(t, all.Learner("lgc"), x, y, s)
	runtime.GOMAXPROCS(before)
	for i, r := range again {
		if r.Errors[0] != rows[i].Errors[0] {
			t.Fatalf("on one thread %v of %d labels has the errors %v, not %v", r.Rule, r.Labels, r.Errors, rows[i].Errors[:1])
		}
	}
}

// Rules see the labels that were asked for and no others.
func TestCampaignKeepsItsSecrets(t *testing.T) {
	x, y := uneven(400)
	s := rounds(3, 0, 13, 1)
	s.Rules = []active.Rule{active.Combined, active.Uncertainty}
	var seen []*models.Targets
	campaign(t, spy{all.Learner("lgc"), &seen}, x, y, s)
	asked := map[int]bool{}
	for _, targets := range seen {
		if len(targets.Labeled) > 13 {
			t.Errorf("a fit to %d labels", len(targets.Labeled))
		}
		for q, i := range targets.Labeled {
			asked[i] = true
			if got, want := targets.Classes[targets.Class(q)], y.Classes[y.Index[i]]; got != want {
				t.Errorf("point %d is of class %d, the fit was told %d", i, want, got)
			}
		}
	}
	// The others may be of any class: the same points are asked for.
	other := &data.Labels{Classes: y.Classes, Index: slices.Clone(y.Index)}
	for i := range other.Index {
		if !asked[i] {
			other.Index[i] = (other.Index[i] + 1) % 4
		}
	}
	s.Start = 4 // the same points, whatever their classes
	seen = nil
	campaign(t, spy{all.Learner("lgc"), &seen}, x, y, s)
	first := seen
	asked = map[int]bool{}
	for _, targets := range first {
		for _, i := range targets.Labeled {
			asked[i] = true
		}
	}
	for i := range other.Index {
		if other.Index[i] = y.Index[i]; !asked[i] {
			other.Index[i] = (y.Index[i] + 1) % 4
		}
	}
	seen = nil
	campaign(t, spy{all.Learner("lgc"), &seen}, x, other, s)
	for q, targets := range seen {
		if !slices.Equal(targets.Labeled, first[q].Labeled) {
			t.Fatalf("fit %d: other classes of points that were not asked for change what is asked for", q)
		}
	}
}

func TestCampaignFaults(t *testing.T) {
	x, y := uneven(200)
	few := y.Keep(y.Labeled()[:20])
	for _, c := range []struct {
		y    *data.Labels
		s    *labeling.CampaignSettings
		want string
	}{
		{y, rounds(0, 4, 20, 1), "0 labels a round"},
		{y, rounds(5, 1, 20, 1), "needs at least 2"},
		{y, rounds(5, 10, 10, 1), "from 10 to 10 labels"},
		{few, rounds(5, 10, 20, 1), "to 20 labels and the oracle knows 20"},
		{data.NewLabels(make([]int64, y.Len()), nil), rounds(5, 10, 20, 1), "the oracle knows 1 class"},
	} {
		_, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{}}).Campaign(t.Context(), all.Learner("lgc"), &models.Input{Points: x}, c.y, c.s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	if _, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{}}).Campaign(cancelled(), all.Learner("lgc"), &models.Input{Points: x}, y, rounds(5, 4, 20, 1)); err == nil {
		t.Error("a cancelled campaign is no error")
	}
}
