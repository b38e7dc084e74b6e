package summary

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/pipeline"
)

// Best stands in [NewComparison] for the name of the model with the best mean.
const Best = "best"

// Comparison is the output of compare.
type Comparison struct {
	Metric selection.Criterion `json:"metric"`
	// Unit of the measurements: "%" of shares, or empty.
	Unit  string `json:"unit,omitempty"`
	Done  int    `json:"done"` // fits of Total
	Total int    `json:"total"`
	// Table has a record for each model and number of labels.
	Table    *results.Table     `json:"table"`
	Outcomes []ComparedFit      `json:"fits"`
	Times    []ModelTime        `json:"times"` // of the fits of each model
	Labels   *data.LabelSummary `json:"labels,omitempty"`
	Notes    []string           `json:"notes,omitempty"`
	Warnings []string           `json:"warnings,omitempty"` // of the input
}

// ComparedFit is the outcome of a model on a split.
type ComparedFit struct {
	Model   string            `json:"model"`
	Split   int               `json:"split"`
	Labels  int               `json:"labels"`
	Value   metrics.Number    `json:"value"` // in the unit of the table
	Setting selection.Setting `json:"setting"`
	Untuned bool              `json:"untuned,omitempty"`
	Seconds float64           `json:"seconds"`
	Fault   string            `json:"fault,omitempty"`
	// Unconverged tells that Fault is a fit that did not converge; Value is of what was
	// reached.
	Unconverged bool `json:"unconverged,omitempty"`
}

// NewComparison makes the table of a comparison. In each group of splits every model is
// compared with one of them, by name, or with the best.
func NewComparison(r *selection.Compared, splits *pipeline.Splits, against string) *Comparison {
	s := &Comparison{Metric: r.Criterion, Done: r.Done, Total: r.Total, Notes: slices.Clone(splits.Notes)}
	if r.Criterion != selection.RMSECriterion {
		s.Unit = "%"
	}
	s.Table = s.newTable(r, splits)
	for g := range splits.Groups {
		s.addGroup(r, &splits.Groups[g], against)
	}
	s.Notes = append(s.Notes, faultNotes(r)...)
	s.Table.Notes = append(slices.Clone(s.Notes), "difference: the model minus the one against, mean "+
		"over the splits ± its standard error; p: paired t-test, of each pair alone")

	// After an interrupt outcomes of fits that were not made are nil; the others are listed with
	// their settings.
	for _, x := range r.Competitors {
		time := ModelTime{Model: x.Name}
		for g := range splits.Groups {
			for _, at := range splits.Groups[g].Of() {
				if o := x.Outcomes[at]; o != nil {
					f := ComparedFit{Model: x.Name, Split: at, Labels: splits.Groups[g].Labels,
						Value:   metrics.Number(math.NaN()),
						Setting: x.Settings[o.Setting], Untuned: o.Untuned, Seconds: o.Seconds,
						Fault: o.Fault, Unconverged: o.Usable}
					if o.Value != nil {
						f.Value = metrics.Number(s.scale() * *o.Value)
					}
					s.Outcomes = append(s.Outcomes, f)
					time.Seconds += f.Seconds
				}
			}
		}

		s.Times = append(s.Times, time)
	}

	return s
}

// scale returns the factor from measurements to the unit of the table.
func (s *Comparison) scale() float64 {
	if s.Unit == "%" {
		return 100
	}
	return 1
}

// Keys of columns.
const (
	comparedMean  = "mean"
	comparedModel = "model"
	comparedGroup = "group"
)

// newTable returns the table without records.
func (s *Comparison) newTable(r *selection.Compared, splits *pipeline.Splits) *results.Table {
	digits := "%.2f"
	if s.Unit == "" {
		digits = "%.5g"
	}
	// The keys are those of the JSON and CSV; names head the printed tables, and PrintOnly columns
	// exist for them alone.
	t := &results.Table{Columns: []results.Column{
		{Key: "labels", Name: "labels", Kind: results.Integers},
		{Key: "per_class", Name: "labels of each class", Kind: results.Integers, OmitEmpty: true},
		{Key: comparedModel, Name: "model"},
		{Key: comparedMean, Deviation: "std", Name: r.Criterion.String(), Unit: s.Unit, Kind: results.Numbers,
			Format: results.Format{Number: digits, Deviation: digits}},
		{Key: "splits", Name: "splits", Kind: results.Integers},
		{Key: "failed", Name: "failed", Kind: results.Integers},
		{Key: "against", Name: "against"},
		{Key: "difference", Deviation: "difference_se", Name: "difference", Unit: s.Unit,
			Kind: results.Numbers, Format: results.Format{Number: "%+" + digits[1:], Deviation: digits}},
		{Key: "wins", Kind: results.Integers},
		{Key: "ties", Kind: results.Integers},
		{Key: "losses", Kind: results.Integers},
		{Key: "p", Name: "p", Kind: results.Numbers, Format: results.Format{Number: "%.2g"}},
		{Key: comparedGroup, Name: "labels", PrintOnly: true},
		{Key: "record", Name: "wins/ties/losses", PrintOnly: true},
	}}

	for _, x := range r.Competitors {
		t.Column(comparedModel).Order = append(t.Column(comparedModel).Order, x.Name)
	}
	what := r.Criterion.String()
	if s.Unit != "" {
		what += " in " + s.Unit
	}
	caption := fmt.Sprintf("%s of the points without a label in the split, mean ± standard deviation "+
		"over the splits", what)
	label := "compare"
	axis := "labels"
	if !slices.ContainsFunc(splits.Groups, func(g pipeline.SplitGroup) bool { return g.PerClass == 0 }) {
		axis = "per_class"
	}
	// Several numbers of labels make a curve and a matrix of models; one number makes bars.
	if len(splits.Groups) > 1 {
		t.Views = append(t.Views, results.View{Caption: caption, Rows: comparedGroup, Across: comparedModel,
			Corner: "labels", Show: []string{comparedMean}, Label: "compare",
			MarkLeast: !r.Criterion.Larger(), MarkMost: r.Criterion.Larger()})
		t.Figures = append(t.Figures, results.Figure{Title: r.Criterion.String() + " by number of labels",
			Caption: "Mean over the splits; the bars are one standard deviation.",
			X:       axis, By: comparedModel, Value: comparedMean, LogX: true})
		caption = "Paired differences"
		label = "compare-differences"
	} else {
		t.Figures = append(t.Figures, results.Figure{Title: r.Criterion.String() + " by model",
			Caption: "Mean over the splits; the lines are one standard deviation.", By: comparedModel, Value: comparedMean})
	}

	// The column of failures is shown only where there is one.
	show := []string{comparedGroup, comparedModel, comparedMean, "difference", "against", "record",
		"p", "splits"}
	if slices.ContainsFunc(r.Competitors,
		func(x selection.Competitor) bool { return slices.ContainsFunc(x.Outcomes, failed) }) {
		show = append(show, "failed")
	}
	t.Views = append(t.Views, results.View{Caption: caption, Show: show, Label: label, Rows: comparedGroup,
		Mark: comparedMean, MarkLeast: !r.Criterion.Larger(), MarkMost: r.Criterion.Larger()})
	return t
}

// failed tells whether a fit has no usable result.
func failed(o *selection.Outcome) bool { return o != nil && o.Fault != "" && !o.Usable }

// addGroup adds the records of a group of splits.
func (s *Comparison) addGroup(r *selection.Compared, g *pipeline.SplitGroup, against string) {
	values := make([][]float64, len(r.Competitors))
	for i, x := range r.Competitors {
		values[i] = x.Values(g.Of())
		for j := range values[i] {
			values[i][j] *= s.scale()
		}
	}

	// Every group has its own best model.
	reference := slices.IndexFunc(r.Competitors,
		func(x selection.Competitor) bool { return x.Name == against })
	if reference < 0 {
		reference = bestOf(values, r.Criterion.Larger())
	}
	group := strconv.Itoa(g.Labels)
	if g.PerClass > 0 {
		group = fmt.Sprintf("%d a class", g.PerClass)
	}
	for i, x := range r.Competitors {
		// A failed fit has no value; the mean is over the splits that worked, whose number stands
		// beside it.
		known := slices.DeleteFunc(slices.Clone(values[i]), math.IsNaN)
		mean := results.Mean(known)
		if len(known) == 0 {
			mean = results.Value{Text: "–", Number: math.NaN(), Deviation: math.NaN(), Published: math.NaN()}
		}
		if len(known) == 1 {
			mean.Deviation = math.NaN()
		}
		fails := 0
		for _, at := range g.Of() {
			if failed(x.Outcomes[at]) {
				fails++
			}
		}

		// Differences are paired by split: splits vary more than models, and pairing takes that
		// part out.
		p := metrics.NewPaired(values[i], values[reference], r.Criterion.Larger())
		difference, record := results.Value{Number: float64(p.Mean), Deviation: float64(p.StdErr),
			Published: math.NaN()}, fmt.Sprintf("%d/%d/%d", p.Wins, p.Ties, p.Losses)
		chance := results.Number(float64(p.P))
		if math.IsNaN(float64(p.P)) {
			chance.Text = "–"
		}
		// A model compared with itself says nothing.
		if i == reference || p.Pairs == 0 {
			difference.Text = "–"
			record = "–"
			chance.Text = "–"
		}

		s.Table.Add(results.Integer(g.Labels), results.Integer(g.PerClass), results.Text(x.Name), mean,
			results.Integer(len(known)), results.Integer(fails),
			results.Text(r.Competitors[reference].Name), difference, results.Integer(p.Wins),
			results.Integer(p.Ties), results.Integer(p.Losses), chance,
			results.Text(group), results.Text(record))
	}
}

// bestOf returns the list of the best mean among those with the most values.
func bestOf(values [][]float64, larger bool) int {
	best := 0
	most := -1
	bestMean := 0.0
	// A model that failed on hard splits must not win by the easy ones, so the number of values
	// counts first.
	for i, list := range values {
		known := slices.DeleteFunc(slices.Clone(list), math.IsNaN)
		mean, _ := results.MeanStd(known)
		if larger {
			mean = -mean
		}
		if len(known) > most || len(known) == most && mean < bestMean {
			best = i
			most = len(known)
			bestMean = mean
		}
	}

	return best
}

// faultNotes names the fits that failed, that did not converge, and those without a
// choice, by model and reason.
func faultNotes(r *selection.Compared) []string {
	var out []string
	for _, x := range r.Competitors {
		kinds := []string{"failed", "did not converge, and their values are of what was reached",
			"had too few labels to choose settings by, and took the fixed ones"}
		splits := make([][]string, len(kinds))
		reasons := make([][]string, len(kinds))
		// One note a model and kind; the reasons of fits are mostly the same, so one of them is
		// quoted.
		add := func(kind, split int, reason string) {
			splits[kind] = append(splits[kind], strconv.Itoa(split))
			if !slices.Contains(reasons[kind], reason) {
				reasons[kind] = append(reasons[kind], reason)
			}
		}

		for _, o := range x.Outcomes {
			switch {
			case o == nil:
				continue
			case failed(o):
				add(0, o.Split, o.Fault)
			case o.Fault != "":
				add(1, o.Split, o.Fault)
			}
			if o.Untuned {
				add(2, o.Split, cmp.Or(x.Settings[o.Setting].String(), "the defaults"))
			}
		}

		for kind, list := range splits {
			if len(list) == 0 {
				continue
			}
			text := fmt.Sprintf("%s: %d of %d splits (%s) %s: %s", x.Name, len(list), len(x.Outcomes),
				strings.Join(list, ", "), kinds[kind], reasons[kind][0])
			if len(reasons[kind]) > 1 {
				text += "; others for similar reasons"
			}
			out = append(out, text)
		}
	}

	return out
}

// String is the table as Markdown.
func (s *Comparison) String() string {
	text := s.Table.Markdown()
	if s.Done < s.Total {
		text = fmt.Sprintf("%d of %d fits done\n\n%s", s.Done, s.Total, text)
	}
	return text
}

// Chosen lists how often each setting of a model was chosen, for models with a choice.
func (s *Comparison) Chosen() []ChosenSetting {
	var out []ChosenSetting
	at := map[string]int{}
	for _, f := range s.Outcomes {
		if f.Fault != "" && !f.Unconverged {
			continue
		}
		// Settings hold maps, which cannot be keys; their text can.
		key := fmt.Sprintf("%s %d %s", f.Model, f.Labels, f.Setting)
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, ChosenSetting{Model: f.Model, Labels: f.Labels, Setting: f.Setting})
		}
		out[i].Count++
	}

	return out
}

// ChosenSetting is a setting that was fitted on Count splits.
type ChosenSetting struct {
	Model         string
	Labels, Count int
	Setting       selection.Setting
}

// ModelTime is the sum of the times of the choices and fits of a model.
type ModelTime struct {
	Model   string  `json:"model"`
	Seconds float64 `json:"seconds"`
}
