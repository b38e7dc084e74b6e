// Package supervise turns the end of a program that ran out of memory into a sentence
// and an exit code of its own choice.
//
// Running out of memory ends a Go program with a trace of all goroutines and exit code 2, and no
// code in the process can change that: an allocation cannot report a failure, and checks before
// large allocations would miss the allocations of gonum and the runtime. It happens under a limit
// of the address space (RLIMIT_AS) only; elsewhere Linux promises more memory than it has, and
// kills. So where that limit is set, and nowhere else, [Run] starts the program a second time as
// a child, passes on its output, its exit code and signals, and puts a sentence and exit code 1 in
// the place of the trace. Below some 700 MiB of address space, and of Go 1.26 in a narrow band around
// 1.2 GB, the runtime ends with its trace before main begins.
//
// A program that is linked with C (CGO_ENABLED=1 and a C compiler) has threads with stacks of 8 MiB
// and arenas of 64 MiB and needs some 500 MiB more. Nothing here needs C.
package supervise

import (
	"bytes"
	"io"
	"strings"
)

// Variable is set in the environment of a child: "terminal" if the parent's stderr is
// one, else "pipe".
const Variable = "BIGFIT_SUPERVISED"

// ParentVariable holds the number of the process that started this one, if this one must not
// outlive it. Programs that run bigfit for somebody set it.
const ParentVariable = "BIGFIT_PARENT"

// marks are the beginnings of lines in which the Go runtime, with C or without, reports a fatal error.
var marks = []string{"runtime: ", "fatal error: ", "runtime/cgo: "}

// lastWords is a writer that passes everything on until the runtime reports a fatal error. It
// keeps the report.
type lastWords struct {
	to    io.Writer
	begun bool   // at the beginning of a line: held may become a mark
	held  []byte // the beginning of a line, or the last words
	dying bool
}

// mostKept bounds the report that is kept: a trace of thousands of goroutines has megabytes, and
// the reason is in its first lines.
const mostKept = 1 << 20

func newLastWords(to io.Writer) *lastWords { return &lastWords{to: to, begun: true} }

// Write passes p on at once, but for the beginning of a line that may become a mark.
func (w *lastWords) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		switch {
		case w.dying:
			w.held = append(w.held, p[:min(len(p), max(0, mostKept-len(w.held)))]...)
			return n, nil
		case w.begun:
			w.held = append(w.held, p[0])
			p = p[1:]
			// While the line may still become a mark it is held back; a byte later it is decided.
			full, partial := matches(w.held)
			switch {
			case full:
				w.dying = true
			case !partial:
				w.begun = ends(w.held[len(w.held)-1])
				if err := w.flush(); err != nil {
					return n, err
				}
			}
		default:
			// The middle of a line goes through as it is; a carriage return begins a line too, as
			// live lines use it.
			end := bytes.IndexAny(p, "\n\r") + 1
			if w.begun = end > 0; !w.begun {
				end = len(p)
			}
			if _, err := w.to.Write(p[:end]); err != nil {
				return n, err
			}
			p = p[end:]
		}
	}

	return n, nil
}

// ends tells whether a line begins after c.
func ends(c byte) bool { return c == '\n' || c == '\r' }

// matches tells whether line begins with a mark, or may do so with more of it.
func matches(line []byte) (full, partial bool) {
	for _, m := range marks {
		full = full || bytes.HasPrefix(line, []byte(m))
		partial = partial || strings.HasPrefix(m, string(line))
	}
	return full, partial
}

// flush passes on the held bytes.
func (w *lastWords) flush() error {
	_, err := w.to.Write(w.held)
	w.held = nil
	return err
}

// outOfMemory tells whether the runtime reported that it had no memory.
func (w *lastWords) outOfMemory() bool {
	if !w.dying {
		return false
	}
	for _, text := range []string{"out of memory", "cannot allocate memory", "failed to reserve",
		"newosproc", "pthread_create failed"} {
		if bytes.Contains(w.held, []byte(text)) {
			return true
		}
	}
	return false
}
