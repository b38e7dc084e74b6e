package propagation

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
)

const (
	// A class may miss its share by one point, within these bounds: with 10⁻³ of many points the
	// rounds of PoissonMBO go on in circles, because the factors jump each time that a share has
	// drifted that far.
	leastVolumeTolerance, mostVolumeTolerance = 1e-4, 1e-3
	// offTolerance is a difference that is worth a warning.
	offTolerance = 5e-3
	// volumeSteps bounds the passes over the points of one projection. Some thirty are usual from
	// scratch, and ten where the factors of the last projection are near.
	volumeSteps = 400
)

// volumes decides the classes of points such that each class gets a given share of them. The
// factors of the last projection are where the next one begins.
type volumes struct {
	shares []float64 // wanted, their sum one
	log    []float64 // logarithms of the factors s_c; that of the first class with a share is zero
	live   []bool    // the points that count; nil for all
	labels []int32   // decisions
	zero   bool      // scores are not negative, and nothing is subtracted
}

func newVolumes(n int, shares []float64, live []bool) *volumes {
	return &volumes{shares: shares, log: make([]float64, len(shares)), live: live, labels: make([]int32, n)}
}

// begin decides the classes anew, with shares and scores to start from.
func (v *volumes) begin(shares []float64, u *mat.Dense) {
	v.shares = shares
	clear(v.log)
	v.project(u)
}

// project decides argmax_c s_c (u_ic − min u) for each point, with factors s such that the classes
// get their shares: the projection to the corners of the simplex under volume constraints (Calder,
// Cook, Thorpe & Slepčev 2020, section 2.4). It returns the largest difference that is left of a
// share. Scores that are equal for many points may leave one.
//
// Each logarithm of a factor moves against the error of its share, by a step that grows while the
// error keeps its sign and shrinks where it changes (Rprop; Riedmiller & Braun 1993). A pass
// costs O(nc).
func (v *volumes) project(u *mat.Dense) float64 {
	k := len(v.shares)
	step := slices.Repeat([]float64{0.05}, k)
	last := make([]float64, k)
	low := v.lowest(u)
	tolerance := v.tolerance()
	best := math.Inf(1)
	for c, share := range v.shares {
		if share == 0 {
			v.log[c] = math.Inf(-1)
		}
	}
	bestLog := slices.Clone(v.log)
	// Factors count up to a common one: that of the first class with a share is one.
	first := slices.IndexFunc(v.shares, func(share float64) bool { return share > 0 })

	for range volumeSteps {
		shares := v.decide(u, low)
		worst := 0.0
		for c := range shares {
			worst = max(worst, math.Abs(shares[c]-v.shares[c]))
		}
		if worst < best {
			best = worst
			copy(bestLog, v.log)
		}
		if worst <= tolerance {
			break
		}

		for c := range shares {
			e := shares[c] - v.shares[c]
			switch {
			case e*last[c] > 0:
				step[c] = min(step[c]*1.3, 2)
			case e*last[c] < 0:
				step[c] *= 0.5
			}
			last[c] = e
			if math.Abs(e) > tolerance/2 {
				v.log[c] -= math.Copysign(step[c], e)
			}
		}
		common := v.log[first]
		for c := range v.log {
			v.log[c] -= common
		}
	}

	// The last step is not always the best one.
	copy(v.log, bestLog)
	v.decide(u, low)
	return best
}

// tolerance returns the largest difference of a share that counts as none.
func (v *volumes) tolerance() float64 {
	points := len(v.labels)
	if v.live != nil {
		points = 0
		for _, live := range v.live {
			if live {
				points++
			}
		}
	}
	return min(max(1/float64(max(1, points)), leastVolumeTolerance), mostVolumeTolerance)
}

// scale makes the scores s_c (u_ic − min u), so that the largest of a point is its class, and zero at
// points that do not count.
func (v *volumes) scale(u *mat.Dense) {
	low := v.lowest(u)
	factors := v.factors()
	for i := range v.labels {
		row := u.RawRowView(i)
		for c := range row {
			row[c] = factors[c] * (row[c] - low)
			if v.live != nil && !v.live[i] {
				row[c] = 0
			}
		}
	}
}

// factors returns s.
func (v *volumes) factors() []float64 {
	s := make([]float64, len(v.log))
	for c, l := range v.log {
		s[c] = math.Exp(l)
	}
	return s
}

// lowest returns the smallest score of a point that counts, or 0 where nothing is subtracted.
func (v *volumes) lowest(u *mat.Dense) float64 {
	if v.zero {
		return 0
	}
	low := math.Inf(1)
	for i := range v.labels {
		if v.live == nil || v.live[i] {
			low = min(low, slices.Min(u.RawRowView(i)))
		}
	}
	return low
}

// decide sets the labels by the present factors and returns the shares of the classes.
func (v *volumes) decide(u *mat.Dense, low float64) []float64 {
	const grain = 4096
	s := v.factors()
	n := len(v.labels)
	counts := make([][]int, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		count := make([]int, len(s))
		for i := lo; i < hi; i++ {
			if v.live != nil && !v.live[i] {
				continue
			}
			best := math.Inf(-1)
			at := 0
			for c, f := range u.RawRowView(i) {
				if f = (f - low) * s[c]; f > best {
					best = f
					at = c
				}
			}
			v.labels[i] = int32(at)
			count[at]++
		}
		counts[lo/grain] = count
	})

	shares := make([]float64, len(s))
	var total float64
	for _, count := range counts {
		for c, m := range count {
			shares[c] += float64(m)
			total += float64(m)
		}
	}
	for c := range shares {
		shares[c] /= total
	}
	return shares
}
