package main

import "gonum.org/v1/plot/plotter"

// lines returns the polylines on which the function, linear between neighbours of
// the grid, has the value v: marching squares, with saddles decided by the mean
// of their corners. The order is that of the grid.
func (s *surfaceGrid) lines(v float64) []plotter.XYs {
	const n = surfaceCells
	// An edge is twice the number of its lower left end, plus 1 if it is vertical.
	above := func(c, r int) bool { return s.Z(c, r) > v }
	next := map[int][]int{} // crossed edges joined within a cell; one or two
	join := func(a, b int) {
		next[a], next[b] = append(next[a], b), append(next[b], a)
	}
	for r := range n - 1 {
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
				mean := (s.Z(c, r) + s.Z(c+1, r) + s.Z(c+1, r+1) + s.Z(c, r+1)) / 4
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
	point := func(edge int) plotter.XY {
		c, r := edge/2%n, edge/2/n
		x, y, a := s.X(c), s.Y(r), s.Z(c, r)
		if edge%2 == 1 {
			return plotter.XY{X: x, Y: y + (v-a)/(s.Z(c, r+1)-a)*(s.Y(r+1)-y)}
		}
		return plotter.XY{X: x + (v-a)/(s.Z(c+1, r)-a)*(s.X(c+1)-x), Y: y}
	}
	var out []plotter.XYs
	done := map[int]bool{}
	// Lines that end at the rim come first, then the closed ones.
	for _, ends := range []int{1, 2} {
		for edge := range 2 * n * n {
			if done[edge] || len(next[edge]) != ends {
				continue
			}
			var line plotter.XYs
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
