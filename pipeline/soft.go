package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/annotators"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/param"
)

// What the neighbours say of a point is label spreading from the labels of other points: the labels are dealt into
// agreeFolds folds, and each fold is answered for by a solution without it. The consensus of annotators and these
// answers are found in turns, agreeRounds times; a fourth turn changed no class of more than one point in a
// thousand on usps and news20.
const (
	agreeFolds  = 10
	agreeRounds = 3
)

// ShareTargets makes targets of distributions over classes.
func ShareTargets(s *data.Shares) (*Targets, error) {
	t, err := models.ShareTargets(s.P, s.Classes, s.Names)
	if err != nil {
		return nil, err
	}
	return KnownTargets(t), nil
}

// Weighted gives the labels weights: see [models.Targets.Weighted].
func (t *Targets) Weighted(weights []float64) (*Targets, error) {
	w, err := t.Targets.Weighted(weights)
	if err != nil {
		return nil, err
	}
	out := KnownTargets(w)
	out.Answers, out.Drawn = t.Answers, t.Drawn
	return out, nil
}

// CrowdTargets makes targets of the answers of annotators, by their consensus without a graph. [Pipeline.Agree] finds the
// consensus with one.
func CrowdTargets(a *data.Annotations) (*Targets, error) {
	c, err := annotators.Agree(answersOf(a), nil)
	if err != nil {
		return nil, err
	}
	t, err := agreedTargets(a, c)
	if err != nil {
		return nil, err
	}
	out := KnownTargets(t)
	out.Answers = a
	return out, nil
}

// CrowdLabels returns the most probable class of every point that annotators gave one, by their consensus without a
// graph; of equal ones the first.
func CrowdLabels(a *data.Annotations) (*data.Labels, error) {
	c, err := annotators.Agree(answersOf(a), nil)
	if err != nil {
		return nil, err
	}
	values := make([]int64, a.Points)
	codes := slices.Repeat([]int32{data.Unlabeled}, a.Points)
	labeled := make([]bool, a.Points)
	for r, i := range c.Rows {
		best := floats.MaxIdx(c.Shares.RawRowView(r))
		values[i], codes[i], labeled[i] = a.Labels.Classes[best], int32(best), true
	}
	if a.Labels.Names != nil {
		return data.NewNamedLabels(a.Labels.Names, codes), nil
	}
	return data.NewLabels(values, labeled), nil
}

// answersOf returns the answers in the form of package annotators.
func answersOf(a *data.Annotations) *annotators.Answers {
	return &annotators.Answers{Points: a.Points, Classes: len(a.Labels.Classes), Annotators: len(a.Annotators), Point: a.Point,
		Class: a.Labels.Index, Annotator: a.Annotator}
}

// agreedTargets makes targets of a consensus.
func agreedTargets(a *data.Annotations, c *annotators.Consensus) (*models.Targets, error) {
	all := mat.NewDense(a.Points, len(a.Labels.Classes), nil)
	for r, i := range c.Rows {
		all.SetRow(i, c.Shares.RawRowView(r))
	}
	return models.ShareTargets(all, a.Labels.Classes, a.Labels.Names)
}

// consensusOf returns what a model keeps of a consensus.
func consensusOf(a *data.Annotations, c *annotators.Consensus, graph bool) *models.Consensus {
	k := len(a.Labels.Classes)
	out := &models.Consensus{Classes: a.Labels.Classes, Names: a.Labels.Names, Points: len(c.Rows), Disagreeing: c.Disagreeing,
		Graph: graph, Exponent: c.Exponent, Point: a.Point, Class: a.Labels.Index, Annotator: a.Annotator,
		Confusion: mat.NewDense(k*len(a.Annotators), k, nil)}
	for j, name := range a.Annotators {
		out.Annotators = append(out.Annotators, models.Annotator{Name: name, Labels: c.Counts[j], Accuracy: c.Accuracy[j]})
		out.Confusion.Slice(j*k, (j+1)*k, 0, k).(*mat.Dense).Copy(c.Confusion[j])
	}
	return out
}

// Agree finds the consensus of the answers of annotators (Dawid & Skene 1979: package annotators) and returns in with
// it as its targets. If l uses a graph, the prior of a point's class is what label spreading says of the point from the
// consensus of the other points, in ten folds; both are found in turns, three times. Agree makes a graph that in lacks by
// g, and returns in with it. Without a graph, and where there are too few points, the prior is the share of the class.
//
// It costs thirty solutions of label spreading. [models.WithConsensus] keeps the consensus with a model.
func (p *Pipeline) Agree(ctx context.Context, l models.Learner, in *models.Input, a *data.Annotations,
	g *GraphSettings) (*models.Input, *models.Consensus, error) {
	first, err := annotators.Agree(answersOf(a), nil)
	if err != nil {
		return nil, nil, err
	}
	own := *in
	if own.Targets, err = agreedTargets(a, first); err != nil {
		return nil, nil, err
	}
	short, err := p.graphFor(ctx, l, &own, g)
	if err != nil {
		return nil, nil, err
	}
	if own.Graph == nil || own.Graph.W == nil {
		return &own, consensusOf(a, first, false), short
	}

	if err := p.beginAgreeing(&own, agreeRounds); err != nil {
		return nil, nil, err
	}
	found := first
	for round := range agreeRounds {
		// Classes without a share drop out of the targets and say nothing of a point.
		known, err := p.fromOthers(ctx, own.Graph, own.Targets, a.Points, a.Labels.Classes, a.Labels.Names)
		if errors.Is(err, models.ErrOneClass) || err == nil && known == nil {
			p.Observed().End("too few labels to ask the neighbours")
			return &own, consensusOf(a, found, false), short
		}
		if err != nil {
			return nil, nil, err
		}
		if found, err = annotators.Agree(answersOf(a), &annotators.Settings{Known: known}); err != nil {
			return nil, nil, err
		}
		if own.Targets, err = agreedTargets(a, found); err != nil {
			return nil, nil, err
		}
		p.Observed().Update(float64(round+1), agreeRounds, "")
	}
	out := consensusOf(a, found, true)
	p.Observed().End(fmt.Sprintf("of %d annotators", len(out.Annotators)))
	return &own, out, short
}

// graphFor makes the graph of in, if l uses one and in lacks it.
func (p *Pipeline) graphFor(ctx context.Context, l models.Learner, in *models.Input, g *GraphSettings) (short, err error) {
	info := l.Info()
	if in.Graph != nil || in.Points == nil || !info.UsesGraph(in.Values) {
		return nil, nil
	}
	settings, err := graphSettings(&info, in, g)
	if err != nil {
		return nil, err
	}
	made, short := p.Graph(ctx, in.Points, settings)
	if !models.Usable(short) {
		return nil, short
	}
	in.Graph = &made.Graph
	in.Edges = made.W.NNZ()
	return short, nil
}

// beginAgreeing announces the turns.
func (p *Pipeline) beginAgreeing(in *models.Input, rounds int) error {
	own := *in
	own.Values = models.Values{"tolerance": models.FormatFloat(foldTolerance)}
	cost, err := propagation.Learner{Method: propagation.LGC}.Cost(&own)
	if err != nil {
		return err
	}
	cost.Operations *= float64(agreeFolds * rounds)
	if err := p.Observed().Announce("consensus", cost); err != nil {
		return err
	}
	p.Observed().Begin("consensus")
	return nil
}

// fromOthers returns what label spreading says of the labeled points from the labels of the others, in rows for all n
// points with columns for the given classes; a row of zeros says nothing. It is nil if there are too few labels.
func (p *Pipeline) fromOthers(ctx context.Context, g *models.Graph, t *models.Targets, n int, classes []int64,
	names []string) (*mat.Dense, error) {
	folds := min(agreeFolds, len(t.Labeled))
	if folds < 2 {
		return nil, nil
	}
	splits, err := t.Splits(folds, 1, p.Seed)
	if err != nil {
		return nil, err
	}
	problem, err := propagation.NewProblem(g.W, g.Components)
	if err != nil {
		return nil, err
	}
	// The classes of t are positions of their names if they have names, and values else.
	column := make([]int, len(t.Classes))
	for k := range t.Classes {
		name := data.ClassName(t.Classes, t.Names, int32(k))
		column[k] = slices.IndexFunc(classes, func(v int64) bool {
			return data.ClassName(classes, names, int32(slices.Index(classes, v))) == name
		})
	}

	out := mat.NewDense(n, len(classes), nil)
	for _, s := range splits {
		f, err := problem.Fit(ctx, s.Train, &propagation.Settings{Method: propagation.LGC, Tolerance: foldTolerance})
		if f == nil || !models.Usable(err) {
			return nil, err
		}
		for _, i := range s.Points {
			for k, v := range f.Scores.RawRowView(i) {
				at, _ := slices.BinarySearch(t.Classes, s.Train.Classes[k])
				out.Set(i, column[at], max(v, 0))
			}
		}
	}
	return out, nil
}

// Denoise replaces hard labels, of which a share e is wrong at random, by distributions
//
//	p_ic ∝ q_ic (1 − e if c is the given class, else e/(C − 1))
//
// of C classes, where q_i is the prior of package annotators from what label spreading says of point i from the labels of
// the others: the labels are the answers of one annotator with a known confusion matrix. If l uses no graph, q is uniform
// and the given class has the share 1 − e. With e = 0 the share of wrong labels is estimated by the answers for labels held
// out in ten folds (active.WrongLabels), which needs a graph. The result has the targets, and a graph that in lacks is made by g.
// It returns e.
func (p *Pipeline) Denoise(ctx context.Context, l models.Learner, in *models.Input, e float64,
	g *GraphSettings) (*models.Input, float64, error) {
	own := *in
	t := in.Targets
	switch {
	case t.Classes == nil:
		return nil, 0, fmt.Errorf("pipeline: %s is for classes", param.Name("label-noise"))
	case t.Soft:
		return nil, 0, fmt.Errorf("pipeline: %s is for labels of one class, and these are probabilities already; leave it out",
			param.Name("label-noise"))
	case e < 0 || e >= 1:
		return nil, 0, fmt.Errorf("pipeline: a share of %v of wrong labels; it must lie in (0, 1), or be 0 for an estimate", e)
	}
	short, err := p.graphFor(ctx, l, &own, g)
	if err != nil {
		return nil, 0, err
	}
	c := len(t.Classes)
	var known *mat.Dense
	if own.Graph != nil && own.Graph.W != nil {
		if err := p.beginAgreeing(&own, 1); err != nil {
			return nil, 0, err
		}
		if known, err = p.fromOthers(ctx, own.Graph, t, t.Len, t.Classes, t.Names); err != nil {
			return nil, 0, err
		}
	}
	if e == 0 {
		if known == nil {
			return nil, 0, fmt.Errorf("pipeline: %s has no graph, by which wrong labels could be counted; give %s a number",
				l.Info().Name, param.Name("label-noise"))
		}
		e = estimateNoise(t, known)
	}
	if known != nil {
		p.Observed().End(fmt.Sprintf("%.1f %% of the labels wrong", 100*e))
	}

	all := mat.NewDense(t.Len, c, nil)
	if known == nil {
		for q, i := range t.Labeled {
			row := all.RawRowView(i)
			for k := range row {
				row[k] = e / float64(c-1)
			}
			row[t.Class(q)] = 1 - e
		}
	} else {
		a := &annotators.Answers{Points: t.Len, Classes: c, Annotators: 1, Annotator: make([]int32, len(t.Labeled))}
		for q, i := range t.Labeled {
			a.Point = append(a.Point, int32(i))
			a.Class = append(a.Class, int32(t.Class(q)))
		}
		found, err := annotators.Agree(a, &annotators.Settings{Known: known, Error: e})
		if err != nil {
			return nil, 0, err
		}
		for r, i := range found.Rows {
			all.SetRow(i, found.Shares.RawRowView(r))
		}
	}
	soft, err := models.ShareTargets(all, t.Classes, t.Names)
	if err != nil {
		return nil, 0, err
	}
	soft.Weights = t.Weights
	own.Targets = soft
	return &own, e, short
}

// estimateNoise returns the share of wrong labels, at least one label and at most one half, by what the others say.
func estimateNoise(t *models.Targets, known *mat.Dense) float64 {
	shares := mat.NewDense(len(t.Labeled), len(t.Classes), nil)
	judged := make([]bool, len(t.Labeled))
	count := 0.0
	for q, i := range t.Labeled {
		row := shares.RawRowView(q)
		copy(row, known.RawRowView(i))
		if sum := mat.Sum(shares.RowView(q)); sum > 0 {
			for k := range row {
				row[k] /= sum
			}
			judged[q] = true
			count++
		}
	}
	wrong := float64(active.WrongLabels(t, shares, judged))
	return math.Min(math.Max(wrong, 1)/math.Max(count, 2), 0.5)
}

// Agreed returns m with the consensus c of the targets t that it was fitted to, m itself if c is nil.
func Agreed(m models.Model, c *models.Consensus, t *models.Targets) (models.Model, error) {
	if c == nil || m == nil {
		return m, nil
	}
	// A model of nearest neighbours keeps its labeled points alone, under other numbers.
	if n := models.TrainingPoints(m); n == len(t.Labeled) && n < t.Len {
		own := *c
		own.Point = make([]int32, len(c.Point))
		for k, i := range c.Point {
			at, ok := slices.BinarySearch(t.Labeled, int(i))
			if !ok {
				return nil, fmt.Errorf("pipeline: point %d has answers and no target", i)
			}
			own.Point[k] = int32(at)
		}
		c = &own
	}
	return models.WithConsensus(m, c)
}
