package all_test

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

// farSets returns four clouds. Three have labels, the second the most. The fourth has none, and lies so far
// away that a Gaussian of width 2 is 0 there.
func farSets(t *testing.T) (*data.Dense[float64], *data.Labels, int) {
	t.Helper()
	const each, far = 12, 14
	x := &data.Dense[float64]{Rows: 3*each + far, Cols: 2}
	truth := &data.Labels{Classes: []int64{3, 5, 8}}
	add := func(i int, cx, cy float64, class int32) {
		x.Data = append(x.Data, cx+0.2*float64(i%5)+0.01*float64(i), cy+0.15*float64(i%4)-0.02*float64(i))
		truth.Index = append(truth.Index, class)
	}
	for i := range each {
		add(i, 0, 0, int32(data.Unlabeled))
		add(i, 5, 0, int32(data.Unlabeled))
		add(i, 0, 6, int32(data.Unlabeled))
	}
	for i := range far {
		add(i, 4000, 4000, int32(data.Unlabeled))
	}
	for _, i := range []int{0, 3, 1, 4, 7, 10, 2, 5} {
		truth.Index[i] = int32(i % 3)
	}
	return x, truth, far
}

// Every learner of classes gives points of which it knows nothing the most frequent class of the labels, in
// the fit, after loading and for new points, and counts them; machines with an intercept say that it alone
// decides.
func TestFarPoints(t *testing.T) {
	x, truth, far := farSets(t)
	y, err := models.ClassTargets(truth)
	if err != nil {
		t.Fatal(err)
	}
	p := &pipeline.Pipeline{}
	made, err := p.Graph(t.Context(), x, &pipeline.GraphSettings{})
	if err != nil {
		t.Fatal(err)
	}
	// Models of these know something of every point; correct-and-smooth has the answers of a linear one.
	everywhere := []string{"correct-and-smooth", "knn", "rls-linear", "svm-linear", "laprls-linear", "lapsvm-linear", "tsvm-linear"}
	values := map[string]models.Values{"eigenmap": {"eigenvectors": "5"}}
	for _, l := range all.Learners {
		info := l.Info()
		if !info.Learns.Has(models.LearnsClasses) || info.Learns.Has(models.LearnsInside) ||
			slices.Contains(everywhere, info.Name) {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			v := models.Values{}.With(values[info.Name])
			for name, value := range map[string]string{"gamma-a": "0.001", "gamma-i": "0.01", "sigma": "2"} {
				if slices.ContainsFunc(l.Params(), func(p models.Param) bool { return p.Name == name }) {
					v[name] = value
				}
			}
			m, err := p.Fit(t.Context(), l, &models.Input{Points: x, Targets: y, Graph: &made.Graph, Values: v}, nil)
			if err != nil {
				t.Fatal(err)
			}
			path := t.TempDir() + "/m.npz"
			if err := models.Save(path, m, nil); err != nil {
				t.Fatal(err)
			}
			loaded, _, err := all.Load(path, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []models.Model{m, loaded} {
				s := m.Summary()
				switch info.Name {
				case "svm", "tsvm":
					return // their intercepts are scores, and no graph tells what is out of reach
				case "lapsvm":
					if !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "14 points") }) {
						t.Errorf("the warnings are %q", s.Warnings)
					}
					return
				case "rls", "sssl": // without a graph nothing is counted
				default:
					if s.Unreached != far || s.Fallback == nil || *s.Fallback != 5 {
						t.Errorf("%d points out of reach with the class %v", s.Unreached, s.Fallback)
					}
				}
				out, err := m.Predict(t.Context(), data.Slice(x, 36, 36+far), nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(out.Classes, slices.Repeat([]int32{1}, far)) {
					t.Errorf("the classes are %v with scores %v", out.Classes, mat.Formatted(out.Scores))
				}
				if trained, ok := m.(models.Trained); ok {
					if got := trained.Training(false).Classes[36:]; !slices.Equal(got, out.Classes) {
						t.Errorf("training points have the classes %v", got)
					}
				}
			}
		})
	}
}
