package knn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

// GraphSettings are the settings of [NewGraph]. Exactly one of K and Radius is positive.
type GraphSettings struct {
	// K joins every point with its K nearest points.
	K int `json:"k,omitempty"`
	// Radius joins all points at most this far apart (an ε graph), by the metric:
	// for Angle in radians.
	Radius float64 `json:"radius,omitempty"`
	// Symmetry of a k-neighbour graph defaults to Either. Graphs of a radius are symmetric without it.
	Symmetry sparse.Symmetry `json:"symmetry"`
	// Weights default to One.
	Weights Weighting `json:"weights"`
	// T is the t of Heat. Zero chooses t = mean(σ_i²)/4 with σ_i the distance of the K-th
	// neighbour, so that an edge of mean length weighs 1/e, or t = Radius²/4 for a radius.
	T float64 `json:"t,omitempty"`
}

func (s *GraphSettings) validate() error {
	var faults []error
	badRadius := s.Radius < 0 || math.IsNaN(s.Radius) || math.IsInf(s.Radius, 0)
	if s.K < 0 || badRadius || (s.K > 0) == (s.Radius > 0) {
		faults = append(faults, fmt.Errorf(
			"knn: a graph needs either a number of neighbours or a radius, not %d and %v", s.K, s.Radius))
	}
	if !weightings.Valid(s.Weights) {
		faults = append(faults, fmt.Errorf("knn: weighting %v", s.Weights))
	}
	if s.Symmetry < sparse.Either || s.Symmetry > sparse.Sum {
		faults = append(faults, fmt.Errorf("knn: symmetry %v", s.Symmetry))
	}
	if s.T < 0 || math.IsNaN(s.T) || math.IsInf(s.T, 0) {
		faults = append(faults, fmt.Errorf(
			"knn: the heat parameter t is %v; it must be positive, or 0 to have it chosen", s.T))
	}
	if s.Weights.needsLists() && s.Radius > 0 {
		faults = append(faults, fmt.Errorf("knn: %s weights are defined by the k nearest neighbours; "+
			"give a number of neighbours instead of a radius", s.Weights))
	}
	if s.Symmetry == sparse.Sum && s.Radius > 0 {
		faults = append(faults, fmt.Errorf("knn: symmetry %v is for the k nearest neighbours; points within a radius "+
			"name each other, so that all weights would only double; leave it out", s.Symmetry))
	}

	return errors.Join(faults...)
}

// NewGraph searches ix and returns the symmetric weight matrix of its points, and the settings with
// T filled in. With [ErrRecall] the graph is made from the neighbours that were found. Edges with a
// weight that underflows to zero are left out.
func NewGraph(ctx context.Context, ix Index, s GraphSettings) (*sparse.CSR, GraphSettings, error) {
	if err := errors.Join(s.validate(), ix.Metric().CheckEdges(&s)); err != nil {
		return nil, s, err
	}
	if s.Radius > 0 {
		m, err := ix.Within(ctx, s.Radius)
		if err != nil {
			return nil, s, err
		}
		// An edge as long as the radius weighs 1/e.
		if s.Weights == Heat && s.T == 0 {
			s.T = s.Radius * s.Radius / 4
		}
		return s.weigh(m), s, nil
	}

	nb, err := ix.Self(ctx, s.K)
	if err != nil && !errors.Is(err, ErrRecall) {
		return nil, s, err
	}
	w, s, fault := FromNeighbors(nb, s)
	return w, s, errors.Join(fault, err)
}

// FromNeighbors returns the graph of the first s.K neighbours of every point, as [NewGraph] does.
func FromNeighbors(nb *Neighbors, s GraphSettings) (*sparse.CSR, GraphSettings, error) {
	if err := s.validate(); err != nil {
		return nil, s, err
	}
	if s.K < 1 || s.K > nb.K {
		return nil, s, fmt.Errorf("knn: a graph of %d neighbours from lists of %d", s.K, nb.K)
	}
	if nb.Ordered && s.Weights.needsDistances() {
		return nil, s, fmt.Errorf("knn: %s weights need distances, and the lists only order the neighbours: "+
			"take the weights %s or %s", s.Weights, One, Shared)
	}

	if s.Weights == Heat && s.T == 0 {
		if s.T = nb.meanSquare(s.K) / 4; s.T == 0 {
			s.T = 1 // all points coincide with their neighbours; every weight is 1
		}
	}
	// Lists are not symmetric: Combine joins the weights of both directions.
	w := s.weighLists(nb)
	return s.Weights.Combine(w, w.T(), s.Symmetry), s, nil
}

// EdgeLengths returns the graph w of the points x with their distances as weights.
func EdgeLengths(ctx context.Context, w *sparse.CSR, x data.Points, m Metric) (*sparse.CSR, error) {
	if s, ok := x.(*sparse.CSR); ok {
		// Sets of sparse points compare their entries as ones.
		x = m.entries(s)
	}
	newMeter, err := meters(x, m)
	if err != nil {
		return nil, err
	}

	out := &sparse.CSR{Rows: w.Rows, Cols: w.Cols, Ptr: w.Ptr, Col: w.Col, Val: make([]float64, w.NNZ())}
	all := exhaustive{x, newMeter}
	return out, all.each(ctx, x, nil, func(m meter, i int) {
		for at := w.Ptr[i]; at < w.Ptr[i+1]; at++ {
			out.Val[at] = m.distance(int(w.Col[at]))
		}
	})
}

// weigh replaces the distances of m by the weights One or Heat.
func (s *GraphSettings) weigh(m *sparse.CSR) *sparse.CSR {
	if s.Weights == One {
		return &sparse.CSR{Rows: m.Rows, Cols: m.Cols, Ptr: m.Ptr, Col: m.Col}
	}

	out := &sparse.CSR{Rows: m.Rows, Cols: m.Cols, Ptr: make([]int64, m.Rows+1), Val: []float64{}}
	for i := range m.Rows {
		// Weights that underflow to zero leave the graph.
		col, dist := m.Row(i)
		for p, d := range dist {
			if w := s.weight(d, 0); w > 0 {
				out.Col = append(out.Col, col[p])
				out.Val = append(out.Val, w)
			}
		}
		out.Ptr[i+1] = int64(len(out.Col))
	}

	return out
}
