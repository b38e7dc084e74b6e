package shell

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// PointOptions say what the columns of a table of points are, and what the points are
// called.
type PointOptions struct {
	id, ids, Label string
	show           string
	Shown          []string // columns that a page shows, by their names
	OpenGraph      bool     // the model chooses the settings of its graph, [pipeline.AutoGraph]
	GraphAlone     bool     // a graph is given, and the model measures no other distances
	drop, columns  []string
	expected       []string // columns of a model that the points are for, [data.TableColumns]
	expectedID     string   // the one of its ids

	table *data.TableColumns // of the points that were read
	read  *shards.Files      // of those points
	files *shards.Files      // the same; nil once the tables beside them were looked for
	rows  int                // in them
	// vertices is the file of the ids of a graph without points.
	vertices string
	Names    *data.IDs

	fault error // of the tables beside the points

	// Repeated says that two points may have one id. Labels are not joined by such ids.
	Repeated bool
	repeated *data.RepeatedIDError // of Names
}

// ColumnFlags adds the flags of the columns of points.
func (p *PointOptions) ColumnFlags(f *pflag.FlagSet) {
	f.StringVar(&p.id, "id", "", "`column` of X, or of tables beside .npy files, that names the points")
	f.StringSliceVar(&p.drop, "drop", nil, "`columns` of X to leave out")
	f.StringSliceVar(&p.columns, "columns", nil,
		"`columns` of X to take as coordinates (default: all others)")
}

// LabelFlags adds the flags that join labels with points: --label and --ids.
func (p *PointOptions) LabelFlags(f *pflag.FlagSet) {
	f.StringVar(&p.Label, "label", "", "`column` of X that holds the labels, in place of -y")
	p.IDFlag(f)
}

// IDFlag adds the flag of the ids of points.
func (p *PointOptions) IDFlag(f *pflag.FlagSet) {
	f.StringVar(&p.ids, "ids", "", "`file` of the ids of the points, in their order: .npy, text, FILE:COLUMN of a table")
}

// Expect says that the points are for m.
func (p *PointOptions) Expect(m models.Model) {
	p.expected = models.ColumnsOf(m)
	if ids := models.IDsOf(m); ids != nil {
		p.expectedID = ids.Column
	}
}

// TakeVertices makes the points those of a graph in a file, named by the file of ids beside it if there is one.
func (p *PointOptions) TakeVertices(graph string) {
	names := pipeline.VertexFile(graph)
	if _, err := os.Stat(names); err == nil {
		p.vertices = names
		p.rows = data.Rows(graph)
	}
}

// Take makes ids the names of the points, unless flags say what the points are called.
func (p *PointOptions) Take(ids *data.IDs) {
	if p.ids == "" && p.id == "" && ids != nil {
		p.Names = ids
	}
}

// Identify returns the names of the points; nil if they have none.
func (p *PointOptions) Identify(a *App) (*data.IDs, error) {
	// The names are asked for by every file that is written; they are read once.
	if p.Names != nil {
		return p.Names, nil
	}
	var err error
	switch {
	case p.id != "" && p.ids != "":
		return nil, Usagef("--id and --ids both name the points; give one of them")
	case p.ids != "":
		p.Names, err = data.ReadIDs(p.ids, data.ReadOptions{Points: p.rows, Limit: a.Left()})
		if err == nil {
			a.Notes(p.Names.Notes...)
		}
	case p.vertices != "":
		var ids *data.IDs
		ids, err = data.ReadIDs(p.vertices, data.ReadOptions{Limit: a.Left()})
		switch {
		case err != nil:
		case p.rows > 0 && len(ids.Values) != p.rows:
			a.Note("ids: none taken: %s beside the graph holds %d ids for %d points, so that it is of another graph", p.vertices,
				len(ids.Values), p.rows)
		default:
			p.Names = ids
			a.Note("ids: %s beside the graph; --ids names others", p.vertices)
		}
		p.vertices = ""
	case p.id != "" && p.table != nil && !p.arrays():
		p.Names, err = p.table.IDs()
	case p.table != nil && p.table.FoundID():
		if p.Names, err = p.table.IDs(); err != nil && !p.Repeated {
			a.Note("ids: none taken: %v", err)
			p.table.Unname()
			err = nil
		}
	default:
		// The tables are looked for once; every reader of labels gets their fault.
		if p.files != nil {
			p.Names, p.fault = p.beside(a, p.files)
			p.files = nil
		}
		err = p.fault
	}

	if p.Repeated && errors.As(err, &p.repeated) {
		p.Names = p.repeated.IDs
		err = nil
	}
	return p.Names, err
}

// joining returns the ids by which labels in the file y are joined with the points; nil where they belong to
// the points in their order.
func (p *PointOptions) joining(a *App, y string) (*data.IDs, error) {
	ids, err := p.Identify(a)
	if err != nil || p.repeated == nil {
		return ids, err
	}
	if column, _, err := data.UsualColumn(y, a.Left()); err == nil && column != "" {
		return nil, fmt.Errorf("%w, as the labels of %s are joined by the column %s; give labels in the order of the "+
			"points, without ids", p.repeated, y, column)
	}
	return nil, nil
}

// arrays tells whether the points were read from .npy files, which have no columns with names.
func (p *PointOptions) arrays() bool {
	return p.read != nil && len(p.read.Paths) > 0 &&
		strings.HasSuffix(shards.WithoutPacking(strings.ToLower(p.read.Paths[0])), ".npy")
}

// beside returns the ids in tables beside the files of the points; nil if there are none.
func (p *PointOptions) beside(a *App, files *shards.Files) (*data.IDs, error) {
	if p.id != "" {
		return p.named(a, files)
	}

	if p.expectedID != "" {
		if ids, err := p.inColumn(a, files, p.expectedID); ids != nil || err != nil {
			return ids, err
		}
	}

	// Of tables that may hold ids, the first kinds with a usual column do.
	var found []tablesBeside
	var without []string
	for _, paths := range files.Beside(a.namedFiles()...) {
		t := tablesBeside{Names: paths}
		var columns []string
		var err error
		if t.column, columns, err = data.UsualColumn(paths[0], a.Left()); err != nil {
			return nil, fmt.Errorf("%w; %s", err, elsewhere)
		}
		if t.column != "" {
			found = append(found, t)
			continue
		}
		if t.column = data.LikelyColumn(columns); t.column != "" {
			ids, err := data.IDsBeside(files.Paths, t.Names, t.column, a.Left())
			if err == nil {
				a.Note("ids: column %q of %s beside the points, by its name; --ids names others", t.column, t.Range())
				return ids, nil
			}
			without = append(without, fmt.Sprintf("ids: none taken, as a column that may hold them does not name the "+
				"points: %v; --ids FILE:COLUMN names one", err))
			continue
		}
		without = append(without, fmt.Sprintf("ids: none in %s beside the points, as no column of %s has a usual "+
			"name of ids; --ids FILE:COLUMN names one", t.Range(), strings.Join(columns[:min(10, len(columns))], ", ")))
	}
	if len(found) == 0 {
		a.Notes(without...)
		return nil, nil
	}

	// A table for each file of points counts more than one for all; two of a kind leave it open.
	t := found[0]
	if len(found) > 1 && (len(t.Names) == len(found[1].Names)) {
		a.Note("ids: none taken, as they may be in %s or in %s beside the points; --ids names one",
			t.Range(), found[1].Range())
		return nil, nil
	}
	ids, err := data.IDsBeside(files.Paths, t.Names, t.column, a.Left())
	if err != nil && len(t.Names) < len(files.Paths) {
		return nil, fmt.Errorf("%w; %s, or name the points by a pattern in quotes", err, elsewhere)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, elsewhere)
	}
	a.Note("ids: column %q of %s beside the points; --ids names others", t.column, t.Range())
	return ids, nil
}

// named returns the ids in the column --id of the tables beside the files of the points.
func (p *PointOptions) named(a *App, files *shards.Files) (*data.IDs, error) {
	if ids, err := p.inColumn(a, files, p.id); ids != nil || err != nil {
		return ids, err
	}
	return nil, Usagef("--id %s names a column of X, but %s has no columns with names, and no table beside it has this "+
		"one; give the file of the ids with --ids FILE:COLUMN", p.id, shards.Names(files.Paths).Range())
}

// inColumn returns the ids in a column of the tables beside the files of the points; nil if no table has it.
func (p *PointOptions) inColumn(a *App, files *shards.Files, column string) (*data.IDs, error) {
	for _, paths := range files.Beside(a.namedFiles()...) {
		if ok, _ := data.HasColumn(paths[0], column, a.Left()); ok {
			if column != p.id {
				a.Note("ids: column %q of %s beside the points, as of those of the model; --ids names others", column,
					shards.Names(paths).Range())
			}
			return data.IDsBeside(files.Paths, paths, column, a.Left())
		}
	}
	return nil, nil
}

// elsewhere is the remedy where a table beside the points is at fault.
const elsewhere = "if the points are not named there, say what they are called with --ids"

// tablesBeside are tables beside the points with their column of ids.
type tablesBeside struct {
	shards.Names
	column string
}

// namedFiles lists the files that the command line names: labels or answers in the folder of the points
// are no table of their ids.
func (a *App) namedFiles() []string {
	var out []string
	for _, word := range a.args {
		// A flag may have its value behind an equals sign, and a file a key behind a colon.
		if _, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "-") {
			word = value
		}
		file, _ := shards.SplitKey(word)
		out = append(out, file)
	}
	return out
}

// coordinates returns the names of the columns of the points that were read; nil if they have none.
func (p *PointOptions) coordinates() []string {
	if p.table == nil {
		return nil
	}
	return p.table.Names()
}

// ColumnNames returns the names of the d columns of the points that were read; nil if they have none.
func (p *PointOptions) ColumnNames(d int) []string {
	if p.table == nil || len(p.table.Names()) != d {
		return nil
	}
	return p.table.Names()
}
