package enum_test

import (
	"encoding/json"
	"fmt"
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
