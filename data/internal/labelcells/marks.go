package labelcells

import (
	"math"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/internal/file/fields"
)

// absent are texts that mark a row without label, in any case, whatever the
// options say.
var absent = []string{"", "?", "nan", "null", "<na>", "#n/a"}

// usualMarks are texts that mark one unless the options say what does.
var usualMarks = []string{"-1", "none", "na", "n/a"}

// isAbsent tells whether a text is no label by itself.
func isAbsent(text string) bool {
	if slices.Contains(absent, strings.ToLower(text)) {
		return true
	}
	f, ok := fields.Number([]byte(text))
	return ok && math.IsNaN(f)
}

// missing are words that programs write for a value that is not there.
var missing = []string{"na", "n/a", "<na>", "#n/a", "#value!", "none", "."}

// IsMissing tells whether a text stands for a value that is not there.
func IsMissing(text string) bool {
	return isAbsent(text) || slices.Contains(missing, strings.ToLower(text))
}

// Marker decides what marks rows without label.
type Marker struct {
	texts    []string // in place of usualMarks
	integers []int64  // the values of texts that are integers
	// Given says that the caller gave the texts.
	Given bool
	// Seen are the texts that marked a row, as in the file; "empty" stands for no text, "not
	// listed" for a point that a table leaves out.
	Seen []string
}

// NewMarker returns a marker of the texts that the caller gives. With none it recognizes no text;
// if texts is nil it recognizes the usual ones, without −1 if that may be a class.
func NewMarker(texts []string, none, classMinusOne bool) *Marker {
	m := &Marker{texts: usualMarks, Given: none || texts != nil}
	switch {
	case none:
		m.texts = nil
	case texts != nil:
		m.texts = texts
	case classMinusOne:
		m.texts = usualMarks[1:]
	}

	// The marks that are integers, for files that hold numbers.
	for _, text := range m.texts {
		if v, ok := fields.Integer([]byte(text)); ok {
			m.integers = append(m.integers, v)
		}
	}
	return m
}

// marks tells whether a text that is not absent marks a row without label.
func (m *Marker) marks(text string) bool {
	// Integers count by their value: -1 and -1.0 are one mark.
	if v, ok := fields.Integer([]byte(text)); ok {
		return slices.Contains(m.integers, v)
	}
	if m.Given {
		return slices.Contains(m.texts, text)
	}
	return slices.Contains(m.texts, strings.ToLower(text))
}

// unused returns a mark that the caller gave and that marked nothing.
func (m *Marker) unused() (string, bool) {
	if !m.Given {
		return "", false
	}

	// A mark is used if it was seen, as text or as the same integer.
	for _, text := range m.texts {
		v, whole := fields.Integer([]byte(text))
		if !slices.ContainsFunc(m.Seen, func(s string) bool {
			w, ok := fields.Integer([]byte(s))
			return s == text || ok && whole && v == w
		}) && !isAbsent(text) {
			return text, true
		}
	}

	return "", false
}

// saw notes that a value marked a row.
func (m *Marker) saw(text string) {
	if text == "" {
		text = "empty"
	}
	if !slices.Contains(m.Seen, text) {
		m.Seen = append(m.Seen, text)
	}
}
