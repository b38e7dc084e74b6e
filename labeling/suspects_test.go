package labeling_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/pipeline"
)

// plant gives every 20th label another class, and returns which.
func plant(y *data.Labels) (*data.Labels, map[int]bool) {
	rng := rand.New(rand.NewPCG(1, 20))
	values, wrong := make([]int64, y.Len()), map[int]bool{}
	for i, c := range y.Index {
		if i%20 == 7 {
			c = (c + 1 + int32(rng.IntN(len(y.Classes)-1))) % int32(len(y.Classes))
			wrong[i] = true
		}
		values[i] = y.Classes[c]
	}
	return data.NewLabels(values, nil), wrong
}

// found returns the shares of the wrong labels that are listed, and of the listed that
// are wrong.
func found(s *active.Suspects, wrong map[int]bool) (recall, precision float64) {
	for _, suspect := range s.List {
		if wrong[suspect.Point] {
			recall++
		}
	}
	return recall / float64(len(wrong)), recall / float64(len(s.List))
}

func TestSuspects(t *testing.T) {
	x, y := clusters(300, 3)
	noisy, wrong := plant(y)
	for _, c := range []struct {
		name   string
		values models.Values
		folds  int
	}{
		{"lgc", nil, 0}, {"harmonic", nil, 0}, {"poisson", nil, 0}, {"tikhonov", models.Values{"gamma-a": "1e-4", "gamma-i": "0.1"}, 0},
		{"lgc", nil, 10}, {"knn", nil, 0}, {"eigenmap", models.Values{"eigenvectors": "6"}, 0}, {"rls", models.Values{"gamma-a": "0.01"}, 5},
	} {
		in := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, noisy), Values: c.values}
		s, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{}}).Suspects(t.Context(), all.Learner(c.name), in, nil, c.folds)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if _, formula := all.Learner(c.name).(models.SelfChecker); formula && c.folds == 0 && s.Folds != 0 || s.Labeled != 300 {
			t.Errorf("%s: %d labels in %d folds", c.name, s.Labeled, s.Folds)
		}
		recall, precision := found(s, wrong)
		if !(recall >= 0.9 && precision >= 0.6) {
			t.Errorf("%s, %d folds: %d suspects, recall %.2f, precision %.2f", c.name, s.Folds, len(s.List), recall, precision)
		}
		truth, right := 0, 0
		for q, suspect := range s.List {
			if !(suspect.Score > 0 && suspect.Score <= 1) || q > 0 && suspect.Score > s.List[q-1].Score || suspect.Given == suspect.Suggested {
				t.Fatalf("%s: suspect %d is %+v", c.name, q, suspect)
			}
			if noisy.Index[suspect.Point] != suspect.Given {
				t.Fatalf("%s: the label of point %d is %d, not %d", c.name, suspect.Point, noisy.Index[suspect.Point], suspect.Given)
			}
			if wrong[suspect.Point] {
				truth++
				if y.Index[suspect.Point] == suspect.Suggested {
					right++
				}
			}
		}
		if !(float64(right) >= 0.9*float64(truth)) {
			t.Errorf("%s: the class suggested for %d wrong labels is the true one of %d", c.name, truth, right)
		}
	}
}

// Labels that are alone in their components are not suspected, and are counted.
func TestSuspectsAlone(t *testing.T) {
	x := data.NewDense[float64](60, 1)
	values, labeled := make([]int64, 60), make([]bool, 60)
	for i := range 60 {
		x.Row(i)[0] = float64(i%20) + 1000*float64(i/20)
		values[i], labeled[i] = int64(i/20%2), i == 0 || i == 5 || i == 25 || i > 40 && i < 46
	}
	values[43] = 1 // among zeros
	for _, folds := range []int{0, 8} {
		in := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, data.NewLabels(values, labeled))}
		s, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{}}).Suspects(t.Context(), all.Learner("lgc"), in, nil, folds)
		if err != nil {
			t.Fatal(err)
		}
		if s.Unknown != 1 || len(s.List) != 1 || s.List[0].Point != 43 {
			t.Errorf("%d folds: %+v", folds, s)
		}
	}
}

func TestSuspectsFaults(t *testing.T) {
	x, y := clusters(30, 3)
	in := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, y)}
	if _, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{}}).Suspects(t.Context(), all.Learner("lgc"), in, nil, 31); err == nil || !strings.Contains(err.Error(), "31 folds of 30 labeled points") {
		t.Errorf("error %v", err)
	}
	if _, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{Memory: 1000}}).Suspects(t.Context(), all.Learner("lgc"), in, nil, 0); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("error %v", err)
	}
	if _, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{}}).Suspects(cancelled(), all.Learner("lgc"), in, nil, 0); err == nil {
		t.Error("a cancelled search is no error")
	}
}
