package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// write renders r and checks what holds for every page.
func write(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	checkPage(t, b.String())
	return b.String()
}

// blocks renders a page of one section.
func blocks(t *testing.T, b ...Block) string {
	t.Helper()
	return write(t, &Report{Title: "t", Sections: []Section{{Title: "s", Blocks: b}}})
}

var scripts = regexp.MustCompile(`(?s)<(script|style)>.*?</(script|style)>`)

// checkPage checks that tags are balanced, that nothing is loaded from
// elsewhere, that no number went wrong, and that ids are unique.
func checkPage(t *testing.T, page string) {
	t.Helper()
	for _, bad := range []string{"http:", "https:", "src=\"//", "url(", "@import", "<link", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	body := scripts.ReplaceAllString(page, "")
	for _, bad := range []string{`="NaN`, ` NaN`, "Inf\"", "+Inf", "-Inf"} {
		for _, d := range regexp.MustCompile(`<(path|text|span)[^>]*>`).FindAllString(body, -1) {
			if strings.Contains(d, bad) {
				t.Errorf("%q in %s", bad, d)
			}
		}
	}
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(body, "<!DOCTYPE html>")))
	d.Strict = false
	d.AutoClose = []string{"meta", "img"}
	d.Entity = xml.HTMLEntity
	var open []string
	ids := map[string]bool{}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			open = append(open, e.Name.Local)
			for _, a := range e.Attr {
				if a.Name.Local == "id" {
					if ids[a.Value] {
						t.Errorf("id %s twice", a.Value)
					}
					ids[a.Value] = true
				}
				if strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("handler %s", a.Name.Local)
				}
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != e.Name.Local {
				t.Fatalf("</%s> within %v", e.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("left open: %v", open)
	}
}

// cloud draws n points around ten arms in space.
func cloud(n int, seed uint64) (x, y, z []float64, class []int) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		c := i % 10
		a, h, s := 2*math.Pi*float64(c)/10, float64(c%3)-1, math.Sqrt(r.Float64())
		x = append(x, 0.01*s*math.Cos(a)+0.0008*r.NormFloat64())
		y = append(y, 0.01*s*math.Sin(a)+0.0008*r.NormFloat64())
		z = append(z, 0.01*s*h+0.0008*r.NormFloat64())
		class = append(class, c)
	}
	return x, y, z, class
}

var digits = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}

// sample is a page like that of bigfit demo.
func sample() *Report {
	labels := []float64{20, 50, 100, 500, 1000, 5000}
	x, y, z, class := cloud(10000, 1)
	var values, index []float64
	for i := range 200 {
		index = append(index, float64(i+1))
		values = append(values, 0.004*math.Pow(float64(i), 0.9))
	}
	r := rand.New(rand.NewPCG(2, 2))
	strip := ImageStrip{Title: "Digits and what was made of them", Caption: "Drawn at random from the unlabeled points.", Width: 28, Height: 28, Invert: true}
	for i := range 24 {
		p := make([]uint8, 28*28)
		rx, ry := 4+float64(i%5), 7+float64(i%3)
		for k := range p {
			dx, dy := (float64(k%28)-13.5)/rx, (float64(k/28)-13.5)/ry
			ring := math.Abs(math.Hypot(dx, dy) - 1)
			p[k] = uint8(255*math.Exp(-30*ring*ring)*0.95 + 12*r.Float64())
		}
		img := Image{Pixels: p, True: digits[i%10], Predicted: digits[i%10]}
		if i == 5 || i == 17 {
			img.Predicted = digits[(i+4)%10]
		}
		strip.Images = append(strip.Images, img)
	}
	return &Report{
		Title:    "bigfit demo: 10000 drawn digits, a handful of labels",
		Subtitle: "seed 1 · bigfit v0.1.0 · linux/amd64, 2 cores · 21 November 2026",
		Sections: []Section{
			{"Result", []Block{
				Paragraph("A graph of nearest neighbours joins the points. Its smoothest functions are the features of a linear classifier that sees only the labels given.\n\nThe figures are errors in per cent over the points without a label, mean and standard deviation over 20 draws."),
				Table{Caption: "Error by number of labels", Header: []string{"labels", "eigenvectors", "eigenmap", "regularized", "1-NN", "3-NN", "paper"},
					Rows: [][]string{
						{"20", "10", "27.4 ± 3.1", "24.9 ± 2.8", "43.0 ± 2.2", "51.8 ± 3.0", "–"},
						{"50", "20", "11.2 ± 1.4", "9.1 ± 1.1", "30.2 ± 1.6", "35.8 ± 1.9", "14.8"},
						{"100", "20", "7.0 ± 0.5", "4.7 ± 0.6", "22.5 ± 0.9", "26.1 ± 1.0", "8.1"},
						{"1000", "100", "3.6 ± 0.1", "2.9 ± 0.1", "8.4 ± 0.2", "8.9 ± 0.2", "3.8"}},
					Best: []Cell{{0, 3}, {1, 3}, {2, 3}, {3, 3}}, Note: "Bold: the least error of the row."},
				LineChart{Title: "Error by number of labels", Caption: "Mean over 20 draws; the bars are one standard deviation.", XLabel: "labels", YLabel: "error, %", XLog: true, Series: []Series{
					{Name: "eigenmap", X: labels, Y: []float64{27.4, 11.2, 7, 4, 3.6, 3.1}, Err: []float64{3.1, 1.4, 0.5, 0.2, 0.1, 0.1}},
					{Name: "regularized", X: labels, Y: []float64{24.9, 9.1, 4.7, 3.3, 2.9, 2.6}, Err: []float64{2.8, 1.1, 0.6, 0.2, 0.1, 0.1}},
					{Name: "1 nearest neighbour", X: labels, Y: []float64{43, 30.2, 22.5, 11.2, 8.4, 5.1}, Err: []float64{2.2, 1.6, 0.9, 0.3, 0.2, 0.1}},
					{Name: "paper", X: labels[1:5], Y: []float64{14.8, 8.1, 4.4, 3.8}, Dashed: true},
				}},
			}},
			{"Eigenvalues", []Block{
				LineChart{Title: "The spectrum", Caption: "The 200 smallest eigenvalues of the normalized Laplacian.", XLabel: "index", YLabel: "eigenvalue", Series: []Series{{Name: "λ", X: index, Y: values, Points: true}}},
				LineChart{Title: "Residuals", XLabel: "index", YLabel: "‖Lv − λv‖ / ‖L‖", YLog: true, Series: []Series{{Name: "residual", X: index, Y: residuals(index), Points: true}}},
			}},
			{"Eigenmap", []Block{
				Scatter2D{Title: "The first two eigenvectors", Caption: "Every dot is a digit.", XLabel: "eigenvector 2", YLabel: "eigenvector 3", X: x, Y: y, Class: class, Classes: digits, Marked: []int{1, 22, 333, 1234, 5005, 6106, 7777, 8888}, MarkedName: "labeled"},
				Scatter3D{Title: "The first three", Labels: [3]string{"eigenvector 2", "eigenvector 3", "eigenvector 4"}, X: x, Y: y, Z: z, Class: class, Classes: digits},
			}},
			{"Digits", []Block{strip}},
			{"Surfaces", []Block{moons()}},
			{"Run", []Block{
				Bars{Caption: "Time by stage", Unit: "s", Total: true, Rows: []Bar{
					{"data", 1.21, "10000 drawings of 28×28"}, {"pca", 0.82, "100 of 784 components, 93.1 % of the variance"},
					{"graph", 4.35, "8 neighbours either way, 1 component"}, {"eigenpairs", 12.9, "200 pairs, residual 3.1e-11"}, {"classify", 0.052, "4 label counts × 20 draws"}}},
				KeyValues{Caption: "Settings", Pairs: []KeyValue{{"n", "10000"}, {"seed", "1"}, {"neighbours", "8"}, {"symmetrization", "either"}, {"weights", "one"}, {"Laplacian", "normalized"},
					{"run directory", "/home/somebody/experiments/2026-11-21/bigfit-demo-run-0001"}, {"graph hash", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}},
			}},
		},
	}
}

func residuals(x []float64) []float64 {
	r := rand.New(rand.NewPCG(3, 3))
	y := make([]float64, len(x))
	for i := range y {
		y[i] = math.Exp(-27 + 3*float64(i)/float64(len(y)) + r.NormFloat64())
	}
	return y
}

// TestSample writes a full page; with REPORT_SAMPLE set also to that file, to
// be looked at.
func TestSample(t *testing.T) {
	page := write(t, sample())
	for _, want := range []string{"<!DOCTYPE html>", `lang="en"`, `name="viewport"`, "prefers-color-scheme:dark", "prefers-reduced-motion",
		"<caption>Error by number of labels</caption>", `class="num best"`, `role="img" aria-label="The spectrum.`, "<title>paper: 100, 8.1</title>",
		`alt="predicted 3, correct"`, `alt="a 5 taken for 9"`, "✗", "2 of 24 are wrong", "19.3 s", `href="#s3"`, "<canvas", "<noscript>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if again := write(t, sample()); again != page {
		t.Error("two pages of one report differ")
	}
	if file := os.Getenv("REPORT_SAMPLE"); file != "" {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSize(t *testing.T) {
	x, y, z, class := cloud(60000, 5)
	two := blocks(t, Scatter2D{Title: "p", X: x, Y: y, Class: class, Classes: digits})
	three := blocks(t, Scatter3D{Title: "p", X: x, Y: y, Z: z, Class: class, Classes: digits})
	t.Logf("2-D %d bytes, 3-D %d bytes", len(two), len(three))
	if len(two) > 400_000 || len(three) > 400_000 {
		t.Errorf("%d and %d bytes", len(two), len(three))
	}
	for _, p := range []string{two, three} {
		if !strings.Contains(p, "10000 of 60000 points are drawn.") {
			t.Error("thinning is not mentioned")
		}
	}
}

func TestHostileText(t *testing.T) {
	const evil = "</script></style></svg><script>alert(1)</script>\"'`<img src=x onerror=alert(1)>&amp;\x00\x1b\xff{{.}}"
	one := []float64{1, 2}
	page := write(t, &Report{Title: evil, Subtitle: evil, Sections: []Section{{Title: evil, Blocks: []Block{
		Paragraph(evil),
		Table{Caption: evil, Header: []string{evil}, Rows: [][]string{{evil}}, Note: evil},
		KeyValues{Caption: evil, Pairs: []KeyValue{{evil, evil}}},
		Bars{Caption: evil, Unit: evil, Rows: []Bar{{evil, 1, evil}}},
		LineChart{Title: evil, Caption: evil, XLabel: evil, YLabel: evil, Series: []Series{{Name: evil, X: one, Y: one}, {Name: evil, X: one, Y: []float64{1, math.NaN()}}}},
		Scatter2D{Title: evil, Caption: evil, XLabel: evil, YLabel: evil, X: one, Y: one, Class: []int{0, -1}, Classes: []string{evil}, Marked: []int{1}, MarkedName: evil},
		Scatter3D{Title: evil, Caption: evil, Labels: [3]string{evil, evil, evil}, X: one, Y: one, Z: one, Class: []int{0, -1}, Classes: []string{evil}},
		Surfaces{Title: evil, Caption: evil, XLabel: evil, YLabel: evil, X: one, Y: one, Class: []int{0, -1}, Classes: []string{evil, evil}, Marked: []int{1}, MarkedName: evil,
			Panels: []Surface{{evil, Grid{0, 3, 0, 3, 2, 2, []float64{1, -1, 1, -1}}}}},
		ImageStrip{Title: evil, Caption: evil, Width: 1, Height: 1, Images: []Image{{[]uint8{7}, evil, "1"}, {[]uint8{7}, "", evil}}},
	}}}})
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	if strings.Contains(page, "<img src=x") || strings.ContainsAny(page, "\x00\x1b") || strings.Contains(page, "\xff") {
		t.Error("hostile text came through")
	}
}

func TestOddNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	sets := [][]float64{nil, {}, {3}, {0}, {-5, -5}, {nan}, {nan, inf, -inf}, {1, nan, 3}, {math.MaxFloat64, -math.MaxFloat64}, {1e299, -1e299},
		{5e-324, 1e-310}, {1e-12, 2e-12, 3e-12}, {1e9, 1e9 + 1}, {1, 1 + 1e-16}, {1e-16, 1, 1e16}, {-1, 0, 1e-299, 1e299}}
	for _, x := range sets {
		for _, log := range []bool{false, true} {
			y := append([]float64(nil), x...)
			e := make([]float64, len(x))
			for i := range e {
				e[i] = []float64{nan, inf, -1, 0, 1e300, 0.5}[i%6]
			}
			page := blocks(t,
				LineChart{Title: "c", XLog: log, YLog: log, Series: []Series{{X: x, Y: y, Err: e}, {Name: "points", X: x, Y: y, Points: true}}},
				Scatter2D{Title: "p", X: x, Y: y, Marked: make([]int, min(1, len(x)))},
				Scatter3D{Title: "q", X: x, Y: y, Z: x})
			if len(x) == 0 && !strings.Contains(page, "no data") {
				t.Error("an empty chart must say so")
			}
			if len(page) > 60_000 {
				t.Errorf("%v: %d bytes", x, len(page))
			}
		}
	}
	blocks(t, LineChart{}, Scatter2D{}, Scatter3D{}, ImageStrip{}, Table{}, KeyValues{}, Bars{}, Paragraph(""), nil, &Scatter3D{},
		Bars{Rows: []Bar{{"a", nan, ""}, {"b", -1, ""}, {"c", 0, ""}, {"d", inf, ""}, {"e", 1e-9, ""}}})
	write(t, &Report{})
}

func TestFaultsAreReportedTogether(t *testing.T) {
	one, two := []float64{1}, []float64{1, 2}
	bad := []Block{
		LineChart{Series: []Series{{X: one, Y: two}}},
		LineChart{Series: []Series{{X: two, Y: two, Err: one}}},
		Scatter2D{X: one, Y: two},
		Scatter2D{X: one, Y: one, Class: []int{0, 0}, Classes: digits},
		Scatter2D{X: one, Y: one, Class: []int{10}, Classes: digits},
		Scatter2D{X: one, Y: one, Marked: []int{1}},
		Scatter3D{X: one, Y: one, Z: two},
		Scatter3D{X: one, Y: one, Z: one, Class: []int{0}, Classes: make([]string, 255)},
		ImageStrip{Width: 2, Height: 2, Images: []Image{{Pixels: []uint8{1}}}},
		ImageStrip{Images: []Image{{}}},
		Table{Header: []string{"a"}, Rows: [][]string{{"1", "2"}}},
		Table{Header: []string{"a"}, Rows: [][]string{{"1"}}, Best: []Cell{{1, 0}}},
	}
	var b bytes.Buffer
	err := Write(&b, &Report{Sections: []Section{{Title: "s", Blocks: bad}}})
	if err == nil || b.Len() > 0 {
		t.Fatalf("error %v, %d bytes written", err, b.Len())
	}
	for i := range bad {
		if want := fmt.Sprintf("block %d:", i+1); !strings.Contains(err.Error(), want) {
			t.Errorf("no fault in %s", want)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		log      bool
		min, max float64
		want     string
	}{
		{false, 0, 43, "0 10 20 30 40 50"},
		{false, 2.6, 45.2, "0 10 20 30 40 50"},
		{false, -0.011, 0.012, "−0.015 −0.010 −0.005 0 0.005 0.010 0.015"},
		{false, 0, 1, "0 0.2 0.4 0.6 0.8 1.0"},
		{false, 0, 3e7, "0 0.5·10⁷ 1.0·10⁷ 1.5·10⁷ 2.0·10⁷ 2.5·10⁷ 3.0·10⁷"},
		{false, 7, 7, "2 4 6 8 10 12"},
		{true, 20, 5000, "20 50 100 200 500 1000 2000 5000"},
		{true, 1e-12, 1e-2, "10⁻¹² 10⁻¹⁰ 10⁻⁸ 10⁻⁶ 10⁻⁴ 0.01"},
	} {
		ax := newAxis(c.log, c.min, c.max, 6, true, 0, 100)
		var got []string
		for _, k := range ax.ticks {
			if k.label != "" {
				got = append(got, k.label)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%g … %g: %s, want %s", c.min, c.max, s, c.want)
		}
		if ax.pos(c.min) < 0 || ax.pos(c.max) > 100 || ax.pos(c.min) > ax.pos(c.max) {
			t.Errorf("%g … %g at %g … %g", c.min, c.max, ax.pos(c.min), ax.pos(c.max))
		}
	}
}

// TestPalette measures what palette.go claims: any two colours keep a distance
// for every kind of colour vision, and none fades into the page.
func TestPalette(t *testing.T) {
	type vec [3]float64
	mul := func(m [3]vec, x vec) (y vec) {
		for i := range m {
			for j := range x {
				y[i] += m[i][j] * x[j]
			}
		}
		return y
	}
	// From linear sRGB to what protan, deutan and tritan eyes see: Machado,
	// Oliveira and Fernandes, IEEE TVCG 15 (2009), severity 1.
	visions := map[string][3]vec{
		"normal": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
		"tritan": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
	}
	// Linear sRGB to OKLab (Björn Ottosson, 2020): a matrix, cube roots, a matrix.
	toCone := [3]vec{{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005}}
	toLab := [3]vec{{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099}, {0.0259040371, 0.7827717662, -0.8086757660}}
	linear := func(hex string) (c vec) {
		var v [3]int
		if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &v[0], &v[1], &v[2]); err != nil {
			t.Fatal(err)
		}
		for i := range c {
			if c[i] = float64(v[i]) / 255; c[i] <= 0.04045 {
				c[i] /= 12.92
			} else {
				c[i] = math.Pow((c[i]+0.055)/1.055, 2.4)
			}
		}
		return c
	}
	lab := func(m [3]vec, c vec) vec {
		c = mul(m, c)
		for i := range c {
			c[i] = math.Min(1, math.Max(0, c[i]))
		}
		c = mul(toCone, c)
		for i := range c {
			c[i] = math.Cbrt(c[i])
		}
		return mul(toLab, c)
	}
	luminance := func(c vec) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }
	for _, p := range []struct {
		page    string
		colours [10]string
		least   float64 // contrast of a dot with the page
	}{{"#ffffff", lightPalette, 1.75}, {"#16191d", darkPalette, 2.9}} {
		ground := luminance(linear(p.page))
		for i, a := range p.colours {
			x, y := luminance(linear(a))+0.05, ground+0.05
			if c := math.Max(x, y) / math.Min(x, y); !(c >= p.least) {
				t.Errorf("%s on %s: contrast %.2f", a, p.page, c)
			}
			for _, b := range p.colours[:i] {
				for name, m := range visions {
					u, v := lab(m, linear(a)), lab(m, linear(b))
					if d := math.Hypot(math.Hypot(u[0]-v[0], u[1]-v[1]), u[2]-v[2]); !(d >= 0.11) {
						t.Errorf("%s and %s, %s vision: distance %.3f", a, b, name, d)
					}
				}
			}
		}
	}
}

// TestNamesDoNotOverlap puts all classes in one place.
func TestNamesDoNotOverlap(t *testing.T) {
	var p Scatter2D
	for i := range maxNames {
		p.Classes = append(p.Classes, fmt.Sprintf("class%02d", i))
		p.X, p.Y, p.Class = append(p.X, 0), append(p.Y, 0), append(p.Class, i)
	}
	var at []float64
	for _, m := range regexp.MustCompile(`class="class" x="[^"]*" y="([^"]*)"`).FindAllStringSubmatch(blocks(t, p), -1) {
		y, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range at {
			if !(math.Abs(y-o) >= 20) {
				t.Errorf("names at %g and %g", y, o)
			}
		}
		at = append(at, y)
	}
	if len(at) < 5 {
		t.Errorf("%d names", len(at))
	}
}
