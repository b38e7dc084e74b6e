package findings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/audit"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

// An Audit is what an audit found in points, and what a page shows of the points.
type Audit struct {
	*audit.Result
	X       data.Points
	IDs     *data.IDs // nil: numbers from 0
	Targets *audit.Targets
	Shown   *Shown // nil for none
	// Columns are the names of the columns; nil: numbers from 0.
	Columns []string
	// Table is the file of the rows, for sentences that lead there.
	Table string
}

// auditView is an Audit with what follows from it.
type auditView struct {
	*Audit
	images *imageShape
}

// Sections returns the sections of the page.
func (a *Audit) Sections() []report.Section {
	v := &auditView{a, findImages(a.X)}
	sections := []report.Section{{Blocks: append([]report.Block{v.headline()}, v.advice()...)}}
	add := func(title string, blocks ...report.Block) {
		if len(blocks) > 0 {
			sections = append(sections, report.Section{Title: title, Blocks: blocks})
		}
	}
	add("Labels that are probably wrong", v.labels()...)
	add("Values far from those of their neighbours", v.answers()...)
	add("Duplicates", v.duplicates()...)
	add("Outliers", v.outliers()...)
	add("Classes", v.classes()...)
	add("Value of each label", v.worth()...)
	add("Columns and rows", v.columns()...)
	add("Order of the rows", v.order()...)
	return sections
}

// name returns the id of point i, or its number.
func (a *Audit) name(i int) string {
	if a.IDs != nil {
		return a.IDs.Values[i]
	}
	return strconv.Itoa(i)
}

// names lists the first of rows by name.
func (a *Audit) names(rows []int) string {
	const most = 12
	var out []string
	for _, i := range rows[:min(len(rows), most)] {
		out = append(out, a.name(i))
	}
	return strings.Join(out, ", ") + more(len(rows)-most)
}

// columnNames lists the first of columns.
func (a *Audit) columnNames(columns []int) string {
	const most = 20
	var out []string
	for _, j := range columns[:min(len(columns), most)] {
		if a.Columns != nil {
			out = append(out, a.Columns[j])
			continue
		}
		out = append(out, strconv.Itoa(j))
	}
	return strings.Join(out, ", ") + more(len(columns)-most)
}

// more says how many are not listed.
func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %s more", thousands(n))
}

// headline sums the audit up.
func (v *auditView) headline() report.Block {
	h := &report.Headline{Text: count(v.Points, "item")}
	var faults []string
	add := func(n int, one, several string) {
		switch {
		case n == 1:
			faults = append(faults, "1 "+one)
		case n > 1:
			faults = append(faults, thousands(n)+" "+several)
		}
	}
	if l := v.Result.Labels; l != nil {
		h.Text += ", " + count(l.Labeled, "label")
		if l.Few {
			faults = append(faults, thousands(len(l.List))+" of them unlike the others")
		} else {
			faults = append(faults, fmt.Sprintf("about %s wrong (%s to %s)", thousands(l.Wrong), thousands(l.Low), thousands(l.High)))
		}
		h.Note = labelsNote(l)
	}
	if w := v.Result.Answers; w != nil {
		h.Text += ", " + count(w.Given, "value")
		add(len(w.List), "value far from its neighbours' values", "values far from their neighbours' values")
	}
	add(audit.Copies(v.Duplicates.Exact), "exact copy", "exact copies")
	add(len(v.Duplicates.Near), "group of near duplicates", "groups of near duplicates")
	add(len(v.Outliers.Rows), "outlier", "outliers")
	add(len(v.Values.NotFinite), "row with a missing value", "rows with missing values")
	if v.Order.Sorted() {
		faults = append(faults, "rows in an order that is not random")
	}
	if len(faults) == 0 {
		h.Text += ": nothing found"
	} else {
		h.Text += ": " + strings.Join(faults, ", ")
	}
	h.Text += "."
	return h
}

// labelsNote says who judged labels.
func labelsNote(l *audit.Labels) string {
	how := fmt.Sprintf("by %s on the graph of the neighbours, with labels left out in %d folds", l.Judge, l.Folds)
	if l.Judge == audit.Neighbours {
		how = "by the labels of their nearest neighbours"
	}
	text := fmt.Sprintf("Labels are judged %s: %s.", how, disagree(len(l.List), l.Labeled-l.Unknown))
	if l.Few {
		text += " To say how many are wrong takes five labels a class."
	} else {
		text += " The estimate of wrong labels is by confident learning; its range reaches from there to the number of " +
			"labels that disagree."
	}
	if l.Unknown > 0 {
		text += fmt.Sprintf(" %s alone in their part of the graph or in their class and cannot be judged.", areWrong(l.Unknown))
	}
	return text
}

// advice says what to do next.
func (v *auditView) advice() []report.Block {
	var items []report.Item
	add := func(ok bool, format string, args ...any) {
		if ok {
			items = append(items, report.Item{Text: fmt.Sprintf(format, args...)})
		}
	}
	d := &v.Duplicates
	clash := audit.Conflicts(d.Exact)
	add(clash > 0, "Settle %s whose labels or values differ: the same point cannot have two.", groupsText(clash, "equal points"))
	near := audit.Conflicts(d.Near)
	add(near > 0, "Look at %s whose labels differ.", groupsText(near, "near duplicates"))
	if l := v.Result.Labels; l != nil {
		expected := fmt.Sprintf("about %s are expected to be wrong", thousands(l.Wrong))
		if l.Few {
			expected = "with fewer than five labels a class many of them are right"
		}
		add(len(l.List) > 0 && !v.guessing(), "Check the labels below from the top, and stop where they are right: %s. Correct "+
			"wrong ones in the file of the labels.", expected)
		add(v.guessing(), "Do not trust the list of labels: the neighbours of a point tell its class hardly better than the "+
			"most frequent class for all. See whether the labels belong to the points (their order, their ids).")
	}
	add(v.Result.Answers != nil && len(v.Result.Answers.List) > 0, "Check the values below from the top.")
	copies := audit.Copies(d.Exact)
	add(copies > 0, "Leave %s out before you divide the points into parts for training and testing: a copy on the other side "+
		"makes every test too good.", count(copies, "exact copy"))
	add(len(d.Near) > 0, "Keep near duplicates on one side of every division.")
	add(len(v.Outliers.Rows) > 0, "Look at the outliers: a broken measurement, a wrong unit or a rare case.")
	add(len(v.Values.NotFinite) > 0, "Remove or impute the missing values: a fit refuses %s.",
		count(len(v.Values.NotFinite), "such row"))
	constant := len(v.Values.Zero) + len(v.Values.Constant) + len(v.Values.NaN)
	add(constant > 0, "Leave %s out: they say nothing. In a table, --drop does.", count(constant, "constant column"))
	add(v.Values.Scale != nil, "Put the columns on one scale, such as a standard deviation of 1, unless their units are comparable.")
	add(len(v.Result.IDs) > 0, "Give every point its own id: %s there more than once.", manyAre(len(v.Result.IDs)))
	add(v.Order.Sorted(), "Shuffle before you divide the points by their order.")
	if c := v.Result.Classes; c != nil {
		add(len(c.Rare) > 0, "Label more of %s.", v.classNames(c.Rare))
	}
	if len(items) == 0 {
		return nil
	}
	return []report.Block{&report.List{Title: "What to do next", Items: items}}
}

func groupsText(n int, of string) string { return count(n, "group") + " of " + of }

func manyAre(n int) string {
	if n == 1 {
		return "1 is"
	}
	return thousands(n) + " are"
}

// guessing tells whether neighbours know hardly more than the sizes of the classes.
func (v *auditView) guessing() bool {
	c := v.Result.Classes
	if c == nil || c.K == 0 || c.Total == 0 {
		return false
	}
	share := float64(c.Right) / float64(c.Total)
	trivial := float64(slices.Max(c.Count)) / float64(c.Total)
	return share < trivial+2*math.Sqrt(share*(1-share)/float64(c.Total))
}

// classNames lists the first of classes.
func (v *auditView) classNames(classes []int32) string {
	var out []string
	for _, c := range classes[:min(len(classes), mostNamed)] {
		out = append(out, v.Targets.Labels.Name(c))
	}
	return strings.Join(out, ", ") + more(len(classes)-mostNamed)
}

// given returns the label or the value of point i; empty without.
func (v *auditView) given(i int) string {
	switch {
	case v.Targets == nil:
	case v.Targets.Labels != nil:
		if c := v.Targets.Labels.Index[i]; c != data.Unlabeled {
			return v.Targets.Labels.Name(c)
		}
	case v.Targets.Values != nil:
		if y := v.Targets.Values.At(i, 0); !math.IsNaN(y) {
			return short(y)
		}
	}
	return ""
}

// list shows the first of rows as a table with cells behind the name of the point, and pictures of them.
func (v *auditView) list(rows []int, t *report.Table, cells func(p int) []string) []report.Block {
	for p, i := range rows[:min(len(rows), mostListed)] {
		t.Rows = append(t.Rows, append([]string{v.name(i)}, cells(p)...))
	}
	if len(rows) > mostListed {
		t.Caption += fmt.Sprintf(": the first %d of %s", mostListed, thousands(len(rows)))
		t.Note = strings.TrimSpace(t.Note + " All are in " + v.Table + ".")
	}
	if v.Shown != nil {
		v.Shown.add(t, rows)
	}
	blocks := []report.Block{t}
	if v.images != nil {
		strip := &report.ImageStrip{Width: v.images.side, Height: v.images.side}
		for _, i := range rows[:min(len(rows), mostPictures)] {
			strip.Images = append(strip.Images, report.Image{Pixels: v.images.pixels(v.X, i), True: v.given(i), Note: v.name(i)})
		}
		blocks = append(blocks, strip)
	}
	return blocks
}

// labels lists labels that are probably wrong.
func (v *auditView) labels() []report.Block {
	l := v.Result.Labels
	if l == nil {
		return nil
	}
	if len(l.List) == 0 {
		return []report.Block{report.Paragraph(fmt.Sprintf("All %s labels that were judged agree with the answers of fits without them.",
			thousands(l.Labeled-l.Unknown)))}
	}
	rows := make([]int, len(l.List))
	for p, s := range l.List {
		rows[p] = s.Point
	}
	return v.list(rows, &report.Table{Caption: "Suspicious labels", Header: []string{"point", "label given", "suggested", "score"},
		Note: "The score is o/(p+o), with the probability p of the label by a fit without it, and the largest one o of another class."},
		func(p int) []string {
			s := l.List[p]
			return []string{v.Targets.Labels.Name(s.Given), v.Targets.Labels.Name(s.Suggested), fmt.Sprintf("%.3f", s.Score)}
		})
}

// answers lists values that may be wrong.
func (v *auditView) answers() []report.Block {
	w := v.Result.Answers
	if w == nil {
		return nil
	}
	if len(w.List) == 0 {
		return []report.Block{report.Paragraph(fmt.Sprintf("No value is far from the mean of its %d neighbours' values.", w.K))}
	}
	rows := make([]int, len(w.List))
	for p, o := range w.List {
		rows[p] = o.Point
	}
	note := fmt.Sprintf("Neighbours is the mean of the values of %d neighbours. The score is the difference in spreads of all such "+
		"differences; values from 3 on are listed.", w.K)
	if len(w.Error) > 1 {
		note += fmt.Sprintf(" A point has %d values; the first is shown, and the score is that of all.", len(w.Error))
	}
	return v.list(rows, &report.Table{Caption: "Values to check", Header: []string{"point", "value", "neighbours", "score"}, Note: note},
		func(p int) []string {
			o := w.List[p]
			return []string{short(o.Given[0]), short(o.Predicted[0]), fmt.Sprintf("%.1f", o.Score)}
		})
}

// duplicates lists groups of points that are the same, or nearly so.
func (v *auditView) duplicates() []report.Block {
	d := &v.Duplicates
	var blocks []report.Block
	if len(d.Exact)+len(d.Near) == 0 {
		return []report.Block{report.Paragraph("No two points are equal, and none are nearer to each other than chance allows.")}
	}
	blocks = append(blocks, v.groups("Equal points", d.Exact, "All columns are equal.")...)
	return append(blocks, v.groups("Near duplicates", d.Near, fmt.Sprintf("Joined by %s at most %s apart: at most %.2g of the typical "+
		"distance of neighbours, %s, and so near that chance would bring less than one pair there.", count(len(d.Pairs), "pair"),
		short(d.Threshold), d.Threshold/v.Typical, short(v.Typical)))...)
}

// groups lists groups; those in conflict come first.
func (v *auditView) groups(caption string, groups []audit.Group, note string) []report.Block {
	if len(groups) == 0 {
		return nil
	}
	order := data.Range(0, len(groups))
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case groups[a].Conflict == groups[b].Conflict:
			return 0
		case groups[a].Conflict:
			return -1
		}
		return 1
	})
	t := &report.Table{Caption: fmt.Sprintf("%s: %s of %s", caption, count(len(groups), "group"),
		count(len(groups)+audit.Copies(groups), "point")), Header: []string{"point", "the same", "points"}, Note: note}
	labeled := v.Targets != nil
	if labeled {
		t.Header = append(t.Header, "labels")
		if v.Targets.Values != nil {
			t.Header[3] = "values"
		}
	}
	var first []int
	for _, g := range order[:min(len(order), mostListed)] {
		rows := groups[g].Rows
		first = append(first, rows[0])
		row := []string{v.name(rows[0]), v.names(rows[1:]), thousands(len(rows))}
		if labeled {
			row = append(row, v.allGiven(rows))
			if groups[g].Conflict {
				t.Marks = append(t.Marks, report.Mark{Cell: report.Cell{Row: len(t.Rows), Col: 3}, Text: "differ", Bad: true})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if len(groups) > mostListed {
		t.Note += fmt.Sprintf(" The first %d are here, all in %s.", mostListed, v.Table)
	}

	if v.Shown != nil {
		// The column goes beside the names; marks stand behind it.
		for m := range t.Marks {
			t.Marks[m].Col++
		}
		v.Shown.add(t, first)
	}
	blocks := []report.Block{t}
	if v.images != nil {
		strip := &report.ImageStrip{Width: v.images.side, Height: v.images.side}
		for _, g := range order {
			for _, i := range groups[g].Rows[:min(len(groups[g].Rows), 4)] {
				if len(strip.Images) < mostPictures {
					strip.Images = append(strip.Images, report.Image{Pixels: v.images.pixels(v.X, i), True: v.given(i), Note: v.name(i)})
				}
			}
		}
		blocks = append(blocks, strip)
	}
	return blocks
}

// allGiven lists the different labels or values of rows, in the order of the rows.
func (v *auditView) allGiven(rows []int) string {
	var out []string
	for _, i := range rows {
		if text := v.given(i); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
		if len(out) > mostNamed {
			out[mostNamed] = "…"
			break
		}
	}
	return strings.Join(out, ", ")
}

// outliers lists points far from their neighbours.
func (v *auditView) outliers() []report.Block {
	o := &v.Outliers
	if v.K == 0 {
		return nil
	}
	if len(o.Rows) == 0 {
		return []report.Block{report.Paragraph("No point lies much farther from its neighbours than these from theirs.")}
	}
	header := []string{"point", "score", "distance"}
	if v.Targets != nil {
		header = append(header, "given")
	}
	return v.list(o.Rows, &report.Table{Caption: "Points far from their neighbours", Header: header,
		Note: fmt.Sprintf("Distance is the mean to %d neighbours; %s is typical. The score compares it with the distances that these "+
			"neighbours have to theirs: 0.5 is typical, 0.75 three times as far. Points from %.2f on are listed.", v.K, short(v.Typical),
			o.Threshold)},
		func(p int) []string {
			i := o.Rows[p]
			cells := []string{fmt.Sprintf("%.3f", o.Score[i]), short(v.Distance[i])}
			if v.Targets != nil {
				cells = append(cells, v.given(i))
			}
			return cells
		})
}

// classes shows the sizes of the classes and which of them mingle.
func (v *auditView) classes() []report.Block {
	c := v.Result.Classes
	if c == nil {
		return nil
	}
	order := data.Range(0, len(c.Count))
	name := func(k int) string { return v.Targets.Labels.Name(int32(k)) }
	slices.SortFunc(order, func(a, b int) int { return chart.CompareNames(name(a), name(b)) })
	sizes := &report.Table{Caption: "Labels of each class", Header: []string{"class", "labels", "share"}}
	for _, k := range order[:min(len(order), mostClasses)] {
		sizes.Rows = append(sizes.Rows, []string{name(k), thousands(c.Count[k]), percent(c.Count[k], c.Total)})
		if slices.Contains(c.Rare, int32(k)) {
			sizes.Marks = append(sizes.Marks, report.Mark{Cell: report.Cell{Row: len(sizes.Rows) - 1, Col: 1}, Text: "rare", Bad: true})
		}
	}
	if len(order) > mostClasses {
		sizes.Note = fmt.Sprintf("%s more are not shown.", thousands(len(order)-mostClasses))
	}
	blocks := []report.Block{sizes}
	if c.K == 0 || len(c.Count) < 2 {
		return blocks
	}

	mixed := &report.Table{Caption: "Classes that mingle", Header: []string{"class", "class", "share", "links"},
		Note: fmt.Sprintf("A link is a neighbour of the other class, among the %d nearest labeled ones. The share is that of all "+
			"neighbours of both classes.", c.K)}
	for _, p := range c.Mixed[:min(len(c.Mixed), mostListed)] {
		mixed.Rows = append(mixed.Rows, []string{name(int(p.A)), name(int(p.B)), fmt.Sprintf("%.1f %%", 100*p.Share), thousands(p.Links)})
	}
	if len(mixed.Rows) > 0 {
		blocks = append(blocks, mixed)
	}
	if len(c.Count) <= mostMatrix {
		m := &report.Matrix{Title: "Labels and their neighbours", Rows: "label", Columns: "answer of the neighbours",
			Caption: fmt.Sprintf("The most frequent class among the %d nearest labeled points, the point itself left out: right for %s of %s.",
				c.K, percent(c.Right, c.Total), count(c.Total, "label"))}
		place := make([]int, len(order))
		for p, k := range order {
			place[k] = p
			m.Names = append(m.Names, name(k))
			m.Counts = append(m.Counts, make([]int, len(order)))
		}
		for _, x := range c.Confused {
			m.Counts[place[x.Given]][place[x.Answer]] = x.Count
		}
		blocks = append(blocks, m)
	}
	return blocks
}

// worth lists the labels with the smallest values.
func (v *auditView) worth() []report.Block {
	w := v.Result.Worth
	if w == nil {
		return nil
	}
	text := fmt.Sprintf("The value of a label says how many other labels it helps to answer rightly, as one of their %d nearest "+
		"neighbours (kNN-Shapley). Below 0 it does more harm than good: it is wrong, or lies where classes mix.", w.K)
	if len(w.Negative) == 0 {
		return []report.Block{report.Paragraph(text + " No label is below 0.")}
	}
	rows := make([]int, len(w.Negative))
	for p, q := range w.Negative {
		rows[p] = w.Rows[q]
	}
	t := &report.Table{Caption: fmt.Sprintf("The most harmful of %s below 0", count(len(rows), "label")),
		Header: []string{"point", "label", "value"}}
	blocks := v.list(rows[:min(len(rows), mostListed)], t, func(p int) []string {
		return []string{v.given(rows[p]), fmt.Sprintf("%.2f", w.Value[w.Negative[p]])}
	})
	return append([]report.Block{report.Paragraph(text)}, blocks...)
}

// columns shows what columns and rows are by themselves, and ids that are there twice.
func (v *auditView) columns() []report.Block {
	t := &report.Table{Header: []string{"what", "how many", "which"}}
	add := func(what string, n int, which string) {
		if n > 0 {
			t.Rows = append(t.Rows, []string{what, thousands(n), which})
		}
	}
	x := &v.Values
	add("columns of zeros", len(x.Zero), v.columnNames(x.Zero))
	add("columns of another value alone", len(x.Constant), v.columnNames(x.Constant))
	add("columns without a number", len(x.NaN), v.columnNames(x.NaN))
	add("rows of zeros", len(x.ZeroRows), v.names(x.ZeroRows))
	add("rows of another value alone", len(x.ConstantRows), v.names(x.ConstantRows))
	add("rows with a value that is missing or infinite", len(x.NotFinite), v.names(x.NotFinite))
	for _, id := range v.Result.IDs[:min(len(v.Result.IDs), mostListed)] {
		add("rows with the id "+id.ID, len(id.Rows), fmt.Sprintf("%d, %d%s", id.Rows[0], id.Rows[1], more(len(id.Rows)-2)))
	}
	var blocks []report.Block
	if s := x.Scale; s != nil {
		add("columns that dominate distances", len(s.Columns), v.columnNames(s.Columns))
		blocks = append(blocks, report.Paragraph(fmt.Sprintf("%s of the variance is in %s. The largest standard deviation is %s, the "+
			"median one %s: distances hardly see the other columns.", shareText(s.Share), count(len(s.Columns), "column"),
			short(s.Largest), short(s.Median))))
	}
	if len(t.Rows) == 0 {
		return []report.Block{report.Paragraph("All columns and rows vary, and all values are there.")}
	}
	return append([]report.Block{t}, blocks...)
}

// order shows the gaps of neighbours beside those of any two rows.
func (v *auditView) order() []report.Block {
	o := v.Order
	if o == nil {
		return nil
	}
	verdict := "The order of the rows looks random"
	if o.Sorted() {
		verdict = "Neighbours stand nearer to each other in the file, or farther apart, than chance brings them: the rows are sorted, or " +
			"come in runs"
	}
	const steps = 50
	n := v.Points
	at := make([]float64, steps+1)
	random := make([]float64, steps+1)
	found := make([]float64, steps+1)
	for s := range at {
		gap := s * (n - 1) / steps
		at[s] = float64(gap)
		random[s] = audit.RandomGap(gap, n)
		below, _ := slices.BinarySearch(o.Gaps, gap+1)
		found[s] = float64(below) / float64(o.Pairs)
	}
	return []report.Block{report.Paragraph(fmt.Sprintf("%s: D = %.3f, p = %.2g, from %s of nearest neighbours.", verdict, o.D, o.P,
		count(o.Pairs, "pair"))),
		&report.Figure{Title: "Rows between neighbours", Caption: "Share of the pairs whose row numbers differ by at most so much.",
			Charts: []chart.Chart{&chart.Lines{XLabel: "difference of the row numbers", YLabel: "share of the pairs",
				Series: []chart.Series{{Name: "neighbours", X: at, Y: found}, {Name: "any two rows", X: at, Y: random, Dashed: true}}}}}}
}
