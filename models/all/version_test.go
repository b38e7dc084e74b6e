package all

import (
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
)

// testdata/version2 has a folder for each of some models, which bigfit wrote at 4ad82fe in files of version 2: auto on 90
// points by NN-descent, the others on 120. Each holds new points and the scores that the program of then gave them. The
// models are read, answer the same, and do so again after they were saved in the present version.
func TestModelsOfVersion2(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join("testdata", "version2", "*"))
	if err != nil || len(folders) < 7 {
		t.Fatal(folders, err)
	}
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) { checkVersion2(t, dir) })
	}
}

func checkVersion2(t *testing.T, dir string) {
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
	before, ok := old.(models.Trained)
	if !ok {
		return // it keeps no answers
	}
	if after := present.(models.Trained); !mat.Equal(before.Training(true).Scores, after.Training(true).Scores) {
		t.Error("saved again, the model has other answers for its training points")
	}
}
