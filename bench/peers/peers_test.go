package peers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSave looks at the table of works beside their fastest peers, and at the files.
func TestSave(t *testing.T) {
	rows := []Row{
		{Work: "search", Program: "bigfit", Seconds: 2, PeakBytes: 1 << 30, More: map[string]any{"recall": 0.99}},
		{Work: "search", Program: "slow", Seconds: 9},
		{Work: "search", Program: "fast", Seconds: 5, PeakBytes: 3 << 29, More: map[string]any{"recall": 0.9}},
		{Work: "search", Program: "failed"},
		{Work: "alone", Program: "bigfit", Seconds: 0.25, More: map[string]any{"recall": 1.0}},
		{Work: "theirs", Program: "fast", Seconds: 1},
	}
	dir := t.TempDir()
	text, err := Save(dir, "x", "Works", rows, "A note.")
	if err != nil {
		t.Fatal(err)
	}
	const want = `| work | seconds | peak memory | fastest peer | × as long | its peak memory |
|---|---|---|---|---|---|
| search, recall 0.990 | 2.00 | 1.00 GiB | fast, recall 0.900 | 2.5 | 1.50 GiB |
| alone | 0.25 |  |  |  |  |

`
	if !strings.Contains(text, want) {
		t.Errorf("%s\nhas not\n%s", text, want)
	}
	if !strings.Contains(text, "| search | fast | 5.00 | 2.50 | 1.50 GiB |") || !strings.HasSuffix(text, "A note.\n") {
		t.Error(text)
	}

	page, err := os.ReadFile(filepath.Join(dir, "x.md"))
	if err != nil || string(page) != text {
		t.Errorf("%v: the page is not what is printed:\n%s", err, page)
	}
	file, err := os.ReadFile(filepath.Join(dir, "x.json"))
	var got []Row
	if err != nil || json.Unmarshal(file, &got) != nil || len(got) != len(rows) || got[2].Ratio != 2.5 {
		t.Errorf("%v: %s", err, file)
	}
}
