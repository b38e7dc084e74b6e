package results

import (
	"fmt"
	"math"
	"strings"
)

// A Verdict compares a number with the published figure beside it.
type Verdict string

// Verdicts, by [VerdictRule]. A number without a published figure has the zero value.
const (
	Reached Verdict = "reached"
	Better  Verdict = "better"
	Missed  Verdict = "missed"
	// OtherData replaces the other verdicts if the paper used other data.
	OtherData Verdict = "other data"
	// Differs is given by [Value.Judged] to a number that cannot be compared with the published
	// figure: data, labels, measure or settings differ in a way that is not known.
	Differs Verdict = "differs"
	// Fitted is given by [Value.Judged] to a number whose settings were chosen by the published
	// figure, or by labels that the paper's method did not see.
	Fitted Verdict = "fitted"
)

// VerdictRule is the rule of [Table.Verdict] in words.
const VerdictRule = "A figure is reached if it differs from the paper's by no more than s·√(8/n), " +
	"two standard errors of the difference of two means over n draws, where s is the standard " +
	"deviation of our n draws; " +
	"or by one unit of the last digit that the paper prints, if that is more. " +
	"Beyond that it is better or missed. Where the data are not those of the paper it says other " +
	"data. It says differs where data, labels, measure or settings are not comparable, for a reason " +
	"that stands below the table, and fitted where our settings were chosen by the paper's figure or " +
	"by labels that the paper's method did not see. A number that the paper has no figure for has no verdict."

// Verdict compares the number v of a record with its published figure p. With the
// deviation s over n draws, and the unit u of the last printed digit of p, the number is
// reached if |v − p| ≤ max(s √(8/n), u). Otherwise it is better if v < p, in a column of
// MoreIsBetter if v > p, and else missed. There is none where no published figure is
// printed, but for the best number of a column of BestIsPublished. A verdict by [Value.Judged]
// takes the place of the rule.
func (t *Table) Verdict(r Record, key string) Verdict {
	c := t.Column(key)
	v := t.Value(r, key)
	format := c.Format.Published
	if c.BestIsPublished && format == "" && t.best(key, r) {
		format = "%g"
	}
	if c.Kind != Numbers || format == "" || math.IsNaN(v.Number) || math.IsNaN(v.Published) {
		return ""
	}
	if t.OtherData {
		return OtherData
	}
	if v.Judgement != "" {
		return v.Judgement
	}

	// The printed figure was rounded: its last digit may be off by one unit in print.
	_, decimals, _ := strings.Cut(fmt.Sprintf(format, v.Published), ".")
	slack := math.Pow(10, -float64(len(decimals)))
	if v.Draws > 1 && v.Deviation > 0 {
		slack = max(slack, v.Deviation*math.Sqrt(8/float64(v.Draws)))
	}
	// 0.3 − 0.1 and 0.2 differ in the last bit and must count as equal.
	const rounding = 1e-12
	switch {
	case math.Abs(v.Number-v.Published) <= slack*(1+rounding)+rounding:
		return Reached
	case v.Number > v.Published == c.MoreIsBetter:
		return Better
	}

	return Missed
}

// best tells whether r, a record of t, is the first with the best number of a column.
func (t *Table) best(key string, r Record) bool {
	var best Record
	// Of equal numbers the first is the best, so that one verdict is given.
	for _, other := range t.Records {
		v := t.Value(other, key).Number
		if !math.IsNaN(v) && (best == nil || v != t.Value(best, key).Number &&
			v > t.Value(best, key).Number == t.Column(key).MoreIsBetter) {
			best = other
		}
	}
	return best != nil && &best[0] == &r[0]
}

// verdict returns the first verdict among the values shown.
func (t *Table) verdict(r Record, show []string) Verdict {
	for _, key := range show {
		if v := t.Verdict(r, key); v != "" {
			return v
		}
	}
	return ""
}

// A Tally counts the verdicts of a table.
type Tally struct {
	Reached int `json:"reached"`
	Better  int `json:"better"`
	Missed  int `json:"missed"`
	Other   int `json:"other_data"`
	Differs int `json:"differs"`
	Fitted  int `json:"fitted"`
}

// Tally counts the verdicts of the cells of all views.
func (t *Table) Tally() Tally {
	var out Tally
	for _, g := range t.Grids() {
		// A sum does not depend on the order of the map.
		for _, v := range g.Verdicts {
			switch v {
			case Reached:
				out.Reached++
			case Better:
				out.Better++
			case Missed:
				out.Missed++
			case OtherData:
				out.Other++
			case Differs:
				out.Differs++
			case Fitted:
				out.Fitted++
			}
		}
	}

	return out
}

// String lists the counts that are not zero.
func (t Tally) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		name Verdict
	}{{t.Reached, Reached}, {t.Better, Better}, {t.Missed, Missed}, {t.Other, OtherData},
		{t.Differs, Differs}, {t.Fitted, Fitted}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.name))
		}
	}

	if parts == nil {
		return "no published figure"
	}
	return strings.Join(parts, ", ")
}
