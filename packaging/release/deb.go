package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// deb packs a Debian package by dpkg-deb.
func (b *built) deb(pages []entry) (name string, data []byte, err error) {
	if b.target.deb == "" {
		return "", nil, nil
	}
	files, err := b.debianFiles(pages)
	if err != nil {
		return "", nil, err
	}
	size := 0
	for i := range files {
		size += len(files[i].data)
	}
	files = append(files, entry{name: "DEBIAN/control", data: []byte(b.control(size))})

	dir, err := os.MkdirTemp("", "bigfit-deb-*")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(dir)
	root := filepath.Join(dir, "root")
	if err := writeTree(root, files, b.time); err != nil {
		return "", nil, err
	}
	name = fmt.Sprintf("%s_%s_%s.deb", b.Name, b.Version, b.target.deb)
	path := filepath.Join(dir, name)

	// More than one thread of xz would cut the archive where the machine likes.
	cmd := exec.Command("dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", root, path)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(b.time.Unix(), 10))
	if _, err := run(cmd); err != nil {
		return "", nil, err
	}
	data, err = os.ReadFile(path)
	return name, data, err
}

// debianFiles returns the files of the package at the places that Debian has for them.
func (b *built) debianFiles(pages []entry) ([]entry, error) {
	const docs = "usr/share/doc/bigfit/"
	files := []entry{{name: "usr/bin/bigfit", data: b.program, runs: true}}
	texts, err := b.read("", "README.md", "CHANGELOG.md")
	if err != nil {
		return nil, err
	}
	changes, err := gzipped(texts[1].data)
	if err != nil {
		return nil, err
	}
	copyright := fmt.Sprintf("bigfit, %s, is under the Apache License 2.0, which is in\n/usr/share/common-licenses/Apache-2.0.\n\n%s",
		b.URLs["Homepage"], b.notices)
	files = append(files,
		entry{name: docs + "README.md", data: b.onTheWeb("", texts[0].data)},
		entry{name: docs + "changelog.gz", data: changes},
		entry{name: docs + "copyright", data: []byte(copyright)})

	for _, page := range pages {
		if strings.HasPrefix(page.name, "man/") {
			if page.data, err = gzipped(page.data); err != nil {
				return nil, err
			}
			files = append(files, entry{name: "usr/share/" + page.name + ".gz", data: page.data})
		}
		for _, shell := range shells {
			if path.Base(page.name) == shell.file && shell.debian != "" {
				files = append(files, entry{name: shell.debian, data: page.data})
			}
		}
	}
	return files, nil
}

// control is the description of the package, whose files have a size in bytes.
func (b *built) control(size int) string {
	return fmt.Sprintf(`Package: %s
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Section: science
Priority: optional
Homepage: %s
Description: semi-supervised learning on graphs of nearest neighbours
 Learns from a few labels and many unlabeled points: label propagation,
 Laplacian eigenmaps, LapRLS and LapSVM. It also searches neighbours, computes
 eigenpairs of graphs, clusters and embeds.
`, b.Name, b.Version, b.target.deb, maintainer, (size+1023)/1024, b.URLs["Homepage"])
}

// gzipped compresses a file without its name and time.
func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeTree writes entries below a folder, with fixed modes and times of files and folders.
func writeTree(root string, files []entry, when time.Time) error {
	for i := range files {
		f := &files[i]
		path := filepath.Join(root, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, fs.FileMode(f.mode())); err != nil {
			return err
		}
	}

	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// Modes are set again, as the umask may have taken bits away. Times of folders change as files
		// are written into them, so they are set last.
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if d.IsDir() || info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
		return os.Chtimes(path, when, when)
	})
}
