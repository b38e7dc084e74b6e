package bigfit

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/labeling"
)

// SuspectSettings of [Model.Suspects]. A nil *SuspectSettings and zero fields are the defaults.
type SuspectSettings struct {
	// Folds in which the labels are left out, at least 2. Default: the answers for the labels that
	// the fit held out for its choices or its probabilities. Of a model without them labels are left
	// out one at a time where there are formulas for it, of harmonic, lgc, tikhonov and poisson,
	// else in 10 folds.
	Folds int
	// Count is the most suspects that are listed. Default: all.
	Count int
}

// Suspect is a label that may be wrong.
type Suspect struct {
	Point            int    // its number among the points of the model
	ID               string // its id, "" if the points of the model have numbers only
	Given, Suggested string // classes by name, integers as their digits
	// Score is 1 − p of the given class, by a model that did not know the label, in (0, 1].
	Score float64
}

// Suspects lists the labels of a model of classes that disagree with the answers of the model when
// it does not know them, by score, the largest first. Labels that are alone in their part of the
// graph are not judged.
//
// The model must hold its points and labels: one of [Fit] or [Model.Update] does, and one that
// was loaded if [Load] says so. With the answers of the fit Suspects takes no time; else it fits the
// model once for each fold, or takes the formulas of lgc and its relatives.
func (m *Model) Suspects(ctx context.Context, s *SuspectSettings) (suspects []Suspect, err error) {
	defer plain(&err)
	if s == nil {
		s = &SuspectSettings{}
	}
	switch {
	case s.Folds < 0 || s.Folds == 1:
		return nil, fmt.Errorf("bigfit: Folds is %d; it must be at least 2, or 0 for the default", s.Folds)
	case s.Count < 0:
		return nil, fmt.Errorf("bigfit: Count is %d; it must be at least 1, or 0 for all", s.Count)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	p := m.run.pipeline()
	l, in, short := m.labeled(ctx, p, false)
	if !Usable(short) {
		return nil, short
	}

	// Without answers of the fit, labels are left out in turn, and the model is asked for their points.
	found := labeling.SuspectsOfFit(m.model, in.Targets)
	if found == nil || s.Folds > 0 {
		found, err = labeling.Planner{Pipeline: p}.Suspects(ctx, l, in, nil, s.Folds)
		if !Usable(err) {
			return nil, err
		}
	}

	list := found.List
	if s.Count > 0 && len(list) > s.Count {
		list = list[:s.Count]
	}
	t := in.Targets
	rows := labeling.RowsOf(m.model, t.Len)
	ids := m.ids()
	out := make([]Suspect, len(list))
	for i, at := range list {
		given := data.ClassName(t.Classes, t.Names, at.Given)
		suggested := data.ClassName(t.Classes, t.Names, at.Suggested)
		id := idOf(ids, at.Point)
		if rows != nil {
			at.Point = int(rows[at.Point])
		}
		out[i] = Suspect{Point: at.Point, ID: id, Given: given, Suggested: suggested, Score: at.Score}
	}
	return out, errors.Join(short, err)
}
