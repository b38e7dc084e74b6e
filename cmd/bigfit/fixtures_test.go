package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

// blobs returns n points of small non-negative integers in three clouds, with
// the number of the cloud as label.
func blobs(n int, seed uint64) (x []uint8, y []int64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	centres := [3][blobColumns]int{{20, 20, 20, 20}, {60, 20, 60, 30}, {20, 70, 20, 60}}
	for range n {
		c := rng.IntN(3)
		for _, m := range centres[c] {
			x = append(x, uint8(m+rng.IntN(19)))
		}
		y = append(y, int64(10*c))
	}
	return x, y
}

const (
	blobCount   = 90
	blobColumns = 4
)

// intoBlobs goes to a new directory that holds the points X.npy with labels
// y.npy and other points new.npy with labels newy.npy.
func intoBlobs(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i, name := range []string{"X.npy", "new.npy"} {
		x, y := blobs(blobCount, uint64(i))
		must(t, npy.WriteFile(name, []int{blobCount, blobColumns}, floats(x)))
		must(t, npy.WriteFile([]string{"y.npy", "newy.npy"}[i], nil, y))
	}
}

func floats[T uint8 | int64](x []T) []float64 {
	f := make([]float64, len(x))
	for i, v := range x {
		f[i] = float64(v)
	}
	return f
}

// formats writes the points and labels in every format that is read and returns
// what to give for X and y.
func formats(t *testing.T, x []uint8, y []int64) map[string][2]string {
	t.Helper()
	n, d := len(y), len(x)/len(y)
	dense := &data.Dense[float64]{Rows: n, Cols: d, Data: floats(x)}
	must(t, npy.WriteFile("x8.npy", []int{n, d}, x))
	must(t, npy.WriteFile("xi.npy", []int{n, d}, widen(x)))
	must(t, npy.WriteFile("y.npy", nil, y))
	must(t, npy.WriteFile("yf.npy", []int{n, 1}, floats(y)))
	must(t, npy.WriteArchive("both.npz", []archive.Array{{Name: "X", Shape: []int{n, d}, Data: x, Compress: true}, {Name: "y", Data: y}}))
	must(t, npy.WriteArchive("keys.npz", []archive.Array{{Name: "points", Shape: []int{n, d}, Data: dense.Data}, {Name: "classes", Data: y}}))
	must(t, sparse.WriteNPZ("csr.npz", data.ToSparse(dense), nil))
	idx := append([]byte{0, 0, 8, 2, 0, 0, 0, byte(n), 0, 0, 0, byte(d)}, x...)
	writeFile(t, "x.idx", idx)
	labels := []byte{0, 0, 8, 1, 0, 0, 0, byte(n)}
	for _, v := range y {
		labels = append(labels, byte(v))
	}
	writeFile(t, "y.idx", labels)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := w.Write(idx)
	must(t, err)
	must(t, w.Close())
	writeFile(t, "x.idx.gz", z.Bytes())
	var csv, svm, lines bytes.Buffer
	csv.WriteString("a" + strings.Repeat(",b", d-1) + "\n")
	for i := range n {
		fmt.Fprint(&svm, y[i])
		fmt.Fprintln(&lines, y[i])
		for j, v := range x[i*d : (i+1)*d] {
			fmt.Fprintf(&csv, "%s%d", []string{"", ","}[min(j, 1)], v)
			fmt.Fprintf(&svm, " %d:%d", j+1, v)
		}
		csv.WriteString("\n")
		svm.WriteString("\n")
	}
	writeFile(t, "x.csv", csv.Bytes())
	writeFile(t, "x.svm", svm.Bytes())
	writeFile(t, "y.txt", lines.Bytes())
	return map[string][2]string{
		"npy uint8": {"x8.npy", "y.npy"},
		"npy int64": {"xi.npy", "yf.npy"},
		"npz":       {"both.npz", "both.npz"},
		"npz:key":   {"keys.npz:points", "keys.npz:classes"},
		"scipy":     {"csr.npz", "y.npy"},
		"idx":       {"x.idx", "y.idx"},
		"idx.gz":    {"x.idx.gz", "y.idx"},
		"svmlight":  {"x.svm", "x.svm"},
		"csv":       {"x.csv", "y.txt"},
	}
}

func widen(x []uint8) []int64 {
	out := make([]int64, len(x))
	for i, v := range x {
		out[i] = int64(v)
	}
	return out
}

// ringGraph writes a graph of n points that is one cycle with chords.
func ringGraph(t *testing.T, path string, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	w := make([]map[int32]bool, n)
	for i := range w {
		w[i] = map[int32]bool{}
	}
	for i := range n {
		for _, j := range []int{(i + 1) % n, rng.IntN(n), rng.IntN(n)} {
			if i != j {
				w[i][int32(j)], w[j][int32(i)] = true, true
			}
		}
	}
	m := &sparse.CSR{Rows: n, Cols: n, Ptr: []int64{0}}
	for i := range n {
		for j := range w[i] {
			m.Col = append(m.Col, j)
		}
		m.Ptr = append(m.Ptr, int64(len(m.Col)))
		slices.Sort(m.Col[m.Ptr[i]:])
	}
	must(t, sparse.WriteNPZ(path, m, nil))
}

func sparseFile(t *testing.T, path string, rows, cols int, entries map[[2]int]float64) {
	t.Helper()
	m := &sparse.CSR{Rows: rows, Cols: cols, Ptr: []int64{0}, Val: []float64{}}
	for i := range rows {
		for j := range cols {
			if v, ok := entries[[2]int{i, j}]; ok {
				m.Col, m.Val = append(m.Col, int32(j)), append(m.Val, v)
			}
		}
		m.Ptr = append(m.Ptr, int64(len(m.Col)))
	}
	must(t, sparse.WriteNPZ(path, m, nil))
}

// truncate writes the first part of a file under another name.
func truncate(t *testing.T, from, to string, size int) {
	t.Helper()
	b := readFile(t, from)
	if size < 0 {
		size += len(b)
	}
	writeFile(t, to, b[:size])
}

// stripManifest copies a .npz file without its manifest.
func stripManifest(t *testing.T, from, to string) {
	t.Helper()
	a, err := npy.OpenArchive(from, 0)
	must(t, err)
	defer a.Close()
	onlyArrays(t, from, to, slices.DeleteFunc(slices.Clone(a.Names()), func(n string) bool { return n == "manifest" })...)
}

// onlyArrays copies some arrays of a .npz file.
func onlyArrays(t *testing.T, from, to string, names ...string) {
	t.Helper()
	a, err := npy.OpenArchive(from, 0)
	must(t, err)
	defer a.Close()
	var entries []archive.Array
	for _, name := range names {
		x, err := a.Read(name)
		must(t, err)
		e := archive.Array{Name: name, Shape: x.Shape, Data: x.Data}
		if name == "format" {
			e.Shape, e.Data = nil, "csr"
		}
		entries = append(entries, e)
	}
	must(t, npy.WriteArchive(to, entries))
}

// intoWide writes 1500 points of 100 columns, which take more memory to search
// than to read, and labels.
func intoWide(t *testing.T) {
	t.Helper()
	const n, d = 1500, 100
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := make([]uint8, n*d), make([]int64, n)
	for i := range x {
		x[i] = uint8(rng.IntN(256))
	}
	for i := range y {
		y[i] = int64(i % 2)
	}
	must(t, npy.WriteFile("wide.npy", []int{n, d}, x))
	must(t, npy.WriteArchive("wide.npz", []archive.Array{{Name: "X", Shape: []int{n, d}, Data: x, Compress: true}}))
	must(t, npy.WriteFile("wide_y.npy", nil, y))
}
