package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
)

// Splits holds splits of points with a target into labeled points and others, in groups of
// equal numbers of labels.
type Splits struct {
	// Labeled holds for each split the numbers of the labeled points, ascending.
	Labeled [][]int
	Groups  []SplitGroup
	// Notes name deviations from the request.
	Notes []string
}

// SplitGroup is a number of consecutive splits.
type SplitGroup struct {
	First, Count int
	Labels       int // number of labeled points in each split
	PerClass     int // number of labels of each class that was asked for; 0 if none was
}

// Of returns the positions of the splits of the group in Labeled.
func (g *SplitGroup) Of() []int { return data.Range(g.First, g.First+g.Count) }

// DrawSplits draws count splits for each number in labels and for each number in perClass. A
// number in labels counts all labels of a split; a number in perClass counts the labels of each
// class ([data.Labels.DrawEach]) and needs classes in t. Split s is drawn by seed + s, as
// [ClassTargets] draws with this seed.
func DrawSplits(t *models.Targets, count int, labels, perClass []int, seed uint64) (*Splits, error) {
	y := t.ClassLabels()
	if y == nil { // for values it matters only which points have one
		given := make([]bool, t.Len)
		for _, i := range t.Labeled {
			given[i] = true
		}
		y = data.NewLabels(make([]int64, t.Len), given)
	}

	s := &Splits{}
	for _, l := range labels {
		if l >= len(t.Labeled) {
			return nil, fmt.Errorf("%d labels of %d points with a target leave none to measure on; "+
				"ask for fewer", l, len(t.Labeled))
		}
		g := SplitGroup{First: len(s.Labeled), Count: count, Labels: l}
		for i := range count {
			drawn, err := y.Draw(l, seed+uint64(i))
			if err != nil {
				return nil, err
			}
			s.Labeled = append(s.Labeled, drawn.Labeled())
		}
		s.Groups = append(s.Groups, g)
	}

	for _, each := range perClass {
		if t.Classes == nil {
			return nil, fmt.Errorf("%d labels of each class are asked for, but the targets are not "+
				"classes; ask for a number of labels", each)
		}
		g := SplitGroup{First: len(s.Labeled), Count: count, PerClass: each}
		var short []int32
		for i := range count {
			drawn, few, err := y.DrawEach(each, seed+uint64(i))
			if err != nil {
				return nil, err
			}
			short = few
			s.Labeled = append(s.Labeled, drawn.Labeled())
		}

		if g.Labels = len(s.Labeled[g.First]); g.Labels == len(t.Labeled) {
			return nil, fmt.Errorf("%d labels of each class leave no point to measure on; ask for fewer",
				each)
		}

		if len(short) > 0 {
			var classes []int64
			var names []string
			for _, c := range short {
				classes = append(classes, y.Classes[c])
				names = append(names, y.Name(c))
			}
			s.Notes = append(s.Notes, fmt.Sprintf("%d labels of each class: the classes %s have no "+
				"more points; all of these but one, or the only one, are labeled", each,
				ListClasses(classes, names)))
		}

		s.Groups = append(s.Groups, g)
	}

	return s, nil
}

// ReadSplits reads splits from an array of integers, a .npy file or an array of a .npz file
// ("file.npz:key"). Each row is a split and holds the numbers of its labeled points, counted
// from 0. All these points must have a target in t. A positive memory bounds the bytes that
// are read. Errors name the row and the column.
func ReadSplits(path string, t *models.Targets, memory int64) (*Splits, error) {
	block, err := data.ReadValues(path, data.ReadOptions{Limit: memory})
	if err != nil {
		return nil, err
	}
	rows, cols := block.Dims()
	if cols == 1 {
		return nil, fmt.Errorf("%s: it has %d rows of one number; it must have a row for each split, "+
			"with the numbers of its labeled points (FILE.npz:KEY names another array, and a[None, "+
			":] makes a list a row)", path, rows)
	}
	s := &Splits{Groups: []SplitGroup{{Count: rows, Labels: cols}}}
	for i := range rows {
		points := make([]int, cols)
		seen := make(map[int]int, cols)
		for j, v := range block.RawRowView(i) {
			place := fmt.Sprintf("%s: row %d, column %d", path, i, j)
			if !(v >= 0 && v < float64(t.Len)) || v != math.Trunc(v) {
				return nil, fmt.Errorf("%s is %v; it must be the number of a point, from 0 to %d", place,
					v, t.Len-1)
			}
			p := int(v)
			if first, twice := seen[p]; twice {
				return nil, fmt.Errorf("%s is point %d, which column %d names too; a split has each "+
					"point once", place, p, first)
			}
			if _, ok := slices.BinarySearch(t.Labeled, p); !ok {
				return nil, fmt.Errorf("%s is point %d, which has no label; take only points that have "+
					"one", place, p)
			}
			seen[p] = j
			points[j] = p
		}

		if cols == len(t.Labeled) {
			return nil, fmt.Errorf("%s: a split has %d labels, as many as there are; others must be "+
				"left to measure on", path, cols)
		}
		slices.Sort(points)
		s.Labeled = append(s.Labeled, points)
	}

	return s, nil
}

// Check returns an error for the first split with labels of one class only.
func (s *Splits) Check(t *models.Targets) error {
	if t.Classes == nil {
		return nil
	}
	y := t.ClassLabels()
	for i, points := range s.Labeled {
		first := y.Index[points[0]]
		if !slices.ContainsFunc(points, func(p int) bool { return y.Index[p] != first }) {
			return fmt.Errorf("split %d: all %d labels are of class %s; two classes are needed: take "+
				"more labels, or some of each class", i, len(points), y.Name(first))
		}
	}

	return nil
}
