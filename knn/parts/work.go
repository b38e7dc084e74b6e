package parts

import (
	"fmt"
	"os"
	"sync"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/numbers"
)

// Names of the files of a work folder. A table NAME.npy has a stage NAME.npz beside it, which
// is written after it and has its size and hash.
const (
	divisionFile = "division.npz" // centres, sizes and what all parts share
	assigned     = "assigned"     // n×overlap uint16: the parts of every point, the nearest first
	truthFile    = "truth.npz"    // true neighbours of a sample
)

// Tables of parts: lists as the search of the part left them, with their distances; weights; and
// of each round of the exchange, K neighbours of the points of which it is the nearest part, with
// their distances where weights are made of them.
func partName(p int) string    { return fmt.Sprintf("part-%05d", p) }
func weightsName(p int) string { return fmt.Sprintf("weights-%05d", p) }

func listsName(round, p int) string   { return fmt.Sprintf("lists-%d-%05d", round, p) }
func lengthsName(round, p int) string { return fmt.Sprintf("lengths-%d-%05d", round, p) }

// listsName and lengthsName are those of the last round.
func (r *Run) listsName(p int) string   { return listsName(r.round, p) }
func (r *Run) lengthsName(p int) string { return lengthsName(r.round, p) }

// A folder keeps tables of numbers, each whole or not there.
type folder struct {
	*checkpoint.Folder
	key checkpoint.Key

	mu   sync.Mutex
	open map[string]any
}

// tableState describes a table in the stage beside it.
type tableState struct {
	Rows  int    `json:"rows"`
	Width int    `json:"width"`
	Sum   string `json:"sum"`
}

// has reports whether a table is there. One of another run is an error.
func (f *folder) has(name string) (bool, error) {
	var t tableState
	stage, err := f.Load(name+".npz", f.key, &t)
	if err != nil || stage == nil {
		return false, err
	}
	if _, err := os.Stat(f.Path(name + ".npy")); err != nil {
		return false, nil
	}
	return true, nil
}

// save writes a table of rows of the given width.
func save[T uint16 | uint32 | float64](f *folder, name string, width int, table []T) error {
	t := tableState{Rows: len(table) / width, Width: width}
	shape := []int{t.Rows, width}
	var err error
	if t.Sum, err = npy.Sum([]archive.Array{{Name: name, Shape: shape, Data: table}}); err != nil {
		return err
	}
	err = f.Store(name+".npy", func(path string) error { return npy.WriteFile(path, shape, table) })
	if err != nil {
		return err
	}
	return f.Save(name+".npz", f.key, t)
}

// load returns a table, mapped into memory where it can be. It is checked once.
func load[T uint16 | uint32 | float64](f *folder, name string) (table []T, width int, err error) {
	type loaded struct {
		table []T
		width int
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.open[name].(loaded); ok {
		return known.table, known.width, nil
	}

	var t tableState
	stage, err := f.Load(name+".npz", f.key, &t)
	if err != nil {
		return nil, 0, err
	}
	if stage == nil {
		return nil, 0, fmt.Errorf("%s is missing; %s", f.Path(name+".npz"), f.Remedy)
	}
	path := f.Path(name + ".npy")
	h, raw, err := npy.Map(path, 1)
	if err != nil {
		return nil, 0, fmt.Errorf("%w; %s", err, f.Remedy)
	}
	if len(h.Shape) != 2 || h.Shape[0] != t.Rows || h.Shape[1] != t.Width {
		return nil, 0, fmt.Errorf("%s: it holds %v, and (%d, %d) were written; %s", path, h, t.Rows,
			t.Width, f.Remedy)
	}

	if raw != nil {
		table = numbers.Of[T](raw)
	} else if a, err := npy.ReadFile(path, 0); err != nil {
		return nil, 0, err
	} else if table, _ = a.Data.([]T); table == nil && h.Len() > 0 {
		return nil, 0, fmt.Errorf("%s: it holds %v; %s", path, h, f.Remedy)
	}

	sum, err := npy.Sum([]archive.Array{{Name: name, Shape: h.Shape, Data: table}})
	if err != nil {
		return nil, 0, err
	}
	drop(table)
	if sum != t.Sum {
		return nil, 0, fmt.Errorf("%s: the file was changed after it was written: its content has "+
			"the hash %.12s…, %s says %.12s…; %s", path, sum, f.Path(name+".npz"), t.Sum, f.Remedy)
	}
	f.open[name] = loaded{table, t.Width}
	return table, t.Width, nil
}

// drop gives back the pages of a table that was read and is not needed soon.
func drop[T uint16 | uint32 | float64](table []T) { mapped.Drop(numbers.Bytes(table)) }

// decode reads the settings that a key holds.
func decode(text string, v any) error { return archive.Unmarshal([]byte(text), v) }
