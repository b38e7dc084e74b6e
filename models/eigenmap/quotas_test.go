package eigenmap

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// cliques joins the points of cliques of the given sizes, one clique after the other,
// each with the next one where chained says so, by a single edge.
func cliques(t *testing.T, sizes []int, chained func(i int) bool) *modeltest.Problem {
	t.Helper()
	var edges [][2]int32
	lo := int32(0)
	for at, n := range sizes {
		for i := range int32(n) {
			for j := range i {
				edges = append(edges, [2]int32{lo + j, lo + i})
			}
		}
		lo += int32(n)
		if at+1 < len(sizes) && chained(at) {
			edges = append(edges, [2]int32{lo - 1, lo})
		}
	}
	return modeltest.FromEdges(t, int(lo), edges, 1)
}

// learned fits the learner to the graph with the eigenpairs that it asks for, component
// by component, and returns its answers.
func learned(t *testing.T, p *modeltest.Problem, y *data.Labels, v models.Values) *Model {
	t.Helper()
	in := &models.Input{Graph: p.Graph(), Targets: modeltest.ClassTargets(t, y), Values: v}
	quotas, err := Learner{}.Quotas(in)
	if err != nil {
		t.Fatal(err)
	}
	in.Pairs, err = lanczos.Parts(t.Context(), p.L, p.C, quotas, func(part *lanczos.Part) (*lanczos.Result, error) {
		return lanczos.Laplacian(context.Background(), part.Laplacian, part.Components, &lanczos.Settings{K: part.K})
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Learner{}.Fit(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

// wrong is the share of points whose class is not that of truth.
func wrong(m *Model, truth func(i int) int64) float64 {
	n := 0
	for i, c := range m.Labels {
		if m.Classes[c] != truth(i) {
			n++
		}
	}
	return float64(n) / float64(len(m.Labels))
}

// 40 components with a label each: the default is right everywhere, and one eigenvector
// too few is named.
func TestLabelInEachComponent(t *testing.T) {
	p := cliques(t, slices.Repeat([]int{6}, 40), func(int) bool { return false })
	truth := func(i int) int64 { return int64(i / 6 % 5) }
	labels := map[int]int64{}
	for c := range 40 {
		labels[6*c+c%6] = truth(6 * c)
	}
	y := modeltest.Labels(240, labels)
	for _, v := range []models.Values{nil, {"penalty": "iterated", "gamma": "1"}, {"eigenvectors": "40"}} {
		m := learned(t, p, y, v)
		if e := wrong(m, truth); e != 0 || len(m.Summary().Warnings) != 0 {
			t.Errorf("%v: error %v, warnings %q", v, e, m.Summary().Warnings)
		}
	}
	if e := wrong(learned(t, p, y, models.Values{"eigenvectors": "8"}), truth); !(e > 0.3) {
		t.Errorf("8 eigenvectors for 40 components err on %v only", e)
	}
}

// One large component of three classes and many small ones, most without a label: null
// vectors of those take nothing from the large one. This is the case of 20,000 letters,
// of which the eigenmap had 91 % wrong.
func TestManyComponentsFewLabels(t *testing.T) {
	sizes := []int{60, 60, 60}
	for range 30 {
		sizes = append(sizes, 3)
	}
	p := cliques(t, sizes, func(i int) bool { return i < 2 })
	truth := func(i int) int64 { return int64(min(i/60, 2)) }
	labels := map[int]int64{200: 2, 230: 2} // in small components
	for c := range 3 {
		for i := range 5 {
			labels[60*c+7*i] = truth(60 * c)
		}
	}
	y := modeltest.Labels(270, labels)
	for _, v := range []models.Values{{"eigenvectors": "6"}, {"penalty": "iterated", "eigenvectors": "8", "gamma": "0.01"}} {
		m := learned(t, p, y, v)
		large := &Model{Classifier: m.Classifier, Labels: m.Labels[:180]}
		if e := wrong(large, truth); e > 0.05 || m.Unreached != 84 {
			t.Errorf("%v: error %v in the large component, %d points unreached", v, e, m.Unreached)
		}
	}
	// By default the 17 labels get one eigenvector for each of three components, and
	// another for the one of several classes.
	m := learned(t, p, y, nil)
	if m.Settings.Eigenvectors != 4 || m.Rank != 4 {
		t.Errorf("%d eigenvectors of rank %d", m.Settings.Eigenvectors, m.Rank)
	}
}

// Quotas of fewer eigenvectors are the first of those of more, and end with the vertices.
func TestQuotas(t *testing.T) {
	p := cliques(t, []int{9, 4, 2, 5}, func(int) bool { return false })
	c := newLabelCounts(p.C, modeltest.Labels(20, map[int]int64{0: 1, 1: 1, 2: 1, 3: 1, 9: 1, 10: 2, 13: 5}))
	if c.reached != 3 || c.least != 4 {
		t.Errorf("%d components with labels, %d eigenvectors at least", c.reached, c.least)
	}
	all := c.quotas(100)
	if want := []int32{0, 1, 2, 1, 0, 0, 0, 0, 0, 1, 0}; !slices.Equal(all[:11], want) || len(all) != 15 {
		t.Errorf("quotas %v, want %v first of 15", all, want)
	}
	for q := range all {
		if got := c.quotas(q); !slices.Equal(got, all[:q]) {
			t.Errorf("%d quotas: %v", q, got)
		}
	}
}

func TestWarnings(t *testing.T) {
	p := cliques(t, []int{10, 10, 10}, func(int) bool { return true })
	y := modeltest.Labels(30, map[int]int64{1: 1, 12: 2, 22: 3})
	for _, c := range []struct {
		v    models.Values
		want []string
	}{
		{models.Values{"eigenvectors": "3"}, nil},
		{models.Values{"eigenvectors": "2"}, []string{"2 eigenvectors for 3 classes"}},
		{models.Values{"eigenvectors": "9"}, []string{"the 3 labels settle 3 of the coefficients of 9 eigenvectors"}},
		{models.Values{"eigenvectors": "1"}, []string{"1 eigenvectors for 3 classes", "% of the points got the same class, which has 33 % of the labels"}},
	} {
		in := &models.Input{Graph: p.Graph(), Targets: modeltest.ClassTargets(t, y), Values: c.v}
		l, err := sparse.NewLaplacian(p.W, sparse.Combinatorial)
		if err != nil {
			t.Fatal(err)
		}
		if in.Pairs, err = lanczos.Laplacian(t.Context(), l, p.C, &lanczos.Settings{K: 9}); err != nil {
			t.Fatal(err)
		}
		m, err := Learner{}.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got := m.Summary().Warnings
		same := len(got) == len(c.want)
		for i := range c.want {
			same = same && strings.Contains(got[i], c.want[i])
		}
		if !same {
			t.Errorf("%v: warnings %q, want %q", c.v, got, c.want)
		}
	}
}
