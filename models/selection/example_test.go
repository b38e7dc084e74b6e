package selection_test

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/selection"
)

// Two moons with sixteen labels: the graph helps, and a narrow kernel.
func ExampleSearch() {
	ctx := context.Background()
	x, truth := synthetic.TwoMoons(300, 0.08, 5)
	y, err := truth.Draw(16, 2)
	if err != nil {
		panic(err)
	}
	t, err := models.ClassTargets(y)
	if err != nil {
		panic(err)
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		panic(err)
	}
	neighbors, err := ix.Self(ctx, 8)
	if err != nil {
		panic(err)
	}
	d := &selection.Data{Points: x, Targets: t, Neighbors: neighbors, Edges: knn.GraphSettings{K: 8}}
	g := &selection.Grid{
		Learner: kernelmachine.Learner{Method: kernelmachine.RLS, Intrinsic: true},
		Fixed:   models.Values{"gamma-a": "1e-2"},
		Axes:    map[string][]string{"gamma-i": {"0", "1"}, "sigma": {"0.3", "30"}},
	}
	r, err := selection.Search(ctx, d, g, &selection.Settings{Folds: 4, Repeats: 3})
	if err != nil {
		panic(err)
	}
	for _, s := range r.Scores {
		fmt.Printf("%4.1f %%  %s\n", 100*s.Mean, s.Setting)
	}
	// Output:
	//  0.0 %  gamma-a 1e-2, gamma-i 1, sigma 0.3, neighbors 8
	// 14.6 %  gamma-a 1e-2, gamma-i 0, sigma 0.3
	// 41.7 %  gamma-a 1e-2, gamma-i 1, sigma 30, neighbors 8
	// 41.7 %  gamma-a 1e-2, gamma-i 0, sigma 30
}
