package supervise

import (
	"bytes"
	"strings"
	"testing"
)

// All is passed on at once but for the last words, whatever pieces it comes in.
func TestLastWords(t *testing.T) {
	const trace = "runtime: out of memory: cannot allocate 17-byte block\nfatal error: out of memory\n\ngoroutine 1\n"
	for _, c := range []struct {
		text, passed, kept string
		memory             bool
	}{
		{"read 1 s\nrun\rruntime", "read 1 s\nrun\r", "runtime", false},
		{"read 1 s\nthe runtime: fine\n\nfatal\n", "read 1 s\nthe runtime: fine\n\nfatal\n", "", false},
		{"live …" + "\r" + trace, "live …\r", trace, true},
		{trace, "", trace, true},
		{"a\nruntime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\n", "a\n",
			"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\n", true},
		{"a\nfatal error: all goroutines are asleep - deadlock!\n", "a\n", "fatal error: all goroutines are asleep - deadlock!\n", false},
	} {
		for _, size := range []int{1, 3, 1000} {
			var out bytes.Buffer
			w := newLastWords(&out)
			for rest := c.text; rest != ""; {
				n := min(size, len(rest))
				if m, err := w.Write([]byte(rest[:n])); m != n || err != nil {
					t.Fatal(m, err)
				}
				rest = rest[n:]
			}
			if out.String() != c.passed || string(w.held) != c.kept || w.outOfMemory() != c.memory {
				t.Errorf("%q in pieces of %d: passed %q, kept %q, memory %v", c.text, size, out.String(), w.held, w.outOfMemory())
			}
			if _ = w.flush(); out.String() != c.text {
				t.Errorf("%q in pieces of %d ends as %q", c.text, size, out.String())
			}
		}
	}
	var out bytes.Buffer
	w := newLastWords(&out)
	for range 3 * mostKept / 1000 {
		_, _ = w.Write([]byte("fatal error: " + strings.Repeat("x", 1000)))
	}
	if len(w.held) != mostKept {
		t.Errorf("%d bytes are kept", len(w.held))
	}
}
