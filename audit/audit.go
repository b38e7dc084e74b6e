// Package audit looks for faults in a set of points and in its labels or values, by the neighbours of the
// points and by answers for labels left out. It changes nothing and decides nothing: it lists rows, columns
// and classes that a person should look at, each with a number and the formula of the number.
//
//	x, err := data.ReadPoints("X.npy", data.ReadOptions{AllowNaN: true})
//	y, err := data.ReadLabels("y.csv", data.LabelOptions{})
//	found, err := audit.Run(ctx, x, &audit.Targets{Labels: y}, nil)
//
// # Distances
//
// Neighbours are found on the graph that the default of a fit makes ([pipeline.AutoGraph]): among dense points
// of many columns on principal components. Their distances are measured again on the points as given, so that
// thresholds and scores speak of the points and not of a projection. Neighbours that only the columns left out
// by the projection would reveal are not found.
//
// # Rows
//
// Rows with a value that is not finite are listed and take no part in anything else. All numbers of rows in a
// [Result] are those of the points as given.
package audit

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
)

// DefaultVotes is the number k of neighbours that vote in the utility of [Shapley].
const DefaultVotes = 5

// Targets are the labels or the values of points; at most one of both is there.
type Targets struct {
	Labels *data.Labels
	Values *mat.Dense // n×m; a row of NaN is a point without values
}

// Settings of [Run]. A nil *Settings and zero fields are the defaults.
type Settings struct {
	// Pipeline has the seed, the bound of memory and the observer. Default: an empty one.
	Pipeline *pipeline.Pipeline
	// Graph says how neighbours are searched and weighed. Default: [pipeline.AutoGraph]. A radius and
	// distances that are no lengths, such as inner products, are errors. A number of neighbours that is not
	// smaller than the number of points is cut.
	Graph *pipeline.GraphSettings
	// IDs are the names of the points, in which a name may be there twice. Default: none.
	IDs *data.IDs
	// Votes is the number k of neighbours that vote in the value of a label, at most the number of
	// neighbours in a list. Default: [DefaultVotes].
	Votes int
	// MostOperations bounds the cost of labels left out by a graph method; beyond it the nearest neighbours
	// answer. Default: [DefaultMostOperations].
	MostOperations float64
}

// Result of [Run].
type Result struct {
	Points, Dimension int // n and d
	Values            Values
	// IDs are names that several points have.
	IDs []RepeatedID

	// Graph says how neighbours were found; K is their number, 0 if there are too few points for any.
	Graph pipeline.GraphSettings
	K     int
	// Distance is the mean distance of each point to its neighbours, NaN for points that take no part.
	// Typical is its median.
	Distance []float64
	Typical  float64

	Duplicates Duplicates
	Outliers   Outliers
	Order      *Order // nil if there are fewer than [FewestPairs] pairs

	Classes *Classes // nil without labels
	Labels  *Labels  // nil without labels of two classes that have neighbours
	Worth   *Worth   // value of each label; nil without labels of two classes
	Answers *Answers // values far from their neighbours' values; nil without values
}

// RepeatedID is a name that several points have.
type RepeatedID struct {
	ID   string
	Rows []int
}

// run holds an audit on its way. points, labels and values belong to the rows that take part.
type run struct {
	*pipeline.Pipeline
	s      Settings
	out    *Result
	rows   []int // numbers of the rows that take part; nil if all do
	points data.Points
	labels *data.Labels
	given  *data.Labels // of all rows
	values *mat.Dense
	graph  *pipeline.Graph
	lists  *knn.Neighbors // measured on the points
}

// Run audits n points and, if y is not nil, their labels or values. It does not change them.
//
// It takes one pass over the points for their columns and one for their hashes, one search for neighbours, n·k
// distances of d terms, and of labels one solution of a sparse system for each fold of ten. The memory is that of
// the search, or 100 bytes a point and neighbour.
//
// Points beyond ±1e150, labels or values of another number of points, and settings that do not go together are
// errors; an error that is [models.Usable], such as a recall that was not reached, comes with a Result.
func Run(ctx context.Context, x data.Points, y *Targets, s *Settings) (*Result, error) {
	r := &run{out: &Result{}}
	if s != nil {
		r.s = *s
	}
	if err := r.check(x, y); err != nil {
		return nil, err
	}
	r.Pipeline = r.s.Pipeline
	if r.Pipeline == nil {
		r.Pipeline = &pipeline.Pipeline{}
	}
	r.out.Points, r.out.Dimension = x.Dims()
	r.out.IDs = repeated(r.s.IDs)

	if err := r.look(ctx, x, y); err != nil {
		return nil, err
	}
	if err := r.exact(ctx); err != nil {
		return nil, err
	}
	short := r.search(ctx)
	if !models.Usable(short) {
		return nil, short
	}
	if r.lists != nil {
		r.outliers()
		r.near()
		r.order()
	}
	r.conflicts()

	err := r.judge(ctx)
	if !models.Usable(err) {
		return nil, err
	}
	r.toGiven()
	return r.out, errors.Join(short, err)
}

// check returns all faults of the arguments.
func (r *run) check(x data.Points, y *Targets) error {
	if x == nil {
		return errors.New("audit: there are no points")
	}
	n, d := x.Dims()
	var faults []error
	add := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf("audit: "+format, args...))
		}
	}
	add(n == 0 || d == 0, "there are %d points of %d columns; at least one of each is needed", n, d)
	if y != nil {
		add(y.Labels != nil && y.Values != nil, "the targets are labels and values; give one of both")
		if y.Labels != nil {
			add(y.Labels.Len() != n, "there are %d points and %d labels", n, y.Labels.Len())
		}
		if y.Values != nil {
			rows, _ := y.Values.Dims()
			add(rows != n, "there are %d points and %d values", n, rows)
		}
	}
	if r.s.IDs != nil {
		add(r.s.IDs.Len() != n, "there are %d points and %d ids", n, r.s.IDs.Len())
	}

	add(r.s.Votes < 0, "Votes is %d; it must be positive, or 0 for the default", r.s.Votes)
	add(!(r.s.MostOperations >= 0), "MostOperations is %v; it must not be negative", r.s.MostOperations)
	if g := r.s.Graph; g != nil {
		add(g.Graph.Radius > 0, "%s is given; an audit asks a number of neighbours", param.Name("radius"))
		add(g.Metric.Space() == knn.Products, "%s is %s, which is no length; an audit compares lengths",
			param.Name("distance"), g.Metric)
		add(g.ClassWeights != nil, "%s are for fits", param.Name("class-weights"))
	}
	if r.s.Votes == 0 {
		r.s.Votes = DefaultVotes
	}
	if r.s.MostOperations == 0 {
		r.s.MostOperations = DefaultMostOperations
	}
	return errors.Join(faults...)
}

// look finds what columns and rows are by themselves, and takes rows that are not finite out.
func (r *run) look(ctx context.Context, x data.Points, y *Targets) error {
	var err error
	if r.out.Values, err = valuesOf(ctx, r.Pipeline, x); err != nil {
		return err
	}
	if y == nil {
		y = &Targets{}
	}
	r.points = x
	r.labels = y.Labels
	r.given = y.Labels
	r.values = y.Values
	if bad := r.out.Values.NotFinite; len(bad) > 0 {
		r.rows = data.Without(r.out.Points, bad)
		if len(r.rows) == 0 {
			r.points = nil
			return nil
		}
		r.points = data.Select(x, r.rows)
		if r.labels != nil {
			r.labels = r.labels.Select(r.rows)
		}
		if r.values != nil {
			r.values = selectRows(r.values, r.rows)
		}
	}
	return data.CheckFinite("the points", r.points)
}

// count returns the number of points that take part.
func (r *run) count() int {
	if r.points == nil {
		return 0
	}
	n, _ := r.points.Dims()
	return n
}

// row returns the number in the points as given of the point i that takes part.
func (r *run) row(i int) int {
	if r.rows == nil {
		return i
	}
	return r.rows[i]
}

// repeated lists the names that several points have, in the order of their first rows.
func repeated(ids *data.IDs) []RepeatedID {
	if ids == nil {
		return nil
	}
	first := make(map[string]int, ids.Len())
	place := map[string]int{}
	var out []RepeatedID
	for i, id := range ids.Values {
		at, twice := first[id]
		if !twice {
			first[id] = i
			continue
		}
		p, ok := place[id]
		if !ok {
			p = len(out)
			place[id] = p
			out = append(out, RepeatedID{ID: id, Rows: []int{at}})
		}
		out[p].Rows = append(out[p].Rows, i)
	}
	return out
}

// selectRows copies rows of a matrix.
func selectRows(m *mat.Dense, rows []int) *mat.Dense {
	_, c := m.Dims()
	out := mat.NewDense(len(rows), c, nil)
	for p, i := range rows {
		copy(out.RawRowView(p), m.RawRowView(i))
	}
	return out
}
