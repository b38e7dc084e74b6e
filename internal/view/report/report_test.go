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
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/view/chart"
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
func cloud(n int, seed uint64) (p chart.Points, z []float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		c := i % 10
		a, h, s := 2*math.Pi*float64(c)/10, float64(c%3)-1, math.Sqrt(r.Float64())
		p.X = append(p.X, 0.01*s*math.Cos(a)+0.0008*r.NormFloat64())
		p.Y = append(p.Y, 0.01*s*math.Sin(a)+0.0008*r.NormFloat64())
		z = append(z, 0.01*s*h+0.0008*r.NormFloat64())
		p.Class = append(p.Class, c)
	}
	p.Classes = digits
	return p, z
}

var digits = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}

// sample is a page like that of bigfit demo.
func sample() *Report {
	labels := []float64{20, 50, 100, 500, 1000, 5000}
	points, z := cloud(10000, 1)
	points.Marked, points.MarkedName = []int{1, 22, 333, 1234, 5005, 6106, 7777, 8888}, "labeled"
	above := points
	above.Y = z
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
				Figure{Title: "Error by number of labels", Caption: "Mean over 20 draws; the bars are one standard deviation.", Charts: []chart.Chart{&chart.Lines{XLabel: "labels", YLabel: "error, %", XLog: true, Series: []chart.Series{
					{Name: "eigenmap", X: labels, Y: []float64{27.4, 11.2, 7, 4, 3.6, 3.1}, Err: []float64{3.1, 1.4, 0.5, 0.2, 0.1, 0.1}},
					{Name: "regularized", X: labels, Y: []float64{24.9, 9.1, 4.7, 3.3, 2.9, 2.6}, Err: []float64{2.8, 1.1, 0.6, 0.2, 0.1, 0.1}},
					{Name: "1 nearest neighbour", X: labels, Y: []float64{43, 30.2, 22.5, 11.2, 8.4, 5.1}, Err: []float64{2.2, 1.6, 0.9, 0.3, 0.2, 0.1}},
					{Name: "paper", X: labels[1:5], Y: []float64{14.8, 8.1, 4.4, 3.8}, Dashed: true},
				}}}},
			}},
			{"Eigenvalues", []Block{
				Figure{Title: "The spectrum", Caption: "The 200 smallest eigenvalues of the normalized Laplacian.", Charts: []chart.Chart{
					&chart.Lines{XLabel: "index", YLabel: "eigenvalue", Series: []chart.Series{{Name: "λ", X: index, Y: values, Points: true}}}}},
			}},
			{"Eigenmap", []Block{
				Figure{Title: "The first three eigenvectors", Caption: "Every dot is a digit.", Charts: []chart.Chart{
					&chart.Scatter{Title: "from above", XLabel: "eigenvector 2", YLabel: "eigenvector 3", Points: points}, &chart.Scatter{XLabel: "eigenvector 2", YLabel: "eigenvector 4", Points: above}}},
			}},
			{"Digits", []Block{strip}},
			{"Run", []Block{
				Figure{Title: "Time by stage", Charts: []chart.Chart{&chart.Bars{Unit: "s", Rows: []chart.Bar{{Name: "data", Value: 1.21}, {Name: "pca", Value: 0.82}, {Name: "graph", Value: 4.35}, {Name: "eigenpairs", Value: 12.9}}}}},
				KeyValues{Caption: "Settings", Pairs: []KeyValue{{"n", "10000"}, {"seed", "1"}, {"neighbours", "8"}, {"symmetrization", "either"}, {"weights", "one"}, {"Laplacian", "normalized"},
					{"run directory", "/home/somebody/experiments/2026-11-21/bigfit-demo-run-0001"}, {"graph hash", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}},
			}},
		},
	}
}

// TestSample writes a full page; with REPORT_SAMPLE set also to that file, to
// be looked at.
func TestSample(t *testing.T) {
	page := write(t, sample())
	for _, want := range []string{"<!DOCTYPE html>", `lang="en"`, `name="viewport"`, "prefers-color-scheme:dark", "--c0:#",
		`<p class="caption" aria-hidden="true">Error by number of labels</p>`, `class="num best"`, `role="img"`, "<title>The spectrum. Chart of eigenvalue over index.", "<td class=\"num\">24.9 ± 2.8</td>", "<summary>",
		`<p class="panel">from above</p>`, "<title>The first three eigenvectors, from above. Scatter plot of 10000 points", "<span>labeled</span>", "<span>paper</span>",
		`alt="predicted 3, correct"`, `alt="a 5 taken for 9"`, "✗", "2 of 24 are wrong", ">12.9 s</text>", `href="#s3"`} {
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
	points, _ := cloud(60000, 5)
	page := blocks(t, Figure{Title: "p", Charts: []chart.Chart{&chart.Scatter{Points: points}}})
	if len(page) > 400_000 {
		t.Errorf("%d bytes", len(page))
	}
	if n := strings.Count(page, "10000 of 60000 points are drawn."); n != 1 {
		t.Errorf("thinning is mentioned %d times", n)
	}
}

func TestHostileText(t *testing.T) {
	const evil = "</script></style></svg><script>alert(1)</script>\"'`<img src=x onerror=alert(1)>&amp;\x00\x1b\xff{{.}}"
	one := []float64{1, 2}
	page := write(t, &Report{Title: evil, Subtitle: evil, Sections: []Section{{Title: evil, Blocks: []Block{
		Paragraph(evil),
		Table{Caption: evil, Header: []string{evil}, Rows: [][]string{{evil}}, Note: evil},
		KeyValues{Caption: evil, Pairs: []KeyValue{{evil, evil}}},
		Figure{Title: evil, Caption: evil, Charts: []chart.Chart{&chart.Lines{Title: evil, XLabel: evil, Series: []chart.Series{{Name: evil, X: one, Y: one}, {Name: evil, X: one, Y: []float64{1, math.NaN()}}}}}},
		Figure{Title: evil, Charts: []chart.Chart{&chart.Bars{Title: evil, Rows: []chart.Bar{{Name: evil, Value: 1, Note: evil}}}, &chart.Scatter{Title: evil, YLabel: evil, Points: chart.Points{X: one, Y: one, Class: []int{0, -1}, Classes: []string{evil}}}}},
		ImageStrip{Title: evil, Caption: evil, Width: 1, Height: 1, Images: []Image{{[]uint8{7}, evil, "1", evil}, {[]uint8{7}, "", evil, ""}}},
	}}}})
	if n := strings.Count(page, "<script"); n != 0 {
		t.Errorf("%d scripts", n)
	}
	if strings.Contains(page, "<img src=x") || strings.ContainsAny(page, "\x00\x1b") || strings.Contains(page, "\xff") {
		t.Error("hostile text came through")
	}
}

func TestEmptyBlocks(t *testing.T) {
	page := blocks(t, Figure{}, &Figure{Charts: []chart.Chart{&chart.Lines{}, &chart.Scatter{}, &chart.Bars{}}}, ImageStrip{}, Table{}, KeyValues{}, Paragraph(""), nil)
	if n := strings.Count(page, "no data"); n != 2 {
		t.Errorf("%d empty charts say so", n)
	}
	write(t, &Report{})
}

func TestFaultsAreReportedTogether(t *testing.T) {
	one, two := []float64{1}, []float64{1, 2}
	bad := []Block{
		Figure{Charts: []chart.Chart{&chart.Lines{Series: []chart.Series{{X: one, Y: two}}}}},
		Figure{Charts: []chart.Chart{&chart.Lines{}, &chart.Scatter{Points: chart.Points{X: one, Y: two}}}},
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

// Words under cells and links from them.
func TestMarksAndLinks(t *testing.T) {
	table := Table{Header: []string{"a", "b"}, Rows: [][]string{{"x<", "1"}, {"y", "2"}}, Marks: []Mark{{Cell{0, 1}, "better", true, false}, {Cell{1, 1}, "missed", false, true}},
		Links: []Link{{Cell{0, 0}, "x.html"}, {Cell{1, 0}, "javascript:alert(1)"}}}
	var b strings.Builder
	if err := Write(&b, &Report{Title: "t", Index: "index.html", Sections: []Section{{Title: "s", Blocks: []Block{table}}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<a href="x.html">x&lt;</a>`, `1<small class="mark good">better</small>`, `2<small class="mark bad">missed</small>`, `<a href="index.html">All pages</a>`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "javascript:") {
		t.Error("a link runs a script")
	}
	table.Marks[0].Row, table.Links[0].Col = 2, -1
	err := Write(&b, &Report{Sections: []Section{{Blocks: []Block{table}}}})
	if err == nil || !strings.Contains(err.Error(), "marked cell (2, 1)") || !strings.Contains(err.Error(), "linked cell (0, -1)") {
		t.Errorf("got %v", err)
	}
}
