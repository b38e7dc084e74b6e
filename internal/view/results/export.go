package results

import (
	"encoding/csv"
	"math"
	"strconv"
	"strings"
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

// LaTeX writes all views as environments tabular, which need no package, and below them
// the remarks as comments.
func (t *Table) LaTeX() string {
	var parts []string
	for _, g := range t.Grids() {
		parts = append(parts, g.LaTeX())
	}
	var b strings.Builder
	b.WriteString(strings.Join(parts, "\n"))
	for _, text := range t.Remarks() {
		b.WriteString("% " + strings.Join(strings.Fields(text), " ") + "\n")
	}
	return b.String()
}

// LaTeX writes the grid as a tabular, with its caption as a comment above; marked cells
// are bold.
func (g *Grid) LaTeX() string {
	marked := map[[2]int]bool{}
	for _, at := range g.Marked {
		marked[at] = true
	}
	var b strings.Builder
	if g.Caption != "" {
		b.WriteString("% " + strings.Join(strings.Fields(g.Caption), " ") + "\n")
	}
	line := func(row int, cells []string) {
		for j, c := range cells {
			if j > 0 {
				b.WriteString(" & ")
			}
			text := latexText.Replace(c)
			if marked[[2]int{row, j}] {
				text = `\textbf{` + text + "}"
			}
			b.WriteString(text)
		}

		b.WriteString(` \\` + "\n")
	}

	b.WriteString(`\begin{tabular}{l` + strings.Repeat("r", max(0, len(g.Header)-1)) + "}\n\\hline\n")
	line(-1, g.Header)
	b.WriteString("\\hline\n")
	for i, row := range g.Rows {
		line(i, row)
	}
	b.WriteString("\\hline\n\\end{tabular}\n")
	return b.String()
}

// latexText writes text so that LaTeX prints it.
var latexText = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "#", `\#`, "$", `\$`, "%",
	`\%`, "&", `\&`, "_", `\_`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, "|",
	`\textbar{}`,
	"±", `$\pm$`, "−", "$-$", "–", "--", "…", `\dots{}`, "\n", " ",
	"α", `$\alpha$`, "γ", `$\gamma$`, "λ", `$\lambda$`, "σ", `$\sigma$`)
