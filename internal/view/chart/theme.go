package chart

import (
	"fmt"
	"image/color"
	"strings"
)

// theme lists the colours of pictures: the name of the CSS variable, the value
// on a light page and in files, and the value on a dark page.
//
// The first ten tell classes and series apart. They come from a random search
// that maximized the smallest OKLab distance between any two of them as seen
// with normal, protan, deutan and tritan vision, under limits on contrast with
// the page and on chroma. TestPalette repeats the measurement. The last five are
// the steps of a scale: each has less contrast with the page than the one before.
var theme = []struct{ name, light, dark string }{
	{"c0", "#628ffb", "#2c91ec"}, {"c1", "#af5800", "#fba91d"}, {"c2", "#015d64", "#12dc9f"},
	{"c3", "#e367a3", "#d56c9a"}, {"c4", "#412086", "#cfaffe"},
	{"c5", "#a2a200", "#918f00"}, {"c6", "#00d3f6", "#aaf4ff"}, {"c7", "#602500", "#99513c"},
	{"c8", "#8c49b5", "#7754ab"}, {"c9", "#fbaf94", "#e4f362"},
	{"page", "#ffffff", "#16191d"},
	{"text", "#1c2128", "#e4e7eb"},
	{"soft", "#59636e", "#a3acb6"},
	{"line", "#e3e6ea", "#2c3239"},
	{"none", "#b4bac1", "#626b75"},
	{"s0", "#6b0f4f", "#ffe9a8"}, {"s1", "#b5306b", "#fdb062"}, {"s2", "#e4716f", "#dd6a6f"},
	{"s3", "#efac8b", "#9a4478"}, {"s4", "#d6d0c8", "#54476b"},
}

const (
	colors    = 10
	firstStep = 15
	// MaxSteps is the number of steps that a scale can have: see [Points].
	MaxSteps = 5
)

var page, ink, soft, line, none = parse(theme[10].light), parse(theme[11].light), parse(theme[12].light),
	parse(theme[13].light), parse(theme[14].light)

// parse reads #rrggbb.
func parse(s string) (c color.NRGBA) {
	if _, err := fmt.Sscanf(s, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		panic(err) // the table above is wrong
	}
	c.A = 0xff
	return c
}

// seriesColor returns the colour of class or series k; negative k means no class.
func seriesColor(k int) color.NRGBA {
	if k < 0 {
		return none
	}
	return parse(theme[k%colors].light)
}

// stepColor returns the colour of step k of a scale.
func stepColor(k int) color.NRGBA { return parse(theme[firstStep+k].light) }

// CSS returns a style sheet with the colours of pictures as variables, such as
// --c0 and --text, for light and for dark pages.
func CSS() string {
	var light, dark strings.Builder
	for _, c := range theme {
		fmt.Fprintf(&light, "--%s:%s;", c.name, c.light)
		fmt.Fprintf(&dark, "--%s:%s;", c.name, c.dark)
	}
	return fmt.Sprintf(":root{%s}\n@media screen and (prefers-color-scheme:dark){:root{%s}}\n", &light, &dark)
}

// variables replaces the light colours, as vgsvg writes them, by the variables.
var variables = func() *strings.Replacer {
	var pairs []string
	for _, c := range theme {
		pairs = append(pairs, strings.ToUpper(c.light), "var(--"+c.name+")")
	}
	return strings.NewReplacer(pairs...)
}()
