package annotators

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// planted draws answers of annotators with known confusion for points of known classes, in turn, and what a noisy
// neighbour says of each.
func planted(points int, confusion []*mat.Dense, seed uint64) (a *Answers, truth []int, known *mat.Dense) {
	c, _ := confusion[0].Dims()
	rng := rand.New(rand.NewPCG(seed, 3))
	a = &Answers{Points: points, Classes: c, Annotators: len(confusion)}
	known = mat.NewDense(points, c, nil)
	for i := range points {
		class := i % c
		truth = append(truth, class)
		for j, m := range confusion {
			a.Point = append(a.Point, int32(i))
			a.Annotator = append(a.Annotator, int32(j))
			a.Class = append(a.Class, int32(draw(rng, m.RawRowView(class))))
		}
		near := class
		if rng.Float64() < 0.2 {
			near = rng.IntN(c)
		}
		for k := range c {
			known.Set(i, k, 0.1)
		}
		known.Set(i, near, 0.9)
	}
	return a, truth, known
}

func draw(rng *rand.Rand, p []float64) int {
	u := rng.Float64()
	for k, v := range p {
		if u -= v; u < 0 {
			return k
		}
	}
	return len(p) - 1
}

func accurate(c int, right float64) *mat.Dense {
	m := mat.NewDense(c, c, nil)
	m.Apply(func(i, j int, _ float64) float64 {
		if i == j {
			return right
		}
		return (1 - right) / float64(c-1)
	}, m)
	return m
}

func wrongOf(c *Consensus, truth []int) float64 {
	wrong := 0.0
	for r, i := range c.Rows {
		row := c.Shares.RawRowView(r)
		best := 0
		for k, v := range row {
			if v > row[best] {
				best = k
			}
		}
		if best != truth[i] {
			wrong++
		}
	}
	return wrong / float64(len(c.Rows))
}

// The confusion of planted annotators is found, one of which takes class 0 for class 1.
func TestAgreeFindsConfusion(t *testing.T) {
	confused := mat.NewDense(3, 3, []float64{0.1, 0.85, 0.05, 0.05, 0.9, 0.05, 0.02, 0.03, 0.95})
	want := []*mat.Dense{accurate(3, 0.9), accurate(3, 0.6), confused, accurate(3, 0.8)}
	a, truth, _ := planted(3000, want, 1)
	got, err := Agree(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	for j, m := range want {
		var off mat.Dense
		off.Sub(got.Confusion[j], m)
		if d := mat.Max(&off); d > 0.05 || mat.Min(&off) < -0.05 {
			t.Errorf("annotator %d: %v, planted %v", j, mat.Formatted(got.Confusion[j]), mat.Formatted(m))
		}
	}
	votes, err := Majority(a)
	if err != nil {
		t.Fatal(err)
	}
	if e, m := wrongOf(got, truth), wrongOf(votes, truth); !(e < 0.7*m) {
		t.Errorf("the consensus errs on %.3f of the points, the majority on %.3f", e, m)
	}
	if acc := got.Accuracy; math.Abs(acc[0]-0.9) > 0.03 || math.Abs(acc[1]-0.6) > 0.03 || got.Counts[2] != 3000 {
		t.Errorf("accuracy %v, counts %v", acc, got.Counts)
	}
	if got.Disagreeing < 1000 || got.Disagreeing > 2900 {
		t.Errorf("%d of 3000 points have answers of several classes", got.Disagreeing)
	}
}

// What is known of the points helps where it is true, and is left out where it is noise.
func TestAgreeWithPrior(t *testing.T) {
	a, truth, known := planted(600, []*mat.Dense{accurate(4, 0.6), accurate(4, 0.6)}, 2)
	plain, err := Agree(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	helped, err := Agree(a, &Settings{Known: known})
	if err != nil {
		t.Fatal(err)
	}
	if e, p := wrongOf(helped, truth), wrongOf(plain, truth); !(e < 0.6*p) || helped.Exponent == 0 {
		t.Errorf("with a prior %.3f are wrong (τ = %v), without one %.3f", e, helped.Exponent, p)
	}

	rng := rand.New(rand.NewPCG(5, 5))
	known.Apply(func(_, _ int, _ float64) float64 { return rng.Float64() }, known)
	noise, err := Agree(a, &Settings{Known: known})
	if err != nil {
		t.Fatal(err)
	}
	if noise.Exponent != 0 || !mat.Equal(noise.Shares, plain.Shares) {
		t.Errorf("noise is believed: τ = %v", noise.Exponent)
	}
}

// One annotator with a given error has the posterior of Bayes.
func TestAgreeWithError(t *testing.T) {
	a := &Answers{Points: 3, Classes: 2, Annotators: 1, Point: []int32{0, 1, 2}, Class: []int32{0, 0, 1}, Annotator: []int32{0, 0, 0}}
	got, err := Agree(a, &Settings{Error: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	// The prior s is the fixed point of the shares.
	s0 := (got.Shares.At(0, 0) + got.Shares.At(1, 0) + got.Shares.At(2, 0) + 1) / 5
	for r, p := range []float64{0.9, 0.9, 0.1} {
		want := s0 * p / (s0*p + (1-s0)*(1-p))
		if v := got.Shares.At(r, 0); math.Abs(v-want) > 1e-5 {
			t.Errorf("point %d: %v, want %v", r, v, want)
		}
	}
}

func TestAgreeRefuses(t *testing.T) {
	good := func() *Answers {
		return &Answers{Points: 2, Classes: 2, Annotators: 2, Point: []int32{0, 1}, Class: []int32{0, 1}, Annotator: []int32{0, 1}}
	}
	for want, c := range map[string]func(a *Answers) *Settings{
		"answer 1 is class 2 of 2":    func(a *Answers) *Settings { a.Class[1] = 2; return nil },
		"for point -1 of 2":           func(a *Answers) *Settings { a.Point[0] = -1; return nil },
		"annotator 7 of 2":            func(a *Answers) *Settings { a.Annotator[0] = 7; return nil },
		"at least two classes":        func(a *Answers) *Settings { a.Classes = 1; return nil },
		"too large":                   func(a *Answers) *Settings { a.Classes = 1 << 14; return nil },
		"known is 1×2":                func(a *Answers) *Settings { return &Settings{Known: mat.NewDense(1, 2, nil)} },
		"a wrong answer is 1.5":       func(a *Answers) *Settings { return &Settings{Error: 1.5} },
		"1 points, 2 classes and 2 a": func(a *Answers) *Settings { a.Point = a.Point[:1]; return nil },
	} {
		a := good()
		s := c(a)
		if _, err := Agree(a, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
