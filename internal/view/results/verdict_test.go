package results

import (
	"math"
	"slices"
	"testing"
)

// TestVerdicts compares numbers with published ones by hand.
func TestVerdicts(t *testing.T) {
	nan := math.NaN()
	mean := func(v, deviation float64, draws int, published float64) Value {
		return Value{Number: v, Deviation: deviation, Draws: draws, Published: published}
	}
	for _, c := range []struct {
		v    Value
		more bool
		want Verdict
	}{
		{mean(3.3, 0, 0, 3.4), false, Reached}, // by a digit
		{mean(3.5, 0, 0, 3.4), false, Reached},
		{mean(3.51, 0, 0, 3.4), false, Missed},
		{mean(3.29, 0, 0, 3.4), false, Better},
		{mean(3.29, 0, 0, 3.4), true, Missed},
		{mean(3.51, 0, 0, 3.4), true, Better},
		{mean(4.4, 0.5, 2, 3.4), false, Reached}, // by 0.5·√4
		{mean(4.41, 0.5, 2, 3.4), false, Missed},
		{mean(4.4, 0.5, 8, 3.4), false, Missed}, // 0.5
		{mean(3.6, 0.5, 1, 3.4), false, Missed}, // a single draw has no deviation
		{mean(4.4, nan, 2, 3.4), false, Missed},
		{mean(3.4, 0.5, 2, nan), false, ""},
		{mean(nan, nan, 0, 3.4), false, ""},
	} {
		table := &Table{Columns: []Column{{Key: "error", Kind: Numbers, MoreIsBetter: c.more, Format: Format{"%.2f", "%.2f", "%.1f"}}}, Records: []Record{{c.v}}}
		if got := table.Verdict(table.Records[0], "error"); got != c.want {
			t.Errorf("%+v, more is better %v: %q, want %q", c.v, c.more, got, c.want)
		}
		if table.OtherData = true; c.want != "" {
			c.want = OtherData
		}
		if got := table.Verdict(table.Records[0], "error"); got != c.want {
			t.Errorf("%+v on other data: %q, want %q", c.v, got, c.want)
		}
		table.Columns[0].Format.Published = ""
		if got := table.Verdict(table.Records[0], "error"); got != "" {
			t.Errorf("%+v without a printed figure: %q", c.v, got)
		}
	}
}

// The best of all stands for a table whose published figure is that of the paper's best.
func TestVerdictOfBest(t *testing.T) {
	table := &Table{Columns: []Column{{Key: "labels", Kind: Integers}, {Key: "auc", Kind: Numbers, MoreIsBetter: true, BestIsPublished: true, Format: Format{"%.1f", "", ""}}},
		Views: []View{{Show: []string{"labels", "auc"}}}}
	for i, auc := range []float64{math.NaN(), 80, 90, 90, 85} {
		table.Add(Integer(i), Number(auc).Beside(84.9))
	}
	if got := table.Grids()[0].Verdicts; len(got) != 1 || got[[2]int{2, 1}] != Better {
		t.Errorf("got %v", got)
	}
	if got := table.Tally(); got != (Tally{Better: 1}) || got.String() != "1 better" {
		t.Errorf("got %+v, %s", got, got)
	}
}

// A verdict with a reason takes the place of the rule, but for other data, and its reason is printed once.
func TestJudged(t *testing.T) {
	const why = "the paper does not say how it chose"
	table := &Table{Columns: []Column{{Key: "set"}, {Key: "error", Kind: Numbers, Format: Format{"%.1f", "", "%.1f"}}},
		Views: []View{{Show: []string{"set", "error"}}}, Notes: []string{"a note"}}
	for i, v := range []Value{Number(1).Beside(2).Judged(Differs, why), Number(2).Beside(2).Judged(Differs, why),
		Number(2).Beside(2).Judged(Fitted, "by all labels"), Number(2).Beside(2), Number(2).Judged(Fitted, "by all labels")} {
		table.Add(Text(string(rune('a'+i))), v)
	}
	if got, want := table.Tally().String(), "1 reached, 2 differs, 1 fitted"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := table.Remarks(), []string{"differs: " + why, "fitted: by all labels", "a note"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	table.OtherData = true
	if got, want := table.Tally().String(), "4 other data"; got != want || len(table.Remarks()) != 1 {
		t.Errorf("got %s and %q, want %s", got, table.Remarks(), want)
	}
}

func TestTally(t *testing.T) {
	table := classifiers()
	// 53.7 and 50.00 ± 1.00, 35.8 and 30.13, 53.4 and 40, 3.5 and 3.00, without draws.
	if got, want := table.Tally().String(), "4 better"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	table.Records[0][5].Number, table.Records[1][5].Number = 60, 35.75
	if got, want := table.Tally().String(), "1 reached, 2 better, 1 missed"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := (&Table{}).Tally().String(); got != "no published figure" {
		t.Error(got)
	}
}
