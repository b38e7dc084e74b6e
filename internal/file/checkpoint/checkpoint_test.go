package checkpoint

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/npy"
)

type state struct {
	Round int     `json:"round"`
	Text  string  `json:"text"`
	Value float64 `json:"value"`
}

func open(t *testing.T, dir string, resume bool) *Folder {
	t.Helper()
	f, err := Open(dir, "a checkpoint", resume, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func save(t *testing.T, f *Folder, key Key) {
	t.Helper()
	if err := f.Save(Graph, key, state{3, "<&>", 1. / 3}, archive.Array{Name: "a", Data: []float64{1, math.Inf(1)}}, archive.Array{Name: "b", Shape: []int{1, 2}, Data: []uint32{7, 8}}); err != nil {
		t.Fatal(err)
	}
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	f := open(t, dir, false)
	key, err := f.Key(struct {
		K    int
		Name string `json:"name,omitempty"`
	}{8, "x"})
	if err != nil || key["K"] != "8" || key["name"] != `"x"` {
		t.Fatal(key, err)
	}
	save(t, f, key)
	if f.Has(Graph) || f.Any() {
		t.Error("a run that begins anew goes on from a file")
	}
	r := open(t, dir, true)
	if !r.Has(Graph) || !r.Any() || r.Has(Fits) {
		t.Error("the file is not seen")
	}
	var st state
	a, err := r.Load(Graph, key, &st)
	if err != nil || st != (state{3, "<&>", 1. / 3}) {
		t.Fatal(st, err)
	}
	if x := Elements[float64](a, "a"); len(x) != 2 || x[0] != 1 || !math.IsInf(x[1], 1) {
		t.Error(x)
	}
	if x := Elements[uint32](a, "b"); len(x) != 2 || x[1] != 8 {
		t.Error(x)
	}
	if Elements[float64](a, "b") != nil || Elements[int8](a, "c") != nil {
		t.Error("elements of another type, or of no array")
	}
	if a, err := r.Load(Fits, key, &st); a != nil || err != nil {
		t.Error(a, err)
	}
	r.Clear()
	if r.Any() {
		t.Error("not cleared")
	}
	var none *Folder
	none.Clear()
	if a, err := none.Load(Graph, key, &st); a != nil || err != nil || none.Has(Graph) || none.Due() {
		t.Error("no folder has something")
	}
}

// A file of another run and one that was changed in any place, also where its
// checksums are made to agree, are refused by name and stay.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	key := Key{"k": "8", "hash of the points": "abc"}
	save(t, open(t, dir, false), key)
	f := open(t, dir, true)
	path := f.Path(Graph)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, key Key, words ...string) {
		t.Helper()
		before, _ := os.ReadFile(path)
		var st state
		a, err := f.Load(Graph, key, &st)
		if err == nil || a != nil {
			t.Errorf("%s: %v is taken", what, st)
			return
		}
		for _, w := range append(words, path, BeginAnew) {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: no %q in %v", what, w, err)
			}
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s: the file was changed", what)
		}
	}
	refused("other settings", Key{"k": "9", "hash of the points": "abc"}, "another run", "k is 8, here 9")
	refused("more settings", Key{"k": "8", "hash of the points": "abc", "z": "1"}, "another run", "z")
	refused("other points", Key{"k": "8", "hash of the points": "abd"}, "hash of the points")
	for at := range good {
		bad := bytes.Clone(good)
		bad[at] ^= 0x20
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		var st state
		a, err := f.Load(Graph, key, &st)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("byte %d: %v", at, err)
			}
		} else if x := Elements[float64](a, "a"); st != (state{3, "<&>", 1. / 3}) || x[0] != 1 || Elements[uint32](a, "b")[0] != 7 {
			t.Errorf("byte %d: read as %v, %v", at, st, x)
		}
	}
	for size := range len(good) {
		if err := os.WriteFile(path, good[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		refused("short", key)
	}
	// A tampered archive whose own checksums agree.
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	z, err := npy.OpenArchive(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	text, err := z.ReadBytes("manifest")
	if err != nil {
		t.Fatal(err)
	}
	z.Close()
	a, b := archive.Array{Name: "a", Data: []float64{1, math.Inf(1)}}, archive.Array{Name: "b", Shape: []int{1, 2}, Data: []uint32{7, 8}}
	m := archive.Array{Name: "manifest", Data: text}
	swap := func(old, new string) archive.Array {
		if !bytes.Contains(text, []byte(old)) {
			t.Fatalf("no %s in %s", old, text)
		}
		return archive.Array{Name: "manifest", Data: bytes.Replace(text, []byte(old), []byte(new), 1)}
	}
	for what, entries := range map[string][]archive.Array{
		"a value":   {{Name: "a", Data: []float64{2, math.Inf(1)}}, b, m},
		"a type":    {{Name: "a", Data: []int64{1, 2}}, b, m},
		"a shape":   {a, {Name: "b", Shape: []int{2, 1}, Data: []uint32{7, 8}}, m},
		"a name":    {a, {Name: "c", Shape: []int{1, 2}, Data: []uint32{7, 8}}, m},
		"one less":  {a, m},
		"the state": {a, b, swap(`"round":3`, `"round":4`)},
		"no sum":    {a, b, swap(`"sum":`, `"smu":`)},
		"the name":  {a, b, swap(`"name":"graph.npz"`, `"name":"fits.npz"`)},
		"a format":  {a, b, swap(`bigfit checkpoint`, `bigfit snapshot`)},
	} {
		if err := npy.WriteArchive(path, entries); err != nil {
			t.Fatal(err)
		}
		refused(what, key)
	}
}

// A failed saving leaves the one before it, and says so.
func TestFailedSave(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, false)
	disk := errors.New("the disk is full")
	atomicfile.SetHooks(&atomicfile.Hooks{Before: func(s atomicfile.Step) error {
		if s.Op == "sync" {
			return disk
		}
		return nil
	}})
	defer atomicfile.SetHooks(nil)
	err := f.Save(Graph, Key{}, state{})
	if !errors.Is(err, disk) || strings.Contains(err.Error(), "unharmed") {
		t.Error(err)
	}
	atomicfile.SetHooks(nil)
	save(t, f, Key{"k": "1"})
	atomicfile.SetHooks(&atomicfile.Hooks{Before: func(atomicfile.Step) error { return disk }})
	err = f.Save(Graph, Key{}, state{})
	atomicfile.SetHooks(nil)
	if !errors.Is(err, disk) || !strings.Contains(err.Error(), "unharmed") {
		t.Error(err)
	}
	var st state
	if a, err := open(t, dir, true).Load(Graph, Key{"k": "1"}, &st); a == nil || err != nil || st.Round != 3 {
		t.Error(st, err)
	}
}

// An unfinished stage is due ten seconds after the beginning, and later the longer
// saving takes.
func TestDue(t *testing.T) {
	f := open(t, t.TempDir(), false)
	if f.Due() {
		t.Error("due at once")
	}
	f.last = f.last.Add(-Every - time.Second)
	if !f.Due() {
		t.Error("not due after ten seconds")
	}
	if err := f.Store(Graph, func(string) error { return nil }); err != nil || f.Due() {
		t.Error(err, f.Due())
	}
	// Saving that took half a minute pauses for five, whatever the moment.
	begun := time.Now().Add(-30 * time.Second)
	f.saved(begun)
	f.last = f.last.Add(-200 * time.Second)
	if f.Due() || f.Affordable() {
		t.Error("saving takes more than a tenth of the time")
	}
	if f.last = f.last.Add(-101 * time.Second); !f.Due() || !f.Affordable() {
		t.Error("after five minutes it is not due")
	}
}

// TestForeignFiles: a file that has the name of a stage and is none is an error that names it, and
// stays as it is: at the opening, when a stage is saved and when all are cleared.
func TestForeignFiles(t *testing.T) {
	plant := func(t *testing.T, path string, kind string) []byte {
		t.Helper()
		switch kind {
		case "text":
			if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
		case "arrays":
			if err := npy.WriteArchive(path, []archive.Array{{Name: "x", Data: []float64{1}}}); err != nil {
				t.Fatal(err)
			}
		default:
			m, err := archive.New(archive.Graph, struct{}{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := m.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if err := npy.WriteArchive(path, []archive.Array{{Name: archive.Name, Data: text}}); err != nil {
				t.Fatal(err)
			}
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	unharmed := func(t *testing.T, path string, want []byte) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s was changed: %v", path, err)
		}
	}

	for _, name := range names {
		for _, kind := range []string{"text", "arrays", "graph"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				for _, marked := range []bool{false, true} {
					for _, resume := range []bool{false, true} {
						dir := t.TempDir()
						if marked {
							open(t, dir, false)
						}
						path := filepath.Join(dir, name)
						content := plant(t, path, kind)
						f, err := Open(dir, "a checkpoint", resume, 0, nil)
						switch {
						case marked && resume:
							if _, err := f.Load(name, Key{}, &state{}); err == nil || !strings.Contains(err.Error(), name) {
								t.Errorf("loaded: error %v", err)
							}
							f.Clear()
						case err == nil || !strings.Contains(err.Error(), name):
							t.Errorf("marked %t, resume %t: error %v", marked, resume, err)
						}
						unharmed(t, path, content)
					}
				}

				// The file comes while the run goes on.
				f := open(t, t.TempDir(), false)
				content := plant(t, f.Path(name), kind)
				if err := f.Save(name, Key{}, struct{}{}); err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("saved over it: %v", err)
				}
				f.Clear()
				unharmed(t, f.Path(name), content)
			})
		}
	}

	t.Run("a folder of this name", func(t *testing.T) {
		dir := t.TempDir()
		open(t, dir, false)
		if err := os.Mkdir(filepath.Join(dir, Graph), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, "a checkpoint", false, 0, nil); err == nil || !strings.Contains(err.Error(), Graph) {
			t.Error(err)
		}
	})
}
