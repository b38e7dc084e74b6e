// Package page serves the page to label with: one page, one script, one style sheet, and the picture or text of each point.
//
// Texts of the data reach the page as JSON, and the script writes them as text, never as HTML.
package page

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

//go:embed label.html label.css label.js
var files embed.FS

// Script and Style are the files beside the page.
var (
	Script = read("label.js")
	Style  = read("label.css")
)

var layout = string(read("label.html"))

func read(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return content
}

// Head is what the page says before the script runs.
type Head struct {
	Title     string // name of the points
	File      string // of the labels
	Annotator string
	Target    float64
}

// Render returns the page: label.html with texts, escaped, in the place of words in braces.
func Render(h Head) []byte {
	who := ""
	if h.Annotator != "" {
		who = ", as " + h.Annotator
	}
	return []byte(strings.NewReplacer("{title}", html.EscapeString(h.Title), "{file}", html.EscapeString(h.File),
		"{annotator}", html.EscapeString(who), "{target}", strconv.FormatFloat(h.Target, 'g', -1, 64)).Replace(layout))
}

// A Kind says how a column is shown.
type Kind string

// Kinds of what is shown.
const (
	Text   Kind = "text"
	Image  Kind = "image"  // files of pictures
	Audio  Kind = "audio"  // files of sound
	Pixels Kind = "pixels" // the coordinates of a point as an image
	Chart  Kind = "chart"  // the coordinates as bars
)

// A Column is shown of each point.
type Column struct {
	Name  string
	Kind  Kind
	Texts []string // or names of files, one a point; nil for pixels and charts
}

// Content is what is shown of the points.
type Content struct {
	Columns []Column
	Points  data.Points // for pixels and charts
	Names   []string    // of the columns of the points; nil for numbers
	// Width, Height and Channels are of the images that points are.
	Width, Height, Channels int

	// root is the folder of the files. Nothing outside of it can be opened, by links or dots either.
	root *os.Root
	path string

	once  sync.Once
	scale scale
}

// scale is the range of the values of some points.
type scale struct {
	low, high    float64   // of pixels
	mean, spread []float64 // of each column
}

// types are the types of the files that are served, by extension. SVG is none of them, as it may hold scripts.
var types = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
	".webp": "image/webp", ".bmp": "image/bmp", ".avif": "image/avif", ".wav": "audio/wav", ".mp3": "audio/mpeg",
	".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg", ".flac": "audio/flac", ".m4a": "audio/mp4"}

// KindOf says how a column of texts is shown: as pictures or sounds if most of the first texts name such files.
func KindOf(texts []string) Kind {
	const looked = 100
	count := map[Kind]int{}
	seen := 0
	for _, text := range texts {
		if text == "" {
			continue
		}
		if seen++; seen > looked {
			break
		}
		kind, _, _ := strings.Cut(types[strings.ToLower(filepath.Ext(text))], "/")
		count[Kind(kind)]++
	}
	for _, kind := range []Kind{Image, Audio} {
		if 2*count[kind] > min(seen, looked) {
			return kind
		}
	}
	return Text
}

// OpenFolder names the folder that files of columns lie in.
func (c *Content) OpenFolder(path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	c.root = root
	c.path, err = filepath.Abs(path)
	return err
}

// ShapeOf reads WIDTHxHEIGHT or WIDTHxHEIGHTx3, of points with the given number of columns.
func (c *Content) ShapeOf(text string, columns int) error {
	var numbers []int
	for part := range strings.SplitSeq(text, "x") {
		v, err := strconv.Atoi(part)
		if err != nil || v < 1 || v > 4096 {
			numbers = nil
			break
		}
		numbers = append(numbers, v)
	}
	if len(numbers) == 2 {
		numbers = append(numbers, 1)
	}
	if len(numbers) != 3 || numbers[2] != 1 && numbers[2] != 3 {
		return fmt.Errorf("%q is no shape of an image; it is such as 28x28, or 32x32x3 of three colours", text)
	}
	c.Width, c.Height, c.Channels = numbers[0], numbers[1], numbers[2]
	if want := c.Width * c.Height * c.Channels; want != columns {
		return fmt.Errorf("images of %s have %d numbers, and the points have %d columns", text, want, columns)
	}
	return nil
}

// An Item is a point as the page gets it.
type Item struct {
	Point int32  `json:"point"`
	ID    string `json:"id"`
	Parts []Part `json:"parts"`
	// Mine is the label of this annotator, Answer and P those of the model.
	Mine   string  `json:"mine"`
	Answer string  `json:"answer"`
	P      float64 `json:"p"`
}

// A Part is one column of an item.
type Part struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
	// Src is the address of a file or an image, relative to the page.
	Src string `json:"src,omitempty"`
	// Bars are the columns of a chart, the farthest from the mean first.
	Bars []Bar `json:"bars,omitempty"`
}

// A Bar is a value with its distance from the mean in standard deviations.
type Bar struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Far   float64 `json:"far"`
}

const (
	// mostLetters bounds a text on the page.
	mostLetters = 20_000
	// mostBars bounds the columns of a chart.
	mostBars = 16
	// mostFile bounds a file that is served.
	mostFile = 64 << 20
)

// Item returns what is shown of point i, whose id is given.
func (c *Content) Item(i int32, id string) Item {
	out := Item{Point: i, ID: id, Parts: []Part{}}
	for k, col := range c.Columns {
		p := Part{Kind: col.Kind, Name: col.Name}
		switch col.Kind {
		case Text:
			p.Text = cut(col.Texts[i])
		case Image, Audio:
			p.Text = filepath.Base(col.Texts[i])
			p.Src = fmt.Sprintf("file/%d/%d", k, i)
		case Pixels:
			p.Src = fmt.Sprintf("pixels/%d", i)
		case Chart:
			p.Bars = c.bars(i)
		}
		out.Parts = append(out.Parts, p)
	}
	return out
}

// cut bounds a text, and makes it valid UTF-8.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "�")
	if utf8.RuneCountInString(text) > mostLetters {
		return string([]rune(text)[:mostLetters-1]) + "…"
	}
	return text
}

// Shown names the columns, for the file of labels.
func (c *Content) Shown() string {
	var names []string
	for _, col := range c.Columns {
		names = append(names, col.Name)
	}
	return strings.Join(names, " ")
}

// ErrNoFile says that a point has no such file, or that the file may not be shown.
var ErrNoFile = errors.New("there is no such file in the folder of the files")

// File opens the file that column k names for point i, and returns its type. Only regular files within the
// folder are opened, whose extension is of a picture or a sound.
func (c *Content) File(k int, i int32) (*os.File, fs.FileInfo, string, error) {
	if k < 0 || k >= len(c.Columns) || c.root == nil {
		return nil, nil, "", ErrNoFile
	}
	col := &c.Columns[k]
	if col.Kind != Image && col.Kind != Audio || i < 0 || int(i) >= len(col.Texts) {
		return nil, nil, "", ErrNoFile
	}
	name := col.Texts[i]
	kind, ok := types[strings.ToLower(filepath.Ext(name))]
	if !ok {
		return nil, nil, "", ErrNoFile
	}
	// Whole paths are taken where they lead into the folder.
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(c.path, name)
		if err != nil {
			return nil, nil, "", ErrNoFile
		}
		name = rel
	}

	// Opening a pipe would wait for its other end, so the kind of the file is looked at first.
	info, err := c.root.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostFile {
		return nil, nil, "", ErrNoFile
	}
	f, err := c.root.Open(name)
	if err != nil {
		return nil, nil, "", ErrNoFile
	}
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, nil, "", ErrNoFile
	}
	return f, info, kind, nil
}

// looked is the number of points by which values are scaled.
const looked = 256

// scaled finds the ranges of the values, once.
func (c *Content) scaled() *scale {
	c.once.Do(func() {
		n, d := c.Points.Dims()
		s := &c.scale
		s.mean = make([]float64, d)
		s.spread = make([]float64, d)
		s.low = math.Inf(1)
		s.high = math.Inf(-1)
		row := make([]float64, d)
		count := min(n, looked)
		for k := range count {
			data.RowTo(row, c.Points, k*n/count)
			for j, v := range row {
				s.low = min(s.low, v)
				s.high = max(s.high, v)
				s.mean[j] += v / float64(count)
				s.spread[j] += v * v / float64(count)
			}
		}
		for j := range s.spread {
			s.spread[j] = math.Sqrt(max(0, s.spread[j]-s.mean[j]*s.mean[j]))
		}

		// Usual ranges of pixels are kept, so that a dark image stays dark.
		switch {
		case s.low >= 0 && s.high <= 1:
			s.low, s.high = 0, 1
		case s.low >= -1 && s.high <= 1:
			s.low, s.high = -1, 1
		case s.low >= 0 && s.high <= 255:
			s.low, s.high = 0, 255
		}
	})
	return &c.scale
}

// bars returns the columns in which point i is farthest from the mean.
func (c *Content) bars(i int32) []Bar {
	s := c.scaled()
	_, d := c.Points.Dims()
	row := make([]float64, d)
	data.RowTo(row, c.Points, int(i))
	out := make([]Bar, 0, d)
	for j, v := range row {
		b := Bar{Name: strconv.Itoa(j), Value: v}
		if c.Names != nil {
			b.Name = cut(c.Names[j])
		}
		if s.spread[j] > 0 {
			b.Far = (v - s.mean[j]) / s.spread[j]
		}
		if b.Far-b.Far == 0 && v-v == 0 { // JSON has no infinity
			out = append(out, b)
		}
	}

	// Few columns keep their order, so that points can be compared.
	if len(out) > mostBars {
		slices.SortStableFunc(out, func(a, b Bar) int {
			switch x, y := math.Abs(a.Far), math.Abs(b.Far); {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return 0
		})
		out = out[:mostBars]
	}
	return out
}

// PNG returns point i as an image.
func (c *Content) PNG(i int32) ([]byte, error) {
	if c.Width == 0 {
		return nil, ErrNoFile
	}
	n, d := c.Points.Dims()
	if i < 0 || int(i) >= n {
		return nil, ErrNoFile
	}
	s := c.scaled()
	row := make([]float64, d)
	data.RowTo(row, c.Points, int(i))
	at := func(k int) uint8 {
		return uint8(math.Round(255 * max(0, min(1, (row[k]-s.low)/(s.high-s.low)))))
	}
	img := image.NewRGBA(image.Rect(0, 0, c.Width, c.Height))
	for y := range c.Height {
		for x := range c.Width {
			k := (y*c.Width + x) * c.Channels
			pixel := color.RGBA{R: at(k), A: 255}
			pixel.G, pixel.B = pixel.R, pixel.R
			if c.Channels == 3 {
				pixel.G, pixel.B = at(k+1), at(k+2)
			}
			img.SetRGBA(x, y, pixel)
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

// CanChart tells whether the coordinates of points can be shown as bars: not those of sparse points, whose columns
// are words or the like by the thousand.
func CanChart(x data.Points) bool {
	_, isSparse := x.(*sparse.CSR)
	return x != nil && !isSparse
}
