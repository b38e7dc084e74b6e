// Package artifact says what is in any file or folder that bigfit reads or writes, and what
// differs between two of them.
package artifact

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/sparse"
)

// Info describes a file or a folder.
type Info struct {
	*data.FileInfo
	// Kind is the format in the manifest, as "bigfit model"; of folders "checkpoint", "run" or
	// "folder"; else empty.
	Kind string `json:"kind,omitempty"`
	// Program, Date and Inputs are those of the manifest, empty in files of earlier builds.
	Program  string          `json:"program,omitempty"`
	Date     string          `json:"date,omitempty"`
	Inputs   []Input         `json:"inputs,omitempty"`
	Files    []*Info         `json:"files,omitempty"` // of a folder
	Manifest json.RawMessage `json:"manifest,omitempty"`
}

// Input is what a file was made from.
type Input struct {
	What string `json:"what"`           // points, labels, graph, …
	File string `json:"file,omitempty"` // as on the command line
	Hash string `json:"sha256,omitempty"`
}

// mostFiles bounds the files of a folder that are described.
const mostFiles = 1000

// Inspect describes a file, or the files of a folder but not of the folders in it. A positive
// limit bounds the memory in bytes.
func Inspect(path string, limit int64) (*Info, error) {
	if at, err := os.Stat(path); err == nil && at.IsDir() {
		return inspectFolder(path, limit)
	}
	if strings.EqualFold(filepath.Ext(path), ".json") {
		return inspectJSON(path)
	}
	f, err := data.Inspect(path, data.ReadOptions{Limit: limit})
	if err != nil {
		return nil, err
	}
	info := &Info{FileInfo: f}
	return info, info.manifest(f.Manifest)
}

func (i *Info) measure() error {
	at, err := os.Stat(i.Path)
	if err == nil {
		i.Size = at.Size()
	}
	return err
}

// manifest takes over what a manifest says. One of another program may be any text.
func (i *Info) manifest(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	i.Manifest = text
	if !json.Valid(text) {
		var err error
		i.Manifest, err = json.Marshal(string(text))
		return err
	}

	var m archive.Manifest
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	i.Kind = m.Format
	i.Program = m.Program
	i.Date = m.Date
	for _, what := range manifestKeys(&m) {
		i.Inputs = append(i.Inputs, Input{what, m.Files[what], m.Hashes[what]})
	}
	return nil
}

// manifestKeys are the inputs of a manifest, in order.
func manifestKeys(m *archive.Manifest) []string {
	var keys []string
	for k := range m.Hashes {
		keys = append(keys, k)
	}
	for k := range m.Files {
		if _, ok := m.Hashes[k]; !ok {
			keys = append(keys, k)
		}
	}

	slices.Sort(keys)
	return keys
}

// mostJSON bounds the bytes of a JSON file that is read.
const mostJSON = 64 << 20

// inspectJSON describes a JSON file, as the summary of a run.
func inspectJSON(path string) (*Info, error) {
	info := &Info{FileInfo: &data.FileInfo{Path: path, Format: "json"}}
	if err := info.measure(); err != nil {
		return nil, err
	}
	if info.Size > mostJSON {
		return nil, fmt.Errorf("%s: it has %d bytes; JSON of a run has at most %d", path, info.Size, mostJSON)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !json.Valid(text) {
		return nil, fmt.Errorf("%s: it is not valid JSON; write it again", path)
	}

	var run struct{ Program, Version, Date string }
	if json.Unmarshal(text, &run) == nil {
		info.Program = strings.TrimPrefix(run.Program, "bigfit ")
		info.Date = run.Date
		if info.Program == "" {
			info.Program = run.Version
		}
	}

	return info, nil
}

// inspectFolder describes the files of a folder.
func inspectFolder(path string, limit int64) (*Info, error) {
	list, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	info := &Info{FileInfo: &data.FileInfo{Path: path, Format: "folder"}, Kind: "folder"}
	for _, e := range list {
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") || e.Name() == atomicfile.MarkFile {
			continue
		}
		if len(info.Files) == mostFiles {
			break
		}
		name := filepath.Join(path, e.Name())
		f, err := Inspect(name, limit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}

		if err != nil { // pictures, reports and files of others
			f = &Info{FileInfo: &data.FileInfo{Path: name,
				Format: data.Format(strings.TrimPrefix(filepath.Ext(name), "."))}}
			if f.measure() != nil {
				continue
			}
		}

		switch {
		case f.Kind == archive.Checkpoint || f.Kind == archive.Snapshot:
			info.Kind = "checkpoint"
		case e.Name() == "manifest.json" && f.Program != "":
			info.Kind = "run"
			info.Program = f.Program
			info.Date = f.Date
		}

		info.Size += f.Size
		info.Files = append(info.Files, f)
	}

	if !sparse.IsFolder(path) {
		return info, nil
	}
	text, err := sparse.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	info.Kind = archive.Graph
	return info, info.manifest(text)
}

// String is the description for people.
func (i *Info) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s", i.Path, i.Format, machine.Size(i.Size))
	if i.Gzip {
		b.WriteString(", gzipped")
	}
	if i.Zstd {
		b.WriteString(", zstd")
	}
	if i.Rows != nil {
		fmt.Fprintf(&b, ", %d rows", *i.Rows)
	}
	if i.Kind != "" && i.Kind != string(i.Format) {
		fmt.Fprintf(&b, ", %s", i.Kind)
	}
	b.WriteString("\n")
	for _, x := range i.Arrays {
		fmt.Fprintf(&b, "  %-16s %-8s %s\n", x.Name, x.DType, extents(x.Shape))
	}

	for _, c := range i.Columns {
		fmt.Fprintf(&b, "  %-16s %s", c.Name, c.Kind)
		if c.Width > 0 {
			fmt.Fprintf(&b, " × %d", c.Width)
		}
		b.WriteString("\n")
	}

	for _, f := range i.Files {
		fmt.Fprintf(&b, "  %-24s %-10s %s", filepath.Base(f.Path), machine.Size(f.Size), f.Format)
		if f.Kind != "" {
			fmt.Fprintf(&b, ", %s", f.Kind)
		}
		b.WriteString("\n")
	}

	return b.String()
}

// Origin says by which version, when and from what a file was made, as lines.
func (i *Info) Origin() string {
	var b strings.Builder
	if i.Program != "" || i.Date != "" {
		fmt.Fprintf(&b, "  written by bigfit %s, %s\n", i.Program, i.Date)
	}
	for _, in := range i.Inputs {
		fmt.Fprintf(&b, "  made from %s", in.What)
		if in.File != "" {
			fmt.Fprintf(&b, " %s", in.File)
		}
		if in.Hash != "" {
			fmt.Fprintf(&b, " (sha256 %.12s…)", in.Hash)
		}
		b.WriteString("\n")
	}

	return b.String()
}

func extents(shape []int) string {
	out := make([]string, len(shape))
	for i, s := range shape {
		out[i] = fmt.Sprint(s)
	}
	return strings.Join(out, " × ")
}
