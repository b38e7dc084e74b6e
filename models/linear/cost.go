package linear

import (
	"errors"
	"runtime"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

const remedy = "give points of fewer columns, or sparse ones"

// steps is the guess at the number of Newton steps, or of conjugate gradients.
const steps = 100

// size holds the numbers that the memory of a fit depends on.
type size struct {
	n, d, l, m int64 // points, columns, labeled points, outputs
	stored     int64 // elements of sparse points; 0 of dense ones
	element    int64 // bytes of an element of dense points
	edges      int64
	s          Settings
	summed     bool // the intrinsic norm was summed elsewhere
}

func sizeOf(in *models.Input, s Settings) (size, error) {
	if in.Points == nil || in.Targets == nil {
		return size{}, errors.New("linear: the cost needs points and targets")
	}
	n, d := in.Points.Dims()
	_, m := in.Targets.Y.Dims()
	z := size{n: int64(n), d: int64(d), l: int64(len(in.Targets.Labeled)), m: int64(m),
		edges: int64(in.EdgeCount()), s: s}
	switch x := in.Points.(type) {
	case *sparse.CSR:
		z.stored = int64(x.NNZ())
	case *data.Dense[uint8]:
		z.element = 1
	case *data.Dense[float32]:
		z.element = 4
	case *data.Stored:
		z.element = int64(x.Kind().Size())
	default:
		z.element = 8
	}

	// Without an intrinsic norm the graph is not looked at.
	if s.Regularizer.GammaI == 0 {
		z.edges = 0
	}
	return z, nil
}

func (z *size) intrinsic() bool { return z.s.Regularizer.GammaI > 0 }

// formed and spanned tell how a fit works: with d×d matrices, or with n×n ones in
// the space of the points; see [NewProblem].
func (z *size) formed() bool  { return z.element > 0 && z.d <= MaxFormed }
func (z *size) spanned() bool { return !z.formed() && z.n <= MaxFormed && z.n < z.d }

// converted returns the bytes of dense points in float64 that products leave
// behind.
func (z *size) converted(n int64) int64 {
	if z.element == 0 || z.element == 8 {
		return 0
	}
	return 8 * 3 * min(n, data.BlockRows) * z.d
}

// fit returns about the bytes that a fit holds: see [NewProblem] and
// [Problem.Path].
func (z *size) fit() int64 {
	switch {
	case z.formed():
		return z.direct()
	case z.spanned():
		// The search for the space of the points and the fit in it do not overlap.
		side := 12*z.stored + 8*z.d // transposed
		search := side + 8*(5*z.n*z.n+128*(z.n+z.d))
		in := *z // the coordinates
		in.d = z.n
		in.element = 8
		in.stored = 0
		after := side + 8*(2*z.n*z.n+3*z.d*z.m) + in.direct()
		return max(search, after)
	}

	return z.products()
}

// direct returns the bytes of a fit with d×d matrices.
func (z *size) direct() int64 {
	labeled := z.l*z.d*z.element + 8*(z.l*z.m+z.d) // selected rows and centred targets
	var norm, before int64
	if z.intrinsic() {
		norm = 8 * z.d * z.d
	}
	// While Xᵀr(L)X is made: a block of columns, its product with r(L), and for other types a copy in
	// float64.
	if z.intrinsic() && !z.summed {
		blocks := int64(1) // n×128
		if z.element != 8 {
			blocks++
			before += 8 * data.BlockRows * z.d
		}
		if z.s.Regularizer.Degree() > 1 {
			blocks++
		}
		width := max(16, min(128, z.d, 1<<23/z.n))
		before += labeled + norm + 8*blocks*z.n*width
	}

	if z.s.Loss == LeastSquares && z.l >= z.d {
		return max(before, norm+labeled+8*(2*z.d*z.d+min(z.l, data.BlockRows)*z.d+4*z.d*z.m))
	}
	// Fewer labels than columns: Z and its eigenbasis.
	rows := 8 * z.l * z.d // Z
	basis := int64(0)
	if z.intrinsic() {
		before = max(before, labeled+5*norm)
		basis = norm
		rows *= 2 // and the centred rows
	}

	if z.s.Loss == LeastSquares {
		return max(before, norm+basis+labeled+rows+8*(z.l*z.d+z.l*z.l+z.l*z.m+5*z.d*z.m))
	}
	if z.l >= z.d && z.l*z.d > SmallRows {
		rows = z.converted(z.l)
	}
	return max(before, norm+basis+labeled+rows+newtonBytes(z.l, z.d, z.m))
}

// SummedBytes returns about the bytes that a fit to dense points with a norm of [NewSummed] holds.
func SummedBytes(x data.Points, t *models.Targets, s Settings) int64 {
	z, err := sizeOf(&models.Input{Points: x, Targets: t}, s)
	if err != nil {
		return 0 // the fit says so
	}
	z.summed = true
	return z.direct()
}

// products returns the bytes of a fit by products alone.
func (z *size) products() int64 {
	bytes := 8 * (z.l*z.m + 3*z.d*z.m)
	if z.stored > 0 {
		labeled := z.stored * z.l / z.n
		bytes += 12*z.stored + 8*z.d + 27*labeled + 8*(z.l+z.d) // both transposed
	} else {
		bytes += z.l*z.d*z.element + z.converted(z.n)
	}

	// Xw and r(L)Xw for all points.
	if z.intrinsic() {
		bytes += 8 * 2 * z.n * z.m
		if z.s.Regularizer.Degree() > 1 {
			bytes += 8 * z.n * z.m
		}
	}

	if z.s.Loss != LeastSquares {
		return bytes + newtonBytes(z.l, z.d, z.m)
	}
	solve, err := cg.Bytes(int(z.d), int(z.m), &cg.Settings{Block: int(z.m)})
	if err != nil {
		return 0 // the solver says so
	}
	return bytes + solve + 8*(z.l*z.m+3*z.d*z.m)
}

// newtonBytes is about the memory of Newton's method for m columns over l points of d
// dimensions.
func newtonBytes(l, d, m int64) int64 {
	return 8 * (8*l*m + 13*d*m + 12*l*min(m, int64(runtime.GOMAXPROCS(0))))
}

// Cost returns the cost of the matrices of a fit.
func (k learner) Cost(in *models.Input) (stage.Cost, error) {
	s, err := k.settings(in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	z, err := sizeOf(in, s)
	if err != nil {
		return stage.Cost{}, err
	}
	return stage.Cost{Bytes: stage.DenseBytes(z.fit()), Remedy: remedy}, nil
}

// Cost returns the cost of Newton's method over all points.
func (tsvmLearner) Cost(in *models.Input) (stage.Cost, error) {
	c, err := tsvmParams.Decode(in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	z, err := sizeOf(in, c.Settings)
	if err != nil {
		return stage.Cost{}, err
	}
	bytes := newtonBytes(z.n, z.d, z.m) + 8*4*z.n*z.m + z.converted(z.n)
	if z.stored > 0 {
		bytes += 12*z.stored + 8*z.d
	}
	return stage.Cost{Bytes: stage.DenseBytes(bytes), Remedy: remedy}, nil
}

// GridCost returns the cost of the graph, Xᵀr(L)X and its eigenvectors, which are shared, and
// of the fits of a fold.
func (k learner) GridCost(g *models.Grid) (models.GridCost, error) {
	settings := make([]Settings, len(g.Settings))
	var widest Settings // with an intrinsic norm if there is one
	for i, v := range g.Settings {
		var err error
		if settings[i], err = k.settings(v); err != nil {
			return models.GridCost{}, err
		}
		if i == 0 || settings[i].Regularizer.GammaI > widest.Regularizer.GammaI {
			widest = settings[i]
		}
	}

	// The setting with the widest norm bounds the memory of all.
	z, err := sizeOf(&g.Input, widest)
	if err != nil {
		return models.GridCost{}, err
	}
	n, l, d, outputs := g.Sizes()
	edges := float64(z.edges)
	norms := regularizer.Count(g, func(i int) regularizer.Regularizer { return settings[i].Regularizer })
	c := models.GridCost{Remedy: remedy}
	if !z.formed() && !z.spanned() {
		stored := float64(z.stored)
		if z.element > 0 {
			stored = n * d
		}
		c.Shared = models.Bytes(24*edges + 12*stored + 8*d)
		c.Fold = models.Bytes(8*8*(n+d)*outputs + 8*d)
		c.Operations = g.Fits() * steps * outputs * (20*stored + 10*edges)
		return c, nil
	}

	var columns float64 // of sparse points, in the space of the points
	if z.spanned() {
		columns = 8 * d * (3*outputs + 2)
		d = n
		c.Operations = 5 * d * d * d
	}

	// Xᵀr(L)X with its eigenvectors, and blocks of columns, are shared; a fold has its labeled rows
	// and factors.
	c.Shared = models.Bytes(24*edges + 8*(4*d*d+3*n*min(d, 128)) + columns)
	c.Fold = models.Bytes(8*(2*l*d+2*d*d) + columns)
	c.Operations += norms*(n*d*d+10*edges*d) + float64(len(g.Splits))*l*d*d
	switch {
	case k.hinge:
		c.Operations += norms*5*d*d*d + g.Fits()*steps*outputs*4*l*d
	case l < d:
		c.Operations += norms*5*d*d*d + g.Fits()*(l*l*d+l*l*l/3)
	default:
		c.Operations += g.Fits() * d * d * d / 3
	}

	return c, nil
}
