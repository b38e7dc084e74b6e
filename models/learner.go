// Package models holds the contract between learners and the rest of bigfit: the
// interface [Learner], parameters as data ([Param]), the [Input] and the [Cost] of a
// fit, the [Model] that it makes, and the model's file. The learners themselves live
// in the packages below, one for each family; [all.Learners] lists them.
//
// # A learner is data and four functions
//
// Parameters are rows of a [Table], each tied to its place in the settings of the family. The
// flags of fit, the axes of tune, the settings in manifests, the output of models --json and
// the check of values are all made from them. Values travel as text ([Values]), as flags, JSON
// and grids have them. A learner is a stateless value, so that folds can be fitted at the same
// time; families keep typed settings and functions for Go programs. A new learner is one type
// and one entry in the list of its family; a test takes one that only it knows through every
// command. The optional interfaces: [Checker] sees values before data are read, [Resolver]
// puts a number in the place of a rule such as the median distance, [Chooser] decides between
// exact and landmarks by counts of operations only, so that the choice is the same on every
// machine, for every fold and at a resumption. [GridLearner] is given all settings, the folds
// and a way to a graph, and shares work among settings (one factorization for many γ); for any
// other learner package selection fits setting by setting. Faults of parameters are [Fault]
// values, which leave the spelling of names to the caller: the command writes --gamma-a or
// BIGFIT_GAMMA_A, Go gamma-a. Decode belongs to Learner, because only the learner knows its
// arrays. Params holds the learner's own parameters; the parameters of the graph are
// pipeline.GraphParams, because one graph serves many learners.
package models

import (
	"context"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// A Learner makes models of one kind. It has no state: all settings are in the
// [Input], and its methods may be called concurrently.
type Learner interface {
	Info() Info
	// Params lists the learner's own parameters. Values that an Input does not
	// give have their defaults.
	Params() []Param
	// Cost estimates the memory and the operations of Fit. It looks at sizes only; Graph
	// and Pairs may be missing, and Edges then stands for them. Values that cannot be
	// fitted at any cost are an error.
	Cost(in *Input) (stage.Cost, error)
	// Fit makes a model. An error that is [Usable] comes with a model that falls
	// short of its tolerance. When ctx is cancelled Fit returns within a second.
	Fit(ctx context.Context, in *Input) (Model, error)
	// Decode reads a model that the learner made from its file.
	Decode(r *Reader) (Model, error)
}

// Info describes a learner.
type Info struct {
	Name string `json:"name"` // name on the command line and in manifests
	Help string `json:"help"` // one line
	// Formula says what a fit computes or minimizes, in lines, with the names of the papers: l of n points have labels
	// y, W are the weights of the graph and L its Laplacian.
	Formula string `json:"formula,omitempty"`
	// Source names the paper, section and equation.
	Source string `json:"source,omitempty"`
	// Scores says what the scores of the learner's models mean, in one line. They differ
	// from learner to learner; probabilities ([WithCalibration]) do not.
	Scores string `json:"scores"`
	Learns Learns `json:"learns"`
	Needs  Needs  `json:"needs"`
	// GraphIf names a parameter: the graph is left out if this parameter is missing or 0.
	// Empty means that a learner with NeedsGraph always takes the graph.
	GraphIf string `json:"graph_if,omitempty"`
	// GraphUnless names a parameter in place of the graph, which is left out if it is given and not 0.
	GraphUnless string `json:"graph_unless,omitempty"`
	// OpenGraph tells that settings of the graph that are not given follow from the
	// points, in place of the defaults: see pipeline.AutoGraph.
	OpenGraph bool `json:"open_graph,omitempty"`
	// Keeps tells that models keep the graph with its points although the learner needs points too: new points join
	// the graph.
	Keeps bool `json:"keeps_graph,omitempty"`
	// ShrinksToZero tells that values are learned by functions that a penalty draws towards 0, unless a parameter
	// intercept is there and on. Values far from 0 are learned badly so.
	ShrinksToZero bool `json:"shrinks_to_zero,omitempty"`
}

// Learns is a set of kinds of targets.
type Learns int

// The kinds of targets.
const (
	LearnsClasses Learns = 1 << iota // one class a point
	LearnsValues                     // one or several numbers a point
	LearnsLabels                     // any number of labels a point
	LearnsInside                     // where the labeled points are, whatever their labels
	LearnsShares                     // a distribution over the classes a point: [Targets.Soft]
	LearnsWeights                    // classes with a weight a label: [Targets.Weights]
)

var learnsNames = []string{"classes", "values", "labels", "inside", "shares", "weights"}

// Has tells whether all kinds in k are in l.
func (l Learns) Has(k Learns) bool { return l&k == k }

// MarshalText lists the names.
func (l Learns) MarshalText() ([]byte, error) { return listNames(int(l), learnsNames), nil }

// Needs is a set of inputs.
type Needs int

// The inputs of learners.
const (
	NeedsPoints      Needs = 1 << iota // the points themselves, not a graph alone
	NeedsGraph                         // the graph of nearest neighbours
	NeedsEigenpairs                    // eigenpairs of the graph's Laplacian
	NeedsKernel                        // a kernel between points
	NeedsOutputGraph                   // a graph of the outputs
)

var needsNames = []string{"points", "graph", "eigenpairs", "kernel", "output-graph"}

// Has tells whether all inputs in k are in n.
func (n Needs) Has(k Needs) bool { return n&k == k }

// MarshalText lists the names.
func (n Needs) MarshalText() ([]byte, error) { return listNames(int(n), needsNames), nil }

// listNames joins the names of the bits in set by commas.
func listNames(set int, names []string) []byte {
	var out []string
	for i, name := range names {
		if set&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return []byte(strings.Join(out, ","))
}

// UsesGraph tells whether a fit with the given values takes a graph.
func (i *Info) UsesGraph(v Values) bool {
	return i.Needs.Has(NeedsGraph) && (i.GraphIf == "" || v.Float(i.GraphIf) != 0) && v.Float(i.GraphUnless) == 0
}

// KeepsGraph tells whether models keep the points of the graph and answer for new points by
// their neighbours among them.
func (i *Info) KeepsGraph() bool { return i.Transductive() || i.Keeps }

// Transductive tells whether a graph without points is enough: the model then
// answers for the points of the graph alone.
func (i *Info) Transductive() bool { return i.Needs.Has(NeedsGraph) && !i.Needs.Has(NeedsPoints) }

// Input holds what a learner is fitted to. What the learner does not need may be
// missing.
type Input struct {
	Points  data.Points // n×d, as given
	Targets *Targets
	// IDs name the points; nil if they have numbers only. A model keeps them.
	IDs *data.IDs
	// Columns are the names of the columns of Points; nil if they have none. A model keeps them.
	Columns []string
	// Graph joins the points. Edges is an estimate of the number of its stored
	// edges, each of them twice, while it is not made yet.
	Graph *Graph
	Edges int
	// Pairs are the smallest eigenpairs of the graph's Laplacian, of the kind in
	// Laplacian, with vectors of n rows.
	Pairs     *lanczos.Result
	Laplacian sparse.Kind
	// Outputs is a graph of the columns of the targets, or OutputKernel the matrix B
	// of a kernel k(x, z)B, symmetric and positive semidefinite.
	Outputs      *sparse.CSR
	OutputKernel *mat.Dense
	// OutputNorm are the matrices B₀, B₁, … of the intrinsic norm M = Σ_p Lᵖ ⊗ B_p of the columns of the
	// targets, in place of r(L) ⊗ I; nil for that.
	OutputNorm []*mat.Dense

	// Start is the first iterate of an iterative fit; nil means none. It decides the time
	// and, within the tolerance, the answer. See [Kept].
	Start *mat.Dense

	Values Values // values of the learner's Params
	// Chosen says how required values that were not given were chosen; nil if there are
	// none.
	Chosen *Chosen
	// HoldOut asks a learner that makes choices by holding labels out, and that is fitted with the
	// choices of before, to hold labels out all the same: see [Continuer] and [Validated].
	HoldOut bool
	// Why explains the choice of a [Chooser]; empty if there was nothing to weigh.
	Why string
	// Seed of everything random. Any value is allowed, 0 included.
	Seed uint64
	// Memory, if positive, bounds the bytes of matrices: more is an error.
	Memory int64
	// Progress, if not nil, is called with the progress of the fit. Calls do not overlap.
	Progress func(Progress)
}

// Progress says how much of some work is done.
type Progress struct {
	Done, Total float64
	Note        string // a short text, or empty
}

// Report calls Progress, if there is one.
func (in *Input) Report(done, total float64, note string) {
	if in.Progress != nil {
		in.Progress(Progress{done, total, note})
	}
}

// Len returns the number of points.
func (in *Input) Len() int { return in.Targets.Len }

// EdgeCount returns the number of stored edges of the graph, or Edges without one.
func (in *Input) EdgeCount() int {
	if in.Graph != nil && in.Graph.W != nil {
		return in.Graph.W.NNZ()
	}
	return in.Edges
}

// LaplacianOf returns the Laplacian of the graph, nil without a graph.
func (in *Input) LaplacianOf(kind sparse.Kind) (*sparse.Laplacian, error) {
	if in.Graph == nil || in.Graph.W == nil {
		return nil, nil
	}
	return sparse.NewLaplacian(in.Graph.W, kind)
}

// Check returns an error unless points, graph and targets have one length.
func (in *Input) Check() error {
	if in.Targets == nil {
		return fmt.Errorf("models: there are no targets")
	}

	if in.Points != nil {
		if n, _ := in.Points.Dims(); n != in.Targets.Len {
			return fmt.Errorf("models: targets for %d points, there are %d", in.Targets.Len, n)
		}
	}

	if in.IDs != nil && in.IDs.Len() != in.Targets.Len {
		return fmt.Errorf("models: %d ids for targets of %d points", in.IDs.Len(), in.Targets.Len)
	}

	if in.Graph != nil && in.Graph.Len() != in.Targets.Len {
		return fmt.Errorf("models: a graph of %d points for targets of %d", in.Graph.Len(), in.Targets.Len)
	}
	return nil
}

// Paired is a learner that needs eigenpairs and says which ones.
type Paired interface {
	Learner
	// Pairs returns the number, the Laplacian and the tolerance of the eigenpairs
	// that a fit needs.
	Pairs(in *Input) (k int, kind sparse.Kind, tolerance float64, err error)
}

// PartPaired is a learner that chooses how many eigenpairs it wants of each component
// of a graph.
type PartPaired interface {
	Paired
	// Quotas returns the component of in.Graph from which each eigenpair comes, in the form
	// that lanczos.Parts takes: a component that is named m times has a quota of m pairs. nil
	// asks for the smallest pairs of the whole graph.
	Quotas(in *Input) ([]int32, error)
}

// Chooser is a learner that chooses a value by sizes, such as exact or landmarks.
type Chooser interface {
	Learner
	// Choose returns in.Values with a decision in place of each choice that is left to the
	// learner, and why in one line, which is empty if there was nothing to weigh. It looks
	// at sizes only, so that the choice is the same on every machine.
	Choose(in *Input) (v Values, why string, err error)
}

// Resolver is a learner with values that are rules, such as the median distance for the
// width of a kernel.
type Resolver interface {
	Learner
	// Resolve returns in.Values with numbers in place of rules. They depend on the
	// points, the seed and values that are names, not on the numbers among the values.
	Resolve(in *Input) (Values, error)
}

// SelfChecker is a learner that can predict every labeled point without the label of that
// point, at less cost than a fit for each.
type SelfChecker interface {
	Learner
	// LeaveOneOut returns the scores of the labeled points, each without its own label, in
	// the order of in.Targets.Labeled with a column for each class. known is false for a
	// point that no other label reaches. It returns the errors of Fit.
	//
	// With probes = 0 each label costs a column of a linear system. A positive number of probes
	// takes that many columns for all labels, and the scores are approximate.
	LeaveOneOut(ctx context.Context, in *Input, probes int) (scores *mat.Dense, known []bool, err error)
	// LeaveOneOutCost estimates the cost of LeaveOneOut, as Cost estimates a fit.
	LeaveOneOutCost(in *Input, probes int) (stage.Cost, error)
}
