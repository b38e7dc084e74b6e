package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man [DIR]",
		Short: "Write the manual pages",
		Long: `Write a manual page for bigfit and one for each of its commands and topics of help
to a folder, man/man1 if none is given. They are made of the texts of --help.

  bigfit man ~/.local/share/man/man1
  man bigfit-fit`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := filepath.Join("man", "man1")
			if len(args) == 1 {
				dir = args[0]
			}
			return a.man(cmd.Context(), dir)
		},
	}
}

// manSummary is the output of man.
type manSummary struct {
	Folder string   `json:"folder"`
	Pages  []string `json:"pages"`
}

func (a *app) man(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return shell.Output(err)
	}
	sum := manSummary{Folder: dir}
	root := (&app{&shell.App{}}).command() // its texts are changed
	// Pages are made of Markdown, so the help texts are rewritten first; a second tree of commands
	// keeps the texts of this run as they are.
	pages := append(root.Commands(), root)
	for _, c := range pages {
		toMarkdown(c)
	}

	err := a.Write(ctx, func() error {
		for _, c := range pages {
			name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
			header := &doc.GenManHeader{Source: "bigfit " + shell.Version, Manual: "bigfit"}
			if err := atomicfile.Atomically(filepath.Join(dir, name),
				func(w io.Writer) error { return doc.GenMan(c, header, w) }); err != nil {
				return err
			}
			sum.Pages = append(sum.Pages, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.Print(sum, fmt.Sprintf("%s: %d pages; man -l %s shows one", dir, len(sum.Pages),
		filepath.Join(dir, "bigfit-fit.1")))
}

// special matches what means something in Markdown.
var special = regexp.MustCompile("[\\\\`*_<>\\[\\]]")

// escaped is text as Markdown.
func escaped(text string) string { return special.ReplaceAllString(text, `\$0`) }

// toMarkdown turns the texts of a command into the Markdown that manual pages are made of:
// lines that begin with two spaces stay as they are.
func toMarkdown(c *cobra.Command) {
	c.DisableAutoGenTag = true
	var b strings.Builder
	was := false
	for line := range strings.Lines(c.Long) {
		set := strings.HasPrefix(line, "  ")
		switch {
		case set && !was:
			b.WriteString("\n    " + line)
		case set:
			b.WriteString("    " + line)
		default:
			b.WriteString(escaped(line))
		}
		was = set || was && strings.TrimSpace(line) == ""
	}

	// Inherited flags belong to the root, which is a page itself.
	c.Long = b.String()
	c.Short, c.Use = escaped(c.Short), escaped(c.Use)
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		_, text := pflag.UnquoteUsage(f)
		f.Usage = escaped(text)
	})
}
