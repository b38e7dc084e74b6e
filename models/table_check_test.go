package models_test

import (
	"math"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
)

// TestTableCheck: typed settings have the faults of their parameters, and zero is a default
// unless the parameter is required.
func TestTableCheck(t *testing.T) {
	type settings struct {
		Share float64
		Count int
		List  []float64
		Need  float64
		Rule  string
	}
	table := models.Table[settings]{
		{Param: models.Param{Name: "share", Range: models.Between(0, 1)}, At: func(s *settings) any { return &s.Share }},
		{Param: models.Param{Name: "count", Range: models.AtLeast(2)}, At: func(s *settings) any { return &s.Count }},
		{Param: models.Param{Name: "list", Range: models.Positive()}, At: func(s *settings) any { return &s.List }},
		{Param: models.Param{Name: "need", Range: models.Positive(), Required: true}, At: func(s *settings) any { return &s.Need }},
		{Param: models.Param{Name: "rule", Choices: []string{"one", "two"}, Kind: models.Choice}, At: func(s *settings) any { return &s.Rule }},
	}
	for name, c := range map[string]struct {
		s    settings
		want []string
	}{
		"defaults": {settings{Need: 1}, nil},
		"good":     {settings{0.5, 2, []float64{1, 2}, 1, "two"}, nil},
		"required": {settings{}, []string{"need is 0; it must be positive"}},
		"not a number": {settings{Share: math.NaN(), Need: math.Inf(1)},
			[]string{"share is NaN; it must be between 0 and 1", "need is +Inf; it must be positive"}},
		"all": {settings{1, 1, []float64{1, 0}, -1, "three"}, []string{"share is 1", "count is 1; it must be at least 2",
			"list has the value 0; each must be positive", "need is -1", "rule is \"three\"; it must be one or two"}},
	} {
		t.Run(name, func(t *testing.T) {
			faults := models.Faults(table.Check(&c.s))
			if len(faults) != len(c.want) {
				t.Fatalf("%q, want %q", faults, c.want)
			}
			for i, want := range c.want {
				if got := param.Plain(faults[i].Error()); !strings.HasPrefix(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
			}
		})
	}
}
