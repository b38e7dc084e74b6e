package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// wheel packs the Python package with the program, which pip puts beside Python's own scripts.
func (b *built) wheel() (name string, data []byte, err error) {
	files, err := b.modules("src/bigfit/", "bigfit/")
	if err != nil {
		return "", nil, err
	}
	files = append(files, entry{name: b.base() + ".data/scripts/" + b.target.program(), data: b.program, runs: true})

	metadata, err := b.metadata()
	if err != nil {
		return "", nil, err
	}
	licence, err := b.read("", "LICENSE")
	if err != nil {
		return "", nil, err
	}
	var tags strings.Builder
	for _, tag := range b.target.wheel {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
	}
	info := b.base() + ".dist-info/"
	files = append(files,
		entry{name: info + "METADATA", data: metadata},
		entry{name: info + "WHEEL", data: []byte("Wheel-Version: 1.0\nGenerator: bigfit\nRoot-Is-Purelib: false\n" + tags.String())},
		entry{name: info + "licenses/LICENSE", data: licence[0].data},
		entry{name: info + "licenses/NOTICES.txt", data: b.notices})

	// RECORD is the last file, and has the sums of all others.
	var record strings.Builder
	for i := range files {
		sum := sha256.Sum256(files[i].data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", files[i].name, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[i].data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files = append(files, entry{name: info + "RECORD", data: []byte(record.String())})

	data, err = zipped(files, b.time)
	return fmt.Sprintf("%s-py3-none-%s.whl", b.base(), strings.Join(b.target.wheel, ".")), data, err
}

// modules returns the files of the Python package, in a folder of the archive.
func (p *project) modules(from, to string) ([]entry, error) {
	paths, err := filepath.Glob(filepath.Join(p.dir, "python", filepath.FromSlash(from), "*.py"))
	if err != nil {
		return nil, err
	}
	names := []string{"python/" + from + "py.typed"}
	for _, path := range paths {
		names = append(names, "python/"+from+filepath.Base(path))
	}
	slices.Sort(names)
	out, err := p.read("", names...)
	for i := range out {
		out[i].name = to + path.Base(out[i].name)
	}
	return out, err
}

// sdist packs the Python package without a program: where there is no wheel, the program comes from
// "go install" or an archive.
func (p *project) sdist() ([]byte, error) {
	metadata, err := p.metadata()
	if err != nil {
		return nil, err
	}
	files := []entry{{name: "PKG-INFO", data: metadata}}
	texts, err := p.read("", "python/pyproject.toml", "python/README.md", "LICENSE")
	if err != nil {
		return nil, err
	}
	modules, err := p.modules("src/bigfit/", "src/bigfit/")
	if err != nil {
		return nil, err
	}
	files = append(append(files, texts...), modules...)
	for i := range files {
		files[i].name = p.base() + "/" + strings.TrimPrefix(files[i].name, "python/")
	}
	return tarred(files, p.time)
}

// link matches the links of a page.
var link = regexp.MustCompile(`\]\([^)]+\)`)

// onTheWeb returns a page of a folder of the source whose links to other files lead to the source on the web.
func (p *project) onTheWeb(folder string, page []byte) []byte {
	return link.ReplaceAllFunc(page, func(found []byte) []byte {
		to := string(found[len("](") : len(found)-1])
		if strings.Contains(to, "://") || strings.HasPrefix(to, "#") {
			return found
		}
		return []byte("](" + p.address(path.Join(folder, to)) + ")")
	})
}

// metadata returns the core metadata of the Python package: the fields of pyproject.toml and its
// README.
func (p *project) metadata() ([]byte, error) {
	page, err := p.read("", "python/README.md")
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	field := func(name string, values ...string) {
		for _, value := range values {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	field("Metadata-Version", "2.1")
	field("Name", p.Name)
	field("Version", p.Version)
	field("Summary", p.Description)
	field("License", p.License.Text)
	if len(p.Keywords) > 0 {
		field("Keywords", strings.Join(p.Keywords, ","))
	}
	for _, name := range slices.Sorted(maps.Keys(p.URLs)) {
		field("Project-URL", name+", "+p.URLs[name])
	}
	field("Classifier", p.Classifiers...)
	field("Requires-Python", p.Python)
	field("Requires-Dist", p.Dependencies...)
	field("Description-Content-Type", "text/markdown")
	b.WriteByte('\n')
	b.Write(p.onTheWeb("python", page[0].data))
	return []byte(b.String()), nil
}
