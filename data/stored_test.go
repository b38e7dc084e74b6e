package data

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// inParts returns x in each kind of points that holds it, in parts of the given sizes, beside
// the dense points they must behave as.
func inParts(t *testing.T, d int, sizes ...int) (sets []*Stored, same []Points) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, uint64(d)))
	n := 0
	for _, s := range sizes {
		n += s
	}
	half := make([]uint16, n*d)
	bytes := make([]uint8, n*d)
	bits := make([]bool, n*d)
	x16 := NewDense[float32](n, d)
	x32 := NewDense[float32](n, d)
	x64 := NewDense[float64](n, d)
	xBits := NewDense[float64](n, d)
	for i := range half {
		half[i] = simd.ToHalf(float32(r.NormFloat64()))
		x16.Data[i] = simd.FromHalf(half[i])
		x32.Data[i] = float32(r.NormFloat64())
		x64.Data[i] = r.NormFloat64()
		bytes[i] = uint8(r.Uint32())
		bits[i] = r.IntN(2) == 1
		if bits[i] {
			xBits.Data[i] = 1
		}
	}
	cut := func(k Kind, raw []byte) *Stored {
		var list []*Stored
		for _, s := range sizes {
			size := s * d * k.Size()
			list = append(list, &Stored{Rows: s, Cols: d, kind: k, parts: onePart(s, raw[:size])})
			raw = raw[size:]
		}
		x, err := Joined(list...)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	sets = []*Stored{cut(Float16, numbers.Bytes(half)), cut(Float32, numbers.Bytes(x32.Data)), cut(Float64, numbers.Bytes(x64.Data)), cut(Uint8, bytes), cut(Bool, numbers.Bytes(bits))}
	return sets, []Points{x16, x32, x64, &Dense[uint8]{n, d, bytes}, xBits}
}

// Points that stay as they are stored are read as the same points in memory are.
func TestStoredAsDense(t *testing.T) {
	sets, same := inParts(t, 37, 5, 1, 300, 7)
	for s, x := range sets {
		want := same[s]
		n, d := want.Dims()
		if a, b := x.Dims(); a != n || b != d {
			t.Fatalf("%v: %d×%d, want %d×%d", x.Kind(), a, b, n, d)
		}
		compare := func(what string, got Points, rows []int) {
			t.Helper()
			a := make([]float64, d)
			b := make([]float64, d)
			if m, _ := got.Dims(); m != len(rows) {
				t.Fatalf("%v: %s: %d rows, want %d", x.Kind(), what, m, len(rows))
			}
			for i, r := range rows {
				RowTo(a, got, i)
				if RowTo(b, want, r); !slices.Equal(a, b) {
					t.Fatalf("%v: %s: row %d is %v, want %v", x.Kind(), what, i, a, b)
				}
			}
		}
		compare("rows", x, Range(0, n))
		rows := []int{300, 0, 5, 5, n - 1, 6}
		compare("Select", Select(x, rows), rows)
		compare("Slice", Slice(x, 4, 308), Range(4, 308))
		compare("Slice of Slice", Slice(Slice(x, 4, 308), 1, 3), Range(5, 7))
		compare("Dense", x.Dense(), Range(0, n))
		block, _ := Block(x, nil, 3, 310, 2, 30)
		wanted, _ := Block(want, nil, 3, 310, 2, 30)
		for i := range 307 {
			if !slices.Equal(block.RawRowView(i), wanted.RawRowView(i)) {
				t.Fatalf("%v: Block differs in row %d", x.Kind(), i)
			}
		}
		flat := make([]float32, 3*d)
		x.Gather(flat, []int32{312, 4, 5})
		for p, i := range []int{312, 4, 5} {
			row := make([]float64, d)
			RowTo(row, want, i)
			for j, v := range row {
				if float32(v) != flat[p*d+j] {
					t.Fatalf("%v: Gather differs", x.Kind())
				}
			}
		}
		if x.Kind() != Float16 && HashPoints(x) != HashPoints(want) {
			t.Errorf("%v: the hash is not that of the same dense points", x.Kind())
		}
		one := Select(x, Range(0, n))
		if HashPoints(x) != HashPoints(one) {
			t.Errorf("%v: the hash depends on the parts", x.Kind())
		}
		if err := CheckFinite("x", x); err != nil {
			t.Error(err)
		}
	}
	for i := range 6 {
		for j, h := range sets[0].Halves(i) {
			if simd.FromHalf(h) != same[0].(*Dense[float32]).Row(i)[j] {
				t.Fatal("Halves differ")
			}
		}
	}
	if _, err := Joined(sets[0], sets[1]); err == nil {
		t.Error("float16 and float32 were joined")
	}
}

// The first bad value is named by its file and its row there.
func TestStoredFaults(t *testing.T) {
	for _, c := range []struct {
		set   int
		spoil func(raw []byte)
		text  string
	}{
		{0, func(raw []byte) { numbers.Of[uint16](raw)[1*11+4] = 0xfc00 }, "part 1: row 301, column 4 is -Inf; every value must be finite: float16 ends at ±65504"},
		{0, func(raw []byte) { numbers.Of[uint16](raw)[1*11+10] = 0x7e01 }, "part 1: row 301, column 10 is NaN; every value must be finite: remove or impute it"},
		{1, func(raw []byte) { numbers.Of[float32](raw)[6*11] = float32(math.Inf(1)) }, "part 1: row 306, column 0 is +Inf"},
		{2, func(raw []byte) { numbers.Of[float64](raw)[6*11+1] = math.NaN() }, "part 1: row 306, column 1 is NaN"},
		{2, func(raw []byte) { numbers.Of[float64](raw)[6*11+1] = -1e200 }, "part 1: row 306, column 1 is -1e+200; values beyond"},
	} {
		sets, _ := inParts(t, 11, 5, 7, 2)
		x := sets[c.set]
		p := &x.parts[1]
		p.Name = "part 1"
		p.At = 300
		c.spoil(p.raw)
		if err := CheckFinite("x", x); err == nil || !strings.HasPrefix(err.Error(), c.text) {
			t.Errorf("error %v, want %s", err, c.text)
		}
	}
}

// More rows than are gathered in a step, in any order, from several mapped files and from one.
func TestGatherMapped(t *testing.T) {
	const n, d = 20_000, 16
	dir := t.TempDir()
	values := make([]float32, n*d)
	for i := range values {
		values[i] = float32(i)
	}
	one := filepath.Join(dir, "x.npy")
	first := filepath.Join(dir, "a.npy")
	second := filepath.Join(dir, "b.npy")
	for path, rows := range map[string][2]int{one: {0, n}, first: {0, n - 9000}, second: {n - 9000, n}} {
		if err := npy.WriteFile(path, []int{rows[1] - rows[0], d}, values[rows[0]*d:rows[1]*d]); err != nil {
			t.Fatal(err)
		}
	}
	list := make([]int, 3*gatherRows+5)
	short := make([]int32, len(list))
	for p := range list {
		list[p] = p * 7919 % n
		short[p] = int32(list[p])
	}
	for _, paths := range [][]string{{one}, {first, second}} {
		x, err := ReadFiles(paths, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rows := make([]float64, d)
		wide := make([]float64, len(list)*d)
		GatherTo(wide, x, short)
		picked := Select(x, list)
		for p, i := range list {
			RowTo(rows, picked, p)
			for j := range d {
				if want := float64(i*d + j); rows[j] != want || wide[p*d+j] != want {
					t.Fatalf("%d files: row %d, column %d is %v selected and %v gathered, want %v", len(paths), i, j, rows[j], wide[p*d+j], want)
				}
			}
		}
	}
}
