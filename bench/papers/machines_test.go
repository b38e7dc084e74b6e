package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// blobs draws n points of c classes, in turn, about centres on the axes.
func blobs(n, c, d int, distance float64) (x []float64, y []int64) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(c)))
	for i := range n {
		for j := range d {
			v := rng.NormFloat64()
			if j == i%c {
				v += distance
			}
			x = append(x, v)
		}
		y = append(y, int64(i%c))
	}
	return x, y
}

// draws are count lists of l rows below n.
func draws(n, l, count int) (rows []int64) {
	for i := range count {
		for j := range l {
			rows = append(rows, int64((i*7+j)%n))
		}
	}
	return rows
}

func write(t *testing.T, dir, name string, entries ...archive.Array) {
	t.Helper()
	if err := npy.WriteArchive(filepath.Join(dir, name), entries); err != nil {
		t.Fatal(err)
	}
}

func matrix(name string, rows int, values any, length int) archive.Array {
	return archive.Array{Name: name, Shape: []int{rows, length / rows}, Data: values}
}

// cell returns the error of a method in a row, and the remark about it.
func cell(t *testing.T, table *results.Table, row, method string) (errs results.Value, remark string) {
	t.Helper()
	i := slices.IndexFunc(table.Records, func(r results.Record) bool {
		return table.Value(r, "row").Text == row && table.Value(r, "method").Text == method
	})
	if i < 0 {
		t.Fatalf("no %s, %s in\n%s", row, method, table.Markdown())
	}
	return table.Value(table.Records[i], "error_mean"), table.Value(table.Records[i], "note").Text
}

func checkCells(t *testing.T, table *results.Table, want int) {
	t.Helper()
	if len(table.Records) != want {
		t.Errorf("%d cells, want %d", len(table.Records), want)
	}
	for _, r := range table.Records {
		if v := table.Value(r, "error_mean"); !(v.Number >= 0 && v.Number <= 100 && v.Deviation >= 0) {
			t.Errorf("%+v", r)
		}
	}
}

func TestMoons(t *testing.T) {
	dir := t.TempDir()
	x, y := synthetic.TwoMoons(160, 0.05, 1)
	xt, yt := synthetic.TwoMoons(120, 0.05, 2)
	write(t, dir, "sindhwani_2moons.npz", matrix("X", 160, x.Data, 320), archive.Array{Name: "y", Data: y.Index},
		matrix("Xt", 120, xt.Data, 240), archive.Array{Name: "yt", Data: yt.Index})
	obs := &observer{t: t}
	table, err := Moons(context.Background(), Options{Dir: dir, Seed: 1}, obs)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(obs.stages, []string{"data", "machines"}) || obs.open != "" {
		t.Errorf("stages %v, %q open", obs.stages, obs.open)
	}
	checkCells(t, table, 2*4*len(moonsWeights))
	for _, m := range []string{"LapSVM, X", "LapSVM, Xt", "LapRLS, X", "LapRLS, Xt"} {
		if r, _ := cell(t, table, "γ_I = 10", m); !(r.Number <= 1) {
			t.Errorf("error %v", r)
		}
		if r, _ := cell(t, table, "γ_I = 10", strings.Replace(m, ",", " with D − W,", 1)); r.Number != 0 {
			t.Errorf("error %v with D − W", r)
		}
		if r, _ := cell(t, table, "γ_I = 0", m); !(r.Number > 5) {
			t.Errorf("without a graph: %v", r)
		}
	}
}

func TestDigitPairs(t *testing.T) {
	dir := t.TempDir()
	x, y := blobs(300, 3, 12, 40) // of the size of the pixels of digits
	write(t, dir, "usps_X.npz", matrix("X", 300, x, len(x)))
	if err := npy.WriteFile(filepath.Join(dir, "usps_y.npy"), []int{300}, y); err != nil {
		t.Fatal(err)
	}
	table, err := DigitPairs(context.Background(), Options{Dir: dir, Seed: 1}, &observer{t: t})
	if err != nil {
		t.Fatal(err)
	}
	checkCells(t, table, 2*7*(1+3))
	for i := range pairMachines {
		m := &pairMachines[i]
		if r, _ := cell(t, table, "0 and 2, test", m.column()); !(r.Number <= 5) {
			t.Errorf("%s: %v", m.column(), r)
		}
		var mean float64
		for _, pair := range []string{"0 and 1", "0 and 2", "1 and 2"} {
			r, _ := cell(t, table, pair+", unlabeled", m.column())
			mean += r.Number / 3
		}
		if r, remark := cell(t, table, "mean over pairs, unlabeled", m.column()); !(math.Abs(r.Number-mean) <= 1e-9) || (remark != "") != m.graph {
			t.Errorf("%s: %v, by hand %v; %q", m.column(), r, mean, remark)
		}
	}
}

func TestIsolet(t *testing.T) {
	dir := t.TempDir()
	const each = 8 // utterances of a speaker
	n := 61 * each
	x, y := blobs(n, 4, 6, 20)
	speaker := make([]int32, n)
	for i := range speaker {
		speaker[i] = int32(i / each)
	}
	write(t, dir, "isolet.npz", matrix("X", n, x, len(x)), archive.Array{Name: "y", Data: y}, archive.Array{Name: "speaker", Data: speaker})
	table, err := Isolet(context.Background(), Options{Dir: dir}, &observer{t: t})
	if err != nil {
		t.Fatal(err)
	}
	checkCells(t, table, 6+8*4) // three machines without a graph, two with eight
	for _, r := range table.Records {
		if v := table.Value(r, "error_mean"); !(v.Number <= 1) || !(v.Published > 20) {
			t.Errorf("%+v", r)
		}
	}
	cell(t, table, "test, 10 neighbours, p = 2", "LapRLS")
}

// smaller makes a grid quick for the time of a test.
func smaller(t *testing.T, v *grid) {
	old := *v
	t.Cleanup(func() { *v = old })
	v.widths = []float64{0.5, 1}
}

func TestPointCloud(t *testing.T) {
	smaller(t, &pointCloudGrid)
	dir := t.TempDir()
	x, y := blobs(90, 2, 3, 4)
	splits := matrix("idxLabs", 3, draws(90, 10, 3), 30)
	set := []archive.Array{matrix("X", 90, x, len(x)), {Name: "y", Data: y}}
	for _, name := range []string{"sindhwani_g50c.npz", "sindhwani_uspst.npz"} {
		write(t, dir, name, append(set, splits)...)
	}
	write(t, dir, "sindhwani_text1_X.npz", set[0])
	write(t, dir, "sindhwani_text1_y_splits.npz", set[1], splits)
	x, y = blobs(80, 4, 5, 6)
	write(t, dir, "coil20.npz", matrix("X", 80, x, len(x)), archive.Array{Name: "y", Data: y})
	table, err := PointCloud(context.Background(), Options{Dir: dir, Seed: 2}, &observer{t: t})
	if err != nil {
		t.Fatal(err)
	}
	// Four machines, Graph-Trans and two TSVMs a set; the common choice has no TSVM, and heat weights have
	// neither SVM, RLS nor TSVM without a graph. All labels: two machines a set.
	checkCells(t, table, (4*7+7+4)+(4*5+5+3)+4*2)
	if first := table.Value(table.Records[0], "row").Text; first != "g50c, each draw's own choice" {
		t.Errorf("the first row is %q", first)
	}
	r, remark := cell(t, table, "coil20, one choice by the labels of all draws", "LapSVM")
	if !(r.Number <= 10) || r.Published != 4 || !strings.Contains(remark, "neighbours") {
		t.Errorf("%+v, %q", r, remark)
	}
	if _, remark := cell(t, table, "coil20, 10 neighbours, heat weights"+oneChoice, "LapRLS"); !strings.Contains(remark, "10 neighbours, p = ") || !strings.Contains(remark, "mean edges") {
		t.Errorf("heat weights: %q", remark)
	}
	if _, remark := cell(t, table, "coil20"+oneChoice, "LapRLS"); strings.Contains(remark, "mean edges") {
		t.Errorf("the paper's grid: %q", remark)
	}
	for _, m := range []string{"Graph-Trans", "TSVM", "TSVM, warped"} {
		if r, _ := cell(t, table, "coil20"+ownChoice, m); !(r.Number <= 10) || (m == "TSVM, warped") != math.IsNaN(r.Published) {
			t.Errorf("%s: %+v", m, r)
		}
	}
	if r, remark := cell(t, table, "g50c, all labels", "RLS"); !(r.Number <= 5) || r.Published != 4 || !strings.Contains(remark, "σ = ") {
		t.Errorf("%+v, %q", r, remark)
	}
	if r, _ := cell(t, table, "coil20, all labels", "SVM"); r.Published != 0 {
		t.Errorf("%+v, the paper has 0.0", r)
	}
	again, err := PointCloud(context.Background(), Options{Dir: dir, Seed: 2}, &observer{t: t})
	if err != nil || fmt.Sprint(table.Records) != fmt.Sprint(again.Records) {
		t.Errorf("the second run differs: %v", err)
	}
}

func TestSSLBook(t *testing.T) {
	smaller(t, &sslBookGrid)
	old := sslBookSets
	t.Cleanup(func() { sslBookSets = old })
	sslBookSets = []string{"digit1", "text"}
	dir := t.TempDir()
	x, y := blobs(120, 2, 4, 5)
	splits := []archive.Array{matrix("idxLabs10", 2, draws(120, 10, 2), 20), matrix("idxLabs100", 2, draws(120, 40, 2), 80)}
	set := []archive.Array{matrix("X", 120, x, len(x)), {Name: "y", Data: y}}
	write(t, dir, "sslbook_digit1.npz", append(set, splits...)...)
	write(t, dir, "sslbook_text_X.npz", set[0])
	write(t, dir, "sslbook_text_y_splits.npz", append(splits, set[1])...)
	table, err := SSLBook(context.Background(), Options{Dir: dir, Seed: 2}, &observer{t: t})
	if err != nil {
		t.Fatal(err)
	}
	checkCells(t, table, 2*2*(4+11))
	for _, m := range []string{"SVM", "RLS", "LapSVM", "LapRLS", "TSVM", "1-NN", "harmonic", "lgc", "poisson", "eigenmap", "eigenmap, penalized"} {
		a, _ := cell(t, table, "digit1, 100 labels, one choice by the labels of all draws", m)
		b, _ := cell(t, table, "text, 100 labels, one choice by the labels of all draws", m)
		if a.Number != b.Number || !(a.Number <= 2) || !math.IsNaN(a.Published) {
			t.Errorf("%+v, %+v", a, b)
		}
	}
}

// The search equals fits on the folds one by one.
func TestGridSearchScore(t *testing.T) {
	values, _ := blobs(60, 3, 3, 2)
	x := &data.Dense[float64]{Rows: 60, Cols: 3, Data: values}
	_, classes := blobs(60, 3, 3, 2)
	truth := data.NewLabels(classes, nil)
	drawn := keep(truth, [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 20, 31, 45}, {10, 11, 12, 13, 14, 15, 16, 20}})
	g, err := newGridSearch(truth, drawn, 3)
	if err != nil {
		t.Fatal(err)
	}
	v := grid{widths: []float64{1}, graphs: binary(5), norms: []regularizer.Regularizer{{GammaA: 1e-3, GammaI: 0.1, Power: 2, Laplacian: sparse.Normalized}}}
	if err := v.search(context.Background(), x, Options{}, &observer{t: t}, g); err != nil {
		t.Fatal(err)
	}
	for i, y := range drawn {
		for j, m := range machines {
			c := g.choice[i][j]
			k := &fixedKernel{x, c.setting}
			targets, err := models.ClassTargets(y)
			if err != nil {
				t.Fatal(err)
			}
			var want score
			for _, split := range g.splits[i] {
				var train []int
				for a := range targets.Labeled {
					if !slices.Contains(split.Held, a) {
						train = append(train, a)
					}
				}
				f := k.outputs(t, targets.Keep(train), m.settings(c.setting.reg))
				each := 1 / float64(len(g.splits[i])*len(split.Held))
				for _, a := range split.Held {
					f, y := f.RawRowView(targets.Labeled[a]), targets.Y.RawRowView(a)
					if slices.Index(f, slices.Max(f)) != slices.Index(y, 1) {
						want.wrong += each
					}
					for c, v := range f {
						if gap := 1 - y[c]*v; m.method == kernelmachine.RLS {
							want.loss += gap * gap * each
						} else {
							want.loss += max(0, gap) * each
						}
					}
				}
			}
			if !(math.Abs(c.wrong-want.wrong) <= 1e-12 && math.Abs(c.loss-want.loss) <= 0.01*want.loss) {
				t.Errorf("draw %d, %s: %+v, by hand %v", i, m.name, c, want)
			}
			if e := wrong(k.outputs(t, targets, m.settings(c.setting.reg)), truth, y); !(math.Abs(e-c.errors[0]) <= 1e-9) {
				t.Errorf("draw %d, %s: error %v, by hand %v", i, m.name, c.errors[0], e)
			}
		}
	}
}

// fixedKernel fits with one setting, through the points.
type fixedKernel struct {
	x data.Points
	s setting
}

func (k *fixedKernel) outputs(t *testing.T, targets *models.Targets, s kernelmachine.Settings) *mat.Dense {
	t.Helper()
	nb, err := Neighbors(context.Background(), k.x, 5)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Laplacian(nb, knn.GraphSettings{K: 5}, sparse.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	m, err := kernelmachine.Fit(context.Background(), &kernelmachine.Data{Points: k.x, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: k.s.sigma}, Laplacian: l}, targets, &s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(context.Background(), k.x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.Scores
}

func TestBreakEven(t *testing.T) {
	truth := data.NewLabels([]int64{1, 1, 1, 2, 2, 2, 2}, nil)
	f := mat.NewDense(7, 1, []float64{-3, -2, 9, -1, 8, 7, -5})
	drawn := truth.Keep([]int{6})
	// Three of six are positive; of the highest three, 9 is not.
	if _, e, _, err := breakEven(mat.Col(nil, 0, f), truth, drawn); err != nil || !(math.Abs(e-100.0/3) <= 1e-12) {
		t.Errorf("%v, %v", e, err)
	}
	if e := wrong(f, truth, nil); !(math.Abs(e-300.0/7) <= 1e-12) {
		t.Errorf("error %v", e)
	}
}

func TestReadSet(t *testing.T) {
	dir := t.TempDir()
	if _, _, _, err := ReadSet(Options{Dir: dir}, SetsOrigin, "a.npz", "a.npz", "idxLabs"); err == nil || !strings.Contains(err.Error(), "a.npz") {
		t.Errorf("no file: %v", err)
	}
	x, y := blobs(6, 2, 2, 1)
	write(t, dir, "a.npz", matrix("X", 6, x, len(x)), archive.Array{Name: "y", Data: y}, matrix("idxLabs", 2, []int64{0, 1, 2, 6}, 4))
	if _, _, _, err := ReadSet(Options{Dir: dir}, SetsOrigin, "a.npz", "a.npz", "idxLabs"); err == nil || !strings.Contains(err.Error(), "draw 1 of idxLabs labels point 6, there are 6") {
		t.Errorf("a point that is not there: %v", err)
	}
}

func TestMachineTable(t *testing.T) {
	table := MachineTable([]results.Record{
		MachineRecord("g50c", "SVM", []float64{8, 10}, 9.7, ""),
		MachineRecord("g50c", "LapSVM", []float64{5.16}, 5.4, "50 neighbours"),
		MachineRecord("coil20", "LapSVM", []float64{0}, 0, ""),
	}, "the grid is ours")
	want := `| error % | SVM | LapSVM |
|---|---|---|
| g50c | 9.00 ± 1.41 (9.7) | 5.16 ± 0.00 (5.4) |
| coil20 | | 0.00 ± 0.00 |

* g50c, LapSVM: 50 neighbours
* the grid is ours
`
	if got := table.Markdown(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	checkJSON(t, table, `[{"row":"g50c","method":"SVM","error_mean":9,"error_std":1.4142135623730951,"paper":9.7},
		{"row":"g50c","method":"LapSVM","error_mean":5.16,"error_std":0,"paper":5.4,"note":"50 neighbours"},
		{"row":"coil20","method":"LapSVM","error_mean":0,"error_std":0,"paper":null}]`)
	bars := table.Drawings()
	if want := (results.Drawing{Title: "g50c", YLabel: "error, %", Unit: "%", Bars: []results.Bar{{Name: "SVM", Value: 9, Deviation: math.Sqrt2, Published: 9.7}, {Name: "LapSVM", Value: 5.16, Published: 5.4}}}); len(bars) != 2 || !reflect.DeepEqual(bars[0], want) {
		t.Errorf("bars %+v", bars)
	}
}

// Graph-Trans minimizes its objective: at the minimum the gradient vanishes, for each output.
func TestGraphTrans(t *testing.T) {
	values, classes := blobs(60, 3, 3, 2)
	x := &data.Dense[float64]{Rows: 60, Cols: 3, Data: values}
	nb, err := Neighbors(t.Context(), x, 6)
	if err != nil {
		t.Fatal(err)
	}
	for _, graph := range []gridGraph{{neighbors: 6}, {neighbors: 6, width: 0.5, mutual: true}} {
		l, err := graph.laplacian(nb, sparse.Normalized)
		if err != nil {
			t.Fatal(err)
		}
		dense := l.Form(1, nil, nil).ToDense()
		labeled := []int{0, 7, 8, 20, 31, 45}
		targets, err := models.ClassTargets(data.NewLabels(classes, nil).Keep(labeled))
		if err != nil {
			t.Fatal(err)
		}
		kernels, err := graphKernels(t.Context(), l, []regularizer.Regularizer{{GammaI: 0.02, Power: 1}, {GammaI: 0.1, Power: 3}}, labeled)
		if err != nil {
			t.Fatal(err)
		}
		for i, power := range []int{1, 3} {
			f, err := kernels[i].fit([]int{0, 1, 2, 3, 4, 5}, labeled, data.Range(0, 60), targets.Y)
			if err != nil {
				t.Fatal(err)
			}
			var gradient mat.Dense
			gradient.CloneFrom(f)
			for range power {
				gradient.Mul(dense, mat.DenseCopyOf(&gradient))
			}
			gradient.Scale(kernels[i].gamma, &gradient)
			for a, p := range labeled {
				for c := range 3 {
					gradient.Set(p, c, gradient.At(p, c)-(targets.Y.At(a, c)-f.At(p, c))/6)
				}
			}
			if most := mat.Norm(&gradient, math.Inf(1)); !(most <= 1e-6) {
				t.Errorf("%+v, p = %d: the gradient is %g", graph, power, most)
			}
		}
	}
}
