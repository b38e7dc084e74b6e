package main

import (
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models/modeltest"
)

// TestVastNumbersInModel: a model with a number that is finite and too large to compute with is
// refused when it is asked; no NaN is written.
func TestVastNumbersInModel(t *testing.T) {
	intoBlobs(t)
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--calibrate", "10", "-o", "model.npz", "-q")
	a, err := npy.OpenArchive("model.npz", 0)
	must(t, err)
	var entries []archive.Array
	for _, name := range a.Names() {
		x, err := a.Read(name)
		must(t, err)
		if name == "vectors" {
			x.Data.([]float64)[30*x.Shape[1]] = 1e308
		}
		entries = append(entries, archive.Array{Name: name, Shape: x.Shape, Data: x.Data})
	}
	must(t, a.Close())
	must(t, modeltest.Rewrite("vast.npz", entries))

	fail(t, 2, []string{"row ", "too large to compute with"}, "predict", "vast.npz", "X.npy", "-o", "p.csv", "--proba", "q.npy", "-q")
}
