package results

import (
	"encoding/csv"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A csv parses, has the fields of the JSON, and its numbers are read back to the bit.
func TestCSV(t *testing.T) {
	table := classifiers()
	table.Columns[1].Name = "not the key"
	table.Records[1][2] = Text("a \"name\", with\nall kinds; of = signs")
	rows, err := csv.NewReader(strings.NewReader(table.CSV())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(rows[0], " "), "labels method name eigenvectors k error_mean error_std paper"; got != want {
		t.Errorf("the fields are %q, want %q", got, want)
	}
	if len(rows) != 1+len(table.Records) {
		t.Fatalf("%d lines", len(rows))
	}
	for i, r := range table.Records {
		row := rows[i+1]
		if row[1] != r[1].Text || row[2] != r[2].Text {
			t.Errorf("record %d: %q", i, row)
		}
		for j, want := range []float64{r[0].Number, math.NaN(), math.NaN(), r[3].Number, r[4].Number, r[5].Number, r[5].Deviation, r[5].Published} {
			if j == 1 || j == 2 {
				continue
			}
			if math.IsNaN(want) {
				if row[j] != "" {
					t.Errorf("record %d, field %d: %q, want nothing", i, j, row[j])
				}
			} else if got, err := strconv.ParseFloat(row[j], 64); err != nil || got != want {
				t.Errorf("record %d, field %d: %q, want %v", i, j, row[j], want)
			}
		}
	}
}

func TestLaTeX(t *testing.T) {
	g := Grid{Caption: "all\nof it", Label: "all", Header: []string{"set", "a_b & c", "50%"}, Rows: [][]string{{`C:\x{1}`, "3.0 ± 0.1", "−2"}, {"#1 ~ $^", "", "x<y|z"}, {"-name", "-0.5", "-"}}, Marked: [][2]int{{0, 1}}}
	want := `\begin{table}[tbp]
  \centering
  \caption{All of it. The best are bold.}
  \label{tab:all}
  \begin{tabular}{lrr}
    \toprule
    set & a\_b \& c & 50\% \\
    \midrule
    C:\textbackslash{}x\{1\} & \textbf{3.0 $\pm$ 0.1} & $-$2 \\
    \#1 \textasciitilde{} \$\textasciicircum{} &  & x\textless{}y\textbar{}z \\
    -name & $-$0.5 & - \\
    \bottomrule
  \end{tabular}
\end{table}
`
	if got := g.LaTeX(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	table := classifiers()
	table.Views[0].MarkMost = true
	text := table.LaTeX()
	if n := strings.Count(text, `\textbf{`); n != 2 {
		t.Errorf("%d cells are bold", n)
	}
	for _, want := range []string{`500 & 3.00 $\pm$ 0.50 (3.5) & \textbf{49.10 $\pm$ 0.04}`, `20 &  & \textbf{50.00 $\pm$ 1.00 (53.7)}`, "% drawn digits\n", "% needs \\usepackage{booktabs}\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	latex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("pdflatex is needed to compile the table: ", err)
	}
	cmd := exec.Command(latex, "-interaction=nonstopmode", "-halt-on-error", `\documentclass{article}\usepackage{booktabs}\begin{document}`+"\n"+text+g.LaTeX()+`\end{document}`)
	cmd.Dir = filepath.Clean(t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Cells without a number are never marked.
func TestMarkedAmongUnknown(t *testing.T) {
	table := classifiers()
	table.Views[0].MarkLeast = true
	for i := range table.Records {
		if table.Records[i][0].Number == 500 {
			table.Records[i][5].Number = math.NaN()
		}
	}
	table.Records[0][5].Number = math.NaN()
	if got := table.Grids()[0].Marked; len(got) != 1 || got[0] != [2]int{0, 3} {
		t.Errorf("marked %v", got)
	}
}

// In a list the best numbers among the records of a group are marked, all of equal ones.
func TestMarkedInList(t *testing.T) {
	table := &Table{Columns: []Column{{Key: "labels", Kind: Integers}, {Key: "model"}, {Key: "mean", Kind: Numbers, Format: Format{Number: "%.1f"}}},
		Views: []View{{Rows: "labels", Show: []string{"labels", "model", "mean"}, Mark: "mean", MarkLeast: true}}}
	for _, r := range []struct {
		labels int
		model  string
		mean   float64
	}{{5, "knn", 3}, {5, "lgc", 2}, {5, "svm", math.NaN()}, {20, "knn", 1}, {20, "lgc", 1}, {20, "svm", 1.5}, {50, "knn", math.NaN()}} {
		table.Add(Integer(r.labels), Text(r.model), Number(r.mean))
	}
	g := table.Grids()[0]
	if want := [][2]int{{1, 2}, {3, 2}, {4, 2}}; !slices.Equal(g.Marked, want) {
		t.Errorf("marked %v, want %v", g.Marked, want)
	}
	if got := g.alignment(); got != "rlr" {
		t.Errorf("alignment %q", got)
	}
	table.Views[0].MarkLeast, table.Views[0].MarkMost = false, true
	if got, want := table.Grids()[0].Marked, [][2]int{{0, 2}, {5, 2}}; !slices.Equal(got, want) {
		t.Errorf("marked %v, want %v", got, want)
	}
}
