package audit

import (
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/pipeline"
)

// Names of issues in the column issues of [Result.Table].
const (
	IssueDuplicate  = "duplicate"
	IssueNear       = "near-duplicate"
	IssueConflict   = "conflict" // duplicates, exact or near, with different labels or values
	IssueOutlier    = "outlier"
	IssueZero       = "zero"
	IssueConstant   = "constant"
	IssueNotFinite  = "not-finite"
	IssueRepeatedID = "repeated-id"
	IssueLabel      = "label"   // probably wrong
	IssueHarmful    = "harmful" // a label with a negative value
	IssueValue      = "value"   // far from the values of its neighbours
)

// Issues returns for each point the names of its issues, in the order of the constants.
func (r *Result) Issues() [][]string {
	out := make([][]string, r.Points)
	mark := func(rows []int, issue string) {
		for _, i := range rows {
			out[i] = append(out[i], issue)
		}
	}
	conflicts := make([]bool, r.Points)
	groups := func(all []Group, issue string) {
		for _, g := range all {
			mark(g.Rows, issue)
			for _, i := range g.Rows {
				conflicts[i] = conflicts[i] || g.Conflict
			}
		}
	}

	groups(r.Duplicates.Exact, IssueDuplicate)
	groups(r.Duplicates.Near, IssueNear)
	for i, yes := range conflicts {
		if yes {
			out[i] = append(out[i], IssueConflict)
		}
	}
	mark(r.Outliers.Rows, IssueOutlier)
	mark(r.Values.ZeroRows, IssueZero)
	mark(r.Values.ConstantRows, IssueConstant)
	mark(r.Values.NotFinite, IssueNotFinite)
	for _, id := range r.IDs {
		mark(id.Rows, IssueRepeatedID)
	}
	if r.Labels != nil {
		for _, s := range r.Labels.List {
			out[s.Point] = append(out[s.Point], IssueLabel)
		}
	}
	if r.Worth != nil {
		for _, q := range r.Worth.Negative {
			out[r.Worth.Rows[q]] = append(out[r.Worth.Rows[q]], IssueHarmful)
		}
	}
	if r.Answers != nil {
		for _, v := range r.Answers.List {
			out[v.Point] = append(out[v.Point], IssueValue)
		}
	}
	return out
}

// Table returns a row for each point as given, with the columns
//
//	row             the number of the point
//	issues          names of issues, separated by blanks
//	duplicate       number of the group of equal points, from 0; −1 for none
//	near_duplicate  number of the group of near duplicates; −1 for none
//	outlier         score of [Outliers]
//	label           as given; empty for none, with labels only
//	suggested       another class for labels that are probably wrong, else empty
//	suspect         score of [Labels]
//	worth           value of the label, see [Shapley]
//	value           as given, with values only; a column for each
//	predicted       mean of the neighbours' values, for values far from it
//	far             score of [Answers]
//
// Numbers that are not known are NaN. y has the targets that were audited; ids names the points, nil for none.
func (r *Result) Table(y *Targets, ids *data.IDs) pipeline.Answers {
	issues := make([]string, r.Points)
	for i, names := range r.Issues() {
		issues[i] = strings.Join(names, " ")
	}
	rows := make([]int64, r.Points)
	for i := range rows {
		rows[i] = int64(i)
	}
	scores := r.Outliers.Score
	if scores == nil {
		scores = unknown(r.Points)
	}
	a := pipeline.Answers{Settings: pipeline.AnswerSettings{Answers: "audit"}, IDs: ids, Columns: []pipeline.Column{
		{Name: "row", Values: rows}, {Name: "issues", Values: issues},
		{Name: "duplicate", Values: r.groupsOf(r.Duplicates.Exact)},
		{Name: "near_duplicate", Values: r.groupsOf(r.Duplicates.Near)},
		{Name: "outlier", Values: scores}}}
	switch {
	case y != nil && y.Labels != nil:
		a.Columns = append(a.Columns, r.labelColumns(y.Labels)...)
	case y != nil && y.Values != nil:
		a.Columns = append(a.Columns, r.valueColumns(y.Values)...)
	}
	return a
}

// groupsOf returns the number of the group of each point.
func (r *Result) groupsOf(groups []Group) []int64 {
	out := make([]int64, r.Points)
	for i := range out {
		out[i] = -1
	}
	for g := range groups {
		for _, i := range groups[g].Rows {
			out[i] = int64(g)
		}
	}
	return out
}

func (r *Result) labelColumns(y *data.Labels) []pipeline.Column {
	label := make([]string, r.Points)
	for i, c := range y.Index {
		if c != data.Unlabeled {
			label[i] = y.Name(c)
		}
	}
	suggested := make([]string, r.Points)
	suspect := unknown(r.Points)
	worth := unknown(r.Points)
	if r.Labels != nil {
		for q, i := range r.Labels.Targets.Labeled {
			suspect[i] = r.Labels.Score[q]
		}
		for _, s := range r.Labels.List {
			suggested[s.Point] = y.Name(s.Suggested)
		}
	}
	if r.Worth != nil {
		for q, i := range r.Worth.Rows {
			worth[i] = r.Worth.Value[q]
		}
	}
	return []pipeline.Column{{Name: "label", Values: label}, {Name: "suggested", Values: suggested},
		{Name: "suspect", Values: suspect}, {Name: "worth", Values: worth}}
}

func (r *Result) valueColumns(y *mat.Dense) []pipeline.Column {
	n, m := y.Dims()
	predicted := unknown(n * m)
	far := unknown(n)
	if r.Answers != nil {
		for _, v := range r.Answers.List {
			far[v.Point] = v.Score
			copy(predicted[v.Point*m:], v.Predicted)
		}
	}
	width := m
	if m == 1 {
		width = 0
	}
	given := mat.DenseCopyOf(y).RawMatrix().Data
	return []pipeline.Column{{Name: "value", Values: given, Width: width},
		{Name: "predicted", Values: predicted, Width: width}, {Name: "far", Values: far}}
}

// unknown returns n NaNs.
func unknown(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}
