package pipeline_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/pipeline"
)

// known are 30 classes of which every fifth point has none.
func known() *data.Labels {
	class, given := make([]int64, 30), make([]bool, 30)
	for i := range 30 {
		class[i], given[i] = int64(4+i%3), i%5 != 0
	}
	return data.NewLabels(class, given)
}

// blockOf has two numbers a point, and none for every fifth.
func blockOf(at func(i, j int) float64) *mat.Dense {
	out := mat.NewDense(30, 2, nil)
	out.Apply(func(i, j int, _ float64) float64 {
		if i%5 == 0 {
			return math.NaN()
		}
		return at(i, j)
	}, out)
	return out
}

func smooth(i, j int) float64 { return math.Sin(float64(i + 7*j)) }

func sign(i, j int) float64 { return math.Copysign(1, smooth(i, j)) }

func TestClassTargets(t *testing.T) {
	y := known()
	whole, err := pipeline.ClassTargets(y, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if whole.HeldBack() || !slices.Equal(whole.Labeled, y.Labeled()) || whole.Used() != y {
		t.Errorf("all labels: %v, held back %v", whole.Labeled, whole.HeldBack())
	}
	if m, err := whole.Measure(&models.Prediction{Classes: make([]int32, 30)}); err != nil || m != (pipeline.Measured{}) {
		t.Errorf("nothing is held back: %+v, %v", m, err)
	}
	drawn, err := pipeline.ClassTargets(y, 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, err := y.Draw(9, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !drawn.HeldBack() || !slices.Equal(drawn.Labeled, want.Labeled()) || len(drawn.Labeled) != 9 || !slices.Equal(drawn.Used().Index, want.Index) {
		t.Errorf("9 labels: %v, want %v", drawn.Labeled, want.Labeled())
	}
	// The error is that of the 15 held back, in percent.
	answer := slices.Clone(y.Index)
	wrong := 0
	for i := range answer {
		if i%4 == 1 || answer[i] == data.Unlabeled {
			answer[i] = (answer[i] + 1) % 3
		}
		if held := y.Index[i] != data.Unlabeled && want.Index[i] == data.Unlabeled; held && answer[i] != y.Index[i] {
			wrong++
		}
	}
	m, err := drawn.Measure(&models.Prediction{Classes: answer})
	if err != nil || m.Error == nil || m.RMSE != nil || m.MultiLabel != nil || math.Abs(*m.Error-100*float64(wrong)/15) > 1e-12 || wrong == 0 {
		t.Errorf("%d of 15 are wrong: %+v, %v", wrong, m, err)
	}
	if _, err := pipeline.ClassTargets(y, 25, 1); err == nil {
		t.Error("25 of 24 labels were drawn")
	}
	if _, err := pipeline.ClassTargets(y, 1, 1); err == nil {
		t.Error("one label is enough")
	}
	if _, err := pipeline.ClassTargets(y.Keep(nil), 4, 1); err == nil || !strings.Contains(err.Error(), "no point is labeled") {
		t.Errorf("no labels: %v", err)
	}
}

func TestInsideTargets(t *testing.T) {
	y := known()
	for labels, want := range map[int]int{0: 24, 7: 7} {
		in, err := pipeline.InsideTargets(y, labels, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(in.Labeled) != want || in.Classes != nil || mat.Norm(in.Y, 1) != 0 || in.HeldBack() {
			t.Errorf("%d labels: %v, values of %v, held back %v", labels, in.Labeled, mat.Norm(in.Y, 1), in.HeldBack())
		}
		for _, i := range in.Labeled {
			if y.Index[i] == data.Unlabeled {
				t.Errorf("point %d has no label", i)
			}
		}
	}
}

func TestBlockTargets(t *testing.T) {
	for what, c := range map[string]struct {
		values *mat.Dense
		code   func(*mat.Dense) (*models.Targets, error)
	}{
		"values": {blockOf(smooth), models.ValueTargets},
		"labels": {blockOf(sign), func(y *mat.Dense) (*models.Targets, error) { return multilabel.LabelTargets(y, []int64{3, 8}) }},
	} {
		whole, err := pipeline.BlockTargets(c.values, c.code, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if whole.HeldBack() || len(whole.Labeled) != 24 || whole.Used() != nil {
			t.Errorf("%s: all: %v", what, whole.Labeled)
		}
		drawn, err := pipeline.BlockTargets(c.values, c.code, 10, 1)
		if err != nil {
			t.Fatal(err)
		}
		again, err := pipeline.BlockTargets(c.values, c.code, 10, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !drawn.HeldBack() || len(drawn.Labeled) != 10 || !slices.Equal(drawn.Labeled, again.Labeled) {
			t.Errorf("%s: ten rows: %v and %v", what, drawn.Labeled, again.Labeled)
		}
		for q, i := range drawn.Labeled {
			if !slices.Equal(drawn.Y.RawRowView(q), c.values.RawRowView(i)) {
				t.Errorf("%s: row %d is not that of point %d", what, q, i)
			}
		}
		// Answers that are off by 0.25 at the points held back, and by much more at
		// those that are used.
		answer := mat.NewDense(30, 2, nil)
		answer.Apply(func(i, j int, _ float64) float64 {
			if slices.Contains(drawn.Labeled, i) {
				return -1000 * c.values.At(i, j)
			}
			if i%5 == 0 {
				return 3
			}
			return c.values.At(i, j) + 0.25
		}, answer)
		m, err := drawn.Measure(&models.Prediction{Scores: answer})
		if err != nil || m.Error != nil {
			t.Fatalf("%s: %+v, %v", what, m, err)
		}
		if what == "values" && (m.RMSE == nil || math.Abs(*m.RMSE-0.25) > 1e-12) {
			t.Errorf("values: %+v", m)
		}
		if what == "labels" && (m.MultiLabel == nil || m.MultiLabel.HammingLoss != 0 || m.MultiLabel.Points != 14 || !slices.Equal(m.MultiLabel.Labels, []int64{3, 8})) {
			t.Errorf("labels: %+v", m.MultiLabel)
		}
		if m, err := whole.Measure(&models.Prediction{Scores: answer}); err != nil || m != (pipeline.Measured{}) {
			t.Errorf("%s: nothing is held back: %+v, %v", what, m, err)
		}
		if _, err := pipeline.BlockTargets(c.values, c.code, 25, 1); err == nil {
			t.Errorf("%s: 25 of 24 rows were drawn", what)
		}
	}
	if _, err := pipeline.BlockTargets(mat.NewDense(2, 1, []float64{1, math.Inf(1)}), models.ValueTargets, 0, 1); err == nil {
		t.Error("an infinite value was taken")
	}
}

func TestMeasureValues(t *testing.T) {
	truth := mat.NewDense(2, 2, []float64{1, math.NaN(), 3, 4})
	m, err := pipeline.MeasureValues(truth, mat.NewDense(2, 2, []float64{2, 100, 3, 2}), nil)
	if err != nil || m.RMSE == nil || math.Abs(*m.RMSE-math.Sqrt(5./3)) > 1e-15 {
		t.Errorf("%+v, %v", m, err)
	}
	signs := mat.NewDense(2, 2, []float64{1, math.NaN(), -1, 1})
	m, err = pipeline.MeasureValues(signs, mat.NewDense(2, 2, []float64{2, 100, 3, 2}), []int64{0, 1})
	if err != nil || m.MultiLabel == nil || m.MultiLabel.HammingLoss != metrics.Number(1./3) {
		t.Errorf("%+v, %v", m.MultiLabel, err)
	}
	nothing := mat.NewDense(1, 1, []float64{math.NaN()})
	for _, labels := range [][]int64{nil, {4}} {
		if m, err := pipeline.MeasureValues(nothing, mat.NewDense(1, 1, nil), labels); err != nil || m != (pipeline.Measured{}) {
			t.Errorf("nothing is known: %+v, %v", m, err)
		}
	}
	if got := pipeline.KnownRows(mat.NewDense(3, 2, []float64{math.NaN(), math.NaN(), 1, math.NaN(), 2, 3})); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("rows with a number: %v", got)
	}
}

// The hash is that of what is used: it changes with every label and with nothing
// else.
func TestTargetsHash(t *testing.T) {
	seen := map[string]string{}
	unlike := func(what, hash string) {
		if before, ok := seen[hash]; ok || len(hash) != 64 {
			t.Errorf("%s and %s have the hash %q", what, before, hash)
		}
		seen[hash] = what
	}
	of := func(targets *pipeline.Targets, err error) *pipeline.Targets {
		if err != nil {
			t.Fatal(err)
		}
		return targets
	}
	y := known()
	whole := of(pipeline.ClassTargets(y, 0, 1)).Hash()
	unlike("all classes", whole)
	unlike("nine classes", of(pipeline.ClassTargets(y, 9, 1)).Hash())
	unlike("nine others", of(pipeline.ClassTargets(y, 9, 2)).Hash())
	if got := data.HashPoints(&data.Dense[float64]{Rows: 30, Cols: 1, Data: pipeline.ClassValues(y)}); got != whole {
		t.Errorf("the hash %s is not that of the values %s", whole, got)
	}
	other := data.NewLabels([]int64{4, 5}, nil)
	unlike("two classes", of(pipeline.ClassTargets(other, 0, 1)).Hash())
	block := blockOf(smooth)
	unlike("all values", of(pipeline.BlockTargets(block, models.ValueTargets, 0, 1)).Hash())
	unlike("ten values", of(pipeline.BlockTargets(block, models.ValueTargets, 10, 1)).Hash())
	if again := of(pipeline.ClassTargets(known(), 0, 7)).Hash(); again != whole {
		t.Error("the same classes have another hash")
	}
}
