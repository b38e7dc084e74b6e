package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data/internal/labelcells"
	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/param"
)

// Shares hold a distribution over c classes for each of n points.
type Shares struct {
	// P is n×c; rows of NaN, or of zeros, are points without a label.
	P       *mat.Dense
	Classes []int64  // ascending
	Names   []string // ascending, or nil for classes that are integers
	Read    *LabelFile
}

// ShareOptions are the options of [ReadShares].
type ShareOptions struct {
	LabelOptions
	// Classes names the columns of an array. Default: 0, 1, ….
	Classes []string
}

// ReadShares reads probabilities of classes: an n×c array of floats (.npy, .npz, idx), or a table with a column
// for each class, named by it, whose rows are joined with the points by a column of ids as labels are. Classes
// are integers if all of their names are. The numbers are not checked: models.ShareTargets does.
func ReadShares(path string, opt ShareOptions) (*Shares, error) {
	src, key, err := openKey(path, opt.Key, opt.Limit)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	f := &labelcells.Notes{}
	var p *mat.Dense
	names := opt.Classes
	if src.format.table {
		if len(names) > 0 {
			return nil, fmt.Errorf("%s: it is a table, whose header names the classes; leave %s out", path,
				param.Name("classes"))
		}
		var rows [][]float64
		names, rows, err = labelcells.ReadShares(src.path, opt.Limit, opt.cells(), f)
		if err != nil {
			return nil, err
		}
		p = mat.NewDense(len(rows), len(names), nil)
		for i, row := range rows {
			p.SetRow(i, row)
		}
	} else {
		if p, err = src.values(ReadOptions{Key: key, Limit: opt.Limit, Points: opt.Points}); err != nil {
			return nil, err
		}
		_, c := p.Dims()
		switch {
		case c < 2:
			return nil, fmt.Errorf("%s: it has %d column; probabilities of classes need a column for each of two "+
				"classes or more", path, c)
		case len(names) > 0 && len(names) != c:
			return nil, fmt.Errorf("%s: it has %d columns, and %s names %d classes", path, c, param.Name("classes"),
				len(names))
		}
		if len(names) == 0 {
			for k := range c {
				names = append(names, strconv.Itoa(k))
			}
		}
	}

	out, err := orderColumns(path, p, names, "class")
	if err != nil {
		return nil, err
	}
	out.Read = &LabelFile{Path: path, Notes: f.Notes, Warnings: f.Warnings, Joined: f.Joined, Listed: f.Listed}
	return out, nil
}

// cells returns the points in the form of package labelcells.
func (opt *LabelOptions) cells() labelcells.Points {
	points := labelcells.Points{N: opt.Points, Columns: opt.Coordinates}
	if ids := opt.IDs; ids != nil {
		points.IDs = &labelcells.IDs{From: ids.From, Values: ids.Values, Row: ids.Row}
	}
	return points
}

// orderColumns brings the columns in the order of their classes, or of what else they are of.
func orderColumns(path string, p *mat.Dense, names []string, of string) (*Shares, error) {
	out := &Shares{}
	integers := true
	values := make([]int64, len(names))
	for k, name := range names {
		v, ok := fields.Integer([]byte(name))
		integers = integers && ok && strconv.FormatInt(v, 10) == name
		values[k] = v
	}
	order := Range(0, len(names))
	if integers {
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	} else {
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(names[a], names[b]) })
	}

	n, _ := p.Dims()
	out.P = mat.NewDense(n, len(names), nil)
	for k, from := range order {
		if k > 0 && names[from] == names[order[k-1]] {
			return nil, fmt.Errorf("%s: two columns are of %s %s; name each %s once", path, of, names[from], of)
		}
		if integers {
			out.Classes = append(out.Classes, values[from])
		} else {
			out.Classes = append(out.Classes, int64(k))
			out.Names = append(out.Names, names[from])
		}
		out.P.SetCol(k, mat.Col(nil, from, p))
	}
	return out, nil
}

// LooksLikeShares tells whether numbers are probabilities of two classes or more rather than values or several labels:
// all lie in [0, 1], every row sums to 1 (to 10⁻³) or is of NaN or zeros alone, at least one row has a sum, and not all
// numbers are 0 or 1.
func LooksLikeShares(p *mat.Dense) bool {
	n, c := p.Dims()
	if c < 2 {
		return false
	}
	between, labeled := false, false
	for i := range n {
		var sum float64
		missing := 0
		for _, v := range p.RawRowView(i) {
			switch {
			case v != v:
				missing++
				continue
			case v < 0 || v > 1.001:
				return false
			}
			sum += v
			between = between || v != 0 && v != 1
		}
		if missing == c || missing == 0 && sum == 0 {
			continue
		}
		if missing > 0 || math.Abs(sum-1) > 1e-3 {
			return false
		}
		labeled = true
	}
	return between && labeled
}

// Annotations hold the labels that several annotators gave to n points: element k says that Annotators[Annotator[k]]
// gave the point Point[k] the class Labels.Index[k]. An annotator gives a point one label.
type Annotations struct {
	Points     int
	Labels     *Labels // a label for each answer
	Point      []int32
	Annotator  []int32
	Annotators []string
}

// HasAnnotators tells whether a file is a table with a column that says who gave a label: a column with a usual
// name, as "annotator" or "worker", beside others, or the third of FILE:ID,LABEL,ANNOTATOR.
func HasAnnotators(path string, limit int64) bool {
	file, key := shards.SplitKey(path)
	src, err := openSource(file)
	if err != nil {
		return false
	}
	defer src.Close()
	if !src.format.table || src.format.name == FormatCSV && !isTable(src) {
		return false
	}
	return labelcells.AnnotatorColumn(src.path, key, limit) != ""
}

// ReadAnnotations reads the labels of several annotators from a table with columns of ids, labels and annotators, found by
// usual names or named as FILE:ID,LABEL,ANNOTATOR. Rows without a label are left out. An annotator that gives a point two
// different labels is an error that names both rows.
func ReadAnnotations(path string, opt LabelOptions) (*Annotations, error) {
	src, key, err := openKey(path, opt.Key, opt.Limit)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	f := &labelcells.Notes{}
	answers, err := labelcells.ReadAnswers(src.path, key, opt.Limit, opt.cells(), f)
	if err != nil {
		return nil, err
	}
	y, err := labelsOf(path, answers.Cells, newMarker(&opt, false), f)
	if err != nil {
		return nil, err
	}

	out := &Annotations{Points: answers.Points, Annotators: answers.Annotators}
	rows := y.Labeled()
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: no row has a label", path)
	}
	for _, k := range rows {
		out.Point = append(out.Point, answers.Point[k])
		out.Annotator = append(out.Annotator, answers.Annotator[k])
	}
	read := y.Read
	out.Labels = y.Select(rows)
	out.Labels.Read = read
	return out, nil
}
