package findings

import (
	"math"
	"math/rand/v2"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

// An imageShape says how points are shown as square grey images.
type imageShape struct {
	side      int     // of a thumbnail
	step      int     // pixels of the image to a side of one of the thumbnail's
	low, high float64 // values of black and white
}

const (
	leastSide = 8
	mostSide  = 64 // of a thumbnail; larger images are made smaller
	looked    = 64 // points that are looked at
)

// SquareImages returns the side in pixels of the square images that points are, by the rule of reports; 0 for others.
func SquareImages(x data.Points) int {
	if findImages(x) == nil {
		return 0
	}
	_, d := x.Dims()
	return int(math.Round(math.Sqrt(float64(d))))
}

// findImages tells whether points are square images: their columns are a square number
// of at least 64, all values looked at are bytes, or between 0 and 1 or −1 and 1, and pixels
// above each other are more alike than any two of the image. It returns nil for others.
func findImages(x data.Points) *imageShape {
	if x == nil {
		return nil
	}
	if _, ok := x.(*sparse.CSR); ok {
		return nil
	}
	// 64 columns, 8×8, are the smallest images of digits in use.
	n, d := x.Dims()
	side := int(math.Round(math.Sqrt(float64(d))))
	if n == 0 || side < leastSide || side*side != d {
		return nil
	}

	// The generator has a fixed seed: the same points give the same report.
	rng := rand.New(rand.NewPCG(uint64(d), 1))
	low := 0.0
	high := 0.0
	whole := true
	var near, far float64
	row := make([]float64, d)
	for q := range min(n, looked) {
		// Rows at equal distances: files are often sorted by class.
		data.RowTo(row, x, q*n/min(n, looked))
		for j, v := range row {
			low = min(low, v)
			high = max(high, v)
			whole = whole && v == math.Trunc(v)
			if !(v-v == 0) {
				return nil
			}
			// The squared difference to the pixel above, and to any pixel of the same image.
			if j >= side {
				near += (v - row[j-side]) * (v - row[j-side])
				other := row[rng.IntN(d)]
				far += (v - other) * (v - other)
			}
		}
	}

	// In embeddings columns above each other are as different as any two, a ratio near 1.
	if !(near < 0.7*far) {
		return nil
	}
	s := &imageShape{side: side, step: (side + mostSide - 1) / mostSide, low: 0, high: 1}
	// The range of the values decides which of them are black and white.
	switch {
	case whole && low >= 0 && high > 1 && high <= 255:
		s.high = 255
	case low >= 0 && high <= 1:
	case low >= -1 && high <= 1:
		s.low = -1
	default:
		return nil
	}

	s.side = side / s.step
	return s
}

// pixels returns image i, of means of step×step pixels.
func (s *imageShape) pixels(x data.Points, i int) []uint8 {
	_, d := x.Dims()
	row := make([]float64, d)
	data.RowTo(row, x, i)
	side := int(math.Round(math.Sqrt(float64(d))))
	out := make([]uint8, 0, s.side*s.side)
	for r := range s.side {
		for c := range s.side {
			sum := 0.0
			for u := range s.step {
				for v := range s.step {
					sum += row[(r*s.step+u)*side+c*s.step+v]
				}
			}
			// A mean of pixels keeps thin strokes visible, which every other pixel would lose.
			mean := sum / float64(s.step*s.step)
			out = append(out, uint8(math.Round(255*max(0, min(1, (mean-s.low)/(s.high-s.low))))))
		}
	}

	return out
}
