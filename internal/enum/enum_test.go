package enum_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/enum"
)

type color int

const (
	red color = iota
	green
	blue
)

var colors = enum.New[color]("color", "red", "green", "blue")

func (c color) String() string                { return colors.String(c) }
func (c color) MarshalText() ([]byte, error)  { return colors.Marshal(c) }
func (c *color) UnmarshalText(t []byte) error { return colors.Unmarshal(c, t) }

func TestNames(t *testing.T) {
	for want, c := range map[string]color{"red": red, "green": green, "blue": blue} {
		if fmt.Sprint(c) != want || !colors.Valid(c) {
			t.Errorf("%d is called %v, valid %t", int(c), c, colors.Valid(c))
		}
		text, err := json.Marshal(c)
		back := color(99)
		if err != nil || json.Unmarshal(text, &back) != nil || back != c {
			t.Errorf("%v is written as %s (%v) and read as %v", c, text, err, back)
		}
	}
	for _, c := range []color{-1, 3} {
		if colors.Valid(c) || fmt.Sprint(c) != fmt.Sprintf("unknown (%d)", int(c)) {
			t.Errorf("%v, valid %t", c, colors.Valid(c))
		}
		if text, err := c.MarshalText(); err == nil {
			t.Errorf("%d is written as %s", int(c), text)
		}
	}
	c := green
	err := c.UnmarshalText([]byte("grey"))
	if c != green || err == nil || err.Error() != `unknown color "grey"; it is red, green or blue` {
		t.Errorf("%v, %v", c, err)
	}
}

func TestCount(t *testing.T) {
	for n, want := range []string{"0 points", "1 point", "2 points"} {
		if got := enum.Count(n, "point"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSome(t *testing.T) {
	names := strings.Split(strings.Repeat("a ", 20)+"a", " ")
	if got, want := enum.Some(names), strings.Repeat("a, ", 20)+"…"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if got := enum.Some(names[:2]); got != "a, a" || enum.Some(nil) != "" {
		t.Errorf("%q", got)
	}
}

func TestLists(t *testing.T) {
	if got := fmt.Sprint(colors.All(), enum.All[color]()); got != "[red green blue] [red green blue]" {
		t.Errorf("all are %s", got)
	}
	table := []struct{ name string }{{"cherry"}, {"fig"}}
	fruits := enum.Of[color]("fruit", len(table), func(i int) string { return table[i].name })
	if fruits.String(1) != "fig" || fruits.Valid(2) {
		t.Errorf("of a table: %v", fruits.All())
	}
	for want, values := range map[string][]color{"": nil, "red": {red}, "red or blue": {red, blue}, "red, green or blue": {red, green, blue}} {
		if got := enum.Or(values); got != want {
			t.Errorf("%v is %q, not %q", values, got, want)
		}
		if got := enum.And(values); got != strings.ReplaceAll(want, "or", "and") {
			t.Errorf("%v is %q with and", values, got)
		}
	}
}
