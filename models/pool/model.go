package pool

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pca"
)

// Model is the weighted mean of models: of their probabilities of classes, and of
// other answers themselves.
type Model struct {
	Choice Choice

	name   string
	values models.Values
	parts  []part
	// projection of new points, for parts that take fewer columns; may be nil.
	projection *pca.Projection
	output     models.Output
	labeled    int
	scores     *mat.Dense // of the training points
}

// part is a model with its weight.
type part struct {
	models.Model
	scale  scale
	weight float64
}

// model fits the members with a weight to all targets.
func (f *fit) model(ctx context.Context) (models.Model, error) {
	t := f.in.Targets
	m := &Model{name: f.learner.Name, values: params.Encode(&f.settings), labeled: len(t.Labeled), projection: f.projection}
	m.output = models.OutputOf(t.Classes, outputs(t))
	if t.Labels != nil {
		m.output = models.Output{Kind: models.OutputLabels, Labels: t.Labels, Columns: outputs(t)}
	}
	m.scores = mat.NewDense(f.in.Len(), m.output.Columns, nil)
	var short error
	for _, c := range f.contenders {
		if c.weight == 0 {
			continue
		}
		in := *f.in
		in.Values, in.Start = c.settings[c.best], nil
		info := c.member.Learner.Info()
		in.Graph = nil
		if info.UsesGraph(in.Values) {
			var err error
			if in.Graph, err = f.graph(c.member); err != nil {
				return nil, err
			}
		}
		in.Progress = nil
		fitted, err := c.member.Learner.Fit(ctx, &in)
		if !models.Usable(err) {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		short = cmp.Or(short, err)
		answers, err := onTraining(ctx, fitted, f.in, m.output.Columns)
		if err != nil {
			return nil, err
		}
		if len(f.splits) == 0 && t.Classes != nil {
			c.scale = unjudged(answers)
		}
		p := part{fitted, c.scale, c.weight}
		p.add(m.scores, answers, t.Classes != nil)
		m.parts = append(m.parts, p)
		m.output.Extends = m.output.Extends || fitted.Output().Extends
		m.output.Searches = m.output.Searches || fitted.Output().Searches
		f.done++
		f.in.Report(f.done, float64(2*len(f.contenders)), c.name)
	}
	for _, c := range f.contenders {
		s := Standing{Name: c.name, Settings: c.settings[c.best], Weight: c.weight, Estimate: c.error}
		f.choice.Members = append(f.choice.Members, s)
	}
	slices.SortStableFunc(f.choice.Members, func(a, b Standing) int { return cmp.Compare(b.Weight, a.Weight) })
	m.Choice = f.choice
	return m, short
}

// batch is the number of points that are asked for at once.
const batch = 4096

// onTraining returns the scores of the training points.
func onTraining(ctx context.Context, m models.Model, in *models.Input, columns int) (*mat.Dense, error) {
	if m, ok := m.(models.Trained); ok {
		return m.Training(true).Scores, nil
	}
	n := in.Len()
	out := mat.NewDense(n, columns, nil)
	for lo := 0; lo < n; lo += batch {
		hi := min(lo+batch, n)
		p, err := m.Predict(ctx, data.Slice(in.Points, lo, hi), nil)
		if err != nil {
			return nil, err
		}
		out.Slice(lo, hi, 0, columns).(*mat.Dense).Copy(p.Scores)
		data.Release(in.Points, lo, hi)
	}
	return out, nil
}

// unjudged is the scale of a member without a cross-validation: the slope by which the
// scores that differ from their mean over the classes do so by 2 on average.
func unjudged(scores *mat.Dense) scale {
	s := scale{Shares: nonnegative(scores), Slope: 1}
	if s.Shares {
		return s
	}
	rows, c := scores.Dims()
	var squares float64
	for i := range rows {
		row := scores.RawRowView(i)
		var mean float64
		for _, v := range row {
			mean += v / float64(c)
		}
		for _, v := range row {
			squares += (v - mean) * (v - mean)
		}
	}
	if squares > 0 {
		s.Slope = 2 / math.Sqrt(squares/float64(rows*c))
	}
	return s
}

// add adds the weighted answers of a part to dst.
func (p *part) add(dst, scores *mat.Dense, classes bool) {
	rows, c := scores.Dims()
	row := make([]float64, c)
	for i := range rows {
		copy(row, scores.RawRowView(i))
		if classes {
			p.scale.probabilities(row, scores.RawRowView(i))
		}
		to := dst.RawRowView(i)
		for j, v := range row {
			to[j] += p.weight * v
		}
	}
}

// Name is that of the learner.
func (m *Model) Name() string { return m.name }

// Output is that of the parts; scores of classes are probabilities.
func (m *Model) Output() models.Output { return m.output }

// Dim is 0 if a part answers for the points of the graph alone.
func (m *Model) Dim() int {
	dim := 0
	for _, p := range m.parts {
		if p.Dim() == 0 {
			return 0
		}
		dim = p.Dim()
	}
	if m.projection != nil {
		return len(m.projection.Mean)
	}
	return dim
}

// QueryCost is that of the most costly part, and of the scores.
func (m *Model) QueryCost(n int, s *models.PredictSettings) models.Cost {
	var out models.Cost
	for _, p := range m.parts {
		c := p.QueryCost(n, s)
		out.Bytes, out.Operations = max(out.Bytes, c.Bytes), out.Operations+c.Operations
	}
	out.Bytes += 16 * int64(n) * int64(m.output.Columns)
	return out
}

// Predict asks all parts.
func (m *Model) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	if m.Dim() == 0 {
		return nil, models.ErrNoPoints
	}
	if err := models.CheckQuery(x, m.Dim()); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	var z data.Points // projected
	out := &models.Prediction{Scores: mat.NewDense(n, m.output.Columns, nil)}
	for k := range m.parts {
		own := models.PredictSettings{}
		if s != nil {
			own = *s
		}
		if own.OnProgress != nil {
			own.OnProgress = func(done, total int) { s.OnProgress(k*total+done, len(m.parts)*total) }
		}
		asked := x
		if m.parts[k].Dim() != d {
			if z == nil {
				var err error
				if z, err = m.projection.Apply(x); err != nil {
					return nil, err
				}
			}
			asked = z
		}
		p, err := m.parts[k].Predict(ctx, asked, &own)
		if err != nil {
			return nil, err
		}
		m.parts[k].add(out.Scores, p.Scores, m.output.Classes != nil)
		if p.Recall != nil {
			out.Recall = p.Recall
		}
	}
	if m.output.Classes != nil {
		out.Classes = models.Decide(out.Scores)
	}
	return out, nil
}

// Training returns the answers for the training points.
func (m *Model) Training(scores bool) *models.Prediction {
	p := &models.Prediction{}
	if m.output.Classes != nil {
		p.Classes = models.Decide(m.scores)
	}
	if scores || p.Classes == nil {
		p.Scores = m.scores
	}
	return p
}

// Summary says what was chosen.
func (m *Model) Summary() models.Summary {
	s := models.Summary{Labeled: m.labeled, Values: m.values, Text: m.Choice.Text(), Facts: []models.Fact{{Key: "auto", Value: &m.Choice}}, Warnings: m.Choice.Warnings()}
	for k, p := range m.parts {
		part := p.Summary()
		if k == 0 || part.Unreached < s.Unreached {
			s.Unreached, s.Fallback = part.Unreached, part.Fallback
		}
	}
	if s.Unreached == 0 {
		s.Fallback = nil
	}
	return s
}
