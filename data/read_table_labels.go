package data

import (
	"github.com/bigfit/bigfit/data/internal/labelcells"
	"github.com/bigfit/bigfit/internal/file/fields"
)

// readTableLabels reads labels from a table, and joins them with the points.
func readTableLabels(src *source, opt *LabelOptions, f *labelcells.Notes) (*labelcells.Cells, error) {
	return labelcells.ReadTable(src.path, opt.Key, opt.Limit, opt.cells(), f)
}

// isTable reports whether the first line of text has more than one field.
func isTable(src *source) bool {
	head, err := src.Head()
	return err == nil && fields.Separator(fields.Trim(fields.FirstLine(head))) != 0
}

// readTextLabels reads a table, or one label a line.
func readTextLabels(src *source, opt *LabelOptions, f *labelcells.Notes) (*labelcells.Cells, error) {
	if opt.Key != "" || isTable(src) {
		return readTableLabels(src, opt, f)
	}
	return labelcells.ReadLines(src.path, src.Lines(), opt.Points, opt.Limit, f)
}
