package data

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/sparse"
)

// HashPoints returns the SHA-256, in hexadecimal, of the element type, shape
// and content of a set of points or of a graph. It does not depend on the file
// the points came from, on the machine's byte order, or on whether ones are
// stored (a nil Val and a Val of ones hash alike).
func HashPoints(x Points) string {
	h := sha256.New()
	n, d := x.Dims()
	switch x := x.(type) {
	case *Dense[uint8]:
		fmt.Fprintf(h, "uint8 %d %d\n", n, d)
		hashNumbers(h, x.Data)
	case *Dense[float32]:
		fmt.Fprintf(h, "float32 %d %d\n", n, d)
		hashNumbers(h, x.Data)
	case *Dense[float64]:
		fmt.Fprintf(h, "float64 %d %d\n", n, d)
		hashNumbers(h, x.Data)
	case *Stored:
		x.hash(h)
	case *sparse.CSR:
		// Ones that are stored count as ones that are not.
		val := x.Val
		if allOnes(val) {
			val = nil
		}
		// The shape and the presence of values come first, so that no two matrices give the same
		// bytes.
		fmt.Fprintf(h, "csr %d %d %d %t\n", n, d, x.NNZ(), val != nil)
		hashNumbers(h, x.Ptr)
		hashNumbers(h, x.Col)
		hashNumbers(h, val)
	default:
		panic(fmt.Sprintf("data: unknown point set %T", x))
	}

	return hex.EncodeToString(h.Sum(nil))
}

// HashSample hashes the shape of points and 1024 of them at equal distances, in place of all.
func HashSample(x Points) string {
	n, d := x.Dims()
	rows := make([]int, min(n, 1024))
	for i := range rows {
		// In 64 bits: the product exceeds an int of 32.
		rows[i] = int(int64(i) * int64(n) / int64(len(rows)))
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %s", n, d, HashPoints(Select(x, rows)))
	return hex.EncodeToString(h.Sum(nil))
}

// hashNumbers writes v to h and gives the pages of a mapped v back as it goes.
func hashNumbers[T uint8 | int32 | int64 | float32 | float64](h hash.Hash, v []T) {
	eachStep(v, func(_ int, step []T) { numbers.Hash(h, step) })
}

// hash writes the points to h, whatever the number of files. Points of a type of [Dense] hash like
// dense points, and bool like the float64 that it is read as from text.
func (s *Stored) hash(h hash.Hash) {
	kind := s.kind
	if kind == Bool {
		kind = Float64
	}
	fmt.Fprintf(h, "%s %d %d\n", kind, s.Rows, s.Cols)
	// Only bool is converted; other types hash as they lie in the file.
	row := make([]float64, s.Cols)
	_ = s.pass(func(p *Part, lo, hi int) error {
		raw := p.raw[(lo-p.First)*s.rowBytes() : (hi-p.First)*s.rowBytes()]
		switch s.kind {
		case Float16:
			numbers.Hash(h, numbers.Of[uint16](raw))
		case Float32:
			numbers.Hash(h, numbers.Of[float32](raw))
		case Float64:
			numbers.Hash(h, numbers.Of[float64](raw))
		case Uint8:
			h.Write(raw)
		case Bool:
			for i := lo; i < hi; i++ {
				widen64(row, Bool, s.row(i))
				numbers.Hash(h, row)
			}
		}

		return nil
	})
}

func allOnes(v []float64) bool {
	for _, x := range v {
		if x != 1 {
			return false
		}
	}
	return true
}
