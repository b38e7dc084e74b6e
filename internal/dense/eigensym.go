package dense

import (
	"errors"

	"gonum.org/v1/gonum/mat"
)

// EigenSym stands in until the blocked divide-and-conquer version replaces it.
func EigenSym(a *mat.Dense) (values []float64, vectors *mat.Dense, err error) {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, a.At(i, j))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil, errors.New("dense: eigendecomposition failed")
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	return e.Values(nil), vectors, nil
}
