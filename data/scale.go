package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

const (
	// Dominating is the number of median standard deviations from which on a column dominates distances, and
	// DominatedShare the share of the variance that such columns hold together where it is worth a warning.
	Dominating     = 10
	DominatedShare = 0.9

	// scaleRows is the number of points that [ScaleOf] looks at. The standard deviation of a column is then off by
	// some 3 %, where Dominating is a matter of a factor.
	scaleRows = 1024

	// scaleColumns is the largest number of columns that [ScaleOf] judges: a table of measurements has fewer, and a header
	// may promise any number.
	scaleColumns = 1 << 14
)

// Scale says that few columns decide Euclidean distances: each has a standard deviation of more than
// [Dominating] times the median one, they are at most half of the columns that vary, and together they hold at
// least [DominatedShare] of the variance, which is half of the mean squared distance of two points.
type Scale struct {
	Columns []int // the dominating ones, the largest first
	Share   float64
	// Largest and Median are standard deviations, of the columns that vary.
	Largest, Median float64
	// Units tells that the largest column looks like a measurement in a unit of its own. It is not centred, as
	// principal components and other coordinates that a program made are: its mean is at least a tenth of its
	// standard deviation. And its size does not come from groups that lie apart: between its 5 and 95 % quantiles no
	// gap between neighbouring values is longer than a tenth of their range. Only [ScaleOf] tells.
	Units bool
}

// ScaleOf compares the columns of 1,024 points, taken at even steps. It returns nil if none dominate, for
// sparse points, which are compared by angle, and for more than 16,384 columns. Values that are not finite do not count.
// It costs 1,024·d operations and holds 40 bytes a column.
func ScaleOf(x Points) *Scale {
	_, d := x.Dims()
	if _, ok := x.(*sparse.CSR); ok || d > scaleColumns {
		return nil
	}
	first, finite := make([]float64, d), make([]float64, d)
	sums, squares := make([]float64, d), make([]float64, d)
	sampled(x, func(row []float64) {
		for j, v := range row {
			if v-v != 0 {
				continue
			}
			// Differences from the first value keep a large mean from cancelling the variance.
			if finite[j] == 0 {
				first[j] = v
			}
			v -= first[j]
			sums[j] += v
			squares[j] += v * v
			finite[j]++
		}
	})

	variance := make([]float64, d)
	for j, m := range finite {
		if m > 0 {
			variance[j] = max(0, (squares[j]-sums[j]*sums[j]/m)/m)
		}
	}
	out := Dominant(variance)
	if out != nil {
		out.Units = measured(x, out.Columns[0], out.Largest)
	}
	return out
}

// sampled gives the points that [ScaleOf] looks at to fn, one after the other.
func sampled(x Points, fn func(row []float64)) {
	n, d := x.Dims()
	row := make([]float64, d)
	count := min(n, scaleRows)
	for k := range count {
		i := k * n / count
		RowTo(row, x, i)
		fn(row)
		Release(x, i, i+1)
	}
}

// measured decides [Scale.Units] for a column with its standard deviation, by the same points as [ScaleOf].
func measured(x Points, column int, deviation float64) bool {
	var values []float64
	var sum float64
	sampled(x, func(row []float64) {
		if v := row[column]; v-v == 0 {
			values = append(values, v)
			sum += v
		}
	})
	slices.Sort(values)

	m := len(values)
	inner := values[m/20 : m-m/20]
	longest := 0.0
	for k, v := range inner[1:] {
		longest = max(longest, v-inner[k])
	}
	return math.Abs(sum/float64(m)) >= 0.1*deviation && longest <= 0.1*(inner[len(inner)-1]-inner[0])
}

// Dominant compares the variances of all columns. It returns nil if none dominate.
func Dominant(variance []float64) *Scale {
	var varying []int
	var total float64
	for j, v := range variance {
		if v > 0 {
			varying = append(varying, j)
			total += v
		}
	}
	if len(varying) < 2 || math.IsInf(total, 1) {
		return nil
	}
	slices.SortStableFunc(varying, func(a, b int) int { return cmp.Compare(variance[b], variance[a]) })

	out := &Scale{Largest: math.Sqrt(variance[varying[0]]), Median: math.Sqrt(variance[varying[len(varying)/2]])}
	for _, j := range varying {
		if !(math.Sqrt(variance[j]) > Dominating*out.Median) {
			break
		}
		out.Columns = append(out.Columns, j)
		out.Share += variance[j] / total
	}
	if len(out.Columns) == 0 || 2*len(out.Columns) > len(varying) || out.Share < DominatedShare {
		return nil
	}
	return out
}

// Text names the columns, the share and the deviations. names has the name of every column; nil if they have none.
func (s *Scale) Text(names []string) string {
	const most = 3
	var list []string
	for _, j := range s.Columns[:min(most, len(s.Columns))] {
		if j < len(names) {
			list = append(list, fields.Quote([]byte(names[j])))
		} else {
			list = append(list, strconv.Itoa(j))
		}
	}
	columns, hold := "columns", "hold"
	if len(s.Columns) == 1 {
		columns, hold = "column", "holds"
	}
	what := columns + " " + strings.Join(list, ", ")
	if more := len(s.Columns) - len(list); more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	if len(names) == 0 {
		what += " of the coordinates"
	}
	// Rounded down: others have a share, too.
	percent := math.Floor(1000*s.Share) / 10
	return fmt.Sprintf("%s %s %g %% of the variance (the largest standard deviation is %.3g, the median one %.3g)", what,
		hold, percent, s.Largest, s.Median)
}

// Warning is [Scale.Text] with what follows from it, and a remedy.
func (s *Scale) Warning(names []string) string {
	return fmt.Sprintf("%s, so that distances hardly see the others; unless the units of the columns are comparable, divide each "+
		"column by its standard deviation first: for a graph %s does it", s.Text(names), param.Name("standardize"))
}
