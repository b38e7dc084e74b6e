package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Markdown writes the results as a table: one line a number of labels, one
// column a number of eigenvectors, "mean ± std" with the paper's figure in
// brackets behind it.
func Markdown(results []Result) string {
	var labels []int
	var columns []column
	cells := map[int]map[column]Result{}
	for _, r := range results {
		c := r.column()
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
		if cells[r.Labels] == nil {
			labels = append(labels, r.Labels)
			cells[r.Labels] = map[column]Result{}
		}
		cells[r.Labels][c] = r
	}
	slices.SortStableFunc(columns, column.compare)
	var b strings.Builder
	b.WriteString("| labels |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, l := range labels {
		fmt.Fprintf(&b, "| %d |", l)
		for _, c := range columns {
			r, ok := cells[l][c]
			if !ok {
				b.WriteString(" |")
				continue
			}
			fmt.Fprintf(&b, " %s |", r)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// column is a column of the table: a classifier with a name of its own, or one
// that is told by its number of eigenvectors.
type column struct {
	method, name string
	eigenvectors int
}

func (r Result) column() column {
	if r.Name != "" {
		return column{method: r.Method, name: r.Name}
	}
	return column{method: r.Method, eigenvectors: r.Eigenvectors}
}

var methodOrder = []string{"eigenmap", "knn", "gnn"}

func (c column) compare(d column) int {
	if c.method != d.method {
		return slices.Index(methodOrder, c.method) - slices.Index(methodOrder, d.method)
	}
	return c.eigenvectors - d.eigenvectors
}

// Column names the column of the table that r stands in.
func (r Result) Column() string { return r.column().String() }

func (c column) String() string {
	switch {
	case c.name != "":
		return "eigenmap, " + c.name
	case c.method == "knn":
		return "best k-NN"
	case c.method == "gnn":
		return "best k-GNN"
	}
	return fmt.Sprintf("%d eigenvectors", c.eigenvectors)
}

// String is the content of a table cell.
func (r Result) String() string {
	s := fmt.Sprintf("%.2f ± %.2f", r.Mean, r.Std)
	if !math.IsNaN(float64(r.Paper)) {
		s += fmt.Sprintf(" (%.1f)", float64(r.Paper))
	}
	return s
}
