package findings

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/pipeline"
)

const digitCount = 600

// digits are drawn digits, the answers of harmonic from 60 labels, and their places.
func digits(t *testing.T, change func(y *data.Labels)) *Fit {
	t.Helper()
	x, y := synthetic.Digits(digitCount, 1)
	if change != nil {
		change(y)
	}
	targets, err := pipeline.ClassTargets(y, 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	return fitted(t, x, targets, "harmonic")
}

// fitted fits a learner that keeps its training points' answers.
func fitted(t *testing.T, x data.Points, targets *pipeline.Targets, learner string) *Fit {
	t.Helper()
	in := &models.Input{Points: x, Targets: targets.Targets}
	p := &pipeline.Pipeline{Seed: 1}
	m, in, err := p.FitComplete(t.Context(), all.Learner(learner), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = p.CalibrateByDefault(t.Context(), all.Learner(learner), m, in); err != nil {
		t.Fatal(err)
	}
	f := &Fit{Points: x, Graph: in.Graph.W, Targets: targets,
		Answers: models.Unnamed(m).(models.Trained).Training(true), Calibration: models.CalibrationOf(m),
		Suspects: labeling.SuspectsOfFit(m, targets.Targets)}
	if f.Plane, err = p.Plane(t.Context(), in, 300); err != nil {
		t.Fatal(err)
	}
	return f
}

// page writes the sections; with REPORT_SAMPLE set also to that file, to be looked at.
func page(t *testing.T, f *Fit) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, &report.Report{Title: "t", Sections: f.Sections()}); err != nil {
		t.Fatal(err)
	}
	if file := os.Getenv("REPORT_SAMPLE"); file != "" {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// has checks what a page holds, and that its bytes are the same the second time.
func has(t *testing.T, f *Fit, want ...string) string {
	t.Helper()
	p := page(t, f)
	for _, w := range want {
		if !strings.Contains(p, w) {
			t.Errorf("the page lacks %q", w)
		}
	}
	if page(t, f) != p {
		t.Error("other bytes the second time")
	}
	return p
}

// tables returns the tables with a caption, or of all without.
func tables(f *Fit, caption string) (out []*report.Table) {
	for _, s := range f.Sections() {
		for _, b := range s.Blocks {
			if table, ok := b.(*report.Table); ok && table.Caption == caption {
				out = append(out, table)
			}
		}
	}
	return out
}

func TestClasses(t *testing.T) {
	f := digits(t, nil)
	p := has(t, f, "600 points, 60 with a label that was used, 10 classes. 540 labels that were held out of the fit; ",
		"600 items, 60 labels: about ", "Coloured by answer", "Coloured by certainty", "least certain fifth", "300 of 600 points are drawn",
		"Points that the graph joins are near each other", "<h3>Labels and answers</h3>", "<h3>Error of the most certain answers</h3>", "The least certain answers", "margin of scores", "The most certain of the wrong answers", "data:image/png")
	if strings.Contains(p, "Probability and share") {
		t.Error("a diagram of probabilities that there are not")
	}
	shares := tables(f, "")[0]
	all := shares.Rows[len(shares.Rows)-1]
	if want := []string{"all", "60", "100.0 %", "600", "100.0 %", "540"}; len(shares.Rows) != 11 || !reflect.DeepEqual(all[:6], want) {
		t.Errorf("%d rows, the last is %q", len(shares.Rows), all)
	}
	// The margins of the list ascend, and its points had no label.
	last := -1.0
	used := f.Targets.Used().Index
	for _, row := range tables(f, "The least certain answers: the first 20")[0].Rows {
		var at int
		var margin float64
		scan(t, row[0], &at)
		scan(t, row[3], &margin)
		if margin < last || used[at] != data.Unlabeled || row[1] == row[2] {
			t.Errorf("%q after %v", row, last)
		}
		last = margin
	}
	if n := len(tables(f, "The most certain of the wrong answers: the first 20")[0].Rows); n == 0 {
		t.Error("no wrong answer")
	}
}

func scan(t *testing.T, s string, to any) {
	t.Helper()
	if _, err := fmt.Sscan(s, to); err != nil {
		t.Fatalf("%q: %v", s, err)
	}
}

// curve returns the points of a chart of one line.
func curve(c chart.Chart) (x, y []float64) {
	s := c.(*chart.Lines).Series[0]
	return s.X, s.Y
}

// TestProbabilities checks the reliability of answers that are right as often as
// promised, and of others that promise more.
func TestProbabilities(t *testing.T) {
	const n = 20000
	rng := rand.New(rand.NewPCG(3, 3))
	truth, answers := make([]int64, n), &models.Prediction{Classes: make([]int32, n)}
	honest, boasting := mat.NewDense(n, 2, nil), mat.NewDense(n, 2, nil)
	for i := range n {
		p := 0.5 + rng.Float64()/2
		c := rng.IntN(2)
		answers.Classes[i] = int32(c)
		if truth[i] = int64(c); rng.Float64() > p {
			truth[i] = int64(1 - c)
		}
		honest.Set(i, c, p)
		honest.Set(i, 1-c, 1-p)
		boasting.Set(i, c, 0.95+0.05*p)
		boasting.Set(i, 1-c, 0.05-0.05*p)
	}
	targets, err := pipeline.ClassTargets(data.NewLabels(truth, nil), 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := &Fit{Targets: targets, Answers: answers, Probabilities: honest}
	p := has(t, f, "Probability and share of right answers", "as promised")
	if e := gap(t, p); !(e < 0.02) {
		t.Errorf("a calibration error of %v", e)
	}
	f.Probabilities = boasting
	if e := gap(t, has(t, f)); !(e > 0.15 && e < 0.3) {
		t.Errorf("a calibration error of %v of answers that promise too much", e)
	}
}

// gap reads the calibration error in a page.
func gap(t *testing.T, page string) (v float64) {
	t.Helper()
	const before = "the expected calibration error: "
	_, text, _ := strings.Cut(page, before)
	text, _, _ = strings.Cut(text, ".<")
	scan(t, text, &v)
	return v
}

// TestSuspicious finds labels that were changed.
func TestSuspicious(t *testing.T) {
	changed := map[string]bool{}
	clean := digits(t, nil)
	rows := clean.Targets.Used().Labeled()[:6]
	f := digits(t, func(y *data.Labels) {
		for k, i := range rows {
			y.Index[i] = (y.Index[i] + 1 + int32(k)%8) % 10
			changed[(&Fit{}).name(i)] = true
		}
	})
	listed := tables(f, "Suspicious labels")
	if len(listed) == 0 {
		t.Fatal("no label is suspicious")
	}
	found := 0
	first := listed[0].Rows[:min(12, len(listed[0].Rows))]
	for _, row := range first {
		if changed[row[0]] {
			found++
		}
	}
	if found < 4 || len(listed[0].Rows) > 25 {
		t.Errorf("%d of 6 changed labels are among the first %d of %d suspicious ones", found, len(first),
			len(listed[0].Rows))
	}
	f.IDs = &data.IDs{Values: make([]string, digitCount)}
	for i := range f.IDs.Values {
		f.IDs.Values[i] = "<b>digit " + (&Fit{}).name(i)
	}
	has(t, f, "&lt;b&gt;digit ")
}

// TestParts leaves out what is not known.
func TestParts(t *testing.T) {
	f := digits(t, nil)
	f.Answers = nil
	p := has(t, f, "Coloured by label", ">class</th>")
	if strings.Contains(p, "answers</th>") || strings.Contains(p, "least certain") {
		t.Error("answers that there are not")
	}
	f = digits(t, nil)
	f.Plane, f.Graph, f.Points, f.Calibration, f.Suspects = nil, nil, nil, nil, nil
	if p := has(t, f, "The least certain answers"); strings.Contains(p, "in the plane") || strings.Contains(p, "Suspicious") || strings.Contains(p, "data:image") {
		t.Error("parts of what is not known")
	}
	f.Answers = &models.Prediction{Classes: f.Answers.Classes} // without scores
	if p := has(t, f, ">class</th>"); strings.Contains(p, "certain") {
		t.Error("certainty without scores")
	}
	// No label is held out.
	x, y := synthetic.TwoMoons(80, 0.05, 1)
	targets, err := pipeline.ClassTargets(y.Keep([]int{0, 1, 2, 3}), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p := has(t, fitted(t, x, targets, "harmonic"), "at least 30 are needed", "is not known yet"); strings.Contains(p, "checked</th>") || strings.Contains(p, "data:image") {
		t.Error("labels held out, or images, that there are not")
	}
}

// TestManyClasses keeps tables short.
func TestManyClasses(t *testing.T) {
	class := make([]int64, 500)
	for i := range class {
		class[i] = int64(i % 100)
	}
	targets, err := pipeline.ClassTargets(data.NewLabels(class, nil), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := &Fit{Targets: targets}
	has(t, f, "61 more", "500 points, 500 with a label, 100 classes")
}

func TestValues(t *testing.T) {
	y := mat.NewDense(200, 1, nil)
	answers := mat.NewDense(200, 1, nil)
	for i := range 200 {
		y.Set(i, 0, float64(i))
		answers.Set(i, 0, float64(i)+0.5)
	}
	targets, err := pipeline.BlockTargets(y, models.ValueTargets, 50, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := &Fit{Targets: targets, Answers: &models.Prediction{Scores: answers}, Plane: &pipeline.Plane{Rows: []int{0, 5, 199}, X: []float64{0, 1, 2}, Y: []float64{0, 1, 0}}}
	has(t, f, "held out", "199.5", "Answers and values held out", "largest fifth",
		"200 items, 50 values: 9 of 10 answers are off by at most 0.5.", "150 values that were held out")
	for i := range 200 {
		y.Set(i, 0, float64(i%2))
	}
	targets, err = pipeline.BlockTargets(y, func(b *mat.Dense) (*models.Targets, error) { return multilabel.LabelTargets(b, nil) }, 50, 1)
	if err != nil {
		t.Fatal(err)
	}
	has(t, &Fit{Targets: targets, Answers: &models.Prediction{Scores: answers}}, "answers that have it", "100.0 %")
}

func TestImages(t *testing.T) {
	x, _ := synthetic.Digits(40, 1)
	unit := data.NewDense[float64](40, 28*28)
	for i, v := range x.Data {
		unit.Data[i] = float64(v) / 255
	}
	noise := data.NewDense[float64](40, 28*28)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range noise.Data {
		noise.Data[i] = rng.Float64()
	}
	wide := data.NewDense[float32](40, 28*28)
	for i, v := range x.Data {
		wide.Data[i] = float32(v) * 2
	}
	large := data.NewDense[uint8](2, 200*200)
	for i := range large.Data {
		large.Data[i] = uint8(i / 200 % 200)
	}
	for name, c := range map[string]struct {
		x    data.Points
		side int // 0 for none
	}{
		"bytes": {x, 28}, "unit": {unit, 28}, "noise": {noise, 0}, "beyond bytes": {wide, 0}, "large": {large, 50},
		"no square": {data.NewDense[uint8](3, 65), 0}, "none": {nil, 0}, "empty": {data.NewDense[uint8](0, 64), 0}, "black": {data.NewDense[uint8](3, 64), 0},
	} {
		s := findImages(c.x)
		if (s == nil) != (c.side == 0) || s != nil && s.side != c.side {
			t.Errorf("%s: %+v", name, s)
		}
	}
	a, b := findImages(x).pixels(x, 3), findImages(unit).pixels(unit, 3)
	if !bytes.Equal(a, x.Row(3)) || !bytes.Equal(a, b) {
		t.Error("other pixels than those of the point")
	}
	if p := findImages(large).pixels(large, 0); len(p) != 2500 || p[0] != 2 || p[2499] != 198 {
		t.Errorf("%d pixels, the first is %d, the last %d", len(p), p[0], p[len(p)-1])
	}
}

// TestCoverage compares the curve of errors with its definition.
func TestCoverage(t *testing.T) {
	f := digits(t, nil)
	v := newView(f)
	held := v.checked.points
	wrong := 0
	for _, i := range held {
		if v.wrong(i) {
			wrong++
		}
	}
	if len(held) != digitCount-60 {
		t.Errorf("%d labels were held out", len(held))
	}
	rows := v.checked.coverage().(*report.Figure).Charts[0]
	x, y := curve(rows)
	if last := len(x) - 1; x[last] != 100 || math.Abs(y[last]-100*float64(wrong)/float64(len(held))) > 1e-9 || len(x) > curvePoints+1 {
		t.Errorf("the curve of %d points ends at (%v, %v)", len(x), x[last], y[last])
	}
	for k := 1; k < len(x); k++ {
		if x[k] <= x[k-1] {
			t.Errorf("%v after %v", x[k], x[k-1])
		}
	}
}
