package data

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/internal/fields"
	"github.com/bigfit/bigfit/internal/npy"
)

// column is a column of text: for each row a position among the distinct texts, or −1 for
// none.
type column struct {
	texts []string // in the order of their first appearance
	first []int    // line or row of each text's first appearance
	codes []int32

	index map[string]int32
	size  int64 // bytes of the texts, about
}

// add appends a text that is met at a line, or a row, with this number.
func (c *column) add(text []byte, at int) {
	code, ok := c.index[string(text)]
	if !ok {
		if c.index == nil {
			c.index = map[string]int32{}
		}
		code = int32(len(c.texts))
		c.texts, c.first = append(c.texts, string(text)), append(c.first, at)
		c.index[c.texts[code]] = code
		c.size += int64(len(text)) + 64
	}
	c.codes = append(c.codes, code)
}

// within returns an error if the column, read from what, takes more than the limit.
func (c *column) within(what string, limit int64) error {
	if need := c.size + 8*int64(len(c.codes)); limit > 0 && need > limit {
		return &npy.LimitError{What: what, Need: need, Limit: limit}
	}
	return nil
}

// cells are the labels of rows as a file has them: text, or integers.
type cells struct {
	what string // names the file and the array or column in errors

	text *column
	unit string // what column.first counts: "line" or "row"

	values  []int64
	labeled []bool // of values; nil if all are
	floats  bool   // values were floats
}

// absent are texts that mark a row without label, in any case, whatever the
// options say.
var absent = []string{"", "?", "nan", "null"}

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

// marker decides what marks rows without label.
type marker struct {
	texts    []string // in place of usualMarks
	integers []int64  // those of texts that are integers
	given    bool     // by the caller
	seen     []string
}

// newMarker returns the marker of the options for a format.
func newMarker(opt *LabelOptions, format *fileFormat) *marker {
	m := &marker{texts: usualMarks, given: opt.NoUnlabeled || opt.Unlabeled != nil}
	switch {
	case opt.NoUnlabeled:
		m.texts = nil
	case opt.Unlabeled != nil:
		m.texts = opt.Unlabeled
	case format != nil && format.classMinusOne:
		m.texts = usualMarks[1:]
	}
	for _, text := range m.texts {
		if v, ok := fields.Integer([]byte(text)); ok {
			m.integers = append(m.integers, v)
		}
	}
	return m
}

// marks tells whether a text that is not absent marks a row without label.
func (m *marker) marks(text string) bool {
	if v, ok := fields.Integer([]byte(text)); ok {
		return slices.Contains(m.integers, v)
	}
	if m.given {
		return slices.Contains(m.texts, text)
	}
	return slices.Contains(m.texts, strings.ToLower(text))
}

// unused returns a mark that the caller gave and that marked nothing.
func (m *marker) unused() (string, bool) {
	if !m.given {
		return "", false
	}
	for _, text := range m.texts {
		v, whole := fields.Integer([]byte(text))
		if !slices.ContainsFunc(m.seen, func(s string) bool {
			w, ok := fields.Integer([]byte(s))
			return s == text || ok && whole && v == w
		}) && !isAbsent(text) {
			return text, true
		}
	}
	return "", false
}

// saw remembers that a value marked a row.
func (m *marker) saw(text string) {
	if text == "" {
		text = "empty"
	}
	if !slices.Contains(m.seen, text) {
		m.seen = append(m.seen, text)
	}
}

// labels makes labels of cells. f gets the warnings.
func (c *cells) labels(m *marker, f *LabelFile) (*Labels, error) {
	var l *Labels
	var err error
	if c.text != nil && slices.Contains(c.text.codes, -1) {
		m.seen = append(m.seen, "not listed")
	}
	if c.text != nil {
		l, err = c.textLabels(m, f)
	} else {
		l, err = c.integerLabels(m, f)
	}
	if err != nil {
		return nil, err
	}
	if text, unused := m.unused(); unused {
		f.warn("%s: no label is %s, which --unlabeled names", c.what, fields.Quote([]byte(text)))
	}
	f.Marks, f.given = m.seen, m.given
	l.Read = f
	return l, nil
}

// integerLabels makes labels of values. In floats NaN marks a row without label, and
// where none is NaN the integers that mark one elsewhere.
func (c *cells) integerLabels(m *marker, f *LabelFile) (*Labels, error) {
	for _, text := range m.texts {
		if _, ok := fields.Integer([]byte(text)); m.given && !ok && !isAbsent(text) {
			return nil, fmt.Errorf("%s: it holds integers, and --unlabeled is %s; it must be an integer here, or none", c.what, fields.Quote([]byte(text)))
		}
	}
	if c.labeled == nil {
		c.labeled = slices.Repeat([]bool{true}, len(c.values))
	} else if slices.Contains(c.labeled, false) {
		m.saw("NaN")
	}
	integers := m.integers
	if c.floats && !m.given && slices.Contains(m.seen, "NaN") {
		if at := c.find(-1); at >= 0 {
			f.warn("%s: -1 (first in row %d) is a class, as NaN marks the points without label; if both do, give --unlabeled -1", c.what, at)
		}
		integers = nil
	}
	for i, v := range c.values {
		if c.labeled[i] && slices.Contains(integers, v) {
			c.labeled[i] = false
			m.saw(strconv.FormatInt(v, 10))
		}
	}
	if c.floats && !m.given && slices.Contains(m.seen, "-1") {
		f.warn("%s: it holds floats, of which none is NaN, so that -1 marks the points without label; if -1 is a class, give --unlabeled none", c.what)
	}
	return NewLabels(c.values, c.labeled), nil
}

// find returns the first labeled row with a value, −1 without one.
func (c *cells) find(v int64) int {
	for i, x := range c.values {
		if x == v && c.labeled[i] {
			return i
		}
	}
	return -1
}

// textLabels makes labels of text: integers if all that mark nothing are some, and
// names otherwise.
func (c *cells) textLabels(m *marker, f *LabelFile) (*Labels, error) {
	t := c.text
	labeled := make([]bool, len(t.texts))
	integers, names := -1, -1 // the first of each
	fraction := -1
	for k, text := range t.texts {
		if isAbsent(text) || m.marks(text) {
			m.saw(text)
			continue
		}
		labeled[k] = true
		_, numeric := fields.Number([]byte(text))
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
		return nil, fmt.Errorf("%s: %s %d: the label is %s; classes are integers or names", c.what, c.unit, t.first[fraction], fields.Quote([]byte(t.texts[fraction])))
	}
	for _, text := range m.seen {
		if !m.given && slices.Contains(usualMarks[1:], strings.ToLower(text)) {
			f.warn("%s: %q marks points without label; if it is a class, give --unlabeled none", c.what, text)
		}
	}
	if names < 0 {
		return t.integers(labeled), nil
	}
	if integers >= 0 {
		f.warn("%s: labels are integers, such as %s (%s %d), and names, such as %s (%s %d), so that all of them are names; an integer in the wrong place, or a typing error?",
			c.what, t.texts[integers], c.unit, t.first[integers], fields.Quote([]byte(t.texts[names])), c.unit, t.first[names])
	}
	c.alike(labeled, f)
	codes := make([]int32, len(t.codes))
	for i, k := range t.codes {
		codes[i] = Unlabeled
		if k >= 0 && labeled[k] {
			codes[i] = k
		}
	}
	return NewNamedLabels(t.texts, codes), nil
}

// integers makes labels of texts that are integers where labeled is true.
func (c *column) integers(labeled []bool) *Labels {
	distinct := make([]int64, len(c.texts))
	for k, text := range c.texts {
		if labeled[k] {
			distinct[k], _ = fields.Integer([]byte(text))
		}
	}
	values, given := make([]int64, len(c.codes)), make([]bool, len(c.codes))
	for i, k := range c.codes {
		if k >= 0 {
			values[i], given[i] = distinct[k], labeled[k]
		}
	}
	return NewLabels(values, given)
}

// alike warns of two names that differ in capitals or blanks only.
func (c *cells) alike(labeled []bool, f *LabelFile) {
	seen := map[string]int{}
	for k, text := range c.text.texts {
		if !labeled[k] {
			continue
		}
		folded := strings.Join(strings.Fields(strings.ToLower(text)), " ")
		if other, ok := seen[folded]; ok {
			f.warn("%s: classes %s (%s %d) and %s (%s %d) differ in capitals or blanks only; they are two classes", c.what,
				fields.Quote([]byte(c.text.texts[other])), c.unit, c.text.first[other], fields.Quote([]byte(text)), c.unit, c.text.first[k])
			return
		}
		seen[folded] = k
	}
}

// labelNames are names of columns of labels, and idNames of ids, in any case.
var (
	labelNames = []string{"label", "labels", "class", "classes", "target", "targets", "y", "category", "species"}
	idNames    = []string{"id", "ids", "key", "name", "path", "file", "filename", "file_name", "image", "image_path", "uid", "uuid", "index", "row"}
)

func isNamed(name string, list []string) bool {
	return slices.Contains(list, strings.ToLower(strings.TrimSpace(name)))
}

// dropHeader takes the first row off if it names the column: its text is not there
// again, and all others are integers or absent, or it is a usual name, or the
// points are one less than the rows. points is 0 if their number is not known.
func (c *cells) dropHeader(points int, f *LabelFile) {
	t := c.text
	rows := len(t.codes)
	if rows < 1 || !fields.IsName([]byte(t.texts[0])) || isAbsent(t.texts[0]) || slices.Contains(t.codes[1:], 0) {
		return
	}
	numbers := true
	for _, text := range t.texts[1:] {
		_, whole := fields.Integer([]byte(text))
		numbers = numbers && (whole || isAbsent(text))
	}
	header := numbers || isNamed(t.texts[0], labelNames)
	if points == rows || points == rows-1 {
		header = points == rows-1
	} else if !header {
		f.warn("%s: %s %d is %s, which is no other label; it is read as a label and not as a header", c.what, c.unit, t.first[0], fields.Quote([]byte(t.texts[0])))
	}
	if header {
		f.note("%s is the header of %s", fields.Quote([]byte(t.texts[0])), c.what)
		t.drop()
	}
}

// drop takes the first row off, whose text is nowhere else.
func (c *column) drop() {
	c.texts, c.first, c.codes = c.texts[1:], c.first[1:], c.codes[1:]
	for i := range c.codes {
		c.codes[i]--
	}
	c.index = nil
}

// readLabelLines reads one label a line; an empty line is a row without one, except
// at the end. The first row may be a header.
func readLabelLines(src *source, opt *LabelOptions, f *LabelFile) (*cells, error) {
	l := &lines{src: src}
	c := &cells{what: src.path, text: &column{}, unit: "line"}
	full := 0 // rows up to the last line that is not empty
	for {
		line, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(line) > 0 && line[0] == '#' {
			continue
		}
		field, err := l.label(line)
		if err != nil {
			return nil, err
		}
		if len(c.text.codes) > 0 && full == 0 && isNamed(string(field), labelNames) {
			return nil, l.fault("it is %s, the name of a column, behind %d empty lines; remove them, or give unlabeled points a mark", fields.Quote(field), len(c.text.codes))
		}
		c.text.add(field, l.n)
		if len(line) > 0 {
			full = len(c.text.codes)
		}
		if err := c.text.within(src.path, opt.Limit); err != nil {
			return nil, err
		}
	}
	c.text.codes = c.text.codes[:full]
	c.dropHeader(opt.Points, f)
	return c, nil
}

// label returns the label on a line, without quotes around it.
func (l *lines) label(line []byte) ([]byte, error) {
	if len(line) >= 2 && line[0] == '"' && line[len(line)-1] == '"' {
		return bytes.ReplaceAll(line[1:len(line)-1], []byte(`""`), []byte(`"`)), nil
	}
	if fields.Separator(line) != 0 {
		return nil, l.fault("it is %s, want one label a line; put a name with commas in double quotes", fields.Quote(line))
	}
	if bytes.ContainsAny(line, " ") {
		numbers := true
		fields.Each(line, 0, func(_ int, f []byte) bool {
			_, ok := fields.Number(f)
			numbers = numbers && ok
			return numbers
		})
		if numbers {
			return nil, l.fault("it is %s, want one label a line, or a table with commas between the columns", fields.Quote(line))
		}
	}
	return line, nil
}
