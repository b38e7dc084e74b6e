package main

import (
	"slices"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/fixtures"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// What these tests and the attacks on the program share.
var (
	must       = fixtures.Must
	exists     = fixtures.Exists
	listing    = fixtures.Listing
	readFile   = fixtures.ReadFile
	writeFile  = fixtures.WriteFile
	blobs      = fixtures.Blobs
	intoBlobs  = fixtures.IntoBlobs
	formats    = fixtures.Formats
	intoWide   = fixtures.IntoWide
	ringGraph  = fixtures.RingGraph
	sparseFile = fixtures.SparseFile
	spider     = fixtures.Spider
)

const (
	blobCount   = fixtures.BlobCount
	blobColumns = fixtures.BlobColumns
)

func floats[T uint8 | int64](x []T) []float64 { return fixtures.Floats(x) }

func intoMoons(t *testing.T) { t.Helper(); fixtures.IntoMoons(t, succeed) }

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
