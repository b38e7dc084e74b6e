package eigenmap

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// labelCounts counts the labels of the components of a graph.
type labelCounts struct {
	*sparse.Components
	labels  []int  // of each component
	mixed   []bool // tells whether a component has labels of several classes
	reached int    // components with a label
	// least is the number of eigenvectors below which least squares cannot fit the
	// labels: one for each component with a label, two where they are mixed.
	least int
}

// newLabelCounts counts the labels of every component in one pass over the points.
func newLabelCounts(c *sparse.Components, y *data.Labels) *labelCounts {
	out := &labelCounts{Components: c, labels: make([]int, c.Count()), mixed: make([]bool, c.Count())}
	first := make([]int32, c.Count())
	for i, class := range y.Index {
		id := c.Of[i]
		switch {
		case class == data.Unlabeled:
			continue
		case out.labels[id] == 0:
			first[id] = class
			out.reached++
			out.least++
		case first[id] != class && !out.mixed[id]:
			out.mixed[id] = true
			out.least++
		}
		out.labels[id]++
	}

	return out
}

// quotas distributes p eigenvectors over the components with a label, and returns the
// component of each eigenvector in the order of the distribution. p is cut to the number
// of vertices of these components.
//
// First every component with a label gets one eigenvector, its null vector, in descending
// order of labels. Then every component with labels of several classes gets a second one.
// Each further eigenvector goes to the component with the largest l/(s + 1), where l is
// its number of labels and s its number of eigenvectors so far; the first of equals wins.
// By this rule (D'Hondt) the numbers become proportional to the labels. quotas(q) is a
// prefix of quotas(p) for q < p.
func (c *labelCounts) quotas(p int) []int32 {
	order := make([]int32, 0, c.reached)
	for id, l := range c.labels {
		if l > 0 {
			order = append(order, int32(id))
		}
	}

	// A null vector for each, and a second vector where one cannot tell the classes apart.
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(c.labels[b], c.labels[a]) })
	out := slices.Clone(order)
	taken := make([]int, c.Count())
	for _, id := range order {
		if taken[id] = 1; c.mixed[id] {
			taken[id] = 2
			out = append(out, id)
		}
	}

	// l/(s + 1) is compared by products of integers, which have no rounding.
	for len(out) < p {
		best := int32(-1)
		for _, id := range order {
			if taken[id] < c.Sizes[id] &&
				(best < 0 || c.labels[id]*(taken[best]+1) > c.labels[best]*(taken[id]+1)) {
				best = id
			}
		}
		if best < 0 {
			break // all vertices of components with a label
		}
		taken[best]++
		out = append(out, best)
	}

	return out[:min(p, len(out))]
}

// basis holds the eigenvectors that labels can tell something about.
type basis struct {
	*lanczos.Result
	columns []int // positions among the eigenpairs given; nil if it has them all
	given   int   // number of eigenpairs given
	counts  *labelCounts
}

// mostlyElsewhere is the share of the squares of an eigenvector below which its entries
// in a set of components are rounding.
const mostlyElsewhere = 1e-8

// basisOf leaves out of e the eigenvectors that vanish on all components with a label:
// least squares would give them no coefficient. Null vectors come in the order of
// [labelCounts.quotas]. e itself is the basis if nothing changes; else it is copied.
func basisOf(e *lanczos.Result, components *sparse.Components, y *data.Labels) *basis {
	c := newLabelCounts(components, y)
	if c.Count() == 1 {
		return &basis{e, nil, len(e.Values), c}
	}

	// One pass over the rows yields, for each eigenvector, its squares in total and on
	// components with a label, and the component of each null vector.
	n, k := e.Vectors.Dims()
	total := make([]float64, k)
	here := make([]float64, k)
	home := make([]int32, e.Nullity)
	for i := range n {
		known := c.labels[c.Of[i]] > 0
		for j, v := range e.Vectors.RawRowView(i) {
			total[j] += v * v
			if known {
				here[j] += v * v
			}
			if j < e.Nullity && v != 0 {
				home[j] = c.Of[i]
			}
		}
	}

	columns := []int{}
	for j := range k {
		if here[j] > mostlyElsewhere*total[j] {
			columns = append(columns, j)
		}
	}

	// The null vectors of the components with most labels come first, so that a p below
	// the number of components is spent on these.
	null, _ := slices.BinarySearch(columns, e.Nullity)
	slices.SortStableFunc(columns[:null],
		func(a, b int) int { return cmp.Compare(c.labels[home[b]], c.labels[home[a]]) })
	if len(columns) == 0 {
		return &basis{e, columns, k, c}
	}
	if len(columns) == k && slices.IsSorted(columns) {
		return &basis{e, nil, k, c}
	}
	out := *e
	out.Nullity = null
	out.Values = nil
	out.Residuals = nil
	for _, j := range columns {
		out.Values = append(out.Values, e.Values[j])
	}
	out.Vectors = gather(e.Vectors, columns)
	return &basis{&out, columns, k, c}
}

// Select returns the columns of eigenvectors, or of rows of them, that the classifier was
// fitted to, in its order; see [Classifier.Scores].
func (m *Classifier) Select(vectors *mat.Dense) *mat.Dense { return gather(vectors, m.columns) }

// gather copies columns; nil stands for all, which are not copied.
func gather(x *mat.Dense, columns []int) *mat.Dense {
	n, _ := x.Dims()
	if columns == nil {
		return x
	}
	out := mat.NewDense(n, len(columns), nil)
	for i := range n {
		from := x.RawRowView(i)
		to := out.RawRowView(i)
		for p, j := range columns {
			to[p] = from[j]
		}
	}

	return out
}
