package pipeline_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/models/threshold"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
)

// skewed are n points of a line, a quarter of them of the second class, which lies to the
// right, and their classes.
func skewed(n int) (*data.Dense[float64], *data.Labels) {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	x, class := data.NewDense[float64](n, 1), make([]int64, n)
	for i := range n {
		if i%4 == 0 {
			class[i] = 1
		}
		x.Row(i)[0] = rng.NormFloat64() + 2*float64(class[i])
	}
	return x, data.NewLabels(class, nil)
}

// secondOf counts the points whose (s₁ − s₀)/2 reaches t, and those of the second class
// among so many of them; y, if not nil, says which points count.
func secondOf(p *models.Prediction, y *data.Labels, t float64) (reach, second int) {
	for i := range p.Len() {
		if y != nil && y.Index[i] == data.Unlabeled {
			continue
		}
		if (p.Scores.At(i, 1)-p.Scores.At(i, 0))/2 >= t {
			reach++
		}
		if y != nil {
			second += int(y.Index[i])
		}
	}
	return reach, second
}

func TestThreshold(t *testing.T) {
	x, truth := skewed(200)
	y := truth.Keep(data.Range(0, 60))
	in := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, y), Values: models.Values{"gamma-a": "1e-2"}}
	pipe := &pipeline.Pipeline{}
	plain := fit(t, pipe, "rls-linear", in, nil)
	own := predict(t, plain, x)
	decide := func(m models.Model, text string, labels *data.Labels) (*threshold.Threshold, *models.Prediction) {
		t.Helper()
		s, err := threshold.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Labels = labels
		p := predict(t, m, x)
		got, err := threshold.Decide(m, p, s)
		if err != nil {
			t.Fatal(err)
		}
		if reach, _ := secondOf(p, nil, got.Value); got.Class != "1" || reach != int(math.Round(200*mean(p.Classes))) {
			t.Errorf("%v: %d points reach it, %v of 200 are of the class", got, reach, mean(p.Classes))
		}
		return got, p
	}
	if got, p := decide(plain, "zero", nil); got.Value != 0 || !slices.Equal(p.Classes, own.Classes) {
		t.Errorf("zero is %v and not the model's own decision", got)
	}
	if _, p := decide(plain, "prior:0.3", nil); mean(p.Classes) != 0.3 {
		t.Errorf("prior:0.3 answers %v", mean(p.Classes))
	}
	if got, p := decide(plain, "prior", truth.Keep(data.Range(0, 50))); got.Share != 13./50 || mean(p.Classes) != 0.26 {
		t.Errorf("prior of 50 labels: %v answers %v", got, mean(p.Classes))
	}
	some := truth.Keep(data.Range(20, 120))
	got, p := decide(plain, "break-even", some)
	reach, second := secondOf(p, some, got.Value)
	if zero, _ := secondOf(p, some, 0); reach != second || zero == second {
		t.Errorf("%v: %d of the labeled reach it and %d reach 0, %d are of the class", got, reach, zero, second)
	}
	calibrated, err := pipe.Calibrate(t.Context(), all.Learner("rls-linear"), plain, in, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got, p := decide(calibrated, "prior", nil); got.Share != 0.25 || mean(p.Classes) != 0.25 {
		t.Errorf("%v answers %v", got, mean(p.Classes))
	}
	kept := fit(t, pipe, "knn", &models.Input{Points: x, Targets: in.Targets, Values: models.Values{"vote": "7"}}, nil)
	if got, _ := decide(kept, "prior", nil); got.Share != 0.25 || got.From != "the 60 labels of the fit" {
		t.Errorf("of a model that keeps its labels: %v", got)
	}
	// The break-even point is that of the labels of the fit, each answered for without it.
	held, err := selection.NewHeldOut(t.Context(), all.Learner("rls-linear"), in, selection.Deal{Folds: 10})
	if err != nil {
		t.Fatal(err)
	}
	var scores []float64
	var positive []bool
	for f, s := range held.Splits {
		for i, q := range s.Held {
			scores = append(scores, held.Answers[f].Scores.At(i, 1))
			positive = append(positive, y.Index[in.Targets.Labeled[q]] == 1)
		}
	}
	want, err := metrics.BreakEven(scores, positive)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := decide(calibrated, "break-even", nil); !(math.Abs(got.Value-want.Threshold) <= 1e-12) || got.From != "60 labels held out in 10 folds" {
		t.Errorf("%v, want the threshold %v", got, want.Threshold)
	}
}

func mean(classes []int32) float64 {
	var sum float64
	for _, c := range classes {
		sum += float64(c)
	}
	return sum / float64(len(classes))
}

func TestThresholdFaults(t *testing.T) {
	for _, text := range []string{"half", "zero:0.1", "prior:", "prior:1", "prior:NaN", "break-even:3"} {
		if _, err := threshold.Parse(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	x, truth := skewed(40)
	few, none := truth.Keep([]int{1, 2, 3}), truth.Keep(nil)
	foreign := truth.Keep(data.Range(0, 40))
	foreign.Index[7], foreign.Classes = 2, []int64{0, 1, 9}
	made := fitted(t)
	made["two"] = fit(t, &pipeline.Pipeline{}, "rls-linear", &models.Input{Points: x, Targets: modeltest.ClassTargets(t, truth), Values: models.Values{"gamma-a": "1"}}, nil)
	for name, c := range map[string]struct {
		model string
		s     threshold.Settings
		want  string
	}{
		"three classes": {"votes", threshold.Settings{}, "the knn model has 3"},
		"values":        {"values", threshold.Settings{}, "the rls-linear model answers with values"},
		"labels":        {"labels", threshold.Settings{}, "the vvmr model answers with labels"},
		"no shares":     {"two", threshold.Settings{Rule: threshold.Prior}, "prior:0.3"},
		"not held out":  {"two", threshold.Settings{Rule: threshold.BreakEven}, "calibrate 10"},
		"no second":     {"two", threshold.Settings{Rule: threshold.BreakEven, Labels: few}, "none of the 3 labels is of class 1"},
		"no labels":     {"two", threshold.Settings{Rule: threshold.BreakEven, Labels: none}, "no point has a label"},
		"no share":      {"two", threshold.Settings{Rule: threshold.Prior, Labels: none}, "no label among those given"},
		"other classes": {"two", threshold.Settings{Rule: threshold.Prior, Labels: foreign}, "the label of point 7 is 9"},
	} {
		m, query := made[c.model], data.Points(x)
		if c.model != "two" {
			query, _ = clusters(40, 3)
		}
		_, err := threshold.Decide(m, predict(t, m, query), &c.s)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(param.Plain(err.Error()), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
