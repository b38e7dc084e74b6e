package sums

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/sparse"
)

// stored are n points of d columns in three groups, in mapped files of unequal length, with their
// graph in a folder and labels for the first so many of them.
func stored(t *testing.T, n, d, labels int) *Input {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	x := make([]float32, n*d)
	classes := make([]int64, n)
	for i := range n {
		classes[i] = int64(i % 3)
		for j := range d {
			x[i*d+j] = float32(rng.NormFloat64() + 3)
			if j%3 == i%3 {
				x[i*d+j]++
			}
		}
	}
	var paths []string
	for lo, k := 0, 0; lo < n; k++ {
		hi := min(n, lo+n/5+k)
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("x%d.npy", k)))
		if err := npy.WriteFile(paths[k], []int{hi - lo, d}, x[lo*d:hi*d]); err != nil {
			t.Fatal(err)
		}
		lo = hi
	}
	points, err := data.ReadFiles(paths, data.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ix, err := knn.NewBrute(points, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(t.Context(), ix, knn.GraphSettings{K: 5, Weights: knn.Heat})
	if err != nil {
		t.Fatal(err)
	}
	graph := filepath.Join(dir, "graph")
	if err := sparse.WriteFolder(graph, w, nil); err != nil {
		t.Fatal(err)
	}
	if w, err = sparse.ReadFolder(graph, 0); err != nil {
		t.Fatal(err)
	}
	drawn, err := data.NewLabels(classes, nil).Draw(labels, 1)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := models.ClassTargets(drawn)
	if err != nil {
		t.Fatal(err)
	}
	return &Input{Points: points, Graph: w, Targets: targets, Parts: 7}
}

func settings(t *testing.T, name string, v models.Values) linear.Settings {
	t.Helper()
	s, ok, err := linear.SettingsOf(all.Learner(name), v)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return s
}

func open(t *testing.T, in *Input, dir string) *Run {
	t.Helper()
	r, err := Open(dir, in, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parts(t *testing.T, r *Run, list ...int) {
	t.Helper()
	for _, p := range list {
		if _, err := r.Part(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
}

func merged(t *testing.T, r *Run) *linear.Model {
	t.Helper()
	m, err := r.Merge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// farthest is the largest difference of coefficients and intercepts, relative to the largest.
func farthest(a, b *linear.Model) float64 {
	var diff mat.Dense
	diff.Sub(a.Coefficients, b.Coefficients)
	far := mat.Norm(&diff, 2) / mat.Norm(b.Coefficients, 2)
	for j, v := range b.Intercepts {
		far = math.Max(far, math.Abs(a.Intercepts[j]-v)/math.Max(1, math.Abs(v)))
	}
	return far
}

// small blocks, so that parts have several.
func smallBlocks(t *testing.T) {
	before := blockBytes
	blockBytes = 1 << 14
	t.Cleanup(func() { blockBytes = before })
}

// A fit in parts has the answer of the fit in one piece.
func TestEqualsOnePiece(t *testing.T) {
	smallBlocks(t)
	for _, labels := range []int{9, 60, 400} { // of 12 columns
		in := stored(t, 400, 12, labels)
		for _, c := range []struct {
			name   string
			values models.Values
			within float64
		}{
			{"laprls-linear", models.Values{"gamma-i": "1e-3"}, 1e-10},
			{"laprls-linear", models.Values{"gamma-i": "1", "laplacian": "normalized"}, 1e-10},
			{"laprls-linear", models.Values{"gamma-i": "1", "scaling": "per-edge", "power": "2"}, 1e-10},
			{"laprls-linear", models.Values{"gamma-i": "1", "scaling": "per-pair", "laplacian": "normalized", "power": "2"}, 1e-10},
			{"laprls-linear", models.Values{"gamma-i": "0"}, 1e-10},
			{"rls-linear", models.Values{}, 1e-10},
			{"lapsvm-linear", models.Values{"gamma-i": "1e-3", "laplacian": "normalized", "tolerance": "1e-10"}, 1e-9},
			{"lapsvm-linear", models.Values{"gamma-i": "1e-3", "loss": "huberized-hinge", "tolerance": "1e-10"}, 1e-9},
		} {
			in.Settings = settings(t, c.name, c.values.With(models.Values{"gamma-a": "0.01"}))
			r := open(t, in, t.TempDir())
			parts(t, r, 0, 1, 2, 3, 4, 5, 6)
			got := merged(t, r)
			l, err := sparse.NewLaplacian(in.Graph, in.Settings.Regularizer.Laplacian)
			if err != nil {
				t.Fatal(err)
			}
			want, err := linear.Fit(t.Context(), in.Points, l, in.Targets, &in.Settings, nil)
			if err != nil {
				t.Fatal(err)
			}
			if far := farthest(got, want); !(far <= c.within) {
				t.Errorf("%s %v with %d labels: %.3g from the fit in one piece", c.name, c.values, labels, far)
			}
			if got.Labeled != want.Labeled || got.Name() != want.Name() || !reflect.DeepEqual(got.Classes, want.Classes) || !reflect.DeepEqual(got.Settings, want.Settings) {
				t.Errorf("%s %v: %+v, want %+v", c.name, c.values, got, want)
			}
		}
	}
}

// Weights of one, vertices without edges and edges of a vertex to itself are graphs too, and values
// are targets.
func TestOtherGraphs(t *testing.T) {
	in := stored(t, 60, 4, 30)
	w, err := sparse.FromTriplets(60, 60, []int32{0, 1, 2, 2, 5, 59, 3}, []int32{1, 0, 2, 5, 2, 3, 59}, []float64{1, 1, 1, 1, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, 60)
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	if in.Targets, err = models.ValueTargets(mat.NewDense(60, 1, values)); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"combinatorial", "normalized"} {
		for _, ones := range []bool{false, true} {
			in.Graph = w
			if ones {
				in.Graph = &sparse.CSR{Rows: w.Rows, Cols: w.Cols, Ptr: w.Ptr, Col: w.Col}
			}
			in.Settings = settings(t, "laprls-linear", models.Values{"gamma-a": "0.01", "gamma-i": "1", "laplacian": kind})
			r := open(t, in, t.TempDir())
			parts(t, r, 0, 1, 2, 3, 4, 5, 6)
			l, err := sparse.NewLaplacian(in.Graph, in.Settings.Regularizer.Laplacian)
			if err != nil {
				t.Fatal(err)
			}
			want, err := linear.Fit(t.Context(), in.Points, l, in.Targets, &in.Settings, nil)
			if err != nil {
				t.Fatal(err)
			}
			if far := farthest(merged(t, r), want); !(far <= 1e-10) {
				t.Errorf("%s: %.3g from the fit in one piece", kind, far)
			}
		}
	}
}

// The order of the parts, their repetition and what a killed one left do not matter; weights of
// the norms can change after the parts are done.
func TestOrderAndRetries(t *testing.T) {
	smallBlocks(t)
	in := stored(t, 300, 8, 200)
	in.Settings = settings(t, "laprls-linear", models.Values{"gamma-a": "0.01", "gamma-i": "0.1", "laplacian": "normalized"})
	straight := open(t, in, t.TempDir())
	parts(t, straight, 0, 1, 2, 3, 4, 5, 6)
	want := merged(t, straight)

	dir := t.TempDir()
	open(t, in, dir)
	if err := os.WriteFile(filepath.Join(dir, ".part-00002-norm.npz.bigfit-1-0"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{6, 2, 4, 0, 5} { // each as a process of its own
		parts(t, open(t, in, dir), p)
	}
	r := open(t, in, dir)
	var missing *checkpoint.MissingError
	if _, err := r.Merge(t.Context()); !errors.As(err, &missing) || checkpoint.Ranges(missing.Missing) != "1,3" || !slices.Equal(missing.Missing, []int{1, 3}) || !strings.Contains(err.Error(), "2 of 7 parts are missing: 1,3") {
		t.Fatalf("two parts are missing: %v", err)
	}
	if err := errors.Join(os.Remove(r.folder.Path(normName(5))), os.Remove(r.folder.Path(labelsName(4)))); err != nil {
		t.Fatal(err)
	}
	if text := checkpoint.Ranges(r.Missing()); text != "1,3-5" {
		t.Errorf("missing: %s", text)
	}
	parts(t, r, 5, 1, 4, 3)
	if done, err := r.Part(t.Context(), 1); done || err != nil {
		t.Errorf("a finished part was computed again: %v", err)
	}
	got := merged(t, open(t, in, dir))
	if !mat.Equal(got.Coefficients, want.Coefficients) || !slices.Equal(got.Intercepts, want.Intercepts) {
		t.Error("other bits than in order")
	}
	// A file of points that others have neighbours in was replaced before its own part.
	changed := *in
	x := data.NewDense[float32](300, 8)
	for i := range 300 {
		row := make([]float64, 8)
		data.RowTo(row, in.Points, i)
		for j, v := range row {
			x.Row(i)[j] = float32(v)
		}
	}
	x.Row(299)[0]++
	changed.Points = x
	if _, err := open(t, &changed, dir).Part(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("other points in the last part: %v", err)
	}
	in.Settings.Regularizer.GammaI = 2
	if again := merged(t, open(t, in, dir)); mat.Equal(again.Coefficients, want.Coefficients) {
		t.Error("γ_I does not matter")
	}
}

// Parts of other points, graphs, labels and numbers of parts are refused, by name.
func TestRefused(t *testing.T) {
	in := stored(t, 120, 5, 60)
	in.Settings = settings(t, "laprls-linear", models.Values{"gamma-a": "0.01", "gamma-i": "0.1"})
	dir := t.TempDir()
	parts(t, open(t, in, dir), 0, 1, 2, 3, 4, 5, 6)
	refused := func(what string, change func(in *Input), words ...string) {
		t.Helper()
		other := *in
		change(&other)
		r, err := Open(dir, &other, 0, nil)
		if err == nil {
			_, err = r.Merge(t.Context())
		}
		if err == nil {
			t.Errorf("%s: taken", what)
			return
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: no %q in %v", what, w, err)
			}
		}
	}
	refused("a value of the last point", func(o *Input) {
		x := o.Points.(*data.Stored).Dense().(*data.Dense[float32])
		x.Data[len(x.Data)-1]++
		o.Points = x
	}, "part-00000-norm.npz", "sample of all points", Remedy)
	refused("a weight", func(o *Input) {
		w := *o.Graph
		w.Val = slices.Clone(w.Val)
		w.Val[0] *= 2
		o.Graph = &w
	}, "part-00000-norm.npz", "hash of the graph")
	refused("a label", func(o *Input) {
		targets := *o.Targets
		targets.Y = mat.DenseCopyOf(targets.Y)
		targets.Y.Set(0, 0, -targets.Y.At(0, 0))
		o.Targets = &targets
	}, "part-00000-labels.npz", "hash of the labels")
	refused("fewer parts", func(o *Input) { o.Parts = 6 }, "count of parts is 7, here 6", Remedy)
	refused("another Laplacian", func(o *Input) { o.Settings.Regularizer.Laplacian = sparse.Normalized }, "laplacian")
	refused("power 3", func(o *Input) { o.Settings.Regularizer.Power = 3 }, "power 3")
	refused("too many parts", func(o *Input) { o.Parts = 121 }, "121 parts of 120 points")
	refused("sparse points", func(o *Input) { o.Points = data.ToSparse(o.Points) }, "dense points")
	refused("no graph", func(o *Input) { o.Graph = nil }, "no graph")
	refused("weights of labels", func(o *Input) {
		targets := *o.Targets
		targets.Weights = slices.Repeat([]float64{2}, len(targets.Labeled))
		o.Targets = &targets
	}, "label", "at once")
	refused("no labels", func(o *Input) { o.Targets = &models.Targets{Len: 120} }, "no point has a target")

	path := filepath.Join(dir, labelsName(2))
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("a damaged file", func(*Input) {}, labelsName(2))
}

// A part says what is wrong with its own rows.
func TestBadRows(t *testing.T) {
	in := stored(t, 50, 5, 20)
	in.Settings = settings(t, "laprls-linear", models.Values{"gamma-a": "0.01", "gamma-i": "0.1"})
	w := *in.Graph
	w.Val = slices.Clone(w.Val)
	w.Val[len(w.Val)-1] = -1
	in.Graph = &w
	if _, err := open(t, in, t.TempDir()).Part(t.Context(), 6); err == nil || !strings.Contains(err.Error(), "weight (49, ") {
		t.Errorf("a negative weight: %v", err)
	}
	x := in.Points.(*data.Stored).Dense().(*data.Dense[float32])
	x.Data[0] = float32(math.NaN())
	in.Points = x
	if _, err := open(t, in, t.TempDir()).Part(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("NaN: %v", err)
	}
	if _, err := open(t, in, t.TempDir()).Part(t.Context(), 7); err == nil {
		t.Error("part 7 of 7")
	}
}

// The normalized Laplacian reads degrees of neighbours in other parts, and says what is wrong with
// them.
func TestBadNeighbour(t *testing.T) {
	in := stored(t, 50, 5, 20)
	in.Settings = settings(t, "laprls-linear", models.Values{"gamma-a": "0.01", "gamma-i": "0.1", "laplacian": "normalized"})
	in.GraphName = "some/graph"
	w := *in.Graph
	w.Val = slices.Clone(w.Val)
	in.Graph = &w
	r := open(t, in, t.TempDir())
	_, hi := r.Rows(0)
	for i := range hi { // the first neighbour in another part
		col, _ := w.Row(i)
		if at := slices.IndexFunc(col, func(c int32) bool { return int(c) >= hi }); at >= 0 {
			j := col[at]
			w.Val[w.Ptr[j]] = math.NaN()
			_, err := r.Part(t.Context(), 0)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("some/graph: entry (%d, ", j)) {
				t.Errorf("a neighbour with a weight that is NaN: %v", err)
			}
			return
		}
	}
	t.Fatal("no neighbours in other parts")
}
