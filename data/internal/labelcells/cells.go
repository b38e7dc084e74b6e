// Package labelcells makes labels of the cells of files: it decides which cells mark rows
// without label, which are integers and which names, and which rows of a table belong to which
// points. Notes and warnings tell where a file could be read in two ways.
//
// # Integers or names
//
// Labels of tables are read as text, each distinct text once, and are integers only if all of
// them are. Marks of unlabeled points, and labels that can be read in two ways, are kept in
// Labels.Read for the echo. Ids join rows with points (data.IDs).
package labelcells

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/param"
)

// Cells holds the labels of rows as a file has them: text, or integers.
type Cells struct {
	What string // names the file and the array or column in errors

	Text *Column
	Unit string // the unit of the numbers that Column.Add got: "line" or "row"

	Values  []int64
	Labeled []bool // of Values; nil if all are
	Floats  bool   // Values were floats
}

// Len returns the number of rows.
func (c *Cells) Len() int {
	if c.Text != nil {
		return c.Text.Len()
	}
	return len(c.Values)
}

// Labels holds at most one label a row: integers, or names if Names is not nil.
type Labels struct {
	Values  []int64
	Labeled []bool // of Values

	Names []string
	Codes []int32 // positions among Names, −1 without label
}

// Notes say how labels were understood where it could be otherwise, and Warnings what
// may be a mistake.
type Notes struct {
	Notes, Warnings []string
	// Joined tells that the rows of a table were joined with points, and Listed holds the points
	// that have a row, ascending.
	Joined bool
	Listed []int
}

// Note appends a note.
func (f *Notes) Note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// Warn appends a warning.
func (f *Notes) Warn(format string, args ...any) {
	f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
}

// Labels makes labels of cells. f gets the warnings.
func (c *Cells) Labels(m *Marker, f *Notes) (*Labels, error) {
	var l *Labels
	var err error
	if c.Text != nil && slices.Contains(c.Text.codes, -1) {
		m.Seen = append(m.Seen, "not listed")
	}
	if c.Text != nil {
		l, err = c.textLabels(m, f)
	} else {
		l, err = c.integerLabels(m, f)
	}

	if err != nil {
		return nil, err
	}
	if text, unused := m.unused(); unused {
		f.Warn("%s: no label is %s, which %s names", c.What, fields.Quote([]byte(text)),
			param.Name("unlabeled"))
	}
	return l, nil
}

// integerLabels makes labels of values. Among floats NaN marks a row without label; only if none is
// NaN do the integers that mark such rows elsewhere.
func (c *Cells) integerLabels(m *Marker, f *Notes) (*Labels, error) {
	for _, text := range m.texts {
		if _, ok := fields.Integer([]byte(text)); m.Given && !ok && !isAbsent(text) {
			return nil, fmt.Errorf("%s: it holds integers, and %s is %s; it must be an "+
				"integer here, or none", c.What, param.Name("unlabeled"), fields.Quote([]byte(text)))
		}
	}

	if c.Labeled == nil {
		c.Labeled = slices.Repeat([]bool{true}, len(c.Values))
	} else if slices.Contains(c.Labeled, false) {
		m.saw("NaN")
	}

	// A file of floats with NaN has its mark already, so −1 is a class there.
	integers := m.integers
	if c.Floats && !m.Given && slices.Contains(m.Seen, "NaN") {
		if at := c.find(-1); at >= 0 {
			f.Warn("%s: -1 (first in row %d) is a class, as NaN marks the points without label; if "+
				"both do, give %s -1", c.What, at, param.Name("unlabeled"))
		}
		integers = nil
	}

	for i, v := range c.Values {
		if c.Labeled[i] && slices.Contains(integers, v) {
			c.Labeled[i] = false
			m.saw(strconv.FormatInt(v, 10))
		}
	}

	if c.Floats && !m.Given && slices.Contains(m.Seen, "-1") {
		f.Warn("%s: it holds floats, of which none is NaN, so that -1 marks the points without "+
			"label; if -1 is a class, give %s none", c.What, param.Name("unlabeled"))
	}
	return &Labels{Values: c.Values, Labeled: c.Labeled}, nil
}

// find returns the first labeled row with a value, −1 without one.
func (c *Cells) find(v int64) int {
	for i, x := range c.Values {
		if x == v && c.Labeled[i] {
			return i
		}
	}
	return -1
}

// textLabels makes labels of text: integers if all texts that mark nothing are integers, and names
// otherwise.
func (c *Cells) textLabels(m *Marker, f *Notes) (*Labels, error) {
	t := c.Text
	labeled := make([]bool, len(t.texts))
	integers, names := -1, -1 // the first of each
	fraction := -1
	plain := false // a name that is no number with a decimal comma
	for k, text := range t.texts {
		if isAbsent(text) || m.marks(text) {
			m.saw(text)
			continue
		}
		labeled[k] = true
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("%s: %s %d: the label is %s, which is not UTF-8; save the file as UTF-8",
				c.What, c.Unit, t.first[k], fields.Quote([]byte(text)))
		}

		// Remember the first integer, fraction and name, for messages.
		_, numeric := t.number(text)
		if _, ok := fields.Number(fields.WithPoint([]byte(text))); !ok {
			plain = true
		}
		_, whole := fields.Integer([]byte(text))
		switch {
		case whole && integers < 0:
			integers = k
		case !whole && numeric && fraction < 0:
			fraction = k
		case !numeric && names < 0:
			names = k
		}
	}

	if names < 0 && fraction >= 0 {
		return nil, fmt.Errorf("%s: %s %d: the label is %s; classes are integers or names", c.What, c.Unit,
			t.first[fraction], fields.Quote([]byte(t.texts[fraction])))
	}

	for _, text := range m.Seen {
		if !m.Given && slices.Contains(usualMarks[1:], strings.ToLower(text)) {
			f.Warn("%s: %q marks points without label; if it is a class, give %s none", c.What, text,
				param.Name("unlabeled"))
		}
	}

	// Codes such as 007 are names: as integers they would lose their form.
	code := t.code(labeled)
	if names < 0 && code < 0 {
		c.spellings(labeled, f)
		return t.integers(labeled), nil
	}
	if names < 0 {
		f.Note("%s: labels such as %s (%s %d) have a leading zero, so that all of them are names", c.What,
			t.texts[code], c.Unit, t.first[code])
		integers = -1 // that some look like integers is no mistake
	}

	if integers >= 0 {
		f.Warn("%s: labels are integers, such as %s (%s %d), and names, such as %s (%s %d), so that "+
			"all of them are names; an integer in the wrong place, or a typing error?",
			c.What, t.texts[integers], c.Unit, t.first[integers], fields.Quote([]byte(t.texts[names])),
			c.Unit, t.first[names])
	}
	if names >= 0 && !plain {
		f.Warn("%s: labels such as %s (%s %d) are names, as numbers have decimal commas between semicolons only; if they "+
			"are values, write them with points", c.What, fields.Quote([]byte(t.texts[names])), c.Unit, t.first[names])
	}
	if fraction >= 0 {
		f.Warn("%s: labels are numbers, such as %s (%s %d), and names, such as %s (%s %d), so that all of them are "+
			"names; if the numbers are values, leave the cells with names empty", c.What, t.texts[fraction], c.Unit,
			t.first[fraction], fields.Quote([]byte(t.texts[names])), c.Unit, t.first[names])
	}
	c.alike(labeled, f)
	// The distinct texts are the names; marks get no code.
	codes := make([]int32, len(t.codes))
	for i, k := range t.codes {
		codes[i] = -1
		if k >= 0 && labeled[k] {
			codes[i] = k
		}
	}

	return &Labels{Names: t.texts, Codes: codes}, nil
}

// code returns the first label that is an integer with a leading zero, −1 if there is none.
func (c *Column) code(labeled []bool) int {
	for k, text := range c.texts {
		digits := strings.TrimLeft(text, "+-")
		if labeled[k] && len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "0123456789") == "" {
			return k
		}
	}
	return -1
}

// spellings warns of two texts that are one integer.
func (c *Cells) spellings(labeled []bool, f *Notes) {
	seen := map[int64]int{}
	for k, text := range c.Text.texts {
		if !labeled[k] {
			continue
		}
		v, _ := fields.Integer([]byte(text))
		if other, ok := seen[v]; ok {
			f.Warn("%s: %s (%s %d) and %s (%s %d) are one class, the integer %d", c.What, c.Text.texts[other],
				c.Unit, c.Text.first[other], text, c.Unit, c.Text.first[k], v)
			return
		}
		seen[v] = k
	}
}

// integers makes labels of texts that are integers where labeled is true.
func (c *Column) integers(labeled []bool) *Labels {
	distinct := make([]int64, len(c.texts))
	for k, text := range c.texts {
		if labeled[k] {
			distinct[k], _ = fields.Integer([]byte(text))
		}
	}

	values := make([]int64, len(c.codes))
	given := make([]bool, len(c.codes))
	for i, k := range c.codes {
		if k >= 0 {
			values[i] = distinct[k]
			given[i] = labeled[k]
		}
	}

	return &Labels{Values: values, Labeled: given}
}

// alike warns of two names that differ in capitals or blanks only.
func (c *Cells) alike(labeled []bool, f *Notes) {
	seen := map[string]int{}
	for k, text := range c.Text.texts {
		if !labeled[k] {
			continue
		}
		folded := strings.Join(strings.Fields(strings.ToLower(text)), " ")
		if other, ok := seen[folded]; ok {
			f.Warn("%s: classes %s (%s %d) and %s (%s %d) differ in capitals or blanks only; they "+
				"are two classes", c.What,
				fields.Quote([]byte(c.Text.texts[other])), c.Unit, c.Text.first[other],
				fields.Quote([]byte(text)), c.Unit, c.Text.first[k])
			return
		}
		seen[folded] = k
	}
}

// DropHeader takes the first row off if it names the column: its text is not there
// again, and all others are integers or absent, or it is a usual name, or the
// points are one less than the rows. points is 0 if their number is not known.
func (c *Cells) DropHeader(points int, f *Notes) {
	t := c.Text
	rows := len(t.codes)
	if rows < 1 || !fields.IsName([]byte(t.texts[0])) || isAbsent(t.texts[0]) ||
		slices.Contains(t.codes[1:], 0) {
		return
	}
	// A text above numbers is a header, and a usual name is one; the number of points decides.
	numbers := true
	for _, text := range t.texts[1:] {
		_, whole := fields.Integer([]byte(text))
		numbers = numbers && (whole || isAbsent(text))
	}

	header := numbers || IsLabelName(t.texts[0])
	if points == rows || points == rows-1 {
		header = points == rows-1
	} else if !header {
		f.Warn("%s: %s %d is %s, which is no other label; it is read as a label and not as a header", c.What,
			c.Unit, t.first[0], fields.Quote([]byte(t.texts[0])))
	}

	if header {
		f.Note("%s is the header of %s", fields.Quote([]byte(t.texts[0])), c.What)
		t.drop()
	}
}
