package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
)

// A Plane holds places in the plane of some of n points, for pictures.
type Plane struct {
	Rows         []int // numbers of the points, ascending
	X, Y         []float64
	XName, YName string // empty for a layout, whose axes mean nothing
	How          string // a sentence that explains the places
}

// Plane gives at most most points of in places in the plane: all points, or a sample by the
// seed with labeled points up to half.
//
// Points of two columns have their own places. If there is a graph, the places of other points are
// a [Pipeline.Layout] of all points of the graph, whose axes mean nothing and have no names. Of more than 100,000
// points 20,000 are laid out, each for the points that it is the nearest of along the graph. Without
// a graph the places are the first two principal components of the sample. Plane returns nil if
// there is neither a graph nor points of two or more columns.
func (p *Pipeline) Plane(ctx context.Context, in *models.Input, most int) (*Plane, error) {
	out := &Plane{Rows: sampleRows(in.Len(), in.Targets.Labeled, most, p.Seed)}
	if g := in.Graph; g != nil && g.W != nil && g.Components != nil && g.W.Rows > 0 && !twoColumns(in.Points) {
		return out, p.layPlane(ctx, in, out)
	}
	if in.Points == nil {
		return nil, nil
	}
	n, d := in.Points.Dims()
	if d < 2 || n < 3 {
		return nil, nil
	}

	sample := data.Select(in.Points, out.Rows)
	out.XName = "column 1"
	out.YName = "column 2"
	out.How = "Places are the two columns of the points."
	if d > 2 {
		quiet := *p
		quiet.Checkpoint = nil
		var err error
		if sample, _, err = quiet.Project(ctx, sample, &GraphSettings{PCA: 2}); err != nil {
			return nil, err
		}
		out.XName = "principal component 1"
		out.YName = "principal component 2"
		out.How = "Places are the first two principal components."
	}

	row := make([]float64, 2)
	for i := range out.Rows {
		data.RowTo(row, sample, i)
		out.X = append(out.X, row[0])
		out.Y = append(out.Y, row[1])
	}
	return out, nil
}

// twoColumns tells whether points lie in a plane as they are.
func twoColumns(x data.Points) bool {
	if x == nil {
		return false
	}
	_, d := x.Dims()
	return d == 2
}

// Of more points than mostLaid, mostCells are laid out: a layout of a million points takes many minutes.
const (
	mostLaid  = 100_000
	mostCells = 20_000
	// cellNeighbors are the neighbours that a cell keeps, of some 500 that a cell of 75 points has. On MNIST, 60,000
	// points in 2,000 cells, 94 % of 1,000 points have the class of most of their ten nearest places, 93 % with
	// all neighbours and 95 % without cells.
	cellNeighbors = 20
)

// layPlane gives places by a layout of the graph, or of some of its points.
func (p *Pipeline) layPlane(ctx context.Context, in *models.Input, out *Plane) error {
	laid, rows := in.Graph, out.Rows
	pairs := in.Pairs
	n := in.Graph.W.Rows
	if n > mostLaid {
		// The sample may take half of its points from a list, so that all rows are among them.
		seeds := sampleRows(n, out.Rows, max(mostCells, 2*len(out.Rows)), p.Seed)
		laid, pairs = cellsOf(in.Graph, seeds), nil
		rows = make([]int, len(out.Rows))
		for k, i := range out.Rows {
			rows[k], _ = slices.BinarySearch(seeds, i)
		}
	}

	y, err := p.Layout(ctx, laid, 2, pairs, in.Laplacian)
	if err != nil {
		return err
	}
	for _, i := range rows {
		out.X = append(out.X, y.At(i, 0))
		out.Y = append(out.Y, y.At(i, 1))
	}
	out.How = "Points that the graph joins are near each other, and all others keep apart. Distances " +
		"between groups, their sizes and the directions of the axes mean little."
	if n > mostLaid {
		out.How += fmt.Sprintf(" Places are of %d points, each for those that the graph joins with it by the fewest edges.",
			laid.W.Rows)
	}
	if count := in.Graph.Components.Count(); count > 1 {
		out.How += fmt.Sprintf(" The graph has %d components that no edge joins; they lie side by side.", count)
	}
	return nil
}

// cellsOf returns the graph of the cells of some points: see [sparse.CSR.Merge].
func cellsOf(g *models.Graph, points []int) *models.Graph {
	seeds := make([]int32, len(points))
	for c, i := range points {
		seeds[c] = int32(i)
	}
	return models.NewGraph(g.W.Merge(g.W.Cells(seeds), len(seeds), cellNeighbors))
}

// sampleRows returns at most most of the numbers 0 … n−1, ascending. Up to half of them are
// labeled.
func sampleRows(n int, labeled []int, most int, seed uint64) []int {
	if n <= most {
		return data.Range(0, n)
	}
	rng := rand.New(rand.NewPCG(seed, 0x706c616e65)) // "plane"
	rows := make([]int, 0, most)
	taken := make(map[int]bool, most)
	take := func(list []int, upTo int) {
		for _, q := range rng.Perm(len(list)) {
			if len(rows) == upTo {
				return
			}
			if i := list[q]; !taken[i] {
				taken[i] = true
				rows = append(rows, i)
			}
		}
	}

	take(labeled, most/2)
	take(data.Range(0, n), most)
	slices.Sort(rows)
	return rows
}
