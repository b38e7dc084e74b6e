package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// graphStep writes the rows of a step of an iteration on a graph for blocks of the given number of
// adjacent columns of float32, one cache line or a half: all of a row's sums stay in registers.
func (m *machine) graphStep(columns int) {
	bytes := columns * 4
	m.byColumns("graphStep", columns, "GraphStep",
		"dst, x, r []float32, first int, ptr []int64, col []int32, val, diag, factor []float32, a, b, c float32")
	dst := Load(Param("dst").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	right := Load(Param("r").Base(), GP64())
	own := Load(Param("first"), GP64()) // the row of x that belongs to dst
	SHLQ(U8(log2(bytes)), own)
	ADDQ(x, own)
	ptr := Load(Param("ptr").Base(), GP64())
	rows := Load(Param("ptr").Len(), GP64())
	DECQ(rows)
	col := Load(Param("col").Base(), GP64())
	val := Load(Param("val").Base(), GP64())
	diag := Load(Param("diag").Base(), GP64())
	factor := Load(Param("factor").Base(), GP64())
	a, b, c := m.scalar("a"), m.scalar("b"), m.scalar("c")

	p, end, row := GP64(), GP64(), GP64()
	acc := make([]reg.VecVirtual, columns/m.lanes)
	for i := range acc {
		acc[i] = m.vector()
	}
	at := func(base reg.Register, i int) Mem { return Mem{Base: base, Disp: i * m.lanes * m.size} }
	g := gatherer{x: x, col: col, p: p, end: end, row: row, bytes: bytes}

	TESTQ(rows, rows)
	JZ(LabelRef("end"))
	MOVQ(Mem{Base: ptr}, p)
	Label("row")
	MOVQ(Mem{Base: ptr, Disp: 8}, end)
	for _, v := range acc {
		m.zero(v)
	}
	TESTQ(val, val)
	JZ(LabelRef("ones"))
	w := m.vector()
	g.gather("weighted", func() { m.bcast(Mem{Base: val, Index: p, Scale: 4}, w) }, func() {
		for i, v := range acc {
			m.fma(at(row, i), w, v)
		}
	})
	JMP(LabelRef("own"))
	Label("ones")
	g.gather("unweighted", func() {}, func() {
		for i, v := range acc {
			m.add(at(row, i), v, v)
		}
	})
	Label("own")
	TESTQ(diag, diag)
	JZ(LabelRef("combine"))
	d := m.vector()
	m.bcast(Mem{Base: diag}, d)
	for i, v := range acc {
		m.fma(at(own, i), d, v)
	}
	ADDQ(I32(4), diag)
	Label("combine")
	f := m.vector()
	m.bcast(Mem{Base: factor}, f)
	for i, v := range acc {
		sum := m.vector()
		m.move(at(right, i), sum)
		m.fma(f, v, sum)
		m.mul(a, sum, sum)
		m.fma(at(own, i), b, sum)
		m.fma(at(dst, i), c, sum)
		m.move(sum, at(dst, i))
	}
	ADDQ(I32(bytes), dst)
	ADDQ(I32(bytes), own)
	ADDQ(I32(bytes), right)
	ADDQ(I32(4), factor)
	ADDQ(I32(8), ptr)
	DECQ(rows)
	JNZ(LabelRef("row"))
	Label("end")
	VZEROUPPER()
	RET()
}
