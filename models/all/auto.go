package all

import (
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/pool"
	"github.com/bigfit/bigfit/models/propagation"
)

// Auto is the default of fit: the list of the models among which cross-validation on
// the labels chooses, with the settings that are tried. Label spreading and least squares
// on the graph, each with a long and a short reach, follow clusters; least squares with
// kernels of four widths, and a linear one, follow what the graph does not show.
// docs/auto.md has the errors of each on the data sets at hand.
var Auto = pool.Learner{
	Name: "auto",
	Help: "chooses among other models by cross-validation on the labels and averages the best",
	Members: []pool.Member{
		{Learner: propagation.Learner{Method: propagation.LGC}, Prior: 2, Settings: []models.Values{{"alpha": "0.99", "tolerance": looseTolerance}}},
		{Learner: propagation.Learner{Method: propagation.LGC}, Prior: 2, Settings: []models.Values{{"alpha": "0.9", "tolerance": looseTolerance}}},
		{Learner: propagation.Learner{Method: propagation.Tikhonov}, Settings: graphSettings(0.01)},
		{Learner: propagation.Learner{Method: propagation.Tikhonov}, Settings: graphSettings(0.1)},
		gaussian(0.25), gaussian(0.5), gaussian(1), gaussian(2),
		{Learner: kernelmachine.Learner{Method: kernelmachine.RLS}, Settings: ambientSettings("kernel", "cosine"), Many: fewer},
	},
}

// looseTolerance of linear systems decides classes and takes a third of the time of the
// default.
const looseTolerance = "0.001"

// fewer landmarks stand for the labeled points where those are many.
var fewer = models.Values{"approximation": "nystrom"}

// graphSettings are least squares on the graph with the normalized Laplacian, where
// γ_A/γ_I is ratio: 0.01 is the reach of label spreading with α = 0.99, 0.1 that of 0.9.
func graphSettings(ratio float64) []models.Values {
	var out []models.Values
	for _, gamma := range []float64{1e-2, 1e-1, 1e-3} {
		out = append(out, models.Values{"gamma-i": models.FormatFloat(gamma), "gamma-a": models.FormatFloat(ratio * gamma),
			"laplacian": "normalized", "tolerance": looseTolerance})
	}
	return out
}

// gaussian is least squares with a Gaussian kernel of a width that is so many times the
// median distance.
func gaussian(times float64) pool.Member {
	return pool.Member{Learner: kernelmachine.Learner{Method: kernelmachine.RLS}, Settings: ambientSettings("sigma", "median"),
		Times: map[string][]float64{"sigma": {times}}, Prior: 0.5, Many: fewer}
}

// ambientSettings are a kernel with the strengths γ_A to choose from.
func ambientSettings(name, value string) []models.Values {
	var out []models.Values
	for _, gamma := range []string{"0.01", "0.1", "0.001", "1", "0.0001", "1e-05"} {
		out = append(out, models.Values{"gamma-a": gamma, name: value})
	}
	return out
}
