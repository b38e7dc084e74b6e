package arrows

import (
	"os/exec"
	"strings"
	"testing"
)

// Programs that import the library do not link the parquet reader and its codecs unless they
// ask for them by importing data/parquet.
func TestLibraryLinksNoParquet(t *testing.T) {
	heavy := []string{"parquet", "brotli", "pierrec/lz4", "klauspost/compress/s2"}
	out, err := exec.Command("go", "list", "-deps", module+"data", module+"pipeline", module+"labeling").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		for _, part := range heavy {
			if strings.Contains(path, part) {
				t.Errorf("%s is linked; only data/parquet may need it", path)
			}
		}
	}
}
