package simd

// panelKernel does whole groups of rows: blocks of them, rows each.
type panelKernel struct {
	rows int
	run  func(v []float64, ldv, cols int, w []float64, blocks int, in, out []float64)
}

// HasPanel reports whether [Panel] is fast for blocks of n columns.
func HasPanel(n int) bool {
	_, ok := active.panel[n]
	return ok
}

// Panel updates a narrow block w with the given number of rows and multiplies it with the rows of
// v, both in one pass. w has n adjacent columns, v has cols columns and rows ldv elements apart; in
// and out are (cols+n)×n. With [v w] the two side by side,
//
//	w ← [v w]·in, then out ← out + [v w]ᵀ·w.
//
// A nil in leaves w as it is, a nil out is not computed.
func Panel(v []float64, ldv, cols int, w []float64, rows, n int, in, out []float64) {
	if rows == 0 {
		return
	}
	if n < 1 || cols < 0 || cols > ldv || len(w) < rows*n || cols > 0 && len(v) < (rows-1)*ldv+cols ||
		in != nil && len(in) < (cols+n)*n || out != nil && len(out) < (cols+n)*n {
		panic("simd: panel out of range")
	}

	// The kernel takes groups of rows, and the loop below the rest.
	done := 0
	if k, ok := active.panel[n]; ok && cols > 0 {
		if blocks := rows / k.rows; blocks > 0 {
			k.run(v, ldv, cols, w, blocks, in, out)
			done = blocks * k.rows
		}
	}

	row := make([]float64, n)
	for i := done; i < rows; i++ {
		vi := []float64(nil)
		wi := w[i*n:][:n]
		if cols > 0 {
			vi = v[i*ldv:][:cols]
		}
		// w ← [v w]·in for this row, then its share of [v w]ᵀ·w.
		if in != nil {
			clear(row)
			for j, x := range vi {
				addScaled(row, in[j*n:], x)
			}
			for q, x := range wi {
				addScaled(row, in[(cols+q)*n:], x)
			}
			copy(wi, row)
		}

		if out != nil {
			for j, x := range vi {
				addScaled(out[j*n:][:n], wi, x)
			}
			for q, x := range wi {
				addScaled(out[(cols+q)*n:][:n], wi, x)
			}
		}
	}
}

// addScaled adds s·x to dst.
func addScaled(dst, x []float64, s float64) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += s * x[i]
	}
}
