package parquet_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/bigfit/bigfit/internal/file/table"
)

// FuzzParquet reads damaged parquet files: an error, or the number of rows that the footer
// claims, each with one value in every column.
func FuzzParquet(f *testing.F) {
	other, err := os.ReadFile("testdata/hyparquet.parquet")
	if err != nil {
		f.Fatal(err)
	}
	own, err := os.ReadFile(writeRows(f, people(3)))
	if err != nil {
		f.Fatal(err)
	}
	prefixes, err := os.ReadFile(writeRows(f, people(3), parquet.NewSchema("t", parquet.Group{
		"name": parquet.Encoded(parquet.String(), &parquet.DeltaByteArray)})))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(other)
	f.Add(own)
	f.Add(prefixes)
	f.Add([]byte("PAR1PAR1PAR1"))
	path := filepath.Join(f.TempDir(), "t")

	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := table.Open(path, table.Options{Limit: 1 << 24})
		if err != nil {
			return
		}
		defer r.Close()
		for rows := int64(0); rows < 1<<16; {
			b, err := r.Next()
			if err != nil {
				if n, ok := r.Rows(); err == io.EOF && ok && n != rows {
					t.Errorf("%d rows, claimed %d", rows, n)
				}
				return
			}
			for i := range b.Values {
				if b.Values[i].Len() != b.Rows {
					t.Fatalf("column %d has %d values of %d", i, b.Values[i].Len(), b.Rows)
				}
			}
			rows += int64(b.Rows)
		}
	})
}

// Every byte of a small parquet file is damaged once: an error, or as many rows.
func TestDamagedParquet(t *testing.T) {
	good, err := os.ReadFile(writeRows(t, people(3)))
	if err != nil {
		t.Fatal(err)
	}
	step := 3
	if testing.Short() {
		step = 17
	}
	refused := 0
	for i := 0; i < len(good); i += step {
		for _, mask := range []byte{0xff, 0x80, 1} {
			bad := bytes.Clone(good)
			bad[i] ^= mask
			tab, err := table.Read(writeFile(t, "t.parquet", string(bad)), table.Options{Limit: 1 << 24})
			if err != nil {
				refused++
			} else if tab.Rows != 3 {
				t.Errorf("byte %d: %d rows", i, tab.Rows)
			}
		}
	}
	if refused < len(good)/step {
		t.Errorf("%d of %d damaged files were refused", refused, 3*len(good)/step)
	}
}
