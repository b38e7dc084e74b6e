package lists

import (
	"fmt"
	"os"
	"strings"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/param"
)

// File holds lists that were read from a file.
type File struct {
	*knn.Neighbors
	Kind Kind
	// Manifest is the manifest of a file that [Write] wrote. Files of other programs have none.
	Manifest *archive.Manifest

	path     string
	products bool // by the manifest, distances are negative inner products
	short    int  // rows that end early
}

// String says how the values were read.
func (f *File) String() string {
	text := fmt.Sprintf("%s: lists of %d neighbours of %d points, with ", f.path, f.K, f.Len())
	switch {
	case f.Kind == Squared:
		text += "squared distances"
	case f.products:
		text += "inner products, which order the neighbours and give no distances"
	case f.Kind == InnerProduct && f.Ordered:
		text += "inner products of vectors that are not of length 1: " +
			"they order the neighbours and give no distances"
	case f.Kind == InnerProduct:
		text += "inner products s of unit vectors, read as distances √(2−2s)"
	default:
		text += "distances that are not squared"
	}
	if f.short > 0 {
		text += fmt.Sprintf("; %d points have fewer", f.short)
	}
	return text
}

// names lists the arrays that may stand beside the indices, and the kinds that their names say.
var names = []struct {
	name string
	kind Kind
}{{"distances", Auto}, {"sq_distances", Squared}, {"similarities", InnerProduct}}

// Read reads lists from a .npz file, which the package comment draws, or from two .npy files with
// a comma between their names, the indices first. A kind other than Auto overrules the names of
// arrays, and the manifest of a file that [Write] made overrules the kind. A positive limit bounds
// the memory in bytes.
func Read(path string, kind Kind, limit int64) (*File, error) {
	f := &File{path: path}
	var index, value *npy.Array
	var err error
	if first, second, ok := strings.Cut(path, ","); ok && !exists(path) {
		index, value, err = readPair(first, second, limit)
	} else {
		index, value, err = f.readArchive(path, &kind, limit)
	}
	if err != nil {
		return nil, err
	}

	r := &Raw{K: index.Shape[1]}
	if r.Index, err = index.Int64s(); err != nil {
		return nil, fmt.Errorf("%s: indices: %w", path, err)
	}
	if r.Value, err = value.Float64s(); err != nil {
		return nil, fmt.Errorf("%s: the values beside the indices: %w", path, err)
	}

	// Files of ours hold negative inner products as distances.
	if f.products {
		for i, v := range r.Value {
			r.Value[i] = -v
		}
	}

	if f.Neighbors, f.Kind, err = r.Neighbors(kind); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.Ordered = f.Ordered || f.products

	for i := range f.Len() {
		if own, _ := f.First(i, f.K); len(own) < f.K {
			f.short++
		}
	}
	return f, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkShape returns an error unless an array is n×k and not empty.
func checkShape(h *npy.Header) error {
	if len(h.Shape) != 2 || h.Len() == 0 {
		return fmt.Errorf("it is %s; it must be n×k, a row for each point", h)
	}
	return nil
}

// readPair reads indices and values from a file each. Shapes are compared before anything is
// allocated.
func readPair(first, second string, limit int64) (index, value *npy.Array, err error) {
	a, err := npy.ReadHeader(first)
	if err != nil {
		return nil, nil, err
	}
	if err := checkShape(a); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", first, err)
	}
	b, err := npy.ReadHeader(second)
	if err != nil {
		return nil, nil, err
	}
	if len(b.Shape) != 2 || b.Shape[0] != a.Shape[0] || b.Shape[1] != a.Shape[1] {
		return nil, nil, fmt.Errorf("%s: it is %s, but the indices in %s are %s; give one value for each index",
			second, b, first, a)
	}

	// Headers agree: memory for both arrays may be taken.
	if index, err = npy.ReadFile(first, limit); err != nil {
		return nil, nil, err
	}
	value, err = npy.ReadFile(second, limit)
	return index, value, err
}

// readArchive reads the arrays of a .npz file. If the kind is Auto, it sets it by their names.
func (f *File) readArchive(path string, kind *Kind, limit int64) (index, value *npy.Array, err error) {
	a, err := npy.OpenArchive(path, limit)
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	if a.IsSparse() {
		return nil, nil, fmt.Errorf("%s: a sparse matrix in the form of SciPy; "+
			"lists are the arrays indices and distances, n×k each, as bigfit neighbors writes them without %s",
			path, param.Name("csr"))
	}

	h, err := a.Header("indices")
	if err != nil {
		return nil, nil, err
	}
	if err := checkShape(h); err != nil {
		return nil, nil, fmt.Errorf("%s: indices: %w", path, err)
	}

	// The first array of values that is there counts.
	name := ""
	for _, c := range names {
		if name == "" && a.Has(c.name) {
			name = c.name
			if *kind == Auto {
				*kind = c.kind
			}
		}
	}
	if name == "" {
		return nil, nil, fmt.Errorf(
			"%s: of the arrays distances, sq_distances and similarities there is none; it holds %s",
			path, strings.Join(a.Names(), ", "))
	}
	// Sizes are compared before the arrays are read.
	if err := a.Expect(name, "", h.Shape...); err != nil {
		return nil, nil, fmt.Errorf("%w; indices is %s", err, h)
	}

	if err := f.readManifest(a, kind); err != nil {
		return nil, nil, err
	}
	if index, err = a.Read("indices"); err != nil {
		return nil, nil, err
	}
	value, err = a.Read(name)
	return index, value, err
}

// readManifest reads the manifest of a file that [Write] wrote, if there is one, and sets the kind
// that it tells.
func (f *File) readManifest(a *npy.Archive, kind *Kind) error {
	if !a.Has(archive.Name) {
		return nil
	}
	text, err := a.ReadBytes(archive.Name)
	if err != nil {
		return err
	}
	if f.Manifest, err = archive.Parse(text, archive.Neighbors, a.Path()); err != nil {
		return err
	}

	var made struct {
		Query  bool       `json:"query"`
		Metric knn.Metric `json:"metric"`
	}
	if err := archive.Unmarshal(f.Manifest.Settings, &made); err != nil {
		return fmt.Errorf("%s: the settings in the manifest: %w", a.Path(), err)
	}
	if made.Query {
		return fmt.Errorf("%s: the neighbours of other points (%s) among those of X; "+
			"a graph needs the lists of the points themselves", a.Path(), param.Name("query"))
	}

	*kind = Distances
	if f.products = made.Metric == knn.InnerProduct; f.products {
		*kind = InnerProduct
	}
	return nil
}
