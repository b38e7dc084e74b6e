// Package expansion holds functions that are expansions over points in the values of a
// kernel: the form of every kernel machine and of all that is fitted by one. It has their
// parameters of the kernel, their queries and their part of a model file, and it chooses
// between all points and landmarks.
package expansion

import (
	"context"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/stage"
)

// The first query makes the points ready for the kernel, under a lock; copies of a model share
// them. Up to four points go through panels (kernel.Side.FewTo), summed in the order of
// dense.Gemm64, so that a point has the same bits alone and in a batch. A [kernel.Source] is a
// kernel with its points, or a matrix of given values in place of both; precomputed is a
// choice of the command line, an Expansion says Given, and no kernel.Kind stands for it.

// Expansion is a function
//
//	f_c(x) = Σ_i a_ic k(x, x_i) + b_c
//
// Models of this form embed an Expansion. It is immutable and safe for concurrent use.
type Expansion struct {
	Kernel kernel.Kernel
	// Given says that a point x is given as the row of its values k(x, x_i) with all
	// training points. Kernel then does not matter, Points is nil, and every training point
	// has a coefficient.
	Given        bool
	Points       data.Points // the x_i
	Coefficients *mat.Dense  // m×c
	// Intercepts holds the b_c; nil means none.
	Intercepts []float64
	Classes    []int64 // classes that the outputs code; nil for values
	// Fallback is the position of the class of a point where f is 0 in every output, as it is
	// where all kernel values are 0 and there is no intercept: the most frequent class of the
	// labels.
	Fallback int32

	queries *queries // keeps prepared points; nil prepares the points for each query
}

// New returns an expansion without points and coefficients yet, of a kernel or of given
// values. Its first query prepares the points, and the expansion keeps them prepared: see
// [Expansion.Predict].
func New(k kernel.Kernel, given bool, classes []int64) Expansion {
	return Expansion{Kernel: k, Given: given, Classes: classes, queries: new(queries)}
}

// queries keeps the points of an expansion prepared for its kernel.
type queries struct {
	mu     sync.Mutex
	kernel kernel.Kernel
	points data.Points
	side   *kernel.Side // points, prepared for kernel
}

// side returns the prepared points, and prepares them at the first call. Copies of an
// expansion share them as long as they have the same points.
func (e *Expansion) side() (*kernel.Side, error) {
	q := e.queries
	if q == nil {
		return kernel.New(e.Kernel, e.Points)
	}

	// A copy may have got other points since, so the prepared ones are compared.
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.side != nil && q.points == e.Points && q.kernel == e.Kernel {
		return q.side, nil
	}

	side, err := kernel.New(e.Kernel, e.Points)
	if err == nil {
		q.kernel = e.Kernel
		q.points = e.Points
		q.side = side
	}
	return side, err
}

// Expand returns the expansion with coefficients of the given points of s, or of all points
// for nil rows. With given values in place of points, the other points get the coefficient 0.
func Expand(s kernel.Source, rows []int, coefficients *mat.Dense) *Expansion {
	made := New(s.Kernel, s.Values != nil, nil)
	e := &made
	e.Points = s.Points
	e.Coefficients = coefficients
	switch {
	case rows == nil:
	case e.Given:
		// A query gives its values with all training points, so each has a coefficient.
		n, _ := s.Values.Dims()
		_, c := coefficients.Dims()
		e.Coefficients = mat.NewDense(n, c, nil)
		for p, i := range rows {
			copy(e.Coefficients.RawRowView(i), coefficients.RawRowView(p))
		}
	default:
		e.Points = data.Select(s.Points, rows)
	}

	return e
}

// KernelChoice returns the choice that yields the expansion's kernel, with its width as a
// number.
func (e *Expansion) KernelChoice() KernelChoice {
	if e.Given {
		return KernelChoice{Kind: Precomputed}
	}
	return kernelChoiceOf(e.Kernel)
}

// DescribeKernel describes the kernel in a few words.
func (e *Expansion) DescribeKernel() string {
	if e.Given {
		return Precomputed + " kernel"
	}
	return e.Kernel.String()
}

// KernelFact returns the kernel as a fact of a summary.
func (e *Expansion) KernelFact() models.Fact {
	if e.Given {
		return models.Fact{Key: "kernel", Value: map[string]string{"kind": Precomputed}}
	}
	return models.Fact{Key: "kernel", Value: e.Kernel}
}

// Output describes the answers.
func (e *Expansion) Output() models.Output {
	_, c := e.Coefficients.Dims()
	return models.OutputOf(e.Classes, c)
}

// Dim returns the number of columns of points that Predict takes.
func (e *Expansion) Dim() int {
	if e.Points == nil {
		size, _ := e.Coefficients.Dims()
		return size
	}
	_, d := e.Points.Dims()
	return d
}

// tilePoints is the number of rows of kernel values that kernel.Side.ProductTo holds at once.
const tilePoints = 256

// QueryCost returns the cost of the values with all points of the expansion: the copies of
// the points in float64, which are kept, the values of a tile, and the answers.
func (e *Expansion) QueryCost(n int, _ *models.PredictSettings) stage.Cost {
	size, c := e.Coefficients.Dims()
	d := e.Dim()
	out := stage.Cost{Bytes: 8 * int64(size) * tilePoints,
		Operations: 2 * float64(n) * float64(size) * float64(d+c)}
	if e.Points != nil {
		out.Bytes += 8 * (int64(size) + tilePoints) * int64(d+1)
		out.Bytes += 8 * int64(size) * int64(d) // a second copy, after a query of few points
	}
	out.Bytes += AnswerBytes(n, c, len(e.Classes))
	return out
}

// AnswerBytes returns the memory of answers for n points with c outputs.
func AnswerBytes(n, c, classes int) int64 {
	if classes == 0 {
		return 8 * int64(n) * int64(c)
	}
	if classes == 2 {
		c += 2 // a score for each
	}
	return int64(n) * int64(8*c+4)
}

// Predict evaluates f at new points. It takes the time of a product with all kernel values,
// and the memory of 256 rows of them beside the points. The first call prepares the points of
// the expansion for the kernel, in float64, and keeps them for later calls.
func (e *Expansion) Predict(ctx context.Context, x data.Points,
	s *models.PredictSettings) (*models.Prediction, error) {
	if err := models.CheckQuery(x, e.Dim()); err != nil {
		return nil, err
	}

	// Given values are multiplied as they are; else tiles of values are formed, and a few
	// points take a way without tiles.
	product := func(dst *mat.Dense, lo, hi int) error {
		givenProduct(dst, x, lo, e.Coefficients)
		return nil
	}
	if e.Points != nil {
		side, err := e.side()
		if err != nil {
			return nil, err
		}
		product = func(dst *mat.Dense, lo, hi int) error {
			return side.ProductTo(dst, x, lo, hi,
				e.Coefficients)
		}
		if n, _ := x.Dims(); n <= kernel.FewRows {
			product = func(dst *mat.Dense, _, _ int) error { return side.FewTo(dst, x, e.Coefficients) }
		}
	}

	return e.Evaluate(ctx, x, s, product)
}

// Evaluate makes the prediction for x batch by batch. product sets dst to the rows lo to hi of
// the expansion without intercepts.
func (e *Expansion) Evaluate(ctx context.Context, x data.Points, s *models.PredictSettings,
	product func(dst *mat.Dense, lo, hi int) error) (*models.Prediction, error) {
	n, _ := x.Dims()
	_, c := e.Coefficients.Dims()
	f := mat.NewDense(n, c, nil)
	for lo := 0; lo < n; lo += data.BlockRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+data.BlockRows, n)
		if err := product(f.Slice(lo, hi, 0, c).(*mat.Dense), lo, hi); err != nil {
			return nil, err
		}
		if s != nil && s.OnProgress != nil {
			s.OnProgress(hi, n)
		}
	}

	if e.Intercepts != nil {
		dense.AddRow(f, e.Intercepts)
	}
	p := models.NewPrediction(f, e.Classes)
	p.FallBack(e.Fallback)
	return p, nil
}

// givenProduct sets dst to the product of kernel values with a. The rows of x from lo on hold
// the kernel values.
func givenProduct(dst *mat.Dense, x data.Points, lo int, a *mat.Dense) {
	rows, _ := dst.Dims()
	n, _ := a.Dims()
	par.For(rows, 16, func(p, q int) {
		row := make([]float64, n)
		for i := p; i < q; i++ {
			data.RowTo(row, x, lo+i)
			out := dst.RawRowView(i)
			clear(out)
			for j, v := range row {
				simd.CombineRow(out, out, 1, a.RawRowView(j), v)
			}
		}
	})
}

// Arrays returns the arrays of an expansion over m points with c outputs:
//
//	coefficients  float64  m×c  coefficients a
//	bias          float64  c    intercepts b, if there are any
//	classes       int64         values of the classes, if the outputs code classes
//
// and the points, unless values are given: see [models.PointEntries].
func (e *Expansion) Arrays() []archive.Array {
	out := []archive.Array{models.MatrixEntry("coefficients", e.Coefficients)}
	if e.Intercepts != nil {
		out = append(out, archive.Array{Name: "bias", Data: e.Intercepts})
	}
	return append(append(out, models.ClassEntries(e.Classes)...), models.PointEntries(e.Points, nil)...)
}

// Read is the inverse of [Expansion.Arrays]. The width of k must be a number, not a rule.
// intercepts tells whether the file must have intercepts.
func Read(r *models.Reader, k KernelChoice, intercepts bool) (*Expansion, error) {
	s, err := k.On(nil, 0)
	if err != nil {
		return nil, err
	}
	made := New(s.Kernel, k.Given(), nil)
	e := &made
	e.Coefficients = r.Matrix("coefficients")
	e.Classes = r.ReadClasses()
	if intercepts {
		e.Intercepts = models.Numbers[float64](r, "bias")
	}
	e.Points = r.Points()
	return e, r.Err
}

// CheckPoints returns an error unless every row of the coefficients has its point,
// or the values are given and there are no points.
func (e *Expansion) CheckPoints() error {
	// Given values and points exclude each other.
	if (e.Points == nil) != e.Given {
		return fmt.Errorf("models: a %s with points %t", e.DescribeKernel(), e.Points != nil)
	}
	if e.Points == nil {
		return nil
	}
	size, _ := e.Coefficients.Dims()
	if n, _ := e.Points.Dims(); n != size {
		return fmt.Errorf("models: %d points for %d coefficients", n, size)
	}
	return nil
}
