package cg

import (
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
)

// factors is M⁻¹ = E·(I−N)⁻ᵀ·F·(I−N)⁻¹·E for diagonal E and F and a strictly lower triangular N,
// rows and columns in the order of elimination: N·F⁻¹ holds weights, and F⁻¹ their sums. Weights in
// single precision halve the memory that a substitution reads. It computes in double precision. The sums
// are sums of rounded weights, so that the factors are exact for a graph with weights that differ by their rounding.
type factors struct {
	order   []int32   // vertex at each place
	outer   []float64 // E, at a place
	inner   []float64 // F, at a place
	ptr     []int64   // where the column of each place begins in columns
	columns []entry   // N·F⁻¹
	scratch sync.Pool // of *[]float64
}

// entry is an edge from the vertex of a column to the vertex at a later place.
type entry struct {
	to     int32
	weight float32
}

// column is a vertex with its edges to the vertices that are eliminated later.
type column struct {
	to    []entry // names vertices
	inner float64
}

// newFactors puts the columns of all vertices in order. Any order serves in which a column comes
// before the columns of the vertices that it names. In this one a column follows as soon as it can, so
// that a substitution finds in the cache what it has just written.
//
// The vertices are those in names, all if it is nil, by their places there. A column may also name places behind
// them, which have no column here. outer are the E of all vertices.
func newFactors(columns []column, names []int32, outer []float64) *factors {
	n := len(columns)
	missing := make([]int32, n) // columns that a vertex waits for
	size := 0
	for _, c := range columns {
		size += len(c.to)
		for _, e := range c.to {
			if int(e.to) < n {
				missing[e.to]++
			}
		}
	}

	// A stack of the vertices that wait for none.
	var ready []int32
	for v := n - 1; v >= 0; v-- {
		if missing[v] == 0 {
			ready = append(ready, int32(v))
		}
	}
	m := &factors{order: make([]int32, 0, n), outer: make([]float64, n), inner: make([]float64, n),
		ptr: make([]int64, 1, n+1), columns: make([]entry, 0, size)}
	place := make([]int32, n)
	for len(ready) > 0 {
		v := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		p := len(m.order)
		place[v] = int32(p)
		name := v
		if names != nil {
			name = names[v]
		}
		m.order = append(m.order, name)
		m.outer[p] = outer[name]
		m.inner[p] = columns[v].inner
		m.columns = append(m.columns, columns[v].to...)
		m.ptr = append(m.ptr, int64(len(m.columns)))
		for _, e := range columns[v].to {
			if int(e.to) >= n {
				continue
			}
			if missing[e.to]--; missing[e.to] == 0 {
				ready = append(ready, e.to)
			}
		}
	}

	for i, e := range m.columns {
		if int(e.to) < n {
			m.columns[i].to = place[e.to]
		}
	}
	return m
}

// columnGrain is the number of columns that one processor substitutes: a substitution goes row
// after row.
const columnGrain = 8

// ApplyTo sets dst = M⁻¹r. It costs 4 operations for each number of the factor and column, and
// reads the factor twice for 8 columns, or 4 where that employs more processors.
func (m *factors) ApplyTo(dst, r *mat.Dense) {
	_, b := r.Dims()
	checkApply(len(m.order), dst, r)
	columnGroups(b, func(from, to, width int) {
		x := m.take(len(m.order) * width)
		defer m.give(x)
		m.load(x, width, r, from, to)
		m.forward(x, width)
		m.back(x, width)
		m.store(dst, x, width, from, to)
	})
}

// columnGroups calls fn for ranges of b columns, by several threads, with the width of the blocks to take.
func columnGroups(b int, fn func(from, to, width int)) {
	grain := columnGrain
	if par.Workers(b, grain/2) > par.Workers(b, grain) {
		grain /= 2
	}
	par.For(b, grain, func(from, to int) {
		width := 8
		switch {
		case to-from == 1:
			width = 1
		case to-from <= 4:
			width = 4
		}
		fn(from, to, width)
	})
}

// take returns memory of arbitrary contents, which give takes back.
func (m *factors) take(size int) []float64 {
	block, _ := m.scratch.Get().(*[]float64)
	if block == nil || cap(*block) < size {
		return make([]float64, size)
	}
	return (*block)[:size]
}

func (m *factors) give(block []float64) { m.scratch.Put(&block) }

// load sets x = E·r by places, for columns [from, to) of r, filled up with zeros.
func (m *factors) load(x []float64, width int, r *mat.Dense, from, to int) {
	raw := r.RawMatrix()
	for p, v := range m.order {
		row := x[p*width:][:width]
		s := m.outer[p]
		for j, e := range raw.Data[int(v)*raw.Stride+from : int(v)*raw.Stride+to] {
			row[j] = e * s
		}
		clear(row[to-from:])
	}
}

// store sets columns [from, to) of dst to E·x, from places to vertices.
func (m *factors) store(dst *mat.Dense, x []float64, width, from, to int) {
	raw := dst.RawMatrix()
	for p, v := range m.order {
		row := x[p*width:][:width]
		s := m.outer[p]
		d := raw.Data[int(v)*raw.Stride+from : int(v)*raw.Stride+to]
		for j := range d {
			d[j] = row[j] * s
		}
	}
}

// forward applies F(I−N)⁻¹ to blocks of 1, 4 or 8 columns: a place adds to those behind it.
func (m *factors) forward(x []float64, width int) {
	switch width {
	case 1:
		m.forward1(x)
	case 4:
		m.forward4(x)
	default:
		m.forward8(x)
	}
}

// back applies (I−N)⁻ᵀ: a place collects from those behind it.
func (m *factors) back(x []float64, width int) {
	switch width {
	case 1:
		m.back1(x)
	case 4:
		m.back4(x)
	default:
		m.back8(x)
	}
}

func (m *factors) forward1(x []float64) {
	n := len(m.order)
	from := m.ptr[0]
	for p := range n {
		to := m.ptr[p+1]
		t := x[p] * m.inner[p]
		x[p] = t
		for _, e := range m.columns[from:to] {
			x[e.to] += float64(e.weight) * t
		}
		from = to
	}
}

func (m *factors) back1(x []float64) {
	n := len(m.order)
	to := m.ptr[n]
	for p := n - 1; p >= 0; p-- {
		from := m.ptr[p]
		sum := 0.0
		for _, e := range m.columns[from:to] {
			sum += float64(e.weight) * x[e.to]
		}
		x[p] += sum * m.inner[p]
		to = from
	}
}

func (m *factors) forward4(x []float64) {
	for p := range m.order {
		own := (*[4]float64)(x[4*p:])
		f := m.inner[p]
		t0 := own[0] * f
		t1 := own[1] * f
		t2 := own[2] * f
		t3 := own[3] * f
		*own = [4]float64{t0, t1, t2, t3}
		for _, e := range m.columns[m.ptr[p]:m.ptr[p+1]] {
			to := (*[4]float64)(x[4*int(e.to):])
			w := float64(e.weight)
			to[0] += w * t0
			to[1] += w * t1
			to[2] += w * t2
			to[3] += w * t3
		}
	}
}

func (m *factors) back4(x []float64) {
	for p := len(m.order) - 1; p >= 0; p-- {
		var s0, s1, s2, s3 float64
		for _, e := range m.columns[m.ptr[p]:m.ptr[p+1]] {
			of := (*[4]float64)(x[4*int(e.to):])
			w := float64(e.weight)
			s0 += w * of[0]
			s1 += w * of[1]
			s2 += w * of[2]
			s3 += w * of[3]
		}
		own := (*[4]float64)(x[4*p:])
		f := m.inner[p]
		own[0] += s0 * f
		own[1] += s1 * f
		own[2] += s2 * f
		own[3] += s3 * f
	}
}

func (m *factors) forward8(x []float64) {
	for p := range m.order {
		own := (*[8]float64)(x[8*p:])
		f := m.inner[p]
		t0 := own[0] * f
		t1 := own[1] * f
		t2 := own[2] * f
		t3 := own[3] * f
		t4 := own[4] * f
		t5 := own[5] * f
		t6 := own[6] * f
		t7 := own[7] * f
		*own = [8]float64{t0, t1, t2, t3, t4, t5, t6, t7}
		for _, e := range m.columns[m.ptr[p]:m.ptr[p+1]] {
			to := (*[8]float64)(x[8*int(e.to):])
			w := float64(e.weight)
			to[0] += w * t0
			to[1] += w * t1
			to[2] += w * t2
			to[3] += w * t3
			to[4] += w * t4
			to[5] += w * t5
			to[6] += w * t6
			to[7] += w * t7
		}
	}
}

func (m *factors) back8(x []float64) {
	for p := len(m.order) - 1; p >= 0; p-- {
		var s0, s1, s2, s3, s4, s5, s6, s7 float64
		for _, e := range m.columns[m.ptr[p]:m.ptr[p+1]] {
			of := (*[8]float64)(x[8*int(e.to):])
			w := float64(e.weight)
			s0 += w * of[0]
			s1 += w * of[1]
			s2 += w * of[2]
			s3 += w * of[3]
			s4 += w * of[4]
			s5 += w * of[5]
			s6 += w * of[6]
			s7 += w * of[7]
		}
		own := (*[8]float64)(x[8*p:])
		f := m.inner[p]
		own[0] += s0 * f
		own[1] += s1 * f
		own[2] += s2 * f
		own[3] += s3 * f
		own[4] += s4 * f
		own[5] += s5 * f
		own[6] += s6 * f
		own[7] += s7 * f
	}
}
