package chart

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Grid is a rectangle cut into Columns×Rows cells.
type Grid struct {
	Left, Right, Bottom, Top float64
	Columns, Rows            int
}

// Centre returns the centre of the cell in column c and row r, both counted from
// 0, the lowest row first.
func (g *Grid) Centre(c, r int) (x, y float64) {
	return g.Left + (g.Right-g.Left)*(float64(c)+0.5)/float64(g.Columns),
		g.Bottom + (g.Top-g.Bottom)*(float64(r)+0.5)/float64(g.Rows)
}

// GridAround returns a rectangle around points with a margin, cut into the given number of
// columns and into rows as high as the columns are wide.
func GridAround(x, y []float64, columns int) Grid {
	margin := func(low, high float64) (float64, float64) {
		d := 0.08 * (high - low)
		if !(d > 0) {
			d = 1
		}
		return low - d, high + d
	}

	g := Grid{Columns: columns}
	g.Left, g.Right = margin(slices.Min(x), slices.Max(x))
	g.Bottom, g.Top = margin(slices.Min(y), slices.Max(y))

	// A very flat or very high rectangle has from 2 to twice as many rows as columns.
	rows := float64(columns) * (g.Top - g.Bottom) / (g.Right - g.Left)
	g.Rows = int(max(2, min(2*float64(columns), rows)))
	return g
}

// Centres returns the centres of all cells, row by row, the lowest row first: x and y of the
// first cell, then of the second.
func (g *Grid) Centres() []float64 {
	out := make([]float64, 0, 2*g.Columns*g.Rows)
	for r := range g.Rows {
		for c := range g.Columns {
			x, y := g.Centre(c, r)
			out = append(out, x, y)
		}
	}
	return out
}

// A Surface shows a decision function over a rectangle: the line f = 0 between
// two classes, and the colour of each cell's class, the stronger the larger |f|;
// of more than two classes their areas; of a regression its values as shades and
// contour lines. Points outside of the rectangle are left out.
type Surface struct {
	Title, XLabel, YLabel string
	Grid
	Values []float64 // f at the centres, row by row, the lowest first; nil for more than two classes
	Areas  []int     // number of each cell's class, as colour; nil for a regression
	Levels []float64 // values of f with a line; nil means 0 between classes, eight of a regression
	Points
}

func (s *Surface) check() error {
	n := s.Columns * s.Rows
	switch {
	case s.Columns < 2 || s.Rows < 2:
		return fmt.Errorf("a grid of %d×%d; it must be 2×2 at least", s.Columns, s.Rows)
	case s.Values == nil && s.Areas == nil:
		return fmt.Errorf("neither values nor areas")
	case s.Values != nil && len(s.Values) != n || s.Areas != nil && len(s.Areas) != n:
		return fmt.Errorf("%d values and %d areas on a grid of %d×%d", len(s.Values), len(s.Areas),
			s.Columns, s.Rows)
	case !(s.Left < s.Right && s.Bottom < s.Top) || !finite(s.Left) || !finite(s.Right) ||
		!finite(s.Bottom) || !finite(s.Top):
		return fmt.Errorf("[%g, %g] × [%g, %g] is no rectangle", s.Left, s.Right, s.Bottom, s.Top)
	}

	if at := slices.IndexFunc(s.Values, func(v float64) bool { return !finite(v) }); at >= 0 {
		return fmt.Errorf("f is %g in column %d of row %d", s.Values[at], at%s.Columns, at/s.Columns)
	}
	return s.Points.check()
}

// Draw implements [Chart].
func (s *Surface) Draw() (*Picture, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	// The axes have the range of the rectangle.
	x := &scale{low: s.Left, high: s.Right}
	y := &scale{low: s.Bottom, high: s.Top}
	p := newPicture(s.Title, s.XLabel, s.YLabel, x, y)
	p.add(&cells{s.tint(), point{s.Left, s.Bottom}, point{s.Right, s.Top}})
	p.Alt = "Areas of classes"
	if s.Values != nil {
		low := slices.Min(s.Values)
		high := slices.Max(s.Values)
		p.Alt = fmt.Sprintf("A function between %s and %s", number(low), number(high))
		s.contours(p, low, high)
	}

	// The rectangle is given, and need not hold all points.
	inside := func(i int) bool {
		return s.X[i] >= s.Left && s.X[i] <= s.Right && s.Y[i] >= s.Bottom && s.Y[i] <= s.Top
	}
	left := 0
	for i := range s.X {
		if !inside(i) {
			left++
		}
	}

	p.leftOut(left, "outside of the rectangle")
	// Points without a class are grey, as a colour would name a class of the surface.
	points := s.Points
	points.tinted = true
	points.add(p, inside)
	p.Alt += fmt.Sprintf(" over a rectangle with %d points.", p.Marks)
	p.Aspect = max(0.55, min(1.1, 0.1+0.85*(s.Top-s.Bottom)/(s.Right-s.Left)))
	return p, nil
}

// tint returns the colours of the cells, transparent so that they suit any page.
func (s *Surface) tint() image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, s.Columns, s.Rows))
	low, high := 0.0, 0.0
	if s.Values != nil {
		low = slices.Min(s.Values)
		high = slices.Max(s.Values)
	}

	// Shades are relative to the largest |f|, so that the scale of the scores does not matter.
	size := max(math.Abs(low), math.Abs(high))
	for i := range s.Columns * s.Rows {
		var c color.NRGBA
		share := 0.5
		switch {
		case s.Areas == nil:
			if c = parse("#1f6f9f"); high > low {
				share = 0.05 + 0.8*(s.Values[i]-low)/(high-low)
			}
		default:
			if c, share = seriesColor(s.Areas[i]), 0.3; s.Values != nil && size > 0 {
				share = 0.12 + 0.33*math.Abs(s.Values[i])/size
			}
		}
		c.A = uint8(16 * math.Round(255*share/16)) // few values, small files
		img.SetNRGBA(i%s.Columns, s.Rows-1-i/s.Columns, c)
	}

	return img
}

// contours draws the lines at the levels. The line at 0 between two classes is the
// strongest. Levels that f does not take draw nothing.
func (s *Surface) contours(p *Picture, low, high float64) {
	// Eight levels in the middle of eight equal steps of a regression.
	levels := s.Levels
	if len(levels) == 0 && s.Areas != nil {
		levels = []float64{0}
	} else if len(levels) == 0 {
		for i := range 8 {
			levels = append(levels, low+(high-low)*(float64(i)+0.5)/8)
		}
	}

	for _, v := range levels {
		if !(v > low && v < high) {
			continue
		}
		// The boundary of two classes is solid and in the legend; other levels are thin and
		// dashed.
		style := draw.LineStyle{Color: ink, Width: vg.Points(0.6),
			Dashes: []vg.Length{vg.Points(3), vg.Points(2)}}
		if s.Areas != nil && v == 0 {
			style = draw.LineStyle{Color: ink, Width: vg.Points(1.4)}
			p.key("f = 0", &path{style: style})
		}
		for _, at := range s.lines(s.Values, v) {
			p.add(&path{at, style})
		}
	}
}
