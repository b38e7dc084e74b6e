package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	jb "github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"
)

// randomCSR returns a rows×cols matrix with the given share of entries, without
// values if binary.
func randomCSR(rng *rand.Rand, rows, cols int, share float64, binary bool) *CSR {
	m := &CSR{Rows: rows, Cols: cols, Ptr: []int64{0}, Col: []int32{}}
	if !binary {
		m.Val = []float64{}
	}
	for range rows {
		for j := range cols {
			if rng.Float64() < share {
				m.Col = append(m.Col, int32(j))
				if !binary {
					m.Val = append(m.Val, rng.NormFloat64())
				}
			}
		}
		m.Ptr = append(m.Ptr, int64(len(m.Col)))
	}
	return m
}

// randomGraph returns a symmetric non-negative matrix; loops go on the diagonal.
func randomGraph(rng *rand.Rand, n int, share float64, binary, loops bool) *CSR {
	var i, j []int32
	var v []float64
	for a := range n {
		for b := range a + 1 {
			if rng.Float64() >= share || a == b && !loops {
				continue
			}
			w := 1.0
			if !binary {
				w = rng.ExpFloat64()
			}
			i, j, v = append(i, int32(a)), append(j, int32(b)), append(v, w)
			if a != b {
				i, j, v = append(i, int32(b)), append(j, int32(a)), append(v, w)
			}
		}
	}
	m, err := FromTriplets(n, n, i, j, v)
	if err != nil {
		panic(err)
	}
	if binary {
		m.Val = nil
	}
	return m
}

func TestCSR(t *testing.T) {
	m := goldenA()
	if r, c := m.Dims(); r != 4 || c != 5 || m.NNZ() != 5 {
		t.Errorf("%d×%d with %d entries", r, c, m.NNZ())
	}
	want := [][]float64{{0, 2, 0, 0, 1.5}, {0, 0, 0, 0, 0}, {-1, 0, 3, 0, 0}, {0, 0, 0, 4, 0}}
	ones := goldenA()
	ones.Val = nil
	for i := range want {
		for j, v := range want[i] {
			if m.At(i, j) != v {
				t.Errorf("At(%d, %d) = %v, want %v", i, j, m.At(i, j), v)
			}
			if v != 0 {
				v = 1
			}
			if ones.At(i, j) != v {
				t.Errorf("without values At(%d, %d) = %v, want %v", i, j, ones.At(i, j), v)
			}
		}
	}
	if col, val := m.Row(2); !slices.Equal(col, []int32{0, 2}) || !slices.Equal(val, []float64{-1, 3}) {
		t.Errorf("row 2 is %v %v", col, val)
	}
	if col, val := ones.Row(0); !slices.Equal(col, []int32{1, 4}) || val != nil {
		t.Errorf("row 0 without values is %v %v", col, val)
	}
}

func TestValidate(t *testing.T) {
	for _, m := range []*CSR{goldenA(), {Ptr: []int64{0}}, {Cols: 3, Ptr: []int64{0}}, {Rows: 2, Ptr: []int64{0, 0, 0}}} {
		if err := m.Validate(); err != nil {
			t.Errorf("%+v: %v", m, err)
		}
	}
	for _, c := range []struct {
		damage func(m *CSR)
		parts  []string
	}{
		{func(m *CSR) { m.Rows = -1 }, []string{"-1×5"}},
		{func(m *CSR) { m.Cols = math.MaxInt32 + 1 }, []string{"4×2147483648"}},
		{func(m *CSR) { m.Ptr = nil }, []string{"0 row pointers for 4 rows"}},
		{func(m *CSR) { m.Ptr = m.Ptr[:4] }, []string{"4 row pointers", "want 5"}},
		{func(m *CSR) { m.Ptr[0] = 1 }, []string{"beginning with 0"}},
		{func(m *CSR) { m.Val = m.Val[:3] }, []string{"3 values for 5"}},
		{func(m *CSR) { m.Ptr[4] = 7 }, []string{"last row pointer is 7", "5 entries"}},
		{func(m *CSR) { m.Ptr[2] = 1 }, []string{"row 1 spans entries 2 to 1"}},
		{func(m *CSR) { m.Ptr[2] = 9 }, []string{"row 1 spans entries 2 to 9 of 5"}},
		{func(m *CSR) { m.Ptr[1] = -1 }, []string{"row 0 spans entries 0 to -1"}},
		{func(m *CSR) { m.Col[3] = 5 }, []string{"row 2 has column 5", "[0, 5)"}},
		{func(m *CSR) { m.Col[4] = -2 }, []string{"row 3 has column -2"}},
		{func(m *CSR) { m.Col[1] = 1 }, []string{"row 0 has column 1 after column 1"}},
		{func(m *CSR) { m.Col[0], m.Col[1] = 4, 1 }, []string{"row 0 has column 1 after column 4"}},
		{func(m *CSR) { m.Val[3] = math.NaN() }, []string{"(2, 2) is NaN"}},
		{func(m *CSR) { m.Val[4] = math.Inf(-1) }, []string{"(3, 3) is -Inf"}},
	} {
		m := goldenA()
		c.damage(m)
		wantError(t, m.Validate(), c.parts...)
		wantError(t, m.CheckGraph(), c.parts...)
	}
}

func TestFromTriplets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		rows, cols, n := 1+rng.IntN(8), 1+rng.IntN(8), rng.IntN(70)
		i, j, v := make([]int32, n), make([]int32, n), make([]float64, n)
		want := mat.NewDense(rows, cols, nil)
		stored := map[[2]int32]bool{}
		for p := range n {
			i[p], j[p], v[p] = int32(rng.IntN(rows)), int32(rng.IntN(cols)), float64(rng.IntN(7)-3)
			want.Set(int(i[p]), int(j[p]), want.At(int(i[p]), int(j[p]))+v[p])
			stored[[2]int32{i[p], j[p]}] = true
		}
		oi, oj, ov := slices.Clone(i), slices.Clone(j), slices.Clone(v)
		m, err := FromTriplets(rows, cols, i, j, v)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(m.ToDense(), want) || m.NNZ() != len(stored) {
			t.Fatalf("%v, want %v with %d entries", m, mat.Formatted(want), len(stored))
		}
		if !slices.Equal(i, oi) || !slices.Equal(j, oj) || !slices.Equal(v, ov) {
			t.Fatal("the input was changed")
		}
	}
	// Entries at one place are added in the order given.
	m, err := FromTriplets(1, 1, []int32{0, 0, 0}, []int32{0, 0, 0}, []float64{1e16, -1e16, 1})
	if err != nil || m.At(0, 0) != 1 {
		t.Errorf("1e16 − 1e16 + 1 = %v (%v)", m.At(0, 0), err)
	}
	m, err = FromTriplets(0, 0, nil, nil, nil)
	if err != nil || m.Validate() != nil {
		t.Errorf("empty: %+v (%v)", m, err)
	}
	_, err = FromTriplets(2, 3, []int32{0, 2}, []int32{0, 0}, []float64{1, 1})
	wantError(t, err, "entry 1", "(2, 0)", "2×3")
	_, err = FromTriplets(2, 3, []int32{0, 1}, []int32{0, 3}, []float64{1, 1})
	wantError(t, err, "entry 1", "(1, 3)", "2×3")
	_, err = FromTriplets(2, 3, []int32{-1}, []int32{0}, []float64{1})
	wantError(t, err, "entry 0", "(-1, 0)")
	_, err = FromTriplets(2, 3, []int32{0}, []int32{-7}, []float64{1})
	wantError(t, err, "entry 0", "(0, -7)")
	_, err = FromTriplets(2, 3, []int32{0}, []int32{0, 1}, []float64{1})
	wantError(t, err, "1 row indices, 2 column indices and 1 values")
	_, err = FromTriplets(2, 3, []int32{0}, []int32{0}, nil)
	wantError(t, err, "0 values")
	_, err = FromTriplets(-2, 3, nil, nil, nil)
	wantError(t, err, "-2×3")
	_, err = FromTriplets(2, 1<<31, nil, nil, nil)
	wantError(t, err, "2×2147483648")
}

func TestTranspose(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for round := range 40 {
		m := randomCSR(rng, 1+rng.IntN(9), 1+rng.IntN(9), rng.Float64(), round%2 == 0)
		mt := m.T()
		if err := mt.Validate(); err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(mt.ToDense(), m.ToDense().T()) || (mt.Val == nil) != (m.Val == nil) {
			t.Fatalf("the transpose of %+v is %+v", m, mt)
		}
		if back := mt.T(); !reflect.DeepEqual(back, m) {
			t.Fatalf("%+v transposed twice is %+v", m, back)
		}
	}
}

func TestSymmetrize(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for round := range 60 {
		n := 1 + rng.IntN(9)
		m := randomCSR(rng, n, n, rng.Float64(), round%2 == 0)
		for p := range m.Val {
			m.Val[p] = math.Abs(m.Val[p])
			if p%5 == 0 {
				m.Val[p] = 0 // stored zeros count as present
			}
		}
		for _, s := range []Symmetry{Either, Both, Sum} {
			got := m.Symmetrize(s)
			if err := got.CheckGraph(); err != nil {
				t.Fatal(err)
			}
			if (got.Val == nil) != (m.Val == nil && s != Sum) {
				t.Fatal("values appear or vanish")
			}
			stored := func(a *CSR, i, j int) bool {
				col, _ := a.Row(i)
				return slices.Contains(col, int32(j))
			}
			for i := range n {
				for j := range n {
					a, b := m.At(i, j), m.At(j, i)
					want, present := max(a, b), stored(m, i, j) || stored(m, j, i)
					switch s {
					case Both:
						want, present = min(a, b), stored(m, i, j) && stored(m, j, i)
					case Sum:
						want = a + b
					}
					if got.At(i, j) != want || stored(got, i, j) != present {
						t.Fatalf("%v: (%d, %d) of %v and %v is %v", s, i, j, a, b, got.At(i, j))
					}
				}
			}
			if again := got.Symmetrize(s); s != Sum && !reflect.DeepEqual(again, got) {
				t.Fatalf("%v: symmetrized twice: %+v after %+v", s, again, got)
			}
		}
	}
}

// TestInduced compares with the entries.
func TestInduced(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, binary := range []bool{false, true} {
		m := randomCSR(rng, 40, 40, 0.2, binary)
		for _, vertices := range [][]int32{nil, {7}, {0, 3, 4, 19, 39}} {
			got := Induced(m, vertices, func(v int32) int32 { return int32(slices.Index(vertices, v)) })
			if err := got.Validate(); err != nil || got.Rows != len(vertices) || got.Cols != len(vertices) || (got.Val == nil) != binary {
				t.Fatalf("%d×%d, values %t: %v", got.Rows, got.Cols, got.Val != nil, err)
			}
			for a, i := range vertices {
				for b, j := range vertices {
					if got.At(a, b) != m.At(int(i), int(j)) {
						t.Errorf("(%d, %d) is %v, of vertices %d and %d %v", a, b, got.At(a, b), i, j, m.At(int(i), int(j)))
					}
				}
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, s := range []Symmetry{Either, Both, Sum} {
		text, err := s.MarshalText()
		var back Symmetry = -1
		if err != nil || back.UnmarshalText(text) != nil || back != s || string(text) != s.String() {
			t.Errorf("%d becomes %q becomes %d", s, text, back)
		}
	}
	for _, k := range []Kind{Combinatorial, Normalized, RandomWalk} {
		text, err := k.MarshalText()
		var back Kind = -1
		if err != nil || back.UnmarshalText(text) != nil || back != k || string(text) != k.String() {
			t.Errorf("%d becomes %q becomes %d", k, text, back)
		}
	}
	var s Symmetry
	wantError(t, s.UnmarshalText([]byte("all")), `symmetrization "all"`, "either", "both", "sum")
	k := RandomWalk
	wantError(t, k.UnmarshalText([]byte("signless")), `Laplacian "signless"`, "combinatorial", "normalized", "random-walk")
	if k != RandomWalk {
		t.Errorf("a wrong name changed the value to %v", k)
	}
	if text := Kind(9).String(); !strings.Contains(text, "9") {
		t.Errorf("Kind(9) is %q", text)
	}
}

func TestCheckGraph(t *testing.T) {
	dense := func(n int, x ...float64) *CSR { return FromDense(mat.NewDense(n, len(x)/n, x)) }
	for _, m := range []*CSR{
		dense(2, 0, 1, 1, 0), dense(2, 3, 1, 1, 0), dense(3, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		dense(2, 0, 1, 1+9e-13, 0), dense(2, 0, 1e200, 1e200*(1+9e-13), 0),
		{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 2}, Col: []int32{1, 0}},
		{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 2}, Col: []int32{1, 0}, Val: []float64{0, 0}},
		{Ptr: []int64{0}},
	} {
		if err := m.CheckGraph(); err != nil {
			t.Errorf("%+v: %v", m, err)
		}
	}
	binary := &CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 1}, Col: []int32{1}}
	for _, c := range []struct {
		m     *CSR
		parts []string
	}{
		{dense(2, 0, 1, 0, 1, 0, 0), []string{"square", "2×3"}},
		{dense(3, 0, 1, 0, 1, 0, 0), []string{"square", "3×2"}},
		{dense(2, 0, 1, 0, 0), []string{"not symmetric", "(0, 1) and (1, 0)", "only one is stored"}},
		{dense(2, 0, 0, 1, 0), []string{"not symmetric", "(0, 1) and (1, 0)"}},
		{binary, []string{"not symmetric", "(0, 1) and (1, 0)"}},
		{dense(3, 0, 1, 0, 1, 0, 2, 0, 0, 0), []string{"(1, 2) and (2, 1)", "only one"}},
		{dense(3, 0, 1, 0, 1, 0, 0, 0, 2, 0), []string{"(1, 2) and (2, 1)", "only one"}},
		{dense(2, 0, -1, -1, 0), []string{"weight (0, 1) is -1", "negative"}},
		{dense(2, 1, 0, 0, -3), []string{"weight (1, 1) is -3", "negative"}},
		{dense(2, 0, 1, 2, 0), []string{"weight (0, 1) is 1 but (1, 0) is 2"}},
		{dense(2, 0, 1, 1+3e-12, 0), []string{"not symmetric", "(0, 1)", "(1, 0)"}},
		{dense(2, 0, 1e-20, 1.1e-20, 0), []string{"weight (0, 1) is 1e-20 but (1, 0) is 1.1e-20"}},
		{dense(2, 0, 1, math.NaN(), 0), []string{"(1, 0) is NaN"}},
	} {
		wantError(t, c.m.CheckGraph(), c.parts...)
		_, err := NewLaplacian(c.m, Normalized)
		wantError(t, err, c.parts...)
	}
}

func TestDegrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for round := range 20 {
		m := randomCSR(rng, 1+rng.IntN(30), 1+rng.IntN(9), rng.Float64(), round%2 == 0)
		dense := m.ToDense()
		for i, d := range m.Degrees() {
			if want := mat.Sum(dense.RowView(i)); !(math.Abs(d-want) <= 1e-14*float64(m.Cols)) {
				t.Errorf("row %d adds up to %v, want %v", i, d, want)
			}
		}
	}
}

func TestComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for round := range 60 {
		n := 1 + rng.IntN(40)
		m := randomGraph(rng, n, 2*rng.Float64()/float64(n), round%2 == 0, true)
		for p := range m.Val {
			if m.Val[p] < 0.3 {
				m.Val[p] = 0 // joins nothing; symmetric as the weights are
			}
		}
		// Union-find as the reference.
		parent := make([]int, n)
		for i := range parent {
			parent[i] = i
		}
		find := func(i int) int {
			for parent[i] != i {
				i = parent[i]
			}
			return i
		}
		for i := range n {
			for j := range n {
				if m.At(i, j) != 0 {
					a, b := find(i), find(j)
					parent[max(a, b)] = min(a, b) // the root is the smallest vertex
				}
			}
		}
		number := map[int]int32{}
		var sizes []int
		c := m.Components()
		for i := range n {
			root := find(i)
			id, ok := number[root]
			if !ok {
				id = int32(len(number))
				number[root] = id
				sizes = append(sizes, 0)
			}
			sizes[id]++
			if c.Of[i] != id {
				t.Fatalf("vertex %d is in component %d, want %d", i, c.Of[i], id)
			}
		}
		alone := 0
		for _, s := range sizes {
			if s == 1 {
				alone++
			}
		}
		if !slices.Equal(c.Sizes, sizes) || c.Count() != len(sizes) || c.Isolated() != alone {
			t.Fatalf("sizes %v (%d isolated), want %v (%d)", c.Sizes, c.Isolated(), sizes, alone)
		}
	}
	if c := (&CSR{Ptr: []int64{0}}).Components(); c.Count() != 0 || c.Isolated() != 0 {
		t.Errorf("an empty graph has %d components", c.Count())
	}
}

func TestJamesBowman(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for round := range 20 {
		m := randomCSR(rng, 1+rng.IntN(9), 1+rng.IntN(9), rng.Float64(), round%2 == 0)
		want := m.ToDense()
		there := m.ToJamesBowman()
		if !mat.Equal(there, want) || there.NNZ() != m.NNZ() {
			t.Fatalf("%+v becomes %v", m, mat.Formatted(there))
		}
		for _, other := range []jb.Sparser{there, there.ToCSC(), there.ToCOO(), there.ToDOK()} {
			back, err := FromJamesBowman(other)
			if err != nil || back.Validate() != nil || !mat.Equal(back.ToDense(), want) {
				t.Fatalf("%T comes back as %+v (%v)", other, back, err)
			}
		}
		if m.NNZ() > 0 { // a copy, not an alias
			there.RawMatrix().Data[0] = 77
			there.RawMatrix().Ind[0] = 0
			if !mat.Equal(m.ToDense(), want) {
				t.Fatal("the copy shares memory")
			}
		}
	}
	// Duplicates are added, unsorted columns sorted.
	m, err := FromJamesBowman(jb.NewCSR(2, 3, []int{0, 3, 4}, []int{2, 0, 2, 1}, []float64{1, 5, 3, 7}))
	if want := (&CSR{Rows: 2, Cols: 3, Ptr: []int64{0, 2, 3}, Col: []int32{0, 2, 1}, Val: []float64{5, 4, 7}}); err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("%+v (%v), want %+v", m, err, want)
	}
	for _, c := range []struct {
		column int
		part   string
	}{{3, "(0, 3)"}, {-1, "(0, -1)"}, {1 << 32, "(0, 4294967296)"}, {1<<32 + 1, "(0, 4294967297)"}} {
		_, err := FromJamesBowman(jb.NewCSR(2, 3, []int{0, 1, 1}, []int{c.column}, []float64{1}))
		wantError(t, err, "entry 0", c.part, "2×3")
	}
	_, err = FromJamesBowman(jb.NewCOO(1<<31, 1, nil, nil, nil))
	wantError(t, err, "2147483648×1")
}

func TestDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for range 20 {
		m := randomCSR(rng, 1+rng.IntN(9), 1+rng.IntN(9), rng.Float64(), false)
		back := FromDense(m.ToDense())
		if back.Rows != m.Rows || back.Cols != m.Cols || !slices.Equal(back.Ptr, m.Ptr) || !slices.Equal(back.Col, m.Col) || !slices.Equal(back.Val, m.Val) {
			t.Fatalf("%+v comes back as %+v", m, back)
		}
	}
	m := FromDense(mat.NewSymDense(2, []float64{0, 2, 2, math.NaN()}))
	if m.NNZ() != 3 || !math.IsNaN(m.At(1, 1)) {
		t.Errorf("NaN is lost: %+v", m)
	}
}

// laplacianDense forms (L + cI)ᵖ entry by entry.
func laplacianDense(w *CSR, kind Kind, power int, shift float64) *mat.Dense {
	n := w.Rows
	d := make([]float64, n)
	for i := range n {
		for j := range n {
			d[i] += w.At(i, j)
		}
	}
	l := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			v := -w.At(i, j)
			if kind == Combinatorial {
				if i == j {
					v += d[i]
				}
			} else if d[i] > 0 && d[j] > 0 {
				v /= math.Sqrt(d[i] * d[j])
				if i == j {
					v++
				}
			} else {
				v = 0
			}
			if i == j {
				v += shift
			}
			l.Set(i, j, v)
		}
	}
	var out mat.Dense
	out.Pow(l, power)
	return &out
}

func randomBlock(rng *rand.Rand, n, b int) *mat.Dense {
	x := mat.NewDense(n, b, nil)
	for i := range n {
		for j := range b {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	return x
}

// padded copies x into a slice of a larger matrix whose border is NaN, and
// returns a check that the border is untouched.
func padded(x *mat.Dense) (*mat.Dense, func() bool) {
	n, b := x.Dims()
	large := mat.NewDense(n+2, b+3, nil)
	for i := range n + 2 {
		for j := range b + 3 {
			large.Set(i, j, math.NaN())
		}
	}
	inner := large.Slice(1, n+1, 2, b+2).(*mat.Dense)
	inner.Copy(x)
	return inner, func() bool {
		for i := range n + 2 {
			for j := range b + 3 {
				if outside := i < 1 || i > n || j < 2 || j >= b+2; outside && !math.IsNaN(large.At(i, j)) {
					return false
				}
			}
		}
		return true
	}
}

func TestLaplacian(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for round := range 24 {
		n := 1 + rng.IntN(40)
		w := randomGraph(rng, n, min(1, 4*rng.Float64()/float64(n)), round%2 == 0, round%3 == 0)
		for _, kind := range []Kind{Combinatorial, Normalized, RandomWalk} {
			base, err := NewLaplacian(w, kind)
			if err != nil {
				t.Fatal(err)
			}
			if base.Dim() != n || base.Kind() != kind || base.Graph() != w || !slices.Equal(base.Degrees(), w.Degrees()) {
				t.Fatalf("dimension %d, kind %v", base.Dim(), base.Kind())
			}
			for _, c := range []struct {
				power int
				shift float64
			}{{1, 0}, {1, 0.7}, {1, -0.3}, {2, 0}, {2, 0.5}, {2, -3}, {3, 0}, {4, 0.1}, {5, -1}} {
				op := base.With(c.power, c.shift)
				a := laplacianDense(w, kind, c.power, c.shift)
				norm := math.Max(1, mat.Norm(a, 2))
				name := fmt.Sprintf("n = %d, %v, power %d, shift %v", n, kind, c.power, c.shift)
				for _, b := range []int{1, 2, 3, 7, 8, 16, 19} {
					x, y := randomBlock(rng, n, b), randomBlock(rng, n, b)
					var want mat.Dense
					want.Mul(a, x)
					xs, xsIntact := padded(x)
					dst, intact := padded(y)
					op.MulTo(dst, xs)
					checkBlock(t, name+": MulTo", dst, &want, 1e-13*norm)
					if !intact() || !xsIntact() || !mat.Equal(xs, x) {
						t.Errorf("%s: MulTo wrote outside dst", name)
					}

					alpha, beta, gamma := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
					want.Scale(alpha, &want)
					var part mat.Dense
					part.Scale(beta, x)
					want.Add(&want, &part)
					part.Scale(gamma, y)
					want.Add(&want, &part)
					ys, ysIntact := padded(y)
					dst, intact = padded(randomBlock(rng, n, b))
					op.RecurTo(dst, alpha, xs, beta, gamma, ys)
					checkBlock(t, name+": RecurTo", dst, &want, 1e-13*norm)
					if !intact() || !ysIntact() || !mat.Equal(xs, x) || !mat.Equal(ys, y) {
						t.Errorf("%s: RecurTo wrote outside dst", name)
					}
					op.RecurTo(ys, alpha, xs, beta, gamma, ys) // dst may be y
					if !mat.Equal(ys, dst) {
						t.Errorf("%s: RecurTo with dst = y differs", name)
					}
				}
				var e mat.EigenSym
				sym := mat.NewSymDense(n, nil)
				for i := range n {
					for j := range i + 1 {
						sym.SetSym(i, j, a.At(i, j))
					}
				}
				if !e.Factorize(sym, false) {
					t.Fatal("no eigenvalues")
				}
				top := slices.Max(e.Values(nil))
				if bound := op.UpperBound(); !(top <= bound+1e-12*norm) {
					t.Errorf("%s: largest eigenvalue %v, bounded by %v", name, top, bound)
				}
			}
			if base.With(1, 0).UpperBound() != base.UpperBound() {
				t.Error("With(1, 0) is not L")
			}
		}
	}
}

func checkBlock(t *testing.T, name string, got, want mat.Matrix, bar float64) {
	t.Helper()
	r, c := want.Dims()
	for i := range r {
		for j := range c {
			if !(math.Abs(got.At(i, j)-want.At(i, j)) <= bar) {
				t.Errorf("%s: (%d, %d) is %v, want %v", name, i, j, got.At(i, j), want.At(i, j))
				return
			}
		}
	}
}

// TestUpperBoundTight: regular bipartite graphs reach Anderson's and Morley's
// bound.
func TestUpperBoundTight(t *testing.T) {
	var i, j []int32
	for k := range int32(8) {
		i, j = append(i, k, (k+1)%8), append(j, (k+1)%8, k)
	}
	w, err := FromTriplets(8, 8, i, j, slices.Repeat([]float64{2.5}, 16))
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range []float64{10, 2, 2} {
		l, err := NewLaplacian(w, Kind(kind))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			power       int
			shift, want float64
		}{{1, 0, want}, {1, 1, want + 1}, {3, 0, want * want * want}, {2, 1, (want + 1) * (want + 1)}, {2, -100, 1e4}} {
			if got := l.With(c.power, c.shift).UpperBound(); !(math.Abs(got-c.want) <= 1e-12*c.want) {
				t.Errorf("%v, power %d, shift %v: bound %v, want %v", Kind(kind), c.power, c.shift, got, c.want)
			}
		}
	}
}

// TestLaplacianTinyWeights: degrees whose reciprocals overflow in a product.
func TestLaplacianTinyWeights(t *testing.T) {
	for _, weight := range []float64{1e-300, 1e-310, 1e-320, 5e-324, 1e300} {
		w := FromDense(mat.NewDense(2, 2, []float64{0, weight, weight, 0}))
		l, err := NewLaplacian(w, Normalized)
		if err != nil {
			t.Fatal(err)
		}
		got := mat.NewDense(2, 2, nil)
		l.MulTo(got, mat.NewDense(2, 2, []float64{1, 0, 0, 1}))
		checkBlock(t, fmt.Sprintf("weight %g", weight), got, mat.NewDense(2, 2, []float64{1, -1, -1, 1}), 1e-12)
	}
}

func TestLaplacianShapes(t *testing.T) {
	w := randomGraph(rand.New(rand.NewPCG(1, 2)), 6, 0.5, true, false)
	l, err := NewLaplacian(w, Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	block := func(n, b int) *mat.Dense { return mat.NewDense(n, b, nil) }
	for name, f := range map[string]func(){
		"x too short":      func() { l.MulTo(block(6, 2), block(5, 2)) },
		"dst too short":    func() { l.MulTo(block(5, 2), block(6, 2)) },
		"different widths": func() { l.MulTo(block(6, 3), block(6, 2)) },
		"both too long":    func() { l.MulTo(block(7, 2), block(7, 2)) },
		"power 0":          func() { l.With(0, 1) },
		"power -1":         func() { l.With(-1, 1) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "sparse:") {
					t.Errorf("%s: panic %v, want one that begins with sparse:", name, r)
				}
			}()
			f()
		}()
	}
}

func TestNullVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 1))
	for round := range 30 {
		n := 1 + rng.IntN(50)
		w := randomGraph(rng, n, rng.Float64()*1.5/float64(n), round%2 == 0, round%3 == 0)
		c := w.Components()
		for _, kind := range []Kind{Combinatorial, Normalized, RandomWalk} {
			l, err := NewLaplacian(w, kind)
			if err != nil {
				t.Fatal(err)
			}
			all := l.NullVectors(c, n)
			if _, k := all.Dims(); k != c.Count() {
				t.Fatalf("%d null vectors for %d components", k, c.Count())
			}
			var gram mat.Dense
			gram.Mul(all.T(), all)
			for i := range c.Count() {
				gram.Set(i, i, gram.At(i, i)-1)
			}
			if e := mat.Max(&gram); !(e <= 1e-14) {
				t.Errorf("%v: VᵀV − I reaches %.1e", kind, e)
			}
			product := mat.NewDense(n, c.Count(), nil)
			l.MulTo(product, all)
			scale := 1.0
			for _, d := range w.Degrees() {
				scale = max(scale, d)
			}
			if e := mat.Norm(product, 2); !(e <= 1e-14*scale*float64(n)) {
				t.Errorf("%v: ‖LV‖ = %.1e", kind, e)
			}
			for i := range n {
				for j := range c.Count() {
					if v := all.At(i, j); (v != 0) != (int(c.Of[i]) == j) || v < 0 {
						t.Fatalf("%v: vector %d at vertex %d of component %d is %v", kind, j, i, c.Of[i], v)
					}
				}
			}
			for limit := 1; limit <= c.Count(); limit++ {
				some := l.NullVectors(c, limit)
				if !mat.Equal(some, all.Slice(0, n, 0, limit)) {
					t.Fatalf("%v: the first %d null vectors differ", kind, limit)
				}
			}
			if l.NullVectors(c, 0) != nil {
				t.Error("limit 0 gives vectors")
			}
		}
	}
}

// TestSameBits compares products at several GOMAXPROCS.
func TestSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(11, 1))
	const n = 3000
	var i, j []int32
	var v []float64
	for range 5 * n {
		a, b, w := int32(rng.IntN(n)), int32(rng.IntN(n)), rng.Float64()
		i, j, v = append(i, a, b), append(j, b, a), append(v, w, w)
	}
	w, err := FromTriplets(n, n, i, j, v)
	if err != nil {
		t.Fatal(err)
	}
	w = w.Symmetrize(Either)
	x, y := randomBlock(rng, n, 5), randomBlock(rng, n, 5)
	var first [3][]float64
	for _, procs := range []int{1, 2, 3} {
		runtime.GOMAXPROCS(procs)
		l, err := NewLaplacian(w, Normalized)
		if err != nil {
			t.Fatal(err)
		}
		product, recurred := mat.NewDense(n, 5, nil), mat.NewDense(n, 5, nil)
		l.With(3, 0.1).MulTo(product, x)
		l.RecurTo(recurred, 0.3, x, -2, 0.7, y)
		got := [3][]float64{w.Degrees(), product.RawMatrix().Data, recurred.RawMatrix().Data}
		if procs == 1 {
			first = got
		} else if !reflect.DeepEqual(got, first) {
			t.Errorf("GOMAXPROCS %d changes the bits", procs)
		}
	}
}

// Degrees beyond float64 are refused; sums of those just below are not infinite in the
// null vectors.
func TestHugeWeights(t *testing.T) {
	pair := func(n int, w float64) *CSR {
		var i, j []int32
		var v []float64
		for p := range int32(n - 1) {
			i, j, v = append(i, p, p+1), append(j, p+1, p), append(v, w, w)
		}
		m, err := FromTriplets(n, n, i, j, v)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if err := pair(3, 1.5e308).CheckGraph(); err == nil || !strings.Contains(err.Error(), "vertex 1") || !strings.Contains(err.Error(), "1.5e+308") || !strings.Contains(err.Error(), "divide all weights") {
		t.Errorf("a degree of 3e308: %v", err)
	}
	for _, w := range []float64{8e307, 1e-310} {
		m := pair(200, w)
		l, err := NewLaplacian(m, Normalized)
		if err != nil {
			t.Fatal(err)
		}
		null := l.NullVectors(m.Components(), 1)
		if norm := mat.Norm(null, 2); !(math.Abs(norm-1) <= 1e-12) {
			t.Errorf("weights of %v: the null vector has the length %v", w, norm)
		}
	}
	l, err := NewLaplacian(pair(9, 3), Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	x, a, b := mat.NewDense(9, 1, nil), mat.NewDense(9, 1, nil), mat.NewDense(9, 1, nil)
	for i := range 9 {
		x.Set(i, 0, math.Sin(float64(i)))
	}
	l.With(2, 0).MulTo(a, x)
	l.With(2, 0).Scaled(-7).MulTo(b, x)
	a.Scale(math.Ldexp(1, -14), a)
	if !mat.Equal(a, b) {
		t.Error("Scaled(-7) to the power 2 is not 2^-14 times the operator")
	}
}

func TestForm(t *testing.T) {
	w := ring(9, 2, true)
	w.Val[0] = 0.25 // row 0 has 1 first
	w.Val[w.Ptr[1]] = 0.25
	loops, err := FromTriplets(3, 3, []int32{0, 0, 1, 1}, []int32{0, 1, 0, 1}, []float64{2, 1, 1, 3})
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*CSR{"weighted": w, "ones": ring(9, 2, false), "loops": loops} {
		for _, kind := range []Kind{Combinatorial, Normalized} {
			l, err := NewLaplacian(g, kind)
			if err != nil {
				t.Fatal(err)
			}
			l = l.With(1, 0.5)
			n := g.Rows
			ground, pinned := make([]float64, n), make([]bool, n)
			ground[1], pinned[2] = 3, true
			m := l.Form(2, ground, pinned)
			if err := m.Validate(); err != nil {
				t.Fatal(err)
			}
			unit, image := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
			for i := range n {
				unit.Set(i, i, 1)
			}
			l.MulTo(image, unit)
			for i := range n {
				for j := range n {
					want := 2 * image.At(i, j)
					switch {
					case pinned[i] || pinned[j]:
						want = 0
						if i == j {
							want = 1
						}
					case i == j:
						want += ground[i]
					}
					if got := m.At(i, j); !(math.Abs(got-want) <= 1e-14) {
						t.Errorf("%s, %v: entry (%d, %d) is %v, want %v", name, kind, i, j, got, want)
					}
				}
			}
		}
	}
}

// DensityNormalized divides a weight by the degrees of both ends; a path shows it by hand.
func TestDensityNormalized(t *testing.T) {
	w := &CSR{Rows: 4, Cols: 4, Ptr: []int64{0, 1, 3, 4, 4}, Col: []int32{1, 0, 2, 1}, Val: []float64{2, 2, 6, 6}}
	for _, alpha := range []float64{0, 0.5, 1} {
		n, q := w.DensityNormalized(alpha)
		if want := []float64{2, 8, 6, 0}; !slices.Equal(q, want) {
			t.Errorf("degrees %v, not %v", q, want)
		}
		for p, want := range []float64{2 / math.Pow(16, alpha), 2 / math.Pow(16, alpha), 6 / math.Pow(48, alpha), 6 / math.Pow(48, alpha)} {
			if !(math.Abs(n.Val[p]-want) < 1e-15) {
				t.Errorf("α = %v: weight %d is %v, not %v", alpha, p, n.Val[p], want)
			}
		}
		if n.Val[0] != n.Val[1] || n.Val[2] != n.Val[3] {
			t.Errorf("α = %v: not symmetric", alpha)
		}
	}
	ones := &CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 2}, Col: []int32{1, 0}}
	if n, _ := ones.DensityNormalized(1); n.Val[0] != 1 {
		t.Errorf("weights of ones became %v", n.Val)
	}
}
