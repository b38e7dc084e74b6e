package main

import (
	"encoding/json"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// modelSummary describes a model.
type modelSummary struct {
	models.Summary
	name   string
	output models.Output
}

func summarize(m models.Model) modelSummary {
	return modelSummary{m.Summary(), m.Name(), m.Output()}
}

// fields are those of the JSON object.
func (s modelSummary) fields() map[string]any {
	out := map[string]any{"model": s.name, "labeled": s.Labeled, "settings": s.Values}
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
	return out
}

// fallback is the class of points in components without a label: its name, or its
// integer.
func (s modelSummary) fallback() any {
	if s.output.Names != nil {
		return s.output.Names[*s.Fallback]
	}
	return *s.Fallback
}

// MarshalJSON writes one object.
func (s modelSummary) MarshalJSON() ([]byte, error) { return json.Marshal(s.fields()) }

// String is a line about the model.
func (s modelSummary) String() string {
	text := s.name + ", "
	if s.Labeled > 0 {
		text += fmt.Sprintf("%d points labeled, ", s.Labeled)
	}
	if len(s.output.Classes) > 0 {
		text += fmt.Sprintf("%d classes, ", len(s.output.Classes))
	}
	return text + s.Text
}

// fitSummary is the output of fit.
type fitSummary struct {
	modelSummary
	points               int
	components, isolated int // of the graph, if there was one
	labels               *data.LabelSummary
	warnings             []string // of the input
	pipeline.Measured             // on the points whose label or value was held back
}

// MarshalJSON writes one object.
func (s fitSummary) MarshalJSON() ([]byte, error) { return json.Marshal(s.all()) }

// all are the fields of the JSON object.
func (s fitSummary) all() map[string]any {
	out := s.fields()
	out["points"] = s.points
	if s.labels != nil {
		out["labels"] = s.labels
	}
	if s.warnings != nil {
		out["warnings"] = s.warnings
	}
	if s.components > 0 {
		out["components"] = s.components
	}
	if s.isolated > 0 {
		out["isolated_points"] = s.isolated
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

func (s fitSummary) String() string {
	text := fmt.Sprintf("%s, %d of %d points labeled, ", s.name, s.Labeled, s.points)
	if all := len(s.output.Classes); all > 0 {
		used := all
		if s.labels != nil && s.labels.Used != nil {
			used = s.labels.Used.Classes
		}
		if used < all {
			text += fmt.Sprintf("%d of ", used)
		}
		text += fmt.Sprintf("%d classes, ", all)
	}
	text += s.Text
	if s.components > 0 {
		text += fmt.Sprintf("; %d components, %d isolated points", s.components, s.isolated)
	}
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
