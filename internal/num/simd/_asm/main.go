// Command _asm writes the amd64 kernels of package simd: run "go generate"
// in the parent directory after a change. Every kernel is described once, for
// both element types and both instruction sets.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A machine is an instruction set together with an element type.
type machine struct {
	suffix string // of the functions' names, e.g. "64AVX512"
	elem   string // Go element type
	size   int    // bytes of an element
	lanes  int    // elements of a vector
	mr     int    // rows of the matrix-product tile
	wide   bool   // AVX-512: 64-byte vectors and masks

	vector                func() reg.VecVirtual
	add, mul, fma, bcast  func(...Op)
	move                  func(...Op)
	moveZ                 func(mxyz, k, mxyz1 Op)
	scalarMove, scalarAdd func(...Op)
	scalarMul, scalarFMA  func(...Op)
	xor                   func(...Op)
}

func machines() []*machine {
	ymm := func() reg.VecVirtual { return YMM() }
	zmm := func() reg.VecVirtual { return ZMM() }
	double := machine{
		elem: "float64", size: 8,
		add: VADDPD, mul: VMULPD, fma: VFMADD231PD, bcast: VBROADCASTSD,
		move: VMOVUPD, moveZ: VMOVUPD_Z, xor: VXORPD,
		scalarMove: VMOVSD, scalarAdd: VADDSD, scalarMul: VMULSD, scalarFMA: VFMADD231SD,
	}
	single := machine{
		elem: "float32", size: 4,
		add: VADDPS, mul: VMULPS, fma: VFMADD231PS, bcast: VBROADCASTSS,
		move: VMOVUPS, moveZ: VMOVUPS_Z, xor: VXORPS,
		scalarMove: VMOVSS, scalarAdd: VADDSS, scalarMul: VMULSS, scalarFMA: VFMADD231SS,
	}
	var all []*machine
	for _, base := range []machine{double, single} {
		for _, wide := range []bool{true, false} {
			m := base
			m.wide = wide
			if wide {
				m.suffix = fmt.Sprintf("%dAVX512", 8*m.size)
				m.vector, m.lanes, m.mr = zmm, 64/m.size, 14
			} else {
				m.suffix = fmt.Sprintf("%dAVX2", 8*m.size)
				m.vector, m.lanes, m.mr = ymm, 32/m.size, 6
			}
			all = append(all, &m)
		}
	}
	return all
}

func main() {
	ConstraintExpr("!purego")
	for _, m := range machines() {
		m.gemm()
		m.rows("sumRows", false)
		m.rows("addScaledRows", true)
		m.combine()
		if m.elem == "float64" {
			m.dot()
			m.symv()
			for columns := m.lanes; columns <= 32; columns *= 2 {
				m.graphRows(columns)
			}
			m.panel(8)
			m.panel(16)
			m.conversions()
		} else {
			m.distances()
			m.widen()
			m.graphStep(16)
			if !m.wide {
				m.graphStep(8)
			}
		}
	}
	prefetch()
	neighbors()
	Generate()
}

func (m *machine) function(name, params, doc string) {
	TEXT(name+m.suffix, NOSPLIT, fmt.Sprintf("func("+params+")", m.elem))
	Pragma("noescape")
	Doc(name + m.suffix + " " + doc)
}

// byColumns begins a function that does rows of a fixed number of adjacent columns for the function called see.
func (m *machine) byColumns(name string, columns int, see, params string) {
	set := "AVX2"
	if m.wide {
		set = "AVX512"
	}
	name = fmt.Sprintf("%s%d%s", name, columns, set)
	TEXT(name, NOSPLIT, "func("+params+")")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s does rows of %d adjacent columns, see [%s].", name, columns, see))
}

func (m *machine) zero(v reg.VecVirtual) { m.xor(v, v, v) }

// vectors returns n registers holding zero.
func (m *machine) vectors(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = m.vector()
		m.zero(v[i])
	}
	return v
}

// scalar spreads the named parameter over a vector. It reads the parameter by an instruction of AVX: avo's
// Load takes MOVSD, whose change from and to wide registers costs some 70 ns on processors that save
// the upper halves (measured: half of the time of a product with ten columns).
func (m *machine) scalar(name string) reg.VecVirtual {
	v := m.vector()
	m.bcast(address(name), v)
	return v
}

// address returns the place of the named parameter in memory.
func address(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// gemm writes the tile product C (+)= A·B: mr rows by two vectors, all
// accumulators in registers. One step of k costs two loads of B, mr broadcasts
// of A and 2·mr fused multiply-adds. A is read through two strides, every third
// row by a pointer of its own, so that it need not be packed.
func (m *machine) gemm() {
	m.function("gemm", "k int, a []%[1]s, row, step int, b, c []%[1]s, ldc int, acc bool",
		fmt.Sprintf("computes one %d×%d tile, see [Gemm].", m.mr, 2*m.lanes))
	k := Load(Param("k"), GP64())
	b := Load(Param("b").Base(), GP64())
	c := Load(Param("c").Base(), GP64())
	ldc := Load(Param("ldc"), GP64())
	SHLQ(U8(log2(m.size)), ldc)

	Comment("The rows of C are needed last: ask for them first.")
	at := GP64()
	MOVQ(c, at)
	for range m.mr {
		PREFETCHT0(Mem{Base: at})
		PREFETCHT0(Mem{Base: at, Disp: 2*m.lanes*m.size - 1})
		ADDQ(ldc, at)
	}

	row := Load(Param("row"), GP64())
	SHLQ(U8(log2(m.size)), row)
	step := Load(Param("step"), GP64())
	SHLQ(U8(log2(m.size)), step)
	a := []reg.Register{Load(Param("a").Base(), GP64())}
	for i := 3; i < m.mr; i += 3 {
		next := GP64()
		LEAQ(Mem{Base: a[len(a)-1], Index: row, Scale: 2}, next)
		ADDQ(row, next)
		a = append(a, next)
	}

	sum := m.vectors(2 * m.mr)
	b0, b1, ai := m.vector(), m.vector(), m.vector()
	one := func(s int) {
		disp := s * 2 * m.lanes * m.size
		m.move(Mem{Base: b, Disp: disp}, b0)
		m.move(Mem{Base: b, Disp: disp + m.lanes*m.size}, b1)
		for i := range m.mr {
			from := Mem{Base: a[i/3]}
			if i%3 > 0 {
				from.Index, from.Scale = row, uint8(i%3)
			}
			m.bcast(from, ai)
			m.fma(ai, b0, sum[2*i])
			m.fma(ai, b1, sum[2*i+1])
		}
		for _, p := range a {
			ADDQ(step, p)
		}
	}
	const unroll = 4
	SUBQ(Imm(unroll), k)
	JL(LabelRef("rest"))
	Label("loop")
	for s := range unroll {
		one(s)
	}
	ADDQ(I32(unroll*2*m.lanes*m.size), b)
	SUBQ(Imm(unroll), k)
	JGE(LabelRef("loop"))
	Label("rest")
	ADDQ(Imm(unroll), k)
	JZ(LabelRef("done"))
	Label("one")
	one(0)
	ADDQ(I32(2*m.lanes*m.size), b)
	DECQ(k)
	JNZ(LabelRef("one"))
	Label("done")

	acc := Load(Param("acc"), GP8())
	TESTB(acc, acc)
	JZ(LabelRef("store"))
	MOVQ(c, at)
	for i := range m.mr {
		m.add(Mem{Base: at}, sum[2*i], sum[2*i])
		m.add(Mem{Base: at, Disp: m.lanes * m.size}, sum[2*i+1], sum[2*i+1])
		ADDQ(ldc, at)
	}
	Label("store")
	for i := range m.mr {
		m.move(sum[2*i], Mem{Base: c})
		m.move(sum[2*i+1], Mem{Base: c, Disp: m.lanes * m.size})
		ADDQ(ldc, c)
	}
	VZEROUPPER()
	RET()
}

// rows writes dst = Σ_p x[idx[p]] or, weighted, Σ_p w[p]·x[idx[p]] over rows
// x[i] = x[i*ld:]. Columns go in blocks of eight, four, two, one vectors, each
// block summed over all p in registers; a masked vector (AVX-512) or single
// columns (AVX2) end the row.
func (m *machine) rows(name string, weighted bool) {
	params := "dst, x []%s, ld int, idx []int32"
	doc := "adds the rows of x named by idx, see [SumRows]."
	if weighted {
		params = "dst, x []%[1]s, ld int, idx []int32, w []%[1]s"
		doc = "adds w times the rows of x named by idx, see [AddScaledRows]."
	}
	m.function(name, params, doc)
	n := Load(Param("dst").Len(), GP64())
	dst := Load(Param("dst").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	ld := Load(Param("ld"), GP64())
	SHLQ(U8(log2(m.size)), ld)
	idx := Load(Param("idx").Base(), GP64())
	count := Load(Param("idx").Len(), GP64())
	var w reg.Register
	if weighted {
		w = Load(Param("w").Base(), GP64())
	}

	// sum runs body(row, weight address) over all p.
	p, row := GP64(), GP64()
	sum := func(label string, body func(row reg.Register, weight Mem)) {
		XORQ(p, p)
		JMP(LabelRef(label + "_test"))
		Label(label + "_row")
		MOVLQSX(Mem{Base: idx, Index: p, Scale: 4}, row)
		IMULQ(ld, row)
		ADDQ(x, row)
		weight := Mem{}
		if weighted {
			weight = Mem{Base: w, Index: p, Scale: uint8(m.size)}
		}
		body(row, weight)
		INCQ(p)
		Label(label + "_test")
		CMPQ(p, count)
		JL(LabelRef(label + "_row"))
	}

	for width := 8; width >= 1; width /= 2 {
		label, next := fmt.Sprintf("v%d", width), fmt.Sprintf("v%d", width/2)
		bytes := width * m.lanes * m.size
		Label(label)
		CMPQ(n, U32(width*m.lanes))
		JL(LabelRef(next))
		acc := m.vectors(width)
		sum(label, func(row reg.Register, weight Mem) {
			if weighted {
				wv := m.vector()
				m.bcast(weight, wv)
				for i, v := range acc {
					m.fma(Mem{Base: row, Disp: i * m.lanes * m.size}, wv, v)
				}
				return
			}
			for i, v := range acc {
				m.add(Mem{Base: row, Disp: i * m.lanes * m.size}, v, v)
			}
		})
		for i, v := range acc {
			m.move(v, Mem{Base: dst, Disp: i * m.lanes * m.size})
		}
		ADDQ(I32(bytes), x)
		ADDQ(I32(bytes), dst)
		SUBQ(I32(width*m.lanes), n)
		JMP(LabelRef(label))
	}
	Label("v0")
	TESTQ(n, n)
	JZ(LabelRef("end"))
	if m.wide {
		mask := m.mask(n)
		acc := m.vectors(1)[0]
		sum("tail", func(row reg.Register, weight Mem) {
			v := m.vector()
			m.moveZ(Mem{Base: row}, mask, v)
			if weighted {
				wv := m.vector()
				m.bcast(weight, wv)
				m.fma(v, wv, acc)
				return
			}
			m.add(v, acc, acc)
		})
		m.move(acc, mask, Mem{Base: dst})
	} else {
		Label("column")
		acc := XMM()
		VXORPD(acc, acc, acc)
		sum("tail", func(row reg.Register, weight Mem) {
			if weighted {
				wv := XMM()
				m.scalarMove(weight, wv)
				m.scalarFMA(Mem{Base: row}, wv, acc)
				return
			}
			m.scalarAdd(Mem{Base: row}, acc, acc)
		})
		m.scalarMove(acc, Mem{Base: dst})
		ADDQ(I32(m.size), x)
		ADDQ(I32(m.size), dst)
		DECQ(n)
		JNZ(LabelRef("column"))
	}
	Label("end")
	VZEROUPPER()
	RET()
}

// combine writes dst = alpha·a + beta·b.
func (m *machine) combine() {
	m.function("combineRow", "dst, a []%[1]s, alpha %[1]s, b []%[1]s, beta %[1]s",
		"computes dst = alpha·a + beta·b, see [CombineRow].")
	n := Load(Param("dst").Len(), GP64())
	dst := Load(Param("dst").Base(), GP64())
	a := Load(Param("a").Base(), GP64())
	b := Load(Param("b").Base(), GP64())
	alpha, beta := m.scalar("alpha"), m.scalar("beta")
	for width := 4; width >= 1; width /= 4 {
		label, next := fmt.Sprintf("v%d", width), fmt.Sprintf("v%d", width/4)
		Label(label)
		CMPQ(n, U32(width*m.lanes))
		JL(LabelRef(next))
		for i := range width {
			v, disp := m.vector(), i*m.lanes*m.size
			m.mul(Mem{Base: a, Disp: disp}, alpha, v)
			m.fma(Mem{Base: b, Disp: disp}, beta, v)
			m.move(v, Mem{Base: dst, Disp: disp})
		}
		for _, p := range []reg.Register{a, b, dst} {
			ADDQ(I32(width*m.lanes*m.size), p)
		}
		SUBQ(I32(width*m.lanes), n)
		JMP(LabelRef(label))
	}
	Label("v0")
	TESTQ(n, n)
	JZ(LabelRef("end"))
	if m.wide {
		mask, va, vb := m.mask(n), m.vector(), m.vector()
		m.moveZ(Mem{Base: a}, mask, va)
		m.moveZ(Mem{Base: b}, mask, vb)
		m.mul(va, alpha, va)
		m.fma(vb, beta, va)
		m.move(va, mask, Mem{Base: dst})
	} else {
		Label("one")
		v := XMM()
		m.scalarMul(Mem{Base: a}, alpha.AsX(), v)
		m.scalarFMA(Mem{Base: b}, beta.AsX(), v)
		m.scalarMove(v, Mem{Base: dst})
		for _, p := range []reg.Register{a, b, dst} {
			ADDQ(I32(m.size), p)
		}
		DECQ(n)
		JNZ(LabelRef("one"))
	}
	Label("end")
	VZEROUPPER()
	RET()
}

// dot writes Σ a·b (float64) with four vector accumulators.
func (m *machine) dot() {
	m.function("dot", "a, b []%[1]s) (sum %[1]s", "computes Σ a·b, see [Dot].")
	n := Load(Param("a").Len(), GP64())
	a := Load(Param("a").Base(), GP64())
	b := Load(Param("b").Base(), GP64())
	acc := m.vectors(4)
	for width := 4; width >= 1; width /= 4 {
		label, next := fmt.Sprintf("v%d", width), fmt.Sprintf("v%d", width/4)
		Label(label)
		CMPQ(n, U32(width*m.lanes))
		JL(LabelRef(next))
		for i := range width {
			v, disp := m.vector(), i*m.lanes*m.size
			m.move(Mem{Base: a, Disp: disp}, v)
			m.fma(Mem{Base: b, Disp: disp}, v, acc[i])
		}
		ADDQ(I32(width*m.lanes*m.size), a)
		ADDQ(I32(width*m.lanes*m.size), b)
		SUBQ(I32(width*m.lanes), n)
		JMP(LabelRef(label))
	}
	Label("v0")
	if m.wide {
		TESTQ(n, n)
		JZ(LabelRef("fold"))
		mask, va, vb := m.mask(n), m.vector(), m.vector()
		m.moveZ(Mem{Base: a}, mask, va)
		m.moveZ(Mem{Base: b}, mask, vb)
		m.fma(va, vb, acc[1])
		Label("fold")
	}
	m.add(acc[1], acc[0], acc[0])
	m.add(acc[3], acc[2], acc[2])
	m.add(acc[2], acc[0], acc[0])
	if m.wide {
		high := YMM()
		VEXTRACTF64X4(U8(1), acc[0], high)
		VADDPD(high, acc[0].AsY(), acc[0].AsY())
	}
	high, sum := XMM(), XMM()
	VEXTRACTF128(U8(1), acc[0].AsY(), high)
	VADDPD(high, acc[0].AsX(), sum)
	VUNPCKHPD(sum, sum, high)
	VADDSD(high, sum, sum)
	if !m.wide {
		TESTQ(n, n)
		JZ(LabelRef("end"))
		Label("one")
		v := XMM()
		VMOVSD(Mem{Base: a}, v)
		VFMADD231SD(Mem{Base: b}, v, sum)
		ADDQ(I32(m.size), a)
		ADDQ(I32(m.size), b)
		DECQ(n)
		JNZ(LabelRef("one"))
		Label("end")
	}
	VZEROUPPER()
	Store(sum, ReturnIndex(0))
	RET()
}

// symv writes the product of four rows with a vector and of a vector with four
// rows, in one pass over the rows.
func (m *machine) symv() {
	const rows = 4
	m.function("symvRows", "y, v, a []%[1]s, lda int, s, d []%[1]s",
		"adds four rows times s to y and sets d to the rows times v, see [SymvRows].")
	n := Load(Param("y").Len(), GP64())
	y := Load(Param("y").Base(), GP64())
	v := Load(Param("v").Base(), GP64())
	var a [rows]reg.Register
	a[0] = Load(Param("a").Base(), GP64())
	lda := Load(Param("lda"), GP64())
	SHLQ(U8(log2(m.size)), lda)
	s := Load(Param("s").Base(), GP64())
	var factor [rows]reg.VecVirtual
	for r := range rows {
		if r > 0 {
			a[r] = GP64()
			LEAQ(Mem{Base: a[r-1], Index: lda, Scale: 1}, a[r])
		}
		factor[r] = m.vector()
		m.bcast(Mem{Base: s, Disp: r * m.size}, factor[r])
	}
	dot := m.vectors(rows)
	at := GP64()
	XORQ(at, at)
	Label("loop")
	SUBQ(Imm(uint64(m.lanes)), n)
	JL(LabelRef("rest"))
	vv, vy := m.vector(), m.vector()
	m.move(Mem{Base: v, Index: at, Scale: 1}, vv)
	m.move(Mem{Base: y, Index: at, Scale: 1}, vy)
	for r := range rows {
		va := m.vector()
		m.move(Mem{Base: a[r], Index: at, Scale: 1}, va)
		m.fma(va, vv, dot[r])
		m.fma(va, factor[r], vy)
	}
	m.move(vy, Mem{Base: y, Index: at, Scale: 1})
	ADDQ(I32(m.lanes*m.size), at)
	JMP(LabelRef("loop"))
	Label("rest")
	ADDQ(Imm(uint64(m.lanes)), n)

	fold := func() {
		for r := range rows {
			if m.wide {
				high := YMM()
				VEXTRACTF64X4(U8(1), dot[r], high)
				VADDPD(high, dot[r].AsY(), dot[r].AsY())
			}
			high := XMM()
			VEXTRACTF128(U8(1), dot[r].AsY(), high)
			VADDPD(high, dot[r].AsX(), dot[r].AsX())
			VUNPCKHPD(dot[r].AsX(), dot[r].AsX(), high)
			VADDSD(high, dot[r].AsX(), dot[r].AsX())
		}
	}
	if m.wide {
		JZ(LabelRef("fold"))
		mask, vv, vy := m.mask(n), m.vector(), m.vector()
		m.moveZ(Mem{Base: v, Index: at, Scale: 1}, mask, vv)
		m.moveZ(Mem{Base: y, Index: at, Scale: 1}, mask, vy)
		for r := range rows {
			va := m.vector()
			m.moveZ(Mem{Base: a[r], Index: at, Scale: 1}, mask, va)
			m.fma(va, vv, dot[r])
			m.fma(va, factor[r], vy)
		}
		m.move(vy, mask, Mem{Base: y, Index: at, Scale: 1})
		Label("fold")
		fold()
	} else {
		fold() // does not touch n
		TESTQ(n, n)
		JZ(LabelRef("end"))
		Label("one")
		vv, vy := XMM(), XMM()
		VMOVSD(Mem{Base: v, Index: at, Scale: 1}, vv)
		VMOVSD(Mem{Base: y, Index: at, Scale: 1}, vy)
		for r := range rows {
			va := XMM()
			VMOVSD(Mem{Base: a[r], Index: at, Scale: 1}, va)
			VFMADD231SD(va, vv, dot[r].AsX())
			VFMADD231SD(va, factor[r].AsX(), vy)
		}
		VMOVSD(vy, Mem{Base: y, Index: at, Scale: 1})
		ADDQ(Imm(uint64(m.size)), at)
		DECQ(n)
		JNZ(LabelRef("one"))
		Label("end")
	}
	d := Load(Param("d").Base(), GP64())
	for r := range rows {
		VMOVSD(dot[r].AsX(), Mem{Base: d, Disp: r * m.size})
	}
	VZEROUPPER()
	RET()
}

// mask returns a mask of the n lowest lanes, n < lanes.
func (m *machine) mask(n reg.Register) reg.Register {
	bits, k := GP32(), K()
	MOVL(U32(0xffffffff), bits)
	BZHIL(n.(reg.GPVirtual).As32(), bits, bits)
	KMOVW(bits, k)
	return k
}

func log2(n int) int {
	l := 0
	for ; n > 1; n /= 2 {
		l++
	}
	return l
}
