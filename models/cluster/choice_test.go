package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// lattice returns a path or a torus of a×b vertices.
func lattice(a, b int) *sparse.CSR {
	var i, j []int32
	join := func(x, y int) { i, j = append(i, int32(x), int32(y)), append(j, int32(y), int32(x)) }
	for x := range a {
		for y := range b {
			if b > 2 {
				join(x*b+y, x*b+(y+1)%b)
			}
			if b > 2 || x+1 < a {
				join(x*b+y, (x+1)%a*b+y)
			}
		}
	}
	w, err := sparse.FromTriplets(a*b, a*b, i, j, slices.Repeat([]float64{1}, len(i)))
	if err != nil {
		panic(err)
	}
	return w
}

// TestChoice: the number of planted blocks is found, in one component and in several, and the gap is beyond
// doubt.
func TestChoice(t *testing.T) {
	three, _ := planted([]int{100, 80, 120}, 0.3, 0.02, 1)
	six, truth := planted([]int{60, 90, 120, 70, 80, 100}, 0.4, 0.02, 3)
	two, _ := planted([]int{90, 90}, 0.3, 0.01, 5)
	dense, _ := planted([]int{50}, 0.5, 0, 7)
	for _, c := range []struct {
		name string
		w    *sparse.CSR
		want int
	}{{"three", three, 3}, {"six", six, 6}, {"two", two, 2}, {"two beside three", union(two, three), 5},
		{"components", union(dense, dense, dense, dense), 4}, {"one beside two", union(dense, two), 3}} {
		t.Run(c.name, func(t *testing.T) {
			got := cluster(t, c.w, Settings{Auto: true, RowNormalize: true})
			if got.Choice == nil || got.Choice.Clusters != c.want || len(got.Sizes) != c.want || got.Settings.Clusters != c.want {
				t.Fatalf("%v, want %d", got.Choice, c.want)
			}
			if len(got.Choice.Warnings) > 0 {
				t.Errorf("warnings: %q", got.Choice.Warnings)
			}
			if !(got.Choice.Value > 5*got.Choice.Error) || got.Choice.RunnerUp.Value > got.Choice.Value {
				t.Errorf("%v", got.Choice)
			}

			// The same number, named, gives the same clusters.
			named := cluster(t, c.w, Settings{Clusters: c.want, RowNormalize: true})
			if nmi, _ := agreement(t, wide(named.Labels), got.Labels); !(nmi > 1-1e-9) {
				t.Errorf("NMI %v with the clusters of the named number", nmi)
			}
		})
	}
	got := cluster(t, six, Settings{Auto: true, RowNormalize: true})
	if nmi, _ := agreement(t, truth, got.Labels); !(nmi > 1-1e-12) {
		t.Errorf("NMI %v", nmi)
	}
}

// uniform returns the graph of neighbours of points spread evenly in a cube.
func uniform(t *testing.T) *sparse.CSR {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, 9))
	x := data.NewDense[float64](400, 3)
	for i := range x.Data {
		x.Data[i] = rng.Float64()
	}
	ix, err := knn.NewIndex(x, knn.Brute, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(t.Context(), ix, knn.GraphSettings{K: 8})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestNoClearChoice: graphs without clusters are told so.
func TestNoClearChoice(t *testing.T) {
	random, _ := planted([]int{300}, 0.1, 0, 2)
	weak, _ := planted([]int{100, 100, 100}, 0.2, 0.15, 4)
	for _, c := range []struct {
		name string
		w    *sparse.CSR
		want string
	}{{"random", random, "may have no clusters"}, {"torus", lattice(20, 21), "eigenvalues near 0"}, {"cube", uniform(t), "too close"},
		{"path", lattice(500, 1), "no clear number"}, {"blocks that hardly differ", weak, "may have no clusters"}} {
		t.Run(c.name, func(t *testing.T) {
			got := cluster(t, c.w, Settings{Auto: true, RowNormalize: true})
			if !strings.Contains(strings.Join(got.Choice.Warnings, "; "), c.want) {
				t.Errorf("%v: warnings %q, want %q", got.Choice, got.Choice.Warnings, c.want)
			}
		})
	}
}

// TestGapError compares the standard error with the scatter of the gap under random factors of the edges,
// the bootstrap that it is the first order of.
func TestGapError(t *testing.T) {
	w, _ := planted([]int{60, 90, 70}, 0.4, 0.03, 3)
	choice := cluster(t, w, Settings{Auto: true, RowNormalize: true}).Choice
	rng := rand.New(rand.NewPCG(3, 4))
	const draws = 150
	var sum, square float64
	for range draws {
		x := *w
		x.Val = slices.Clone(w.Val)
		for i := range x.Rows {
			col, val := x.Row(i)
			for p, j := range col {
				if int(j) < i {
					val[p] *= rng.ExpFloat64()
					other, to := x.Row(int(j))
					q, _ := slices.BinarySearch(other, int32(i))
					to[q] = val[p]
				}
			}
		}
		l, err := sparse.NewLaplacian(&x, sparse.Normalized)
		if err != nil {
			t.Fatal(err)
		}
		r, err := lanczos.Laplacian(t.Context(), l, x.Components(), &lanczos.Settings{K: choice.Clusters + 1})
		if err != nil {
			t.Fatal(err)
		}
		gap := r.Values[choice.Clusters] - r.Values[choice.Clusters-1]
		sum += gap
		square += gap * gap
	}
	mean := sum / draws
	deviation := math.Sqrt(square/draws - mean*mean)
	if !(choice.Error > deviation/2 && choice.Error < 2*deviation) {
		t.Errorf("the error is %v, the gap scatters by %v", choice.Error, deviation)
	}
}

// TestChoiceFaults: settings that contradict, and graphs that are too small.
func TestChoiceFaults(t *testing.T) {
	w, _ := planted([]int{30}, 0.5, 0, 1)
	for _, c := range []struct {
		w    *sparse.CSR
		s    Settings
		want string
	}{
		{w, Settings{Auto: true, Clusters: 3}, "3 clusters are asked for, and a number to be chosen"},
		{w, Settings{Auto: true, Rule: Sign}, "makes 2 clusters"},
		{lattice(2, 1), Settings{Auto: true}, "name the number"},
		{w, Settings{Auto: true, MinComponent: 31}, "name the number"},
	} {
		if _, err := NormalizedCut(t.Context(), c.w, &c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if got, want := fmt.Sprint(ChoicePairs(20, 1), ChoicePairs(5000, 3)), "20 35"; got != want {
		t.Errorf("pairs %s, want %s", got, want)
	}
}
