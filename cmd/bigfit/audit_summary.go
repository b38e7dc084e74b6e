package main

import (
	"fmt"
	"strings"

	"github.com/bigfit/bigfit/audit"
)

// auditSummary is the output of audit.
type auditSummary struct {
	Points    int `json:"points"`
	Columns   int `json:"columns"`
	Neighbors int `json:"neighbors"`

	Duplicates     auditGroups `json:"duplicates"`
	NearDuplicates auditGroups `json:"near_duplicates"`
	NearDistance   float64     `json:"near_distance"` // the largest of near duplicates
	Typical        float64     `json:"typical_distance"`
	Outliers       int         `json:"outliers"`

	ZeroColumns     []int             `json:"zero_columns"`
	ConstantColumns []int             `json:"constant_columns"`
	NaNColumns      []int             `json:"nan_columns"`
	Dominating      []int             `json:"dominating_columns"`
	ZeroRows        []int             `json:"zero_rows"`
	ConstantRows    []int             `json:"constant_rows"`
	NotFinite       []int             `json:"rows_not_finite"`
	RepeatedIDs     []auditRepeatedID `json:"repeated_ids"`
	Order           *auditOrder       `json:"order"` // null if it was not judged

	Labels *auditLabels `json:"labels"` // null without
	Values *auditValues `json:"values"` // null without

	Warnings []string `json:"warnings,omitempty"`
}

// auditGroups counts groups of duplicates.
type auditGroups struct {
	Groups    int `json:"groups"`
	Points    int `json:"points"`    // in them
	Conflicts int `json:"conflicts"` // groups with different labels or values
}

type auditRepeatedID struct {
	ID   string `json:"id"`
	Rows []int  `json:"rows"`
}

type auditOrder struct {
	Random bool    `json:"random"`
	D      float64 `json:"d"`
	P      float64 `json:"p"`
	Pairs  int     `json:"pairs"`
}

type auditLabels struct {
	Labeled  int          `json:"labeled"`
	Classes  []auditClass `json:"classes"`
	Rare     []string     `json:"rare_classes"`
	Mixed    []auditMixed `json:"mixed_classes"` // the first ten
	Judge    string       `json:"judge"`         // empty if labels could not be judged
	Suspects int          `json:"suspects"`
	Unknown  int          `json:"unknown"`
	Wrong    int          `json:"wrong"` // estimated
	Low      int          `json:"wrong_low"`
	High     int          `json:"wrong_high"`
	Few      bool         `json:"few_labels"` // too few for the three numbers before it
	Negative int          `json:"negative_values"`
}

type auditClass struct {
	Class  string `json:"class"`
	Labels int    `json:"labels"`
}

type auditMixed struct {
	Classes [2]string `json:"classes"`
	Share   float64   `json:"share"`
}

type auditValues struct {
	Given int       `json:"given"`
	Far   int       `json:"far"`
	Error []float64 `json:"error"` // of the neighbours' answers, for each column
}

// summarize sums an audit up.
func summarize(r *audit.Result, y *audit.Targets) *auditSummary {
	groups := func(all []audit.Group) auditGroups {
		return auditGroups{len(all), len(all) + audit.Copies(all), audit.Conflicts(all)}
	}
	v := &r.Values
	s := &auditSummary{Points: r.Points, Columns: r.Dimension, Neighbors: r.K, Duplicates: groups(r.Duplicates.Exact),
		NearDuplicates: groups(r.Duplicates.Near), NearDistance: r.Duplicates.Threshold, Typical: r.Typical,
		Outliers: len(r.Outliers.Rows), ZeroColumns: listed(v.Zero), ConstantColumns: listed(v.Constant), NaNColumns: listed(v.NaN),
		Dominating: []int{}, ZeroRows: listed(v.ZeroRows), ConstantRows: listed(v.ConstantRows), NotFinite: listed(v.NotFinite),
		RepeatedIDs: []auditRepeatedID{}}
	if v.Scale != nil {
		s.Dominating = v.Scale.Columns
	}
	for _, id := range r.IDs {
		s.RepeatedIDs = append(s.RepeatedIDs, auditRepeatedID(id))
	}
	if o := r.Order; o != nil {
		s.Order = &auditOrder{!o.Sorted(), o.D, o.P, o.Pairs}
	}
	if c := r.Classes; c != nil {
		s.Labels = summarizeLabels(r, y)
	}
	if w := r.Answers; w != nil {
		s.Values = &auditValues{w.Given, len(w.List), w.Error}
	}
	return s
}

// listed returns rows as a list that is never null.
func listed(rows []int) []int {
	if rows == nil {
		return []int{}
	}
	return rows
}

func summarizeLabels(r *audit.Result, y *audit.Targets) *auditLabels {
	c := r.Classes
	out := &auditLabels{Labeled: c.Total, Rare: []string{}, Mixed: []auditMixed{}, Classes: []auditClass{}}
	for k, count := range c.Count {
		out.Classes = append(out.Classes, auditClass{y.Labels.Name(int32(k)), count})
	}
	for _, k := range c.Rare {
		out.Rare = append(out.Rare, y.Labels.Name(k))
	}
	for _, m := range c.Mixed[:min(10, len(c.Mixed))] {
		out.Mixed = append(out.Mixed, auditMixed{[2]string{y.Labels.Name(m.A), y.Labels.Name(m.B)}, m.Share})
	}
	if l := r.Labels; l != nil {
		out.Judge = l.Judge
		out.Suspects = len(l.List)
		out.Unknown = l.Unknown
		out.Wrong = l.Wrong
		out.Low = l.Low
		out.High = l.High
		out.Few = l.Few
	}
	if r.Worth != nil {
		out.Negative = len(r.Worth.Negative)
	}
	return out
}

func (s *auditSummary) String() string {
	lines := []string{fmt.Sprintf("%d points of %d columns", s.Points, s.Columns)}
	add := func(ok bool, format string, args ...any) {
		if ok {
			lines = append(lines, fmt.Sprintf(format, args...))
		}
	}
	groups := func(what string, g auditGroups) {
		in := "1 group"
		if g.Groups > 1 {
			in = fmt.Sprintf("%d groups", g.Groups)
		}
		text := ""
		if g.Conflicts > 0 {
			text = fmt.Sprintf(", %d with different labels or values", g.Conflicts)
		}
		add(g.Groups > 0, "%s: %d points in %s%s", what, g.Points, in, text)
	}
	groups("duplicates", s.Duplicates)
	groups("near duplicates", s.NearDuplicates)
	add(s.Outliers > 0, "outliers: %d", s.Outliers)
	if l := s.Labels; l != nil {
		wrong := fmt.Sprintf("about %d are wrong (%d to %d)", l.Wrong, l.Low, l.High)
		if l.Few {
			wrong = "how many are wrong takes five labels a class to say"
		}
		add(l.Judge != "", "labels: %d of %d disagree with the others; %s, by %s", l.Suspects, l.Labeled-l.Unknown, wrong, l.Judge)
		add(l.Negative > 0, "labels that do more harm than good to their neighbours: %d", l.Negative)
		add(len(l.Rare) > 0, "rare classes: %s", strings.Join(l.Rare[:min(10, len(l.Rare))], ", "))
		add(len(l.Mixed) > 0 && l.Mixed[0].Share >= 0.01, "classes that mingle most: %s", mixedText(l.Mixed))
	}
	if v := s.Values; v != nil {
		add(v.Far > 0, "values far from those of their neighbours: %d of %d", v.Far, v.Given)
	}
	add(len(s.ZeroColumns)+len(s.ConstantColumns)+len(s.NaNColumns) > 0, "columns of one value or none: %d",
		len(s.ZeroColumns)+len(s.ConstantColumns)+len(s.NaNColumns))
	add(len(s.Dominating) > 0, "columns that dominate distances: %d", len(s.Dominating))
	add(len(s.ZeroRows)+len(s.ConstantRows) > 0, "rows of one value: %d", len(s.ZeroRows)+len(s.ConstantRows))
	add(len(s.NotFinite) > 0, "rows with a missing or infinite value: %d, which take no part in the rest", len(s.NotFinite))
	for _, id := range s.RepeatedIDs[:min(3, len(s.RepeatedIDs))] {
		add(true, "the id %s is there %d times, first in the rows %d and %d", id.ID, len(id.Rows), id.Rows[0], id.Rows[1])
	}
	add(len(s.RepeatedIDs) > 3, "… and %d more ids that are there more than once", len(s.RepeatedIDs)-3)
	add(s.Order != nil && !s.Order.Random, "the order of the rows is not random")
	if len(lines) == 1 {
		return lines[0] + "; nothing found"
	}
	return strings.Join(lines, "\n  ")
}

// mixedText lists the first pairs of classes.
func mixedText(mixed []auditMixed) string {
	var out []string
	for _, m := range mixed[:min(3, len(mixed))] {
		if m.Share >= 0.01 {
			out = append(out, fmt.Sprintf("%s and %s (%.1f %%)", m.Classes[0], m.Classes[1], 100*m.Share))
		}
	}
	return strings.Join(out, ", ")
}
