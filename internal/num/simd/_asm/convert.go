package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// conversions write the loops between float32 and float64, as many elements as fill whole vectors of float64.
// m is of float64.
func (m *machine) conversions() {
	half := func() reg.VecVirtual { return XMM() }
	if m.wide {
		half = func() reg.VecVirtual { return YMM() }
	}
	loop := func(name, params, doc string, from, to int, step func(src, dst Mem)) {
		TEXT(name+m.suffix, NOSPLIT, "func("+params+")")
		Pragma("noescape")
		Doc(name + m.suffix + " " + doc)
		dst := Load(Param("dst").Base(), GP64())
		src := Load(Param("src").Base(), GP64())
		n := Load(Param("src").Len(), GP64())
		Label("loop")
		SUBQ(Imm(uint64(m.lanes)), n)
		JL(LabelRef("end"))
		step(Mem{Base: src}, Mem{Base: dst})
		ADDQ(Imm(uint64(from*m.lanes)), src)
		ADDQ(Imm(uint64(to*m.lanes)), dst)
		JMP(LabelRef("loop"))
		Label("end")
		VZEROUPPER()
		RET()
	}

	loop("toDouble", "dst []float64, src []float32",
		"converts whole vectors of elements, see [ToDouble].", 4, 8, func(src, dst Mem) {
			v := m.vector()
			VCVTPS2PD(src, v)
			m.move(v, dst)
		})
	loop("toSingle", "dst []float32, src []float64",
		"converts whole vectors of elements, see [ToSingle].", 8, 4, func(src, dst Mem) {
			v := m.vector()
			w := half()
			m.move(src, v)
			if m.wide {
				VCVTPD2PS(v, w)
			} else {
				VCVTPD2PSY(v, w)
			}
			VMOVUPS(w, dst)
		})
}
