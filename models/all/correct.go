package all

import (
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/correction"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
)

// CorrectAndSmooth corrects and smooths the answers of models of the columns alone: least squares and support vector
// machines, with a kernel and linear. The default is the one with the smallest mean error: over 500 points of nine sets
// with 5 and 20 labels of each class, `go run ./bench/auto -n 500 -models correct-and-smooth:base=rls,…`, MEASURED.
var CorrectAndSmooth = correction.Learner{Bases: []models.Learner{
	kernelmachine.Learner{Method: kernelmachine.RLS}, linear.Learners[0],
	kernelmachine.Learner{Method: kernelmachine.SVM}, linear.Learners[1],
}}
