package data

import (
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/param"
)

// LabelFile says how labels were read from a file.
type LabelFile struct {
	Path string
	// Marks are the values that marked points without label there, as in the file;
	// "empty" stands for no text, "not listed" for a point that a table leaves out.
	Marks []string
	// Notes say how the file was understood where it could be otherwise, and
	// Warnings what may be a mistake.
	Notes, Warnings []string
	// Joined tells that rows were joined with points by ids or numbers, and Listed holds the points
	// that have a row, with a label or without, ascending.
	Joined bool
	Listed []int
	// Columns names the columns of several values a point; nil if they have no names.
	Columns []string

	given bool // the caller said what the marks are
}

// Given reports whether the caller said what marks points without label.
func (f *LabelFile) Given() bool { return f.given }

// mostOfComplete is the share of one class from which on a y without unlabeled points
// may have a class that means unlabeled.
const mostOfComplete = 0.8

// Warnings returns possible mistakes in labels to learn from: the warnings from the file they were
// read from; −1, 0 and 1 together; and, where every point has a label and no mark was given, a
// class with more than four fifths of them, or the fact itself unless some labels were drawn.
func (l *Labels) Warnings(drawn bool) []string {
	var out []string
	given := false
	marks := []string(nil)
	if l.Read != nil {
		out = slices.Clone(l.Read.Warnings)
		given = l.Read.given
		marks = l.Read.Marks
	}

	s := l.Summary()
	if !given && l.Names == nil {
		switch {
		case slices.Equal(l.Classes, []int64{0, 1}) && slices.Equal(marks, []string{"-1"}):
			out = append(out, fmt.Sprintf("−1, 0 and 1 occur together: −1 marks unlabeled points, 0 and 1 "+
				"are classes; if 0 marks unlabeled points and −1 is a class, give %s 0",
				param.Name("unlabeled")))
		case slices.Equal(l.Classes, []int64{-1, 0, 1}) && marks == nil:
			out = append(out, fmt.Sprintf("−1, 0 and 1 occur together and are three classes; if 0 marks "+
				"unlabeled points, give %s 0", param.Name("unlabeled")))
		}
	}

	// A y without unlabeled points may have a class that means unlabeled.
	full := s.Labeled == s.Points
	if top := l.top(); full && !given && s.Classes > 1 && float64(s.Most) > mostOfComplete*float64(s.Points) {
		out = append(out, fmt.Sprintf("class %s has %d of %d points and none is unlabeled; if %s "+
			"marks unlabeled points, give %s %s", top, s.Most, s.Points, top, param.Name("unlabeled"), top))
	} else if full && !drawn && !given {
		out = append(out, fmt.Sprintf("every point has a label; if a value marks unlabeled points, give it "+
			"with %s, and %s N uses some of the labels only", param.Name("unlabeled"), param.Name("labels")))
	}

	if s.Labeled >= 10 && s.Classes == s.Labeled {
		out = append(out, fmt.Sprintf("each of the %d labels is a class of its own; are they ids?",
			s.Labeled))
	}
	return out
}

// top returns the most frequent class as text; empty without labels.
func (l *Labels) top() string {
	counts := make([]int, len(l.Classes))
	for _, c := range l.Index {
		if c != Unlabeled {
			counts[c]++
		}
	}

	if len(counts) == 0 {
		return ""
	}
	// Of equal counts the first class wins, so that the text is the same in every run.
	best := 0
	for c, n := range counts {
		if n > counts[best] {
			best = c
		}
	}
	return l.Name(int32(best))
}
