package lanczos_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// newFile solves a graph of three components and puts everything into a File.
func newFile(t *testing.T) *lanczos.File {
	t.Helper()
	f := union("", grid(4, 5), isolated(1), cycle(7))
	l, c := newLaplacian(t, f.w, sparse.Normalized)
	r, err := laplacian(context.Background(), l, c, &lanczos.Settings{K: 6})
	if err != nil {
		t.Fatal(err)
	}
	m, err := archive.New(archive.Eigs, map[string]any{"k": 6}, map[string]string{"graph": "abc"})
	if err != nil {
		t.Fatal(err)
	}
	return &lanczos.File{Result: r, Components: c, Degrees: l.Degrees(), Manifest: m}
}

// save is File.Save with a panic as an error.
func save(f *lanczos.File, path string) (err error) {
	defer recoverTo(&err)
	return f.Save(path)
}

// load is lanczos.Load with a panic as an error.
func load(path string, limit int64) (f *lanczos.File, err error) {
	defer recoverTo(&err)
	return lanczos.Load(path, limit)
}

func TestSaveLoad(t *testing.T) {
	f := newFile(t)
	path := filepath.Join(t.TempDir(), "eigs.npz")
	if err := save(f, path); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	back, err := load(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !sameBits(back.Result.Values, f.Result.Values) || !sameBits(back.Result.Residuals, f.Result.Residuals) || !mat.Equal(back.Result.Vectors, f.Result.Vectors) {
		t.Errorf("the pairs come back changed")
	}
	if !reflect.DeepEqual(back.Components, f.Components) || !slices.Equal(back.Degrees, f.Degrees) {
		t.Errorf("components %+v and degrees %v come back as %+v and %v", f.Components, f.Degrees, back.Components, back.Degrees)
	}
	if !reflect.DeepEqual(back.Manifest, f.Manifest) {
		t.Errorf("manifest %+v comes back as %+v", f.Manifest, back.Manifest)
	}
	// What was loaded saves to the same bytes.
	if err := save(back, path); err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("saved again, the file differs (%v)", err)
	}
	for _, name := range []string{"values", "vectors", "residuals", "components", "degrees", "manifest"} {
		a, err := npy.OpenArchive(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !a.Has(name) {
			t.Errorf("no array %q in the file", name)
		}
		a.Close()
	}
}

// TestSaveSlice saves vectors that are columns of a wider matrix.
func TestSaveSlice(t *testing.T) {
	f := newFile(t)
	n, _ := f.Result.Vectors.Dims()
	f.Result.Values, f.Result.Residuals = f.Result.Values[:4], f.Result.Residuals[:4]
	f.Result.Vectors = f.Result.Vectors.Slice(0, n, 0, 4).(*mat.Dense)
	path := filepath.Join(t.TempDir(), "eigs.npz")
	if err := save(f, path); err != nil {
		t.Fatal(err)
	}
	back, err := load(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(back.Result.Vectors, f.Result.Vectors) {
		t.Errorf("the vectors come back changed")
	}
}

func TestSaveErrors(t *testing.T) {
	f := newFile(t)
	dir := t.TempDir()
	bad := filepath.Join(dir, "none", "eigs.npz")
	wantError(t, save(f, bad), bad)
	wantError(t, save(f, dir), dir, "not a regular file")
	if rest, err := os.ReadDir(dir); err != nil || len(rest) != 0 {
		t.Errorf("left behind: %v (%v)", rest, err)
	}
}

// npyBytes is an array as NumPy writes it, with the dict of its header given.
func npyBytes(header string, data any) []byte {
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	for (10+len(header)+1)%64 != 0 {
		header += " "
	}
	header += "\n"
	binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	order := binary.ByteOrder(binary.LittleEndian)
	if bytes.Contains([]byte(header), []byte("'>")) {
		order = binary.BigEndian
	}
	binary.Write(&b, order, data)
	return b.Bytes()
}

// writeZip writes an archive of raw entries.
func writeZip(t *testing.T, path string, method uint16, entries map[string][]byte) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range entries {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestLoadNumPy reads what numpy.savez(values=w, vectors=v) makes of the output of
// scipy.sparse.linalg.eigsh: Fortran order, other precisions and byte orders,
// no further arrays.
func TestLoadNumPy(t *testing.T) {
	values := []float64{0, 0.5}
	want := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	path := filepath.Join(t.TempDir(), "eigsh.npz")
	for _, c := range []struct {
		name            string
		values, vectors []byte
	}{
		{
			"C order", npyBytes("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", values),
			npyBytes("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }", []float64{1, 2, 3, 4, 5, 6}),
		},
		{
			"Fortran order", npyBytes("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", values),
			npyBytes("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }", []float64{1, 3, 5, 2, 4, 6}),
		},
		{
			"float32, big endian", npyBytes("{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }", values),
			npyBytes("{'descr': '>f4', 'fortran_order': True, 'shape': (3, 2), }", []float32{1, 3, 5, 2, 4, 6}),
		},
	} {
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			writeZip(t, path, method, map[string][]byte{"values": c.values, "vectors": c.vectors})
			f, err := load(path, 0)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if !slices.Equal(f.Result.Values, values) || !mat.Equal(f.Result.Vectors, want) {
				t.Errorf("%s: %v, %v", c.name, f.Result.Values, mat.Formatted(f.Result.Vectors))
			}
			if f.Components != nil || f.Degrees != nil || f.Manifest != nil || f.Result.Residuals != nil {
				t.Errorf("%s: arrays that are not in the file: %+v", c.name, f)
			}
		}
	}
	// Saving it again is possible or refused, with what is missing.
	f, err := load(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again.npz")
	if err := save(f, again); err != nil {
		if bytes.Contains([]byte(err.Error()), []byte("panic")) {
			t.Errorf("saving the file of another program: %v", err)
		}
		return
	}
	if back, err := load(again, 0); err != nil || !mat.Equal(back.Result.Vectors, want) {
		t.Errorf("saved again: %v", err)
	}
}

func TestLoadErrors(t *testing.T) {
	good := func() []archive.Array {
		return []archive.Array{
			{Name: "values", Data: []float64{0, 0.5}},
			{Name: "vectors", Shape: []int{3, 2}, Data: []float64{1, 0, 0, 1, 0, 0}},
			{Name: "residuals", Data: []float64{0, 1e-9}},
			{Name: "components", Data: []int32{0, 1, 0}},
			{Name: "degrees", Data: []float64{1, 0, 1}},
			{Name: "manifest", Data: []byte(`{"format":"bigfit eigs","version":1,"settings":{},"hashes":{}}`)},
		}
	}
	path := filepath.Join(t.TempDir(), "eigs.npz")
	if err := npy.WriteArchive(path, good()); err != nil {
		t.Fatal(err)
	}
	if _, err := load(path, 0); err != nil {
		t.Fatalf("the file that is then damaged: %v", err)
	}
	nan, inf := math.NaN(), math.Inf(-1)
	for i, c := range []struct {
		change archive.Array
		parts  []string
	}{
		{archive.Array{Name: "values", Data: []float64{0, nan}}, []string{"element 1", "values", "NaN"}},
		{archive.Array{Name: "values", Data: []float64{inf, 0}}, []string{"element 0", "values", "-Inf"}},
		{archive.Array{Name: "values", Data: []float64{0.5, 0}}, []string{"value 1 is 0 after 0.5", "ascending"}},
		{archive.Array{Name: "values", Data: []float64{}}, []string{"values", "(0,)", "(2,)"}},
		{archive.Array{Name: "values", Shape: []int{1, 2}, Data: []float64{0, 0.5}}, []string{"values", "(1, 2)", "(2,)"}},
		{archive.Array{Name: "values", Data: "two"}, []string{"values"}},
		{archive.Array{Name: "values", Data: []float64{0, 0.5, 1}}, []string{"vectors", "(3, 2)", "(3,)"}},
		{archive.Array{Name: "vectors", Shape: []int{3, 2}, Data: []float64{1, 0, 0, nan, 0, 0}}, []string{"element 3", "vectors", "NaN"}},
		{archive.Array{Name: "vectors", Shape: []int{2, 3}, Data: []float64{1, 0, 0, 1, 0, 0}}, []string{"vectors", "(2, 3)", "n ≥ k"}},
		{archive.Array{Name: "vectors", Shape: []int{1, 2}, Data: []float64{1, 0}}, []string{"vectors", "(1, 2)", "n ≥ k"}},
		{archive.Array{Name: "vectors", Data: []float64{1, 0, 0, 1, 0, 0}}, []string{"vectors", "(6,)"}},
		{archive.Array{Name: "vectors", Shape: []int{3, 2, 1}, Data: []float64{1, 0, 0, 1, 0, 0}}, []string{"vectors", "(3, 2, 1)"}},
		{archive.Array{Name: "residuals", Data: []float64{0}}, []string{"residuals", "(1,)", "(2,)"}},
		{archive.Array{Name: "residuals", Shape: []int{2, 1}, Data: []float64{0, 0}}, []string{"residuals", "(2, 1)"}},
		{archive.Array{Name: "residuals", Data: []float64{0, nan}}, []string{"element 1", "residuals", "NaN"}},
		{archive.Array{Name: "degrees", Data: []float64{1, 1}}, []string{"degrees", "(2,)", "(3,)"}},
		{archive.Array{Name: "degrees", Data: []float64{1, 1, inf}}, []string{"element 2", "degrees", "-Inf"}},
		{archive.Array{Name: "components", Data: []int32{0, 1}}, []string{"components", "(2,)", "(3,)"}},
		{archive.Array{Name: "components", Data: []float64{0, 1, 0}}, []string{"components", "float64", "int32"}},
		{archive.Array{Name: "components", Data: []int32{1, 0, 0}}, []string{"point 0", "component 1"}},
		{archive.Array{Name: "components", Data: []int32{0, 2, 1}}, []string{"point 1", "component 2"}},
		{archive.Array{Name: "components", Data: []int32{0, -1, 0}}, []string{"point 1", "component -1"}},
		{archive.Array{Name: "manifest", Data: []float64{1}}, []string{"manifest", "float64", "uint8"}},
		{archive.Array{Name: "manifest", Data: []byte("{")}, []string{"manifest", "JSON"}},
		{archive.Array{Name: "manifest", Data: []byte("null")}, []string{"bigfit eigs"}},
		{archive.Array{Name: "manifest", Data: []byte(`{"format":"bigfit graph","version":1}`)}, []string{"bigfit graph", "bigfit eigs"}},
		{archive.Array{Name: "manifest", Data: []byte(`{"format":"bigfit eigs","version":99}`)}, []string{"version 99"}},
		{archive.Array{Name: "manifest", Data: []byte(`{"format":"bigfit eigs","version":0}`)}, []string{"version 0"}},
	} {
		entries := good()
		for i := range entries {
			if entries[i].Name == c.change.Name {
				entries[i] = c.change
			}
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("bad%d.npz", i))
		if err := npy.WriteArchive(path, entries); err != nil {
			t.Fatal(err)
		}
		f, err := load(path, 0)
		wantError(t, err, append(c.parts, path)...)
		if f != nil {
			t.Errorf("%v: a File beside the error", c.parts)
		}
	}
	for _, name := range []string{"values", "vectors"} {
		entries := slices.DeleteFunc(good(), func(e archive.Array) bool { return e.Name == name })
		if err := npy.WriteArchive(path, entries); err != nil {
			t.Fatal(err)
		}
		_, err := load(path, 0)
		wantError(t, err, path, name)
	}
}

// TestLoadDamaged reads prefixes, false claims and files that are something else.
func TestLoadDamaged(t *testing.T) {
	f := newFile(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "eigs.npz")
	if err := save(f, path); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.npz")
	for n := 0; n < len(content); n += 97 {
		if err := os.WriteFile(bad, content[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := load(bad, 0)
		wantError(t, err, bad)
	}
	// A flipped byte of the vectors breaks the checksum.
	vectors := f.Result.Vectors.RawMatrix().Data
	var raw bytes.Buffer
	binary.Write(&raw, binary.LittleEndian, vectors[:4])
	at := bytes.Index(content, raw.Bytes())
	if at < 0 {
		t.Fatal("the vectors are not stored as they are")
	}
	flipped := slices.Clone(content)
	flipped[at+40] ^= 1
	if err := os.WriteFile(bad, flipped, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = load(bad, 0)
	wantError(t, err, bad, "vectors")

	writeZip(t, bad, zip.Store, map[string][]byte{
		"values":  npyBytes("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", []float64{0, 1}),
		"vectors": npyBytes("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2), }", []float64{0, 1}),
	})
	_, err = load(bad, 0)
	wantError(t, err, bad, "vectors")

	_, err = load(filepath.Join(dir, "none.npz"), 0)
	if wantError(t, err, "none.npz"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v does not tell that there is no such file", err)
	}
	_, err = load(path, 100)
	var limit *npy.LimitError
	if wantError(t, err, path); !errors.As(err, &limit) {
		t.Errorf("limit of 100 bytes: %v", err)
	}
}
