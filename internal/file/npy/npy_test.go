package npy

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/kshedden/gonpy"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/num/simd"
)

func golden(name string) string { return filepath.Join("..", "..", "..", "testdata", "golden", name) }

// formula is the content that testdata/make_golden.py gives element k.
func formula[T number](k int) T {
	var zero T
	v := 7 * k % 11
	switch any(zero).(type) {
	case float32, float64:
		return T(float64(v-3) / 2)
	case int8, int16, int32, int64:
		return T(v - 3)
	}
	return T(v)
}

func sequence[T number](n int) []T {
	out := make([]T, n)
	for k := range out {
		out[k] = formula[T](k)
	}
	return out
}

func halves(n int) []Half {
	out := make([]Half, n)
	for k, v := range sequence[float32](n) {
		out[k] = Half(simd.ToHalf(v))
	}
	return out
}

func TestGoldenTypes(t *testing.T) {
	bits := make([]bool, 12)
	for k := range bits {
		bits[k] = k%3 == 0
	}
	want := map[string]any{
		"f2": halves(12), "f4": sequence[float32](12), "f8": sequence[float64](12),
		"i1": sequence[int8](12), "i2": sequence[int16](12), "i4": sequence[int32](12), "i8": sequence[int64](12),
		"u1": sequence[uint8](12), "u2": sequence[uint16](12), "u4": sequence[uint32](12), "u8": sequence[uint64](12),
		"b1": bits,
	}
	files, err := filepath.Glob(golden("??_[bln][ea]_[CF].npy"))
	if err != nil || len(files) != 42 {
		t.Fatalf("%d files, want 42 (%v)", len(files), err)
	}
	for _, f := range files {
		a, err := ReadFile(f, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		code := filepath.Base(f)[:2]
		if !slices.Equal(a.Shape, []int{4, 3}) || !reflect.DeepEqual(a.Data, want[code]) {
			t.Errorf("%s: %v %v, want %v", f, a, a.Data, want[code])
		}
		h, err := ReadHeader(f)
		if err != nil || h.DType != a.DType() || h.Len() != 12 || !slices.Equal(h.Shape, a.Shape) {
			t.Errorf("%s: header %v, array %v (%v)", f, h, a, err)
		}
		// gonpy alone is the oracle for what is read in place.
		if d, ok := a.Data.([]float64); ok && strings.HasSuffix(f, "C.npy") {
			r, err := gonpy.NewFileReader(f)
			if err != nil {
				t.Fatal(err)
			}
			if g, err := r.GetFloat64(); err != nil || !slices.Equal(g, d) {
				t.Errorf("%s: %v, gonpy reads %v (%v)", f, d, g, err)
			}
		}
	}
}

func TestGoldenShapes(t *testing.T) {
	for name, shape := range map[string][]int{
		"f8_3d_F.npy": {2, 3, 4}, "u1_images.npy": {3, 2, 2}, "f8_1d.npy": {5},
		"f8_empty.npy": {0, 3}, "f8_version2.npy": {4, 3}, "f8_version3.npy": {4, 3},
	} {
		a, err := ReadFile(golden(name), 0)
		if err != nil {
			t.Error(err)
			continue
		}
		if !slices.Equal(a.Shape, shape) {
			t.Errorf("%s: shape %v, want %v", name, a.Shape, shape)
		}
		switch d := a.Data.(type) {
		case []float64:
			if !slices.Equal(d, sequence[float64](a.Len())) {
				t.Errorf("%s: %v", name, d)
			}
		case []uint8:
			if !slices.Equal(d, sequence[uint8](a.Len())) {
				t.Errorf("%s: %v", name, d)
			}
		}
	}
	a, err := ReadFile(golden("f8_0d.npy"), 0)
	if err != nil || len(a.Shape) != 0 || !reflect.DeepEqual(a.Data, []float64{2.5}) {
		t.Errorf("scalar: %v (%v)", a, err)
	}
	a, err = ReadFile(golden("text.npy"), 0)
	if err != nil || !reflect.DeepEqual(a.Data, []string{"ab", "", "ç"}) {
		t.Errorf("text: %v (%v)", a, err)
	}
}

func TestArchive(t *testing.T) {
	for _, name := range []string{"stored.npz", "deflated.npz"} {
		z, err := OpenArchive(golden(name), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := z.Names(); !slices.Equal(got, []string{"X", "big", "y"}) || !z.Has("X") || z.Has("Z") {
			t.Errorf("%s: names %v", name, got)
		}
		x, err := z.Read("X")
		if err != nil || !reflect.DeepEqual(x.Data, sequence[uint8](12)) {
			t.Errorf("%s: X is %v (%v)", name, x, err)
		}
		big, err := z.Read("big")
		if err != nil || !reflect.DeepEqual(big.Data, sequence[float32](12)) {
			t.Errorf("%s: big is %v (%v)", name, big, err)
		}
		if h, err := z.Header("y"); err != nil || h.String() != "int64 (4,)" {
			t.Errorf("%s: y is %v (%v)", name, h, err)
		}
		_, err = z.Read("Z")
		wantError(t, err, name, `no array "Z"`, "X, big, y")
		if err := z.Close(); err != nil {
			t.Error(err)
		}
	}
}

// wantError checks that err mentions every part.
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

func TestRefusedTypes(t *testing.T) {
	for name, parts := range map[string][]string{
		"bad_f16.npy":        {`unknown dtype "<f16"`, "float16, float32, float64", ".astype('float32')"},
		"bad_complex.npy":    {`unknown dtype "<c16"`, ".real"},
		"bad_object.npy":     {`dtype "|O"`, "Python objects", ".astype(float)"},
		"bad_structured.npy": {"structured", "each field"},
		"bad_datetime.npy":   {`unknown dtype "<M8[D]"`, "int64"},
	} {
		_, err := ReadFile(golden(name), 0)
		wantError(t, err, append(parts, name)...)
	}
}

// raw returns a .npy file with the given dictionary and payload.
func raw(dict string, payload int) []byte {
	b := append([]byte(magic), 1, 0, byte(len(dict)), byte(len(dict)>>8))
	return append(append(b, dict...), make([]byte, payload)...)
}

func dict(descr, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
}

var malformed = []struct {
	name    string
	content []byte
	parts   []string
}{
	{"empty", nil, []string{"ends after 0 bytes", "truncated"}},
	{"magic", []byte("GIF89a123456"), []string{"not a .npy", "GIF89a"}},
	{"short", []byte(magic), []string{"ends after 6 bytes"}},
	{"version", append([]byte(magic), 4, 0, 0, 0), []string{"version 4.0"}},
	{"no length", append([]byte(magic), 1, 0, 9), []string{"length field"}},
	{"long header", append([]byte(magic), 2, 0, 0, 0, 1, 1), []string{"16842752 bytes long", "65536"}},
	{"cut header", append([]byte(magic), 1, 0, 99, 0, '{'), []string{"after 1 of 99"}},
	{"truncated", raw(dict("<f8", "(4, 3)"), 95), []string{"float64 (4, 3), 96 bytes", "95 bytes follow", "truncated"}},
	{"oversized", raw(dict("<f8", "(4, 3)"), 97), []string{"97 bytes follow", "more than one array"}},
	{"10^12 rows", raw(dict("<f4", "(1000000000000, 784)"), 64), []string{"3136000000000000 bytes", "64 bytes follow"}},
	{"overflow", raw(dict("<f4", "(4294967296, 4294967296)"), 64), []string{"more bytes than can be addressed"}},
	{"overflow digits", raw(dict("<f4", "(99999999999999999999,)"), 64), []string{"byte", "not an integer in range"}},
	{"negative", raw(dict("<f4", "(-1, 4)"), 64), []string{"(-1, 4)", "negative"}},
	{"dimensions", raw(dict("<f4", "("+strings.Repeat("1,", 65)+")"), 4), []string{"65 dimensions"}},
	{"no shape", raw("{'descr': '<f4', 'fortran_order': False}", 4), []string{`no "shape"`}},
	{"extra key", raw("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", 4), []string{"4 keys"}},
	{"twice", raw("{'descr': '<f4', 'descr': '<f4'}", 4), []string{"occurs twice"}},
	{"shape", raw("{'descr': '<f4', 'fortran_order': False, 'shape': 3}", 4), []string{"not a tuple"}},
	{"extent", raw("{'descr': '<f4', 'fortran_order': False, 'shape': ('a',)}", 4), []string{"extent 0"}},
	{"order", raw("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", 4), []string{"fortran_order"}},
	{"text after", raw(dict("<f4", "()")+"x", 4), []string{"after the dictionary"}},
	{"nested", raw("{'descr': "+strings.Repeat("[", 99), 4), []string{"nested"}},
	{"string", raw("{'descr", 4), []string{"does not end"}},
	{"f16", raw(dict("<f16", "(1,)"), 16), []string{`"<f16"`}},
	{"i3", raw(dict("<i3", "(1,)"), 3), []string{`"<i3"`}},
	{"S0", raw(dict("|S0", "(1000000000000,)"), 0), []string{`"|S0"`}},
	{"no order", raw(dict("f4", "(1,)"), 4), []string{`"f4"`}},
	{"cut strings", raw(dict("<U3", "(2,)"), 23), []string{"str3 (2,), 24 bytes", "23 bytes follow"}},
}

func TestMalformed(t *testing.T) {
	for _, m := range malformed {
		t.Run(m.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bad.npy")
			if err := os.WriteFile(path, m.content, 0o666); err != nil {
				t.Fatal(err)
			}
			_, err := ReadFile(path, 0)
			wantError(t, err, append(m.parts, path)...)

			// The same in an archive.
			path = filepath.Join(t.TempDir(), "bad.npz")
			writeZip(t, path, "X.npy", m.content)
			z, err := OpenArchive(path, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			_, err = z.Read("X")
			wantError(t, err, append(m.parts, path, `array "X"`)...)
		})
	}
}

func writeZip(t testing.TB, path, name string, content []byte) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(content)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestFalseClaimsTakeNoMemory(t *testing.T) {
	// A header that claims 8 GB before 16 MiB of zeros.
	path := filepath.Join(t.TempDir(), "bomb.npz")
	writeZip(t, path, "X.npy", append(headerBytes("<f8", []int{1 << 30}), make([]byte, 16<<20)...))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	z, err := OpenArchive(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	_, err = z.Read("X")
	wantError(t, err, path, "8589934592 bytes")

	// The header alone, with a stream that ends early.
	h, err := NewHeader("<f8", []int{1 << 37}, false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Decode(bytes.NewReader(make([]byte, 5<<20)), h, 0)
	wantError(t, err, "5242880 of 1099511627776", "truncated")
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("%d bytes taken for 5 MiB of data", got)
	}
}

func TestDamagedArchive(t *testing.T) {
	good, err := os.ReadFile(golden("deflated.npz"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.npz")
	for _, n := range []int{0, 10, len(good) / 2, len(good) - 1} {
		os.WriteFile(path, good[:n], 0o666)
		_, err := OpenArchive(path, 0)
		wantError(t, err, path, "truncated", "numpy.savez")
	}
	for i := range good { // any single bit: an error or the right answer
		bad := slices.Clone(good)
		bad[i] ^= 1 << (i % 8)
		os.WriteFile(path, bad, 0o666)
		z, err := OpenArchive(path, 1<<20)
		if err != nil {
			continue
		}
		if x, err := z.Read("X"); err == nil && !reflect.DeepEqual(x.Data, sequence[uint8](12)) {
			t.Errorf("bit flipped in byte %d: read %v without an error", i, x.Data)
		}
		z.Close()
	}
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	zw.Create("X.npy")
	zw.Create("X.npy")
	zw.Close()
	os.WriteFile(path, b.Bytes(), 0o666)
	_, err = OpenArchive(path, 0)
	wantError(t, err, path, `"X"`, "twice")
}

func TestLimit(t *testing.T) {
	var le *LimitError
	if _, err := ReadFile(golden("f8_le_C.npy"), 95); !errors.As(err, &le) || le.Need != 96 || le.Limit != 95 {
		t.Errorf("limit 95: %v", err)
	}
	if _, err := ReadFile(golden("f8_le_C.npy"), 96); err != nil {
		t.Errorf("limit 96: %v", err)
	}
	if _, err := ReadFile(golden("f8_le_F.npy"), 96); !errors.As(err, &le) || le.Need != 192 {
		t.Errorf("transposed, limit 96: %v", err)
	}
	z, err := OpenArchive(golden("deflated.npz"), 11)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if _, err := z.Read("X"); !errors.As(err, &le) || le.Need != 12 {
		t.Errorf("limit 11: %v", err)
	}
}

func TestNotARegularFile(t *testing.T) {
	dir := t.TempDir()
	_, err := ReadFile(dir, 0)
	wantError(t, err, dir, "directory")
	missing := filepath.Join(dir, "none.npy")
	_, err = ReadFile(missing, 0)
	wantError(t, err, missing, "no such file")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v is not os.ErrNotExist", err)
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	big := make([]float64, 300_000) // several chunks
	for i := range big {
		big[i] = math.Sqrt(float64(i))
	}
	var entries []archive.Array
	for _, c := range []struct {
		shape []int
		data  any
	}{
		{[]int{4, 3}, sequence[float32](12)}, {[]int{12}, sequence[float64](12)},
		{[]int{2, 2, 3}, sequence[int8](12)}, {nil, sequence[int16](12)}, {[]int{12, 1}, sequence[int32](12)},
		{[]int{}, []int64{7}}, {[]int{1, 12}, sequence[uint8](12)}, {[]int{12}, sequence[uint16](12)},
		{[]int{12}, sequence[uint32](12)}, {[]int{12}, sequence[uint64](12)}, {[]int{3}, []bool{true, false, true}},
		{[]int{0, 5}, []float32{}}, {[]int{1000, 300}, big},
	} {
		if err := WriteFile(path, c.shape, c.data); err != nil {
			t.Fatal(err)
		}
		a, err := ReadFile(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		if c.shape != nil && !slices.Equal(a.Shape, c.shape) || !reflect.DeepEqual(a.Data, c.data) {
			t.Errorf("%T %v comes back as %v", c.data, c.shape, a)
		}
		if b, _ := os.ReadFile(path); (bytes.IndexByte(b, '\n')+1)%64 != 0 {
			t.Errorf("%T %v: the payload begins at %d", c.data, c.shape, bytes.IndexByte(b, '\n')+1)
		}
		entries = append(entries,
			archive.Array{Name: fmt.Sprintf("s%d", len(entries)), Shape: c.shape, Data: c.data},
			archive.Array{Name: fmt.Sprintf("c%d", len(entries)), Shape: c.shape, Data: c.data, Compress: true})
	}
	entries = append(entries, archive.Array{Name: "ones", Data: archive.Repeat{Value: 1, Count: 200_000}}, archive.Array{Name: "format", Data: "csr"})
	archive := filepath.Join(filepath.Dir(path), "a.npz")
	if err := WriteArchive(archive, entries); err != nil {
		t.Fatal(err)
	}
	z, err := OpenArchive(archive, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, e := range entries[:len(entries)-2] {
		if a, err := z.Read(e.Name); err != nil || !reflect.DeepEqual(a.Data, e.Data) {
			t.Errorf("%s comes back as %v (%v)", e.Name, a, err)
		}
	}
	ones, err := z.Read("ones")
	if err != nil || ones.Len() != 200_000 || slices.ContainsFunc(ones.Data.([]float64), func(v float64) bool { return v != 1 }) {
		t.Errorf("ones come back as %v (%v)", ones, err)
	}
	f, err := z.Read("format")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := f.Text(); s != "csr" || err != nil {
		t.Errorf("format comes back as %q (%v)", s, err)
	}
	// The same entries, the same bytes.
	first, _ := os.ReadFile(archive)
	if err := WriteArchive(archive, entries); err != nil {
		t.Fatal(err)
	}
	if second, _ := os.ReadFile(archive); !bytes.Equal(first, second) {
		t.Error("two writes of the same entries differ")
	}
}

func TestLargeForeignAndFortran(t *testing.T) {
	// More than one chunk of gonpy, and tiles that do not divide the shape.
	const r, c = 701, 403
	var b bytes.Buffer
	for j := range c {
		for i := range r {
			u := math.Float64bits(float64(i*c + j))
			for s := 56; s >= 0; s -= 8 {
				b.WriteByte(byte(u >> s))
			}
		}
	}
	h, err := NewHeader(">f8", []int{r, c}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, hint := range []int64{0, h.Bytes()} {
		a, err := Decode(bytes.NewReader(b.Bytes()), h, hint)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range a.Data.([]float64) {
			if v != float64(k) {
				t.Fatalf("element %d is %v", k, v)
			}
		}
	}
	_, err = Decode(bytes.NewReader(b.Bytes()[:2_000_000]), h, 0)
	wantError(t, err, "2000000 of 2260024", "truncated")
}

func TestConversions(t *testing.T) {
	for _, c := range []struct {
		data  any
		parts []string
	}{
		{[]int64{1, 1<<53 + 1}, []string{"element 1 is 9007199254740993", "exactly"}},
		{[]int64{math.MaxInt64}, []string{"9223372036854775807"}},
		{[]uint64{math.MaxUint64}, []string{"18446744073709551615"}},
		{[]string{"a"}, []string{"str", "numbers"}},
	} {
		a := &Array{Shape: []int{reflect.ValueOf(c.data).Len()}, Data: c.data}
		_, err := a.Float64s()
		wantError(t, err, c.parts...)
	}
	for _, c := range []struct {
		data  any
		parts []string
	}{
		{[]float64{0, 0, 0, 0.5}, []string{"element (1, 1) is 0.5", "integer"}},
		{[]float64{0, math.NaN(), 0, 0}, []string{"element (0, 1) is NaN"}},
		{[]float32{0, 0, float32(math.Inf(1)), 0}, []string{"element (1, 0) is +Inf"}},
		{[]float64{1 << 63, 0, 0, 0}, []string{"element (0, 0)"}},
		{[]uint64{0, 0, math.MaxUint64, 0}, []string{"element (1, 0)", "int64"}},
	} {
		a := &Array{Shape: []int{2, 2}, Data: c.data}
		_, err := a.Int64s()
		wantError(t, err, c.parts...)
	}
	a := &Array{Shape: []int{3}, Data: []int64{-1 << 63, 1 << 53, -1 << 60}}
	if f, err := a.Float64s(); err != nil || !slices.Equal(f, []float64{-1 << 63, 1 << 53, -1 << 60}) {
		t.Errorf("exact integers: %v (%v)", f, err)
	}
	a = &Array{Shape: []int{2}, Data: []bool{true, false}}
	if v, err := a.Int64s(); err != nil || !slices.Equal(v, []int64{1, 0}) {
		t.Errorf("bool: %v (%v)", v, err)
	}
}

func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none", "a.npy")
	wantError(t, WriteFile(missing, nil, []float64{1}), missing, "cannot write", "no such file")
	wantError(t, WriteFile(dir, nil, []float64{1}), dir, "not a regular file")
	path := filepath.Join(dir, "a.npy")
	wantError(t, WriteFile(path, []int{2}, []float64{1}), path, "1 elements do not fill the shape (2,)")
	wantError(t, WriteFile(path, nil, []complex128{1}), path, "complex128")
	wantError(t, WriteArchive(path, []archive.Array{{Name: "a", Data: []uint8{1}}, {Name: "a", Data: []uint8{1}}}), path, "twice")

	// A failed write leaves the old file and nothing else.
	if err := WriteFile(path, nil, []float64{1}); err != nil {
		t.Fatal(err)
	}
	old, _ := os.ReadFile(path)
	wantError(t, WriteArchive(path, []archive.Array{{Name: "a", Data: archive.Repeat{Value: 1, Count: 100}}, {Name: "b", Data: 1}}), path, `array "b"`)
	if now, _ := os.ReadFile(path); !bytes.Equal(now, old) {
		t.Error("a failed write changed the old file")
	}
	wantFiles(t, dir, "a.npy")

	// Through a symbolic link the file behind it is replaced.
	link := filepath.Join(dir, "link.npy")
	if err := os.Symlink("a.npy", link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, nil, []float64{2}); err != nil {
		t.Fatal(err)
	}
	if a, err := ReadFile(path, 0); err != nil || a.Data.([]float64)[0] != 2 {
		t.Errorf("behind the link is %v (%v)", a, err)
	}
	wantFiles(t, dir, "a.npy", "link.npy")
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}

func FuzzReadNPY(f *testing.F) {
	for _, m := range malformed {
		f.Add(m.content)
	}
	files, _ := filepath.Glob(golden("*.npy"))
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	path := filepath.Join(f.TempDir(), "x.npy")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		a, err := bounded(t, len(content), func() (*Array, error) { return ReadFile(path, 0) })
		if err == nil {
			valid(t, a)
		}
	})
}

func FuzzReadNPZ(f *testing.F) {
	files, _ := filepath.Glob(golden("*.npz"))
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	path := filepath.Join(f.TempDir(), "x.npz")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		z, err := OpenArchive(path, 64<<20)
		if err != nil {
			return
		}
		defer z.Close()
		for _, name := range z.Names() {
			// Deflate may expand by 1040.
			a, err := bounded(t, maxRatio*len(content), func() (*Array, error) { return z.Read(name) })
			if err == nil {
				valid(t, a)
			}
		}
	})
}

// bounded fails the test if read allocates much more than size bytes warrant.
func bounded(t *testing.T, size int, read func() (*Array, error)) (*Array, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a, err := read()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > uint64(32<<20+64*size) {
		t.Errorf("%d bytes allocated for %d bytes of input", got, size)
	}
	return a, err
}

// valid checks what every Array promises.
func valid(t *testing.T, a *Array) {
	t.Helper()
	n := 1
	for _, s := range a.Shape {
		if s < 0 {
			t.Fatalf("shape %v", a.Shape)
		}
		n *= s
	}
	if n != a.Len() {
		t.Fatalf("%d elements in shape %v", a.Len(), a.Shape)
	}
	a.Float64s()
	a.Int64s()
}

// Strings come back as they were written, from NumPy's point of view too.
func TestStrings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.npy")
	want := []string{"cat", "", "Käse", "日本", "cat", "a\x00b", "👍"}
	if err := WriteFile(path, nil, want); err != nil {
		t.Fatal(err)
	}
	a, err := ReadFile(path, 0)
	if err != nil || !reflect.DeepEqual(a.Data, want) {
		t.Fatalf("%q, %v; written %q", a.Data, err, want)
	}
	if h, err := ReadHeader(path); err != nil || h.String() != "str4 (7,)" {
		t.Errorf("the header is %v, %v", h, err)
	}
	many := make([]string, 200_000)
	for i := range many {
		many[i] = fmt.Sprint("class ", i%7)
	}
	if err := WriteFile(path, []int{len(many), 1}, many); err != nil {
		t.Fatal(err)
	}
	if a, err := ReadFile(path, 0); err != nil || !reflect.DeepEqual(a.Data, many) {
		t.Errorf("200,000 strings: %v", err)
	}
	_, err = ReadFile(path, 1<<20)
	wantError(t, err, "limit", "s.npy")
	wantError(t, WriteFile(path, nil, []string{"a", "b\x00"}), "string 1", "zero byte")
	wantError(t, WriteFile(path, nil, []string{"\xff"}), "string 0", "UTF-8")
}
