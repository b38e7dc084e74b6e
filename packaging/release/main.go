// Command release makes the files of a release in a folder: an archive, a wheel, a Debian package and
// a bill of materials for each platform, the source distribution of the Python package, recipes for
// package managers, and SHA256SUMS.
//
//	go run ./packaging/release -version 0.1.0                        # everything, into dist
//	go run ./packaging/release -platforms host -kinds wheel -dirty   # one wheel, of a changed checkout
//
// The same commit and the same Go give the same bytes in any folder: programs are built with -trimpath
// and without C, and names, order, owners and times in the archives are fixed. The time is that of
// the commit, or SOURCE_DATE_EPOCH.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.version, "version", "", "`number` of the release; it must be the number in the source")
	flag.StringVar(&o.out, "out", "dist", "`folder` to write to")
	flag.StringVar(&o.platforms, "platforms", "", "`list` such as linux/amd64,host; all platforms without it")
	flag.StringVar(&o.kinds, "kinds", "", "`list` of "+strings.Join(kinds, ", ")+"; all without it")
	flag.BoolVar(&o.dirty, "dirty", false, "accept a checkout with changes, and mark the commit")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("release: unknown argument %q", flag.Arg(0))
	}

	if err := release(&o); err != nil {
		log.Fatal("release: ", err)
	}
}

// options are the flags.
type options struct {
	version, out, platforms, kinds string
	dirty                          bool
}

// kinds of files that a release has. A recipe needs the sums of archives of all platforms.
var kinds = []string{"archive", "wheel", "sdist", "deb", "sbom", "recipes"}

// A target is a platform that a release has files for.
type target struct {
	os, arch string
	wheel    []string // platform tags of its wheel
	deb      string   // architecture of its Debian package; empty where there is none
}

// targets are all platforms. The programs need no C library, so one wheel serves glibc and musl.
var targets = []target{
	{"linux", "amd64", []string{"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"}, "amd64"},
	{"linux", "arm64", []string{"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"}, "arm64"},
	{"darwin", "amd64", []string{"macosx_12_0_x86_64"}, ""},
	{"darwin", "arm64", []string{"macosx_12_0_arm64"}, ""},
	{"windows", "amd64", []string{"win_amd64"}, ""},
	{"windows", "arm64", []string{"win_arm64"}, ""},
}

func (t *target) String() string { return t.os + "/" + t.arch }

// program is the name of the program on the platform.
func (t *target) program() string {
	if t.os == "windows" {
		return "bigfit.exe"
	}
	return "bigfit"
}

// chosenTargets returns the platforms of a list.
func chosenTargets(list string) ([]target, error) {
	if list == "" {
		return targets, nil
	}
	var out []target
	for name := range strings.SplitSeq(list, ",") {
		if name == "host" {
			name = runtime.GOOS + "/" + runtime.GOARCH
		}
		at := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if at < 0 {
			return nil, fmt.Errorf("platform %q; it must be host or one of %v", name, targets)
		}
		out = append(out, targets[at])
	}
	return out, nil
}

// chosenKinds returns the kinds of a list.
func chosenKinds(list string) (map[string]bool, error) {
	out := map[string]bool{}
	if list == "" {
		list = strings.Join(kinds, ",")
	}
	for kind := range strings.SplitSeq(list, ",") {
		if !slices.Contains(kinds, kind) {
			return nil, fmt.Errorf("kind %q; it must be one of %s", kind, strings.Join(kinds, ", "))
		}
		out[kind] = true
	}
	return out, nil
}

// release does what the options say.
func release(o *options) error {
	chosen, err := chosenTargets(o.platforms)
	if err != nil {
		return err
	}
	wanted, err := chosenKinds(o.kinds)
	if err != nil {
		return err
	}
	if wanted["recipes"] && (o.platforms != "" || !wanted["archive"]) {
		// A part of a release has no recipes, unless they are asked for, which is a mistake.
		if o.kinds != "" {
			return fmt.Errorf("recipes name the archives of all platforms; leave -platforms and -kinds away")
		}
		delete(wanted, "recipes")
	}
	if o.version == "" && o.platforms == "" && o.kinds == "" {
		return errors.New("a whole release needs its number: -version")
	}
	p, err := readProject(".")
	if err != nil {
		return err
	}
	if err := p.check(o.version, o.dirty); err != nil {
		return err
	}

	// A folder of an earlier release could leave files that no sum covers.
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	w := &writer{out: o.out}
	if err := makeAll(w, p, chosen, wanted); err != nil {
		return err
	}
	return w.writeSums()
}

// makeAll makes the wanted files of the chosen platforms.
func makeAll(w *writer, p *project, chosen []target, wanted map[string]bool) error {
	if wanted["sdist"] {
		data, err := p.sdist()
		if err != nil {
			return err
		}
		if err := w.write(p.base()+".tar.gz", data); err != nil {
			return err
		}
	}

	var pages []entry
	if wanted["archive"] || wanted["deb"] {
		var err error
		if pages, err = p.pages(); err != nil {
			return err
		}
	}
	programs := wanted["archive"] || wanted["wheel"] || wanted["deb"] || wanted["sbom"]
	for i := range chosen {
		if !programs {
			break
		}
		b, err := p.build(&chosen[i])
		if err != nil {
			return err
		}
		if err := b.writeFiles(w, pages, wanted); err != nil {
			return err
		}
	}

	if wanted["recipes"] {
		return p.writeRecipes(w)
	}
	return nil
}

// writeFiles writes the files of one platform.
func (b *built) writeFiles(w *writer, pages []entry, wanted map[string]bool) error {
	for _, kind := range kinds {
		if !wanted[kind] {
			continue
		}
		var name string
		var data []byte
		var err error
		switch kind {
		case "archive":
			name, data, err = b.archive(pages)
		case "wheel":
			name, data, err = b.wheel()
		case "deb":
			name, data, err = b.deb(pages)
		case "sbom":
			name, data, err = b.sbom()
		}
		if err != nil {
			return fmt.Errorf("%v: %s: %w", b.target, kind, err)
		}
		if name == "" {
			continue // there is none for this platform
		}
		if err := w.write(name, data); err != nil {
			return err
		}
	}
	return nil
}

// A writer writes the files of a release and remembers their sums.
type writer struct {
	out  string
	sums []sum
}

// A sum is the SHA-256 of a file.
type sum struct{ Name, SHA256 string }

func (w *writer) write(name string, data []byte) error {
	path := filepath.Join(w.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		return err
	}
	s := sum{name, digest(data)}
	w.sums = append(w.sums, s)
	log.Printf("%s  %s  %.1f MB", s.SHA256, name, float64(len(data))/1e6)
	return nil
}

// writeSums writes SHA256SUMS, as sha256sum --check reads it.
func (w *writer) writeSums() error {
	slices.SortFunc(w.sums, func(a, b sum) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	for _, s := range w.sums {
		fmt.Fprintf(&b, "%s  %s\n", s.SHA256, s.Name)
	}
	return os.WriteFile(filepath.Join(w.out, "SHA256SUMS"), []byte(b.String()), 0o666)
}
