package papers

import (
	"math"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// The recipes are ordered by the geometric mean of their errors, and ours is among them.
func TestRecipe(t *testing.T) {
	components, neighbors, labels := recipeComponents, recipeNeighbors, recipeLabels
	t.Cleanup(func() { recipeComponents, recipeNeighbors, recipeLabels = components, neighbors, labels })
	recipeComponents, recipeNeighbors, recipeLabels = []int{BestDimensions}, []int{BestGraph.K}, []int{20, 60}
	dir := t.TempDir()
	const n = 400
	x, y := synthetic.Digits(n, 1)
	write(t, dir, "mnist_test_images.npz", archive.Array{Name: "X", Shape: []int{n, len(x.Data) / n}, Data: x.Data})
	if err := npy.WriteFile(dir+"/mnist_test_labels.npy", []int{n}, y.Index); err != nil {
		t.Fatal(err)
	}
	table, err := Recipe(t.Context(), Options{Dir: dir, Splits: 2, Seed: 1}, &observer{t: t})
	if err != nil {
		t.Fatal(err)
	}

	// Two records for each of the ten best and for ours, the means ascending but for ours at the end.
	if count := len(table.Records); count != 20 && count != 22 {
		t.Fatalf("%d records", count)
	}
	last := 0.0
	for i := 0; i < 20; i += 2 {
		a, b := table.Records[i], table.Records[i+1]
		mean := math.Sqrt(max(a[2].Number, 0.01) * max(b[2].Number, 0.01))
		if a[0].Text != b[0].Text || a[1].Number != 20 || b[1].Number != 60 || !(mean >= last*(1-1e-12)) {
			t.Errorf("%v, %v: mean %v after %v", a, b, mean, last)
		}
		last = mean
	}
	if !strings.Contains(table.Markdown(), "of 24 recipes the one of --recipe best, "+ours().String()+", is number ") {
		t.Errorf("the note is missing in\n%s", table.Markdown())
	}
}
