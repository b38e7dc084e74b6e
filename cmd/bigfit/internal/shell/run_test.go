package shell

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A program that panics says that it is a bug and ends with 1.
func TestPanic(t *testing.T) {
	var out, stderr bytes.Buffer
	a := &App{stdout: &out, stderr: writer(func([]byte) (int, error) { panic("kaboom") })}
	err := a.execute(t.Context(), []string{"work"}, func(a *App) *cobra.Command {
		root := &cobra.Command{Use: "bigfit", SilenceErrors: true}
		a.CommonFlags(root)
		root.AddCommand(&cobra.Command{Use: "work", Run: func(*cobra.Command, []string) { a.Note("at work") }})
		return root
	})
	a.stderr = &stderr
	if code := a.report(err); code != 1 || !strings.HasPrefix(stderr.String(), "bigfit: internal error: kaboom\nThis is a bug in bigfit") ||
		!strings.Contains(stderr.String(), "report it at") || !strings.Contains(stderr.String(), "run_test.go") || out.Len() > 0 {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
