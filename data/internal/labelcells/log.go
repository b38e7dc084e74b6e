package labelcells

import "slices"

// logColumns are the columns of the file of bigfit label, which has a row for each label as it was given, also for
// those that were changed or taken back later.
var logColumns = []string{"id", "label", "annotator", "time", "seconds", "shown"}

// isLog tells whether a table with these columns is such a file.
func isLog(columns []string) bool { return slices.Equal(columns, logColumns) }

// settle leaves one row for each id: of every annotator the last row counts, and among their labels that of most,
// of equally many the one given last. A point whose last labels are all empty has an empty one, which takes its label
// away in an update.
func (t *labelTable) settle(f *Notes) {
	type said struct{ id, person int32 }
	last := make(map[said]int, len(t.ids.codes))
	for row, id := range t.ids.codes {
		last[said{id, t.people.codes[row]}] = row
	}

	// Rows of an id in the order of the file, each the last of its annotator.
	rows := make([][]int, len(t.ids.texts))
	for row, id := range t.ids.codes {
		if last[said{id, t.people.codes[row]}] == row {
			rows[id] = append(rows[id], row)
		}
	}
	var ids, labels []int32
	var lines []int
	several := 0
	differ := 0
	for id, list := range rows {
		row := t.mostSay(list)
		ids = append(ids, int32(id))
		labels = append(labels, t.labels.codes[row])
		if t.lines != nil {
			lines = append(lines, t.lines[row])
		}
		if len(list) > 1 {
			several++
			if slices.ContainsFunc(list, func(r int) bool { return t.labels.codes[r] != t.labels.codes[list[0]] }) {
				differ++
			}
		}
	}

	f.Note("%s: it is a file of bigfit label: of %d rows the last of each annotator and point count", t.path,
		len(t.ids.codes))
	if several > 0 {
		f.Note("%s: %d annotators; of %d points with several labels %d have different ones, where that of most counts",
			t.path, len(t.people.texts), several, differ)
	}
	t.ids.codes = ids
	t.labels.codes = labels
	t.lines = lines
}

// mostSay returns the row with the label of most rows, the last of equals; one without a label where none has one.
func (t *labelTable) mostSay(list []int) int {
	best := list[len(list)-1]
	most := 0
	for _, row := range list {
		label := t.labels.codes[row]
		if t.labels.texts[label] == "" {
			continue
		}
		votes := 0
		for _, other := range list {
			if t.labels.codes[other] == label {
				votes++
			}
		}
		if votes >= most {
			best = row
			most = votes
		}
	}
	return best
}
