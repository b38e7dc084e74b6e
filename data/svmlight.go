package data

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data/internal/labelcells"
	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

// looksSVMLight reports whether text is in svmlight form by its first lines: a
// number or a list of numbers, or a blank for none, then only pairs index:value.
// Lines without any pair decide nothing.
func looksSVMLight(head []byte) bool {
	for len(head) > 0 {
		line, rest, complete := bytes.Cut(head, []byte("\n"))
		head = rest
		line, _, _ = bytes.Cut(line, []byte("#"))
		tokens := strings.Fields(string(line))
		if len(tokens) == 0 {
			continue
		}
		if !complete && len(tokens) > 2 {
			tokens = tokens[:len(tokens)-1] // may be cut
		}

		// A label is a number, or numbers with commas; a line that begins with a blank has none.
		if !fields.Blank(line[0]) || !strings.Contains(tokens[0], ":") {
			for _, v := range strings.Split(tokens[0], ",") {
				if _, ok := fields.Number([]byte(v)); !ok {
					return false
				}
			}
			tokens = tokens[1:]
		}

		// Everything else is index:value, or a query id.
		for _, t := range tokens {
			index, value, ok := strings.Cut(t, ":")
			if !ok || strings.Contains(value, ":") {
				return false
			}
			if _, err := strconv.Atoi(index); err != nil && index != "qid" {
				return false
			}
		}

		if len(tokens) > 0 {
			return true
		}
	}

	return false
}

// svmlight reads lines "label index:value …" into a matrix.
type svmlight struct {
	*fields.Lines
	src             *source
	m               *sparse.CSR
	row             []svmlightEntry // of the current line
	lowest, highest int             // index
	ones            bool            // all values are 1
}

type svmlightEntry struct {
	col int32
	val float64
}

// readSVMLightPoints reads the points of lines "label index:value …". Indices count
// from 1, or from 0 if a 0 occurs; they are sorted, and equal ones in a line are an
// error. "qid:…" and everything after # is ignored.
func readSVMLightPoints(src *source, opt ReadOptions) (Points, string, error) {
	r := newSVMLight()
	if err := r.readFile(src, opt.Limit); err != nil {
		return nil, "", err
	}
	x, err := r.points(opt)
	return x, src.path, err
}

func newSVMLight() *svmlight {
	return &svmlight{m: &sparse.CSR{Ptr: []int64{0}}, lowest: 1, ones: true}
}

// readFile appends the points of a file.
func (r *svmlight) readFile(src *source, limit int64) error {
	r.Lines = src.Lines()
	r.src = src
	// Each line is a point.
	for {
		line, err := r.NextData()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.readRow(line); err != nil {
			return err
		}
		// Lists grow by a quarter, beside the lists of before.
		if need := 27*int64(len(r.m.Col)) + 18*int64(len(r.m.Ptr)); limit > 0 && need > limit {
			return &npy.LimitError{What: src.path, Need: need, Limit: limit}
		}
	}
}

// points returns the points of all files that were read.
func (r *svmlight) points(opt ReadOptions) (Points, error) {
	// Indices that count from 1 move down by one.
	m := r.m
	m.Cols = r.highest
	if r.lowest == 0 {
		m.Cols++
	} else {
		for p := range m.Col {
			m.Col[p]--
		}
	}

	switch {
	case opt.Columns > 0 && m.Cols > opt.Columns:
		return nil, r.src.fault("it uses %d columns, %d at most are allowed", m.Cols, opt.Columns)
	case opt.Columns > 0:
		m.Cols = opt.Columns
	}

	// Ones are not stored: half of the memory of bags of words.
	if r.ones {
		m.Val = nil
	}
	return m, nil
}

// readRow appends the point of a line.
func (r *svmlight) readRow(line []byte) error {
	m := r.m
	at := r.m.Rows
	label, rest, err := svmlightLabel(r.Lines, line, at)
	if err != nil {
		return err
	}
	if err := r.checkLabels(label, at); err != nil {
		return err
	}

	r.row = r.row[:0]
	for len(rest) > 0 {
		var token []byte
		token, rest = fields.Cut(rest, 0)
		if err := r.readEntry(token, at); err != nil {
			return err
		}
	}

	// Entries may come in any order.
	slices.SortFunc(r.row, func(a, b svmlightEntry) int { return int(a.col) - int(b.col) })
	for i, e := range r.row {
		if i > 0 && r.row[i-1].col == e.col {
			return r.Fault("row %d has index %d twice", at, e.col)
		}
		m.Col = append(m.Col, e.col)
		m.Val = append(m.Val, e.val)
		r.ones = r.ones && e.val == 1
	}

	if len(r.row) > 0 {
		r.lowest = min(r.lowest, int(r.row[0].col))
		r.highest = max(r.highest, int(r.row[len(r.row)-1].col))
	}
	m.Rows++
	m.Ptr = append(m.Ptr, int64(len(m.Col)))
	return nil
}

// checkLabels returns an error unless the label of a row is empty, a number, or
// several numbers with commas between.
func (r *svmlight) checkLabels(label []byte, row int) error {
	for rest := label; len(label) > 0; {
		first, after := fields.Cut(rest, ',')
		if _, ok := fields.Number(first); !ok {
			return r.Fault("the label of row %d is %s, not a number", row, fields.Quote(label))
		}
		if len(first) == len(rest) {
			break
		}
		rest = after
	}

	return nil
}

// readEntry appends index:value to the current line.
func (r *svmlight) readEntry(token []byte, row int) error {
	index, value, ok := bytes.Cut(token, []byte(":"))
	if ok && string(index) == "qid" {
		return nil
	}
	// Some programs write indices as decimal numbers, as 3.0.
	c, whole := fields.Number(index)
	if !ok || !whole || c != math.Trunc(c) || c < 0 || c > math.MaxInt32-1 {
		return r.Fault("row %d holds %s, want index:value with an index from 0 to 2³¹−2", row,
			fields.Quote(token))
	}
	v, isNum := fields.Number(value)
	if !isNum {
		return r.Fault("row %d, index %d has the value %s, not a number", row, int(c), fields.Quote(value))
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return r.Fault("row %d, index %d has the value %v; every value must be finite: remove or impute it",
			row, int(c), v)
	}

	r.row = append(r.row, svmlightEntry{int32(c), v})
	return nil
}

// readSVMLightLabels reads the labels of lines with one integer each; see
// [ReadMultiLabels] for others.
func readSVMLightLabels(src *source, opt *LabelOptions, _ *labelcells.Notes) (*labelcells.Cells, error) {
	l := src.Lines()
	c := &labelcells.Cells{What: src.path, Unit: "row"}
	for {
		line, err := l.NextData()
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		label, _, err := svmlightLabel(l, line, len(c.Values))
		if err != nil {
			return nil, err
		}

		v, ok := fields.Integer(label)
		if !ok {
			return nil, l.Fault("the label of row %d is %s; labels in svmlight files must be "+
				"integers: number the classes", len(c.Values), fields.Quote(label))
		}
		c.Values = append(c.Values, v)
		if need := 8 * int64(len(c.Values)); opt.Limit > 0 && need > opt.Limit {
			return nil, &npy.LimitError{What: src.path, Need: need, Limit: opt.Limit}
		}
	}
}

func noSVMLightValues(src *source, _ ReadOptions) (*mat.Dense, error) {
	return nil, src.fault("it holds points in svmlight form, want an array of numbers, or text with " +
		"one number a line")
}

func readSVMLightLists(src *source, limit int64) (*MultiLabels, error) {
	rows, err := readLabelLists(src, limit)
	if err != nil {
		return nil, err
	}
	return rows.block(src, limit)
}
