package artifact

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/pipeline"
)

// Answers is the difference of two files of answers, or of the answers for training points
// of two models.
type Answers struct {
	// Rows counts the rows that both files have, matched by id if both have ids, otherwise by
	// position.
	Rows   int     `json:"rows"`
	Differ int     `json:"differ"`
	Share  float64 `json:"share"` // Differ/Rows
	// OnlyA and OnlyB are rows that one file has alone, Columns columns that differ in
	// number, name or type.
	OnlyA   int      `json:"only_a"`
	OnlyB   int      `json:"only_b"`
	Columns []Change `json:"columns,omitempty"`
	// Largest is the largest difference of numbers.
	Largest float64 `json:"largest"`
	First   []Row   `json:"first,omitempty"` // rows that differ
}

// Row is a row that differs.
type Row struct {
	ID string `json:"id"`
	A  string `json:"a"`
	B  string `json:"b"`
}

// mostRows is the number of rows that are shown.
const mostRows = 5

func (a *Answers) equal() bool {
	return a.Differ == 0 && a.OnlyA == 0 && a.OnlyB == 0 && a.Columns == nil
}

func (a *Answers) String() string {
	if a.equal() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  answers: %d of %d rows differ (%.3g %%)", a.Differ, a.Rows, 100*a.Share)
	if a.Largest > 0 && !math.IsInf(a.Largest, 0) {
		fmt.Fprintf(&b, ", by at most %.6g", a.Largest)
	}
	b.WriteString("\n")
	if a.OnlyA+a.OnlyB > 0 {
		fmt.Fprintf(&b, "  %d rows in the first only, %d in the second only\n", a.OnlyA, a.OnlyB)
	}
	for _, c := range a.Columns {
		fmt.Fprintf(&b, "  column %s: %s | %s\n", c.What, short(c.A), short(c.B))
	}
	for _, r := range a.First {
		fmt.Fprintf(&b, "    %s: %s | %s\n", r.ID, short(r.A), short(r.B))
	}
	return b.String()
}

// isKey tells whether a column of this name says which point a row is of: ids, or numbers.
func isKey(name string) bool { return name == "id" || name == "row" }

// columns holds the answers of one file in memory.
type columns struct {
	path  string
	ids   []string // nil if rows have numbers only
	rows  int
	names []string
	of    []column
}

// column holds numbers or texts, width a row.
type column struct {
	numbers []float64
	texts   []string
	width   int
}

// value is value j of row i as text.
func (c *column) value(k int) string {
	if c.texts != nil {
		return c.texts[k]
	}
	return strconv.FormatFloat(c.numbers[k], 'g', -1, 64)
}

// row is row i as text.
func (c *columns) row(i int) string {
	var out []string
	for _, x := range c.of {
		for j := range x.width {
			out = append(out, x.value(i*x.width+j))
		}
	}
	return list(out, 8)
}

func (c *columns) id(i int) string {
	if c.ids != nil {
		return c.ids[i]
	}
	return strconv.Itoa(i)
}

// add appends a column; an id names the rows.
func (c *columns) add(name string, x column, rows int, id bool) error {
	// All columns must have the length of the first one.
	if c.of != nil || c.ids != nil {
		if rows != c.rows {
			return fmt.Errorf("%s: column %q has %d rows, those before it %d", c.path, name, rows, c.rows)
		}
	}

	c.rows = rows
	if id {
		c.ids = x.texts
		return nil
	}
	c.names = append(c.names, name)
	c.of = append(c.of, x)
	return nil
}

// answers compares two files of answers.
func (d *Difference) answers(infos [2]*Info, limit int64) error {
	// Rows are compared only if the columns fit, which headers tell where rows have no ids.
	before, needA := headerColumns(infos[0])
	after, needB := headerColumns(infos[1])
	if before != nil && after != nil {
		if changes := columnChanges(before, after); changes != nil {
			rows := min(before.rows, after.rows)
			d.Answers = &Answers{Rows: rows, OnlyA: before.rows - rows, OnlyB: after.rows - rows,
				Columns: changes}
			return nil
		}
	}
	// Both files are in memory at the same time.
	if need := needA + needB; limit > 0 && need > limit {
		return &npy.LimitError{What: infos[0].Path + " and " + infos[1].Path, Need: need, Limit: limit}
	}

	a, err := readColumns(infos[0], limit)
	if err != nil {
		return err
	}
	if limit > 0 {
		limit = max(1, limit-needA)
	}
	b, err := readColumns(infos[1], limit)
	if err != nil {
		return err
	}
	d.Answers, err = compareAnswers(a, b)
	return err
}

// headerColumns returns the columns of answers without their values, and the bytes of memory that
// reading takes at its peak; nil and 0 for text, and nil where rows have ids or no common number.
func headerColumns(info *Info) (*columns, int64) {
	if info.Format != data.FormatNPY && info.Format != data.FormatNPZ {
		return nil, 0
	}
	c := &columns{path: info.Path}
	var need int64
	known := true
	for _, x := range info.Arrays {
		if x.Name == archive.Name {
			continue
		}
		count := int64(1)
		for _, s := range x.Shape {
			count *= int64(s)
		}
		// Numbers become float64 beside the array as it is stored.
		if need += 8 * count; x.DType != "float64" {
			need += 8 * count
		}
		if len(x.Shape) == 0 || isKey(x.Name) || x.Shape[0] == 0 {
			known = false
			continue
		}
		col := column{width: int(count / int64(x.Shape[0]))}
		if c.add(x.Name, col, x.Shape[0], false) != nil {
			known = false
		}
	}
	if !known || c.of == nil {
		return nil, need
	}
	return c, need
}

// readColumns reads answers in any format.
func readColumns(info *Info, limit int64) (*columns, error) {
	path := info.Path
	switch info.Format {
	case data.FormatNPY:
		x, err := npy.ReadFile(path, limit)
		if err != nil {
			return nil, err
		}
		// The manifest says how the file was made, which has no rows.
		c := &columns{path: path}
		return c, c.addArray("", x, false)
	case data.FormatNPZ, data.FormatSciPy:
		a, err := npy.OpenArchive(path, limit)
		if err != nil {
			return nil, err
		}
		defer a.Close()

		c := &columns{path: path}
		for _, name := range a.Names() {
			if name == archive.Name {
				continue
			}
			x, err := a.Read(name)
			if err != nil {
				return nil, err
			}
			if err := c.addArray(name, x, isKey(name)); err != nil {
				return nil, err
			}
		}

		return c, nil
	}

	t, err := table.Read(path, table.Options{Limit: limit})
	if err != nil {
		return nil, err
	}
	return tableColumns(path, t)
}

func (c *columns) addArray(name string, x *npy.Array, id bool) error {
	if len(x.Shape) == 0 {
		return fmt.Errorf("%s: the array %s is a single value; answers have a row a point", c.path, name)
	}
	col := column{width: 1}
	for _, s := range x.Shape[1:] {
		col.width *= s
	}
	// An id is compared as text, so that files with ids of numbers and of text can be joined.
	// Integers beyond 2⁵³ are compared as text too: float64 would round them.
	if texts, ok := x.Data.([]string); ok {
		col.texts = texts
	} else if numbers, err := x.Float64s(); err == nil && !id {
		col.numbers = numbers
	} else {
		whole, err := x.Int64s()
		if err != nil {
			return fmt.Errorf("%s: the array %s: %w", c.path, name, err)
		}
		for _, v := range whole {
			col.texts = append(col.texts, strconv.FormatInt(v, 10))
		}
	}

	return c.add(name, col, x.Shape[0], id)
}

func tableColumns(path string, t *table.Table) (*columns, error) {
	c := &columns{path: path}
	for i, col := range t.Columns {
		v := &t.Values[i]
		x := column{width: 1}
		id := isKey(col.Name)
		switch {
		case col.Kind == table.Float:
			x.numbers = v.Floats
		case col.Kind == table.Int && !id:
			for _, n := range v.Ints {
				x.numbers = append(x.numbers, float64(n))
			}
		case col.Kind == table.Int:
			for _, n := range v.Ints {
				x.texts = append(x.texts, strconv.FormatInt(n, 10))
			}
		case col.Kind == table.Bool:
			for _, b := range v.Bools {
				x.texts = append(x.texts, strconv.FormatBool(b))
			}
		case col.Kind == table.FloatList:
			x.width = max(v.Width, 1)
			x.numbers = v.Float64s
			for _, f := range v.Float32s {
				x.numbers = append(x.numbers, float64(f))
			}
		default:
			x.texts = v.Texts
		}

		// A missing number is NaN, and two NaN count as equal.
		for r := range t.Rows {
			if v.Missing(r) && x.numbers != nil {
				for j := range x.width {
					x.numbers[r*x.width+j] = math.NaN()
				}
			}
		}

		if err := c.add(col.Name, x, t.Rows, id); err != nil {
			return nil, err
		}
	}

	return c, nil
}

// resultColumns are answers that were computed.
func resultColumns(path string, results []pipeline.Column) *columns {
	c := &columns{path: path}
	for _, r := range results {
		x := column{width: max(r.Width, 1)}
		switch v := r.Values.(type) {
		case []int64:
			for _, n := range v {
				x.numbers = append(x.numbers, float64(n))
			}
		case []float64:
			x.numbers = v
		case []string:
			x.texts = v
		}
		// A column has numbers or texts; the other list is empty.
		c.rows = max(len(x.numbers), len(x.texts)) / x.width
		c.names = append(c.names, r.Name)
		c.of = append(c.of, x)
	}

	return c
}

// compareAnswers compares the rows of two files. Columns are matched by position; names count
// only if both files have them.
func compareAnswers(a, b *columns) (*Answers, error) {
	out := &Answers{}
	match := make([]int, a.rows) // row of b
	if a.ids != nil && b.ids != nil {
		rows := make(map[string]int, b.rows)
		for i, id := range b.ids {
			if _, ok := rows[id]; ok {
				return nil, fmt.Errorf("%s: the id %q is there twice", b.path, id)
			}
			rows[id] = i
		}

		// Ids must be unique in both files: otherwise a row of one file would answer for two of
		// the other.
		seen := make([]bool, b.rows)
		for i, id := range a.ids {
			p, ok := rows[id]
			if ok && seen[p] {
				return nil, fmt.Errorf("%s: the id %q is there twice", a.path, id)
			}
			if match[i] = -1; ok {
				match[i] = p
				seen[p] = true
				out.Rows++
			}
		}
	} else {
		for i := range match {
			if match[i] = i; i >= b.rows {
				match[i] = -1
			}
		}
		out.Rows = min(a.rows, b.rows)
	}

	// Columns that do not fit together make every row differ, so rows are compared only if they
	// fit.
	out.OnlyA = a.rows - out.Rows
	out.OnlyB = b.rows - out.Rows
	if out.Columns = columnChanges(a, b); out.Columns != nil {
		return out, nil
	}

	for i, p := range match {
		if p < 0 || !out.differ(a, b, i, p) {
			continue
		}
		if out.Differ++; len(out.First) < mostRows {
			out.First = append(out.First, Row{a.id(i), a.row(i), b.row(p)})
		}
	}

	if out.Rows > 0 {
		out.Share = float64(out.Differ) / float64(out.Rows)
	}
	return out, nil
}

// columnChanges lists columns that cannot be compared.
func columnChanges(a, b *columns) []Change {
	var out []Change
	widths := func(c *columns) (n int) {
		for _, x := range c.of {
			n += x.width
		}
		return n
	}

	// Files may cut the same numbers into columns differently (one array of width 3, or three
	// columns), so widths are counted.
	if wa, wb := widths(a), widths(b); wa != wb {
		out = append(out, Change{"count", strconv.Itoa(wa), strconv.Itoa(wb)})
	}
	// A bare array has no names to disagree with.
	named := func(c *columns) bool { return !slices.Contains(c.names, "") }
	if out == nil && named(a) && named(b) && len(a.names) == len(b.names) && !slices.Equal(a.names, b.names) {
		out = append(out, Change{"names", strings.Join(a.names, ", "), strings.Join(b.names, ", ")})
	}
	return out
}

// differ reports whether row i of a is another than row p of b.
func (o *Answers) differ(a, b *columns, i, p int) bool {
	differs := false
	ca := 0
	cb := 0
	ja := 0
	jb := 0
	// ca and cb walk the columns, ja and jb the places in a wide column: all entries of the rows
	// are compared in order.
	for ca < len(a.of) && cb < len(b.of) {
		x := &a.of[ca]
		y := &b.of[cb]
		k := i*x.width + ja
		l := p*y.width + jb
		// A number and a text are compared as text.
		if x.numbers != nil && y.numbers != nil {
			if gap := distance(x.numbers[k], y.numbers[l]); gap > 0 {
				differs = true
				o.Largest = max(o.Largest, gap)
			}
		} else if x.value(k) != y.value(l) {
			differs = true
		}

		if ja++; ja == x.width {
			ca += 1
			ja = 0
		}

		if jb++; jb == y.width {
			cb += 1
			jb = 0
		}
	}

	return differs
}
