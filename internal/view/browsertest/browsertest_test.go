package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The judge is not blind.
func TestFindsFaults(t *testing.T) {
	dir := t.TempDir()
	page := `<!DOCTYPE html><title>x</title><p style="width:900px">wide</p><script>console.error("a fault")</script>`
	if err := os.WriteFile(filepath.Join(dir, "bad.html"), []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	found, console := browse(t, dir, []string{"bad.html"})
	if text := strings.Join(found, "\n"); !strings.Contains(text, "bad.html at 400 px: the page is") || strings.Contains(text, "1200 px: the page is") {
		t.Errorf("found %s", text)
	}
	if !strings.Contains(console, "a fault") {
		t.Errorf("the console says %q", console)
	}
}
