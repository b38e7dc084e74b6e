package cluster

import (
	"cmp"
	"context"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// graphPart is a connected component as a graph of its own.
type graphPart struct {
	vertices []int32 // ascending; vertex i of graph is vertices[i] of the whole
	graph    *sparse.CSR
	volume   float64
}

// bigComponents returns the components with at least least vertices, in the order of their
// smallest vertex, and the number of vertices in the smaller components.
func bigComponents(w *sparse.CSR, least int) (parts []graphPart, leftOut int) {
	c := w.Components()
	members := make([][]int32, c.Count())
	place := make([]int32, w.Rows) // position of a vertex in its component
	for i, q := range c.Of {
		place[i] = int32(len(members[q]))
		members[q] = append(members[q], int32(i))
	}

	for q, vertices := range members {
		if len(vertices) < least {
			leftOut += len(vertices)
			continue
		}

		// A component that is the whole graph needs no copy.
		p := graphPart{vertices, w, 0}
		if len(vertices) < w.Rows {
			p.graph = sparse.Induced(w, vertices, func(j int32) int32 {
				if int(c.Of[j]) != q { // an edge of weight zero
					return -1
				}
				return place[j]
			})
		}

		for _, d := range p.graph.Degrees() {
			p.volume += d
		}
		parts = append(parts, p)
	}

	return parts, leftOut
}

// pairs returns the k smallest eigenpairs of Lf = λDf, or all if there are fewer.
func (p *graphPart) pairs(ctx context.Context, k int, s *Settings) (*lanczos.Result, error) {
	l, err := sparse.NewLaplacian(p.graph, sparse.RandomWalk)
	if err != nil {
		return nil, err
	}
	return lanczos.Laplacian(ctx, l, p.graph.Components(), &lanczos.Settings{K: min(k, len(p.vertices)),
		Tolerance: s.Tolerance, Seed: s.Seed, MemoryLimit: s.MemoryLimit, OnRestart: s.OnRestart})
}

// joinParts puts whole components into k clusters of nearly equal volume.
func joinParts(labels []int32, parts []graphPart, k int) {
	order := data.Range(0, len(parts))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(parts[b].volume, parts[a].volume), cmp.Compare(len(parts[b].vertices),
			len(parts[a].vertices)))
	})

	// The largest first, each to the cluster of least volume so far.
	volume := make([]float64, k)
	size := make([]int, k)
	for _, q := range order {
		to := 0
		for c := range k { // points without edges count by their number
			if cmp.Or(cmp.Compare(volume[c], volume[to]), cmp.Compare(size[c], size[to])) < 0 {
				to = c
			}
		}
		volume[to] += parts[q].volume
		size[to] += len(parts[q].vertices)
		for _, v := range parts[q].vertices {
			labels[v] = int32(to)
		}
	}
}
