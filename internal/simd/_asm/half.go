package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// distances16 writes dst[p] = Σ_j (q[j] − scale[p]·rows[p][j])² with rows of float16,
// which are widened in registers, four rows at a time as distances does. q has a
// vector's elements at least: those behind the last whole vector are the end of one
// that begins earlier, whose other differences count as zero.
func (m *machine) distances16() {
	const rows, header = 4, 24
	m.function("distances16", "dst, q []%[1]s, rows [][]uint16, scale []%[1]s",
		"measures rows of float16 against q, see [SquaredDistances16].")
	dst := Load(Param("dst").Base(), GP64())
	q := Load(Param("q").Base(), GP64())
	from := Load(Param("rows").Base(), GP64())
	count := Load(Param("rows").Len(), GP64())
	scale := Load(Param("scale").Base(), GP64())

	Comment("n elements follow the whole vectors, which end at byte end of a row.")
	n, end := Load(Param("q").Len(), GP64()), GP64()
	MOVQ(n, end)
	ANDQ(I32(-m.lanes), end)
	SUBQ(end, n)
	SHLQ(U8(1), end)
	clear := m.lastLanes(n)

	Label("group")
	TESTQ(count, count)
	JLE(LabelRef("end"))
	var row [rows]reg.Register
	var factor [rows]reg.VecVirtual
	last, at := GP64(), GP64()
	LEAQ(Mem{Base: count, Disp: -1}, last)
	for r := range rows {
		MOVQ(U32(uint32(r)), at)
		CMPQ(last, at)
		CMOVQLT(last, at)
		factor[r], row[r] = m.vector(), GP64()
		m.bcast(Mem{Base: scale, Index: at, Scale: 4}, factor[r])
		LEAQ(Mem{Base: at, Index: at, Scale: 2}, at)
		MOVQ(Mem{Base: from, Index: at, Scale: 8}, row[r])
	}
	Comment("While these are measured, the rows of the next group are fetched.")
	LEAQ(Mem{Base: from, Disp: rows * header}, last)
	CMPQ(count, Imm(2*rows))
	CMOVQLT(from, last)
	acc := m.vectors(rows)
	vq, next := m.vector(), GP64()
	XORQ(at, at)
	Label("loop")
	m.move(Mem{Base: q, Index: at, Scale: 2}, vq)
	for r := range rows {
		MOVQ(Mem{Base: last, Disp: r * header}, next)
		PREFETCHT0(Mem{Base: next, Index: at, Scale: 1})
	}
	for r := range rows {
		v := m.vector()
		VCVTPH2PS(Mem{Base: row[r], Index: at, Scale: 1}, v)
		m.mul(factor[r], v, v)
		VSUBPS(v, vq, v)
		m.fma(v, v, acc[r])
	}
	ADDQ(Imm(uint64(2*m.lanes)), at)
	CMPQ(at, end)
	JL(LabelRef("loop"))
	TESTQ(n, n)
	JZ(LabelRef("fold"))
	LEAQ(Mem{Base: end, Index: n, Scale: 2, Disp: -2 * m.lanes}, at)
	m.move(Mem{Base: q, Index: at, Scale: 2}, vq)
	for r := range rows {
		v := m.vector()
		VCVTPH2PS(Mem{Base: row[r], Index: at, Scale: 1}, v)
		m.mul(factor[r], v, v)
		VSUBPS(v, vq, v)
		clear(v)
		m.fma(v, v, acc[r])
	}

	Label("fold")
	m.storeFour(acc, dst, count, func() {
		ADDQ(Imm(rows*header), from)
		ADDQ(Imm(rows*4), scale)
	})
}

// lastLanes returns a function that sets all but the n < lanes highest lanes of a vector
// to zero.
func (m *machine) lastLanes(n reg.Register) func(v reg.VecVirtual) {
	if m.wide {
		shift, bits, mask := GP64(), GP64(), K()
		MOVQ(U32(16), shift)
		SUBQ(n, shift)
		MOVQ(U32(0xffff), bits)
		SHLXQ(shift, bits, bits)
		KMOVW(bits.As32(), mask)
		return func(v reg.VecVirtual) { VMOVAPS_Z(v, mask, v) }
	}
	table := GLOBL("last32", RODATA|NOPTR)
	for i := range 2 * m.lanes {
		value := U32(0)
		if i >= m.lanes {
			value = 0xffffffff
		}
		DATA(4*i, value)
	}
	at, mask := GP64(), m.vector()
	LEAQ(table, at)
	m.move(Mem{Base: at, Index: n, Scale: 4}, mask)
	return func(v reg.VecVirtual) { VANDPS(mask, v, v) }
}

// widen writes the float16 of src to dst as float32: as many as fill whole vectors.
func (m *machine) widen() {
	m.function("widen", "dst []%[1]s, src []uint16",
		"widens a multiple of so many elements as a vector has, see [Widen].")
	dst := Load(Param("dst").Base(), GP64())
	src := Load(Param("src").Base(), GP64())
	n := Load(Param("src").Len(), GP64())
	v := m.vector()
	Label("loop")
	SUBQ(Imm(uint64(m.lanes)), n)
	JL(LabelRef("end"))
	VCVTPH2PS(Mem{Base: src}, v)
	m.move(v, Mem{Base: dst})
	ADDQ(Imm(uint64(2*m.lanes)), src)
	ADDQ(Imm(uint64(4*m.lanes)), dst)
	JMP(LabelRef("loop"))
	Label("end")
	VZEROUPPER()
	RET()
}
