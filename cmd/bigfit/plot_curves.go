package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/lanczos"
)

// curveOptions are the flags of curves.
type curveOptions struct {
	x, value, bars string
	by             []string
	logX           bool
}

func (o *curveOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.x, "x", "", "`field` of a table for the horizontal axis")
	f.StringVar(&o.value, "value", "mean", "`field` of a table for the vertical axis")
	f.StringVar(&o.bars, "bars", "",
		"`field` of a table for error bars (default: std_err where there is one)")
	f.StringSliceVar(&o.by, "by", nil,
		"`fields` of a table of which each combination has a curve of its own")
	f.BoolVar(&o.logX, "log-x", false, "logarithmic horizontal axis")
}

// scatter draws two columns of an embedding.
func (a *app) scatter(path string, o *plotOptions) (*chart.Scatter, error) {
	if len(o.columns) != 2 || o.columns[0] < 1 || o.columns[1] < 1 {
		return nil, shell.Usagef("--columns is %v; it must be two numbers of at least 1", o.columns)
	}
	points, _, err := a.plane(path, o, o.columns[0], o.columns[1], 0)
	if err != nil {
		return nil, err
	}
	return &chart.Scatter{XLabel: fmt.Sprintf("coordinate %d", o.columns[0]),
		YLabel: fmt.Sprintf("coordinate %d", o.columns[1]), Points: *points}, nil
}

// eigenvalues draws the values of eigenpairs.
func (a *app) eigenvalues(path string) (*chart.Lines, error) {
	f, err := lanczos.Load(path, int64(a.Memory))
	if err != nil {
		return nil, err
	}
	s := chart.Series{Y: f.Result.Values}
	for i := range s.Y {
		s.X = append(s.X, float64(i+1))
	}
	return &chart.Lines{XLabel: "number", YLabel: "eigenvalue λ", Series: []chart.Series{s}}, nil
}

// curves draws a table.
func (a *app) curves(path string, o *curveOptions) (*chart.Lines, error) {
	t, err := chart.ReadTable(path, int64(a.Memory)/16)
	if err != nil {
		return nil, err
	}
	if o.x == "" {
		return nil, shell.Usagef("curves need the field of the horizontal axis with --x; %s has %s", path,
			strings.Join(t.Fields(), ", "))
	}
	c := chart.Curves{X: o.x, Value: o.value, Bars: o.bars, By: o.by, XLog: o.logX}
	if c.Bars == "" && slices.Contains(t.Fields(), "std_err") {
		c.Bars = "std_err"
	}
	return t.Lines(&c)
}
