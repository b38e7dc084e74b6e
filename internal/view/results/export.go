package results

import (
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CSV writes a line with the keys of the JSON, then the records. Numbers can be read back to
// the bit. An unknown number is an empty field.
func (t *Table) CSV() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	var line []string
	for _, c := range t.Columns {
		if c.PrintOnly {
			continue
		}
		line = append(append(line, c.Key), c.parts()...)
	}

	w.Write(line)
	// The shortest text that reads back to the same float64.
	number := func(v float64) string {
		if math.IsNaN(v) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	for _, r := range t.Records {
		// The line is used again: the writer has copied it.
		line = line[:0]
		for i, c := range t.Columns {
			switch v := r[i]; {
			case c.PrintOnly:
			case c.Kind == Texts || c.Kind == Remarks:
				line = append(line, v.Text)
			default:
				line = append(line, number(v.Number))
				for _, key := range c.parts() {
					part := v.Deviation
					if key == c.Published {
						part = v.Published
					}
					line = append(line, number(part))
				}
			}
		}

		w.Write(line)
	}

	w.Flush()
	return b.String()
}

// parts returns the keys of a number's deviation and published figure, as far as the column
// has them.
func (c *Column) parts() []string {
	var out []string
	for _, key := range []string{c.Deviation, c.Published} {
		if key != "" && c.Kind == Numbers {
			out = append(out, key)
		}
	}
	return out
}

// LaTeX writes all views as environments table, which need the package booktabs, and below them the
// remarks as comments.
func (t *Table) LaTeX() string {
	parts := []string{"% needs \\usepackage{booktabs}\n"}
	for _, g := range t.Grids() {
		parts = append(parts, g.LaTeX())
	}
	var b strings.Builder
	b.WriteString(strings.Join(parts, "\n"))
	if remarks := t.Remarks(); len(remarks) > 0 {
		b.WriteString("\n")
		for _, text := range remarks {
			b.WriteString("% " + strings.Join(strings.Fields(text), " ") + "\n")
		}
	}
	return b.String()
}

// LaTeX writes the grid as a table with its caption and label; marked cells are bold.
func (g *Grid) LaTeX() string {
	marked := map[[2]int]bool{}
	for _, at := range g.Marked {
		marked[at] = true
	}
	var b strings.Builder
	b.WriteString("\\begin{table}[tbp]\n  \\centering\n")
	if caption := g.latexCaption(); caption != "" {
		b.WriteString(`  \caption{` + caption + "}\n")
	}
	if g.Label != "" {
		b.WriteString(`  \label{tab:` + g.Label + "}\n")
	}

	line := func(row int, cells []string) {
		b.WriteString("    ")
		for j, c := range cells {
			if j > 0 {
				b.WriteString(" & ")
			}
			text := latexCell(c)
			if marked[[2]int{row, j}] {
				text = `\textbf{` + text + "}"
			}
			b.WriteString(text)
		}
		b.WriteString(` \\` + "\n")
	}

	b.WriteString(`  \begin{tabular}{` + g.alignment() + "}\n    \\toprule\n")
	line(-1, g.Header)
	b.WriteString("    \\midrule\n")
	for i, row := range g.Rows {
		line(i, row)
	}
	b.WriteString("    \\bottomrule\n  \\end{tabular}\n\\end{table}\n")
	return b.String()
}

// latexCaption returns the caption as a sentence, and a second one if cells are bold.
func (g *Grid) latexCaption() string {
	var sentences []string
	if text := strings.Join(strings.Fields(g.Caption), " "); text != "" {
		first, size := utf8.DecodeRuneInString(text)
		sentences = append(sentences, string(unicode.ToUpper(first))+strings.TrimSuffix(text[size:], ".")+".")
	}
	if len(g.Marked) > 0 {
		sentences = append(sentences, "The best are bold.")
	}
	return latexText.Replace(strings.Join(sentences, " "))
}

// alignment returns a letter for each column: names are flush left, numbers flush right.
func (g *Grid) alignment() string {
	var b strings.Builder
	for j := range g.Header {
		if g.Texts != nil && g.Texts[j] || g.Texts == nil && j == 0 {
			b.WriteByte('l')
		} else {
			b.WriteByte('r')
		}
	}
	return b.String()
}

// latexCell writes a cell. A number has the minus sign of mathematics.
func latexCell(text string) string {
	if rest, ok := strings.CutPrefix(text, "-"); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		return "$-$" + latexText.Replace(rest)
	}
	return latexText.Replace(text)
}

// latexText writes text so that LaTeX prints it.
var latexText = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "#", `\#`, "$", `\$`, "%",
	`\%`, "&", `\&`, "_", `\_`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, "|",
	`\textbar{}`,
	"±", `$\pm$`, "−", "$-$", "–", "--", "…", `\dots{}`, "\n", " ",
	"α", `$\alpha$`, "γ", `$\gamma$`, "λ", `$\lambda$`, "σ", `$\sigma$`)
