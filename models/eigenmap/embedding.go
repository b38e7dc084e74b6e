package eigenmap

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// EmbeddingName is the name of [Embedding] in manifests.
const EmbeddingName = "embedding"

// Embedding is a Laplacian eigenmap. Coordinate j of a training point is its entry in the
// eigenvector of the j-th smallest nonzero eigenvalue of the graph's Laplacian (Belkin &
// Niyogi, Neural Computation 15, 2003, with the random-walk Laplacian). New points get the
// Nyström extension of [Model.Predict].
//
// With Density the graph had the weights W_ij/(q_i q_j)^Alpha, where q are the degrees of the graph
// of the neighbourhood (Coifman & Lafon, Appl. Comput. Harmon. Anal. 21, 2006, section 3.1): with
// Alpha 1 the coordinates do not depend on how densely the points lie. Degrees are those of the
// normalized graph.
type Embedding struct {
	Laplacian sparse.Kind
	Values    []float64  // p, ascending
	Vectors   *mat.Dense // n×p
	Alpha     float64
	Density   []float64 // q; nil without Alpha
	models.Neighborhood
}

// embeddingParams are the settings of an embedding in its model file.
var embeddingParams = models.Table[sparse.Kind]{
	{Param: laplacianParam, At: func(k *sparse.Kind) any { return k }},
}

// NewEmbedding copies the vectors of e that follow the null vectors, with signs such that
// the entry of largest magnitude is positive. h joins new points to the graph; if its
// method is approximate, all pairs are compared instead. A result that has null vectors
// only is an error.
func NewEmbedding(e *lanczos.Result, kind sparse.Kind, h *models.Neighborhood) (*Embedding, error) {
	n, k := e.Vectors.Dims()
	p := k - e.Nullity
	if p < 1 {
		return nil, fmt.Errorf("eigenmap: %s of a graph of %s: all are constant on the components; "+
			"compute more", enum.Count(k, "eigenvector"), enum.Count(e.Nullity, "component"))
	}
	m := &Embedding{Laplacian: kind, Values: e.Values[e.Nullity:], Vectors: mat.NewDense(n, p, nil),
		Neighborhood: h.Keep()}
	m.Lists = nil // no points are added to an embedding
	if !m.Method.Exact() {
		m.Method, m.Index = knn.Brute, nil
	}

	for j := range p {
		f := mat.Col(nil, e.Nullity+j, e.Vectors)
		dense.Orient(f)
		m.Vectors.SetCol(j, f)
	}
	return m, nil
}

// Diffuse makes the coordinates those of a diffusion map at a time t: column j is |1 − λⱼ|ᵗψⱼ for the
// eigenvector ψⱼ of the random walk with Σ π_i ψⱼ(i)² = 1, π the stationary distribution d/Σd. Euclidean
// distances of all n − 1 coordinates are diffusion distances; the first ones come near them. The
// extension to new points keeps the scale, as it is linear in the eigenvectors.
func (m *Embedding) Diffuse(t float64) error {
	if m.Laplacian != sparse.RandomWalk {
		return fmt.Errorf("eigenmap: a diffusion map has eigenvectors of the random walk, not of the %v "+
			"Laplacian", m.Laplacian)
	}
	total := 0.0
	for _, d := range m.Degrees {
		total += d
	}
	for j, value := range m.Values {
		f := mat.Col(nil, j, m.Vectors)
		var square float64
		for i, v := range f {
			square += m.Degrees[i] / total * v * v
		}
		scale := math.Pow(math.Abs(1-value), t) / math.Sqrt(square)
		for i := range f {
			f[i] *= scale
		}
		m.Vectors.SetCol(j, f)
	}
	return nil
}

// Name is [EmbeddingName].
func (m *Embedding) Name() string { return EmbeddingName }

// Output is p coordinates a point.
func (m *Embedding) Output() models.Output {
	return models.Output{Kind: models.OutputCoordinates, Columns: len(m.Values)}
}

// QueryCost returns the cost of the search and the coordinates.
func (m *Embedding) QueryCost(n int, _ *models.PredictSettings) stage.Cost {
	c := m.Neighborhood.QueryCost(n, m.Edges.K)
	c.Bytes += 8 * int64(n) * int64(len(m.Values))
	return c
}

// Predict returns the coordinates of new points as scores, by the Nyström extension.
// A point at distance 0 from training points is the first of them and gets its
// coordinates. It costs a search for neighbours; the first call builds the index. Of
// s only OnProgress matters.
func (m *Embedding) Predict(ctx context.Context, x data.Points,
	s *models.PredictSettings) (*models.Prediction, error) {
	if m.Points == nil {
		return nil, models.ErrNoPoints
	}
	if m.Edges.K == 0 {
		return nil, fmt.Errorf("eigenmap: the Nyström extension needs a graph of nearest neighbours; "+
			"this one joins points within %g", m.Edges.Radius)
	}
	nb, recall, err := m.Nearest(ctx, x, m.Edges.K, s)
	if err != nil {
		return nil, err
	}

	// A copy of a training point gets that point's coordinates: the extension would only
	// come near them.
	w, err := m.Weights(ctx, nb)
	if err != nil {
		return nil, err
	}
	out := mat.NewDense(nb.Len(), len(m.Values), nil)
	ext := &extension{m.Values, m.Vectors, m.Degrees, m.Laplacian}
	par.For(nb.Len(), 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			index, dist := nb.Row(i)
			if dist[0] == 0 {
				copy(out.RawRowView(i), m.Vectors.RawRowView(int(index[0])))
				continue
			}
			row := w[i*nb.K : (i+1)*nb.K]
			m.normalize(index, row)
			ext.extend(out.RawRowView(i), index, row)
		}
	})

	return &models.Prediction{Scores: out, Recall: recall}, nil
}

// normalize divides the weights between a new point and training points by their densities, as the
// graph's own.
func (m *Embedding) normalize(index []int32, w []float64) {
	if m.Density == nil {
		return
	}
	var q float64
	for _, v := range w {
		q += v
	}
	for p, i := range index {
		if w[p] > 0 {
			w[p] /= math.Pow(q*m.Density[i], m.Alpha)
		}
	}
}

// Summary names the Laplacian.
func (m *Embedding) Summary() models.Summary {
	n, p := m.Vectors.Dims()
	return models.Summary{Values: embeddingParams.Encode(&m.Laplacian),
		Text: fmt.Sprintf("%d eigenvectors of the %v Laplacian at %d points", p, m.Laplacian, n)}
}

// embeddingFit is the part of an embedding in its manifest that is no parameter.
type embeddingFit struct {
	Neighborhood models.RawState `json:"neighborhood"`
	Alpha        float64         `json:"alpha,omitempty"`
}

// Encode returns the arrays of an embedding of n points in p coordinates:
//
//	values    float64  p    eigenvalues, ascending, without zeros
//	vectors   float64  n×p  the coordinates: eigenvectors of norm one, or those of [Embedding.Diffuse]
//	density   float64  n    q, only with a positive alpha in the manifest
//
// and the arrays of the neighbourhood ([models.Neighborhood.Encode]).
func (m *Embedding) Encode() (*models.Encoded, error) {
	state, arrays, err := m.Neighborhood.Encode()
	if err != nil {
		return nil, err
	}
	own := []archive.Array{{Name: "values", Data: m.Values}, models.MatrixEntry("vectors", m.Vectors)}
	if m.Density != nil {
		own = append(own, archive.Array{Name: "density", Data: m.Density})
	}
	return &models.Encoded{Values: embeddingParams.Encode(&m.Laplacian), Fit: embeddingFit{state, m.Alpha},
		Arrays: append(own, arrays...)}, nil
}

// DecodeEmbedding is the inverse of [Embedding.Encode].
func DecodeEmbedding(r *models.Reader) (models.Model, error) {
	var f embeddingFit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	kind, err := embeddingParams.Decode(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	m := &Embedding{Laplacian: kind, Values: models.Numbers[float64](r, "values"),
		Vectors: r.Matrix("vectors"), Alpha: f.Alpha}
	if f.Alpha > 0 {
		m.Density = models.Numbers[float64](r, "density")
	}
	if r.Err != nil {
		return nil, r.Err
	}

	n, p := m.Vectors.Dims()
	if len(m.Values) != p {
		return nil, fmt.Errorf("eigenmap: vectors are %d×%d for %d values", n, p, len(m.Values))
	}
	if f.Alpha > 0 && len(m.Density) != n {
		return nil, fmt.Errorf("eigenmap: %d densities for %d points", len(m.Density), n)
	}
	if m.Neighborhood, err = r.Neighborhood(f.Neighborhood, n, true); err != nil {
		return nil, err
	}
	return m, nil
}
