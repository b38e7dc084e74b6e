package sparse

import "github.com/bigfit/bigfit/internal/enum"

// Components lists the connected components of a graph.
type Components struct {
	Of    []int32 // component of each vertex
	Sizes []int   // vertices in each component
}

// Count returns the number of components.
func (c *Components) Count() int { return len(c.Sizes) }

// Isolated returns the number of components of a single vertex.
func (c *Components) Isolated() int {
	n := 0
	for _, s := range c.Sizes {
		if s == 1 {
			n++
		}
	}
	return n
}

// Describe counts edges, components and isolated vertices of a graph with the given number
// of stored entries, two for each edge.
func (c *Components) Describe(entries int) string {
	text := enum.Count(entries/2, "edge") + ", " + enum.Count(c.Count(), "component")
	if isolated := c.Isolated(); isolated > 0 {
		text += ", " + enum.Count(isolated, "isolated point")
	}
	return text
}

// Reached tells for every vertex whether its component holds one of the given vertices.
func (c *Components) Reached(vertices []int) []bool {
	has := make([]bool, c.Count())
	for _, i := range vertices {
		has[c.Of[i]] = true
	}
	out := make([]bool, len(c.Of))
	for i, id := range c.Of {
		out[i] = has[id]
	}
	return out
}

// Within returns the number of vertices in the components of the given ones.
func (c *Components) Within(vertices []int) int {
	n := 0
	for _, reached := range c.Reached(vertices) {
		if reached {
			n++
		}
	}
	return n
}

// Components finds the connected components of a symmetric matrix, numbered
// by their smallest vertex, in one pass over the entries. An entry of weight
// zero joins nothing.
//
// Vertices point to smaller ones of their component; paths are halved as they
// are followed (R. E. Tarjan and J. van Leeuwen, J. ACM 31 (1984), 245–281).
func (m *CSR) Components() *Components {
	c := &Components{Of: make([]int32, m.Rows)}
	parent := c.Of
	root := func(v int32) int32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}

	// Join every vertex with its smaller neighbours.
	_ = m.pass(0, m.Rows, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			col, val := m.Row(i)
			mine := int32(i)
			parent[i] = mine
			for p, j := range col {
				if int(j) >= i {
					break // the row of j joins them
				}
				if val != nil && val[p] == 0 {
					continue
				}
				other := root(j)
				parent[max(mine, other)] = min(mine, other)
				mine = min(mine, other)
			}
		}

		return nil
	})

	// Roots are the smallest vertices of their components, so numbers ascend with them.
	for i, p := range parent {
		if int(p) == i {
			c.Of[i] = int32(len(c.Sizes))
			c.Sizes = append(c.Sizes, 0)
		} else {
			c.Of[i] = c.Of[p] // it is smaller: a number of a component already
		}
		c.Sizes[c.Of[i]]++
	}

	return c
}
