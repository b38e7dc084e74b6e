package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// checkJSON compares the JSON of a table with another, apart from white space.
func checkJSON(t *testing.T, table *Table, want string) {
	t.Helper()
	text, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(want)); err != nil {
		t.Fatal(err)
	}
	if string(text) != b.String() {
		t.Errorf("got %s, want %s", text, &b)
	}
}

// classifiers is a table of classifiers by number of labels, with records made up.
func classifiers() *Table {
	t := &Table{
		Columns: []Column{
			{Key: "labels", Name: "labels", Kind: Integers},
			{Key: "method"},
			{Key: "name", OmitEmpty: true},
			{Key: "eigenvectors", Kind: Integers, OmitEmpty: true},
			{Key: "k", Kind: Integers, OmitEmpty: true},
			{Key: "error_mean", Deviation: "error_std", Published: "paper", Name: "error", Unit: "%", Kind: Numbers, Format: Format{"%.2f", "%.2f", "%.1f"}},
			{Key: "classifier", PrintOnly: true, Order: []string{"eigenmap, penalized", "5 eigenvectors", "10 eigenvectors"}},
		},
		Views: []View{{Rows: "labels", Across: "classifier", Show: []string{"error_mean"}, Corner: "labels"}},
		Figures: []Figure{{Title: "errors", Caption: "how", X: "labels", By: "classifier", Value: "error_mean", LogX: true, LogY: true,
			Published: "paper, best number of eigenvectors", Of: Where{"method", "eigenmap"}}},
		Notes: []string{"drawn digits"},
	}
	add := func(labels int, method, name string, eigenvectors, k int, errs Value, paper float64, classifier string) {
		t.Add(Integer(labels), Text(method), Text(name), Integer(eigenvectors), Integer(k), errs.Beside(paper), Text(classifier))
	}
	value := func(mean, std float64) Value { return Value{Number: mean, Deviation: std, Published: math.NaN()} }
	nan := math.NaN()
	add(20, "knn", "", 0, 1, value(40, 3), 53.4, "best k-NN")
	add(20, "eigenmap", "", 10, 0, value(30.126, 2.5), 35.8, "10 eigenvectors")
	add(20, "eigenmap", "", 5, 0, value(50, 1), 53.7, "5 eigenvectors")
	add(500, "eigenmap", "", 5, 0, value(49.1, 0.04), nan, "5 eigenvectors")
	add(500, "gnn", "", 0, 3, value(12, 1), nan, "best k-GNN")
	add(500, "eigenmap", "penalized", 100, 0, value(3, 0.5), 3.5, "eigenmap, penalized")
	return t
}

func TestMarkdown(t *testing.T) {
	want := `| labels | eigenmap, penalized | 5 eigenvectors | 10 eigenvectors | best k-NN | best k-GNN |
|---|---|---|---|---|---|
| 20 | | 50.00 ± 1.00 (53.7) | 30.13 ± 2.50 (35.8) | 40.00 ± 3.00 (53.4) | |
| 500 | 3.00 ± 0.50 (3.5) | 49.10 ± 0.04 | | | 12.00 ± 1.00 |

* drawn digits
`
	table := classifiers()
	if got := table.Markdown(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if g := table.Grids()[0]; g.Marked != nil {
		t.Errorf("marked %v", g.Marked)
	}
	table.Views[0].MarkLeast = true
	if g := table.Grids()[0]; !reflect.DeepEqual(g.Marked, [][2]int{{0, 3}, {1, 1}}) {
		t.Errorf("marked %v", g.Marked)
	}
	g := Grid{Header: []string{"p(a|b)"}, Rows: [][]string{{"|x|"}}}
	if got, want := g.Markdown(), "| p(a\\|b) |\n|---|\n| \\|x\\| |\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJSON(t *testing.T) {
	checkJSON(t, classifiers(), `[
		{"labels":20,"method":"knn","k":1,"error_mean":40,"error_std":3,"paper":53.4},
		{"labels":20,"method":"eigenmap","eigenvectors":10,"error_mean":30.126,"error_std":2.5,"paper":35.8},
		{"labels":20,"method":"eigenmap","eigenvectors":5,"error_mean":50,"error_std":1,"paper":53.7},
		{"labels":500,"method":"eigenmap","eigenvectors":5,"error_mean":49.1,"error_std":0.04,"paper":null},
		{"labels":500,"method":"gnn","k":3,"error_mean":12,"error_std":1,"paper":null},
		{"labels":500,"method":"eigenmap","name":"penalized","eigenvectors":100,"error_mean":3,"error_std":0.5,"paper":3.5}]`)
	table := &Table{Columns: []Column{{Key: "a\"b"}, {Key: "x", Kind: Numbers}}}
	checkJSON(t, table, `[]`)
	table.Add(Text("\"<&\n"), Number(math.NaN()))
	checkJSON(t, table, `[{"a\"b":"\"\u003c\u0026\n","x":null}]`)
	table.Add(Text(""), Number(math.Inf(1)))
	if text, err := json.Marshal(table); err == nil {
		t.Errorf("an infinite number: %s", text)
	}
}

func TestDrawings(t *testing.T) {
	d := classifiers().Drawings()
	if len(d) != 1 || d[0].XLabel != "labels" || d[0].YLabel != "error, %" || !d[0].LogX || !d[0].LogY || d[0].Caption == "" {
		t.Fatalf("%+v", d)
	}
	want := []Curve{
		{Name: "eigenmap, penalized", X: []float64{500}, Y: []float64{3}, Deviation: []float64{0.5}},
		{Name: "5 eigenvectors", X: []float64{20, 500}, Y: []float64{50, 49.1}, Deviation: []float64{1, 0.04}},
		{Name: "10 eigenvectors", X: []float64{20}, Y: []float64{30.126}, Deviation: []float64{2.5}},
		{Name: "best k-NN", X: []float64{20}, Y: []float64{40}, Deviation: []float64{3}},
		{Name: "best k-GNN", X: []float64{500}, Y: []float64{12}, Deviation: []float64{1}},
		{Name: "paper, best number of eigenvectors", X: []float64{20, 500}, Y: []float64{35.8, 3.5}, Published: true},
	}
	if !reflect.DeepEqual(d[0].Curves, want) {
		t.Errorf("got %+v, want %+v", d[0].Curves, want)
	}
}

// A record of another length and a key that no column has are faults of the program.
func TestTablePanics(t *testing.T) {
	table := classifiers()
	for name, fault := range map[string]func(){
		"1 values for 7 columns": func() { table.Add(Integer(1)) },
		`no column "error"`:      func() { table.Value(table.Records[0], "error") },
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, name) {
					t.Errorf("panic %q, want %q", r, name)
				}
			}()
			fault()
		}()
	}
}

func ExampleTable_Markdown() {
	t := &Table{
		Columns: []Column{
			{Key: "labels", Kind: Integers},
			{Key: "method"},
			{Key: "error_mean", Deviation: "error_std", Published: "paper", Kind: Numbers, Format: Format{"%.2f", "%.2f", "%.1f"}},
		},
		Views: []View{{Rows: "labels", Across: "method", Show: []string{"error_mean"}, Corner: "labels"}},
		Records: []Record{
			{{Number: 100}, {Text: "20 eigenvectors"}, {Number: 6.5, Deviation: 0.8, Published: 6.4}},
			{{Number: 100}, {Text: "best k-NN"}, {Number: 28.3, Deviation: 1.9, Published: 28.1}},
		},
	}
	fmt.Print(t.Markdown())
	// Output:
	// | labels | 20 eigenvectors | best k-NN |
	// |---|---|---|
	// | 100 | 6.50 ± 0.80 (6.4) | 28.30 ± 1.90 (28.1) |
}

// Bars are drawn for each value of a column, unless there are too many.
func TestBars(t *testing.T) {
	table := &Table{Columns: []Column{{Key: "set"}, {Key: "method"}, {Key: "error", Name: "error", Unit: "%", Kind: Numbers}},
		Figures: []Figure{{Title: "on ", Each: "set", By: "method", Value: "error"}}}
	for i := range mostDrawings {
		table.Add(Text(fmt.Sprint(i)), Text("SVM"), Value{Number: 2, Deviation: 0.5, Published: 3})
	}
	d := table.Drawings()
	if want := (Drawing{Title: "on 0", YLabel: "error, %", Unit: "%", Bars: []Bar{{"SVM", 2, 0.5, 3}}}); len(d) != mostDrawings || !reflect.DeepEqual(d[0], want) {
		t.Errorf("%d drawings, the first %+v", len(d), d)
	}
	table.Add(Text("another"), Text("SVM"), Number(1))
	if d := table.Drawings(); d != nil {
		t.Errorf("%d drawings of too many sets", len(d))
	}
}

func TestMeanStd(t *testing.T) {
	for _, c := range []struct {
		x         []float64
		mean, std float64
	}{{[]float64{3}, 3, 0}, {[]float64{1, 3}, 2, math.Sqrt2}, {[]float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, math.Sqrt(32. / 7)}} {
		if mean, std := MeanStd(c.x); !(math.Abs(mean-c.mean) <= 1e-12) || !(math.Abs(std-c.std) <= 1e-12) {
			t.Errorf("%v: %v ± %v, want %v ± %v", c.x, mean, std, c.mean, c.std)
		}
	}
}
