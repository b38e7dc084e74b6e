package eigenmap

import (
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

func TestEmbedding(t *testing.T) {
	ctx := t.Context()
	x, _ := synthetic.TwoMoons(300, 0.1, 5)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 10}, sparse.RandomWalk, 5)
	h := &p.Graph().Neighborhood
	m, err := NewEmbedding(p.Eigs, sparse.RandomWalk, h)
	if err != nil {
		t.Fatal(err)
	}
	if o := m.Output(); o.Kind != models.OutputCoordinates || o.Columns != 5-p.C.Count() || m.Dim() != 2 {
		t.Errorf("output %+v of points with %d columns", o, m.Dim())
	}
	for j := range m.Values {
		if col := mat.Col(nil, j, m.Vectors); !(mat.Max(m.Vectors.ColView(j)) >= -mat.Min(m.Vectors.ColView(j))) {
			t.Errorf("coordinate %d has the wrong sign: %v", j, col)
		}
	}
	without, err := NewEmbedding(p.Eigs, sparse.RandomWalk, &models.Neighborhood{Degrees: h.Degrees})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := without.Predict(ctx, x, nil); err == nil {
		t.Error("new points without the old ones")
	}
	if f := modeltest.Raw(t, m, x); !mat.Equal(f, m.Vectors) {
		t.Error("training points do not get their own coordinates")
	}
	// Beside a point its extension is near it.
	moved := data.NewDense[float64](300, 2)
	for i, v := range x.Data {
		moved.Data[i] = v + 1e-4
	}
	f := modeltest.Raw(t, m, moved)
	var d mat.Dense
	d.Sub(f, m.Vectors)
	if !(largestAbs(&d) <= 0.3*mat.Max(m.Vectors)) {
		t.Errorf("beside the training points coordinates differ by %g of %g", largestAbs(&d), mat.Max(m.Vectors))
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := models.Save(path, m, nil); err != nil {
		t.Fatal(err)
	}
	loaded, mf, err := load(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if mf.Learner != EmbeddingName || !reflect.DeepEqual(loaded.Output(), m.Output()) || !reflect.DeepEqual(loaded.Summary(), m.Summary()) {
		t.Errorf("%+v came back as %+v", m.Summary(), loaded.Summary())
	}
	if !mat.Equal(f, modeltest.Raw(t, loaded, moved)) {
		t.Error("other coordinates after loading")
	}
	if _, err := NewEmbedding(&lanczos.Result{Values: []float64{0}, Vectors: mat.NewDense(2, 1, nil), Nullity: 1}, sparse.RandomWalk, h); err == nil {
		t.Error("an embedding without coordinates")
	}
}

// An approximate search gives way to all pairs.
func TestEmbeddingIsExact(t *testing.T) {
	x, _ := synthetic.TwoMoons(300, 0.1, 5)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 10}, sparse.RandomWalk, 5)
	exact, h := p.Graph().Neighborhood, p.Graph().Neighborhood
	h.Method = knn.NNDescent
	q, _ := synthetic.TwoMoons(100, 0.2, 6)
	var scores [2]*mat.Dense
	for i, h := range []*models.Neighborhood{&exact, &h} {
		m, err := NewEmbedding(p.Eigs, sparse.RandomWalk, h)
		if err != nil {
			t.Fatal(err)
		}
		scores[i] = modeltest.Raw(t, m, q)
	}
	if !mat.Equal(scores[0], scores[1]) {
		t.Error("the method of the graph changes the coordinates")
	}
}

// Files whose parts do not fit together are not loaded.
func TestEmbeddingDamage(t *testing.T) {
	x, _ := synthetic.TwoMoons(40, 0.1, 5)
	path := filepath.Join(t.TempDir(), "m.npz")
	for name, damage := range map[string]func(m *Embedding){
		"":        func(m *Embedding) {},
		"values":  func(m *Embedding) { m.Values = nil },
		"degrees": func(m *Embedding) { m.Degrees = []float64{1} },
		"sign":    func(m *Embedding) { m.Degrees[3] = -1 },
		"NaN":     func(m *Embedding) { m.Vectors.Set(3, 0, math.NaN()) },
		"points":  func(m *Embedding) { m.Points = data.Select(x, []int{1, 2}) },
		"graph":   func(m *Embedding) { m.Edges.K = 0 },
		"heat":    func(m *Embedding) { m.Edges.Weights = knn.Heat },
		"kind":    func(m *Embedding) { m.Laplacian = 9 },
	} {
		m := &Embedding{Values: []float64{1}, Vectors: mat.NewDense(40, 1, nil),
			Neighborhood: models.Neighborhood{Degrees: make([]float64, 40), Points: x, Edges: knn.GraphSettings{K: 4}}}
		damage(m)
		if err := models.Save(path, m, nil); err != nil {
			if !strings.Contains(err.Error(), "not finite") {
				t.Fatal(err)
			}
			continue
		}
		if _, _, err := load(path, 0); (err == nil) != (name == "") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// The weights of a new point are divided by the densities as the graph's own; a copy that was saved and
// loaded gives the same coordinates, and the scale of a diffusion map stays.
func TestDensityOfEmbedding(t *testing.T) {
	x, _ := synthetic.TwoMoons(300, 0.1, 5)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 10}, sparse.RandomWalk, 5)
	g := p.Graph()
	w, density := g.W.DensityNormalized(1)
	l, err := sparse.NewLaplacian(w, sparse.RandomWalk)
	if err != nil {
		t.Fatal(err)
	}
	r, err := lanczos.Laplacian(t.Context(), l, w.Components(), &lanczos.Settings{K: 5})
	if err != nil {
		t.Fatal(err)
	}
	h := g.Neighborhood
	h.Degrees = w.Degrees()
	m, err := NewEmbedding(r, sparse.RandomWalk, &h)
	if err != nil {
		t.Fatal(err)
	}
	m.Alpha, m.Density = 1, density
	if err := m.Diffuse(2); err != nil {
		t.Fatal(err)
	}
	total, square := 0.0, 0.0
	for i, d := range h.Degrees {
		total += d
		square += d * m.Vectors.At(i, 0) * m.Vectors.At(i, 0)
	}
	if want := math.Pow(1-m.Values[0], 4); !(math.Abs(square/total-want) < 1e-9) {
		t.Errorf("the first coordinate has the mean square %v, not %v", square/total, want)
	}

	moved := data.NewDense[float64](300, 2)
	for i, v := range x.Data {
		moved.Data[i] = v + 1e-4
	}
	f := modeltest.Raw(t, m, moved)
	var d mat.Dense
	d.Sub(f, m.Vectors)
	if !(largestAbs(&d) <= 0.3*mat.Max(m.Vectors)) {
		t.Errorf("beside the training points coordinates differ by %g of %g", largestAbs(&d), mat.Max(m.Vectors))
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := models.Save(path, m, nil); err != nil {
		t.Fatal(err)
	}
	loaded, _, err := load(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(f, modeltest.Raw(t, loaded, moved)) {
		t.Error("other coordinates after loading")
	}
	m.Laplacian = sparse.Normalized
	if m.Diffuse(1) == nil {
		t.Error("a diffusion map of the normalized Laplacian")
	}
}
