// Package summary describes what commands made, as one JSON object and as lines of text.
package summary

import (
	"encoding/json"
	"fmt"

	"github.com/bigfit/bigfit/data"
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
		out["labels"] = s.output.Labels
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

// String is a line about the model.
func (s Model) String() string {
	text := s.name + ", "
	if s.Labeled > 0 {
		text += fmt.Sprintf("%d points labeled, ", s.Labeled)
	}
	if len(s.output.Classes) > 0 {
		text += fmt.Sprintf("%d classes, ", len(s.output.Classes))
	}
	return text + s.Text
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
	pipeline.Measured                   // on the points with a label or value held back
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

func (s Fit) String() string {
	text := fmt.Sprintf("%s, %d of %d points labeled, ", s.name, s.Labeled, s.Points)
	// A model fitted to few labels may have seen only a part of the classes.
	if all := len(s.output.Classes); all > 0 {
		used := all
		if s.Labels != nil && s.Labels.Used != nil {
			used = s.Labels.Used.Classes
		}
		if used < all {
			text += fmt.Sprintf("%d of ", used)
		}
		text += fmt.Sprintf("%d classes, ", all)
	}

	text += s.Text
	if s.Chosen != nil {
		text += "; " + s.Chosen.String()
	}
	if s.Why != "" {
		text += "; " + s.Why
	}
	if s.Components > 0 {
		text += fmt.Sprintf("; %d components, %d isolated points", s.Components, s.Isolated)
	}

	// Points that no label reaches get the most frequent class, which a user should know.
	if s.Unreached > 0 {
		text += fmt.Sprintf("; %d points in components without a label got ", s.Unreached)
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
