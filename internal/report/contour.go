package report

// A Grid is a function at the points of a rectangle: Columns×Rows of them, with
// both ends of [X0, X1] and [Y0, Y1] among them.
type Grid struct {
	X0, X1, Y0, Y1 float64
	Columns, Rows  int
	Values         []float64 // row by row, that of Y0 first
}

// A Point is a place in the plane.
type Point struct{ X, Y float64 }

// X returns the place of column c, of 0 … Columns−1.
func (g *Grid) X(c int) float64 { return g.X0 + (g.X1-g.X0)*float64(c)/float64(g.Columns-1) }

// Y returns the place of row r, of 0 … Rows−1.
func (g *Grid) Y(r int) float64 { return g.Y0 + (g.Y1-g.Y0)*float64(r)/float64(g.Rows-1) }

// At returns the value in column c and row r.
func (g *Grid) At(c, r int) float64 { return g.Values[r*g.Columns+c] }

// Lines returns the polylines on which the function, linear between neighbours of
// the grid, has the value v: marching squares, with saddles decided by the mean
// of their corners. Lines that end at the rim come first, then those that end
// where they began; the order is that of the grid.
func (g *Grid) Lines(v float64) [][]Point {
	n := g.Columns
	// An edge is twice the number of its lower left end, plus 1 if it is vertical.
	above := func(c, r int) bool { return g.At(c, r) > v }
	next := map[int][]int{} // crossed edges joined within a cell; one or two
	join := func(a, b int) {
		next[a], next[b] = append(next[a], b), append(next[b], a)
	}
	for r := range g.Rows - 1 {
		for c := range n - 1 {
			at := 2 * (r*n + c)
			bottom, left, right, top := at, at+1, at+3, at+2*n
			corners := [4]bool{above(c, r), above(c+1, r), above(c+1, r+1), above(c, r+1)}
			var crossed []int
			for q, edge := range [4]int{bottom, right, top, left} {
				if corners[q] != corners[(q+1)%4] {
					crossed = append(crossed, edge)
				}
			}
			switch len(crossed) {
			case 2:
				join(crossed[0], crossed[1])
			case 4:
				mean := (g.At(c, r) + g.At(c+1, r) + g.At(c+1, r+1) + g.At(c, r+1)) / 4
				if (mean > v) == corners[0] { // the lower left and upper right corners are joined
					join(bottom, right)
					join(top, left)
				} else {
					join(bottom, left)
					join(top, right)
				}
			}
		}
	}
	point := func(edge int) Point {
		c, r := edge/2%n, edge/2/n
		x, y, a := g.X(c), g.Y(r), g.At(c, r)
		if edge%2 == 1 {
			return Point{x, y + (v-a)/(g.At(c, r+1)-a)*(g.Y(r+1)-y)}
		}
		return Point{x + (v-a)/(g.At(c+1, r)-a)*(g.X(c+1)-x), y}
	}
	var out [][]Point
	done := map[int]bool{}
	for _, ends := range []int{1, 2} {
		for edge := range 2 * n * g.Rows {
			if done[edge] || len(next[edge]) != ends {
				continue
			}
			var line []Point
			for at, more := edge, true; more; {
				done[at] = true
				line = append(line, point(at))
				more = false
				for _, to := range next[at] {
					if !done[to] {
						at, more = to, true
						break
					}
				}
			}
			if ends == 2 {
				line = append(line, line[0])
			}
			out = append(out, line)
		}
	}
	return out
}

// above returns closed polygons around the places of the rectangle where
// sign·f > v; by the even-odd rule they fill them. A ring of points far below v
// is put around the grid, so that lines end nowhere and run along the rim.
func (g *Grid) above(sign, v float64) [][]Point {
	const far = -1e300
	dx, dy := (g.X1-g.X0)/float64(g.Columns-1), (g.Y1-g.Y0)/float64(g.Rows-1)
	ring := Grid{g.X0 - dx, g.X1 + dx, g.Y0 - dy, g.Y1 + dy, g.Columns + 2, g.Rows + 2, nil}
	for r := range ring.Rows {
		for c := range ring.Columns {
			value := far
			if r > 0 && r <= g.Rows && c > 0 && c <= g.Columns {
				value = sign * g.At(c-1, r-1)
			}
			ring.Values = append(ring.Values, value)
		}
	}
	return ring.Lines(v)
}
