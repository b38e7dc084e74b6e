package data

import (
	"slices"
	"strings"
	"testing"
)

// Between semicolons values have decimal commas too, in a table of their own and in the table of the points; classes are
// no such numbers, names with a comma stay names beside other names, and numbers among names are warned about.
func TestValuesWithDecimalCommas(t *testing.T) {
	t.Parallel()
	const note = "numbers have decimal commas"
	own := write(t, "v.csv", "id;nitrate\nc;15,97\na;-3,5\nd;\n") + ":id,nitrate"
	file := &LabelFile{}
	y, err := ReadValues(own, ReadOptions{IDs: fourIDs, File: file})
	if err != nil {
		t.Fatal(err)
	}
	if got := y.RawMatrix().Data; got[0] != -3.5 || got[1] == got[1] || got[2] != 15.97 || got[3] == got[3] {
		t.Errorf("values %v", got)
	}
	if !slices.ContainsFunc(file.Notes, func(s string) bool { return strings.HasSuffix(s, note) }) {
		t.Errorf("the notes are %q", file.Notes)
	}
	if _, err := ReadLabels(own, LabelOptions{IDs: fourIDs}); err == nil || !strings.Contains(err.Error(), "15.97") {
		t.Errorf("classes: %v", err)
	}

	// Of several files of points the values follow each other, and the same text is one.
	var all []float64
	table := &TableColumns{Label: "y"}
	for _, text := range []string{"x;y\n1;2,5\n2;\n", "x;y\n3;2,5\n4;0,25\n"} {
		if _, err := ReadPoints(write(t, "p.csv", text), ReadOptions{Table: table}); err != nil {
			t.Fatal(err)
		}
	}
	if y, err = table.Values(); err != nil {
		t.Fatal(err)
	}
	if all = y.RawMatrix().Data; len(all) != 4 || all[0] != 2.5 || all[1] == all[1] || all[2] != 2.5 || all[3] != 0.25 {
		t.Errorf("values %v", all)
	}
	if notes := strings.Join(table.Notes, "\n"); strings.Count(notes, note) != 2 {
		t.Errorf("the notes are %q", notes)
	}

	for text, want := range map[string]string{
		"id;y\na;1,5\nb;A,B\nc;2,5\n":  "labels are numbers, such as 1,5 (row 0), and names, such as \"A,B\" (row 1)",
		"id;y\na;1.5\nb;none yet\n":    "labels are numbers, such as 1.5 (row 0), and names",
		"id,y\na,\"1,5\"\nb,\"2,5\"\n": "labels such as \"1,5\" (row 0) are names, as numbers have decimal commas between semicolons only",
	} {
		l, err := ReadLabels(write(t, "l.csv", text)+":id,y", LabelOptions{IDs: fourIDs})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		warnings := strings.Join(l.Read.Warnings, "\n")
		if !strings.Contains(warnings, want) {
			t.Errorf("%q: warnings %q, want %q", text, warnings, want)
		}
		if strings.Contains(text, "1,5") && !slices.Contains(l.Names, "1,5") {
			t.Errorf("%q: names %q", text, l.Names)
		}
	}
}
