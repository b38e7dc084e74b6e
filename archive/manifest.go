// Package archive describes the content of bigfit's files: named arrays, and the manifest that
// every artifact carries in its .npz file under the name "manifest".
//
// # Manifest
//
// The manifest is JSON, stored as an array of uint8:
//
//	field     meaning
//	format    the kind of artifact, such as "bigfit graph"
//	version   of the format
//	program   version of bigfit that wrote the file
//	date      when it was written, in UTC by RFC 3339
//	settings  the settings that the artifact was made with
//	hashes    SHA-256 of the inputs, by name: points, graph, labels
//	files     names of the inputs, by the same names
//
// # Files
//
// Readers compare the claims of a header with the file before any allocation; writers use a
// temporary file, sync and rename. Every artifact carries a manifest with its settings and the
// hashes of its inputs, and commands refuse artifacts that do not belong together. A manifest
// has the date of its writing, so files of two runs differ there and nowhere else.
// SOURCE_DATE_EPOCH takes the place of the clock for those who compare bytes, as tests do;
// bigfit diff ignores dates, versions and names of files.
package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// Name is the array that holds the manifest, as UTF-8 bytes.
const Name = "manifest"

// The formats of the artifacts.
const (
	Graph = "bigfit graph"
	Eigs  = "bigfit eigs"
	Model = "bigfit model"
	// Neighbors are lists of neighbours, or their distances as a sparse matrix.
	Neighbors = "bigfit neighbors"
	// Snapshot is the state of an unfinished run.
	Snapshot = "bigfit snapshot"
	// Answers are predictions, scores, clusters or coordinates in a .npz or parquet file.
	Answers = "bigfit answers"
	// Checkpoint is a finished stage of an unfinished run.
	Checkpoint = "bigfit checkpoint"
	// Factor is a factor of a shifted Laplacian.
	Factor = "bigfit factor"
)

// version of all formats. A reader refuses a later one.
const version = 1

// Manifest describes an artifact and its inputs.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Program is the version of bigfit that wrote the file, and Date when, in UTC by
	// RFC 3339: see [Program] and [Now]. Both are empty in files of earlier builds.
	Program string `json:"program,omitempty"`
	Date    string `json:"date,omitempty"`
	// Settings are the settings that the artifact was made with.
	Settings json.RawMessage `json:"settings"`
	// Hashes holds the SHA-256 of each content that the artifact was made from or belongs to:
	// "points", "graph", "labels".
	Hashes map[string]string `json:"hashes"`
	// Files holds the names of the inputs as the command line gave them, by the keys of
	// Hashes and others.
	Files Files `json:"files,omitempty"`
}

// Files are names of files by what they hold: "points", "labels", "graph", "eigenpairs".
type Files map[string]string

// New returns a manifest of now; settings is anything that marshals to JSON.
func New(format string, settings any, hashes map[string]string, files ...Files) (*Manifest, error) {
	raw, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	m := &Manifest{Format: format, Version: version, Program: Program(), Date: Now(), Settings: raw,
		Hashes: hashes}
	// Later files win over earlier ones of the same name.
	for _, f := range files {
		if m.Files == nil && len(f) > 0 {
			m.Files = Files{}
		}
		maps.Copy(m.Files, f)
	}

	return m, nil
}

// Bare returns the manifest without the fields that depend on when and where it was made, for files
// that are compared in every bit.
func (m *Manifest) Bare() *Manifest {
	out := *m
	out.Program = ""
	out.Date = ""
	out.Files = nil
	return &out
}

// Bytes returns the JSON text.
func (m *Manifest) Bytes() ([]byte, error) { return json.Marshal(m) }

// Parse reads the manifest of an artifact of the given format; path is for
// errors.
func Parse(text []byte, format, path string) (*Manifest, error) {
	var m Manifest
	if err := Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: the manifest is not valid JSON: %w", path, err)
	}
	// The format is compared first: versions of other formats mean something else.
	if m.Format != format {
		return nil, fmt.Errorf("%s: this is a %q file, a %q file is needed", path, m.Format, format)
	}
	if m.Version < 1 || m.Version > version {
		return nil, fmt.Errorf("%s: format version %d; this program reads up to version %d", path,
			m.Version, version)
	}
	return &m, nil
}

// ParseVersion is [Parse] for a format of the versions from oldest to latest.
func ParseVersion(text []byte, format, path string, oldest, latest int) (*Manifest, error) {
	var m Manifest
	if err := Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: the manifest is not valid JSON: %w", path, err)
	}

	switch {
	case m.Format != format:
		return nil, fmt.Errorf("%s: this is a %q file, a %q file is needed", path, m.Format, format)
	case m.Version < oldest:
		return nil, fmt.Errorf("%s: format version %d is that of an older bigfit, this one reads "+
			"versions %d to %d; fit the model again", path, m.Version, oldest, latest)
	case m.Version > latest:
		return nil, fmt.Errorf("%s: format version %d is that of a later bigfit, this one reads "+
			"versions %d to %d; install a newer bigfit", path, m.Version, oldest, latest)
	}

	return &m, nil
}

// Unmarshal is [json.Unmarshal] with errors that name the field and the value.
func Unmarshal(text []byte, v any) error {
	err := json.Unmarshal(text, v)
	// The error of encoding/json names Go types and offsets; readers know fields and values.
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("the field %q is a %s; it must be of type %s", wrong.Field, wrong.Value, wrong.Type)
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
