package data

import (
	"bytes"
	"compress/gzip"
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

	"github.com/klauspost/compress/zstd"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

func golden(name string) string { return filepath.Join("..", "testdata", "golden", name) }

// goldenX is content(t, (4, 3)) of testdata/make_golden.py.
func goldenX[T Element](scale, shift float64) *Dense[T] {
	x := NewDense[T](4, 3)
	for k := range x.Data {
		x.Data[k] = T((float64(7*k%11) + shift) * scale)
	}
	return x
}

func TestReadPointsGolden(t *testing.T) {
	f8 := goldenX[float64](0.5, -3)
	f4 := goldenX[float32](0.5, -3)
	u1 := goldenX[uint8](1, 0)
	signed := goldenX[float64](1, -3)
	unsigned := goldenX[float64](1, 0)
	bits := NewDense[float32](4, 3)
	for k := 0; k < 12; k += 3 {
		bits.Data[k] = 1
	}
	images := &Dense[uint8]{3, 4, u1.Data}
	a := &sparse.CSR{
		Rows: 4, Cols: 5, Ptr: []int64{0, 2, 2, 4, 5},
		Col: []int32{1, 4, 0, 2, 3}, Val: []float64{2, 1.5, -1, 3, 4},
	}
	want := map[string]Points{
		"u1_images.npy": images, "f8_1d.npy": &Dense[float64]{5, 1, f8.Data[:5]}, "f8_version3.npy": f8,
		"stored.npz": u1, "deflated.npz": u1, "stored.npz:big": f4, "single.npz": f4, "several.npz:a": f4,
		"csr.npz": a, "csc.npz": a, "csr_messy.npz": a,
		"images-idx3-ubyte": images, "images-idx3-ubyte.gz": images,
		"i1.idx": signed, "i2.idx": signed, "i4.idx": signed, "f4.idx": f4, "f8.idx": f8,
		"one.svmlight": a, "one.svmlight.gz": a,
		"header.csv": f8, "plain.csv": f8, "plain.csv.gz": f8, "semicolon.csv": f8, "tabs.tsv": f8, "savetxt.txt": f8,
	}
	for _, layout := range []string{"le_C", "le_F", "be_C", "be_F"} {
		for code, x := range map[string]Points{
			"f2": f4, "f4": f4, "f8": f8, "i2": signed, "i4": signed, "i8": signed, "u2": unsigned, "u4": unsigned, "u8": unsigned,
		} {
			want[code+"_"+layout+".npy"] = x
		}
	}
	for _, layout := range []string{"na_C", "na_F"} {
		want["i1_"+layout+".npy"] = signed
		want["u1_"+layout+".npy"] = u1
		want["b1_"+layout+".npy"] = bits
	}
	for name, w := range want {
		x, err := ReadPoints(golden(name), ReadOptions{})
		if s, ok := x.(*Stored); ok { // bool and float16
			if want := map[bool]Kind{true: Bool, false: Float16}[name[0] == 'b']; s.Kind() != want {
				t.Errorf("%s: %v, want %v", name, s.Kind(), want)
			}
			x = s.Dense()
		}
		if err != nil {
			t.Error(err)
		} else if !reflect.DeepEqual(x, w) {
			t.Errorf("%s: %T %+v, want %T %+v", name, x, x, w, w)
		}
	}
	x, err := ReadPoints(golden("several.npz"), ReadOptions{Key: "b"})
	if err != nil || !reflect.DeepEqual(x, &Dense[float64]{3, 1, []float64{0, 1, 2}}) {
		t.Errorf("several.npz, key b: %+v (%v)", x, err)
	}
	x, err = ReadPoints(golden("zero.svmlight"), ReadOptions{})
	zero := &sparse.CSR{
		Rows: 4, Cols: 5, Ptr: []int64{0, 2, 2, 4, 5},
		Col: []int32{1, 4, 0, 2, 3}, Val: []float64{2, 1.5, -1, 3, 4},
	}
	if err != nil || !reflect.DeepEqual(x, zero) {
		t.Errorf("zero.svmlight: %+v (%v)", x, err)
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(param.Plain(err.Error()), p) {
			t.Errorf("error %q does not mention %q", err, p)
		}
	}
}

func TestReadPointsGoldenErrors(t *testing.T) {
	for name, parts := range map[string][]string{
		"f8_nan.npy":     {"row 1, column 1 is NaN", "remove or impute"},
		"f4_inf.npy":     {"row 1, column 2 is -Inf"},
		"f8_0d.npy":      {"single number"},
		"f8_empty.npy":   {"[0 3]", "at least one row"},
		"bad_f16.npy":    {"unknown dtype"},
		"bad_object.npy": {"Python objects"},
		"several.npz":    {`no array "X"`, `"a" (float32 (4, 3))`, `"b" (int64 (3,))`, "several.npz:KEY"},
		"stored.npz:Q":   {`no array "Q"`},
		"dia.npz":        {".tocsr()"},
		"f8_1d.npy:X":    {"key", "npy"},
		"none.npy":       {"no such file"},
		"text.npy":       {"want numbers"},
		".":              {"directory"},
	} {
		x, err := ReadPoints(golden(name), ReadOptions{})
		file, _, _ := strings.Cut(name, ":")
		wantError(t, err, append(parts, golden(file))...)
		if x != nil {
			t.Errorf("%s: points besides an error", name)
		}
	}
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zstdOf(b []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(b, nil)
}

// npyHead is a header of an array in .npy form.
func npyHead(descr, shape string) string {
	text := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }"
	text += strings.Repeat(" ", 118-len(text)) + "\n"
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(text)), 0}) + text
}

var badPoints = []struct {
	name, content string
	opt           ReadOptions
	parts         []string
}{
	{"empty.csv", "", ReadOptions{}, []string{"empty"}},
	{"blank.csv", "\n\n# x\n", ReadOptions{}, []string{"no lines of numbers"}},
	{"header.csv", "a,b\n", ReadOptions{}, []string{"only a header"}},
	{"nan.csv", "a,b\n1,2\n3,nan\n", ReadOptions{}, []string{"line 3", "row 1, column 1 is NaN"}},
	{"inf.csv", "1,2\n3,1e999\n", ReadOptions{}, []string{"line 2", "row 1, column 1 is +Inf"}},
	{"hole.csv", "1,2\n3,\n", ReadOptions{}, []string{"line 2", "row 1, column 1 is empty"}},
	{"word.csv", "1,2\nx y,4\n", ReadOptions{}, []string{"line 2", `row 1, column 0 is "x y"`, "not a number"}},
	{"mixed.csv", "1,red\n2,blue\n", ReadOptions{}, []string{"line 1", `column 1 is "red"`, "header"}},
	{"few.csv", "1,2,3\n\n4,5\n", ReadOptions{}, []string{"line 3", "row 1 has 2 columns", "3"}},
	{"many.csv", "1,2\n4,5,6\n", ReadOptions{}, []string{"line 2", "row 1 has 3 columns", "the first line has 2"}},
	{"comma.csv", "1,5\t2,5\n1,5\t2,5\n", ReadOptions{Header: true}, []string{`"1,5"`}},
	{"limit.csv", strings.Repeat("1,2\n", 100), ReadOptions{Limit: 100}, []string{"limit is 100"}},
	{"binary.csv", "\x01\x02\x00\x03", ReadOptions{}, []string{"format is not known", `\x01\x02\x00\x03`}},
	{"key.csv", "1,2\n", ReadOptions{Key: "X"}, []string{`no column "X"`}},
	{"text.npy", "1,2\n", ReadOptions{}, []string{"truncated"}},
	{"text.npz", "1,2\n", ReadOptions{}, []string{"not a .npz"}},

	{"label.svm", "2:3 1:1\n", ReadOptions{}, []string{"line 1", `"2:3"`, "label"}},
	{"label2.svm", "1 2:3\ncat 1:1\n", ReadOptions{}, []string{"line 2", `row 1 is "cat"`}},
	{"index.svm", "1 2:3\n1 -4:1\n", ReadOptions{}, []string{"line 2", `row 1 holds "-4:1"`}},
	{"huge.svm", "1 2147483647:3\n", ReadOptions{}, []string{"2147483647:3", "2³¹−2"}},
	{"pair.svm", "1 2:3 4\n", ReadOptions{}, []string{"line 1", `row 0 holds "4"`}},
	{"value.svm", "1 2:3 4:x\n", ReadOptions{}, []string{"row 0, index 4", `"x"`}},
	{"nan.svm", "1 2:3\n1 4:nan\n", ReadOptions{}, []string{"line 2", "row 1, index 4", "NaN"}},
	{"twice.svm", "1 2:3 2:4\n", ReadOptions{}, []string{"row 0", "index 2 twice"}},
	{"none.svm", "1\n2\n", ReadOptions{}, []string{"2 points of 0 columns"}},
	{"wide.svm", "1 7:3\n", ReadOptions{Columns: 6}, []string{"7 columns", "6"}},
	{"limit.svm", strings.Repeat("1 1:1\n", 100), ReadOptions{Limit: 100}, []string{"limit is 100"}},

	{"short.idx", "\x00\x00\x08", ReadOptions{}, []string{"format is not known"}},
	{"head.idx", "\x00\x00\x08\x02\x00\x00", ReadOptions{}, []string{"header ends before its 12 bytes", "truncated"}},
	{"dims.idx", "\x00\x00\x08\x00", ReadOptions{}, []string{"no dimensions"}},
	{"few.idx", "\x00\x00\x08\x01\x00\x00\x00\x03ab", ReadOptions{}, []string{"uint8 (3,), 3 bytes", "2 bytes follow"}},
	{"many.idx", "\x00\x00\x08\x01\x00\x00\x00\x01ab", ReadOptions{}, []string{"uint8 (1,), 1 bytes", "2 bytes follow"}},
	{"huge.idx", "\x00\x00\x0e\x02\xff\xff\xff\xff\x00\x01\x00\x00ab", ReadOptions{}, []string{"2251799813160960 bytes", "2 bytes follow"}},
	{"overflow.idx", "\x00\x00\x0e\x02\xff\xff\xff\xff\xff\xff\xff\xffab", ReadOptions{}, []string{"more bytes than can be addressed"}},
	{"nan.idx", "\x00\x00\x0d\x02\x00\x00\x00\x01\x00\x00\x00\x01\x7f\xc0\x00\x00", ReadOptions{}, []string{"row 0, column 0 is NaN"}},
	{"limit.idx", "\x00\x00\x08\x01\x00\x00\x00\x03abc", ReadOptions{Limit: 2}, []string{"limit is 2"}},
	{"few.idx.gz", string(zipped([]byte("\x00\x00\x08\x01\xff\xff\xff\xffab"))), ReadOptions{}, []string{"2 of 4294967295 bytes", "truncated"}},
	{"many.idx.gz", string(zipped([]byte("\x00\x00\x08\x01\x00\x00\x00\x01ab"))), ReadOptions{}, []string{"bytes follow"}},
	{"cut.idx.gz", string(zipped([]byte("\x00\x00\x08\x01\x00\x00\x00\x02ab"))[:20]), ReadOptions{}, []string{"truncated"}},
	{"cut.csv.gz", string(zipped([]byte(strings.Repeat("1,2\n", 99)))[:25]), ReadOptions{}, []string{"truncated or damaged"}},
	{"a.npy.gz", string(zipped([]byte("\x93NUMPY"))), ReadOptions{}, []string{"truncated"}},
	{"a.npz.gz", string(zipped([]byte("PK\x03\x04"))), ReadOptions{}, []string{"npz inside gzip", "decompress it"}},
	{"head.zst", "\x28\xb5\x2f\xfdxx", ReadOptions{}, []string{"zstd stream"}},
	{"cut.csv.zst", string(zstdOf([]byte(strings.Repeat("1,2\n", 99)))[:25]), ReadOptions{}, []string{"zstd stream", "truncated or damaged"}},
	{"flat.csv.zst", string(zstdOf(bytes.Repeat([]byte("1,2\n"), 1<<20))), ReadOptions{Limit: 1 << 20}, []string{"limit is 1048576"}},
	{"long.csv.zst", "\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", ReadOptions{}, []string{"128 MiB", "--long"}},
	{"long.npy.zst", string(zstdOf(append([]byte(npyHead("<f8", "1000000000000, 8")), make([]byte, 100)...))), ReadOptions{}, []string{"truncated"}},
	{"limit.npy.zst", string(zstdOf(append([]byte(npyHead("<f2", "1000, 8")), make([]byte, 16000)...))), ReadOptions{Limit: 1000}, []string{"limit is 1000"}},
	{"inf.npy", npyHead("<f2", "2, 2") + "\x00\x3c\x00\x3c\x00\x7c\x00\x3c", ReadOptions{}, []string{"row 1, column 0 is +Inf", "float16 ends at ±65504"}},
	{"head.gz", "\x1f\x8bxx", ReadOptions{}, []string{"gzip stream"}},
}

func TestBadPoints(t *testing.T) {
	for _, c := range badPoints {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		x, err := ReadPoints(path, c.opt)
		wantError(t, err, append(c.parts, path)...)
		if x != nil {
			t.Errorf("%s: points besides an error", c.name)
		}
		var le *npy.LimitError
		if c.opt.Limit > 0 && !errors.As(err, &le) {
			t.Errorf("%s: %v is not a LimitError", c.name, err)
		}
	}
}

func TestReadText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	for _, c := range []struct {
		content string
		opt     ReadOptions
		want    Points
	}{
		{"1 2\n3   4", ReadOptions{}, &Dense[float64]{2, 2, []float64{1, 2, 3, 4}}},
		{"  1\t 2 \r\n3\t4\r\n\r\n", ReadOptions{}, &Dense[float64]{2, 2, []float64{1, 2, 3, 4}}},
		{"5\n-6\n", ReadOptions{}, &Dense[float64]{2, 1, []float64{5, -6}}},
		{`"1","2"`, ReadOptions{}, &Dense[float64]{1, 2, []float64{1, 2}}},
		{"0,1\n3,4\n", ReadOptions{Header: true}, &Dense[float64]{1, 2, []float64{3, 4}}},
		{"1e-3, +.5\n123456789012345678,-0", ReadOptions{}, &Dense[float64]{2, 2, []float64{1e-3, .5, 123456789012345678, math.Copysign(0, -1)}}},
		{"1 3:1 1:1\n2,3 2:1\n", ReadOptions{Columns: 9}, &sparse.CSR{Rows: 2, Cols: 9, Ptr: []int64{0, 2, 3}, Col: []int32{0, 2, 1}}},
	} {
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		x, err := ReadPoints(path, c.opt)
		if err != nil || !reflect.DeepEqual(x, c.want) {
			t.Errorf("%q: %+v, want %+v (%v)", c.content, x, c.want, err)
		}
	}
	// A line longer than any buffer, and a large table.
	var b strings.Builder
	for k := range 200_000 {
		fmt.Fprintf(&b, "%d,", k)
	}
	os.WriteFile(path, []byte(strings.TrimSuffix(b.String(), ",")), 0o666)
	x, err := ReadPoints(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d := x.(*Dense[float64]); d.Rows != 1 || d.Cols != 200_000 || d.Data[123_456] != 123_456 {
		t.Errorf("long line: %d×%d", d.Rows, d.Cols)
	}
}

func TestFiniteFindsEveryPlace(t *testing.T) {
	x := NewDense[float32](70_001, 3) // several chunks and a tail
	for _, k := range []int{0, 1, 65_535, 65_536, 200_000, 210_002} {
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
			x.Data[k] = bad
			wantError(t, finite("f", x), fmt.Sprintf("row %d, column %d is %v", k/3, k%3, bad))
			x.Data[k] = math.MaxFloat32
		}
	}
	if err := finite("f", x); err != nil {
		t.Error(err)
	}
}

func TestReadLabelsGolden(t *testing.T) {
	half := &Labels{Classes: []int64{0, 2}, Index: []int32{1, -1, 0, 1}}
	for _, c := range []struct {
		name string
		opt  LabelOptions
		want *Labels
	}{
		{"labels_i8.npy", LabelOptions{}, half},
		{"labels_be_column.npy", LabelOptions{}, half},
		{"labels_f8.npy", LabelOptions{}, half},
		{"labels_i4.idx", LabelOptions{}, half},
		{"stored.npz", LabelOptions{}, half},
		{"deflated.npz:y", LabelOptions{}, half},
		{"labels_i8.npy", LabelOptions{NoUnlabeled: true}, &Labels{Classes: []int64{-1, 0, 2}, Index: []int32{2, 0, 1, 2}}},
		{"several.npz", LabelOptions{Key: "b"}, &Labels{Classes: []int64{0, 1, 2}, Index: []int32{0, 1, 2}}},
		{"labels_bool.npy", LabelOptions{}, &Labels{Classes: []int64{0, 1}, Index: []int32{1, 0, 1}}},
		{"labels-idx1-ubyte", LabelOptions{}, &Labels{Classes: []int64{0, 1, 2}, Index: []int32{2, 0, 1}}},
		{"labels-idx1-ubyte.gz", LabelOptions{}, &Labels{Classes: []int64{0, 1, 2}, Index: []int32{2, 0, 1}}},
		{"one.svmlight", LabelOptions{}, &Labels{Classes: []int64{-1, 1}, Index: []int32{0, 1, 0, 1}}},
		{"zero.svmlight", LabelOptions{Unlabeled: []string{"3"}}, &Labels{Classes: []int64{1, 2}, Index: []int32{-1, 0, 1, 0}}},
		{"labels.txt", LabelOptions{}, &Labels{Classes: []int64{0, 2}, Index: []int32{1, -1, -1, 0, -1, 1}}},
	} {
		l, err := ReadLabels(golden(c.name), c.opt)
		if err != nil || !slices.Equal(l.Classes, c.want.Classes) || !slices.Equal(l.Index, c.want.Index) {
			t.Errorf("%s %+v: %+v, want %+v (%v)", c.name, c.opt, l, c.want, err)
		}
	}
}

func TestReadLabelsErrors(t *testing.T) {
	for name, parts := range map[string][]string{
		"labels_half.npy":   {"row 1 is 0.5", "integers"},
		"labels_onehot.npy": {"float64 (3, 3)", "argmax"},
		"several.npz":       {`no array "y"`, `"b" (int64 (3,))`},
		"f8_0d.npy":         {"one label a point"},
		"header.csv":        {"which column holds the labels"},
	} {
		_, err := ReadLabels(golden(name), LabelOptions{})
		wantError(t, err, append(parts, golden(name))...)
	}
	path := filepath.Join(t.TempDir(), "y.txt")
	for content, parts := range map[string][]string{
		"1\n2.5\n":     {"line 2", `"2.5"`, "integers or names"},
		"\n\ny\n1\n":   {"line 3", `"y"`, "empty lines"},
		"1 2\n3 4\n":   {"line 1", `"1 2"`, "one label a line"},
		"y\n":          {"no labels"},
		"1\ninf\n":     {`"inf"`},
		"1 1:2\nx 1:2": {"line 2", `"x"`},
		"1,2 1:2\n":    {"line 1", `"1,2"`},
	} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := ReadLabels(path, LabelOptions{})
		wantError(t, err, append(parts, path)...)
	}
	os.WriteFile(path, []byte("9007199254740993\n-1\n"), 0o666)
	if l, err := ReadLabels(path, LabelOptions{}); err != nil || !slices.Equal(l.Classes, []int64{9007199254740993}) {
		t.Errorf("large label: %+v (%v)", l, err)
	}
}

func TestInspect(t *testing.T) {
	four := int64(4)
	two := int64(2)
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.csv")
	mixed := filepath.Join(dir, "mixed.csv")
	lines := filepath.Join(dir, "lines.jsonl.gz")
	os.WriteFile(plain, []byte("1,2,3\n4,5,6\n"), 0o666)
	os.WriteFile(mixed, []byte("1,\n2,b\n"), 0o666)
	os.WriteFile(lines, zipped([]byte("{\"v\":[1,2],\"id\":\"a\"}\n{\"v\":[3,4],\"id\":\"b\"}\n")), 0o666)

	for name, want := range map[string]FileInfo{
		"f8_le_F.npy":          {Format: FormatNPY, Arrays: []ArrayInfo{{"", "float64", []int{4, 3}}}},
		"several.npz":          {Format: FormatNPZ, Arrays: []ArrayInfo{{"a", "float32", []int{4, 3}}, {"b", "int64", []int{3}}}},
		"images-idx3-ubyte.gz": {Format: FormatIDX, Gzip: true, Arrays: []ArrayInfo{{"", "uint8", []int{3, 2, 2}}}},
		"one.svmlight":         {Format: FormatSVMLight, Arrays: []ArrayInfo{{"", "float64", []int{4, 5}}}},
		"header.csv": {Format: FormatCSV, Rows: &four,
			Columns: []ColumnInfo{{"first, one", "number", 0}, {"b", "number", 0}, {"c", "number", 0}}},
		plain: {Format: FormatCSV, Arrays: []ArrayInfo{{"", "float64", []int{2, 3}}}},
		mixed: {Format: FormatCSV, Rows: &two,
			Columns: []ColumnInfo{{"0", "integer", 0}, {"1", "text", 0}}},
		lines: {Format: FormatJSONL, Gzip: true, Rows: &two,
			Columns: []ColumnInfo{{"v", "list of numbers", 0}, {"id", "text", 0}}},
	} {
		if !filepath.IsAbs(name) {
			name = golden(name)
		}
		got, err := Inspect(name, ReadOptions{})
		if err != nil {
			t.Error(err)
			continue
		}
		want.Path = name
		want.Size = got.Size
		if !reflect.DeepEqual(*got, want) || got.Size == 0 {
			t.Errorf("%s: %+v, want %+v", name, *got, want)
		}
	}
	path := filepath.Join(t.TempDir(), "g.npz")
	x, err := sparse.ReadNPZ(golden("csr.npz"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := sparse.WriteNPZ(path, x, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if got, err := Inspect(path, ReadOptions{}); err != nil || got.Format != FormatSciPy || string(got.Manifest) != "{}" {
		t.Errorf("graph: %+v (%v)", got, err)
	}
}

func TestHash(t *testing.T) {
	ones := &sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 2}, Col: []int32{1, 0}, Val: []float64{1, 1}}
	bare := &sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 2}, Col: []int32{1, 0}}
	if HashPoints(ones) != HashPoints(bare) {
		t.Error("stored ones change the hash")
	}
	seen := map[string]bool{HashPoints(bare): true}
	for _, x := range []Points{
		&sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 2}, Col: []int32{1, 0}, Val: []float64{1, 2}},
		&sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 2, 2}, Col: []int32{0, 1}},
		&Dense[uint8]{2, 1, []uint8{1, 2}}, &Dense[uint8]{1, 2, []uint8{1, 2}},
		&Dense[float32]{1, 2, []float32{1, 2}}, &Dense[float64]{1, 2, []float64{1, 2}}, &Dense[float64]{1, 2, []float64{1, 3}},
	} {
		h := HashPoints(x)
		if seen[h] {
			t.Errorf("%+v has the hash of another set", x)
		}
		seen[h] = true
	}
	// The hash is part of files and must never change. By Python:
	// hashlib.sha256(b"float32 1 2\n" + struct.pack("<2f", 1, 2)).hexdigest()
	const fixed = "557a5ec330880c10d0fc8fc9bb84fae3896a578fec0f666653f9dc0ce19395cf"
	if h := HashPoints(&Dense[float32]{1, 2, []float32{1, 2}}); h != fixed {
		t.Errorf("hash %s, want %s", h, fixed)
	}
}

// fuzzPoints feeds mutations of the named golden files and contents to
// ReadPoints under each of the file names' extensions.
func fuzzPoints(f *testing.F, ext string, pattern string) {
	files, _ := filepath.Glob(golden(pattern))
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, c := range badPoints {
		if strings.Contains(c.name, ext) {
			f.Add([]byte(c.content))
		}
	}
	path := filepath.Join(f.TempDir(), "x"+ext)
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		const limit = 16 << 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		x, err := ReadPoints(path, ReadOptions{Limit: limit})
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 16*limit {
			t.Errorf("%d bytes allocated for %d bytes of input", got, len(content))
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), path) {
				t.Errorf("error %q does not begin with the path", err)
			}
			return
		}
		n, d := x.Dims()
		if n < 1 || d < 1 {
			t.Fatalf("%d×%d points", n, d)
		}
		switch x := x.(type) {
		case *Dense[uint8]:
			n = len(x.Data) - n*d
		case *Dense[float32]:
			n = len(x.Data) - n*d
			err = finite("f", x)
		case *Dense[float64]:
			n = len(x.Data) - n*d
			err = finite("f", x)
		case *Stored:
			n = int(x.Held()) - n*d*x.Kind().Size()
			err = x.checkFinite("f")
		case *sparse.CSR:
			n = 0
			err = x.Validate()
		}
		if n != 0 || err != nil {
			t.Fatalf("invalid points %+v: %v", x, err)
		}
		HashPoints(x)
	})
}

func FuzzReadIDX(f *testing.F) { fuzzPoints(f, ".idx", "*idx*") }

// Streams in zstd, of arrays mostly.
func FuzzReadZstd(f *testing.F) {
	for _, name := range []string{"f2_le_C.npy", "f2_be_F.npy", "b1_na_C.npy", "f8_nan.npy", "u1_images.npy", "f4.idx", "header.csv"} {
		b, err := os.ReadFile(golden(name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(zstdOf(b))
	}
	fuzzPoints(f, ".npy.zst", "none")
}

func FuzzReadSVMLight(f *testing.F) { fuzzPoints(f, ".svm", "*.svmlight*") }
func FuzzReadCSV(f *testing.F)      { fuzzPoints(f, ".csv", "*.[ct]s*") }

func FuzzReadLabels(f *testing.F) {
	for _, pattern := range []string{"labels*", "*.svmlight*", "*.npz", "f8_*.npy", "*.csv"} {
		files, _ := filepath.Glob(golden(pattern))
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	path := filepath.Join(f.TempDir(), "y")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := ReadLabels(path, LabelOptions{Limit: 16 << 20})
		if err != nil {
			if !strings.HasPrefix(err.Error(), path) {
				t.Errorf("error %q does not begin with the path", err)
			}
			return
		}
		if l.Len() == 0 || !slices.IsSorted(l.Classes) || l.Names != nil && !slices.IsSorted(l.Names) {
			t.Fatalf("labels %+v", l)
		}
		for _, c := range l.Index {
			if c < -1 || int(c) >= len(l.Classes) {
				t.Fatalf("labels %+v", l)
			}
		}
	})
}

// CheckFinite looks at the values of all kinds of points.
func TestCheckFinite(t *testing.T) {
	dense := NewDense[float64](3, 2)
	dense.Data[4] = 7
	for _, bad := range []float64{0, math.NaN(), math.Inf(1), math.Inf(-1)} {
		dense.Data[3] = bad
		single := NewDense[float32](3, 2)
		for i, v := range dense.Data {
			single.Data[i] = float32(v)
		}
		stored := &sparse.CSR{Rows: 2, Cols: 9, Ptr: []int64{0, 1, 2}, Col: []int32{4, 8}, Val: []float64{1, bad}}
		for _, x := range []Points{dense, single, stored} {
			err := CheckFinite("these", x)
			if (err == nil) != (bad == 0) {
				t.Errorf("%T with %v: %v", x, bad, err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "these: ") {
				t.Errorf("%T: %v", x, err)
			}
		}
	}
	for _, x := range []Points{NewDense[uint8](2, 2), &sparse.CSR{Rows: 1, Cols: 3, Ptr: []int64{0, 1}, Col: []int32{2}}} {
		if err := CheckFinite("these", x); err != nil {
			t.Errorf("%T: %v", x, err)
		}
	}
}
