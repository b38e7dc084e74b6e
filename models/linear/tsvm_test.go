package linear

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
)

func machine(gammaA float64) *TSVMSettings {
	return &TSVMSettings{Settings: Settings{Regularizer: regularizer.Regularizer{GammaA: gammaA}, Tolerance: 1e-9}}
}

func TestLinearTSVM(t *testing.T) {
	for _, test := range []struct {
		name     string
		classes  int
		distance float64
		gammaA   float64
		loss     Loss
		error    float64
	}{
		{"apart", 2, 7, 0.01, SquaredHinge, 0},
		{"rounded hinge", 2, 7, 0.01, HuberizedHinge, 0},
		{"near, labels at the border", 2, 5, 0.1, SquaredHinge, 0.02},
		{"three classes", 3, 8, 0.01, SquaredHinge, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			x, truth, drawn := modeltest.NewTwoClouds(t, 60, test.classes, test.distance)
			targets := modeltest.CodedClasses(t, drawn)
			s := machine(test.gammaA)
			s.Loss, s.Weight = test.loss, 0.5
			for _, points := range []data.Points{x, data.ToSparse(x)} {
				m, err := FitTSVM(context.Background(), points, targets, s, nil)
				if err != nil {
					t.Fatal(err)
				}
				p, err := m.Predict(context.Background(), points, nil)
				if err != nil {
					t.Fatal(err)
				}
				if e := metrics.ErrorRate(p.Classes, truth, drawn); !(e <= test.error) {
					t.Errorf("%T: error %v on the unlabeled points", points, e)
				}
				checkLinearTSVM(t, x, m, targets, s)
			}
		})
	}
}

// checkLinearTSVM holds m against the definition: balance, objective, that the
// gradient vanishes for the assigned targets, and that no exchange would lower
// the objective.
func checkLinearTSVM(t *testing.T, x *data.Dense[float64], m *TSVM, targets *models.Targets, s *TSVMSettings) {
	t.Helper()
	l, c := targets.Y.Dims()
	loss := func(y, f float64) (v, slope float64) {
		gap, h := 1-y*f, 0.1
		switch {
		case s.Loss == SquaredHinge:
			return math.Pow(max(0, gap), 2), -2 * y * max(0, gap)
		case gap > h:
			return gap, -y
		case gap < -h:
			return 0, 0
		}
		return (gap + h) * (gap + h) / (4 * h), -y * (gap + h) / (2 * h)
	}
	for j := range c {
		w, gradient := mat.Col(nil, j, m.Coefficients), make([]float64, x.Cols+1)
		var total, share, positive float64
		add := func(i int, y, weight float64) (f float64) {
			f = m.Intercepts[j]
			for q, v := range x.Row(i) {
				f += w[q] * v
			}
			v, slope := loss(y, f)
			total += weight / float64(l) * v
			for q, e := range x.Row(i) {
				gradient[q] += weight / float64(l) * slope * e
			}
			gradient[x.Cols] += weight / float64(l) * slope
			return f
		}
		for q, i := range targets.Labeled {
			add(i, targets.Y.At(q, j), 1)
			share += (1 + targets.Y.At(q, j)) / 2 / float64(l)
		}
		least, most := math.Inf(1), math.Inf(-1) // output of a positive, of a negative
		for q, i := range m.Unlabeled {
			y := m.Assigned.At(q, j)
			f := add(i, y, s.Weight)
			if y == 1 {
				positive++
				least = min(least, f)
			} else {
				most = max(most, f)
			}
		}
		if want := math.Round(share * float64(len(m.Unlabeled))); positive != want || len(m.Unlabeled)+l != targets.Len {
			t.Errorf("output %d: %v of %d positive targets, want %v", j, positive, len(m.Unlabeled), want)
		}
		if most > least+0.01 {
			t.Errorf("output %d: a positive target at %v and a negative at %v", j, least, most)
		}
		gammaA := s.Regularizer.GammaA
		for q, v := range w {
			total += gammaA * v * v
			gradient[q] += 2 * gammaA * v
		}
		if norm := mat.Norm(mat.NewVecDense(len(gradient), gradient), 2); !(norm <= 1e-6) {
			t.Errorf("output %d: gradient %v", j, norm)
		}
		if !(math.Abs(m.Objective[j]-total) <= 1e-9*total) || !(m.Objective[j] <= m.Start[j]*(1+1e-9)) {
			t.Errorf("output %d: objective %v, by hand %v, at the start %v", j, m.Objective[j], total, m.Start[j])
		}
	}
}

func TestLinearTSVMBalance(t *testing.T) {
	x, _, drawn := modeltest.NewTwoClouds(t, 40, 2, 6)
	for _, share := range []float64{0, 0.25, 0.5, 1} {
		s := machine(0.01)
		s.Positive = []float64{share}
		m, err := FitTSVM(context.Background(), x, modeltest.CodedClasses(t, drawn), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := mat.Sum(m.Assigned), (2*share-1)*76; got != want {
			t.Errorf("share %v: the targets sum to %v, want %v", share, got, want)
		}
	}
}

func TestLinearTSVMSameBits(t *testing.T) {
	x, _, drawn := modeltest.NewTwoClouds(t, 300, 3, 3)
	var first *TSVM
	for _, threads := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(threads)
		m, err := FitTSVM(context.Background(), x, modeltest.CodedClasses(t, drawn), machine(0.01), nil)
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = m
		}
		if !reflect.DeepEqual(m, first) {
			t.Errorf("%d threads: another machine", threads)
		}
	}
}

func TestLinearTSVMFile(t *testing.T) {
	x, _, drawn := modeltest.NewTwoClouds(t, 30, 3, 4)
	m, err := FitTSVM(context.Background(), x, modeltest.CodedClasses(t, drawn), machine(0.01), nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.npz")
	if err := models.Save(path, m, map[string]string{"points": "abc"}); err != nil {
		t.Fatal(err)
	}
	got, mf, err := load(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, models.Model(m)) || mf.Hashes["points"] != "abc" || got.Name() != TSVMName {
		t.Errorf("%+v came back as %+v", m, got)
	}
}

func TestLinearTSVMRefuses(t *testing.T) {
	x, truth, drawn := modeltest.NewTwoClouds(t, 10, 2, 4)
	targets := modeltest.CodedClasses(t, drawn)
	fit := func(y *models.Targets, change func(s *TSVMSettings)) (*TSVM, error) {
		s := machine(0.01)
		change(s)
		return FitTSVM(context.Background(), x, y, s, nil)
	}
	keep := func(*TSVMSettings) {}
	values := &models.Targets{Len: targets.Len, Labeled: targets.Labeled, Y: targets.Y}
	for name, m := range map[string]func() (*TSVM, error){
		"no settings":  func() (*TSVM, error) { return FitTSVM(context.Background(), x, targets, nil, nil) },
		"a regression": func() (*TSVM, error) { return fit(values, keep) },
		"all labeled":  func() (*TSVM, error) { return fit(modeltest.CodedClasses(t, truth), keep) },
		"other points": func() (*TSVM, error) { return fit(&models.Targets{Len: 3, Y: targets.Y}, keep) },
		"weight": func() (*TSVM, error) {
			return fit(targets, func(s *TSVMSettings) { s.Weight = -1 })
		},
		"share": func() (*TSVM, error) {
			return fit(targets, func(s *TSVMSettings) { s.Positive = []float64{-0.5} })
		},
		"graph": func() (*TSVM, error) {
			return fit(targets, func(s *TSVMSettings) { s.Regularizer.GammaI = 1 })
		},
	} {
		m, err := m()
		if err == nil || m != nil || errors.Is(err, solvers.ErrNotConverged) {
			t.Errorf("%s: %v", name, err)
		}
		if errors.Is(err, ErrNoUnlabeled) != (name == "all labeled") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	short := func(s *TSVMSettings) { s.MaxIterations, s.Tolerance = 1, 1e-14 }
	if m, err := fit(targets, short); m == nil || !errors.Is(err, solvers.ErrNotConverged) || errors.Is(err, cg.ErrNotConverged) {
		t.Errorf("one step: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if m, err := FitTSVM(ctx, x, targets, machine(0.01), nil); m != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A file that does not hold what its fit would have left is refused.
func TestTransducedFileDamage(t *testing.T) {
	x, _, drawn := modeltest.NewTwoClouds(t, 20, 2, 4)
	for name, damage := range map[string]func(m *TSVM){
		"assigned is":   func(m *TSVM) { m.Unlabeled = m.Unlabeled[1:] },
		"unlabeled is":  func(m *TSVM) { slices.Reverse(m.Unlabeled) },
		"of assigned":   func(m *TSVM) { m.Assigned.Set(2, 0, 0.5) },
		"0 objectives":  func(m *TSVM) { m.Objective = nil },
		"gamma-a is":    func(m *TSVM) { m.Settings.Regularizer.GammaA = 0 },
		"2 intercepts ": func(m *TSVM) { m.Intercepts = []float64{1, 2} },
	} {
		m, err := FitTSVM(context.Background(), x, modeltest.CodedClasses(t, drawn), machine(0.1), nil)
		if err != nil {
			t.Fatal(err)
		}
		damage(m)
		path := filepath.Join(t.TempDir(), "model.npz")
		if err := models.Save(path, m, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := load(path, 0); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where the points lie does not matter: far from the origin the machine is the same
// with another intercept.
func TestLinearTSVMFarFromTheOrigin(t *testing.T) {
	x, _, drawn := modeltest.NewTwoClouds(t, 60, 2, 5)
	targets := modeltest.CodedClasses(t, drawn)
	const shift = 1 << 24
	far := &data.Dense[float64]{Rows: x.Rows, Cols: x.Cols, Data: slices.Clone(x.Data)}
	near := &data.Dense[float64]{Rows: x.Rows, Cols: x.Cols, Data: slices.Clone(x.Data)}
	for i, v := range x.Data {
		far.Data[i] = v + shift
		near.Data[i] = far.Data[i] - shift // with its rounding
	}
	s := machine(0.1)
	s.Tolerance = 1e-5
	want, err := FitTSVM(t.Context(), near, targets, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, points := range []data.Points{far, data.ToSparse(far)} {
		got, err := FitTSVM(t.Context(), points, targets, s, nil)
		if err != nil {
			t.Fatalf("%T: %v", points, err)
		}
		if !mat.Equal(got.Assigned, want.Assigned) {
			t.Errorf("%T: other targets are assigned", points)
		}
		if !mat.EqualApprox(got.Coefficients, want.Coefficients, 1e-4) {
			t.Errorf("%T: coefficients %v, near the origin %v", points, got.Coefficients, want.Coefficients)
		}
		if a, b := got.Objective[0], want.Objective[0]; !(math.Abs(a-b) <= 1e-6*b) {
			t.Errorf("%T: objective %v, near the origin %v", points, a, b)
		}
	}
}
