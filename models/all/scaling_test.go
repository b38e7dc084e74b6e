package all_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/pipeline"
)

// scalingWays are the ways to fit of learners that have several.
var scalingWays = map[string][]models.Values{
	"laprls": {{"approximation": "exact"}, {"landmarks": "30"}, {"features": "40"}, {"approximation": "matrix-free", "tolerance": "1e-10"}, {"power": "2", "laplacian": "normalized"}},
	"lapsvm": {{"approximation": "exact"}, {"landmarks": "30"}, {"features": "40"}},
	"vvmr":   {{"gamma-o": "0"}, {"landmarks": "30", "gamma-o": "0"}},
}

// With --scaling per-edge γ_I is that of direct times the sum of the weights, for every
// learner that has the setting and every way to fit it, after saving and loading too.
func TestPerEdge(t *testing.T) {
	x, truth, _ := modeltest.NewTwoClouds(t, 80, 3, 2)
	y := modeltest.ClassTargets(t, truth.Keep([]int{0, 1, 2, 3, 4, 5, 30, 31, 50}))
	p := &pipeline.Pipeline{}
	made, err := p.Graph(t.Context(), x, &pipeline.GraphSettings{})
	if err != nil {
		t.Fatal(err)
	}
	var total float64
	for _, d := range made.Graph.W.Degrees() {
		total += d
	}
	found := 0
	for _, l := range all.Learners {
		scaled := slices.ContainsFunc(l.Params(), func(p models.Param) bool { return p.Name == "scaling" })
		if !scaled || l.Info().Learns.Has(models.LearnsInside) {
			continue
		}
		found++
		ways := scalingWays[l.Info().Name]
		if ways == nil {
			ways = []models.Values{{}}
		}
		for _, way := range ways {
			fit := func(gamma float64, scaling string) *mat.Dense {
				v := models.Values{"gamma-a": "0.01", "gamma-i": fmt.Sprint(gamma), "scaling": scaling}
				for name, value := range way {
					v[name] = value
				}
				targets := y
				if !l.Info().Learns.Has(models.LearnsClasses) {
					targets = &models.Targets{Len: y.Len, Labeled: y.Labeled, Y: y.Y}
				}
				m, err := p.Fit(t.Context(), l, &models.Input{Points: x, Targets: targets, Graph: &made.Graph, Values: v}, nil)
				if err != nil {
					t.Fatalf("%s %v: %v", l.Info().Name, v, err)
				}
				path := t.TempDir() + "/m.npz"
				if err := models.Save(path, m, nil); err != nil {
					t.Fatal(err)
				}
				if m, _, err = all.Load(path, 0); err != nil {
					t.Fatal(err)
				}
				if got := m.Summary().Values["scaling"]; got != scaling && scaling != "direct" {
					t.Errorf("%s: the scaling comes back as %q", l.Info().Name, got)
				}
				out, err := m.Predict(t.Context(), x, nil)
				if err != nil {
					t.Fatal(err)
				}
				return out.Scores
			}
			direct, per, other := fit(0.5, "direct"), fit(0.5*total, "per-edge"), fit(0.5, "per-edge")
			size := mat.Norm(direct, math.Inf(1))
			var d mat.Dense
			if d.Sub(direct, per); !(mat.Norm(&d, math.Inf(1)) <= 1e-5*size) {
				t.Errorf("%s %v: scores differ by %v of %v", l.Info().Name, way, mat.Norm(&d, math.Inf(1)), size)
			}
			if d.Sub(direct, other); !(mat.Norm(&d, math.Inf(1)) > 1e-3*size) {
				t.Errorf("%s %v: the scaling does nothing", l.Info().Name, way)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d learners have a scaling", found)
	}
}
