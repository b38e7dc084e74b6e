package attack

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// A packedInput is a small file that decompresses to half a gigabyte or more.
type packedInput struct {
	name  string
	head  string // comes once
	block string // comes times times
	times int
}

// write writes the file, compressed as the end of its name says.
func (p packedInput) write(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, p.name))
	must(t, err)
	defer f.Close()
	var w io.WriteCloser
	if strings.HasSuffix(p.name, ".zst") {
		w, err = zstd.NewWriter(f, zstd.WithEncoderConcurrency(1))
	} else {
		w, err = gzip.NewWriterLevel(f, gzip.BestSpeed)
	}
	must(t, err)

	_, err = io.WriteString(w, p.head)
	must(t, err)
	// One write of many blocks: a call for each of millions of lines would take longer than they.
	many := max(1, (1<<20)/len(p.block))
	chunk := []byte(strings.Repeat(p.block, many))
	for done := 0; done < p.times; done += many {
		_, err = w.Write(chunk[:len(p.block)*min(many, p.times-done)])
		must(t, err)
	}
	must(t, w.Close())
}
