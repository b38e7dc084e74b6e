package lanczos

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/sparse"
)

// Verification reports on claimed eigenpairs; see [Verify].
type Verification struct {
	Pairs         int
	MaxResidual   float64 // of the claimed values and vectors, recomputed
	WorstPair     int     // the pair it belongs to, counted from 0
	Orthogonality float64 // max |VᵀV − I|, recomputed
	Norm          float64 // bound on ‖L‖
	Zeros         int     // claimed values within the tolerance of 0
	Components    int     // of the graph: the true nullity
	// Exact: the claimed values were compared with the whole spectrum.
	Exact bool
	// Searched: a random block on the complement looked for eigenvalues that
	// were left out. Next is the smallest value found; see [Certificate].
	Searched bool
	Next     float64
	// Faults says, in order of weight, why the pairs are not the smallest ones
	// of the Laplacian. Empty means that none was found.
	Faults []string
}

// verifyDense is the dimension up to which Verify computes the whole spectrum, which takes some
// seconds and leaves no doubt.
const verifyDense = 2000

// Verify checks that values and the columns of vectors are the smallest
// eigenpairs of a Laplacian of any power, without shift: finite, ascending up to
// 1e-14·‖L‖, residuals at most s.Tolerance·‖L‖ (default 1e-8), orthonormal to 1e-8 (1e-6 with
// s.Single, which says that the vectors were rounded to float32),
// as many zeros as the graph has components, and nothing left out. For
// sparse.RandomWalk vectors are orthonormal in the inner product xᵀDy.
//
// Up to dimension 2000 the values are compared with the whole spectrum. Beyond,
// the block Lanczos process runs on the complement of the vectors; that costs a
// small part of computing them, and a copy.
func Verify(ctx context.Context, l *sparse.Laplacian, c *sparse.Components, values []float64,
	vectors *mat.Dense, s *Settings) (*Verification, error) {
	n, k := vectors.Dims()
	if n != l.Dim() || k != len(values) || k > n {
		return nil, fmt.Errorf("lanczos: %d values and %d×%d vectors for a Laplacian of dimension %d",
			len(values), n, k, l.Dim())
	}
	filled := Settings{K: k}
	if s != nil {
		filled.Tolerance = s.Tolerance
		filled.Seed = s.Seed
		filled.MemoryLimit = s.MemoryLimit
	}

	p, err := newPlan(n, &filled)
	if err != nil {
		return nil, err
	}
	l, e, err := rescale(l)
	if err != nil {
		return nil, err
	}
	// Everything is checked in the unit of the rescaled Laplacian; messages speak in the caller's
	// unit.
	scaled := make([]float64, k)
	for j, lambda := range values {
		scaled[j] = math.Ldexp(lambda, -e*l.Power())
	}
	basis := p.forSearch().allocate(p.columns())
	x := basis.Slice(0, n, 0, k).(*mat.Dense)
	copyBlock(x, vectors)
	if l.Kind() == sparse.RandomWalk {
		scaleRows(x, l.Degrees(), math.Sqrt)
	}
	d := estimateDensity(l, nil, p.Seed, densitySteps)
	v := &verifier{l: l, p: p, d: d, basis: basis, values: scaled, exponent: e * l.Power(),
		orthonormal: orthonormal}
	if s != nil && s.Single {
		v.orthonormal = roundedOrthonormal
	}
	v.Pairs = k
	v.Norm = math.Max(math.Abs(d.low), math.Abs(d.high))
	v.Components = c.Count()
	v.Next = math.Inf(1)
	v.tolerance = p.Tolerance * v.Norm
	// The residuals are of the claimed values, not of the Rayleigh quotients.
	v.checkPairs(residuals(l, wide(x), nil, func(lo int, q []float64) { copy(q, scaled[lo:]) }), orthogonality(wide(x)))
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// A search on the complement needs orthonormal vectors.
	switch {
	case n <= verifyDense:
		err = v.compare(ctx)
	case v.Orthogonality <= v.orthonormal && checkFinite("values", scaled) == nil:
		err = v.search(ctx)
	}

	if err != nil {
		return nil, err
	}
	for _, field := range []*float64{&v.MaxResidual, &v.Norm, &v.Next} {
		*field = v.unit(*field)
	}
	return &v.Verification, nil
}

// orderRounding bounds, relative to ‖L‖, the amount by which a claimed value may be
// below the one before it.
const orderRounding = 1e-14

// orthonormal bounds |VᵀV − I| of claimed vectors, and roundedOrthonormal that of vectors of float32: the entries of a
// constant one all have the same rounding.
const (
	orthonormal        = 1e-8
	roundedOrthonormal = 1e-6
)

// A verifier holds the claimed pairs and the findings. For sparse.RandomWalk it holds the pairs of
// the sparse.Normalized Laplacian.
type verifier struct {
	Verification
	l         *sparse.Laplacian
	p         *plan
	d         density
	basis     *mat.Dense // the vectors, and behind them memory for the search
	values    []float64
	tolerance float64 // of residuals
	// orthonormal bounds |VᵀV − I|.
	orthonormal float64
	// The Laplacian, and all that has its unit, is divided by 2^exponent.
	exponent int
}

// unit returns an eigenvalue or a residual in the unit of the Laplacian as given.
func (v *verifier) unit(x float64) float64 { return math.Ldexp(x, v.exponent) }

func (v *verifier) fault(format string, args ...any) {
	v.Faults = append(v.Faults, fmt.Sprintf(format, args...))
}

// checkPairs checks the order of the values, their residuals, the orthogonality of the vectors
// and the number of zeros.
func (v *verifier) checkPairs(residuals []float64, orthogonality float64) {
	for j := range v.values {
		// Rounding may change the order of equal values, above all of zeros.
		before := v.values[max(j-1, 0)]
		if !(v.values[j] >= before-orderRounding*v.Norm) {
			v.fault("value %d is %v after %v: the values do not ascend", j, v.unit(v.values[j]),
				v.unit(before))
			break
		}
	}

	// NaN is the worst of all, and stays.
	for j, r := range residuals {
		if !(r <= v.MaxResidual) && !math.IsNaN(v.MaxResidual) {
			v.MaxResidual = r
			v.WorstPair = j
		}
	}

	if !(v.MaxResidual <= v.tolerance) {
		v.fault("pair %d has the residual %.2e, beyond the tolerance %.2e", v.WorstPair,
			v.unit(v.MaxResidual), v.unit(v.tolerance))
	}
	if v.Orthogonality = orthogonality; !(v.Orthogonality <= v.orthonormal) {
		v.fault("the vectors are not orthonormal: |VᵀV − I| is up to %.2e", v.Orthogonality)
	}
	// Every component has a null vector, so fewer zeros mean that some were left out.
	for _, lambda := range v.values {
		if math.Abs(lambda) <= math.Max(v.tolerance, 1e-10*v.Norm) {
			v.Zeros++
		}
	}

	if want := min(v.Components, v.Pairs); v.Zeros < want {
		v.fault("%s of zero, but the graph has %s", enum.Count(v.Zeros, "value"),
			enum.Count(v.Components, "component"))
	}
}

// compare compares the values with the whole spectrum.
func (v *verifier) compare(ctx context.Context) error {
	n := v.l.Dim()
	k := v.Pairs
	v.Exact = true
	exact, err := solveDense(ctx, v.l, &plan{Settings: Settings{K: min(k+1, n), Tolerance: 1}, n: n,
		wanted: min(k+1, n)}, nil)
	if err != nil {
		return err
	}

	for j, lambda := range v.values {
		if !(math.Abs(lambda-exact.Values[j]) <= v.tolerance+1e-12*v.Norm) {
			v.fault("value %d is %.12g, but eigenvalue %d is %.12g", j, v.unit(lambda), j,
				v.unit(exact.Values[j]))
			break
		}
	}

	if k < n {
		v.Next = exact.Values[k]
	}
	return nil
}

// search looks for values that were left out, by the process that computes them, in
// the state it would have after finding the claimed vectors.
func (v *verifier) search(ctx context.Context) error {
	k := v.Pairs
	proc := newProcess(v.l, v.p, v.d, wide(v.basis))
	proc.setFilter(v.d, v.d.low)
	proc.low = math.Min(proc.low, v.values[0])
	claimed := &Result{Values: v.values}
	missed, err := proc.missed(ctx, claimed, []float64{proc.f.value(v.values[k-1])})
	if err != nil {
		return err
	}

	v.Searched = true
	v.Next = claimed.Certificate.Next
	if missed {
		v.fault("an eigenvalue of at most %.12g was left out, below the last value %.12g", v.unit(v.Next),
			v.unit(v.values[k-1]))
	}
	return nil
}
