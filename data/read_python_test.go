package data

import (
	"math"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

// python runs a script with NumPy and SciPy as np and sp in dir, or skips the
// test where they are missing.
func python(t *testing.T, dir, script string) {
	t.Helper()
	const exe = "/usr/bin/python3"
	if err := exec.Command(exe, "-c", "import numpy, scipy.sparse").Run(); err != nil {
		t.Skipf("%s with numpy and scipy is needed to compare with the originals (%v)", exe, err)
	}
	cmd := exec.Command(exe, "-c", "import numpy as np, scipy.sparse as sp\n"+script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestPythonReadsOurFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, shape []int, data any) {
		if err := npy.WriteFile(filepath.Join(dir, name), shape, data); err != nil {
			t.Fatal(err)
		}
	}
	write("f4.npy", []int{2, 3}, []float32{0, .5, 1, 1.5, 2, 2.5})
	write("f8.npy", []int{2, 3}, []float64{0, .5, 1, 1.5, 2, math.NaN()})
	write("i1.npy", nil, []int8{-128, 127})
	write("i2.npy", nil, []int16{-32768, 32767})
	write("i4.npy", nil, []int32{-1 << 31, 1<<31 - 1})
	write("i8.npy", nil, []int64{math.MinInt64, math.MaxInt64})
	write("u1.npy", []int{2, 1, 1}, []uint8{0, 255})
	write("u2.npy", nil, []uint16{0, 65535})
	write("u4.npy", nil, []uint32{0, math.MaxUint32})
	write("u8.npy", nil, []uint64{0, math.MaxUint64})
	write("b1.npy", nil, []bool{true, false})
	write("scalar.npy", []int{}, []float64{2.5})
	write("empty.npy", []int{0, 4}, []float64{})
	err := npy.WriteArchive(filepath.Join(dir, "a.npz"), []archive.Array{
		{Name: "stored", Shape: []int{2, 2}, Data: []float64{1, 2, 3, 4}},
		{Name: "deflated", Data: []int32{7, 8}, Compress: true},
		{Name: "ones", Data: archive.Repeat{Value: 1, Count: 5}},
		{Name: "text", Data: "csr"},
	})
	if err != nil {
		t.Fatal(err)
	}
	weighted := &sparse.CSR{
		Rows: 4, Cols: 5, Ptr: []int64{0, 2, 2, 4, 5},
		Col: []int32{1, 4, 0, 2, 3}, Val: []float64{2, 1.5, -1, 3, 4},
	}
	binary := &sparse.CSR{Rows: 4, Cols: 5, Ptr: weighted.Ptr, Col: weighted.Col}
	for name, m := range map[string]*sparse.CSR{"weighted.npz": weighted, "binary.npz": binary} {
		if err := sparse.WriteNPZ(filepath.Join(dir, name), m, []byte(`{"a": 1}`)); err != nil {
			t.Fatal(err)
		}
	}
	python(t, dir, `
def check(name, want):
    got, want = np.load(name + ".npy"), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (name, got.dtype, got.shape)
    assert np.array_equal(got, want, equal_nan=want.dtype.kind == "f"), (name, got)
check("f4", np.arange(6, dtype="f4").reshape(2, 3) / 2)
check("f8", np.array([[0, .5, 1], [1.5, 2, np.nan]]))
for t in "i1 i2 i4 i8 u2 u4 u8".split():
    check(t, np.array([np.iinfo(t).min, np.iinfo(t).max], dtype=t))
check("u1", np.array([[[0]], [[255]]], dtype="u1"))
check("b1", np.array([True, False]))
check("scalar", np.float64(2.5))
check("empty", np.zeros((0, 4)))
with np.load("a.npz") as z:
    assert sorted(z.files) == ["deflated", "ones", "stored", "text"], z.files
    assert np.array_equal(z["stored"], [[1, 2], [3, 4]]) and np.array_equal(z["deflated"], [7, 8])
    assert np.array_equal(z["ones"], np.ones(5)) and z["text"].item() == b"csr"
A = np.array([[0, 2, 0, 0, 1.5], [0, 0, 0, 0, 0], [-1, 0, 3, 0, 0], [0, 0, 0, 4, 0]])
w, b = sp.load_npz("weighted.npz"), sp.load_npz("binary.npz")
assert w.format == b.format == "csr" and w.dtype == b.dtype == np.float64
assert w.indptr.dtype == w.indices.dtype == np.int32 and w.has_canonical_format
assert np.array_equal(w.toarray(), A) and np.array_equal(b.toarray(), A != 0)
assert bytes(np.load("weighted.npz")["manifest"]) == b'{"a": 1}'
assert (w @ np.ones(5)).tolist() == [3.5, 0, 2, 4]
`)
}

func TestPythonFilesReadHere(t *testing.T) {
	dir := t.TempDir()
	python(t, dir, `
k = np.arange(60 * 7)
X = ((k * 7919 % 1009) / 16 - 30).reshape(60, 7)
for t in ["<f4", ">f4", "<f8", ">f8"]:
    for order in "CF":
        np.save(f"x{t[0] == '<'}{t[1:]}{order}.npy", X.astype(t).copy(order=order))
np.savez("x.npz", X=X, y=k[:60] % 3)
np.savez_compressed("xc.npz", X=X, y=k[:60] % 3)
np.savetxt("x.csv", X, delimiter=",", fmt="%.17g")
np.savetxt("x.txt", X)
S = np.where(X > 0, X, 0)
for f in ["csr", "csc", "coo"]:
    for c in [True, False]:
        sp.save_npz(f"{f}{c}.npz", sp.csr_matrix(S).asformat(f), compressed=c)
with open("x.svm", "w") as f:
    for i, row in enumerate(S):
        f.write(" ".join([str(i % 3)] + [f"{j + 1}:{float(v)!r}" for j, v in enumerate(row) if v]) + "\n")
`)
	f8 := NewDense[float64](60, 7)
	f4 := NewDense[float32](60, 7)
	s := &sparse.CSR{Rows: 60, Cols: 7, Ptr: []int64{0}}
	for k := range f8.Data {
		v := float64(k*7919%1009)/16 - 30
		f8.Data[k] = v
		f4.Data[k] = float32(v)
		if v > 0 {
			s.Col = append(s.Col, int32(k%7))
			s.Val = append(s.Val, v)
		}
		if k%7 == 6 {
			s.Ptr = append(s.Ptr, int64(len(s.Col)))
		}
	}
	want := map[string]Points{"x.npz": f8, "xc.npz": f8, "x.csv": f8, "x.txt": f8, "x.svm": s}
	for _, name := range []string{"csr", "csc", "coo"} {
		want[name+"True.npz"] = s
		want[name+"False.npz"] = s
	}
	for _, little := range []string{"True", "False"} {
		for _, order := range []string{"C", "F"} {
			want["x"+little+"f4"+order+".npy"] = f4
			want["x"+little+"f8"+order+".npy"] = f8
		}
	}
	for name, w := range want {
		x, err := ReadPoints(filepath.Join(dir, name), ReadOptions{})
		if err != nil || !reflect.DeepEqual(x, w) {
			t.Errorf("%s: %T differs from the content written (%v)", name, x, err)
		}
	}
	y := make([]int64, 60)
	for i := range y {
		y[i] = int64(i % 3)
	}
	for _, name := range []string{"x.npz", "xc.npz", "x.svm"} {
		l, err := ReadLabels(filepath.Join(dir, name), LabelOptions{})
		if l != nil {
			l.Read = nil
		}
		if err != nil || !reflect.DeepEqual(l, NewLabels(y, nil)) {
			t.Errorf("%s: labels %+v (%v)", name, l, err)
		}
	}
}
