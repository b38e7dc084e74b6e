package findings

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/report"
)

// The answers of a model that knows points of one side only: positions in its classes, −1 and 1.
const (
	outside = 0
	inside  = 1
)

// insideOnly tells whether labels are of one side, whatever they are called.
func (f *Fit) insideOnly() bool {
	return f.Targets.Targets != nil && f.Targets.Classes == nil && f.Targets.Used() != nil && f.Answers != nil
}

// sides are the sections of answers inside and outside.
func (f *Fit) sides() []report.Section {
	answers := f.Answers.Classes
	names := []string{outside: "outside", inside: "inside"}
	counts := make([]int, len(names))
	for _, c := range answers {
		counts[c]++
	}
	labels := len(f.Targets.Labeled)
	sections := []report.Section{{Blocks: []report.Block{&report.Headline{
		Text: fmt.Sprintf("%s, %s: %s lie inside, %s outside.", count(len(answers), "item"), count(labels, "label"),
			thousands(counts[inside]), thousands(counts[outside])),
		Note: "How often this is right is not known: all labels are of points inside."}}}}

	if f.Plane != nil {
		m := &report.Map{Title: "Map of the points", Caption: f.Plane.How, X: f.Plane.X, Y: f.Plane.Y,
			XLabel: f.Plane.XName, YLabel: f.Plane.YName, MarkedName: "label given"}
		view := report.View{Name: "answer", Classes: names}
		for at, i := range f.Plane.Rows {
			view.Class = append(view.Class, int(answers[i]))
			m.Names = append(m.Names, f.name(i))
			if f.Targets.Used().Index[i] != data.Unlabeled && 8*labels <= len(answers) {
				m.Marked = append(m.Marked, at)
			}
		}
		m.Views = []report.View{view}
		sections = append(sections, report.Section{Title: "The points in the plane", Blocks: []report.Block{m}})
	}
	if list := f.farthest(); list != nil {
		sections = append(sections, report.Section{Title: "Points to look at", Blocks: []report.Block{list}})
	}
	return sections
}

// farthest lists the points that lie farthest outside; nil if there are none, or no scores.
func (f *Fit) farthest() report.Block {
	if f.Answers.Scores == nil {
		return nil
	}
	_, columns := f.Answers.Scores.Dims()
	score := func(i int) float64 { return f.Answers.Scores.At(i, columns-1) }
	var rows []int
	for i, c := range f.Answers.Classes {
		if c == outside {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return nil
	}

	// A stable sort keeps points of equal scores in the order of their numbers, run after run.
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(score(a), score(b)) })
	t := &report.Table{Caption: "Farthest outside", Header: []string{"point", "score"},
		Note: "The score of a point on the border is 0."}
	for _, i := range rows[:min(len(rows), mostListed)] {
		t.Rows = append(t.Rows, []string{f.name(i), short(score(i))})
	}
	if f.Shown != nil {
		f.Shown.add(t, rows)
	}
	return t
}
