package shell

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/shards"
)

// PointOptions say what the columns of a table of points are, and what the points are
// called.
type PointOptions struct {
	id, ids, Label string
	drop, columns  []string

	table *data.TableColumns // of the points that were read
	files []string           // of those points
	rows  int                // in them
	Names *data.IDs
}

// ColumnFlags adds the flags of the columns of points.
func (p *PointOptions) ColumnFlags(f *pflag.FlagSet) {
	f.StringVar(&p.id, "id", "", "`column` of X that names the points")
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
	f.StringVar(&p.ids, "ids", "", "`file` of the ids of the points, in their order, that the rows "+
		"of y name: .npy, text, or a table as FILE:COLUMN; 'meta_*.parquet:id' is several")
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
	case p.id != "" && p.table != nil:
		p.Names, err = p.table.IDs()
	default:
		p.Names, err = p.beside(a)
	}

	return p.Names, err
}

// beside returns the ids in tables beside the files of the points; nil if there are none.
func (p *PointOptions) beside(a *App) (*data.IDs, error) {
	// The lookup is tried once: without files it finds nothing the next time.
	tables := shards.Names(shards.Beside(p.files))
	p.files = nil
	if tables == nil {
		return nil, nil
	}
	ids, column, err := data.UsualIDs(tables, a.Left())
	if err != nil {
		return nil, fmt.Errorf("%w; if the points are not named there, say what they are called with --ids", err)
	}
	if ids == nil {
		return nil, nil
	}
	if ids.Len() != p.rows {
		return nil, fmt.Errorf("%s: %d ids beside %d points; say what the points are called with --ids",
			ids.From, ids.Len(), p.rows)
	}

	a.Note("ids: column %q of %s beside the points; --ids names others", column, tables.Range())
	return ids, nil
}
