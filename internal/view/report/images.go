package report

import (
	"bytes"
	"fmt"
	"html/template"
	"image"
	"image/png"
)

// An ImageStrip is a row of small grayscale pictures with what they are and
// what they were taken for; it breaks into several rows where it must.
type ImageStrip struct {
	Title         string
	Caption       string
	Width, Height int
	Invert        bool // draw 0 white and 255 black
	Images        []Image
}

// An Image is one picture of an ImageStrip. It counts as wrong if True and
// Predicted are both given and differ.
type Image struct {
	Pixels    []uint8 // Height·Width gray levels, row by row
	True      string  // empty if unknown
	Predicted string  // empty to show True only
	Note      string  // a few words below; may be empty
}

func (s ImageStrip) render() (template.HTML, error) {
	type item struct {
		URI                          template.URL
		Alt, Predicted, Actual, Note string
		Wrong                        bool
	}

	data := struct {
		Width, Height int // as shown
		Items         []item
	}{Width: s.Width, Height: s.Height}
	// Small pictures are enlarged by a whole factor.
	if s.Width > 0 && s.Width < 56 {
		f := (56 + s.Width - 1) / s.Width
		data.Width = f * s.Width
		data.Height = f * s.Height
	}

	// The alternative text says in words what the frame and the cross show.
	wrong := 0
	for i, img := range s.Images {
		if s.Width <= 0 || s.Height <= 0 || len(img.Pixels) != s.Width*s.Height {
			return "", fmt.Errorf("image strip %q: image %d has %d pixels, not %d×%d", s.Title, i,
				len(img.Pixels), s.Width, s.Height)
		}
		uri, err := s.encode(img.Pixels)
		if err != nil {
			return "", err
		}
		it := item{URI: uri, Predicted: img.Predicted, Actual: img.True, Note: img.Note}
		it.Wrong = img.True != "" && img.Predicted != "" && img.True != img.Predicted
		switch {
		case it.Wrong:
			wrong++
			it.Alt = "a " + it.Actual + " taken for " + it.Predicted
		case it.Predicted != "":
			it.Alt = "predicted " + it.Predicted
			if it.Actual != "" {
				it.Alt += ", correct"
			}
		default:
			it.Alt = it.Actual
			it.Predicted = it.Actual
		}

		data.Items = append(data.Items, it)
	}

	body, err := execute("strip", data)
	if err != nil {
		return "", err
	}
	var notes []string
	if wrong > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d are wrong: framed, with ✗ and the true label.", wrong,
			len(s.Images)))
	}
	return execute("figure", figure{Title: s.Title, Caption: s.Caption, Notes: notes, Body: body})
}

// encode returns pixels as a PNG in a data URI.
func (s ImageStrip) encode(pixels []uint8) (template.URL, error) {
	img := image.NewGray(image.Rect(0, 0, s.Width, s.Height))
	for i, v := range pixels {
		if s.Invert {
			v = 255 - v
		}
		img.Pix[i] = v
	}

	// Thumbnails are a large part of a page, so the time for the best compression pays.
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img); err != nil {
		return "", err
	}
	return dataURI("image/png", b.Bytes()), nil
}
