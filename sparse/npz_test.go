package sparse

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
)

func golden(name string) string { return filepath.Join("..", "testdata", "golden", name) }

// goldenA is the matrix A of testdata/make_golden.py.
func goldenA() *CSR {
	return &CSR{
		Rows: 4, Cols: 5,
		Ptr: []int64{0, 2, 2, 4, 5},
		Col: []int32{1, 4, 0, 2, 3},
		Val: []float64{2, 1.5, -1, 3, 4},
	}
}

func TestReadNPZGolden(t *testing.T) {
	for _, name := range []string{
		"csr.npz", "csr_stored.npz", "csr_int64.npz", "csr_unicode.npz", "csr_float32.npz",
		"csc.npz", "coo.npz", "csr_messy.npz", "written_by_scipy.npz",
	} {
		m, err := ReadNPZ(golden(name), 0)
		if err != nil {
			t.Error(err)
			continue
		}
		if !reflect.DeepEqual(m, goldenA()) {
			t.Errorf("%s: %+v, want %+v", name, m, goldenA())
		}
	}
	want := goldenA()
	want.Val[1] = 1
	if m, err := ReadNPZ(golden("csr_int8.npz"), 0); err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("csr_int8.npz: %+v (%v)", m, err)
	}
	want.Val = nil
	if m, err := ReadNPZ(golden("csr_bool.npz"), 0); err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("csr_bool.npz: %+v (%v)", m, err)
	}
	m, err := ReadNPZ(golden("coo_bool_twice.npz"), 0)
	if want := (&CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 2}, Col: []int32{1, 0}}); err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("coo_bool_twice.npz: %+v (%v)", m, err)
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not mention %q", err, p)
		}
	}
}

func TestReadNPZErrors(t *testing.T) {
	_, err := ReadNPZ(golden("dia.npz"), 0)
	wantError(t, err, golden("dia.npz"), `"dia"`, ".tocsr()")
	_, err = ReadNPZ(golden("stored.npz"), 0)
	wantError(t, err, golden("stored.npz"), "X, big, y", "save_npz")
	_, err = ReadNPZ(golden("csr.npz"), 10)
	wantError(t, err, golden("csr.npz"), "limit is 10")
	_, err = ReadNPZ(golden("f8_1d.npy"), 0)
	wantError(t, err, "not a .npz archive")

	path := filepath.Join(t.TempDir(), "bad.npz")
	for _, c := range []struct {
		change archive.Array // replaces the entry of its name
		parts  []string
	}{
		{archive.Array{Name: "indices", Data: []int32{1, 5, 0, 2, 3}}, []string{`"indices": element 1 is 5`, "[0, 5)"}},
		{archive.Array{Name: "indices", Data: []int64{1, 1 << 40, 0, 2, 3}}, []string{"element 1 is 1099511627776"}},
		{archive.Array{Name: "indices", Data: []int32{1, -1, 0, 2, 3}}, []string{"element 1 is -1"}},
		{archive.Array{Name: "indices", Data: []int32{1, 0}}, []string{`"indices" is int32 (2,)`, "want 5"}},
		{archive.Array{Name: "indices", Data: []float64{1, 4, 0.5, 2, 3}}, []string{"element 2 is 0.5"}},
		{archive.Array{Name: "indptr", Data: []int32{0, 2, 1, 4, 5}}, []string{`"indptr": element 2 is 1 after 2`}},
		{archive.Array{Name: "indptr", Data: []int32{0, 2, 2, 4, 6}}, []string{"0 to 6, want 0 to 5"}},
		{archive.Array{Name: "indptr", Data: []int32{0, 5}}, []string{`"indptr" is int32 (2,)`, "want 5"}},
		{archive.Array{Name: "shape", Data: []int64{1e12, 5}}, []string{"1000000000000×5", "2³¹"}},
		{archive.Array{Name: "shape", Data: []int64{2e9, 5}}, []string{`"indptr" is int64 (5,)`, "want 2000000001"}},
		{archive.Array{Name: "shape", Data: []int64{-4, 5}}, []string{"-4×5"}},
		{archive.Array{Name: "shape", Data: []int64{4, 5, 6}}, []string{"two integers"}},
		{archive.Array{Name: "data", Data: []float64{2, 1.5, math.NaN(), 3, 4}}, []string{"entry (2, 0) is NaN"}},
		{archive.Array{Name: "data", Data: []float64{2, 1.5, 1, 3, math.Inf(1)}}, []string{"entry (3, 3) is +Inf"}},
		{archive.Array{Name: "data", Shape: []int{5, 1}, Data: []float64{2, 1.5, 1, 3, 4}}, []string{"one dimension"}},
		{archive.Array{Name: "format", Data: "bsr"}, []string{`"bsr"`, ".tocsr()"}},
		{archive.Array{Name: "format", Data: []int64{1}}, []string{`"format"`, "want one string"}},
	} {
		entries := []archive.Array{
			{Name: "indices", Data: goldenA().Col}, {Name: "indptr", Data: goldenA().Ptr}, {Name: "format", Data: "csr"},
			{Name: "shape", Data: []int64{4, 5}}, {Name: "data", Data: goldenA().Val},
		}
		for i := range entries {
			if entries[i].Name == c.change.Name {
				entries[i] = c.change
			}
		}
		if err := npy.WriteArchive(path, entries); err != nil {
			t.Fatal(err)
		}
		_, err := ReadNPZ(path, 0)
		wantError(t, err, append(c.parts, path)...)
	}

	// Two billion rows that cost nothing in the file must not cost memory.
	err = npy.WriteArchive(path, []archive.Array{
		{Name: "row", Data: []int32{0}}, {Name: "col", Data: []int32{0}}, {Name: "format", Data: "coo"},
		{Name: "shape", Data: []int64{2e9, 5}}, {Name: "data", Data: []float64{1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ReadNPZ(path, 0)
	wantError(t, err, path, "2000000000 rows", "1 entries", ".tocsr()")
}

func TestWriteNPZ(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.npz")
	binary := goldenA()
	binary.Val = nil
	empty := &CSR{Rows: 3, Cols: 2, Ptr: make([]int64, 4), Col: []int32{}}
	for _, m := range []*CSR{goldenA(), binary, empty} {
		manifest := []byte(`{"format":"graph"}`)
		if err := WriteNPZ(path, m, manifest); err != nil {
			t.Fatal(err)
		}
		back, err := ReadNPZ(path, 0)
		if err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%+v comes back as %+v (%v)", m, back, err)
		}
		if got, err := ReadManifest(path); err != nil || !bytes.Equal(got, manifest) || !json.Valid(got) {
			t.Errorf("manifest %q (%v)", got, err)
		}
	}
	if err := WriteNPZ(path, binary, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadManifest(path); got != nil || err != nil {
		t.Errorf("manifest %q (%v), want none", got, err)
	}
	bad := filepath.Join(t.TempDir(), "none", "graph.npz")
	wantError(t, WriteNPZ(bad, binary, nil), bad, "cannot write")
}

func TestCanonicalRandom(t *testing.T) {
	// Entries in any order, with repetitions: equal to the dense sum.
	rng := rand.New(rand.NewPCG(1, 0))
	for range 50 {
		const rows, cols = 7, 6
		n := rng.IntN(60)
		row, col, val := make([]int32, n), make([]int32, n), make([]float64, n)
		var want [rows][cols]float64
		for p := range n {
			row[p], col[p], val[p] = int32(rng.IntN(rows)), int32(rng.IntN(cols)), float64(rng.IntN(9)-4)
			want[row[p]][col[p]] += val[p]
		}
		m := scatter(rows, cols, row, func(p int) int32 { return col[p] }, val)
		m.canonical(false)
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		mt := flip(m)
		if err := mt.Validate(); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			for j := range cols {
				if m.At(i, j) != want[i][j] || mt.At(j, i) != want[i][j] {
					t.Fatalf("(%d, %d): %v and transposed %v, want %v", i, j, m.At(i, j), mt.At(j, i), want[i][j])
				}
			}
		}
	}
}

func FuzzReadCSRNPZ(f *testing.F) {
	files, _ := filepath.Glob(golden("c*.npz"))
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	path := filepath.Join(f.TempDir(), "x.npz")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, restamp(content), 0o666); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := ReadNPZ(path, 64<<20)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 512<<20 {
			t.Errorf("%d bytes allocated for %d bytes of input", got, len(content))
		}
		if err != nil {
			return
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		if err := WriteNPZ(path, m, nil); err != nil {
			t.Fatal(err)
		}
		back, err := ReadNPZ(path, 0)
		if err != nil || back.Rows != m.Rows || back.Cols != m.Cols || !slices.Equal(back.Col, m.Col) || !slices.Equal(back.Ptr, m.Ptr) {
			t.Fatalf("%+v comes back as %+v (%v)", m, back, err)
		}
	})
}

// restamp packs the readable entries of a mutated archive anew, so that the
// fuzzer gets past the checksums; anything else it returns unchanged.
func restamp(content []byte) []byte {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return content
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range z.File {
		r, err := e.Open()
		if err != nil {
			return content
		}
		raw := make([]byte, 4096)
		n := 0
		for n < len(raw) && err == nil {
			var k int
			k, err = r.Read(raw[n:])
			n += k
		}
		p, err := w.Create(e.Name)
		if err != nil {
			return content
		}
		p.Write(raw[:n])
	}
	if w.Close() != nil {
		return content
	}
	return b.Bytes()
}
