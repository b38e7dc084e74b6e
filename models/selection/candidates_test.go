package selection_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/selection"
)

// Every learner has a default grid of settings that it accepts, unless there is nothing
// to measure by; and a rule with all that it requires.
func TestDefaultGrids(t *testing.T) {
	for _, l := range all.Learners {
		info := l.Info()
		g := selection.DefaultGrid(l, nil)
		if len(g.Axes) == 0 && len(g.Neighbors) == 0 {
			t.Errorf("%s has no default grid", info.Name)
		}
		if err := models.CheckFor(l, selection.Rule(l, nil)); err != nil {
			t.Errorf("%s: the fixed rule: %v", info.Name, err)
		}
		for _, p := range l.Params() {
			if p.Required != slices.Contains(axesOf(selection.Open(l, nil)), p.Name) {
				t.Errorf("%s: %s is required: %v, and open: %v", info.Name, p.Name, p.Required, !p.Required)
			}
		}
		if selection.Open(l, selection.Rule(l, nil)) != nil {
			t.Errorf("%s: the fixed rule leaves something open", info.Name)
		}
	}
}

func axesOf(g *selection.Grid) []string {
	var names []string
	if g != nil {
		for name := range g.Axes {
			names = append(names, name)
		}
	}
	return names
}

// What a user gives decides what is added: everything, what is required, or nothing.
func TestCompleteGrid(t *testing.T) {
	weights, widths := []string{"1e-06", "0.0001", "0.01", "1"}, []string{"median/4", "median/2", "median"}
	for _, c := range []struct {
		learner   string
		fixed     models.Values
		axes      map[string][]string
		neighbors []int
		want      map[string][]string
		counts    []int
	}{
		{"svm", nil, nil, nil, map[string][]string{"gamma-a": weights, "sigma": widths}, nil},
		{"svm", models.Values{"kernel": "cosine"}, nil, nil, map[string][]string{"gamma-a": weights}, nil},
		{"svm", models.Values{"sigma": "2"}, nil, nil, map[string][]string{"gamma-a": weights}, nil},
		{"svm", models.Values{"gamma-a": "1"}, nil, nil, map[string][]string{}, nil},
		{"laprls", nil, map[string][]string{"gamma-a": {"1", "2"}}, nil, map[string][]string{"gamma-a": {"1", "2"}, "gamma-i": weights}, nil},
		{"laprls", models.Values{"gamma-a": "1", "gamma-i": "0"}, nil, nil, map[string][]string{}, nil},
		{"harmonic", nil, nil, nil, map[string][]string{}, []int{5, 10, 20}},
		{"harmonic", nil, nil, []int{8}, map[string][]string{}, []int{8}},
		{"eigenmap", models.Values{"penalty": "heat", "eigenvectors": "30"}, nil, nil, map[string][]string{}, nil},
	} {
		g := &selection.Grid{Learner: all.Learner(c.learner), Fixed: c.fixed, Axes: map[string][]string{}, Neighbors: c.neighbors}
		for name, values := range c.axes {
			g.Axes[name] = values
		}
		text := g.Complete()
		if !reflect.DeepEqual(g.Axes, c.want) || !slices.Equal(g.Neighbors, c.counts) {
			t.Errorf("%s %v %v: %v and neighbours %v, want %v and %v", c.learner, c.fixed, c.axes, g.Axes, g.Neighbors, c.want, c.counts)
		}
		if added := len(g.Axes) > len(c.axes) || len(g.Neighbors) > len(c.neighbors); added != (text != "") {
			t.Errorf("%s %v: it says %q", c.learner, c.fixed, text)
		}
	}
}

func TestEnough(t *testing.T) {
	for _, c := range []struct {
		counts []int // labels of each class
		want   bool
	}{{[]int{10, 10}, true}, {[]int{9, 10}, false}, {[]int{40, 1}, false}, {[]int{18, 2, 1, 1}, true}, {[]int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, false}} {
		labels, at := map[int]int64{}, 0
		for class, n := range c.counts {
			for range n {
				labels[at] = int64(class)
				at++
			}
		}
		if got := selection.Enough(modeltest.ClassTargets(t, modeltest.Labels(at+5, labels))); got != c.want {
			t.Errorf("%v labels: enough %v", c.counts, got)
		}
	}
}
