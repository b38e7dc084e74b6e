package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/stage"
)

// A ran holds the exit code and the output of a command.
type ran struct {
	code        int
	out, stderr string
}

// execute runs a command named tool with a body.
func execute(line string, body func(context.Context, *Console) error) ran {
	var out, stderr bytes.Buffer
	code := Run(strings.Fields(line), &out, &stderr, func(c *Console) *cobra.Command {
		return &cobra.Command{
			Use:  "tool",
			Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return body(cmd.Context(), c) },
		}
	})
	return ran{code, out.String(), stderr.String()}
}

func TestExitCodes(t *testing.T) {
	if !models.Usable(cg.ErrNotConverged) {
		t.Fatal("cg.ErrNotConverged counts as unusable")
	}
	for _, c := range []struct {
		name, line, say string
		err             error
		code            int
	}{
		{"done", "", "", nil, 0},
		{"writing", "", "tool: disk full\n", Output(errors.New("disk full")), 1},
		{"input", "", "tool: row 3 is NaN\n", errors.New("row 3 is NaN"), 2},
		{"usage", "", "tool: too few\nsee go run ./bench/tool --help\n", Usagef("too few"), 2},
		{"not converged", "", "tool: after 3 rounds: ", fmt.Errorf("after 3 rounds: %w", cg.ErrNotConverged), 3},
		{"arguments", "one", "see go run ./bench/tool --help\n", nil, 2},
		{"flag", "--nothing", "unknown flag: --nothing\nsee", nil, 2},
		{"threads", "--threads -1", "--threads is -1", nil, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := execute(c.line, func(context.Context, *Console) error { return c.err })
			if got.code != c.code || !strings.Contains(got.stderr, c.say) || got.out != "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	got := execute("", func(ctx context.Context, c *Console) error {
		if err := self.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return c.Write(ctx, func() error {
			t.Error("a file is written after an interrupt")
			return nil
		})
	})
	if got.code != 130 || got.stderr != "tool: interrupted; no file is half-written\n" {
		t.Errorf("%+v", got)
	}
}

// Stages are printed and kept, and a stage that does not fit is refused.
func TestStages(t *testing.T) {
	body := func(_ context.Context, c *Console) error {
		if err := c.Announce("work", stage.Cost{Bytes: 1 << 20, Remedy: "give less"}); err != nil {
			return err
		}
		c.Begin("work")
		c.Update(1, 2, "half")
		c.End("3 rounds")
		if s := c.Stages(); len(s) != 1 || s[0].Name != "work" || s[0].Note != "3 rounds" {
			t.Errorf("stages %+v", s)
		}
		return c.Print(map[string]int{"seed": int(c.Seed)}, "text")
	}
	t.Setenv("BIGFIT_SEED", "7")
	if got := execute("--json", body); got.out != "{\"seed\":7}\n" ||
		!strings.Contains(got.stderr, "work: needs 1.0 MiB") ||
		!strings.Contains(got.stderr, "0.0 s  3 rounds\n") {
		t.Errorf("%+v", got)
	}
	if got := execute("-q", body); got.out != "text\n" || got.stderr != "" {
		t.Errorf("%+v", got)
	}
	if got := execute("--memory-limit 1kB", body); got.code != 2 ||
		!strings.Contains(got.stderr, "give less, or raise --memory-limit") {
		t.Errorf("%+v", got)
	}
	t.Setenv("BIGFIT_SEED", "x")
	if got := execute("", body); got.code != 2 || !strings.Contains(got.stderr, "BIGFIT_SEED") {
		t.Errorf("%+v", got)
	}
}
