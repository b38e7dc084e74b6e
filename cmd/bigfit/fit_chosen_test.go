package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/selection"
)

// chosenFit holds those fields of the JSON of fit that describe a choice of settings.
type chosenFit struct {
	Model    string
	Settings models.Values
	Warnings []string
	Chosen   *models.Chosen
}

func parseChosen(t *testing.T, out string) chosenFit {
	t.Helper()
	var c chosenFit
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	return c
}

// fit needs no settings of any model, and says what it chose: values of the documented
// grid, with which a fit makes the same file.
func TestFitNeedsNoSettings(t *testing.T) {
	intoFew(t)
	for _, l := range all.Learners {
		t.Run(l.Info().Name, func(t *testing.T) {
			info, y := l.Info(), "few.npy"
			switch {
			case info.Learns.Has(models.LearnsLabels):
				y = "Y.npy"
			case !info.Learns.Has(models.LearnsClasses) && info.Learns.Has(models.LearnsValues):
				y = "v.npy"
			}
			args := []string{"fit", "--model", info.Name, "X.npy", y, "-q", "--json"}
			got := parseChosen(t, succeed(t, append(args, "-o", "m.npz")...))
			open := selection.Open(l, nil)
			if (open == nil) != (got.Chosen == nil) {
				t.Errorf("chosen %v of the grid %v", got.Chosen, open)
			}
			if open == nil {
				return
			}
			for name, values := range open.Axes {
				v := got.Chosen.Values[name]
				known := false
				for _, of := range values {
					known = known || of == v || models.Values{"x": of}.Float("x") == models.Values{"x": v}.Float("x")
				}
				if !known {
					t.Errorf("%s is %s, the grid %v", name, v, values)
				}
				args = append(args, "--"+name, v)
			}
			if (got.Chosen.Settings > 0) == info.Learns.Has(models.LearnsInside) {
				t.Errorf("by %d settings", got.Chosen.Settings)
			}
			// A calibration by the cross-validation that chose is another one than by folds of its own.
			plain := []string{"fit", "--model", info.Name, "X.npy", y, "-q", "--json", "--calibrate", "none", "-o", "m.npz"}
			succeed(t, plain...)
			best := content(t, "m.npz")
			args = append(args, "--calibrate", "none")
			if again := parseChosen(t, succeed(t, append(args, "-o", "again.npz")...)); again.Chosen != nil || content(t, "again.npz") != best {
				t.Errorf("another model with the values given: %v", again.Chosen)
			}
		})
	}
}

// With few labels a fixed rule chooses, and says so.
func TestFitChoosesByRule(t *testing.T) {
	intoFew(t)
	o := bigfit(t, "fit", "--model", "lapsvm", "X.npy", "few.npy", "--labels", "9", "--gamma-i", "0.001", "-o", "m.npz")
	if o.code != 0 || !strings.Contains(o.stderr, "gamma-a 0.01 by a fixed rule: there are too few labels for cross-validation") {
		t.Errorf("%+v", o)
	}
}

// Warnings of a fit are on stderr and in the result.
func TestFitWarns(t *testing.T) {
	intoFew(t)
	o := bigfit(t, "fit", "--model", "eigenmap", "X.npy", "few.npy", "--eigenvectors", "2", "-o", "m.npz", "--json")
	const want = "2 eigenvectors for 3 classes"
	if got := parseChosen(t, o.out); o.code != 0 || !strings.Contains(o.stderr, "warning: "+want) || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], want) {
		t.Errorf("%+v", o)
	}
}
