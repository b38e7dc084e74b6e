package sparse

// Select returns the rows with the given numbers, in the given order.
func (m *CSR) Select(rows []int) *CSR {
	var entries int64
	for _, r := range rows {
		entries += m.Ptr[r+1] - m.Ptr[r]
	}
	out := &CSR{Rows: len(rows), Cols: m.Cols, Ptr: make([]int64, len(rows)+1),
		Col: make([]int32, 0, entries)}
	if m.Val != nil {
		out.Val = make([]float64, 0, entries)
	}
	for i, r := range rows {
		col, val := m.Row(r)
		out.Col = append(out.Col, col...)
		out.Val = append(out.Val, val...)
		out.Ptr[i+1] = int64(len(out.Col))
	}

	return out
}

// Induced returns the graph of some vertices of m, in ascending order: entry (a, b) is the entry of
// m for vertices a and b of the list. place returns the position of a vertex in the list, or −1 for
// a vertex outside it; edges to such vertices are left out.
func Induced[V int | int32](m *CSR, vertices []V, place func(v int32) int32) *CSR {
	n := len(vertices)
	var entries int64
	for _, v := range vertices {
		entries += m.Ptr[v+1] - m.Ptr[v]
	}
	out := &CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1), Col: make([]int32, 0, entries)}
	if m.Val != nil {
		out.Val = make([]float64, 0, entries)
	}

	// Vertices ascend, so the columns of a row stay in order.
	for i, v := range vertices {
		col, val := m.Row(int(v))
		for p, j := range col {
			at := place(j)
			if at < 0 {
				continue
			}
			out.Col = append(out.Col, at)
			if val != nil {
				out.Val = append(out.Val, val[p])
			}
		}
		out.Ptr[i+1] = int64(len(out.Col))
	}

	return out
}

// Stack returns the rows of matrices of the same columns, one after the other.
func Stack(list ...*CSR) *CSR {
	rows := 0
	entries := 0
	values := false
	for _, m := range list {
		rows += m.Rows
		entries += len(m.Col)
		values = values || m.Val != nil
	}

	out := &CSR{Rows: rows, Cols: list[0].Cols, Ptr: make([]int64, 1, rows+1), Col: make([]int32, 0, entries)}
	if values {
		out.Val = make([]float64, 0, entries)
	}
	// Offsets move by the entries before; a matrix without values gets ones if another has values.
	for _, m := range list {
		before := int64(len(out.Col))
		out.Col = append(out.Col, m.Col...)
		for _, p := range m.Ptr[1:] {
			out.Ptr = append(out.Ptr, before+p)
		}
		if !values {
			continue
		}
		if m.Val != nil {
			out.Val = append(out.Val, m.Val...)
			continue
		}

		for range m.Col {
			out.Val = append(out.Val, 1)
		}
	}

	return out
}
