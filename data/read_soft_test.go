package data

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func softFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A table has a column for each class; the columns are brought in the order of the classes.
func TestReadShares(t *testing.T) {
	ids, err := NewIDs("ids", []string{"p", "q", "r"})
	if err != nil {
		t.Fatal(err)
	}
	path := softFile(t, "id,cedar,ash\nr,0.25,0.75\np,1,0\nstranger,0.5,0.5\n")
	s, err := ReadShares(path, ShareOptions{LabelOptions: LabelOptions{IDs: ids, Points: 3}})
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	want := []float64{0, 1, nan, nan, 0.75, 0.25}
	if !slices.Equal(s.Names, []string{"ash", "cedar"}) || !slices.Equal(s.Read.Listed, []int{0, 2}) || !s.Read.Joined ||
		!slices.EqualFunc(s.P.RawMatrix().Data, want, func(a, b float64) bool { return a == b || a != a && b != b }) {
		t.Errorf("%+v %v", s, s.P.RawMatrix().Data)
	}
	if len(s.Read.Warnings) != 1 || !strings.Contains(s.Read.Warnings[0], "stranger") {
		t.Errorf("warnings %q", s.Read.Warnings)
	}

	// Integers are classes by their value: 10 comes behind 9.
	numbered, err := ReadShares(softFile(t, "0.4,0.6\n0.5,0.5\n"), ShareOptions{})
	if err == nil {
		t.Errorf("a row is taken for a header: %+v", numbered)
	}
	numbered, err = ReadShares(softFile(t, "row,10,9\n0,0.2,0.8\n"), ShareOptions{LabelOptions: LabelOptions{Points: 1}})
	if err != nil || !slices.Equal(numbered.Classes, []int64{9, 10}) || numbered.P.At(0, 0) != 0.8 {
		t.Errorf("%+v, %v", numbered, err)
	}
}

func TestReadSharesRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"id,a\n0,1\n":            "two classes or more",
		"id,a,b\n0,x,1\n":        `"x"`,
		"id,a,b\n0,1,0\n0,0,1\n": "line 2 and line 3 have the same id",
		"id,a,b\n9,1,0\n":        "9",
		"id,a,a\n0,1,0\n":        "a",
		"id,a,b\n,1,0\n":         "id is missing",
		"id,a,b\n":               "no rows",
		"id,a,b\nx,1,0\n":        "the points have no ids",
	} {
		_, err := ReadShares(softFile(t, text), ShareOptions{LabelOptions: LabelOptions{Points: 3}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "labels.csv") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestLooksLikeShares(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		want bool
		data []float64
	}{
		"probabilities":  {true, []float64{0.2, 0.8, nan, nan, 0, 0, 1, 0}},
		"one of each":    {false, []float64{1, 0, 0, 1, nan, nan, 0, 0}},
		"several labels": {false, []float64{1, 1, 0, 1, 0.5, 0.5, 0, 0}},
		"values":         {false, []float64{0.2, 0.7, 0.1, 0.9, 0.5, 0.5, 0, 0}},
		"negative":       {false, []float64{-0.2, 1.2, 0.1, 0.9, 0.5, 0.5, 0, 0}},
		"partly":         {false, []float64{0.2, 0.8, nan, 1, 0.5, 0.5, 0, 0}},
		"nothing":        {false, []float64{nan, nan, 0, 0, nan, nan, 0, 0}},
	} {
		if got := LooksLikeShares(mat.NewDense(4, 2, c.data)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if LooksLikeShares(mat.NewDense(2, 1, []float64{1, 0.5})) {
		t.Error("one column")
	}
}

// Rows of several annotators name one point; rows without a label do not count.
func TestReadAnnotations(t *testing.T) {
	text := "worker,path,label\nann,1,cat\nbob,1,dog\nann,0,dog\nbob,0,\nann,1,cat\n"
	path := softFile(t, text)
	if !HasAnnotators(path, 0) || HasAnnotators(path+":path,label", 0) || HasAnnotators(softFile(t, "worker,label\na,b\n"), 0) {
		t.Error("annotators are not recognized by the columns")
	}
	// The same rows in JSON Lines, where rows name the columns, with the number of a point as a number and as text.
	lines := filepath.Join(t.TempDir(), "labels.jsonl")
	rows := `{"worker": "ann", "path": 1, "topic": "cat"}` + "\n" + `{"worker": "bob", "path": 1, "topic": "dog"}` + "\n" +
		`{"worker": "ann", "path": 0, "topic": "dog"}` + "\n" + `{"worker": "bob", "path": 0, "topic": null}` + "\n"
	if err := os.WriteFile(lines, []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	if !HasAnnotators(lines, 0) {
		t.Error("annotators are not recognized by the columns of JSON Lines")
	}
	for _, name := range []string{path, path + ":path,label,worker", lines + ":path,topic,worker", lines} {
		a, err := ReadAnnotations(name, LabelOptions{Points: 2})
		if err != nil {
			t.Fatal(err)
		}
		if a.Points != 2 || !slices.Equal(a.Annotators, []string{"ann", "bob"}) || !slices.Equal(a.Point, []int32{1, 1, 0}) ||
			!slices.Equal(a.Annotator, []int32{0, 1, 0}) || !slices.Equal(a.Labels.Names, []string{"cat", "dog"}) ||
			!slices.Equal(a.Labels.Index, []int32{0, 1, 1}) {
			t.Errorf("%s: %+v, labels %+v", name, a, a.Labels)
		}
	}

	for text, want := range map[string]string{
		"id,label,annotator\n0,a,x\n0,b,x\n": "line 2",
		"id,label,annotator\n0,a,\n":         "the annotator is missing",
		"id,label,annotator\n,a,x\n":         "the id is missing",
		"id,label,annotator\n7,a,x\n":        "7",
		"id,label,annotator\n0,,x\n":         "no row has a label",
		"id,label,annotator\n":               "no labels",
		"a,b,annotator\n0,1,x\n":             "which column holds the labels",
	} {
		if _, err := ReadAnnotations(softFile(t, text), LabelOptions{Points: 3}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
