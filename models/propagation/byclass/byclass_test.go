package byclass

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
)

// graphOf is the graph of the neighbours of n points on a curved surface, of points far away, and of an
// isolated point at the end.
func graphOf(t *testing.T, n int, weights knn.Weighting) *sparse.CSR {
	t.Helper()
	near := synthetic.Manifold(n*9/10, 8, 2, 0.01, 3)
	x := data.NewDense[float32](n-1, 8)
	copy(x.Data, near.Data)
	for i := near.Rows; i < n-1; i++ {
		x.Data[i*8] = 100 + float32(i%17)
		x.Data[i*8+1] = float32(i % 5)
		x.Data[i*8+2] = float32(i) / float32(n)
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, _, err := knn.NewGraph(context.Background(), ix, knn.GraphSettings{K: 7, Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	return &sparse.CSR{Rows: n, Cols: n, Ptr: append(slices.Clone(g.Ptr), g.Ptr[n-1]), Col: g.Col, Val: g.Val}
}

// targets are labels of so many classes at random points of the first 80 %.
func targets(t *testing.T, n, classes, labels int) *models.Targets {
	t.Helper()
	y := make([]int64, n)
	labeled := make([]bool, n)
	rng := rand.New(rand.NewPCG(7, 7))
	for q := range labels {
		i := rng.IntN(n * 8 / 10)
		y[i] = int64(10 * (q % classes))
		labeled[i] = true
	}
	out, err := models.ClassTargets(data.NewLabels(y, labeled))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func fit(t *testing.T, dir string, in *Input) (*Run, *Answers) {
	t.Helper()
	r, err := Open(dir, in, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for p := range in.Parts {
		if _, err := r.Part(context.Background(), p); err != nil {
			t.Fatal(err)
		}
	}
	a, err := r.Merge(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r, a
}

// The classes agree with the equations solved in double precision, except where two scores are nearly equal.
func TestAnswersAreThoseOfTheEquations(t *testing.T) {
	const n = 3000
	for _, method := range []propagation.Method{propagation.LGC, propagation.Harmonic} {
		for _, weights := range []knn.Weighting{knn.One, knn.SelfTuning} {
			for _, classes := range []int{2, 5, 23} {
				for _, parts := range []int{1, 2} {
					t.Run(fmt.Sprintf("%v %v %d classes %d parts", method, weights, classes, parts), func(t *testing.T) {
						w := graphOf(t, n, weights)
						y := targets(t, n, classes, 6*classes)
						exact, err := propagation.Fit(context.Background(), w, nil, y,
							&propagation.Settings{Method: method})
						if err != nil {
							t.Fatal(err)
						}
						_, got := fit(t, t.TempDir(), &Input{Graph: w, Targets: y, Parts: parts,
							Settings: propagation.Settings{Method: method}})
						if got.Residual > DefaultTolerance {
							t.Errorf("residual %g, above the tolerance", got.Residual)
						}
						if got.Unreached != exact.Unreached {
							t.Errorf("%d points out of reach, %d of the equations", got.Unreached, exact.Unreached)
						}
						for i, c := range exact.Labels {
							row := exact.Scores.RawRowView(i)
							top, sum := 0., 0.
							for _, v := range row {
								top = max(top, v)
								sum += v
							}
							if got.Labels[i] != c && row[got.Labels[i]] < 0.98*top {
								t.Errorf("point %d: class %d with %g, not %d with %g", i, got.Labels[i], row[got.Labels[i]], c, top)
							}
							if share := top / max(sum, 1e-300); sum > 0 && (float64(got.Shares[i]) < share-0.02 ||
								float64(got.Shares[i]) > share+0.02) {
								t.Errorf("point %d: share %g, %g of the equations", i, got.Shares[i], share)
							}
						}
					})
				}
			}
		}
	}
}

// Parts made in any order, by several runs, have the bits of one run; a part that is there is not made again.
func TestPartsInAnyOrder(t *testing.T) {
	const n, parts = 2000, 3
	w := graphOf(t, n, knn.One)
	in := &Input{Graph: w, Targets: targets(t, n, 7, 30), Parts: parts,
		Settings: propagation.Settings{Method: propagation.LGC}}
	_, want := fit(t, t.TempDir(), in)

	dir := t.TempDir()
	for _, p := range []int{2, 0, 2, 1} {
		r, err := Open(dir, in, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Merge(context.Background()); p != 1 {
			var lacks *checkpoint.MissingError
			if !errors.As(err, &lacks) {
				t.Fatalf("merge of some parts: %v", err)
			}
		}
		missing := slices.Contains(r.Missing(), p)
		made, err := r.Part(context.Background(), p)
		if err != nil || made != missing {
			t.Fatalf("part %d: made %t, missing %t, %v", p, made, missing, err)
		}
	}
	r, err := Open(dir, in, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Merge(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Labels, want.Labels) || !slices.Equal(got.Shares, want.Shares) {
		t.Error("parts in another order have other bits")
	}

	// Another graph, other labels and settings are refused.
	other := *in
	other.Settings.Alpha = 0.9
	if r, err = Open(dir, &other, 0, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Merge(context.Background()); err == nil || !strings.Contains(err.Error(), "alpha") {
		t.Errorf("other settings: %v", err)
	}
}

// A cancelled run leaves no part, and the next one makes it.
func TestCancelled(t *testing.T) {
	const n = 2000
	in := &Input{Graph: graphOf(t, n, knn.One), Targets: targets(t, n, 3, 30), Parts: 1,
		Settings: propagation.Settings{Method: propagation.LGC}}
	_, want := fit(t, t.TempDir(), in)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	stopped := *in
	stopped.Report = func(done, total float64, note string) {
		if strings.Contains(note, "step 9 ") {
			cancel()
		}
	}
	r, err := Open(dir, &stopped, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Part(ctx, 0); !errors.Is(err, context.Canceled) || !slices.Equal(r.Missing(), []int{0}) {
		t.Fatalf("%v, missing %v", err, r.Missing())
	}
	if _, got := fit(t, dir, in); !slices.Equal(got.Labels, want.Labels) {
		t.Error("other classes after an interruption")
	}
}

// A graph in order that was changed is an error, and nothing is read beyond its rows.
func TestChangedFiles(t *testing.T) {
	const n = 500
	in := &Input{Graph: graphOf(t, n, knn.SelfTuning), GraphName: "g", Targets: targets(t, n, 3, 30), Parts: 3,
		Settings: propagation.Settings{Method: propagation.LGC}}
	for _, name := range []string{"graph/indices.npy", "graph/data.npy", "graph/indptr.npy", "order.npz", "part-00001.npz"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fit(t, dir, in)
			path := filepath.Join(dir, name)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := len(raw) / 2; i < len(raw)/2+64; i++ {
				raw[i] = 0xee
			}
			if err := os.WriteFile(path, raw, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, "part-00002.npz")); err != nil {
				t.Fatal(err)
			}
			r, err := Open(dir, in, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = r.Part(context.Background(), 2); err == nil {
				_, err = r.Merge(context.Background())
			}
			if err == nil || !strings.Contains(err.Error(), dir) {
				t.Errorf("%s changed: %v", name, err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	w := graphOf(t, 300, knn.One)
	y := targets(t, 300, 3, 30)
	lgc := propagation.Settings{Method: propagation.LGC}
	for want, in := range map[string]Input{
		"poisson is not fitted by parts": {Targets: y, Parts: 1,
			Settings: propagation.Settings{Method: propagation.Poisson}},
		"4 parts of 3 classes":  {Targets: y, Parts: 4, Settings: lgc},
		"targets of 200 points": {Targets: targets(t, 200, 3, 30), Parts: 1, Settings: lgc},
		"single precision": {Targets: y, Parts: 1,
			Settings: propagation.Settings{Method: propagation.LGC, Tolerance: 1e-9}},
		"allows 5": {Targets: y, Parts: 1,
			Settings: propagation.Settings{Method: propagation.LGC, MaxIterations: 5}},
		"keep the best class": {Targets: y, Parts: 1,
			Settings: propagation.Settings{Method: propagation.LGC, Priors: []float64{1, 2, 3}}},
	} {
		in.Graph = w
		if _, err := Open(t.TempDir(), &in, 0, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}

	// A graph that is not symmetric is refused before it is ordered.
	broken := &sparse.CSR{Rows: 300, Cols: 300, Ptr: slices.Clone(w.Ptr), Col: slices.Clone(w.Col)}
	broken.Col[0]++
	r, err := Open(t.TempDir(), &Input{Graph: broken, GraphName: "g.npz", Targets: y, Parts: 1, Settings: lgc}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Part(context.Background(), 0); err == nil || !strings.Contains(err.Error(), "g.npz") {
		t.Errorf("graph that is not symmetric: %v", err)
	}
}
