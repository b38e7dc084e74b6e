package parts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/numbers"
)

// A work folder holds, for n points of d columns in P parts, each point in Q of them, with K
// neighbours of each point (w = K + spare, n_p points in part p, m_p with p as their nearest part):
//
//	division.npz               the division: member, dtype, shape, meaning
//	  manifest.npy  uint8          JSON: the key, and {"n", "d", "scale", "files", "hash", "sizes", "own"}
//	  mean.npy      float64 (d)    subtracted from points before the search; (0) for angles
//	  centres.npy   float32 (P, d) centres of the scaled rows
//	  offsets.npy   float32 (P)    ‖c‖², changed until the parts have about the same sizes
//	truth.npz                  a sample by which the recall is estimated
//	  rows.npy      int32   (s)    points of the sample
//	  kth.npy       float64 (s)    distance of the K-th true neighbour of each
//	order.npy         uint32  (n, 1)    the point of the user that has each number
//	assigned.npy      uint16  (n, Q)    the parts of every point, the nearest first
//	points-PPPPP.npy  as X    (m_p, d)  the points that have the part as their nearest
//	part-PPPPP.npy    uint32  (n_p, 2w) lists as the search of a part left them: w numbers of
//	                                    points, then the bits of w squared distances in float32;
//	                                    removed when the lists of all parts are merged
//	lists-0-PPPPP.npy uint32  (m_p, w)  w neighbours in the merged lists of all parts of a point
//	squares-PPPPP.npy uint32  (m_p, w)  bits of their squared distances in float32
//	lists-R-PPPPP.npy uint32  (m_p, K)  neighbours after round R of the exchange, from 1
//	lengths-R-PPPPP.npy float64 (m_p, K) their distances, only if the weights need them
//	weights-PPPPP.npy float64 (m_p, K)  weights of the edges to the neighbours of the last round
//	ordered/                   the symmetric graph of the numbers, a folder as package sparse writes it
//	graph/                     the same graph of the points of the user
//
// All of these but graph/ number the points anew: by their nearest part, then by the second, then in the
// order of the user. Rows of tables are in the order of these numbers. A table NAME.npy has a stage
// NAME.npz of package checkpoint beside it, written after it, with the key of the run and {"rows",
// "width", "sum"}, where sum is the SHA-256 of the table. A table without its stage is not there.
// The stages of part-PPPPP stay when the tables go: they say that the parts were made.
const (
	divisionFile = "division.npz" // centres, sizes and what all parts share
	assigned     = "assigned"     // n×overlap uint16: the parts of every point, the nearest first
	orderName    = "order"        // n uint32: the point of the user that has each number
	truthFile    = "truth.npz"    // true neighbours of a sample
)

// Names of the tables of a part.
func partName(p int) string    { return fmt.Sprintf("part-%05d", p) }
func copyName(p int) string    { return fmt.Sprintf("points-%05d", p) }
func squaresName(p int) string { return fmt.Sprintf("squares-%05d", p) }
func weightsName(p int) string { return fmt.Sprintf("weights-%05d", p) }

func listsName(round, p int) string   { return fmt.Sprintf("lists-%d-%05d", round, p) }
func lengthsName(round, p int) string { return fmt.Sprintf("lengths-%d-%05d", round, p) }

// listsName returns the name of the lists of part p after the last round, 0 before the first.
func (r *Run) listsName(p int) string { return listsName(r.round, p) }

// lengthsName returns the name of the distances of these lists.
func (r *Run) lengthsName(p int) string { return lengthsName(r.round, p) }

// A folder keeps tables of numbers. A table is there as a whole or not at all.
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

// has reports whether a table is there. A table of another run is an error.
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

// save writes a table with rows of the given width, then its stage.
func save[T uint16 | uint32 | float64](f *folder, name string, width int, table []T) error {
	return f.save(name, tableState{Rows: len(table) / width, Width: width}, table)
}

// save writes the numbers of a table, then its stage.
func (f *folder) save(name string, t tableState, table any) error {
	shape := []int{t.Rows, t.Width}
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

// loaded is a table that was loaded.
type loaded[T uint16 | uint32 | float64] struct {
	table []T
	width int
}

// load returns a table, mapped into memory where the system can. It is checked once, at the first
// load.
func load[T uint16 | uint32 | float64](f *folder, name string) (table []T, width int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.open[name].(loaded[T]); ok {
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
		return nil, 0, fmt.Errorf("%s: it holds %v, and (%d, %d) were written; %s",
			path, h, t.Rows, t.Width, f.Remedy)
	}
	// A system without mappings reads the file instead.
	if raw != nil {
		table = numbers.Of[T](raw)
	} else if a, err := npy.ReadFile(path, 0); err != nil {
		return nil, 0, err
	} else if table, _ = a.Data.([]T); table == nil && h.Len() > 0 {
		return nil, 0, fmt.Errorf("%s: it holds %v; %s", path, h, f.Remedy)
	}

	// The hash reads the whole table, whose pages are given back at once.
	sum, err := npy.Sum([]archive.Array{{Name: name, Shape: h.Shape, Data: table}})
	if err != nil {
		return nil, 0, err
	}
	drop(table)
	if err := f.checkSum(name, sum, t.Sum); err != nil {
		return nil, 0, err
	}
	f.open[name] = loaded[T]{table, t.Width}
	return table, t.Width, nil
}

// remove removes a table that no slice holds any more, and leaves its stage.
func remove[T uint16 | uint32 | float64](f *folder, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.open[name].(loaded[T]); ok {
		mapped.Close(numbers.Bytes(known.table))
		delete(f.open, name)
	}
	if err := os.Remove(f.Path(name + ".npy")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checkSum returns an error if a table has the hash sum and not the one of its stage.
func (f *folder) checkSum(name, sum, want string) error {
	if sum == want {
		return nil
	}
	return fmt.Errorf("%s: the file was changed after it was written: its content has the hash %.12s…, %s says %.12s…; %s",
		f.Path(name+".npy"), sum, f.Path(name+".npz"), want, f.Remedy)
}

// drop gives back the pages of a mapped table that is not needed soon.
func drop[T uint16 | uint32 | float64](table []T) { mapped.Drop(numbers.Bytes(table)) }

// decode reads the settings that a key holds.
func decode(text string, v any) error { return archive.Unmarshal([]byte(text), v) }
