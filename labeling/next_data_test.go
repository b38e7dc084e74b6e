package labeling_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/pipeline"
)

// real reads the first points of a data set of BIGFIT_DATA; without it the test is skipped.
func real(t *testing.T, points, labels string, n int) (data.Points, *data.Labels) {
	t.Helper()
	dir := os.Getenv("BIGFIT_DATA")
	if _, err := os.Stat(filepath.Join(dir, points)); dir == "" || err != nil {
		t.Skipf("BIGFIT_DATA is %q; %s is not there", dir, points)
	}
	x, err := data.ReadPoints(filepath.Join(dir, points), data.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	y, err := data.ReadLabels(filepath.Join(dir, labels), data.LabelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return data.Select(x, data.Range(0, n)), y.Select(data.Range(0, n))
}

// Nearly all of 5 % wrong labels are found among 2000 digits. Beside them stand points
// whose neighbours are of another class.
func TestSuspectsOfDigits(t *testing.T) {
	x, y := real(t, "mnist_test_images.npz", "mnist_test_labels.npy", 2000)
	noisy, wrong := plant(y)
	in := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, noisy)}
	s, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{}}).Suspects(t.Context(), all.Learner("harmonic"), in, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	recall, precision := found(s, wrong)
	t.Logf("%d suspects, recall %.3f, precision %.3f", len(s.List), recall, precision)
	if !(recall >= 0.9 && precision >= 0.25) {
		t.Errorf("%d suspects, recall %.3f, precision %.3f", len(s.List), recall, precision)
	}
	first := &active.Suspects{List: s.List[:len(wrong)]}
	if recall, _ := found(first, wrong); !(recall >= 0.65) {
		t.Errorf("among the first %d are %.3f of the wrong labels", len(wrong), recall)
	}
}
