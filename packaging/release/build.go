package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// built is the program of one platform, with what is known of it.
type built struct {
	*project
	target  *target
	program []byte
	info    *debug.BuildInfo
	notices []byte // licences of Go and of the modules that are in the program
}

// mostProgram bounds the program. Version 0.1.0 has 22 to 23 MB. It had 31 with the fonts that package plot of gonum links
// (4.1) and the whole library of parquet (4.6), and 37 with html/template.
const mostProgram = 25_000_000

// build compiles the program for a platform.
func (p *project) build(t *target) (*built, error) {
	dir, err := os.MkdirTemp("", "bigfit-release-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	path, err := p.compile(t, dir)
	if err != nil {
		return nil, err
	}
	b := &built{project: p, target: t}
	if b.program, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	if len(b.program) > mostProgram {
		return nil, fmt.Errorf("%v: the program has %d bytes, more than %d; a template or a reflect.Method keeps every method "+
			"of every type: look for ReflectMethod in go build -ldflags=-dumpdep", t, len(b.program), mostProgram)
	}
	if b.info, err = buildinfo.ReadFile(path); err != nil {
		return nil, err
	}
	b.notices, err = p.notices(t)
	return b, err
}

// compile writes the program to a folder and returns its path. Without the symbol table and DWARF
// it is a third smaller; stacks of panics do not need them.
func (p *project) compile(t *target, dir string) (string, error) {
	path := filepath.Join(dir, t.program())
	cmd := p.goCommand(t, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X main.commit="+p.commit,
		"-o", path, "./cmd/bigfit")
	_, err := run(cmd)
	return path, err
}

// goCommand prepares the command go for a platform. What else changes the bytes of a program is set.
func (p *project) goCommand(t *target, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	return cmd
}

// shells and the files that their completions are usually in.
var shells = []struct{ name, file, debian string }{
	{"bash", "bigfit.bash", "usr/share/bash-completion/completions/bigfit"},
	{"zsh", "_bigfit", "usr/share/zsh/vendor-completions/_bigfit"},
	{"fish", "bigfit.fish", "usr/share/fish/vendor_completions.d/bigfit.fish"},
	{"powershell", "bigfit.ps1", ""},
}

// pages returns the manual pages, in man/man1, and the completions of shells, in completions. The
// program of this machine writes them.
func (p *project) pages() ([]entry, error) {
	dir, err := os.MkdirTemp("", "bigfit-pages-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, err := p.compile(&target{os: runtime.GOOS, arch: runtime.GOARCH}, dir)
	if err != nil {
		return nil, err
	}

	// Without the variables of flags, and with the time of the commit in the pages.
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "BIGFIT_") {
			env = append(env, v)
		}
	}
	env = append(env, "SOURCE_DATE_EPOCH="+strconv.FormatInt(p.time.Unix(), 10))
	ask := func(args ...string) ([]byte, error) {
		cmd := exec.Command(program, args...)
		cmd.Env = env
		return run(cmd)
	}

	man := filepath.Join(dir, "man")
	if _, err := ask("man", man); err != nil {
		return nil, err
	}
	names, err := os.ReadDir(man)
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(man, name.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, entry{name: "man/man1/" + name.Name(), data: data})
	}
	for _, shell := range shells {
		data, err := ask("completion", shell.name)
		if err != nil {
			return nil, err
		}
		out = append(out, entry{name: "completions/" + shell.file, data: data})
	}
	return out, nil
}
