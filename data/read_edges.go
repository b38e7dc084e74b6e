package data

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// EdgeOptions say how [ReadEdges] reads a table. The zero value goes by the names of the columns.
type EdgeOptions struct {
	// From and To name the columns that hold the two ends of each edge. Weight names the column of the weights;
	// [NoWeight] stands for weights one.
	From, To, Weight string
	// NoHeader says that the first line of a csv file is an edge.
	NoHeader bool
	// Vertices are the ids of all vertices, in their order. Default: the ends of the edges, in theirs.
	Vertices *IDs
	// Limit bounds the bytes that reading may take; 0 is no bound.
	Limit int64
}

// NoWeight is the name in place of a column of weights for weights one.
const NoWeight = "none"

// Edges is a graph from a table of its edges.
type Edges struct {
	W   *sparse.CSR
	IDs *IDs // of the vertices
	// Notes say how the table was understood where it could be otherwise.
	Notes []string
}

// Usual names of the columns of a table of edges, in lower case.
var (
	edgeEnds = [][2]string{{"source", "target"}, {"from", "to"}, {"src", "dst"}, {"source", "destination"}, {"start", "end"},
		{"u", "v"}, {"node1", "node2"}, {"id1", "id2"}, {"fromnodeid", "tonodeid"}}
	edgeWeights = []string{"weight", "weights", "w", "similarity"}
	// edgeLengths name numbers that are small where a weight is large.
	edgeLengths = []string{"length", "distance", "dist", "cost", "len"}
)

// ReadEdges reads a graph from a table with a row for each edge: csv with any separator, JSON Lines or parquet. The ends are
// texts or integers. The graph is undirected:
//
//   - If every edge is there in both directions, with equal weights, each has this weight.
//   - Otherwise directions do not count, and weights of rows with the same ends add up.
//   - Edges from a vertex to itself and edges of weight 0 are left out.
//
// The notes say all this. It returns an error for an end that is missing, for a weight that is missing, negative or not
// finite, and for a table that does not say which columns hold what. It takes about 150 bytes an edge.
func ReadEdges(path string, o EdgeOptions) (*Edges, error) {
	r := &edgeReader{path: path, options: o, ids: &IDs{From: "the edges in " + path}, rows: map[string]int32{}}
	if o.Vertices != nil {
		r.ids = o.Vertices
		for i, id := range o.Vertices.Values {
			r.rows[id] = int32(i)
		}
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	if len(r.from) == 0 {
		return nil, fmt.Errorf("%s has no edge", path)
	}
	w, err := r.graph()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Edges{W: w, IDs: r.ids, Notes: r.notes}, nil
}

// edgeReader gathers edges.
type edgeReader struct {
	path     string
	options  EdgeOptions
	ids      *IDs
	rows     map[string]int32 // of the ids
	from, to []int32
	weight   []float64
	loops    int
	zeros    int
	held     int64
	notes    []string
}

// note adds a remark.
func (r *edgeReader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// read reads the edges of the table.
func (r *edgeReader) read() error {
	opt := table.Options{Limit: r.options.Limit, IsHeader: r.isHeader}
	if r.options.NoHeader {
		opt.Header = table.HeaderNo
		opt.IsHeader = nil
	}
	t, err := table.Open(r.path, opt)
	if err != nil {
		return err
	}
	defer t.Close()
	want, err := r.columns(t)
	if err != nil {
		return err
	}
	if err := t.Choose(want...); err != nil {
		return err
	}

	for {
		b, err := t.Next()
		if err == io.EOF {
			r.notes = append(r.notes, t.Notes()...)
			return nil
		}
		if err != nil {
			return err
		}
		for k := range b.Rows {
			if err := r.edge(b, k); err != nil {
				return err
			}
		}
		// An edge is 16 bytes in lists that grow, and twice 16 and twice 12 while the graph is made of both directions.
		if need := r.held + 150*int64(len(r.from)); r.options.Limit > 0 && need > r.options.Limit {
			return &npy.LimitError{What: r.path, Need: need, Limit: r.options.Limit}
		}
	}
}

// isHeader decides about the first line of a csv file.
func (r *edgeReader) isHeader(first []string) (bool, error) {
	usual := 0
	for _, f := range first {
		name := strings.ToLower(strings.TrimSpace(f))
		if _, ok := fields.Number([]byte(name)); ok {
			return false, nil
		}
		if f == r.options.From || f == r.options.To || f == r.options.Weight || slices.Contains(edgeWeights, name) {
			usual++
		}
		for _, pair := range edgeEnds {
			if name == pair[0] || name == pair[1] {
				usual++
			}
		}
	}
	if usual > 0 {
		return true, nil
	}
	return false, fmt.Errorf("the line %s may be an edge or the names of the columns; give %s if it is an edge, "+
		"and else the names of the two columns with %s and %s", strings.Join(first, ","), param.Name("no-header"),
		param.Name("from"), param.Name("to"))
}

// columns returns the columns of the ends and, unless the weights are one, of the weights.
func (r *edgeReader) columns(t *table.Reader) ([]table.Column, error) {
	all := t.Columns()
	names := t.Names()
	from, to, err := r.ends(names)
	if err != nil {
		return nil, err
	}
	weight, err := r.weights(all, from, to)
	if err != nil {
		return nil, err
	}

	want := []table.Column{{Of: []int{from}, Kind: table.Text}, {Of: []int{to}, Kind: table.Text}}
	what := "weights one"
	if weight >= 0 {
		want = append(want, table.Column{Of: []int{weight}, Kind: table.Float})
		what = "weights in column " + fields.Quote([]byte(names[weight]))
	}
	r.note("edges from column %s to column %s, %s", fields.Quote([]byte(names[from])), fields.Quote([]byte(names[to])), what)
	return want, nil
}

// ends finds the columns with the ends of the edges.
func (r *edgeReader) ends(names []string) (from, to int, err error) {
	o := &r.options
	if (o.From == "") != (o.To == "") {
		return 0, 0, fmt.Errorf("%s: an edge has two ends; give %s and %s", r.path, param.Name("from"), param.Name("to"))
	}
	if o.From != "" {
		if from, err = r.named(names, o.From); err != nil {
			return 0, 0, err
		}
		if to, err = r.named(names, o.To); err != nil {
			return 0, 0, err
		}
		if from == to {
			return 0, 0, fmt.Errorf("%s: %s and %s are both %s", r.path, param.Name("from"), param.Name("to"), o.From)
		}
		return from, to, nil
	}

	at := func(name string) int {
		return slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(strings.TrimSpace(n), name) })
	}
	for _, pair := range edgeEnds {
		if from, to := at(pair[0]), at(pair[1]); from >= 0 && to >= 0 {
			return from, to, nil
		}
	}
	if len(names) == 2 || len(names) == 3 {
		return 0, 1, nil
	}
	return 0, 0, fmt.Errorf("%s: which columns hold the ends of the edges? Its columns are %s; name them with %s and %s",
		r.path, strings.Join(names[:min(20, len(names))], ", "), param.Name("from"), param.Name("to"))
}

// weights finds the column of the weights, or −1 for weights one. A column of numbers that may be weights or not
// has to be named.
func (r *edgeReader) weights(all []table.Column, from, to int) (int, error) {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	switch r.options.Weight {
	case NoWeight:
		return -1, nil
	case "":
	default:
		at, err := r.named(names, r.options.Weight)
		if err == nil && (at == from || at == to) {
			err = fmt.Errorf("%s: column %s holds the ends of edges, and cannot hold the weights too", r.path, r.options.Weight)
		}
		if err == nil && slices.Contains(edgeLengths, strings.ToLower(r.options.Weight)) {
			r.note("warning: weights in column %s say how close the ends are, so that 0 is no edge; of lengths take "+
				"1/length", r.options.Weight)
		}
		return at, err
	}

	for i, name := range names {
		if i != from && i != to && slices.Contains(edgeWeights, strings.ToLower(strings.TrimSpace(name))) {
			return i, nil
		}
	}
	for i, c := range all {
		if i == from || i == to || c.Kind != table.Int && c.Kind != table.Float {
			continue
		}
		flag := param.Name("weight").String()
		none := flag + " " + NoWeight + " for weights one"
		remedy := "Give " + flag + " " + c.Name + " if it does, or " + none
		if slices.Contains(edgeLengths, strings.ToLower(c.Name)) {
			remedy = "A weight is large where the ends are close: add a column of 1/length and name it, or give " + none
		}
		return 0, fmt.Errorf("%s: does column %s hold the weights of the edges? %s", r.path, fields.Quote([]byte(c.Name)), remedy)
	}
	return -1, nil
}

// named returns the column of a name.
func (r *edgeReader) named(names []string, name string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	var i int
	if _, err := fmt.Sscan(name, &i); err == nil && i >= 0 && i < len(names) && fmt.Sprint(i) == name {
		return i, nil
	}
	return 0, fmt.Errorf("%s has no column %q; its columns are %s", r.path, name, strings.Join(names[:min(20, len(names))], ", "))
}

// edge takes row k of a batch.
func (r *edgeReader) edge(b *table.Batch, k int) error {
	var ends [2]int32
	for e := range ends {
		if b.Values[e].Missing(k) {
			return fmt.Errorf("%s: the edge has no end in column %s", b.Place(k), b.Columns[e].Name)
		}
		var err error
		if ends[e], err = r.vertex(b.Values[e].Texts[k]); err != nil {
			return fmt.Errorf("%s: %w", b.Place(k), err)
		}
	}

	weight := 1.0
	if len(b.Values) > 2 {
		if b.Values[2].Missing(k) {
			return fmt.Errorf("%s: the edge has no weight; leave it out, or write 0", b.Place(k))
		}
		weight = b.Values[2].Floats[k]
		if !(weight >= 0) || math.IsInf(weight, 1) {
			return fmt.Errorf("%s: the weight is %v; it must be finite and not negative", b.Place(k), weight)
		}
	}
	switch {
	case ends[0] == ends[1]:
		r.loops++
	case weight == 0:
		r.zeros++
	default:
		r.from = append(r.from, ends[0])
		r.to = append(r.to, ends[1])
		r.weight = append(r.weight, weight)
	}
	return nil
}

// vertex returns the number of the vertex with an id.
func (r *edgeReader) vertex(id string) (int32, error) {
	if v, ok := r.rows[id]; ok {
		return v, nil
	}
	if r.options.Vertices != nil {
		return 0, fmt.Errorf("no point has the id %s; ids in %s are such as %s", fields.Quote([]byte(id)), r.ids.From,
			fields.Quote([]byte(r.ids.Values[0])))
	}
	if id == "" {
		return 0, fmt.Errorf("an end is an empty text")
	}
	if len(r.ids.Values) == math.MaxInt32 {
		return 0, fmt.Errorf("there are more than %d vertices", math.MaxInt32)
	}
	v := int32(len(r.ids.Values))
	id = strings.Clone(id)
	r.ids.Values = append(r.ids.Values, id)
	r.rows[id] = v
	r.held += int64(len(id)) + 2*idMemory
	return v, nil
}

// graph makes the graph of the edges.
func (r *edgeReader) graph() (*sparse.CSR, error) {
	n := len(r.ids.Values)
	one, err := sparse.FromTriplets(n, n, r.from, r.to, r.weight)
	if err != nil {
		return nil, err
	}
	if repeated := len(r.from) - one.NNZ(); repeated > 0 {
		r.note("%d rows have the ends of an earlier one: their weights add up", repeated)
	}
	if r.loops > 0 {
		r.note("%d edges from a vertex to itself are left out", r.loops)
	}
	if r.zeros > 0 {
		r.note("%d edges of weight 0 are left out", r.zeros)
	}

	// FromTriplets sorts the columns of a row, so that two equal matrices have equal arrays.
	turned, err := sparse.FromTriplets(n, n, r.to, r.from, r.weight)
	if err != nil {
		return nil, err
	}
	if slices.Equal(one.Ptr, turned.Ptr) && slices.Equal(one.Col, turned.Col) && slices.Equal(one.Val, turned.Val) {
		r.note("every edge is there in both directions, and counts once")
		return one, nil
	}
	both, err := sparse.FromTriplets(n, n, slices.Concat(r.from, r.to), slices.Concat(r.to, r.from),
		slices.Concat(r.weight, r.weight))
	if err != nil {
		return nil, err
	}
	if opposite := one.NNZ() - both.NNZ()/2; opposite > 0 {
		r.note("%d edges are there in both directions: their weights add up", opposite)
	}
	return both, both.CheckGraph()
}
