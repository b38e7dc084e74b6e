package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/bigfit/bigfit/archive"
)

const root = "../.."

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// example is a release of the checkout with a program that is none.
func example(t *testing.T, target *target) *built {
	t.Helper()
	p, err := readProject(root)
	if err != nil {
		t.Skipf("no checkout: %v", err)
	}
	p.time = time.Unix(1_700_000_000, 0).UTC()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("this test has no build information")
	}
	return &built{project: p, target: target, program: bytes.Repeat([]byte("program"), 10000), info: info, notices: []byte("notices")}
}

var somePages = []entry{{name: "man/man1/bigfit.1", data: []byte(".TH")}, {name: "completions/bigfit.bash", data: []byte("complete")},
	{name: "completions/bigfit.ps1", data: []byte("Register")}}

// Archives hold the program, which can be executed, and fixed times and owners; made again they are the same.
func TestArchive(t *testing.T) {
	for i := range targets {
		b := example(t, &targets[i])
		name, data, err := b.archive(somePages)
		must(t, err)
		_, again, err := b.archive(somePages)
		must(t, err)
		if !bytes.Equal(data, again) {
			t.Errorf("%s differs when it is made again", name)
		}

		folder := "bigfit-" + archive.Release + "-" + targets[i].os + "-" + targets[i].arch
		modes := map[string]int64{}
		if targets[i].os == "windows" {
			z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
			must(t, err)
			for _, f := range z.File {
				modes[f.Name] = int64(f.Mode())
			}
		} else {
			z, err := gzip.NewReader(bytes.NewReader(data))
			must(t, err)
			for r := tar.NewReader(z); ; {
				h, err := r.Next()
				if err == io.EOF {
					break
				}
				must(t, err)
				modes[h.Name] = h.Mode
				if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(b.time) {
					t.Errorf("%s: %+v", name, h)
				}
			}
		}
		if modes[folder+"/"+targets[i].program()] != 0o755 {
			t.Errorf("%s: the program has mode %o", name, modes[folder+"/"+targets[i].program()])
		}
		for _, want := range []string{"LICENSE", "NOTICES.txt", "README.md", "man/man1/bigfit.1", "completions/bigfit.ps1"} {
			if modes[folder+"/"+want] != 0o644 {
				t.Errorf("%s: %s has mode %o", name, want, modes[folder+"/"+want])
			}
		}
	}
}

// A wheel has a RECORD with the size and the sum of every file.
func TestWheel(t *testing.T) {
	for i := range targets {
		b := example(t, &targets[i])
		name, data, err := b.wheel()
		must(t, err)
		_, again, err := b.wheel()
		must(t, err)
		if !bytes.Equal(data, again) {
			t.Errorf("%s differs when it is made again", name)
		}
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		must(t, err)
		files := map[string]string{}
		for _, f := range z.File {
			r, err := f.Open()
			must(t, err)
			text, err := io.ReadAll(r)
			must(t, err)
			files[f.Name] = string(text)
			if strings.Contains(f.Name, "/scripts/") && f.Mode() != 0o755 {
				t.Errorf("%s: %s has mode %v", name, f.Name, f.Mode())
			}
		}

		info := b.base() + ".dist-info/"
		lines := strings.Split(strings.TrimSpace(files[info+"RECORD"]), "\n")
		if len(lines) != len(files) {
			t.Errorf("%s: %d lines in RECORD and %d files", name, len(lines), len(files))
		}
		for _, line := range lines[:len(lines)-1] {
			cells := strings.Split(line, ",")
			sum := sha256.Sum256([]byte(files[cells[0]]))
			if cells[1] != "sha256="+base64.RawURLEncoding.EncodeToString(sum[:]) || cells[2] != fmt.Sprint(len(files[cells[0]])) {
				t.Errorf("%s: %s", name, line)
			}
		}
		for _, tag := range targets[i].wheel {
			if !strings.Contains(files[info+"WHEEL"], "Tag: py3-none-"+tag+"\n") || !strings.Contains(name, tag) {
				t.Errorf("%s: no tag %s", name, tag)
			}
		}
		if files[b.base()+".data/scripts/"+targets[i].program()] != string(b.program) || files["bigfit/py.typed"] != "" || files["bigfit/_run.py"] == "" {
			t.Errorf("%s lacks the program or the package", name)
		}
	}
}

// The description of the Python package is read where no other file of the project is.
func TestMetadata(t *testing.T) {
	b := example(t, &targets[0])
	text, err := b.metadata()
	must(t, err)
	for _, link := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(string(text), -1) {
		if !strings.HasPrefix(link[1], "https://") && !strings.HasPrefix(link[1], "#") {
			t.Errorf("the link %s leads nowhere", link[1])
		}
	}
	for _, want := range []string{"Name: bigfit\n", "Version: " + archive.Release + "\n", "Requires-Dist: scikit-learn>=1.2\n", "/blob/v" + archive.Release + "/docs/label.md)"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	data, err := b.sdist()
	must(t, err)
	z, err := gzip.NewReader(bytes.NewReader(data))
	must(t, err)
	list, err := io.ReadAll(z)
	must(t, err)
	for _, want := range []string{"/PKG-INFO", "/pyproject.toml", "/README.md", "/LICENSE", "/src/bigfit/_run.py"} {
		if !bytes.Contains(list, []byte(b.base()+want)) {
			t.Errorf("the source distribution lacks %s", want)
		}
	}
}

func TestDeb(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not installed")
	}
	b := example(t, &targets[1])
	name, data, err := b.deb(somePages)
	must(t, err)
	_, again, err := b.deb(somePages)
	must(t, err)
	if !bytes.Equal(data, again) {
		t.Errorf("%s differs when it is made again", name)
	}
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, data, 0o666))
	out, err := run(exec.Command("dpkg-deb", "--field", path, "Package", "Version", "Architecture", "Installed-Size"))
	must(t, err)
	if want := "Package: bigfit\nVersion: " + archive.Release + "\nArchitecture: arm64\n"; !strings.HasPrefix(string(out), want) {
		t.Errorf("%s", out)
	}
	list, err := run(exec.Command("dpkg-deb", "--contents", path))
	must(t, err)
	for _, want := range []string{"-rwxr-xr-x root/root     70000 2023-11-14 22:13 ./usr/bin/bigfit\n", "./usr/share/man/man1/bigfit.1.gz\n",
		"./usr/share/bash-completion/completions/bigfit\n", "./usr/share/doc/bigfit/copyright\n"} {
		if !strings.Contains(string(list), want) {
			t.Errorf("%q is not in\n%s", want, list)
		}
	}
	if name, _, err := example(t, &targets[2]).deb(somePages); name != "" || err != nil {
		t.Errorf("a Debian package for macOS: %s, %v", name, err)
	}
}

// A bill of materials names every module once, and its relations lead to packages that are there.
func TestSBOM(t *testing.T) {
	b := example(t, &targets[0])
	name, data, err := b.sbom()
	must(t, err)
	var doc spdx
	must(t, json.Unmarshal(data, &doc))
	if doc.Version != "SPDX-2.3" || name != b.base()+"-linux-amd64.spdx.json" || doc.Creation.Created != "2023-11-14T22:13:20Z" {
		t.Errorf("%s: %+v", name, doc)
	}
	ids := map[string]bool{doc.ID: true}
	names := map[string]bool{}
	for _, p := range doc.Packages {
		if ids[p.ID] || !regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`).MatchString(p.ID) {
			t.Errorf("package %s has the identifier %s", p.Name, p.ID)
		}
		ids[p.ID] = true
		names[p.Name] = true
	}
	for _, m := range b.info.Deps {
		if !names[m.Path] {
			t.Errorf("there is no package %s", m.Path)
		}
	}
	for _, r := range doc.Relationships {
		if !ids[r.From] || !ids[r.To] {
			t.Errorf("%+v leads nowhere", r)
		}
	}
	if !names["stdlib"] || len(doc.Relationships) != len(doc.Packages) || doc.Packages[0].Checksums[0].Value != digest(b.program) {
		t.Errorf("%s", data[:1000])
	}
}

// Every module of the program has a licence, or notices is an error.
func TestNotices(t *testing.T) {
	b := example(t, &targets[0])
	for _, i := range []int{0, len(targets) - 1} {
		text, err := b.project.notices(&targets[i])
		must(t, err)
		for _, want := range []string{"Go, https://go.dev: LICENSE", "gonum.org/v1/gonum v", "Redistribution and use", "SIL OPEN FONT LICENSE"} {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("%v: the notices lack %q", &targets[i], want)
			}
		}
	}
}

// Recipes name each archive with its sum, and those that have a syntax keep to it.
func TestRecipes(t *testing.T) {
	b := example(t, &targets[0])
	w := &writer{out: t.TempDir()}
	if err := b.writeRecipes(w); err == nil {
		t.Error("recipes without archives")
	}
	for i := range targets {
		ext := ".tar.gz"
		if targets[i].os == "windows" {
			ext = ".zip"
		}
		platform := targets[i].os + "-" + targets[i].arch
		must(t, w.write(b.base()+"-"+platform+ext, []byte(platform)))
		must(t, w.write(b.base()+"-"+platform+".spdx.json", nil))
	}
	must(t, b.writeRecipes(w))
	must(t, w.writeSums())

	text := map[string]string{}
	for _, r := range recipes {
		data, err := os.ReadFile(filepath.Join(w.out, r.name))
		must(t, err)
		text[filepath.Base(r.name)] = string(data)
	}
	for i := range targets {
		platform := targets[i].os + "-" + targets[i].arch
		sum := digest([]byte(platform))
		if !strings.Contains(text["meta.yaml"], sum) {
			t.Errorf("meta.yaml lacks %s", platform)
		}
		if targets[i].os != "windows" && !strings.Contains(text["bigfit.rb"], sum) {
			t.Errorf("bigfit.rb lacks %s", platform)
		}
		if targets[i].os == "linux" && !strings.Contains(text["Dockerfile"], "'"+sum+"  "+b.base()+"-"+platform+".tar.gz'") {
			t.Errorf("the Dockerfile lacks %s", platform)
		}
	}
	var recipe struct {
		Source []struct{ URL, SHA256 string }
	}
	must(t, yaml.Unmarshal([]byte(text["meta.yaml"]), &recipe))
	if len(recipe.Source) != len(targets) || !strings.HasPrefix(recipe.Source[0].URL, "https://github.com/bigfit/bigfit/releases/download/v") {
		t.Errorf("%+v", recipe)
	}

	sums, err := os.ReadFile(filepath.Join(w.out, "SHA256SUMS"))
	must(t, err)
	if n := strings.Count(string(sums), "\n"); n != 2*len(targets)+len(recipes) {
		t.Errorf("%d sums:\n%s", n, sums)
	}
	if _, err := exec.LookPath("sha256sum"); err == nil {
		check := exec.Command("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
		check.Dir = w.out
		if _, err := run(check); err != nil {
			t.Error(err)
		}
	}
}

// All places that say the version say the same one, and a release of another one is refused.
func TestVersions(t *testing.T) {
	b := example(t, &targets[0])
	must(t, b.check(archive.Release, true))
	if err := b.check("9.9.9", true); err == nil || !strings.Contains(err.Error(), "archive/origin.go says version "+archive.Release) {
		t.Errorf("version 9.9.9: %v", err)
	}
	b.changed = true
	if err := b.check(archive.Release, false); err == nil || !strings.Contains(err.Error(), "-dirty") {
		t.Errorf("a changed checkout: %v", err)
	}
	for file, want := range map[string]string{
		"python/src/bigfit/_version.py": `__version__ = "` + archive.Release + `"`,
		"CITATION.cff":                  "version: " + archive.Release,
	} {
		text, err := os.ReadFile(filepath.Join(root, file))
		must(t, err)
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", file, want)
		}
	}
}

// Files for other programs keep to the syntax of YAML.
func TestYAML(t *testing.T) {
	seen := 0
	for _, pattern := range []string{"CITATION.cff", ".github/*/*.yml"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		must(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			must(t, err)
			var content map[string]any
			if err := yaml.Unmarshal(text, &content); err != nil || len(content) == 0 {
				t.Errorf("%s: %v", path, err)
			}
			seen++
		}
	}
	if seen < 4 {
		t.Errorf("%d files were read", seen)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []options{{platforms: "plan9/mips"}, {kinds: "rpm"}, {kinds: "recipes"}, {platforms: "host", kinds: "archive,recipes"}, {version: "9.9.9"}} {
		o.out = filepath.Join(t.TempDir(), "none")
		if err := release(&o); err == nil {
			t.Errorf("%+v is taken", o)
		}
		if _, err := os.Stat(o.out); err == nil {
			t.Errorf("%+v: a folder was made", o)
		}
	}
	if chosen, err := chosenTargets("linux/arm64,windows/amd64"); err != nil || len(chosen) != 2 || chosen[1].program() != "bigfit.exe" {
		t.Errorf("%v, %v", chosen, err)
	}
}
