package pool

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/stage"
)

// Model is the weighted mean of models: of their probabilities of classes, and of
// other answers themselves.
type Model struct {
	Choice Choice

	name   string
	values models.Values
	parts  []part
	// neighborhood is that of the graph that was given. New points are projected by its
	// principal components, if it has any, for parts that take fewer columns.
	neighborhood models.Neighborhood
	given        *models.Given
	labels       []int32 // of the given points, positions in the classes; nil without classes
	output       models.Output
	scores       *mat.Dense // of the training points
	factors      []float64  // of the probabilities of the classes; nil for ones
}

// part is a model with its weight.
type part struct {
	models.Model
	scale  scale
	weight float64
	shares bool // the points and the index of the model's neighbourhood
}

// model fits the members with a weight to all targets.
func (f *fit) model(ctx context.Context) (models.Model, error) {
	t := f.in.Targets
	m := &Model{Choice: f.choice, name: f.learner.Name, values: params.Encode(&f.settings),
		neighborhood: f.in.Graph.Keep(), given: models.GivenOf(t)}
	if t.Classes != nil {
		m.labels = make([]int32, len(t.Labeled))
		for q := range m.labels {
			m.labels[q] = int32(t.Class(q))
		}
	}

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
		in.Values = c.settings[c.best]
		in.Start = nil
		info := c.member.Learner.Info()
		in.Graph = nil
		if info.UsesGraph(in.Values) {
			var err error
			if in.Graph, err = f.graph(c.member); err != nil {
				return nil, err
			}
		}

		in.Progress = nil
		var err error
		if c.start != nil {
			if in.Start, err = lanczos.Extend(in.Graph.W, c.start.StartFor(t.Classes)); err != nil {
				return nil, err
			}
		}

		fitted, err := c.member.Learner.Fit(ctx, &in)
		if !models.Usable(err) {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		short = cmp.Or(short, err)
		answers, err := onTraining(ctx, fitted, f.in, m.output.Columns)
		if err != nil {
			return nil, err
		}

		if !f.choice.Validated && t.Classes != nil {
			c.scale = unjudged(answers)
		}
		p := part{Model: fitted, scale: c.scale, weight: c.weight}
		p.add(m.scores, answers, t.Classes != nil)
		m.join(p)
		m.output.Extends = m.output.Extends || fitted.Output().Extends
		m.output.Searches = m.output.Searches || fitted.Output().Searches
		f.done++
		f.in.Report(f.done, float64(2*len(f.contenders)), c.name)
	}

	if t.Classes != nil && f.settings.Shares == FromPoints {
		counts := make([]float64, len(t.Classes))
		for _, c := range m.labels {
			counts[c]++
		}
		m.factors, m.Choice.Shares = classFactors(m.scores, counts, m.given.Points)
		weighClassRows(m.scores, m.factors)
	}

	return m, short
}

// join adds a part. One on the graph shares its points and their index with the model,
// where they are the same.
func (m *Model) join(p part) {
	if u, ok := p.Model.(models.Updater); ok {
		if kept := u.Kept().Neighborhood; kept.Points != nil && kept.Points == m.neighborhood.Points {
			kept.Adopt(&m.neighborhood)
			p.shares = true
		}
	}
	m.parts = append(m.parts, p)
}

// Kept has the graph that was given; the parts have the starts of their fits.
func (m *Model) Kept() *models.Kept {
	n, _ := m.scores.Dims()
	labels := make([]int32, n)
	for q, c := range m.labels {
		labels[m.given.Points[q]] = c
	}
	return &models.Kept{Neighborhood: &m.neighborhood, Targets: m.given.Targets(n, m.output.Classes, labels)}
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
	par.For(rows, 256, func(lo, hi int) {
		row := make([]float64, c)
		for i := lo; i < hi; i++ {
			copy(row, scores.RawRowView(i))
			if classes {
				p.scale.probabilities(row, scores.RawRowView(i))
			}
			to := dst.RawRowView(i)
			for j, v := range row {
				to[j] += p.weight * v
			}
		}
	})
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

	if p := m.neighborhood.PCA; p != nil {
		return len(p.Mean)
	}
	return dim
}

// QueryCost is that of the most costly part, and of the scores.
func (m *Model) QueryCost(n int, s *models.PredictSettings) stage.Cost {
	var out stage.Cost
	for _, p := range m.parts {
		c := p.QueryCost(n, s)
		out.Bytes = max(out.Bytes, c.Bytes)
		out.Operations += c.Operations
	}
	out.Bytes += 16 * int64(n) * int64(m.output.Columns)
	return out
}

// Predict asks all parts; those on the graph have the neighbours of the new points from
// one search.
func (m *Model) Predict(ctx context.Context, x data.Points,
	s *models.PredictSettings) (*models.Prediction, error) {
	if m.Dim() == 0 {
		return nil, models.ErrNoPoints
	}
	if err := models.CheckQuery(x, m.Dim()); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	var z data.Points // projected
	out := &models.Prediction{Scores: mat.NewDense(n, m.output.Columns, nil)}

	step := func(k int) *models.PredictSettings {
		own := models.PredictSettings{}
		if s != nil {
			own = *s
		}
		if own.OnProgress != nil {
			own.OnProgress = func(done, total int) { s.OnProgress(k*total+done, (1+len(m.parts))*total) }
		}
		return &own
	}

	found, recall, err := m.search(ctx, x, step(0))
	if err != nil {
		return nil, err
	}
	out.Recall = recall
	for k := range m.parts {
		own := step(k + 1)
		asked := x
		if m.parts[k].shares {
			own.Found = found
		}
		if m.parts[k].Dim() != d {
			if z == nil {
				if z, err = m.neighborhood.PCA.Apply(x); err != nil {
					return nil, err
				}
			}
			asked = z
		}

		p, err := m.parts[k].Predict(ctx, asked, own)
		if err != nil {
			return nil, err
		}
		m.parts[k].add(out.Scores, p.Scores, m.output.Classes != nil)
		if p.Recall != nil {
			out.Recall = p.Recall
		}
	}

	if m.output.Classes != nil {
		weighClassRows(out.Scores, m.factors)
		out.Classes = models.Decide(out.Scores)
	}
	return out, nil
}

// search returns the nearest training points of x for the parts on the graph; nil if there
// is no such part, or the graph has no number of neighbours.
func (m *Model) search(ctx context.Context, x data.Points, s *models.PredictSettings) (*knn.Neighbors,
	*knn.Recall, error) {
	k := cmp.Or(s.Neighbors, m.neighborhood.Edges.K)
	if k < 1 || !slices.ContainsFunc(m.parts, func(p part) bool { return p.shares }) {
		return nil, nil, nil
	}
	return m.neighborhood.Nearest(ctx, x, k, s)
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
	s := models.Summary{Labeled: len(m.given.Points), Values: m.values, Text: m.Choice.Text(),
		Facts: []models.Fact{{Key: "auto", Value: &m.Choice}}, Warnings: m.Choice.Warnings()}
	for k, p := range m.parts {
		part := p.Summary()
		if k == 0 || part.Unreached < s.Unreached {
			s.Unreached = part.Unreached
			s.Fallback = part.Fallback
		}
	}

	if s.Unreached == 0 {
		s.Fallback = nil
	}
	return s
}
