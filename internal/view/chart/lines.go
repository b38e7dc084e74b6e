package chart

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines shows y over x for one or several series. With Points set in a series it
// also serves for spectra. On a logarithmic axis 0 has a place of its own, left
// of or below the least positive value.
type Lines struct {
	Title, XLabel, YLabel string
	XLog, YLog            bool
	Series                []Series
}

// A Series is one line of a [Lines] chart.
type Series struct {
	Name   string
	X, Y   []float64 // of equal length, in the order in which they are joined
	Err    []float64 // nil, or half-lengths of the error bars; NaN and ≤ 0 mean none
	Points bool      // marks only, not joined
	Dashed bool      // for reference lines, such as published values
}

const (
	// MaxSeries is the number of series that can be told apart.
	MaxSeries = 2 * colors
	// few is the number of points of a line up to which each has a mark: in a width of 400
	// units more marks of 6 units would touch.
	few = 60
)

// bar returns the half-length of the error bar of point i, 0 for none.
func (s *Series) bar(i int) float64 {
	if s.Err != nil && finite(s.Err[i]) && s.Err[i] > 0 {
		return s.Err[i]
	}
	return 0
}

// scales returns axes that hold all series, error bars included.
func (l *Lines) scales() (x, y *scale) {
	x = newScale(l.XLog)
	y = newScale(l.YLog)
	for _, s := range l.Series {
		for i := range s.X {
			// A point needs a place on both axes to widen either.
			if !x.ok(s.X[i]) || !y.ok(s.Y[i]) {
				continue
			}
			x.see(s.X[i])
			y.see(s.Y[i])
			y.see(s.Y[i] + s.bar(i))
			// On a logarithmic axis a bar may end at the frame.
			if low := s.Y[i] - s.bar(i); !l.YLog || low > s.Y[i]/10 {
				y.see(low)
			}
		}
	}

	// Zero is shown where it is not far.
	if !l.YLog && (y.low > 0 && y.low < 0.7*y.high || y.high < 0 && y.high > 0.7*y.low) {
		y.see(0)
	}
	return x, y
}

// Draw implements [Chart].
func (l *Lines) Draw() (*Picture, error) {
	for _, s := range l.Series {
		if len(s.X) != len(s.Y) || s.Err != nil && len(s.Err) != len(s.Y) {
			return nil, fmt.Errorf("series %q: %d x, %d y and %d error values", s.Name, len(s.X), len(s.Y),
				len(s.Err))
		}
	}

	x, y := l.scales()
	p := newPicture(l.Title, l.XLabel, l.YLabel, x, y)
	p.grid = true
	bottom, _ := y.frame()
	skipped := 0
	alt := []string{fmt.Sprintf("Chart of %s over %s.", orWord(l.YLabel, "y"), orWord(l.XLabel, "x"))}
	for k, s := range l.Series {
		var at []point
		bars := &errorBars{color: seriesColor(k)}
		first, last := -1, -1
		for i := range s.X {
			if !x.ok(s.X[i]) || !y.ok(s.Y[i]) {
				skipped++
				continue
			}
			// The first and last drawn points go into the text alternative.
			if last = i; first < 0 {
				first = i
			}
			q := point{X: x.at(s.X[i]), Y: y.at(s.Y[i])}
			at = append(at, q)
			if e := s.bar(i); e > 0 && y.ok(s.Y[i]+e) {
				bars.x = append(bars.x, q.X)
				bars.ends = append(bars.ends, [2]float64{max(s.Y[i]-e, bottom), s.Y[i] + e})
				bars.cut = append(bars.cut, s.Y[i]-e < bottom)
			}
		}

		p.Marks += len(at)
		thumbs := l.series(p, k, at, bars)
		if len(l.Series) > 1 {
			p.key(s.Name, thumbs...)
		}
		if last >= 0 {
			alt = append(alt, fmt.Sprintf("%s: %d points from (%s, %s) to (%s, %s).",
				orWord(s.Name, "Series"), len(at),
				number(s.X[first]), number(s.Y[first]), number(s.X[last]), number(s.Y[last])))
		}
	}

	// Left-out points are counted in a note, so that no chart hides data without a word.
	why := "that are not finite"
	if l.XLog || l.YLog {
		why += ", or negative on a logarithmic axis,"
	}
	p.leftOut(skipped, why)
	if p.Marks == 0 {
		p.empty()
	}
	p.Alt = strings.Join(alt, " ")
	return p, nil
}

// series adds series k with its places and error bars, and returns its picture
// in the legend.
func (l *Lines) series(p *Picture, k int, at []point, bars *errorBars) (thumbs []thumb) {
	s := &l.Series[k]
	p.add(bars)
	if !s.Points {
		line := &path{at: at, style: draw.LineStyle{Color: seriesColor(k), Width: vg.Points(1.4)}}
		// After the last colour the colours come again, dashed.
		if s.Dashed || k >= colors {
			line.style.Dashes = []vg.Length{vg.Points(5), vg.Points(4)}
		}
		if len(at) > 1 {
			p.add(line)
		}
		thumbs = append(thumbs, line)
	}

	// Marks on every point of a long line would hide it.
	if s.Points || len(at) <= few {
		m := &marks{at: at, color: seriesColor(k), shape: shape(k), radius: vg.Points(2.8)}
		if len(at) > few {
			m.radius = vg.Points(1.5)
		}
		p.add(m)
		thumbs = append(thumbs, m)
	}

	return thumbs
}

// Numbers returns the drawn values as rows of text: a header, and a row for each x. It returns
// nil if there are more than 60 rows, or if several points of a series have the same x.
func (l *Lines) Numbers() [][]string {
	var xs []float64
	header := []string{orWord(l.XLabel, "x")}
	for _, s := range l.Series {
		if sorted := slices.Sorted(slices.Values(s.X)); len(slices.Compact(sorted)) < len(s.X) {
			return nil
		}
		header = append(header, orWord(s.Name, orWord(l.YLabel, "y")))
		xs = append(xs, slices.DeleteFunc(slices.Clone(s.X), func(x float64) bool { return !finite(x) })...)
	}

	// The table is for screen readers and for copying, and a long one serves neither.
	slices.Sort(xs)
	xs = slices.Compact(xs)
	if len(xs) == 0 || len(xs) > few {
		return nil
	}
	rows := [][]string{header}
	for _, x := range xs {
		row := make([]string, len(header))
		row[0] = number(x)
		for k, s := range l.Series {
			if i := slices.Index(s.X, x); i >= 0 && finite(s.Y[i]) {
				row[k+1] = number(s.Y[i])
				if e := s.bar(i); e > 0 {
					row[k+1] += fmt.Sprintf(" ± %.2g", e)
				}
			}
		}
		rows = append(rows, row)
	}

	return rows
}
