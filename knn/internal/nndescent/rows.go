package nndescent

// Rows are the points of a [Set] as a search reads them: row i is point i of the set until
// Arrange is called.
type Rows interface {
	// Arrange makes point order[i] of the set row i. The order is kept.
	Arrange(order []int32)
	// Meter returns a meter for one goroutine.
	Meter() Meter
}

// A Meter measures rows from one point at a time.
type Meter interface {
	// At makes row i the point.
	At(i int32)
	// Measure sets dst[p] to the squared distance of row ids[p] from the point, or to
	// another increasing function of it. The distance of two rows has the same bits
	// whichever of them is the point, as the result of a search must not depend on the
	// order in which they are compared. No value is NaN.
	Measure(dst []float32, ids []int32)
}

// A group measures rows from each other. Its distances have the bits of its Meter's distances.
type group interface {
	Meter
	// Gather holds the rows with the numbers ids, which must not change, until the next
	// call of Gather or Measure.
	Gather(ids []int32)
	// Among sets dst[p] to the distance of the gathered row a from row a+1+p.
	Among(dst []float32, a int)
}

// groupOf returns m if it is a group, and otherwise a group that measures by it.
func groupOf(m Meter) group {
	if g, ok := m.(group); ok {
		return g
	}
	return &oneByOne{Meter: m}
}

// oneByOne is a group that measures by any meter.
type oneByOne struct {
	Meter
	ids []int32
}

func (g *oneByOne) Gather(ids []int32) { g.ids = ids }

func (g *oneByOne) Among(dst []float32, a int) {
	g.At(g.ids[a])
	g.Measure(dst, g.ids[a+1:][:len(dst)])
}

// A sketcher holds rows that are dear to read.
type sketcher interface {
	// Sketch returns n rows of few coordinates, in the present order. Sketches are near each
	// other where the rows are. The result is nil if sketches would save little.
	Sketch(n int, seed uint64) Rows
}

// Apart is the squared distance of rows that belong in no list, such as zero vectors among
// directions. It is far above the distances of scaled rows.
const Apart = 1e6

// numbering translates rows to points of the set, for rows that stay where they are.
type numbering struct{ order []int32 }

func (n *numbering) Arrange(order []int32) { n.order = order }

func (n *numbering) of(row int32) int32 {
	if n.order == nil {
		return row
	}
	return n.order[row]
}
