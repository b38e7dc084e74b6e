package linear

import (
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
)

// TransductionChoice is a [Transduction] as users give it: by the shares of the
// classes.
type TransductionChoice struct {
	// Weight is that of Transduction.
	Weight float64
	// Priors are the shares of the classes, ascending, in any unit. Default those of
	// the labels.
	Priors []float64
}

// TransductionParams are the parameters of a [TransductionChoice].
var TransductionParams = models.Table[TransductionChoice]{
	{Param: models.Param{Name: "unlabeled-weight",
		Doc: "weight C*/C of the loss of an unlabeled point beside that of a labeled one", Default: "1",
		Range: models.Positive(), Axis: true, Smaller: true},
		At: func(c *TransductionChoice) any { return &c.Weight }},
	{Param: models.Param{Name: "priors",
		Doc:     "shares of the classes among the unlabeled points, by class as in a:0.8,b:0.2 or ascending by class",
		Default: "those of the labels", Range: models.NotNegative(), Named: true},
		At: func(c *TransductionChoice) any { return &c.Priors }},
}

// On returns the transduction of classes as [models.ClassTargets] codes them: an
// output for one of two classes is for the second.
func (c TransductionChoice) On(t *models.Targets) (Transduction, error) {
	out := Transduction{Weight: c.Weight}
	if c.Priors == nil {
		return out, nil
	}
	if len(c.Priors) != len(t.Classes) {
		return out, models.Faultf("%s names %d shares for %d classes", param.Name("priors"),
			len(c.Priors), len(t.Classes))
	}
	var total float64
	for _, v := range c.Priors {
		total += v
	}
	if !(total > 0) {
		return out, models.Faultf("%s are all 0; a class must have a share", param.Name("priors"))
	}

	for _, v := range c.Priors {
		out.Positive = append(out.Positive, v/total)
	}
	if len(out.Positive) == 2 {
		out.Positive = out.Positive[1:]
	}
	return out, nil
}

// Choice returns the parameters of a transduction. The priors of two classes are
// rounded.
func (s Transduction) Choice() TransductionChoice {
	c := TransductionChoice{Weight: s.Weight, Priors: s.Positive}
	if len(s.Positive) == 1 {
		c.Priors = []float64{1 - s.Positive[0], s.Positive[0]}
	}
	return c
}
