// Package summary describes what commands made, as one JSON object and as lines of text.
package summary

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
)

// Model describes a model.
type Model struct {
	models.Summary
	name   string
	output models.Output
}

// Of describes a model.
func Of(m models.Model) Model {
	return Model{m.Summary(), m.Name(), m.Output()}
}

// fields returns the fields of the JSON object.
func (s Model) fields() map[string]any {
	out := map[string]any{"model": s.name, "labeled": s.Labeled, "settings": s.Values}
	// Facts are the results that each kind of model has beside the common ones.
	for _, f := range s.Facts {
		out[f.Key] = f.Value
	}
	if s.output.Classes != nil {
		out["classes"] = data.ClassList(s.output.Classes, s.output.Names)
	}
	if s.output.Labels != nil {
		out["labels"] = data.ClassList(s.output.Labels, s.output.Names)
	}
	if s.output.Kind == models.OutputValues && s.output.Names != nil {
		out["values"] = s.output.Names
	}
	if s.Unreached > 0 {
		out["unreached_points"] = s.Unreached
	}
	if s.Fallback != nil {
		out["fallback_class"] = s.fallback()
	}
	if s.Summary.Warnings != nil {
		// The JSON names flags as the lines on stderr do.
		warnings := make([]string, len(s.Summary.Warnings))
		for i, text := range s.Summary.Warnings {
			warnings[i] = param.Show(text, param.Flag)
		}
		out["warnings"] = warnings
	}
	return out
}

// fallback is the class of points in components without a label: its name, or its
// integer.
func (s Model) fallback() any {
	if s.output.Names != nil {
		return s.output.Names[*s.Fallback]
	}
	return *s.Fallback
}

// MarshalJSON writes one object.
func (s Model) MarshalJSON() ([]byte, error) { return json.Marshal(s.fields()) }

// String is a short line about the model: its name, the labels and the expected error.
func (s Model) String() string {
	return strings.Join(slices.Concat(s.head(), s.labels(), nonempty(s.Expected)), ", ")
}

// Long is the line with all that the learner says of the model.
func (s Model) Long() string {
	return strings.Join(append(s.head(), nonempty(s.Text)...), ", ")
}

// head begins a line about the model.
func (s Model) head() []string {
	out := []string{s.name}
	if s.Labeled > 0 {
		out = append(out, enum.Count(s.Labeled, "point")+" labeled")
	}
	if n := len(s.output.Classes); n > 0 {
		out = append(out, fmt.Sprintf("%d classes", n))
	}
	return out
}

// labels says how many labels a model of several labels a point has, in a list; none of other models.
func (s Model) labels() []string {
	if len(s.output.Labels) == 0 {
		return nil
	}
	return []string{enum.Count(len(s.output.Labels), "label")}
}

// nonempty returns a list of the text, without the text if it is empty.
func nonempty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// Fit is the output of fit.
type Fit struct {
	Model
	Points               int
	Components, Isolated int // of the graph, if there was one
	Labels               *data.LabelSummary
	Warnings             []string       // of the input and of the fit
	Chosen               *models.Chosen // values that were not given; nil for none
	Why                  string         // a choice of the learner's, as models.Input has it
	pipeline.Measured                   // on the points with a label or value held out
}

// MarshalJSON writes one object.
func (s Fit) MarshalJSON() ([]byte, error) { return json.Marshal(s.All()) }

// All returns the fields of the JSON object.
func (s Fit) All() map[string]any {
	out := s.fields()
	out["points"] = s.Points
	// Parts that a fit does not have are left out rather than written as null.
	if s.Labels != nil {
		out["labels"] = s.Labels
	}
	if s.Warnings != nil {
		out["warnings"] = s.Warnings
	}
	if s.Chosen != nil {
		out["chosen"] = s.Chosen
	}
	if s.Why != "" {
		out["why"] = s.Why
	}

	if s.Components > 0 {
		out["components"] = s.Components
	}
	if s.Isolated > 0 {
		out["isolated_points"] = s.Isolated
	}
	if s.Error != nil {
		out["error"] = *s.Error
	}
	if s.RMSE != nil {
		out["rmse"] = *s.RMSE
	}
	if s.MultiLabel != nil {
		out["multilabel"] = s.MultiLabel
	}
	return out
}

// String is a short line: the name of the model, the labels, the expected error, and the error on the
// points whose labels were held out.
func (s Fit) String() string {
	parts := append(s.head(), s.labels()...)
	switch {
	case s.Expected != "":
		parts = append(parts, s.Expected)
	case s.Chosen != nil && s.Chosen.Score != nil:
		parts = append(parts, "cross-validated "+s.Chosen.Measure())
	}
	return strings.Join(parts, ", ") + s.tail()
}

// Long is the line with all that is known of the model, its choices and its graph.
func (s Fit) Long() string {
	text := strings.Join(append(s.head(), nonempty(s.Text)...), ", ")
	if s.Chosen != nil {
		text += "; " + s.Chosen.String()
	}
	if s.Why != "" {
		text += "; " + s.Why
	}
	if s.Components > 0 {
		text += fmt.Sprintf("; %s, %s", enum.Count(s.Components, "component"),
			enum.Count(s.Isolated, "isolated point"))
	}
	return text + s.tail()
}

// head begins a line about the fit.
func (s Fit) head() []string {
	parts := []string{s.name, fmt.Sprintf("%d of %d points labeled", s.Labeled, s.Points)}
	// A model fitted to few labels may have seen only a part of the classes.
	if all := len(s.output.Classes); all > 0 {
		used := all
		if s.Labels != nil && s.Labels.Used != nil {
			used = s.Labels.Used.Classes
		}
		text := fmt.Sprintf("%d classes", all)
		if used < all {
			text = fmt.Sprintf("%d of %s", used, text)
		}
		parts = append(parts, text)
	}
	return parts
}

// tail ends a line about the fit with what a user must know.
func (s Fit) tail() string {
	text := ""
	// Points that no label reaches get the most frequent class.
	if s.Unreached > 0 {
		text += "; " + enum.Count(s.Unreached, "point") + " in components without a label got "
		if s.Fallback != nil {
			text += fmt.Sprintf("class %v, the most frequent one", s.fallback())
		} else {
			text += "the mean value"
		}
	}

	if s.Error != nil {
		text += fmt.Sprintf("; error on the points without a label %.2f %%", *s.Error)
	}
	if s.RMSE != nil {
		text += fmt.Sprintf("; RMSE on the points without a value %.6g", *s.RMSE)
	}
	if s.MultiLabel != nil {
		text += "; of the points without labels: " + s.MultiLabel.Summary()
	}
	return text
}
