package regularizer

import (
	"fmt"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// Each calls fn for the settings of a grid in groups of one intrinsic norm. l is the Laplacian
// of the graph of the group, or nil for γ_I = 0, and r names r(L).
func Each(g *models.Grid, settings []int, of func(setting int) Regularizer,
	fn func(l *sparse.Laplacian, r Regularizer, settings []int) error) error {
	// Settings without the norm need no graph, so they are a group of their own.
	for _, half := range models.Grouped(settings, func(i int) bool { return of(i).GammaI > 0 }) {
		for _, sameGraph := range models.Grouped(half, g.GraphKey) {
			var l *sparse.Laplacian
			if first := of(sameGraph[0]); first.GammaI > 0 {
				graph, err := g.GraphOf(sameGraph[0])
				if err != nil {
					return err
				}
				if l, err = sparse.NewLaplacian(graph.W, first.Laplacian); err != nil {
					return err
				}
			}

			// One Laplacian serves all r(L): Lᵖ is applied as p products.
			for _, same := range models.Grouped(sameGraph, func(i int) string { return fmt.Sprint(of(i).Weights()) }) {
				if err := fn(l, of(same[0]), same); err != nil {
					return err
				}
			}
		}
	}

	return nil
}

// Count returns the number of different graphs and r(L) among the settings of a grid
// with a positive γ_I.
func Count(g *models.Grid, of func(setting int) Regularizer) float64 {
	type norm struct{ graph, weights string }
	seen := map[norm]bool{}
	for i := range g.Settings {
		if r := of(i); r.GammaI > 0 {
			seen[norm{g.GraphKey(i), fmt.Sprint(r.Weights())}] = true
		}
	}
	return float64(len(seen))
}
