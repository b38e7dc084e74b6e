package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// A learner is what bigfit models --json tells of one.
type learner struct {
	Name, Help, Source, Scores, Learns, Needs, Formula string
	Params                                             []parameter
	Graph                                              []parameter `json:"graph_params"`
}

// A parameter of a learner.
type parameter struct {
	Name, Doc, Kind, Default string
	Choices, Grid            []string
	Range                    *struct{ Text string }
}

// addModels adds a page for each learner, and the list of them.
func (s *site) addModels(ctx context.Context) error {
	text, err := s.run(ctx, "models", "--json")
	if err != nil {
		return err
	}
	var list []learner
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("bigfit models --json: %w", err)
	}

	var index strings.Builder
	index.WriteString("# Learners\n\nMade from `bigfit models --json`. [Models](site:reference/models.html) compares them.\n\n")
	index.WriteString("| model | what it does | learns |\n|---|---|---|\n")
	names := map[string]bool{}
	for i := range list {
		l := &list[i]
		names[l.Name] = true
		fmt.Fprintf(&index, "| [`%s`](site:reference/learners/%s.html) | %s | %s |\n", l.Name, l.Name, escaped(l.Help), spaced(l.Learns))
	}
	if err := s.addReference("Learners", "index", index.String()); err != nil {
		return err
	}
	for i := range list {
		if err := s.addReference("Learners", list[i].Name, list[i].markdown(names)); err != nil {
			return err
		}
	}
	return nil
}

// spaced is a list of names as a reader writes it.
func spaced(list string) string { return strings.ReplaceAll(list, ",", ", ") }

// markdown is the page of a learner.
func (l *learner) markdown(names map[string]bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", l.Name, sentence(l.Help, names))
	if l.Formula != "" {
		b.WriteString(block("formula", strings.Split(l.Formula, "\n")))
	}
	fmt.Fprintf(&b, "```sh\nbigfit fit --model %s X.npy y.npy -o model.npz\n```\n\n", l.Name)
	b.WriteString("| | |\n|---|---|\n")
	for _, row := range [][2]string{{"learns", spaced(l.Learns)}, {"needs", spaced(l.Needs)}, {"scores", l.Scores}, {"source", l.Source}} {
		if row[1] != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", row[0], escaped(row[1]))
		}
	}
	b.WriteString("\n")
	if len(l.Params) > 0 {
		b.WriteString("## Parameters\n\n" + parameters(l.Params))
	}
	if len(l.Graph) > 0 {
		b.WriteString("## Parameters of the graph\n\n" + parameters(l.Graph))
	}
	return b.String()
}

// parameters is a table of them.
func parameters(list []parameter) string {
	var b strings.Builder
	b.WriteString("| flag | meaning | values | default |\n|---|---|---|---|\n")
	for _, p := range list {
		values := p.Kind
		if p.Range != nil {
			values += ", " + p.Range.Text
		}
		if len(p.Choices) > 0 {
			values = strings.Join(p.Choices, ", ")
		}
		standard := p.Default
		if len(p.Grid) > 0 {
			standard += " (grid of tune: " + strings.Join(p.Grid, ", ") + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code("--"+p.Name), escaped(p.Doc), escaped(values), escaped(standard))
	}
	return b.String() + "\n"
}

// sentence is a help as a sentence of Markdown: with a capital, unless it begins with the name of a learner.
func sentence(help string, names map[string]bool) string {
	help = strings.TrimSuffix(help, ".")
	first, rest, _ := strings.Cut(help, " ")
	if names[first] {
		return fmt.Sprintf("[%s](site:reference/learners/%s.html) %s", code(first), first, escaped(rest))
	}
	if help == "" {
		return ""
	}
	return escaped(strings.ToUpper(help[:1]) + help[1:])
}
