package parts

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
)

// silent is an observer that says nothing.
type silent struct{}

func (silent) Announce(string, models.Cost) error { return nil }
func (silent) Note(string)                        {}
func (silent) Begin(string)                       {}
func (silent) Update(float64, float64, string)    {}
func (silent) End(string)                         {}

// Points of a grid have many neighbours at the same distance: each pair is in the lists of
// several parts, in the order of their numbers in each.
func TestTies(t *testing.T) {
	const side, k = 150, 6
	x := data.NewDense[float32](side*side, 2)
	r := rand.New(rand.NewPCG(1, 2))
	for at, i := range r.Perm(side * side) {
		copy(x.Row(at), []float32{float32(i % side), float32(i / side)})
	}
	s := Settings{Parts: 3, Overlap: 2, Metric: knn.Euclidean, Method: knn.NNDescent, Graph: knn.GraphSettings{K: k}}
	run, err := Open(filepath.Join(t.TempDir(), "W"), Input{X: x}, s, 0, silent{}, func(fn func() error) error { return fn() })
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := run.Divide(ctx); err != nil {
		t.Fatal(err)
	}
	if err := run.Search(ctx, []int{0, 1, 2}); err != nil {
		t.Fatal(err)
	}
	recall, err := run.Merge(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if recall.After.Share < 0.99 {
		t.Errorf("recall %v", recall.After)
	}
	for i := range int32(side * side) {
		words := make([]uint32, k)
		if err := run.final(words, []int32{i}); err != nil {
			t.Fatal(err)
		}
		if slices.Sort(words); len(slices.Compact(words)) != k {
			t.Fatalf("point %d has a neighbour twice", i)
		}
	}
	if _, err := run.Join(ctx, recall); err != nil {
		t.Error(err)
	}
}
