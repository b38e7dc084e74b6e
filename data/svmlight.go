package data

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/sparse"
)

// looksSVMLight tells whether text is in svmlight form by its first lines: a
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
		if !blank(line[0]) || !strings.Contains(tokens[0], ":") {
			for _, v := range strings.Split(tokens[0], ",") {
				if _, ok := number([]byte(v)); !ok {
					return false
				}
			}
			tokens = tokens[1:]
		}
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

// readSVMLight reads lines "label index:value …". Indices count from 1, or
// from 0 if a 0 occurs; they are sorted, and equal ones in a line an error.
// "qid:…" and what follows # is ignored. columns is ReadOptions.Columns. If
// points is false only the labels are kept, which then must be one integer
// each; see [ReadMultiLabels] for others.
func readSVMLight(src *source, limit int64, columns int, points bool) (*sparse.CSR, []int64, error) {
	l := &lines{src: src}
	m := &sparse.CSR{Ptr: []int64{0}}
	ones := true
	var labels []int64
	lowest, highest := 1, 0
	type entry struct {
		col int32
		val float64
	}
	var row []entry
	for {
		line, err := l.nextData()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		at := m.Rows
		m.Rows++
		label, rest, err := l.svmlightLabel(line, at)
		if err != nil {
			return nil, nil, err
		}
		if !points {
			v, ok := integerText(label)
			if !ok {
				return nil, nil, l.fault("the label of row %d is %s; labels must be integers: number the classes", at, short(label))
			}
			labels = append(labels, v)
		} else if len(label) > 0 {
			for part := label; ; {
				v, more := cut(part, ',')
				if _, ok := number(v); !ok {
					return nil, nil, l.fault("the label of row %d is %s, not a number", at, short(label))
				}
				if len(v) == len(part) {
					break
				}
				part = more
			}
		}
		row = row[:0]
		for len(rest) > 0 && points {
			var token []byte
			token, rest = cut(rest, 0)
			index, value, ok := bytes.Cut(token, []byte(":"))
			if ok && string(index) == "qid" {
				continue
			}
			c, whole := number(index)
			if !ok || !whole || c != math.Trunc(c) || c < 0 || c > math.MaxInt32-1 {
				return nil, nil, l.fault("row %d holds %s, want index:value with an index from 0 to 2³¹−2", at, short(token))
			}
			v, isNum := number(value)
			if !isNum {
				return nil, nil, l.fault("row %d, index %d has the value %s, not a number", at, int(c), short(value))
			}
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, nil, l.fault("row %d, index %d has the value %v; every value must be finite: remove or impute it", at, int(c), v)
			}
			row = append(row, entry{int32(c), v})
		}
		slices.SortFunc(row, func(a, b entry) int { return int(a.col) - int(b.col) })
		for i, e := range row {
			if i > 0 && row[i-1].col == e.col {
				return nil, nil, l.fault("row %d has index %d twice", at, e.col)
			}
			m.Col = append(m.Col, e.col)
			m.Val = append(m.Val, e.val)
			ones = ones && e.val == 1
		}
		if len(row) > 0 {
			lowest = min(lowest, int(row[0].col))
			highest = max(highest, int(row[len(row)-1].col))
		}
		m.Ptr = append(m.Ptr, int64(len(m.Col)))
		if need := 12*int64(len(m.Col)) + 8*int64(len(m.Ptr)+len(labels)); limit > 0 && need > limit {
			return nil, nil, &npy.LimitError{What: src.path, Need: need, Limit: limit}
		}
	}
	if !points {
		return nil, labels, nil
	}
	m.Cols = highest
	if lowest == 0 {
		m.Cols++
	} else {
		for p := range m.Col {
			m.Col[p]--
		}
	}
	switch {
	case columns > 0 && m.Cols > columns:
		return nil, nil, src.fault("it uses %d columns, want %d at most", m.Cols, columns)
	case columns > 0:
		m.Cols = columns
	}
	if ones {
		m.Val = nil
	}
	return m, nil, nil
}
