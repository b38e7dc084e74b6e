package data

import (
	"slices"

	"github.com/bigfit/bigfit/data/internal/fields"
	"github.com/bigfit/bigfit/data/internal/labelcells"
)

// readTableLabels reads labels from a table, and joins them with the points.
func readTableLabels(src *source, opt *LabelOptions, f *labelcells.Notes) (*labelcells.Cells, error) {
	points := labelcells.Points{N: opt.Points}
	if ids := opt.IDs; ids != nil {
		points.IDs = &labelcells.IDs{From: ids.From, Values: ids.Values, Row: ids.Row}
	}
	return labelcells.ReadTable(src.path, opt.Key, opt.Limit, points, f)
}

// isTable reports whether the first line of text has more than one field.
func isTable(src *source) bool {
	head, _ := src.r.Peek(sniffLen)
	for len(head) > 0 {
		var line []byte
		if i := slices.Index(head, '\n'); i >= 0 {
			line = head[:i]
			head = head[i+1:]
		} else {
			line = head
			head = nil
		}
		if line = fields.Trim(line); len(line) > 0 && line[0] != '#' {
			return fields.Separator(line) != 0
		}
	}

	return false
}

// readTextLabels reads a table, or one label a line.
func readTextLabels(src *source, opt *LabelOptions, f *labelcells.Notes) (*labelcells.Cells, error) {
	if opt.Key != "" || isTable(src) {
		return readTableLabels(src, opt, f)
	}
	return labelcells.ReadLines(src.path, src.lines(), opt.Points, opt.Limit, f)
}
