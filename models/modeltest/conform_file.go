package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/models"
)

// load reads a model of the learner.
func (c *checker) load(path string) (models.Model, *models.Manifest, error) {
	return models.Load(path, 0, func(name string) models.Decoder {
		if name != c.info.Name {
			return nil
		}
		return c.l.Decode
	})
}

// saved fits a model and returns its file.
func (c *checker) saved(k kind, s *sample) (models.Model, string) {
	m := c.fit(k.name, c.input(s, k))
	path := filepath.Join(c.dir, "model.npz")
	c.must(k.name, "Save", models.Save(path, m, map[string]string{"points": "abc", "labels": "def"}))
	return m, path
}

// checkFile: a model that is saved and loaded is the same, and its manifest names
// the learner, its parameters and the hashes.
func (c *checker) checkFile() {
	c.each(func(k kind) {
		whole := blobs(sampleSize, true, 1)
		for what, s := range map[string]*sample{
			"float64": blobs(sampleSize, false, 1),
			"float32": whole.with(converted[float32](whole.x)),
			"uint8":   whole.with(converted[uint8](whole.x)),
			"float16": whole.with(halves(whole.x)),
		} {
			c.try(k.name+" "+what, func() { c.roundTrip(k, s) })
		}
	})
}

func (c *checker) roundTrip(k kind, s *sample) {
	// Answers and files of the loaded model have the same bits, not only close ones.
	m, path := c.saved(k, s)
	back, mf, err := c.load(path)
	c.must(k.name, "Load", err)
	c.sameModel(k.name, "saved and loaded", m, back)

	// Summaries hold facts of any type, so they are compared as info writes them.
	x, errX := json.Marshal(m.Summary())
	y, errY := json.Marshal(back.Summary())
	if errX != nil || errY != nil || string(x) != string(y) {
		c.fault(k.name, "the summary %s comes back as %s, %v, %v", x, y, errX, errY)
	}
	if m.Name() != c.info.Name || back.Name() != m.Name() || back.Dim() != m.Dim() ||
		!reflect.DeepEqual(back.Output(), m.Output()) {
		c.fault(k.name, "%s of dimension %d with the output %+v comes back as %s of %d with %+v", m.Name(),
			m.Dim(), m.Output(), back.Name(), back.Dim(), back.Output())
	}

	// The manifest has the parameters with which a fit makes the model again.
	e, err := m.Encode()
	c.must(k.name, "Encode", err)
	if mf.Learner != c.info.Name || !maps.Equal(mf.Params, e.Values) || mf.Hashes["points"] != "abc" ||
		mf.Hashes["labels"] != "def" {
		c.fault(k.name, "the manifest names the learner %q, the parameters %v and the hashes %v", mf.Learner,
			mf.Params, mf.Hashes)
	}
}

// readEntries returns the content of a file in the order of the names.
func readEntries(path string) ([]archive.Array, error) {
	a, err := npy.OpenArchive(path, 0)
	if err != nil {
		return nil, err
	}
	defer a.Close()

	var out []archive.Array
	for _, name := range a.Names() {
		x, err := a.Read(name)
		if err != nil {
			return nil, err
		}
		e := archive.Array{Name: name, Shape: x.Shape, Data: x.Data}

		// A text is a scalar array of NumPy: it is written again from a string without a shape.
		if text, ok := x.Data.([]string); ok && len(text) == 1 {
			e.Shape = nil
			e.Data = text[0]
		}
		out = append(out, e)
	}

	return out, nil
}

// damages make other arrays of one; nil where they do not apply.
var damages = []struct {
	name string
	make func(e archive.Array) *archive.Array
}{
	{"truncated", func(e archive.Array) *archive.Array { return shortened(e, 0) }},
	{"without its last column", func(e archive.Array) *archive.Array { return shortened(e, 1) }},
	{"as text", func(e archive.Array) *archive.Array {
		return &archive.Array{Name: e.Name,
			Data: "damaged"}
	}},
	{"of another type", retyped},
	{"with NaN", planted},
	{"with a huge integer", func(e archive.Array) *archive.Array { return integer(e, true) }},
	{"with a negative integer", func(e archive.Array) *archive.Array { return integer(e, false) }},
}

// shortened leaves out the last index of an axis.
func shortened(e archive.Array, axis int) *archive.Array {
	v := reflect.ValueOf(e.Data)
	if v.Kind() != reflect.Slice || len(e.Shape) <= axis || e.Shape[axis] == 0 {
		return nil
	}

	// The data shrinks with the shape, so the file is whole and only the loader can refuse it.
	shape := slices.Clone(e.Shape)
	shape[axis]--
	outer, inner := 1, 1 // elements before the axis, and of one index of it
	for i, n := range e.Shape {
		switch {
		case i < axis:
			outer *= n
		case i > axis:
			inner *= n
		}
	}

	// An array of shape (outer, n, inner) loses the last of the n blocks in each outer one.
	out := reflect.MakeSlice(v.Type(), 0, v.Len())
	for o := range outer {
		from := o * e.Shape[axis] * inner
		out = reflect.AppendSlice(out, v.Slice(from, from+shape[axis]*inner))
	}
	return &archive.Array{Name: e.Name, Shape: shape, Data: out.Interface()}
}

// retyped holds the same numbers in another type. Points may have any, those of a model within the model too;
// arrays such as given_points are integers, numbers of points.
func retyped(e archive.Array) *archive.Array {
	v := reflect.ValueOf(e.Data)
	if v.Kind() != reflect.Slice || e.Name == "points" ||
		strings.HasSuffix(e.Name, "_points") && v.Type().Elem().Kind() != reflect.Int32 {
		return nil
	}

	// Readers convert nothing: an array of another type is damage, even with the same numbers.
	to := reflect.TypeFor[float64]()
	if v.Type().Elem() == to {
		to = reflect.TypeFor[int64]()
	}
	if !v.Type().Elem().ConvertibleTo(to) {
		return nil
	}

	out := reflect.MakeSlice(reflect.SliceOf(to), v.Len(), v.Len())
	for i := range v.Len() {
		out.Index(i).Set(v.Index(i).Convert(to))
	}
	return &archive.Array{Name: e.Name, Shape: e.Shape, Data: out.Interface()}
}

// planted has NaN in the middle.
func planted(e archive.Array) *archive.Array {
	switch x := e.Data.(type) {
	case []float64:
		if len(x) > 0 {
			x = slices.Clone(x)
			x[len(x)/2] = math.NaN()
			return &archive.Array{Name: e.Name, Shape: e.Shape, Data: x}
		}
	case []float32:
		if len(x) > 0 {
			x = slices.Clone(x)
			x[len(x)/2] = float32(math.NaN())
			return &archive.Array{Name: e.Name, Shape: e.Shape, Data: x}
		}
	}

	return nil
}

// integer has a number out of any range: a huge one in front, or a negative one at
// the end. Class values may be any, but then they are not ascending.
func integer(e archive.Array, huge bool) *archive.Array {
	at := func(n int) (int, int64) {
		if huge {
			return 0, 1 << 30
		}
		return n - 1, -1 << 30
	}
	switch x := e.Data.(type) {
	case []int32:
		if len(x) > 0 {
			x = slices.Clone(x)
			i, v := at(len(x))
			x[i] = int32(v)
			return &archive.Array{Name: e.Name, Shape: e.Shape, Data: x}
		}
	case []int64:
		if len(x) > 0 {
			x = slices.Clone(x)
			i, v := at(len(x))
			x[i] = v
			return &archive.Array{Name: e.Name, Shape: e.Shape, Data: x}
		}
	}

	return nil
}

// damageEvery is 1 where every array of a file is damaged in every way, as campaigns do
// (internal/testmode); of each learner's file go test ./... tries one damage in damageEvery.
var damageEvery = 6

func init() {
	if testmode.Campaigns() {
		damageEvery = 1
	}
}

// checkDamage: a file with an array that is missing or damaged is an error.
func (c *checker) checkDamage() {
	whole := blobs(sampleSize, false, 1)

	// The damages are counted over all kinds of targets, so a sample takes others of each kind.
	tried := 0
	sampled := func() bool { tried++; return tried%damageEvery == 0 }
	c.each(func(k kind) {
		for what, s := range map[string]*sample{"": whole, " sparse": whole.with(data.ToSparse(whole.x))} {
			_, path := c.saved(k, s)
			entries, err := readEntries(path)
			c.must(k.name, "the file", err)
			for i, e := range entries {
				rest := slices.Delete(slices.Clone(entries), i, i+1)
				if sampled() {
					c.refuseFile(e.Name+" missing", k.name+what, rest)
				}

				// checkManifest damages the manifest, which holds JSON and no numbers.
				if e.Name == archive.Name {
					continue
				}
				for _, d := range damages {
					if bad := d.make(e); bad != nil && sampled() {
						c.refuseFile(e.Name+" "+d.name, k.name+what,
							slices.Insert(slices.Clone(rest), i, *bad))
					}
				}
			}
		}
	})
}

// refuseFile demands that a file cannot be loaded.
func (c *checker) refuseFile(at, what string, entries []archive.Array) {
	c.try(at, func() {
		path := filepath.Join(c.dir, "damaged.npz")
		c.must(at, "the damaged file", Rewrite(path, entries))
		if m, _, err := c.load(path); err == nil {
			c.fault(at, "%s: the damaged file is loaded as a %T", what, m)
		}
	})
}

// checkManifest: a manifest that is damaged is an error, or at least no panic, and
// so is a file that ends early.
func (c *checker) checkManifest() {
	c.first(func(k kind) {
		_, path := c.saved(k, blobs(sampleSize, false, 1))
		c.damagedManifests(k, path)

		// The directory of a .npz file is at its end, so a file that ends early has none.
		whole, err := os.ReadFile(path)
		c.must(k.name, "the file", err)
		for _, part := range []int{0, 10, len(whole) / 2, len(whole) - 10} {
			c.try("truncated file", func() {
				path := filepath.Join(c.dir, "short.npz")
				c.must(k.name, "the short file", os.WriteFile(path, whole[:part], 0o600))
				if _, _, err := c.load(path); err == nil {
					c.fault("truncated file", "%d of %d bytes are loaded", part, len(whole))
				}
			})
		}
	})
}

func (c *checker) damagedManifests(k kind, path string) {
	entries, err := readEntries(path)
	c.must(k.name, "the file", err)
	at := slices.IndexFunc(entries, func(e archive.Array) bool { return e.Name == archive.Name })
	for what, change := range map[string]func(m map[string]any){
		"an unknown learner":   func(m map[string]any) { m["model"] = "no-such-learner" },
		"an unknown parameter": func(m map[string]any) { m["params"] = map[string]any{"no-such-parameter": 1} },
		"no output":            func(m map[string]any) { delete(m, "output") },
		"another fit":          func(m map[string]any) { m["fit"] = []int{1, 2} },
		"no fit":               func(m map[string]any) { delete(m, "fit") },
		"an empty fit":         func(m map[string]any) { m["fit"] = map[string]any{} },
		"no parameters":        func(m map[string]any) { m["params"] = map[string]any{} },
	} {
		c.try(what, func() {
			// The arrays stay as they are.
			text, err := changedManifest(entries[at].Data, change)
			c.must(what, "the manifest", err)
			changed := slices.Clone(entries)
			changed[at] = archive.Array{Name: archive.Name, Data: text}
			path := filepath.Join(c.dir, "changed.npz")
			c.must(what, "the file", Rewrite(path, changed))

			m, _, err := c.load(path)
			tolerable := slices.Contains([]string{"no output", "no fit", "an empty fit",
				"no parameters"}, what)
			if err == nil && !tolerable {
				c.fault(what, "a manifest with %s is accepted", what)
			}
			if err == nil { // nothing in the file may be missed without a panic
				c.ask(what, m, queries(false))
			}
		})
	}
}

// changedManifest returns a manifest with other settings.
func changedManifest(raw any, change func(settings map[string]any)) ([]uint8, error) {
	text, ok := raw.([]uint8)
	if !ok {
		return nil, errors.New("the manifest is no text")
	}
	var mf map[string]any
	if err := json.Unmarshal(text, &mf); err != nil {
		return nil, err
	}
	settings, ok := mf["settings"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the settings are %T", mf["settings"])
	}

	change(settings)
	return json.Marshal(mf)
}
