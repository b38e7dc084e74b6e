package papers

import (
	"math"

	"github.com/bigfit/bigfit/models/eigenmap"
)

// published is a table of Belkin & Niyogi (2004): errors in percent by the number of
// labels (rows) and of eigenvectors (columns). A row of few labels has fewer errors than
// there are columns.
type published struct {
	eigenvectors []int
	rows         []publishedRow
}

// publishedRow is a row of a published table.
type publishedRow struct {
	labels int
	errors []float64 // by eigenvectors
	knn    float64   // of the best k-nearest-neighbour baseline
}

// mnistTable is Table 1 of the paper.
var mnistTable = published{
	[]int{5, 10, 20, 50, 100, 200, 500, 1000},
	[]publishedRow{
		{20, []float64{53.7, 35.8}, 53.4},
		{50, []float64{48.3, 24.7, 12.9}, 37.6},
		{100, []float64{48.6, 22.0, 6.4, 14.4}, 28.1},
		{500, []float64{49.1, 22.7, 5.6, 3.6, 3.5, 7.0}, 15.1},
		{1000, []float64{51.0, 24.1, 5.5, 3.4, 3.2, 3.4, 8.1}, 10.8},
		{5000, []float64{47.5, 25, 5.6, 3.4, 3.1, 2.9, 2.7, 2.7}, 6.0},
		{20000, []float64{47.7, 24.8, 5.4, 3.3, 3.1, 2.9, 2.7, 2.4}, 3.6},
		{50000, []float64{47.3, 24.7, 5.5, 3.4, 3.1, 3.0, 2.7, 2.4}, 2.3},
	},
}

// newsgroupsTable is Table 2 of the paper.
var newsgroupsTable = published{
	[]int{5, 10, 20, 50, 100, 200, 500, 1000, 2000},
	[]publishedRow{
		{50, []float64{83.4, 77.3, 72.1}, 75.6},
		{100, []float64{81.7, 74.3, 66.6, 60.2}, 69.6},
		{500, []float64{83.1, 75.8, 65.5, 46.4, 40.1, 42.4}, 54.9},
		{1000, []float64{84.6, 77.6, 67.1, 47.0, 37.7, 36.0, 42.3}, 48.4},
		{5000, []float64{85.2, 79.7, 72.9, 49.3, 36.7, 32.3, 28.5, 28.1, 30.4}, 34.4},
		{10000, []float64{83.8, 79.8, 73.8, 49.8, 36.9, 31.9, 27.9, 25.9, 25.1}, 27.7},
		{18000, []float64{82.9, 79.8, 73.8, 50.1, 36.9, 31.9, 27.5, 25.5, 23.1}, 23.1},
	},
}

// phonemesTable has the form of Table 3 without its numbers. The paper measured 13,168
// vowels from TIMIT, which is not free, and its numbers do not apply to the free phonemes of
// [Phonemes].
var phonemesTable = published{
	[]int{5, 10, 20, 50, 100, 200, 500, 1000},
	[]publishedRow{
		{20, unknown(2), math.NaN()},
		{50, unknown(3), math.NaN()},
		{100, unknown(4), math.NaN()},
		{500, unknown(6), math.NaN()},
		{1000, unknown(7), math.NaN()},
		{4000, unknown(8), math.NaN()},
	},
}

// unknown returns n cells without a published error: NaN.
func unknown(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// experimentRows returns the rows with plain least squares in every cell.
func (t *published) experimentRows() []Row {
	var rows []Row
	for _, r := range t.rows {
		row := Row{Labels: r.labels, PaperKNN: r.knn}
		for j, paper := range r.errors {
			row.Cells = append(row.Cells, Cell{Settings: eigenmap.Settings{Eigenvectors: t.eigenvectors[j]},
				Paper: paper})
		}
		rows = append(rows, row)
	}
	return rows
}

// bestRows returns the rows with a single cell each, which stands beside the smallest error
// of the paper's row.
func (t *published) bestRows(settings func(labels int) eigenmap.Settings) []Row {
	var rows []Row
	for _, r := range t.rows {
		// The paper would choose the number of eigenvectors by this very minimum, with hindsight.
		best := math.Inf(1)
		for _, v := range r.errors {
			best = min(best, v)
		}
		rows = append(rows, Row{Labels: r.labels, PaperKNN: r.knn,
			Cells: []Cell{{Settings: settings(r.labels), Paper: best}}})
	}
	return rows
}
