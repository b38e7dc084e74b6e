package nndescent

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/testmode"
)

// rowKinds makes the same kind of rows of n points as often as it is called, with the
// distance of two points by its definition.
func rowKinds(n int) map[string]func() (Rows, func(i, j int) float64) {
	const d = 37
	return map[string]func() (Rows, func(i, j int) float64){
		"float32": func() (Rows, func(i, j int) float64) { return floatKind(n, d) },
		"float16": func() (Rows, func(i, j int) float64) { return halfKind(n, d, false) },
		"scaled":  func() (Rows, func(i, j int) float64) { return halfKind(n, d, true) },
		"sparse":  func() (Rows, func(i, j int) float64) { return sparseKind(n, d, SparseSettings{Apart: true}, true) },
		"ones":    func() (Rows, func(i, j int) float64) { return sparseKind(n, d, SparseSettings{}, false) },
		"sets":    func() (Rows, func(i, j int) float64) { return sparseKind(n, d, SparseSettings{Overlap: true}, false) },
		"bits":    func() (Rows, func(i, j int) float64) { return bitKind(n, false) },
		"overlap": func() (Rows, func(i, j int) float64) { return bitKind(n, true) },
	}
}

func squared(a, b []float32) (sum float64) {
	for j := range a {
		sum += (float64(a[j]) - float64(b[j])) * (float64(a[j]) - float64(b[j]))
	}
	return sum
}

// jaccard is the distance of the sets of coordinates that are not zero.
func jaccard(a, b []float32) float64 {
	var both, either float64
	for j := range a {
		if a[j] != 0 && b[j] != 0 {
			both++
		}
		if a[j] != 0 || b[j] != 0 {
			either++
		}
	}
	if either == 0 {
		return 0
	}
	return 1 - both/either
}

func floatKind(n, d int) (Rows, func(i, j int) float64) {
	rows, set := randomSet(n, d)
	return set.Rows, func(i, j int) float64 { return squared(rows[i], rows[j]) }
}

func halfKind(n, d int, scaled bool) (Rows, func(i, j int) float64) {
	rows, _ := randomSet(n, d)
	bits := make([][]uint16, n)
	scale := make([]float32, n)
	for i, row := range rows {
		scale[i] = 1
		if scaled {
			scale[i] = float32(i%9) / 5
		}
		for j, v := range row {
			h := simd.ToHalf(v)
			bits[i] = append(bits[i], h)
			row[j] = scale[i] * simd.FromHalf(h)
		}
	}
	if !scaled {
		scale = nil
	}
	return NewHalves(d, func(i int32) []uint16 { return bits[i] }, scale), func(i, j int) float64 {
		if scaled && (i%9 == 0 || j%9 == 0) {
			return Apart
		}
		return squared(rows[i], rows[j])
	}
}

func sparseKind(n, d int, s SparseSettings, valued bool) (Rows, func(i, j int) float64) {
	r := rand.New(rand.NewPCG(4, 5))
	rows, ptr, col, val := make([][]float32, n), []int64{0}, []int32(nil), []float32(nil)
	for i := range rows {
		rows[i] = make([]float32, d)
		for j := range rows[i] {
			if i%10 > 0 && r.IntN(4) == 0 {
				rows[i][j] = 1
				if valued {
					rows[i][j] = float32(r.NormFloat64())
				}
				col, val = append(col, int32(j)), append(val, rows[i][j])
			}
		}
		ptr = append(ptr, int64(len(col)))
	}
	if !valued {
		val = nil
	}
	return NewSparse(d, ptr, col, val, s), func(i, j int) float64 {
		switch {
		case s.Overlap:
			return jaccard(rows[i], rows[j])
		case s.Apart && (ptr[i] == ptr[i+1] || ptr[j] == ptr[j+1]):
			return Apart
		}
		return squared(rows[i], rows[j])
	}
}

func bitKind(n int, overlap bool) (Rows, func(i, j int) float64) {
	r := rand.New(rand.NewPCG(6, 5))
	data := make([]uint64, 2*n)
	rows := make([][]float32, n)
	for i := range rows {
		if i%10 > 0 {
			data[2*i], data[2*i+1] = r.Uint64()&r.Uint64(), r.Uint64()&r.Uint64()
		}
		for j := range 128 {
			rows[i] = append(rows[i], float32(data[2*i+j/64]>>(j%64)&1))
		}
	}
	return NewBits(2, data, overlap), func(i, j int) float64 {
		if overlap {
			return jaccard(rows[i], rows[j])
		}
		return squared(rows[i], rows[j])
	}
}

// Every meter measures what the definition says, from either point in the same bits, gathered
// or one at a time, in any order of the rows.
func TestMeters(t *testing.T) {
	const n = 60
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i)
	}
	for name, kind := range rowKinds(n) {
		rows, want := kind()
		order := slices.Clone(ids)
		for _, arranged := range []bool{false, true} {
			if arranged {
				slices.Reverse(order)
				order[3], order[40] = order[40], order[3]
				rows.Arrange(order)
			}
			a, b, all := rows.Meter(), rows.Meter(), groupOf(rows.Meter())
			dist, back, among := make([]float32, n), make([]float32, 1), make([]float32, n)
			all.Gather(ids)
			for i := range n {
				a.At(int32(i))
				a.Measure(dist, ids)
				all.Among(among[i+1:], i)
				if !slices.Equal(among[i+1:], dist[i+1:]) {
					t.Fatalf("%s: gathered, %d is at %v of those behind it, else at %v", name, i, among[i+1:], dist[i+1:])
				}
				for j, v := range dist {
					w := want(int(order[i]), int(order[j]))
					if !(math.Abs(float64(v)-w) <= 1e-5*max(w, 1)) {
						t.Fatalf("%s, arranged %v: %d and %d at %v, truly %v", name, arranged, i, j, v, w)
					}
					b.At(int32(j))
					if b.Measure(back, ids[i:i+1]); back[0] != v {
						t.Fatalf("%s: %d and %d at %v, from the other %v", name, i, j, v, back[0])
					}
				}
			}
		}
	}
}

// A search finds neighbours among rows of every kind; these points, without any
// structure and with hubs, are hard to search.
func TestSearchRows(t *testing.T) {
	testmode.Skip(t, testmode.Race, "recall; other tests of the package have the goroutines")
	const n, k = 1500, 10
	for name, kind := range rowKinds(n) {
		rows, want := kind()
		g, err := Search(context.Background(), Set{N: n, Rows: rows}, settings(k))
		if err != nil {
			t.Fatal(err)
		}
		found, asked := 0, 0
		dist := make([]float64, n)
		for i := range int32(100) {
			point := int(g.Order()[i])
			for j := range dist {
				dist[j] = want(point, j)
			}
			dist[point] = math.Inf(1)
			sorted := slices.Sorted(slices.Values(dist))
			if sorted[0] == Apart {
				continue
			}
			for _, j := range g.AppendList(nil, i)[:k] {
				asked++
				if dist[j] <= sorted[k-1]+1e-6 {
					found++
				}
			}
		}
		if !(float64(found) >= 0.7*float64(asked)) || asked < 800 {
			t.Errorf("%s: %d of %d", name, found, asked)
		}
	}
}

// Sketches are as far from each other as the rows, on average and within the spread of
// sums of 32 squares; rows in the order of a tree have theirs in that order.
func TestSketch(t *testing.T) {
	testmode.Skip(t, testmode.Race, "accuracy of distances, without goroutines of its own")
	const n, d = 40, 200
	rows, at := halfKind(n, d, false)
	if short, _ := halfKind(n, 4*SketchColumns-1, false); short.(*Halves).Sketch(n, 1) != nil {
		t.Error("a sketch of rows that are not four times as long")
	}
	order := rand.New(rand.NewPCG(8, 9)).Perm(n)
	place := make([]int32, n)
	for i, v := range order {
		place[i] = int32(v)
	}
	rows.Arrange(place)
	m := rows.(*Halves).Sketch(n, 1).Meter()
	dist := make([]float32, 1)
	var sum float64
	for i := range n {
		m.At(int32(i))
		for j := range n {
			m.Measure(dist, []int32{int32(j)})
			want := at(order[i], order[j])
			if i == j {
				if dist[0] != 0 {
					t.Fatalf("a sketch is %v from itself", dist[0])
				}
				continue
			}
			ratio := float64(dist[0]) / want
			if ratio < 0.2 || ratio > 3 {
				t.Fatalf("sketches %d and %d: squared distance %v, of the rows %v", i, j, dist[0], want)
			}
			sum += ratio
		}
	}
	if mean := sum / (n * (n - 1)); mean < 0.9 || mean > 1.1 {
		t.Errorf("squared distances of sketches are %v times those of the rows on average", mean)
	}
}
