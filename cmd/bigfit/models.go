package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

func (a *app) modelsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "models [NAME]",
		Short: "List the models, or the parameters of one",
		Long: `List the models that bigfit fit knows, or all about one of them: what it learns,
what it needs, and its parameters with their ranges and defaults. The grid of a
parameter holds the values that tune compares by default, and fit where the default
is by cross-validation. --json is for programs.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: shell.CompleteModels,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				var list []learnerInfo
				for _, l := range all.Learners {
					list = append(list, describeLearner(l))
				}
				return a.Print(list, shell.DescribeLearners())
			}

			l, err := shell.FindLearner(args[0])
			if err != nil {
				return err
			}
			info := describeLearner(l)
			return a.Print(info, info.String())
		},
	}
}

// learnerInfo is all that a learner says of itself.
type learnerInfo struct {
	models.Info
	Params []models.Param `json:"params"`
	// Graph holds the parameters of the graph, if the learner needs one.
	Graph []models.Param `json:"graph_params,omitempty"`
}

func describeLearner(l models.Learner) learnerInfo {
	info := l.Info()
	return learnerInfo{Info: info, Params: l.Params(), Graph: pipeline.GraphParamsOf(&info)}
}

// String is the description as text.
func (d learnerInfo) String() string {
	var b strings.Builder
	b.WriteString(d.about())
	for _, list := range d.lists("parameters", "parameters of the graph") {
		fmt.Fprintf(&b, "\n%s:\n", list.title)
		for i := range list.params {
			fmt.Fprintf(&b, "  --%-18s %s\n", list.params[i].Name, fullUsage(&list.params[i]))
		}
	}
	return b.String()
}

// about says what the learner is.
func (d learnerInfo) about() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.Name, d.Help)
	for line := range strings.Lines(d.Formula) {
		fmt.Fprintf(&b, "    %s\n", strings.TrimSuffix(line, "\n"))
	}
	if d.Source != "" {
		fmt.Fprintf(&b, "  after %s\n", d.Source)
	}
	fmt.Fprintf(&b, "  scores: %s\n", d.Scores)
	learns, _ := d.Learns.MarshalText()
	needs, _ := d.Needs.MarshalText()
	fmt.Fprintf(&b, "  learns %s; needs %s\n", strings.ReplaceAll(string(learns), ",", ", "),
		strings.ReplaceAll(string(needs), ",", ", "))
	return b.String()
}

// paramList is parameters under a title.
type paramList struct {
	title  string
	params []models.Param
}

// lists returns the parameters of the learner and of the graph, as far as there are any.
func (d learnerInfo) lists(own, graph string) []paramList {
	return slices.DeleteFunc([]paramList{{own, d.Params}, {graph, d.Graph}},
		func(l paramList) bool { return len(l.params) == 0 })
}

// fullUsage is the help text of a parameter with its range, its grid and where it matters.
func fullUsage(p *models.Param) string {
	text := shell.UsageOf(p)
	// The help of a flag is one line; here the range, the grid and the condition are told too.
	if p.Range != nil {
		text += "; " + p.Range.String()
	}
	if len(p.Grid) > 0 {
		text += "; grid " + strings.Join(p.Grid, ", ")
	}
	if p.Few != "" {
		text += "; with few labels " + p.Few
	}
	if p.Only != nil {
		text += "; for " + p.Only.String()
	}
	return text
}
