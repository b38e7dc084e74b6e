package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// prefetch asks for the first width elements of the rows of x named by idx.
func (m *machine) prefetch() {
	m.function("prefetch", "x []%[1]s, ld int, idx []int32, width int",
		"asks for rows of x, see [PrefetchRows].")
	x := Load(Param("x").Base(), GP64())
	ld := Load(Param("ld"), GP64())
	SHLQ(U8(log2(m.size)), ld)
	idx := Load(Param("idx").Base(), GP64())
	count := Load(Param("idx").Len(), GP64())
	width := Load(Param("width"), GP64())
	SHLQ(U8(log2(m.size)), width)

	Label("row")
	TESTQ(count, count)
	JZ(LabelRef("end"))
	row, end := GP64(), GP64()
	MOVLQSX(Mem{Base: idx}, row)
	IMULQ(ld, row)
	ADDQ(x, row)
	LEAQ(Mem{Base: row, Index: width, Scale: 1}, end)
	Label("line")
	PREFETCHT0(Mem{Base: row})
	ADDQ(Imm(64), row)
	CMPQ(row, end)
	JL(LabelRef("line"))
	ADDQ(Imm(4), idx)
	DECQ(count)
	JMP(LabelRef("row"))
	Label("end")
	RET()
}
