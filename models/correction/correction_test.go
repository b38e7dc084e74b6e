package correction_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/correction"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// graphCase is a graph of two components with labels and one without, predictions and labels of some points; the last
// point has no edge.
func graphCase(t *testing.T, soft bool) (w *sparse.CSR, z *mat.Dense, y *models.Targets) {
	t.Helper()
	const n, c = 90, 3
	rng := rand.New(rand.NewPCG(5, 6))
	dense := mat.NewDense(n, n, nil)
	for range 5 * n {
		i, j := rng.IntN(n-1), rng.IntN(n-1)
		if i == j || i/30 != j/30 {
			continue
		}
		v := 0.1 + rng.Float64()
		dense.Set(i, j, v)
		dense.Set(j, i, v)
	}
	z = mat.NewDense(n, c, nil)
	shares := mat.NewDense(n, c, nil)
	for i := range n {
		var sum float64
		for k := range c {
			v := rng.Float64()
			z.Set(i, k, v)
			sum += v
		}
		for k := range c {
			z.Set(i, k, z.At(i, k)/sum)
		}
		if i < 60 && i%5 == 0 {
			shares.Set(i, i/5%c, 1)
			if soft {
				shares.Set(i, i/5%c, 0.75)
				shares.Set(i, (i/5+1)%c, 0.25)
			}
		}
	}
	y, err := models.ShareTargets(shares, []int64{0, 1, 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sparse.FromDense(dense), z, y
}

// reference corrects and smooths by dense systems in NumPy, written from the paper.
const reference = `
W, Z, Y, given = (np.load(name + ".npy") for name in ("w", "z", "y", "given"))
a1, a2, s, fixed = PARAMS
given = given.astype(int)
n, c = Z.shape
d = W.sum(axis=1)
r = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
S = r[:, None] * W * r[None, :]
P = np.divide(W, d[:, None], out=np.zeros_like(W), where=d[:, None] > 0)
E = np.zeros_like(Z)
E[given] = Y - Z[given]
rest = np.setdiff1d(np.arange(n), given)
sigma = np.abs(E[given]).sum() / len(given)
if fixed:
    # Jacobi's iteration of the paper, to its limit.
    for _ in range(200000):
        new = P @ E
        new[given] = E[given]
        if np.abs(new - E).max() < 1e-16:
            break
        E = new
    G = Z + s * E
else:
    E = np.linalg.solve(np.eye(n) - a1 * S, (1 - a1) * E)
    size = np.abs(E).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        scale = sigma / size
    scale[scale > 1000] = 1
    G = Z + scale * E
G[given] = Y
H = np.linalg.solve(np.eye(n) - a2 * S, (1 - a2) * G)
print(json.dumps({"errors": E.tolist(), "scores": H.tolist(), "size": sigma}))
`

// TestBesideNumPy compares with dense systems in NumPy.
func TestBesideNumPy(t *testing.T) {
	for name, c := range map[string]struct {
		settings correction.Settings
		soft     bool
	}{
		"autoscale": {correction.Settings{CorrectAlpha: 0.95, SmoothAlpha: 0.8, Tolerance: 1e-13}, false},
		"defaults":  {correction.Settings{Tolerance: 1e-13}, false},
		"soft":      {correction.Settings{CorrectAlpha: 0.5, SmoothAlpha: 0.9, Tolerance: 1e-13}, true},
		"fixed":     {correction.Settings{Correction: correction.Fixed, Factor: 1.5, SmoothAlpha: 0.7, Tolerance: 1e-13}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, z, y := graphCase(t, c.soft)
			dir := t.TempDir()
			given := make([]float64, len(y.Labeled))
			for q, i := range y.Labeled {
				given[q] = float64(i)
			}
			modeltest.WriteArrays(t, dir, map[string]any{"w": w.ToDense(), "z": z, "y": y.Shares(), "given": given})
			s := c.settings
			alpha := func(v float64) float64 {
				if v == 0 {
					return 0.9
				}
				return v
			}
			params := fmt.Sprintf("(%g, %g, %g, %d)", alpha(s.CorrectAlpha), alpha(s.SmoothAlpha), max(s.Factor, 1), int(s.Correction))
			var want struct {
				Errors, Scores [][]float64
				Size           float64
			}
			modeltest.Sklearn(t, dir, strings.Replace(reference, "PARAMS", params, 1), &want)

			p, err := correction.NewProblem(w, nil)
			if err != nil {
				t.Fatal(err)
			}
			before := mat.DenseCopyOf(z)
			got, err := p.Apply(t.Context(), z, y, &s)
			if err != nil {
				t.Fatal(err)
			}
			if !mat.Equal(before, z) {
				t.Error("the predictions were changed")
			}
			n, classes := z.Dims()
			for i := range n {
				for k := range classes {
					if e := got.Errors.At(i, k); !(math.Abs(e-want.Errors[i][k]) <= 1e-9) {
						t.Fatalf("error of point %d, class %d: %v, NumPy %v", i, k, e, want.Errors[i][k])
					}
					if h := got.Scores.At(i, k); !(math.Abs(h-want.Scores[i][k]) <= 1e-6) {
						t.Fatalf("score of point %d, class %d: %v, NumPy %v", i, k, h, want.Scores[i][k])
					}
				}
			}
			if !(math.Abs(got.Size-want.Size) <= 1e-12) {
				t.Errorf("errors of the size %v, NumPy %v", got.Size, want.Size)
			}
		})
	}
}

// Without errors at the labels the predictions stay, and faults of the input and of the settings are errors.
func TestCorrectFaults(t *testing.T) {
	w, z, y := graphCase(t, false)
	p, err := correction.NewProblem(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	right := mat.DenseCopyOf(z)
	shares := y.Shares()
	for q, i := range y.Labeled {
		copy(right.RawRowView(i), shares.RawRowView(q))
	}
	r, err := p.Correct(t.Context(), right, y, nil)
	if err != nil || !mat.Equal(r.Predictions, right) || r.Size != 0 {
		t.Errorf("right predictions were corrected, %v", err)
	}

	for what, s := range map[string]*correction.Settings{
		"correct-alpha": {CorrectAlpha: 1}, "smooth-alpha": {SmoothAlpha: -0.1}, "tolerance": {Tolerance: 2}, "factor": {Factor: math.NaN()},
	} {
		if _, err := p.Apply(t.Context(), z, y, s); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := p.Correct(t.Context(), mat.NewDense(90, 2, nil), y, nil); err == nil {
		t.Error("predictions of two classes for targets of three are no error")
	}
	if _, err := p.Correct(t.Context(), mat.NewDense(89, 3, nil), y, nil); err == nil {
		t.Error("predictions of 89 points for a graph of 90 are no error")
	}
}

// The model of a base is the base itself where there is nothing to correct and little to smooth, and every base of
// all.CorrectAndSmooth is fitted.
func TestBases(t *testing.T) {
	x, truth, _ := modeltest.NewTwoClouds(t, 60, 3, 4)
	g := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Combinatorial, 1).Graph()
	y := modeltest.ClassTargets(t, truth.Keep([]int{0, 1, 2, 3, 4, 5, 60, 61, 62}))
	l := all.CorrectAndSmooth
	for _, b := range l.Bases {
		name := b.Info().Name
		in := &models.Input{Points: x, Targets: y, Graph: g, Values: models.Values{"gamma-a": "0.01", "base": name, "correction": "fixed",
			"factor": "1e-9", "smooth-alpha": "1e-9", "tolerance": "1e-12"}}
		m, err := l.Fit(t.Context(), in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		own, err := b.Fit(t.Context(), &models.Input{Points: x, Targets: y, Values: models.Values{"gamma-a": "0.01"}})
		if err != nil {
			t.Fatal(err)
		}
		want, err := own.Predict(t.Context(), x, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := m.(models.Trained).Training(false).Classes
		for i, c := range want.Classes {
			if !slices.Contains(y.Labeled, i) && got[i] != c {
				t.Errorf("%s: point %d is of class %d, the base says %d", name, i, got[i], c)
			}
		}
	}

	in := &models.Input{Points: x, Targets: y, Values: models.Values{"gamma-a": "1", "smooth-alpha": "0.9", "base": "knn"}}
	if _, err := l.Fit(t.Context(), in); err == nil || !strings.Contains(err.Error(), "rls-linear") {
		t.Errorf("the base knn: %v", err)
	}
	if name := l.Bases[0].Info().Name; name != linear.RLSName && name != "rls" {
		t.Errorf("the default base is %s", name)
	}
}
