package models

import (
	"fmt"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/pca"
	"github.com/bigfit/bigfit/sparse"
)

// PointEntries returns the arrays of training points, dense or sparse, and of the principal
// components that they are projected on; a nil x or p has none:
//
//	points          uint8, bool, float16, float32 or float64  n×d
//	points_indptr   int64    n+1   a sparse matrix in compressed rows, as SciPy has it
//	points_indices  int32    nnz
//	points_data     float64  nnz
//	points_shape    int64    2     n, d
//	pca_mean        float64  d0    mean of the points before projection
//	pca_components  float64  d×d0  orthonormal rows, unless columns were standardized
//	pca_variance    float64  d     variance along each component, descending
//	pca_total       float64  1     variance in all directions
func PointEntries(x data.Points, p *pca.Projection) []archive.Array {
	var entries []archive.Array
	switch x := x.(type) {
	case nil:
	case *sparse.CSR:
		// A matrix without values stands for ones, which SciPy wants written out.
		val := any(x.Val)
		if x.Val == nil {
			val = archive.Repeat{Value: 1, Count: len(x.Col)}
		}
		entries = append(entries, archive.Array{Name: "points_indptr", Data: x.Ptr},
			archive.Array{Name: "points_indices", Data: x.Col},
			archive.Array{Name: "points_data", Data: val},
			archive.Array{Name: "points_shape", Data: []int64{int64(x.Rows), int64(x.Cols)}})
	case *data.Dense[uint8]:
		entries = append(entries, archive.Array{Name: "points", Shape: []int{x.Rows, x.Cols}, Data: x.Data})
	case *data.Dense[float32]:
		entries = append(entries, archive.Array{Name: "points", Shape: []int{x.Rows, x.Cols}, Data: x.Data})
	case *data.Dense[float64]:
		entries = append(entries, archive.Array{Name: "points", Shape: []int{x.Rows, x.Cols}, Data: x.Data})
	case *data.Stored:
		entries = append(entries, archive.Array{Name: "points", Shape: []int{x.Rows, x.Cols}, Data: x.Raw()})
	}

	// The projection of new points needs the mean and the components; info shows the variances.
	if p != nil {
		entries = append(entries, archive.Array{Name: "pca_mean", Data: p.Mean},
			MatrixEntry("pca_components", p.Components),
			archive.Array{Name: "pca_variance", Data: p.Variance},
			archive.Array{Name: "pca_total", Data: []float64{p.Total}})
	}
	return entries
}

// PCA reads the principal components; nil if there are none.
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
		return fmt.Errorf("models: principal components are %d×%d for means of %d and points of %d "+
			"dimensions", k, from, len(p.Mean), d)
	}
	return nil
}
