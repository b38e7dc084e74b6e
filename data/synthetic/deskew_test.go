package synthetic

import (
	"math"
	"testing"

	"github.com/bigfit/bigfit/data"
)

// moments returns mass, centre and covariances of the ink.
func moments(image []uint8, width int) (mass, r, c, rr, rc float64) {
	for i, ink := range image {
		mass += float64(ink)
		r += float64(i/width) * float64(ink)
		c += float64(i%width) * float64(ink)
	}
	r, c = r/mass, c/mass
	for i, ink := range image {
		rr += (float64(i/width) - r) * (float64(i/width) - r) * float64(ink) / mass
		rc += (float64(i/width) - r) * (float64(i%width) - c) * float64(ink) / mass
	}
	return mass, r, c, rr, rc
}

// Digits stand upright in the middle, and what was upright stays.
func TestDeskew(t *testing.T) {
	x, _ := Digits(200, 5)
	y, err := Deskew(x, DigitSide)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Deskew(y, DigitSide)
	if err != nil {
		t.Fatal(err)
	}
	slanted, moved := 0.0, 0.0
	for i := range x.Rows {
		before, _, _, rr0, rc0 := moments(x.Row(i), DigitSide)
		slanted += math.Abs(rc0 / rr0)
		mass, r, c, rr, rc := moments(y.Row(i), DigitSide)
		const middle = float64(DigitSide-1) / 2
		if math.Abs(r-middle) > 0.4 || math.Abs(c-middle) > 0.4 || math.Abs(rc/rr) > 0.03 || math.Abs(mass/before-1) > 0.03 {
			t.Errorf("digit %d: centre (%.3f, %.3f), slope %.4f, %.4f of the ink", i, r, c, rc/rr, mass/before)
		}
		for j, v := range again.Row(i) {
			moved += math.Abs(float64(v)-float64(y.Row(i)[j])) / 255 / float64(len(x.Data))
		}
	}
	if slanted /= float64(x.Rows); slanted < 0.1 {
		t.Errorf("the digits are upright before, slope %.3f", slanted)
	}
	if moved > 0.02 {
		t.Errorf("a second time changes %.3f of the ink's range a pixel", moved)
	}
}

func TestDeskewEdges(t *testing.T) {
	empty := data.NewDense[uint8](2, 12)
	empty.Row(1)[5] = 200 // one pixel has no slope
	y, err := Deskew(empty, 4)
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range y.Row(0) {
		if v != 0 {
			t.Errorf("pixel %d of an empty image is %d", j, v)
		}
	}
	if mass, r, c, _, _ := moments(y.Row(1), 4); mass != 200 || r != 1 || c != 1.5 {
		t.Errorf("a pixel of 200 became %g at (%g, %g)", mass, r, c)
	}
	for _, width := range []int{0, -4, 5} {
		if _, err := Deskew(empty, width); err == nil {
			t.Errorf("width %d passes", width)
		}
	}
}
