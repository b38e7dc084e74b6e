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
type tally struct{ labels, answers, held, missed int }

func (t *tally) add(o tally) {
	t.labels += o.labels
	t.answers += o.answers
	t.held += o.held
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
		if v.held(i) {
			of[v.known.Index[i]].held++
			if v.answers != nil && v.wrong(i) {
				of[v.known.Index[i]].missed++
			}
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
	if all.held > 0 {
		table.Header = append(table.Header, "held back", "of these wrong")
	}

	// Columns appear by what is known: answers, and labels held back.
	row := func(name string, t tally) {
		cells := []string{name, strconv.Itoa(t.labels), percent(t.labels, all.labels)}
		if v.answers != nil {
			cells = append(cells, strconv.Itoa(t.answers), percent(t.answers, all.answers))
		}
		if all.held > 0 {
			cells = append(cells, strconv.Itoa(t.held), percent(t.missed, t.held))
		}
		table.Rows = append(table.Rows, cells)
	}

	// Names that are numbers are ordered as numbers: 2 before 10.
	order := data.Range(0, len(of))
	slices.SortFunc(order, func(a, b int) int { return chart.CompareNames(names[a], names[b]) })
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
	if all.held > 0 {
		text += fmt.Sprintf(" The labels of %d points were held back; %s of them were answered otherwise.",
			all.held, percent(all.missed, all.held))
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
