package table

import (
	"strings"
	"testing"
)

// A program without the codec of a binary format names the file and the import that it needs.
func TestMissingCodec(t *testing.T) {
	const remedy = `import _ "github.com/bigfit/bigfit/data/parquet"`
	path := write(t, "points.parquet", "PAR1PAR1PAR1")
	mustFail(t, path, Options{}, nil, "parquet", remedy)

	for name, err := range map[string]error{
		"Write":          Write(path, &Output{Columns: []Result{{Name: "x", Values: []int64{1}}}}),
		"CheckExtension": CheckExtension("", "a.csv", path),
	} {
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), remedy) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
