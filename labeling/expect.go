package labeling

import (
	"math"

	"github.com/bigfit/bigfit/models"
)

// Expectation of the error of a model with more labels, as shares of the points without a label. The error
// lies between Low and High in about four of five cases.
type Expectation struct {
	Labels int     `json:"labels"` // how many more
	Today  float64 `json:"today"`  // estimate of the error with the labels of today
	Error  float64 `json:"error"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// The power law of [Expect] and the spread of the logarithm of its error. They were measured over sets,
// labels drawn at random and labels asked for by rules: docs/next.md has the campaign. Exponents of single
// sets, by label spreading from subsets of their labels, did not predict how the error fell (correlations
// of −0.14 to 0.33), so that all sets have one.
const (
	expectExponent = 0.55
	// The spread has three parts: of the estimate of today, of the exponent, and of what the two
	// estimates of today's error differ by.
	expectToday    = 0.45
	expectSlope    = 0.35
	expectDisagree = 0.5
	// expectQuantile is the normal quantile of an interval of 80 %.
	expectQuantile = 1.2816
)

// Expect returns the error that m, a model of the classes in t, is expected to have with more labels that
// [Planner.Next] chooses or that are drawn at random; nil if it cannot be told. With l labels and as many as
// more further ones it is
//
//	e (l/(l + more))^0.55,  e = mean over the points without a label of 1 − max_c p_c
//
// with the probabilities in p, a prediction for all points. The interval is
//
//	log e(more) ± 1.28 √(0.45² + (0.35 log((l + more)/l))² + (0.5 log(h/e))²)
//
// where h is the error at the labels that the fit held out. Labels that a rule chose lie where the model is
// unsure; h is too large there, and the interval wide. A model without answers for labels held out
// ([SuspectsOfFit]), or without probabilities, gives nil.
func Expect(m models.Model, t *models.Targets, p *models.Prediction, more int) *Expectation {
	if m == nil || t == nil || t.Classes == nil || p == nil || p.Probabilities == nil || more < 1 {
		return nil
	}
	judged := SuspectsOfFit(m, t)
	n, c := p.Probabilities.Dims()
	if judged == nil || judged.Labeled-judged.Unknown < fewestJudged || n != t.Len || n == len(t.Labeled) {
		return nil
	}

	labeled := make([]bool, n)
	for _, i := range t.Labeled {
		labeled[i] = true
	}
	sum := 0.0
	for i := range n {
		if labeled[i] {
			continue
		}
		most := 0.0
		for _, v := range p.Probabilities.RawRowView(i) {
			most = max(most, v)
		}
		sum += 1 - most
	}

	// One wrong answer in two is added to the held-out ones, as none among few is no certainty.
	l := len(t.Labeled)
	today := max(sum/float64(n-l), leastError)
	held := (float64(len(judged.List)) + 1) / (float64(judged.Labeled-judged.Unknown) + 2)

	growth := math.Log(float64(l+more) / float64(l))
	spread := math.Sqrt(expectToday*expectToday + math.Pow(expectSlope*growth, 2) +
		math.Pow(expectDisagree*math.Log(held/today), 2))
	middle := today * math.Exp(-expectExponent*growth)

	// No model is worse than guessing among c classes.
	guess := 1 - 1/float64(c)
	return &Expectation{
		Labels: more,
		Today:  min(today, guess),
		Error:  min(middle, guess),
		Low:    min(middle*math.Exp(-expectQuantile*spread), guess),
		High:   min(middle*math.Exp(expectQuantile*spread), guess),
	}
}

const (
	// fewestJudged is the least number of labels held out that tell an error, that of calibrations.
	fewestJudged = 10
	// leastError bounds estimates of the error from below.
	leastError = 0.003
)
