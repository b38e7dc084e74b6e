package selection

import (
	"math"
	"runtime"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/sparse"
)

// Cost estimates what [Search] takes beside its data: the memory of what is
// shared and of the folds that are fitted at a time, one a thread, and a rough
// number of floating-point operations, in matrix products. What runs at memory
// speed counts fivefold; the steps of iterations are guessed. g must be free of
// faults.
func Cost(d *Data, g *Grid, s *Settings) (bytes int64, operations float64) {
	t := &tuning{Data: *d, grid: *g}
	if s != nil {
		t.settings = *s
	}
	if t.settings.Folds == 0 {
		t.settings.Folds = 5
	}
	t.points, _ = g.Points()
	c := newCost(t)
	switch {
	case g.Linear != nil:
		c.linear(t)
	case g.Scale != nil:
		c.scaled(t)
	case g.Kernel != nil:
		c.kernel(t)
	case g.SSSL != nil:
		c.eigenfunctions(t)
	case g.Graph != nil:
		const steps = 100
		c.shared = 2 * c.graph
		c.fold = 8 * 8 * c.n * c.outputs
		c.operations = c.fits * steps * c.outputs * (10*c.edges + 14*c.n)
	default:
		p := float64(t.pairs())
		settings := &lanczos.Settings{K: t.pairs(), MemoryLimit: t.settings.MemoryLimit}
		need, err := lanczos.Bytes(t.Targets.Len, settings)
		if err != nil {
			need = math.MaxInt64 / 2
		}
		c.shared = c.graph + float64(need)
		c.fold = 8 * (2*c.l*p + 4*p*p)
		c.operations = c.count(func(p Point) any { return p.Neighbors })*lanczos.Operations(t.Targets.Len, int(c.edges), settings) + c.splits*c.l*p*p + c.fits*p*p*p/3
	}
	return int64(math.Min(c.shared+c.threads*c.fold, math.MaxInt64/2)), c.operations
}

// cost are the sizes that costs depend on, and the costs.
type cost struct {
	points           []Point
	n, l, d, outputs float64
	edges, graph     float64 // stored edges of the largest graph and its bytes; 0 without
	splits, fits     float64
	threads          float64
	shared, fold     float64 // bytes
	operations       float64
}

func newCost(t *tuning) *cost {
	_, outputs := t.Targets.Y.Dims()
	c := &cost{points: t.points, n: float64(t.Targets.Len), l: float64(len(t.Targets.Labeled)), outputs: float64(outputs)}
	if t.Data.Points != nil {
		_, d := t.Data.Points.Dims()
		c.d = float64(d)
	}
	c.splits = float64(t.settings.Folds * max(1, t.settings.Repeats))
	c.fits = c.splits * float64(len(c.points))
	c.threads = math.Min(float64(runtime.GOMAXPROCS(0)), c.splits)
	if t.grid.Graph != nil || t.grid.Eigenmap != nil || c.intrinsic() {
		k := t.Edges.K
		for _, p := range c.points {
			k = max(k, p.Neighbors)
		}
		c.edges = 2 * c.n * float64(k)
		if t.Graph != nil {
			c.edges = float64(t.Graph.NNZ())
		}
		c.graph = 24 * c.edges
	}
	return c
}

// intrinsic tells whether any point has a positive γ_I.
func (c *cost) intrinsic() bool {
	return slices.ContainsFunc(c.points, func(p Point) bool { return p.GammaI > 0 })
}

// count returns the number of different keys of points.
func (c *cost) count(key func(Point) any) float64 {
	seen := map[any]bool{}
	for _, p := range c.points {
		seen[key(p)] = true
	}
	return float64(len(seen))
}

// norms is the number of different graphs and powers among points with a
// positive γ_I.
func (c *cost) norms() float64 {
	seen := map[[2]int]bool{}
	for _, p := range c.points {
		if p.GammaI > 0 {
			seen[[2]int{p.Neighbors, p.Power}] = true
		}
	}
	return float64(len(seen))
}

func (c *cost) linear(t *tuning) {
	const steps = 100 // Newton's, or conjugate gradients'
	d := c.d
	_, sparsePoints := t.Data.Points.(*sparse.CSR)
	if sparsePoints || d > linear.MaxFormed {
		if c.n > linear.MaxFormed || c.n >= d {
			stored := float64(storedElements(t.Data.Points))
			c.shared = c.graph + 12*stored
			c.fold = 8 * 8 * (c.n + d) * c.outputs
			c.operations = c.fits * steps * c.outputs * (20*stored + 10*c.edges)
			return
		}
		d = c.n
		c.operations = 5 * d * d * d
	}
	c.shared = c.graph + 8*(4*d*d+3*c.n*math.Min(d, 128))
	c.fold = 8 * (2*c.l*d + 2*d*d)
	c.operations += c.norms()*(c.n*d*d+10*c.edges*d) + c.splits*c.l*d*d
	switch {
	case t.grid.Linear.Loss != linear.LeastSquares:
		c.operations += c.norms()*5*d*d*d + c.fits*steps*c.outputs*4*c.l*d
	case c.l < d:
		c.operations += c.norms()*5*d*d*d + c.fits*(c.l*c.l*d+c.l*c.l*c.l/3)
	default:
		c.operations += c.fits * d * d * d / 3
	}
}

func (c *cost) kernel(t *tuning) {
	widths := c.count(func(p Point) any { return p.Sigma })
	c.shared, c.fold = 8*2*c.l*c.l, 8*3*c.l*c.l
	c.operations = widths * c.l * c.l * c.d
	if c.intrinsic() {
		c.shared = c.graph + 8*(3*c.n*c.n+c.n*c.l+c.l*c.l)
		warps := c.count(func(p Point) any {
			return [4]float64{p.Sigma, float64(p.Neighbors), float64(p.Power), math.Round(1e9 * math.Log(p.GammaI/p.GammaA))}
		})
		c.operations = widths*c.n*c.n*c.d + warps*(2*c.n*c.n*c.n/3+2*c.n*c.n*c.l+10*c.edges*c.n)
	}
	if t.grid.Kernel.Method == kernelmachine.RLS {
		c.operations += c.fits * c.l * c.l * c.l / 3
	} else {
		c.operations += c.fits * c.outputs * 100 * c.l * c.l
	}
}

func (c *cost) scaled(t *tuning) {
	kind := t.grid.KernelFunction.Kind
	s, p, err := t.grid.Scale.Resolve(t.Data.Points, kind, t.grid.Kernel, t.settings.MemoryLimit)
	if err != nil {
		return // Tune says so
	}
	widths := c.count(func(p Point) any { return p.Sigma })
	r := *t.grid.Kernel
	of := func(edges int) kernelmachine.ApproximateCosts {
		return s.Cost(p, t.Data.Points, kind, int(c.l), int(c.outputs), edges, &r)
	}
	r.GammaI = 0
	one := of(0)
	c.operations = widths * one.Preparation
	if c.intrinsic() {
		for _, p := range c.points {
			r.GammaI, r.Power = max(r.GammaI, p.GammaI), max(r.Power, p.Power)
		}
		alone := one.Preparation
		one = of(int(c.edges))
		c.operations += widths * c.norms() * (one.Preparation - alone)
	}
	c.shared, c.fold = c.graph+float64(one.Problem), float64(one.Fit)
	if widths > 1 {
		c.shared += float64(one.Problem) / 3 // of the width before, not collected yet
	}
	c.operations += widths*math.Max(1, c.norms())*one.All + c.fits*one.OneFit
}

func (c *cost) eigenfunctions(t *tuning) {
	widths := c.count(func(p Point) any { return p.Sigma })
	s := *t.grid.SSSL
	n, d := t.Data.Points.Dims()
	for _, p := range c.points {
		s.Eigenfunctions = p.Eigenvectors
		bytes, operations := eigenfunction.Cost(n, d, int(c.l), &s)
		if c.shared < float64(bytes) {
			c.shared = float64(bytes)
			c.operations = widths * operations
		}
	}
	most := math.Min(c.l, eigenfunction.MostEigenfunctions)
	for _, p := range c.points {
		most = math.Max(most, float64(p.Eigenvectors))
	}
	c.fold = 8 * 3 * c.l * most
	c.operations += c.fits * 4 * c.l * most * most
}

// storedElements returns the number of stored elements of x.
func storedElements(x data.Points) int {
	if s, ok := x.(*sparse.CSR); ok {
		return s.NNZ()
	}
	n, d := x.Dims()
	return n * d
}
