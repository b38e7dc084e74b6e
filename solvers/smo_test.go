package solvers_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/solvers"
)

func solve(t testing.TB, p *solvers.QP, s *solvers.SMOSettings) *solvers.SMOResult {
	t.Helper()
	r, err := solvers.SMO(t.(interface{ Context() context.Context }).Context(), p, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %v, want %v (off by %.2g)", what, got, want, got-want)
	}
}

// Two points of a linear kernel, at distance d: v = ±min(C, 2/d²).
func TestSMOTwoPoints(t *testing.T) {
	for _, c := range []float64{0.01, 0.4, 0.5, 3} {
		k := mat.NewDense(2, 2, []float64{1, 3, 3, 9}) // x = 1 and 3
		r := solve(t, solvers.ClassificationQP(solvers.DenseRows(k), []float64{-1, 1}, c), &solvers.SMOSettings{Tolerance: 1e-12})
		v := min(c, 0.5)
		near(t, "v₀", r.V[0], -v, 1e-14)
		near(t, "v₁", r.V[1], v, 1e-14)
		near(t, "the objective", r.Objective, 2*v*v-2*v, 1e-13)
		if c >= 0.5 {
			near(t, "b", -r.Multiplier, -2, 1e-13) // f(x) = x − 2
			near(t, "the gap", r.Gap, 0, 1e-12)
		}
	}
	// Regression: the narrowest slope between two targets, flattened by ε.
	k := mat.NewDense(2, 2, []float64{1, 3, 3, 9})
	r := solve(t, solvers.RegressionQP(solvers.DenseRows(k), []float64{0, 4}, 100, 0.5), &solvers.SMOSettings{Tolerance: 1e-12})
	near(t, "the slope", (r.Product[1]-r.Product[0])/2, 1.5, 1e-12)
	near(t, "f(1)", r.Product[0]-r.Multiplier, 0.5, 1e-12)
}

// bruteForce is the minimum over all choices of variables at their bounds.
func bruteForce(k *mat.Dense, p *solvers.QP, total float64) float64 {
	n := len(p.Linear)
	best := math.Inf(1)
	choices := int(math.Pow(3, float64(n)))
	for code := range choices {
		v := make([]float64, n)
		var free []int
		rest := total
		for t, c := 0, code; t < n; t, c = t+1, c/3 {
			switch c % 3 {
			case 0:
				v[t] = p.Lower[t]
			case 1:
				v[t] = p.Upper[t]
			default:
				free = append(free, t)
			}
			rest -= v[t]
		}
		m := len(free)
		if m == 0 {
			if math.Abs(rest) > 1e-12 {
				continue
			}
		} else {
			a, b := mat.NewDense(m+1, m+1, nil), mat.NewDense(m+1, 1, nil)
			for i, t := range free {
				b.Set(i, 0, -p.Linear[t])
				for u := range n {
					b.Set(i, 0, b.At(i, 0)-k.At(t, u)*v[u])
				}
				for j, u := range free {
					a.Set(i, j, k.At(t, u))
				}
				a.Set(i, m, 1)
				a.Set(m, i, 1)
			}
			b.Set(m, 0, rest)
			var x mat.Dense
			if x.Solve(a, b) != nil {
				continue
			}
			feasible := true
			for i, t := range free {
				v[t] = x.At(i, 0)
				feasible = feasible && v[t] >= p.Lower[t]-1e-12 && v[t] <= p.Upper[t]+1e-12
			}
			if !feasible {
				continue
			}
		}
		var objective float64
		for t := range n {
			objective += p.Linear[t] * v[t]
			for u := range n {
				objective += v[t] * k.At(t, u) * v[u] / 2
			}
		}
		best = min(best, objective)
	}
	return best
}

func TestSMOAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "n")
		number := rapid.Float64Range(-2, 2)
		k := mat.NewDense(n, n, nil)
		root := mat.NewDense(n, n, rapid.SliceOfN(number, n*n, n*n).Draw(rt, "root"))
		k.Mul(root, root.T())
		p := &solvers.QP{Rows: solvers.DenseRows(k), Linear: rapid.SliceOfN(number, n, n).Draw(rt, "q")}
		var total float64
		for i := range n {
			k.Set(i, i, k.At(i, i)+0.05)
			a, b := number.Draw(rt, "a"), number.Draw(rt, "b")
			p.Lower, p.Upper = append(p.Lower, min(a, b)), append(p.Upper, max(a, b))
			p.Start = append(p.Start, min(a, b)+math.Abs(a-b)*rapid.Float64Range(0, 1).Draw(rt, "start"))
			p.Start[i] = max(p.Lower[i], min(p.Upper[i], p.Start[i]))
			total += p.Start[i]
		}
		r, err := solvers.SMO(t.Context(), p, &solvers.SMOSettings{Tolerance: 1e-9})
		if err != nil {
			rt.Fatal(err)
		}
		want := bruteForce(k, p, total)
		if !(math.Abs(r.Objective-want) <= 1e-7) || !(r.Gap >= 0 && r.Gap <= 1e-7) || r.Violation > 1e-9 {
			rt.Fatalf("objective %v, want %v; gap %v, violation %v", r.Objective, want, r.Gap, r.Violation)
		}
	})
}

// A variable with |v| in the objective is one above 0 plus one below, which share
// a row of K.
func TestSMOAbsoluteValuesAsTwoVariables(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "n")
		number := rapid.Float64Range(-2, 2)
		k, twice := mat.NewDense(n, n, nil), mat.NewDense(2*n, 2*n, nil)
		root := mat.NewDense(n, n, rapid.SliceOfN(number, n*n, n*n).Draw(rt, "root"))
		k.Mul(root, root.T())
		p := &solvers.QP{Rows: solvers.DenseRows(k), Linear: rapid.SliceOfN(number, n, n).Draw(rt, "q"), Epsilon: rapid.Float64Range(0, 1).Draw(rt, "epsilon")}
		q := &solvers.QP{Rows: solvers.DenseRows(twice)}
		for i := range n {
			k.Set(i, i, k.At(i, i)+0.05)
			a, b := number.Draw(rt, "a"), number.Draw(rt, "b")
			lo, hi := min(a, b), max(a, b)
			p.Lower, p.Upper = append(p.Lower, lo), append(p.Upper, hi)
			p.Start = append(p.Start, max(lo, min(hi, number.Draw(rt, "start"))))
		}
		for _, sign := range []float64{1, -1} {
			for i := range n {
				part := func(v float64) float64 { return sign * max(0, sign*v) }
				q.Linear = append(q.Linear, p.Linear[i]+sign*p.Epsilon)
				q.Lower, q.Upper = append(q.Lower, part(p.Lower[i])), append(q.Upper, part(p.Upper[i]))
				q.Start = append(q.Start, part(p.Start[i]))
			}
		}
		for i := range 2 * n {
			for j := range 2 * n {
				twice.Set(i, j, k.At(i%n, j%n))
			}
		}
		s := &solvers.SMOSettings{Tolerance: 1e-10}
		one, err := solvers.SMO(t.Context(), p, s)
		if err != nil {
			rt.Fatal(err)
		}
		two, err := solvers.SMO(t.Context(), q, s)
		if err != nil {
			rt.Fatal(err)
		}
		if !(math.Abs(one.Objective-two.Objective) <= 1e-8) || !(one.Gap >= -1e-12 && one.Gap <= 1e-8) || one.Violation > 1e-10 {
			rt.Fatalf("objective %v, in two variables %v; gap %v, violation %v", one.Objective, two.Objective, one.Gap, one.Violation)
		}
		for i, v := range one.V {
			if w := two.V[i] + two.V[n+i]; !(math.Abs(v-w) <= 1e-4) || v < p.Lower[i] || v > p.Upper[i] {
				rt.Fatalf("variable %d is %v, as two %v", i, v, w)
			}
		}
	})
}

// cloud draws points with noisy labels and targets.
func cloud(n, d int, seed uint64) (x *data.Dense[float64], y, z []float64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	x = data.NewDense[float64](n, d)
	for i := range n {
		row := x.Row(i)
		var f float64
		for j := range row {
			row[j] = rng.NormFloat64()
			f += math.Sin(2*row[j]) / float64(j+1)
		}
		z = append(z, f+0.1*rng.NormFloat64())
		y = append(y, math.Copysign(1, f+0.3*rng.NormFloat64()))
	}
	return x, y, z
}

func problems(k solvers.Rows, y, z []float64) map[string]*solvers.QP {
	return map[string]*solvers.QP{
		"C-SVC": solvers.ClassificationQP(k, y, 3), "ε-SVR": solvers.RegressionQP(k, z, 2, 0.1), "one-class": solvers.OneClassQP(k, 0.3),
	}
}

// The primal objective of the machine, from its decision function.
func TestSMOGapIsPrimalMinusDual(t *testing.T) {
	x, y, _ := cloud(300, 4, 1)
	k, err := kernel.Gram(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := solve(t, solvers.ClassificationQP(solvers.DenseRows(k), y, 3), nil)
	var primal float64
	for i, v := range r.V {
		primal += v*r.Product[i]/2 + 3*max(0, 1-y[i]*(r.Product[i]-r.Multiplier))
	}
	near(t, "the gap", r.Gap, primal+r.Objective, 1e-10*primal)
	if !(r.Gap > 0 && r.Gap < 1e-3*primal) {
		t.Errorf("gap %v of %v", r.Gap, primal)
	}
}

// Shrinking, cached rows and the number of threads change nothing but time.
func TestSMOVariants(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	x, y, z := cloud(350, 3, 1)
	side, err := kernel.New(kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.7}, x)
	if err != nil {
		t.Fatal(err)
	}
	k, err := side.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tight := solvers.SMOSettings{Tolerance: 1e-8}
	keep := tight
	keep.KeepAll = true
	for name, p := range problems(solvers.DenseRows(k), y, z) {
		reference := solve(t, p, &keep)
		var sum, start float64
		for i, v := range reference.V {
			if v < p.Lower[i] || v > p.Upper[i] {
				t.Errorf("%s: variable %d is %v, beyond its bounds", name, i, v)
			}
			sum += v
			if p.Start != nil {
				start += p.Start[i]
			}
		}
		near(t, name+": the sum", sum, start, 1e-10)
		if reference.Violation > 1e-8 || !(reference.Gap <= 1e-5*math.Abs(reference.Objective)) {
			t.Errorf("%s: violation %g, gap %g", name, reference.Violation, reference.Gap)
		}
		small := *p
		small.Rows = solvers.CachedRows(side, 1)
		large := *p
		large.Rows = solvers.CachedRows(side, 1<<30)
		for variant, r := range map[string]*solvers.SMOResult{"shrinking": solve(t, p, &tight), "three rows": solve(t, &small, &tight), "all rows": solve(t, &large, &tight)} {
			near(t, name+", "+variant+": the objective", r.Objective, reference.Objective, 1e-9*math.Abs(reference.Objective))
			near(t, name+", "+variant+": b", r.Multiplier, reference.Multiplier, 1e-7)
		}
		runtime.GOMAXPROCS(1)
		one := solve(t, &small, nil)
		runtime.GOMAXPROCS(2)
		two := solve(t, &small, nil)
		if !slices.Equal(one.V, two.V) {
			t.Errorf("%s: other bits with two threads", name)
		}
	}
}

// Duplicates and a kernel of low rank make the matrix singular, and rounding
// makes it indefinite.
func TestSMOSingular(t *testing.T) {
	x, y, z := cloud(60, 1, 1)
	for i := 30; i < 60; i++ {
		x.Row(i)[0] = x.Row(i - 30)[0]
	}
	k, err := kernel.Gram(x, kernel.Kernel{Kind: kernel.Linear}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		k.Set(i, i, k.At(i, i)-1e-15)
	}
	for name, p := range problems(solvers.DenseRows(k), y, z) {
		r, err := solvers.SMO(t.Context(), p, nil)
		if err != nil || !(r.Gap <= 1e-2*math.Abs(r.Objective)+1e-2) {
			t.Errorf("%s: %v, gap %v of %v", name, err, r.Gap, r.Objective)
		}
	}
}

func TestSMOStops(t *testing.T) {
	x, y, _ := cloud(400, 3, 1)
	side, err := kernel.New(kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.7}, x)
	if err != nil {
		t.Fatal(err)
	}
	p := solvers.ClassificationQP(solvers.CachedRows(side, 1<<20), y, 10)
	r, err := solvers.SMO(t.Context(), p, &solvers.SMOSettings{MaxIterations: 7})
	if !errors.Is(err, solvers.ErrNotConverged) || r == nil || r.Iterations != 7 || !(r.Violation > 1e-3) || !(r.Gap > 0) {
		t.Errorf("after 7 steps: %v, %+v", err, r)
	}
	r, err = solvers.SMO(t.Context(), p, &solvers.SMOSettings{Tolerance: 1e-300})
	if !errors.Is(err, solvers.ErrNotConverged) || !(r.Violation < 1e-10) {
		t.Errorf("without tolerance: %v, violation %v", err, r.Violation)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err = solvers.SMO(ctx, p, nil); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("cancelled: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	_, err = solvers.SMO(ctx, p, &solvers.SMOSettings{Tolerance: 1e-300, OnIteration: func(s solvers.SMOState) error {
		if s.Iterations == 100 {
			cancel()
		}
		if s.Iterations > 100 {
			t.Errorf("still running after %d steps", s.Iterations)
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled after 100 steps: %v", err)
	}
	stop := errors.New("enough")
	if _, err = solvers.SMO(t.Context(), p, &solvers.SMOSettings{OnIteration: func(s solvers.SMOState) error {
		if s.Active != 400 || !(s.Violation > 0) {
			t.Errorf("%+v", s)
		}
		return stop
	}}); err != stop {
		t.Errorf("stopped: %v", err)
	}
	for _, change := range []func(p *solvers.QP, s *solvers.SMOSettings){
		func(p *solvers.QP, s *solvers.SMOSettings) { p.Lower = p.Lower[1:] },
		func(p *solvers.QP, s *solvers.SMOSettings) { p.Start = make([]float64, 3) },
		func(p *solvers.QP, s *solvers.SMOSettings) { p.Lower = slices.Repeat([]float64{1}, 400) },
		func(p *solvers.QP, s *solvers.SMOSettings) { p.Upper = slices.Repeat([]float64{math.Inf(1)}, 400) },
		func(p *solvers.QP, s *solvers.SMOSettings) { p.Epsilon = -1 },
		func(p *solvers.QP, s *solvers.SMOSettings) { p.Linear = slices.Repeat([]float64{math.NaN()}, 400) },
		func(p *solvers.QP, s *solvers.SMOSettings) { s.Tolerance = -1 },
		func(p *solvers.QP, s *solvers.SMOSettings) { s.MaxIterations = -1 },
	} {
		q, s := *p, solvers.SMOSettings{}
		change(&q, &s)
		if r, err := solvers.SMO(t.Context(), &q, &s); err == nil || r != nil {
			t.Errorf("%+v was taken", s)
		}
	}
}

// libsvm runs svm-train and returns objective, ρ, the signed coefficients by the
// number of the point, and the time.
func libsvm(t *testing.T, x *data.Dense[float64], target []float64, sigma, tolerance float64, cache int, args ...string) (objective, rho float64, coef map[int]float64, took time.Duration) {
	t.Helper()
	program, err := exec.LookPath("svm-train")
	if err != nil {
		t.Skip("svm-train (Debian libsvm-tools) is not installed")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "x.svm")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	at := map[string]int{}
	for i := range x.Rows {
		fmt.Fprintf(w, "%.17g", target[i])
		for j, v := range x.Row(i) {
			fmt.Fprintf(w, " %d:%.17g", j+1, v)
		}
		fmt.Fprintln(w)
		at[fmt.Sprintf("%.8g", x.Row(i)[0])] = i
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "model")
	args = append(args, "-t", "2", "-g", strconv.FormatFloat(1/(2*sigma*sigma), 'g', 17, 64), "-e", strconv.FormatFloat(tolerance, 'g', -1, 64), "-m", strconv.Itoa(cache), path, model)
	begin := time.Now()
	out, err := exec.Command(program, args...).Output()
	took = time.Since(begin)
	if err != nil {
		t.Fatalf("svm-train: %v", err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if strings.HasPrefix(line, "obj = ") {
			fmt.Sscanf(line, "obj = %g, rho = %g", &objective, &rho)
		}
	}
	text, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	_, vectors, _ := strings.Cut(string(text), "\nSV\n")
	coef = map[int]float64{}
	for _, line := range strings.Split(strings.TrimSpace(vectors), "\n") {
		var c, first float64
		if n, _ := fmt.Sscanf(line, "%g 1:%g", &c, &first); n != 2 {
			t.Fatalf("line %q of the model", line)
		}
		coef[at[fmt.Sprintf("%.8g", first)]] += c
	}
	return objective, rho, coef, took
}

func TestSMOAgainstLIBSVM(t *testing.T) {
	const n, sigma, tolerance = 500, 1.2, 1e-6
	x, y, z := cloud(n, 4, 3)
	y[0] = 1 // LIBSVM calls the class of the first point positive
	k, err := kernel.Gram(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma}, 0)
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string][]float64{"C-SVC": y, "ε-SVR": z, "one-class": y}
	options := map[string][]string{
		"C-SVC": {"-s", "0", "-c", "3"}, "ε-SVR": {"-s", "3", "-c", "2", "-p", "0.1"}, "one-class": {"-s", "2", "-n", "0.3"},
	}
	for name, p := range problems(solvers.DenseRows(k), y, z) {
		r := solve(t, p, &solvers.SMOSettings{Tolerance: tolerance})
		objective, rho, coef, _ := libsvm(t, x, targets[name], sigma, tolerance, 100, options[name]...)
		near(t, name+": the objective", r.Objective, objective, 1e-6*math.Abs(objective))
		near(t, name+": ρ", r.Multiplier, rho, 2e-5)
		ours := make([]float64, n)
		for i, v := range r.V {
			ours[i%n] += v
		}
		for i, v := range ours {
			// Its Q is float32.
			near(t, fmt.Sprintf("%s: coefficient %d", name, i), v, coef[i], 1e-3)
		}
	}
}

// TestSMOTime prints the times of both programs on 10,000 points.
func TestSMOTime(t *testing.T) {
	if os.Getenv("BIGFIT_TIMES") == "" {
		t.Skip("set BIGFIT_TIMES to measure")
	}
	for _, d := range []int{4, 60} {
		n, sigma := 10_000, math.Sqrt(float64(d))/2
		x, y, z := cloud(n, d, 3)
		y[0] = 1
		targets := map[string][]float64{"C-SVC": y, "ε-SVR": z, "one-class": y}
		options := map[string][]string{
			"C-SVC": {"-s", "0", "-c", "3"}, "ε-SVR": {"-s", "3", "-c", "2", "-p", "0.1"}, "one-class": {"-s", "2", "-n", "0.3"},
		}
		for _, name := range []string{"C-SVC", "ε-SVR", "one-class"} {
			begin := time.Now()
			side, err := kernel.New(kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma}, x)
			if err != nil {
				t.Fatal(err)
			}
			r := solve(t, problems(solvers.CachedRows(side, 100<<20), y, z)[name], nil)
			cached := time.Since(begin)
			begin = time.Now()
			k, err := side.Gram(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s := solve(t, problems(solvers.DenseRows(k), y, z)[name], nil)
			whole := time.Since(begin)
			objective, _, _, took := libsvm(t, x, targets[name], sigma, 1e-3, 100, options[name]...)
			t.Logf("%d×%d %s: cache of 100 MB %v, Gram matrix %v, LIBSVM %v (cache of 100 MB); objectives %.8g, %.8g, %.8g; %d steps, %d support vectors",
				n, d, name, cached.Round(1e7), whole.Round(1e7), took.Round(1e7), r.Objective, s.Objective, objective, r.Iterations, r.Support)
		}
	}
}
