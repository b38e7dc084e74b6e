package kernel

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
)

// ColumnsTo sets dst to the columns j of the Gram matrix: entry (i, p) becomes
// k(z_i, z_j[p]). dst is n×len(j). It costs what [Side.CrossTo] does.
func (s *Side) ColumnsTo(dst *mat.Dense, j []int) {
	part, err := New(s.kernel, data.Select(s.z, j))
	if err == nil {
		err = part.CrossTo(dst, s.z, 0, s.n)
	}
	if err != nil {
		panic(err) // points fit themselves
	}
}
