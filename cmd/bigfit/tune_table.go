package main

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/selection"
)

// pointValues are the values of listed flags that p stands for.
func pointValues(spec *modelSpec, p selection.Point) map[string]string {
	out := map[string]string{}
	for _, v := range []struct {
		name  string
		value float64
	}{{"gamma-a", p.GammaA}, {"gamma-i", p.GammaI}, {"gamma", p.Gamma}, {"alpha", p.Alpha}, {"eigenvectors", float64(p.Eigenvectors)},
		{"sigma", p.Sigma}, {"power", float64(p.Power)}, {"neighbors", float64(p.Neighbors)}} {
		if spec.uses(v.name) && (v.value != 0 || v.name == "gamma-i") {
			out[v.name] = number(v.value)
		}
	}
	return out
}

// notFits are flags of tune that are not for the fit of the best model.
var notFits = []string{"model", "points", "labels-file", "folds", "repeats", "metric", "output", "best", "threads", "memory-limit", "json", "quiet"}

// commandLine is the bigfit fit of p.
func (o *tuneOptions) commandLine(spec *modelSpec, p selection.Point, flags *pflag.FlagSet) string {
	words := []string{"bigfit fit --model", spec.name}
	if o.x != "" {
		words = append(words, "-X", shellWord(o.x))
	}
	words = append(words, "-y", shellWord(o.y))
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(listed, f.Name) && !slices.Contains(notFits, f.Name) && spec.checkFlags(map[string]bool{f.Name: true}) == nil {
			words = append(words, "--"+f.Name+"="+shellWord(strings.Trim(f.Value.String(), "[]")))
		}
	})
	values := pointValues(spec, p)
	if power := o.lists["power"].values; spec.base.eigenmap != nil && len(power) > 0 {
		values["power"] = power[0] // of the penalty, and no part of the grid
	}
	for _, name := range listed {
		if v, ok := values[name]; ok {
			words = append(words, "--"+name, v)
		}
	}
	out := o.out
	if out == "" {
		out = "model.npz"
	}
	return strings.Join(append(words, "-o", shellWord(out)), " ")
}

// shellWord quotes text for a shell, if it must.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("_-+=./:,@%", r)
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// number writes a number as short as it can be read back.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// tuneSummary is what tune prints and writes.
type tuneSummary struct {
	Model string `json:"model"`
	*selection.Result
	// Best is the command line that fits the first of Scores; empty after an
	// interrupt.
	Best string `json:"best,omitempty"`
}

// score writes a value of a criterion; shares are in percent.
func score(c selection.Criterion, v metrics.Number) string {
	switch {
	case math.IsNaN(float64(v)):
		return "–"
	case c == selection.RMSECriterion:
		return fmt.Sprintf("%.6g", float64(v))
	}
	return fmt.Sprintf("%.2f", 100*float64(v))
}

// String is the table, best first.
func (s tuneSummary) String() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %v by cross-validation, %d folds of %d labels", s.Model, s.Criterion, s.Folds, s.Labeled)
	if s.Repeats > 1 {
		fmt.Fprintf(&b, ", %d times", s.Repeats)
	}
	if s.Done < s.Total {
		fmt.Fprintf(&b, "; %d of %d fits done", s.Done, s.Total)
	}
	b.WriteString("\n\n")
	unit := " %"
	if s.Criterion == selection.RMSECriterion {
		unit = ""
	}
	spec, _ := findModel(s.Model)
	columns := slices.DeleteFunc(slices.Clone(listed), func(name string) bool {
		return !slices.ContainsFunc(s.Scores, func(p selection.Score) bool { return pointValues(spec, p.Point)[name] != "" })
	})
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")+"\t") }
	row(slices.Concat(columns, []string{s.Criterion.String() + unit, "± se", "folds"})...)
	faults := map[string]int{}
	unconverged := 0
	for _, p := range s.Scores {
		var cells []string
		values := pointValues(spec, p.Point)
		for _, name := range columns {
			v := values[name]
			if x, err := strconv.ParseFloat(v, 64); err == nil {
				v = strconv.FormatFloat(x, 'g', 6, 64)
			} else {
				v = "–"
			}
			cells = append(cells, v)
		}
		mean := score(s.Criterion, p.Mean)
		if p.Fault != "" {
			faults[p.Fault]++
			mean = "failed"
		}
		unconverged += p.Unconverged
		row(append(cells, mean, score(s.Criterion, p.StdErr), strconv.Itoa(p.Done))...)
	}
	w.Flush()
	for _, fault := range slices.Sorted(maps.Keys(faults)) {
		fmt.Fprintf(&b, "\n%d failed: %s\n", faults[fault], fault)
	}
	if unconverged > 0 {
		fmt.Fprintf(&b, "\n%d fits did not converge; scores are of what was reached\n", unconverged)
	}
	if s.Best != "" {
		fmt.Fprintf(&b, "\n%s\n", s.Best)
	}
	return b.String()
}
