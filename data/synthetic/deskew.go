package synthetic

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
)

// Deskew returns images of the given width, row-major, with their ink upright and centred. Each
// image is sheared along its rows until the covariance of the row and the column of its ink is
// zero, and moved so that the centre of mass is in the middle of the image, by linear
// interpolation. With ink p of mass Σp, centre (r̄, c̄) and slope a = Σ(r−r̄)(c−c̄)p / Σ(r−r̄)²p,
// pixel (r, c) of the result, counted from the middle, is the ink at (r̄ + r, c̄ + c + a·r).
// Handwriting differs in slant from hand to hand, and the slant says nothing of the letter (LeCun,
// Bottou, Bengio & Haffner 1998, section III). An empty image stays empty. It costs a few
// operations a pixel.
func Deskew(x *data.Dense[uint8], width int) (*data.Dense[uint8], error) {
	if width < 1 || x.Cols%width != 0 {
		return nil, fmt.Errorf("synthetic: images of %d pixels and a width of %d; the width must "+
			"divide the number of pixels", x.Cols, width)
	}
	out := data.NewDense[uint8](x.Rows, x.Cols)
	par.For(x.Rows, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			deskew(out.Row(i), x.Row(i), width)
		}
	})
	return out, nil
}

// deskew writes one image.
func deskew(dst, src []uint8, width int) {
	height := len(src) / width
	var mass, rows, cols, squares, products float64
	for r := range height {
		for c, ink := range src[r*width:][:width] {
			p := float64(ink)
			mass += p
			rows += float64(r) * p
			cols += float64(c) * p
			squares += float64(r*r) * p
			products += float64(r*c) * p
		}
	}

	if mass == 0 {
		return
	}
	// A single row of ink has no slope.
	midRow := rows / mass
	midCol := cols / mass
	var slope float64
	if spread := squares/mass - midRow*midRow; spread > 1e-9 {
		slope = (products/mass - midRow*midCol) / spread
	}

	at := func(r, c int) float64 {
		if r < 0 || r >= height || c < 0 || c >= width {
			return 0
		}
		return float64(src[r*width+c])
	}

	// Interpolate between the four pixels around the source of each pixel.
	for r := range height {
		down := float64(r) - float64(height-1)/2
		y := midRow + down
		r0 := math.Floor(y)
		fy := y - r0
		for c := range width {
			x := midCol + slope*down + float64(c) - float64(width-1)/2
			c0 := math.Floor(x)
			fx := x - c0
			i := int(r0)
			j := int(c0)
			v := (1-fy)*((1-fx)*at(i, j)+fx*at(i, j+1)) + fy*((1-fx)*at(i+1, j)+fx*at(i+1, j+1))
			dst[r*width+c] = uint8(math.Round(v))
		}
	}
}
