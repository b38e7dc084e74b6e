package chart

import (
	"fmt"
	"math"
	"strconv"
)

// A scale places values on an axis and puts ticks there. On a logarithmic axis
// 0 has a place of its own, left of the least positive value.
type scale struct {
	log       bool
	low, high float64 // of the values seen; positive on a logarithmic axis
	hasZero   bool    // a 0 was seen on a logarithmic axis
	margin    float64 // beyond the values, as a share of their range
}

func newScale(log bool) *scale {
	return &scale{log: log, low: math.Inf(1), high: math.Inf(-1), margin: 0.04}
}

// finite reports whether v can be drawn. Numbers near the end of the range of
// float64 are refused, so that differences of drawable numbers are finite.
func finite(v float64) bool { return math.Abs(v) < 1e280 }

// ok reports whether v has a place.
func (s *scale) ok(v float64) bool { return finite(v) && (!s.log || v == 0 || v >= 1e-280) }

// see widens the range to v if v has a place.
func (s *scale) see(v float64) {
	switch {
	case !s.ok(v):
	case s.log && v == 0:
		s.hasZero = true
	default:
		s.low = min(s.low, v)
		s.high = max(s.high, v)
	}
}

// ends returns the range. Before any value it is 1 … 10 on a logarithmic axis and 0 … 1 else.
func (s *scale) ends() (low, high float64) {
	switch {
	case s.low <= s.high:
		return s.low, s.high
	case s.log:
		return 1, 10
	}
	return 0, 1
}

// at returns the place of v, which must be ok.
func (s *scale) at(v float64) float64 {
	if s.log && v == 0 {
		// The place of 0 lies an eighth of the range below the least positive value, by a factor
		// of 2 at least and 1000 at most.
		low, high := s.ends()
		return low / max(2, min(1e3, math.Pow(high/low, 0.12)))
	}
	return v
}

// frame returns the range with a margin for marks.
func (s *scale) frame() (low, high float64) {
	low, high = s.ends()
	if s.log {
		if s.hasZero {
			low = s.at(0)
		}
		l := math.Log10(low)
		h := math.Log10(high)
		d := max(s.margin*(h-l), (0.6-(h-l))/2) // a factor of four at least
		return math.Pow(10, l-d), math.Pow(10, h+d)
	}

	d := s.margin * (high - low)
	// One value, or values that differ by rounding only.
	if size := max(math.Abs(low), math.Abs(high)); high-low <= 1e-9*size || high == low {
		d = max(size/2, 1e-290)
		if size == 0 {
			d = 1
		}
	}

	return low - d, high + d
}

// ticks returns the ticks of a range, about n of them with numbers.
func (s *scale) ticks(low, high float64, n int) []tick {
	if s.log {
		return s.logTicks(low, high, n)
	}
	var ticks []tick
	// The least step of 1, 2 or 5 times a power of ten that gives no more than the wanted number
	// of ticks.
	step := (high - low) / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step <= m*power*(1+1e-9) {
			step = m * power
			break
		}
	}

	for q := math.Ceil(low / step); q*step <= high; q++ {
		// Twelve digits: 0.3, not 0.30000000000000004.
		v, _ := strconv.ParseFloat(strconv.FormatFloat(q*step+0, 'g', 12, 64), 64)
		ticks = append(ticks, tick{value: q * step, label: strconv.FormatFloat(v, 'g', -1, 64)})
	}
	return ticks
}

// logTicks returns ticks at 1, 2 and 5 times powers of ten, labelled while there
// is room for them, else at the powers.
func (s *scale) logTicks(low, high float64, n int) (ticks []tick) {
	if s.hasZero {
		ticks = append(ticks, tick{value: s.at(0), label: "0"})
		low, _ = s.ends()
	}
	// A tick at the rim must not be lost to rounding.
	l := math.Log10(low) - 1e-9
	h := math.Log10(high) + 1e-9
	every := int(math.Ceil((h - l) / float64(n)))
	fine := (h-l)*3 <= float64(n)+2
	for k := int(math.Floor(l)); k <= int(math.Ceil(h)); k++ {
		for _, m := range []int{1, 2, 5} {
			// Ticks without labels help the eye only while every power has one.
			at := float64(k) + math.Log10(float64(m))
			labelled := fine || m == 1 && k%every == 0
			if at < l || at > h || !labelled && every > 1 {
				continue
			}
			t := tick{value: float64(m) * math.Pow(10, float64(k))}
			if labelled {
				t.label = fmt.Sprintf("%de%d", m, k)
				if k >= -4 && k <= 5 {
					t.label = strconv.FormatFloat(t.value, 'f', max(0, -k), 64)
				}
			}
			ticks = append(ticks, t)
		}
	}

	return ticks
}
