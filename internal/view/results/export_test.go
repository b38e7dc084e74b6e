package results

import (
	"encoding/csv"
	"math"
	"os/exec"
	"path/filepath"
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
	g := Grid{Caption: "all\nof it", Header: []string{"set", "a_b & c", "50%"}, Rows: [][]string{{`C:\x{1}`, "3.0 ± 0.1", "−2"}, {"#1 ~ $^", "", "x<y|z"}}, Marked: [][2]int{{0, 1}}}
	want := `% all of it
\begin{tabular}{lrr}
\hline
set & a\_b \& c & 50\% \\
\hline
C:\textbackslash{}x\{1\} & \textbf{3.0 $\pm$ 0.1} & $-$2 \\
\#1 \textasciitilde{} \$\textasciicircum{} &  & x\textless{}y\textbar{}z \\
\hline
\end{tabular}
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
	for _, want := range []string{`500 & 3.00 $\pm$ 0.50 (3.5) & \textbf{49.10 $\pm$ 0.04}`, `20 &  & \textbf{50.00 $\pm$ 1.00 (53.7)}`, "% drawn digits\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	latex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("pdflatex is needed to compile the table: ", err)
	}
	cmd := exec.Command(latex, "-interaction=nonstopmode", "-halt-on-error", `\documentclass{article}\begin{document}`+"\n"+text+g.LaTeX()+`\end{document}`)
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
