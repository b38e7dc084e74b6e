package findings

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // decoder
	"image/jpeg"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "golang.org/x/image/bmp" // decoder
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // decoder

	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

// Shown is a column of the metadata that a report shows with the points: texts, or names of picture
// files, which become thumbnails inside the page.
type Shown struct {
	Name  string   // of the column
	Texts []string // one a point
	// Folder is where relative names of pictures begin; a name that does not exist there is looked for
	// in the current directory.
	Folder string

	// Pictures and Missing count the thumbnails of the page, and the names of pictures without one.
	Pictures, Missing int
	// FirstMissing says why the first of them is missing.
	FirstMissing string

	bytes int
}

const (
	// mostShown and mostHovered are the lengths of a text in a table and under the pointer, in letters.
	mostShown   = 240
	mostHovered = 100

	// thumbSide is the longer side of a thumbnail in pixels. Smaller pictures stay as they are.
	thumbSide = 96
	// mostThumbs bounds the bytes of all thumbnails of a page.
	mostThumbs = 2 << 20
	// mostPixels and mostFile bound the pictures that are decoded: 64 million pixels take up to 256 MiB.
	mostPixels = 64 << 20
	mostFile   = 64 << 20
)

// pictureTypes are the extensions of files that are taken for pictures.
var pictureTypes = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif", ".svg"}

// text returns the text of point i, cut to most letters.
func (s *Shown) text(i, most int) string {
	text := strings.Join(strings.Fields(s.Texts[i]), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// isPicture tells whether the text of point i is the name of a picture file on this machine.
func (s *Shown) isPicture(i int) bool {
	return slices.Contains(pictureTypes, strings.ToLower(filepath.Ext(s.Texts[i]))) && !isURL(s.Texts[i])
}

// isURL tells whether a text is the address of a page or a picture.
func isURL(text string) bool {
	return (strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")) &&
		!strings.ContainsAny(text, " \n\t")
}

// add adds the column to a table on points, beside their names: a reader recognizes the point before
// the numbers tell about it.
func (s *Shown) add(t *report.Table, rows []int) {
	const col = 1
	t.Header = slices.Insert(t.Header, col, s.Name)
	missing := 0
	for at := range t.Rows {
		cell := report.Cell{Row: at, Col: col}
		i := rows[at]
		t.Rows[at] = slices.Insert(t.Rows[at], col, s.text(i, mostShown))
		switch {
		case isURL(s.Texts[i]):
			t.Links = append(t.Links, report.Link{Cell: cell, URL: s.Texts[i]})
		case s.isPicture(i):
			p, err := s.thumbnail(s.Texts[i])
			if err != nil {
				missing++
				t.Marks = append(t.Marks, report.Mark{Cell: cell, Text: err.Error(), Bad: true})
				s.miss(i, err)
				continue
			}
			p.Cell = cell
			p.Alt = filepath.Base(s.Texts[i])
			t.Pictures = append(t.Pictures, *p)
		}
	}

	if missing > 0 {
		t.Note = strings.TrimSpace(fmt.Sprintf("%s %d of %d pictures cannot be shown.", t.Note, missing, len(t.Rows)))
	}
}

// miss counts a picture that cannot be shown.
func (s *Shown) miss(i int, err error) {
	s.Missing++
	if s.FirstMissing == "" {
		s.FirstMissing = fmt.Sprintf("%s: %v", chart.Clean(s.text(i, mostHovered)), err)
	}
}

// thumbnail returns a small picture of a file.
func (s *Shown) thumbnail(name string) (*report.Picture, error) {
	img, err := s.read(name)
	if err != nil {
		return nil, err
	}
	small, kind, err := shrink(img)
	if err != nil {
		return nil, err
	}
	if s.bytes+len(small.Data) > mostThumbs {
		return nil, errors.New("left out, the page has enough pictures")
	}
	s.bytes += len(small.Data)
	s.Pictures++
	small.Type = kind
	return small, nil
}

// read decodes a picture file.
func (s *Shown) read(name string) (image.Image, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Folder, name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			path = name
		}
	}

	// A name may be a folder, a device or a file of any size.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("no such file")
	case err != nil:
		return nil, errors.New("cannot be opened")
	case !info.Mode().IsRegular():
		return nil, errors.New("no file")
	case info.Size() > mostFile:
		return nil, errors.New("too large to be shown")
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, errors.New("cannot be read")
	}

	// The size is known before the pixels take memory.
	header, _, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return nil, errors.New("not a PNG, JPEG, GIF, WebP or BMP picture")
	}
	if header.Width <= 0 || header.Height <= 0 || header.Width > mostPixels/header.Height {
		return nil, errors.New("too large to be shown")
	}
	img, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, errors.New("a damaged picture")
	}
	return turn(img, orientation(content)), nil
}

// shrink returns a picture whose longer side has at most thumbSide pixels, and its type.
func shrink(img image.Image) (*report.Picture, string, error) {
	b := img.Bounds()
	w := b.Dx()
	h := b.Dy()
	if side := max(w, h); side > thumbSide {
		w = max(1, w*thumbSide/side)
		h = max(1, h*thumbSide/side)
	}

	// Transparent parts become white, as JPEG has none.
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(small, small.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.BiLinear.Scale(small, small.Bounds(), img, b, draw.Over, nil)
	out := &report.Picture{Width: w, Height: h}

	// Pictures of few pixels, such as icons and digits, keep them sharp.
	var encoded bytes.Buffer
	if max(b.Dx(), b.Dy()) <= thumbSide/2 {
		if err := png.Encode(&encoded, small); err != nil {
			return nil, "", err
		}
		out.Data = encoded.Bytes()
		out.Width *= 2
		out.Height *= 2
		return out, "image/png", nil
	}
	if err := jpeg.Encode(&encoded, small, &jpeg.Options{Quality: 82}); err != nil {
		return nil, "", err
	}
	out.Data = encoded.Bytes()
	return out, "image/jpeg", nil
}
