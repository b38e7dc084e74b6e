package models

import (
	"math"
	"runtime"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// TuneCost estimates what [Tune] takes beside its data: the memory of what is
// shared and of the folds that are fitted at a time, one a thread, and a rough
// number of floating-point operations, in matrix products. What runs at memory
// speed counts fivefold; the steps of iterations are guessed. g must be free of
// faults.
func TuneCost(d *TuneData, g *TuneGrid, s *TuneSettings) (bytes int64, operations float64) {
	t := &tuning{TuneData: *d, grid: *g}
	if s != nil {
		t.settings = *s
	}
	if t.settings.Folds == 0 {
		t.settings.Folds = 5
	}
	t.points, _ = g.Points()
	c := newTuneCost(t)
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
		c.operations = c.count(func(p TunePoint) any { return p.Neighbors })*lanczos.Operations(t.Targets.Len, int(c.edges), settings) + c.splits*c.l*p*p + c.fits*p*p*p/3
	}
	return int64(math.Min(c.shared+c.threads*c.fold, math.MaxInt64/2)), c.operations
}

// tuneCost are the sizes that costs depend on, and the costs.
type tuneCost struct {
	points           []TunePoint
	n, l, d, outputs float64
	edges, graph     float64 // stored edges of the largest graph and its bytes; 0 without
	splits, fits     float64
	threads          float64
	shared, fold     float64 // bytes
	operations       float64
}

func newTuneCost(t *tuning) *tuneCost {
	_, outputs := t.Targets.Y.Dims()
	c := &tuneCost{points: t.points, n: float64(t.Targets.Len), l: float64(len(t.Targets.Labeled)), outputs: float64(outputs)}
	if t.TuneData.Points != nil {
		_, d := t.TuneData.Points.Dims()
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
func (c *tuneCost) intrinsic() bool {
	return slices.ContainsFunc(c.points, func(p TunePoint) bool { return p.GammaI > 0 })
}

// count returns the number of different keys of points.
func (c *tuneCost) count(key func(TunePoint) any) float64 {
	seen := map[any]bool{}
	for _, p := range c.points {
		seen[key(p)] = true
	}
	return float64(len(seen))
}

// norms is the number of different graphs and powers among points with a
// positive γ_I.
func (c *tuneCost) norms() float64 {
	seen := map[[2]int]bool{}
	for _, p := range c.points {
		if p.GammaI > 0 {
			seen[[2]int{p.Neighbors, p.Power}] = true
		}
	}
	return float64(len(seen))
}

func (c *tuneCost) linear(t *tuning) {
	const steps = 100 // Newton's, or conjugate gradients'
	d := c.d
	_, sparsePoints := t.TuneData.Points.(*sparse.CSR)
	if sparsePoints || d > formedSize {
		if c.n > formedSize || c.n >= d {
			stored := float64(storedElements(t.TuneData.Points))
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
	case t.grid.Linear.Loss != LeastSquares:
		c.operations += c.norms()*5*d*d*d + c.fits*steps*c.outputs*4*c.l*d
	case c.l < d:
		c.operations += c.norms()*5*d*d*d + c.fits*(c.l*c.l*d+c.l*c.l*c.l/3)
	default:
		c.operations += c.fits * d * d * d / 3
	}
}

func (c *tuneCost) kernel(t *tuning) {
	widths := c.count(func(p TunePoint) any { return p.Sigma })
	c.shared, c.fold = 8*2*c.l*c.l, 8*3*c.l*c.l
	c.operations = widths * c.l * c.l * c.d
	if c.intrinsic() {
		c.shared = c.graph + 8*(3*c.n*c.n+c.n*c.l+c.l*c.l)
		warps := c.count(func(p TunePoint) any {
			return [4]float64{p.Sigma, float64(p.Neighbors), float64(p.Power), math.Round(1e9 * math.Log(p.GammaI/p.GammaA))}
		})
		c.operations = widths*c.n*c.n*c.d + warps*(2*c.n*c.n*c.n/3+2*c.n*c.n*c.l+10*c.edges*c.n)
	}
	if t.grid.Kernel.Method == KernelRLS {
		c.operations += c.fits * c.l * c.l * c.l / 3
	} else {
		c.operations += c.fits * c.outputs * 100 * c.l * c.l
	}
}

func (c *tuneCost) scaled(t *tuning) {
	kind := t.grid.KernelFunction.Kind
	s, p, err := t.grid.Scale.way(t.TuneData.Points, kind, t.grid.Kernel, t.settings.MemoryLimit)
	if err != nil {
		return // Tune says so
	}
	widths := c.count(func(p TunePoint) any { return p.Sigma })
	r := *t.grid.Kernel
	of := func(edges int) scaledCost {
		return s.cost(p, t.TuneData.Points, kind, int(c.l), int(c.outputs), edges, &r)
	}
	r.GammaI = 0
	one := of(0)
	c.operations = widths * one.preparation
	if c.intrinsic() {
		for _, p := range c.points {
			r.GammaI, r.Power = max(r.GammaI, p.GammaI), max(r.Power, p.Power)
		}
		alone := one.preparation
		one = of(int(c.edges))
		c.operations += widths * c.norms() * (one.preparation - alone)
	}
	c.shared, c.fold = c.graph+float64(one.problem), float64(one.fit)
	if widths > 1 {
		c.shared += float64(one.problem) / 3 // of the width before, not collected yet
	}
	c.operations += widths*math.Max(1, c.norms())*one.all + c.fits*one.oneFit
}

func (c *tuneCost) eigenfunctions(t *tuning) {
	widths := c.count(func(p TunePoint) any { return p.Sigma })
	s := *t.grid.SSSL
	n, d := t.TuneData.Points.Dims()
	for _, p := range c.points {
		s.Eigenfunctions = p.Eigenvectors
		bytes, operations := SSSLCost(n, d, int(c.l), &s)
		if c.shared < float64(bytes) {
			c.shared = float64(bytes)
			c.operations = widths * operations
		}
	}
	most := math.Min(c.l, mostEigenfunctions)
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
