package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// gridOf evaluates f.
func gridOf(x0, x1, y0, y1 float64, columns, rows int, f func(x, y float64) float64) Grid {
	g := Grid{x0, x1, y0, y1, columns, rows, nil}
	for r := range rows {
		for c := range columns {
			g.Values = append(g.Values, f(g.X(c), g.Y(r)))
		}
	}
	return g
}

// functions are a plane, a bowl, a saddle and islands, with a level and the number
// of its lines on [−1, 1] × [−1, 2]; the islands lie where sine and cosine have one
// sign, 8 of 16 fields.
var functions = []struct {
	f     func(x, y float64) float64
	level float64
	lines int
}{
	{func(x, y float64) float64 { return 3*x + y }, 0.3, 1},
	{func(x, y float64) float64 { return x*x + y*y }, 0.25, 1},
	{func(x, y float64) float64 { return x * y }, 0.1, 2},
	{func(x, y float64) float64 { return x*x + y*y }, 9, 0},
	{func(x, y float64) float64 { return math.Sin(4*x) * math.Cos(3*y) }, 0.4, 8},
}

func TestLines(t *testing.T) {
	for i, c := range functions {
		g := gridOf(-1, 1, -1, 2, 160, 240, c.f)
		lines := g.Lines(c.level)
		if len(lines) != c.lines {
			t.Errorf("function %d: %d lines, want %d", i, len(lines), c.lines)
		}
		for _, line := range lines {
			for j, p := range line {
				if !(math.Abs(c.f(p.X, p.Y)-c.level) <= 1e-3) {
					t.Errorf("function %d: f = %v at a point of the line of %v", i, c.f(p.X, p.Y), c.level)
				}
				if j > 0 && !(math.Hypot(p.X-line[j-1].X, p.Y-line[j-1].Y) <= 0.02) {
					t.Errorf("function %d: a jump from %v to %v", i, line[j-1], p)
				}
			}
		}
	}
}

// inside counts the crossings of a ray with polygons.
func inside(x, y float64, polygons [][]Point) bool {
	in := false
	for _, line := range polygons {
		for i := 1; i < len(line); i++ {
			a, b := line[i-1], line[i]
			if (a.Y > y) != (b.Y > y) && x < a.X+(y-a.Y)/(b.Y-a.Y)*(b.X-a.X) {
				in = !in
			}
		}
	}
	return in
}

// TestAbove compares the filled side of a level with the function.
func TestAbove(t *testing.T) {
	const tiny = 1e-12
	r := rand.New(rand.NewPCG(1, 1))
	for i, c := range functions {
		g := gridOf(-1, 1, -1, 2, 80, 120, c.f)
		above, below := g.above(1, c.level), g.above(-1, -c.level)
		for _, p := range append(above, below...) {
			if p[0] != p[len(p)-1] {
				t.Errorf("function %d: a polygon is not closed", i)
			}
			for _, q := range p {
				if !(math.Abs(q.X) <= 1+tiny && q.Y >= -1-tiny && q.Y <= 2+tiny) {
					t.Errorf("function %d: %v is outside", i, q)
				}
			}
		}
		for range 500 {
			x, y := -1+2*r.Float64(), -1+3*r.Float64()
			f := c.f(x, y)
			if math.Abs(f-c.level) > 5e-3 && (inside(x, y, above) != (f > c.level) || inside(x, y, below) != (f < c.level)) {
				t.Errorf("function %d: f(%v, %v) = %v is on the wrong side of %v", i, x, y, f, c.level)
			}
		}
	}
}

// moons is a block of six panels.
func moons() Surfaces {
	s := Surfaces{Title: "Moons", Classes: []string{"left", "right"}, Marked: []int{0, 1}, MarkedName: "labeled"}
	for i := range 100 {
		a := math.Pi * float64(i) / 99
		c := i % 2
		s.X, s.Y, s.Class = append(s.X, math.Cos(a)+float64(c)), append(s.Y, math.Sin(a)*float64(1-2*c)), append(s.Class, c)
	}
	for i := range 6 {
		s.Panels = append(s.Panels, Surface{fmt.Sprintf("γ = %d", i), gridOf(-1.2, 2.2, -1.2, 1.2, 80, 60, func(x, y float64) float64 {
			return math.Tanh(x-0.5-float64(i)*y) * math.Exp(-(x-0.5)*(x-0.5)/4)
		})})
	}
	return s
}

func TestSurfaces(t *testing.T) {
	page := blocks(t, moons())
	body := scripts.ReplaceAllString(page, "")
	for want, n := range map[string]int{`role="img" aria-label="Moons, γ = `: 6, `class="panel">γ = 3<`: 1, `class="zero"`: 6 + 1, `class="ring"`: 6 + 1, `class="panels small"`: 1,
		`class="area f0"`: 6 * len(surfaceLevels), `class="area f1"`: 6 * len(surfaceLevels), "<span>labeled</span>": 1, "left out": 0} {
		if got := strings.Count(body, want); got != n {
			t.Errorf("%q %d times, not %d", want, got, n)
		}
	}
	if len(page) > 90_000 {
		t.Errorf("%d bytes", len(page))
	}
	for _, d := range regexp.MustCompile(`class="(?:area|zero)[^>]* d="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if !regexp.MustCompile(`^(M-?\d+ -?\d+([lH](-?\d+( ?-?\d+)*)?)?)+$`).MatchString(d[1]) {
			t.Errorf("path %.80s", d[1])
		}
	}
	one := moons()
	one.Panels = one.Panels[:1]
	one.X = append([]float64{9, -9}, one.X[2:]...)
	one.XLabel, one.YLabel = "first", "second"
	page = blocks(t, one)
	for _, want := range []string{"Points outside of the rectangle are left out (2).", ">first<", ">second<", `class="panels"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(scripts.ReplaceAllString(page, ""), `class="ring"`) {
		t.Error("a ring around a point that is left out")
	}
	// A function of one sign has no line and one colour; of none, no colour.
	for value, areas := range map[float64]int{2: len(surfaceLevels), 0: 0} {
		s := moons()
		s.Panels = s.Panels[:1]
		s.Panels[0].F = gridOf(-1, 1, -1, 1, 2, 2, func(x, y float64) float64 { return value })
		body := scripts.ReplaceAllString(blocks(t, s), "")
		if n := strings.Count(body, `class="area`); n != areas || strings.Count(body, `class="zero"`) != 1 {
			t.Errorf("f = %v: %d areas", value, n)
		}
	}
}

func TestBadSurfaces(t *testing.T) {
	for want, change := range map[string]func(*Surfaces){
		"no panel":              func(s *Surfaces) { s.Panels = nil },
		"3 classes":             func(s *Surfaces) { s.Classes = []string{"a", "b", "c"} },
		"panel 2: 4799 values":  func(s *Surfaces) { s.Panels[2].F.Values = s.Panels[2].F.Values[1:] },
		"2×2 at least":          func(s *Surfaces) { s.Panels[0].F = Grid{0, 1, 0, 1, 1, 1, []float64{1}} },
		"no rectangle":          func(s *Surfaces) { s.Panels[1].F.X1 = math.NaN() },
		"not that of panel 0":   func(s *Surfaces) { s.Panels[5].F.Y0-- },
		"in column 3 of row 1":  func(s *Surfaces) { s.Panels[0].F.Values[83] = math.Inf(1) },
		"marked point 100":      func(s *Surfaces) { s.Marked = []int{100} },
		"100 points but 99":     func(s *Surfaces) { s.Class = s.Class[1:] },
		"coordinates of 100 an": func(s *Surfaces) { s.Y = s.Y[1:] },
	} {
		s := moons()
		change(&s)
		if _, err := s.render(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}
