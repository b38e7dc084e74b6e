package dense

import (
	"encoding/binary"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// packRows is the number of rows packed by one task, about.
const packRows = 512

// A PackedU8 is a matrix of bytes, rows×k, laid out as one side of exact
// products A·Bᵀ. It is immutable and safe for concurrent use.
type PackedU8 struct {
	rows, k, words, panel int
	data                  []uint32 // panels of panel rows
	start                 []int32  // of the left side: where the sums of a row begin
}

// MaxInnerU8 is the largest number of columns of a PackedU8, for which the sums of products of
// bytes stay below 2³¹.
const MaxInnerU8 = (1<<31 - 1) / (255 * 255)

// PackAU8 copies x, the bytes of a matrix of rows×k (or with t = Transposed, of
// k×rows), its rows ld elements apart, into the left side of products. k is at
// most MaxInnerU8.
func PackAU8(t Trans, x []uint8, rows, k, ld int) *PackedU8 {
	tile := simd.Bytes()
	p := newPackedU8(t, x, rows, k, ld, tile.MR, tile.Depth)
	p.start = make([]int32, p.padded())
	par.For(rows, p.grain(), func(lo, hi int) {
		p.pack(t, x, lo, hi, ld, tile.Depth, 0)
		if tile.Signed {
			p.addStarts(lo, hi)
		}
	})
	return p
}

// PackBU8 is [PackAU8] for the right side.
func PackBU8(t Trans, x []uint8, rows, k, ld int) *PackedU8 {
	tile := simd.Bytes()
	p := newPackedU8(t, x, rows, k, ld, tile.NR, tile.Depth)
	var flip uint32
	if tile.Signed {
		flip = 0x80808080 // subtracts 128 from every byte
	}
	par.For(rows, p.grain(), func(lo, hi int) { p.pack(t, x, lo, hi, ld, tile.Depth, flip) })
	return p
}

func newPackedU8(t Trans, x []uint8, rows, k, ld, panel, depth int) *PackedU8 {
	if t == Transposed {
		checkMatrix(k, rows, len(x), ld)
	} else {
		checkMatrix(rows, k, len(x), ld)
	}

	if k > MaxInnerU8 {
		panic("dense: sums of products of bytes overflow")
	}
	p := &PackedU8{rows: rows, k: k, words: ceilDiv(k, depth), panel: panel}
	p.data = make([]uint32, p.padded()*p.words)
	return p
}

// Panel returns the number of rows that lie together: ranges of rows start at
// a multiple of it.
func (p *PackedU8) Panel() int { return p.panel }

func (p *PackedU8) padded() int { return roundUp(p.rows, p.panel) }

func (p *PackedU8) grain() int { return packRows / p.panel * p.panel }

// BytesU8 returns the memory of a PackedU8, about.
func BytesU8(rows, k int) int64 {
	return 4 * int64(rows) * int64(ceilDiv(k, simd.Bytes().Depth))
}

// pack fills the panels of rows lo to hi.
func (p *PackedU8) pack(t Trans, x []uint8, lo, hi, ld, depth int, flip uint32) {
	if p.k == 0 {
		return
	}

	// Rows lie as they are: the bytes of a word follow each other.
	shift := 32 / depth
	for i := lo; i < hi; i++ {
		panel := p.data[i/p.panel*p.panel*p.words+i%p.panel:]
		if t == Transposed {
			continue
		}
		row := x[i*ld:][:p.k]
		at := 0
		if depth == 4 {
			for ; len(row) >= 4; row = row[4:] {
				panel[at] = binary.LittleEndian.Uint32(row) ^ flip
				at += p.panel
			}
		}

		for len(row) > 0 {
			var word uint32
			for h, v := range row[:min(depth, len(row))] {
				word |= uint32(v) << (h * shift)
			}
			panel[at] = word ^ flip
			at += p.panel
			row = row[min(depth, len(row)):]
		}
	}

	if t == NoTrans {
		return
	}

	// Transposed bytes lie by inner index: a word collects the bytes of depth rows of x.
	for ; lo < hi; lo += p.panel {
		n := min(p.panel, hi-lo)
		panel := p.data[lo*p.words:]
		for q := range p.words {
			words := panel[q*p.panel:][:n]
			for h := range min(depth, p.k-q*depth) {
				for i, v := range x[(q*depth+h)*ld+lo:][:n] {
					words[i] |= uint32(v) << (h * shift)
				}
			}
			for i := range words {
				words[i] ^= flip
			}
		}
	}
}

// addStarts sets start to 128 times the sums of rows lo to hi.
func (p *PackedU8) addStarts(lo, hi int) {
	for ; p.k > 0 && lo < hi; lo += p.panel {
		sums := p.start[lo:][:p.panel]
		for words := p.data[lo*p.words:][:p.panel*p.words]; len(words) > 0; words = words[p.panel:] {
			for i := range sums {
				w := words[i]
				sums[i] += 128 * int32(w&0xff+w>>8&0xff+w>>16&0xff+w>>24)
			}
		}
	}
}

// MulU8 computes C = A[i0:i1]·B[j0:j1]ᵀ exactly, with rows ldc elements apart, on
// the calling goroutine. i0 and j0 are multiples of the panels of A and B; the
// old contents of C do not matter.
func MulU8(a *PackedU8, i0, i1 int, b *PackedU8, j0, j1 int, c []int32, ldc int) {
	tile := simd.Bytes()
	mr := tile.MR
	nr := tile.NR
	if a.k != b.k || a.panel != mr || b.panel != nr || a.start == nil {
		panic("dense: packed matrices do not fit together")
	}
	checkRange(i0, i1, a.rows, mr)
	checkRange(j0, j1, b.rows, nr)
	checkMatrix(i1-i0, j1-j0, len(c), ldc)

	var edge [16 * 32]int32
	for j := j0; j < j1; j += nr {
		right := b.data[j*b.words:]
		for i := i0; i < i1; i += mr {
			left := a.data[i*a.words:]
			start := a.start[i:]
			dst := c[(i-i0)*ldc+j-j0:]
			if i+mr <= i1 && j+nr <= j1 {
				tile.Tile(a.words, left, right, start, dst, ldc)
				continue
			}

			// A tile over the edge is computed beside C.
			tile.Tile(a.words, left, right, start, edge[:], nr)
			for r := range min(mr, i1-i) {
				copy(dst[r*ldc:][:min(nr, j1-j)], edge[r*nr:])
			}
		}
	}
}

// Near says which elements of a product of bytes are looked for. It has one number of Shift and
// Limit for each row, and of Col and Own for each column, and looks for the elements with
//
//	⟨row, column⟩ + Shift > min(Col, Own + Limit).
//
// Sums wrap around.
type Near struct{ Shift, Limit, Col, Own []int32 }

// NearU8 computes the products of [MulU8] and sets the bits of the elements that t looks for, and
// clears the others. Bit j%8 of bits[i·ld+j/8] belongs to row i0+i and column j0+j. Bits of columns
// from j1 on are not set; ld is a multiple of 8.
func NearU8(a *PackedU8, i0, i1 int, b *PackedU8, j0, j1 int, t Near, bits []uint8, ld int) {
	tile := simd.Bytes()
	mr := tile.MR
	nr := tile.NR
	if a.k != b.k || a.panel != mr || b.panel != nr || a.start == nil {
		panic("dense: packed matrices do not fit together")
	}
	checkRange(i0, i1, a.rows, mr)
	checkRange(j0, j1, b.rows, nr)
	m := i1 - i0
	n := j1 - j0
	if len(t.Shift) < m || len(t.Limit) < m || len(t.Col) < n || len(t.Own) < n || ld%8 != 0 || 8*ld < n ||
		len(bits) < m*ld {
		panic("dense: products of bytes are compared with too few numbers")
	}
	if !tile.HasNear() {
		nearByTile(a, i0, i1, b, j0, j1, t, bits, ld)
		return
	}

	clear(bits[:m*ld])
	var start, limit, col, own [32]int32
	var edge [16 * 4]uint8
	for i := 0; i < m; i += mr {
		rows := min(mr, m-i)
		for r := range rows {
			start[r] = a.start[i0+i+r] + t.Shift[i+r]
			limit[r] = t.Limit[i+r]
		}
		left := a.data[(i0+i)*a.words:]
		for j := 0; j < n; j += nr {
			right := b.data[(j0+j)*b.words:]
			if rows == mr && j+nr <= n {
				tile.Near(a.words, left, right, start[:], limit[:], t.Col[j:], t.Own[j:], bits[i*ld+j/8:], ld)
				continue
			}
			// A tile over the edge: its numbers are filled up, and its bits go one by one.
			columns := min(nr, n-j)
			copy(col[:], t.Col[j:][:columns])
			copy(own[:], t.Own[j:][:columns])
			tile.Near(a.words, left, right, start[:], limit[:], col[:], own[:], edge[:], nr/8)
			for r := range rows {
				for c := range columns {
					bits[(i+r)*ld+(j+c)/8] |= edge[(r*nr+c)/8] >> (c % 8) & 1 << (c % 8)
				}
			}
		}
	}
}

// nearByTile is NearU8 with the products in memory.
func nearByTile(a *PackedU8, i0, i1 int, b *PackedU8, j0, j1 int, t Near, bits []uint8, ld int) {
	clear(bits[:(i1-i0)*ld])
	width := b.panel
	c := make([]int32, a.panel*width)
	for i := i0; i < i1; i += a.panel {
		rows := min(a.panel, i1-i)
		for j := j0; j < j1; j += width {
			columns := min(width, j1-j)
			MulU8(a, i, i+rows, b, j, j+columns, c, width)
			for r := range rows {
				shift := t.Shift[i-i0+r]
				limit := t.Limit[i-i0+r]
				for q, v := range c[r*width:][:columns] {
					at := j - j0 + q
					if v+shift > min(t.Col[at], t.Own[at]+limit) {
						bits[(i-i0+r)*ld+at/8] |= 1 << (at % 8)
					}
				}
			}
		}
	}
}
