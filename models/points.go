package models

import (
	"fmt"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/pca"
	"github.com/bigfit/bigfit/sparse"
)

// PointEntries are the arrays of training points, points (n×d) or those of a
// sparse matrix, and of the principal components they are projected on; none of
// what is nil.
func PointEntries(x data.Points, p *pca.Projection) []archive.Array {
	var entries []archive.Array
	switch x := x.(type) {
	case nil:
	case *sparse.CSR:
		val := any(x.Val)
		if x.Val == nil {
			val = archive.Repeat{Value: 1, Count: len(x.Col)}
		}
		entries = append(entries, archive.Array{Name: "points_indptr", Data: x.Ptr},
			archive.Array{Name: "points_indices", Data: x.Col},
			archive.Array{Name: "points_data", Data: val}, archive.Array{Name: "points_shape",
				Data: []int64{int64(x.Rows), int64(x.Cols)}})
	case *data.Dense[uint8]:
		entries = append(entries, archive.Array{Name: "points", Shape: []int{x.Rows, x.Cols}, Data: x.Data})
	case *data.Dense[float32]:
		entries = append(entries, archive.Array{Name: "points", Shape: []int{x.Rows, x.Cols}, Data: x.Data})
	case *data.Dense[float64]:
		entries = append(entries, archive.Array{Name: "points", Shape: []int{x.Rows, x.Cols}, Data: x.Data})
	case *data.Stored:
		entries = append(entries, archive.Array{Name: "points", Shape: []int{x.Rows, x.Cols}, Data: x.Raw()})
	}

	if p != nil {
		entries = append(entries, archive.Array{Name: "pca_mean", Data: p.Mean}, MatrixEntry("pca_components",
			p.Components),
			archive.Array{Name: "pca_variance", Data: p.Variance}, archive.Array{Name: "pca_total",
				Data: []float64{p.Total}})
	}
	return entries
}

// pca reads the principal components; nil if there are none.
func (r *Reader) PCA() *pca.Projection {
	if r.Err != nil || !r.Has("pca_mean") {
		return nil
	}
	p := &pca.Projection{Mean: Numbers[float64](r, "pca_mean"), Components: r.Matrix("pca_components"),
		Variance: Numbers[float64](r, "pca_variance")}
	if total := Numbers[float64](r, "pca_total"); len(total) == 1 {
		p.Total = total[0]
	}
	return p
}

// checkPCA returns an error unless p projects on d dimensions; nil is none.
func checkPCA(p *pca.Projection, d int) error {
	if p == nil {
		return nil
	}
	k, from := p.Components.Dims()
	if len(p.Variance) != k {
		return fmt.Errorf("models: %d variances of %d principal components", len(p.Variance), k)
	}
	if k != d || from != len(p.Mean) {
		return fmt.Errorf("models: principal components are %d×%d for means of %d and points of %d dimensions", k, from, len(p.Mean), d)
	}
	return nil
}
