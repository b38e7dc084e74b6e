package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

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
		h.Write(x.Data)
	case *Dense[float32]:
		fmt.Fprintf(h, "float32 %d %d\n", n, d)
		hashNumbers(h, x.Data)
	case *Dense[float64]:
		fmt.Fprintf(h, "float64 %d %d\n", n, d)
		hashNumbers(h, x.Data)
	case *sparse.CSR:
		val := x.Val
		if allOnes(val) {
			val = nil
		}
		fmt.Fprintf(h, "csr %d %d %d %t\n", n, d, x.NNZ(), val != nil)
		hashNumbers(h, x.Ptr)
		hashNumbers(h, x.Col)
		hashNumbers(h, val)
	default:
		panic(fmt.Sprintf("data: unknown point set %T", x))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashNumbers writes v to h, least significant byte first.
func hashNumbers[T int32 | int64 | float32 | float64](h hash.Hash, v []T) {
	buf := make([]byte, 0, 64<<10)
	for len(v) > 0 {
		n := min(len(v), cap(buf)/8)
		buf, _ = binary.Append(buf[:0], binary.LittleEndian, v[:n]) // fixed-size numbers never fail
		h.Write(buf)
		v = v[n:]
	}
}

func allOnes(v []float64) bool {
	for _, x := range v {
		if x != 1 {
			return false
		}
	}
	return true
}
