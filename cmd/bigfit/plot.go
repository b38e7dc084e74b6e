package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/view/chart"
)

// plotOptions are the flags of bigfit plot.
type plotOptions struct {
	out, title    string
	width, height float64 // centimetres
	x, y          string
	label         shell.LabelOptions
	levels        []float64
	columns       []int
	maxPoints     int
	curves        curveOptions
}

// plotKind is a kind of picture.
type plotKind int

const (
	surfacePlot plotKind = iota
	eigenvaluePlot
	scatterPlot
	curvePlot
)

// plotFlags are the flags that not every picture has.
var plotFlags = map[string][]plotKind{
	"points":      {surfacePlot},
	"levels":      {surfacePlot},
	"labels-file": {surfacePlot, scatterPlot},
	"unlabeled":   {surfacePlot, scatterPlot},
	"max-points":  {surfacePlot, scatterPlot},
	"columns":     {scatterPlot},
	"x":           {curvePlot},
	"value":       {curvePlot},
	"bars":        {curvePlot},
	"by":          {curvePlot},
	"log-x":       {curvePlot},
}

var plotKindNames = []string{"the decision surface of a model", "eigenvalues", "a scatter of points",
	"curves of a table"}

func (a *app) plotCommand() *cobra.Command {
	o := plotOptions{width: 16, maxPoints: 20000, columns: []int{1, 2}}
	cmd := &cobra.Command{
		Use:   "plot FILE [X.npy] -o picture.png",
		Short: "Draw a model, eigenvalues, an embedding or curves",
		Long: `Draw the content of FILE. The ending of --output chooses the format: .png, .svg or .pdf.

  model.npz     the decision surface of a model of two columns. The second argument or -X
                adds the points, and -y colours them by their labels. --levels draws the
                lines f = level of a model of two classes or of values
  eigs.npz      the eigenvalues
  embedding.npy a scatter plot of two --columns; -y colours the points by their labels
  table.json    curves of --value over --x, one for each combination of --by, with error
                bars of length --bars. The file holds a list of objects, or an object with
                one list in it, as bigfit tune --json prints. A missing field counts as 0

Colour-blind readers can tell the colours apart, and each class has a mark of its own
shape.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 2 && !a.Given["points"]:
				o.x = args[1]
				a.Given["points"] = true
			case len(args) != 1:
				return shell.Usagef("plot takes the file to draw and, of a model, points; %d "+
					"arguments are given", len(args))
			}
			return a.plot(cmd.Context(), args[0], &o)
		},
	}

	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "plot.png", "`file` to write, .png, .svg or .pdf")
	f.StringVar(&o.title, "title", "", "`text` above the picture")
	f.Float64Var(&o.width, "width", o.width, "width in centimetres")
	f.Float64Var(&o.height, "height", o.height, "height in centimetres (default: by what is drawn)")
	f.StringVarP(&o.x, "points", "X", "",
		"`file` of the points that a model's surface is drawn over, of two columns")
	f.StringVarP(&o.y, "labels-file", "y", "", "`file` of the points' labels")
	o.label.Flags(f)
	f.Float64SliceVar(&o.levels, "levels", nil,
		"`values` of f to draw lines at (default: 0 between two classes, eight of a regression)")
	f.Lookup("levels").DefValue = ""
	f.IntSliceVar(&o.columns, "columns", o.columns, "the two `columns` of an embedding, counted from 1")
	f.IntVar(&o.maxPoints, "max-points", o.maxPoints, "points to draw at most; of more, a sample by --seed")
	o.curves.flags(f)
	return cmd
}

// plotSummary is the output of plot.
type plotSummary struct {
	File   string  `json:"file"`
	Kind   string  `json:"kind"`
	Width  float64 `json:"width_cm"`
	Height float64 `json:"height_cm"`
	Marks  int     `json:"marks"` // points drawn
	Left   int     `json:"left_out"`
}

func (s plotSummary) String() string {
	text := fmt.Sprintf("%s: %s, %d points", s.File, s.Kind, s.Marks)
	if s.Left > 0 {
		text += fmt.Sprintf(" (%d more left out)", s.Left)
	}
	return text
}

func (a *app) plot(ctx context.Context, path string, o *plotOptions) error {
	ending := strings.ToLower(filepath.Ext(o.out))
	switch {
	case !slices.Contains(chart.Formats, ending):
		return shell.Usagef("--output is %s; its name must end in %s", o.out,
			strings.Join(chart.Formats, ", "))
	case !(o.width >= 4 && o.width <= 100):
		return shell.Usagef("--width is %v; it must be between 4 and 100 centimetres", o.width)
	case (o.height != 0 || a.Given["height"]) && !(o.height >= 4 && o.height <= 100):
		return shell.Usagef("--height is %v; it must be between 4 and 100 centimetres", o.height)
	case o.maxPoints < 1:
		return shell.Usagef("--max-points is %d; it must be at least 1", o.maxPoints)
	}

	if err := shell.CheckOutput([]string{path, o.x, o.y}, o.out); err != nil {
		return err
	}
	kind, err := a.plotKind(path)
	if err != nil {
		return err
	}

	// A flag for another kind of picture is a mistake that the picture would hide.
	for _, flag := range slices.Sorted(maps.Keys(a.Given)) {
		if kinds, ok := plotFlags[flag]; ok && !slices.Contains(kinds, kind) {
			return shell.Usagef("--%s is not for %s, the picture of %s", flag, plotKindNames[kind], path)
		}
	}

	var drawing chart.Chart
	switch kind {
	case surfacePlot:
		drawing, err = a.surface(ctx, path, o)
	case eigenvaluePlot:
		drawing, err = a.eigenvalues(path)
	case scatterPlot:
		drawing, err = a.scatter(path, o)
	case curvePlot:
		drawing, err = a.curves(path, &o.curves)
	}

	if err != nil {
		return err
	}
	picture, err := drawing.Draw()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if o.title != "" {
		picture.Title = o.title
	}
	// Every chart knows the shape in which it reads well.
	if o.height == 0 {
		o.height = o.width * picture.Aspect
	}
	if err := a.Write(ctx, func() error {
		return atomicfile.Atomically(o.out,
			func(w io.Writer) error { return picture.Write(w, ending, o.width, o.height) })
	}); err != nil {
		return err
	}

	sum := plotSummary{o.out, plotKindNames[kind], o.width, o.height, picture.Marks, picture.Left}
	return a.Print(sum, sum.String())
}

// plotKind tells what a file makes.
func (a *app) plotKind(path string) (plotKind, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		return curvePlot, nil
	case ".npz":
	default:
		return scatterPlot, nil
	}

	// A .npz of bigfit says in its manifest what it is; a foreign one is judged by the names of
	// its arrays.
	f, err := npy.OpenArchive(path, int64(a.Memory))
	if err != nil {
		return 0, err
	}
	defer f.Close()

	if f.Has(archive.Name) {
		text, err := f.ReadBytes(archive.Name)
		if err != nil {
			return 0, err
		}
		var m archive.Manifest
		if json.Unmarshal(text, &m) == nil {
			switch m.Format {
			case archive.Model:
				return surfacePlot, nil
			case archive.Eigs:
				return eigenvaluePlot, nil
			case archive.Graph:
				return 0, fmt.Errorf("%s is a graph, of which there is no picture; embed it with bigfit embed",
					path)
			}
		}
	}

	if f.Has("values") && f.Has("vectors") {
		return eigenvaluePlot, nil
	}
	return scatterPlot, nil
}
