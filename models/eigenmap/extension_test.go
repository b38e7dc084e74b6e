package eigenmap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/pca"
	"github.com/bigfit/bigfit/sparse"
)

// fitted puts a model and its training points together.
func fitted(t testing.TB, p *modeltest.Problem, y *data.Labels, s *Settings) *Model {
	t.Helper()
	m := fit(t, p, y, s)
	n, _ := p.Eigs.Vectors.Dims()
	return &Model{
		Classifier: m,
		Labels:     m.Transduce(p.Eigs, p.C, y),
		Vectors:    mat.DenseCopyOf(m.Select(p.Eigs.Vectors).Slice(0, n, 0, len(m.Values))),
		Laplacian:  p.L.Kind(),

		Neighborhood: p.Graph().Keep(),
	}
}

// TestExtendTrainingPoint: row i of the eigenvalue equation has x_i's own
// neighbours on one side and e(x_i) on the other. In the complete graph they are
// all other points, so the extension returns e(x_i) itself, up to rounding and
// the residual of the eigenpair.
func TestExtendTrainingPoint(t *testing.T) {
	const n = 40
	x, truth := synthetic.TwoMoons(n, 0.1, 2)
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized, sparse.RandomWalk} {
		for _, edges := range []knn.GraphSettings{{Weights: knn.One}, {Weights: knn.Heat}, {Symmetry: sparse.Sum}} {
			t.Run(fmt.Sprint(kind, edges.Weights, edges.Symmetry), func(t *testing.T) {
				edges.K = n - 1
				p := modeltest.NewProblem(t, x, edges, kind, n)
				m := fitted(t, p, truth.Keep([]int{0, 1, 2, 3}), &Settings{Eigenvectors: n})
				ix, err := knn.NewBrute(x, nil)
				if err != nil {
					t.Fatal(err)
				}
				nb, err := ix.Self(context.Background(), n-1)
				if err != nil {
					t.Fatal(err)
				}
				w, err := m.Weights(t.Context(), nb)
				if err != nil {
					t.Fatal(err)
				}
				exact := 0
				for i := range n {
					e := make([]float64, n)
					index, _ := nb.Row(i)
					m.extension().extend(e, index, w[i*nb.K:(i+1)*nb.K])
					total := 1.0
					if kind == sparse.Combinatorial {
						total = m.Degrees[i]
					}
					for j, v := range e {
						want := m.Vectors.At(i, j)
						if m.Values[j] > 0.9*total {
							want = 0
						} else {
							exact++
						}
						if !(math.Abs(v-want) <= 1e-9) {
							t.Fatalf("eigenvector %d (λ = %.3g) at point %d: %v, want %v", j, m.Values[j], i, v, want)
						}
					}
				}
				if exact < n {
					t.Errorf("only %d values are extended", exact)
				}
			})
		}
	}
}

// TestExtendCircle uses the eigenvectors of a cycle of n points on a circle,
// √(2/n)·cos jθ with λ = 2 − 2 cos θ and θ a multiple of 2π/n. Between points j
// and j+1 the extension is the sum of both over 2 − λ:
// √(2/n)·cos((j+½)θ)·cos(θ/2)/cos θ.
func TestExtendCircle(t *testing.T) {
	const n, harmonic = 60, 2
	x := data.NewDense[float64](n, 2)
	at := func(row []float64, j float64) { row[0], row[1] = math.Cos(2*math.Pi*j/n), math.Sin(2*math.Pi*j/n) }
	theta := 2 * math.Pi * harmonic / n
	e := mat.NewDense(n, 1, nil)
	labels, degrees := make([]int32, n), make([]float64, n)
	for j := range n {
		at(x.Row(j), float64(j))
		e.Set(j, 0, math.Sqrt(2./n)*math.Cos(theta*float64(j)))
		degrees[j] = 2
	}
	m := &Model{
		Classifier: &Classifier{
			Settings: Settings{Eigenvectors: 1}, Classes: []int64{0, 1},
			Values: []float64{2 - 2*math.Cos(theta)}, Coefficients: mat.NewDense(1, 1, []float64{3}),
		},
		Labels: labels, Vectors: e, Neighborhood: models.Neighborhood{Degrees: degrees, Points: x, Edges: knn.GraphSettings{K: 2}},
	}
	between := data.NewDense[float64](n, 2)
	for j := range n {
		at(between.Row(j), float64(j)+0.5)
	}
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized, sparse.RandomWalk} {
		m.Laplacian = kind
		m.Values[0] = 2 - 2*math.Cos(theta)
		if kind != sparse.Combinatorial {
			m.Values[0] /= 2 // all degrees are 2
		}
		got, err := m.Predict(context.Background(), between, &models.PredictSettings{Extension: models.Nystrom})
		if err != nil {
			t.Fatal(err)
		}
		for j := range n {
			want := math.Sqrt(n) * 3 * math.Sqrt(2./n) * math.Cos(theta*(float64(j)+0.5)) * math.Cos(theta/2) / math.Cos(theta)
			if v := got.Scores.At(j, 1); !(math.Abs(v-want) <= 1e-12) || got.Scores.At(j, 0) != -v {
				t.Fatalf("%v: score %v between points %d and %d, want %v", kind, v, j, j+1, want)
			}
			if math.Abs(want) > 1e-9 && (got.Classes[j] == 1) != (want > 0) {
				t.Fatalf("%v: class %d for a score of %v", kind, got.Classes[j], want)
			}
		}
	}
}

func TestPredict(t *testing.T) {
	ctx := context.Background()
	all, truth := synthetic.Digits(1200, 3)
	var first, last []int
	for i := range 1200 {
		if i < 900 {
			first = append(first, i)
		} else {
			last = append(last, i)
		}
	}
	projection, err := pca.New(t.Context(), data.Select(all, first), 30)
	if err != nil {
		t.Fatal(err)
	}
	x, err := projection.Apply(data.Select(all, first))
	if err != nil {
		t.Fatal(err)
	}
	fresh, want := data.Select(all, last), truth.Select(last)
	y, err := truth.Select(first).Draw(150, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized, sparse.RandomWalk} {
		p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 8, Weights: knn.SelfTuning}, kind, 60)
		m := fitted(t, p, y, &Settings{Penalty: Iterated, Gamma: 0.1})
		m.PCA = projection
		inside := metrics.ErrorRate(m.Labels, truth.Select(first), y)
		for _, e := range []models.Extension{models.LabelKNN, models.Nystrom} {
			got, err := m.Predict(ctx, fresh, &models.PredictSettings{Extension: e})
			if err != nil {
				t.Fatal(err)
			}
			outside := metrics.ErrorRate(got.Classes, want, want.Keep(nil))
			t.Logf("%v, %v: error %.3f on new points, %.3f on those of the graph", kind, e, outside, inside)
			if !(outside <= inside+0.05) {
				t.Errorf("%v, %v: error %.3f on new points, %.3f on those of the graph", kind, e, outside, inside)
			}
			if e == models.LabelKNN {
				for i := range got.Classes {
					var sum float64
					for _, v := range got.Scores.RawRowView(i) {
						sum += v
					}
					if !(math.Abs(sum-1) <= 1e-12) {
						t.Fatalf("shares of the vote of point %d: %v", i, got.Scores.RawRowView(i))
					}
				}
			}
			// In parts and one by one.
			for _, size := range []int{1, 7, 100} {
				for lo := 0; lo < 30; lo += size {
					var rows []int
					for i := lo; i < min(lo+size, 30); i++ {
						rows = append(rows, i)
					}
					part, err := m.Predict(ctx, data.Select(fresh, rows), &models.PredictSettings{Extension: e})
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(part.Classes, got.Classes[lo:lo+len(rows)]) ||
						!mat.Equal(part.Scores, got.Scores.Slice(lo, lo+len(rows), 0, 10)) {
						t.Fatalf("%v, %v: other answers in parts of %d", kind, e, size)
					}
				}
			}
		}
	}
}

// smallFitted is a model of 60 points in two moons.
func smallFitted(t testing.TB) *Model {
	x, truth := synthetic.TwoMoons(60, 0.05, 1)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 5}, sparse.Combinatorial, 8)
	return fitted(t, p, truth.Keep([]int{0, 1, 2, 3}), &Settings{Eigenvectors: 3})
}

func TestPredictVotes(t *testing.T) {
	m := smallFitted(t)
	x := m.Points.(*data.Dense[float64])
	q := &data.Dense[float64]{Rows: 2, Cols: 2, Data: []float64{x.Row(7)[0], x.Row(7)[1], 0.5, 0.25}}
	for _, k := range []int{0, 1, 4, 60, 1000} {
		got, err := m.Predict(context.Background(), q, &models.PredictSettings{Neighbors: k})
		if err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			k = 3 // the default
		}
		ix, err := knn.NewBrute(x, nil)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := ix.Query(context.Background(), q, min(k, 60))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			index, _ := nb.Row(i)
			var classes []int32
			var ones float64
			for _, j := range index {
				classes = append(classes, m.Labels[j])
				ones += float64(m.Labels[j]) / float64(len(index))
			}
			if got.Classes[i] != nearest.Vote(classes) || !(math.Abs(got.Scores.At(i, 1)-ones) <= 1e-12) {
				t.Errorf("%d neighbours, point %d: class %d with share %v, want %d with %v", k, i, got.Classes[i], got.Scores.At(i, 1), nearest.Vote(classes), ones)
			}
		}
	}
}

// TestPredictWithoutEvidence asks far from all points, where heat weights
// vanish, and in a component without label.
func TestPredictWithoutEvidence(t *testing.T) {
	x := &data.Dense[float64]{Rows: 12, Cols: 1, Data: []float64{0, 1, 2, 3, 100, 101, 102, 103, 500, 501, 502, 503}}
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized, sparse.RandomWalk} {
		p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 2, Weights: knn.Heat, T: 1}, kind, 12)
		y := modeltest.Labels(12, map[int]int64{0: 30, 4: 10, 5: 10})
		m := fitted(t, p, y, nil)
		got, err := m.Predict(context.Background(), &data.Dense[float64]{Rows: 5, Cols: 1, Data: []float64{-90, 1e7, 501.5, 1.5, 101.5}}, &models.PredictSettings{Extension: models.Nystrom})
		if err != nil {
			t.Fatal(err)
		}
		if want := []int32{1, 0, 0, 1, 0}; !slices.Equal(got.Classes, want) {
			t.Errorf("%v: classes %v, want %v; scores %v", kind, got.Classes, want, mat.Formatted(got.Scores))
		}
		if v := largestAbs(got.Scores); !(v <= 100) {
			t.Errorf("%v: a score of %v", kind, v)
		}
	}
}

func TestPredictRejects(t *testing.T) {
	ctx := context.Background()
	good := smallFitted(t)
	x := data.NewDense[float64](1, 2)
	without, radius := smallFitted(t), smallFitted(t)
	without.Points = nil
	radius.Edges = knn.GraphSettings{Radius: 0.5}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		m    *Model
		x    data.Points
		s    *models.PredictSettings
		want string
	}{
		{"no points", ctx, without, x, nil, "without points"},
		{"radius", ctx, radius, x, &models.PredictSettings{Extension: models.Nystrom}, "0.5"},
		{"dimension", ctx, good, data.NewDense[float64](1, 3), nil, "points of 3 columns for a model of 2"},
		{"neighbours", ctx, good, x, &models.PredictSettings{Neighbors: -1}, "-1 neighbours"},
		{"extension", ctx, good, x, &models.PredictSettings{Extension: 9}, "unknown (9)"},
		{"cancelled", cancelled, good, x, nil, context.Canceled.Error()},
	} {
		got, err := c.m.Predict(c.ctx, c.x, c.s)
		if err == nil || got != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
		if c.ctx == cancelled && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if got, err := radius.Predict(ctx, x, nil); err != nil || len(got.Classes) != 1 {
		t.Errorf("a vote needs no graph of neighbours: %v", err)
	}
}
