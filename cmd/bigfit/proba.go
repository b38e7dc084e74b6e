package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// probaHelp is the help of --proba in commands that take the probabilities of another program.
const probaHelp = "`file` of probabilities of another model: a row for each point, a column for each class in the " +
	"order of the classes"

// farSum bounds how far the sum of a row of probabilities may be from 1: half precision leaves some 1e-3.
const farSum = 0.02

// readProba reads the probabilities of all points for the classes of t, and says which class each column
// is taken for.
func (a *app) readProba(path string, t *models.Targets) (*mat.Dense, error) {
	a.Reads("probabilities", path)
	p, err := data.ReadValues(path, data.ReadOptions{Limit: a.Left(), Points: t.Len})
	if err != nil {
		return nil, err
	}
	n, c := p.Dims()
	classes := pipeline.SomeClasses(t.Classes, t.Names)
	switch {
	case n != t.Len:
		return nil, fmt.Errorf("%s has %d rows for %d points", path, n, t.Len)
	case c != len(t.Classes):
		return nil, shell.Usagef("%s has %d columns for %d classes, %s", path, c, len(t.Classes), classes)
	}

	for i := range n {
		var sum float64
		for j, v := range p.RawRowView(i) {
			if !(v >= 0 && v <= 1) {
				return nil, fmt.Errorf("%s: the probability in row %d, column %d is %v; it must be from 0 to 1", path,
					i, j, v)
			}
			sum += v
		}
		if math.Abs(sum-1) > farSum {
			return nil, fmt.Errorf("%s: the probabilities in row %d add up to %.3g; they must to 1", path, i, sum)
		}
	}
	a.Note("%s: the columns are the classes %s", path, classes)
	return p, nil
}

// probaAnswers returns probabilities as answers: the most probable class of each point.
func probaAnswers(p *mat.Dense) *models.Prediction {
	return &models.Prediction{Classes: models.Argmax(p), Scores: p, Probabilities: p}
}
