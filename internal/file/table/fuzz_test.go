package table

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// FuzzTable reads arbitrary bytes as a table: an error, or rows of which every column has
// one value each.
func FuzzTable(f *testing.F) {
	for _, text := range []string{
		"id,label\n1,cat\n2,\n", "1 2 3\n4 5 6\n", "\"a\n", "a;b\n1;\"x\"\"y\"\n", "{\"a\":[1,2.5],\"b\":null}\n{\"b\":\"x\"}", "{\"a\":{}}\n",
		"\x1f\x8b\x08", "\x28\xb5\x2f\xfd\x04\x00", "PAR1PAR1PAR1", ",0,1\nr,2,3\n",
	} {
		f.Add([]byte(text))
	}
	other, err := os.ReadFile("testdata/hyparquet.parquet")
	if err != nil {
		f.Fatal(err)
	}
	own, err := os.ReadFile(writeRows(f, people(3)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(other)
	f.Add(own)
	path := filepath.Join(f.TempDir(), "t")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path, Options{Limit: 1 << 24})
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
			tab, err := Read(write(t, "t.parquet", string(bad)), Options{Limit: 1 << 24})
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
