package modeltest

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// Problem is a graph of points with its eigenpairs.
type Problem struct {
	X    data.Points
	W    *sparse.CSR
	C    *sparse.Components
	L    *sparse.Laplacian
	Eigs *lanczos.Result
	S    knn.GraphSettings
}

func NewProblem(t testing.TB, x data.Points, s knn.GraphSettings, kind sparse.Kind, pairs int) *Problem {
	t.Helper()
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{X: x}
	if p.W, p.S, err = knn.NewGraph(context.Background(), ix, s); err != nil {
		t.Fatal(err)
	}
	return p.Solve(t, kind, pairs)
}

// FromEdges is a problem without points.
func FromEdges(t testing.TB, n int, edges [][2]int32, pairs int) *Problem {
	t.Helper()
	var i, j []int32
	for _, e := range edges {
		// Both directions, as the matrix of an undirected graph is symmetric.
		i, j = append(i, e[0], e[1]), append(j, e[1], e[0])
	}
	v := make([]float64, len(i))
	for q := range v {
		v[q] = 1
	}
	w, err := sparse.FromTriplets(n, n, i, j, v)
	if err != nil {
		t.Fatal(err)
	}
	return (&Problem{W: w}).Solve(t, sparse.Combinatorial, pairs)
}

// Graph returns the graph with the points that it joins.
func (p *Problem) Graph() *models.Graph {
	return &models.Graph{W: p.W, Components: p.C, Neighborhood: models.Neighborhood{Degrees: p.L.Degrees(),
		Points: p.X, Edges: p.S}}
}

// Labels gives class to the named points of n.
func Labels(n int, class map[int]int64) *data.Labels {
	values := make([]int64, n)
	known := make([]bool, n)
	for i, c := range class {
		values[i] = c
		known[i] = true
	}
	return data.NewLabels(values, known)
}

// Entries returns the content of a file, by name.
func Entries(t *testing.T, path string) map[string]archive.Array {
	t.Helper()
	a, err := npy.OpenArchive(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()

	out := map[string]archive.Array{}
	for _, name := range a.Names() {
		x, err := a.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = archive.Array{Name: name, Shape: x.Shape, Data: x.Data}
	}

	return out
}

// WantRefused reports unless load refuses a file of the entries e with an error that
// names the file and says want.
func WantRefused(t *testing.T, e map[string]archive.Array,
	load func(path string, limit int64) (models.Model, *models.Manifest, error), want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bad.npz")
	if err := Rewrite(path, slices.Collect(maps.Values(e))); err != nil {
		t.Fatal(err)
	}
	m, _, err := load(path, 0)
	if err == nil || m != nil {
		t.Fatal("no error")
	}
	if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %q does not say %q of the file", err, want)
	}
}

func ClassTargets(t testing.TB, y *data.Labels) *models.Targets {
	t.Helper()
	targets, err := models.ClassTargets(y)
	if err != nil {
		t.Fatal(err)
	}
	return targets
}

func SamePrediction(a, b *models.Prediction) bool {
	return slices.Equal(a.Classes, b.Classes) && mat.Equal(a.Scores, b.Scores)
}

// KernelCase is points of three classes with few labels, and their graph.
type KernelCase struct {
	X     *data.Dense[float64]
	L     *sparse.Laplacian
	Three *models.Targets
	Two   *models.Targets
	Value *models.Targets
}

func Laplacian(t testing.TB, x data.Points, k int, kind sparse.Kind) *sparse.Laplacian {
	t.Helper()
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(t.(interface{ Context() context.Context }).Context(), ix,
		knn.GraphSettings{K: k})
	if err != nil {
		t.Fatal(err)
	}
	l, err := sparse.NewLaplacian(w, kind)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func NewKernelCase(t testing.TB, n int, kind sparse.Kind) *KernelCase {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	x := data.NewDense[float64](n, 3)
	values := make([]int64, n)
	labeled := make([]bool, n)
	z := mat.NewDense(n, 2, nil)
	for i := range n {
		values[i] = int64(i % 3)
		labeled[i] = i%4 == 0
		for j := range x.Row(i) {
			x.Row(i)[j] = rng.NormFloat64() + 1.2*float64((i%3)*(j+1)%3)
		}

		// Two values of each labeled point: one nonlinear in x, one far from 0.
		z.SetRow(i, []float64{math.NaN(), math.NaN()})
		if labeled[i] {
			z.SetRow(i, []float64{math.Sin(x.Row(i)[0]), x.Row(i)[1] + 10})
		}
	}

	c := &KernelCase{X: x, L: Laplacian(t, x, 6, kind)}
	var err error
	if c.Three, err = models.ClassTargets(data.NewLabels(values, labeled)); err != nil {
		t.Fatal(err)
	}
	for i := range values {
		values[i] %= 2
	}
	if c.Two, err = models.ClassTargets(data.NewLabels(values, labeled)); err != nil {
		t.Fatal(err)
	}
	if c.Value, err = models.ValueTargets(z); err != nil {
		t.Fatal(err)
	}
	return c
}

var Gaussian = kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.5}

func Raw(t testing.TB, m models.Model, x data.Points) *mat.Dense {
	t.Helper()
	p, err := m.Predict(t.(interface{ Context() context.Context }).Context(), x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.Scores
}

func WantClose(t *testing.T, what string, got, want mat.Matrix, tol float64) {
	t.Helper()
	var d mat.Dense
	d.Sub(got, want)
	if e, size := mat.Norm(&d, math.Inf(1)), mat.Norm(want, math.Inf(1)); !(e <= tol*size) {
		t.Errorf("%s: off by %.2g of %.2g", what, e, size)
	}
}

// Sklearn runs a script with NumPy as np in dir, which must print JSON into v;
// where scikit-learn is missing the test is skipped.
func Sklearn(t *testing.T, dir, script string, v any) {
	t.Helper()
	const exe = "/usr/bin/python3"
	if err := exec.Command(exe, "-c", "import numpy, sklearn").Run(); err != nil {
		t.Skipf("%s with scikit-learn is needed to compare (%v)", exe, err)
	}
	cmd := exec.Command(exe, "-W", "ignore", "-c", "import json, numpy as np\n"+script)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := json.Unmarshal(out, v); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
}

func WriteArrays(t *testing.T, dir string, arrays map[string]any) {
	t.Helper()
	for name, x := range arrays {
		var shape []int
		if m, ok := x.(*mat.Dense); ok {
			r, c := m.Dims()
			shape = []int{r, c}
			x = m.RawMatrix().Data
		}
		if err := npy.WriteFile(filepath.Join(dir, name+".npy"), shape, x); err != nil {
			t.Fatal(err)
		}
	}
}

func Near(a, b, tolerance float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance
}

// NewTwoClouds draws n points about each of c centres at the given distance from
// each other. Of each class, the two points that lie nearest to the next one are
// labeled.
func NewTwoClouds(t testing.TB, n, c int, distance float64) (x *data.Dense[float64],
	truth, drawn *data.Labels) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(c)))
	x = data.NewDense[float64](n*c, c)
	values := make([]int64, n*c)
	toNext := make([][]int, c)
	for i := range values {
		k := i % c
		values[i] = int64(10 * k)
		for j := range x.Row(i) {
			x.Row(i)[j] = rng.NormFloat64()
		}
		x.Row(i)[k] += distance / math.Sqrt2
		toNext[k] = append(toNext[k], i)
	}

	var labeled []int
	for k, all := range toNext {
		slices.SortFunc(all, func(a, b int) int {
			d := func(i int) float64 { return x.Row(i)[(k+1)%c] - x.Row(i)[k] }
			return int(math.Copysign(1, d(b)-d(a)))
		})

		// Labels at the border are the hardest case for a machine that does not use the other
		// points.
		labeled = append(labeled, all[:2]...)
	}

	truth = data.NewLabels(values, nil)
	return x, truth, truth.Keep(labeled)
}

func CodedClasses(t testing.TB, y *data.Labels) *models.Targets {
	t.Helper()
	targets, err := models.ClassTargets(y)
	if err != nil {
		t.Fatal(err)
	}
	return targets
}

func (p *Problem) Solve(t testing.TB, kind sparse.Kind, pairs int) *Problem {
	t.Helper()
	p.C = p.W.Components()
	var err error
	if p.L, err = sparse.NewLaplacian(p.W, kind); err != nil {
		t.Fatal(err)
	}
	if p.Eigs, err = lanczos.Laplacian(context.Background(), p.L, p.C,
		&lanczos.Settings{K: pairs, Tolerance: 1e-11}); err != nil {
		t.Fatal(err)
	}
	return p
}

// Rewrite writes a model file of the given entries; what its manifest says of them is
// brought into agreement, so that the model's own checks are met.
func Rewrite(path string, entries []archive.Array) error {
	if err := npy.WriteArchive(path, entries); err != nil {
		return err
	}
	at := slices.IndexFunc(entries, func(e archive.Array) bool { return e.Name == archive.Name })
	if at < 0 {
		return nil
	}
	text, ok := entries[at].Data.([]uint8)
	var whole, settings map[string]json.RawMessage
	if !ok || json.Unmarshal(text, &whole) != nil || json.Unmarshal(whole["settings"], &settings) != nil {
		return nil // the manifest itself is damaged
	}

	a, err := npy.OpenArchive(path, 0)
	if err != nil {
		return err
	}
	defer a.Close()

	// The manifest lists the header of every array; the list is made anew from the file.
	arrays := map[string]string{}
	for _, name := range a.Names() {
		if h, err := a.Header(name); err == nil && name != archive.Name {
			arrays[name] = h.String()
		}
	}

	if settings["arrays"], err = json.Marshal(arrays); err != nil {
		return err
	}
	if whole["settings"], err = json.Marshal(settings); err != nil {
		return err
	}
	if text, err = json.Marshal(whole); err != nil {
		return err
	}

	entries = slices.Clone(entries)
	entries[at] = archive.Array{Name: archive.Name, Data: text}
	return npy.WriteArchive(path, entries)
}
