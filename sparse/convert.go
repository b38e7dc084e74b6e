package sparse

import (
	"fmt"
	"math"

	jb "github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"
)

// ToJamesBowman returns m as a matrix of github.com/james-bowman/sparse. Its
// index slices are ints, so everything is copied.
func (m *CSR) ToJamesBowman() *jb.CSR {
	ptr := make([]int, len(m.Ptr))
	for i, p := range m.Ptr {
		ptr[i] = int(p)
	}
	col := make([]int, len(m.Col))
	for p, c := range m.Col {
		col[p] = int(c)
	}
	val := make([]float64, len(m.Col))
	for p := range val {
		val[p] = 1
		if m.Val != nil {
			val[p] = m.Val[p]
		}
	}

	return jb.NewCSR(m.Rows, m.Cols, ptr, col, val)
}

// FromJamesBowman copies any sparse matrix of github.com/james-bowman/sparse. It sorts columns,
// adds duplicates and rejects entries out of range; that package does none of these itself.
func FromJamesBowman(m jb.Sparser) (*CSR, error) {
	r, c := m.Dims()
	if r > math.MaxInt32 || c > math.MaxInt32 {
		return nil, fmt.Errorf("sparse: shape %d×%d has more than 2³¹−1 rows or columns", r, c)
	}

	// DoNonZero has no way to stop, so the first fault is kept.
	var i, j []int32
	var v []float64
	var err error
	m.DoNonZero(func(row, col int, value float64) {
		if err == nil && (row < 0 || row >= r || col < 0 || col >= c) {
			err = fmt.Errorf("sparse: entry %d is at (%d, %d), outside %d×%d", len(i), row, col, r, c)
		}
		i = append(i, int32(row))
		j = append(j, int32(col))
		v = append(v, value)
	})

	if err != nil {
		return nil, err
	}
	return FromTriplets(r, c, i, j, v)
}

// FromDense returns the non-zero entries of a gonum matrix.
func FromDense(a mat.Matrix) *CSR {
	r, c := a.Dims()
	m := &CSR{Rows: r, Cols: c, Ptr: make([]int64, r+1), Val: []float64{}}
	for i := range r {
		for j := range c {
			if v := a.At(i, j); v != 0 {
				m.Col = append(m.Col, int32(j))
				m.Val = append(m.Val, v)
			}
		}
		m.Ptr[i+1] = int64(len(m.Col))
	}

	return m
}

// ToDense returns m as a dense gonum matrix of Rows·Cols values.
func (m *CSR) ToDense() *mat.Dense {
	a := mat.NewDense(m.Rows, m.Cols, nil)
	for i := range m.Rows {
		col, val := m.Row(i)
		for p, j := range col {
			if val == nil {
				a.Set(i, int(j), 1)
			} else {
				a.Set(i, int(j), val[p])
			}
		}
	}

	return a
}
