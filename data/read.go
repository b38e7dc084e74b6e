package data

import (
	"errors"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// ReadOptions are the options of readers. The zero value suits every file that holds
// one set of points.
type ReadOptions struct {
	// Key names the array in a .npz file. Default: the key given with the path
	// ("file.npz:key"), else "X", else the only array.
	Key string
	// Limit bounds the memory in bytes that reading may take; beyond it the
	// error is an *npy.LimitError. Default: no bound.
	Limit int64
	// Begin, if not nil, is called for each file of points when its size is known, before memory
	// is taken for its values: with the numbers of rows and columns, and the bytes of memory that
	// reading takes at its peak, 0 for a mapped file. Of text the rows are an estimate by the
	// first lines, and −1 where the file is compressed; the columns are 0 where the first list of
	// numbers tells them. An error of Begin ends the reading.
	Begin func(rows, columns int, bytes int64) error
	// Header says that the first line of a csv file is a header even if it
	// holds numbers. Default: it is one if none of its fields is a number.
	Header bool
	// Columns is the number of columns that points must have; others are refused before their
	// values are read. Points in svmlight form may leave the last ones out. Default: any number,
	// for svmlight the largest index in the file.
	Columns int
	// Unchecked values of dense points may be NaN, infinite or of any size, and are not looked
	// at: the caller checks mapped rows by [CheckFinite] when it reads them. Default: they are
	// checked.
	Unchecked bool
	// AllowNaN is Unchecked for dense points of text and tables as well: a caller that looks for faults
	// wants to see all values. Default: a value that is not finite is an error.
	AllowNaN bool
	// Table says what the columns of a csv file are, and keeps those that are no
	// coordinates. Default: all are coordinates.
	Table *TableColumns
	// Several reads a table of values with a column for each of two values or more, unless a column has a usual name of
	// the only one. Default: the table is asked for one column.
	Several bool
	// Points is the number of points, and IDs are their names, nil if they have none. Rows of a
	// table of values are joined with them. Default: not known.
	Points int
	IDs    *IDs
	// Coordinates are the names of the columns of these points, as in [LabelOptions].
	Coordinates []string
	// File, if not nil, gets notes and warnings on how a table of values was understood.
	File *LabelFile
}

// ReadPoints reads a set of n points in d dimensions. The format follows from
// the content of the file:
//
//   - .npy and dense .npz: float16 and bool are [Stored] points; float32, float64 and uint8
//     are kept, other integers become float64 (beyond ±2⁵³ only if exact). One dimension
//     is n×1; of more than two the trailing ones are joined, so n×28×28 images are n×784.
//     The points of a .npy file are mapped into memory and not read where they lie in it as
//     they do in memory: see package mapped for files that change.
//   - .npz written by scipy.sparse.save_npz, and svmlight text: *sparse.CSR.
//   - idx, MNIST's own format, with elements and shapes as in .npy.
//   - csv: one point a line, numbers separated by commas, semicolons, tabs or
//     blanks, with or without a line of column names; *Dense[float64]. opt.Table names
//     columns that are ids, labels, or left out.
//
// All but .npz may be compressed with gzip or zstd. The path may end in ":key"
// to name the array of a .npz file. [ReadFiles] reads several files as one set.
//
// NaN and infinite values are errors, as are sets without rows or columns. An
// error names the file and the place, rows and columns counted from 0 and
// lines of text from 1.
func ReadPoints(path string, opt ReadOptions) (Points, error) {
	src, key, err := openKey(path, opt.Key, opt.Limit)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	opt.Key = key
	return src.points(opt)
}

// points is [ReadPoints] for a source that nothing was read of.
func (s *source) points(opt ReadOptions) (Points, error) {
	x, what, err := s.load(opt)
	if err != nil {
		return nil, err
	}
	if _, ok := x.(*sparse.CSR); (opt.Unchecked || opt.AllowNaN) && !ok {
		return x, nil
	}
	if err := s.checkValues(what, x); err != nil {
		return nil, err
	}
	return x, nil
}

// load reads points without a check of their values, and returns their name for errors.
func (s *source) load(opt ReadOptions) (x Points, what string, err error) {
	if s.format.points != nil {
		x, what, err = s.format.points(s, opt)
	} else {
		x, what, err = s.arrayPoints(opt)
	}

	if err != nil {
		return nil, "", err
	}
	// Everything above relies on a first point with a first coordinate.
	if n, d := x.Dims(); n == 0 || d == 0 {
		return nil, "", s.fault("it holds %d points of %d columns; at least one of each is needed", n, d)
	}
	return x, what, nil
}

// ErrColumns is what errors are, by errors.Is, about points with other columns than asked for.
var ErrColumns = errors.New("other columns than asked for")

// columnsFault is the text of an [ErrColumns].
type columnsFault string

func (f columnsFault) Error() string { return string(f) }

func (f columnsFault) Is(target error) bool { return target == ErrColumns }

// begin checks the number of columns of the points that what names and announces the memory that
// reading them takes.
func (opt *ReadOptions) begin(what string, rows, columns int, bytes int64) error {
	if opt.Columns > 0 && columns > 0 && columns != opt.Columns {
		return columnsFault(fmt.Sprintf("%s: it holds points of %d columns; points of %d are needed", what, columns,
			opt.Columns))
	}
	if opt.Begin == nil {
		return nil
	}
	return opt.Begin(rows, columns, bytes)
}

// checkValues is [CheckFinite] for the points that load returned. The readers of text and of sparse
// points have checked for NaN and infinities.
func (s *source) checkValues(what string, x Points) error {
	if _, ok := x.(*sparse.CSR); !ok && !s.format.text {
		if err := checkFinite(what, x); err != nil {
			return err
		}
	}
	return checkMagnitude(s.path, x)
}

// Squares of values and sums of them must neither overflow nor all underflow.
const (
	maxMagnitude = 1e150
	minMagnitude = 1e-150
)

// checkMagnitude returns an error for finite points with a value beyond ±1e150, or with all values
// within ±1e-150 and not all zero. It reads float64 points once.
func checkMagnitude(what string, x Points) error {
	var top float64
	var err error
	inRows := func(cols, first int) func(i int) string {
		return func(i int) string { return fmt.Sprintf("row %d, column %d", first+i/cols, i%cols) }
	}
	// Only float64 holds such values.
	switch x := x.(type) {
	case *Dense[float64]:
		top, err = largest(what, x.Data, inRows(x.Cols, 0))
	case *sparse.CSR:
		top, err = largest(what, x.Val, func(i int) string { return fmt.Sprintf("stored value %d", i) })
	case *Stored:
		if x.kind != Float64 {
			return nil
		}
		err = x.pass(func(p *Part, lo, hi int) error {
			values := numbers.Of[float64](p.raw[(lo-p.First)*x.rowBytes() : (hi-p.First)*x.rowBytes()])
			t, err := largest(p.name(what), values, inRows(x.Cols, p.At+lo-p.First))
			top = max(top, t)
			return err
		})
	}

	if err == nil && top > 0 && top < minMagnitude {
		err = fmt.Errorf("%s: the largest value is %g; values within ±%g have squares that vanish: "+
			"scale the points", what, top, minMagnitude)
	}
	return err
}

// largest returns the largest magnitude of values, and an error for the first that is too
// large; place names the place of a value.
func largest(what string, values []float64, place func(i int) string) (float64, error) {
	const grain = 1 << 16
	tops := make([]float64, par.Chunks(len(values), grain))
	par.For(len(values), grain, func(lo, hi int) {
		var top float64
		for _, v := range values[lo:hi] {
			top = max(top, math.Abs(v))
		}
		tops[lo/grain] = top
	})

	// The first chunk with a value that is too large holds the first such value.
	var top float64
	for c, t := range tops {
		top = max(top, t)
		if t <= maxMagnitude {
			continue
		}
		for i := c * grain; ; i++ {
			if math.Abs(values[i]) > maxMagnitude {
				return top, fmt.Errorf("%s: %s is %g; values beyond ±%g have squares that overflow: "+
					"scale the points", what, place(i), values[i], maxMagnitude)
			}
		}
	}

	return top, nil
}

// CheckFinite returns an error for the first value of x that is NaN or infinite, and for values
// with squares that overflow or all vanish; what names x in it.
func CheckFinite(what string, x Points) error {
	if err := checkFinite(what, x); err != nil {
		return err
	}
	return checkMagnitude(what, x)
}

func checkFinite(what string, x Points) error {
	switch x := x.(type) {
	case *Dense[float32]:
		return finite(what, x)
	case *Dense[float64]:
		return finite(what, x)
	case *Stored:
		return x.checkFinite(what)
	case *sparse.CSR:
		for p, v := range x.Val {
			if v*0 != 0 {
				return fmt.Errorf("%s: stored value %d, of column %d, is %v; every value must be "+
					"finite: remove or impute it", what, p, x.Col[p], v)
			}
		}
	}

	return nil
}

// finite returns an error for the first NaN or infinite value; what names the
// data in it.
func finite[T float32 | float64](what string, x *Dense[T]) error {
	b := -1
	// The pass goes on behind the first such value, so that it gives all pages back.
	eachStep(x.Data, func(first int, values []T) {
		if b < 0 {
			if at := numbers.NotFinite(values); at >= 0 {
				b = first + at
			}
		}
	})

	if b >= 0 {
		return fmt.Errorf("%s: row %d, column %d is %v; every value must be finite: remove or impute it",
			what, b/x.Cols, b%x.Cols, x.Data[b])
	}
	return nil
}
