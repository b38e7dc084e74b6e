// Package supervise turns the end of a program that ran out of memory into a sentence
// and an exit code of its own choice.
//
// The runtime of Go ends a program whose allocation fails with a trace of all
// goroutines and exit code 2, and nothing in the process can change that. Allocations
// fail under a limit of the address space (RLIMIT_AS) only, as Linux otherwise
// promises more than it has. So where there is such a limit, and nowhere else, [Run]
// starts the program a second time as a child, passes on what it writes, its exit code,
// and signals, and reads the last words of the runtime in place of the user.
//
// # Why a child
//
// Running out of memory ends a Go program with a trace and exit code 2, and no code in the
// process can change that: no allocation may fail, and checks before large allocations would
// miss those in gonum and the runtime. It happens under RLIMIT_AS only; elsewhere Linux
// promises more memory than it has, and kills. So where that limit is set, and nowhere else,
// the program runs itself as a child, passes on output, signals and exit codes, and puts a
// sentence and exit code 1 in the place of the trace. Below some 700 MiB of address space, and of
// Go 1.26 in a narrow band around 1.2 GB, the runtime ends with its trace before main begins.
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

// ParentVariable names, by its number, the process that this one was started by and must not
// outlive, as programs that run it for somebody do.
const ParentVariable = "BIGFIT_PARENT"

// marks are the beginnings of lines in which the Go runtime, with C or without, reports a fatal error.
var marks = []string{"runtime: ", "fatal error: ", "runtime/cgo: "}

// lastWords passes on what is written to it up to the last words of the runtime,
// which it keeps.
type lastWords struct {
	to    io.Writer
	begun bool   // a line: what is held may be a mark
	held  []byte // the beginning of a line, or the last words
	dying bool
}

// mostKept bounds the last words that are kept.
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

// flush passes on what is held.
func (w *lastWords) flush() error {
	_, err := w.to.Write(w.held)
	w.held = nil
	return err
}

// outOfMemory tells whether the last words are those of a program without memory.
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
