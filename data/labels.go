package data

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Unlabeled marks a point without a label in Labels.Index.
const Unlabeled = int32(-1)

// Labels gives each of n points a class or none. Class values are any integers, or
// names that are numbered; inside, a point carries the position of its class in
// Classes.
type Labels struct {
	Classes []int64 // distinct class values, ascending
	Index   []int32 // for each point a position in Classes, or Unlabeled
	// Names are the names of the classes, ascending, if they have any: Classes are
	// then 0, 1, …. Nil for classes that are integers.
	Names []string
	// Read says how the labels were read from a file; nil for others, and for
	// labels that were made of these.
	Read *LabelFile
}

// NewLabels makes Labels from one class value a point; points where labeled is
// false have none. A nil labeled means that every point has its label.
func NewLabels(values []int64, labeled []bool) *Labels {
	l := &Labels{Index: make([]int32, len(values))}
	room := 1 << 12
	// Collect the distinct values in a list that stays short, then look each value up in it.
	for i, v := range values {
		if labeled != nil && !labeled[i] {
			continue
		}
		// Most values occurred before; thin them out when they have doubled.
		if l.Classes = append(l.Classes, v); len(l.Classes) >= room {
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

// NewNamedLabels makes Labels of classes with the given names. codes are positions in names, or
// [Unlabeled]. Names need not be sorted or in use, but must differ.
func NewNamedLabels(names []string, codes []int32) *Labels {
	used := make([]bool, len(names))
	for _, c := range codes {
		if c != Unlabeled {
			used[c] = true
		}
	}

	l := &Labels{Index: make([]int32, len(codes)), Names: []string{}}
	for c, name := range names {
		if used[c] {
			l.Names = append(l.Names, name)
		}
	}

	slices.Sort(l.Names)
	// Old positions become positions among the sorted names in use.
	to := make([]int32, len(names))
	for c, name := range names {
		p, _ := slices.BinarySearch(l.Names, name)
		to[c] = int32(p)
	}

	for i, c := range codes {
		l.Index[i] = Unlabeled
		if c != Unlabeled {
			l.Index[i] = to[c]
		}
	}

	l.number()
	return l
}

// number makes Classes the numbers of Names.
func (l *Labels) number() {
	l.Classes = make([]int64, len(l.Names))
	for c := range l.Classes {
		l.Classes[c] = int64(c)
	}
}

// Name returns class number c as text: its name, or its integer.
func (l *Labels) Name(c int32) string { return ClassName(l.Classes, l.Names, c) }

// ClassName returns class number c as text: its name, or, where names is nil, its
// integer.
func ClassName(classes []int64, names []string, c int32) string {
	if names != nil {
		return names[c]
	}
	return strconv.FormatInt(classes[c], 10)
}

// ClassList returns what stands for classes in JSON: names if there are any, or
// integers. It is nil if there are no classes.
func ClassList(classes []int64, names []string) any {
	switch {
	case names != nil:
		return names
	case classes != nil:
		return classes
	}
	return nil
}

// Recode returns the labels with the classes and the names of others first, in their
// order, and behind them those classes that the others lack. Classes are the same
// if their names are; the names of integers are their digits.
func (l *Labels) Recode(classes []int64, names []string) *Labels {
	out := &Labels{Classes: slices.Clone(classes), Names: slices.Clone(names),
		Index: make([]int32, len(l.Index)), Read: l.Read}
	named := names != nil || l.Names != nil
	// One side has names, so that the integers of the other become their digits.
	if named && names == nil {
		out.Names = make([]string, len(classes))
		for c := range classes {
			out.Names[c] = ClassName(classes, nil, int32(c))
		}
	}

	// Find each class among the others, or put it behind them.
	at := make(map[string]int32, len(classes))
	for c := range classes {
		at[ClassName(classes, names, int32(c))] = int32(c)
	}
	// Old positions become positions in the joint list.
	to := make([]int32, len(l.Classes))
	for c, value := range l.Classes {
		name := l.Name(int32(c))
		p, ok := at[name]
		if !ok {
			p = int32(len(out.Classes))
			if named {
				value = int64(p)
				out.Names = append(out.Names, name)
			}
			out.Classes = append(out.Classes, value)
		}
		to[c] = p
	}

	if named {
		out.number()
	}
	for i, c := range l.Index {
		out.Index[i] = Unlabeled
		if c != Unlabeled {
			out.Index[i] = to[c]
		}
	}

	return out
}

// Align returns two labelings with one numbering of the classes of both: names in
// ascending order, if one of them has names. Integers need none.
func Align(a, b *Labels) (*Labels, *Labels) {
	if a.Names == nil && b.Names == nil {
		return a, b
	}
	var names []string
	for _, l := range []*Labels{a, b} {
		for c := range l.Classes {
			names = append(names, l.Name(int32(c)))
		}
	}

	slices.Sort(names)
	all := &Labels{Names: slices.Compact(names)}
	all.number()
	return a.Recode(all.Classes, all.Names), b.Recode(all.Classes, all.Names)
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
	out := &Labels{Classes: l.Classes, Names: l.Names, Index: make([]int32, len(l.Index))}
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
	out := &Labels{Classes: l.Classes, Names: l.Names, Index: make([]int32, len(rows))}
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

	// The first steps of a Fisher–Yates shuffle.
	rng := rand.New(rand.NewPCG(seed, 0x6c61626c<<32+uint64(count))) // "labl"
	for i := range count {
		j := i + rng.IntN(len(rows)-i)
		rows[i], rows[j] = rows[j], rows[i]
	}
	return l.Keep(rows[:count]), nil
}

// DrawEach returns Labels in which count labeled points of every class, drawn uniformly without
// replacement by seed, keep their label. A class of at most count points keeps all labels but one,
// so that one can be tested, and the only point of a class keeps its label; these classes are
// returned as short, positions in Classes.
func (l *Labels) DrawEach(count int, seed uint64) (drawn *Labels, short []int32, err error) {
	if count < 1 {
		return nil, nil, fmt.Errorf("data: cannot draw %d labeled points of each class", count)
	}
	// The labeled points of each class.
	of := make([][]int, len(l.Classes))
	for i, c := range l.Index {
		if c != Unlabeled {
			of[c] = append(of[c], i)
		}
	}

	// The first steps of a Fisher–Yates shuffle of each class.
	rng := rand.New(rand.NewPCG(seed, 0x65616368<<32+uint64(count))) // "each"
	var kept []int
	for c, rows := range of {
		take := count
		if len(rows) <= count {
			take = min(len(rows), max(1, len(rows)-1))
			short = append(short, int32(c))
		}
		for i := range take {
			j := i + rng.IntN(len(rows)-i)
			rows[i], rows[j] = rows[j], rows[i]
		}
		kept = append(kept, rows[:take]...)
	}

	return l.Keep(kept), short, nil
}
