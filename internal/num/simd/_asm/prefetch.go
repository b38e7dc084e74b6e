package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// prefetch asks for the first width bytes of the rows that idx names.
func prefetch() {
	TEXT("prefetchAVX2", NOSPLIT, "func(x *byte, ld int, idx []int32, width int)")
	Pragma("noescape")
	Doc("prefetchAVX2 asks for rows of so many bytes, see [PrefetchRows].")
	x := Load(Param("x"), GP64())
	ld := Load(Param("ld"), GP64())
	idx := Load(Param("idx").Base(), GP64())
	count := Load(Param("idx").Len(), GP64())
	width := Load(Param("width"), GP64())

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
