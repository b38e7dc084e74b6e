package selection

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// Data holds the points, targets and graphs of a [Search].
type Data struct {
	Targets *models.Targets
	// Points are n×d; learners that work on a graph alone do without.
	Points data.Points
	// Neighbors of all points, as many as the largest number in the grid, and the
	// settings of graphs made of the first K of them.
	Neighbors *knn.Neighbors
	Edges     knn.GraphSettings
	// Graph, if not nil, is the one graph, in place of Neighbors.
	Graph *models.Graph
	// Outputs is a graph on the columns of the targets, for learners that use one.
	Outputs      *sparse.CSR
	OutputKernel *mat.Dense // in place of Outputs: see [models.Input]
	// OutputNorm are the matrices of an intrinsic norm: see [models.Input].
	OutputNorm []*mat.Dense

	shared *shared // of a comparison
}

// input returns what all fits have in common.
func (d *Data) input(seed uint64, memory int64) models.Input {
	return models.Input{Points: d.Points, Targets: d.Targets, Outputs: d.Outputs,
		OutputKernel: d.OutputKernel, OutputNorm: d.OutputNorm, Seed: seed, Memory: memory}
}

// check returns an error unless there are a learner, and points and targets of one length.
func (d *Data) check(l models.Learner) error {
	in := d.input(0, 0)
	if err := in.Check(); err != nil {
		return err
	}
	if l == nil {
		return errors.New("selection: there is no learner")
	}
	return nil
}

// settingsOf returns the settings of a grid, or all faults of the grid and of the data for
// them at once.
func (d *Data) settingsOf(g *Grid, seed uint64, memory int64) ([]Setting, error) {
	own := 0
	if d.Graph == nil && d.Neighbors != nil {
		own = d.Edges.K
	}
	in := d.input(seed, memory)
	points, err := g.settings(&in, own)
	faults := []error{err, d.checkTargets(g.Learner)}
	if g.Learner.Info().Needs.Has(models.NeedsPoints) && d.Points == nil {
		faults = append(faults, errors.New("selection: there are no points"))
	}

	// One fault of the graph is enough: the others would repeat it.
	for _, p := range points {
		if err := d.checkGraph(g.Learner, p); err != nil {
			faults = append(faults, err)
			break
		}
	}

	return points, errors.Join(faults...)
}

// edges estimates the stored edges of the graph of p.
func (d *Data) edges(l models.Learner, p Setting) int {
	info := l.Info()
	switch {
	case !info.UsesGraph(p.Values):
		return 0
	case d.Graph != nil:
		return d.Graph.W.NNZ()
	}
	return 2 * d.Targets.Len * p.Neighbors
}

// checkTargets returns an error unless the learner can learn the targets and be
// measured on them.
func (d *Data) checkTargets(l models.Learner) error {
	info := l.Info()
	kind := models.LearnsValues
	what := "values"
	switch {
	case d.Targets.Labels != nil:
		kind = models.LearnsLabels
		what = "several labels a point"
	case d.Targets.Classes != nil:
		kind = models.LearnsClasses
		what = "classes"
	}

	if info.Learns.Has(models.LearnsInside) {
		return fmt.Errorf("selection: %s does not learn from labels, which cross-validation measures with",
			info.Name)
	}
	if !info.Learns.Has(kind) {
		return fmt.Errorf("selection: %s does not learn %s", info.Name, what)
	}
	return nil
}

// checkGraph returns an error if p needs a graph that cannot be had.
func (d *Data) checkGraph(l models.Learner, p Setting) error {
	n := d.Targets.Len
	info := l.Info()
	switch {
	case !info.UsesGraph(p.Values):
		return nil
	case d.Graph == nil && d.Neighbors == nil:
		return errors.New("selection: there are neither neighbours nor a graph")
	case d.Graph != nil && p.Neighbors > 0:
		return errors.New("selection: the graph is given; it has its own neighbours")
	case d.Graph == nil && (p.Neighbors < 1 || p.Neighbors > d.Neighbors.K):
		return fmt.Errorf("selection: a graph of %d neighbours from lists of %d", p.Neighbors, d.Neighbors.K)
	case d.Graph != nil && d.Graph.Len() != n, d.Graph == nil && d.Neighbors.Len() != n:
		return fmt.Errorf("selection: a graph of other points than the %d with targets", n)
	}

	return nil
}

// cut makes the graph of the given number of neighbours from the lists.
func (d *Data) cut(neighbors int) (*models.Graph, error) {
	s := d.Edges
	s.K = neighbors
	w, filled, err := knn.FromNeighbors(d.Neighbors, s)
	if err != nil {
		return nil, err
	}
	g := models.NewGraph(w)
	g.Edges = filled
	return g, nil
}

// batch is the number of points for which a model predicts at once. It bounds the copies of the
// points: 8,192 points of 784 float64 columns are 51 MB.
const batch = 1 << 13

// answer fits a model to in, on the shared eigenpairs, and returns its answers for the given
// points of in.
func (d *Data) answer(ctx context.Context, l models.Learner, in *models.Input, points []int) models.Answer {
	unconverged := d.shared.pair(ctx, l, in)
	if !models.Usable(unconverged) {
		return models.Answer{Err: unconverged}
	}
	// Usable faults of the eigenpairs and of the fit come with the answer.
	m, fault := l.Fit(ctx, in)
	if !models.Usable(fault) {
		return models.Answer{Err: fault}
	}
	out := models.Answer{Err: errors.Join(unconverged, fault)}
	if m, ok := m.(models.Trained); ok {
		return models.AnswerAt(m.Training(true), points, out.Err)
	}

	// A model that keeps no answers predicts for its training points as for new ones, in
	// batches.
	for lo := 0; lo < len(points); lo += batch {
		hi := min(lo+batch, len(points))
		p, err := m.Predict(ctx, data.Select(in.Points, points[lo:hi]), nil)
		if err != nil {
			return models.Answer{Err: err}
		}
		out.Classes = append(out.Classes, p.Classes...)
		if p.Scores != nil {
			_, c := p.Scores.Dims()
			if out.Scores == nil {
				out.Scores = mat.NewDense(len(points), c, nil)
			}
			out.Scores.Slice(lo, hi, 0, c).(*mat.Dense).Copy(p.Scores)
		}
	}

	return out
}
