// Command site makes the documentation as static pages: guides, pages of docs, the reference of commands, models,
// Python, Go and file formats, the evidence, and a gallery of pictures that the program draws.
//
//	go run ./packaging/site              # make site: dist/site
//	go run ./packaging/site -out DIR -program bigfit
//
// The pages need no network and no server: links are relative, and the search reads an index that is a script. Pages
// of docs are found by listing the folder. What a page links to and is no page lies beside it in files/. A link that
// leads nowhere is an error, and then nothing is written.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/bigfit/bigfit/internal/file/atomicfile"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", filepath.Join("dist", "site"), "`folder` to write to; one that this program wrote is replaced")
	program := flag.String("program", "", "`file` of bigfit; built from the checkout without it")
	python := flag.String("python", "/usr/bin/python3", "`file` of a Python with NumPy, SciPy and scikit-learn")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("site: unknown argument %q", flag.Arg(0))
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := &site{root: ".", program: *program, python: *python, notes: os.Stderr}
	if err := s.make(ctx, *out); err != nil {
		log.Fatal("site: ", err)
	}
}

// A site is the documentation while it is made.
type site struct {
	root    string    // of the checkout
	program string    // bigfit; empty until it is built
	python  string    // an interpreter, or a name that is not there
	notes   io.Writer // progress

	pages    []*page
	bySource map[string]*page // pages by their file in the checkout
	byPath   map[string]*page // pages by their file in the site
	files    map[string]bool  // files of the checkout that pages link to
	glossary *glossary
	work     string // temporary folder: the program, and what the gallery draws
}

// holds is what a folder of a site says of itself, so that it is replaced and no other folder is.
const holds = "documentation"

// topLevel are the entries of a site's folder.
var topLevel = []string{"index.html", "glossary.html", "gallery.html", "tutorial", "howto", "reference", "design",
	"evidence", "assets", "files", "gallery"}

// make writes the site to a folder, whole or not at all.
func (s *site) make(ctx context.Context, out string) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	if err := atomicfile.CheckFolder(out, holds, topLevel); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "bigfit-site-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	s.work = work

	s.bySource, s.byPath, s.files = map[string]*page{}, map[string]*page{}, map[string]bool{}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"program", s.buildProgram},
		{"pages of docs", s.addDocs},
		{"commands", s.addCommands},
		{"models", s.addModels},
		{"Python", s.addPython},
		{"Go", s.addGo},
		{"file formats", s.addFormats},
		{"runs", s.addRuns},
		{"gallery", s.addGallery},
		{"order", s.arrange},
		{"links", s.convert},
	} {
		start, before := time.Now(), len(s.pages)
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(s.notes, "%-14s %5.1f s", step.name, time.Since(start).Seconds())
		if made := len(s.pages) - before; made > 0 {
			fmt.Fprintf(s.notes, "  %d pages", made)
		}
		fmt.Fprintln(s.notes)
	}

	if err := atomicfile.Folder(out, holds, topLevel, s.write); err != nil {
		return err
	}
	fmt.Fprintf(s.notes, "%s: %d pages; open %s\n", out, len(s.pages), filepath.Join(out, "index.html"))
	return nil
}

// buildProgram builds bigfit, unless it is given.
func (s *site) buildProgram(ctx context.Context) error {
	if s.program != "" {
		path, err := filepath.Abs(s.program)
		s.program = path
		return err
	}
	s.program = filepath.Join(s.work, "bin", "bigfit")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", s.program, "./cmd/bigfit")
	cmd.Dir = s.root
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./cmd/bigfit: %w\n%s", err, text)
	}
	return nil
}

// run returns what bigfit prints. The variables of the environment that set its flags are left out.
func (s *site) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Env = plainEnvironment()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("bigfit %v: %w", args, err)
	}
	return out, nil
}
