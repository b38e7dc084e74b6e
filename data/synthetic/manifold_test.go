package synthetic

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
)

func TestManifoldDeterministic(t *testing.T) {
	sameAtAnyThreadCount(t, 3000, func(n int, seed uint64) (*data.Dense[float32], *data.Labels) {
		return Manifold(n, 12, 3, 0.01, seed), nil
	})
	mustPanic(t, "n = 0", func() { Manifold(0, 3, 2, 0, 1) })
	mustPanic(t, "intrinsic 0", func() { Manifold(1, 3, 0, 0, 1) })
	mustPanic(t, "intrinsic > ambient", func() { Manifold(1, 3, 4, 0, 1) })
	mustPanic(t, "noise < 0", func() { Manifold(1, 3, 2, -1, 1) })
	mustPanic(t, "noise NaN", func() { Manifold(1, 3, 2, math.NaN(), 1) })
}

// TestManifoldMap checks what the documented bounds rest on: orthonormal
// columns of Q and ‖bend·Ω‖₂ = ρ.
func TestManifoldMap(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 3}, {20, 4}, {64, 10}} {
		ambient, intrinsic := size[0], size[1]
		q, omega, _, bend := manifoldMap(ambient, intrinsic, 3)
		frame := mat.NewDense(ambient, intrinsic, q)
		var gram mat.Dense
		gram.Mul(frame.T(), frame)
		for i := range intrinsic {
			gram.Set(i, i, gram.At(i, i)-1)
		}
		if e := mat.Norm(&gram, 2); !(e <= 1e-12) {
			t.Errorf("%v: ‖QᵀQ − I‖ = %g", size, e)
		}
		var svd mat.SVD
		svd.Factorize(mat.NewDense(ambient, intrinsic, omega), mat.SVDNone)
		if e := bend*svd.Values(nil)[0] - manifoldBend; !(math.Abs(e) <= 1e-12) {
			t.Errorf("%v: Lipschitz constant off by %g", size, e)
		}
	}
}

// TestManifoldLocalDimension checks by principal components of near neighbours
// that the set is flat in the intrinsic number of directions and curved as a
// whole.
func TestManifoldLocalDimension(t *testing.T) {
	const n, ambient, near = 20000, 30, 40
	for _, intrinsic := range []int{1, 2, 3} {
		x := Manifold(n, ambient, intrinsic, 0, 5)
		order := make([]int, n)
		dist := make([]float64, n)
		local := make([]float64, ambient) // spectrum summed over the centres
		for centre := range 20 {
			for i := range n {
				order[i], dist[i] = i, 0
				for a, v := range x.Row(i) {
					e := float64(v - x.Row(centre)[a])
					dist[i] += e * e
				}
			}
			slices.SortFunc(order, func(i, j int) int { return cmp.Compare(dist[i], dist[j]) })
			for a, v := range spectrum(x, order[:near]) {
				local[a] += v
			}
		}
		if r := tail(local, intrinsic); !(r <= 0.05) {
			t.Errorf("%d of %d dimensions: near neighbours leave %.3f of their variance", intrinsic, ambient, r)
		}
		if intrinsic > 1 {
			if r := tail(local, intrinsic-1); !(r >= 0.1) {
				t.Errorf("%d of %d dimensions: near neighbours lie in fewer, remainder %.3f", intrinsic, ambient, r)
			}
		}
		all := make([]int, 2000)
		for i := range all {
			all[i] = i
		}
		if r := tail(spectrum(x, all), intrinsic); !(r >= 0.01) {
			t.Errorf("%d of %d dimensions: the whole set is flat, remainder %.4f", intrinsic, ambient, r)
		}
	}
}

// spectrum returns the variances of the rows along their principal axes,
// descending.
func spectrum(x *data.Dense[float32], rows []int) []float64 {
	a := mat.NewDense(len(rows), x.Cols, nil)
	for c := range x.Cols {
		mean := 0.0
		for _, r := range rows {
			mean += float64(x.Row(r)[c]) / float64(len(rows))
		}
		for i, r := range rows {
			a.Set(i, c, float64(x.Row(r)[c])-mean)
		}
	}
	var svd mat.SVD
	svd.Factorize(a, mat.SVDNone)
	values := svd.Values(nil)
	for i, v := range values {
		values[i] = v * v
	}
	return values
}

// tail returns the share of the values after the first k.
func tail(values []float64, k int) float64 {
	var head, rest float64
	for i, v := range values {
		if i < k {
			head += v
		} else {
			rest += v
		}
	}
	return rest / (head + rest)
}

func TestManifoldRange(t *testing.T) {
	x := Manifold(2000, 16, 4, 0.1, 2)
	clean := Manifold(2000, 16, 4, 0, 2)
	for i, v := range clean.Data {
		// ‖Q(u − ½)‖ ≤ √4/2, and 0.8·|sin|/‖Ω‖₂ is less than 0.8.
		if !(math.Abs(float64(v)) <= 1.8) {
			t.Fatalf("value %d is %v", i, v)
		}
	}
	// Noise is drawn after the latent point, which it leaves unchanged.
	var moved float64
	for i, v := range x.Data {
		e := float64(v - clean.Data[i])
		moved += e * e
	}
	if sd := math.Sqrt(moved / float64(len(x.Data))); !(math.Abs(sd-0.1) <= 0.005) {
		t.Errorf("noise of standard deviation %g, want 0.1", sd)
	}
}

func BenchmarkManifold(b *testing.B) {
	for b.Loop() {
		Manifold(100000, 64, 10, 0.01, 1)
	}
}

func ExampleManifold() {
	x := Manifold(1000, 64, 10, 0.01, 1)
	n, d := x.Dims()
	fmt.Println(n, "points in", d, "dimensions")
	// Output: 1000 points in 64 dimensions
}
