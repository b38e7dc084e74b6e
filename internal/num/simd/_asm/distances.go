package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// distances writes dst[p] = Σ_j (q[j] − x[idx[p]·ld+j])² (float32), four rows
// at a time, each in one accumulator, so that the bits of a result depend on
// its pair of rows alone. A last group of fewer rows repeats its last one.
func (m *machine) distances() {
	const rows = 4
	m.function("distances", "dst, q, x []%[1]s, ld int, idx []int32",
		"measures rows of x against q, see [SquaredDistances32].")
	dst := Load(Param("dst").Base(), GP64())
	q := Load(Param("q").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	ld := Load(Param("ld"), GP64())
	SHLQ(U8(log2(m.size)), ld)
	idx := Load(Param("idx").Base(), GP64())
	count := Load(Param("idx").Len(), GP64())

	Comment("n elements follow the whole vectors, which end at byte end.")
	n, end := Load(Param("q").Len(), GP64()), GP64()
	MOVQ(n, end)
	ANDQ(I32(-m.lanes), end)
	SUBQ(end, n)
	SHLQ(U8(log2(m.size)), end)
	load := m.tail(n)

	Label("group")
	TESTQ(count, count)
	JLE(LabelRef("end"))
	row := rowAddresses(rows, idx, count, x, ld)
	acc := m.vectors(rows)
	at := GP64()
	XORQ(at, at)
	CMPQ(at, end)
	JGE(LabelRef("tail"))
	vq := m.vector()
	Label("loop")
	m.move(Mem{Base: q, Index: at, Scale: 1}, vq)
	for r := range rows {
		v := m.vector()
		VSUBPS(Mem{Base: row[r], Index: at, Scale: 1}, vq, v)
		m.fma(v, v, acc[r])
	}
	ADDQ(I32(m.lanes*m.size), at)
	CMPQ(at, end)
	JL(LabelRef("loop"))
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("fold"))
	load(Mem{Base: q, Index: at, Scale: 1}, vq)
	for r := range rows {
		v := m.vector()
		load(Mem{Base: row[r], Index: at, Scale: 1}, v)
		VSUBPS(v, vq, v)
		m.fma(v, v, acc[r])
	}

	Label("fold")
	m.storeFour(acc, dst, count, func() { ADDQ(Imm(rows*4), idx) })
}

// storeFour folds four accumulators and writes the sums of those that count to dst; more
// than four count for another group, which begins at label "group" after advance. It
// ends the function.
func (m *machine) storeFour(acc []reg.VecVirtual, dst, count reg.Register, advance func()) {
	const rows = 4
	// Transposing while adding leaves the four sums side by side.
	low, high := m.vector(), m.vector()
	for _, pair := range [][2]reg.VecVirtual{{acc[0], acc[1]}, {acc[2], acc[3]}} {
		VUNPCKLPS(pair[1], pair[0], low)
		VUNPCKHPS(pair[1], pair[0], high)
		m.add(high, low, pair[0])
	}
	VUNPCKLPD(acc[2], acc[0], low)
	VUNPCKHPD(acc[2], acc[0], high)
	m.add(high, low, low)
	if m.wide {
		VEXTRACTF64X4(U8(1), low, high.AsY())
		VADDPS(high.AsY(), low.AsY(), low.AsY())
	}
	VEXTRACTF128(U8(1), low.AsY(), high.AsX())
	VADDPS(high.AsX(), low.AsX(), low.AsX())

	SUBQ(Imm(rows), count)
	JL(LabelRef("few"))
	VMOVUPS(low.AsX(), Mem{Base: dst})
	ADDQ(Imm(rows*4), dst)
	advance()
	JMP(LabelRef("group"))
	Label("few")
	ADDQ(Imm(rows-1), count)
	for r := range rows - 1 {
		VEXTRACTPS(U8(uint8(r)), low.AsX(), Mem{Base: dst, Disp: r * m.size})
		if r < rows-2 {
			DECQ(count)
			JL(LabelRef("end"))
		}
	}
	Label("end")
	VZEROUPPER()
	RET()
}

// tail returns a function that loads the n < lanes lowest lanes of a vector
// and sets the others to zero.
func (m *machine) tail(n reg.Register) func(from, to Op) {
	if m.wide {
		mask := m.mask(n)
		return func(from, to Op) { m.moveZ(from, mask, to) }
	}
	table := GLOBL("ones32", RODATA|NOPTR)
	for i := range 2 * m.lanes {
		value := U32(0xffffffff)
		if i >= m.lanes {
			value = 0
		}
		DATA(4*i, value)
	}
	at, mask := GP64(), m.vector()
	LEAQ(table.Offset(4*m.lanes), at)
	SHLQ(U8(2), n)
	SUBQ(n, at)
	SHRQ(U8(2), n)
	m.move(Mem{Base: at}, mask)
	return func(from, to Op) { VMASKMOVPS(from, mask, to) }
}

// rowAddresses returns registers with the addresses of rows x[idx[0]·ld:] to
// x[idx[rows-1]·ld:], ld in bytes; of rows from count on that of the last one.
func rowAddresses(rows int, idx, count, x, ld reg.Register) []reg.Register {
	row := make([]reg.Register, rows)
	for r := range row {
		row[r] = GP64()
		if r == 0 {
			MOVLQSX(Mem{Base: idx}, row[r])
		} else {
			last := GP64()
			LEAQ(Mem{Base: count, Disp: -1}, last)
			MOVQ(U32(uint32(r)), row[r])
			CMPQ(last, row[r])
			CMOVQLT(last, row[r])
			MOVLQSX(Mem{Base: idx, Index: row[r], Scale: 4}, row[r])
		}
		IMULQ(ld, row[r])
		ADDQ(x, row[r])
	}
	return row
}
