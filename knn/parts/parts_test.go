package parts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/stage"
)

// silent is an observer that says nothing.
type silent struct{}

func (silent) Announce(string, stage.Cost) error { return nil }
func (silent) Note(string)                       {}
func (silent) Begin(string)                      {}
func (silent) Update(float64, float64, string)   {}
func (silent) End(string)                        {}

// hears keeps how stages ended.
type hears struct {
	silent
	ends *[]string
}

func (h hears) End(note string) { *h.ends = append(*h.ends, note) }

// searched is a run of which all parts are made.
func searched(t *testing.T, x data.Points, s Settings, o stage.Observer) *Run {
	t.Helper()
	run, err := Open(filepath.Join(t.TempDir(), "W"), Input{X: x}, s, 0, o, func(fn func() error) error { return fn() })
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Divide(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := make([]int, s.Parts)
	for p := range all {
		all[p] = p
	}
	if err := run.Search(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	return run
}

// Points that are hard to search take a second round of the exchange, which improves the lists.
func TestRounds(t *testing.T) {
	const n, d = 30000, 24
	x := data.NewDense[float32](n, d)
	r := rand.New(rand.NewPCG(3, 4))
	for p := range x.Data {
		x.Data[p] = float32(r.NormFloat64())
	}
	var ends []string
	s := Settings{Parts: 12, Overlap: 2, Metric: knn.Euclidean, Method: knn.NNDescent, Graph: knn.GraphSettings{K: 5, Weights: knn.Heat}}
	ctx := t.Context()
	run := searched(t, x, s, hears{ends: &ends})
	ends = nil
	recall, err := run.Merge(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var share []float64
	for _, end := range ends {
		var v float64
		if n, _ := fmt.Sscanf(end, "recall %f", &v); n == 1 {
			share = append(share, v)
		}
	}
	if len(share) != run.round || run.round < 2 || !slices.IsSorted(share) || !(recall.After.Share > share[0]) || !(share[0] >= recall.Before.Share+0.02) {
		t.Errorf("%d rounds, recall %v, %v", run.round, share, recall)
	}
	g, err := run.Join(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if count := g.W.Ptr[i+1] - g.W.Ptr[i]; count < 5 {
			t.Fatalf("point %d has %d neighbours", i, count)
		}
	}
	// Distances are those of the points.
	lengths, err := tablesOf[float64](run, run.lengthsName)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := tablesOf[uint32](run, run.listsName)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(n) {
		for p, j := range lists.row(i) {
			var sum float64
			for c, v := range x.Row(int(run.div.order[i])) {
				e := float64(v) - float64(x.Row(int(run.div.order[j]))[c])
				sum += e * e
			}
			if got := lengths.row(i)[p]; math.Abs(got-math.Sqrt(sum)) > 1e-12*got {
				t.Fatalf("points %d and %d are %v apart, not %v", i, j, math.Sqrt(sum), got)
			}
		}
	}
}

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
	ctx := t.Context()
	run := searched(t, x, s, silent{})
	recall, err := run.Merge(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if recall.After.Share < 0.99 {
		t.Errorf("recall %v", recall.After)
	}
	lists, err := tablesOf[uint32](run, run.listsName)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(side * side) {
		words := slices.Clone(lists.row(i))
		if slices.Sort(words); len(slices.Compact(words)) != k {
			t.Fatalf("point %d has a neighbour twice", i)
		}
	}
	if _, err := run.Join(ctx); err != nil {
		t.Error(err)
	}
}
