package pool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/models"
)

// fileFit is the part of the manifest of a model that is no parameter. The arrays beside it,
// for n points, c columns of answers and l labels, are
//
//	member            dtype    shape   meaning
//	scores            float64  n×c     answers for the training points; probabilities for classes.
//	                                   Only where a part does not keep its answers
//	classes           int64    c       names of the classes, as numbers, ascending
//	given_labels      int32    l       positions in classes of the labels
//	class_factors     float64  c       of the probabilities: see adaptShares; only where there are some
//	(given targets)                    see models.Given.Entries
//	(neighbourhood)                    see models.Neighborhood.Encode
//	part0_NAME, …                      array NAME of part 0, of part 1, …
//
// An array of a part that equals an earlier one is not written again: Shared of the part gives
// the name under which it stands.
type fileFit struct {
	Choice  Choice `json:"choice"`
	Points  int    `json:"points"`
	Labeled int    `json:"labeled"`
	Factors bool   `json:"class_factors,omitempty"` // there are some
	// Offset is the mean of the values, which the parts are fitted without.
	Offset []float64 `json:"offset,omitempty"`
	// Mixed tells that there are no scores, as they are the mean of the parts' answers for the
	// training points.
	Mixed bool `json:"mixed,omitempty"`
	// Unreached is the number of training points that no part knows anything of.
	Unreached int `json:"unreached,omitempty"`
	// Neighborhood describes the graph that was given; the graphs of the parts were cut from
	// it.
	Neighborhood models.RawState `json:"neighborhood"`
	Parts        []filePart      `json:"parts"`
}

// filePart is a part inside the file: the manifest that the part would have as a model of its
// own, its weight and its scale.
type filePart struct {
	models.Manifest
	Weight float64 `json:"weight"`
	Scale  scale   `json:"scale"`
	// Shared names the arrays of earlier parts, by the name in this one.
	Shared map[string]string `json:"shared,omitempty"`
}

// arrayName returns the name in the file of an array of a part.
func arrayName(part int, name string) string { return fmt.Sprintf("part%d_%s", part, name) }

// Encode returns the manifest and the arrays that fileFit draws. Arrays that several parts
// share, such as their graph, are written once.
func (m *Model) Encode() (*models.Encoded, error) {
	state, arrays, err := m.neighborhood.Encode()
	if err != nil {
		return nil, err
	}
	own := models.ClassEntries(m.output.Classes)
	mixed := m.keepsAnswers()
	if !mixed {
		own = append(own, models.MatrixEntry("scores", m.answers()))
	}
	if m.output.Classes != nil {
		own = append(own, archive.Array{Name: "given_labels", Data: m.labels})
		if m.factors != nil {
			own = append(own, archive.Array{Name: "class_factors", Data: m.factors})
		}
	}

	// The arrays of the model itself come first, so that parts can refer to them too.
	out := &models.Encoded{Values: m.values, Arrays: slices.Concat(own, m.given.Entries(), arrays)}
	f := fileFit{Choice: m.Choice, Points: m.points, Labeled: len(m.given.Points), Factors: m.factors != nil,
		Offset: m.offset, Mixed: mixed, Unreached: m.unreached, Neighborhood: state}
	for k, p := range m.parts {
		e, err := p.Encode()
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(e.Fit)
		if err != nil {
			return nil, fmt.Errorf("pool: %w", err)
		}
		own := filePart{Weight: p.weight, Scale: p.scale,
			Manifest: models.Manifest{Learner: p.Name(), Output: p.Output(), Dim: p.Dim(), Params: e.Values,
				Fit: raw}}
		own.Manifest.Soft, own.Manifest.Weighted = e.Soft()
		// An array of this part that is there already is replaced by its name.
		for _, a := range e.Arrays {
			if i := slices.IndexFunc(out.Arrays,
				func(b archive.Array) bool { return sameArray(a, b) }); i >= 0 {
				if own.Shared == nil {
					own.Shared = map[string]string{}
				}
				own.Shared[a.Name] = out.Arrays[i].Name
				continue
			}
			a.Name = arrayName(k, a.Name)
			out.Arrays = append(out.Arrays, a)
		}

		f.Parts = append(f.Parts, own)
	}

	out.Fit = f
	return out, nil
}

// sameArray reports whether two arrays have one type, shape and content.
func sameArray(a, b archive.Array) bool {
	if !slices.Equal(a.Shape, b.Shape) {
		return false
	}

	switch v := a.Data.(type) {
	case archive.Repeat:
		return v == b.Data
	case archive.Raw:
		other, ok := b.Data.(archive.Raw)
		return ok && v.DType == other.DType && slices.EqualFunc(v.Parts, other.Parts, bytes.Equal)
	case archive.Single:
		other, ok := b.Data.(archive.Single)
		return ok && sameElements([]float64(v), []float64(other))
	case []float64:
		return sameElements(v, b.Data)
	case []float32:
		return sameElements(v, b.Data)
	case []uint8:
		return sameElements(v, b.Data)
	case []uint16:
		return sameElements(v, b.Data)
	case []int32:
		return sameElements(v, b.Data)
	case []int64:
		return sameElements(v, b.Data)
	}

	return false
}

func sameElements[T comparable](a []T, other any) bool {
	b, ok := other.([]T)
	return ok && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// Decode is the inverse of [Model.Encode].
func (l Learner) Decode(r *models.Reader) (models.Model, error) {
	var f fileFit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	s, err := decode(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	m := &Model{Choice: f.Choice, name: l.Name, values: params.Encode(&s), output: r.Manifest.Output,
		points: f.Points, unreached: f.Unreached, offset: f.Offset}
	classes := r.ReadClasses()
	if !f.Mixed {
		m.scores = r.Matrix("scores")
	}
	if r.Err != nil {
		return nil, r.Err
	}
	n := f.Points
	values := m.output.Columns
	if m.scores != nil {
		n, values = m.scores.Dims()
	}

	// For classes the answers have columns, but the given targets hold positions and no
	// values.
	if classes != nil {
		values = 0
		m.labels = models.Numbers[int32](r, "given_labels")
		if f.Factors {
			m.factors = models.Numbers[float64](r, "class_factors")
		}
	}

	if m.given, err = r.Given(n, f.Labeled, values); err != nil {
		return nil, err
	}
	if m.neighborhood, err = r.Neighborhood(f.Neighborhood, n, true); err != nil {
		return nil, err
	}
	// Extends and Searches follow from the parts, and are not believed of the manifest.
	m.output.Classes = classes
	m.output.Extends = false
	m.output.Searches = false
	for k, p := range f.Parts {
		model, err := l.decodePart(r, m, k, &p)
		if err != nil {
			return nil, err
		}
		m.join(part{Model: model, scale: p.Scale, weight: p.Weight})
		m.output.Extends = m.output.Extends || model.Output().Extends
		m.output.Searches = m.output.Searches || model.Output().Searches
	}

	if err := m.check(&f); err != nil {
		return nil, err
	}
	if f.Mixed {
		if !m.keepsAnswers() {
			return nil, errors.New("pool: there are no scores, and a part does not keep its answers")
		}
		r.Claim(8 * int64(n) * int64(m.output.Columns)) // when answers mixes them
	}
	return m, r.Err
}

// decodePart decodes part k through a reader that maps the names of its arrays to their names
// in the file.
func (l Learner) decodePart(r *models.Reader, m *Model, k int, p *filePart) (models.Model, error) {
	i := slices.IndexFunc(l.Members, func(m Member) bool { return m.Learner.Info().Name == p.Learner })
	if i < 0 {
		return nil, fmt.Errorf("pool: part %d is an unknown model %q; the file may be of a later "+
			"version of bigfit", k, p.Learner)
	}

	own := r.Part(p.Manifest, &m.neighborhood, func(name string) string {
		if shared, ok := p.Shared[name]; ok {
			return shared
		}
		return arrayName(k, name)
	})

	model, err := l.Members[i].Learner.Decode(own)
	if own.Err != nil {
		return nil, own.Err
	}
	if err != nil {
		return nil, fmt.Errorf("part %d, %s: %w", k, p.Learner, err)
	}
	return model, nil
}

// check returns an error unless the parts of the model agree with one another and with the
// manifest.
func (m *Model) check(f *fileFit) error {
	if len(m.parts) == 0 {
		return errors.New("pool: the model has no part")
	}
	n, c := m.points, m.output.Columns
	if m.scores != nil {
		n, c = m.scores.Dims()
	}
	if c != m.output.Columns || m.output.Classes != nil && c != len(m.output.Classes) {
		return fmt.Errorf("pool: scores of %d columns for %d outputs", c, m.output.Columns)
	}
	if err := checkOffset(m.offset, c, m.output.Classes != nil || m.output.Labels != nil); err != nil {
		return err
	}
	if f.Unreached < 0 || f.Unreached > n {
		return fmt.Errorf("pool: %d of %d points are out of reach", f.Unreached, n)
	}
	if n != f.Points || n < 1 {
		return fmt.Errorf("pool: scores of %d points, the manifest says %d points", n, f.Points)
	}

	// Predict divides by the factors' sum and indexes by the labels, so both are checked
	// before use.
	if m.output.Classes != nil {
		if m.factors != nil && len(m.factors) != c {
			return fmt.Errorf("pool: %d factors of %d classes", len(m.factors), c)
		}
		if k := slices.IndexFunc(m.factors, func(v float64) bool { return !(v >= 0) }); k >= 0 {
			return fmt.Errorf("pool: the factor of class %d is %v", k, m.factors[k])
		}
		if !slices.IsSorted(m.output.Classes) {
			return errors.New("pool: the classes do not ascend")
		}
		if len(m.labels) != f.Labeled {
			return fmt.Errorf("pool: %d given labels of %d labeled points", len(m.labels), f.Labeled)
		}
		if q := slices.IndexFunc(m.labels,
			func(c int32) bool { return c < 0 || int(c) >= len(m.output.Classes) }); q >= 0 {
			return fmt.Errorf("pool: element %d of given_labels is %d of %d classes", q, m.labels[q],
				len(m.output.Classes))
		}
	}

	// The parts may take the principal components of the points in place of the points.
	if d, own := m.Dim(), m.neighborhood.Dim(); d > 0 && own != d {
		return fmt.Errorf("pool: the graph is on points of %d columns, the model for %d", own, d)
	}
	var sum float64
	for k, p := range m.parts {
		o := p.Output()
		columns := m.Dim()
		if columns > 0 && m.neighborhood.PCA != nil && !p.projects() {
			columns = len(m.neighborhood.PCA.Variance)
		}
		switch {
		case columns > 0 && p.Dim() != columns:
			return fmt.Errorf("pool: part %d, %s, is for points of %d columns, the model has %d for it", k, p.Name(),
				p.Dim(), columns)
		case o.Kind != m.output.Kind || o.Columns != c || !slices.Equal(o.Classes, m.output.Classes) ||
			!slices.Equal(o.Labels, m.output.Labels):
			return fmt.Errorf("pool: part %d, %s, answers with %+v and not with %+v", k, p.Name(),
				o, m.output)
		case !(p.weight > 0) || !(p.scale.Slope > 0 && !math.IsInf(p.scale.Slope, 1)) &&
			m.output.Classes != nil:
			return fmt.Errorf("pool: part %d, %s, has the weight %v and the slope %v", k, p.Name(), p.weight,
				p.scale.Slope)
		case p.Dim() != f.Parts[k].Dim:
			return fmt.Errorf("pool: part %d, %s, is for points of %d columns, the manifest says %d", k,
				p.Name(), p.Dim(), f.Parts[k].Dim)
		}

		sum += p.weight
		if t, ok := p.Model.(models.Trained); ok && t.Training(false).Len() != n {
			return fmt.Errorf("pool: scores of %d points, part %d, %s, has %d", n, k, p.Name(),
				t.Training(false).Len())
		}
	}

	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("pool: the weights add up to %v", sum)
	}
	return nil
}
