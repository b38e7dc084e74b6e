package labelcells

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
)

// annotatorNames are the usual names of a column that says who gave a label.
var annotatorNames = []string{"annotator", "annotator_id", "worker", "worker_id", "workerid", "rater", "rater_id", "labeler",
	"labeller", "coder"}

// IsAnnotatorName tells whether a column of this name usually says who gave a label.
func IsAnnotatorName(name string) bool { return isNamed(name, annotatorNames) }

// Answers holds the rows of a table of annotators: row k says that Annotators[Annotator[k]] gave point
// Point[k] the label in row k of Cells.
type Answers struct {
	Cells      *Cells // a label a row
	Point      []int32
	Annotator  []int32
	Annotators []string // as they first appear
	Points     int      // number of points
}

// AnnotatorColumn returns the column of a table that says who gave a label: the third one that key names, or, without
// a key, the only one with a usual name. It is empty if there is none, as in a file that is no table.
func AnnotatorColumn(path, key string, limit int64) string {
	if parts := strings.Split(key, ","); len(parts) == 3 {
		return strings.TrimSpace(parts[2])
	}
	if key != "" {
		return ""
	}
	r, err := table.Open(path, table.Options{Limit: limit, Unsampled: true})
	if err != nil {
		return "" // the reader of labels words the fault
	}
	defer r.Close()
	var found []string
	for _, c := range r.Names() {
		if IsAnnotatorName(c) {
			found = append(found, c)
		}
	}
	// The file of bigfit label holds what was said and taken back, and has a reader of its own.
	if len(found) != 1 || len(r.Names()) < 3 || isLog(r.Names()) {
		return ""
	}
	return found[0]
}

// ReadAnswers reads the labels of several annotators from a table with the columns of ids, labels and
// annotators, which key names as "ID,LABEL,ANNOTATOR", or which are found by usual names. An annotator
// that gives a point twice the same label counts once; two different ones are an error.
func ReadAnswers(path, key string, limit int64, points Points, f *Notes) (*Answers, error) {
	t := &labelTable{path: path}
	who := AnnotatorColumn(path, key, limit)
	if parts := strings.Split(key, ","); len(parts) == 3 {
		t.id = strings.TrimSpace(parts[0])
		t.label = strings.TrimSpace(parts[1])
	}
	r, err := table.Open(path, table.Options{Limit: limit, Unsampled: true})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if t.id == "" {
		rest := slices.DeleteFunc(r.Names(), func(c string) bool { return c == who })
		if err := t.find(rest, true, ""); err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(rest, IsRowName); at >= 0 && points.IDs == nil && t.label != rest[at] {
			t.id = rest[at]
		}
	}
	if t.id == "" {
		return nil, fmt.Errorf("%s: which column holds the ids of the points? Name the columns as %s:ID,LABEL,ANNOTATOR",
			path, path)
	}
	f.Note("%s: ids are in column %q, labels in column %q, annotators in column %q", path, t.id, t.label, who)
	err = r.Choose(table.Column{Name: t.label, Kind: table.Text}, table.Column{Name: t.id, Kind: table.Text},
		table.Column{Name: who, Kind: table.Text})
	if err != nil {
		return nil, err
	}
	t.what = fmt.Sprintf("%s: column %q", path, t.label)
	var people Column
	if err := t.readAnswers(r, &people, limit); err != nil {
		return nil, err
	}
	for _, note := range r.Notes() {
		f.Note("%s", note)
	}
	return t.answers(&people, points, f)
}

// readAnswers reads the rows.
func (t *labelTable) readAnswers(r *table.Reader, people *Column, limit int64) error {
	for {
		b, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range b.Rows {
			row := len(t.labels.codes)
			t.labels.Add(fields.Trim([]byte(b.Values[0].Texts[i])), row)
			for k, name := range []string{"id", "annotator"} {
				if b.Values[k+1].Missing(i) {
					return fmt.Errorf("%s: the %s is missing; give it, or leave the row out", b.Place(i), name)
				}
			}
			t.ids.Add([]byte(b.Values[1].Texts[i]), row)
			people.Add(fields.Trim([]byte(b.Values[2].Texts[i])), row)
			if line := b.Line(i); line > 0 {
				t.lines = append(t.lines, line)
			}
		}
		if need := t.ids.Bytes() + t.labels.Bytes() + people.Bytes() + 18*int64(len(t.lines)); limit > 0 && need > limit {
			return &npy.LimitError{What: t.what, Need: need, Limit: limit}
		}
	}
}

// answers joins the rows with the points.
func (t *labelTable) answers(people *Column, p Points, f *Notes) (*Answers, error) {
	if len(t.ids.codes) == 0 {
		return nil, fmt.Errorf("%s: there are no labels", t.what)
	}
	points, err := t.points(p, f)
	if err != nil {
		return nil, err
	}
	n := p.N
	if p.IDs != nil {
		n = len(p.IDs.Values)
	} else if n == 0 {
		n = len(points)
	}

	// A label counts once for each annotator and point.
	type key struct{ point, person int32 }
	first := make(map[key]int32, len(t.ids.codes))
	out := &Answers{Points: n, Annotators: people.texts}
	var unknown Column
	var kept []int32
	again := 0
	for row, code := range t.ids.codes {
		at := points[code]
		if at < 0 {
			unknown.Add([]byte(t.ids.texts[code]), row)
			continue
		}
		k := key{at, people.codes[row]}
		before, twice := first[k]
		switch {
		case !twice:
			first[k] = int32(row)
			out.Point = append(out.Point, at)
			out.Annotator = append(out.Annotator, people.codes[row])
			kept = append(kept, t.labels.codes[row])
		case t.labels.codes[before] == t.labels.codes[row]:
			again++
		default:
			return nil, fmt.Errorf("%s: %s says that %s is %s for annotator %s, and %s that it is %s; an annotator gives "+
				"a point one label: leave one of the rows out", t.path, t.place(int(before)),
				fields.Quote([]byte(t.ids.texts[code])), fields.Quote([]byte(t.labels.texts[t.labels.codes[before]])),
				fields.Quote([]byte(people.texts[k.person])), t.place(row),
				fields.Quote([]byte(t.labels.texts[t.labels.codes[row]])))
		}
	}
	if again > 0 {
		f.Note("%s: %d rows say again what others say", t.path, again)
	}
	if err := t.unmatched(&unknown, p.IDs, f); err != nil {
		return nil, err
	}

	listed := make([]bool, n)
	for _, i := range out.Point {
		listed[i] = true
	}
	f.Joined = true
	for i, ok := range listed {
		if ok {
			f.Listed = append(f.Listed, i)
		}
	}
	t.labels.codes = kept
	out.Cells = &Cells{What: t.what, Text: &t.labels, Unit: "row"}
	return out, nil
}
