package calibration

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// drawn returns n answers of c classes whose true logits are 2·scores, by link, and are
// drawn from softmax.
func drawn(n, c int, seed uint64, score func(logits []float64, rng *rand.Rand) []float64) []Answer {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]Answer, n)
	for i := range out {
		logits, p := make([]float64, c), make([]float64, c)
		for j := range logits {
			logits[j] = 2 * rng.NormFloat64()
			p[j] = math.Exp(logits[j])
		}
		normalize(p)
		u := rng.Float64()
		for out[i].Class = 0; out[i].Class < c-1 && u > p[out[i].Class]; out[i].Class++ {
			u -= p[out[i].Class]
		}
		out[i].Scores = score(logits, rng)
	}
	return out
}

func halved(logits []float64, _ *rand.Rand) []float64 {
	out := slices.Clone(logits)
	for i := range out {
		out[i] /= 2
	}
	return out
}

// scaledShares are exp(logits/3) times a factor of the row.
func scaledShares(logits []float64, rng *rand.Rand) []float64 {
	out := make([]float64, len(logits))
	factor := math.Exp(3 * rng.NormFloat64())
	for i, z := range logits {
		out[i] = factor * math.Exp(z/3)
	}
	return out
}

func uniform(c int) []float64 { return slices.Repeat([]float64{1 / float64(c)}, c) }

// The temperature that the scores were divided by is found, and the link that they have.
func TestTemperatureIsFound(t *testing.T) {
	for _, test := range []struct {
		score func([]float64, *rand.Rand) []float64
		link  Link
		want  float64
	}{{halved, Identity, 2}, {scaledShares, Shares, 3}} {
		c, err := FitClasses(drawn(900, 4, 1, test.score), uniform(4))
		if err != nil {
			t.Fatal(err)
		}
		if c.Link != test.link || !(math.Abs(c.Temperature-test.want) < 0.2*test.want) {
			t.Errorf("T = %v on %v, want about %v on %v", c.Temperature, c.Link, test.want, test.link)
		}
		if c.Knots != nil {
			t.Errorf("an isotonic regression of 900 points")
		}
	}
}

// Where all held-out points are right T is finite, and p is about the smoothed target.
func TestAllRight(t *testing.T) {
	var held []Answer
	for i := range 50 {
		a := Answer{Scores: []float64{0, 0, 0}, Class: i % 3}
		a.Scores[i%3] = 1
		held = append(held, a)
	}
	c, err := FitClasses(held, uniform(3))
	if err != nil {
		t.Fatal(err)
	}
	p := mat.NewDense(1, 3, []float64{1, 0, 0})
	c.ProbabilitiesTo(p, p)
	if want := 51. / 52; !(math.Abs(p.At(0, 0)-want) < 1e-6) {
		t.Errorf("p = %v, want %v", p.At(0, 0), want)
	}
}

// Points of which nothing is known, and all points where scores say nothing, get the priors.
func TestPriors(t *testing.T) {
	priors := []float64{0.5, 0.2, 0.3}
	c, err := FitClasses(drawn(200, 3, 2, halved), priors)
	if err != nil {
		t.Fatal(err)
	}
	random := drawn(200, 3, 3, halved)
	for i := range random {
		random[i].Class = slices.Index(random[i].Scores, slices.Min(random[i].Scores))
	}
	wrong, err := FitClasses(random, priors)
	if err != nil {
		t.Fatal(err)
	}
	for what, test := range map[string]struct {
		c      *Classes
		scores []float64
	}{"zero": {c, []float64{0, 0, 0}}, "rounding error": {c, []float64{1e-13, -1e-13, 0}}, "equal": {c, []float64{2, 2, 2}}, "always wrong": {wrong, []float64{3, 1, 2}}} {
		p := mat.NewDense(1, 3, slices.Clone(test.scores))
		test.c.ProbabilitiesTo(p, p)
		if !slices.Equal(p.RawRowView(0), priors) {
			t.Errorf("%s: %v, want the priors", what, p.RawRowView(0))
		}
	}
}

// From many points an isotonic regression repairs what a temperature cannot, keeps the
// order of classes, and rows still sum to 1.
func TestIsotonic(t *testing.T) {
	bent := func(logits []float64, _ *rand.Rand) []float64 { // not softmax at any temperature
		out := make([]float64, len(logits))
		for i, z := range logits {
			out[i] = math.Cbrt(z) * math.Cbrt(z) * math.Cbrt(z) * math.Cbrt(z) * math.Cbrt(z) / 8
		}
		return out
	}
	c, err := FitClasses(drawn(4000, 3, 4, bent), uniform(3))
	if err != nil {
		t.Fatal(err)
	}
	if c.Knots == nil {
		t.Fatal("no isotonic regression of 4000 points")
	}
	fresh := drawn(4000, 3, 5, bent)
	p := mat.NewDense(len(fresh), 3, nil)
	for i, a := range fresh {
		p.SetRow(i, a.Scores)
	}
	q := mat.DenseCopyOf(p)
	c.ProbabilitiesTo(q, q)
	plain := *c
	plain.Knots = nil
	plain.ProbabilitiesTo(p, p)
	var before, after float64
	for i, a := range fresh {
		row := q.RawRowView(i)
		if !(math.Abs(row[0]+row[1]+row[2]-1) < 1e-12) {
			t.Fatalf("row %d sums to %v", i, row[0]+row[1]+row[2])
		}
		for j := range row {
			for k := range row {
				if (row[j] < row[k]) != (a.Scores[j] < a.Scores[k]) {
					t.Fatalf("row %d: %v of the scores %v", i, row, a.Scores)
				}
			}
		}
		before, after = before-math.Log(p.At(i, a.Class)), after-math.Log(row[a.Class])
	}
	if !(after < before) {
		t.Errorf("log loss %v with isotonic regression, %v without", after/4000, before/4000)
	}
}

func TestFewAndBadAnswers(t *testing.T) {
	if _, err := FitClasses(drawn(Fewest-1, 2, 1, halved), uniform(2)); !errors.Is(err, ErrFew) {
		t.Errorf("%d answers: %v", Fewest-1, err)
	}
	bad := drawn(20, 2, 1, halved)
	bad[7].Scores[1] = math.NaN()
	if _, err := FitClasses(bad, uniform(2)); err == nil || !strings.Contains(err.Error(), "answer 7") {
		t.Errorf("NaN: %v", err)
	}
	bad = drawn(20, 2, 1, halved)
	bad[3].Class = 2
	if _, err := FitClasses(bad, uniform(2)); err == nil || !strings.Contains(err.Error(), "answer 3") {
		t.Errorf("class 2 of 2: %v", err)
	}
	if _, err := FitIntervals(mat.NewDense(Fewest-1, 1, nil)); !errors.Is(err, ErrFew) {
		t.Errorf("few residuals: %v", err)
	}
}

// The quantile of ⌈(l+1)(1−α)⌉, by hand.
func TestHalf(t *testing.T) {
	r := mat.NewDense(19, 1, nil)
	for i := range 19 {
		r.Set(i, 0, float64((7*i)%19+1)*(1-2*float64(i%2))) // 1 … 19 in some order, of either sign
	}
	c, err := FitIntervals(r)
	if err != nil {
		t.Fatal(err)
	}
	for level, want := range map[float64]float64{0.9: 18, 0.95: 19, 0.5: 10, 0.04: 1} {
		if half, err := c.Half(level); err != nil || half[0] != want {
			t.Errorf("level %v: %v, %v, want %v", level, half, err, want)
		}
	}
	for _, level := range []float64{0.96, 0, 1, math.NaN(), -1} {
		if _, err := c.Half(level); err == nil {
			t.Errorf("level %v is accepted of 19 residuals", level)
		}
	}
}

// Split conformal intervals cover 1−α and at most 1/(l+1) more, on average.
func TestCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	const l, trials = 50, 2000
	var covered float64
	for range trials {
		r := mat.NewDense(l, 1, nil)
		for i := range l {
			r.Set(i, 0, rng.ExpFloat64()-1)
		}
		c, err := FitIntervals(r)
		if err != nil {
			t.Fatal(err)
		}
		half, err := c.Half(0.9)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(rng.ExpFloat64()-1) <= half[0] {
			covered++
		}
	}
	if share := covered / trials; !(share > 0.88 && share < 0.94) {
		t.Errorf("coverage %v", share)
	}
}

func TestCheck(t *testing.T) {
	held := drawn(1500, 3, 6, halved)
	classes, err := FitClasses(held, uniform(3))
	if err != nil {
		t.Fatal(err)
	}
	good := Calibration{Folds: 10, Held: 1500, Classes: classes}
	if err := good.Check(3, 3); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	var back Calibration
	if err := json.Unmarshal(text, &back); err != nil || back.Check(3, 3) != nil || back.String() != good.String() {
		t.Errorf("%s comes back as %v, %v", text, back, err)
	}
	for what, change := range map[string]func(c *Calibration){
		"one fold":             func(c *Calibration) { c.Folds = 1 },
		"none held":            func(c *Calibration) { c.Held = 0 },
		"no parts":             func(c *Calibration) { c.Classes = nil },
		"both":                 func(c *Calibration) { c.Intervals = &Intervals{mat.NewDense(1500, 3, nil)} },
		"a link":               func(c *Calibration) { c.Classes.Link = 17 },
		"a negative T":         func(c *Calibration) { c.Classes.Temperature = -1 },
		"an infinite T":        func(c *Calibration) { c.Classes.Temperature = math.Inf(1) },
		"NaN":                  func(c *Calibration) { c.Classes.Vanishing = math.NaN() },
		"shares of 2":          func(c *Calibration) { c.Classes.Priors = uniform(2) },
		"shares of sum 3":      func(c *Calibration) { c.Classes.Priors = []float64{1, 1, 1} },
		"a negative share":     func(c *Calibration) { c.Classes.Priors = []float64{-1, 1, 1} },
		"knots that descend":   func(c *Calibration) { slices.Reverse(c.Classes.Knots) },
		"a knot out of bounds": func(c *Calibration) { c.Classes.Knots[0][0] = -1 },
	} {
		bad := good
		own := *classes
		own.Knots = slices.Clone(classes.Knots)
		bad.Classes = &own
		change(&bad)
		if bad.Check(3, 3) == nil {
			t.Errorf("a calibration with %s is accepted", what)
		}
	}
	residuals := mat.NewDense(12, 2, nil)
	for i := range 12 {
		residuals.SetRow(i, []float64{float64(i), 1})
	}
	values := Calibration{Folds: 10, Held: 12, Intervals: &Intervals{residuals}}
	if err := values.Check(0, 2); err != nil {
		t.Fatal(err)
	}
	for _, dims := range [][2]int{{0, 1}, {2, 2}} {
		if values.Check(dims[0], dims[1]) == nil {
			t.Errorf("intervals of 2 values are accepted for %v", dims)
		}
	}
	residuals.Set(3, 0, 0)
	if values.Check(0, 2) == nil {
		t.Error("residuals that do not ascend are accepted")
	}
}

// Knots ascend whatever the counts at the smoothed ends: a mean sum/count may be off by a rounding error.
func TestKnotsAscend(t *testing.T) {
	for first := range 400 {
		for count := 2; count < 100; count++ {
			blocks := []block{{0, 0.1, 0, float64(first + 1)}, {0.2, 0.3, 1, float64(count)}, {0.4, 0.9, 1, 1}}
			if err := checkKnots(knotsOf(blocks)); err != nil {
				t.Fatalf("%d and %d points: %v", first+1, count, err)
			}
		}
	}
}
