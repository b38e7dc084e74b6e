package findings

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/report"
)

const (
	mostListed   = 20
	mostPictures = 48
)

// lists shows the least certain answers, labels that their neighbours contradict, and
// the most certain of the wrong answers.
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
				fmt.Sprintf("%.3g", v.sure[i])}
		})
}

func (v *view) mistakes() []report.Block {
	rows := v.ranked(v.wrong, func(i int) float64 { return -v.sure[i] })
	if len(rows) == 0 {
		return nil
	}
	return v.list(rows, &report.Table{Caption: "The most certain of the wrong answers",
		Header: []string{"point", "answer", "label held back", v.certaintyName()},
		Note: fmt.Sprintf("%d answers differ from a label that was held back. Where the answer looks "+
			"right, the label may be wrong.", len(rows))}, func(i int) []string {
		return []string{v.known.Name(v.answers[i]), v.known.Name(v.known.Index[i]),
			fmt.Sprintf("%.3g", v.sure[i])}
	})
}

// suspicious lists the labels given that the point's neighbours contradict: most of the
// weight of its edges, of all classes, leads to points that are answered with another.
func (v *view) suspicious() []report.Block {
	if v.Graph == nil {
		return nil
	}
	// The least supported label comes first: the fewer neighbours agree, the more likely it is
	// wrong.
	support := map[int]float64{}
	other := map[int]int32{}
	for _, i := range v.used.Labeled() {
		if s, most := v.support(i); most >= 0 && most != v.used.Index[i] {
			support[i] = s
			other[i] = most
		}
	}

	rows := v.ranked(func(i int) bool { _, ok := support[i]; return ok },
		func(i int) float64 { return support[i] })
	if len(rows) == 0 {
		return []report.Block{report.Paragraph("No label given is contradicted by its neighbours in the graph.")}
	}
	return v.list(rows, &report.Table{Caption: "Suspicious labels",
		Header: []string{"point", "label given", "neighbours say", "neighbours that agree"},
		Note: fmt.Sprintf("%d labels given are not the class that is most frequent among the answers "+
			"for their neighbours in the graph, counted by the weights of the edges.", len(rows))},
		func(i int) []string {
			return []string{v.known.Name(v.used.Index[i]), v.known.Name(other[i]),
				fmt.Sprintf("%.0f %%", 100*support[i])}
		})
}

// support returns the share of the weight of the edges of labeled point i that leads to
// points answered with its class, and the class with the most weight, −1 without edges.
func (v *view) support(i int) (share float64, most int32) {
	col, val := v.Graph.Row(i)
	degree := 0.0
	weight := map[int32]float64{}
	most = -1
	for p, j := range col {
		w := 1.0
		if val != nil {
			w = val[p]
		}
		// The smaller class wins a tie, so that the order of edges does not matter.
		c := v.answers[j]
		weight[c] += w
		degree += w
		if most < 0 || weight[c] > weight[most] || weight[c] == weight[most] && c < most {
			most = c
		}
	}

	if degree == 0 {
		return 0, -1
	}
	return weight[v.used.Index[i]] / degree, most
}

// list shows the first of rows as a table, with cells behind the name of the point, and
// where points are images as thumbnails.
func (v *view) list(rows []int, t *report.Table, cells func(i int) []string) []report.Block {
	for _, i := range rows[:min(len(rows), mostListed)] {
		t.Rows = append(t.Rows, append([]string{v.name(i)}, cells(i)...))
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
