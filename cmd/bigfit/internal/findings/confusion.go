package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

// mostMatrix is the number of classes up to which a confusion matrix is readable.
const mostMatrix = 20

// mistaken shows which classes are taken for which.
func (v *view) mistaken() report.Block {
	table := v.checked.confusion(len(v.known.Classes))
	if len(table) > mostMatrix {
		if t := v.confused(table); t != nil {
			return t
		}
		return nil
	}

	// Names that are numbers are ordered as numbers: 2 before 10.
	order := v.order()
	m := &report.Matrix{Title: "Labels and answers", Rows: "label", Columns: "answer",
		Caption: fmt.Sprintf("%s %s. A row holds the answers for the items of one class; answers on the diagonal are right.",
			thousands(v.checked.count()), v.checked.how)}
	for _, a := range order {
		row := make([]int, 0, len(order))
		for _, b := range order {
			row = append(row, table[a][b])
		}
		m.Names = append(m.Names, v.known.Name(int32(a)))
		m.Counts = append(m.Counts, row)
	}
	return m
}

// order returns the classes in the order of their names.
func (v *view) order() []int {
	names := v.names()
	order := data.Range(0, len(names))
	slices.SortFunc(order, func(a, b int) int { return chart.CompareNames(names[a], names[b]) })
	return order
}

// confused lists the most frequent mistakes where there are too many classes for a matrix.
func (v *view) confused(table [][]int) *report.Table {
	type pair struct{ truth, answer, count int }
	var pairs []pair
	for a, row := range table {
		for b, n := range row {
			if a != b && n > 0 {
				pairs = append(pairs, pair{a, b, n})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.count, a.count) })

	t := &report.Table{Caption: "The most frequent mistakes", Header: []string{"label", "answer", "count"}}
	for _, p := range pairs[:min(len(pairs), mostListed)] {
		t.Rows = append(t.Rows, []string{v.known.Name(int32(p.truth)), v.known.Name(int32(p.answer)),
			strconv.Itoa(p.count)})
	}
	if len(pairs) == 0 {
		return nil
	}
	return t
}
