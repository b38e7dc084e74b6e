// Package synthetic draws sets of points with known classes or a known shape, and puts images of
// handwriting upright.
package synthetic

import (
	"fmt"
	"math/rand/v2"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic/internal/handwriting"
	"github.com/bigfit/bigfit/internal/num/par"
)

// DigitSide is the height and width of a digit image in pixels.
const DigitSide = handwriting.Side

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
// edges, badly written digits, touch the edges of other classes. Only the roughness
// of the ink's edges differs from pixel to pixel.
//
// The classes are uniform on the ten digits and independent; the labels list
// all ten classes even when a small n misses some. Point i depends on seed and i
// alone: a smaller set is a prefix of a larger one. Digits panics if n < 1.
func Digits(n int, seed uint64) (*data.Dense[uint8], *data.Labels) {
	if n < 1 {
		panic(fmt.Sprintf("synthetic: Digits of %d points", n))
	}
	x := data.NewDense[uint8](n, DigitSide*DigitSide)
	y := &data.Labels{Classes: make([]int64, handwriting.Classes), Index: make([]int32, n)}
	for c := range y.Classes {
		y.Classes[c] = int64(c)
	}
	const grain = 64
	pens := make([]handwriting.Pen, par.Workers(n, grain))
	par.ForWorker(n, grain, func(worker, lo, hi int) {
		for i := lo; i < hi; i++ {
			rng := pointRand(seed, streamDigits, i)
			class := rng.IntN(handwriting.Classes)
			y.Index[i] = int32(class)
			pens[worker].Write(x.Row(i), class, rng)
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
