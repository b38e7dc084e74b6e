package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

// plotFormats lists the extensions of compare --plot.
var plotFormats = append(slices.Clone(chart.Formats), ".html")

// plotWidth is the width of a picture of compare --plot in centimetres, as that of bigfit plot.
const plotWidth = 16

// checkPlot returns an error unless the extension of a picture names a format. An empty path is none.
func checkPlot(path string) error {
	if path != "" && !slices.Contains(plotFormats, strings.ToLower(filepath.Ext(path))) {
		return shell.Usagef("--plot is %s; its name must end in %s", path, strings.Join(plotFormats, ", "))
	}
	return nil
}

// comparisonPlot draws the means of a comparison: curves over several numbers of labels, or a bar for
// each model. It returns the function that writes the picture or the page to the file.
func (a *app) comparisonPlot(o *compareOptions, s *summary.Comparison) (write func() error, err error) {
	d := s.Table.Drawings()[0]
	if strings.EqualFold(filepath.Ext(o.plot), ".html") {
		page := &report.Report{
			Title:    d.Title + ": " + strings.Join(o.models, ", "),
			Subtitle: fmt.Sprintf("%s, seed %d, bigfit %s", o.x, a.Seed, shell.Version),
			Sections: []report.Section{{Title: "Result", Blocks: append(s.Table.FigureBlocks(),
				s.Table.TableBlocks()[0])}},
		}
		return func() error { return report.Save(o.plot, page) }, nil
	}

	picture, err := d.Chart().Draw()
	if err != nil {
		return nil, err
	}
	picture.Title = d.Title
	return func() error {
		return atomicfile.Atomically(o.plot, func(w io.Writer) error {
			return picture.Write(w, strings.ToLower(filepath.Ext(o.plot)), plotWidth, plotWidth*picture.Aspect)
		})
	}, nil
}
