package all

import (
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/correction"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
)

// CorrectAndSmooth corrects and smooths the answers of models of the columns alone: least squares and support vector
// machines, linear and with a kernel.
var CorrectAndSmooth = correction.Learner{Bases: []models.Learner{
	linear.Learners[0], kernelmachine.Learner{Method: kernelmachine.RLS},
	linear.Learners[1], kernelmachine.Learner{Method: kernelmachine.SVM},
}}
