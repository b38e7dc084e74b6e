package parts

import (
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/internal/edges"
)

// weigh returns tables of the weights of the edges to the neighbours in the lists, or nil if all
// weights are 1. It sets g.T, the width of heat weights, if it is 0.
func (r *Run) weigh(g *knn.GraphSettings, near *tables[uint32]) (*tables[float64], error) {
	if g.Weights == knn.One {
		return nil, nil
	}
	var lengths *tables[float64]
	var err error
	if r.s.needsLengths() {
		if lengths, err = tablesOf[float64](r, r.lengthsName); err != nil {
			return nil, err
		}
	}

	// A quarter of the mean squared distance of the K-th neighbour, as for graphs in one piece.
	// The sum has their order too, and so the same bits.
	if g.Weights == knn.Heat && g.T == 0 {
		var mean float64
		for _, i := range r.div.numbers() {
			last := lengths.row(i)[g.K-1]
			mean += last * last / float64(r.div.N)
		}
		if g.T = mean / 4; g.T == 0 {
			g.T = 1
		}
	}

	for p := range r.s.Parts {
		there, err := r.folder.has(weightsName(p))
		if err != nil {
			return nil, err
		}
		// Weights of a part that a killed run left are kept.
		if there {
			continue
		}

		own := r.div.own(p)
		table := make([]float64, len(own)*g.K)
		par.For(len(own), 256, func(lo, hi int) {
			for at := lo; at < hi; at++ {
				weighList(table[at*g.K:][:g.K], own[at], g, near, lengths)
			}
		})
		if err := save(r.folder, weightsName(p), g.K, table); err != nil {
			return nil, err
		}
	}
	return tablesOf[float64](r, weightsName)
}

// weighList sets w to the weights of the edges of point i.
func weighList(w []float64, i int32, g *knn.GraphSettings, near *tables[uint32], lengths *tables[float64]) {
	switch g.Weights {
	case knn.Gauss:
		dist := lengths.row(i)
		width := edges.SquaredWidth(dist)
		for p, j := range near.row(i) {
			w[p] = edges.Gauss(dist[p], width, edges.SquaredWidth(lengths.row(int32(j))))
		}
	case knn.Shared:
		sorted := func(i int32) []int32 {
			list := make([]int32, 0, g.K)
			for _, j := range near.row(i) {
				list = append(list, int32(j))
			}
			slices.Sort(list)
			return list
		}
		own := sorted(i)
		for p, j := range near.row(i) {
			w[p] = edges.Jaccard(own, sorted(int32(j)))
		}
	default:
		copy(w, g.EdgeWeights(lengths.row(i)))
	}
}
