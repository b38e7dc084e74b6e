package report

import (
	"math"
	"strconv"
	"strings"
)

// An axis maps values to pixels and knows where its ticks are.
type axis struct {
	log    bool
	lo, hi float64 // range shown, in values; lo < hi
	a, b   float64 // pixels of lo and hi
	ticks  []tick
}

type tick struct {
	at    float64
	label string // empty for a minor tick
}

// ok tells whether v can be shown.
func (ax *axis) ok(v float64) bool { return finite(v) && (!ax.log || v > 1e-280) }

// pos returns the pixel of v, which must be ok; values outside the range are
// put at its end.
func (ax *axis) pos(v float64) float64 {
	lo, hi := ax.lo, ax.hi
	if ax.log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	t := (v - lo) / (hi - lo)
	return ax.a + math.Min(1, math.Max(0, t))*(ax.b-ax.a)
}

// newAxis makes an axis over the values min … max (min > max: there are none)
// with about n ticks. With full set, a linear range is widened to whole ticks,
// and to zero if zero is not far; otherwise it gets a narrow margin.
func newAxis(log bool, min, max float64, n int, full bool, a, b float64) *axis {
	ax := &axis{log: log, a: a, b: b}
	if log {
		ax.logTicks(min, max, n)
	} else {
		ax.linearTicks(min, max, n, full)
	}
	return ax
}

func (ax *axis) linearTicks(min, max float64, n int, full bool) {
	if min > max {
		min, max = 0, 1
	}
	if full && min > 0 && min < 0.7*max {
		min = 0
	}
	if full && max < 0 && max > 0.7*min {
		max = 0
	}
	// One value, or values that differ by rounding only.
	if size := math.Max(math.Abs(min), math.Abs(max)); max-min <= 1e-9*size || max == min {
		pad := math.Max(size/2, 1e-290)
		if size == 0 {
			pad = 1
		}
		min, max = min-pad, max+pad
	}
	step := niceStep((max - min) / float64(n))
	if full {
		min, max = math.Floor(min/step+1e-9)*step, math.Ceil(max/step-1e-9)*step
	} else {
		pad := 0.03 * (max - min)
		min, max = min-pad, max+pad
	}
	ax.lo, ax.hi = min, max
	for i := math.Ceil(min/step - 1e-9); i <= max/step+1e-9; i++ {
		ax.ticks = append(ax.ticks, tick{i * step, linearLabel(i, step, math.Max(math.Abs(min), math.Abs(max)))})
	}
}

// niceStep returns the least of 1, 2 or 5 times a power of ten that is ≥ v.
func niceStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*p*(1+1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// linearLabel writes i·step with the digits the step needs; size is the largest
// absolute value on the axis.
func linearLabel(i, step, size float64) string {
	if i == 0 {
		return "0"
	}
	v, unit := i*step, ""
	s, k := exponent(step), exponent(size)
	if k >= 6 || s < -4 { // all labels with the power of ten of the largest
		v, s, unit = v/math.Pow(10, float64(k)), s-k, "·"+tenTo(k)
	}
	return strings.Replace(strconv.FormatFloat(v, 'f', max(0, -s), 64), "-", "−", 1) + unit
}

// exponent returns the k of v = m·10ᵏ with 1 ≤ m < 10, for v > 0.
func exponent(v float64) int { return int(math.Floor(math.Log10(v) + 1e-9)) }

func (ax *axis) logTicks(min, max float64, n int) {
	if min > max {
		min, max = 1, 10
	}
	l, h := math.Log10(min), math.Log10(max)
	if h-l < 0.3 { // less than a factor of two: make room around it
		mid := (l + h) / 2
		l, h = mid-0.3, mid+0.3
	}
	pad := 0.03 * (h - l)
	l, h = l-pad, h+pad
	ax.lo, ax.hi = math.Pow(10, l), math.Pow(10, h)
	every := int(math.Ceil((h - l) / float64(n)))
	// Labels at 1, 2 and 5 while there is room for them, else at the decades.
	fine := (h-l)*3 <= float64(n)+2
	for k := int(math.Floor(l)); k <= int(math.Ceil(h)); k++ {
		for _, m := range []int{1, 2, 5} {
			v := float64(m) * math.Pow(10, float64(k))
			labeled := m == 1 && k%every == 0 || fine
			if v < ax.lo || v > ax.hi || m > 1 && h-l > 6 || every > 4 && !labeled {
				continue
			}
			t := tick{at: v}
			if labeled {
				t.label = logLabel(m, k)
			}
			ax.ticks = append(ax.ticks, t)
		}
	}
}

// logLabel writes m·10ᵏ.
func logLabel(m, k int) string {
	if k >= -3 && k <= 5 {
		return strconv.FormatFloat(float64(m)*math.Pow(10, float64(k)), 'f', max(0, -k), 64)
	}
	if m == 1 {
		return tenTo(k)
	}
	return strconv.Itoa(m) + "·" + tenTo(k)
}

// tenTo writes 10ᵏ.
func tenTo(k int) string {
	return "10" + strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
		"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(k))
}
