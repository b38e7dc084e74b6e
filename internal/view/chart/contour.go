package chart

// lines returns the polylines on which the function, linear between neighbours of
// the grid, has the value v: marching squares, with saddles decided by the mean
// of their corners. Lines that end at the rim come first, then closed lines, both in
// the order of the grid. Contours of gonum/plot would do, but they panic on some lines through
// grid points, and their order is random.
func (g *Grid) lines(f []float64, v float64) [][]point {
	n := g.Columns
	at := func(c, r int) float64 { return f[r*n+c] }
	// An edge is twice the number of its lower left end, plus 1 if it is vertical.
	above := func(c, r int) bool { return at(c, r) > v }
	next := map[int][]int{} // crossed edges joined within a cell; one or two
	join := func(a, b int) {
		next[a], next[b] = append(next[a], b), append(next[b], a)
	}
	for r := range g.Rows - 1 {
		for c := range n - 1 {
			edge := 2 * (r*n + c)
			// The four sides of the cell, each numbered by its lower left end.
			bottom := edge
			left := edge + 1
			right := edge + 3
			top := edge + 2*n
			corners := [4]bool{above(c, r), above(c+1, r), above(c+1, r+1), above(c, r+1)}
			var crossed []int
			for q, side := range [4]int{bottom, right, top, left} {
				if corners[q] != corners[(q+1)%4] {
					crossed = append(crossed, side)
				}
			}

			// Two crossings make one piece of line; four are a saddle, where two pieces could be
			// joined in either way.
			switch len(crossed) {
			case 2:
				join(crossed[0], crossed[1])
			case 4:
				mean := (at(c, r) + at(c+1, r) + at(c+1, r+1) + at(c, r+1)) / 4
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

	// The crossing lies where the linear function between the two centres takes v.
	crossing := func(edge int) point {
		c := edge / 2 % n
		r := edge / 2 / n
		toC := c + 1 - edge%2
		toR := r + edge%2
		x, y := g.Centre(c, r)
		toX, toY := g.Centre(toC, toR)
		share := (v - at(c, r)) / (at(toC, toR) - at(c, r))
		return point{X: x + share*(toX-x), Y: y + share*(toY-y)}
	}

	var out [][]point
	done := map[int]bool{}
	// A crossed side with one neighbour is an end of an open line; when these are walked, only
	// closed ones remain.
	for _, ends := range []int{1, 2} {
		for edge := range 2 * n * g.Rows {
			if done[edge] || len(next[edge]) != ends {
				continue
			}
			var line []point
			for from, more := edge, true; more; {
				done[from] = true
				line = append(line, crossing(from))
				more = false
				for _, to := range next[from] {
					if !done[to] {
						from = to
						more = true
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
