package report

import (
	"fmt"
	"strings"
)

// The colours of classes and series, for light and for dark pages. They come
// from a random search that maximized the smallest OKLab distance between any
// two of them as seen with normal, protan, deutan and tritan vision, under
// limits on contrast with the page and on chroma. TestPalette repeats the
// measurement.
var (
	lightPalette = [10]string{"#628ffb", "#af5800", "#015d64", "#e367a3", "#412086", "#a2a200", "#00d3f6", "#602500", "#8c49b5", "#fbaf94"}
	darkPalette  = [10]string{"#2c91ec", "#fba91d", "#12dc9f", "#d56c9a", "#cfaffe", "#918f00", "#aaf4ff", "#99513c", "#7754ab", "#e4f362"}
)

// paletteCSS sets the variables --c0 … --c9, and for each the classes .fi
// (fill) and .si (stroke), which charts use.
func paletteCSS() string {
	var b strings.Builder
	vars := func(p [10]string) {
		for i, c := range p {
			fmt.Fprintf(&b, "--c%d:%s;", i, c)
		}
	}
	b.WriteString(":root{")
	vars(lightPalette)
	b.WriteString("}\n@media screen and (prefers-color-scheme:dark){:root{")
	vars(darkPalette)
	b.WriteString("}}\n")
	for i := range lightPalette {
		fmt.Fprintf(&b, ".f%d{fill:var(--c%d)}.s%d{stroke:var(--c%d)}\n", i, i, i, i)
	}
	return b.String()
}

// Colors returns the colours of classes and series on a light page, as #rrggbb.
func Colors() []string { return lightPalette[:] }
