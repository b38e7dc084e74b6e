package pipeline_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// TestPlane gives places by a layout of the graph, in one piece or several, else by columns or principal
// components.
func TestPlane(t *testing.T) {
	ctx := t.Context()
	p := &pipeline.Pipeline{Seed: 3}
	x, y := clusters(300, 3)
	in := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, y.Keep(data.Range(0, 40)))}
	whole, err := p.Graph(ctx, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	far := data.NewDense[float64](300, 4)
	copy(far.Data, x.Data)
	for i := range 150 {
		far.Row(i)[0] += 1000
	}
	cut, err := p.Graph(ctx, far, nil)
	if err != nil {
		t.Fatal(err)
	}
	moons, _ := synthetic.TwoMoons(300, 0.1, 1)
	for _, c := range []struct {
		name  string
		x     data.Points
		g     *models.Graph
		xName string
	}{
		{"graph", x, &whole.Graph, ""}, {"graph alone", nil, &whole.Graph, ""}, {"components", far, &cut.Graph, ""},
		{"points", x, nil, "principal component 1"}, {"two columns", moons, nil, "column 1"}, {"graph in pieces alone", nil, &cut.Graph, ""},
		{"two columns and a graph", moons, &whole.Graph, "column 1"}, {"one column", data.NewDense[float64](300, 1), nil, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in.Points, in.Graph = c.x, c.g
			got, err := p.Plane(ctx, in, 100)
			if err != nil {
				t.Fatal(err)
			}
			if c.xName == "none" {
				if got != nil {
					t.Fatalf("places %+v of nothing", got)
				}
				return
			}
			if got.XName != c.xName || len(got.Rows) != 100 || len(got.X) != 100 || len(got.Y) != 100 || !slices.IsSorted(got.Rows) || got.How == "" {
				t.Fatalf("%s: %d rows, %d places, %q", got.XName, len(got.Rows), len(got.X), got.How)
			}
			labeled := 0
			for _, r := range got.Rows {
				if r < 40 {
					labeled++
				}
			}
			if labeled != 40 {
				t.Errorf("%d of 40 labeled points", labeled)
			}
			again, err := p.Plane(ctx, in, 100)
			if err != nil || !reflect.DeepEqual(again, got) {
				t.Errorf("other places the second time, %v", err)
			}
			if c.g == &whole.Graph && c.xName == "" && !apart(got, y) {
				t.Error("clusters are not apart")
			}
			if several := strings.Contains(got.How, " components that"); several != (c.g == &cut.Graph) {
				t.Errorf("the places are explained by %q", got.How)
			}
			if all, err := p.Plane(ctx, in, 1000); err != nil || len(all.Rows) != 300 {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestPlaneOfMany: of a graph of many points some are laid out, and points of a group are next to each other.
func TestPlaneOfMany(t *testing.T) {
	const groups, side = 4, 175
	var rows, cols []int32
	join := func(a, b int) {
		rows = append(rows, int32(a), int32(b))
		cols = append(cols, int32(b), int32(a))
	}
	for i := range groups * side * side {
		if i%side+1 < side {
			join(i, i+1)
		}
		if i/side%side+1 < side {
			join(i, i+side)
		}
	}
	for g := 1; g < groups; g++ {
		join((g-1)*side*side, g*side*side)
	}
	n := groups * side * side
	w, err := sparse.FromTriplets(n, n, rows, cols, slices.Repeat([]float64{1}, len(rows)))
	if err != nil {
		t.Fatal(err)
	}

	in := &models.Input{Graph: models.NewGraph(w),
		Targets: modeltest.ClassTargets(t, modeltest.Labels(n, map[int]int64{5: 0, n - 5: 1}))}
	p := &pipeline.Pipeline{Seed: 3}
	got, err := p.Plane(t.Context(), in, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 1000 || len(got.X) != 1000 || !slices.Contains(got.Rows, 5) || !strings.Contains(got.How, "20000 points") {
		t.Fatalf("%d rows, %d places, %q", len(got.Rows), len(got.X), got.How)
	}
	right := 0
	for a, i := range got.Rows {
		nearest, least := -1, math.Inf(1)
		for b := range got.Rows {
			if d := math.Hypot(got.X[a]-got.X[b], got.Y[a]-got.Y[b]); b != a && d < least {
				nearest, least = b, d
			}
		}
		if got.Rows[nearest]/(side*side) == i/(side*side) {
			right++
		}
	}
	if right < 980 {
		t.Errorf("%d of 1000 points have their nearest place in their group", right)
	}
}

// apart tells whether the classes' mean places are farther from each other than the
// points from their class's mean, on average.
func apart(p *pipeline.Plane, y *data.Labels) bool {
	var sum [3][2]float64
	var n [3]float64
	for at, i := range p.Rows {
		c := y.Index[i]
		sum[c][0] += p.X[at]
		sum[c][1] += p.Y[at]
		n[c]++
	}
	for c := range sum {
		sum[c][0] /= n[c]
		sum[c][1] /= n[c]
	}
	within := 0.0
	for at, i := range p.Rows {
		c := y.Index[i]
		within += math.Hypot(p.X[at]-sum[c][0], p.Y[at]-sum[c][1]) / float64(len(p.Rows))
	}
	between := math.Inf(1)
	for c := range sum {
		d := (c + 1) % 3
		between = min(between, math.Hypot(sum[c][0]-sum[d][0], sum[c][1]-sum[d][1]))
	}
	return between > within
}

// A layout keeps the components of a graph apart, however many points each has, and places isolated
// points, too.
func TestLayoutOfComponents(t *testing.T) {
	t.Parallel()
	p := &pipeline.Pipeline{Seed: 1}
	x := data.NewDense[float64](260, 4)
	rng := rand.New(rand.NewPCG(5, 1))
	group := make([]int, 260)
	for i := range group {
		// Groups of 160, 80 and 20 points, which no edge joins.
		switch {
		case i >= 240:
			group[i] = 2
		case i >= 160:
			group[i] = 1
		}
		for j := range x.Row(i) {
			x.Row(i)[j] = 100*float64(group[i]) + rng.NormFloat64()
		}
	}
	g, err := p.Graph(t.Context(), x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if g.Components.Count() != 3 {
		t.Fatalf("%d components", g.Components.Count())
	}

	y, err := p.Layout(t.Context(), &g.Graph, 2, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range group {
		nearest := -1
		least := math.Inf(1)
		for j := range group {
			if r := math.Hypot(y.At(i, 0)-y.At(j, 0), y.At(i, 1)-y.At(j, 1)); j != i && r < least {
				nearest = j
				least = r
			}
		}
		if group[nearest] != group[i] {
			t.Errorf("point %d of component %d is nearest to one of component %d", i, group[i], group[nearest])
		}
	}

	if again, err := p.Layout(t.Context(), &g.Graph, 2, nil, 0); err != nil || !mat.Equal(y, again) {
		t.Errorf("another layout the second time, %v", err)
	}
	if _, err := p.Layout(t.Context(), &g.Graph, 0, nil, 0); err == nil {
		t.Error("a layout in 0 dimensions")
	}
}
