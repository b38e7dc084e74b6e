package nearest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/models"
)

// geodesicFit is the part of a model in its manifest that is no parameter.
type geodesicFit struct {
	Paths        int             `json:"paths"` // to labeled points that are kept of each point
	Labeled      int             `json:"labeled"`
	Unreached    int             `json:"unreached"`
	Fallback     int32           `json:"fallback"`
	Neighborhood models.RawState `json:"neighborhood"`
}

// Encode returns classes (c), labels (n), path_counts (n), path_sources and path_lengths
// (n·k), and the arrays of the given labels and of the neighbourhood.
func (m *Geodesic) Encode() (*models.Encoded, error) {
	state, arrays, err := m.Neighborhood.Encode()
	if err != nil {
		return nil, err
	}

	own := append(models.ClassEntries(m.Classes),
		archive.Array{Name: "labels", Data: m.Labels},
		archive.Array{Name: "path_counts", Data: m.paths.count},
		archive.Array{Name: "path_sources", Data: m.paths.source},
		archive.Array{Name: "path_lengths", Data: m.paths.length})
	return &models.Encoded{Values: geodesicParams.Encode(&m.Settings),
		Fit:    geodesicFit{m.paths.k, m.Labeled, m.Unreached, m.Fallback, state},
		Arrays: slices.Concat(own, m.Given.Entries(), arrays)}, nil
}

// Decode is the inverse of [Geodesic.Encode].
func (GeodesicLearner) Decode(r *models.Reader) (models.Model, error) {
	var f geodesicFit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	s, err := geodesicSettings(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	m := &Geodesic{Settings: s, Labeled: f.Labeled, Unreached: f.Unreached, Fallback: f.Fallback,
		Classes: r.ReadClasses(),
		Labels:  models.Numbers[int32](r, "labels")}
	m.paths = &paths{k: f.Paths, count: models.Numbers[int32](r, "path_counts"),
		source: models.Numbers[int32](r, "path_sources"), length: models.Numbers[float64](r, "path_lengths")}
	if r.Err != nil {
		return nil, r.Err
	}

	// Paths begin at given points, so these are read before the paths are checked.
	if m.Given, err = r.Given(len(m.Labels), f.Labeled, 0); err != nil {
		return nil, err
	}
	if m.Neighborhood, err = r.Neighborhood(f.Neighborhood, len(m.Labels), true); err != nil {
		return nil, err
	}
	return m, m.check()
}

// check returns an error unless the parts of the model fit together.
func (m *Geodesic) check() error {
	n := len(m.Labels)
	p := m.paths
	if n == 0 || len(m.Classes) < 2 || m.Fallback < 0 || int(m.Fallback) >= len(m.Classes) {
		return fmt.Errorf("nearest: %d points, %d classes and the class %d for points out of reach", n,
			len(m.Classes), m.Fallback)
	}
	if i := slices.IndexFunc(m.Labels, func(c int32) bool {
		return c < 0 ||
			int(c) >= len(m.Classes)
	}); i >= 0 {
		return fmt.Errorf("nearest: label %d of point %d is not one of %d classes", m.Labels[i], i,
			len(m.Classes))
	}
	if p.k != min(m.Settings.Vote, m.Labeled) || len(p.count) != n || len(p.source) != n*p.k ||
		len(p.length) != n*p.k {
		return fmt.Errorf("nearest: %d counts, %d sources and %d lengths of %d paths to each of %d points",
			len(p.count), len(p.source), len(p.length), p.k, n)
	}

	// Every path must begin at a labeled point, the shortest first.
	for i, c := range p.count {
		if c < 0 || int(c) > p.k {
			return fmt.Errorf("nearest: %d paths to point %d, of at most %d", c, i, p.k)
		}
		source, length := p.at(i)
		for q, j := range source {
			if _, given := slices.BinarySearch(m.Given.Points, j); !given {
				return fmt.Errorf("nearest: path %d to point %d begins at %d, which has no label", q, i, j)
			}
			if length[q] < 0 || q > 0 && length[q] < length[q-1] {
				return errors.New("nearest: lengths of paths must ascend and not be negative")
			}
		}
	}

	return nil
}
