package data

import (
	"fmt"
	"math"
	"sort"
	"unsafe"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/sealed"
	"github.com/bigfit/bigfit/sparse"
)

// Stored points stay where they are: rows of files that are mapped into memory, several files
// one after the other, in float16, float32, float64, uint8 or bool. Code that streams widens
// one block of rows at a time; [Stored.Dense] makes a copy for code that cannot stream.

// Kind is the element type of [Stored] points.
type Kind int

// The element types. A bool is a byte that is 0 or not.
const (
	Float16 Kind = iota
	Float32
	Float64
	Uint8
	Bool
)

var kinds = enum.New[Kind]("element type", "float16", "float32", "float64", "uint8", "bool")

// String returns NumPy's name of the type.
func (k Kind) String() string { return kinds.String(k) }

// Size returns the bytes of an element.
func (k Kind) Size() int { return [...]int{2, 4, 8, 1, 1}[k] }

// Stored is a set of Rows points in Cols dimensions that stay as they are stored: the rows of one
// file after the rows of another, mapped into memory, or in memory where they cannot be mapped, in
// the element type of the files. Code that needs numbers widens only the rows it works on, so that
// a set may be larger than memory.
//
// A mapped file that changes is a panic on access: see package mapped.
type Stored struct {
	Rows, Cols int
	kind       Kind
	parts      []Part // none without rows
}

// Part is consecutive rows of [Stored] points.
type Part struct {
	Name  string // of the file, for errors; empty for rows in memory
	First int    // number of its first row in the set
	At    int    // number of its first row in the file
	Rows  int
	raw   []byte // the rows without gaps, in this machine's byte order
}

// NewHalves returns points in float16, given by the bits of their coordinates,
// row-major; they alias bits.
func NewHalves(rows, cols int, bits []uint16) *Stored {
	return &Stored{Rows: rows, Cols: cols, kind: Float16,
		parts: onePart(rows, numbers.Bytes(bits[:rows*cols]))}
}

// newStored returns points that lie in raw without gaps; name is the name of their file.
func newStored(name string, k Kind, rows, cols int, raw []byte) *Stored {
	s := &Stored{Rows: rows, Cols: cols, kind: k, parts: onePart(rows, raw)}
	for i := range s.parts {
		s.parts[i].Name = name
	}
	return s
}

func onePart(rows int, raw []byte) []Part {
	if rows == 0 {
		return nil
	}
	return []Part{{Rows: rows, raw: raw}}
}

// Dims returns the number of points and their dimension.
func (s *Stored) Dims() (n, d int) { return s.Rows, s.Cols }

// SealPoints marks a type of [Points].
func (s *Stored) SealPoints(sealed.Points) {}

// Kind returns the element type.
func (s *Stored) Kind() Kind { return s.kind }

// Parts returns the parts in the order of their rows.
func (s *Stored) Parts() []Part { return s.parts }

// Held returns the bytes of memory that the points take: none where they are mapped.
func (s *Stored) Held() int64 {
	var sum int64
	for _, p := range s.parts {
		if !mapped.Holds(p.raw) {
			sum += int64(len(p.raw))
		}
	}
	return sum
}

// rowBytes is the size of a row.
func (s *Stored) rowBytes() int { return s.Cols * s.kind.Size() }

// part returns the part that holds row i.
func (s *Stored) part(i int) *Part {
	at := 0
	// Try the part that equal shards would have, and search only if that is wrong.
	if len(s.parts) > 1 {
		// Shards are of the same size more often than not.
		at = min(i/s.parts[0].Rows, len(s.parts)-1)
		if p := &s.parts[at]; i < p.First || i >= p.First+p.Rows {
			at = sort.Search(len(s.parts), func(q int) bool { return s.parts[q].First > i }) - 1
		}
	}
	return &s.parts[at]
}

// row returns the bytes of row i.
func (s *Stored) row(i int) []byte {
	p := s.part(i)
	size := s.rowBytes()
	return p.raw[(i-p.First)*size:][:size:size]
}

// Halves returns the bits of point i of float16 points; they alias s and must not be
// written to.
func (s *Stored) Halves(i int) []uint16 { return numbers.Of[uint16](s.row(i)) }

// each calls visit with the bytes of rows lo to hi, one part at a time. at is the place of the first
// element of these bytes among the elements of rows lo to hi.
func (s *Stored) each(lo, hi int, visit func(at int, raw []byte)) {
	for i := lo; i < hi; {
		p := s.part(i)
		size := s.rowBytes()
		end := min(hi, p.First+p.Rows)
		visit((i-lo)*s.Cols, p.raw[(i-p.First)*size:(end-p.First)*size])
		i = end
	}
}

// Read64 sets dst, row-major, to points lo to hi. float64 holds every element exactly.
func (s *Stored) Read64(dst []float64, lo, hi int) {
	s.each(lo, hi, func(at int, raw []byte) { widen64(dst[at:], s.kind, raw) })
}

// Read32 sets dst, row-major, to points lo to hi, rounded to float32 where they are
// float64; float32 holds every other element exactly.
func (s *Stored) Read32(dst []float32, lo, hi int) {
	s.each(lo, hi, func(at int, raw []byte) { widen32(dst[at:], s.kind, raw) })
}

func widen32(dst []float32, k Kind, raw []byte) {
	switch k {
	case Float16:
		v := numbers.Of[uint16](raw)
		simd.Widen(dst[:len(v)], v)
	case Float32:
		copy(dst, numbers.Of[float32](raw))
	case Float64:
		for i, v := range numbers.Of[float64](raw) {
			dst[i] = float32(v)
		}
	case Uint8:
		for i, v := range raw {
			dst[i] = float32(v)
		}
	case Bool:
		for i, v := range raw {
			dst[i] = float32(min(v, 1))
		}
	}
}

func widen64(dst []float64, k Kind, raw []byte) {
	switch k {
	case Float16:
		// By way of float32, in a block that stays in the nearest cache.
		var block [256]float32
		for v := numbers.Of[uint16](raw); len(v) > 0; {
			b := block[:min(len(v), len(block))]
			simd.Widen(b, v[:len(b)])
			for i, f := range b {
				dst[i] = float64(f)
			}
			v = v[len(b):]
			dst = dst[len(b):]
		}
	case Float32:
		for i, v := range numbers.Of[float32](raw) {
			dst[i] = float64(v)
		}
	case Float64:
		copy(dst, numbers.Of[float64](raw))
	case Uint8:
		for i, v := range raw {
			dst[i] = float64(v)
		}
	case Bool:
		for i, v := range raw {
			dst[i] = float64(min(v, 1))
		}
	}
}

// Gather sets dst, row-major, to the points with the given numbers, as Read32 does.
func (s *Stored) Gather(dst []float32, rows []int32) {
	for p, i := range rows {
		widen32(dst[p*s.Cols:], s.kind, s.row(int(i)))
	}
}

// Slice returns points lo to hi; they alias s.
func (s *Stored) Slice(lo, hi int) *Stored {
	out := &Stored{Rows: hi - lo, Cols: s.Cols, kind: s.kind}
	size := s.rowBytes()
	// The rows of each part that lie in the range, with numbers in the slice and in their file.
	for _, p := range s.parts {
		a := max(lo, p.First)
		b := min(hi, p.First+p.Rows)
		if a < b {
			out.parts = append(out.parts, Part{p.Name, a - lo, p.At + a - p.First, b - a,
				p.raw[(a-p.First)*size : (b-p.First)*size]})
		}
	}
	return out
}

// selectStored copies the rows with the given numbers.
func selectStored(s *Stored, rows []int) *Stored {
	size := s.rowBytes()
	// Bytes alone may begin at any address, and numbers of eight bytes must not.
	raw := make([]uint64, (len(rows)*size+7)/8) // aligned for every type
	out := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(raw))), len(rows)*size)
	inSteps(s, rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(out[i*size:], s.row(rows[i]))
		}
	})
	return &Stored{Rows: len(rows), Cols: s.Cols, kind: s.kind, parts: onePart(len(rows), out)}
}

// Joined returns the points of several sets of the same element type and number of
// columns, one after the other; they alias the sets.
func Joined(sets ...*Stored) (*Stored, error) {
	out := &Stored{}
	for i, s := range sets {
		if i == 0 {
			out.Cols = s.Cols
			out.kind = s.kind
		}
		if s.Cols != out.Cols || s.kind != out.kind {
			return nil, fmt.Errorf("data: points of %d columns of %v cannot follow points of %d columns "+
				"of %v", s.Cols, s.kind, out.Cols, out.kind)
		}
		for _, p := range s.parts {
			p.First += out.Rows
			out.parts = append(out.parts, p)
		}
		out.Rows += s.Rows
	}

	return out, nil
}

// Dense returns a copy in memory, float64 of float64 points and float32 of all others,
// which float32 holds exactly.
func (s *Stored) Dense() Points {
	if s.kind == Float64 {
		x := NewDense[float64](s.Rows, s.Cols)
		par.For(s.Rows, 256, func(lo, hi int) { s.Read64(x.Data[lo*s.Cols:], lo, hi) })
		return x
	}
	x := NewDense[float32](s.Rows, s.Cols)
	par.For(s.Rows, 256, func(lo, hi int) { s.Read32(x.Data[lo*s.Cols:], lo, hi) })
	return x
}

// Precise reports whether points hold float64, which float32 does not hold.
func Precise(x Points) bool {
	switch x := x.(type) {
	case *Dense[float64]:
		return true
	case *Stored:
		return x.kind == Float64
	}
	return false
}

// Raw returns the points in the form in which an array is written: see [archive.Raw].
func (s *Stored) Raw() archive.Raw {
	r := archive.Raw{DType: s.kind.String()}
	for _, p := range s.parts {
		r.Parts = append(r.Parts, p.raw)
	}
	return r
}

// Describe returns the number of points of x, their number of columns and their element type as
// text.
func Describe(x Points) string {
	n, d := x.Dims()
	kind := "float64"
	switch x := x.(type) {
	case *Dense[uint8]:
		kind = "uint8"
	case *Dense[float32]:
		kind = "float32"
	case *Stored:
		kind = x.kind.String()
	case *sparse.CSR:
		kind = fmt.Sprintf("sparse, %d entries", x.NNZ())
	}

	return fmt.Sprintf("%d points × %d, %s", n, d, kind)
}

// Prefetch asks the memory for the dense points of x that rows names: whoever reads scattered points one after another
// waits for each otherwise. It has no effect but on the time of later reads.
func Prefetch(x Points, rows []int32) {
	switch x := x.(type) {
	case *Dense[uint8]:
		prefetch(x.Data, x.Cols, rows)
	case *Dense[float32]:
		prefetch(x.Data, x.Cols, rows)
	case *Dense[float64]:
		prefetch(x.Data, x.Cols, rows)
	case *Stored:
		if len(x.parts) == 1 {
			prefetch(x.parts[0].raw, x.rowBytes(), rows)
			return
		}
		for _, i := range rows {
			row := x.row(int(i))
			prefetch(row, len(row), []int32{0})
		}
	}
}

// prefetch asks for the first 1 KiB of rows; the processor then loads further lines itself.
func prefetch[T Element](x []T, cols int, rows []int32) {
	const most = 1 << 10
	simd.PrefetchRows(x, cols, rows, min(cols, most/int(unsafe.Sizeof(*new(T)))))
}

// checkFinite returns an error for the first value that is NaN or infinite; what names
// rows in memory.
func (s *Stored) checkFinite(what string) error {
	return s.pass(func(p *Part, lo, hi int) error {
		// Place the first value at fault in the range, if there is one.
		raw := p.raw[(lo-p.First)*s.rowBytes() : (hi-p.First)*s.rowBytes()]
		var bad int // place of the first
		var value float64
		switch s.kind {
		case Float16:
			v := numbers.Of[uint16](raw)
			if bad = numbers.NotFiniteHalf(raw, v); bad >= 0 {
				value = float64(simd.FromHalf(v[bad]))
			}
		case Float32:
			v := numbers.Of[float32](raw)
			if bad = numbers.NotFinite(v); bad >= 0 {
				value = float64(v[bad])
			}
		case Float64:
			v := numbers.Of[float64](raw)
			if bad = numbers.NotFinite(v); bad >= 0 {
				value = v[bad]
			}
		default:
			return nil
		}

		// Name the row in its file.
		if bad < 0 {
			return nil
		}
		remedy := "remove or impute it"
		if s.kind == Float16 && math.IsInf(value, 0) {
			remedy = "float16 ends at ±65504: scale the values before they are saved, or save float32"
		}
		return fmt.Errorf("%s: row %d, column %d is %v; every value must be finite: %s", p.name(what),
			p.At+lo-p.First+bad/s.Cols, bad%s.Cols, value, remedy)
	})
}

// name returns the file of a part, or else what.
func (p *Part) name(what string) string {
	if p.Name != "" {
		return p.Name
	}
	return what
}
