package propagation

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// poisson solves L u = Σ_j (y_j − ȳ) δ_j, Σ d_i u_i = 0 in every component, with
// ȳ the mean there, through the normalized Laplacian: v = D^½u solves
//
//	D^-½LD^-½ v = D^-½ Σ_j (y_j − ȳ) δ_j
//
// and is orthogonal to the null vector D^½1. Where all labels of a component have the same most probable class nothing
// flows, and its points have the scores ȳ: 1 for the class of hard labels.
func (d *draw) poisson(ctx context.Context) (*cg.Result, error) {
	return d.flows(ctx, d.centred())
}

// centred returns the sources Σ_j w_j (y_j − ȳ) δ_j, n×c.
func (d *draw) centred() *mat.Dense {
	of, shares := d.problem.components.Of, d.shares()
	agreeing := d.agreeing()
	y := mat.DenseCopyOf(d.y)
	for q, i := range d.at {
		row := y.RawRowView(q)
		if agreeing[of[i]] {
			clear(row)
			continue
		}
		for c, mean := range shares[of[i]] {
			row[c] -= mean
		}
	}
	return d.sources(d.massed(y))
}

// finishPoisson makes Σ d_i u_i zero in every component, and one the column of a class that is alone there.
func (d *draw) finishPoisson(u *mat.Dense) {
	of, shares := d.problem.components.Of, d.shares()
	d.centre(u)
	agreeing := d.agreeing()
	for i, component := range of {
		share, ok := shares[component]
		if !ok {
			continue
		}
		row := u.RawRowView(i)
		if agreeing[component] {
			copy(row, share)
			continue
		}
		for c, y := range share {
			if y == 1 { // no other class: nothing flows
				row[c] = 1
			}
		}
	}
}

// flows solves L u = b, Σ d_i u_i = 0 in every component, for the columns b of a block that
// it changes; what of b has no such solution, its mean in a component, is left out.
func (d *draw) flows(ctx context.Context, b *mat.Dense) (*cg.Result, error) {
	l := d.problem.laplacian(sparse.Normalized)
	root := make([]float64, l.Dim()) // D^-½
	for i, v := range l.Degrees() {
		root[i] = 1
		if v > 0 {
			root[i] = 1 / math.Sqrt(v)
		}
	}

	// With v = D^½u the normalized Laplacian is solved, whose condition is lower.
	dense.ScaleRows(b, root)
	s := d.solver()
	s.Project = true // what rounding left along the null vectors
	if d.start != nil {
		s.Start = mat.DenseCopyOf(d.start)
		for i, f := range root { // v = D^½u
			row := s.Start.RawRowView(i)
			for c := range row {
				row[c] /= f
			}
		}
	}

	// D^½ of each component spans the null space.
	inverse := make([]float64, len(root)) // D^½
	for i, f := range root {
		inverse[i] = 1 / f
	}
	d.outside(&s, &Null{d.problem.components, inverse}, func() *sparse.CSR { return l.Form(1, nil, nil) })
	r, err := cg.Laplacian(ctx, l, d.problem.components, b,
		&cg.LaplacianSettings{Settings: s, Method: d.method()})
	if r != nil {
		dense.ScaleRows(r.X, root)
	}
	return r, err
}

// agreeing tells of every component whether all of its labels have the same most probable class, so that nothing is to
// flow between classes; it is for soft labels, and nil for hard ones, whose sources are zero there.
func (d *draw) agreeing() map[int32]bool {
	if !d.soft {
		return nil
	}
	out := map[int32]bool{}
	top := map[int32]int{}
	for q, i := range d.at {
		component := d.problem.components.Of[i]
		class := d.top(q)
		first, seen := top[component]
		if !seen {
			top[component] = class
			out[component] = true
		} else if first != class {
			out[component] = false
		}
	}
	return out
}

// top returns the column of the most probable class of label q.
func (d *draw) top(q int) int {
	row := d.y.RawRowView(q)
	return slices.Index(row, slices.Max(row))
}

// shares returns for every component with a label the share of each class in the mass of
// its labels.
func (d *draw) shares() map[int32][]float64 {
	_, classes := d.y.Dims()
	shares := map[int32][]float64{}
	labels := map[int32]float64{}
	for q, i := range d.at {
		component := d.problem.components.Of[i]
		if shares[component] == nil {
			shares[component] = make([]float64, classes)
		}
		for c, v := range d.y.RawRowView(q) {
			shares[component][c] += d.weight(q) * v
		}
		labels[component] += d.weight(q)
	}

	// Counts become shares.
	for component, share := range shares {
		for c := range share {
			share[c] /= labels[component]
		}
	}
	return shares
}

// centre makes Σ d_i u_i zero in every component with a label.
func (d *draw) centre(u *mat.Dense) {
	of := d.problem.components.Of
	degrees := d.problem.plain.Degrees()
	_, classes := u.Dims()
	count := len(d.reached)
	sums := mat.NewDense(count, classes, nil)
	mass := make([]float64, count)
	// The mean of u by degrees of each component is subtracted; vertices without edges have none.
	for i, component := range of {
		mass[component] += degrees[i]
		sum := sums.RawRowView(int(component))
		for c, v := range u.RawRowView(i) {
			sum[c] += degrees[i] * v
		}
	}

	for i, component := range of {
		if mass[component] == 0 {
			continue
		}
		row := u.RawRowView(i)
		for c, v := range sums.RawRowView(int(component)) {
			row[c] -= v / mass[component]
		}
	}
}
