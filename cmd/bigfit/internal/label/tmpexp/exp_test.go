package tmpexp

import (
	"math/rand/v2"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

func TestExp(t *testing.T) {
	for seed := range uint64(4) {
		n := 2000
		x, y := synthetic.Digits(n, seed)
		p := &pipeline.Pipeline{}
		s, _ := pipeline.AutoGraph(x, nil)
		g, err := p.Graph(t.Context(), x, s)
		if err != nil {
			t.Fatal(err)
		}
		pl := labeling.Planner{Pipeline: p}
		pairs, err := pl.FieldPairs(t.Context(), &g.Graph, 200)
		if err != nil {
			t.Fatal(err)
		}
		for _, policy := range []string{"sopt", "combined", "combined+checks", "sopt40+checks"} {
			c := &labeling.Candidates{Graph: &g.Graph, Pairs: pairs}
			idx := make([]int32, n)
			for i := range idx {
				idx[i] = -1
			}
			rng := rand.New(rand.NewPCG(seed, 1))
			add := func(i int) { idx[i] = y.Index[i]; c.Labeled = append(c.Labeled, i) }
			fit := func(name string) (models.Model, float64) {
				l := &data.Labels{Classes: y.Classes, Index: idx}
				_ = l
				vals := make([]int64, n)
				lab := make([]bool, n)
				for i := range idx {
					if idx[i] >= 0 {
						vals[i] = y.Classes[idx[i]]
						lab[i] = true
					}
				}
				tt, err := models.ClassTargets(data.NewLabels(vals, lab))
				if err != nil {
					t.Fatal(err)
				}
				v := models.Values{}
				if name == "lgc" {
					v["tolerance"] = "1e-3"
				}
				m, err := p.Fit(t.Context(), all.Learner(name), &models.Input{Points: x, Graph: &g.Graph, Targets: tt, Values: v}, nil)
				if err != nil {
					t.Fatal(err)
				}
				pr, _ := pipeline.Training(m, true, false)
				c.Scores = pr.Scores
				wrong := 0
				for i := range n {
					if tt.Classes[pr.Classes[i]] != y.Classes[y.Index[i]] {
						wrong++
					}
				}
				return m, 100 * float64(wrong) / float64(n)
			}
			next := func(r active.Rule, k int) {
				set := &labeling.NextSettings{Pairs: 200}
				set.Rule = r
				set.Count = k
				ch, err := pl.Next(t.Context(), c, set)
				if err != nil {
					t.Fatal(err)
				}
				for _, q := range ch {
					add(q.Point)
				}
			}
			next(active.SOpt, 16)
			k := 0
			var trace []float64
			for len(c.Labeled) < 60 {
				_, e := fit("lgc")
				if len(c.Labeled)%10 == 0 {
					trace = append(trace, e)
				}
				r := active.Combined
				if policy == "sopt" || policy == "sopt40+checks" && len(c.Labeled) < 40 {
					r = active.SOpt
				}
				k++
				if k%5 == 0 && (policy == "combined+checks" || policy == "sopt40+checks") && len(c.Labeled) >= 20 {
					for {
						i := rng.IntN(n)
						if idx[i] < 0 {
							add(i)
							break
						}
					}
					continue
				}
				next(r, 2)
			}
			_, lgc := fit("lgc")
			_, au := fit("auto")
			_, mbo := fit("poisson-mbo")
			_, poi := fit("poisson")
			t.Logf("seed %d %s: lgc %v %.1f auto %.1f mbo %.1f poisson %.1f", seed, policy, trace, lgc, au, mbo, poi)
		}
	}
}
