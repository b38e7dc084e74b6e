// Package checkpoint keeps the finished parts of an unfinished run in a folder, so that the
// same run, started again, goes on from there and ends with the same bits.
//
// # Stages
//
// Every file is one stage of the run, whole or not there. It names the settings and inputs it
// was made with, its [Key], and the hash of its content, so no file depends on another. A file
// of another run, and one that was changed, is an error that names it. Unfinished stages (a
// basis, rounds of NN-descent, parts of an exact search, fits of a grid) are saved after ten
// seconds, and so seldom that saving takes at most a tenth of the time. Parts of an exact
// search are queries: their neighbours have the bits of a search at once, so the choice of
// parts may depend on the machine.
//
// # Format
//
// The folder carries the mark of [atomicfile.Claim] and has some of these files, each a .npz archive:
//
//	file               content
//	choice.npz         the method of a search, where its measured time decided
//	graph.npz          a finished graph
//	neighbours.npz     neighbours of all points
//	search.npz         an unfinished search for them
//	eigenpairs.npz     finished eigenpairs
//	eigs-snapshot.npz  the unfinished computation of eigenpairs; see package lanczos
//	fits.npz           scores of a cross-validation so far
//
// All but the snapshot are made by [Folder.Save]: the arrays of the stage, which its package
// chooses, and
//
//	member    dtype  shape  meaning
//	manifest  uint8  any    JSON of format "bigfit checkpoint": settings hold the name, the key,
//	                        the state, and sum, the SHA-256 of the arrays and of the rest
//
// Manifests are bare, without date and program, so that the same stage has the same bytes.
package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/param"
)

// BeginAnew is the remedy for a checkpoint from which a run cannot go on.
var BeginAnew = fmt.Sprintf("without %s the run begins anew", param.Name("resume"))

// Names of the files that a folder can have.
const (
	Choice     = "choice.npz"        // of the method of a search, where its time decided
	Graph      = "graph.npz"         // a graph
	Neighbors  = "neighbours.npz"    // of all points
	Search     = "search.npz"        // an unfinished search for them
	Eigenpairs = "eigenpairs.npz"    //
	Snapshot   = "eigs-snapshot.npz" // of their computation
	Fits       = "fits.npz"          // of a cross-validation
)

var names = []string{Choice, Graph, Neighbors, Search, Eigenpairs, Snapshot, Fits}

// Every is the time until an unfinished stage is saved for the first time and again,
// more if saving takes long. Only tests change it.
var Every = 10 * time.Second

// share bounds the part of the time that saving may take, once a saving takes longer than free.
const (
	share = 0.1
	free  = time.Second / 4
)

// A Key says what a stage was made with: names of settings and inputs, with values
// and hashes.
type Key map[string]string

// Folder holds the checkpoint of a run.
type Folder struct {
	dir    string
	resume bool
	memory int64
	write  func(func() error) error
	last   time.Time     // when the last saving ended, or the run began
	rest   time.Duration // pause after it, so that savings take no more than their share
	// Inputs are the hashes of the data that the run is made from. [Folder.Key] adds them to its
	// keys.
	Inputs map[string]string
	// Remedy says what to do with a file that the run cannot go on from.
	Remedy string
}

// Open makes the folder dir, if it is not there, for a run. holds says in words what the folder
// holds, such as "a checkpoint", for its mark ([atomicfile.Claim]). With resume the run goes on
// from the files that are there; without, it begins anew, and files of an earlier run are removed.
// A positive memory bounds the bytes of an array that is read. write is called to write files, such
// as a function that keeps interrupts away; nil for none.
//
// A folder that cannot be written or has no mark, and without resume a file there that has the name
// of a stage but is none, are errors; then no file was changed.
func Open(dir, holds string, resume bool, memory int64, write func(func() error) error) (*Folder, error) {
	if write == nil {
		write = func(fn func() error) error { return fn() }
	}
	f := &Folder{dir: dir, resume: resume, memory: memory, write: write, last: time.Now(),
		Inputs: map[string]string{}, Remedy: BeginAnew}

	// A folder that cannot be written is an error now, and not after hours of work.
	err := write(func() error {
		if err := atomicfile.Claim(dir, holds); err != nil {
			return err
		}
		return atomicfile.CheckWritable(f.Path(Snapshot))
	})
	if err != nil {
		return nil, err
	}

	if resume {
		return f, nil
	}
	// The run will replace and remove these files, so each of them must be a stage.
	for _, name := range names {
		if err := f.foreign(name); err != nil {
			return nil, err
		}
	}
	f.Remove(names...)
	return f, nil
}

// foreign returns an error if a file of the folder is there and is not a stage of a run, by its
// manifest.
func (f *Folder) foreign(name string) error {
	path := f.Path(name)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file that bigfit wrote, and would be replaced; name another folder", path)
	}

	format, err := formatOf(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // another process has just removed it
	case errors.As(err, new(*fs.PathError)):
		return err
	case err == nil && (format == archive.Checkpoint || format == archive.Snapshot):
		return nil
	}
	return fmt.Errorf("%s was not written as a stage of an unfinished run, or it is damaged; it would be "+
		"replaced: move it, or name another folder", path)
}

// longestManifest bounds the bytes of a manifest that is read for its format; keys and states of
// stages take some kilobytes.
const longestManifest = 64 << 20

// formatOf returns the format that the manifest of an archive names.
func formatOf(path string) (string, error) {
	a, err := npy.OpenArchive(path, longestManifest)
	if err != nil {
		return "", err
	}
	defer a.Close()
	text, err := a.ReadBytes(archive.Name)
	if err != nil {
		return "", err
	}
	var m archive.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return "", fmt.Errorf("%s: the manifest is not valid JSON: %w", path, err)
	}
	return m.Format, nil
}

// Path returns the path of a file of the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.dir, name) }

// Has reports whether the run goes on from a file of the folder. A nil Folder has
// none.
func (f *Folder) Has(name string) bool {
	if f == nil || !f.resume {
		return false
	}
	_, err := os.Stat(f.Path(name))
	return err == nil
}

// Any reports whether there is anything to go on from.
func (f *Folder) Any() bool { return slices.ContainsFunc(names, f.Has) }

// Due reports whether it is time to save an unfinished stage: ten seconds after the
// run began or saved, and so late that savings take a tenth of the time at most.
func (f *Folder) Due() bool { return f.Affordable() && time.Since(f.last) >= Every }

// Affordable reports whether saving now keeps to a tenth of the time: for a good moment
// that comes before one is due.
func (f *Folder) Affordable() bool { return f != nil && (Every == 0 || time.Since(f.last) >= f.rest) }

// Key returns a key of settings, anything that marshals to JSON as one object, and
// of the Inputs named.
func (f *Folder) Key(settings any, inputs ...string) (Key, error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	// Each field of the settings becomes an entry of its own, so that a difference can be named.
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	key := Key{}
	for name, v := range fields {
		key[name] = string(v)
	}
	for _, name := range inputs {
		key["hash of the "+name] = f.Inputs[name]
	}
	return key, nil
}

// Store has save write a file of the folder over the one before it. An archive that is there and
// is no stage is an error; other files, such as tables of numbers, have no manifest, and the mark
// of the folder stands for them.
func (f *Folder) Store(name string, save func(path string) error) error {
	if filepath.Ext(name) == ".npz" {
		if err := f.foreign(name); err != nil {
			return err
		}
	}

	// The time that saving takes decides when the next one is due.
	begun := time.Now()
	path := f.Path(name)
	err := f.write(func() error { return save(path) })
	if err != nil {
		if _, missing := os.Stat(path); missing == nil {
			err = fmt.Errorf("%w; the checkpoint before it is unharmed, and %s goes on from it", err,
				param.Name("resume"))
		}
		return err
	}

	f.saved(begun)
	return nil
}

// saved notes that saving, which began then, has ended.
func (f *Folder) saved(begun time.Time) {
	f.last = time.Now()
	f.rest = time.Duration(float64(max(0, f.last.Sub(begun)-free)) / share)
}

// stage is the manifest of a file.
type stage struct {
	Name  string          `json:"name"`
	Key   Key             `json:"key"`
	State json.RawMessage `json:"state"`
	// Sum is the hash of the arrays and of all above.
	Sum string `json:"sum,omitempty"`
}

func (s stage) sum(arrays []archive.Array) (string, error) {
	s.Sum = ""
	text, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	return npy.Sum(append([]archive.Array{{Name: archive.Name, Data: text}}, arrays...))
}

// Save writes a stage: its state, anything that marshals to JSON, and its arrays.
func (f *Folder) Save(name string, key Key, state any, arrays ...archive.Array) error {
	s := stage{Name: name, Key: key}
	var err error
	if s.State, err = json.Marshal(state); err != nil {
		return err
	}
	if s.Sum, err = s.sum(arrays); err != nil {
		return err
	}
	// The manifest is bare: its date and program would change the bytes.
	m, err := archive.New(archive.Checkpoint, s, nil)
	if err != nil {
		return err
	}

	text, err := m.Bare().Bytes()
	if err != nil {
		return err
	}
	return f.Store(name, func(path string) error {
		return npy.WriteArchive(path, append(slices.Clone(arrays), archive.Array{Name: archive.Name,
			Data: text}))
	})
}

// Arrays of a stage, by name.
type Arrays map[string]*npy.Array

// Load reads a stage that [Folder.Save] wrote with the same key, and its state. It
// returns nil if there is nothing to go on from.
func (f *Folder) Load(name string, key Key, state any) (Arrays, error) {
	if !f.Has(name) {
		return nil, nil
	}
	arrays, err := f.load(name, key, state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // another process has just ended this run
	}
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, f.Remedy)
	}
	return arrays, nil
}

// Made returns the key that a stage was saved with; nil if there is nothing to go on from.
func (f *Folder) Made(name string) (Key, error) {
	if !f.Has(name) {
		return nil, nil
	}
	return KeyOf(f.Path(name), f.memory)
}

// KeyOf returns the key that the stage in a file was saved with. A positive memory bounds the bytes that are read.
func KeyOf(path string, memory int64) (Key, error) {
	a, err := npy.OpenArchive(path, memory)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var s stage
	_, err = a.Manifest(archive.Checkpoint, &s)
	return s.Key, err
}

func (f *Folder) load(name string, key Key, state any) (Arrays, error) {
	path := f.Path(name)
	a, err := npy.OpenArchive(path, f.memory)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var s stage
	if _, err := a.Manifest(archive.Checkpoint, &s); err != nil {
		return nil, err
	}
	if s.Name != name {
		return nil, fmt.Errorf("%s: holds the stage %q", path, s.Name)
	}
	if err := key.agree(s.Key, path); err != nil {
		return nil, err
	}

	// The hash covers all arrays, so all are read before any is used.
	out := Arrays{}
	var entries []archive.Array
	for _, array := range a.Names() {
		if array == archive.Name {
			continue
		}
		x, err := a.Read(array)
		if err != nil {
			return nil, err
		}
		out[array] = x
		entries = append(entries, archive.Array{Name: array, Shape: x.Shape, Data: x.Data})
	}

	sum, err := s.sum(entries)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if sum != s.Sum {
		return nil, fmt.Errorf("%s: the checkpoint was changed after it was written: its content has "+
			"the hash %.12s…, its manifest says %.12q", path, sum, s.Sum)
	}
	if err := archive.Unmarshal(s.State, state); err != nil {
		return nil, fmt.Errorf("%s: the state in the manifest: %w", path, err)
	}
	return out, nil
}

// agree returns an error if the stage in the file path was made with another key.
func (k Key) agree(made Key, path string) error {
	all := Key{}
	maps.Copy(all, k)
	maps.Copy(all, made)
	// The first difference by name is reported, so that the message is always the same.
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if k[name] != made[name] {
			short := func(v string) string {
				if len(v) > 40 {
					return v[:40] + "…"
				}
				return v
			}
			return fmt.Errorf("%s: a checkpoint of another run: there %s is %s, here %s", path, name,
				short(made[name]), short(k[name]))
		}
	}

	return nil
}

// Elements returns the elements of an array of a stage that was loaded; an array
// that is not there or of another type has none.
func Elements[T any](a Arrays, name string) []T {
	if a[name] == nil {
		return nil
	}
	x, _ := a[name].Data.([]T)
	return x
}

// Remove removes stages whose work is done. A file that is not a stage stays.
func (f *Folder) Remove(names ...string) {
	if f == nil {
		return
	}
	for _, name := range names {
		if f.foreign(name) == nil {
			os.Remove(f.Path(name))
		}
	}
}

// Clear removes all: the results of the run are written. The folder stays.
func (f *Folder) Clear() { f.Remove(names...) }
