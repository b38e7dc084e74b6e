package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars is a list of amounts, each with a bar from 0 proportional to it and its
// value at the end.
type Bars struct {
	Title string
	Unit  string // such as "s"
	Rows  []Bar
}

// A Bar is one row of [Bars]. A bar is drawn only if Value is positive and finite.
type Bar struct {
	Name  string
	Value float64
	Note  string // a few words after the value
}

// mostName is the length from which the name of a bar is cut, which leaves room for the bar.
const mostName = 24

// shorten returns s cut to at most most letters; an ellipsis is the last letter of a cut text.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Draw implements [Chart].
func (b *Bars) Draw() (*Picture, error) {
	x := newScale(false)
	p := newPicture(b.Title, "", "", x, nil)
	n := len(b.Rows)
	lengths := make(plotter.Values, n)
	names := make([]string, n)
	for i, r := range b.Rows {
		// gonum counts places on the axis from below.
		at := n - 1 - i // the first on top
		names[at] = shorten(r.Name, mostName)
		if finite(r.Value) && r.Value > 0 {
			lengths[at] = r.Value
			p.Marks++
		}
		text := Amount(r.Value)
		for _, word := range []string{b.Unit, r.Note} {
			if word != "" {
				text += " " + word
			}
		}
		p.note(lengths[at], float64(at), text, draw.XLeft)
	}

	p.plot.Add(&plotter.BarChart{Values: lengths, Width: vg.Points(11), Color: seriesColor(0),
		Horizontal: true})
	if n > 0 {
		p.plot.NominalY(names...)
	}
	// Bars must begin at 0: only then are their lengths proportional to the amounts.
	p.plot.X.Min = 0
	p.plot.X.Max = 1
	if p.Marks > 0 {
		p.plot.X.Max = slices.Max(lengths)
	}
	p.plot.Y.Min = -0.6
	p.plot.Y.Max = max(0, float64(n)-0.4)
	p.plot.HideX()
	p.plot.Y.Tick.Length = vg.Points(4)
	p.plot.Y.Tick.LineStyle.Width = 0
	// Each row has the same height, however many there are.
	p.Aspect = (12 + 18*float64(n)) / pageWidth
	p.Alt = fmt.Sprintf("Bars of %d amounts.", n)
	return p, nil
}

// Amount writes v with three significant digits but never fewer than all the
// digits before the point.
func Amount(v float64) string {
	// Three digits are what a bar can show; whole digits are never dropped.
	switch a := math.Abs(v); {
	case !finite(v):
		return "–"
	case a >= 100 || a == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}

	return strconv.FormatFloat(v, 'g', 2, 64)
}
