package findings

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
)

// orientationTag is the tag of the orientation in Exif 2.32, section 4.6.4.
const orientationTag = 0x0112

// orientation returns how a JPEG file wants to be turned, 1 to 8 as in Exif; 1 where it does not say.
// Cameras and telephones store pictures as the sensor lies, and write the turn beside them.
func orientation(content []byte) int {
	tiff := exif(content)
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}

	// The first directory has entries of 12 bytes: tag, type, count, value.
	start := int64(order.Uint32(tiff[4:]))
	if start+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[start+2:]
	for range order.Uint16(tiff[start:]) {
		if len(entries) < 12 {
			return 1
		}
		if order.Uint16(entries) == orientationTag {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 1
		}
		entries = entries[12:]
	}
	return 1
}

// exif returns the TIFF block in the Exif segment of a JPEG file, nil if there is none.
func exif(content []byte) []byte {
	const soi, app1, sos = "\xff\xd8", 0xe1, 0xda
	rest, ok := bytes.CutPrefix(content, []byte(soi))
	if !ok {
		return nil
	}

	// A segment is 0xff, its marker, and its length with the two bytes of the length.
	for len(rest) >= 4 && rest[0] == 0xff && rest[1] != sos {
		size := int(binary.BigEndian.Uint16(rest[2:]))
		if size < 2 || size+2 > len(rest) {
			return nil
		}
		if tiff, ok := bytes.CutPrefix(rest[4:2+size], []byte("Exif\x00\x00")); ok && rest[1] == app1 {
			return tiff
		}
		rest = rest[2+size:]
	}
	return nil
}

// turned is a picture as its orientation wants it.
type turned struct {
	image.Image
	orientation int
}

// turn returns the picture turned by an orientation of Exif.
func turn(img image.Image, orientation int) image.Image {
	if orientation <= 1 {
		return img
	}
	return &turned{Image: img, orientation: orientation}
}

// Bounds begin at 0, 0.
func (t *turned) Bounds() image.Rectangle {
	b := t.Image.Bounds()
	if t.orientation >= 5 {
		return image.Rect(0, 0, b.Dy(), b.Dx())
	}
	return image.Rect(0, 0, b.Dx(), b.Dy())
}

// At returns the pixel of the stored picture that is shown at x, y.
func (t *turned) At(x, y int) color.Color {
	b := t.Image.Bounds()
	if t.orientation >= 5 {
		x, y = y, x
	}
	switch t.orientation {
	case 2, 3, 7, 8:
		x = b.Dx() - 1 - x
	}
	switch t.orientation {
	case 3, 4, 6, 7:
		y = b.Dy() - 1 - y
	}
	return t.Image.At(b.Min.X+x, b.Min.Y+y)
}
