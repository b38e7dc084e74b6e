package shell

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/shards"
)

// A Column holds a text for each point, from a table.
type Column struct {
	Name   string
	Folder string // of the table
	Texts  []string
}

// ShowFlag adds --show.
func (p *PointOptions) ShowFlag(f *pflag.FlagSet) {
	f.StringVar(&p.show, "show", "", "`column` of texts or picture files for the report, of X, its ids, or FILE:COLUMN")
}

// ReadShown reads the column that --show names, for the n points that were read; nil without the flag.
func (p *PointOptions) ReadShown(a *App, n int) (*Column, error) {
	if p.show == "" {
		return nil, nil
	}
	return p.ReadColumn(a, p.show, n)
}

// ReadColumn reads a column of X, of its ids or of the tables beside it, or FILE:COLUMN, for the n points that
// were read.
func (p *PointOptions) ReadColumn(a *App, show string, n int) (*Column, error) {
	paths, column, err := p.shownTables(a, show)
	if err != nil {
		return nil, err
	}
	ids, err := a.IDsOf(n)
	if err != nil {
		return nil, err
	}
	texts, err := data.ReadTexts(paths, column, n, ids, data.ReadOptions{Limit: a.Left()})
	if err != nil {
		return nil, err
	}
	a.Note("show: column %q of %s", column, shards.Names(paths).Range())
	return &Column{Name: column, Folder: filepath.Dir(paths[0]), Texts: texts}, nil
}

// shownTables finds the tables with the column that show names.
func (p *PointOptions) shownTables(a *App, show string) (paths []string, column string, err error) {
	file := ""
	if at := strings.LastIndexByte(show, ':'); at > 0 {
		file = show[:at]
		if found := existing(file); found != nil {
			return found, show[at+1:], nil
		}
	}

	// The first tables with the column are taken: the points themselves, the file of the ids, and what
	// lies beside the points.
	var candidates [][]string
	if p.read != nil {
		candidates = append(candidates, p.read.Paths)
	}
	if p.ids != "" {
		found := existing(p.ids)
		if at := strings.LastIndexByte(p.ids, ':'); found == nil && at > 0 {
			found = existing(p.ids[:at])
		}
		if found != nil {
			candidates = append(candidates, found)
		}
	}
	if p.read != nil {
		candidates = append(candidates, p.read.Beside(a.namedFiles()...)...)
	}

	var columns []string
	for _, paths := range candidates {
		ok, names := data.HasColumn(paths[0], show, a.Left())
		if ok {
			return paths, show, nil
		}
		columns = append(columns, names...)
	}
	if file != "" {
		return nil, "", Usagef("--show %s: there is no file %s, and no column of the whole name", show, file)
	}
	if len(columns) == 0 {
		return nil, "", Usagef("--show %s names a column, but neither the points nor the files beside them are tables; "+
			"give it as FILE:COLUMN", show)
	}
	return nil, "", Usagef("--show %s names no column; there are %s; a column of another file is FILE:COLUMN", show,
		strings.Join(columns[:min(20, len(columns))], ", "))
}

// existing returns the files that a name or a pattern stands for; nil if there are none.
func existing(name string) []string {
	found, err := shards.Find([]string{name})
	if err != nil || len(found.Paths) == 0 {
		return nil
	}
	if _, err := os.Stat(found.Paths[0]); err != nil {
		return nil
	}
	return found.Paths
}
