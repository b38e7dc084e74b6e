package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// graphAhead is the number of neighbours by which a row is prefetched.
const graphAhead = 24

// gatherer goes over the neighbours of a vertex: entries p to end of col, with rows of so many bytes in x.
type gatherer struct {
	x, col, p, end, row reg.Register
	bytes               int
}

// gather calls weight with the number of each neighbour in g.row, and then add with the address of its row there. It asks
// for the rows of later neighbours, but for the last ones of all, where there are none: two loops, because a bound in one
// would cost more than the sum of eight columns.
func (g *gatherer) gather(label string, weight, add func()) {
	done := label + "_done"
	CMPQ(g.p, g.end)
	JGE(LabelRef(done))
	length, err := Param("col").Len().Resolve()
	if err != nil {
		panic(err)
	}
	LEAQ(Mem{Base: g.end, Disp: graphAhead}, g.row)
	CMPQ(g.row, length.Addr)
	JG(LabelRef(label + "_last"))
	for _, name := range []string{label, label + "_last"} {
		Label(name)
		if name == label {
			MOVLQSX(Mem{Base: g.col, Index: g.p, Scale: 4, Disp: 4 * graphAhead}, g.row)
			SHLQ(U8(log2(g.bytes)), g.row)
			for line := 0; line < g.bytes; line += 64 {
				PREFETCHT0(Mem{Base: g.x, Index: g.row, Scale: 1, Disp: line})
			}
		}
		MOVLQSX(Mem{Base: g.col, Index: g.p, Scale: 4}, g.row)
		weight()
		SHLQ(U8(log2(g.bytes)), g.row)
		ADDQ(g.x, g.row)
		add()
		INCQ(g.p)
		CMPQ(g.p, g.end)
		JL(LabelRef(name))
		if name == label {
			JMP(LabelRef(done))
		}
	}
	Label(done)
}

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

	p, end, row := GP64(), GP64(), GP64()
	acc := make([]reg.VecVirtual, columns/m.lanes)
	for i := range acc {
		acc[i] = m.vector()
	}
	g := gatherer{x: x, col: col, p: p, end: end, row: row, bytes: bytes}

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
	wv := m.vector()
	weighted := func() {
		for i, v := range acc {
			m.fma(Mem{Base: row, Disp: i * m.lanes * m.size}, wv, v)
		}
	}
	Load(Param("val").Base(), row)
	TESTQ(row, row)
	JZ(LabelRef("unit"))
	g.gather("weighted", func() { m.bcast(Mem{Base: weights, Index: p, Scale: 8}, wv) }, weighted)
	JMP(LabelRef("own"))
	Label("unit")
	g.gather("scaled", func() { m.bcast(Mem{Base: weights, Index: row, Scale: 8}, wv) }, weighted)
	// This row's own scale: own − x is its number times bytes.
	MOVQ(own, row)
	SUBQ(x, row)
	SHRQ(U8(log2(columns)), row)
	scale := m.vector()
	m.bcast(Mem{Base: weights, Index: row, Scale: 1}, scale)
	for _, v := range acc {
		m.mul(scale, v, v)
	}
	JMP(LabelRef("own"))
	Label("ones")
	g.gather("unweighted", func() {}, func() {
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
