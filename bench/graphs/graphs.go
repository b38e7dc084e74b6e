// Package graphs generates graphs on which solvers of Laplacian systems are tried: grids with
// jumps, trees with chords, chimeras, stars of cliques and graphs with hubs. They are no graphs of
// neighbours of points. Each is connected and follows from its size and seed.
package graphs

import (
	"math"
	"math/rand/v2"

	"github.com/bigfit/bigfit/sparse"
)

// Family is a kind of graphs.
type Family struct {
	Name string
	// Make returns a graph of about n vertices.
	Make func(n int, rng *rand.Rand) *sparse.CSR
}

// Families lists all kinds. The published experiments on approximate Cholesky factors (Gao, Kyng &
// Spielman, arXiv 2303.00709, section 6) have grids, chimeras and stars; the others are from issues.
var Families = []Family{
	{"grid", func(n int, rng *rand.Rand) *sparse.CSR { return Grid(n, 1, rng) }},
	{"grid, jumps 1e2", func(n int, rng *rand.Rand) *sparse.CSR { return Grid(n, 1e2, rng) }},
	{"grid, jumps 1e6", func(n int, rng *rand.Rand) *sparse.CSR { return Grid(n, 1e6, rng) }},
	{"cube", Cube},
	{"tree with chords", TreeWithChords},
	{"chimera", Chimera},
	{"weighted chimera", WeightedChimera},
	{"Sachdeva star", SachdevaStar},
	{"hubs", Hubs},
	{"ring of cliques", RingOfCliques},
}

// Named returns the graph of a family, of about n vertices, or nil if there is no such family.
func Named(name string, n int, seed uint64) *sparse.CSR {
	for _, f := range Families {
		if f.Name == name {
			return f.Make(n, rand.New(rand.NewPCG(seed, 0x67726170))) // "grap"
		}
	}
	return nil
}

// edges are undirected edges between n vertices.
type edges struct {
	n    int
	a, b []int32
	w    []float64
}

func (e *edges) add(a, b int, w float64) {
	if a != b {
		e.a = append(e.a, int32(a))
		e.b = append(e.b, int32(b))
		e.w = append(e.w, w)
	}
}

// matrix returns the weights as a matrix. Parallel edges are added up.
func (e *edges) matrix() *sparse.CSR {
	w, err := sparse.FromTriplets(e.n, e.n, append(e.a[:len(e.a):len(e.a)], e.b...),
		append(e.b[:len(e.b):len(e.b)], e.a...), append(e.w[:len(e.w):len(e.w)], e.w...))
	if err != nil {
		panic(err)
	}
	return w
}

// Grid returns a square grid of about n vertices whose weights jump by up to jump: the grid is cut into
// patches of 35 by 35 vertices, and the edges that begin in a patch have the weight jump^-u for one
// uniform u in [0, 1].
func Grid(n int, jump float64, rng *rand.Rand) *sparse.CSR {
	const patch = 35
	side := int(math.Sqrt(float64(n)))
	across := side/patch + 1
	weights := make([]float64, across*across)
	for i := range weights {
		weights[i] = math.Pow(jump, -rng.Float64())
	}

	e := &edges{n: side * side}
	for i := range side {
		for j := range side {
			w := weights[i/patch*across+j/patch]
			if j+1 < side {
				e.add(i*side+j, i*side+j+1, w)
			}
			if i+1 < side {
				e.add(i*side+j, (i+1)*side+j, w)
			}
		}
	}
	return e.matrix()
}

// Cube returns a grid in three dimensions with weights 1.
func Cube(n int, _ *rand.Rand) *sparse.CSR {
	side := int(math.Cbrt(float64(n)))
	line := path(side)
	return product(product(line, line), line).matrix()
}

// TreeWithChords returns a random recursive tree with n/4 random chords and weights 10^(−6u) for
// uniform u in [0, 1].
func TreeWithChords(n int, rng *rand.Rand) *sparse.CSR {
	e := &edges{n: n}
	weight := func() float64 { return math.Pow(10, -6*rng.Float64()) }
	for i := 1; i < n; i++ {
		e.add(rng.IntN(i), i, weight())
	}
	for range n / 4 {
		e.add(rng.IntN(n), rng.IntN(n), weight())
	}
	return e.matrix()
}

// SachdevaStar returns cliques of k vertices, each joined by one edge to a vertex in the middle, k/2
// of them, with about 8n edges in all: k³ = 32n.
func SachdevaStar(n int, _ *rand.Rand) *sparse.CSR {
	k := max(4, int(math.Cbrt(32*float64(n))))
	e := &edges{n: 1}
	for range k / 2 {
		for i := range k {
			for j := range i {
				e.add(e.n+i, e.n+j, 1)
			}
		}
		e.add(0, e.n, 1)
		e.n += k
	}
	return e.matrix()
}

// Hubs returns a graph by preferential attachment: each vertex has four edges to ends of earlier
// edges.
func Hubs(n int, rng *rand.Rand) *sparse.CSR { return attached(n, 4, 0, rng).matrix() }

// RingOfCliques returns a ring of 300 cliques of n/10000 vertices, at least 8, with weights 1. Each
// clique has one edge to the next, of a weight between 1e-6 and 1.
func RingOfCliques(n int, rng *rand.Rand) *sparse.CSR {
	const cliques = 300
	size := max(8, n/10000)
	e := &edges{n: cliques * size}
	for c := range cliques {
		for i := range size {
			for j := range i {
				e.add(c*size+i, c*size+j, 1)
			}
		}
		e.add(c*size+rng.IntN(size), (c+1)%cliques*size+rng.IntN(size), math.Pow(10, -6*rng.Float64()))
	}
	return e.matrix()
}
