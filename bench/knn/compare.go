package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/knn"
)

// Causes of a difference, beside the cancellation in a peer's formula.
const (
	tie         = "tie"
	unexplained = "unexplained"
)

// arithmetic describes a peer that computes squared distances as ‖x‖² + ‖y‖² − 2xᵀy. The
// zero value stands for a peer that adds up (x−y)² in float64, where nothing cancels.
type arithmetic struct {
	cancellation string  // the name of the cause
	roundoff     float64 // relative rounding error of one operation
}

// arithmetics describes the peers by their names in knn_peers.py.
var arithmetics = map[string]arithmetic{
	"faiss":  {"float32 cancellation", 0x1p-24},
	"brute":  {"float64 cancellation", 0x1p-53},
	"cosine": {"float64 cancellation", 0x1p-53},
}

// A difference is a neighbour of a point in a peer's list that our list lacks, paired with
// a neighbour in our list that the peer's list lacks.
type difference struct {
	point, theirs, ours int
	theirSq, ourSq      float64 // squared distances, computed by squared in float64
	// |theirSq − ourSq| in units of roundoff·(‖x‖² + ‖y‖²), 0 without cancellation
	roundings float64
	cause     string
}

// compare returns the differences between our lists and a peer's. Neighbours that only one
// of the two lists has are paired in the order of their distances. A pair of equal float64
// distances is a tie. If the peer's neighbour is farther by no more than its formula rounds
// off, the cause is cancellation. Every other pair is unexplained, above all a nearer
// neighbour that we do not have.
func compare(x data.Points, metric knn.Metric, ours *knn.Neighbors, theirs []int32,
	a arithmetic) ([]difference, error) {
	n, d := x.Dims()
	k := ours.K
	p := make([]float64, d)
	q := make([]float64, d)
	type entry struct {
		index     int32
		sq, norms float64
	}
	// Sorted by distance, then by index, so that equal neighbours of both lists face each other.
	only := func(list, other []int32) []entry {
		var es []entry
		for _, j := range list {
			if !slices.Contains(other, j) {
				data.RowTo(q, x, int(j))
				sq, norms := squared(p, q, metric)
				es = append(es, entry{j, sq, norms})
			}
		}

		slices.SortFunc(es, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.sq, b.sq), cmp.Compare(a.index, b.index))
		})
		return es
	}

	var all []difference
	for i := range n {
		// A broken list would make the pairing below meaningless.
		mine, _ := ours.Row(i)
		list := theirs[i*k : (i+1)*k]
		for at, j := range list {
			if j < 0 || int(j) >= n || int(j) == i || slices.Contains(list[:at], j) {
				return nil, fmt.Errorf("the peer lists %d as a neighbour of point %d of %d: outside, "+
					"itself or repeated", j, i, n)
			}
		}

		data.RowTo(p, x, i)
		// Both lists have k entries, so as many are missing as there are extra.
		extra := only(list, mine)
		missing := only(mine, list)
		for r, e := range extra {
			m := missing[r]
			diff := difference{point: i, theirs: int(e.index), ours: int(m.index), theirSq: e.sq, ourSq: m.sq,
				cause: unexplained}
			// Rounding errors of the peer's formula are proportional to the norms, not to the
			// distance.
			gap := e.sq - m.sq
			norms := max(e.norms, m.norms)
			if a.roundoff > 0 {
				diff.roundings = math.Abs(gap) / (a.roundoff * norms)
			}
			switch {
			case math.Abs(gap) <= 0x1p-52*float64(d+2)*m.sq: // equal but for the order of the sum
				diff.cause = tie
			case gap > 0 && diff.roundings > 0 && diff.roundings <= maxRoundings(d):
				diff.cause = a.cancellation
			}
			all = append(all, diff)
		}
	}

	return all, nil
}

// maxRoundings bounds the error of the difference of two distances by the formula
// with cancellation in d dimensions, in units of roundoff·(‖x‖² + ‖y‖²): d+3 for
// each at the very worst, and a few √d where the signs of the rounding errors
// are mixed (Higham and Mary, SIAM J. Sci. Comput. 41 (2019), A2815–A2835).
func maxRoundings(d int) float64 { return 8 * math.Sqrt(float64(d+3)) }

// squared returns the squared distance of two points and the sum of their squared norms.
// For Angle it scales both points to norm one first.
func squared(p, q []float64, metric knn.Metric) (sq, norms float64) {
	var pp, qq, pq float64
	for c, v := range p {
		w := q[c]
		pp = pp + v*v
		qq = qq + w*w
		pq = pq + v*w
		sq = sq + (v-w)*(v-w)
	}

	// ‖u − v‖² = 2 − 2 cos for unit vectors, which both the peer and we sort by.
	switch {
	case metric != knn.Angle:
		return sq, pp + qq
	case pp == 0 || qq == 0: // a right angle
		return 2, 2
	}

	return 2 - 2*pq/math.Sqrt(pp*qq), 2
}

// readPeer returns the k neighbours of every point. A peer's file lists k+1, the point
// itself among them: readPeer leaves the point out, or the last neighbour where a list
// lacks the point.
func readPeer(path string, k int) ([]int32, error) {
	a, err := npy.OpenArchive(path, 0)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	raw, err := a.Read("indices")
	if err != nil {
		return nil, err
	}

	index, err := raw.Int64s()
	if err != nil {
		return nil, err
	}
	if len(raw.Shape) != 2 || raw.Shape[1] != k+1 {
		return nil, fmt.Errorf("%s: indices is %v, not n×%d", path, raw.Shape, k+1)
	}
	// Among equal points a peer may list a twin in the place of the point itself.
	lists := make([]int32, 0, raw.Shape[0]*k)
	for i := range raw.Shape[0] {
		row := index[i*(k+1) : (i+1)*(k+1)]
		own := slices.Index(row, int64(i))
		if own < 0 {
			own = k
		}
		for _, j := range slices.Delete(row, own, own+1) {
			lists = append(lists, int32(j))
		}
	}

	return lists, nil
}

// count counts the differences by their causes. entries is the number of all neighbours.
func count(diffs []difference, entries int) map[string]any {
	causes := map[string]int{}
	var largest float64
	for _, d := range diffs {
		causes[d.cause]++
		if d.cause != tie {
			largest = max(largest, d.roundings)
		}
	}

	// Ties and unexplained differences are named even where there are none.
	sum := map[string]any{"of": entries, tie: causes[tie], unexplained: causes[unexplained]}
	for cause, c := range causes {
		sum[cause] = c
	}
	if largest > 0 {
		sum["largest_gap_in_roundings"] = math.Round(100*largest) / 100
	}
	return sum
}

// A comparison holds the differences from one peer.
type comparison struct {
	work, peer string
	diffs      []difference
}

// saveDifferences lists every difference with its cause in dir/name and returns
// how many are unexplained.
func saveDifferences(dir, name string, all []comparison) (bad int, err error) {
	err = atomicfile.Atomically(filepath.Join(dir, name), func(w io.Writer) error {
		table := csv.NewWriter(w)
		lines := [][]string{{"work", "peer", "point", "peer's neighbour", "ours", "peer's squared distance",
			"ours", "difference in roundings of the peer's formula", "cause"}}
		float := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		for _, c := range all {
			for _, d := range c.diffs {
				lines = append(lines, []string{c.work, c.peer, strconv.Itoa(d.point), strconv.Itoa(d.theirs),
					strconv.Itoa(d.ours),
					float(d.theirSq), float(d.ourSq), strconv.FormatFloat(d.roundings, 'f', 2, 64), d.cause})
				if d.cause == unexplained {
					bad++
				}
			}
		}

		return table.WriteAll(lines)
	})

	return bad, err
}
