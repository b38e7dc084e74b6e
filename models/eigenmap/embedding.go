package eigenmap

import (
	"context"
	"fmt"

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
type Embedding struct {
	Laplacian sparse.Kind
	Values    []float64  // p, ascending
	Vectors   *mat.Dense // n×p
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
			ext.extend(out.RawRowView(i), index, w[i*nb.K:(i+1)*nb.K])
		}
	})

	return &models.Prediction{Scores: out, Recall: recall}, nil
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
}

// Encode returns the arrays of an embedding of n points in p coordinates:
//
//	values    float64  p    eigenvalues, ascending, without zeros
//	vectors   float64  n×p  eigenvectors of norm one: the coordinates
//
// and the arrays of the neighbourhood ([models.Neighborhood.Encode]).
func (m *Embedding) Encode() (*models.Encoded, error) {
	state, arrays, err := m.Neighborhood.Encode()
	if err != nil {
		return nil, err
	}
	own := []archive.Array{{Name: "values", Data: m.Values}, models.MatrixEntry("vectors", m.Vectors)}
	return &models.Encoded{Values: embeddingParams.Encode(&m.Laplacian), Fit: embeddingFit{state},
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
		Vectors: r.Matrix("vectors")}
	if r.Err != nil {
		return nil, r.Err
	}

	n, p := m.Vectors.Dims()
	if len(m.Values) != p {
		return nil, fmt.Errorf("eigenmap: vectors are %d×%d for %d values", n, p, len(m.Values))
	}
	if m.Neighborhood, err = r.Neighborhood(f.Neighborhood, n, true); err != nil {
		return nil, err
	}
	return m, nil
}
