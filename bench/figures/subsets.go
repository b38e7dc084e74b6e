package figures

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/stage"
)

// Subsets repeats Figures 2 to 6 of Belkin & Niyogi (2004): errors over the number of labels,
// on all points of an experiment and on subsets of them. Eigenmaps with the 20 % rule, one
// eigenvector for every five labels, stand beside the best of 1, 3 and 5 nearest neighbours.
type Subsets struct {
	// Base is the experiment on all points, with the rows and figures of the paper's table.
	Base *papers.Experiment
	// Figure names the figure of all sizes, such as "Figure 2".
	Figure string
	Sizes  []int // of the subsets, descending
	// Geodesic is the size of the subset with geodesic neighbours as well (Figure 5), 0 for
	// none.
	Geodesic int
	// Test and TestTruth are the held-out points of Figure 6 and their classes, nil for none.
	Test      data.Points
	TestTruth *data.Labels
}

// The names of the figures that only MNIST has.
const (
	geodesicFigure = "Figure 5"
	heldOutFigure  = "Figure 6"
)

// MNISTSubsets returns Figures 2, 5 and 6: the 60,000 training images of MNIST and subsets
// of 10,000, with geodesic neighbours as well, and of 1000; and the 10,000 test images.
func MNISTSubsets(o papers.Options) (*Subsets, error) {
	e, test, truth, err := papers.MNISTWithTest(o)
	if err != nil {
		return nil, err
	}
	return &Subsets{Base: e, Figure: "Figure 2", Sizes: []int{10_000, 1000}, Geodesic: 10_000, Test: test,
		TestTruth: truth}, nil
}

// NewsgroupsSubsets returns Figure 3: all messages of 20 Newsgroups, 2000 and 600 of them.
func NewsgroupsSubsets(o papers.Options) (*Subsets, error) {
	e, err := papers.Newsgroups(o)
	if err != nil {
		return nil, err
	}
	return &Subsets{Base: e, Figure: "Figure 3", Sizes: []int{2000, 600}}, nil
}

// PhonemesSubsets returns an experiment in the form of Figure 4, on the 4509 phonemes of
// [papers.Phonemes], 2000 and 600 of them.
func PhonemesSubsets(o papers.Options) (*Subsets, error) {
	e, err := papers.Phonemes(o)
	if err != nil {
		return nil, err
	}
	return &Subsets{Base: e, Figure: "Figure 4", Sizes: []int{2000, 600}}, nil
}

// table returns the table of the experiment, without records.
func (s *Subsets) table() *results.Table {
	t := &results.Table{
		Columns: []results.Column{
			{Key: "figure"},
			{Key: "points", Name: "points", Kind: results.Integers},
			{Key: "labels", Name: "labels", Kind: results.Integers},
			{Key: "curve"},
			{Key: "error_mean", Deviation: "error_std", Published: "paper", Name: "error", Unit: "%",
				Kind: results.Numbers, Format: results.Format{Number: "%.2f", Deviation: "%.2f",
					Published: "%.1f"}},
		},
		Figures: []results.Figure{{Title: s.Base.Name + ", ", Each: "figure", X: "labels", By: "curve",
			Value: "error_mean", LogX: true, LogY: true,
			Caption: "Belkin & Niyogi (2004). Mean over the draws of the labels; the bars are one " +
				"standard deviation."}},
		Notes: append(slices.Clone(s.Base.Notes),
			fmt.Sprintf("eigenmaps have as many eigenvectors as 20 %% of the labels, as the paper's "+
				"figures have, and at most %d; %d neighbours either way, weights one, D − W", s.Base.Pairs,
				s.Base.Graph.K),
			"a subset is drawn once by the seed, which the paper does not say, and its points are "+
				"all that the graph has; errors are on its points without a label; the draws of the "+
				"labels are ours",
			"figures in brackets are the cells of the paper's table with that number of "+
				"eigenvectors; the figures themselves have no numbers"),
	}

	// Each figure of the paper is a view of the one table.
	captions := []struct{ figure, text string }{{s.Figure,
		"errors on the unlabeled points of all, and of subsets"}}
	if s.Geodesic > 0 {
		captions = append(captions, struct{ figure, text string }{geodesicFigure,
			fmt.Sprintf("geodesic neighbours (k-GNN) on %d points", s.Geodesic)})
		t.Notes = append(t.Notes, geodesicFigure+": geodesic distances are along the graph of the "+
			"eigenmap, whose edges are as long as the points are apart; of 1, 3 and 5 neighbours the "+
			"best on the unlabeled points is shown, as in the paper, which uses their labels")
	}

	if s.Test != nil {
		captions = append(captions, struct{ figure, text string }{heldOutFigure,
			"unlabeled points against points held out"})
		t.Notes = append(t.Notes, fmt.Sprintf("%s: errors on the test points are means over %d draws",
			heldOutFigure, min(s.Base.Splits, heldOutDraws)), heldOutFigure+": the eigenmap's "+
			"answers for all training points are the labels of a 3-NN classifier of the test points, "+
			"which the eigenmap never sees; the baseline has the given labels alone, with the best "+
			"of 1, 3 and 5 neighbours by the test labels, as in the paper")
	}

	for _, c := range captions {
		t.Views = append(t.Views, results.View{Caption: c.figure + ": " + c.text,
			Where: results.Where{Key: "figure", Is: c.figure},
			Rows:  "labels", Across: "curve", Show: []string{"error_mean"}, Corner: "labels"})
	}
	return t
}

// Run carries out the experiment. If it returns lanczos.ErrNotConverged, the table comes from
// the eigenpairs found so far.
func (s *Subsets) Run(ctx context.Context, obs stage.Observer) (*results.Table, error) {
	t := s.table()
	n, _ := s.Base.X.Dims()
	var notConverged error
	for _, size := range append([]int{n}, s.Sizes...) {
		e, err := s.subset(size)
		if err != nil {
			return nil, err
		}
		out, err := e.Run(ctx, obs)
		if err != nil && !errors.Is(err, lanczos.ErrNotConverged) {
			return nil, fmt.Errorf("%d points: %w", size, err)
		}
		notConverged = errors.Join(notConverged, err)
		s.add(t, out.Table, size, n)

		// Held-out points are classified with the eigenvectors of all points, while these are at
		// hand.
		if size == n && s.Test != nil {
			if err := s.heldOut(ctx, t, e, out, obs); err != nil {
				return nil, err
			}
		}
	}

	slices.SortStableFunc(t.Records, func(a, b results.Record) int {
		return slices.Index(figureOrder, a[0].Text) - slices.Index(figureOrder, b[0].Text)
	})
	return t, notConverged
}

// figureOrder is the order of the figures in the table.
var figureOrder = []string{"Figure 2", "Figure 3", "Figure 4", geodesicFigure, heldOutFigure}

// subset returns the experiment with the 20 % rule on size points: on all points, or on a
// subset drawn by the seed. It leaves out rows that would label all points of the subset.
func (s *Subsets) subset(size int) (*papers.Experiment, error) {
	e := *s.Base
	n, _ := e.X.Dims()
	if size > n {
		return nil, fmt.Errorf("figures: a subset of %d points, there are %d", size, n)
	}

	if size < n {
		// Sorted rows keep the order of the points, which decides among equal distances.
		rows := rand.New(rand.NewPCG(e.Seed, 0x737562736574+uint64(size))).Perm(n)[:size] // "subset"
		slices.Sort(rows)
		e.X = data.Select(e.X, rows)
		e.Truth = e.Truth.Select(rows)
	}

	// What the tables show and the figures do not.
	e.Readings = nil
	e.Notes = nil
	e.Rows = nil
	e.KNN = true
	e.GNN = size == s.Geodesic
	most := 0 // eigenvectors
	for _, r := range s.Base.Rows {
		if r.Labels >= size || len(e.Labels) > 0 && !slices.Contains(e.Labels, r.Labels) {
			continue
		}
		// The paper's numbers are of all points: a subset has none.
		row := papers.Row{Labels: r.Labels, PaperKNN: math.NaN(),
			Cells: []papers.Cell{{Name: "20 %", Paper: math.NaN(),
				Settings: eigenmap.Settings{Eigenvectors: min(r.Labels/5, s.Base.Pairs)}}}}
		if size == n {
			row.PaperKNN = r.PaperKNN
			row.Cells[0].Paper = published(r)
		}
		most = max(most, row.Cells[0].Settings.Eigenvectors)
		e.Rows = append(e.Rows, row)
	}

	if len(e.Rows) == 0 {
		return nil, fmt.Errorf("figures: no row has fewer labels than the %d points of a subset; "+
			"choose rows with --labels", size)
	}
	e.Labels = nil
	e.Pairs = max(most, 2)
	return &e, nil
}

// published returns the paper's error in the cell of the row that has one eigenvector for
// every five labels, or NaN if there is no such cell.
func published(r papers.Row) float64 {
	for _, c := range r.Cells {
		if 5*c.Settings.Eigenvectors == r.Labels {
			return c.Paper
		}
	}
	return math.NaN()
}

// add copies the records of a subset of size points, of n, into the figures that show them.
func (s *Subsets) add(t *results.Table, from *results.Table, size, n int) {
	for _, r := range from.Records {
		v := from.Value(r, "error_mean")
		put := func(figure, curve string) {
			t.Add(results.Text(figure), results.Integer(size), from.Value(r, "labels"),
				results.Text(curve), v)
		}
		method := from.Value(r, "method").Text
		// The baseline of a subset is shown in Figure 5 alone.
		if name := map[string]string{"eigenmap": "eigenmap", "knn": "best k-NN"}[method]; name != "" &&
			(method == "eigenmap" || size == n) {
			put(s.Figure, fmt.Sprintf("%s, %d points", name, size))
		}
		if size == s.Geodesic {
			put(geodesicFigure, map[string]string{"eigenmap": "eigenmap", "knn": "best k-NN",
				"gnn": "best k-GNN"}[method])
		}
		if size == n && s.Test != nil && method == "eigenmap" {
			put(heldOutFigure, "eigenmap, unlabeled points")
		}
	}
}
