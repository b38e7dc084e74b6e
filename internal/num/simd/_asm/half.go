package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// widen writes the float16 of src, times scale, to dst as float32: as many as fill whole
// vectors. Meanwhile as many of next are fetched.
func (m *machine) widen() {
	m.function("widen", "dst []%[1]s, src, next []uint16, scale %[1]s",
		"widens a multiple of so many elements as a vector has, see [Widen].")
	dst := Load(Param("dst").Base(), GP64())
	src := Load(Param("src").Base(), GP64())
	n := Load(Param("src").Len(), GP64())
	next := Load(Param("next").Base(), GP64())
	SUBQ(src, next)
	factor, v := m.scalar("scale"), m.vector()
	Label("loop")
	SUBQ(Imm(uint64(m.lanes)), n)
	JL(LabelRef("end"))
	PREFETCHT0(Mem{Base: src, Index: next, Scale: 1})
	VCVTPH2PS(Mem{Base: src}, v)
	m.mul(factor, v, v)
	m.move(v, Mem{Base: dst})
	ADDQ(Imm(uint64(2*m.lanes)), src)
	ADDQ(Imm(uint64(4*m.lanes)), dst)
	JMP(LabelRef("loop"))
	Label("end")
	VZEROUPPER()
	RET()
}
