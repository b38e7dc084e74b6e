package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A View prints the records of a table. Without Across it is a list, one line for
// each record and one column for each key of Show. With Across it is a pivot: one
// line for each value of the column Rows, one column for each value of the column
// Across, and in their cells the values of Show, separated by slashes.
type View struct {
	Caption string
	Where   Where
	Show    []string // keys of the columns to print

	Rows, Across string // keys of the columns that a pivot is made by
	Corner       string // heading of the first column of a pivot

	// Headings replace the headings of a list, by key.
	Headings map[string]string
	// MarkLeast marks the least number of each line of a pivot, MarkMost the largest. In a list they
	// mark the numbers of the column Mark, among the records that agree in the column Rows; without
	// Rows among all. Equal numbers are marked together.
	MarkLeast, MarkMost bool
	Mark                string
	// Label names the table in LaTeX, as in \ref{tab:LABEL}; empty for none.
	Label string
}

// Where selects records by the printed value in the column Key, which must be Is. The
// zero value selects all.
type Where struct{ Key, Is string }

// Select returns the records that w selects, in their order.
func (t *Table) Select(w Where) []Record {
	if w.Key == "" {
		return t.Records
	}
	var out []Record
	for _, r := range t.Records {
		if t.print(r, w.Key) == w.Is {
			out = append(out, r)
		}
	}
	return out
}

// Distinct returns the printed values of records in a column. Values in the column's Order come
// first, the others follow in the order of the records.
func (t *Table) Distinct(records []Record, key string) []string {
	var found []string
	for _, r := range records {
		if v := t.print(r, key); !slices.Contains(found, v) {
			found = append(found, v)
		}
	}

	// Values without a place in Order come last; the stable sort keeps their own order.
	order := t.Column(key).Order
	place := func(v string) int {
		if i := slices.Index(order, v); i >= 0 {
			return i
		}
		return len(order)
	}

	slices.SortStableFunc(found, func(a, b string) int { return place(a) - place(b) })
	return found
}

// A Grid is a view as text.
type Grid struct {
	Caption string
	Label   string // of the table in LaTeX
	Texts   []bool // columns of names; nil says that the first one is
	Header  []string
	Rows    [][]string // as long as Header; a cell without a record is empty
	Marked  [][2]int   // row and column of the marked cells
	// Verdicts holds the verdicts of cells with a published figure, by row and column.
	Verdicts map[[2]int]Verdict
}

// Grids returns the views.
func (t *Table) Grids() []Grid {
	var out []Grid
	for i := range t.Views {
		if v := &t.Views[i]; v.Across != "" {
			out = append(out, t.pivot(v))
		} else {
			out = append(out, t.list(v))
		}
	}
	return out
}

func (t *Table) list(v *View) Grid {
	g := Grid{Caption: v.Caption, Label: v.Label, Verdicts: map[[2]int]Verdict{}}
	for _, key := range v.Show {
		g.Texts = append(g.Texts, t.Column(key).Kind == Texts)
		heading, ok := v.Headings[key]
		if !ok {
			heading = t.Column(key).Heading()
		}
		g.Header = append(g.Header, heading)
	}

	// A verdict belongs to the cell of its number.
	marks := newMarks(v)
	for i, r := range t.Select(v.Where) {
		group := ""
		if v.Rows != "" {
			group = t.print(r, v.Rows)
		}
		if v.Mark != "" {
			marks.see(group, t.Value(r, v.Mark).Number, [2]int{i, slices.Index(v.Show, v.Mark)})
		}
		var row []string
		for j, key := range v.Show {
			row = append(row, t.print(r, key))
			if found := t.Verdict(r, key); found != "" {
				g.Verdicts[[2]int{i, j}] = found
			}
		}
		g.Rows = append(g.Rows, row)
	}

	g.Marked = marks.best()
	return g
}

// marks finds the best numbers of groups of cells.
type marks struct {
	view   *View
	groups []string
	value  map[string]float64
	cells  map[string][][2]int
}

func newMarks(v *View) *marks { return &marks{v, nil, map[string]float64{}, map[string][][2]int{}} }

// see takes the number in a cell of a group. Cells without a number are never the best.
func (m *marks) see(group string, x float64, cell [2]int) {
	if math.IsNaN(x) {
		return
	}
	// The least number is sought; for the largest the sign is turned.
	if m.view.MarkMost {
		x = -x
	}

	best, known := m.value[group]
	switch {
	case !known:
		m.groups = append(m.groups, group)
		fallthrough
	case x < best:
		m.value[group] = x
		m.cells[group] = [][2]int{cell}
	case x == best:
		m.cells[group] = append(m.cells[group], cell)
	}
}

// best returns the cells of the best numbers, group by group, if the view marks any.
func (m *marks) best() (out [][2]int) {
	if !m.view.MarkLeast && !m.view.MarkMost {
		return nil
	}
	for _, group := range m.groups {
		out = append(out, m.cells[group]...)
	}
	return out
}

func (t *Table) pivot(v *View) Grid {
	records := t.Select(v.Where)
	rows := t.Distinct(records, v.Rows)
	columns := t.Distinct(records, v.Across)
	g := Grid{Caption: v.Caption, Label: v.Label, Header: append([]string{v.Corner}, columns...),
		Verdicts: map[[2]int]Verdict{}}
	// All cells exist from the start: a missing combination is an empty one.
	for _, name := range rows {
		row := make([]string, len(g.Header))
		row[0] = name
		g.Rows = append(g.Rows, row)
	}

	marks := newMarks(v)
	for _, r := range records {
		i, j := slices.Index(rows, t.print(r, v.Rows)), 1+slices.Index(columns, t.print(r, v.Across))
		var parts []string
		for _, key := range v.Show {
			parts = append(parts, t.print(r, key))
		}
		g.Rows[i][j] = strings.Join(parts, " / ")
		if found := t.verdict(r, v.Show); found != "" {
			g.Verdicts[[2]int{i, j}] = found
		}
		marks.see(rows[i], t.Value(r, v.Show[0]).Number, [2]int{i, j})
	}

	g.Marked = marks.best()
	return g
}

// Markdown writes the grid as a table under its caption.
func (g *Grid) Markdown() string {
	var b strings.Builder
	if g.Caption != "" {
		b.WriteString(g.Caption + "\n\n")
	}
	// A bar within a cell would end it, so it is escaped. An empty cell is one space.
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			if c != "" {
				b.WriteString(" " + strings.ReplaceAll(c, "|", `\|`))
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}

	line(g.Header)
	b.WriteString("|" + strings.Repeat("---|", len(g.Header)) + "\n")
	for _, row := range g.Rows {
		line(row)
	}
	return b.String()
}

// Remarks returns the lines to print below the views: the remarks about records, the reasons of
// verdicts that are not by the rule, then the notes.
func (t *Table) Remarks() []string {
	var out []string
	for i, c := range t.Columns {
		if c.Kind != Remarks {
			continue
		}
		for _, r := range t.Records {
			if r[i].Text == "" {
				continue
			}
			// The columns in About tell which record the remark is on.
			var about []string
			for _, key := range c.About {
				about = append(about, t.print(r, key))
			}
			out = append(out, fmt.Sprintf("%s: %s", strings.Join(about, ", "), r[i].Text))
		}
	}

	// A reason holds for all values that have it, and is printed once.
	for _, r := range t.Records {
		for _, v := range r {
			if v.Reason == "" || t.OtherData {
				continue
			}
			if text := fmt.Sprintf("%s: %s", v.Judgement, v.Reason); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}

	return append(out, t.Notes...)
}

// Markdown writes all views, and below them a list of the remarks.
func (t *Table) Markdown() string {
	var parts []string
	for _, g := range t.Grids() {
		parts = append(parts, g.Markdown())
	}
	if remarks := t.Remarks(); len(remarks) > 0 {
		parts = append(parts, "* "+strings.Join(remarks, "\n* ")+"\n")
	}
	return strings.Join(parts, "\n")
}
