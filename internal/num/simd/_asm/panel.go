package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panel writes the update and the products of a narrow block of the given
// number of columns: rows of it stay in registers while the columns of v go by.
func (m *machine) panel(columns int) {
	name := fmt.Sprintf("panel%dAVX2", columns)
	if m.wide {
		name = fmt.Sprintf("panel%dAVX512", columns)
	}
	nv := columns / m.lanes
	rows := 8 / nv
	if m.wide {
		rows = 8
	}
	bytes := columns * m.size
	TEXT(name, NOSPLIT, "func(v []float64, ldv, cols int, w []float64, blocks int, in, out []float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s does blocks of %d rows of %d columns, see [Panel].", name, rows, columns))
	v := Load(Param("v").Base(), GP64())
	ld := Load(Param("ldv"), GP64())
	SHLQ(U8(3), ld)
	cols := Load(Param("cols"), GP64())
	w := Load(Param("w").Base(), GP64())
	blocks := Load(Param("blocks"), GP64())
	in := Load(Param("in").Base(), GP64())
	out := Load(Param("out").Base(), GP64())

	// Rows 0, 1, 2, 4 are addressed from p0, 3 from p3, 5, 6, 7 from p5.
	p0, p3, p5 := GP64(), GP64(), GP64()
	pointers := []reg.Register{p0}
	if rows > 3 {
		pointers = append(pointers, p3)
	}
	if rows > 5 {
		pointers = append(pointers, p5)
	}
	element := func(r int) Mem {
		switch r {
		case 0:
			return Mem{Base: p0}
		case 1, 2, 4:
			return Mem{Base: p0, Index: ld, Scale: uint8(r)}
		case 3:
			return Mem{Base: p3}
		case 5:
			return Mem{Base: p5}
		}
		return Mem{Base: p5, Index: ld, Scale: uint8(r - 5)}
	}
	start := func() {
		MOVQ(v, p0)
		if rows > 3 {
			LEAQ(Mem{Base: v, Index: ld, Scale: 2}, p3)
			ADDQ(ld, p3)
		}
		if rows > 5 {
			LEAQ(Mem{Base: p3, Index: ld, Scale: 2}, p5)
		}
	}

	acc := make([][]reg.VecVirtual, rows)
	for r := range acc {
		acc[r] = make([]reg.VecVirtual, nv)
		for k := range acc[r] {
			acc[r][k] = m.vector()
		}
	}
	c := make([]reg.VecVirtual, nv)
	for k := range c {
		c[k] = m.vector()
	}
	e := m.vector()
	at := func(base reg.Register, k int) Mem { return Mem{Base: base, Disp: k * m.lanes * m.size} }
	left, cp, wp := GP64(), GP64(), GP64()

	Label("block")
	TESTQ(in, in)
	JZ(LabelRef("load"))
	// w ← Σ_j v_j·in_j + Σ_q w_q·in_(cols+q)
	for _, row := range acc {
		for _, a := range row {
			m.zero(a)
		}
	}
	update := func(source func(r int) Mem) {
		for k := range c {
			m.move(at(cp, k), c[k])
		}
		for r, row := range acc {
			m.bcast(source(r), e)
			for k, a := range row {
				m.fma(e, c[k], a)
			}
		}
		ADDQ(I32(bytes), cp)
	}
	own := func(r int) Mem { return Mem{Base: wp, Disp: r * bytes} }
	MOVQ(in, cp)
	start()
	MOVQ(cols, left)
	TESTQ(left, left)
	JZ(LabelRef("updateOwn"))
	Label("update")
	update(element)
	for _, p := range pointers {
		ADDQ(I32(8), p)
	}
	DECQ(left)
	JNZ(LabelRef("update"))
	Label("updateOwn")
	MOVQ(w, wp)
	MOVQ(I32(columns), left)
	Label("ownColumn")
	update(own)
	ADDQ(I32(8), wp)
	DECQ(left)
	JNZ(LabelRef("ownColumn"))
	for r, row := range acc {
		for k, a := range row {
			m.move(a, Mem{Base: w, Disp: r*bytes + k*m.lanes*m.size})
		}
	}
	JMP(LabelRef("products"))
	Label("load")
	for r, row := range acc {
		for k, a := range row {
			m.move(Mem{Base: w, Disp: r*bytes + k*m.lanes*m.size}, a)
		}
	}
	Label("products")
	TESTQ(out, out)
	JZ(LabelRef("next"))
	// out_j += Σ_r v_rj·w_r, out_(cols+q) += Σ_r w_rq·w_r
	product := func(source func(r int) Mem) {
		for k := range c {
			m.move(at(cp, k), c[k])
		}
		for r, row := range acc {
			m.bcast(source(r), e)
			for k, a := range row {
				m.fma(e, a, c[k])
			}
		}
		for k := range c {
			m.move(c[k], at(cp, k))
		}
		ADDQ(I32(bytes), cp)
	}
	MOVQ(out, cp)
	start()
	MOVQ(cols, left)
	TESTQ(left, left)
	JZ(LabelRef("productsOwn"))
	Label("product")
	product(element)
	for _, p := range pointers {
		ADDQ(I32(8), p)
	}
	DECQ(left)
	JNZ(LabelRef("product"))
	Label("productsOwn")
	MOVQ(w, wp)
	MOVQ(I32(columns), left)
	Label("ownProduct")
	product(own)
	ADDQ(I32(8), wp)
	DECQ(left)
	JNZ(LabelRef("ownProduct"))
	Label("next")
	ADDQ(I32(rows*bytes), w)
	MOVQ(ld, left)
	SHLQ(U8(log2(rows)), left)
	ADDQ(left, v)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
