package pool

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/stage"
)

// Model averages fitted models with fixed weights. For classes it averages their
// probabilities, for values and several labels their scores.
type Model struct {
	Choice Choice

	name   string
	values models.Values
	parts  []part
	// neighborhood describes the graph that was given to the fit. New points are projected by
	// its principal components, if it has any, before they reach parts that take fewer
	// columns.
	neighborhood models.Neighborhood
	given        *models.Given
	labels       []int32 // of the given points, positions in the classes; nil without classes
	output       models.Output
	points       int        // training points
	mix          sync.Mutex // held while scores are mixed
	scores       *mat.Dense // of the training points; nil until they are asked for: see answers
	factors      []float64  // of the probabilities of the classes; nil for ones
	unreached    int        // training points that no part knows anything of
	held         *models.HeldOut
	offset       []float64 // mean of values, which the parts are fitted without; nil for none
}

// HeldOut returns the probabilities of labels that the cross-validation of the fit held out, with the
// factors of the classes; nil if there was none.
func (m *Model) HeldOut() *models.HeldOut { return m.held }

// part is one fitted member of the mean and its weight.
type part struct {
	models.Model
	scale  scale
	weight float64
	shares bool // whether the part uses the points and the index of the model's neighbourhood
}

// projects tells whether the part projects new points itself, as the members on the graph do. The others were fitted
// to points that were projected already.
func (p part) projects() bool {
	u, ok := p.Model.(models.Updater)
	return ok && u.Kept().Neighborhood != nil && u.Kept().PCA != nil
}

// model fits every member that has a weight to all targets and adds up their answers.
func (f *fit) model(ctx context.Context) (models.Model, error) {
	t := f.in.Targets
	m := &Model{Choice: f.choice, name: f.learner.Name, values: params.Encode(&f.settings),
		neighborhood: f.in.Graph.Keep(), given: models.GivenOf(f.targets), offset: f.offset}
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
	m.points = f.in.Len()
	m.scores = mat.NewDense(m.points, m.output.Columns, nil)
	known := make([]bool, f.in.Len())
	var unconverged error
	// Members without a weight are not fitted.
	for _, c := range f.candidates {
		if c.weight == 0 {
			continue
		}
		if err := f.fitMember(ctx, c); err != nil {
			return nil, err
		}
		fitted := c.fitted
		unconverged = cmp.Or(unconverged, c.short)
		answers, err := onTraining(ctx, fitted, f.in, m.output.Columns)
		if err != nil {
			return nil, err
		}

		// Without a cross-validation no slope was fitted, so the scale comes from the size of
		// the scores.
		if !f.choice.Validated && t.Classes != nil {
			c.scale = unvalidatedScale(answers)
		}
		p := part{Model: fitted, scale: c.scale, weight: c.weight}
		p.add(m.scores, answers, t.Classes != nil, known)
		m.join(p)
		m.output.Extends = m.output.Extends || fitted.Output().Extends
		m.output.Searches = m.output.Searches || fitted.Output().Searches
		f.report(c.name)
	}

	// The shares of the classes are adapted once, on the mean and not on each member.
	if t.Classes != nil {
		f.adaptShares(m)
		m.unreached = m.assume(m.scores, known)
	}
	f.offsetRows(m.scores, 1)
	m.Choice.Harder = false
	if m.held = f.held; m.held != nil {
		weighClassRows(m.held.Scores, m.factors)
		if t.Classes != nil {
			m.Choice.Harder = harder(m.held.Scores, m.scores, t.Labeled)
		}
		f.offsetRows(m.held.Scores, 1)
	}

	return m, unconverged
}

// keepsAnswers reports whether all parts keep their answers for the training points, so that the model's
// own follow from them.
func (m *Model) keepsAnswers() bool {
	return !slices.ContainsFunc(m.parts, func(p part) bool {
		_, ok := p.Model.(models.Trained)
		return !ok
	})
}

// answers returns the answers for the training points. After loading they are mixed from those of the
// parts when they are first asked for, as the fit did: with the same bits on the same instruction set.
func (m *Model) answers() *mat.Dense {
	m.mix.Lock()
	defer m.mix.Unlock()
	if m.scores != nil {
		return m.scores
	}

	classes := m.output.Classes != nil
	scores := dense.New(m.points, m.output.Columns)
	known := make([]bool, m.points)
	for _, p := range m.parts {
		p.add(scores, p.Model.(models.Trained).Training(true).Scores, classes, known)
	}
	if classes {
		weighClassRows(scores, m.factors)
		m.assume(scores, known)
	}
	if m.offset != nil {
		dense.AddRow(scores, m.offset)
	}
	m.scores = scores
	return scores
}

// adaptShares multiplies the probabilities by factors of the classes: those that give the classes the shares that were
// given, or else [classFactors].
func (f *fit) adaptShares(m *Model) {
	counts := make([]float64, len(m.output.Classes))
	for _, c := range m.labels {
		counts[c]++
	}
	m.Choice.Shares, m.Choice.Off = nil, 0
	switch {
	case f.settings.Priors != nil:
		m.factors, m.Choice.Off = propagation.ShareFactors(m.scores, f.settings.Priors, m.given.Points, counts)
		m.Choice.Shares = f.settings.Priors
	case f.settings.Shares == FromPoints:
		m.factors, m.Choice.Shares = classFactors(m.scores, f.in.Targets.Masses(), m.given.Points)
	}
	weighClassRows(m.scores, m.factors)
}

// join adds a part to the model. A part on the same points as the graph adopts the points and
// the index of the model, so that both are in memory once and one search serves all parts.
func (m *Model) join(p part) {
	if u, ok := p.Model.(models.Updater); ok {
		if kept := u.Kept().Neighborhood; kept.Points != nil && kept.Points == m.neighborhood.Points {
			kept.Adopt(&m.neighborhood)
			p.shares = true
		}
	}
	m.parts = append(m.parts, p)
}

// Points returns the number of points of the fit.
func (m *Model) Points() int { return m.points }

// Kept returns the graph that was given to the fit and its targets; each part keeps the start
// of its own fit.
func (m *Model) Kept() *models.Kept {
	n := m.points
	labels := make([]int32, n)
	for q, c := range m.labels {
		labels[m.given.Points[q]] = c
	}
	return &models.Kept{Neighborhood: &m.neighborhood, Targets: m.given.Targets(n, m.output.Classes, labels)}
}

// batch is the number of points for which a part predicts at once: it bounds the scores that
// are held beside the matrix they are copied into.
const batch = 4096

// onTraining returns the scores of the training points.
func onTraining(ctx context.Context, m models.Model, in *models.Input, columns int) (*mat.Dense, error) {
	if m, ok := m.(models.Trained); ok {
		return m.Training(true).Scores, nil
	}
	// The model keeps no answers, so it predicts for the training points like for new ones.
	n := in.Len()
	out := mat.NewDense(n, columns, nil)
	err := data.Each(in.Points, batch, func(lo, hi int) error {
		p, err := m.Predict(ctx, data.Slice(in.Points, lo, hi), nil)
		if err == nil {
			out.Slice(lo, hi, 0, columns).(*mat.Dense).Copy(p.Scores)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// unvalidatedScale returns the scale of a member that was not cross-validated. The slope is 2
// divided by the standard deviation of the scores from their mean over the classes, so that
// scores of any unit become moderately certain probabilities.
func unvalidatedScale(scores *mat.Dense) scale {
	s := scale{Shares: nonnegative(scores), Slope: 1}
	if s.Shares {
		return s
	}
	// Probabilities do not change when a number is added to all scores of a row, so each row
	// is centred before its spread is measured.
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

// add adds the weighted answers of a part to dst, and marks in known the points that have a score other
// than 0.
func (p *part) add(dst, scores *mat.Dense, classes bool, known []bool) {
	rows, c := scores.Dims()
	par.For(rows, 256, func(lo, hi int) {
		// Each goroutine converts scores in a row of its own: dst and scores may be used by
		// others.
		row := make([]float64, c)
		for i := lo; i < hi; i++ {
			copy(row, scores.RawRowView(i))
			known[i] = known[i] || slices.ContainsFunc(row, func(v float64) bool { return v != 0 })
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

// assume gives the points that no part knows anything of the shares of the classes among the labels
// for probabilities, so that the most frequent class is the answer. It returns their number.
func (m *Model) assume(probabilities *mat.Dense, known []bool) int {
	shares := make([]float64, len(m.output.Classes))
	for _, c := range m.labels {
		shares[c] += 1 / float64(len(m.labels))
	}
	count := 0
	for i, told := range known {
		if !told {
			copy(probabilities.RawRowView(i), shares)
			count++
		}
	}
	return count
}

// Name returns the name of the learner.
func (m *Model) Name() string { return m.name }

// Output describes the answers: probabilities for classes, else the scores of the parts.
func (m *Model) Output() models.Output { return m.output }

// Dim returns the number of columns of new points, and 0 if a part predicts only for the
// points of its graph.
func (m *Model) Dim() int {
	dim := 0
	for _, p := range m.parts {
		if p.Dim() == 0 {
			return 0
		}
		dim = p.Dim()
	}

	// The parts work on principal components; new points come before the projection.
	if p := m.neighborhood.PCA; p != nil {
		return len(p.Mean)
	}
	return dim
}

// QueryCost returns the memory of the most costly part and of the scores, and the operations
// of all parts: the parts predict one after the other.
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

// Predict averages the predictions of all parts. Parts on the graph take the neighbours of the
// new points from one common search.
func (m *Model) Predict(ctx context.Context, x data.Points,
	s *models.PredictSettings) (*models.Prediction, error) {
	if m.Dim() == 0 {
		return nil, models.ErrNoPoints
	}
	if err := models.CheckQuery(x, m.Dim()); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	var z data.Points // projected
	out := &models.Prediction{Scores: mat.NewDense(n, m.output.Columns, nil)}
	known := make([]bool, n)

	// Progress counts the search and every part as one step of equal length.
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

	// The neighbours are searched once, for all parts on the graph.
	found, recall, err := m.search(ctx, x, step(0))
	if err != nil {
		return nil, err
	}
	out.Recall = recall
	// The points are projected at most once, for the first part that takes projected ones.
	for k := range m.parts {
		own := step(k + 1)
		asked := x
		if m.parts[k].shares {
			own.Found = found
		}
		if m.neighborhood.PCA != nil && !m.parts[k].projects() {
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
		m.parts[k].add(out.Scores, p.Scores, m.output.Classes != nil, known)
		if p.Recall != nil {
			out.Recall = p.Recall
		}
	}

	if m.offset != nil {
		dense.AddRow(out.Scores, m.offset)
	}

	// The factors of the training points hold for new points too: both are taken to have the
	// same shares.
	if m.output.Classes != nil {
		weighClassRows(out.Scores, m.factors)
		m.assume(out.Scores, known)
		out.Classes = models.Decide(out.Scores)
	}
	return out, nil
}

// search returns the nearest training points of x for the parts on the graph. It returns nil
// if no part is on the graph, or if the graph has no number of neighbours.
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
		p.Classes = models.Decide(m.answers())
	}
	if scores || p.Classes == nil {
		p.Scores = m.answers()
	}
	return p
}

// Summary describes the choice, and the points that no label reaches in any of the parts.
func (m *Model) Summary() models.Summary {
	s := models.Summary{Labeled: len(m.given.Points), Values: m.values, Text: m.Choice.Text(), Expected: m.Choice.expected(),
		Facts: []models.Fact{{Key: "auto", Value: &m.Choice}}, Warnings: m.Choice.Warnings()}
	if m.output.Classes != nil {
		if s.Unreached = m.unreached; s.Unreached > 0 {
			s.Fallback = &m.output.Classes[m.frequent()]
		}
		return s
	}
	// A point has a value as soon as one part reaches it, so the part that reaches most
	// points counts.
	for k, p := range m.parts {
		part := p.Summary()
		if k == 0 || part.Unreached < s.Unreached {
			s.Unreached = part.Unreached
			s.Fallback = part.Fallback
		}
	}

	return s
}

// frequent returns the most frequent class of the labels.
func (m *Model) frequent() int {
	counts := make([]int, len(m.output.Classes))
	for _, c := range m.labels {
		counts[c]++
	}
	return slices.Index(counts, slices.Max(counts))
}
