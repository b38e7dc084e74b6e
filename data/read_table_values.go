package data

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data/internal/labelcells"
)

// readTableValues reads a column of numbers from a table, n×1, and joins it with the points
// as [ReadLabels] does. What marks rows without label is NaN here.
func readTableValues(src *source, opt ReadOptions) (*mat.Dense, error) {
	if opt.Several && opt.Key == "" {
		if y, names, err := readBlock(src, &opt, labelcells.ReadValueSets); y != nil || err != nil {
			if opt.File != nil {
				opt.File.Columns = names
			}
			return y, err
		}
	}
	var f labelcells.Notes
	c, err := readTableLabels(src, &LabelOptions{Key: opt.Key, Limit: opt.Limit, Points: opt.Points,
		IDs: opt.IDs, Coordinates: opt.Coordinates}, &f)
	if err != nil {
		return nil, err
	}
	if opt.File != nil {
		opt.File.Notes, opt.File.Warnings = append(opt.File.Notes, f.Notes...), append(opt.File.Warnings,
			f.Warnings...)
		opt.File.Joined = f.Joined
		opt.File.Listed = f.Listed
	}
	return c.Numbers()
}

// Values returns the labels that were read as numbers, n×1, with NaN for none; nil if no
// column holds them.
func (t *TableColumns) Values() (*mat.Dense, error) {
	if t.Label == "" {
		return nil, nil
	}
	return (&labelcells.Cells{What: t.from + ": column " + t.Label, Text: &t.labels, Unit: "row"}).Numbers()
}

// readTextValues reads a column of a table, or one number a line.
func readTextValues(src *source, opt ReadOptions) (*mat.Dense, error) {
	if opt.Key != "" || isTable(src) {
		return readTableValues(src, opt)
	}
	return readValueLines(src, opt.Limit, opt.File)
}
