package bigfit_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A program that imports this package links neither pictures nor parquet: they are packages
// that a program asks for.
func TestLinks(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := strings.Fields(string(out))
	if len(seen) < 100 {
		t.Errorf("%d packages were looked at", len(seen))
	}
	for _, path := range seen {
		for _, heavy := range []string{"gonum.org/v1/plot", "parquet", "/internal/view/"} {
			if strings.Contains(path, heavy) {
				t.Errorf("the package links %s", path)
			}
		}
	}
}
