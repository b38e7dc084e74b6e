package cg

import (
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/sparse"
)

// newApproximate returns a sparse factorization of L + cI, c ≥ 0, with the expectation L + cI.
// Vertices are eliminated in the order of their current degree. Exact elimination of a vertex with
// d neighbours would join them all; here d − 1 edges are drawn at random, with weights that are
// right on average (Kyng & Sachdeva, FOCS 2016; Gao, Kyng & Spielman, arXiv 2303.00709). The shift
// is an edge to a vertex that is never eliminated. With c = 0 the inverse has a zero for one vertex
// of every component, and is positive definite on the complement of the null vectors.
//
// The condition of the preconditioned operator is moderate whatever the graph. The factorization
// takes O(nnz log nnz) operations, and its application to a vector 4 for each of its about 1.5·nnz
// numbers, by one processor for every 8 columns.
func newApproximate(s *system, seed uint64) *factors {
	n := s.w.Rows
	g := elimination{edges: make([][]edge, n), ground: make([]float64, n), gone: make([]bool, n)}
	degree := make([]int32, n)
	for i := range n {
		col, _ := s.w.Row(i)
		g.ground[i] = s.ground[i]
		// Room for what elimination adds, in most cases.
		g.edges[i] = make([]edge, 0, len(col)+len(col)/2+4)
		for p, j := range col {
			w := 1.0
			if s.w.Val != nil {
				w = s.w.Val[s.w.Ptr[i]+int64(p)]
			}
			if int(j) != i && w > 0 {
				g.edges[i] = append(g.edges[i], edge{j, w})
			}
		}
		degree[i] = int32(len(g.edges[i]))
	}

	g.queue = newBuckets(degree)
	m := &factors{order: make([]int32, n), outer: make([]float64, n), inner: make([]float64, n)}
	m.upper = &sparse.CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1)}
	rng := rand.New(rand.NewPCG(seed, 0x63686f6c)) // "chol"
	var star []edge
	at := make([]int32, n)    // place in the star, plus 1
	place := make([]int32, n) // in the order
	for p := range n {
		v := g.queue.pop()
		place[v] = int32(p)
		m.order[p] = v
		m.outer[v] = s.outer[v]
		star = g.star(v, star[:0], at)
		total := g.ground[v]
		for _, e := range star {
			total += e.weight
		}
		// Column p of the factor: the weights of the star over their sum.
		if total > 0 {
			m.inner[p] = 1 / total
		}

		for _, e := range star {
			m.upper.Col = append(m.upper.Col, e.to)
			m.upper.Val = append(m.upper.Val, e.weight/total)
		}
		m.upper.Ptr[p+1] = int64(len(m.upper.Col))
		g.replace(v, star, total, rng)
	}

	// The columns were vertices until their places were known.
	for p, v := range m.upper.Col {
		m.upper.Col[p] = place[v]
	}
	m.lower = m.upper.T()
	return m
}

// An edge of the remaining graph, seen from one of its ends.
type edge struct {
	to     int32
	weight float64
}

// elimination is the graph during the factorization.
type elimination struct {
	edges  [][]edge
	ground []float64 // weight of the edge to the vertex that stays
	gone   []bool
	queue  *buckets
}

// star appends to dst the edges of v to the remaining vertices, parallel edges added up, lightest
// first. at is zero before and after.
func (g *elimination) star(v int32, dst []edge, at []int32) []edge {
	for _, e := range g.edges[v] {
		switch {
		case g.gone[e.to]:
		case at[e.to] > 0:
			dst[at[e.to]-1].weight += e.weight
			g.queue.move(e.to, -1)
		default:
			dst = append(dst, e)
			at[e.to] = int32(len(dst))
		}
	}

	// Ties by number, so that the order does not depend on the sort.
	for _, e := range dst {
		at[e.to] = 0
	}
	slices.SortFunc(dst, func(a, b edge) int {
		switch {
		case a.weight < b.weight:
			return -1
		case a.weight > b.weight:
			return 1
		}
		return int(a.to - b.to)
	})

	g.gone[v] = true
	g.edges[v] = nil
	return dst
}

// replace puts edges between the neighbours of v in the place of its star: from each neighbour i to
// one j behind it, drawn with probability w_j/S for S = Σ_{k>i} w_k, of weight w_i·S/total. The
// ground counts as the last neighbour.
func (g *elimination) replace(v int32, star []edge, total float64, rng *rand.Rand) {
	rest := total
	for i, e := range star {
		g.queue.move(e.to, -1)
		rest -= e.weight
		behind := star[i+1:]
		if len(behind) == 0 {
			rest = g.ground[v]
		}
		if !(rest > 0) {
			continue
		}

		// Draw j by the cumulative weights.
		weight := e.weight * rest / total
		pick := rng.Float64() * rest
		j := 0
		for ; j < len(behind); j++ {
			if pick -= behind[j].weight; pick < 0 {
				break
			}
		}

		if j == len(behind) && (j == 0 || g.ground[v] > 0) {
			g.ground[e.to] += weight
			continue
		}

		// A draw beyond the last neighbour is a rounding error of rest.
		to := behind[min(j, len(behind)-1)].to
		g.edges[e.to] = append(g.edges[e.to], edge{to, weight})
		g.edges[to] = append(g.edges[to], edge{e.to, weight})
		g.queue.move(e.to, 1)
		g.queue.move(to, 1)
	}
}

// buckets is a queue of vertices by degree. The last bucket holds all larger degrees.
type buckets struct {
	degree     []int32
	first      []int32 // vertex, −1 for none
	next, back []int32
	lowest     int
}

const bucketCount = 128

func newBuckets(degree []int32) *buckets {
	q := &buckets{degree: degree, first: make([]int32, bucketCount), next: make([]int32, len(degree)),
		back: make([]int32, len(degree))}
	for b := range q.first {
		q.first[b] = -1
	}
	for v := len(degree) - 1; v >= 0; v-- {
		q.insert(int32(v))
	}
	q.lowest = 0
	return q
}

func (q *buckets) bucket(v int32) int { return min(int(q.degree[v]), bucketCount-1) }

func (q *buckets) insert(v int32) {
	b := q.bucket(v)
	q.next[v] = q.first[b]
	q.back[v] = -1
	if q.first[b] >= 0 {
		q.back[q.first[b]] = v
	}
	q.first[b] = v
	q.lowest = min(q.lowest, b)
}

func (q *buckets) remove(v int32) {
	if q.back[v] >= 0 {
		q.next[q.back[v]] = q.next[v]
	} else {
		q.first[q.bucket(v)] = q.next[v]
	}
	if q.next[v] >= 0 {
		q.back[q.next[v]] = q.back[v]
	}
}

// move changes the degree of v.
func (q *buckets) move(v int32, by int32) {
	q.remove(v)
	q.degree[v] += by
	q.insert(v)
}

// pop removes a vertex of smallest degree.
func (q *buckets) pop() int32 {
	for q.first[q.lowest] < 0 {
		q.lowest++
	}
	v := q.first[q.lowest]
	q.remove(v)
	return v
}
