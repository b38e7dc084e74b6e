package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
	"pgregory.net/rapid"
)

// drawn draws a chart and checks what holds for every picture.
func drawn(t interface {
	Helper()
	Fatal(...any)
	Errorf(string, ...any)
}, c Chart) (p *Picture, page string) {
	t.Helper()
	p, err := c.Draw()
	if err != nil {
		t.Fatal(err)
	}
	page = p.HTML("title", false) + p.HTML("title", true)
	for _, k := range p.Legend() {
		page += k.Swatch
	}
	var file bytes.Buffer
	if err := p.Write(&file, ".svg", 16, 10); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"<div>" + page + "</div>", file.String()} {
		d := xml.NewDecoder(strings.NewReader(text))
		for err = nil; err == nil; {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%v", err)
		}
		for _, tag := range regexp.MustCompile(`<(path|text|image|g|svg)[^>]*>`).FindAllString(regexp.MustCompile(`base64,[^"]*`).ReplaceAllString(text, ""), -1) {
			if strings.Contains(tag, "NaN") || strings.Contains(tag, "Inf") {
				t.Errorf("%.200s", tag)
			}
		}
	}
	for _, s := range styles.FindAllString(page, -1) {
		if strings.Contains(s, "#") {
			t.Errorf("a colour without a variable: %s", s)
		}
	}
	return p, page
}

// samples are charts of every kind.
func samples() map[string]Chart {
	x, y := []float64{1, 2, 4, 8}, []float64{3, 1, 2, 5}
	class := []int{0, 1, -1, 1}
	points := Points{X: x, Y: y, Class: class, Classes: []string{"no", "yes"}, Marked: []int{1}, MarkedName: "labeled"}
	grid := Grid{0, 10, 0, 6, 40, 30}
	return map[string]Chart{
		"lines":      &Lines{Title: "λ over γ", XLabel: "γ", YLabel: "λ", XLog: true, YLog: true, Series: []Series{{Name: "a", X: x, Y: y, Err: y}, {Name: "b", X: x, Y: x, Dashed: true}, {Name: "c", X: y, Y: x, Points: true}}},
		"scatter":    &Scatter{Title: "points", XLabel: "first", YLabel: "second", Points: points},
		"scale":      &Scatter{Points: Points{X: x, Y: y, Class: []int{0, 4, 2, -1}, Classes: []string{"a", "b", "c", "d", "e"}, Scale: true}},
		"surface":    surface(grid, points, func(x, y float64) float64 { return x - y }),
		"regression": &Surface{Grid: grid, Points: points, Values: surface(grid, points, math.Hypot).Values},
		"bars":       &Bars{Unit: "s", Rows: []Bar{{"one", 1, 0.25, ""}, {"two", 2, 3, "(paper 3)"}}},
	}
}

// surface returns the surface of a function of two classes.
func surface(g Grid, p Points, f func(x, y float64) float64) *Surface {
	s := &Surface{Grid: g, Points: p}
	for r := range g.Rows {
		for c := range g.Columns {
			v := f(g.Centre(c, r))
			area := 0
			if v > 0 {
				area = 1
			}
			s.Values, s.Areas = append(s.Values, v), append(s.Areas, area)
		}
	}
	return s
}

func TestPictures(t *testing.T) {
	for name, c := range samples() {
		t.Run(name, func(t *testing.T) {
			p, page := drawn(t, c)
			for _, want := range []string{`<svg class="chart" viewBox="0 0 400 `, `<svg class="chart" viewBox="0 0 230 `, `role="img"`, "<title>title</title>", "font-family:system-ui,sans-serif", "var(--"} {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q", want)
				}
			}
			if strings.Contains(page, "http") || strings.Contains(page, "Liberation") {
				t.Error("something from elsewhere in the page")
			}
			for _, format := range Formats {
				var a, b bytes.Buffer
				if err := errors.Join(p.Write(&a, format, 16, 10), p.Write(&b, format, 16, 10)); err != nil {
					t.Fatal(err)
				}
				again, _ := drawn(t, samples()[name])
				var other bytes.Buffer
				if err := again.Write(&other, format, 16, 10); err != nil || !bytes.Equal(a.Bytes(), other.Bytes()) || !bytes.Equal(a.Bytes(), b.Bytes()) {
					t.Errorf("%s: other bytes the second time", format)
				}
				switch format {
				case ".pdf":
					if !bytes.HasPrefix(a.Bytes(), []byte("%PDF-")) || !bytes.Contains(a.Bytes(), []byte("%%EOF")) {
						t.Error("no PDF")
					}
				case ".png":
					if img, err := png.Decode(&a); err != nil || img.Bounds().Dx() != 945 {
						t.Errorf("%v, %v", img.Bounds(), err)
					}
				}
			}
			if err := p.Write(io.Discard, ".gif", 1, 1); err == nil {
				t.Error("a format that there is not")
			}
		})
	}
}

// TestInside checks that marks and error bars lie within the frame.
func TestInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64Range(-1000, 1000), rapid.Float64Range(0, 1e-3), rapid.Just(0.0), rapid.Just(1e6))
		n := rapid.IntRange(1, 8).Draw(t, "n")
		draws := func(name string) []float64 { return rapid.SliceOfN(value, n, n).Draw(t, name) }
		l := &Lines{XLog: rapid.Bool().Draw(t, "xlog"), YLog: rapid.Bool().Draw(t, "ylog"), Series: []Series{{X: draws("x"), Y: draws("y"), Err: draws("e")}}}
		p, _ := drawn(t, l)
		canvas := p.layout(draw.New(vgsvg.New(pageWidth, 240)))
		x := func(v float64) vg.Length { return canvas.place(point{v, canvas.y.low}).X }
		y := func(v float64) vg.Length { return canvas.place(point{canvas.x.low, v}).Y }
		s := &l.Series[0]
		for i := range s.X {
			if !p.x.ok(s.X[i]) || !p.y.ok(s.Y[i]) {
				continue
			}
			const radius = 3.2 // of a mark with its corners
			at := vg.Point{X: x(p.x.at(s.X[i])), Y: y(p.y.at(s.Y[i]))}
			top := y(p.y.at(s.Y[i] + s.bar(i)))
			if !(at.X-radius >= canvas.Min.X && at.X+radius <= canvas.Max.X && at.Y-radius >= canvas.Min.Y && at.Y+radius <= canvas.Max.Y && top <= canvas.Max.Y) {
				t.Errorf("(%g, %g ± %g) is at %v, its top at %v, of %v", s.X[i], s.Y[i], s.bar(i), at, top, canvas.Rectangle)
			}
			if low := s.Y[i] - s.bar(i); !l.YLog && !(y(low) >= canvas.Min.Y) {
				t.Errorf("the bar down to %g ends at %v of %v", low, y(low), canvas.Rectangle)
			}
		}
		// All of the bars that are drawn, as they are drawn.
		for _, m := range regexp.MustCompile(`d="([^"]*)"`).FindAllStringSubmatch(p.HTML("", false), -1) {
			for _, q := range regexp.MustCompile(`(-?[\d.e+-]+),(-?[\d.e+-]+)`).FindAllStringSubmatch(m[1], -1) {
				var u, v float64
				fmt.Sscan(q[1], &u)
				fmt.Sscan(q[2], &v)
				if !(u >= 0 && u <= pageWidth && v >= 0 && v <= pageWidth*p.Aspect) {
					t.Errorf("(%g, %g) is outside of the picture", u, v)
				}
			}
		}
	})
}

// TestRingsInside checks that marked points lie within the frame with their rings, also
// in a panel.
func TestRingsInside(t *testing.T) {
	x := []float64{-3, 7, 0, 2}
	s := &Scatter{Points: Points{X: x, Y: []float64{5, -1, 8, 0}, Marked: []int{0, 1, 2, 3}}}
	p, _ := drawn(t, s)
	const radius = 2.6 + 2 + 0.6 // mark, distance, half of the ring
	for _, width := range []vg.Length{panelWidth, pageWidth} {
		canvas := p.layout(draw.New(vgsvg.New(width, width*vg.Length(p.Aspect))))
		for i := range x {
			if at := canvas.place(point{x[i], s.Y[i]}); !(at.X-radius >= canvas.Min.X && at.X+radius <= canvas.Max.X && at.Y-radius >= canvas.Min.Y && at.Y+radius <= canvas.Max.Y) {
				t.Errorf("width %v: the ring around point %d at %v leaves %v", width, i, at, canvas.Rectangle)
			}
		}
	}
}

// TestCutBars checks that a bar that goes on below a logarithmic axis ends at the frame
// without a cap, and that 0 has its place.
func TestCutBars(t *testing.T) {
	count := func(e float64) int {
		p, _ := drawn(t, &Lines{YLog: true, Series: []Series{{X: []float64{1, 2}, Y: []float64{3, 0}, Err: []float64{e, 0}}}})
		return strings.Count(p.HTML("", false), "<path") // caps are paths of their own
	}
	if whole, cut := count(1), count(4); whole != cut+1 {
		t.Errorf("%d paths with a bar within the frame, %d with one that is cut", whole, cut)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		log    bool
		values []float64
		want   string
	}{
		{false, []float64{0, 43}, "0 10 20 30 40"},
		{false, []float64{-0.011, 0.012}, "-0.01 -0.005 0 0.005 0.01"},
		{false, []float64{0, 1}, "0 0.2 0.4 0.6 0.8 1"},
		{false, []float64{0, 3e7}, "0 1e+07 2e+07 3e+07"},
		{false, []float64{7}, "4 6 8 10"},
		{true, []float64{20, 5000}, "20 50 100 200 500 1000 2000 5000"},
		{true, []float64{1e-12, 1e-2}, "1e-12 1e-10 1e-8 1e-6 0.0001 0.01"},
		{true, []float64{0, 0.01, 10}, "0 0.01 0.1 1 10"},
		{true, []float64{0}, "0 1 2 5 10"},
		{true, []float64{-1, math.NaN()}, "1 2 5 10"},
	} {
		s := newScale(c.log)
		for _, v := range c.values {
			s.see(v)
		}
		low, high := s.frame()
		var got []string
		last := math.Inf(-1)
		for _, k := range s.ticks(low, high, 6) {
			if k.value < low || k.value > high || k.value <= last {
				t.Errorf("%v: tick %v after %v on %v … %v", c.values, k.value, last, low, high)
			}
			last = k.value
			if k.label != "" {
				got = append(got, k.label)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v: %s, want %s", c.values, s, c.want)
		}
	}
}

func TestOddNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, x := range [][]float64{nil, {}, {3}, {0}, {-5, -5}, {nan}, {nan, inf, -inf}, {1, nan, 3}, {math.MaxFloat64, -math.MaxFloat64}, {1e299, -1e299},
		{5e-324, 1e-310}, {1e-12, 2e-12, 3e-12}, {1e9, 1e9 + 1}, {1, 1 + 1e-16}, {1e-16, 1, 1e16}, {-1, 0, 1e-299, 1e279}} {
		for _, log := range []bool{false, true} {
			e := make([]float64, len(x))
			for i := range e {
				e[i] = []float64{nan, inf, -1, 0, 1e300, 0.5}[i%6]
			}
			l := &Lines{XLog: log, YLog: log, Series: []Series{{X: x, Y: x, Err: e}, {Name: "points", X: x, Y: x, Points: true}}}
			p, page := drawn(t, l)
			if strings.Contains(page, "no data") != (p.Marks == 0) || 2*len(x) != p.Marks+p.Left || (p.Left > 0) != (len(p.Notes) > 0) {
				t.Errorf("%v: %d drawn, %d left out, notes %q", x, p.Marks, p.Left, p.Notes)
			}
			drawn(t, &Scatter{Points: Points{X: x, Y: x, Marked: make([]int, min(1, len(x)))}})
			if len(page) > 60_000 {
				t.Errorf("%v: %d bytes", x, len(page))
			}
		}
	}
	drawn(t, &Bars{})
	drawn(t, &Bars{Rows: []Bar{{"a", nan, nan, ""}, {"b", -1, 2, ""}, {"c", 0, inf, ""}, {"d", inf, 1, ""}, {"e", 1e-9, nan, ""}}})
}

func TestHostileText(t *testing.T) {
	const evil = "</title></svg><script>alert(1)</script>\"'`&amp;\x00\x1b\xff style=\"#628FFB\""
	two := []float64{1, 2}
	points := Points{X: two, Y: two, Class: []int{0, -1}, Classes: []string{evil}, Marked: []int{1}, MarkedName: evil}
	s := surface(Grid{0, 3, 0, 3, 2, 2}, points, func(x, y float64) float64 { return x - y })
	s.Title, s.XLabel, s.YLabel = evil, evil, evil
	for _, c := range []Chart{s, &Scatter{Title: evil, XLabel: evil, YLabel: evil, Points: points}, &Bars{Title: evil, Unit: evil, Rows: []Bar{{evil, 1, 1, evil}}},
		&Lines{Title: evil, XLabel: evil, YLabel: evil, Series: []Series{{Name: evil, X: two, Y: two}, {Name: evil, X: two, Y: two}}}} {
		p, page := drawn(t, c)
		for _, format := range Formats {
			var b bytes.Buffer
			if err := p.Write(&b, format, 16, 10); err != nil {
				t.Error(err)
			}
			if format == ".svg" {
				page += b.String() + p.HTML(evil, true)
			}
		}
		if strings.Contains(page, "<script") || strings.ContainsAny(page, "\x00\x1b") || strings.Contains(page, "\xff") {
			t.Error("hostile text came through")
		}
	}
}

func TestFaults(t *testing.T) {
	one, two := []float64{1}, []float64{1, 2}
	good := func() *Surface {
		return surface(Grid{0, 1, 0, 1, 3, 3}, Points{X: two, Y: two}, func(x, y float64) float64 { return x })
	}
	change := func(f func(s *Surface)) *Surface {
		s := good()
		f(s)
		return s
	}
	for want, c := range map[string]Chart{
		"1 x, 2 y":              &Lines{Series: []Series{{X: one, Y: two}}},
		"and 1 error values":    &Lines{Series: []Series{{X: two, Y: two, Err: one}}},
		"1 and 2 points":        &Scatter{Points: Points{X: one, Y: two}},
		"1 points but 2 cl":     &Scatter{Points: Points{X: one, Y: one, Class: []int{0, 0}, Classes: []string{"a"}}},
		"class 1 of 1":          &Scatter{Points: Points{X: one, Y: one, Class: []int{1}, Classes: []string{"a"}}},
		"marked point 1":        &Scatter{Points: Points{X: one, Y: one, Marked: []int{1}}},
		"at most 5 can":         &Scatter{Points: Points{Scale: true, Classes: make([]string, 6)}},
		"marked point -1":       change(func(s *Surface) { s.Marked = []int{-1} }),
		"8 values and 9":        change(func(s *Surface) { s.Values = s.Values[1:] }),
		"9 values and 8":        change(func(s *Surface) { s.Areas = s.Areas[1:] }),
		"neither":               change(func(s *Surface) { s.Values, s.Areas = nil, nil }),
		"2×2 at least":          change(func(s *Surface) { s.Rows = 1 }),
		"no rectangle":          change(func(s *Surface) { s.Right = math.NaN() }),
		"in column 2 of row 1":  change(func(s *Surface) { s.Values[5] = math.Inf(1) }),
		"coordinates of 1 and ": change(func(s *Surface) { s.X = one }),
	} {
		if _, err := c.Draw(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
	drawn(t, good())
}

// TestContours compares lines with the function: it has the level at their points,
// there are no jumps, as many lines as expected, and those that end inside are closed.
func TestContours(t *testing.T) {
	for i, c := range []struct {
		f             func(x, y float64) float64
		level         float64
		lines, closed int
	}{
		{func(x, y float64) float64 { return 3*x + y }, 0.3, 1, 0},
		{func(x, y float64) float64 { return x*x + y*y }, 0.25, 1, 1},
		{func(x, y float64) float64 { return x * y }, 0.1, 2, 0},
		{func(x, y float64) float64 { return x*x + y*y }, 9, 0, 0},
		// Sine and cosine have one sign in 8 of 16 fields, two of them in the middle.
		{func(x, y float64) float64 { return math.Sin(4*x) * math.Cos(3*y) }, 0.4, 8, 2},
	} {
		s := surface(Grid{-1, 1, -1, 2, 160, 240}, Points{}, c.f)
		closed := 0
		lines := s.lines(s.Values, c.level)
		for _, line := range lines {
			if line[0] == line[len(line)-1] {
				closed++
			} else {
				for _, p := range []point{line[0], line[len(line)-1]} {
					if math.Abs(p.X) < 0.99 && p.Y > -0.99 && p.Y < 1.99 {
						t.Errorf("function %d: a line ends inside at %v", i, p)
					}
				}
			}
			for j, p := range line {
				if !(math.Abs(c.f(p.X, p.Y)-c.level) <= 1e-3) {
					t.Errorf("function %d: f = %v at a point of the line of %v", i, c.f(p.X, p.Y), c.level)
				}
				if j > 0 && !(math.Hypot(p.X-line[j-1].X, p.Y-line[j-1].Y) <= 0.02) {
					t.Errorf("function %d: a jump from %v to %v", i, line[j-1], p)
				}
			}
		}
		if len(lines) != c.lines || closed != c.closed {
			t.Errorf("function %d: %d lines, %d closed; want %d and %d", i, len(lines), closed, c.lines, c.closed)
		}
	}
}

// TestTint checks the colours of cells, and contours of functions that take their
// level on whole areas.
func TestTint(t *testing.T) {
	s := surface(Grid{-1, 1, -1, 1, 20, 10}, Points{}, func(x, y float64) float64 { return x + 2*y })
	img := s.tint()
	for r := range s.Rows {
		for c := range s.Columns {
			_, _, _, alpha := img.At(c, s.Rows-1-r).RGBA()
			got, _, _, _ := img.At(c, s.Rows-1-r).RGBA()
			want := seriesColor(s.Areas[r*s.Columns+c]).R
			if alpha == 0 || alpha == 0xffff || math.Abs(float64(got)/float64(alpha)*255-float64(want)) > 1 {
				t.Fatalf("cell (%d, %d): red %x of %x, want %x", c, r, got, alpha, want)
			}
		}
	}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		drawn(t, surface(Grid{0, 1, 0, 1, 2 + r.IntN(10), 2 + r.IntN(10)}, Points{}, func(x, y float64) float64 { return float64(r.IntN(5) - 2) }))
		// Lines through many grid points: circles, and hyperbolas with their saddle.
		radius, share := float64(r.IntN(20)*r.IntN(20))/100, float64(r.IntN(3))
		drawn(t, surface(Grid{-1, 1, -1, 1, 40, 40}, Points{}, func(x, y float64) float64 { return x*x - (share-1)*y*y - radius }))
	}
	for _, v := range []float64{0, 2} { // no line
		if _, page := drawn(t, surface(Grid{0, 1, 0, 1, 3, 3}, Points{}, func(x, y float64) float64 { return v })); strings.Contains(page, "stroke-width:1.4") {
			t.Errorf("f = %g has a line", v)
		}
	}
}

func TestPointsLeftOut(t *testing.T) {
	s := surface(Grid{0, 1, 0, 1, 4, 4}, Points{X: []float64{0.5, 2, 0.1, math.NaN()}, Y: []float64{0.5, 0.5, 0.9, 0}, Marked: []int{1}, MarkedName: "ring"}, func(x, y float64) float64 { return x - y })
	p, page := drawn(t, s)
	if p.Marks != 2 || p.Left != 2 || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "outside of the rectangle are left out (2)") {
		t.Errorf("%d, %d, %q", p.Marks, p.Left, p.Notes)
	}
	if len(p.Legend()) != 1 || strings.Contains(page, "stroke-width:1.2\"") {
		t.Error("a ring around a point that is left out")
	}
	// Marked points are in every sample; of others the sample is a share.
	r := rand.New(rand.NewPCG(1, 1))
	big := Points{Marked: []int{3, 30000, 59999}, Most: 5000}
	for i := range 60000 {
		big.X, big.Y, big.Class = append(big.X, r.NormFloat64()), append(big.Y, r.NormFloat64()), append(big.Class, i%10)
	}
	big.Classes = strings.Split("0123456789", "")
	index, total := big.choose(func(i int) bool { return true })
	counts := map[int]int{}
	marked := 0
	for _, i := range index {
		counts[i%10]++
		if i == 3 || i == 30000 || i == 59999 {
			marked++
		}
	}
	for c := range 10 {
		if counts[c] < 400 || counts[c] > 600 {
			t.Errorf("%d points of class %d", counts[c], c)
		}
	}
	if len(index) != 5000 || total != 60000 || marked != 3 {
		t.Errorf("%d of %d points, %d marked", len(index), total, marked)
	}
	p, _ = drawn(t, &Scatter{Points: big})
	if page := p.HTML("", false); len(page) > 150_000 || !strings.Contains(strings.Join(p.Notes, ""), "5000 of 60000 points are drawn.") {
		t.Errorf("%d bytes, %q", len(page), p.Notes)
	}
}

func TestNumbers(t *testing.T) {
	l := &Lines{XLabel: "n", Series: []Series{{Name: "a", X: []float64{20, 10}, Y: []float64{1, 2}, Err: []float64{0, 0.5}}, {Name: "b", X: []float64{10, 30}, Y: []float64{3, math.NaN()}}}}
	if got, want := fmt.Sprintf("%q", l.Numbers()), `[["n" "a" "b"] ["10" "2 ± 0.5" "3"] ["20" "1" ""] ["30" "" ""]]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if (&Lines{Series: []Series{{X: []float64{1, 1}, Y: []float64{2, 3}}}}).Numbers() != nil {
		t.Error("a table without room for two points of one x")
	}
	l.Series = append(l.Series, Series{X: make([]float64, few+1), Y: make([]float64, few+1)})
	for i := range l.Series[2].X {
		l.Series[2].X[i] = float64(i)
	}
	if l.Numbers() != nil {
		t.Error("a long table")
	}
}

// TestBarTexts checks that names end before the bars and values begin behind them, on the middle line of
// the bar, and that the widest row fills the picture.
func TestBarTexts(t *testing.T) {
	page := mustDraw(t, &Bars{Unit: "s", Rows: []Bar{{"short", 1, 0, ""}, {"a name of many letters", 2, 0, ""},
		{"WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW", 1.5, 0, "(and a note that is long)"}, {"none", 0, 0, ""}}}).HTML("t", false)
	number := func(text, name string) float64 {
		_, rest, _ := strings.Cut(text, name+`="`)
		value, _, _ := strings.Cut(rest, `"`)
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%s in %s: %v", name, text, err)
		}
		return x
	}
	corners := regexp.MustCompile(`<path d="M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)L([\d.]+),([\d.]+)`).FindAllStringSubmatch(page, -1)
	texts := regexp.MustCompile(`<text [^>]*>`).FindAllString(page, -1)
	if len(corners) != 3 || len(texts) != 8 {
		t.Fatalf("%d bars and %d texts in %s", len(corners), len(texts), page)
	}
	value := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for k, c := range corners {
		left, right := value(c[1]), value(c[3])
		middle := (value(c[2]) + value(c[6])) / 2
		name, amount := texts[2*k], texts[2*k+1]
		if !strings.Contains(name, `text-anchor="end"`) || !strings.Contains(amount, `text-anchor="start"`) {
			t.Errorf("anchors of %s and %s", name, amount)
		}
		if x := number(name, " x"); math.Abs(left-barGap-x) > 0.01 || x < 20 {
			t.Errorf("the name ends at %v, the bar begins at %v", x, left)
		}
		if x := number(amount, " x"); math.Abs(right+barGap-x) > 0.01 || x > pageWidth-10 {
			t.Errorf("the value begins at %v, the bar ends at %v", x, right)
		}
		for _, text := range []string{name, amount} {
			if y := math.Abs(number(text, " y")); math.Abs(y+capHeight/2*10-middle) > 0.01 {
				t.Errorf("the baseline is at %v, the middle of the bar at %v", y, middle)
			}
		}
	}
}

func mustDraw(t *testing.T, c Chart) *Picture {
	t.Helper()
	p, err := c.Draw()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestBarDeviations: the line of a deviation has its ends at value ± deviation, or at 0, and the value stands
// behind it with the deviation.
func TestBarDeviations(t *testing.T) {
	page := mustDraw(t, &Bars{Unit: "%", Rows: []Bar{{"model", 10, 2.5, ""}, {"model", 4, 6, ""}}}).HTML("t", false)
	for _, want := range []string{"10.0 ± 2.50 %", "4.00 ± 6.00 %"} {
		if !strings.Contains(page, want) {
			t.Errorf("no text %q in %s", want, page)
		}
	}

	bars := regexp.MustCompile(`<path d="M([\d.]+),[\d.]+L([\d.]+),[\d.]+L`).FindAllStringSubmatch(page, -1)
	lines := regexp.MustCompile(`<path d="M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)"`).FindAllStringSubmatch(page, -1)
	if len(bars) != 2 || len(lines) != 5 { // one end of the second line is at 0, without a cap
		t.Fatalf("%d bars and %d lines in %s", len(bars), len(lines), page)
	}
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	left, unit := number(bars[0][1]), (number(bars[0][2])-number(bars[0][1]))/10
	for k, want := range map[int][2]float64{0: {7.5, 12.5}, 3: {0, 10}} {
		low, high := (number(lines[k][1])-left)/unit, (number(lines[k][3])-left)/unit
		if !(math.Abs(low-want[0]) < 0.1 && math.Abs(high-want[1]) < 0.1) {
			t.Errorf("line %d goes from %g to %g, want %v", k, low, high, want)
		}
	}
}

// A name in the legend of a file begins right of its mark in whatever font, and ends within the picture in one that is
// wider by a fifth than the font that measures it.
func TestLegendBegins(t *testing.T) {
	c := samples()["lines"].(*Lines)
	c.Series[0].Name = "a rather long name of a series"
	p, err := c.Draw()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := p.Write(&file, ".svg", 16, 10); err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile(`<text text-anchor="(\w+)" x="([\d.]+)"[^>]*>` + c.Series[0].Name).FindStringSubmatch(file.String())
	width := regexp.MustCompile(`viewBox="0 0 ([\d.]+) `).FindStringSubmatch(file.String())
	if at == nil || width == nil || at[1] != anchorStart {
		t.Fatalf("anchor %q, box %q in %.300s", at, width, file.String())
	}
	x, err := strconv.ParseFloat(at[2], 64)
	if err != nil {
		t.Fatal(err)
	}
	full, err := strconv.ParseFloat(width[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	if end := x + 1.2*legendText.width(c.Series[0].Name).Points(); end > full {
		t.Errorf("the name ends at %v of %v", end, full)
	}
}

// In a narrow file long names of the legend are cut, so that the frame keeps its width and the axes their direction.
func TestNarrowFiles(t *testing.T) {
	c := samples()["lines"].(*Lines)
	c.Series[0].Name = strings.Repeat("long name ", 6)
	p := mustDraw(t, c)
	for _, width := range []float64{16, 9, 5} {
		var file bytes.Buffer
		if err := p.Write(&file, ".svg", width, 8); err != nil {
			t.Fatal(err)
		}
		// The numbers of the horizontal axis go up from left to right.
		one := regexp.MustCompile(`<text text-anchor="middle" x="([\d.]+)"[^>]*>1<`).FindStringSubmatch(file.String())
		five := regexp.MustCompile(`<text text-anchor="middle" x="([\d.]+)"[^>]*>5<`).FindStringSubmatch(file.String())
		if one == nil || five == nil {
			t.Fatalf("width %g: no numbers in %.400s", width, file.String())
		}
		from, err1 := strconv.ParseFloat(one[1], 64)
		to, err2 := strconv.ParseFloat(five[1], 64)
		points := width / 2.54 * 72
		if err := errors.Join(err1, err2); err != nil || !(to-from > 0.1*points) || to > 0.8*points {
			t.Errorf("width %g, %g points: the axis has 1 at %g and 5 at %g, %v", width, points, from, to, err)
		}
	}
}
