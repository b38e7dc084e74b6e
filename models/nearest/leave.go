package nearest

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// A vote without the label of a point follows from a search that found the label as well: along paths from
// the edges between the territories of labels, and by distance from the lists of labeled points.

// without returns, for each of the labeled vertices, the other ones that are nearest along the edges, up
// to k of them, nearest first; of equal lengths the vertices of smaller number.
//
// A shortest path from label i to one of its k nearest labels j crosses an edge (u, v) such that i is one
// of the k sources of u and j of v: if i were none of u's, the k sources of u would all be nearer to i than
// j is. So, but for rounding between paths of equal length, the least of d(i, u) + |uv| + d(v, j) over all edges is the distance of i and j. It costs
// O(k³·nnz) operations at most, O(nnz) for k = 1.
func (p *paths) without(lengths *sparse.CSR, labeled []int) [][]visit {
	position := map[int32]int{}
	for q, i := range labeled {
		position[int32(i)] = q
	}
	others := make([][]visit, len(labeled))
	offer := func(i, j int32, length float64) {
		if i != j {
			q := position[i]
			others[q] = nearer(others[q], visit{length, 0, j}, p.k)
		}
	}

	for u := range lengths.Rows {
		from, to := p.at(u)
		// Sources that meet in a vertex, of which labels themselves are the case that no edge tells.
		for a, i := range from {
			for b, j := range from {
				offer(i, j, to[a]+to[b])
			}
		}

		col, length := lengths.Row(u)
		for e, v := range col {
			step := 1.0
			if length != nil {
				step = length[e]
			}
			beyond, rest := p.at(int(v))
			for a, i := range from {
				for b, j := range beyond {
					offer(i, j, to[a]+step+rest[b])
				}
			}
		}
	}

	return others
}

// nearer puts v into the list of the k nearest sources, each once, nearest first.
func nearer(list []visit, v visit, k int) []visit {
	if len(list) == k && !v.less(list[k-1]) {
		return list
	}
	if at := slices.IndexFunc(list, func(w visit) bool { return w.from == v.from }); at >= 0 {
		if !v.less(list[at]) {
			return list
		}
		list = slices.Delete(list, at, at+1)
	}

	at, _ := slices.BinarySearchFunc(list, v, func(a, b visit) int {
		return cmp.Or(cmp.Compare(a.length, b.length), cmp.Compare(a.from, b.from))
	})
	list = slices.Insert(list, at, v)
	return list[:min(len(list), k)]
}

// heldOutPaths returns the votes of the labels along paths, each label without its own vote.
func heldOutPaths(y *data.Labels, labeled []int, p *paths, lengths *sparse.CSR) *models.HeldOut {
	votes := make([][]int32, len(labeled))
	class := make([]int32, len(labeled))
	for q, list := range p.without(lengths, labeled) {
		class[q] = y.Index[labeled[q]]
		for _, v := range list {
			votes[q] = append(votes[q], y.Index[v.from])
		}
	}
	return heldOutVotes(class, len(y.Classes), votes)
}

// mostHeld bounds the answers for labels left out, in labels times classes: beyond it a regular choice of the
// labels has answers. 2,000 labels tell a probability to within a hundredth.
const mostHeld = 1 << 22

// heldOutBytes returns the bytes of the answers of so many labels and of the calibration that reads them.
func heldOutBytes(labels, classes int) int64 { return 56 * min(int64(labels)*int64(classes), mostHeld) }

// heldOutVotes returns the shares of the classes among the votes for each label, or for a regular choice of at most
// mostHeld answers. A label without votes has no answer. A class with one label is not known without it.
func heldOutVotes(class []int32, classes int, votes [][]int32) *models.HeldOut {
	count := make([]int, classes)
	var labels []int
	step := len(class)*classes/(mostHeld+1) + 1
	for q, c := range class {
		count[c]++
		if len(votes[q]) > 0 && q%step == 0 {
			labels = append(labels, q)
		}
	}

	out := &models.HeldOut{Labels: labels, Scores: mat.NewDense(max(1, len(labels)), classes, nil)}
	for row, q := range labels {
		scores := out.Scores.RawRowView(row)
		for _, c := range votes[q] {
			scores[c] += 1 / float64(len(votes[q]))
		}
		if own := class[q]; count[own] == 1 {
			scores[own] = math.NaN()
		}
	}
	return out
}
