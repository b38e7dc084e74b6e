package findings

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/models/active"
)

const (
	mostListed   = 20
	mostPictures = 48
)

// lists shows the least certain answers, labels that may be wrong, and the most certain of the wrong
// answers for labels that were held out.
func (v *view) lists() []report.Block {
	if v.answers == nil {
		return nil
	}
	var blocks []report.Block
	if v.sure != nil {
		blocks = append(blocks, v.uncertain()...)
	}
	blocks = append(blocks, v.suspicious()...)
	if v.sure != nil {
		blocks = append(blocks, v.mistakes()...)
	}
	return blocks
}

// ranked returns the points that keep holds for, the smallest key first.
func (v *view) ranked(keep func(i int) bool, key func(i int) float64) []int {
	var rows []int
	for i := range v.used.Index {
		if keep(i) {
			rows = append(rows, i)
		}
	}
	// A stable sort keeps points of equal keys in the order of their numbers, run after run.
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
	return rows
}

// certaintyName is the head of the column of certainties.
func (v *view) certaintyName() string {
	if v.Probabilities != nil {
		return "probability"
	}
	return "margin of scores"
}

// certaintyText writes the certainty of the answer for point i.
func (v *view) certaintyText(i int) string {
	if v.Probabilities != nil {
		return fmt.Sprintf("%.2f", v.sure[i])
	}
	return fmt.Sprintf("%.3g", v.sure[i])
}

func (v *view) uncertain() []report.Block {
	rows := v.ranked(func(i int) bool { return v.used.Index[i] == data.Unlabeled },
		func(i int) float64 { return v.sure[i] })
	if len(rows) == 0 {
		return nil
	}
	return v.list(rows, &report.Table{Caption: "The least certain answers",
		Header: []string{"point", "answer", "second", v.certaintyName()},
		Note:   "A label for one of these tells the model most about where its classes meet."},
		func(i int) []string {
			return []string{v.known.Name(v.answers[i]), v.known.Name(v.second(i)),
				v.certaintyText(i)}
		})
}

func (v *view) mistakes() []report.Block {
	rows := v.ranked(v.wrong, func(i int) float64 { return -v.sure[i] })
	if len(rows) == 0 {
		return nil
	}
	return v.list(rows, &report.Table{Caption: "The most certain of the wrong answers",
		Header: []string{"point", "answer", "label held out", v.certaintyName()},
		Note: fmt.Sprintf("%d answers differ from a label that was held out. Where the answer looks "+
			"right, the label may be wrong.", len(rows))}, func(i int) []string {
		return []string{v.known.Name(v.answers[i]), v.known.Name(v.known.Index[i]),
			v.certaintyText(i)}
	})
}

// suspicious lists the labels that disagree with the answers of fits without them.
func (v *view) suspicious() []report.Block {
	if v.Suspects == nil {
		return nil
	}
	checked := v.Suspects.Labeled - v.Suspects.Unknown
	if len(v.Suspects.List) == 0 {
		return []report.Block{report.Paragraph(fmt.Sprintf("No label is suspicious: all %s checked labels agree with "+
			"the answers of fits without them.", thousands(checked)))}
	}
	rows := make([]int, len(v.Suspects.List))
	of := map[int]active.Suspect{}
	for k, s := range v.Suspects.List {
		rows[k] = s.Point
		of[s.Point] = s
	}

	note := fmt.Sprintf("%s; about %s wrong by estimate. The score is 1 less the probability of the label, by a fit "+
		"without it (%s).", disagree(len(rows), checked), areWrong(v.Suspects.Wrong), folds(v.Suspects.Folds))
	return v.list(rows, &report.Table{Caption: "Suspicious labels",
		Header: []string{"point", "label given", "suggested", "score"}, Note: note}, func(i int) []string {
		s := of[i]
		return []string{v.known.Name(s.Given), v.known.Name(s.Suggested), fmt.Sprintf("%.2f", s.Score)}
	})
}

// list shows the first of rows as a table, with cells behind the name of the point, and what the
// points show: texts, pictures, or where points are images thumbnails.
func (v *view) list(rows []int, t *report.Table, cells func(i int) []string) []report.Block {
	for _, i := range rows[:min(len(rows), mostListed)] {
		t.Rows = append(t.Rows, append([]string{v.name(i)}, cells(i)...))
	}
	if len(rows) > mostListed {
		t.Caption += fmt.Sprintf(": the first %d", mostListed)
	}
	if v.Shown != nil {
		v.Shown.add(t, rows)
	}
	if v.images == nil {
		return []report.Block{t}
	}
	// Images need less space than rows, so more of them are shown.
	strip := &report.ImageStrip{Width: v.images.side, Height: v.images.side}
	for _, i := range rows[:min(len(rows), mostPictures)] {
		img := report.Image{Pixels: v.images.pixels(v.Points, i), Predicted: v.known.Name(v.answers[i]),
			Note: v.name(i)}
		if c := v.known.Index[i]; c != data.Unlabeled {
			img.True = v.known.Name(c)
		}
		strip.Images = append(strip.Images, img)
	}

	return []report.Block{t, strip}
}
