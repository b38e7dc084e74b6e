package findings

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"testing"
)

// oriented returns a white JPEG of 80×40 pixels whose top left quarter is black as stored, with an orientation.
func oriented(t *testing.T, orientation uint16, order binary.AppendByteOrder, mark string) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 80, 40))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for y := range 20 {
		for x := range 40 {
			img.SetGray(x, y, color.Gray{})
		}
	}
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, img, nil); err != nil {
		t.Fatal(err)
	}

	// Two entries, the second of which is the orientation.
	tiff := order.AppendUint16([]byte(mark), 42)
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	for _, entry := range [][2]uint16{{0x010f, 9}, {orientationTag, orientation}} {
		tiff = order.AppendUint16(tiff, entry[0])
		tiff = order.AppendUint16(tiff, 3)
		tiff = order.AppendUint32(tiff, 1)
		tiff = order.AppendUint16(tiff, entry[1])
		tiff = order.AppendUint16(tiff, 0)
	}
	segment := append([]byte("Exif\x00\x00"), tiff...)
	out := []byte{0xff, 0xd8, 0xff, 0xe1}
	out = binary.BigEndian.AppendUint16(out, uint16(len(segment)+2))
	out = append(out, segment...)
	return append(out, plain.Bytes()[2:]...)
}

// TestOrientation turns a picture in all eight ways: the corner that is black afterwards is the one that
// Exif names.
func TestOrientation(t *testing.T) {
	corners := []string{"", "top left", "top right", "bottom right", "bottom left", "top left", "top right", "bottom right",
		"bottom left"}
	for o := 1; o <= 8; o++ {
		for _, order := range []struct {
			binary.AppendByteOrder
			mark string
		}{{binary.LittleEndian, "II"}, {binary.BigEndian, "MM"}} {
			content := oriented(t, uint16(o), order.AppendByteOrder, order.mark)
			if got := orientation(content); got != o {
				t.Fatalf("%s: orientation %d is read as %d", order.mark, o, got)
			}
			stored, err := jpeg.Decode(bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}

			img := turn(stored, o)
			w, h := img.Bounds().Dx(), img.Bounds().Dy()
			if upright := o < 5; upright != (w == 80 && h == 40) || !upright && (w != 40 || h != 80) {
				t.Errorf("orientation %d: %d×%d", o, w, h)
			}
			for _, corner := range []struct {
				name string
				x, y int
			}{{"top left", 4, 4}, {"top right", w - 5, 4}, {"bottom left", 4, h - 5}, {"bottom right", w - 5, h - 5}} {
				level, _, _, _ := img.At(corner.x, corner.y).RGBA()
				if black := level < 0x4000; black != (corner.name == corners[o]) {
					t.Errorf("orientation %d: %s is black: %v", o, corner.name, black)
				}
			}
		}
	}
}

// TestOrientationDamaged cuts and changes the file at each byte of its header.
func TestOrientationDamaged(t *testing.T) {
	content := oriented(t, 6, binary.LittleEndian, "II")
	for i := range 80 {
		if got := orientation(content[:i]); got != 1 && got != 6 {
			t.Errorf("cut at %d: %d", i, got)
		}
		for _, value := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			changed := bytes.Clone(content)
			changed[i] = value
			if got := orientation(changed); got < 1 || got > 8 {
				t.Errorf("byte %d is %d: %d", i, value, got)
			}
		}
	}
}
