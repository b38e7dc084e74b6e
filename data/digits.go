package data

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bigfit/bigfit/internal/par"
)

// DigitSide is the height and width of a digit image in pixels.
const DigitSide = 28

// Digits draws n handwritten-looking digits: images of 28×28 pixels, row-major,
// ink from 0 (background) to 255, with full labels of the classes 0–9.
//
// Each class is a skeleton of pen strokes, smooth curves over a few knots, with
// two or three morphs that blend its ways of writing into each other without a
// break: the bar of the 7 grows out of its stem, the open 4 closes, the 2 grows
// a loop, the tail of the 9 bends. A digit is its class's skeleton with random
// morph weights and a little jitter of the knots, under sixteen numbers of the
// hand that writes it: a smooth elastic displacement, an affine map (size,
// aspect, slant, rotation, translation), width, pressure and darkness of the
// pen. All are uniform and act smoothly, so each class is a manifold, and its
// edges, badly written digits, meet those of other classes. Only the roughness
// of the ink's edges differs from pixel to pixel.
//
// The classes are uniform on the ten digits and independent; the labels list
// all ten classes even when a small n misses some. Point i depends on seed and i
// alone: a smaller set is a prefix of a larger one. Digits panics if n < 1.
func Digits(n int, seed uint64) (*Dense[uint8], *Labels) {
	if n < 1 {
		panic(fmt.Sprintf("data: Digits of %d points", n))
	}
	x := NewDense[uint8](n, DigitSide*DigitSide)
	y := &Labels{Classes: make([]int64, len(skeletons)), Index: make([]int32, n)}
	for c := range y.Classes {
		y.Classes[c] = int64(c)
	}
	const grain = 64
	pens := make([]pen, par.Workers(n, grain))
	par.ForWorker(n, grain, func(worker, lo, hi int) {
		for i := lo; i < hi; i++ {
			rng := pointRand(seed, streamDigits, i)
			class := rng.IntN(len(skeletons))
			y.Index[i] = int32(class)
			pens[worker].write(x.Row(i), &skeletons[class], rng)
		}
	})
	return x, y
}

// Streams of pointRand, one per generator.
const (
	streamDigits   = 0x646967697473 // "digits"
	streamMoons    = 0x6d6f6f6e73   // "moons"
	streamManifold = 0x6d616e69666f // "manifo"
)

// pointRand returns the generator of point i in a set drawn by seed. Streams of
// different points are unrelated; the point -1 is for the values that all points share.
func pointRand(seed, stream uint64, i int) *rand.Rand {
	return rand.New(rand.NewPCG(mix64(seed^mix64(stream)), mix64(uint64(int64(i)))))
}

// mix64 is a bijection of 64-bit words without visible structure: it spreads
// consecutive seeds and point numbers over the state space of the PCG.
func mix64(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>32) * 0xd6e8feb86659fd93
	z = (z ^ z>>32) * 0xd6e8feb86659fd93
	return z ^ z>>32
}

// Strengths of the deformations; a …Range is the half width of a uniform
// distribution. They are tuned as a whole: for 10,000 digits reduced to 50 or
// 100 principal components, with 100 random labels, the best of the 1-, 3- and
// 5-nearest-neighbour classifiers errs by about 27 %, least squares on the first
// 20 eigenvectors of the 10-neighbour graph by 3–7 %.
const (
	digitHeight    = 19.0 // pixels between the top and bottom knots, on average
	sizeRange      = 0.12 // relative, both axes together
	aspectRange    = 0.14 // relative width
	slantMean      = 0.12 // horizontal shift per height
	slantRange     = 0.32
	rotationRange  = 0.13 // radians
	shiftRange     = 1.0  // pixels
	knotJitter     = 4.0  // hundredths of the height
	elasticRange   = 7.0  // hundredths of the height, per mode
	radiusMean     = 1.15 // pixels
	radiusRange    = 0.45
	pressureRange  = 0.25 // relative change of the radius over the image
	edgeSoftness   = 0.70 // pixels from full ink to half
	edgeRoughness  = 0.12 // pixels, standard deviation
	darknessRange  = 0.15 // relative loss of ink
	curvePieceStep = 3.0  // hundredths of the height per straight piece
)

// vec is a point of a skeleton (x to the right, y down; a digit fills about
// 20–80 by 0–100) or of the image, in pixels.
type vec struct{ x, y float64 }

// sample is a point of the pen's path, in pixels, with the pen's radius there.
type sample struct {
	vec
	r float64
}

// pen holds the scratch memory of one goroutine.
type pen struct {
	knots []vec
	path  []sample
	depth [DigitSide * DigitSide]float64 // of a pixel inside the ink, in pixels
}

// write draws one digit of the class s into img.
func (p *pen) write(img []uint8, s *skeleton, rng *rand.Rand) {
	p.knots = append(p.knots[:0], s.knots...)
	for _, m := range s.morphs {
		// A little weight on both ends, where the morph is absent or complete.
		w := min(max(1.3*rng.Float64()-0.15, 0), 1)
		for _, d := range m {
			p.knots[d.knot].x += w * d.dx
			p.knots[d.knot].y += w * d.dy
		}
	}
	for i := range p.knots {
		p.knots[i].x += knotJitter * spread(rng)
		p.knots[i].y += knotJitter * spread(rng)
	}
	h := newHand(rng)
	for i := range p.depth {
		p.depth[i] = math.Inf(-1)
	}
	for _, stroke := range s.strokes {
		p.trace(stroke, h)
		for i := 1; i < len(p.path); i++ {
			p.ink(p.path[i-1], p.path[i])
		}
	}
	for i, d := range p.depth {
		img[i] = 0
		if d > -2 {
			d += edgeRoughness * rng.NormFloat64()
			img[i] = uint8(math.Round(255 * h.darkness * smoothstep((d+edgeSoftness)/(2*edgeSoftness))))
		}
	}
}

// trace sets p.path to the image of the quadratic B-spline whose control
// polygon is the stroke's knots: it begins and ends in the first and the last,
// touches the inner edges at their midpoints, and turns sharply in a knot that
// is repeated.
func (p *pen) trace(stroke []int, h *hand) {
	p.path = p.path[:0]
	last := len(stroke) - 1
	a := p.knots[stroke[0]]
	p.path = append(p.path, h.apply(a))
	for k := 1; k <= max(last-1, 1); k++ {
		b := p.knots[stroke[k]]
		c := b
		switch {
		case last == 1:
			b = vec{(a.x + c.x) / 2, (a.y + c.y) / 2}
		case k == last-1:
			c = p.knots[stroke[last]]
		default:
			next := p.knots[stroke[k+1]]
			c = vec{(b.x + next.x) / 2, (b.y + next.y) / 2}
		}
		length := math.Hypot(b.x-a.x, b.y-a.y) + math.Hypot(c.x-b.x, c.y-b.y)
		pieces := 1 + int(length/curvePieceStep)
		for i := 1; i <= pieces; i++ {
			t := float64(i) / float64(pieces)
			wa, wb, wc := (1-t)*(1-t), 2*t*(1-t), t*t
			p.path = append(p.path, h.apply(vec{wa*a.x + wb*b.x + wc*c.x, wa*a.y + wb*b.y + wc*c.y}))
		}
		a = c
	}
}

// ink raises p.depth near the straight piece from a to b.
func (p *pen) ink(a, b sample) {
	reach := max(a.r, b.r) + 2
	x0 := max(int(math.Ceil(min(a.x, b.x)-reach)), 0)
	x1 := min(int(math.Floor(max(a.x, b.x)+reach)), DigitSide-1)
	y0 := max(int(math.Ceil(min(a.y, b.y)-reach)), 0)
	y1 := min(int(math.Floor(max(a.y, b.y)+reach)), DigitSide-1)
	dx, dy := b.x-a.x, b.y-a.y
	scale := 1 / max(dx*dx+dy*dy, 1e-12)
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			px, py := float64(x)-a.x, float64(y)-a.y
			t := min(max((px*dx+py*dy)*scale, 0), 1)
			ex, ey := px-t*dx, py-t*dy
			depth := a.r + t*(b.r-a.r) - math.Sqrt(ex*ex+ey*ey)
			at := &p.depth[y*DigitSide+x]
			*at = max(*at, depth)
		}
	}
}

// hand is one way of writing: the map from skeleton to image, and the pen.
type hand struct {
	bowX, bowY       [3]float64 // elastic modes
	xx, xy, yx, yy   float64    // linear part, pixels per skeleton unit
	shiftX, shiftY   float64
	radius, darkness float64
	pressX, pressY   float64
}

func newHand(rng *rand.Rand) *hand {
	h := &hand{}
	for m := range h.bowX {
		h.bowX[m] = elasticRange / float64(1+m/2) * spread(rng)
		h.bowY[m] = elasticRange / float64(1+m/2) * spread(rng)
	}
	height := digitHeight / 100 * (1 + sizeRange*spread(rng))
	width := height * (1 + aspectRange*spread(rng))
	slant := slantMean + slantRange*spread(rng)
	sin, cos := math.Sincos(rotationRange * spread(rng))
	// Rotation · shear · scale, in image coordinates; y points down.
	h.xx, h.xy = cos*width, -cos*slant*height-sin*height
	h.yx, h.yy = sin*width, -sin*slant*height+cos*height
	h.shiftX = (DigitSide-1)/2.0 + shiftRange*spread(rng)
	h.shiftY = (DigitSide-1)/2.0 + shiftRange*spread(rng)
	h.radius = radiusMean + radiusRange*spread(rng)
	h.darkness = 1 - darknessRange*rng.Float64()
	h.pressX = pressureRange * spread(rng)
	h.pressY = pressureRange * spread(rng)
	return h
}

// apply maps a point of the skeleton to the image.
func (h *hand) apply(p vec) sample {
	sx, cx := math.Sincos(math.Pi * p.x / 100)
	sy, cy := math.Sincos(math.Pi * p.y / 100)
	// sin πt bows, cos πt stretches one half, sin 2πt makes an S.
	x := p.x - 50 + h.bowX[0]*sy + h.bowX[1]*cy*cx + h.bowX[2]*2*sy*cy
	y := p.y - 50 + h.bowY[0]*sy + h.bowY[1]*sx + h.bowY[2]*2*sx*cx
	return sample{
		vec: vec{h.xx*x + h.xy*y + h.shiftX, h.yx*x + h.yy*y + h.shiftY},
		r:   h.radius * (1 + h.pressX*cx + h.pressY*cy),
	}
}

// spread returns a uniform number in [-1, 1).
func spread(rng *rand.Rand) float64 { return 2*rng.Float64() - 1 }

// smoothstep rises from 0 at t ≤ 0 to 1 at t ≥ 1 with zero slope at both ends.
func smoothstep(t float64) float64 {
	t = min(max(t, 0), 1)
	return t * t * (3 - 2*t)
}
