package data

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Unlabeled marks a point without a label in Labels.Index.
const Unlabeled = int32(-1)

// Labels gives each of n points a class or none. Class values are any
// integers; inside, a point carries the position of its class in Classes.
type Labels struct {
	Classes []int64 // distinct class values, ascending
	Index   []int32 // for each point a position in Classes, or Unlabeled
}

// NewLabels makes Labels from one class value a point; points where labeled is
// false have none. A nil labeled means that every point has its label.
func NewLabels(values []int64, labeled []bool) *Labels {
	l, room := &Labels{Index: make([]int32, len(values))}, 1<<12
	for i, v := range values {
		if labeled != nil && !labeled[i] {
			continue
		}
		if l.Classes = append(l.Classes, v); len(l.Classes) >= room { // mostly values that were met before
			l.Classes = distinct(l.Classes)
			room = max(room, 2*len(l.Classes))
		}
	}
	l.Classes = slices.Clip(distinct(l.Classes))
	for i, v := range values {
		l.Index[i] = Unlabeled
		if labeled == nil || labeled[i] {
			p, _ := slices.BinarySearch(l.Classes, v)
			l.Index[i] = int32(p)
		}
	}
	return l
}

// distinct sorts values and leaves each once.
func distinct(values []int64) []int64 {
	slices.Sort(values)
	return slices.Compact(values)
}

// Len returns the number of points.
func (l *Labels) Len() int { return len(l.Index) }

// Labeled returns the numbers of the labeled points, ascending.
func (l *Labels) Labeled() []int {
	var rows []int
	for i, c := range l.Index {
		if c != Unlabeled {
			rows = append(rows, i)
		}
	}
	return rows
}

// Keep returns Labels with the same classes in which only the points named in
// rows keep their label.
func (l *Labels) Keep(rows []int) *Labels {
	out := &Labels{Classes: l.Classes, Index: make([]int32, len(l.Index))}
	for i := range out.Index {
		out.Index[i] = Unlabeled
	}
	for _, r := range rows {
		out.Index[r] = l.Index[r]
	}
	return out
}

// Select returns the labels of the points with the given numbers, in the given
// order.
func (l *Labels) Select(rows []int) *Labels {
	out := &Labels{Classes: l.Classes, Index: make([]int32, len(rows))}
	for i, r := range rows {
		out.Index[i] = l.Index[r]
	}
	return out
}

// Draw returns Labels in which count labeled points, drawn uniformly without
// replacement by seed, keep their label; draws of different counts are
// independent. They are not stratified, as in the papers: a class may be missed.
func (l *Labels) Draw(count int, seed uint64) (*Labels, error) {
	rows := l.Labeled()
	if count < 1 || count > len(rows) {
		return nil, fmt.Errorf("data: cannot draw %d labeled points from %d", count, len(rows))
	}
	rng := rand.New(rand.NewPCG(seed, 0x6c61626c<<32+uint64(count))) // "labl"
	for i := range count {
		j := i + rng.IntN(len(rows)-i)
		rows[i], rows[j] = rows[j], rows[i]
	}
	return l.Keep(rows[:count]), nil
}
