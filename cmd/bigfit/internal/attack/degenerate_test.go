package attack

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
)

// spoil makes degenerate data of good points, and of the points asked for.
type spoil struct {
	name   string
	change func(rng *rand.Rand, x, query []float64)
}

// spoils are the degenerate data sets: extreme scales, constant columns, duplicates.
var spoils = []spoil{
	{"as it is", func(*rand.Rand, []float64, []float64) {}},
	{"times 1e-160", func(_ *rand.Rand, x, _ []float64) { times(x, 1e-160) }},
	{"times 1e-120", func(_ *rand.Rand, x, _ []float64) { times(x, 1e-120) }},
	{"times 1e120", func(_ *rand.Rand, x, _ []float64) { times(x, 1e120) }},
	{"times 1e160", func(_ *rand.Rand, x, _ []float64) { times(x, 1e160) }},
	{"one coordinate of 1e308", func(rng *rand.Rand, x, _ []float64) { x[rng.IntN(len(x))] = 1e308 }},
	{"one coordinate of 1e140", func(rng *rand.Rand, x, _ []float64) { x[rng.IntN(len(x))] = 1e140 }},
	{"a query of 1e308", func(rng *rand.Rand, _, q []float64) { q[rng.IntN(len(q))] = 1e308 }},
	{"a query of 1e149", func(rng *rand.Rand, _, q []float64) { q[rng.IntN(len(q))] = -1e149 }},
	{"a query of zeros", func(_ *rand.Rand, _, q []float64) { times(q, 0) }},
	{"all points equal", func(_ *rand.Rand, x, _ []float64) {
		for i := range x {
			x[i] = 1.5
		}
	}},
	{"zeros", func(_ *rand.Rand, x, _ []float64) { times(x, 0) }},
	{"a constant column", func(_ *rand.Rand, x, _ []float64) {
		for i := 0; i < len(x); i += artifactDims {
			x[i] = -2
		}
	}},
	{"far from the origin", func(_ *rand.Rand, x, _ []float64) {
		for i := range x {
			x[i] += 1e12
		}
	}},
	{"pairs of duplicates", func(_ *rand.Rand, x, _ []float64) {
		const d = artifactDims
		for i := 0; i+2*d <= len(x); i += 2 * d {
			copy(x[i+d:i+2*d], x[i:i+d])
		}
	}},
	{"rounded", func(_ *rand.Rand, x, _ []float64) {
		for i := range x {
			x[i] = math.Round(x[i])
		}
	}},
}

func times(x []float64, f float64) {
	for i := range x {
		x[i] *= f
	}
}

// wants are flags that a learner needs to be fitted.
var wants = map[string]string{
	"rls": "--gamma-a 1e-3", "svm": "--gamma-a 1e-3", "svr": "--gamma-a 1e-3", "tsvm": "--gamma-a 1e-2", "vvmr": "--gamma-a 1e-3 --gamma-i 1e-2",
	"rls-linear": "--gamma-a 1e-3", "svm-linear": "--gamma-a 1e-3", "tsvm-linear": "--gamma-a 1e-2",
	"laprls": "--gamma-a 1e-3 --gamma-i 1e-2", "lapsvm": "--gamma-a 1e-3 --gamma-i 1e-2", "lapsvr": "--gamma-a 1e-3 --gamma-i 1e-2",
	"laprls-linear": "--gamma-a 1e-3 --gamma-i 1e-2", "lapsvm-linear": "--gamma-a 1e-3 --gamma-i 1e-2", "lap-oneclass": "--gamma-i 1e-2",
	"sssl": "--eigenfunctions 3", "tikhonov": "--gamma 0.1",
}

// learner is the part of an entry of `bigfit models --json` that the tests need.
type learner struct {
	Name string `json:"name"`
}

// learners lists all learners of the command.
func learners(t *testing.T, dir string) []learner {
	t.Helper()
	var all []learner
	if err := json.Unmarshal([]byte(succeedIn(t, dir, "models --json").out), &all); err != nil || len(all) < 15 {
		t.Fatalf("%d learners, %v", len(all), err)
	}
	return all
}

// finiteFile returns an error unless the numbers of a .npy file are finite.
func finiteFile(path string) error {
	a, err := npy.ReadFile(path, 0)
	if err != nil {
		return err
	}
	v, err := a.Float64s()
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(v, func(e float64) bool { return e-e != 0 }); i >= 0 {
		return fmt.Errorf("element %d of %s is %v", i, filepath.Base(path), v[i])
	}
	return nil
}

// Every learner on degenerate data either refuses or gives a model that is read again
// and answers that are finite.
func TestDegenerateData(t *testing.T) {
	testmode.Campaign(t)
	dir := t.TempDir()
	all := learners(t, dir)
	first, count := seeds(len(spoils) * 2)
	for seed := first; seed < first+count; seed++ {
		rng := rand.New(rand.NewPCG(uint64(seed), 0x646567)) // "deg"
		s := spoils[seed%len(spoils)]
		l := all[rng.IntN(len(all))]
		attackLearner(t, dir, seed, &s, &l, rng)
	}
}

// attackLearner fits one learner on spoiled data, and asks and reads what it made.
func attackLearner(t *testing.T, dir string, seed int, s *spoil, l *learner, rng *rand.Rand) {
	const n, d = 60, artifactDims
	x, q, y, v := make([]float64, n*d), make([]float64, 5*d), make([]int64, n), make([]float64, n)
	for i := range n {
		y[i], v[i] = -1, math.NaN()
		if i < n/4 {
			y[i], v[i] = int64(i%2), rng.NormFloat64()
		}
		for j := range d {
			x[i*d+j] = rng.NormFloat64() + 3*float64(i%2)
		}
	}
	for i := range q {
		q[i] = rng.NormFloat64()
	}
	s.change(rng, x, q)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(npy.WriteFile(filepath.Join(dir, "X.npy"), []int{n, d}, x))
	must(npy.WriteFile(filepath.Join(dir, "q.npy"), []int{5, d}, q))
	must(npy.WriteFile(filepath.Join(dir, "y.npy"), nil, y))
	must(npy.WriteFile(filepath.Join(dir, "v.npy"), nil, v))
	target := "y.npy"
	if l.Name == "svr" || l.Name == "lapsvr" || l.Name == "vvmr" {
		target = "v.npy --regression"
	}
	report := func(o outcome, what string) {
		t.Errorf("BIGFIT_SOAK_FIRST=%d, %s, %s: bigfit %s: %s\n%s", seed, l.Name, s.name, o.line, what, o.stderr)
	}
	fit := runIn(t, dir, strings.TrimSpace(fmt.Sprintf("fit -X X.npy -y %s --model %s -o m.npz %s", target, l.Name, wants[l.Name])))
	if fault := fit.fault(); fault != "" {
		report(fit, fault)
	}
	if fit.code == 2 {
		return
	}
	for _, line := range []string{"info m.npz", "predict m.npz -X X.npy -o p.npy", "predict m.npz -X q.npy -o p.npy"} {
		o := runIn(t, dir, line)
		if fault := o.fault(); fault != "" {
			report(o, fault)
		}
		if line == "info m.npz" && o.code != 0 || line == "predict m.npz -X X.npy -o p.npy" && o.code == 2 {
			report(o, "it refuses what fit made")
		}
		if strings.HasPrefix(line, "predict") && o.code == 0 {
			if err := finiteFile(filepath.Join(dir, "p.npy")); err != nil {
				report(o, err.Error())
			}
		}
	}
}
