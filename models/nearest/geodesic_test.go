package nearest

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// With one vote and with several.
func TestGeodesicConform(t *testing.T) {
	for _, v := range []models.Values{nil, {"vote": "3"}} {
		t.Run(v.String(), func(t *testing.T) { modeltest.Conform(t, GeodesicLearner{}, modeltest.Suite{Values: v}) })
	}
}

func TestGeodesicCosts(t *testing.T) {
	for _, v := range []models.Values{nil, {"vote": "5"}} {
		modeltest.Costs(t, GeodesicLearner{}, v, 500, 2000, 10000)
	}
}

// geodesicInput is an input with a graph of the given points.
func geodesicInput(t *testing.T, x data.Points, m knn.Metric, s knn.GraphSettings, y *data.Labels, v models.Values) *models.Input {
	t.Helper()
	ix, err := knn.NewBrute(x, &knn.Settings{Metric: m})
	if err != nil {
		t.Fatal(err)
	}
	w, s, err := knn.NewGraph(t.Context(), ix, s)
	if err != nil {
		t.Fatal(err)
	}
	g := models.NewGraph(w)
	g.Points, g.Metric, g.Method, g.Edges = x, m, knn.Brute, s
	return &models.Input{Points: x, Graph: g, Targets: modeltest.ClassTargets(t, y), Values: v}
}

// TestGeodesicDefinition: the classes of the points of a graph, of which a part is out of
// reach of labels, and of new points are those of all shortest paths, by Floyd and
// Warshall's algorithm on distances from the coordinates.
func TestGeodesicDefinition(t *testing.T) {
	const n, fresh = 90, 40
	rng := rand.New(rand.NewPCG(4, 4))
	x, query := data.NewDense[float64](n, 2), data.NewDense[float64](fresh, 2)
	for i := range n {
		// Two clusters with labels and one far from them without.
		x.Row(i)[0], x.Row(i)[1] = rng.NormFloat64()+3*float64(i%3/2), rng.NormFloat64()+100*float64(i%3%2)
	}
	for i := range fresh {
		copy(query.Row(i), x.Row(i))
		query.Row(i)[0] += rng.NormFloat64() / 3
	}
	class := map[int]int64{}
	for i := range n {
		if i%3 != 1 && rng.IntN(4) == 0 {
			class[i] = int64(rng.IntN(3))
		}
	}
	y := modeltest.Labels(n, class)
	apart := func(a, b []float64) float64 { return math.Hypot(a[0]-b[0], a[1]-b[1]) }
	for _, vote := range []string{"1", "3"} {
		for _, s := range []knn.GraphSettings{{K: 4}, {K: 5, Weights: knn.Heat, Symmetry: sparse.Both}} {
			in := geodesicInput(t, x, knn.Euclidean, s, y, models.Values{"vote": vote})
			along := make([][]float64, n)
			for i := range along {
				along[i] = slices.Repeat([]float64{math.Inf(1)}, n)
				along[i][i] = 0
				col, _ := in.Graph.W.Row(i)
				for _, j := range col {
					along[i][j] = apart(x.Row(i), x.Row(int(j)))
				}
			}
			for via := range n {
				for i := range n {
					for j := range n {
						along[i][j] = min(along[i][j], along[i][via]+along[via][j])
					}
				}
			}
			fitted, err := GeodesicLearner{}.Fit(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			m := fitted.(*Geodesic)
			k := m.Settings.Vote
			if want := nearestLabels(along, y, k); !slices.Equal(m.Labels, want) {
				t.Errorf("k = %d, %+v: classes %v, want %v", k, s, m.Labels, want)
			}
			if m.Unreached < n/3 {
				t.Errorf("%d points are out of reach, %d have no label near", m.Unreached, n/3)
			}
			// New points are as vertices behind those of the graph.
			p, err := m.Predict(t.Context(), query, nil)
			if err != nil {
				t.Fatal(err)
			}
			whole := &data.Labels{Classes: y.Classes, Index: append(slices.Clone(y.Index), data.Unlabeled)}
			for q := range fresh {
				near := make([]int, n)
				for i := range near {
					near[i] = i
				}
				slices.SortFunc(near, func(a, b int) int {
					if apart(query.Row(q), x.Row(a)) < apart(query.Row(q), x.Row(b)) {
						return -1
					}
					return 1
				})
				last := slices.Repeat([]float64{math.Inf(1)}, n+1)
				for _, z := range near[:s.K] {
					for i := range n {
						last[i] = min(last[i], apart(query.Row(q), x.Row(z))+along[z][i])
					}
				}
				rows := append(slices.Repeat([][]float64{slices.Repeat([]float64{math.Inf(1)}, n+1)}, n), last)
				if want := nearestLabels(rows, whole, k)[n]; p.Classes[q] != want {
					t.Errorf("k = %d, %+v: new point %d has class %d, want %d", k, s, q, p.Classes[q], want)
				}
			}
		}
	}
}

// TestGeodesicMoons: paths stay on the moon that they begin on, where straight lines cross
// to the other.
func TestGeodesicMoons(t *testing.T) {
	x, truth := synthetic.TwoMoons(400, 0.05, 1)
	y := truth.Keep([]int{slices.Index(truth.Index, 0), slices.Index(truth.Index, 1)})
	m, err := GeodesicLearner{}.Fit(t.Context(), geodesicInput(t, x, knn.Euclidean, knn.GraphSettings{K: 6}, y, nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*Geodesic).Labels; !slices.Equal(got, truth.Index) {
		t.Error("one label a moon does not settle it")
	}
}

// TestEdgeLengths: for every metric and kind of points the edges are as long as the lists
// of neighbours say.
func TestEdgeLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	x := data.NewDense[float64](60, 6)
	for i := range x.Data {
		x.Data[i] = float64(rng.IntN(3))
	}
	var rows, cols []int32
	var values []float64
	for i := range 60 {
		for j, v := range x.Row(i) {
			if v != 0 {
				rows, cols, values = append(rows, int32(i)), append(cols, int32(j)), append(values, v)
			}
		}
	}
	csr, err := sparse.FromTriplets(60, 6, rows, cols, values)
	if err != nil {
		t.Fatal(err)
	}
	bits := data.NewDense[uint8](60, 20)
	for i := range bits.Data {
		bits.Data[i] = uint8(rng.IntN(2))
	}
	for _, points := range []data.Points{x, csr, bits} {
		for _, m := range []knn.Metric{knn.Euclidean, knn.Angle, knn.Cosine, knn.Jaccard} {
			if m == knn.Jaccard && points == data.Points(x) {
				continue // no sets
			}
			ix, err := knn.NewBrute(points, &knn.Settings{Metric: m})
			if err != nil {
				t.Fatal(err)
			}
			nb, err := ix.Self(t.Context(), 5)
			if err != nil {
				t.Fatal(err)
			}
			want := nb.Distances(5).Symmetrize(sparse.Either)
			got, err := knn.EdgeLengths(t.Context(), want, points, m)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range want.Val {
				if !(math.Abs(got.Val[i]-v) <= 1e-12) {
					t.Fatalf("%T, %v: length %d is %g, want %g", points, m, i, got.Val[i], v)
				}
			}
		}
	}
}

func TestGeodesicRefuses(t *testing.T) {
	x, y := nearestCase(t)
	in := geodesicInput(t, x, knn.Euclidean, knn.GraphSettings{K: 3}, y, nil)
	in.Graph.Metric = knn.InnerProduct
	if _, err := (GeodesicLearner{}).Fit(t.Context(), in); err == nil || !strings.Contains(param.Plain(err.Error()), "negative") || !strings.Contains(param.Plain(err.Error()), "distance") {
		t.Errorf("inner products: %v", err)
	}
	in = geodesicInput(t, x, knn.Euclidean, knn.GraphSettings{Radius: 2}, y, nil)
	m, err := GeodesicLearner{}.Fit(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Predict(t.Context(), x, nil); err == nil || !strings.Contains(err.Error(), "within 2") {
		t.Errorf("neighbours of a graph by a radius: %v", err)
	}
	if p, err := m.Predict(t.Context(), x, &models.PredictSettings{Neighbors: 1}); err != nil || len(p.Classes) != 120 {
		t.Errorf("one neighbour: %v", err)
	}
}
