package figures

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/stage"
)

// silent is an observer that says nothing.
type silent struct{ stage.Observer }

func (silent) Begin(string)                  {}
func (silent) Update(_, _ float64, _ string) {}
func (silent) End(string)                    {}

// moonsIn writes two moons to a folder.
func moonsIn(t *testing.T) papers.Options {
	t.Helper()
	dir := t.TempDir()
	x, y := synthetic.TwoMoons(120, 0.03, 1)
	xt, yt := synthetic.TwoMoons(40, 0.03, 2)
	err := npy.WriteArchive(filepath.Join(dir, moonsFile), []archive.Array{
		{Name: "X", Shape: []int{120, 2}, Data: x.Data}, {Name: "y", Data: y.Index}, {Name: "Xt", Shape: []int{40, 2}, Data: xt.Data}, {Name: "yt", Data: yt.Index}})
	if err != nil {
		t.Fatal(err)
	}
	return papers.Options{Dir: dir, Seed: 1}
}

// number returns the value of the record whose texts and numbers are those wanted.
func number(t *testing.T, table *results.Table, key string, want map[string]any) float64 {
	t.Helper()
	for _, r := range table.Records {
		same := true
		for k, w := range want {
			switch v := table.Value(r, k); w := w.(type) {
			case string:
				same = same && v.Text == w
			case float64:
				same = same && v.Number == w
			}
		}
		if same {
			return table.Value(r, key).Number
		}
	}
	t.Fatalf("no record of %v in\n%s", want, table.Markdown())
	return 0
}

// LapSVM finds the moons from one label each, SVM cannot; best, median and worst are in order.
func TestBoundaries(t *testing.T) {
	table, pictures, err := Boundaries(t.Context(), moonsIn(t), silent{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{"SVM", "TSVM", "LapSVM"} {
		var e []float64
		for _, row := range []string{"best by all labels", "median of the grid", "worst of the grid"} {
			e = append(e, number(t, table, "error_mean", map[string]any{"row": row, "method": m}))
		}
		if !slices.IsSorted(e) || m == "LapSVM" && !(e[0] <= 1) || m == "SVM" && !(e[0] > 10) {
			t.Errorf("%s: %v", m, e)
		}
	}
	if len(pictures) != 1 || len(pictures[0].Charts) != 3 {
		t.Fatalf("%d pictures", len(pictures))
	}
	for _, c := range pictures[0].Charts {
		if s := c.(*chart.Surface); len(s.Marked) != 2 || len(s.Areas) != s.Columns*s.Rows {
			t.Errorf("%s: %d labeled points", s.Title, len(s.Marked))
		}
		if _, err := c.Draw(); err != nil {
			t.Error(err)
		}
	}
}

// Moons fall apart where the ambient norm is small, later points with them; the colours of
// the areas are those of the classes.
func TestClustering(t *testing.T) {
	table, pictures, err := Clustering(t.Context(), moonsIn(t), silent{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(table.Records); n != 2*len(clusterGammas) {
		t.Fatalf("%d records", n)
	}
	for _, key := range []string{"error", "later_error"} {
		if v := number(t, table, key, map[string]any{"set": "two moons", "gamma": 1e-4}); !(v <= 5) {
			t.Errorf("two moons, %s %v %%", key, v)
		}
		if v := number(t, table, key, map[string]any{"set": "two spirals", "gamma": 1e-4}); !(v <= 10) {
			t.Errorf("two spirals, %s %v %%", key, v)
		}
	}
	if len(pictures) != 4 {
		t.Fatalf("%d pictures", len(pictures))
	}
	for _, p := range pictures {
		for _, c := range p.Charts {
			if _, err := c.Draw(); err != nil {
				t.Errorf("%s: %v", p.Title, err)
			}
			s, ok := c.(*chart.Surface)
			if !ok || p.Title != "Regularized spectral clustering, two moons" || !strings.Contains(s.Title, "0.0001") {
				continue
			}
			same := 0
			for i := range s.X {
				column, row := int(float64(s.Columns)*(s.X[i]-s.Left)/(s.Right-s.Left)), int(float64(s.Rows)*(s.Y[i]-s.Bottom)/(s.Top-s.Bottom))
				if s.Areas[row*s.Columns+column] == s.Class[i] {
					same++
				}
			}
			if same < len(s.X)*9/10 {
				t.Errorf("%d of %d points are in an area of their colour", same, len(s.X))
			}
		}
	}
}

// The printed power is that of the eigenvalues, and the bound touches them from above.
func TestDecay(t *testing.T) {
	x := data.NewDense[float64](80, 3)
	for i := range x.Data {
		x.Data[i] = math.Mod(float64(i)*0.754877666, 1)
	}
	for _, c := range []struct {
		sigma float64
		count int
		say   string
	}{{0.3, 30, "; 200 were asked for"}, {8, 60, "no others are above the cut"}} {
		f, err := eigenfunction.New(t.Context(), kernel.Source{Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: c.sigma}, Points: x}, &eigenfunction.FunctionSettings{Count: c.count})
		if err != nil {
			t.Fatal(err)
		}
		table := decayTable()
		addDecay(table, "set", 1000, f)
		curves := map[string][]float64{}
		for _, r := range table.Records {
			name, _, _ := strings.Cut(table.Value(r, "curve").Text, " ")
			curves[name] = append(curves[name], table.Value(r, "value").Number)
		}
		if !slices.Equal(curves["eigenvalues"], f.Values) {
			t.Error("other eigenvalues")
		}
		touched := false
		for k, v := range curves["paper"] {
			if v < f.Values[k]*(1-1e-12) {
				t.Errorf("eigenvalue %d, %v, is above the bound %v", k+1, f.Values[k], v)
			}
			touched = touched || v <= f.Values[k]*(1+1e-12)
		}
		if !touched {
			t.Error("the bound touches no eigenvalue")
		}
		if note := strings.Join(table.Notes, "\n"); !strings.Contains(note, c.say) {
			t.Errorf("no %q in %s", c.say, note)
		}
	}
}

// digits is a set of drawn digits with as many held out.
func digits(n int) *Subsets {
	x, truth := synthetic.Digits(2*n, 5)
	rows, rest := data.Range(0, n), data.Range(n, 2*n)
	e := &papers.Experiment{Name: "digits", X: data.Select(x, rows), Truth: truth.Select(rows), Graph: knn.GraphSettings{K: 6}, Pairs: 30, Splits: 2, Seed: 1,
		Rows: []papers.Row{
			{Labels: 50, PaperKNN: 40, Cells: []papers.Cell{{Settings: eigenmap.Settings{Eigenvectors: 10}, Paper: 30}, {Settings: eigenmap.Settings{Eigenvectors: 20}, Paper: 35}}},
			{Labels: 150, PaperKNN: math.NaN(), Cells: []papers.Cell{{Settings: eigenmap.Settings{Eigenvectors: 20}, Paper: 20}}},
		}}
	return &Subsets{Base: e, Figure: "Figure 2", Sizes: []int{100}, Geodesic: 100, Test: data.Select(x, rest), TestTruth: truth.Select(rest)}
}

func TestSubsets(t *testing.T) {
	s := digits(300)
	table, err := s.Run(t.Context(), silent{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range table.Grids() {
		got = append(got, strings.Join(g.Header, " | "))
	}
	want := []string{
		"labels | eigenmap, 300 points | best k-NN, 300 points | eigenmap, 100 points",
		"labels | eigenmap | best k-NN | best k-GNN",
		"labels | eigenmap, unlabeled points | 3-NN of its answers, test points | best k-NN, test points",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// The paper's cell of 20 % of 50 labels is that of 10 eigenvectors; 150 has none.
	for _, r := range table.Records {
		published := table.Value(r, "error_mean").Published
		if all := table.Value(r, "figure").Text == "Figure 2" && table.Value(r, "curve").Text == "eigenmap, 300 points"; all && table.Value(r, "labels").Number == 50 {
			if published != 30 {
				t.Errorf("beside %v", published)
			}
		} else if all && !math.IsNaN(published) {
			t.Errorf("150 labels beside %v", published)
		}
	}
	// What the eigenmap says of all points serves the test points about as well.
	inside := number(t, table, "error_mean", map[string]any{"figure": heldOutFigure, "labels": 150.0, "curve": "eigenmap, unlabeled points"})
	outside := number(t, table, "error_mean", map[string]any{"figure": heldOutFigure, "labels": 150.0, "curve": "3-NN of its answers, test points"})
	if !(math.Abs(inside-outside) < 15) {
		t.Errorf("%v %% of the unlabeled points are wrong, and %v %% of the test points", inside, outside)
	}
	if d := table.Drawings(); len(d) != 3 || len(d[0].Curves) != 3 {
		t.Errorf("%d drawings", len(d))
	}
	s.Base.Labels = []int{150}
	if _, err := s.Run(t.Context(), silent{}); err == nil || !strings.Contains(err.Error(), "100 points") {
		t.Errorf("a subset without a row: %v", err)
	}
}

// Lists of neighbours give the voters that a search among the labeled points gives.
func TestLabeledNeighbors(t *testing.T) {
	s := digits(200)
	y, err := s.Base.Truth.Draw(40, 3)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := knn.NewBrute(s.Base.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got [3][][]int32
	for i, k := range []int{1, 30, 200} {
		nb, err := ix.Query(t.Context(), s.Test, k)
		if err != nil {
			t.Fatal(err)
		}
		if got[i], err = s.labeledNeighbors(t.Context(), s.Base, nb, y); err != nil {
			t.Fatal(err)
		}
	}
	for p := range got[0] {
		if len(got[0][p]) != 5 || !slices.Equal(got[0][p], got[1][p]) || !slices.Equal(got[0][p], got[2][p]) {
			t.Fatalf("point %d: %v, %v and %v", p, got[0][p], got[1][p], got[2][p])
		}
	}
}

// Data that are not there, and moons that are none, are said.
func TestFiguresOfBadData(t *testing.T) {
	dir := t.TempDir()
	o := papers.Options{Dir: dir}
	for name, run := range map[string]func(context.Context, papers.Options) error{
		"decay": func(ctx context.Context, o papers.Options) error { _, _, err := Decay(ctx, o, silent{}); return err },
		"boundaries": func(ctx context.Context, o papers.Options) error {
			_, _, err := Boundaries(ctx, o, silent{})
			return err
		},
		"clustering": func(ctx context.Context, o papers.Options) error {
			_, _, err := Clustering(ctx, o, silent{})
			return err
		},
	} {
		if err := run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "has none of") {
			t.Errorf("%s: %v", name, err)
		}
	}
	three := []float64{1, 2, 3, 4, 5, 6}
	if err := npy.WriteArchive(filepath.Join(dir, moonsFile), []archive.Array{{Name: "X", Shape: []int{2, 3}, Data: three}, {Name: "y", Data: []int32{0, 1}}}); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		func() error { _, _, err := Boundaries(t.Context(), o, silent{}); return err }(),
		func() error { _, _, err := Clustering(t.Context(), o, silent{}); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "2 columns") {
			t.Errorf("moons of three columns: %v", err)
		}
	}
}

// The curve runs through both classes at even speed, and two eigenfunctions run around it as the ideal
// representation does; the nearest labeled point errs less there than in the plane.
func TestCurve(t *testing.T) {
	table, pictures, err := Curve(t.Context(), papers.Options{Seed: 1, Splits: 10}, silent{})
	if err != nil {
		t.Fatal(err)
	}
	value := func(space, key string) float64 {
		records := table.Select(results.Where{Key: "space", Is: space})
		if len(records) != 1 {
			t.Fatalf("%d records of %s", len(records), space)
		}
		return table.Value(records[0], key).Number
	}
	in, on := value("plane", "error"), value("two eigenfunctions", "error")
	if !(on < in/2 && in > 15) {
		t.Errorf("errors %v in the plane and %v by eigenfunctions", in, on)
	}
	if degrees := value("two eigenfunctions", "degrees"); !(degrees < 30) {
		t.Errorf("%v degrees from the ideal representation", degrees)
	}
	if len(pictures) != 1 || len(pictures[0].Charts) != 6 {
		t.Errorf("%d pictures", len(pictures))
	}

	// The angle of the ideal representation is the place, whichever way and from wherever it runs.
	x, _, place := randomCurve(50, 3)
	for i, s := range place {
		x.Row(i)[0], x.Row(i)[1] = math.Cos(1-2*math.Pi*s), math.Sin(1-2*math.Pi*s)
	}
	if d := turned(x, place); !(d <= 1e-6) {
		t.Errorf("a turned circle is %v degrees off", d)
	}
}
