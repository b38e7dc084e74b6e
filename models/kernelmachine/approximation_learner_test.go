package kernelmachine

import (
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// cloudsApart are 90 points in three clouds, a third of them labeled, with their graph, and 90 more
// points with their classes. A width of 6 is about the distance between two clouds.
func cloudsApart(t *testing.T) (in models.Input, more *data.Dense[float64], classes *data.Labels) {
	t.Helper()
	const n = 90
	x, truth, _ := modeltest.NewTwoClouds(t, 60, 3, 8)
	first := &data.Dense[float64]{Rows: n, Cols: 3, Data: x.Data[:n*3]}
	more = &data.Dense[float64]{Rows: n, Cols: 3, Data: x.Data[n*3:]}

	values := make([]int64, n)
	labeled := make([]bool, n)
	others := make([]int64, n)
	for i := range n {
		values[i] = truth.Classes[truth.Index[i]]
		others[i] = truth.Classes[truth.Index[n+i]]
		labeled[i] = i/3%3 == 0
	}
	l := modeltest.Laplacian(t, first, 6, sparse.Normalized)
	in = models.Input{Points: first, Targets: modeltest.ClassTargets(t, data.NewLabels(values, labeled)),
		Graph: models.NewGraph(l.Graph()), Seed: 3}
	return in, more, data.NewLabels(others, nil)
}

// Every learner by every approximation classifies new points, says how it was approximated, in its
// file too, and is the exact machine where nothing is left out of the kernel.
func TestApproximatedLearners(t *testing.T) {
	// The fits here give the number of features: by the default they would take a second.
	if s, err := (ApproximationSettings{Approximation: Fourier}).fill(90); err != nil || s.Features != 2000 {
		t.Errorf("the default is %d features, %v", s.Features, err)
	}
	whole, more, classes := cloudsApart(t)
	regularized := models.Values{"gamma-a": "0.01", "gamma-i": "0.01", "laplacian": "normalized", "sigma": "6"}
	plain := models.Values{"gamma-a": "0.01"}
	for _, c := range []struct {
		name, learner string
		v, way        models.Values
		means         Approximation
		about         string
		exact         float64 // how far scores may be from exact ones; 0: they differ
	}{
		{"all landmarks", LapRLSName, regularized, models.Values{"landmarks": "90"}, Nystrom, "landmarks (rpcholesky), kernel error", 1e-6},
		{"matrix-free", LapRLSName, regularized, models.Values{"approximation": "matrix-free", "landmarks": "9", "tolerance": "1e-9"},
			MatrixFree, "to a residual of", 1e-6},
		{"many features", LapRLSName, regularized, models.Values{"features": "1000"}, Fourier, "1000 Fourier features, kernel error", 0.1},
		{"few landmarks", LapRLSName, regularized, models.Values{"approximation": "nystrom", "landmarks": "20", "sampling": "kmeans++", "intercept": "true"},
			Nystrom, "20 landmarks (kmeans++)", 0},
		{"squared hinge", LapSVMName, regularized, models.Values{"landmarks": "20", "sampling": "uniform"}, Nystrom, "squared hinge", 0},
		{"squared hinge of features", LapSVMName, regularized, models.Values{"approximation": "fourier", "features": "200"}, Fourier, "200 Fourier features", 0},
		{"default of landmarks", RLSName, plain.With(models.Values{"kernel": "polynomial", "offset": "1", "scale": "0.1"}),
			models.Values{"approximation": "nystrom"}, Nystrom, "landmarks", 1e-6},
		{"matrix-free without a graph", RLSName, plain, models.Values{"approximation": "matrix-free", "tolerance": "1e-9"}, MatrixFree, "iterations", 1e-6},
		{"laplace", SVMName, plain.With(models.Values{"kernel": "laplace"}), models.Values{"features": "200"}, Fourier, "200 Fourier features", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fit := func(v models.Values) models.Model {
				in := whole
				in.Values = v
				m, err := learner(t, c.learner).Fit(t.Context(), &in)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			m := fit(c.v.With(c.way)).(*Approximate)
			s := m.Summary()
			if s.Values["approximation"] != c.means.String() || !strings.Contains(s.Text, c.about) {
				t.Errorf("the summary is %+v", s)
			}

			// Conjugate gradients report their residual, and a direct solution its error.
			free := c.means == MatrixFree
			if r := m.Report; !(r.KernelError >= 0) || free != (r.Residual > 0) || free == (r.Change > 0) {
				t.Errorf("the report is %+v", r)
			}

			p, err := m.Predict(t.Context(), more, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Predict(t.Context(), data.NewDense[float64](2, 4), nil); err == nil || !strings.Contains(err.Error(), "4") || !strings.Contains(err.Error(), "3") {
				t.Errorf("points of 4 dimensions for a model of 3: %v", err)
			}
			wrong := 0
			for i, class := range p.Classes {
				if class != classes.Index[i] {
					wrong++
				}
			}
			if wrong > 6 {
				t.Errorf("%d of %d new points are in the wrong class", wrong, len(p.Classes))
			}

			path := filepath.Join(t.TempDir(), "m.npz")
			if err := models.Save(path, m, nil); err != nil {
				t.Fatal(err)
			}
			back, _, err := load(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := back.Summary(); got.Text != s.Text || !maps.Equal(got.Values, s.Values) || !reflect.DeepEqual(back.(*Approximate).Report, m.Report) {
				t.Errorf("the model %+v came back as %+v", s, got)
			}

			if c.exact == 0 {
				return
			}
			exact := fit(c.v.With(models.Values{"approximation": "exact"}))
			var d mat.Dense
			d.Sub(modeltest.Raw(t, m, whole.Points), modeltest.Raw(t, exact, whole.Points))
			if far := math.Max(mat.Max(&d), -mat.Min(&d)); !(far <= c.exact) {
				t.Errorf("scores differ from exact ones by %v", far)
			}
		})
	}
}
