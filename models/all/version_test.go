package all

import (
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
)

// testdata/version2 holds a model file of version 2, which bigfit wrote at 4ad82fe for auto on 90 points
// by NN-descent, new points and their scores by that program. It is read, answers the same, and does so
// again after it was saved in the present version.
func TestModelOfVersion2(t *testing.T) {
	dir := filepath.Join("testdata", "version2")
	x, err := data.ReadPoints(filepath.Join(dir, "new.npy"), data.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := npy.ReadFile(filepath.Join(dir, "scores.npy"), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(read.Shape[0], read.Shape[1], read.Data.([]float64))

	old, _, err := Load(filepath.Join(dir, "model.npz"), 0)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "model.npz")
	if err := models.Save(again, old, nil); err != nil {
		t.Fatal(err)
	}
	present, _, err := Load(again, 0)
	if err != nil {
		t.Fatal(err)
	}

	// The tolerance is for other instruction sets.
	for name, m := range map[string]models.Model{"of version 2": old, "saved again": present} {
		p, err := m.Predict(t.Context(), x, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(p.Scores, want, 1e-9) {
			t.Errorf("the model %s has the scores %v, want %v", name, p.Scores, want)
		}
	}
	trained := func(m models.Model) *mat.Dense { return m.(models.Trained).Training(true).Scores }
	if !mat.Equal(trained(old), trained(present)) {
		t.Error("saved again, the model has other answers for its training points")
	}
}
