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
		c := column{r.Method, r.Eigenvectors}
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

// column is a column of the table.
type column struct {
	method       string
	eigenvectors int
}

var methodOrder = []string{"eigenmap", "knn", "gnn"}

func (c column) compare(d column) int {
	if c.method != d.method {
		return slices.Index(methodOrder, c.method) - slices.Index(methodOrder, d.method)
	}
	return c.eigenvectors - d.eigenvectors
}

func (c column) String() string {
	switch c.method {
	case "knn":
		return "best k-NN"
	case "gnn":
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
