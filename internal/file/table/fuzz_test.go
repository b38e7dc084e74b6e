package table

import (
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
