package propagation

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// sharingLearners are the learners of classes whose answers get shares only where they are asked for.
var sharingLearners = []struct {
	learner models.Learner
	values  models.Values
}{
	{Learner{Method: Harmonic}, nil},
	{Learner{Method: LGC}, nil},
	{Learner{Method: Tikhonov}, models.Values{"gamma-a": "1e-3", "gamma-i": "0.1", "laplacian": "normalized"}},
	{Learner{Method: Poisson}, nil},
	{ReweightedLearner{}, nil},
}

// shareCounts returns the number of points of each class.
func shareCounts(labels []int32, classes int) []float64 {
	out := make([]float64, classes)
	for _, c := range labels {
		out[c]++
	}
	return out
}

// TestShares: of points whose classes have unequal sizes, with as many labels of each, the answers have the given shares, err
// less, follow from the scores, stay the same in a file, and new points get their classes by the same factors. One point has
// no edge, and counts in no share.
func TestShares(t *testing.T) {
	digits, truth := synthetic.Digits(2400, 5)
	const classes = 10
	var rows []int
	for i, c := range truth.Index {
		if i%(1+int(c)) == 0 { // the tenth class has a tenth of the points of the first
			rows = append(rows, i)
		}
	}
	x, truth := data.Select(digits, rows), truth.Select(rows)
	n := len(rows) - 300
	train, rest := rowNumbers(0, n), rowNumbers(n, len(rows))
	inside, outside := truth.Select(train), truth.Select(rest)
	graph := modeltest.NewProblem(t, data.Select(x, train), knn.GraphSettings{K: 8, Weights: knn.SelfTuning}, sparse.Combinatorial, 1).Graph()

	// The last point loses its edges.
	alone := n - 1
	w := &sparse.CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1)}
	for i := range n {
		col, val := graph.W.Row(i)
		for e, j := range col {
			if i != alone && int(j) != alone {
				w.Col = append(w.Col, j)
				w.Val = append(w.Val, val[e])
			}
		}
		w.Ptr[i+1] = int64(len(w.Col))
	}
	graph.W, graph.Components, graph.Degrees = w, w.Components(), w.Degrees()

	var labeled []int
	for c := range classes {
		for i, at := 0, 0; at < 2; i++ {
			if inside.Index[i] == int32(c) && i != alone {
				labeled = append(labeled, i)
				at++
			}
		}
	}
	y := inside.Keep(labeled)
	targets := modeltest.ClassTargets(t, y)
	counts := shareCounts(inside.Index[:alone], classes)
	total := float64(alone)
	given := ""
	for c, v := range counts {
		given += fmt.Sprintf("%g", v)
		if c < classes-1 {
			given += ","
		}
	}

	for _, s := range sharingLearners {
		t.Run(s.learner.Info().Name, func(t *testing.T) {
			in := &models.Input{Points: data.Select(x, train), Graph: graph, Targets: targets, Values: s.values}
			fit := func(v models.Values) models.Trained {
				in.Values = s.values.With(v)
				m, err := s.learner.Fit(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				return m.(models.Trained)
			}
			m := fit(models.Values{"priors": given})
			p := m.Training(true)
			for c, got := range shareCounts(p.Classes[:alone], classes) {
				if math.Abs(got-counts[c])/total > mostVolumeTolerance+1/total {
					t.Errorf("class %d has %v points of %v", c, got, counts[c])
				}
			}
			free := fit(nil)
			before, after := metrics.ErrorRate(free.Training(false).Classes, inside, y), metrics.ErrorRate(p.Classes, inside, y)
			if !(after < before) {
				t.Errorf("error %.4f with true shares, %.4f without", after, before)
			}
			for i, c := range models.Decide(p.Scores) {
				if c != p.Classes[i] && i != alone && !slices.Contains(labeled, i) {
					t.Fatalf("point %d has class %d, its scores %v", i, p.Classes[i], p.Scores.RawRowView(i))
				}
			}
			if mat.Norm(p.Scores.RowView(alone), 1) != 0 {
				t.Errorf("scores %v of a point without edges", p.Scores.RawRowView(alone))
			}

			// New points: by the factors of the training points, their shares are about right and their errors fewer.
			query, err := m.Predict(t.Context(), data.Select(x, rest), nil)
			if err != nil {
				t.Fatal(err)
			}
			unshared, err := free.Predict(t.Context(), data.Select(x, rest), nil)
			if err != nil {
				t.Fatal(err)
			}
			none := &data.Labels{Classes: outside.Classes, Index: slices.Repeat([]int32{data.Unlabeled}, len(rest))}
			if a, b := metrics.ErrorRate(query.Classes, outside, none), metrics.ErrorRate(unshared.Classes, outside, none); !(a < b+0.01) {
				t.Errorf("error of new points %.4f with shares, %.4f without", a, b)
			}
			for i, c := range models.Decide(query.Scores) {
				if c != query.Classes[i] {
					t.Fatalf("new point %d has class %d, its scores %v", i, query.Classes[i], query.Scores.RawRowView(i))
				}
			}

			file := filepath.Join(t.TempDir(), "m.npz")
			if err := models.Save(file, m, nil); err != nil {
				t.Fatal(err)
			}
			again, _, err := models.Load(file, 0, func(string) models.Decoder { return s.learner.Decode })
			if err != nil {
				t.Fatal(err)
			}
			if got := again.Summary(); got.Text != m.Summary().Text || !slices.Equal(got.Fact("shares").([]float64), m.Summary().Fact("shares").([]float64)) {
				t.Errorf("summary %q of the file, %q of the model", got.Text, m.Summary().Text)
			}
			if k := again.(models.Updater).Kept(); k.Start != nil {
				t.Error("scores that were scaled are a start")
			}

			// A class without a share keeps its labeled points alone.
			zero := slices.Repeat([]byte("1,"), classes)
			zero[6] = '0' // the fourth class
			m = fit(models.Values{"priors": string(zero[:len(zero)-1])})
			for i, c := range m.Training(false).Classes {
				if c == 3 && y.Index[i] != 3 {
					t.Errorf("point %d is of the class without a share", i)
					break
				}
			}
			// Sizes without priors.
			for _, origin := range []string{"equal", "labels", "estimate"} {
				m := fit(models.Values{"class-shares": origin})
				got := shareCounts(m.Training(false).Classes[:alone], classes)
				want := m.Summary().Fact("shares").([]float64)
				for c := range got {
					if math.Abs(got[c]/total-want[c]) > mostVolumeTolerance+1/total || origin != "estimate" && math.Abs(want[c]-0.1) > 1e-12 {
						t.Errorf("%s: class %d has the share %v, asked for %v", origin, c, got[c]/total, want[c])
					}
				}
			}
		})
	}
}

// TestSharesByHand: on a path of six points with labels at its ends the harmonic function of the first class falls by fifths.
// Shares of 4 and 2 points move the boundary, and a share below the labels leaves the labels.
func TestSharesByHand(t *testing.T) {
	p := modeltest.FromEdges(t, 6, [][2]int32{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, 2)
	y := modeltest.ClassTargets(t, modeltest.Labels(6, map[int]int64{0: 5, 5: 7}))
	for _, c := range []struct {
		priors []float64
		want   []int32
	}{
		{[]float64{4, 2}, []int32{0, 0, 0, 0, 1, 1}},
		{[]float64{2, 4}, []int32{0, 0, 1, 1, 1, 1}},
		{[]float64{5, 1}, []int32{0, 0, 0, 0, 0, 1}},
		{[]float64{1, 0}, []int32{0, 0, 0, 0, 0, 1}},
		{[]float64{0, 0.1}, []int32{0, 1, 1, 1, 1, 1}},
	} {
		for _, s := range []Settings{{}, {Method: Poisson}, {Method: LGC},
			{Method: Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 1e-4, GammaI: 1e-2}}} {
			s.Priors = c.priors
			if g := fitGraph(t, p.W, y, &s); !slices.Equal(g.Labels, c.want) || g.Shared.Off > 1e-9 {
				t.Errorf("%v with %v: classes %v, off by %v", s.Method, c.priors, g.Labels, g.Shared.Off)
			}
		}
	}
}

// TestShareFactors: labeled points keep their classes, and nothing is left where all are labeled.
func TestShareFactors(t *testing.T) {
	const n = 1000
	p := mat.NewDense(n, 2, nil)
	for i := range n {
		v := (float64(i) + 0.5) / n
		p.SetRow(i, []float64{v, 1 - v})
	}
	labeled := []int32{0, 1, 2, 3}
	factors, off := ShareFactors(p, []float64{80, 20}, labeled, []float64{4, 0})
	count := 4.
	for i := 4; i < n; i++ {
		if factors[0]*p.At(i, 0) > factors[1]*p.At(i, 1) {
			count++
		}
	}
	if math.Abs(count-800) > 1 || off > mostVolumeTolerance {
		t.Errorf("%v points of the first class, off by %v", count, off)
	}
	if factors, off := ShareFactors(mat.NewDense(1, 2, []float64{1, 0}), []float64{1, 1}, []int32{0}, []float64{1, 0}); factors != nil || off != 0 {
		t.Errorf("factors %v, off by %v, where nothing is left", factors, off)
	}
}
