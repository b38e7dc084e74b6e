package all_test

import (
	"cmp"
	"encoding/gob"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/cluster"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// A setCase is a learner with settings. Its scores may differ between instruction
// sets by bound, relative to the largest one; 0 is setBound.
type setCase struct {
	learner, values string
	bound           float64
}

// setBound is that of direct solvers. Iterative ones end with an error of about their
// tolerance, on every set another one of this size.
const setBound = 1e-6

// setCases fit all learners, by every way to fit them.
var setCases = []setCase{
	// Members are solved to three digits.
	{learner: "auto", values: "", bound: 2e-2},
	{learner: "eigenmap", values: "eigenvectors=6"},
	{learner: "eigenmap", values: "eigenvectors=20 laplacian=normalized penalty=iterated gamma=0.1"},
	{learner: "eigenmap", values: "eigenvectors=8 laplacian=random-walk"},
	{learner: "harmonic", values: ""},
	{learner: "lgc", values: "alpha=0.9"},
	{learner: "tikhonov", values: "gamma-a=1e-4 gamma-i=1e-2"},
	{learner: "poisson", values: ""},
	{learner: "reweighted", values: "tolerance=1e-12"},
	// Steps of the heat equation are of single precision.
	{learner: "poisson-mbo", values: "tolerance=1e-12", bound: 1e-5},
	{learner: "cut", values: "tolerance=1e-12"},
	{learner: "correct-and-smooth", values: "gamma-a=1 smooth-alpha=0.9 tolerance=1e-12"},
	{learner: "rls-linear", values: "gamma-a=1e-3"},
	{learner: "svm-linear", values: "gamma-a=1e-3"},
	{learner: "laprls-linear", values: "gamma-a=1e-3 gamma-i=1e-2"},
	{learner: "lapsvm-linear", values: "gamma-a=1e-3 gamma-i=1e-2"},
	{learner: "tsvm-linear", values: "gamma-a=1e-2"},
	{learner: "knn", values: ""},
	{learner: "geodesic", values: "vote=3"},
	{learner: "rls", values: "gamma-a=1e-3"},
	{learner: "rls", values: "gamma-a=1e-3 approximation=nystrom landmarks=24"},
	{learner: "rls", values: "gamma-a=1e-3 approximation=nystrom landmarks=24 sampling=kmeans++"},
	{learner: "rls", values: "gamma-a=1e-3 approximation=nystrom landmarks=24 sampling=uniform"},
	{learner: "rls", values: "gamma-a=1e-3 approximation=fourier features=40"},
	{learner: "rls", values: "gamma-a=1e-3 approximation=matrix-free landmarks=24"},
	{learner: "rls", values: "gamma-a=1e-3 sigma=20 approximation=nystrom landmarks=60"},
	{learner: "rls", values: "gamma-a=1e-3 sigma=20 approximation=nystrom landmarks=60 sampling=kmeans++"},
	// A kernel matrix of rank 35 whose remainder ends in rounding.
	{learner: "laprls", values: "gamma-a=1e-6 gamma-i=1e-2 kernel=polynomial approximation=nystrom landmarks=60", bound: 1e-5},
	{learner: "svm", values: "gamma-a=1e-3 tolerance=1e-8"},
	{learner: "tsvm", values: "gamma-a=1e-2 tolerance=1e-8"},
	{learner: "svr", values: "gamma-a=1e-3 tolerance=1e-8"},
	{learner: "oneclass", values: "sigma=2 nu=0.2 tolerance=1e-8"},
	{learner: "laprls", values: "gamma-a=1e-3 gamma-i=1e-2"},
	{learner: "laprls", values: "gamma-a=1e-3 gamma-i=1e-2 approximation=nystrom landmarks=24"},
	{learner: "lapsvm", values: "gamma-a=1e-3 gamma-i=1e-2 tolerance=1e-8"},
	{learner: "lapsvm", values: "gamma-a=1e-3 gamma-i=1e-2 approximation=nystrom landmarks=24"},
	{learner: "lapsvr", values: "gamma-a=1e-3 gamma-i=1e-2 tolerance=1e-8"},
	{learner: "lap-oneclass", values: "gamma-a=1e-3 gamma-i=1e-3 sigma=2 nu=0.2 tolerance=1e-8"},
	{learner: "vvmr", values: "gamma-a=1e-3 gamma-i=1e-2"},
	{learner: "vvmr", values: "gamma-a=1e-3 gamma-i=1e-2 landmarks=24"},
	{learner: "sssl", values: "eigenfunctions=12"},
	{learner: "embedding", values: ""},
	{learner: "clusters", values: "k-means"},
	{learner: "clusters", values: "sign"},
	{learner: "clusters", values: "sweep"},
	{learner: "spectral", values: ""},
}

// setAnswer is what a model says of one data set.
type setAnswer struct {
	Classes []int32
	Rows    int
	Scores  []float64
}

// setSeeds is the number of data sets; BIGFIT_SOAK gives another one.
const setSeeds = 8

// With BIGFIT_PUREGO=FILE the program FILE, this test built with -tags purego, is one
// more set.
//
// TestInstructionSets fits all learners under every instruction set that this machine
// has, each in a process of its own, as the set is chosen when the program starts.
// Scores agree to the bounds of setCases, and classes wherever the scores of two of
// them, or of one-class machines and the boundary, are farther apart than that.
func TestInstructionSets(t *testing.T) {
	if out := os.Getenv("BIGFIT_SETS_OUT"); out != "" {
		answerSets(t, out)
		return
	}
	if testing.Short() {
		t.Skip("takes seconds, and minutes under the race detector")
	}
	for _, l := range all.Learners {
		if !slices.ContainsFunc(setCases, func(c setCase) bool { return c.learner == l.Info().Name }) {
			t.Errorf("no case fits %s", l.Info().Name)
		}
	}
	sets := []string{"generic"}
	answers := map[string]map[string]setAnswer{}
	for _, set := range []string{"generic", "avx2", "avx512", "purego"} {
		program := os.Args[0]
		if set == "purego" {
			if program = os.Getenv("BIGFIT_PUREGO"); program == "" {
				continue
			}
		}
		path := filepath.Join(t.TempDir(), set)
		cmd := exec.Command(program, "-test.run=^TestInstructionSets$", "-test.count=1")
		cmd.Env = append(os.Environ(), "BIGFIT_SIMD="+set, "BIGFIT_SETS_OUT="+path)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", set, err, text)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var got struct {
			Path    string
			Answers map[string]setAnswer
		}
		if err := gob.NewDecoder(f).Decode(&got); err != nil {
			t.Fatal(err)
		}
		if got.Path == set || set == "purego" { // others are not to be had here
			answers[set] = got.Answers
			if set != "generic" {
				sets = append(sets, set)
			}
		}
	}
	if len(sets) < 2 {
		t.Skip("this machine has one instruction set")
	}
	for _, set := range sets[1:] {
		compareSets(t, set, answers["generic"], answers[set])
	}
}

// compareSets compares the answers of a set with those of the generic code.
func compareSets(t *testing.T, set string, want, got map[string]setAnswer) {
	t.Helper()
	bounds := map[string]float64{}
	for _, c := range setCases {
		bounds[c.name()] = c.bound
		if c.bound == 0 {
			bounds[c.name()] = setBound
		}
	}
	points, close := 0, 0
	worst := map[string]float64{}
	for key, w := range want {
		name, _, _ := strings.Cut(key, "#")
		g, bound := got[key], bounds[name]
		if len(g.Scores) != len(w.Scores) || len(g.Classes) != len(w.Classes) {
			t.Errorf("%s: %s: other shapes", set, key)
			continue
		}
		var size, far float64
		for i, v := range w.Scores {
			size, far = math.Max(size, math.Abs(v)), math.Max(far, math.Abs(v-g.Scores[i]))
		}
		if size > 0 {
			worst[name] = max(worst[name], far/size)
		}
		if !(far <= bound*size) {
			t.Errorf("%s: %s: scores differ by %.2e of the largest, the bound is %.0e", set, key, far/size, bound)
		}
		for i, c := range w.Classes {
			points++
			if d := g.Classes[i]; c != d {
				close++
				if margin := w.margin(i, c, d); !(margin <= 2*bound*size) {
					t.Errorf("%s: %s: point %d has the classes %d and %d, whose scores are %.2e of the largest apart", set, key, i, c, d, margin/size)
				}
			}
		}
	}
	t.Logf("%s and generic: %d of %d classes differ; largest relative differences of scores:", set, close, points)
	for _, name := range slices.SortedFunc(maps.Keys(worst), func(a, b string) int { return cmp.Compare(worst[b], worst[a]) })[:8] {
		t.Logf("  %.1e %s", worst[name], name)
	}
}

// margin is the difference of the scores of two classes at point i; without scores
// it is infinite.
func (a setAnswer) margin(i int, c, d int32) float64 {
	if len(a.Scores) == 0 {
		return math.Inf(1)
	}
	cols := len(a.Scores) / a.Rows
	row := a.Scores[i*cols:][:cols]
	if cols <= max(int(c), int(d)) {
		return math.Abs(row[0])
	}
	return math.Abs(row[c] - row[d])
}

func (c setCase) name() string { return strings.TrimSpace(c.learner + " " + c.values) }

// answerSets writes the answers of all cases for all data sets.
func answerSets(t *testing.T, path string) {
	var out struct {
		Path    string
		Answers map[string]setAnswer
	}
	out.Path, out.Answers = simd.Path(), map[string]setAnswer{}
	seeds, err := strconv.Atoi(os.Getenv("BIGFIT_SOAK"))
	if err != nil {
		seeds = setSeeds
	}
	for seed := range seeds {
		s := newSetSample(uint64(seed))
		for _, c := range setCases {
			out.Answers[fmt.Sprintf("%s#%d", c.name(), seed)] = s.answer(t, c)
		}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := gob.NewEncoder(f).Encode(out); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// setSample is points of three classes, of which some are labeled, and new points.
type setSample struct {
	seed   uint64
	x, new *data.Dense[float64]
	class  []int64
}

const setPoints, setNew, setDim = 110, 40, 4

// newSetSample draws three clusters, in some of the samples bent ones; every fourth
// sample is a lattice, whose symmetry makes ties everywhere.
func newSetSample(seed uint64) *setSample {
	rng := rand.New(rand.NewPCG(seed, 21))
	s := &setSample{seed: seed, x: data.NewDense[float64](setPoints, setDim), new: data.NewDense[float64](setNew, setDim)}
	for i := range setPoints + setNew {
		var row []float64
		if i < setPoints {
			row = s.x.Row(i)
			s.class = append(s.class, int64(i%3))
		} else {
			row = s.new.Row(i - setPoints)
		}
		angle := float64(i%3)*2.1 + 0.5*rng.NormFloat64()*float64(seed%2)
		row[0], row[1] = 2*math.Cos(angle), 2*math.Sin(angle)
		for j := range row {
			row[j] += 0.4 * rng.NormFloat64()
		}
		if seed%4 == 3 {
			clear(row)
			row[0], row[1] = float64(i%11)/4, float64(i/11)/4
			if i >= setPoints {
				row[0] += 0.1 * rng.Float64()
			}
		}
	}
	return s
}

// targets are what a learner learns: classes, values, labels or the inside.
func (s *setSample) targets(l models.Learns) (*models.Targets, error) {
	labeled := make([]bool, setPoints)
	for i := range labeled {
		labeled[i] = i%4 == 0
	}
	cols := 1
	if l.Has(models.LearnsLabels) {
		cols = 3
	}
	if l.Has(models.LearnsClasses) {
		return models.ClassTargets(data.NewLabels(slices.Clone(s.class), labeled))
	}
	y := mat.NewDense(setPoints, cols, nil)
	for i := range setPoints {
		for j := range cols {
			v := math.NaN()
			switch {
			case !labeled[i]:
			case cols > 1:
				v = -1
				if s.class[i] == int64(j) {
					v = 1
				}
			case l.Has(models.LearnsValues):
				v = s.x.Row(i)[0] + math.Sin(s.x.Row(i)[1])
			default:
				v = 0
			}
			y.Set(i, j, v)
		}
	}
	if cols > 1 {
		return multilabel.LabelTargets(y, []int64{1, 2, 3})
	}
	return models.ValueTargets(y)
}

// answer fits a case and asks for all points.
func (s *setSample) answer(t *testing.T, c setCase) setAnswer {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s, data set %d: %v", c.name(), s.seed, err)
		}
	}
	p := &pipeline.Pipeline{Seed: s.seed}
	l := all.Learner(c.learner)
	if l == nil {
		return s.unsupervised(t, c.learner, c.values)
	}
	in := &models.Input{Points: s.x, Values: models.Values{}}
	for _, v := range strings.Fields(c.values) {
		name, value, _ := strings.Cut(v, "=")
		in.Values[name] = value
	}
	var err error
	in.Targets, err = s.targets(l.Info().Learns)
	must(err)
	m, err := p.Fit(t.Context(), l, in, &pipeline.GraphSettings{Graph: knn.GraphSettings{K: 6, Weights: knn.Heat}})
	must(err)
	a := setAnswer{}
	if m.Dim() > 0 {
		// Not the vote of training points, which is a step function of their classes.
		answers, err := m.Predict(t.Context(), s.new, &models.PredictSettings{Extension: models.Nystrom})
		must(err)
		a.add(answers)
	}
	if trained, ok := m.(models.Trained); ok {
		a.add(trained.Training(true))
	}
	return a
}

// add appends a prediction.
func (a *setAnswer) add(p *models.Prediction) {
	if p == nil {
		return
	}
	a.Classes = append(a.Classes, p.Classes...)
	if p.Scores != nil {
		rows, _ := p.Scores.Dims()
		a.Rows += rows
		a.Scores = append(a.Scores, mat.DenseCopyOf(p.Scores).RawMatrix().Data...)
	}
}

// unsupervised are the models that no learner makes.
func (s *setSample) unsupervised(t *testing.T, name, rule string) (a setAnswer) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s, data set %d: %v", name, s.seed, err)
		}
	}
	p := &pipeline.Pipeline{Seed: s.seed}
	edges := knn.GraphSettings{K: 12, Weights: knn.Heat}
	if s.seed%4 == 3 {
		edges = knn.GraphSettings{Radius: 0.3} // which has the symmetry of the lattice
	}
	g, err := p.Graph(t.Context(), s.x, &pipeline.GraphSettings{Graph: edges})
	must(err)
	switch name {
	case "embedding":
		k := g.Components.Count() + 3
		r, err := p.Eigenpairs(t.Context(), &g.Graph, &pipeline.EigsSettings{Laplacian: sparse.RandomWalk, K: k}, nil)
		must(err)
		m, err := eigenmap.NewEmbedding(r, sparse.RandomWalk, &g.Neighborhood)
		must(err)
		a.add(&models.Prediction{Scores: m.Vectors})
	case "clusters":
		settings := &cluster.Settings{Clusters: 5, Seed: s.seed, Restarts: 3}
		must(settings.Rule.UnmarshalText([]byte(rule)))
		if settings.Rule != cluster.KMeans {
			settings.Clusters = 2
		}
		c, err := cluster.NormalizedCut(t.Context(), g.W, settings)
		must(err)
		a.Classes = c.Labels
	case "spectral":
		l, err := sparse.NewLaplacian(g.W, sparse.Combinatorial)
		must(err)
		m, err := cluster.FitSpectral(t.Context(), &kernelmachine.Data{Points: s.x, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.5}, Laplacian: l},
			&cluster.SpectralSettings{Gamma: 1e-2, Components: 2, Clusters: 4, Seed: s.seed})
		must(err)
		a.add(&models.Prediction{Scores: m.Embedding})
		answers, err := m.Predict(t.Context(), s.new, &models.PredictSettings{})
		must(err)
		a.Classes = answers.Classes
	}
	return a
}
