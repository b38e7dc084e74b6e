package findings

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

// mostClasses is the number of rows of classes in a table; a last row sums up the rest.
const mostClasses = 40

// tally counts points of one class.
type tally struct{ labels, answers, checked, missed int }

func (t *tally) add(o tally) {
	t.labels += o.labels
	t.answers += o.answers
	t.checked += o.checked
	t.missed += o.missed
}

// tallies counts the points of each class, and of all.
func (v *view) tallies() (of []tally, all tally) {
	of = make([]tally, len(v.known.Classes))
	for i, c := range v.used.Index {
		if c != data.Unlabeled {
			of[c].labels++
		}
		if v.answers != nil {
			of[v.answers[i]].answers++
		}
	}
	for k := range v.checked.count() {
		of[v.checked.truth[k]].checked++
		if !v.checked.right(k) {
			of[v.checked.truth[k]].missed++
		}
	}

	// Sums over the classes, so that the last row of the table agrees with the others.
	for _, t := range of {
		all.add(t)
	}
	return of, all
}

// shares shows how labels and answers are shared out among the classes.
func (v *view) shares() []report.Block {
	of, all := v.tallies()
	names := v.names()
	table := &report.Table{Header: []string{"class", "labels", "share"}}
	if v.answers != nil {
		table.Header = append(table.Header, "answers", "share")
	}
	if all.checked > 0 {
		table.Header = append(table.Header, "checked", "of these wrong")
		table.Note = "Checked: " + v.checked.how + "."
	}

	// Columns appear by what is known: answers, and checked labels.
	row := func(name string, t tally) {
		cells := []string{name, strconv.Itoa(t.labels), percent(t.labels, all.labels)}
		if v.answers != nil {
			cells = append(cells, strconv.Itoa(t.answers), percent(t.answers, all.answers))
		}
		if all.checked > 0 {
			cells = append(cells, strconv.Itoa(t.checked), percent(t.missed, t.checked))
		}
		table.Rows = append(table.Rows, cells)
	}

	order := v.order()
	shown := len(of)
	if shown > mostClasses {
		shown = mostClasses - 1
	}
	for _, c := range order[:shown] {
		row(names[c], of[c])
	}

	if shown < len(of) {
		var rest tally
		for _, c := range order[shown:] {
			rest.add(of[c])
		}
		row(fmt.Sprintf("%d more", len(of)-shown), rest)
	}

	row("all", all)
	blocks := []report.Block{report.Paragraph(v.sentence(all))}
	// Too many bars would be longer than the page.
	if v.answers != nil && len(of) <= mostClasses {
		bars := &chart.Bars{Unit: "%"}
		for _, c := range order {
			bars.Rows = append(bars.Rows, chart.Bar{Name: names[c],
				Value: 100 * float64(of[c].answers) / float64(max(1, all.answers)),
				Note:  fmt.Sprintf("(labels %s)", percent(of[c].labels, all.labels))})
		}
		blocks = append(blocks, &report.Figure{Title: "Shares of the classes among the answers",
			Charts: []chart.Chart{bars},
			Caption: "Beside each bar its share among the labels that were used. Where the two are " +
				"far apart, labels were not drawn at random, or the model prefers a class."})
	}

	return append(blocks, table)
}

// sentence sums up the points.
func (v *view) sentence(all tally) string {
	n := len(v.used.Index)
	used := ""
	if v.answers != nil {
		used = " that was used"
	}
	text := fmt.Sprintf("%d points, %d with a label%s, %d classes.", n, all.labels, used,
		len(v.known.Classes))
	if all.checked > 0 {
		text += fmt.Sprintf(" %d %s; %s of these answers are wrong.", all.checked, v.checked.how,
			percent(all.missed, all.checked))
	}
	if v.answers == nil {
		return text
	}

	// A class with four fifths of the answers often means that a model has collapsed onto it.
	of, _ := v.tallies()
	largest := slices.MaxFunc(of, func(a, b tally) int { return a.answers - b.answers })
	if 5*largest.answers > 4*all.answers {
		c := slices.Index(of, largest)
		text += fmt.Sprintf(" Class %s got %s of the answers.", v.known.Name(int32(c)),
			percent(largest.answers, all.answers))
	}
	return text
}
