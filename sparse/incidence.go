package sparse

import "math"

// Incidence returns the edges×n matrix G with L = GᵀG: for every edge between i < j
// a row with √w_ij at i and −√w_ij at j, divided by the roots of their degrees for
// the normalized Laplacian. The power and the shift of l do not matter.
func (l *Laplacian) Incidence() *CSR {
	w := l.Graph()
	degrees := l.Degrees()
	g := &CSR{Cols: w.Rows, Ptr: []int64{0}, Val: []float64{}}
	for i := range w.Rows {
		col, val := w.Row(i)
		for p, j := range col {
			if int(j) <= i {
				continue
			}
			weight := 1.0
			if val != nil {
				weight = val[p]
			}
			if weight == 0 {
				continue
			}

			// D^-½ on both ends makes GᵀG the normalized Laplacian.
			a := math.Sqrt(weight)
			b := math.Sqrt(weight)
			if l.Kind() != Combinatorial {
				a = a / math.Sqrt(degrees[i])
				b = b / math.Sqrt(degrees[j])
			}

			g.Col = append(g.Col, int32(i), j)
			g.Val = append(g.Val, a, -b)
			g.Ptr = append(g.Ptr, int64(len(g.Col)))
			g.Rows++
		}
	}

	return g
}
