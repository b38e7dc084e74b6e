package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"

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

// A Bar is one row of [Bars]. A bar is drawn only if Value is positive and finite. A positive Deviation is a
// line from Value − Deviation, or 0, to Value + Deviation, and stands behind the value.
type Bar struct {
	Name             string
	Value, Deviation float64
	Note             string // a few words after the value
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
	p := newPicture(b.Title, "", "", nil, nil)
	n := len(b.Rows)
	rows := &barRows{lengths: make([]float64, n), deviations: make([]float64, n)}
	for i, r := range b.Rows {
		rows.names = append(rows.names, shorten(r.Name, mostName))
		text := Amount(r.Value)
		if finite(r.Deviation) && r.Deviation > 0 {
			text += " ± " + Amount(r.Deviation)
		}
		for _, word := range []string{b.Unit, r.Note} {
			if word != "" {
				text += " " + word
			}
		}
		rows.values = append(rows.values, text)
		if finite(r.Value) && r.Value > 0 {
			rows.lengths[i] = r.Value
			if finite(r.Deviation) && r.Deviation > 0 {
				rows.deviations[i] = r.Deviation
			}
			p.Marks++
		}
	}

	p.add(rows)
	// Each row has the same height, however many there are.
	p.Aspect = (12 + 18*float64(max(1, n))) / pageWidth
	p.Alt = fmt.Sprintf("Bars of %d amounts.", n)
	return p, nil
}

// barRows draws names, bars and values, the first row on top. It divides the width itself: an axis
// knows the text at one end of a bar only.
type barRows struct {
	names, values []string
	lengths       []float64 // 0 for no bar
	deviations    []float64 // 0 for no line
}

const (
	barHeight = 11
	barGap    = 5 // between a bar and its texts
	barCap    = 3 // half of the line at an end of a deviation
)

func (r *barRows) draw(c draw.Canvas, _ *frame) {
	// The names have the width of the longest one.
	left := vg.Length(0)
	for _, name := range r.names {
		left = max(left, numberText.room(c, name))
	}
	left += c.Min.X + barGap

	// The unit is the largest for which every bar with its line and the value behind it fit.
	ends := slices.Clone(r.lengths)
	for i, d := range r.deviations {
		ends[i] += d
	}
	unit := vg.Length(0)
	if len(ends) > 0 {
		unit = (c.Max.X - left) / vg.Length(max(slices.Max(ends), math.SmallestNonzeroFloat64))
	}
	for i, length := range ends {
		if length > 0 {
			room := c.Max.X - left - barGap - numberText.room(c, r.values[i])
			unit = min(unit, max(0, room)/vg.Length(length))
		}
	}

	pitch := c.Size().Y / vg.Length(max(1, len(r.names)))
	for i := range r.names {
		middle := c.Max.Y - (vg.Length(i)+0.5)*pitch
		right := left + unit*vg.Length(r.lengths[i])
		if r.lengths[i] > 0 {
			c.FillPolygon(seriesColor(0), []vg.Point{{X: left, Y: middle - barHeight/2}, {X: right, Y: middle - barHeight/2},
				{X: right, Y: middle + barHeight/2}, {X: left, Y: middle + barHeight/2}})
		}
		if d := r.deviations[i]; d > 0 {
			low := left + unit*vg.Length(max(0, r.lengths[i]-d))
			right = left + unit*vg.Length(ends[i])
			line := draw.LineStyle{Color: soft, Width: vg.Points(1)}
			c.StrokeLine2(line, low, middle, right, middle)
			c.StrokeLine2(line, right, middle-barCap, right, middle+barCap)
			if d < r.lengths[i] {
				c.StrokeLine2(line, low, middle-barCap, low, middle+barCap)
			}
		}
		numberText.write(c, r.names[i], vg.Point{X: left - barGap, Y: middle - numberText.middle()}, anchorEnd)
		numberText.write(c, r.values[i], vg.Point{X: right + barGap, Y: middle - numberText.middle()}, anchorStart)
	}
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
