package models

import (
	"fmt"
	"math"
	"strings"
)

// Chosen says how required parameters got values that were not given.
type Chosen struct {
	Values Values `json:"values"`
	// Settings is the number that cross-validation compared; 0 says that a fixed rule
	// chose, and Why.
	Settings int    `json:"settings"`
	Why      string `json:"why,omitempty"`
	// Folds and Repeats of the cross-validation, and the mean of its Criterion for the
	// choice with the standard error; NaN is null.
	Folds     int      `json:"folds,omitempty"`
	Repeats   int      `json:"repeats,omitempty"`
	Criterion string   `json:"metric,omitempty"`
	Score     *float64 `json:"score,omitempty"`
	StdErr    *float64 `json:"std_err,omitempty"`
	// Ends names the parameters with the smallest or the largest value of the grid:
	// values beyond may be better.
	Ends []string `json:"ends,omitempty"`
	// HeldOut has the answers of the choice for the labels that cross-validation held out; nil if it
	// kept none.
	HeldOut *HeldOut `json:"-"`
}

// String says what was chosen, and how, in one line.
func (c *Chosen) String() string {
	if c.Settings == 0 {
		return fmt.Sprintf("%s by a fixed rule: %s", c.Values, c.Why)
	}
	text := fmt.Sprintf("%s by cross-validation among %d settings", c.Values, c.Settings)

	if c.Score != nil {
		text += ", " + c.Measure()
	}

	// The best value may lie beyond the grid.
	if len(c.Ends) > 0 {
		text += fmt.Sprintf("; %s at the end of the grid, bigfit tune looks further",
			strings.Join(c.Ends, " and "))
	}
	return text
}

// Measure writes the score of the choice, which must be there, as "error 4.58 ± 0.78 %". Every criterion
// is a share, written in percent, but the RMSE, which has the unit of the values.
func (c *Chosen) Measure() string {
	percent, unit := 100., " %"
	if c.Criterion == "rmse" {
		percent = 1
		unit = ""
	}
	text := fmt.Sprintf("%s %.3g", c.Criterion, percent**c.Score)
	if c.StdErr != nil {
		text += fmt.Sprintf(" ± %.2g", percent**c.StdErr)
	}
	return text + unit
}

// Finite returns a pointer to v, or nil for NaN and infinities, which JSON cannot hold.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
