package audit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/stage"
)

// DefaultMostOperations is the default of [Settings.MostOperations]: about ten minutes of one processor.
const DefaultMostOperations = 3e12

// judgeFolds is the number of folds of labels that are left out in turn.
const judgeFolds = 10

// Neighbours is the name of the judge that asks the nearest neighbours.
const Neighbours = "knn"

// Labels are labels that may be wrong. [labeling.Planner.Suspects] judges them on the graph of the neighbours, as
// bigfit suspects does without a model: by harmonic where at least half of the points have a label, else by lgc,
// with the labels of one fold in ten left out in turn. Where that exceeds [Settings.MostOperations] or the memory,
// the shares of the classes among the labeled neighbours of a point judge its label.
//
// The list holds the labels of bigfit suspects, those that have not the largest share of their point. Its order and
// its scores are those of Score, which find wrong labels earlier than 1 − p of the given class does: see docs/audit.md.
type Labels struct {
	*active.Suspects
	// Score of each label of Targets, in [0, 1]: o/(p+o) with the share p of the given class and the largest share
	// o of another one. It is above 1/2 for the labels of the list; NaN for labels that cannot be judged.
	Score []float64
	// Targets are the labels that were judged, and the rows of Suspects.Shares.
	Targets *models.Targets
	// Judge is harmonic, lgc or [Neighbours].
	Judge string
	// Low and High enclose the number of wrong labels: the lower end of the 95 % interval of Wilson (1927) about the
	// smaller of Suspects.Wrong and the length of the list, and the upper end about the larger one. Confident
	// learning misses wrong labels, and the list has right ones. A judge that errs often lists many right labels.
	Low, High int
	// Few tells that there are fewer than five judged labels a class. The judge then errs too often for Wrong, Low
	// and High to say anything: of thirty right labels of ten classes it took eighteen for wrong.
	Few bool
}

// fewLabels is the mean number of judged labels of a class below which wrong ones are not counted.
const fewLabels = 5

// Answers are values that may be wrong: those far from the mean of the values of their neighbours, by the spread of
// all such differences ([active.Outliers]).
type Answers struct {
	List  []active.Outlier
	Given int // points with values
	K     int // neighbours that answer
	// Error is the root of the mean square of the differences, for each column of the values.
	Error []float64
}

// judge looks at labels or values.
func (r *run) judge(ctx context.Context) error {
	switch {
	case r.labels != nil:
		return r.judgeLabels(ctx)
	case r.values != nil:
		return r.judgeValues(ctx)
	}
	return nil
}

// judgeLabels fills in Classes, Worth and Labels.
func (r *run) judgeLabels(ctx context.Context) error {
	labeled := r.labels.Labeled()
	class := make([]int32, len(labeled))
	for q, i := range labeled {
		class[q] = r.labels.Index[i]
	}
	lists, err := r.among(ctx, labeled)
	if err != nil {
		return err
	}
	r.out.Classes = classesOf(r.given, lists, class)
	t, none := models.ClassTargets(r.labels)
	if none != nil || lists == nil {
		return nil // nothing to tell apart
	}
	t.Labeled = slices.Clone(t.Labeled) // renumbered in the end
	r.out.Worth = worthOf(labeled, lists, class, r.s.Votes)

	found, judge, err := r.suspects(ctx, t, lists)
	if !models.Usable(err) {
		return err
	}
	judged := found.Labeled - found.Unknown
	low, _ := wilson(min(found.Wrong, len(found.List)), judged)
	_, high := wilson(max(found.Wrong, len(found.List)), judged)
	r.out.Labels = &Labels{Suspects: found, Targets: t, Judge: judge, Low: low, High: high,
		Few: judged < fewLabels*len(t.Classes)}
	r.out.Labels.rank()
	return err
}

// rank fills in Score and orders the list by it.
func (l *Labels) rank() {
	l.Score = make([]float64, len(l.Targets.Labeled))
	of := make(map[int]float64, len(l.List))
	for q, i := range l.Targets.Labeled {
		l.Score[q] = math.NaN()
		if !l.Known[q] {
			continue
		}
		given := l.Targets.Class(q)
		other := 0.0
		row := l.Shares.RawRowView(q)
		for c, v := range row {
			if c != given {
				other = max(other, v)
			}
		}
		if sum := row[given] + other; sum > 0 {
			l.Score[q] = other / sum
			of[i] = l.Score[q]
		}
	}
	for p := range l.List {
		l.List[p].Score = of[l.List[p].Point]
	}
	slices.SortStableFunc(l.List, func(a, b active.Suspect) int { return cmp.Compare(b.Score, a.Score) })
}

// suspects asks the judge of [Labels].
func (r *run) suspects(ctx context.Context, t *models.Targets, lists *knn.Neighbors) (*active.Suspects, string,
	error) {
	judge := "lgc"
	if 2*len(t.Labeled) >= t.Len {
		judge = "harmonic"
	}
	l := all.Learner(judge)
	folds := min(judgeFolds, len(t.Labeled))
	in := &models.Input{Graph: &r.graph.Graph, Targets: t, Edges: r.graph.W.NNZ()}
	cost, err := l.Cost(in)
	fits := r.Memory <= 0 || cost.Bytes <= r.Memory
	if err == nil && fits && float64(folds)*cost.Operations <= r.s.MostOperations && divisible(t) {
		found, err := labeling.Planner{Pipeline: r.Pipeline}.Suspects(ctx, l, in, nil, folds)
		return found, judge, err
	}

	r.Observed().Note("labels: judged by their nearest neighbours, as a graph method would take too much memory or time, " +
		"or has too few labels")
	shares := mat.NewDense(len(t.Labeled), len(t.Classes), nil)
	known := make([]bool, len(t.Labeled))
	for q := range known {
		index, _ := lists.Row(q)
		known[q] = true
		row := shares.RawRowView(q)
		for _, j := range index {
			row[t.Class(int(j))] += 1 / float64(len(index))
		}
	}
	return active.Disagreeing(t, shares, known), Neighbours, nil
}

// divisible tells whether two classes have two labels each, so that folds can be left out.
func divisible(t *models.Targets) bool {
	count := make([]int, len(t.Classes))
	classes := 0
	for q := range t.Labeled {
		c := t.Class(q)
		if count[c]++; count[c] == 2 {
			classes++
		}
	}
	return classes >= 2
}

// among returns the neighbours that the points of rows have among each other, numbered in their order; nil if there
// are fewer than two.
func (r *run) among(ctx context.Context, rows []int) (*knn.Neighbors, error) {
	n := r.count()
	if len(rows) < 2 || r.lists == nil {
		return nil, nil
	}
	if len(rows) == n {
		return r.lists, nil
	}
	// The search is among the points of the first search, which were projected already.
	s := r.graph.Settings
	s.Standardize, s.PCA = false, 0
	s.Graph.K = min(r.out.K, len(rows)-1)
	s.Found = nil
	s.Method = knn.Auto
	chosen := *r.Pipeline
	chosen.Checkpoint = nil
	_, nb, err := chosen.Neighbors(ctx, data.Select(r.graph.Points, rows), &s)
	if !models.Usable(err) {
		return nil, err
	}
	return nb, nil
}

// judgeValues fills in Answers.
func (r *run) judgeValues(ctx context.Context) error {
	t, err := models.ValueTargets(r.values)
	if err != nil {
		return err
	}
	lists, err := r.among(ctx, t.Labeled)
	if err != nil || lists == nil {
		return err
	}
	rows, columns := t.Y.Dims()
	residuals := mat.NewDense(rows, columns, nil)
	if err := r.Observed().Announce("values", stage.Cost{Bytes: 16 * int64(rows) * int64(columns),
		Remedy: "give fewer columns of values"}); err != nil {
		return err
	}
	par.For(rows, data.BlockRows, func(lo, hi int) {
		for q := lo; q < hi; q++ {
			index, _ := lists.Row(q)
			row := residuals.RawRowView(q)
			copy(row, t.Y.RawRowView(q))
			for _, j := range index {
				for c, v := range t.Y.RawRowView(int(j)) {
					row[c] -= v / float64(len(index))
				}
			}
		}
	})

	out := &Answers{List: active.Outliers(t, residuals), Given: rows, K: lists.K, Error: make([]float64, columns)}
	for q := range rows {
		for c, v := range residuals.RawRowView(q) {
			out.Error[c] += v * v / float64(rows)
		}
	}
	for c := range out.Error {
		out.Error[c] = math.Sqrt(out.Error[c])
	}
	r.out.Answers = out
	return nil
}

// wilson returns the interval of Wilson about count of n, rounded outwards.
func wilson(count, n int) (low, high int) {
	if n == 0 {
		return 0, 0
	}
	const z = 1.959963984540054 // of 95 %
	of := float64(n)
	p := float64(count) / of
	centre := (p + z*z/(2*of)) / (1 + z*z/of)
	half := z / (1 + z*z/of) * math.Sqrt(p*(1-p)/of+z*z/(4*of*of))
	return max(0, int(math.Floor(of*(centre-half)))), min(n, int(math.Ceil(of*(centre+half))))
}
