package models

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// A model file is a .npz archive, so that np.load opens it:
//
//	model.npz
//	├── manifest               uint8    bytes       JSON in UTF-8: archive.Manifest, and in it Manifest
//	├── classes                int64    c           values of the classes; only of classifiers
//	├── …                                           arrays of the learner: see its Encode
//	├── given_points           int32    l           labeled points: Given.Entries
//	├── given_values           float64  l×m         their values; only of regressions
//	├── given_shares           float64  l×c         their distributions; only of soft labels
//	├── given_weights          float64  l           weights of labels; only if some are not one
//	├── degrees, points, pca_… index_… neighbor_…   the neighbourhood: Neighborhood.Encode, which leaves out
//	│                                               lists that follow from points and index
//	├── id_texts               uint8    bytes       ids of the points in UTF-8, one behind the other; only
//	│                                               of points with ids
//	├── id_ends                int64    n           the byte behind the last one of each id
//	├── held_points            int32    h       labeled points with held-out answers; only with probabilities
//	├── held_probabilities     float64  h×c     their probabilities
//	├── calibration_residuals  float64  l×m         only with intervals: see package calibration
//	├── answer_points          int32    k       labels that annotators gave: Consensus; only of such models
//	├── answer_classes         int32    k           their positions in answer_values
//	├── answer_annotators      int32    k           who gave them
//	├── answer_values          int64    c           values of the classes that annotators named
//	├── answer_confusion       float64  ac×c        confusion matrices of a annotators
//	└── part0_…, part1_…                            models inside the model: see package pool
//
// n is the number of training points, d of their columns, l of labeled points, m of columns
// of the targets and c of classes. The manifest lists the dtype and the shape of every other
// array ("float64 (100, 3)"), and Load compares the headers with this list before it inflates
// anything: a short file cannot claim much memory.

// modelVersion is the version of the format of model files, and oldestVersion the first one that is
// read. Since version 3 a file may be without lists of neighbours, their distances and scores of
// auto that follow from its other arrays, and may hold scores in float32.
const (
	modelVersion  = 3
	oldestVersion = 2
)

// Save writes a model as a .npz file, whole or not at all. hashes name the inputs that it
// was made from.
func Save(path string, m Model, hashes map[string]string, files ...archive.Files) error {
	e, err := m.Encode()
	if err != nil {
		return err
	}
	fit, err := marshal(e.Fit)
	if err != nil {
		return err
	}

	// Load refuses NaN and infinities, so they are not written either.
	for _, x := range e.Arrays {
		if err := finiteArray(x); err != nil {
			return fmt.Errorf("models: %s cannot be saved: %w", m.Name(), err)
		}
	}

	settings := Manifest{Learner: m.Name(), Output: m.Output(), Dim: m.Dim(), Params: e.Values, Fit: fit,
		Columns: ColumnsOf(m), Arrays: DescribeArrays(e.Arrays), Calibration: CalibrationOf(m),
		Consensus: ConsensusOf(m).file()}
	if ids := IDsOf(m); ids != nil {
		settings.IDColumn = ids.Column
	}
	settings.Soft, settings.Weighted = e.Soft()
	mf, err := archive.New(archive.Model, settings, hashes, files...)
	if err != nil {
		return err
	}
	mf.Version = modelVersion
	text, err := mf.Bytes()
	if err != nil {
		return err
	}
	return npy.WriteArchive(path, append(slices.Clone(e.Arrays), archive.Array{Name: archive.Name,
		Data: text}))
}

// Decoder reads a model from its file.
type Decoder func(r *Reader) (Model, error)

// Load reads a file that [Save] wrote. find returns the decoder for the models of a learner,
// nil for an unknown name. A positive limit bounds the memory in bytes. Damage is an error
// that names the file and the array.
func Load(path string, limit int64, find func(learner string) Decoder) (Model, *Manifest, error) {
	a, err := npy.OpenArchive(path, limit)
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	text, err := a.ReadBytes(archive.Name)
	if err != nil {
		return nil, nil, err
	}

	// The manifest first: it says how to read all else.
	mf, err := archive.ParseVersion(text, archive.Model, path, oldestVersion, modelVersion)
	if err != nil {
		return nil, nil, err
	}
	r := newReader(a, limit)
	if err := archive.Unmarshal(mf.Settings, &r.Manifest); err != nil {
		return nil, nil, fmt.Errorf("%s: the settings in the manifest: %w", path, err)
	}
	r.Manifest.Hashes = mf.Hashes
	if err := r.checkArrays(); err != nil {
		return nil, nil, err
	}

	decode := find(r.Manifest.Learner)
	if decode == nil {
		return nil, nil, fmt.Errorf("%s: unknown model %q; it may be of a later version of bigfit", path,
			r.Manifest.Learner)
	}
	if given := r.Manifest.Output.Classes != nil; given != a.Has("classes") {
		return nil, nil, fmt.Errorf("%s: array classes: the manifest says that there is one: %v; the "+
			"file is damaged", path, given)
	}
	m, err := decode(r)
	if r.Err != nil { // names the file itself
		return nil, nil, r.Err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, param.Unmarked(err))
	}

	// The decoder has checked the arrays among themselves; compare them with the manifest.
	if err = r.Manifest.describes(m); err == nil {
		m, err = r.wrap(m)
	}
	if r.Err != nil {
		return nil, nil, r.Err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w; the file is damaged", path, err)
	}
	return m, &r.Manifest, nil
}

// checkArrays compares the headers of all arrays with the manifest, and their total size
// with the limit, before any array is decoded.
func (r *Reader) checkArrays() error {
	path := r.archive.Path()
	for _, name := range r.archive.Names() {
		if name == archive.Name {
			continue
		}
		h, err := checkHeader(r.archive, name, r.Manifest.Arrays)
		if err != nil {
			return err
		}
		if r.Claim(h.Bytes()); r.Err != nil {
			return r.Err
		}
	}

	// The other way round: every array of the manifest is in the file.
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(r.Manifest.Arrays)) {
		if !r.archive.Has(name) {
			missing = append(missing, name)
		}
	}

	if missing != nil {
		return fmt.Errorf("%s: the manifest lists arrays that are not there: %s; the file is damaged", path,
			strings.Join(missing, ", "))
	}
	return nil
}

// checkHeader compares the header of an array with its entry in a manifest.
func checkHeader(a *npy.Archive, name string, arrays map[string]string) (*npy.Header, error) {
	h, err := a.Header(name)
	if err != nil {
		return nil, err
	}

	// A header that claims more than the manifest could make the reader allocate at will.
	switch want, ok := arrays[name]; {
	case !ok:
		return nil, fmt.Errorf("%s: the manifest does not list the array %s; the file is damaged",
			a.Path(), name)
	case h.String() != want:
		return nil, fmt.Errorf("%s: array %s is %s, the manifest says %s; the file is damaged", a.Path(),
			name, h, want)
	}

	return h, nil
}

// DescribeArrays writes types and shapes of arrays for a manifest, so that headers can be
// compared with them before anything is inflated.
func DescribeArrays(arrays []archive.Array) map[string]string {
	out := map[string]string{}
	for _, x := range arrays {
		out[x.Name] = describeArray(x)
	}
	return out
}

// describeArray writes the type and the shape of an array as its header will have them.
func describeArray(x archive.Array) string {
	// Some arrays are written without being held in the type of the file.
	h := npy.Array{Shape: x.Shape, Data: x.Data}
	length := -1
	switch v := x.Data.(type) {
	case archive.Repeat:
		h.Data = []float64(nil)
		length = v.Count
	case archive.Single:
		h.Data = []float32(nil)
		length = len(v)
	}

	if x.Shape == nil {
		if length < 0 {
			length = h.Len()
		}
		h.Shape = []int{length}
	}
	return h.String()
}

// firstNotFinite returns the place of the first NaN or infinity, or −1.
func firstNotFinite[V ~[]T, T float32 | float64](v V) int {
	return slices.IndexFunc(v, func(e T) bool { return e-e != 0 })
}

// finiteArray returns an error for a number that is not finite.
func finiteArray(x archive.Array) error {
	at := -1
	switch v := x.Data.(type) {
	case []float64:
		at = firstNotFinite(v)
	case []float32:
		at = firstNotFinite(v)
	case archive.Single:
		at = firstNotFinite(v)
	}

	if at < 0 {
		return nil
	}
	return fmt.Errorf("element %d of its %s is not finite: %w", at, x.Name, ErrNotFinite)
}

// describes returns an error unless m has the output and the dimension in the manifest.
func (f *Manifest) describes(m Model) error {
	o := m.Output()
	if o.Kind != f.Output.Kind || o.Columns != f.Output.Columns ||
		!slices.Equal(o.Classes, f.Output.Classes) || !slices.Equal(o.Labels, f.Output.Labels) {
		return fmt.Errorf("the arrays are of a model with the output %+v, the manifest says %+v", o, f.Output)
	}
	if m.Dim() != f.Dim {
		return fmt.Errorf("the arrays are of a model for points of %d columns, the manifest says %d",
			m.Dim(), f.Dim)
	}
	return nil
}

// ClassEntries returns the array of class values; nothing for nil.
func ClassEntries(classes []int64) []archive.Array {
	if classes == nil {
		return nil
	}
	return []archive.Array{{Name: "classes", Data: classes}}
}

// MatrixEntry returns an array of a matrix. It copies a matrix with a stride.
func MatrixEntry(name string, a *mat.Dense) archive.Array {
	r := a.RawMatrix()
	if r.Stride != r.Cols {
		r = mat.DenseCopyOf(a).RawMatrix()
	}
	return archive.Array{Name: name, Shape: []int{r.Rows, r.Cols}, Data: r.Data}
}

// ScoresEntry is [MatrixEntry] in float32, if float32 holds all numbers exactly. single says so, for
// [Reader.Scores].
func ScoresEntry(name string, a *mat.Dense) (entry archive.Array, single bool) {
	entry = MatrixEntry(name, a)
	values := entry.Data.([]float64)
	for _, v := range values {
		if float64(float32(v)) != v {
			return entry, false
		}
	}
	entry.Data = archive.Single(values)
	return entry, true
}

// Reader reads the manifest and the arrays of a model file and keeps the first
// error.
type Reader struct {
	Manifest Manifest
	Err      error

	archive *npy.Archive
	limit   int64
	rename  func(name string) string // gives the name of an array in the file; nil for the same
	// Arrays and points that were read, by the name in the file: models inside the model
	// share them.
	arrays map[string]*npy.Array
	points map[string]data.Points
	// claimed counts the bytes of all arrays and of what is made of them.
	claimed *int64
	outer   *Neighborhood // neighbourhood of the model around this one; may be nil
}

// newReader returns a reader without a manifest.
func newReader(a *npy.Archive, limit int64) *Reader {
	return &Reader{archive: a, limit: limit, arrays: map[string]*npy.Array{},
		points: map[string]data.Points{}, claimed: new(int64)}
}

// Part returns a reader of a model inside the model of r. m is the manifest of the part, and
// rename gives the names of its arrays in the model of r. h is the neighbourhood of the model
// around it: if the part has the same points and index, it shares them.
func (r *Reader) Part(m Manifest, h *Neighborhood, rename func(name string) string) *Reader {
	// A part may have parts of its own.
	inner := func(name string) string { return r.at(rename(name)) }
	return &Reader{Manifest: m, archive: r.archive, limit: r.limit, rename: inner, arrays: r.arrays,
		points: r.points, claimed: r.claimed, outer: h}
}

// at returns the name that an array has in the file.
func (r *Reader) at(name string) string {
	if r.rename == nil {
		return name
	}
	return r.rename(name)
}

// read reads an array, each once.
func (r *Reader) read(name string) (*npy.Array, error) {
	name = r.at(name)
	if x := r.arrays[name]; x != nil {
		return x, nil
	}
	x, err := r.archive.Read(name)
	if err == nil {
		r.arrays[name] = x
	}
	return x, err
}

// Has tells whether the file has an array of this name.
func (r *Reader) Has(name string) bool { return r.archive.Has(r.at(name)) }

// Fit reads into v the part Fit of the model's [Encoded].
func (r *Reader) Fit(v any) error {
	if err := archive.Unmarshal(r.Manifest.Fit, v); err != nil {
		return fmt.Errorf("the fit in the manifest: %w", err)
	}
	return nil
}

// Numbers reads a vector of the given element type; floats must be finite.
func Numbers[T any](r *Reader, name string) []T {
	if r.Err != nil {
		return nil
	}
	x, err := r.read(name)
	if err != nil {
		r.Err = err
		return nil
	}
	values, ok := x.Data.([]T)
	if !ok || len(x.Shape) != 1 {
		r.Err = fmt.Errorf("%s: %s is %v; a vector of %T is needed", r.archive.Path(), name, x, values)
		return nil
	}

	// Save writes no NaN, so one here is damage.
	if floats, ok := any(values).([]float64); ok {
		r.checkFinite(name, floats)
	}
	return values
}

// Elements reads the elements of a matrix of cols columns, row by row.
func Elements[T any](r *Reader, name string, cols int) []T {
	if r.Err != nil {
		return nil
	}
	x, err := r.read(name)
	if err != nil {
		r.Err = err
		return nil
	}
	values, ok := x.Data.([]T)
	if !ok || len(x.Shape) != 2 || x.Shape[1] != cols {
		r.Err = fmt.Errorf("%s: %s is %v; a matrix of %T with %d columns is needed", r.archive.Path(), name,
			x, values, cols)
		return nil
	}
	return values
}

// ReadClasses reads the class values; nil if there are none.
func (r *Reader) ReadClasses() []int64 {
	if r.Err != nil || !r.Has("classes") {
		return nil
	}
	return Numbers[int64](r, "classes")
}

// Matrix reads a matrix of finite float64 with at least one element.
func (r *Reader) Matrix(name string) *mat.Dense {
	if r.Err != nil {
		return nil
	}
	x, err := r.read(name)
	if err != nil {
		r.Err = err
		return nil
	}
	values, ok := x.Data.([]float64)
	if !ok || len(x.Shape) != 2 || len(values) == 0 {
		r.Err = fmt.Errorf("%s: %s is %v; a matrix of float64 is needed", r.archive.Path(), name, x)
		return nil
	}

	r.checkFinite(name, values)
	return mat.NewDense(x.Shape[0], x.Shape[1], values)
}

// Scores reads a matrix that [ScoresEntry] wrote.
func (r *Reader) Scores(name string, single bool) *mat.Dense {
	if !single {
		return r.Matrix(name)
	}
	if r.Err != nil {
		return nil
	}
	x, err := r.read(name)
	if err != nil {
		r.Err = err
		return nil
	}
	from, ok := x.Data.([]float32)
	if !ok || len(x.Shape) != 2 || len(from) == 0 {
		r.Err = fmt.Errorf("%s: %s is %v; a matrix of float32 is needed", r.archive.Path(), name, x)
		return nil
	}
	if r.Claim(8 * int64(len(from))); r.Err != nil {
		return nil
	}

	// The array is not kept beside the matrix.
	delete(r.arrays, r.at(name))
	rows, cols := x.Shape[0], x.Shape[1]
	out := dense.New(rows, cols)
	dense.Double(out, blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: from}, 0)
	r.checkFinite(name, out.RawMatrix().Data)
	return out
}

// Claim counts memory that reading the model takes beside its arrays, and records an error where both
// exceed the limit.
func (r *Reader) Claim(bytes int64) {
	if *r.claimed += bytes; r.limit > 0 && *r.claimed > r.limit && r.Err == nil {
		r.Err = &npy.LimitError{What: r.archive.Path(), Need: *r.claimed, Limit: r.limit}
	}
}

// checkFinite records an error for the first NaN or infinity among values.
func (r *Reader) checkFinite(name string, values []float64) {
	if i := firstNotFinite(values); i >= 0 {
		r.Err = fmt.Errorf("%s: element %d of %s is %v", r.archive.Path(), i, name, values[i])
	}
}

// Points reads the training points; nil if there are none.
func (r *Reader) Points() data.Points {
	// Parts of a model that name the same arrays share one copy of the points, which are
	// the largest part of many files.
	key := ""
	for _, name := range []string{"points", "points_indptr", "points_indices", "points_data",
		"points_shape"} {
		if r.Has(name) {
			key += r.at(name) + " "
		}
	}

	if r.Err == nil && r.points[key] == nil {
		r.points[key] = r.readPoints()
	}
	return r.points[key]
}

// readPoints reads sparse points, or dense ones of any element type.
func (r *Reader) readPoints() data.Points {
	switch {
	case r.Has("points_indptr"):
		shape := Numbers[int64](r, "points_shape")
		m := &sparse.CSR{Ptr: Numbers[int64](r, "points_indptr"), Col: Numbers[int32](r, "points_indices"),
			Val: Numbers[float64](r, "points_data")}
		if r.Err == nil && len(shape) != 2 {
			r.Err = fmt.Errorf("%s: points_shape has %d elements", r.archive.Path(), len(shape))
		}
		if r.Err != nil {
			return nil
		}
		// Validate checks the indices, by which products would read beyond their vectors.
		m.Rows = int(shape[0])
		m.Cols = int(shape[1])
		if err := m.Validate(); err != nil {
			r.Err = fmt.Errorf("%s: points: %w", r.archive.Path(), err)
			return nil
		}
		return m
	case r.Has("points"):
		x, err := data.ReadPoints(r.archive.Path(), data.ReadOptions{Key: r.at("points"), Limit: r.limit})
		if err != nil {
			r.Err = err
			return nil
		}
		return x
	}

	return nil
}
