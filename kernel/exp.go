package kernel

import "math"

// expBits is the number of bits of the exponent that the table resolves. With 7 the table takes 1
// KB, and a polynomial of degree 5 is enough for the rest.
const expBits = 7

// expTable[j] = 2^(j/128).
var expTable = func() (t [1 << expBits]float64) {
	for j := range t {
		t[j] = math.Exp2(float64(j) / (1 << expBits))
	}
	return
}()

// expHigh and expLow are ln2/128 in two parts. Products of expHigh with integers below 2²⁰ are exact.
const (
	expHigh = 0x1.62e42feep-1 / (1 << expBits)
	expLow  = math.Ln2/(1<<expBits) - expHigh
)

// negExp replaces every x[i] ≤ 0 by exp(x[i]), with a relative error of less
// than 4e-16; results below 10⁻³⁰⁷ become 0.
func negExp(x []float64) {
	const (
		scale = (1 << expBits) / math.Ln2
		// Adding round and subtracting it again rounds to an integer, which the last bits of
		// the sum hold.
		round = 3 << 51
	)
	for i, v := range x {
		if v < -707 {
			x[i] = 0
			continue
		}

		// v = q·ln2/128 + r.
		s := v*scale + round
		m := s - round
		r := (v - m*expHigh) - m*expLow // |r| ≤ ln2/256
		q := int64(math.Float64bits(s)<<13) >> 13

		// exp(v) = 2^(q/128)·exp(r), with exp(r) − 1 by its Taylor series.
		r2 := r * r
		p := r + r2*(0.5+r*(1./6)+r2*(1./24+r*(1./120)))
		t := expTable[q&(1<<expBits-1)]
		t += t * p
		x[i] = t * math.Float64frombits(uint64(q>>expBits+1023)<<52)
	}
}
