package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bytes writes the tile product of packed bytes: mr rows by two vectors of
// int32 sums, which begin at start. A 32-bit word of A and of B holds the values
// of several k: four bytes for VPDPBUSD, which multiplies unsigned bytes of A
// with signed ones of B, or two 16-bit integers for VPMADDWD.
func bytes(suffix string, mr int, vector func() reg.VecVirtual, size int) {
	TEXT("gemmBytes"+suffix, NOSPLIT, "func(k int, a, b []uint32, start, c []int32, ldc int)")
	Pragma("noescape")
	Doc("gemmBytes" + suffix + " computes one tile, see [GemmBytes].")
	t := byteSums(mr, vector, size)
	c := Load(Param("c").Base(), GP64())
	ldc := Load(Param("ldc"), GP64())
	SHLQ(U8(2), ldc)
	for i, v := range t.sum {
		t.move(v, Mem{Base: c, Disp: i % 2 * size})
		if i%2 == 1 {
			ADDQ(ldc, c)
		}
	}
	VZEROUPPER()
	RET()
}

// near writes the tile product of bytes of which only comparisons are kept, a bit each.
func near(suffix string, mr int, vector func() reg.VecVirtual, size int) {
	TEXT("nearBytes"+suffix, NOSPLIT, "func(k int, a, b []uint32, start, limit, col, own []int32, bits []uint8, ld int)")
	Pragma("noescape")
	Doc("nearBytes" + suffix + " compares one tile, see [GemmBytes.Near].")
	t := byteSums(mr, vector, size)
	limit := Load(Param("limit").Base(), GP64())
	col := Load(Param("col").Base(), GP64())
	own := Load(Param("own").Base(), GP64())
	bits := Load(Param("bits").Base(), GP64())
	ld := Load(Param("ld"), GP64())
	t.move(Mem{Base: own}, t.b0)
	t.move(Mem{Base: own, Disp: size}, t.b1)
	lanes, mask := size/4, GP32()
	for i, v := range t.sum {
		half := i % 2
		most := t.ai
		VPBROADCASTD(Mem{Base: limit, Disp: 4 * (i / 2)}, most)
		VPADDD([]reg.VecVirtual{t.b0, t.b1}[half], most, most)
		VPMINSD(Mem{Base: col, Disp: half * size}, most, most)
		to := Mem{Base: bits, Disp: half * lanes / 8}
		if t.vnni {
			k := K()
			VPCMPGTD(most, v, k)
			KMOVW(k, to)
		} else {
			VPCMPGTD(most, v, most)
			VMOVMSKPS(most, mask)
			MOVB(mask.As8(), to)
		}
		if half == 1 {
			ADDQ(ld, bits)
		}
	}
	VZEROUPPER()
	RET()
}

// byteTile is the registers of a tile of products of bytes.
type byteTile struct {
	vnni       bool
	sum        []reg.VecVirtual // two for each row
	b0, b1, ai reg.VecVirtual   // free after the products
}

// move loads or stores a vector.
func (t *byteTile) move(from, to Op) {
	if t.vnni {
		VMOVDQU32(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

// byteSums writes the products of a tile, with the parameters k, a, b and start.
func byteSums(mr int, vector func() reg.VecVirtual, size int) *byteTile {
	t := &byteTile{vnni: size == 64, sum: make([]reg.VecVirtual, 2*mr)}
	k := Load(Param("k"), GP64())
	a := Load(Param("a").Base(), GP64())
	b := Load(Param("b").Base(), GP64())
	start := Load(Param("start").Base(), GP64())
	sum := t.sum
	for i := range mr {
		sum[2*i], sum[2*i+1] = vector(), vector()
		VPBROADCASTD(Mem{Base: start, Disp: 4 * i}, sum[2*i])
		if t.vnni {
			VMOVDQA32(sum[2*i], sum[2*i+1])
		} else {
			VMOVDQA(sum[2*i], sum[2*i+1])
		}
	}
	t.b0, t.b1, t.ai = vector(), vector(), vector()
	one := func(s int) {
		t.move(Mem{Base: b, Disp: 2 * s * size}, t.b0)
		t.move(Mem{Base: b, Disp: (2*s + 1) * size}, t.b1)
		for i := range mr {
			ai := t.ai
			VPBROADCASTD(Mem{Base: a, Disp: 4 * (s*mr + i)}, ai)
			if t.vnni {
				vpdpbusd(t.b0, ai, sum[2*i])
				vpdpbusd(t.b1, ai, sum[2*i+1])
				continue
			}
			product := vector()
			VPMADDWD(t.b0, ai, product)
			VPADDD(product, sum[2*i], sum[2*i])
			VPMADDWD(t.b1, ai, ai)
			VPADDD(ai, sum[2*i+1], sum[2*i+1])
		}
	}
	const unroll = 4
	SUBQ(Imm(unroll), k)
	JL(LabelRef("rest"))
	Label("loop")
	for s := range unroll {
		one(s)
	}
	ADDQ(I32(unroll*2*size), b)
	ADDQ(I32(unroll*4*mr), a)
	SUBQ(Imm(unroll), k)
	JGE(LabelRef("loop"))
	Label("rest")
	ADDQ(Imm(unroll), k)
	JZ(LabelRef("done"))
	Label("one")
	one(0)
	ADDQ(I32(2*size), b)
	ADDQ(I32(4*mr), a)
	DECQ(k)
	JNZ(LabelRef("one"))
	Label("done")
	return t
}

// vpdpbusd adds products of four signed and four unsigned bytes to every lane
// of sum. This version of avo does not know the instruction.
func vpdpbusd(signed, unsigned, sum Op) {
	Instruction(&ir.Instruction{
		Opcode:   "VPDPBUSD",
		Operands: []Op{signed, unsigned, sum},
		Inputs:   []Op{signed, unsigned, sum},
		Outputs:  []Op{sum},
		ISA:      []string{"AVX512_VNNI"},
	})
}

// broadcast spreads the named 32-bit parameter over v.
func broadcast(param string, v reg.VecVirtual) {
	at, err := Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(at.Addr, v)
}

// scan writes the search of a row of inner products for small distances.
func scan(name, elem string, wide, integer bool) {
	TEXT(name, NOSPLIT, "func(hits []int32, c, col, limits []"+elem+", row, limit "+elem+") (count int)")
	Pragma("noescape")
	Doc(name + " lists the small distances of a row, see [ScanFloats].")
	n := Load(Param("c").Len(), GP64())
	c := Load(Param("c").Base(), GP64())
	col := Load(Param("col").Base(), GP64())
	limits := Load(Param("limits").Base(), GP64())
	hits := Load(Param("hits").Base(), GP64())
	lanes, vector := 8, func() reg.VecVirtual { return YMM() }
	if wide {
		lanes, vector = 16, func() reg.VecVirtual { return ZMM() }
	}
	spread := func(param string) reg.VecVirtual {
		v := vector()
		broadcast(param, v)
		return v
	}
	row, limit := spread("row"), spread("limit")
	j, count, bits, at := GP64(), GP64(), GP32(), GP64()
	XORQ(j, j)
	XORQ(count, count)
	v, w, most := vector(), vector(), vector()

	// compare sets bits to the lanes in which (col − 2c) + row < max(limit, limits).
	compare := func(load func(from reg.Register, to reg.VecVirtual)) {
		load(c, v)
		load(col, w)
		load(limits, most)
		if integer {
			VPADDD(v, v, v)
			VPSUBD(v, w, v)
			VPADDD(row, v, v)
			VPMAXSD(limit, most, most)
		} else {
			VADDPS(v, v, v)
			VSUBPS(v, w, v)
			VADDPS(row, v, v)
			VMAXPS(limit, most, most)
		}
		switch mask := K(); {
		case wide && integer:
			VPCMPGTD(v, most, mask)
			KMOVW(mask, bits)
		case wide:
			VCMPPS(U8(0x11), most, v, mask) // LT_OQ
			KMOVW(mask, bits)
		case integer:
			VPCMPGTD(v, most, v)
			VMOVMSKPS(v, bits)
		default:
			VCMPPS(U8(0x11), most, v, v)
			VMOVMSKPS(v, bits)
		}
	}
	list := func(label, next string) {
		TESTL(bits, bits)
		JZ(LabelRef(next))
		Label(label)
		TZCNTL(bits, at.As32())
		ADDQ(j, at)
		MOVL(at.As32(), Mem{Base: hits, Index: count, Scale: 4})
		INCQ(count)
		BLSRL(bits, bits)
		JNZ(LabelRef(label))
	}
	whole := func(from reg.Register, to reg.VecVirtual) {
		if wide {
			VMOVDQU32(Mem{Base: from, Index: j, Scale: 4}, to)
		} else {
			VMOVDQU(Mem{Base: from, Index: j, Scale: 4}, to)
		}
	}

	Label("loop")
	SUBQ(Imm(uint64(lanes)), n)
	JL(LabelRef("rest"))
	compare(whole)
	list("hit", "next")
	Label("next")
	ADDQ(Imm(uint64(lanes)), j)
	JMP(LabelRef("loop"))
	Label("rest")
	ADDQ(Imm(uint64(lanes)), n)
	JZ(LabelRef("end"))
	if wide {
		ones, mask := GP32(), K()
		MOVL(U32(0xffffffff), ones)
		BZHIL(n.(reg.GPVirtual).As32(), ones, ones)
		KMOVW(ones, mask)
		compare(func(from reg.Register, to reg.VecVirtual) {
			VMOVDQU32_Z(Mem{Base: from, Index: j, Scale: 4}, mask, to)
		})
		ANDL(ones, bits)
		list("last", "end")
	} else {
		Label("single")
		compare(func(from reg.Register, to reg.VecVirtual) {
			VMOVD(Mem{Base: from, Index: j, Scale: 4}, to.AsX())
		})
		ANDL(Imm(1), bits)
		list("last", "step")
		Label("step")
		INCQ(j)
		DECQ(n)
		JNZ(LabelRef("single"))
	}
	Label("end")
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}

// least writes the search of a row of inner products for its smallest distances: one after another is found by the minimum of
// all, and made infinite.
func least(name string, wide bool) {
	const columns = 48 // simd.LeastColumns
	TEXT(name, NOSPLIT, "func(dst []uint8, c, col []float32)")
	Pragma("noescape")
	Doc(name + " finds the smallest distances of a row, see [Least].")
	dst := Load(Param("dst").Base(), GP64())
	n := Load(Param("dst").Len(), GP64())
	c := Load(Param("c").Base(), GP64())
	col := Load(Param("col").Base(), GP64())
	lanes, vector := 8, func() reg.VecVirtual { return YMM() }
	if wide {
		lanes, vector = 16, func() reg.VecVirtual { return ZMM() }
	}
	values := AllocLocal(4 * columns)
	groups := make([]reg.VecVirtual, columns/lanes)
	for g := range groups {
		groups[g] = vector()
		at := 4 * lanes * g
		VMOVUPS(Mem{Base: c, Disp: at}, groups[g])
		VADDPS(groups[g], groups[g], groups[g])
		w := vector()
		VMOVUPS(Mem{Base: col, Disp: at}, w)
		VSUBPS(groups[g], w, groups[g])
		VMOVUPS(groups[g], values.Offset(at))
	}
	infinity, base := GP32(), GP64()
	MOVL(U32(0x7f800000), infinity)
	LEAQ(values, base)

	Label("loop")
	TESTQ(n, n)
	JZ(LabelRef("end"))
	for g := range groups {
		VMOVUPS(values.Offset(4*lanes*g), groups[g])
	}
	most := vector()
	VMINPS(groups[0], groups[1], most)
	for _, v := range groups[2:] {
		VMINPS(v, most, most)
	}
	half := vector()
	if wide {
		VEXTRACTF64X4(Imm(1), most, half.AsY())
		VMINPS(half.AsY(), most.AsY(), most.AsY())
	}
	VEXTRACTF128(Imm(1), most.AsY(), half.AsX())
	VMINPS(half.AsX(), most.AsX(), most.AsX())
	for _, order := range []uint64{0x4e, 0xb1} { // halves, then neighbours, change places
		VPERMILPS(Imm(order), most.AsX(), half.AsX())
		VMINPS(half.AsX(), most.AsX(), most.AsX())
	}
	VBROADCASTSS(most.AsX(), most)

	// Bit j of bits is set where value j is the smallest. The last one is always: NaN, which is not allowed, then
	// leads to no place outside.
	bits, part, at := GP64(), GP64(), GP64()
	MOVQ(U64(1<<(columns-1)), bits)
	for g, v := range groups {
		if wide {
			mask := K()
			VCMPPS(Imm(0), v, most, mask)
			KMOVW(mask, part.As32())
		} else {
			VCMPPS(Imm(0), v, most, v)
			VMOVMSKPS(v, part.As32())
		}
		if g > 0 {
			SHLQ(Imm(uint64(lanes*g)), part)
		}
		ORQ(part, bits)
	}
	TZCNTQ(bits, at)
	MOVB(at.As8(), Mem{Base: dst})
	MOVL(infinity, Mem{Base: base, Index: at, Scale: 4})
	INCQ(dst)
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("end")
	VZEROUPPER()
	RET()
}

// cosines writes dst = c·row·col, integers to float32.
func cosines(name string, wide bool) {
	TEXT(name, NOSPLIT, "func(dst []float32, c []int32, row float32, col []float32)")
	Pragma("noescape")
	Doc(name + " scales integers, see [ScaleInts].")
	n := Load(Param("dst").Len(), GP64())
	dst := Load(Param("dst").Base(), GP64())
	c := Load(Param("c").Base(), GP64())
	col := Load(Param("col").Base(), GP64())
	lanes := 8
	row, v := reg.VecVirtual(YMM()), reg.VecVirtual(YMM())
	if wide {
		lanes, row, v = 16, ZMM(), ZMM()
	}
	broadcast("row", row)
	Label("loop")
	SUBQ(Imm(uint64(lanes)), n)
	JL(LabelRef("rest"))
	VCVTDQ2PS(Mem{Base: c}, v)
	VMULPS(row, v, v)
	VMULPS(Mem{Base: col}, v, v)
	VMOVUPS(v, Mem{Base: dst})
	for _, p := range []reg.Register{c, col, dst} {
		ADDQ(Imm(uint64(4*lanes)), p)
	}
	JMP(LabelRef("loop"))
	Label("rest")
	ADDQ(Imm(uint64(lanes)), n)
	JZ(LabelRef("end"))
	Label("single")
	VCVTSI2SSL(Mem{Base: c}, row.AsX(), v.AsX())
	VMULSS(row.AsX(), v.AsX(), v.AsX())
	VMULSS(Mem{Base: col}, v.AsX(), v.AsX())
	VMOVSS(v.AsX(), Mem{Base: dst})
	for _, p := range []reg.Register{c, col, dst} {
		ADDQ(Imm(4), p)
	}
	DECQ(n)
	JNZ(LabelRef("single"))
	Label("end")
	VZEROUPPER()
	RET()
}

// neighbors writes the kernels of exact neighbours.
func neighbors() {
	zmm := func() reg.VecVirtual { return ZMM() }
	ymm := func() reg.VecVirtual { return YMM() }
	bytes("VNNI", 14, zmm, 64)
	bytes("AVX2", 6, ymm, 32)
	near("VNNI", 14, zmm, 64)
	near("AVX2", 6, ymm, 32)
	for _, wide := range []bool{true, false} {
		suffix := "AVX2"
		if wide {
			suffix = "AVX512"
		}
		scan("scanFloats"+suffix, "float32", wide, false)
		scan("scanInts"+suffix, "int32", wide, true)
		least("least"+suffix, wide)
		cosines("scaleInts"+suffix, wide)
	}
	products("byteProductsAVX2", "[ByteProducts]", "uint8", 1)
	products("wordProductsAVX2", "[WordProducts]", "int16", 2)
}

// products writes dst[p] = Σ_j q[j]·x[idx[p]·ld+j] of elements of so many bytes, four rows
// at a time, each in one accumulator; a last group of fewer rows repeats its last one. The
// length of q is a multiple of 16.
func products(name, public, elem string, size int) {
	const rows = 4
	TEXT(name, NOSPLIT, "func(dst []int32, q, x []"+elem+", ld int, idx []int32)")
	Pragma("noescape")
	Doc(name + " multiplies rows of x with q, see " + public + ".")
	dst := Load(Param("dst").Base(), GP64())
	q := Load(Param("q").Base(), GP64())
	end := Load(Param("q").Len(), GP64())
	x := Load(Param("x").Base(), GP64())
	ld := Load(Param("ld"), GP64())
	idx := Load(Param("idx").Base(), GP64())
	count := Load(Param("idx").Len(), GP64())
	if size == 2 {
		SHLQ(U8(1), ld)
		SHLQ(U8(1), end)
	}

	Label("group")
	TESTQ(count, count)
	JLE(LabelRef("end"))
	row := rowAddresses(rows, idx, count, x, ld)
	var acc [rows]reg.VecVirtual
	for r := range acc {
		acc[r] = YMM()
		VPXOR(acc[r], acc[r], acc[r])
	}
	at, vq := GP64(), YMM()
	XORQ(at, at)
	JMP(LabelRef("test"))
	Label("loop")
	if size == 1 {
		VPMOVZXBW(Mem{Base: q, Index: at, Scale: 1}, vq)
	} else {
		VMOVDQU(Mem{Base: q, Index: at, Scale: 1}, vq)
	}
	for r := range rows {
		v, from := YMM(), Mem{Base: row[r], Index: at, Scale: 1}
		if size == 1 {
			VPMOVZXBW(from, v)
			VPMADDWD(v, vq, v)
		} else {
			VPMADDWD(from, vq, v)
		}
		VPADDD(v, acc[r], acc[r])
	}
	ADDQ(Imm(uint64(16*size)), at)
	Label("test")
	CMPQ(at, end)
	JL(LabelRef("loop"))

	VPHADDD(acc[1], acc[0], acc[0])
	VPHADDD(acc[3], acc[2], acc[2])
	VPHADDD(acc[2], acc[0], acc[0])
	high := XMM()
	VEXTRACTI128(U8(1), acc[0], high)
	VPADDD(high, acc[0].AsX(), high)
	SUBQ(Imm(rows), count)
	JL(LabelRef("few"))
	VMOVDQU(high, Mem{Base: dst})
	ADDQ(Imm(rows*4), dst)
	ADDQ(Imm(rows*4), idx)
	JMP(LabelRef("group"))
	Label("few")
	ADDQ(Imm(rows-1), count)
	for r := range rows - 1 {
		VPEXTRD(U8(uint8(r)), high, Mem{Base: dst, Disp: 4 * r})
		if r < rows-2 {
			DECQ(count)
			JL(LabelRef("end"))
		}
	}
	Label("end")
	VZEROUPPER()
	RET()
}
