package pruned

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/topk"
)

// points returns normal points whose coordinate j has standard deviation spread(j).
func points(n, d int, spread func(j int) float64) *data.Dense[float64] {
	r := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	x := data.NewDense[float64](n, d)
	for i := range n {
		for j := range x.Row(i) {
			x.Row(i)[j] = spread(j) * r.NormFloat64()
		}
	}
	return x
}

func decaying(j int) float64 { return 1 / float64(j+1) }

func flat(int) float64 { return 1 }

func space(x data.Points) *Space {
	return &Space{X: x, Square: func(t float64) float64 { return t * t * (1 + 1e-15) }, Widen: func(d float64) float64 { return d * (1 + 1e-15) }}
}

// exact measures in float64.
func exact(x, y *data.Dense[float64]) func() Exact {
	return func() Exact {
		return func(i, j int) float64 {
			var s float64
			for p, v := range x.Row(i) {
				d := v - y.Row(j)[p]
				s += d * d
			}
			return math.Sqrt(s)
		}
	}
}

// TestCodesBoundDistances holds the squared distances of codes against the limit that a
// distance of the points sets, for all pairs of points and every cut.
func TestCodesBoundDistances(t *testing.T) {
	outliers := points(300, 60, decaying)
	for i := range 5 {
		for j := range outliers.Row(i) {
			outliers.Row(i)[j] *= 30
		}
	}
	shifted := points(300, 60, func(j int) float64 { return 1e-3 * decaying(j) })
	for i := range shifted.Data {
		shifted.Data[i] += 1e5
	}
	low := points(300, 200, func(j int) float64 { return max(0, float64(9-j)) })
	for name, x := range map[string]*data.Dense[float64]{"decaying": points(300, 150, decaying), "flat": points(300, 40, flat), "outliers": outliers, "shifted": shifted, "of low rank": low} {
		s := space(x)
		f, err := newFrame(context.Background(), s, 0)
		if err != nil {
			t.Fatal(name, err)
		}
		c, err := f.encode(context.Background(), s, x)
		if err != nil {
			t.Fatal(name, err)
		}
		ix := &Index{space: s, frame: f, codes: c}
		measure := exact(x, x)()
		norms := c.squares(nil)
		for cut, m := range f.cuts {
			flat := c.columns(f.cuts, cut, nil)
			tight := 0.0
			for i := range x.Rows {
				for j := range i {
					d := measure(i, j)
					var sum int32
					for p, v := range flat[i*(m+1):][:m+1] {
						e := int32(v) - int32(flat[j*(m+1)+p])
						sum += e * e
					}
					if limit := ix.limit(d*d, 1, 2*c.err[cut]); sum >= limit {
						t.Fatalf("%s, %d columns: codes of %d and %d are %d apart, the limit is %d", name, m, i, j, sum, limit)
					}
					tight = max(tight, float64(sum)*math.Pow(f.step/f.factor/d, 2))
					var inner int32
					for p, v := range c.row(i) {
						inner += int32(v) * int32(c.row(j)[p])
					}
					if near, limit := norms[i]+norms[j]-2*inner, ix.limit(d*d, fine, 2*c.fine); near >= limit {
						t.Fatalf("%s: fine codes of %d and %d are %d apart, the limit is %d", name, i, j, near, limit)
					}
				}
			}
			if m == f.m && name == "decaying" && !(tight > 0.8) {
				t.Errorf("%s: codes are at most %g of a distance apart", name, tight)
			}
		}
	}
}

// TestByteCodesBoundDistances is TestCodesBoundDistances for bytes, whose coordinates are made of
// rounded components.
func TestByteCodesBoundDistances(t *testing.T) {
	wide := points(300, 150, func(j int) float64 { return 200 * decaying(j) })
	x := data.NewDense[uint8](wide.Rows, wide.Cols)
	for i, v := range wide.Data {
		x.Data[i] = uint8(min(max(128+v, 0), 255))
	}
	s := space(x)
	f, err := newFrame(context.Background(), s, 0)
	if err != nil {
		t.Fatal(err)
	}
	if f.bytes == nil || !(f.m < x.Cols) {
		t.Fatal("bytes are rotated like other points")
	}
	c, err := f.encode(context.Background(), s, x)
	if err != nil {
		t.Fatal(err)
	}
	ix := &Index{space: s, frame: f, codes: c}
	norms := c.squares(nil)
	tight := 0.0
	for i := range x.Rows {
		for j := range i {
			var d float64
			for p, v := range x.Row(i) {
				e := float64(v) - float64(x.Row(j)[p])
				d += e * e
			}
			var inner int32
			for p, v := range c.row(i) {
				inner += int32(v) * int32(c.row(j)[p])
			}
			near := norms[i] + norms[j] - 2*inner
			if limit := ix.limit(d, fine, 2*c.fine); near >= limit {
				t.Fatalf("fine codes of %d and %d are %d apart, the limit is %d", i, j, near, limit)
			}
			tight = max(tight, float64(near)*math.Pow(f.step/f.factor/fine, 2)/d)
			for cut, m := range f.cuts {
				flat := c.columns(f.cuts, cut, []int32{int32(i), int32(j)})
				var sum int32
				for p, v := range flat[:m+1] {
					e := int32(v) - int32(flat[m+1+p])
					sum += e * e
				}
				if limit := ix.limit(d, 1, 2*c.err[cut]); sum >= limit {
					t.Fatalf("%d columns: codes of %d and %d are %d apart, the limit is %d", m, i, j, sum, limit)
				}
			}
		}
	}
	if !(tight > 0.95) {
		t.Errorf("fine codes are at most %g of a squared distance apart", tight)
	}
}

// TestOrder has a permutation that keeps the codes of a point together.
func TestOrder(t *testing.T) {
	x := points(1000, 20, decaying)
	s := space(x)
	f, err := newFrame(context.Background(), s, 4)
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.encode(context.Background(), s, x)
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(c.data)
	rest := slices.Clone(c.rest)
	order := c.order(64)
	c.arrange(order)
	if sorted := slices.Sorted(slices.Values(order)); sorted[0] != 0 || sorted[999] != 999 || len(slices.Compact(sorted)) != 1000 {
		t.Fatal("no permutation")
	}
	cuts := len(f.cuts)
	for i, from := range order {
		if !slices.Equal(c.row(i), before[int(from)*c.ld:][:c.ld]) || !slices.Equal(c.rest[i*cuts:][:cuts], rest[int(from)*cuts:][:cuts]) {
			t.Fatalf("codes of point %d are not those of %d", i, from)
		}
	}
	// Points of a block differ less than any points do.
	var near, far float64
	measure := exact(x, x)()
	for i := range 999 {
		near += measure(int(order[i]), int(order[i+1]))
		far += measure(i, i+1)
	}
	if !(near < 0.7*far) {
		t.Errorf("neighbours in the order are %g apart, others %g", near, far)
	}
}

// TestPlan prunes where few coordinates hold most of the distances, and says that it saves
// nothing where the spectrum is flat, where points agree or where nothing can be computed.
func TestPlan(t *testing.T) {
	settings := Settings{K: 5, Plain: 4 * 100, Refined: 100}
	x := points(2000, 100, decaying)
	ix, err := New(context.Background(), space(x), exact(x, x), settings)
	if err != nil {
		t.Fatal(err)
	}
	if p := ix.Plan(); !(p.Columns < 64 && p.Left < 0.05 && p.Measured <= p.Left && p.Faster > 1.5) {
		t.Errorf("the plan is %+v", p)
	}
	equal := data.NewDense[float64](500, 60)
	huge := points(500, 60, func(int) float64 { return 1e160 })
	for name, x := range map[string]*data.Dense[float64]{"flat": points(2000, 400, flat), "equal": equal, "huge": huge} {
		if _, err := New(context.Background(), space(x), exact(x, x), settings); !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(ctx, space(x), exact(x, x), settings); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestFewPairsAreMeasured counts them: the neighbours and little more.
func TestFewPairsAreMeasured(t *testing.T) {
	const n, k = 3000, 6
	x := points(n, 80, decaying)
	counts := 0
	measure := exact(x, x)()
	counted := func() Exact {
		return func(i, j int) float64 {
			counts++
			return measure(i, j)
		}
	}
	ix, err := New(context.Background(), space(x), counted, Settings{K: k, Columns: 31})
	if err != nil {
		t.Fatal(err)
	}
	few := data.Slice(x, 0, 60).(*data.Dense[float64])
	counts = 0 // one goroutine answers one stripe, so it needs no lock
	err = ix.Query(context.Background(), few, k, counted, func(int) {}, func(i int, list []topk.Pair) {
		if len(list) != k || int(list[0].Index) != i || list[0].Dist != 0 {
			t.Errorf("point %d finds %v", i, list)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if counts > 60*10*k {
		t.Errorf("%d pairs were measured for %d queries of %d neighbours", counts, 60, k)
	}
}
