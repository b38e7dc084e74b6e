package papers

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// observer notes the stages and checks their order.
type observer struct {
	stage.Observer // nil: experiments announce nothing
	t              *testing.T
	mu             sync.Mutex
	open           string
	stages         []string
}

func (o *observer) Begin(stage string) {
	if o.open != "" {
		o.t.Errorf("stage %q begins inside %q", stage, o.open)
	}
	o.open = stage
	o.stages = append(o.stages, stage)
}

func (o *observer) Update(done, total float64, note string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !(done >= 0 && done <= total) {
		o.t.Errorf("%s: %v of %v done", o.open, done, total)
	}
}

func (o *observer) End(note string) {
	if o.open == "" || note == "" {
		o.t.Errorf("stage %q ends with note %q", o.open, note)
	}
	o.open = ""
}

func run(t *testing.T, e *Experiment) *Outcome {
	t.Helper()
	obs := &observer{t: t}
	o, err := e.Run(context.Background(), obs)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"neighbours", "graph", "eigenpairs", "classifiers"}
	for range len(e.Readings) - 1 {
		want = append(want, "graph", "eigenpairs", "classifiers") // from the same lists
	}
	if !slices.Equal(obs.stages, want) || obs.open != "" {
		t.Errorf("stages %v, %q open", obs.stages, obs.open)
	}
	return o
}

// drawn is an experiment on drawn digits.
func drawn() *Experiment {
	x, truth := synthetic.Digits(300, 3)
	nan := math.NaN()
	return &Experiment{
		Name: "synthetic", X: x, Truth: truth, Graph: knn.GraphSettings{K: 8}, Pairs: 60, Splits: 4, Seed: 7, KNN: true, GNN: true,
		Rows: []Row{
			{Labels: 50, PaperKNN: 37.6, Cells: []Cell{{Settings: eigenmap.Settings{Eigenvectors: 5}, Paper: 48.3}, {Settings: eigenmap.Settings{Eigenvectors: 20}, Paper: nan}}},
			{Labels: 200, PaperKNN: nan, Cells: []Cell{{Settings: eigenmap.Settings{Eigenvectors: 20}, Paper: nan}, {Name: "penalized", Settings: BestPenalty(200), Paper: 1}}},
		},
	}
}

func TestExperiment(t *testing.T) {
	e := drawn()
	o := run(t, e)
	type key struct {
		labels       float64
		method, name string
		eigenvectors float64
	}
	byKey := map[key]results.Value{}
	for _, r := range o.Table.Records {
		v := o.Table.Value(r, "error_mean")
		byKey[key{o.Table.Value(r, "labels").Number, o.Table.Value(r, "method").Text, o.Table.Value(r, "name").Text, o.Table.Value(r, "eigenvectors").Number}] = v
		if !(v.Number > 0 && v.Number < 90 && v.Deviation >= 0 && v.Deviation < 20) {
			t.Errorf("%+v: not an error in percent", r)
		}
		if k := o.Table.Value(r, "k").Number; (o.Table.Value(r, "method").Text != "eigenmap") != slices.Contains(baselineKs, int(k)) {
			t.Errorf("%+v: k is %v", r, k)
		}
	}
	for _, k := range []key{
		{50, "eigenmap", "", 5}, {50, "eigenmap", "", 20}, {50, "knn", "", 0}, {50, "gnn", "", 0},
		{200, "eigenmap", "", 20}, {200, "eigenmap", "penalized", 60}, {200, "knn", "", 0}, {200, "gnn", "", 0},
	} {
		if _, ok := byKey[k]; !ok {
			t.Errorf("no result of %+v", k)
		}
	}
	if n := len(o.Table.Records); n != 8 {
		t.Errorf("%d results", n)
	}
	if r := byKey[key{50, "knn", "", 0}]; r.Published != 37.6 {
		t.Errorf("baseline %+v", r)
	}
	if a, b := byKey[key{200, "eigenmap", "penalized", 60}].Number, byKey[key{200, "knn", "", 0}].Number; !(a < b) {
		t.Errorf("the eigenmap classifier errs by %v, nearest neighbours by %v", a, b)
	}
	if header := o.Table.Grids()[0].Header; !slices.Equal(header, []string{"labels", "eigenmap, penalized", "5 eigenvectors", "20 eigenvectors", "best k-NN", "best k-GNN"}) {
		t.Errorf("columns %q", header)
	}

	// The first cell by hand: four draws, and three times as many because there are few labels.
	var errs []float64
	for i := range uint64(12) {
		y, err := e.Truth.Draw(50, 7+i)
		if err != nil {
			t.Fatal(err)
		}
		m, err := eigenmap.Fit(context.Background(), o.Eigs, o.Graph.Components, y, &eigenmap.Settings{Eigenvectors: 5})
		if err != nil {
			t.Fatal(err)
		}
		errs = append(errs, 100*metrics.ErrorRate(m.Transduce(o.Eigs, o.Graph.Components, y), e.Truth, y))
	}
	var mean, square float64
	for _, v := range errs {
		mean += v / 12
	}
	for _, v := range errs {
		square += (v - mean) * (v - mean)
	}
	if r := byKey[key{50, "eigenmap", "", 5}]; !(math.Abs(r.Number-mean) <= 1e-9) || !(math.Abs(r.Deviation-math.Sqrt(square/11)) <= 1e-9) {
		t.Errorf("%+v, by hand %v ± %v", r, mean, math.Sqrt(square/11))
	}
}

func TestExperimentDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []byte
	for _, threads := range []int{1, 2} {
		runtime.GOMAXPROCS(threads)
		text, err := json.Marshal(run(t, drawn()).Table)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		}
		if string(text) != string(first) {
			t.Errorf("other results at %d threads:\n%s\n%s", threads, first, text)
		}
	}
	other := drawn()
	other.Seed = 8
	if text, err := json.Marshal(run(t, other).Table); err != nil || string(text) == string(first) {
		t.Errorf("the same results from another seed: %v", err)
	}
}

func TestExperimentRows(t *testing.T) {
	e := drawn()
	e.KNN, e.GNN, e.Splits, e.Labels = false, false, 1, []int{200}
	o := run(t, e)
	if r := o.Table.Records; len(r) != 2 || o.Table.Value(r[0], "labels").Number != 200 || o.Table.Value(r[0], "error_mean").Deviation != 0 {
		t.Errorf("results %+v", r)
	}
	if o.Neighbors.K != 8 {
		t.Errorf("lists of %d neighbours without the baseline", o.Neighbors.K)
	}
}

func TestExperimentFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(e *Experiment)
		want   string
	}{
		{"more labels than points", func(e *Experiment) { e.Rows[1].Labels = 301 }, "301 labels"},
		{"as many labels as points", func(e *Experiment) { e.Rows[1].Labels = 300 }, "300 labels: 300 points"},
		{"more eigenvectors than pairs", func(e *Experiment) { e.Pairs = 10 }, "50 labels"},
		{"more neighbours than points", func(e *Experiment) { e.Graph.K = 300 }, "300"},
		{"bad graph", func(e *Experiment) { e.Graph.T = -1 }, "-1"},
	} {
		e := drawn()
		c.change(e)
		if o, err := e.Run(context.Background(), &observer{t: t}); err == nil || o != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := drawn().Run(cancelled, &observer{t: t}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestTables checks the published tables for their form.
func TestTables(t *testing.T) {
	var cells int
	for _, table := range []published{mnistTable, newsgroupsTable, phonemesTable} {
		for i, r := range table.rows {
			if len(r.errors) > len(table.eigenvectors) || i > 0 && r.labels <= table.rows[i-1].labels {
				t.Errorf("row %+v", r)
			}
			for _, v := range append(slices.Clone(r.errors), r.knn) {
				if !math.IsNaN(v) && !(v > 2 && v < 90) {
					t.Errorf("%d labels: an error of %v %%", r.labels, v)
				}
			}
		}
		if !slices.IsSorted(table.eigenvectors) {
			t.Errorf("eigenvectors %v", table.eigenvectors)
		}
	}
	for _, r := range mnistTable.experimentRows() {
		cells += len(r.Cells)
		for _, c := range r.Cells {
			if c.Settings.Penalty != eigenmap.NoPenalty || c.Settings.Eigenvectors > 1000 {
				t.Errorf("%d labels: %+v", r.Labels, c)
			}
		}
	}
	if cells != 46 {
		t.Errorf("%d cells of Table 1, want 46", cells)
	}
	if best := mnistTable.bestRows(BestPenalty); best[2].Labels != 100 || best[2].Cells[0].Paper != 6.4 || len(best[2].Cells) != 1 {
		t.Errorf("best row %+v", best[2])
	}
}

func TestMissingData(t *testing.T) {
	for name, load := range map[string]func(Options) (*Experiment, error){"train-images": MNIST, "news20_full_X.npz": Newsgroups, "phoneme_esl.npz": Phonemes} {
		_, err := load(Options{})
		for _, part := range []string{"--data", "BIGFIT_DATA"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: no folder: error %v does not say %s", name, err, part)
			}
		}
		dir := t.TempDir()
		_, err = load(Options{Dir: dir})
		for _, part := range []string{dir, name, "--data"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: empty folder: error %v does not say %s", name, err, part)
			}
		}
	}
	// Images without labels, and too few labels.
	dir := t.TempDir()
	images, truth := synthetic.Digits(150, 1)
	if err := npy.WriteArchive(filepath.Join(dir, "mnist_train_images.npz"), []archive.Array{{Name: "images", Shape: []int{150, 28, 28}, Data: images.Data}}); err != nil {
		t.Fatal(err)
	}
	if _, err := MNIST(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "train-labels-idx1-ubyte.gz") {
		t.Errorf("images without labels: %v", err)
	}
	labels := filepath.Join(dir, "mnist_train_labels.npy")
	if err := npy.WriteFile(labels, []int{149}, truth.Index[:149]); err != nil {
		t.Fatal(err)
	}
	if _, err := MNIST(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "149 labels") {
		t.Errorf("149 labels for 150 images: %v", err)
	}
	if err := npy.WriteFile(labels, []int{150}, truth.Index); err != nil {
		t.Fatal(err)
	}
	for _, best := range []bool{false, true} {
		e, err := MNIST(Options{Dir: dir, Best: best, Splits: 3, Seed: 4, Labels: []int{20}, KNN: true})
		if err != nil {
			t.Fatal(err)
		}
		wantD, wantGraph := 100, knn.GraphSettings{K: 8}
		if best {
			wantD, wantGraph = BestDimensions, BestGraph
		}
		if n, d := e.X.Dims(); n != 150 || d != wantD || e.Graph != wantGraph || e.Pairs != 1000 || e.Splits != 3 || e.Seed != 4 || !e.KNN || e.GNN {
			t.Errorf("best %v: %d×%d, %+v", best, n, d, e)
		}
	}
	if _, err := MNIST(Options{Dir: dir, Limit: 1000}); err == nil {
		t.Error("a limit of 1000 bytes: no error")
	}
}

func TestNewsgroupsAndPhonemes(t *testing.T) {
	dir := t.TempDir()
	counts := &sparse.CSR{Rows: 4, Cols: 3, Ptr: []int64{0, 1, 1, 3, 4}, Col: []int32{0, 0, 2, 1}, Val: []float64{2, 1, 5, 1}}
	if err := sparse.WriteNPZ(filepath.Join(dir, "news20_full_X.npz"), counts, nil); err != nil {
		t.Fatal(err)
	}
	if err := npy.WriteArchive(filepath.Join(dir, "news20_full_y.npz"), []archive.Array{{Name: "y", Data: []int64{5, 6, 7, 5}}}); err != nil {
		t.Fatal(err)
	}
	e, err := Newsgroups(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	// The empty document is dropped with its label.
	if n, d := e.X.Dims(); n != 3 || d != 3 || !slices.Equal(e.Truth.Index, []int32{0, 2, 0}) || e.Metric != knn.Angle || e.Graph.K != 8 || e.Pairs != 2000 {
		t.Errorf("%d×%d, %+v", n, d, e)
	}
	if err := npy.WriteArchive(filepath.Join(dir, "phoneme_esl.npz"), []archive.Array{
		{Name: "X", Shape: []int{3, 2}, Data: []float32{1, 2, 3, 4, 5, 6}}, {Name: "y", Data: []int64{1, 2, 1}},
	}); err != nil {
		t.Fatal(err)
	}
	if e, err = Phonemes(Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if n, d := e.X.Dims(); n != 3 || d != 2 || !slices.Equal(e.Truth.Index, []int32{0, 1, 0}) || e.Graph.K != 10 || e.Metric != knn.Euclidean {
		t.Errorf("%d×%d, %+v", n, d, e)
	}
}

// TestMNISTReduced runs the first 3000 images of the real MNIST.
func TestMNISTReduced(t *testing.T) {
	dir := os.Getenv("BIGFIT_DATA")
	if dir == "" {
		t.Skip("BIGFIT_DATA is not set: it names the folder of the MNIST files, see CONTRIBUTING.md")
	}
	full, err := MNIST(Options{Dir: dir, Splits: 10, Seed: 1, KNN: true})
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int, 3000)
	for i := range rows {
		rows[i] = i
	}
	e := *full
	e.X, e.Truth, e.Pairs = data.Select(full.X, rows), full.Truth.Select(rows), 200
	e.Rows = []Row{
		{Labels: 50, PaperKNN: 37.6, Cells: []Cell{{Settings: eigenmap.Settings{Eigenvectors: 10}, Paper: 24.7}, {Name: "penalized", Settings: BestPenalty(50), Paper: math.NaN()}}},
		{Labels: 500, PaperKNN: 15.1, Cells: []Cell{{Settings: eigenmap.Settings{Eigenvectors: 50}, Paper: 3.6}, {Name: "penalized", Settings: BestPenalty(500), Paper: math.NaN()}}},
	}
	o := run(t, &e)
	t.Logf("\n%s", o.Table.Markdown())
	baseline := map[float64]float64{}
	for _, r := range o.Table.Select(results.Where{Key: "method", Is: "knn"}) {
		baseline[o.Table.Value(r, "labels").Number] = o.Table.Value(r, "error_mean").Number
	}
	for _, r := range o.Table.Select(results.Where{Key: "method", Is: "eigenmap"}) {
		// Fewer points than in the paper: worse, but below the baseline.
		labels, mean := o.Table.Value(r, "labels").Number, o.Table.Value(r, "error_mean").Number
		if !(mean < baseline[labels] && mean > 2) {
			t.Errorf("%v: error %.2f, baseline %.2f", r, mean, baseline[labels])
		}
	}
	if b := baseline[50]; !(b > 25 && b < 45) {
		t.Errorf("50 labels: baseline %.1f", b)
	}
	if b := baseline[500]; !(b > 10 && b < 20) {
		t.Errorf("500 labels: baseline %.1f", b)
	}
}
