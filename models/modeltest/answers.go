package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
)

// Most checks fit sampleSize points and ask for queryCount new ones.
const sampleSize, queryCount = 84, 21

// input makes an input, with the values of the suite.
func (c *checker) input(s *sample, k kind) *models.Input { return c.inputWith(s, k, nil) }

// inputWith makes an input with some values changed.
func (c *checker) inputWith(s *sample, k kind, v models.Values) *models.Input {
	in, err := input(c.l, s, k, c.s.Values.With(v))
	c.must(k.name, "the input", err)
	return in
}

// fit stops if there is no model.
func (c *checker) fit(at string, in *models.Input) models.Model {
	m, err := c.l.Fit(context.Background(), in)
	if !models.Usable(err) {
		if !missing(m) {
			c.fault(at, "Fit returned both a model and an error that is not Usable")
		}
		c.must(at, "Fit", err)
	}

	// A model that did not converge comes with a Usable error, and the checks go on with it.
	if missing(m) {
		c.must(at, "Fit", fmt.Errorf("no model and the error %v", err))
	}
	return m
}

// refuse demands an error, and no model, of a fit. It returns the error.
func (c *checker) refuse(at, what string, in *models.Input) error {
	m, err := c.l.Fit(context.Background(), in)
	if models.Usable(err) {
		c.fault(at, "%s: the error is %v", what, err)
		panic(stop{})
	}
	if !missing(m) {
		c.fault(at, "%s: Fit returned a model (%T) together with the error %v", what, m, err)
	}
	return err
}

// missing tells whether m is nil or a nil pointer.
func missing(m models.Model) bool {
	v := reflect.ValueOf(m)
	return m == nil || v.Kind() == reflect.Pointer && v.IsNil()
}

// answers holds the predictions for new points and for the training points, nil where the model has
// none.
type answers struct{ query, training *models.Prediction }

// ask stops if the model does not answer, or not with finite numbers.
func (c *checker) ask(at string, m models.Model, query data.Points) answers {
	var a answers
	if m.Dim() > 0 {
		var err error
		a.query, err = m.Predict(context.Background(), query, nil)
		c.must(at, "Predict", err)
	}

	// The scores of the training are asked for too: they are kept by the model, or made from what
	// it keeps.
	if trained, ok := m.(models.Trained); ok {
		a.training = trained.Training(true)
	}
	for _, p := range []*models.Prediction{a.query, a.training} {
		if p != nil && p.Scores != nil && !finite(p.Scores) {
			c.must(at, "the answers", fmt.Errorf("a score is not finite"))
		}
	}

	// A graph without points leaves only the training, and a machine on points only the query.
	if a.query == nil && a.training == nil {
		c.must(at, "the answers", fmt.Errorf("the model answers neither for new points nor for its own"))
	}
	return a
}

// answer fits and asks for the points of a query.
func (c *checker) answer(at string, in *models.Input, query data.Points) answers {
	return c.ask(at, c.fit(at, in), query)
}

func finite(m *mat.Dense) bool {
	rows, _ := m.Dims()
	for i := range rows {
		for _, v := range m.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}

// queries are new points.
func queries(whole bool) data.Points { return blobs(queryCount, whole, 99).x }

// difference names the first difference of two answers, or returns "". A
// tolerance of 0 compares bits.
func difference(a, b answers, tolerance float64) string {
	if d := differs(a.query, b.query, tolerance); d != "" {
		return "new points: " + d
	}
	if d := differs(a.training, b.training, tolerance); d != "" {
		return "training points: " + d
	}
	return ""
}

// differs compares two predictions. By tolerance, classes may differ where their
// scores are equal.
func differs(a, b *models.Prediction, tolerance float64) string {
	if a == nil || b == nil || a.Scores == nil || b.Scores == nil {
		if (a == nil) != (b == nil) || a != nil && (a.Scores == nil) != (b.Scores == nil) {
			return "only one has answers"
		}
		if a != nil && !slices.Equal(a.Classes, b.Classes) {
			return "other classes"
		}
		return ""
	}

	rows, cols := a.Scores.Dims()
	if r, k := b.Scores.Dims(); r != rows || k != cols || len(a.Classes) != len(b.Classes) {
		return fmt.Sprintf("scores are %d×%d and %d×%d, classes %d and %d", rows, cols, r, k, len(a.Classes),
			len(b.Classes))
	}

	// The tolerance is relative to the largest score: one near 0 has no digits of its own to
	// compare.
	size := max(math.Abs(mat.Max(a.Scores)), math.Abs(mat.Min(a.Scores)))
	equal := func(x, y float64) bool {
		if tolerance == 0 {
			return math.Float64bits(x) == math.Float64bits(y)
		}
		return math.Abs(x-y) <= tolerance*size
	}

	for i := range rows {
		p := a.Scores.RawRowView(i)
		q := b.Scores.RawRowView(i)
		for j := range p {
			if !equal(p[j], q[j]) {
				return fmt.Sprintf("score %d of point %d is %v and %v, the largest %.3g", j, i, p[j],
					q[j], size)
			}
		}
		if a.Classes == nil {
			continue
		}

		// Rounding may turn a tie round, so another class is a fault only if its score is another
		// one.
		if u, v := a.Classes[i], b.Classes[i]; u != v && (tolerance == 0 || !equal(p[u], p[v])) {
			return fmt.Sprintf("point %d has the classes %d and %d", i, u, v)
		}
	}

	return ""
}

// reordered returns the rows of p in the given order.
func reordered(p *models.Prediction, order []int) *models.Prediction {
	if p == nil {
		return nil
	}
	a := models.AnswerAt(p, order, nil)
	return &models.Prediction{Classes: a.Classes, Scores: a.Scores}
}

// encodedDifference names the first difference of what two models write to their
// files, or returns "".
func encodedDifference(a, b *models.Encoded) string {
	for _, part := range [][3]any{{"values", a.Values, b.Values}, {"the fit in the manifest", a.Fit, b.Fit}} {
		x, errX := json.Marshal(part[1])
		y, errY := json.Marshal(part[2])
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			return fmt.Sprintf("%s: %s and %s, %v, %v", part[0], x, y, errX, errY)
		}
	}

	// Arrays are written in the order of Encode, so the order is part of the bytes of a file.
	if len(a.Arrays) != len(b.Arrays) {
		return fmt.Sprintf("%d and %d arrays", len(a.Arrays), len(b.Arrays))
	}

	for i, x := range a.Arrays {
		if y := b.Arrays[i]; x.Name != y.Name || !slices.Equal(x.Shape, y.Shape) ||
			!sameData(x.Data, y.Data) {
			return fmt.Sprintf("the arrays %s and %s have other elements", x.Name, y.Name)
		}
	}
	return ""
}

// sameData compares the elements of arrays, of floats their bits.
func sameData(a, b any) bool {
	switch a := a.(type) {
	case []float64:
		b, ok := b.([]float64)
		return ok && slices.EqualFunc(a, b,
			func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
	case []float32:
		b, ok := b.([]float32)
		return ok && slices.EqualFunc(a, b,
			func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
	case archive.Raw: // in any parts
		b, ok := b.(archive.Raw)
		return ok && a.DType == b.DType && bytes.Equal(bytes.Join(a.Parts, nil), bytes.Join(b.Parts, nil))
	}

	return reflect.DeepEqual(a, b)
}
