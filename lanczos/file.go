package lanczos

import (
	"encoding/json"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

// An eigs.npz file is a .npz archive of n points and k pairs. "?" marks optional members:
//
//	member       dtype    shape  meaning
//	values       float64  k      eigenvalues, ascending (descending if the manifest says "largest")
//	vectors      float64  n×k    eigenvectors, column j belongs to value j; float32 of a run with Settings.Single
//	residuals ?  float64  k      ‖Lv − λv‖₂ for each pair, recomputed
//	components ? int32    n      component of each point; numbered by their smallest points
//	degrees ?    float64  n      degrees of the vertices, not negative
//	manifest ?   uint8    any    JSON: settings and hashes of the inputs (package archive)
//
// [File.Save] checks everything that [Load] checks. Values of a Laplacian are not negative: a
// Rayleigh quotient that is negative by rounding becomes 0. Weights of any size are multiplied
// by a power of two where norms would overflow or underflow. TestSpectra of the command takes
// random graphs through every command that reads eigenpairs.

// File is the content of an eigs.npz file.
type File struct {
	Result *Result
	// Components and vertex degrees of the graph; nil in files of other programs.
	Components *sparse.Components
	Degrees    []float64
	// Manifest is nil in files of other programs.
	Manifest *archive.Manifest
	// Rounded tells that the vectors of the file are of float32. [Load] returns them as float64.
	Rounded bool
}

// Save writes the members that f has as a .npz file, whole or not at all. A file that [Load] would
// refuse is not written.
func (f *File) Save(path string) error {
	r := f.Result
	if err := f.check(); err != nil {
		return fmt.Errorf("%s is not written: %w", path, err)
	}
	v := r.vectors()
	if v.double != nil && v.double.RawMatrix().Stride != v.double.RawMatrix().Cols {
		v = wide(mat.DenseCopyOf(v.double))
	}
	entries := []archive.Array{{Name: "values", Data: r.Values}, v.array("vectors")}
	if r.Residuals != nil {
		entries = append(entries, archive.Array{Name: "residuals", Data: r.Residuals})
	}
	if f.Components != nil {
		entries = append(entries, archive.Array{Name: "components", Data: f.Components.Of})
	}
	if f.Degrees != nil {
		entries = append(entries, archive.Array{Name: "degrees", Data: f.Degrees})
	}

	// The manifest is JSON in an array of bytes.
	if f.Manifest != nil {
		text, err := f.Manifest.Bytes()
		if err != nil {
			return err
		}
		entries = append(entries, archive.Array{Name: archive.Name, Data: text})
	}

	return npy.WriteArchive(path, entries)
}

// check returns an error if a number of f is not finite, or the values are not in order.
func (f *File) check() error {
	r := f.Result
	v := r.vectors()
	n, k := v.dims()
	for i := range n {
		for j := range k {
			if x := v.at(i, j); x-x != 0 {
				return fmt.Errorf("point %d: element %d of a row of vectors is %v", i, j, x)
			}
		}
	}

	for i, x := range [][]float64{r.Values, r.Residuals, f.Degrees} {
		if err := checkFinite([]string{"values", "residuals", "degrees"}[i], x); err != nil {
			return err
		}
	}

	if err := checkDegrees(f.Degrees); err != nil {
		return err
	}
	return checkOrder(slices.Clone(r.Values), f.largest())
}

// checkDegrees returns an error for a degree below 0.
func checkDegrees(degrees []float64) error {
	if i := slices.IndexFunc(degrees, func(d float64) bool { return d < 0 }); i >= 0 {
		return fmt.Errorf("degree %v of point %d; weights and their sums are not negative", degrees[i], i)
	}
	return nil
}

// checkOrder returns an error unless [straighten] brings the values in order.
func checkOrder(values []float64, largest bool) error {
	j := straighten(values, largest)
	switch {
	case j < 0:
		return nil
	case largest:
		return fmt.Errorf("value %d is %v after %v; the largest pairs must be in descending order", j,
			values[j], values[j-1])
	}
	return fmt.Errorf("value %d is %v after %v; the pairs must be in ascending order", j, values[j],
		values[j-1])
}

// largest reports whether the manifest says that these are the largest pairs.
func (f *File) largest() bool {
	var made struct{ Largest bool }
	return f.Manifest != nil && json.Unmarshal(f.Manifest.Settings, &made) == nil && made.Largest
}

// Load reads a file written by Save, or any .npz file with values and vectors. The
// values must ascend, or descend if the manifest says that they are the largest;
// where one falls by at most 1e-14 of the largest, by rounding, the value before it
// takes its place. Limit bounds the memory in bytes if it is positive.
func Load(path string, limit int64) (*File, error) {
	a, err := npy.OpenArchive(path, limit)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	n, k, err := pairsOf(a)
	if err != nil {
		return nil, err
	}

	values, err := float64s(a, "values")
	if err != nil {
		return nil, err
	}
	vectors, err := float64s(a, "vectors")
	if err != nil {
		return nil, err
	}
	f := &File{Result: &Result{Values: values, Vectors: mat.NewDense(n, k, vectors)}}
	if h, err := a.Header("vectors"); err == nil {
		f.Rounded = h.DType == "float32" || h.DType == "float16"
	}

	// The members that other programs may leave out.
	if a.Has("residuals") {
		if f.Result.Residuals, err = float64s(a, "residuals"); err != nil {
			return nil, err
		}
	}

	if a.Has("degrees") {
		if f.Degrees, err = float64s(a, "degrees"); err != nil {
			return nil, err
		}
		if err := checkDegrees(f.Degrees); err != nil {
			return nil, fmt.Errorf("%s: %w; make the file again", a.Path(), err)
		}
	}

	if a.Has("components") {
		if f.Components, err = loadComponents(a, n); err != nil {
			return nil, err
		}
	}

	if a.Has(archive.Name) {
		if f.Manifest, err = a.Manifest(archive.Eigs, nil); err != nil {
			return nil, err
		}
	}

	// The manifest tells the order of the values, so they are checked last.
	if err := checkOrder(values, f.largest()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// pairsOf returns the numbers of points and pairs in an archive. It compares the headers of all
// members, before any array is read.
func pairsOf(a *npy.Archive) (n, k int, err error) {
	h, err := a.Header("vectors")
	if err != nil {
		return 0, 0, err
	}
	if len(h.Shape) != 2 || h.Shape[1] < 1 || h.Shape[0] < h.Shape[1] {
		return 0, 0, fmt.Errorf("%s: vectors is %s; it must be n×k with n ≥ k for k pairs of n points",
			a.Path(), h)
	}
	n = h.Shape[0]
	k = h.Shape[1]
	for _, e := range []struct {
		name, dtype string
		size        int
		needed      bool
	}{{"values", "", k, true}, {"residuals", "", k, false}, {"degrees", "", n, false},
		{"components", "int32", n, false}} {
		if !e.needed && !a.Has(e.name) {
			continue
		}
		if err := a.Expect(e.name, e.dtype, e.size); err != nil {
			return 0, 0, fmt.Errorf("%w; vectors is %s", err, h)
		}
	}

	return n, k, nil
}

// float64s reads an array and checks that all its elements are finite.
func float64s(a *npy.Archive, name string) ([]float64, error) {
	x, err := a.Read(name)
	if err != nil {
		return nil, err
	}
	values, err := x.Float64s()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", a.Path(), name, err)
	}
	if err := checkFinite(name, values); err != nil {
		return nil, fmt.Errorf("%s: %w", a.Path(), err)
	}
	return values, nil
}

// loadComponents reads the components of n points and counts their sizes.
func loadComponents(a *npy.Archive, n int) (*sparse.Components, error) {
	x, err := a.Read("components")
	if err != nil {
		return nil, err
	}
	of, ok := x.Data.([]int32)
	if !ok || len(of) != n {
		return nil, fmt.Errorf("%s: components is %v; it must be int32 of length %d", a.Path(), x, n)
	}
	c := &sparse.Components{Of: of}
	for i, id := range of {
		// Components are numbered by their smallest vertex.
		if id < 0 || int(id) > len(c.Sizes) {
			return nil, fmt.Errorf("%s: point %d is in component %d, the next new one is %d", a.Path(), i, id,
				len(c.Sizes))
		}
		if int(id) == len(c.Sizes) {
			c.Sizes = append(c.Sizes, 0)
		}
		c.Sizes[id]++
	}

	return c, nil
}
