// Package edges computes weights of edges from lists of neighbours, by the formulas of knn.UMAP,
// knn.Gauss and knn.Shared.
package edges

import "math"

// UMAP sets w to the weights of knn.UMAP, exp(−(d − ρ)/σ), at the distances of a whole list,
// ascending. It computes as umap-learn does: σ is sought in float32, a division is a
// multiplication by the reciprocal, and the search stops within 1e-5. An exact σ would change
// weights by up to 5e-6. Distances that are too large or too small for float32, or for a search that
// begins at σ = 1, are multiplied by a power of two first.
func UMAP(w, dist []float64) {
	if len(dist) == 0 {
		return
	}
	scale := 1.0
	if last := dist[len(dist)-1]; last > 0 && (last < 1e-12 || last > 1e12) {
		_, exponent := math.Frexp(last)
		scale = math.Ldexp(1, -exponent/2) // in two steps, as 2^1074 is not a number
	}

	// ρ is the smallest positive distance.
	at := func(p int) float32 { return float32(dist[p] * scale * scale) }
	var rho float32
	for p := range dist {
		if rho = at(p); rho > 0 {
			break
		}
	}

	sigma := umapWidth(len(dist), rho, at)
	for p := range dist {
		w[p] = 1
		if d := at(p) - rho; d > 0 {
			w[p] = math.Exp(-float64(d / sigma))
		}
	}
}

// umapWidth returns σ, at which the weights sum to log₂(k+1), by doubling and bisection (McInnes,
// Healy & Melville 2018, algorithm 3). It is at least a thousandth of the mean distance. The
// constants are umap-learn's.
func umapWidth(k int, rho float32, at func(int) float32) float32 {
	const steps, tolerance, least = 64, 1e-5, 1e-3
	target := math.Log2(float64(k + 1))

	lo := float32(0)
	hi := float32(math.Inf(1))
	mid := float32(1)
	for range steps {
		var sum float32
		inverse := 1 / mid // as the compiler of umap-learn divides
		for p := range k {
			if d := at(p) - rho; d > 0 {
				sum += float32(math.Exp(-float64(d * inverse)))
			} else {
				sum++
			}
		}

		if math.Abs(float64(sum)-target) < tolerance {
			break
		}
		if float64(sum) > target {
			hi = mid
		} else {
			lo = mid
		}
		if math.IsInf(float64(hi), 1) {
			mid *= 2
		} else {
			mid = (lo + hi) / 2
		}
	}

	// The mean distance, in which the point itself counts with distance 0.
	var mean float32
	for p := range k {
		mean += at(p)
	}
	return max(mid, least*mean/float32(k+1))
}

// SquaredWidth returns σ² of knn.Gauss: the median of the squares of the positive distances, or 0
// if there are none. dist ascends.
func SquaredWidth(dist []float64) float64 {
	for len(dist) > 0 && dist[0] == 0 {
		dist = dist[1:]
	}
	if len(dist) == 0 {
		return 0
	}
	a := dist[(len(dist)-1)/2]
	b := dist[len(dist)/2]
	return (a*a + b*b) / 2
}

// Gauss returns the weight of knn.Gauss of an edge of length d between points with σ² = a and σ² =
// b.
func Gauss(d, a, b float64) float64 {
	// A point among duplicates takes the width of the other end.
	if a == 0 {
		a = b
	}
	if b == 0 {
		b = a
	}
	if a == 0 {
		return 1
	}

	// 2σ_iσ_j/(σ_i²+σ_j²) = 2/(r + 1/r) with r = σ_i/σ_j, which cannot overflow.
	r := math.Sqrt(max(a, b) / min(a, b))
	return math.Sqrt(2/(r+1/r)) * math.Exp(-d*d/(a+b))
}

// Jaccard returns the weight of knn.Shared of an edge between points with the lists a and b, which
// ascend: |a ∩ b| / |a ∪ b|.
func Jaccard(a, b []int32) float64 {
	shared := 0
	for p, q := 0, 0; p < len(a) && q < len(b); {
		switch {
		case a[p] < b[q]:
			p++
		case a[p] > b[q]:
			q++
		default:
			shared++
			p++
			q++
		}
	}
	if shared == 0 {
		return 0
	}
	return float64(shared) / float64(len(a)+len(b)-shared)
}
