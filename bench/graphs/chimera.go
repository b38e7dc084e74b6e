package graphs

import (
	"math"
	"math/rand/v2"

	"github.com/bigfit/bigfit/sparse"
)

// Chimera returns a graph put together at random from paths, rings, trees, grids, random regular
// graphs, generalized rings and grown graphs by joins, products and necklaces, in the manner of
// Spielman's chimeras: parts that are easy alone meet in ways that are not. Vertices are in random
// order.
func Chimera(n int, rng *rand.Rand) *sparse.CSR { return chimera(n, rng).shuffled(rng).matrix() }

// WeightedChimera returns a chimera with random weights: uniform, over six decades, or differences
// of a potential that was averaged over neighbours some times, or one over either.
func WeightedChimera(n int, rng *rand.Rand) *sparse.CSR {
	e := chimera(n, rng).shuffled(rng)
	e.weigh(rng)
	return e.matrix()
}

// chimera returns a chimera of n vertices.
func chimera(n int, rng *rand.Rand) *edges {
	if n < 30 || rng.Float64() < 0.1 {
		return pure(n, rng)
	}
	switch r := rng.Float64(); {
	case r < 0.5:
		// Two parts, joined by between one and n edges.
		first := max(1, int(float64(n)*rng.Float64()))
		count := int(math.Pow(float64(n), rng.Float64()))
		if first == n {
			return pure(n, rng)
		}
		return join(chimera(first, rng), chimera(n-first, rng), count, rng)
	case r < 0.75:
		// A product has as many vertices as there are pairs; what is left is joined to it.
		first := max(2, int(math.Pow(float64(n), rng.Float64())))
		second := n / first
		if second < 2 {
			return pure(n, rng)
		}
		e := product(chimera(first, rng), chimera(second, rng))
		if e.n < n {
			e = join(e, pure(n-e.n, rng), 1, rng)
		}
		return e
	default:
		first := max(2, int(math.Pow(float64(n), rng.Float64())))
		second := n / first
		if second < 2 {
			return pure(n, rng)
		}
		e := necklace(chimera(first, rng), chimera(second, rng), rng)
		if e.n < n {
			e = join(e, pure(n-e.n, rng), 1, rng)
		}
		return e
	}
}

// pure returns a graph of one kind.
func pure(n int, rng *rand.Rand) *edges {
	if n < 4 {
		return path(n)
	}
	e := &edges{n: n}
	switch rng.IntN(8) {
	case 0:
		return path(n)
	case 1: // ring
		e = path(n)
		e.add(0, n-1, 1)
	case 2: // complete binary tree
		for i := 1; i < n; i++ {
			e.add((i-1)/2, i, 1)
		}
	case 3: // grid, with a path of what is left
		side := int(math.Sqrt(float64(n)))
		e = product(path(side), path(n/side))
		if e.n < n {
			e = join(e, path(n-e.n), 1, rng)
		}
	case 4: // union of a ring and random matchings
		e = path(n)
		e.add(0, n-1, 1)
		for range rng.IntN(5) {
			order := rng.Perm(n)
			for i := 0; i+1 < n; i += 2 {
				e.add(order[i], order[i+1], 1)
			}
		}
	case 5: // ring with steps of several lengths
		for i := range n {
			e.add(i, (i+1)%n, 1)
		}
		for range 1 + rng.IntN(4) {
			step := 2 + int(math.Pow(float64(n), rng.Float64()))
			for i := range n {
				e.add(i, (i+step)%n, 1)
			}
		}
	case 6: // grown: edges to earlier vertices
		k := 1 + rng.IntN(4)
		for i := 1; i < n; i++ {
			for range k {
				e.add(rng.IntN(i), i, 1)
			}
		}
	default:
		return attached(n, 1+rng.IntN(4), rng.Float64(), rng)
	}
	return e
}

func path(n int) *edges {
	e := &edges{n: n}
	for i := range n - 1 {
		e.add(i, i+1, 1)
	}
	return e
}

// attached returns a graph that grows by k edges from each vertex to earlier ones: to any of them with
// probability p, otherwise to an end of an earlier edge.
func attached(n, k int, p float64, rng *rand.Rand) *edges {
	e := &edges{n: n}
	for i := 1; i < n; i++ {
		before := len(e.a)
		for range k {
			to := rng.IntN(i)
			if before > 0 && rng.Float64() >= p {
				if at := rng.IntN(2 * before); at < before {
					to = int(e.a[at])
				} else {
					to = int(e.b[at-before])
				}
			}
			e.add(to, i, 1)
		}
	}
	return e
}

// join returns both graphs side by side with count random edges between them.
func join(x, y *edges, count int, rng *rand.Rand) *edges {
	e := &edges{n: x.n + y.n, a: x.a, b: x.b, w: x.w}
	for p := range y.a {
		e.add(x.n+int(y.a[p]), x.n+int(y.b[p]), y.w[p])
	}
	for range count {
		e.add(rng.IntN(x.n), x.n+rng.IntN(y.n), 1)
	}
	return e
}

// product returns the Cartesian product: vertices are pairs, and one of both steps along an edge.
func product(x, y *edges) *edges {
	e := &edges{n: x.n * y.n}
	for i := range x.n {
		for p := range y.a {
			e.add(i*y.n+int(y.a[p]), i*y.n+int(y.b[p]), y.w[p])
		}
	}
	for p := range x.a {
		for j := range y.n {
			e.add(int(x.a[p])*y.n+j, int(x.b[p])*y.n+j, x.w[p])
		}
	}
	return e
}

// necklace puts a copy of y in the place of each vertex of x. An edge of x joins random vertices of two
// copies.
func necklace(x, y *edges, rng *rand.Rand) *edges {
	e := &edges{n: x.n * y.n}
	for i := range x.n {
		for p := range y.a {
			e.add(i*y.n+int(y.a[p]), i*y.n+int(y.b[p]), y.w[p])
		}
	}
	for p := range x.a {
		e.add(int(x.a[p])*y.n+rng.IntN(y.n), int(x.b[p])*y.n+rng.IntN(y.n), x.w[p])
	}
	return e
}

// shuffled returns the graph with its vertices in random order.
func (e *edges) shuffled(rng *rand.Rand) *edges {
	order := rng.Perm(e.n)
	for p := range e.a {
		e.a[p] = int32(order[e.a[p]])
		e.b[p] = int32(order[e.b[p]])
	}
	return e
}

// weigh gives the edges random weights.
func (e *edges) weigh(rng *rand.Rand) {
	weight := func(int) float64 { return rng.Float64() + 1e-12 }
	switch rng.IntN(3) {
	case 0:
		weight = func(int) float64 { return math.Pow(10, -6*rng.Float64()) }
	case 1:
		x := e.averaged(rng, rng.IntN(10))
		weight = func(p int) float64 { return math.Abs(x[e.a[p]]-x[e.b[p]]) + 1e-8 }
	}
	invert := rng.IntN(2) == 0
	for p := range e.w {
		e.w[p] = weight(p)
		if invert {
			e.w[p] = 1 / e.w[p]
		}
	}
}

// averaged returns uniform numbers at the vertices, replaced times times by the mean over a vertex and
// its neighbours.
func (e *edges) averaged(rng *rand.Rand, times int) []float64 {
	x := make([]float64, e.n)
	for i := range x {
		x[i] = rng.Float64()
	}
	for range times {
		sum := make([]float64, e.n)
		count := make([]float64, e.n)
		for i, v := range x {
			sum[i] = v
			count[i] = 1
		}
		for p, a := range e.a {
			b := e.b[p]
			sum[a] += x[b]
			sum[b] += x[a]
			count[a]++
			count[b]++
		}
		for i := range x {
			x[i] = sum[i] / count[i]
		}
	}
	return x
}
