package sparse

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// ring joins each of n points with the next ones on a circle.
func ring(n, each int, weighted bool) *CSR {
	var i, j []int32
	var v []float64
	rng := rand.New(rand.NewPCG(1, 2))
	for p := range n {
		for q := 1; q <= each; q++ {
			w := 1.0
			if weighted {
				w = rng.Float64()
			}
			i, j = append(i, int32(p), int32((p+q)%n)), append(j, int32((p+q)%n), int32(p))
			v = append(v, w, w)
		}
	}
	m, err := FromTriplets(n, n, i, j, v)
	if err != nil {
		panic(err)
	}
	if !weighted {
		m.Val = nil
	}
	return m
}

func TestFolder(t *testing.T) {
	for name, m := range map[string]*CSR{
		"mapped": ring(40000, 5, true), "ones": ring(40000, 5, false), "small": ring(7, 2, true), "empty": {Ptr: []int64{0}},
		"no edges": {Rows: 3, Cols: 3, Ptr: make([]int64, 4)},
	} {
		path := filepath.Join(t.TempDir(), "g")
		if IsFolder(path) {
			t.Errorf("%s: a folder before it is written", name)
		}
		for _, text := range []string{"{}", `{"a":1}`} { // the second replaces the first
			if err := WriteFolder(path, m, []byte(text)); err != nil {
				t.Fatal(err)
			}
			got, err := Read(path, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got.Rows != m.Rows || got.NNZ() != m.NNZ() || got.CheckGraph() != nil || (got.Val == nil) != (m.Val == nil && m.NNZ() > 0 || len(m.Val) == 0) {
				t.Errorf("%s: read %d rows, %d entries, values %t", name, got.Rows, got.NNZ(), got.Val != nil)
			}
			for i := range m.Rows {
				gc, gv := got.Row(i)
				mc, mv := m.Row(i)
				if !(len(gc) == 0 && len(mc) == 0) && (!reflect.DeepEqual(gc, mc) || !reflect.DeepEqual(gv, mv)) {
					t.Fatalf("%s: row %d is %v %v, want %v %v", name, i, gc, gv, mc, mv)
				}
			}
			if back, err := ReadManifest(path); err != nil || string(back) != text {
				t.Errorf("%s: manifest %q, %v", name, back, err)
			}
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Errorf("%s: %d files beside the folder", name, len(left)-1)
		}
	}
}

// TestFolderByRanges appends rows by ranges, where only some have stored values.
func TestFolderByRanges(t *testing.T) {
	m := ring(1000, 3, false)
	path := filepath.Join(t.TempDir(), "g")
	err := CreateFolder(path, true, func(w *FolderWriter) ([]byte, error) {
		for lo := 0; lo < m.Rows; lo += 300 {
			hi := min(lo+300, m.Rows)
			if err := w.Append(m.Ptr[lo:hi+1], m.Col[m.Ptr[lo]:m.Ptr[hi]], nil); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadFolder(path, 0)
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Fatalf("another matrix: %v", err)
	}
	if text, err := ReadManifest(path); text != nil || err != nil {
		t.Errorf("manifest %q, %v", text, err)
	}
	if python := "/usr/bin/python3"; exec.Command(python, "-c", "import numpy, scipy").Run() == nil {
		code := "import numpy, scipy.sparse as s, sys; a, b, c = (numpy.load(sys.argv[1] + '/%s.npy' % x, mmap_mode='r') for x in ('data', 'indices', 'indptr')); " +
			"m = s.csr_matrix((a, b, c)); assert m.shape == (1000, 1000) and m.nnz == 6000 and (m != m.T).nnz == 0 and m.sum() == 6000"
		if out, err := exec.Command(python, "-c", code, path).CombinedOutput(); err != nil {
			t.Errorf("SciPy: %v: %s", err, out)
		}
	}
}

func TestFolderFaults(t *testing.T) {
	good := ring(5, 1, true)
	ints := func(v ...int64) any { return v }
	for _, c := range []struct {
		file  string
		data  any
		parts []string
	}{
		{"indptr.npy", ints(), []string{"indptr.npy", "-1 rows"}},
		{"indptr.npy", ints(0, 2, 4, 6, 8, 9), []string{"last row pointer is 9", "10 entries"}},
		{"indptr.npy", ints(0, 2, 12, 6, 8, 10), []string{"row 1 spans"}},
		{"indptr.npy", []int32{0, 2, 4, 6, 8, 10}, []string{"indptr.npy", "int32", "int64"}},
		{"indices.npy", []int32{1, 4, 0, 2, 1, 3, 2, 4, 0, 5}, []string{"row 4", "column 5", "[0, 5)"}},
		{"indices.npy", ints(1, 4, 0, 2, 1, 3, 2, 4, 0, 1<<40), []string{"indices.npy", "element 9"}},
		{"indices.npy", []float64{1}, []string{"indices.npy", "float64"}},
		{"data.npy", []float64{1}, []string{"1 values for 10"}},
		{"data.npy", []float64{1, 1, 1, 1, 1, 1, math.NaN(), 1, 1, 1}, []string{"entry (3, 2) is NaN"}},
		{"data.npy", []float32{1}, []string{"data.npy", "float32"}},
	} {
		path := filepath.Join(t.TempDir(), "g")
		if err := WriteFolder(path, good, nil); err != nil {
			t.Fatal(err)
		}
		if err := npy.WriteFile(filepath.Join(path, c.file), nil, c.data); err != nil {
			t.Fatal(err)
		}
		_, err := ReadFolder(path, 0)
		wantError(t, err, append(c.parts, path)...)
	}
	path := filepath.Join(t.TempDir(), "g")
	if err := WriteFolder(path, good, nil); err != nil {
		t.Fatal(err)
	}
	wide := filepath.Join(path, "indices.npy")
	if err := npy.WriteFile(wide, nil, ints(1, 4, 0, 2, 1, 3, 2, 4, 0, 3)); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFolder(path, 0); err != nil || !reflect.DeepEqual(got, good) {
		t.Errorf("columns of int64: %v", err)
	}
	if _, err := ReadFolder(path, 60); err == nil || !strings.Contains(err.Error(), "indices.npy") {
		t.Errorf("a limit of 60 bytes: %v", err)
	}
	// What is no matrix is not replaced.
	if err := os.WriteFile(filepath.Join(path, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	wantError(t, WriteFolder(path, good, nil), path, "thesis.tex", "another name")
	wantError(t, CheckFolder(path), path, "thesis.tex")
	wantError(t, CheckFolder(wide), wide, "not a folder")
	wantError(t, WriteFolder(filepath.Join(path, "h"), &CSR{Rows: 1, Cols: 2, Ptr: []int64{0, 0}}, nil), "square")
	err := CreateFolder(filepath.Join(path, "h"), false, func(w *FolderWriter) ([]byte, error) {
		return nil, w.Append([]int64{0, 1}, []int32{7}, nil)
	})
	wantError(t, err, "1 rows", "column 7")
	if IsFolder(filepath.Join(path, "h")) {
		t.Error("a folder in spite of the error")
	}
}

// Open reads no row: what is wrong with some of them is found by those who check these.
func TestOpen(t *testing.T) {
	const n = 1000
	good := ring(n, 3, true)
	path := filepath.Join(t.TempDir(), "g")
	for name, c := range map[string]struct {
		damage func(m *CSR)
		want   string
	}{
		"offset behind":   {func(m *CSR) { m.Ptr[500] = 1 << 62 }, "row 499 spans"},
		"offset before":   {func(m *CSR) { m.Ptr[500] = -1 << 62 }, "row 499 spans"},
		"column":          {func(m *CSR) { m.Col[500*6] = n }, "row 500 has column 1000"},
		"order":           {func(m *CSR) { m.Col[500*6+1] = m.Col[500*6] }, "row 500 has column"},
		"not finite":      {func(m *CSR) { m.Val[500*6] = math.NaN() }, "is NaN"},
		"negative":        {func(m *CSR) { m.Val[500*6] = -1 }, "weight (500, 497) is -1"},
		"infinite degree": {func(m *CSR) { m.Val[500*6], m.Val[500*6+1] = 1e308, 1e308 }, "the weights of vertex 500"},
	} {
		if err := WriteFolder(path, good, nil); err != nil {
			t.Fatal(err)
		}
		bad := &CSR{Rows: n, Cols: n, Ptr: slices.Clone(good.Ptr), Col: slices.Clone(good.Col), Val: slices.Clone(good.Val)}
		c.damage(bad)
		for file, data := range map[string]any{folderPtr: bad.Ptr, folderCol: bad.Col, folderVal: bad.Val} {
			if err := npy.WriteFile(filepath.Join(path, file), nil, data); err != nil {
				t.Fatal(err)
			}
		}
		m, err := Open(path, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := m.CheckRows(0, 490); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := m.CheckRows(510, n); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantError(t, m.CheckRows(490, 510), c.want)
		if back, err := ReadFolder(path, 0); err == nil {
			wantError(t, back.CheckGraph(), c.want)
		} else {
			wantError(t, err, c.want, path)
		}
	}
	if err := npy.WriteFile(filepath.Join(path, folderCol), nil, []int32{1}); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, 0)
	wantError(t, err, path, "1 column")
}

// Passes over a mapped matrix give its pages back and return the same values as passes over a
// matrix in memory.
func TestMappedPasses(t *testing.T) {
	m := ring(passRows+1000, 1, true)
	m.Val[0] = math.Nextafter(m.Val[0], 2) // its partner is not the same to the last bit: partners are looked up
	path := filepath.Join(t.TempDir(), "g")
	if err := WriteFolder(path, m, nil); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFolder(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.CheckGraph(); err != nil {
		t.Error(err)
	}
	if !reflect.DeepEqual(got.Degrees(), m.Degrees()) || !reflect.DeepEqual(got.Components(), m.Components()) || got.Components().Count() != 1 {
		t.Error("degrees or components of a mapped matrix differ")
	}
	m.Val[2*passRows] *= 2
	wantError(t, m.CheckGraph(), "not symmetric: weight (262143, ")
}
