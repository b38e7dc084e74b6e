package dense

import "gonum.org/v1/gonum/mat"

// SteadyDepth is an inner dimension up to which a row of a product has the same bits whatever other
// rows there are. From 2048 on, small products are summed in slices.
const SteadyDepth = 1792

// SumLength returns the number of terms that [Gemm64] adds up in one accumulator, in order, of the
// k terms of an element, up to [SteadyDepth]; the sums are added in order. A loop that does the
// same gets the same bits.
func SumLength(k int) int { return balance(k, blockK) }

// SteadyProduct sets c = a·b. A row of c has the same bits whatever other rows a has; see
// [SteadyDepth].
func SteadyProduct(c, a, b *mat.Dense) {
	m, inner := a.Dims()
	_, n := b.Dims()
	c.Zero()
	for k := 0; k < inner; k += SteadyDepth {
		end := min(k+SteadyDepth, inner)
		Gemm(NoTrans, NoTrans, 1, a.Slice(0, m, k, end).(*mat.Dense),
			b.Slice(k, end, 0, n).(*mat.Dense), 1, c)
	}
}
