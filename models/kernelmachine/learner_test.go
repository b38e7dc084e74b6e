package kernelmachine

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// required are the parameters that the learners must have.
func required(l models.Learner) models.Values {
	v := models.Values{}
	for _, p := range l.Params() {
		if p.Required {
			v[p.Name] = map[string]string{"gamma-a": "0.01", "gamma-i": "0.02"}[p.Name]
		}
	}
	return v
}

func TestConform(t *testing.T) {
	for _, l := range Learners {
		t.Run(l.Info().Name, func(t *testing.T) {
			s := modeltest.Suite{Values: required(l)}
			if lap, ok := l.(Learner); ok && lap.Intrinsic {
				plain := maps.Clone(s.Values)
				delete(plain, "gamma-i")
				if lap.Method == OneClass {
					delete(plain, "gamma-a")
				}
				s.Plain = &modeltest.Plain{Learner: Learner{lap.Method, false}, Values: plain}
			}
			if name := l.Info().Name; strings.Contains(name, "sv") || strings.Contains(name, "oneclass") {
				s.Values["tolerance"] = "1e-10"
				programs := modeltest.Tolerance{Relative: 1e-6, Reason: "a quadratic program is solved to a violation of 1e-10"}
				s.Tolerances = map[string]modeltest.Tolerance{"permuted": programs, "sparse": programs, "types": programs, "plain": programs}
			}
			if l == models.Learner(TSVMLearner{}) {
				// The plain machine is the learner itself, without the graph that it is fitted with here.
				s.Values["gamma-i"] = "0.02"
				s.Plain = &modeltest.Plain{Learner: l, Values: models.Values{"gamma-a": "0.01", "tolerance": "1e-10"}}
			}
			if l == models.Learner(VVMRLearner{}) {
				s.Except = map[string]string{"plain": "no plain learner learns labels; TestVVMRSpecialCases compares the values"}
			}
			modeltest.Conform(t, l, s)
		})
	}
	t.Run("sharp kernel", func(t *testing.T) {
		modeltest.Conform(t, Learner{RLS, true}, modeltest.Suite{Values: models.Values{"gamma-a": "0.01", "gamma-i": "1e-5", "intrinsic-sigma": "0.4"},
			Plain: &modeltest.Plain{Learner: Learner{RLS, false}, Values: models.Values{"gamma-a": "0.01"}}})
	})
}

func learner(t *testing.T, name string) models.Learner {
	t.Helper()
	i := slices.IndexFunc(Learners, func(l models.Learner) bool { return l.Info().Name == name })
	if i < 0 {
		t.Fatalf("no learner %s", name)
	}
	return Learners[i]
}

// Announced bytes hold what fits take, for the ways to fit.
func TestCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("every fit runs in a process of its own")
	}
	for i, c := range []struct {
		learner string
		values  models.Values
		sizes   []int
	}{
		{RLSName, nil, []int{2000, 20000}},
		{SVMName, nil, []int{2000, 20000}},
		{LapRLSName, models.Values{"gamma-a": "1e-14"}, []int{1000, 3000}}, // a root of the Gram matrix, as is announced
		{LapSVMName, models.Values{"power": "3"}, []int{3000}},
		{LapSVRName, nil, []int{3000}},
		{OneClassName, nil, []int{20000}},
		{LapOneClassName, nil, []int{3000}},
		{TSVMName, nil, []int{1000, 3000}},
		{TSVMName, models.Values{"gamma-i": "0.01"}, []int{1000, 2000}},
		{LapRLSName, models.Values{"landmarks": "500"}, []int{3000, 30000}},
		{LapRLSName, models.Values{"landmarks": "2000"}, []int{10000}},
		{LapSVMName, models.Values{"landmarks": "1000"}, []int{20000}},
		{LapRLSName, models.Values{"features": "1000"}, []int{20000}},
		{SVMName, models.Values{"features": "1000"}, []int{40000}},
		{LapRLSName, models.Values{"approximation": "matrix-free", "landmarks": "300", "gamma-i": "0.1"}, []int{6000}},
		{VVMRName, nil, []int{1000}},
		{VVMRName, models.Values{"kernel": "laplace"}, []int{2000}},
		{VVMRName, models.Values{"landmarks": "500"}, []int{20000}},
		{VVMRName, models.Values{"kernel": "linear"}, []int{100000}},
	} {
		if !testmode.Soak() && i%5 != 0 {
			continue // each row takes seconds to minutes in processes of its own
		}
		l := learner(t, c.learner)
		modeltest.Costs(t, l, required(l).With(c.values), c.sizes...)
	}
}

// Faults are named all at once, by the parameters.
func TestLearnersRefuse(t *testing.T) {
	c := modeltest.NewKernelCase(t, 60, sparse.Combinatorial)
	for _, f := range []struct {
		learner string
		v       models.Values
		want    []string
	}{
		{RLSName, nil, []string{"gamma-a is missing"}},
		{RLSName, models.Values{"gamma-a": "0"}, []string{"gamma-a is 0; it must be positive"}},
		{RLSName, models.Values{"gamma-a": "-1"}, []string{"gamma-a is -1"}},
		{RLSName, models.Values{"gamma-a": "nan"}, []string{"gamma-a is nan; it must be positive"}},
		{RLSName, models.Values{"gamma-a": "inf"}, []string{"gamma-a is inf; it must be positive"}},
		{RLSName, models.Values{"gamma-a": "1", "approximation": "landmarks"},
			[]string{`approximation is "landmarks"; it must be auto, exact, nystrom, fourier or matrix-free`}},
		{RLSName, models.Values{"gamma-a": "1", "approximation": "exact", "landmarks": "5"},
			[]string{"landmarks is for approximation nystrom or matrix-free, not exact"}},
		{RLSName, models.Values{"gamma-a": "1", "landmarks": "5", "features": "6"},
			[]string{"landmarks is for approximation nystrom or matrix-free, not fourier"}},
		{RLSName, models.Values{"gamma-a": "1", "approximation": "nystrom", "features": "6"},
			[]string{"features is for approximation fourier, not nystrom"}},
		{RLSName, models.Values{"gamma-a": "1", "sampling": "uniform"},
			[]string{"sampling is for approximation nystrom or matrix-free, not exact"}},
		{RLSName, models.Values{"gamma-a": "1", "landmarks": "5", "sampling": "random"},
			[]string{`sampling is "random"; it must be rpcholesky, uniform or kmeans++`}},
		{RLSName, models.Values{"gamma-a": "1", "landmarks": "0"}, []string{"landmarks is 0"}},
		{RLSName, models.Values{"gamma-a": "1", "features": "-2"}, []string{"features is -2"}},
		{RLSName, models.Values{"gamma-a": "1", "features": "6000"}, []string{"6000 Fourier features", "5000"}},
		{RLSName, models.Values{"gamma-a": "1", "features": "6", "tolerance": "1e-3"},
			[]string{"tolerance is for approximation nystrom or matrix-free, not fourier"}},
		{RLSName, models.Values{"gamma-a": "1", "max-iterations": "3"},
			[]string{"max-iterations is for approximation nystrom or matrix-free, not exact"}},
		{LapSVMName, models.Values{"gamma-a": "1", "gamma-i": "1", "approximation": "matrix-free"},
			[]string{`approximation is "matrix-free"`, "exact, nystrom or fourier", "matrix-free is for least squares"}},
		{LapRLSName, models.Values{"gamma-a": "1", "gamma-i": "1", "power": "0", "laplacian": "random-walk", "scaling": "both"},
			[]string{"power is 0", `laplacian is "random-walk"`, "combinatorial or normalized", "symmetric", `scaling is "both"`, "direct", "per-pair"}},
		{SVMName, models.Values{"gamma-a": "1", "kernel": "rbf"}, []string{`kernel is "rbf"`, "gaussian"}},
		{SVMName, models.Values{"gamma-a": "1", "sigma": "0"}, []string{"sigma is 0; it must be positive, or median, mean, median/2 or median/4"}},
		{SVMName, models.Values{"gamma-a": "1", "kernel": "linear", "sigma": "2"}, []string{"sigma is for kernel gaussian or laplace, not linear"}},
		{SVMName, models.Values{"gamma-a": "1", "degree": "2"}, []string{"degree is for kernel polynomial, not gaussian"}},
		{SVMName, models.Values{"gamma-a": "1", "kernel": "polynomial", "degree": "0", "offset": "-1"}, []string{"degree is 0", "offset is -1"}},
		{SVMName, models.Values{"gamma-a": "1", "tolerance": "0", "max-iterations": "-1"}, []string{"tolerance is 0", "max-iterations is -1"}},
		{OneClassName, models.Values{"nu": "1.5"}, []string{"nu is 1.5"}},
		{TSVMName, models.Values{"gamma-a": "1", "priors": "1,-1,1"}, []string{"priors has the value -1", "each must be at least 0"}},
		{LapRLSName, models.Values{"gamma-a": "0", "gamma-i": "-1", "sigma": "wide", "power": "1.5"}, []string{"gamma-a is 0", "gamma-i is -1", `sigma is "wide"`, "power is 1.5"}},
		{RLSName, models.Values{"gamma-a": "1", "features": "3", "landmarks": "5", "kernel": "linear"},
			[]string{"landmarks is for approximation nystrom or matrix-free", "features is 3; it must be an even number", "approximation fourier is for kernel gaussian or laplace"}},
		{LapRLSName, models.Values{"gamma-a": "1", "gamma-i": "1", "heat": "1", "power": "2", "landmarks": "5"}, []string{"heat is for approximation exact, not nystrom", "power is 2; it must be 1 with heat"}},
		{LapSVMName, models.Values{"gamma-a": "1", "gamma-i": "1", "heat": "-1"}, []string{"heat is -1"}},
		{RLSName, models.Values{"gamma-a": "1", "approximation": "exact", "tolerance": "0.1", "sampling": "uniform"}, []string{"tolerance is for approximation", "sampling is for approximation"}},
		{RLSName, models.Values{"gamma-a": "1", "tolerance": "0.1"}, []string{"tolerance is for approximation nystrom or matrix-free, not exact"}},
		{RLSName, models.Values{"gamma-a": "1", "approximation": "matrix-free", "intercept": "true"}, []string{"intercept is for approximation exact, nystrom or fourier, not matrix-free"}},
		{SVMName, models.Values{"gamma-a": "1", "approximation": "matrix-free"}, []string{`approximation is "matrix-free"; it must be auto, exact, nystrom or fourier`}},
		{SVRName, models.Values{"gamma-a": "1", "landmarks": "5", "epsilon": "0"}, []string{`unknown parameter "landmarks"`, "epsilon is 0"}},
		{OneClassName, models.Values{"gamma-a": "1", "nu": "2"}, []string{`unknown parameter "gamma-a"`, "nu is 2"}},
		{TSVMName, models.Values{"gamma-a": "1", "unlabeled-weight": "0"}, []string{"unlabeled-weight is 0; it must be positive"}},
		{TSVMName, models.Values{"gamma-a": "1", "priors": "1,1"}, []string{"priors names 2 shares for 3 classes"}},
		{VVMRName, models.Values{"gamma-a": "1", "gamma-i": "0", "gamma-o": "0.5", "approximation": "fourier"}, []string{`approximation is "fourier"; it must be auto, exact, nystrom or matrix-free`, "gamma-o is 0.5, which needs a graph of the outputs"}},
		{VVMRName, models.Values{"gamma-a": "1", "gamma-i": "0", "gamma-o": "2", "features": "10", "intercept": "true", "laplacian": "random-walk"},
			[]string{"gamma-o is 2; it must be from 0 to 1", `unknown parameter "features"`, `unknown parameter "intercept"`, `laplacian is "random-walk"`, "symmetric"}},
		{VVMRName, models.Values{"gamma-a": "1", "gamma-i": "0", "gamma-o": "nan", "output-neighbors": "0"},
			[]string{"gamma-o is nan; it must be from 0 to 1", "output-neighbors is 0"}},
	} {
		l := learner(t, f.learner)
		in := &models.Input{Points: c.X, Targets: c.Three, Graph: models.NewGraph(c.L.Graph()), Values: f.v}
		m, err := l.Fit(t.Context(), in)
		_, fault := l.Cost(in)
		for _, want := range f.want {
			if m != nil || err == nil || !strings.Contains(param.Plain(err.Error()), want) {
				t.Errorf("%s %v: %q is not in %v", f.learner, f.v, want, err)
			}
			// Cost knows the sizes alone.
			if !strings.Contains(want, "priors") && (fault == nil || !strings.Contains(param.Plain(fault.Error()), want)) {
				t.Errorf("%s %v: Cost says %v", f.learner, f.v, fault)
			}
		}
	}
	in := &models.Input{Points: c.X, Targets: c.Value, Graph: models.NewGraph(c.L.Graph()), Outputs: sparse.FromDense(mat.NewDense(2, 2, []float64{0, 1, 1, 0})),
		Values: models.Values{"gamma-a": "1", "gamma-i": "0", "gamma-o": "0.5", "output-neighbors": "1"}}
	if _, err := (VVMRLearner{}).Fit(t.Context(), in); err == nil || !strings.Contains(err.Error(), "give one of them") {
		t.Errorf("two graphs of outputs: %v", err)
	}
	in.Outputs = nil
	m, err := VVMRLearner{}.Fit(t.Context(), in)
	if err != nil || m.Summary().Values["output-neighbors"] != "1" {
		t.Errorf("the graph of output-neighbors: %v", err)
	}
}

// The cost of a fit names the setting that makes it smaller.
func TestRemedies(t *testing.T) {
	c := modeltest.NewKernelCase(t, 60, sparse.Combinatorial)
	for _, f := range []struct {
		learner string
		v       models.Values
		want    string
	}{
		{LapRLSName, nil, "take approximation nystrom, give fewer points, or take a linear model"},
		{SVMName, nil, "take approximation nystrom, give fewer points, or take a linear model"},
		{LapSVRName, nil, "give fewer points, or take a linear model"},
		{LapSVMName, models.Values{"landmarks": "20"}, "take fewer landmarks"},
		{RLSName, models.Values{"features": "20"}, "take fewer features"},
		{RLSName, models.Values{"approximation": "matrix-free", "landmarks": "20"}, "take fewer landmarks"},
		{TSVMName, nil, "give fewer points, or take tsvm-linear"},
		{VVMRName, nil, "approximation nystrom or matrix-free"},
	} {
		t.Run(f.learner+" "+f.v.String(), func(t *testing.T) {
			t.Parallel()
			l := learner(t, f.learner)
			in := &models.Input{Points: c.X, Targets: c.Three, Graph: models.NewGraph(c.L.Graph()), Values: required(l).With(f.v)}
			cost, err := l.Cost(in)
			if got := param.Plain(cost.Remedy); err != nil || !strings.Contains(got, f.want) {
				t.Errorf("the remedy is %q, want %q; %v", got, f.want, err)
			}
		})
	}
}

// Numbers imply their approximation, and a machine without γ_I has the plain name.
func TestImplied(t *testing.T) {
	c := modeltest.NewKernelCase(t, 80, sparse.Combinatorial)
	for _, f := range []struct {
		v          models.Values
		name, want string
	}{
		{models.Values{}, LapRLSName, "exact"},
		{models.Values{"landmarks": "20"}, LapRLSName, "nystrom"},
		{models.Values{"features": "20", "gamma-i": "0"}, RLSName, "fourier"},
		{models.Values{"landmarks": "20", "approximation": "matrix-free"}, LapRLSName, "matrix-free"},
	} {
		in := &models.Input{Points: c.X, Targets: c.Two, Graph: models.NewGraph(c.L.Graph()), Values: models.Values{"gamma-a": "0.1", "gamma-i": "0.1"}.With(f.v)}
		m, err := Learner{RLS, true}.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Summary().Values["approximation"]; got != f.want || m.Name() != f.name {
			t.Errorf("%v: %s by %s", f.v, m.Name(), got)
		}
	}

	for _, l := range Learners {
		k, ok := l.(Learner)
		if !ok || !k.Intrinsic {
			continue
		}
		targets := c.Two
		if !l.Info().Learns.Has(models.LearnsClasses) {
			targets = c.Value
		}
		if l.Info().Learns.Has(models.LearnsInside) {
			targets = &models.Targets{Len: c.Two.Len, Labeled: c.Two.Labeled, Y: mat.NewDense(len(c.Two.Labeled), 1, nil)}
		}
		in := &models.Input{Points: c.X, Targets: targets, Graph: models.NewGraph(c.L.Graph()), Values: required(l).With(models.Values{"gamma-i": "0"})}
		m, err := l.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if want := (Learner{k.Method, false}).Info().Name; m.Name() != want {
			t.Errorf("%s with γ_I = 0 is %s, want %s", l.Info().Name, m.Name(), want)
		}
	}
}

// The answers of FitGrid are those of fits without the fold.
func TestFitGrid(t *testing.T) {
	c := modeltest.NewKernelCase(t, 120, sparse.Combinatorial)
	graph := models.NewGraph(c.L.Graph())
	for _, l := range Learners {
		k, ok := l.(Learner)
		if !ok || k.Method == OneClass {
			continue
		}
		targets := c.Three
		if k.Method == SVR {
			targets = c.Value
		}
		splits, err := targets.Splits(3, 1, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range []string{"exact", "nystrom", "fourier"} {
			if by != "exact" && !k.Method.approximates() {
				continue
			}
			g := &models.Grid{Input: models.Input{Points: c.X, Targets: targets, Edges: graph.W.NNZ(), Seed: 4}, Splits: splits,
				GraphOf: func(int) (*models.Graph, error) { return graph, nil }}
			for _, sigma := range []string{"median", "1.5"} {
				v := models.Values{"gamma-a": "0.01", "sigma": sigma}
				if by != "exact" || k.Method != RLS {
					v["tolerance"] = "1e-10"
				}
				switch by {
				case "nystrom":
					v["landmarks"] = "30"
				case "fourier":
					v["features"] = "30"
					if k.Method == RLS {
						delete(v, "tolerance")
					}
				}
				if !k.Intrinsic {
					g.Settings = append(g.Settings, v, v.With(models.Values{"gamma-a": "0.1"}))
					continue
				}
				for _, p := range []string{"1", "2"} {
					g.Settings = append(g.Settings, v.With(models.Values{"gamma-i": "0.02", "power": p}), v.With(models.Values{"gamma-a": "0.1", "gamma-i": "0.2", "power": p}))
				}
				g.Settings = append(g.Settings, v.With(models.Values{"gamma-i": "0"}))
				if by == "exact" && k.Method == RLS { // a quadratic program would not end
					g.Settings = append(g.Settings, v.With(models.Values{"gamma-a": "1e-9", "gamma-i": "1e-9", "heat": "0.5"}))
				}
				if k.Method == RLS {
					g.Settings = append(g.Settings, v.With(models.Values{"gamma-i": "0.02", "class-shares": "equal"}))
				}
				if by == "exact" {
					g.Settings = append(g.Settings, v.With(models.Values{"gamma-i": "0.02", "heat": "0.1"}), v.With(models.Values{"gamma-i": "0.02", "heat": "0.2"}), v.With(models.Values{"gamma-i": "0.02", "heat": "0.5"}))
				}
			}
			g.GraphKey = func(i int) string { return map[bool]string{true: "graph"}[g.Settings[i].Float("gamma-i") > 0] }
			if cost, err := k.GridCost(g); err != nil || cost.Shared <= 0 || cost.Fold <= 0 || cost.Operations <= 0 || cost.Remedy == "" {
				t.Errorf("%s: the cost is %+v, %v", l.Info().Name, cost, err)
			}
			checkGrid(t, k, g, graph)
			if k.Method != RLS {
				continue
			}

			g.Targets = weighted(t, targets)
			if g.Splits, err = g.Targets.Splits(3, 1, 3); err != nil {
				t.Fatal(err)
			}
			checkGrid(t, k, g, graph)
		}
	}
}

// checkGrid compares the answers of FitGrid with those of fits.
func checkGrid(t *testing.T, l Learner, g *models.Grid, graph *models.Graph) {
	t.Helper()
	asked := map[int]int{}
	g.Fail = func(settings []int, err error) { t.Errorf("%s: settings %v: %v", l.Info().Name, settings, err) }
	g.Run = func(ctx context.Context, settings []int, fit func(*models.Split) []models.Answer) error {
		for _, s := range g.Splits {
			answers := fit(s)
			for p, i := range settings {
				asked[i]++
				in := g.With(i)
				in.Targets, in.Graph = s.Train, graph
				m, err := l.Fit(ctx, in)
				if err != nil || answers[p].Err != nil {
					t.Fatal(err, answers[p].Err)
				}
				want, err := m.Predict(ctx, data.Select(g.Points, s.Points), nil)
				if err != nil {
					t.Fatal(err)
				}
				modeltest.WantClose(t, l.Info().Name+" "+g.Settings[i].String(), answers[p].Scores, want.Scores, 1e-6)
			}
		}
		return nil
	}
	if err := l.FitGrid(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	for i := range g.Settings {
		if asked[i] != len(g.Splits) {
			t.Errorf("%s: setting %d has %d answers", l.Info().Name, i, asked[i])
		}
	}
}

// With heat the intrinsic norm is fᵀexp(tL)f: LapRLS solves equation (8) of 2006
// with exp(tL), a dense matrix, in place of L.
func TestHeat(t *testing.T) {
	const n, gammaA, gammaI, heat = 60, 0.01, 0.3, 0.1
	c := modeltest.NewKernelCase(t, n, sparse.Combinatorial)
	in := &models.Input{Points: c.X, Targets: c.Value, Graph: models.NewGraph(c.L.Graph()),
		Values: models.Values{"gamma-a": "0.01", "gamma-i": "0.3", "heat": "0.1", "sigma": "1.5"}}
	m, err := Learner{RLS, true}.Fit(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if s := m.Summary(); s.Values["heat"] != "0.1" || !strings.Contains(s.Text, "exp(tL) with t = 0.1") {
		t.Errorf("the summary is %+v", s)
	}
	k, err := kernel.Gram(c.X, modeltest.Gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	l, identity := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		identity.Set(i, i, 1)
	}
	c.L.MulTo(l, identity)
	var exp mat.Dense
	l.Scale(heat, l)
	exp.Exp(l)
	// (JK + γ_A l I + γ_I l exp(tL)K) α = JY
	labeled := float64(len(c.Value.Labeled))
	var a mat.Dense
	a.Mul(&exp, k)
	a.Scale(gammaI*labeled, &a)
	_, outputs := c.Value.Y.Dims()
	y := mat.NewDense(n, outputs, nil)
	for p, i := range c.Value.Labeled {
		y.SetRow(i, c.Value.Y.RawRowView(p))
		for j := range n {
			a.Set(i, j, a.At(i, j)+k.At(i, j))
		}
	}
	for i := range n {
		a.Set(i, i, a.At(i, i)+gammaA*labeled)
	}
	var alpha, want mat.Dense
	if err := alpha.Solve(&a, y); err != nil {
		t.Fatal(err)
	}
	want.Mul(k, &alpha)
	modeltest.WantClose(t, "LapRLS with exp(tL)", modeltest.Raw(t, m, c.X), &want, 1e-9)

	in.Values["heat"] = "1e9" // tλ is out of reach of a polynomial
	for _, method := range []Method{RLS, SVR} {
		if m, err := (Learner{method, true}).Fit(t.Context(), in); m != nil || err == nil || !strings.Contains(err.Error(), "take a smaller one") {
			t.Errorf("%v, t = 1e9: %v", method, err)
		}
	}
}
