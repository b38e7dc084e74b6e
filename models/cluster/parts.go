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

// bigComponents returns the components of at least so many vertices, in the
// order of their smallest vertex, and the number of vertices in the others.
func bigComponents(w *sparse.CSR, least int) (parts []graphPart, leftOut int) {
	c := w.Components()
	members := make([][]int32, c.Count())
	place := make([]int32, w.Rows) // of a vertex in its component
	for i, q := range c.Of {
		place[i] = int32(len(members[q]))
		members[q] = append(members[q], int32(i))
	}
	for _, vertices := range members {
		if len(vertices) < least {
			leftOut += len(vertices)
			continue
		}
		p := graphPart{vertices, w, 0}
		if len(vertices) < w.Rows {
			p.graph = subgraph(w, vertices, place)
		}
		for _, d := range p.graph.Degrees() {
			p.volume += d
		}
		parts = append(parts, p)
	}
	return parts, leftOut
}

// subgraph returns the graph of some vertices, which no edge leaves but those of
// weight zero; place is where each of them stands.
func subgraph(w *sparse.CSR, vertices, place []int32) *sparse.CSR {
	m := &sparse.CSR{Rows: len(vertices), Cols: len(vertices), Ptr: make([]int64, 1, len(vertices)+1)}
	for _, v := range vertices {
		col, val := w.Row(int(v))
		for q, j := range col {
			if val != nil && val[q] == 0 {
				continue
			}
			m.Col = append(m.Col, place[j])
			if val != nil {
				m.Val = append(m.Val, val[q])
			}
		}
		m.Ptr = append(m.Ptr, int64(len(m.Col)))
	}
	return m
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
		return cmp.Or(cmp.Compare(parts[b].volume, parts[a].volume), cmp.Compare(len(parts[b].vertices), len(parts[a].vertices)))
	})
	volume, size := make([]float64, k), make([]int, k)
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
