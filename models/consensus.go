package models

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/enum"
)

// Consensus tells where soft labels come from that several annotators gave: package annotators. A model keeps it
// with the answers, so that an update can find the consensus of these and further ones.
type Consensus struct {
	// Classes that annotators named, and their names; nil for integers.
	Classes []int64  `json:"-"`
	Names   []string `json:"-"`
	// Annotators are in the order of their numbers.
	Annotators []Annotator `json:"annotators"`
	// Points have an answer, Disagreeing of them answers of several classes.
	Points      int `json:"points"`
	Disagreeing int `json:"disagreeing"`
	// Graph tells that the graph was the prior of the points' classes, with the exponent τ.
	Graph    bool    `json:"graph"`
	Exponent float64 `json:"exponent"`

	// Element k of the answers says that annotator Annotator[k] gave the class Class[k], a position in Classes, to the
	// training point Point[k].
	Point, Class, Annotator []int32 `json:"-"`
	// Confusion has for each annotator c rows for the classes, with the probabilities of the answers: ac×c.
	Confusion *mat.Dense `json:"-"`
}

// Annotator is what a fit found of an annotator.
type Annotator struct {
	Name     string  `json:"name"`
	Labels   int     `json:"labels"`
	Accuracy float64 `json:"accuracy"` // mean probability of its labels by the consensus
}

// String describes the consensus in one line.
func (c *Consensus) String() string {
	least, most := 0, 0
	for k, a := range c.Annotators {
		if a.Accuracy < c.Annotators[least].Accuracy {
			least = k
		}
		if a.Accuracy > c.Annotators[most].Accuracy {
			most = k
		}
	}
	prior := "without a graph"
	if c.Graph {
		prior = fmt.Sprintf("with the graph as prior (exponent %g)", c.Exponent)
	}
	return fmt.Sprintf("%s gave %d labels to %s, %d of them several classes; consensus %s; accuracy %.2f (%s) to %.2f (%s)",
		enum.Count(len(c.Annotators), "annotator"), len(c.Point), enum.Count(c.Points, "point"), c.Disagreeing, prior,
		c.Annotators[least].Accuracy, c.Annotators[least].Name, c.Annotators[most].Accuracy, c.Annotators[most].Name)
}

// WithConsensus returns m with the consensus that its labels come from, or without one if c is nil. The wrapper keeps it,
// as it keeps names.
func WithConsensus(m Model, c *Consensus) (Model, error) {
	if c != nil {
		if err := c.check(TrainingPoints(m)); err != nil {
			return nil, err
		}
	}
	w := wrappingOf(m)
	w.consensus = c
	return wrap(Unnamed(m), w), nil
}

// ConsensusOf returns the consensus of the labels of m, nil if there is none.
func ConsensusOf(m Model) *Consensus { return wrappingOf(m).consensus }

// check returns an error unless the parts fit together. points bounds the numbers of points, if it is positive.
func (c *Consensus) check(points int) error {
	classes, people := len(c.Classes), len(c.Annotators)
	if classes < 2 || people == 0 || c.Names != nil && len(c.Names) != classes {
		return fmt.Errorf("models: a consensus of %d annotators on %d classes", people, classes)
	}
	if len(c.Point) == 0 || len(c.Class) != len(c.Point) || len(c.Annotator) != len(c.Point) {
		return fmt.Errorf("models: %d points, %d classes and %d annotators of answers", len(c.Point), len(c.Class),
			len(c.Annotator))
	}
	for k, i := range c.Point {
		if i < 0 || points > 0 && int(i) >= points || c.Class[k] < 0 || int(c.Class[k]) >= classes || c.Annotator[k] < 0 ||
			int(c.Annotator[k]) >= people {
			return fmt.Errorf("models: answer %d is class %d of %d, for point %d, by annotator %d of %d", k, c.Class[k], classes,
				i, c.Annotator[k], people)
		}
	}
	if rows, cols := c.Confusion.Dims(); rows != people*classes || cols != classes {
		return fmt.Errorf("models: confusion of %d×%d for %d annotators and %d classes", rows, cols, people, classes)
	}
	return nil
}

// The answers of annotators in a model file, one element each, the confusion matrices, one below the other,
// and the values of the classes.
const (
	answerPoints     = "answer_points"     // int32
	answerClasses    = "answer_classes"    // int32
	answerAnnotators = "answer_annotators" // int32
	answerConfusion  = "answer_confusion"  // float64, ac×c
	answerValues     = "answer_values"     // int64, c
)

// consensusFile is the part of a consensus in the manifest.
type consensusFile struct {
	Consensus
	Names []string `json:"names,omitempty"`
}

// entries returns the arrays of the consensus; none for nil.
func (c *Consensus) entries() []archive.Array {
	if c == nil {
		return nil
	}
	return []archive.Array{{Name: answerPoints, Data: c.Point}, {Name: answerClasses, Data: c.Class},
		{Name: answerAnnotators, Data: c.Annotator}, MatrixEntry(answerConfusion, c.Confusion),
		{Name: answerValues, Data: c.Classes}}
}

// file returns the part in the manifest.
func (c *Consensus) file() *consensusFile {
	if c == nil {
		return nil
	}
	return &consensusFile{*c, c.Names}
}

// consensus returns the consensus in the file, nil if it has none.
func (r *Reader) consensus() (*Consensus, error) {
	f := r.Manifest.Consensus
	if f == nil {
		if r.Has(answerPoints) || r.Has(answerConfusion) {
			return nil, fmt.Errorf("models: there are answers of annotators, of which the manifest says nothing")
		}
		return nil, nil
	}
	c := f.Consensus
	c.Names = f.Names
	c.Point = Numbers[int32](r, answerPoints)
	c.Class = Numbers[int32](r, answerClasses)
	c.Annotator = Numbers[int32](r, answerAnnotators)
	c.Confusion = r.Matrix(answerConfusion)
	c.Classes = Numbers[int64](r, answerValues)
	if r.Err != nil {
		return nil, r.Err
	}
	return &c, nil
}
