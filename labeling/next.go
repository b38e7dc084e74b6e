// Package labeling chooses points to label next, and lists labels that may be wrong. It uses the
// graphs and models of a pipeline and the rules of models/active.
//
// # Labels left out
//
// A label is suspect if the prediction for its point from the other labels disagrees with it.
// Graph methods are linear in the labels, so leaving one label out is a change of rank one: a
// [models.SelfChecker] predicts all labels by one linear system with a column for each label.
// For other learners, and for many labels, whole folds are left out.
package labeling

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Planner has the functions of this package; the pipeline makes graphs and eigenpairs.
type Planner struct{ *pipeline.Pipeline }

// DefaultFieldPairs is the number of vectors beside null vectors that rules use by default. Campaigns of 60 to 400
// labels erred as little with 100 eigenpairs as with 200; with 50 the sets of 20 and 26 classes erred more.
const DefaultFieldPairs = 100

// NextSettings of [Planner.Next].
type NextSettings struct {
	active.Settings
	// Pairs is the number of vectors near the smallest eigenvectors of the normalized Laplacian, beside the null
	// vectors. Default [DefaultFieldPairs].
	Pairs int
}

// Candidates holds n points of a graph, some with a label.
type Candidates struct {
	Graph *models.Graph // with its edges, unless Pairs are given
	// Pairs are the smallest eigenpairs of a symmetric Laplacian; nil to compute them.
	Pairs   *lanczos.Result
	Labeled []int
	Closed  []bool // points that cannot be labeled; nil for none
	// Scores holds the scores of a model for the classes of all points; nil without a model and
	// for values.
	Scores *mat.Dense
	// Disagreement of the members of a model about each point, from 0 to 1: see
	// [models.Disagreeing]. It matters to the rule committee.
	Disagreement []float64
}

// Next chooses points to label next, best first: see [active.Choose]. It fills in c.Pairs if
// the rule needs eigenpairs and c.Pairs is nil.
func (p Planner) Next(ctx context.Context, c *Candidates, s *NextSettings) ([]active.Choice, error) {
	// The pairs stay in c: choices after further labels use them again.
	var short error
	if s.Rule.NeedsPairs() && c.Pairs == nil {
		if c.Pairs, short = p.FieldPairs(ctx, c.Graph, s.Pairs); !models.Usable(short) {
			return nil, short
		}
	}

	if s.Rule.NeedsPairs() {
		if err := p.Observed().Announce("next", c.Cost(s.Count)); err != nil {
			return nil, err
		}
	}

	choices, err := c.choose(ctx, &s.Settings)
	return choices, errors.Join(short, err)
}

// Cost returns the cost of choosing count points by a rule that needs eigenpairs. c.Pairs must
// not be nil.
func (c *Candidates) Cost(count int) stage.Cost {
	n, k := c.Pairs.Vectors.Dims()
	return stage.Cost{Bytes: stage.DenseBytes(8*int64(n)*6 + 24*int64(k)*int64(k)),
		Operations: float64(n) * float64(k) * (2*float64(k) + 6*float64(count)),
		Remedy:     fmt.Sprintf("ask for fewer %s", param.Name("pairs"))}
}

// choose chooses points. The eigenpairs must be there if the rule needs them.
func (c *Candidates) choose(ctx context.Context, s *active.Settings) ([]active.Choice, error) {
	pool := &active.Pool{Components: c.Graph.Components, Labeled: c.Labeled, Closed: c.Closed}
	if s.Rule.NeedsScores() && c.Scores == nil {
		return nil, fmt.Errorf("labeling: the rule %v needs the scores of a model", s.Rule)
	}
	if s.Rule == active.Committee && c.Disagreement == nil {
		return nil, fmt.Errorf("labeling: the rule %v needs a model of several members", s.Rule)
	}
	if s.Rule.UsesScores() && c.Scores != nil {
		_, pool.Classes = c.Scores.Dims()
		if s.Rule == active.Committee {
			pool.Margins = agreement(c.Disagreement)
		} else {
			pool.Margins = active.Margins(c.Scores)
		}
		for i, reached := range c.Graph.Components.Reached(c.Labeled) {
			if !reached {
				pool.Margins[i] = 0 // nothing is known there
			}
		}
	}

	if s.Rule.NeedsPairs() {
		pool.Values = c.Pairs.Values
		pool.Vectors = c.Pairs.Vectors
	}
	if err := c.prepareCold(ctx, pool, s); err != nil {
		return nil, err
	}
	return active.Choose(ctx, pool, s)
}

// agreement returns 1 − d for every d.
func agreement(d []float64) []float64 {
	out := make([]float64, len(d))
	for i, v := range d {
		out[i] = 1 - v
	}
	return out
}

// DisagreementOf returns how far the members of m disagree about each point ([models.Disagreeing]), or an
// error that says which models have members.
func DisagreementOf(ctx context.Context, m models.Model) ([]float64, error) {
	d, ok := models.Unnamed(m).(models.Disagreeing)
	if !ok {
		return nil, fmt.Errorf("the rule %v asks the members of a model of auto, and a %s model has none",
			active.Committee, m.Name())
	}
	return d.Disagreement(ctx)
}

// FieldPairs computes vectors near the smallest eigenvectors of the normalized Laplacian for the rules, with their
// quotients: k of them, or the default for 0, and the null vectors of the k largest components. Rows of points in
// other components are zero. See [lanczos.Settings.Rough].
func (p Planner) FieldPairs(ctx context.Context, g *models.Graph, k int) (*lanczos.Result, error) {
	if k == 0 {
		k = DefaultFieldPairs
	}
	if g.W == nil {
		return nil, fmt.Errorf("labeling: eigenpairs need the edges of the graph; give it with %s",
			param.Name("graph"))
	}

	// A graph of thousands of small components would have as many null vectors, n numbers each.
	part, rows := largestComponents(g, k)
	s := &pipeline.EigsSettings{Laplacian: sparse.Normalized, K: min(part.Len(), k+part.Components.Count())}
	// Rules compare points by the covariance of the whole span, which a pass of a filter gives.
	r, err := p.Eigenpairs(ctx, part, s, func(s *lanczos.Settings) { s.Rough = true })
	if rows == nil || r == nil {
		return r, err
	}

	// Back to the points of the whole graph.
	_, cols := r.Vectors.Dims()
	whole := mat.NewDense(g.Len(), cols, nil)
	for at, i := range rows {
		copy(whole.RawRowView(int(i)), r.Vectors.RawRowView(at))
	}
	r.Vectors = whole
	return r, err
}

// largestComponents returns the graph of the points in the k largest components, and the numbers
// of these points. If g has at most k components it returns g and nil.
func largestComponents(g *models.Graph, k int) (*models.Graph, []int32) {
	sizes := g.Components.Sizes
	if len(sizes) <= k {
		return g, nil
	}
	order := data.Range(0, len(sizes))
	slices.SortStableFunc(order, func(a, b int) int { return sizes[b] - sizes[a] })
	large := make([]bool, len(sizes))
	for _, c := range order[:k] {
		large[c] = true
	}

	// place gives the new number of each point, −1 for points left out.
	var rows []int32
	place := make([]int32, g.Len())
	for i, c := range g.Components.Of {
		if place[i] = -1; large[c] {
			place[i] = int32(len(rows))
			rows = append(rows, int32(i))
		}
	}

	part := sparse.Induced(g.W, rows, func(j int32) int32 { return place[j] })
	return models.NewGraph(part), rows
}

// CheckOrthonormal returns an error unless the eigenvectors in a file are orthonormal: the file
// may hold eigenvectors of the random-walk Laplacian, which are not.
func CheckOrthonormal(path string, r *lanczos.Result) error {
	// 1e-3 is far above the tolerance of pairs and far below a wrong normalization.
	_, k := r.Vectors.Dims()
	gram := mat.NewDense(k, k, nil)
	dense.Syrk(dense.Transposed, 1, r.Vectors, 0, gram)
	for a := range k {
		for b, v := range gram.RawRowView(a) {
			if a == b {
				v--
			}
			if !(math.Abs(v) <= 1e-3) {
				return fmt.Errorf("%s: the eigenvectors %d and %d are not orthonormal: off by %.2g; "+
					"variances need those of %s normalized or combinatorial", path, a, b, v,
					param.Name("laplacian"))
			}
		}
	}

	return nil
}
