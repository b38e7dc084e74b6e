package report

import (
	"bytes"
	"fmt"
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

func (s ImageStrip) render() (markup, error) {
	// Small pictures are enlarged by a whole factor.
	width, height := s.Width, s.Height
	if s.Width > 0 && s.Width < 56 {
		f := (56 + s.Width - 1) / s.Width
		width *= f
		height *= f
	}

	var b builder
	b.put("<ul class=\"strip\">\n")
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

		// The alternative text says in words what the frame and the cross show.
		mistaken := img.True != "" && img.Predicted != "" && img.True != img.Predicted
		var alt, class string
		shown := img.Predicted
		switch {
		case mistaken:
			wrong++
			class = "wrong"
			alt = "a " + img.True + " taken for " + img.Predicted
		case img.Predicted != "":
			alt = "predicted " + img.Predicted
			if img.True != "" {
				alt += ", correct"
			}
		default:
			alt = img.True
			shown = img.True
		}
		b.put(`<li%s><img src="%s" width="%d" height="%d" alt="%s"><span>%s`, classOf(class), uri, width, height, alt, shown)
		if mistaken {
			b.put(" ✗<small>true %s</small>", img.True)
		}
		b.put("</span>")
		b.putIf("<small>%s</small>", img.Note)
		b.put("</li>\n")
	}
	b.put("</ul>\n")

	f := figure{title: s.Title, caption: s.Caption, body: b.markup()}
	if wrong > 0 {
		f.notes = append(f.notes, fmt.Sprintf("%d of %d are wrong: framed, with ✗ and the true label.", wrong,
			len(s.Images)))
	}
	return f.markup(), nil
}

// encode returns pixels as a PNG in a data URI.
func (s ImageStrip) encode(pixels []uint8) (markup, error) {
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
