package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// graphAhead is the number of neighbours by which a row is prefetched.
const graphAhead = 24

// graphRows writes the rows of a graph product for blocks of the given number
// of columns, whose rows are adjacent: all of a row's sums stay in registers.
func (m *machine) graphRows(columns int) {
	bytes := columns * m.size
	m.byColumns("graphRows", columns, "Graph.Combine",
		"dst, x, y []float64, first int, ptr []int64, col []int32, val, scale, diag []float64, s, a, b, c float64")
	dst := Load(Param("dst").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	y := Load(Param("y").Base(), GP64())
	own := Load(Param("first"), GP64()) // the row of x that belongs to dst
	SHLQ(U8(log2(bytes)), own)
	ADDQ(x, own)
	ptr := Load(Param("ptr").Base(), GP64())
	rows := Load(Param("ptr").Len(), GP64())
	DECQ(rows)
	col := Load(Param("col").Base(), GP64())
	// One register holds the weights or, for weights one, the scale of all rows.
	weights := Load(Param("val").Base(), GP64())
	TESTQ(weights, weights)
	JNZ(LabelRef("weights"))
	Load(Param("scale").Base(), weights)
	Label("weights")
	diag := Load(Param("diag").Base(), GP64())
	s, c := m.scalar("s"), m.scalar("c")
	a, b := XMM(), XMM()
	VMOVSD(address("a"), a)
	VMOVSD(address("b"), b)

	// The last neighbour of all, beyond which nothing is asked for.
	last := GP64()
	MOVQ(Mem{Base: ptr, Index: rows, Scale: 8}, last)
	DECQ(last)

	p, end, row, next := GP64(), GP64(), GP64(), GP64()
	neighbor := next // free once it is known what to ask for
	acc := make([]reg.VecVirtual, columns/m.lanes)
	for i := range acc {
		acc[i] = m.vector()
	}
	// gather adds the rows of all neighbours.
	gather := func(label string, add func(row reg.Register)) {
		CMPQ(p, end)
		JGE(LabelRef("own"))
		Label(label)
		LEAQ(Mem{Base: p, Disp: graphAhead}, next)
		CMPQ(next, last)
		CMOVQGT(last, next)
		MOVLQSX(Mem{Base: col, Index: next, Scale: 4}, next)
		SHLQ(U8(log2(bytes)), next)
		for line := 0; line < bytes; line += 64 {
			PREFETCHT0(Mem{Base: x, Index: next, Scale: 1, Disp: line})
		}
		MOVLQSX(Mem{Base: col, Index: p, Scale: 4}, neighbor)
		MOVQ(neighbor, row)
		SHLQ(U8(log2(bytes)), row)
		ADDQ(x, row)
		add(row)
		INCQ(p)
		CMPQ(p, end)
		JL(LabelRef(label))
	}

	TESTQ(rows, rows)
	JZ(LabelRef("end"))
	MOVQ(Mem{Base: ptr}, p)
	Label("row")
	MOVQ(Mem{Base: ptr, Disp: 8}, end)
	for _, v := range acc {
		m.zero(v)
	}
	TESTQ(weights, weights)
	JZ(LabelRef("ones"))
	weighted := func(w Mem) func(row reg.Register) {
		return func(row reg.Register) {
			wv := m.vector()
			m.bcast(w, wv)
			for i, v := range acc {
				m.fma(Mem{Base: row, Disp: i * m.lanes * m.size}, wv, v)
			}
		}
	}
	Load(Param("val").Base(), next)
	TESTQ(next, next)
	JZ(LabelRef("unit"))
	gather("weighted", weighted(Mem{Base: weights, Index: p, Scale: 8}))
	JMP(LabelRef("own"))
	Label("unit")
	gather("scaled", weighted(Mem{Base: weights, Index: neighbor, Scale: 8}))
	// This row's own scale: own − x is its number times bytes.
	MOVQ(own, next)
	SUBQ(x, next)
	SHRQ(U8(log2(columns)), next)
	scale := m.vector()
	m.bcast(Mem{Base: weights, Index: next, Scale: 1}, scale)
	for _, v := range acc {
		m.mul(scale, v, v)
	}
	JMP(LabelRef("own"))
	Label("ones")
	gather("unweighted", func(row reg.Register) {
		for i, v := range acc {
			m.add(Mem{Base: row, Disp: i * m.lanes * m.size}, v, v)
		}
	})
	Label("own")
	f, factor := XMM(), m.vector()
	VMOVAPD(b, f)
	VFMADD231SD(Mem{Base: diag}, a, f)
	m.bcast(f, factor)
	for i, v := range acc {
		m.mul(s, v, v)
		m.fma(Mem{Base: own, Disp: i * m.lanes * m.size}, factor, v)
	}
	TESTQ(y, y)
	JZ(LabelRef("store"))
	for i, v := range acc {
		m.fma(Mem{Base: y, Disp: i * m.lanes * m.size}, c, v)
	}
	ADDQ(I32(bytes), y)
	Label("store")
	for i, v := range acc {
		m.move(v, Mem{Base: dst, Disp: i * m.lanes * m.size})
	}
	ADDQ(I32(bytes), dst)
	ADDQ(I32(bytes), own)
	ADDQ(I32(8), diag)
	ADDQ(I32(8), ptr)
	DECQ(rows)
	JNZ(LabelRef("row"))
	Label("end")
	VZEROUPPER()
	RET()
}
