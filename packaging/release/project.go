package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/bigfit/bigfit/archive"
)

// A project is what a release is made of: the checkout, its commit, and what python/pyproject.toml
// says of the project.
type project struct {
	dir     string // root of the checkout
	commit  string // with a mark if the checkout has changes
	changed bool
	time    time.Time // of every file in the archives
	pyproject
}

// pyproject is the table "project" of pyproject.toml.
type pyproject struct {
	Name, Version, Description string
	Python                     string `toml:"requires-python"`
	Dependencies               []string
	Keywords                   []string
	Classifiers                []string
	License                    struct{ Text string }
	URLs                       map[string]string
}

// maintainer is the field of that name in Debian packages.
const maintainer = "bigfit maintainers <maintainers@users.noreply.github.com>"

// readProject reads the checkout in a folder.
func readProject(dir string) (*project, error) {
	p := &project{dir: dir}
	var file struct{ Project pyproject }
	if _, err := toml.DecodeFile(filepath.Join(dir, "python", "pyproject.toml"), &file); err != nil {
		return nil, err
	}
	p.pyproject = file.Project

	commit, err := p.git("rev-parse", "HEAD")
	if err != nil {
		return nil, fmt.Errorf("the commit is not known: %w", err)
	}
	changes, err := p.git("status", "--porcelain")
	if err != nil {
		return nil, err
	}
	p.commit = commit
	if p.changed = changes != ""; p.changed {
		p.commit += "+changes"
	}

	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		if seconds, err = p.git("log", "-1", "--format=%ct"); err != nil {
			return nil, err
		}
	}
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("time of the commit: %w", err)
	}
	p.time = time.Unix(epoch, 0).UTC()
	return p, nil
}

func (p *project) git(args ...string) (string, error) {
	out, err := run(exec.Command("git", append([]string{"-C", p.dir}, args...)...))
	return strings.TrimSpace(string(out)), err
}

// check returns an error unless the places that say the version agree and the checkout is that of a
// commit.
func (p *project) check(version string, dirty bool) error {
	var errs []error
	for place, number := range map[string]string{"archive/origin.go": archive.Release, "python/pyproject.toml": p.Version} {
		if version != "" && number != version {
			errs = append(errs, fmt.Errorf("%s says version %s, not %s", place, number, version))
		}
	}
	if p.Version != archive.Release {
		errs = append(errs, fmt.Errorf("python/pyproject.toml says version %s and archive/origin.go %s", p.Version, archive.Release))
	}
	if p.changed && !dirty {
		errs = append(errs, errors.New("the checkout has changes; commit them, or give -dirty for a trial"))
	}
	return errors.Join(errs...)
}

// base is the name that files of the release begin with.
func (p *project) base() string { return p.Name + "-" + p.Version }

// address of a file of the source at the release.
func (p *project) address(file string) string {
	return p.URLs["Homepage"] + "/blob/v" + p.Version + "/" + file
}

// download is the address of a file of the release.
func (p *project) download(file string) string {
	return p.URLs["Homepage"] + "/releases/download/v" + p.Version + "/" + file
}

// read returns files of the checkout as entries of a folder.
func (p *project) read(folder string, names ...string) ([]entry, error) {
	var out []entry
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		out = append(out, entry{name: folder + name, data: data})
	}
	return out, nil
}

// run runs a command and returns what it prints. The error has its stderr.
func run(cmd *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return out, nil
}
