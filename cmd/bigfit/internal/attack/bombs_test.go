package attack

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
)

// zeros is a gigabyte of zeros, deflated to a megabyte.
var zeros = sync.OnceValue(func() []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression)
	block := make([]byte, 1<<20)
	for range 1 << 10 {
		w.Write(block) // a buffer does not fail
	}
	w.Close()
	return out.Bytes()
})

// zerosSum is the sum of a gigabyte of zeros after some bytes.
func zerosSum(before []byte) uint32 {
	sum := crc32.ChecksumIEEE(before)
	block := make([]byte, 1<<20)
	for range 1 << 10 {
		sum = crc32.Update(sum, crc32.IEEETable, block)
	}
	return sum
}

// header is that of a version 1.0 .npy file.
func header(descr, shape string) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n"
	return append([]byte{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, byte(len(text)), byte(len(text) >> 8)}, text...)
}

// bomb writes the archive from to the file to with a gigabyte of zeros as the named
// member, of its type and its number of dimensions.
func bomb(t *testing.T, from, to, member string) {
	t.Helper()
	a, err := npy.OpenArchive(from, 0)
	if err != nil {
		t.Fatal(err)
	}
	h, err := a.Header(member)
	a.Close()
	if err != nil {
		t.Fatal(err)
	}
	descr, size := "|u1", 1
	for name, d := range map[string]string{"float64": "<f8", "float32": "<f4", "int64": "<i8", "int32": "<i4"} {
		if h.DType == name {
			descr, size = d, int(d[2]-'0')
		}
	}
	shape := fmt.Sprintf("(%d,)", 1<<30/size)
	if len(h.Shape) == 2 {
		shape = fmt.Sprintf("(%d, 4)", 1<<28/size)
	}
	head := header(descr, shape)
	var body bytes.Buffer
	w, _ := flate.NewWriter(&body, flate.BestSpeed)
	w.Write(head)
	w.Flush()
	body.Write(zeros())

	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	z := zip.NewWriter(out)
	r, err := zip.OpenReader(from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.File {
		if f.Name != member+".npy" {
			if err := z.Copy(f); err != nil {
				t.Fatal(err)
			}
			continue
		}
		part, err := z.CreateRaw(&zip.FileHeader{Name: f.Name, Method: zip.Deflate, CRC32: zerosSum(head),
			CompressedSize64: uint64(body.Len()), UncompressedSize64: uint64(len(head)) + 1<<30})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(body.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

// A megabyte that inflates to a gigabyte, in any member of any artifact, is refused
// before it is inflated.
func TestBombs(t *testing.T) {
	testmode.Campaign(t)
	dir := t.TempDir()
	artifacts := makeArtifacts(t, dir)
	var worst outcome
	for _, a := range artifacts {
		if filepath.Ext(a.file) != ".npz" {
			continue
		}
		archive, err := npy.OpenArchive(filepath.Join(dir, a.file), 0)
		if err != nil {
			t.Fatal(err)
		}
		names := archive.Names()
		archive.Close()
		for i, member := range names {
			if !testmode.Soak() && i%3 != 0 && member != "manifest" {
				continue
			}
			bomb(t, filepath.Join(dir, a.file), filepath.Join(dir, "bomb.npz"), member)
			for _, line := range a.lines {
				if strings.HasPrefix(line, "info") && !a.deep {
					continue // it describes the headers of any archive
				}
				o := runIn(t, dir, strings.ReplaceAll(line, "FILE", "bomb.npz"))
				// As points a graph needs no manifest, and without points none of what it keeps
				// of the search.
				needless := member == "manifest" || strings.HasPrefix(member, "neighbor_") && !strings.Contains(line, "-X ")
				if fault := o.fault(); fault != "" || o.code != 2 && !needless {
					t.Errorf("%s with a bomb as %s: bigfit %s: exit code %d, %s\n%s", a.file, member, line, o.code, fault, o.stderr)
				}
				worst.peak, worst.seconds = max(worst.peak, o.peak), max(worst.seconds, o.seconds)
				if o.peak > 200<<20 || o.seconds > 5 {
					t.Errorf("%s with a bomb as %s: bigfit %s takes %d MiB and %.1f s\n%s", a.file, member, line, o.peak>>20, o.seconds, o.stderr)
				}
			}
		}
	}
	t.Logf("at most %d MiB and %.2f s", worst.peak>>20, worst.seconds)
	// A table of labels for points of another number.
	writeBombArray(t, filepath.Join(dir, "ybomb.npz"), "y")
	for _, line := range []string{"fit -X X.npy -y ybomb.npz -o out.npz --model knn", "tune -X X.npy -y ybomb.npz --model knn -o out.json", "eval -y ybomb.npz --predictions p.npy", "fit -X ybomb.npz -y y.npy --model knn -o out.npz"} {
		o := runIn(t, dir, line)
		if fault := o.fault(); fault != "" || o.code != 2 || o.peak > 200<<20 || o.seconds > 5 {
			t.Errorf("bigfit %s: exit code %d, %s, %d MiB and %.1f s\n%s", line, o.code, fault, o.peak>>20, o.seconds, o.stderr)
		}
	}
}

// writeBombArray writes an archive of one array of bytes.
func writeBombArray(t *testing.T, path, name string) {
	t.Helper()
	small := path + ".small"
	if err := npy.WriteArchive(small, []archive.Array{{Name: name, Data: []uint8{0, 1}}}); err != nil {
		t.Fatal(err)
	}
	bomb(t, small, path, name)
}
