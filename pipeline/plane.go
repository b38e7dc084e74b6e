package pipeline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// A Plane holds places in the plane of some of n points, for pictures.
type Plane struct {
	Rows         []int // numbers of the points, ascending
	X, Y         []float64
	XName, YName string
	How          string // a sentence that explains the places
}

// Plane gives at most most points of in places in the plane: all points, or a sample by the
// seed with labeled points up to half.
//
// If there is a connected graph, the places are the entries of the points in the second and
// third eigenvectors of its Laplacian, divided by the root of the degree if the Laplacian is
// normalized. The eigenvectors come from in.Pairs, or three are computed. Without a connected
// graph the places are the columns of points in two dimensions, and the first two principal
// components of the sample of other points. Plane returns nil if there is neither a connected
// graph nor points of two or more columns.
func (p *Pipeline) Plane(ctx context.Context, in *models.Input, most int) (*Plane, error) {
	out := &Plane{Rows: sampleRows(in.Len(), in.Targets.Labeled, most, p.Seed)}
	if g := in.Graph; g != nil && g.W != nil && g.Components != nil && g.Components.Count() == 1 &&
		g.W.Rows > 3 {
		return out, p.eigenPlane(ctx, in, out)
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
		if in.Graph != nil && in.Graph.Components != nil {
			out.How += fmt.Sprintf(" The graph has %d components, so that its eigenvectors give no "+
				"common plane.", in.Graph.Components.Count())
		}
	}

	row := make([]float64, 2)
	for i := range out.Rows {
		data.RowTo(row, sample, i)
		out.X = append(out.X, row[0])
		out.Y = append(out.Y, row[1])
	}
	return out, nil
}

// eigenPlane gives places by eigenvectors.
func (p *Pipeline) eigenPlane(ctx context.Context, in *models.Input, out *Plane) error {
	// A tolerance of 1e-4 is finer than a pixel.
	pairs := in.Pairs
	kind := in.Laplacian
	if pairs == nil || len(pairs.Values) < 3 || pairs.Nullity > 1 {
		kind = sparse.Normalized
		quiet := *p // a snapshot of other eigenpairs is not in the checkpoint's way
		quiet.Checkpoint = nil
		var err error
		if pairs, err = quiet.Eigenpairs(ctx, in.Graph, &EigsSettings{Laplacian: kind, K: 3, Tolerance: 1e-4},
			nil); !models.Usable(err) {
			return err
		}
	}

	// D^-½u of the normalized Laplacian is an eigenvector of the random walk: smooth on the
	// graph whatever the degrees.
	degrees := in.Graph.W.Degrees()
	place := func(j int) []float64 {
		f := mat.Col(nil, j, pairs.Vectors)
		if kind == sparse.Normalized {
			for i, d := range degrees {
				f[i] /= math.Sqrt(d)
			}
		}

		dense.Orient(f)
		at := make([]float64, len(out.Rows))
		for i, r := range out.Rows {
			at[i] = f[r]
		}
		return at
	}

	out.X = place(1)
	out.Y = place(2)
	out.XName = "eigenvector 2"
	out.YName = "eigenvector 3"
	out.How = "Places are the entries in the second and third eigenvectors of the graph's Laplacian: " +
		"points that the graph joins closely are near each other."
	return nil
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
