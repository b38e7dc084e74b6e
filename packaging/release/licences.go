package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// legal matches the names of files, and of folders of files, that hold a licence or a notice.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|third.party.licen[cs]es)`)

// notices returns the licences of Go and of the modules that are in the program of a platform. A
// module without a licence is an error.
func (p *project) notices(t *target) ([]byte, error) {
	const format = `{{with .Module}}{{if not .Main}}{{.Path}}|{{.Version}}|{{.Dir}}|{{$.Dir}}{{end}}{{end}}`
	listed, err := run(p.goCommand(t, "list", "-deps", "-f", format, "./cmd/bigfit"))
	if err != nil {
		return nil, err
	}
	root, err := run(p.goCommand(t, "env", "GOROOT"))
	if err != nil {
		return nil, err
	}

	// A package may have a licence of its own, so all folders from it up to the module are looked at.
	files := map[string][]string{}
	goRoot := strings.TrimSpace(string(root))
	if files["Go, https://go.dev"], err = legalFiles(goRoot, goRoot); err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(listed)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 4 {
			continue
		}
		module := fields[0] + " " + fields[1]
		found, err := legalFiles(fields[2], fields[3])
		if err != nil {
			return nil, err
		}
		files[module] = append(files[module], found...)
	}

	var b bytes.Buffer
	b.WriteString("The program bigfit contains Go and the modules below, under these licences.\n")
	for _, module := range slices.Sorted(maps.Keys(files)) {
		paths := slices.Compact(slices.Sorted(slices.Values(files[module])))
		if len(paths) == 0 {
			return nil, fmt.Errorf("module %s has no file with a licence", module)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 72), module, filepath.Base(path), bytes.TrimSpace(text))
		}
	}
	return b.Bytes(), nil
}

// legalFiles returns the licences in a folder and in those above it, up to the root.
func legalFiles(root, dir string) ([]string, error) {
	var out []string
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case !legal.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go"):
			case e.IsDir():
				inside, err := filepath.Glob(filepath.Join(path, "*"))
				if err != nil {
					return nil, err
				}
				out = append(out, inside...)
			default:
				out = append(out, path)
			}
		}
		if dir == root || dir == filepath.Dir(dir) {
			return out, nil
		}
		dir = filepath.Dir(dir)
	}
}
