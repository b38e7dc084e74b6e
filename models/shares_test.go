package models

import (
	"strings"
	"testing"

	"github.com/bigfit/bigfit/param"
)

func TestOrderShares(t *testing.T) {
	params := []Param{{Name: "priors", Kind: List, Range: NotNegative(), Named: true}, {Name: "alpha", Kind: Float}}
	named := &Targets{Classes: []int64{0, 1, 2}, Names: []string{"a", "b:x", "c"}}
	numbers := &Targets{Classes: []int64{-1, 1}}
	for _, c := range []struct {
		t          *Targets
		text, want string // a text that begins with ! is an error
	}{
		{named, "c:0.2,a:0.5,b:x:0.3", "0.5,0.3,0.2"},
		{named, " c : 2, a:5 ,b:x: 3", "5,3,2"},
		{named, "3,2,1", "3,2,1"},
		{named, "0.5,0.3,0.2", "0.5,0.3,0.2"},
		{named, "0.33,0.33,0.33", "0.33,0.33,0.33"},
		{named, "a:0.5,c:0.25", "0.5,0.25,0.25"},
		{named, "a:1,b:x:0,c:0", "1,0,0"},
		{numbers, "1:0.75", "0.25,0.75"},
		{numbers, "-1:80,1:20", "80,20"},
		{named, "1,2", "!priors has 2 numbers for the 3 classes a, b:x, c; give one for each, or by class as in a:0.8"},
		{named, "a:1,2,3", "!priors gives 2 without a class beside others with one; write CLASS:2"},
		{named, "a:1,d:2", `!priors names the class "d"; the classes of the labels are a, b:x, c`},
		{named, "a:1,a:2", `!priors names the class "a" twice`},
		{named, "a:3,c:2", "!priors has no share of b:x; give every class one, 0 to one without points"},
		{named, "a:0.3", "!priors has no share of b:x, c;"},
		{named, "0.5,0.3,0.3", "!priors add up to 1.1; shares below 1 must add up to 1"},
		{named, "a:0.5,b:x:0.1,c:0.1", "!priors add up to 0.7;"},
		{named, "0,0,0", "!priors are all 0"},
	} {
		v, err := OrderShares(params, Values{"priors": c.text, "alpha": "2"}, c.t)
		if want, bad := strings.CutPrefix(c.want, "!"); bad {
			if err == nil || !strings.Contains(param.Plain(err.Error()), want) {
				t.Errorf("%q: error %v, want one with %q", c.text, err, want)
			}
		} else if err != nil || v["priors"] != c.want || v["alpha"] != "2" {
			t.Errorf("%q: %v, %v, want %q", c.text, v, err, c.want)
		}
	}

	// The check of the parameter comes first, and values have no classes.
	for _, text := range []string{"a:NaN,b:x:1,c:1", "a:-1,b:x:1,c:1", "a:,b:x:1,c:1", "a:z,b:x:1,c:1"} {
		if err := params[0].Check(text); err == nil || !strings.Contains(err.Error(), "priors") {
			t.Errorf("%q: error %v", text, err)
		}
		if v, err := OrderShares(params, Values{"priors": text}, named); err != nil || v["priors"] != text {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
	if v, err := OrderShares(params, Values{"priors": "1"}, &Targets{}); err != nil || v["priors"] != "1" {
		t.Errorf("values: %v, %v", v, err)
	}
}

func TestSharesOf(t *testing.T) {
	params := []Param{{Name: "priors", Kind: List, Named: true}, {Name: "alpha", Kind: Float}}
	all := []int64{1, 4, 9}
	for _, c := range []struct {
		given string
		part  []int64
		want  string
	}{{"3,2,1", []int64{1, 9}, "3,1"}, {"3,2,1", all, "3,2,1"}, {"3,2", []int64{1, 9}, "3,2"}, {"", []int64{4}, ""}} {
		v := Values{"alpha": "1,2,3"}
		if c.given != "" {
			v["priors"] = c.given
		}
		got := SharesOf(params, v, all, c.part)
		if got["priors"] != c.want || got["alpha"] != "1,2,3" || v["priors"] != c.given {
			t.Errorf("%q for %v: %v", c.given, c.part, got)
		}
		if v.Shared(params) != (c.given != "") {
			t.Errorf("%v: Shared is %t", v, v.Shared(params))
		}
	}
}
