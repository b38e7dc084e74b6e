package pipeline

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// partEigenpairs returns eigenpairs of the components of a graph that quotas name: see
// [lanczos.Parts]. The checkpoint keeps the eigenpairs of the largest component.
func (p *Pipeline) partEigenpairs(ctx context.Context, g *models.Graph, s *EigsSettings, quotas []int32,
	start *mat.Dense) (*lanczos.Result, error) {
	l, err := sparse.NewLaplacian(g.W, s.Laplacian)
	if err != nil {
		return nil, err
	}
	if err := checkWalk(l); err != nil {
		return nil, err
	}
	cost := stage.Cost{Bytes: 8 * int64(l.Dim()) * int64(len(quotas)),
		Remedy: fmt.Sprintf("take fewer %s", param.Name("eigenvectors"))}
	if err := p.Observed().Announce("eigenpairs", cost); err != nil {
		return nil, err
	}

	// Only the first component, the largest, has the checkpoint.
	solver := *p
	return lanczos.Parts(ctx, l, g.Components, quotas, func(part *lanczos.Part) (*lanczos.Result, error) {
		one := &models.Graph{W: part.Laplacian.Graph(), Components: part.Components}
		settings := *s
		settings.K = part.K
		r, err := solver.keptEigenpairs(ctx, one, &settings, startOf(start, part.Vertices))
		solver.Checkpoint = nil
		return r, err
	})
}

// startOf returns the rows of start at the given vertices, without columns that are 0 there;
// nil if no column is left.
func startOf(start *mat.Dense, vertices []int) *mat.Dense {
	if start == nil {
		return nil
	}
	_, k := start.Dims()
	rows := dense.Gather(mat.NewDense(len(vertices), k, nil), start, vertices)
	var columns []int
	for j := range k {
		if mat.Norm(rows.ColView(j), 2) > 0 {
			columns = append(columns, j)
		}
	}

	// Columns that vanish on the component would be null starting vectors.
	if columns == nil {
		return nil
	}
	out := mat.NewDense(len(vertices), len(columns), nil)
	for p, j := range columns {
		out.SetCol(p, mat.Col(nil, j, rows))
	}
	return out
}
