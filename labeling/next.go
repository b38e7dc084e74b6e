// Package labeling says which points to label next, and lists labels that may be wrong, by
// models of a pipeline and the rules of models/active.
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

// DefaultFieldPairs is the number of eigenpairs beside null vectors that rules look at.
const DefaultFieldPairs = 200

// fieldTolerance of these eigenpairs: rules compare points, and need few digits.
const fieldTolerance = 1e-5

// NextSettings of [Planner.Next].
type NextSettings struct {
	active.Settings
	// Pairs is the number of eigenpairs of the normalized Laplacian beside the null
	// vectors. Default [DefaultFieldPairs].
	Pairs int
}

// Candidates are n points of a graph of which some have a label.
type Candidates struct {
	Graph *models.Graph // with its edges, unless Pairs are given
	// Pairs are the smallest eigenpairs of a symmetric Laplacian; nil to compute them.
	Pairs   *lanczos.Result
	Labeled []int
	Closed  []bool // points that cannot be labeled; nil for none
	// Scores are those of a model for the classes of all points; rules that look at
	// none do without.
	Scores *mat.Dense
}

// Next chooses points to label next, best first: see [active.Choose]. A nil c.Pairs is
// filled in.
func (p Planner) Next(ctx context.Context, c *Candidates, s *NextSettings) ([]active.Choice, error) {
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

// Cost returns the cost of choosing count points by a rule that needs pairs, which are there.
func (c *Candidates) Cost(count int) stage.Cost {
	n, k := c.Pairs.Vectors.Dims()
	return stage.Cost{Bytes: stage.DenseBytes(8*int64(n)*int64(k+4) + 24*int64(k)*int64(k)),
		Operations: float64(n) * float64(k) * (2*float64(k) + 8*float64(count)),
		Remedy:     fmt.Sprintf("ask for fewer %s", param.Name("pairs"))}
}

// choose chooses points; the eigenpairs are there.
func (c *Candidates) choose(ctx context.Context, s *active.Settings) ([]active.Choice, error) {
	pool := &active.Pool{Components: c.Graph.Components, Labeled: c.Labeled, Closed: c.Closed}
	if s.Rule.NeedsScores() {
		if c.Scores == nil {
			return nil, fmt.Errorf("labeling: the rule %v needs the scores of a model", s.Rule)
		}
		_, pool.Classes = c.Scores.Dims()
		pool.Margins = active.Margins(c.Scores)
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
	return active.Choose(ctx, pool, s)
}

// FieldPairs computes the eigenpairs of the normalized Laplacian that rules look at: k, or
// the default for 0, and the null vectors of the k largest components. Rows of points in
// other components are zero.
func (p Planner) FieldPairs(ctx context.Context, g *models.Graph, k int) (*lanczos.Result, error) {
	if k == 0 {
		k = DefaultFieldPairs
	}
	if g.W == nil {
		return nil, fmt.Errorf("labeling: eigenpairs need the edges of the graph; give it with %s", param.Name("graph"))
	}
	part, rows := largestComponents(g, k)
	s := &pipeline.EigsSettings{Laplacian: sparse.Normalized, K: min(part.Len(), k+part.Components.Count()),
		Tolerance: fieldTolerance}
	r, err := p.Eigenpairs(ctx, part, s, nil)
	if rows == nil || r == nil {
		return r, err
	}

	_, cols := r.Vectors.Dims()
	whole := mat.NewDense(g.Len(), cols, nil)
	for at, i := range rows {
		copy(whole.RawRowView(int(i)), r.Vectors.RawRowView(at))
	}
	r.Vectors = whole
	return r, err
}

// largestComponents returns the graph of the points in the k largest components, and
// which they are; g and nil if there are no more.
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

// CheckOrthonormal returns an error unless the eigenvectors in a file are orthonormal, as
// those of a symmetric Laplacian are.
func CheckOrthonormal(path string, r *lanczos.Result) error {
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
					"variances need those of %s normalized or combinatorial", path, a, b, v, param.Name("laplacian"))
			}
		}
	}

	return nil
}
