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
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/internal/npy"
)

// plotOptions are the flags of bigfit plot.
type plotOptions struct {
	out, title    string
	width, height float64 // centimetres
	x, y          string
	label         labelOptions
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

var plotKindNames = []string{"the decision surface of a model", "eigenvalues", "a scatter of points", "curves of a table"}

func (a *app) plotCommand() *cobra.Command {
	o := plotOptions{width: 16, maxPoints: 20000, columns: []int{1, 2}}
	cmd := &cobra.Command{
		Use:   "plot FILE -o picture.png",
		Short: "Draw a model, eigenvalues, an embedding or curves",
		Long: `Draw what is in FILE as .png or .svg, by the ending of --output:

  model.npz     the decision surface of a model of two columns, with the points
                -X, in colours by the labels -y, and the lines f = --levels of
                two classes or of values
  eigs.npz      the eigenvalues
  embedding.npy a scatter of two --columns, in colours by the labels -y
  table.json    curves of --value over --x, one for each combination of --by, with
                error bars --bars: a list of objects, or an object that has one,
                as bigfit tune --json prints it; fields that are missing are 0

Colours can be told apart by colour-blind readers, and classes have marks of
different shapes as well.`,
		Args: oneArgument("the file to draw"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.plot(cmd.Context(), args[0], &o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "plot.png", "`file` to write, .png or .svg")
	f.StringVar(&o.title, "title", "", "`text` above the picture")
	f.Float64Var(&o.width, "width", o.width, "width in centimetres")
	f.Float64Var(&o.height, "height", o.height, "height in centimetres (default: by what is drawn)")
	f.StringVarP(&o.x, "points", "X", "", "`file` of the points that a model's surface is drawn over, of two columns")
	f.StringVarP(&o.y, "labels-file", "y", "", "`file` of the points' labels")
	o.label.flags(f)
	f.Float64SliceVar(&o.levels, "levels", nil, "`values` of f to draw lines at (default: 0 between two classes, eight of a regression)")
	f.Lookup("levels").DefValue = ""
	f.IntSliceVar(&o.columns, "columns", o.columns, "the two `columns` of an embedding, counted from 1")
	f.IntVar(&o.maxPoints, "max-points", o.maxPoints, "points to draw at most; of more, a sample by --seed")
	o.curves.flags(f)
	return cmd
}

// plotSummary is what plot prints.
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

// figure is a picture with the number of marks drawn and left out.
type figure struct {
	*chart
	aspect      float64 // height over width, where the command line names no height
	marks, left int
}

func (a *app) plot(ctx context.Context, path string, o *plotOptions) error {
	ending := strings.ToLower(filepath.Ext(o.out))
	switch {
	case ending != ".png" && ending != ".svg":
		return usagef("--output is %s; its name must end in .png or .svg", o.out)
	case !(o.width >= 4 && o.width <= 100):
		return usagef("--width is %v; it must be between 4 and 100 centimetres", o.width)
	case (o.height != 0 || a.given["height"]) && !(o.height >= 4 && o.height <= 100):
		return usagef("--height is %v; it must be between 4 and 100 centimetres", o.height)
	case o.maxPoints < 1:
		return usagef("--max-points is %d; it must be at least 1", o.maxPoints)
	}
	if err := checkOutput([]string{path, o.x, o.y}, o.out); err != nil {
		return err
	}
	kind, err := a.plotKind(path)
	if err != nil {
		return err
	}
	for _, flag := range slices.Sorted(maps.Keys(a.given)) {
		if kinds, ok := plotFlags[flag]; ok && !slices.Contains(kinds, kind) {
			return usagef("--%s is not for %s, which is what %s makes", flag, plotKindNames[kind], path)
		}
	}
	var fig *figure
	switch kind {
	case surfacePlot:
		fig, err = a.surface(ctx, path, o)
	case eigenvaluePlot:
		fig, err = a.eigenvalues(path)
	case scatterPlot:
		fig, err = a.scatter(path, o)
	case curvePlot:
		fig, err = a.curves(path, &o.curves)
	}
	if err != nil {
		return err
	}
	if o.title != "" {
		fig.plot.Title.Text = o.title
	}
	if o.height == 0 {
		o.height = o.width * fig.aspect
	}
	if err := a.write(ctx, func() error { return fig.save(o.out, ending, o.width, o.height) }); err != nil {
		return err
	}
	sum := plotSummary{o.out, plotKindNames[kind], o.width, o.height, fig.marks, fig.left}
	return a.print(sum, sum.String())
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
	f, err := npy.OpenArchive(path, int64(a.memory))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if f.Has(manifest.Name) {
		text, err := f.ReadBytes(manifest.Name)
		if err != nil {
			return 0, err
		}
		var m manifest.Manifest
		if json.Unmarshal(text, &m) == nil {
			switch m.Format {
			case manifest.Model:
				return surfacePlot, nil
			case manifest.Eigs:
				return eigenvaluePlot, nil
			case manifest.Graph:
				return 0, fmt.Errorf("%s is a graph, of which there is no picture; embed it with bigfit embed", path)
			}
		}
	}
	if f.Has("values") && f.Has("vectors") {
		return eigenvaluePlot, nil
	}
	return scatterPlot, nil
}

// save writes the picture, of a size in centimetres, as .png or .svg.
func (f *figure) save(path, ending string, width, height float64) error {
	w, h := vg.Length(width)*vg.Centimeter, vg.Length(height)*vg.Centimeter
	var out io.WriterTo
	if ending == ".svg" {
		canvas := vgsvg.New(w, h)
		f.draw(draw.New(canvas))
		out = canvas
	} else {
		const dotsPerInch = 150
		canvas := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dotsPerInch))
		f.draw(draw.New(canvas))
		out = vgimg.PngCanvas{Canvas: canvas}
	}
	return npy.Atomically(path, func(w io.Writer) error {
		_, err := out.WriteTo(w)
		return err
	})
}
