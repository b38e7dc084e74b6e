// Package handwriting draws digits as a hand writes them: see synthetic.Digits, which says how
// the classes look and vary.
package handwriting

import (
	"math"
	"math/rand/v2"
)

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

// Side is the height and width of an image in pixels.
const Side = 28

// Classes is the number of classes, the digits 0 to 9.
const Classes = len(skeletons)

// Pen holds the scratch memory of one goroutine.
type Pen struct {
	knots []vec
	path  []sample
	depth [Side * Side]float64 // of a pixel inside the ink, in pixels
}

// Write draws one digit of a class into img, of Side rows of Side pixels: ink from 0
// (background) to 255.
func (p *Pen) Write(img []uint8, class int, rng *rand.Rand) {
	s := &skeletons[class]
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

// trace sets p.path to the image of a quadratic B-spline with the stroke's knots as its control
// polygon: it begins and ends in the first and the last, touches the inner edges at their
// midpoints, and turns sharply in a knot that is repeated.
func (p *Pen) trace(stroke []int, h *hand) {
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
			wa := (1 - t) * (1 - t)
			wb := 2 * t * (1 - t)
			wc := t * t
			p.path = append(p.path, h.apply(vec{wa*a.x + wb*b.x + wc*c.x, wa*a.y + wb*b.y + wc*c.y}))
		}

		a = c
	}
}

// ink raises p.depth near the straight piece from a to b.
func (p *Pen) ink(a, b sample) {
	reach := max(a.r, b.r) + 2
	x0 := max(int(math.Ceil(min(a.x, b.x)-reach)), 0)
	x1 := min(int(math.Floor(max(a.x, b.x)+reach)), Side-1)
	y0 := max(int(math.Ceil(min(a.y, b.y)-reach)), 0)
	y1 := min(int(math.Floor(max(a.y, b.y)+reach)), Side-1)
	dx := b.x - a.x
	dy := b.y - a.y
	scale := 1 / max(dx*dx+dy*dy, 1e-12)
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			px := float64(x) - a.x
			py := float64(y) - a.y
			t := min(max((px*dx+py*dy)*scale, 0), 1)
			ex := px - t*dx
			ey := py - t*dy
			depth := a.r + t*(b.r-a.r) - math.Sqrt(ex*ex+ey*ey)
			at := &p.depth[y*Side+x]
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
	h.xx = cos * width
	h.xy = -cos*slant*height - sin*height
	h.yx = sin * width
	h.yy = -sin*slant*height + cos*height
	h.shiftX = (Side-1)/2.0 + shiftRange*spread(rng)
	h.shiftY = (Side-1)/2.0 + shiftRange*spread(rng)
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
