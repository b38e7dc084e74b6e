package findings

import (
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/pipeline"
)

// heldOut returns 200 points in two classes, of which the first 100 have a label. Held-out answers
// are right for 80 of them with p = 0.95; the other 20 are labels of class b that are answered a with
// p = 0.6. Answers for all points have p = 0.95 but for the last 50, which have 0.6.
func heldOut(t *testing.T) *Fit {
	t.Helper()
	names := make([]string, 200)
	given := make([]bool, 200)
	for i := range names {
		names[i] = "a"
		if i%2 == 1 {
			names[i] = "b"
		}
		given[i] = i < 100
	}
	targets, err := pipeline.ClassTargets(labelsOf(names, given), 0, 1)
	if err != nil {
		t.Fatal(err)
	}

	out := &calibration.Out{Probabilities: mat.NewDense(100, 2, nil)}
	for i := range 100 {
		out.Points = append(out.Points, int32(i))
		row := []float64{0.95, 0.05}
		switch {
		case i%2 == 1 && i < 40:
			row = []float64{0.6, 0.4}
		case i%2 == 1:
			row = []float64{0.05, 0.95}
		}
		out.Probabilities.SetRow(i, row)
	}
	f := &Fit{Targets: targets, Answers: &models.Prediction{Classes: make([]int32, 200)},
		Probabilities: mat.NewDense(200, 2, nil), Model: "my model.npz",
		Calibration: &calibration.Calibration{Folds: 5, Held: 100, Classes: &calibration.Classes{Temperature: 1}, Out: out}}
	known := make([]bool, 100)
	for i := range known {
		known[i] = true
	}
	f.Suspects = active.Disagreeing(targets.Targets, out.Probabilities, known)
	for i := range 200 {
		f.Probabilities.SetRow(i, []float64{0.95, 0.05})
		if i >= 150 {
			f.Probabilities.SetRow(i, []float64{0.6, 0.4})
		}
	}
	return f
}

// labelsOf returns labels by name; points that are not given have none.
func labelsOf(names []string, given []bool) *data.Labels {
	class := make([]int64, len(names))
	for i, n := range names {
		class[i] = int64(n[0] - 'a')
	}
	y := data.NewLabels(class, given)
	y.Names = []string{"a", "b"}
	return y
}

// block returns the first block of a kind.
func block[B report.Block](t *testing.T, f *Fit) B {
	t.Helper()
	for _, s := range f.Sections() {
		for _, b := range s.Blocks {
			if found, ok := b.(B); ok {
				return found
			}
		}
	}
	t.Fatal("the block is missing")
	panic("unreachable")
}

// TestHeldOut reads the numbers of a report whose held-out answers are known.
func TestHeldOut(t *testing.T) {
	f := heldOut(t)
	has(t, f, "cross-validation in 5 folds", "Probability and share of right answers", "20.0 %")

	if got, want := block[*report.Headline](t, f).Text, "200 items, 100 labels: about 80\u00a0% right (±\u00a04); "+
		"150 of them at 90\u00a0% or more."; got != want {
		t.Errorf("the headline is %q, want %q", got, want)
	}
	m := block[*report.Matrix](t, f)
	if m.Counts[0][0] != 50 || m.Counts[0][1] != 0 || m.Counts[1][0] != 20 || m.Counts[1][1] != 30 {
		t.Errorf("the matrix is %v", m.Counts)
	}

	// Every sentence of the advice follows from the numbers above.
	var texts []string
	for _, item := range block[*report.List](t, f).Items {
		texts = append(append(texts, item.Text), item.Commands...)
	}
	advice := strings.Join(texts, "\n")
	for _, want := range []string{"Take the 150 answers at 90 % or more: of 80 checked such answers none is wrong.",
		"Leave the other 50", "20 suspicious labels", "20 of 100 labels disagree", "bigfit suspects 'my model.npz'",
		"Label 10 more items", "bigfit next 'my model.npz' -n 10 -o next.csv", "bigfit update 'my model.npz' -y next.csv"} {
		if !strings.Contains(advice, want) {
			t.Errorf("the advice lacks %q:\n%s", want, advice)
		}
	}
	listed := tables(f, "Suspicious labels")[0]
	if len(listed.Rows) != 20 || listed.Rows[0][1] != "b" || listed.Rows[0][2] != "a" || listed.Rows[0][3] != "0.60" {
		t.Errorf("suspicious: %v", listed.Rows)
	}
}

// TestAdvice changes one thing at a time.
func TestAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *Fit)
		want   string
	}{
		"good": {func(f *Fit) {
			for i := range 100 {
				f.Calibration.Out.Probabilities.SetRow(i, []float64{float64(1 - i%2), float64(i % 2)})
			}
			for i := range 200 {
				f.Probabilities.SetRow(i, []float64{0.99, 0.01})
			}
		}, "Good enough for many uses"},
		"uncertain": {func(f *Fit) {
			for i := range 200 {
				f.Probabilities.SetRow(i, []float64{0.6, 0.4})
			}
		}, "none of them is sure enough"},
		"weak": {func(f *Fit) {
			for i := range 60 {
				f.Calibration.Out.Probabilities.SetRow(i, []float64{0.9, 0.1})
			}
		}, "another class: b (30 of 50)"},
		"guesses": {func(f *Fit) {
			for i := range 100 {
				f.Calibration.Out.Probabilities.SetRow(i, []float64{0.9, 0.1})
			}
		}, "Do not use these answers: 50 % are right, and the most frequent class for all would be right for 50 %."},
		"none": {func(f *Fit) { f.Probabilities.Apply(func(_, _ int, _ float64) float64 { return 0.5 }, f.Probabilities) },
			"none of them at 90\u00a0% or more"},
		"unreached": {func(f *Fit) { f.Unreached = 7 }, "7 items lie in parts of the graph without any label"},
		"rough": {func(f *Fit) { f.Calibration = &calibration.Calibration{Classes: f.Calibration.Classes} },
			"Probabilities are rough"},
		"not checked": {func(f *Fit) { f.Calibration = nil }, "how often answers are right is not known yet"},
	} {
		t.Run(name, func(t *testing.T) {
			f := heldOut(t)
			c.change(f)
			has(t, f, c.want)
		})
	}
}

// TestManyClassesConfused lists pairs where a matrix would be too large.
func TestManyClassesConfused(t *testing.T) {
	const classes = 30
	class := make([]int64, 10*classes)
	for i := range class {
		class[i] = int64(i % classes)
	}
	targets, err := pipeline.ClassTargets(data.NewLabels(class, nil), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := mat.NewDense(len(class), classes, nil)
	out := &calibration.Out{Probabilities: p}
	for i := range class {
		out.Points = append(out.Points, int32(i))
		p.Set(i, int(class[i]), 1)
		if class[i] == 7 {
			p.Set(i, 7, 0)
			p.Set(i, 3, 1)
		}
	}
	f := &Fit{Targets: targets, Answers: &models.Prediction{Classes: make([]int32, len(class))}, Probabilities: p,
		Calibration: &calibration.Calibration{Folds: 5, Held: len(class), Classes: &calibration.Classes{}, Out: out}}
	rows := tables(f, "The most frequent mistakes")
	if len(rows) != 1 || len(rows[0].Rows) != 1 || strings.Join(rows[0].Rows[0], " ") != "7 3 10" {
		t.Errorf("mistakes: %+v", rows)
	}
	has(t, f, "10 of 10 mistakes take “3” for “7” or the other way round")
}

// TestHeldOutValues measures a regression by its held-out residuals.
func TestHeldOutValues(t *testing.T) {
	const n = 100
	y := mat.NewDense(n, 1, nil)
	out := &calibration.Out{Residuals: mat.NewDense(n, 1, nil)}
	sizes := mat.NewDense(n, 1, nil)
	for i := range n {
		y.Set(i, 0, float64(i))
		out.Points = append(out.Points, int32(i))
		out.Residuals.Set(i, 0, float64(i+1)/100)
		sizes.Set(i, 0, float64(i+1)/100)
	}
	targets, err := pipeline.BlockTargets(y, models.ValueTargets, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := &Fit{Targets: targets, Answers: &models.Prediction{Scores: y},
		Calibration: &calibration.Calibration{Folds: 10, Held: n, Intervals: &calibration.Intervals{Residuals: sizes}, Out: out},
		Outliers:    []active.Outlier{{Point: 42, Given: []float64{42}, Predicted: []float64{7}, Score: 9.87}}}
	has(t, f, "100 items, 100 values: 9 of 10 answers are off by at most 0.91.", "cross-validation in 10 folds",
		"Answers and values left out", "1 value is far from the answer", ">9.9</td>")
	f.Calibration = nil
	has(t, f, "how far answers are off is not known yet")
}

// TestInside counts the points on both sides, and lists the farthest outside first.
func TestInside(t *testing.T) {
	targets, err := pipeline.InsideTargets(data.NewLabels([]int64{7, 7, 0, 0, 0}, []bool{true, true, false, false, false}), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := &Fit{Targets: targets, Answers: &models.Prediction{Classes: []int32{1, 1, 0, 0, 1},
		Scores: mat.NewDense(5, 1, []float64{1, 2, -1, -5, 0.1})},
		Plane: &pipeline.Plane{Rows: []int{1, 3}, X: []float64{0, 1}, Y: []float64{0, 1}}}
	has(t, f, "5 items, 2 labels: 3 lie inside, 2 outside.", ">outside</span>")
	if rows := tables(f, "Farthest outside")[0].Rows; len(rows) != 2 || rows[0][0] != "3" || rows[1][0] != "2" {
		t.Errorf("farthest: %v", rows)
	}
}

// TestShown shows texts, links and pictures beside the points, and says which pictures are missing.
func TestShown(t *testing.T) {
	dir := t.TempDir()
	picture := image.NewRGBA(image.Rect(0, 0, 400, 200))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(i)
	}
	small := image.NewGray(image.Rect(0, 0, 20, 30))
	small.Set(3, 3, color.White)
	writePicture(t, filepath.Join(dir, "wide.jpg"), func(f *os.File) error { return jpeg.Encode(f, picture, nil) })
	writePicture(t, filepath.Join(dir, "small.png"), func(f *os.File) error { return png.Encode(f, small) })
	writePicture(t, filepath.Join(dir, "damaged.png"), func(f *os.File) error { _, err := f.WriteString("no picture"); return err })
	if err := os.Mkdir(filepath.Join(dir, "folder.png"), 0o755); err != nil {
		t.Fatal(err)
	}

	f := heldOut(t)
	f.Shown = &Shown{Name: "what", Folder: dir, Texts: make([]string, 200)}
	for i := range f.Shown.Texts {
		f.Shown.Texts[i] = strings.Repeat("word <b> ", 100)
	}
	// The first rows of the two lists: points 150, … are the least certain, labels 1, 3, … suspicious.
	names := []string{"wide.jpg", "small.png", "gone.png", "damaged.png", "folder.png", "https://example.org/a.png"}
	for k, name := range names {
		f.Shown.Texts[150+k] = name
	}
	p := page(t, f)
	for _, want := range []string{">what</th>", `width="96" height="48"`, `width="40" height="60"`, "data:image/jpeg;base64",
		"no such file", "not a PNG, JPEG, GIF, WebP or BMP picture", "no file", "word &lt;b&gt; word", "…",
		`<a href="https://example.org/a.png">`, "3 of 20 pictures cannot be shown"} {
		if !strings.Contains(p, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if f.Shown.Pictures != 2 || f.Shown.Missing != 3 || f.Shown.FirstMissing != "gone.png: no such file" {
		t.Errorf("%d pictures, %d missing, the first %q", f.Shown.Pictures, f.Shown.Missing, f.Shown.FirstMissing)
	}
	if strings.Contains(p, strings.Repeat("word &lt;b&gt; ", 60)) {
		t.Error("a text is not cut")
	}
}

// TestThumbsBounded leaves pictures out when the page has enough.
func TestThumbsBounded(t *testing.T) {
	dir := t.TempDir()
	writePicture(t, filepath.Join(dir, "a.png"), func(f *os.File) error {
		return png.Encode(f, image.NewGray(image.Rect(0, 0, 50, 50)))
	})
	s := &Shown{Folder: dir, bytes: mostThumbs - 10}
	if _, err := s.thumbnail("a.png"); err == nil || !strings.Contains(err.Error(), "enough pictures") || s.bytes > mostThumbs {
		t.Errorf("%v, %d bytes", err, s.bytes)
	}
}

func writePicture(t *testing.T, path string, write func(f *os.File) error) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
