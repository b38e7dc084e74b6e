package papers

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// MachineTable returns a table of errors of kernel machines, in percent: a row for each
// problem, a column for each method.
func MachineTable(records []results.Record, notes ...string) *results.Table {
	return &results.Table{
		Columns: []results.Column{
			{Key: "row"},
			{Key: "method"},
			errorColumn,
			// Which settings were chosen, or another remark.
			{Key: "note", Kind: results.Remarks, About: []string{"row", "method"}, OmitEmpty: true},
		},
		Views: []results.View{{Rows: "row", Across: "method", Show: []string{errorColumn.Key},
			Corner: errorColumn.Heading()}},
		Figures: []results.Figure{{Each: "row", By: "method", Value: errorColumn.Key}},
		Records: records,
		Notes:   notes,
	}
}

// MachineRecord returns a record of [MachineTable]: the mean error over the draws, beside
// it the paper's figure unless that is 0, and a remark.
func MachineRecord(row, method string, errs []float64, paper float64, remark string) results.Record {
	return results.Record{results.Text(row), results.Text(method), results.Mean(errs).Beside(paper),
		results.Text(remark)}
}

// machine is a kernel machine of the papers' tables.
type machine struct {
	name   string
	method kernelmachine.Method
	graph  bool // with an intrinsic norm
}

// machines are the four machines of the tables. Code below counts on their order.
var machines = []machine{
	{"SVM", kernelmachine.SVM, false},
	{"RLS", kernelmachine.RLS, false},
	{"LapSVM", kernelmachine.SVM, true},
	{"LapRLS", kernelmachine.RLS, true},
}

// namedLaplacian is a kind of Laplacian with the words for it in the name of a column.
type namedLaplacian struct {
	kind sparse.Kind
	mark string
}

// section5 lists the Laplacians in our tables of section 5 of Belkin, Niyogi & Sindhwani
// (2006): the paper's, which is the normalized one (Remark 3), and D − W beside it.
var section5 = []namedLaplacian{{sparse.Normalized, ""}, {sparse.Combinatorial, " with D − W"}}

const section5Note = "LapSVM and LapRLS have the normalized Laplacian, which Remark 3 says the paper " +
	"uses in all of section 5; “with D − W” is ours, at the same γ_A and γ_I"

// newProblem returns the problem on a Gram matrix.
func newProblem(ctx context.Context, gram *mat.Dense, l *sparse.Laplacian) (*kernelmachine.Problem, error) {
	n, _ := gram.Dims()
	values := &data.Dense[float64]{Rows: n, Cols: n, Data: gram.RawMatrix().Data}
	return kernelmachine.NewProblem(ctx, &kernelmachine.Data{Values: values, Laplacian: l})
}

// Laplacian returns the Laplacian of the graph that joins each point to the first s.K of
// its neighbours in nb.
func Laplacian(nb *knn.Neighbors, s knn.GraphSettings, kind sparse.Kind) (*sparse.Laplacian, error) {
	w, _, err := knn.FromNeighbors(nb, s)
	if err != nil {
		return nil, err
	}
	return sparse.NewLaplacian(w, kind)
}

// Neighbors finds the k nearest neighbours of every point by comparing all pairs. k is
// lowered to n − 1 where there are fewer other points.
func Neighbors(ctx context.Context, x data.Points, k int) (*knn.Neighbors, error) {
	n, _ := x.Dims()
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		return nil, err
	}
	return ix.Self(ctx, min(k, n-1))
}

// classesOf returns the classes that the outputs f stand for: the largest column, or the
// sign of the only column.
func classesOf(f *mat.Dense) []int32 {
	n, c := f.Dims()
	if c > 1 {
		return models.Argmax(f)
	}
	out := make([]int32, n)
	for i := range out {
		if f.At(i, 0) > 0 {
			out[i] = 1
		}
	}
	return out
}

// wrong returns the error in percent on the points without a label in drawn, or on all
// points if drawn is nil.
func wrong(f *mat.Dense, truth, drawn *data.Labels) float64 {
	if drawn == nil {
		drawn = truth.Keep(nil)
	}
	return 100 * metrics.ErrorRate(classesOf(f), truth, drawn)
}

// breakEven measures outputs f for class 1 against 0, on the points without a label in
// drawn, or on all points if drawn is nil. It returns three percentages: the break-even
// point of precision and recall of class 1, the error at that threshold
// ([metrics.BreakEven]), and the error of the threshold 0.
func breakEven(f []float64, truth, drawn *data.Labels) (prbep, atBreak, sign float64, err error) {
	var scores []float64
	var positive []bool
	wrong := 0
	for i, c := range truth.Index {
		if drawn != nil && drawn.Index[i] != data.Unlabeled {
			continue
		}
		// Points with a label in the draw are left out: the machine was trained on them.
		scores = append(scores, f[i])
		positive = append(positive, c == 1)
		if (f[i] > 0) != (c == 1) {
			wrong++
		}
	}

	b, err := metrics.BreakEven(scores, positive)
	return 100 * b.PRBEP, 100 * b.Error, 100 * float64(wrong) / float64(len(scores)), err
}

// outputs fits a machine and returns its outputs f at the points of the problem and,
// unless cross is nil, its outputs ft at other points. Row i of cross holds the kernel
// values of other point i with all points of the problem.
func outputs(ctx context.Context, p *kernelmachine.Problem, w *kernelmachine.Warped, drawn *data.Labels,
	s kernelmachine.Settings, cross *mat.Dense) (f, ft *mat.Dense, err error) {
	t, err := models.ClassTargets(drawn)
	if err != nil {
		return nil, nil, err
	}
	m, err := w.Fit(ctx, t, &s)
	if err != nil {
		return nil, nil, err
	}
	// The machine keeps coefficients for all points of the problem, so values at new points need
	// the rows of cross alone.
	if cross != nil {
		ft = outputsAt(m, cross)
	}
	return p.Outputs(m), ft, nil
}

// outputsAt returns f = K c + b at new points. Row i of cross, K, holds the kernel values
// of new point i with all points of the problem.
func outputsAt(m *kernelmachine.Machine, cross *mat.Dense) *mat.Dense {
	n, _ := cross.Dims()
	_, c := m.Coefficients.Dims()
	f := mat.NewDense(n, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, cross, m.Coefficients, 0, f)
	for i := range n {
		floats.Add(f.RawRowView(i), m.Intercepts)
	}
	return f
}

// settings returns the settings of the machine with the given norms. A machine without a
// graph gets γ_I = 0.
func (m machine) settings(r regularizer.Regularizer) kernelmachine.Settings {
	if !m.graph {
		r.GammaI = 0
	}
	return kernelmachine.Settings{Method: m.method, Regularizer: r, Tolerance: 1e-3}
}

// ReadSet reads the points X from the file points and the labels y from the file labels,
// which may be one file. Unless draws is empty, it names an array of the file labels: each
// of its rows lists the numbers of the labeled points of one draw.
func ReadSet(o Options, origin, points, labels, draws string) (x data.Points, y *data.Labels, rows [][]int,
	err error) {
	for _, name := range []string{points, labels} {
		if _, err := Find(o.Dir, origin, name); err != nil {
			return nil, nil, nil, err
		}
	}

	// Both files exist: a fault from here on is a fault of their contents.
	points = filepath.Join(o.Dir, points)
	labels = filepath.Join(o.Dir, labels)
	if x, y, err = Read(points, labels, o.Limit); err != nil || draws == "" {
		return x, y, nil, err
	}
	table, err := data.ReadPoints(labels+":"+draws, data.ReadOptions{Limit: o.Limit})
	if err != nil {
		return nil, nil, nil, err
	}

	count, l := table.Dims()
	row := make([]float64, l)
	for i := range count {
		data.RowTo(row, table, i)
		var draw []int
		for _, v := range row {
			// The negated comparison also catches NaN.
			if !(v >= 0 && v < float64(y.Len())) {
				return nil, nil, nil, fmt.Errorf("%s: draw %d of %s labels point %v, there are %d", labels, i,
					draws, v, y.Len())
			}
			draw = append(draw, int(v))
		}
		rows = append(rows, draw)
	}

	return x, y, rows, nil
}

// union returns the points that have a label in at least one draw, ascending.
func union(draws []*data.Labels) []int {
	var all []int
	for _, y := range draws {
		all = append(all, y.Labeled()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// keep returns one draw for each list of rows, in which these rows alone have labels.
func keep(truth *data.Labels, rows [][]int) []*data.Labels {
	var draws []*data.Labels
	for _, r := range rows {
		draws = append(draws, truth.Keep(r))
	}
	return draws
}

// DrawPerClass draws labeled sets with the same number of points of each class.
func DrawPerClass(truth *data.Labels, perClass, count int, seed uint64) ([]*data.Labels, error) {
	draws := make([]*data.Labels, count)
	for i := range draws {
		// Propagation draws by the same rule: equal seeds label equal points in both experiments.
		var err error
		if draws[i], err = (PropagationRow{Labels: perClass, PerClass: true}).draw(truth,
			seed+uint64(i)); err != nil {
			return nil, err
		}
	}
	return draws, nil
}

// SetsOrigin says where the sets of [ReadSet] come from.
const SetsOrigin = "the data sets of Sindhwani, Niyogi & Belkin (2005), Belkin, Niyogi & " +
	"Sindhwani (2006) and Chapelle, Schölkopf & Zien (2006) were published by their authors; save the points as " +
	"array X, the classes as y and the labeled points of the draws, where they were published, as " +
	"idxLabs, and give their folder with --data"
