package lanczos_test

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// edge joins two vertices with a weight.
type edge struct {
	i, j int
	w    float64
}

// newGraph returns the symmetric weights of the edges, without stored values if
// all weights are one.
func newGraph(n int, edges []edge) *sparse.CSR {
	var i, j []int32
	var v []float64
	unit := true
	for _, e := range edges {
		i, j, v = append(i, int32(e.i)), append(j, int32(e.j)), append(v, e.w)
		if e.i != e.j {
			i, j, v = append(i, int32(e.j)), append(j, int32(e.i)), append(v, e.w)
		}
		unit = unit && e.w == 1
	}
	w, err := sparse.FromTriplets(n, n, i, j, v)
	if err != nil {
		panic(err)
	}
	if unit {
		w.Val = nil
	}
	return w
}

// family is a graph whose Laplacian spectra are known in closed form. An absent
// spectrum is nil; the others hold all n eigenvalues in ascending order.
type family struct {
	name          string
	w             *sparse.CSR
	combinatorial []float64
	normalized    []float64
}

// spectrum returns the eigenvalues of a kind.
func (f family) spectrum(kind sparse.Kind) []float64 {
	if kind == sparse.Combinatorial {
		return f.combinatorial
	}
	return f.normalized
}

func sorted(n int, value func(k int) float64) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = value(k)
	}
	slices.Sort(x)
	return x
}

func scaled(x []float64, factor float64) []float64 {
	return sorted(len(x), func(k int) float64 { return factor * x[k] })
}

// sums returns all x_i + y_j: the spectrum of a Cartesian product.
func sums(x, y []float64) []float64 {
	return sorted(len(x)*len(y), func(k int) float64 { return x[k/len(y)] + y[k%len(y)] })
}

// path: λ = 4 sin²(πk/2n); normalized 1 − cos(πk/(n−1)).
func path(n int) family {
	var edges []edge
	for i := range n - 1 {
		edges = append(edges, edge{i, i + 1, 1})
	}
	f := family{name: fmt.Sprintf("path%d", n), w: newGraph(n, edges)}
	f.combinatorial = sorted(n, func(k int) float64 { return 4 * sin2(math.Pi*float64(k)/float64(2*n)) })
	if n > 1 {
		f.normalized = sorted(n, func(k int) float64 { return 2 * sin2(math.Pi*float64(k)/float64(2*(n-1))) })
	} else {
		f.normalized = []float64{0}
	}
	return f
}

func sin2(x float64) float64 { return math.Sin(x) * math.Sin(x) }

// cycle: λ = 4 sin²(πk/n), in pairs.
func cycle(n int) family {
	var edges []edge
	for i := range n {
		edges = append(edges, edge{i, (i + 1) % n, 1})
	}
	f := family{name: fmt.Sprintf("cycle%d", n), w: newGraph(n, edges)}
	f.combinatorial = sorted(n, func(k int) float64 { return 4 * sin2(math.Pi*float64(k)/float64(n)) })
	f.normalized = scaled(f.combinatorial, 0.5)
	return f
}

// complete: 0 and n with multiplicity n−1.
func complete(n int) family {
	var edges []edge
	for i := range n {
		for j := range i {
			edges = append(edges, edge{i, j, 1})
		}
	}
	f := family{name: fmt.Sprintf("complete%d", n), w: newGraph(n, edges)}
	f.combinatorial = sorted(n, func(k int) float64 { return float64(min(k, 1) * n) })
	f.normalized = scaled(f.combinatorial, 1/float64(n-1))
	return f
}

// star: 0, 1 with multiplicity n−2, and n; normalized 0, 1, 2.
func star(n int) family {
	var edges []edge
	for i := 1; i < n; i++ {
		edges = append(edges, edge{0, i, 1})
	}
	f := family{name: fmt.Sprintf("star%d", n), w: newGraph(n, edges)}
	spectrum := func(top float64) []float64 {
		return sorted(n, func(k int) float64 {
			switch k {
			case 0:
				return 0
			case n - 1:
				return top
			}
			return 1
		})
	}
	f.combinatorial, f.normalized = spectrum(float64(n)), spectrum(2)
	return f
}

// product is the Cartesian product of two graphs.
func product(name string, a, b family) family {
	na, nb := a.w.Rows, b.w.Rows
	var edges []edge
	for i := range na {
		for j := range nb {
			col, _ := a.w.Row(i)
			for _, c := range col {
				if int(c) < i {
					edges = append(edges, edge{i*nb + j, int(c)*nb + j, 1})
				}
			}
			col, _ = b.w.Row(j)
			for _, c := range col {
				if int(c) < j {
					edges = append(edges, edge{i*nb + j, i*nb + int(c), 1})
				}
			}
		}
	}
	return family{name: name, w: newGraph(na*nb, edges), combinatorial: sums(a.combinatorial, b.combinatorial)}
}

func grid(a, b int) family { return product(fmt.Sprintf("grid%dx%d", a, b), path(a), path(b)) }

// torus is 4-regular, so that the normalized spectrum is known too.
func torus(a, b int) family {
	f := product(fmt.Sprintf("torus%dx%d", a, b), cycle(a), cycle(b))
	f.normalized = scaled(f.combinatorial, 0.25)
	return f
}

// hypercube: 2k with multiplicity d over k.
func hypercube(d int) family {
	var edges []edge
	for i := range 1 << d {
		for bit := range d {
			if j := i ^ 1<<bit; j < i {
				edges = append(edges, edge{i, j, 1})
			}
		}
	}
	f := family{name: fmt.Sprintf("hypercube%d", d), w: newGraph(1<<d, edges)}
	f.combinatorial = sorted(1<<d, func(k int) float64 {
		ones := 0
		for ; k > 0; k &= k - 1 {
			ones++
		}
		return float64(2 * ones)
	})
	f.normalized = scaled(f.combinatorial, 1/float64(d))
	return f
}

// copies is the disjoint union of several copies of a graph, whose vertices are
// dealt out in turn so that no component is a range of rows.
func copies(count int, f family) family {
	n := f.w.Rows
	var edges []edge
	for c := range count {
		for i := range n {
			col, _ := f.w.Row(i)
			for _, j := range col {
				if int(j) < i {
					edges = append(edges, edge{i*count + c, int(j)*count + c, 1})
				}
			}
		}
	}
	repeat := func(x []float64) []float64 {
		if x == nil {
			return nil
		}
		return sorted(count*n, func(k int) float64 { return x[k/count] })
	}
	return family{
		name: fmt.Sprintf("%d copies of %s", count, f.name), w: newGraph(count*n, edges),
		combinatorial: repeat(f.combinatorial), normalized: repeat(f.normalized),
	}
}

// union puts graphs side by side.
func union(name string, parts ...family) family {
	out := family{name: name, combinatorial: []float64{}, normalized: []float64{}}
	var edges []edge
	at := 0
	for _, f := range parts {
		for i := range f.w.Rows {
			col, _ := f.w.Row(i)
			for _, j := range col {
				if int(j) < i {
					edges = append(edges, edge{at + i, at + int(j), 1})
				}
			}
		}
		at += f.w.Rows
		out.combinatorial = append(out.combinatorial, f.combinatorial...)
		if f.normalized == nil || out.normalized == nil {
			out.normalized = nil
		} else {
			out.normalized = append(out.normalized, f.normalized...)
		}
	}
	out.w = newGraph(at, edges)
	slices.Sort(out.combinatorial)
	slices.Sort(out.normalized)
	return out
}

// isolated points have no edges.
func isolated(n int) family {
	return family{name: fmt.Sprintf("isolated%d", n), w: newGraph(n, nil), combinatorial: make([]float64, n), normalized: make([]float64, n)}
}

// twoBlocks joins two copies of a graph, vertex by vertex, with the weight gap/2:
// every eigenvalue λ of a copy becomes the pair λ, λ + gap.
func twoBlocks(f family, gap float64) family {
	n := f.w.Rows
	var edges []edge
	for i := range n {
		col, _ := f.w.Row(i)
		for _, j := range col {
			if int(j) < i {
				edges = append(edges, edge{i, int(j), 1}, edge{n + i, n + int(j), 1})
			}
		}
		edges = append(edges, edge{i, n + i, gap / 2})
	}
	out := family{name: fmt.Sprintf("two %s, gap %g", f.name, gap), w: newGraph(2*n, edges)}
	out.combinatorial = sums(f.combinatorial, []float64{0, gap})
	return out
}

// denseLaplacian forms the Laplacian from the weights, entry by entry; the
// random walk's is the normalized one.
func denseLaplacian(w *sparse.CSR, kind sparse.Kind) *mat.SymDense {
	n := w.Rows
	degree := make([]float64, n)
	for i := range n {
		for j := range n {
			degree[i] += w.At(i, j)
		}
	}
	l := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			v := -w.At(i, j)
			switch {
			case kind == sparse.Combinatorial:
				if i == j {
					v += degree[i]
				}
			case degree[i] == 0 || degree[j] == 0:
				v = 0
			default:
				v /= math.Sqrt(degree[i]) * math.Sqrt(degree[j])
				if i == j {
					v++
				}
			}
			l.SetSym(i, j, v)
		}
	}
	return l
}

// applyLaplacian returns L·x by its definition; for RandomWalk L is I − D⁻¹W.
func applyLaplacian(w *sparse.CSR, kind sparse.Kind, x *mat.Dense) *mat.Dense {
	n, b := x.Dims()
	degree := make([]float64, n)
	for i := range n {
		col, val := w.Row(i)
		for p := range col {
			if val == nil {
				degree[i]++
			} else {
				degree[i] += val[p]
			}
		}
	}
	y := mat.NewDense(n, b, nil)
	for i := range n {
		yr, xr := y.RawRowView(i), x.RawRowView(i)
		if degree[i] == 0 {
			continue
		}
		for q := range yr {
			yr[q] = xr[q]
			if kind == sparse.Combinatorial {
				yr[q] *= degree[i]
			}
		}
		col, val := w.Row(i)
		for p, j := range col {
			weight := 1.0
			if val != nil {
				weight = val[p]
			}
			switch kind {
			case sparse.Normalized:
				weight /= math.Sqrt(degree[i]) * math.Sqrt(degree[j])
			case sparse.RandomWalk:
				weight /= degree[i]
			}
			for q, v := range x.RawRowView(int(j)) {
				yr[q] -= weight * v
			}
		}
	}
	return y
}

// columnNorms returns ‖x_j‖₂.
func columnNorms(x *mat.Dense) []float64 {
	_, b := x.Dims()
	norms := make([]float64, b)
	for j := range norms {
		norms[j] = mat.Norm(x.ColView(j), 2)
	}
	return norms
}

// recomputeResiduals returns ‖y_j − λ_j x_j‖₂ for y = A·x.
func recomputeResiduals(y, x *mat.Dense, values []float64) []float64 {
	n, _ := x.Dims()
	r := mat.DenseCopyOf(y)
	for i := range n {
		rr, xr := r.RawRowView(i), x.RawRowView(i)
		for j, l := range values {
			rr[j] -= l * xr[j]
		}
	}
	return columnNorms(r)
}

// gramError returns max |VᵀMV − I| for a diagonal M, the identity if nil.
func gramError(v *mat.Dense, m []float64) float64 {
	n, k := v.Dims()
	mv := mat.DenseCopyOf(v)
	for i := range n {
		if m != nil {
			row := mv.RawRowView(i)
			for j := range row {
				row[j] *= m[i]
			}
		}
	}
	// Summed by blocks of rows: thousands of equal terms added one by one
	// would lose three digits.
	g, part := mat.NewDense(k, k, nil), mat.NewDense(k, k, nil)
	for lo := 0; lo < n; lo += 256 {
		hi := min(lo+256, n)
		part.Mul(v.Slice(lo, hi, 0, k).T(), mv.Slice(lo, hi, 0, k))
		g.Add(g, part)
	}
	var worst float64
	for i := range k {
		for j := range k {
			want := 0.0
			if i == j {
				want = 1
			}
			worst = math.Max(worst, math.Abs(g.At(i, j)-want))
		}
	}
	return worst
}

// tb has the methods that *testing.T and *rapid.T share.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// checkPairs recomputes everything that a Result of k pairs claims about the
// symmetric operator a with ‖a‖ = norm.
func checkPairs(t tb, r *lanczos.Result, k int, norm, tolerance float64, apply func(x *mat.Dense) *mat.Dense) {
	t.Helper()
	if r == nil {
		t.Fatalf("no result")
	}
	if _, c := r.Vectors.Dims(); c != k || len(r.Values) != k || len(r.Residuals) != k {
		t.Fatalf("%d vectors, %d values, %d residuals; want %d", c, len(r.Values), len(r.Residuals), k)
	}
	for j := 1; j < k; j++ {
		if !(r.Values[j] >= r.Values[j-1]) {
			t.Errorf("value %d is %v after %v", j, r.Values[j], r.Values[j-1])
		}
	}
	for j, res := range recomputeResiduals(apply(r.Vectors), r.Vectors, r.Values) {
		if !(res <= tolerance*norm*(1+1e-6)+1e-14*norm) {
			t.Errorf("pair %d (λ = %v): residual %.3e, want ≤ %.1e·%v", j, r.Values[j], res, tolerance, norm)
		}
		if !(math.Abs(res-r.Residuals[j]) <= 1e-13*math.Max(norm, 1)) {
			t.Errorf("pair %d: residual %.3e reported, %.3e recomputed", j, r.Residuals[j], res)
		}
	}
	orthogonality := gramError(r.Vectors, nil)
	if !(orthogonality <= 1e-10) {
		t.Errorf("max |VᵀV − I| = %.3e", orthogonality)
	}
	if !(math.Abs(orthogonality-r.Orthogonality) <= 1e-13) {
		t.Errorf("orthogonality %.3e reported, %.3e recomputed", r.Orthogonality, orthogonality)
	}
}

// checkValues compares with the exact eigenvalues.
func checkValues(t tb, got, want []float64, bar float64) {
	t.Helper()
	for j := range got {
		if !(math.Abs(got[j]-want[j]) <= bar) {
			t.Errorf("eigenvalue %d is %.15g, want %.15g (%.1e off)", j, got[j], want[j], got[j]-want[j])
			return
		}
	}
}

// checkSubspaces compares the invariant subspaces of groups of eigenvalues that
// are at least gap apart with those of the complete decomposition: by Davis and
// Kahan the sine of the angle is at most ‖R‖/gap.
func checkSubspaces(t tb, r *lanczos.Result, values []float64, vectors *mat.Dense, gap float64) {
	t.Helper()
	n, k := r.Vectors.Dims()
	for lo := 0; lo < k; {
		hi := lo + 1
		for hi < n && values[hi]-values[hi-1] < gap {
			hi++
		}
		end := min(hi, k)
		var residual float64
		for j := lo; j < end; j++ {
			residual = math.Hypot(residual, r.Residuals[j])
		}
		u, v := vectors.Slice(0, n, lo, hi), r.Vectors.Slice(0, n, lo, end)
		var c, out mat.Dense
		c.Mul(u.T(), v)
		out.Mul(u, &c)
		out.Sub(v, &out)
		norm := math.Max(1, math.Abs(values[n-1]))
		bar := (4*residual + 1e-12*norm) / gap
		if sine := mat.Norm(&out, 2); !(sine <= bar) {
			t.Errorf("vectors %d to %d (λ = %.6g to %.6g): sine of the angle to the exact subspace %.2e, want ≤ %.2e", lo, end-1, values[lo], values[end-1], sine, bar)
		}
		lo = hi
	}
}

// eigenSym is gonum's complete decomposition.
func eigenSym(t tb, a mat.Symmetric) ([]float64, *mat.Dense) {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		t.Fatalf("gonum's decomposition failed")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return e.Values(nil), &v
}

// newLaplacian returns the operator and its components.
func newLaplacian(t tb, w *sparse.CSR, kind sparse.Kind) (*sparse.Laplacian, *sparse.Components) {
	t.Helper()
	l, err := sparse.NewLaplacian(w, kind)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return l, w.Components()
}

// diagonal is the Operator diag(d).
type diagonal []float64

func (d diagonal) Dim() int { return len(d) }
func (d diagonal) MulTo(dst, x *mat.Dense) {
	for i, v := range d {
		from, to := x.RawRowView(i), dst.RawRowView(i)
		for j := range to {
			to[j] = v * from[j]
		}
	}
}

// negated is −A: its smallest eigenpairs are the largest of A.
type negated struct{ sparse.Operator }

func (a negated) MulTo(dst, x *mat.Dense) {
	a.Operator.MulTo(dst, x)
	dst.Scale(-1, dst)
}

// apply returns A·x.
func apply(a sparse.Operator) func(x *mat.Dense) *mat.Dense {
	return func(x *mat.Dense) *mat.Dense {
		n, b := x.Dims()
		y := mat.NewDense(n, b, nil)
		a.MulTo(y, x)
		return y
	}
}

// notDense fails unless the Krylov method was used.
func notDense(t *testing.T, r *lanczos.Result) {
	t.Helper()
	if r.Certificate.Exact {
		t.Errorf("the dense method was used; this test is meant for the other")
	}
}

// laplacian is lanczos.Laplacian with a panic as an error, so that one case does
// not hide the others.
func laplacian(ctx context.Context, l *sparse.Laplacian, c *sparse.Components, s *lanczos.Settings) (r *lanczos.Result, err error) {
	defer recoverTo(&err)
	return lanczos.Laplacian(ctx, l, c, s)
}

// solve is lanczos.Solve with a panic as an error.
func solve(ctx context.Context, a sparse.Operator, s *lanczos.Settings) (r *lanczos.Result, err error) {
	defer recoverTo(&err)
	return lanczos.Solve(ctx, a, s)
}

func recoverTo(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
	}
}
