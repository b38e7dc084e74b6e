package papers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// WebKB repeats the experiments on the course pages of Blum & Mitchell (1998): Table 5 of
// Belkin, Niyogi & Sindhwani (2006), on the words of the pages, and three columns of the
// table of Sindhwani, Niyogi & Belkin (2005), on the words of the links to the pages, on the
// words of the pages, and on both. 3 course pages and 9 others are labeled, and the kernel is
// linear.
//
// Everything is measured on the unlabeled pages at the break-even point of precision and
// recall (PRBEP), as the paper of 2006 says. The paper of 2005 speaks of errors. But its
// 24.3 % for an SVM on 12 labeled pages is more than calling no page a course (22 %), and is
// close to 100 − PRBEP of the same SVM in 2006, 23.6. So its figures are read as 100 − PRBEP.
type WebKB struct {
	Page, Link *sparse.CSR
	Truth      *data.Labels // class 1 are the courses, class 0 all others
	Draws      int          // of 3 course pages and 9 others
	Seed       uint64
	Limit      int64 // bytes that matrices may take; 0 is no limit
}

// webKBDrawn holds the number of labeled pages in a draw by class: others, courses.
var webKBDrawn = [2]int{9, 3}

// webKBTable returns the table of [WebKB], without records: shares in percent, means
// over the draws, with a view for each paper.
func webKBTable() *results.Table {
	share := results.Format{Number: "%.2f", Deviation: "%.2f", Published: "%.2f"}
	exact := results.Format{Number: "%.3g"}
	show := func(measure string) []string {
		return []string{"view", "weights", "method", "gamma_a_l", "gamma_i_l", measure, "error_mean",
			"sign_error_mean", "draws"}
	}
	return &results.Table{
		Columns: []results.Column{
			{Key: "table", Kind: results.Integers}, // the year
			{Key: "view", Name: "view"},
			{Key: "weights", Name: "weights"}, // of the graph
			{Key: "method", Name: "method"},
			{Key: "gamma_a_l", Name: "γ_A l", Kind: results.Numbers, Format: exact},
			// in 2006 divided by (l+u)²
			{Key: "gamma_i_l", Name: "γ_I l", Kind: results.Numbers, Format: exact},
			// The published figure of 2005 is 100 minus the paper's: see WebKB.
			{Key: "prbep_mean", Deviation: "prbep_std", Published: "paper_prbep", Name: "PRBEP",
				Kind: results.Numbers, Format: share, MoreIsBetter: true},
			// Where precision and recall are equal.
			{Key: "error_mean", Deviation: "error_std", Published: "paper_error", Name: "error at break-even",
				Unit: "%", Kind: results.Numbers, Format: share},
			// of f
			{Key: "sign_error_mean", Name: "error of the sign", Unit: "%", Kind: results.Numbers,
				Format: results.Format{Number: "%.2f"}},
			{Key: "draws", Name: "draws", Kind: results.Integers},
			{Key: "prbep_rest", Name: "100 − PRBEP", Kind: results.Numbers, Format: share, PrintOnly: true},
		},
		Views: []results.View{
			{Caption: "Belkin, Niyogi & Sindhwani (2006), Table 5: norms of the paper; in brackets its figures",
				Where: results.Where{Key: "table", Is: "2006"}, Show: show("prbep_mean"),
				Headings: map[string]string{"gamma_i_l": "γ_I l/(l+u)²"}},
			{Caption: "Sindhwani, Niyogi & Belkin (2005): norms chosen by the results on the " +
				"unlabeled pages, as in the paper; its figures are read as 100 − PRBEP",
				Where: results.Where{Key: "table", Is: "2005"}, Show: show("prbep_rest")},
		},
		Notes: []string{
			"2006: pages without words are left out, and edges have the weight 1 − cosine, as in the " +
				"software of the authors",
			"2005: the paper does not name the weights of the graph; two are shown. Its norms were " +
				"chosen by the results on the unlabeled pages, and so are ours: this table is no " +
				"measure of what can be chosen without their labels",
			"TSVM has the hinge loss, as the papers' SVMlight, and one rule for its share of " +
				"positive pages, that of the labeled ones; svm-linear and tsvm-linear are ours and " +
				"have the square of the hinge; the papers' LapRLS and RLS have no b",
			"of Table 5 these rows are missing: k-NN (PRBEP 73.2, error 13.3), SGT (86.2, 6.2), " +
				"naive Bayes (error 12.9) and cotraining (error 6.20); the paper took them from " +
				"Joachims (2003) and Blum & Mitchell (1998), on preparations of the pages that are not these",
			"of 2005 these rows are missing: SVM and RLS on all labels, and Graph-Trans (link, page, " +
				"both: 22.0, 10.7, 6.6)",
		},
	}
}

// webKBMethod is a machine on the linear kernel.
type webKBMethod struct {
	name      string
	machine   kernelmachine.Method
	intercept bool
	graph     bool
	// A primal method calls package linear, with the squared hinge; the others call
	// kernelmachine. A transductive method calls FitTSVM there.
	primal, transductive bool
	gammaAL              float64    // γ_A l in the paper of 2006
	table5               [2]float64 // PRBEP and error in 2006; 0 if it has none
	errors               [3]float64 // errors in 2005 on link, page and page+link
}

// webKBMethods are the methods of both papers, with two of our own. The papers' RLS has no
// intercept b; a row of ours adds it. TSVM has the hinge loss, as the papers' SVMlight does;
// tsvm-linear has its square.
var webKBMethods = []webKBMethod{
	{name: "RLS", machine: kernelmachine.RLS, gammaAL: 0.01, table5: [2]float64{73.49, 11.68},
		errors: [3]float64{30.3, 30.2, 23.9}},
	{name: "RLS with b", machine: kernelmachine.RLS, intercept: true, gammaAL: 0.01},
	{name: "SVM", machine: kernelmachine.SVM, gammaAL: 1, table5: [2]float64{76.39, 10.41},
		errors: [3]float64{28.1, 24.3, 18.2}},
	{name: "svm-linear", primal: true, gammaAL: 1},
	{name: "TSVM", machine: kernelmachine.SVM, transductive: true, gammaAL: 1,
		table5: [2]float64{88.15, 5.22}, errors: [3]float64{14.5, 8.6, 7.8}},
	{name: "tsvm-linear", primal: true, transductive: true, gammaAL: 1},
	{name: "LapRLS", machine: kernelmachine.RLS, graph: true, gammaAL: 0.01, table5: [2]float64{86.37, 5.99},
		errors: [3]float64{19.2, 11.2, 7.5}},
	{name: "LapRLS with b", machine: kernelmachine.RLS, intercept: true, graph: true, gammaAL: 0.01},
	{name: "LapSVM", machine: kernelmachine.SVM, graph: true, gammaAL: 1, table5: [2]float64{87.73, 5.41},
		errors: [3]float64{17.2, 10.9, 6.4}},
}

// webKBWeights are functions from the cosine of two pages to the weight of their edge.
var webKBWeights = map[string]func(cosine float64) float64{
	"one":      func(float64) float64 { return 1 },
	"cosine":   func(c float64) float64 { return c },
	"1−cosine": func(c float64) float64 { return 1 - c },
}

// webKBTask is a view of the pages with a graph and the norms to try.
type webKBTask struct {
	table, column int
	view, weights string
	x             *sparse.CSR
	truth         *data.Labels
	neighbors     int
	power         int
	gammaALs      []float64 // γ_A l to try; nil means the method's own
	ratios        []float64 // γ_I/γ_A, without the (l+u)² of 2006
	graphOnly     bool      // leave out the methods without a graph
}

// The grid for the table of 2005.
var (
	webKBGammaALs = []float64{1e-4, 1e-3, 0.005, 0.01, 0.03, 0.1, 0.3, 1}
	// webKBLeast is the least γ_A l for both TSVMs, which take long at a smaller one.
	webKBLeast = 0.1
	// webKBRatios are values of γ_I/γ_A.
	webKBRatios = []float64{1, 1.8, 3.2, 5.6, 10, 18, 32, 56, 100, 1000}
)

// tasks returns the views and graphs of both papers. The paper of 2006 leaves out pages
// without words, gives edges the weight 1 − cosine, as its authors' software does, and uses
// the normalized Laplacian (Remark 3). The paper of 2005 does not name its weights, and chose
// γ_A and γ_I by the results on the unlabeled pages.
func (e *WebKB) tasks() []webKBTask {
	rows := data.Nonzero(e.Page)
	tasks := []webKBTask{{table: 2006, view: "page", weights: "1−cosine",
		x: data.ToSparse(data.Select(e.Page, rows)), truth: e.Truth.Select(rows),
		neighbors: 15, power: 3, ratios: []float64{100}}}
	// The table of 2005: three views, each with two guesses at the weights. Methods without a
	// graph run with the first guess alone.
	for column, v := range []struct {
		name string
		x    *sparse.CSR
	}{{"link", e.Link}, {"page", e.Page}, {"page+link", beside(e.Page, e.Link)}} {
		for k, weights := range []string{"one", "cosine"} {
			tasks = append(tasks, webKBTask{table: 2005, column: column, view: v.name, weights: weights,
				x: v.x, truth: e.Truth,
				neighbors: 200, power: 5, gammaALs: webKBGammaALs, ratios: webKBRatios, graphOnly: k > 0})
		}
	}

	return tasks
}

// NewWebKB reads the pages and puts them in a random order drawn by the seed. The files list
// all course pages first, and the search takes neighbours at equal distances, which are many,
// in the order of the pages: the order of the files would favour course pages.
func NewWebKB(o Options) (*WebKB, error) {
	e := &WebKB{Draws: 5 * o.Splits, Seed: o.Seed, Limit: o.Limit}
	labels, err := Find(o.Dir, webKBOrigin, "webkb_sindhwani_y.npy")
	if err != nil {
		return nil, err
	}

	for name, to := range map[string]**sparse.CSR{"webkb_sindhwani_page_X.npz": &e.Page,
		"webkb_sindhwani_link_X.npz": &e.Link} {
		path, err := Find(o.Dir, webKBOrigin, name)
		if err != nil {
			return nil, err
		}
		x, y, err := Read(path, labels, o.Limit)
		if err != nil {
			return nil, err
		}
		// The seed gives the same order for both files and the labels.
		order := rand.New(rand.NewPCG(o.Seed, 0x7765626b62)).Perm(y.Len()) // "webkb"
		*to = data.ToSparse(data.Select(x, order))

		classes := make([]int64, y.Len())
		for p, i := range order {
			if y.Classes[y.Index[i]] == 1 {
				classes[p] = 1
			}
		}
		e.Truth = data.NewLabels(classes, nil)
	}

	// A draw must leave unlabeled pages of both classes to measure.
	for c, need := range webKBDrawn {
		if have := countClass(e.Truth, int32(c)); len(e.Truth.Classes) != 2 || have <= need {
			return nil, fmt.Errorf("%s: more than %d pages of class 1, courses, and %d others are needed",
				labels, webKBDrawn[1], webKBDrawn[0])
		}
	}
	return e, nil
}

const webKBOrigin = "the pages were collected by A. Blum and T. Mitchell (1998) and prepared by " +
	"V. Sindhwani with 3000 words of the pages and 1840 of the links; save the weighted words with " +
	"scipy.sparse.save_npz as webkb_sindhwani_page_X.npz and webkb_sindhwani_link_X.npz and the " +
	"classes, 1 for a course, as webkb_sindhwani_y.npy, and give their folder with --data"

// countClass returns the number of points of a class.
func countClass(y *data.Labels, class int32) (count int) {
	for _, c := range y.Index {
		if c == class {
			count++
		}
	}
	return count
}

// beside returns the matrix [a b]: the points with the columns of a followed by the columns
// of b.
func beside(a, b *sparse.CSR) *sparse.CSR {
	out := &sparse.CSR{Rows: a.Rows, Cols: a.Cols + b.Cols, Ptr: []int64{0}, Val: []float64{}}
	for i := range a.Rows {
		// A row of the result is the row of a, then the row of b with its columns shifted.
		from := 0
		for _, m := range []*sparse.CSR{a, b} {
			col, val := m.Row(i)
			for p, j := range col {
				v := 1.0
				if val != nil {
					v = val[p]
				}
				out.Col = append(out.Col, int32(from)+j)
				out.Val = append(out.Val, v)
			}
			from += m.Cols
		}
		out.Ptr = append(out.Ptr, int64(len(out.Col)))
	}

	return out
}

// Run carries out the experiments.
func (e *WebKB) Run(ctx context.Context, obs stage.Observer) (*results.Table, error) {
	table := webKBTable()
	for _, t := range e.tasks() {
		obs.Begin(fmt.Sprintf("%d %s, weights %s", t.table, t.view, t.weights))
		records, note, err := e.task(ctx, t, obs)
		if err != nil {
			return nil, fmt.Errorf("%s, weights %s: %w", t.view, t.weights, err)
		}
		table.Records = append(table.Records, records...)
		obs.End(note)
	}

	return table, nil
}

// webKBScore holds the measures of one method with given norms, one value for each draw.
type webKBScore struct {
	gammaAL, gammaIL     float64
	prbep, atBreak, sign []float64
	mean                 float64 // of prbep
}

// task fits every method with all norms of the task and returns one record for each method:
// the norms with the best mean PRBEP. note describes the graph.
func (e *WebKB) task(ctx context.Context, t webKBTask, obs stage.Observer) (records []results.Record,
	note string, err error) {
	gram, err := kernel.Gram(t.x, kernel.Kernel{}, e.Limit)
	if err != nil {
		return nil, "", err
	}
	w, err := t.graph(ctx)
	if err != nil {
		return nil, "", err
	}
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		return nil, "", err
	}

	plain, err := newProblem(ctx, gram, l)
	if err != nil {
		return nil, "", err
	}
	draws := make([]*data.Labels, e.Draws)
	for i := range draws {
		draws[i] = drawCourses(t.truth, e.Seed+uint64(i))
	}
	// Ratio 0 stands for the methods without a graph, on the plain kernel. At other ratios the
	// kernel is warped once, and the methods see an ordinary kernel.
	best := make([]*webKBScore, len(webKBMethods))
	for step, ratio := range append([]float64{0}, t.ratios...) {
		problem, values := plain, gram
		if ratio > 0 {
			if problem, values, err = warped(ctx, plain, regularizer.Regularizer{GammaA: 1, GammaI: ratio,
				Power: t.power, Laplacian: sparse.Normalized}, w.Rows); err != nil {
				return nil, "", err
			}
		}

		for j := range webKBMethods {
			m := &webKBMethods[j]
			for _, g := range t.norms(m, ratio) {
				r, err := m.evaluate(ctx, problem, values, &t, draws, g)
				if err != nil {
					return nil, "", fmt.Errorf("%s, γ_A l = %g, ratio %g: %w", m.name, g, ratio, err)
				}
				if r.gammaIL = ratio * g; best[j] == nil || r.mean > best[j].mean {
					best[j] = r
				}
			}
		}

		obs.Update(float64(step+1), float64(len(t.ratios)+1), "")
	}

	for j := range webKBMethods {
		if best[j] != nil {
			records = append(records, t.record(&webKBMethods[j], best[j]))
		}
	}
	return records, fmt.Sprintf("%d pages, %s, %d draws", w.Rows, models.NewGraph(w).Describe(), e.Draws), nil
}

// norms returns the values of γ_A l to try for a method at one ratio of γ_I to γ_A. It
// returns none for a method with a graph at the ratio 0, and for a method without one at
// others.
func (t *webKBTask) norms(m *webKBMethod, ratio float64) []float64 {
	switch {
	case m.graph != (ratio > 0) || t.graphOnly && !m.graph:
		return nil
	case t.gammaALs == nil:
		return []float64{m.gammaAL}
	case m.transductive:
		return slices.DeleteFunc(slices.Clone(t.gammaALs), func(g float64) bool { return g < webKBLeast })
	}
	return t.gammaALs
}

// record returns a record of webKBTable.
func (t *webKBTask) record(m *webKBMethod, best *webKBScore) results.Record {
	weights := t.weights
	if !m.graph {
		weights = ""
	}
	prbep := results.Mean(best.prbep)
	atBreak := results.Mean(best.atBreak)
	if figure := m.errors[t.column]; t.table == 2005 && figure > 0 {
		prbep = prbep.Beside(100 - figure)
	}

	if t.table == 2006 {
		prbep = prbep.Beside(m.table5[0])
		atBreak = atBreak.Beside(m.table5[1])
	}
	// The deviation of 100 − PRBEP is the deviation of PRBEP.
	rest := prbep
	rest.Number = 100 - prbep.Number
	rest.Published = 100 - prbep.Published
	return results.Record{results.Integer(t.table), results.Text(t.view), results.Text(weights),
		results.Text(m.name), results.Number(best.gammaAL), results.Number(best.gammaIL),
		prbep, atBreak, results.Mean(best.sign), results.Integer(len(best.prbep)), rest}
}

// graph joins each page to its neighbours by angle. Pages without a common word are never
// joined, even where fewer than k pages share one: all of them are at the same angle of 90°,
// and the choice among them would be arbitrary.
func (t *webKBTask) graph(ctx context.Context) (*sparse.CSR, error) {
	ix, err := knn.NewBrute(t.x, &knn.Settings{Metric: knn.Angle})
	if err != nil {
		return nil, err
	}
	nb, err := ix.Self(ctx, min(t.neighbors, t.x.Rows-1))
	if err != nil {
		return nil, err
	}

	var from, to []int32
	var weights []float64
	for i := range t.x.Rows {
		index, angle := nb.Row(i)
		// The cosine of a right angle is computed as 6·10⁻¹⁷, not 0.
		for p, j := range index {
			c := math.Cos(angle[p])
			if v := webKBWeights[t.weights](c); c > 1e-12 && v > 0 {
				from = append(from, int32(i))
				to = append(to, j)
				weights = append(weights, v)
			}
		}
	}

	w, err := sparse.FromTriplets(t.x.Rows, t.x.Rows, from, to, weights)
	if err != nil {
		return nil, err
	}
	return w.Symmetrize(sparse.Either), nil
}

// warped returns the problem on the kernel of p warped by r, with the values of the warped
// kernel at all n points. The norm γ_A‖f‖² in the space of the warped kernel equals the sum of
// both norms of the paper of 2005.
func warped(ctx context.Context, p *kernelmachine.Problem, r regularizer.Regularizer,
	n int) (*kernelmachine.Problem, *mat.Dense, error) {
	w, err := p.Warp(ctx, r, data.Range(0, n))
	if err != nil {
		return nil, nil, err
	}
	gram, err := w.Values(ctx)
	if err != nil {
		return nil, nil, err
	}
	problem, err := newProblem(ctx, gram, nil)
	return problem, gram, err
}

// drawCourses returns a draw of webKBDrawn labeled pages. The seed alone decides the draw.
func drawCourses(truth *data.Labels, seed uint64) *data.Labels {
	rng := rand.New(rand.NewPCG(seed, 0x636f7572736573)) // "courses"
	var rows []int
	left := webKBDrawn
	for _, i := range rng.Perm(truth.Len()) {
		if c := truth.Index[i]; left[c] > 0 {
			left[c]--
			rows = append(rows, i)
		}
	}
	return truth.Keep(rows)
}

// evaluate fits the method to all draws and measures it. p is the problem on the kernel
// matrix gram.
func (m *webKBMethod) evaluate(ctx context.Context, p *kernelmachine.Problem, gram *mat.Dense, t *webKBTask,
	draws []*data.Labels, gammaAL float64) (*webKBScore, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var f *mat.Dense
	var err error
	if m.primal {
		f, err = m.linear(ctx, t.x, draws, gammaAL)
	} else {
		f, err = m.onKernel(ctx, p, gram, draws, gammaAL)
	}
	if err != nil {
		return nil, err
	}

	// Whichever way the outputs were computed, they are measured alike.
	n := len(draws)
	r := &webKBScore{gammaAL: gammaAL, prbep: make([]float64, n), atBreak: make([]float64, n),
		sign: make([]float64, n)}
	for i, drawn := range draws {
		if r.prbep[i], r.atBreak[i], r.sign[i], err = breakEven(mat.Col(nil, i, f), t.truth,
			drawn); err != nil {
			return nil, err
		}
	}

	r.mean, _ = results.MeanStd(r.prbep)
	return r, nil
}

// onKernel fits the method on the kernel and returns its outputs at all pages, one column
// for each draw.
func (m *webKBMethod) onKernel(ctx context.Context, p *kernelmachine.Problem, gram *mat.Dense,
	draws []*data.Labels, gammaAL float64) (*mat.Dense, error) {
	n, _ := gram.Dims()
	coefficients := mat.NewDense(n, len(draws), nil)
	bias := make([]float64, len(draws))
	err := eachDraw(draws, func(i int) error {
		machine, err := m.fit(ctx, p, draws[i], gammaAL)
		if err != nil {
			return err
		}
		coefficients.SetCol(i, mat.Col(nil, 0, machine.Coefficients))
		bias[i] = machine.Intercepts[0]
		return nil
	})
	if err != nil {
		return nil, err
	}

	// The outputs of all draws are one product with the kernel matrix.
	f := mat.NewDense(n, len(draws), nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, gram, coefficients, 0, f)
	for i := range n {
		floats.Add(f.RawRowView(i), bias)
	}
	return f, nil
}

// linear fits a primal method and returns its outputs at all pages, one column for each
// draw.
func (m *webKBMethod) linear(ctx context.Context, x *sparse.CSR, draws []*data.Labels,
	gammaAL float64) (*mat.Dense, error) {
	f := mat.NewDense(x.Rows, len(draws), nil)
	return f, eachDraw(draws, func(i int) error {
		t, err := models.ClassTargets(draws[i])
		if err != nil {
			return err
		}
		s := linear.Settings{Loss: linear.SquaredHinge,
			Regularizer: regularizer.Regularizer{GammaA: gammaAL / float64(len(t.Labeled))}}
		// The transductive machine takes all pages; the other takes the labeled pages alone.
		var machine *linear.Model
		if m.transductive {
			var tsvm *linear.TSVM
			if tsvm, err = linear.FitTSVM(ctx, x, t, &linear.TSVMSettings{Settings: s}, nil); err != nil {
				return err
			}
			machine = tsvm.Model
		} else if machine, err = linear.Fit(ctx, data.Select(x, t.Labeled), nil, among(t), &s,
			nil); err != nil {
			return err
		}

		p, err := machine.Predict(ctx, x, nil)
		if err != nil {
			return err
		}
		f.SetCol(i, mat.Col(nil, 1, p.Scores))
		return nil
	})
}

// among returns the targets of the labeled points alone, numbered from 0.
func among(t *models.Targets) *models.Targets {
	out := *t
	out.Len = len(t.Labeled)
	out.Labeled = data.Range(0, len(t.Labeled))
	return &out
}

// eachDraw calls fit for the number of every draw, in parallel.
func eachDraw(draws []*data.Labels, fit func(i int) error) error {
	faults := make([]error, len(draws))
	par.For(len(draws), 1, func(i, _ int) {
		if err := fit(i); err != nil {
			faults[i] = fmt.Errorf("draw %d: %w", i, err)
		}
	})
	return errors.Join(faults...)
}

// fit fits the method to one draw.
func (m *webKBMethod) fit(ctx context.Context, p *kernelmachine.Problem, drawn *data.Labels,
	gammaAL float64) (*kernelmachine.Machine, error) {
	t, err := models.ClassTargets(drawn)
	if err != nil {
		return nil, err
	}
	reg := regularizer.Regularizer{GammaA: gammaAL / float64(len(t.Labeled))}
	points := t.Labeled
	if m.transductive {
		points = data.Range(0, t.Len)
	}
	w, err := p.Warp(ctx, reg, points)
	if err != nil {
		return nil, err
	}
	if m.transductive {
		return transductive(ctx, w, drawn, reg)
	}
	return w.Fit(ctx, t, &kernelmachine.Settings{Method: m.machine, Regularizer: reg, Intercept: m.intercept})
}
