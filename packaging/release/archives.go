package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// An entry is a file in an archive.
type entry struct {
	name string
	data []byte
	runs bool // can be executed
}

func (e *entry) mode() int64 {
	if e.runs {
		return 0o755
	}
	return 0o644
}

// archive packs the program with its licences, manual and completions.
func (b *built) archive(pages []entry) (name string, data []byte, err error) {
	folder := b.base() + "-" + b.target.os + "-" + b.target.arch
	files := []entry{{name: b.target.program(), data: b.program, runs: true}}
	texts, err := b.read("", "LICENSE", "README.md", "CHANGELOG.md")
	if err != nil {
		return "", nil, err
	}
	texts[1].data = b.onTheWeb("", texts[1].data)
	files = append(files, texts...)
	files = append(files, entry{name: "NOTICES.txt", data: b.notices})
	files = append(files, pages...)

	for i := range files {
		files[i].name = folder + "/" + files[i].name
	}
	if b.target.os == "windows" {
		data, err = zipped(files, b.time)
		return folder + ".zip", data, err
	}
	data, err = tarred(files, b.time)
	return folder + ".tar.gz", data, err
}

// tarred returns a .tar.gz whose bytes follow from the entries and the time alone.
func tarred(files []entry, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for i := range files {
		f := &files[i]
		header := &tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: f.mode(), ModTime: when}
		if err := t.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// zipped returns a .zip whose bytes follow from the entries and the time alone.
func zipped(files []entry, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range files {
		f := &files[i]
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		header.SetMode(0o644)
		if f.runs {
			header.SetMode(0o755)
		}
		w, err := z.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// digest is the SHA-256 of data in hexadecimal digits.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
