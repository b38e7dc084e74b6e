package eigenmap

import (
	"context"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// together is the number of draws that share one pass over the basis: rows are grouped by
// the set of draws that they count in, and 2⁵ groups are still large.
const together = 5

// draws collects draws of labels that are fitted at once, on all eigenvectors.
type draws struct {
	result     *lanczos.Result
	components *sparse.Components
	several    bool       // more than one draw is fitted in all
	whole      *mat.Dense // Gram matrix of all rows and columns, once it is needed
	ys         []*data.Labels
	counts     []*labelCounts
	fits       [][]*Classifier
	most       int // largest number of eigenvectors of a fit
}

// add adds a draw with its classifiers, which use at most most eigenvectors.
func (d *draws) add(y *data.Labels, c *labelCounts, fits []*Classifier, most int) {
	d.ys = append(d.ys, y)
	d.counts = append(d.counts, c)
	d.fits = append(d.fits, fits)
	d.most = max(d.most, most)
}

// orthonormal is the largest |VᵀV − I| of eigenvectors that count as orthonormal.
const orthonormal = 1e-13

// fit solves for the classifiers of the draws, and forgets the draws.
func (d *draws) fit(ctx context.Context) error {
	if len(d.ys) == 0 {
		return nil
	}

	// A draw with labels on more than half of the rows subtracts the other rows from the
	// Gram matrix of all rows, which is I for eigenvectors that are known orthonormal.
	n, have := d.result.Vectors.Dims()
	for _, y := range d.ys {
		if d.several && d.whole == nil && 2*len(y.Labeled()) > n {
			d.whole = mat.NewDense(have, have, nil)
			if off := d.result.Orthogonality; off > 0 && off <= orthonormal { // 0 is unknown
				for j := range have {
					d.whole.Set(j, j, 1)
				}
				continue
			}
			dense.Syrk(dense.Transposed, 1, d.result.Vectors, 0, d.whole)
		}
	}

	eqs, err := sharedEquations(ctx, d.result.Vectors, d.most, d.ys, d.whole)
	if err != nil {
		return err
	}

	par.For(len(d.ys), 1, func(i, _ int) {
		eqs[i].reached = d.counts[i].reached
		for _, m := range d.fits[i] {
			m.finish(d.result, d.components, d.ys[i], eqs[i])
		}
	})

	d.ys = nil
	d.counts = nil
	d.fits = nil
	d.most = 0
	return ctx.Err()
}

// fewShared is the least number of rows with a sum of their own. For fewer rows the p²
// additions of that sum to several matrices cost more than repeated products.
const fewShared = 256

// sharing makes the normal equations of up to [together] draws of labels on one basis. The
// Gram matrix of a draw is the sum over its labeled rows. If more than half of all rows are
// labeled, it is the Gram matrix of the whole basis minus the sum over the other rows. Rows
// that count in the same draws are summed once.
type sharing struct {
	basis *mat.Dense
	p     int
	ys    []*data.Labels
	eqs   []*normalEquations
	minus []bool     // for each draw: rows without a label are subtracted from the whole
	x, t  *mat.Dense // memory: rows of the basis, products
}

// sharedEquations returns the normal equations of the draws on the first p columns of basis.
// whole is the Gram matrix of all rows; if it is nil all draws sum up labeled rows.
func sharedEquations(ctx context.Context, basis *mat.Dense, p int, ys []*data.Labels,
	whole *mat.Dense) ([]*normalEquations, error) {
	n, _ := basis.Dims()
	s := &sharing{basis: basis, p: p, ys: ys, minus: make([]bool, len(ys))}
	s.x, s.t = dense.New(min(gramRows, n), p), dense.New(p, p)
	count := make([]uint8, n) // the draws that a row counts in, a bit each
	var most uint             // the draws with labels on more than half of the rows
	for d, y := range ys {
		labeled := len(y.Labeled())
		e := newEquations(p, len(y.Classes), labeled)

		if s.minus[d] = whole != nil && 2*labeled > n; s.minus[d] {
			e.g.Copy(whole.Slice(0, p, 0, p))
			most |= 1 << d
		}

		for i, c := range y.Index {
			if (c == data.Unlabeled) == s.minus[d] {
				count[i] |= 1 << d
			}
		}
		s.eqs = append(s.eqs, e)
	}

	// Targets are sums over labeled rows in any case: zeros elsewhere.
	if most != 0 {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		err := blocks(ctx, all, func(block []int) {
			s.addTargets(most, basis.Slice(block[0], block[0]+len(block), 0, p).(*mat.Dense), block)
		})
		if err != nil {
			return nil, err
		}
	}

	if err := s.sum(ctx, count); err != nil {
		return nil, err
	}
	for _, e := range s.eqs {
		dense.Mirror(e.g)
	}
	return s.eqs, nil
}

// sum adds up the rows. Bit d of count tells whether a row counts in draw d.
func (s *sharing) sum(ctx context.Context, count []uint8) error {
	// Rows with equal bits belong to the same draws, and one sum serves these draws.
	alike := make([][]int, 1<<len(s.ys))
	for i, c := range count {
		alike[c] = append(alike[c], i)
	}
	own := make([][]int, len(s.ys)) // rows that are summed for each draw
	for c, rows := range alike {
		if bits.OnesCount(uint(c)) > 1 && len(rows) >= fewShared {
			if err := s.addShared(ctx, uint(c), rows); err != nil {
				return err
			}
			continue
		}
		for d := range s.ys {
			if c>>d&1 == 1 {
				own[d] = append(own[d], rows...)
			}
		}
	}

	// The remaining rows are summed for each draw apart.
	for d, rows := range own {
		err := blocks(ctx, rows, func(block []int) {
			x := dense.Gather(s.x, s.basis, block)
			dense.SyrkLower(dense.Transposed, s.sign(d), x, 1, s.eqs[d].g)
			s.addTargets(s.plus(1<<d), x, block)
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// sign returns the factor of a row's products in the Gram matrix of draw d.
func (s *sharing) sign(d int) float64 {
	if s.minus[d] {
		return -1
	}
	return 1
}

// plus returns the bits of c without the draws whose rows are subtracted.
func (s *sharing) plus(c uint) uint {
	for d, minus := range s.minus {
		if minus {
			c &^= 1 << d
		}
	}
	return c
}

// addTargets adds the targets of the rows in the draws of the bits c.
func (s *sharing) addTargets(c uint, x *mat.Dense, rows []int) {
	var eqs []*normalEquations
	var ys []*data.Labels
	for d := range s.ys {
		if c>>d&1 == 1 {
			eqs = append(eqs, s.eqs[d])
			ys = append(ys, s.ys[d])
		}
	}
	addTargets(eqs, ys, x, rows)
}

// addShared adds rows that count in the draws of the bits c.
func (s *sharing) addShared(ctx context.Context, c uint, rows []int) error {
	beta := 0.0
	err := blocks(ctx, rows, func(block []int) {
		x := dense.Gather(s.x, s.basis, block)
		dense.SyrkLower(dense.Transposed, 1, x, beta, s.t)
		beta = 1
		s.addTargets(s.plus(c), x, block)
	})

	// Only the lower triangles are sums so far; they are mirrored at the end.
	par.For(s.p, 64, func(lo, hi int) {
		for d, e := range s.eqs {
			for i := lo; i < hi && c>>d&1 == 1; i++ {
				row := e.g.RawRowView(i)[:i+1]
				simd.CombineRow(row, row, 1, s.t.RawRowView(i)[:i+1], s.sign(d))
			}
		}
	})

	return err
}
