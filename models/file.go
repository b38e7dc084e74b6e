package models

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// MatrixEntry is an entry for a matrix, copied if its rows are not adjacent.
func MatrixEntry(name string, a *mat.Dense) npy.Entry {
	r := a.RawMatrix()
	if r.Stride != r.Cols {
		r = mat.DenseCopyOf(a).RawMatrix()
	}
	return npy.Entry{Name: name, Shape: []int{r.Rows, r.Cols}, Data: r.Data}
}

// CheckTraining returns all faults at once of what a model keeps of the graph on
// its n training points; x is nil if that came without points.
func CheckTraining(n int, degrees []float64, x data.Points, p *data.PCA, g knn.GraphSettings) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("models: "+format, args...)) }
	if len(degrees) != n {
		fault("%d degrees for %d points", len(degrees), n)
	}
	if i := slices.IndexFunc(degrees, func(d float64) bool { return d < 0 }); i >= 0 {
		fault("degree %v of point %d", degrees[i], i)
	}
	if x == nil {
		return errors.Join(faults...)
	}
	rows, d := x.Dims()
	if rows != n {
		fault("%d points for %d rows", rows, n)
	}
	if g.Weights == knn.Heat && !(g.T > 0) {
		fault("heat weights with t = %v", g.T)
	}
	if g.K <= 0 && !(g.Radius > 0) {
		fault("a graph of neither neighbours nor a radius")
	}
	return errors.Join(append(faults, checkPCA(p, d))...)
}

// Reader reads arrays of an archive and keeps the first error.
type Reader struct {
	Archive *npy.Archive
	Limit   int64
	Err     error
}

// Numbers reads a vector of the given element type; floats must be finite.
func Numbers[T any](r *Reader, name string) []T {
	if r.Err != nil {
		return nil
	}
	x, err := r.Archive.Read(name)
	if err != nil {
		r.Err = err
		return nil
	}
	values, ok := x.Data.([]T)
	if !ok || len(x.Shape) != 1 {
		r.Err = fmt.Errorf("%s: %s is %v; a vector of %T is needed", r.Archive.Path(), name, x, values)
		return nil
	}
	if floats, ok := any(values).([]float64); ok {
		r.checkFinite(name, floats)
	}
	return values
}

// Table reads the elements of a matrix with so many columns, row by row.
func Table[T any](r *Reader, name string, cols int) []T {
	if r.Err != nil {
		return nil
	}
	x, err := r.Archive.Read(name)
	if err != nil {
		r.Err = err
		return nil
	}
	values, ok := x.Data.([]T)
	if !ok || len(x.Shape) != 2 || x.Shape[1] != cols {
		r.Err = fmt.Errorf("%s: %s is %v; a matrix of %T with %d columns is needed", r.Archive.Path(), name, x, values, cols)
		return nil
	}
	return values
}

// classes reads the class values; nil if there are none.
func (r *Reader) ReadClasses() []int64 {
	if r.Err != nil || !r.Archive.Has("classes") {
		return nil
	}
	return Numbers[int64](r, "classes")
}

func (r *Reader) Matrix(name string) *mat.Dense {
	if r.Err != nil {
		return nil
	}
	x, err := r.Archive.Read(name)
	if err != nil {
		r.Err = err
		return nil
	}
	values, ok := x.Data.([]float64)
	if !ok || len(x.Shape) != 2 || len(values) == 0 {
		r.Err = fmt.Errorf("%s: %s is %v; a matrix of float64 is needed", r.Archive.Path(), name, x)
		return nil
	}
	r.checkFinite(name, values)
	return mat.NewDense(x.Shape[0], x.Shape[1], values)
}

func (r *Reader) checkFinite(name string, values []float64) {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			r.Err = fmt.Errorf("%s: element %d of %s is %v", r.Archive.Path(), i, name, v)
			return
		}
	}
}

// Points reads the training points; nil if there are none.
func (r *Reader) Points() data.Points {
	switch {
	case r.Err != nil:
		return nil
	case r.Archive.Has("points_indptr"):
		shape := Numbers[int64](r, "points_shape")
		m := &sparse.CSR{Ptr: Numbers[int64](r, "points_indptr"), Col: Numbers[int32](r, "points_indices"), Val: Numbers[float64](r, "points_data")}
		if r.Err == nil && len(shape) != 2 {
			r.Err = fmt.Errorf("%s: points_shape has %d elements", r.Archive.Path(), len(shape))
		}
		if r.Err != nil {
			return nil
		}
		m.Rows, m.Cols = int(shape[0]), int(shape[1])
		if err := m.Validate(); err != nil {
			r.Err = fmt.Errorf("%s: points: %w", r.Archive.Path(), err)
			return nil
		}
		return m
	case r.Archive.Has("points"):
		x, err := data.ReadPoints(r.Archive.Path(), data.ReadOptions{Key: "points", Limit: r.Limit})
		if err != nil {
			r.Err = err
			return nil
		}
		return x
	}
	return nil
}
