package chart

import (
	"fmt"
	"math"
	"testing"
)

// TestPalette measures what theme.go claims: any two colours keep a distance
// for every kind of colour vision, and none fades into the page.
func TestPalette(t *testing.T) {
	type vec [3]float64
	mul := func(m [3]vec, x vec) (y vec) {
		for i := range m {
			for j := range x {
				y[i] += m[i][j] * x[j]
			}
		}
		return y
	}
	// From linear sRGB to what protan, deutan and tritan eyes see: Machado,
	// Oliveira and Fernandes, IEEE TVCG 15 (2009), severity 1.
	visions := map[string][3]vec{
		"normal": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
		"tritan": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
	}
	// Linear sRGB to OKLab (Björn Ottosson, 2020): a matrix, cube roots, a matrix.
	toCone := [3]vec{{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005}}
	toLab := [3]vec{{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099}, {0.0259040371, 0.7827717662, -0.8086757660}}
	linear := func(hex string) (c vec) {
		var v [3]int
		if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &v[0], &v[1], &v[2]); err != nil {
			t.Fatal(err)
		}
		for i := range c {
			if c[i] = float64(v[i]) / 255; c[i] <= 0.04045 {
				c[i] /= 12.92
			} else {
				c[i] = math.Pow((c[i]+0.055)/1.055, 2.4)
			}
		}
		return c
	}
	lab := func(m [3]vec, c vec) vec {
		c = mul(m, c)
		for i := range c {
			c[i] = math.Min(1, math.Max(0, c[i]))
		}
		c = mul(toCone, c)
		for i := range c {
			c[i] = math.Cbrt(c[i])
		}
		return mul(toLab, c)
	}
	luminance := func(c vec) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }
	var light, dark [colors]string
	for i := range colors {
		light[i], dark[i] = theme[i].light, theme[i].dark
	}
	for _, p := range []struct {
		page    string
		colours [colors]string
		least   float64 // contrast of a dot with the page
	}{{theme[10].light, light, 1.75}, {theme[10].dark, dark, 2.9}} {
		ground := luminance(linear(p.page))
		for i, a := range p.colours {
			x, y := luminance(linear(a))+0.05, ground+0.05
			if c := math.Max(x, y) / math.Min(x, y); !(c >= p.least) {
				t.Errorf("%s on %s: contrast %.2f", a, p.page, c)
			}
			for _, b := range p.colours[:i] {
				for name, m := range visions {
					u, v := lab(m, linear(a)), lab(m, linear(b))
					if d := math.Hypot(math.Hypot(u[0]-v[0], u[1]-v[1]), u[2]-v[2]); !(d >= 0.11) {
						t.Errorf("%s and %s, %s vision: distance %.3f", a, b, name, d)
					}
				}
			}
		}
	}
}

// TestSteps measures that each step of a scale has clearly less contrast with the page
// than the one before, and the last still some.
func TestSteps(t *testing.T) {
	luminance := func(hex string) float64 {
		c := parse(hex)
		sum := 0.0
		for i, v := range []uint8{c.R, c.G, c.B} {
			x := float64(v) / 255
			if x <= 0.04045 {
				x /= 12.92
			} else {
				x = math.Pow((x+0.055)/1.055, 2.4)
			}
			sum += []float64{0.2126, 0.7152, 0.0722}[i] * x
		}
		return sum
	}
	for name, of := range map[string]func(k int) string{"light": func(k int) string { return theme[k].light }, "dark": func(k int) string { return theme[k].dark }} {
		ground := luminance(of(10)) + 0.05
		last := math.Inf(1)
		for k := range MaxSteps {
			x := luminance(of(firstStep+k)) + 0.05
			c := max(x, ground) / min(x, ground)
			if !(c*1.25 <= last && c >= 1.4) {
				t.Errorf("%s: step %d has contrast %.2f after %.2f", name, k, c, last)
			}
			last = c
		}
	}
}
