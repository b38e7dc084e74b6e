package papers

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// webKBTest is the number of test pages of [WebKBLabels].
const webKBTest = 263

var (
	// webKBCounts are the numbers of labels. The paper does not name its own.
	webKBCounts = []int{8, 16, 32, 64, 128, 256}
	// webKBSizes are the numbers of training pages of the second panel.
	webKBSizes = []int{779, 400, 200}
)

// The panels of Figure 8.
const webKBTop, webKBBottom = "top panel: all training pages",
	"bottom panel: LapSVM by the number of training pages"

// webKBSplit is a random split of the pages. The training pages are in a random order, so
// that their first rows are a random draw of labels.
type webKBSplit struct {
	plain, graph  *kernelmachine.Problem
	cross         *mat.Dense // kernel values between test and training pages
	truth, truthT *data.Labels
}

// WebKBLabels repeats Figure 8 of Belkin, Niyogi & Sindhwani (2006): PRBEP on the unlabeled
// training pages and on 263 test pages as a curve over the number of labels, by RLS, SVM,
// LapRLS and LapSVM on 779 training pages, and by LapSVM on fewer. Kernel, weights and graph
// have the settings of Table 5.
func WebKBLabels(ctx context.Context, o Options, obs stage.Observer) (*results.Table, error) {
	obs.Begin("data")
	e, err := NewWebKB(o)
	if err != nil {
		return nil, err
	}
	task := e.tasks()[0] // of Table 5
	n := task.x.Rows
	if n <= webKBTest+2*webKBCounts[len(webKBCounts)-1] {
		return nil, fmt.Errorf("papers: %d pages with words are too few for a test of %d and %d labels", n,
			webKBTest, webKBCounts[len(webKBCounts)-1])
	}

	obs.End(fmt.Sprintf("%d pages", n))
	t := countsTable("PRBEP", "%", true,
		fmt.Sprintf("the paper draws these figures and prints none; it has 100 random splits, here "+
			"there are %d, and does not name the numbers of labels and pages; labels are drawn from "+
			"all training pages, at least one of each class", e.Draws),
		"kernel, weights and graph are those of webkb, Table 5: γ_A l of 0.01 for RLS and 1 for SVM, "+
			"γ_I l/(l+u)² = 100 γ_A l, 15 neighbours among the training pages, weights 1 − cosine, p "+
			"= 3, the normalized Laplacian",
		"nothing is chosen by labels; the share of courses that PRBEP needs is that of the pages "+
			"measured, as in the paper")
	t.Views = nil
	t.Figures[0].Each = "panel"
	t.Figures[0].Title = ""
	for _, panel := range []string{webKBTop, webKBBottom} {
		t.Views = append(t.Views, results.View{Caption: panel, Where: results.Where{Key: "panel", Is: panel},
			Rows: "labels", Across: "curve", Show: []string{"mean"}, Corner: "labels"})
	}

	for _, size := range webKBSizes {
		size = min(size, n-webKBTest)
		obs.Begin(fmt.Sprintf("%d training pages", size))
		if err := e.curves(ctx, &task, t, size, obs); err != nil {
			return nil, err
		}
		obs.End(fmt.Sprintf("%d splits", e.Draws))
	}

	return t, nil
}

// curves adds the curves with size training pages: of all machines for the largest size, of
// LapSVM alone for the others.
func (e *WebKB) curves(ctx context.Context, task *webKBTask, t *results.Table, size int,
	obs stage.Observer) error {
	// The largest number of training pages belongs to both panels.
	all := size == min(webKBSizes[0], task.x.Rows-webKBTest)
	var values [2][4][][]float64 // by part, machine and count: a value for each split
	for part := range values {
		for j := range values[part] {
			values[part][j] = make([][]float64, len(webKBCounts))
		}
	}

	for split := range e.Draws {
		s, err := newWebKBSplit(ctx, task, size, e.Limit, e.Seed+uint64(split))
		if err != nil {
			return err
		}

		for j, m := range machines {
			if !all && m.name != "LapSVM" {
				continue
			}

			// At most half of the training pages are labeled, so that the unlabeled ones can be
			// measured.
			for c, labels := range webKBCounts {
				if 2*labels > size {
					continue
				}
				found, err := s.measure(ctx, m, labels)
				if err != nil {
					return fmt.Errorf("%s, %d labels: %w", m.name, labels, err)
				}
				for part, v := range found {
					values[part][j][c] = append(values[part][j][c], v)
				}
			}
		}

		obs.Update(float64(split+1), float64(e.Draws), "")
	}

	for j, m := range machines {
		for part, name := range []string{"U", "T"} {
			for c, labels := range webKBCounts {
				v := values[part][j][c]
				if len(v) > 0 && all {
					addCount(t, webKBTop, labels, fmt.Sprintf("%s (%s)", m.name, name), v)
				}
				if len(v) > 0 && m.name == "LapSVM" {
					addCount(t, webKBBottom, labels, fmt.Sprintf("%d pages (%s)", size, name), v)
				}
			}
		}
	}

	return nil
}

// newWebKBSplit draws size training pages and webKBTest test pages and computes their kernel
// values and graph.
func newWebKBSplit(ctx context.Context, task *webKBTask, size int, limit int64,
	seed uint64) (*webKBSplit, error) {
	order := rand.New(rand.NewPCG(seed, 0x776238)).Perm(task.x.Rows) // "wb8"
	test := order[:webKBTest]
	train := order[webKBTest : webKBTest+size]
	s := &webKBSplit{truth: task.truth.Select(train), truthT: task.truth.Select(test),
		cross: mat.NewDense(len(test), len(train), nil)}
	// The graph is the task's, on the training pages alone.
	own := *task
	own.x = data.ToSparse(data.Select(task.x, train))
	w, err := own.graph(ctx)
	if err != nil {
		return nil, err
	}

	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		return nil, err
	}
	gram, err := kernel.Gram(own.x, kernel.Kernel{}, limit)
	if err != nil {
		return nil, err
	}
	if s.plain, err = newProblem(ctx, gram, nil); err != nil {
		return nil, err
	}
	if s.graph, err = newProblem(ctx, gram, l); err != nil {
		return nil, err
	}
	return s, kernel.Cross(s.cross, data.Select(task.x, test), own.x, kernel.Kernel{})
}

// measure returns the PRBEP of a machine on the unlabeled and on the test pages, in percent.
// The first training pages, which are in a random order, have labels. If they lack a class,
// its first page takes the place of the last of them.
func (s *webKBSplit) measure(ctx context.Context, m machine, labels int) (out [2]float64, err error) {
	rows := data.Range(0, labels)
	for c := range s.truth.Classes {
		if countClass(s.truth.Keep(rows), int32(c)) > 0 {
			continue
		}
		for i, of := range s.truth.Index {
			if of == int32(c) {
				rows[labels-1] = i
				break
			}
		}
	}

	drawn := s.truth.Keep(rows)
	// γ_A l is 1 for the hinge and 0.01 for squares, γ_I l/(l+u)² is 100 γ_A l: Table 5.
	reg := regularizer.Regularizer{GammaA: 1 / float64(labels)}
	if m.method == kernelmachine.RLS {
		reg.GammaA = 0.01 / float64(labels)
	}
	p := s.plain
	if m.graph {
		p = s.graph
		reg.GammaI = 100 * reg.GammaA
		reg.Power = 3
		reg.Laplacian = sparse.Normalized
	}

	w, err := p.Warp(ctx, reg, drawn.Labeled())
	if err != nil {
		return out, err
	}
	f, ft, err := outputs(ctx, p, w, drawn, m.settings(reg), s.cross)
	if err != nil {
		return out, err
	}
	if out[0], _, _, err = breakEven(mat.Col(nil, 0, f), s.truth, drawn); err != nil {
		return out, err
	}

	out[1], _, _, err = breakEven(mat.Col(nil, 0, ft), s.truthT, nil)
	return out, err
}
