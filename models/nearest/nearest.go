// Package nearest holds the models that look at labeled neighbours only: the
// vote of the nearest labeled points, by distance or by the length of paths.
package nearest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/stage"
)

// Name is the name of [Learner] and its models.
const Name = "knn"

// Settings of [Fit].
type Settings struct {
	// Vote is the number k of labeled points that vote; fewer where there are fewer. Default: the
	// number among 1, 3, …, 15 with the least leave-one-out error.
	Vote   int
	Metric knn.Metric
	// Method searches for them; Auto chooses by the number of labeled points.
	Method knn.Method
}

// params are the parameters of Settings.
var params = models.Table[Settings]{
	{Param: models.Param{Name: "vote", Doc: "number of the nearest labeled points that vote",
		Default: "by leave-one-out among 1, 3, …, 15", Range: models.AtLeast(1), Axis: true,
		Grid: []string{"1", "3", "5", "9", "15"}},
		At: func(s *Settings) any { return &s.Vote }},
	{Param: models.Param{Name: "distance", Doc: "distance between points", Default: "euclidean",
		Choices: enum.All[knn.Metric]()},
		At: func(s *Settings) any { return &s.Metric }},
	{Param: models.Param{Name: "method",
		Doc: "search for neighbours: auto chooses, all but nn-descent are exact", Default: "auto",
		Choices: enum.All[knn.Method]()},
		At: func(s *Settings) any { return &s.Method }},
}

// MostVotes is the largest k that leave-one-out looks at.
const MostVotes = 15

// VoteError is the leave-one-out error of a number of votes.
type VoteError struct {
	Vote  int     `json:"vote"`
	Error float64 `json:"error"`
}

// Learner fits a vote of the nearest labeled points.
type Learner struct{}

// Info describes the learner.
func (Learner) Info() models.Info {
	return models.Info{Name: Name, Help: "vote of the nearest labeled points",
		Formula: "score of class c at x = share of c among the labels of the nearest labeled points of x",
		Scores:  "share of the votes for the class",
		Learns:  models.LearnsClasses | models.LearnsShares | models.LearnsWeights, Needs: models.NeedsPoints}
}

// Params lists the parameters.
func (Learner) Params() []models.Param { return params.Params() }

// Cost returns the cost of the neighbours of the labeled points among themselves.
func (Learner) Cost(in *models.Input) (stage.Cost, error) {
	s, err := params.Decode(in.Values)
	if err != nil {
		return stage.Cost{}, err
	}

	// The model holds the labeled points and their index, and no others.
	labeled := data.Select(in.Points, in.Targets.Labeled)
	s.Method = chosen(labeled, &s)
	c := stage.Cost{Bytes: knn.IndexBytes(labeled, s.Method, s.Metric, max(s.Vote, MostVotes)),
		Remedy: fmt.Sprintf("use fewer %s", param.Name("labels"))}
	// With a given number of votes nothing is searched in a fit.
	if s.Vote == 0 { // leave-one-out: lists of all labeled points, and the buffers of the search
		l, _ := labeled.Dims()
		c.Bytes += 24*int64(l)*int64(MostVotes) + 1<<20
		c.Bytes += heldOutBytes(l, len(in.Targets.Classes))
		if s.Method == knn.Brute {
			c.Operations = knn.BruteOperations(labeled)
		}
	}

	return c, nil
}

// chosen returns the method of search in place of Auto.
func chosen(labeled data.Points, s *Settings) knn.Method {
	if s.Method != knn.Auto {
		return s.Method
	}
	method, _ := choice.Work{X: labeled, Metric: s.Metric, K: max(s.Vote, 1)}.Exact()
	return method
}

// Fit is the function [Fit] on the classes of in.
func (l Learner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	s, err := params.Decode(in.Values)
	if err != nil {
		return nil, err
	}
	info := l.Info()
	if err := info.Check(in); err != nil {
		return nil, err
	}
	m, err := FitTargets(ctx, in.Points, in.Targets, &s, in.Report)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Model is the classifier by a vote of the k nearest labeled points, the
// baseline that knows nothing of the others. It keeps the labeled points alone.
type Model struct {
	Settings Settings
	Classes  []int64
	Labels   []int32 // of the labeled points, positions in Classes
	// Shares holds the distributions of the labeled points, l×c, and Weights their weights; nil for
	// hard labels, and for weights of one.
	Shares  *mat.Dense
	Weights []float64
	// Rows are the numbers of the labeled points among those of the fit; nil if all had a label.
	Rows []int32
	// Tried are the leave-one-out errors if Settings named no number of votes.
	Tried []VoteError
	// Points are the labeled ones, l×d.
	models.Neighborhood

	held *models.HeldOut
}

// HeldOut returns the votes for the labeled points by the other ones if the fit chose the number of votes by
// them, else nil.
func (m *Model) HeldOut() *models.HeldOut { return m.held }

// Fit keeps the labeled points of x, and looks for k where s does not give it: the
// labels of the other l−1 points vote on each one, which costs the neighbours of l
// points among themselves. Of equal errors the smaller k is taken. A nil s means
// the defaults; progress may be nil.
func Fit(ctx context.Context, x data.Points, y *data.Labels, s *Settings,
	progress func(done, total float64, note string)) (*Model, error) {
	n, _ := x.Dims()
	if err := models.CheckLabels(y, n); err != nil {
		return nil, err
	}
	t, err := models.ClassTargets(y)
	if err != nil {
		return nil, err
	}
	return FitTargets(ctx, x, t, s, progress)
}

// FitTargets is [Fit] for labels that may be distributions and may have weights. A neighbour i with the
// distribution p_i and the weight w_i gives w_i p_ic votes to class c,
//
//	score_c = Σ_i w_i p_ic / Σ_i w_i
//
// over the k nearest labeled points; the class of the largest score wins, of equals the class of the nearest
// neighbour among them. The leave-one-out error is the expected one: [models.Targets.ExpectedError]. A weight of 2
// is two votes, and not two of the k points.
func FitTargets(ctx context.Context, x data.Points, t *models.Targets, s *Settings,
	progress func(done, total float64, note string)) (*Model, error) {
	n, _ := x.Dims()
	if t.Len != n {
		return nil, fmt.Errorf("nearest: labels of %d points for %d points", t.Len, n)
	}
	if s == nil {
		s = &Settings{}
	}
	if s.Vote < 0 {
		return nil, fmt.Errorf("nearest: a vote of %d neighbours; the number must be positive, or 0 "+
			"for leave-one-out", s.Vote)
	}

	labeled := t.Labeled
	h := models.Neighborhood{Points: data.Select(x, labeled), Metric: s.Metric}
	h.Method = chosen(h.Points, s)
	m := &Model{Settings: *s, Classes: t.Classes, Labels: make([]int32, len(labeled)), Weights: t.Weights,
		Neighborhood: h.Keep()}
	for q := range labeled {
		m.Labels[q] = int32(t.Class(q))
	}
	if t.Soft {
		m.Shares = t.Shares()
	}
	m.Settings.Method = h.Method
	if len(labeled) < n {
		for _, i := range labeled {
			m.Rows = append(m.Rows, int32(i))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	if s.Vote == 0 {
		if err := m.leaveOneOut(ctx, t, progress); err != nil {
			return nil, err
		}
	} else if progress != nil {
		progress(float64(len(labeled)), float64(len(labeled)), "")
	}

	m.Edges.K = m.Settings.Vote
	return m, nil
}

// leaveOneOut sets the number of votes.
func (m *Model) leaveOneOut(ctx context.Context, t *models.Targets, progress func(done, total float64, note string)) error {
	ix, err := knn.NewIndex(m.Points, m.Method,
		&knn.DescentSettings{Settings: knn.Settings{Metric: m.Metric, OnProgress: func(done, total int) {
			if progress != nil {
				progress(float64(done), float64(total), "")
			}
		}}})
	if err != nil {
		return err
	}

	// One search for the largest vote serves all: its lists begin with the lists of smaller ones.
	nb, err := ix.Self(ctx, min(MostVotes, len(m.Labels)-1))
	if err != nil {
		return err
	}

	// Odd numbers only: two votes among two classes tie.
	for k := 1; k <= nb.K; k += 2 {
		if !t.Plain() {
			answers := m.votesOf(nb.Trim(k), nil).Classes
			e := t.ExpectedError(data.Range(0, len(m.Labels)), answers)
			m.Tried = append(m.Tried, VoteError{k, e})
			continue
		}
		wrong := 0
		classes := make([]int32, k)
		for i, own := range m.Labels {
			index, _ := nb.Row(i)
			for p := range classes {
				classes[p] = m.Labels[index[p]]
			}
			if Vote(classes) != own {
				wrong++
			}
		}
		m.Tried = append(m.Tried, VoteError{k, float64(wrong) / float64(len(m.Labels))})
	}

	// MinFunc takes the first of equal errors, which is the smallest vote.
	m.Settings.Vote = slices.MinFunc(m.Tried,
		func(a, b VoteError) int { return cmp.Compare(a.Error, b.Error) }).Vote
	votes := make([][]int32, len(m.Labels))
	for q := range votes {
		index, _ := nb.Row(q)
		for _, other := range index[:m.Settings.Vote] {
			votes[q] = append(votes[q], m.Labels[other])
		}
	}
	m.held = heldOutVotes(m.Labels, len(m.Classes), votes)
	return nil
}

// Kept has the labeled points, which are all that the model knows.
func (m *Model) Kept() *models.Kept {
	t := m.given().Targets(len(m.Labels), m.Classes, m.Labels)
	return &models.Kept{Neighborhood: &m.Neighborhood, Targets: t, Rows: m.Rows}
}

// Name is [Name].
func (m *Model) Name() string { return Name }

// Output is the class of each point; the scores are shares of the vote.
func (m *Model) Output() models.Output {
	o := models.OutputOf(m.Classes, len(m.Classes))
	o.Searches = true
	return o
}

// votes returns the number of points that vote.
func (m *Model) votes(s *models.PredictSettings) int {
	if s != nil && s.Neighbors != 0 {
		return s.Neighbors
	}
	return m.Settings.Vote
}

// QueryCost returns the cost of the search and the scores.
func (m *Model) QueryCost(n int, s *models.PredictSettings) stage.Cost {
	c := m.Neighborhood.QueryCost(n, m.votes(s))
	c.Bytes += 8 * int64(n) * int64(len(m.Classes))
	return c
}

// Predict lets the nearest labeled points vote, s.Neighbors of them if that is
// positive. Of classes with as many votes the one of the nearest point wins. A
// labeled point is its own neighbour. After NN-descent the neighbours are
// approximate.
func (m *Model) Predict(ctx context.Context, x data.Points,
	s *models.PredictSettings) (*models.Prediction, error) {
	k := m.votes(s)
	if k < 1 {
		return nil, fmt.Errorf("nearest: a vote of %d neighbours; the number must be positive", k)
	}
	nb, recall, err := m.Nearest(ctx, x, k, s)
	if err != nil {
		return nil, err
	}
	return m.votesOf(nb, recall), nil
}

// votesOf lets the neighbours of every point vote.
func (m *Model) votesOf(nb *knn.Neighbors, recall *knn.Recall) *models.Prediction {
	if m.Shares == nil && m.Weights == nil {
		return Votes(nb, m.Labels, len(m.Classes), recall)
	}
	out := &models.Prediction{Classes: make([]int32, nb.Len()), Scores: mat.NewDense(nb.Len(), len(m.Classes), nil),
		Recall: recall}
	for i := range out.Classes {
		index, _ := nb.Row(i)
		scores := out.Scores.RawRowView(i)
		var total float64
		for _, at := range index {
			w := 1.0
			if m.Weights != nil {
				w = m.Weights[at]
			}
			total += w
			if m.Shares == nil {
				scores[m.Labels[at]] += w
				continue
			}
			for c, p := range m.Shares.RawRowView(int(at)) {
				scores[c] += w * p
			}
		}
		for c := range scores {
			scores[c] /= total
		}
		out.Classes[i] = m.winner(scores, index)
	}
	return out
}

// winner returns the class of the largest score, of equals the class of the nearest neighbour among them.
func (m *Model) winner(scores []float64, index []int32) int32 {
	const tie = 1e-12 // rounding of sums in another order
	top := slices.Max(scores)
	for _, at := range index {
		if c := m.Labels[at]; top-scores[c] <= tie*top {
			return c
		}
	}
	return int32(slices.Index(scores, top))
}

// Summary names the number of votes and its leave-one-out error.
func (m *Model) Summary() models.Summary {
	s := models.Summary{Labeled: len(m.Labels), Values: params.Encode(&m.Settings)}
	s.Text = fmt.Sprintf("%d nearest vote, %v distance", m.Settings.Vote, m.Metric)
	if m.Tried != nil {
		s.Facts = append(s.Facts, models.Fact{Key: "tried", Value: m.Tried})
	}

	// The error of the chosen vote alone: the others are facts in JSON.
	for _, v := range m.Tried {
		if v.Vote == m.Settings.Vote {
			s.Expected = fmt.Sprintf("leave-one-out error %.2f %%", 100*v.Error)
			s.Text += ", " + s.Expected
		}
	}
	return s
}

// fit is the part of a model in its manifest.
type fit struct {
	Tried        []VoteError     `json:"tried,omitempty"`
	Neighborhood models.RawState `json:"neighborhood"`
	Rows         bool            `json:"rows,omitempty"` // the file has the array rows
}

// given returns the labels as a model's file keeps them, without classes.
func (m *Model) given() *models.Given {
	g := &models.Given{Points: make([]int32, len(m.Labels)), Shares: m.Shares, Weights: m.Weights}
	for i := range g.Points {
		g.Points[i] = int32(i)
	}
	return g
}

// Encode returns classes (c), labels (l), the labeled points, and their rows (l) in the fit; of soft labels
// also given_shares (l×c), of weighted ones given_weights (l).
func (m *Model) Encode() (*models.Encoded, error) {
	state, arrays, err := m.Neighborhood.Encode()
	if err != nil {
		return nil, err
	}
	arrays = append(arrays, append(models.ClassEntries(m.Classes), archive.Array{Name: "labels",
		Data: m.Labels})...)
	if m.Rows != nil {
		arrays = append(arrays, archive.Array{Name: "rows", Data: m.Rows})
	}
	arrays = append(arrays, m.given().SoftEntries()...)
	return &models.Encoded{Values: params.Encode(&m.Settings), Fit: fit{m.Tried, state, m.Rows != nil},
		Arrays: arrays}, nil
}

// Decode is the inverse of [Model.Encode].
func (Learner) Decode(r *models.Reader) (models.Model, error) {
	var f fit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	s, err := params.Decode(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	m := &Model{Settings: s, Tried: f.Tried, Classes: r.ReadClasses(),
		Labels: models.Numbers[int32](r, "labels")}
	if f.Rows {
		m.Rows = models.Numbers[int32](r, "rows")
	}
	if r.Err != nil {
		return nil, r.Err
	}
	soft := m.given()
	if err := r.Soft(soft); err != nil {
		return nil, err
	}
	m.Shares, m.Weights = soft.Shares, soft.Weights
	if m.Neighborhood, err = r.Neighborhood(f.Neighborhood, len(m.Labels), false); err != nil {
		return nil, err
	}
	return m, m.check()
}

// check returns an error unless the parts of the model fit together.
func (m *Model) check() error {
	if m.Points == nil || len(m.Labels) == 0 {
		return errors.New("nearest: there are no points")
	}
	if m.Rows != nil && len(m.Rows) != len(m.Labels) {
		return fmt.Errorf("nearest: %d rows of %d labeled points", len(m.Rows), len(m.Labels))
	}
	for k, i := range m.Rows {
		if i < 0 || k > 0 && i <= m.Rows[k-1] {
			return fmt.Errorf("nearest: element %d of the rows is %d; they must ascend", k, i)
		}
	}
	if len(m.Classes) < 2 || m.Settings.Vote < 1 {
		return fmt.Errorf("nearest: %d classes and a vote of %d", len(m.Classes), m.Settings.Vote)
	}

	// A label beyond the classes would be an index out of range in Votes.
	if i := slices.IndexFunc(m.Labels, func(c int32) bool {
		return c < 0 ||
			int(c) >= len(m.Classes)
	}); i >= 0 {
		return fmt.Errorf("nearest: label %d of point %d is not one of %d classes", m.Labels[i], i,
			len(m.Classes))
	}
	return nil
}

// Learners of this package.
var Learners = []models.Learner{Learner{}, GeodesicLearner{}}
