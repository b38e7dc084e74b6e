// Package byclass continues labels over a graph that is larger than the memory, some classes at a time. It
// solves the equations of [propagation.LGC] and [propagation.Harmonic] in single precision,
//
//	(I − αS)F = (1 − α)Y,   S = D^-½WD^-½
//	L_uu f_u = W_ul y_l,    L = D − W
//
// and keeps of a part, which is some of the classes, no more than the best class of every point. The graph
// is mapped and read once a step; parts are independent and may be jobs of their own. The merge compares the
// best classes of all parts.
//
// # Label spreading
//
// With F = D^½Z the equations are (I − αD⁻¹W)Z = (1 − α)D^-½Y, a matrix with eigenvalues in [1 − α, 1 + α].
// Chebyshev's iteration (Golub & Varga, Numer. Math. 3, 1961) for that interval takes the same number of
// steps for all classes, known before the first: the error falls below τ times the solution after
//
//	k = ⌈ln(2/τ) / −ln ρ⌉ + 1 steps,   ρ = α / (1 + √(1 − α²))
//
// which is 71 for α = 0.99 and τ = 10⁻⁴. A step needs the last two iterates, n×w float32 for w classes at
// a time, and no right-hand side, as Y is zero but at the labels.
//
// # Harmonic functions
//
// Conjugate gradients with the degrees for a preconditioner need four blocks, and as many steps as the graph
// and the labels ask for.
//
// For both, residuals are computed from the definition in the end.
//
// # Order
//
// Before the first part the graph is written once more, in the order of [sparse.CSR.ProductOrder], so that
// rows of neighbours lie near each other, in memory and in the file.
//
// X. Zhu, Z. Ghahramani and J. Lafferty, Semi-supervised learning using Gaussian fields and harmonic
// functions, ICML 2003. D. Zhou, O. Bousquet, T. N. Lal, J. Weston and B. Schölkopf, Learning with local and
// global consistency, NIPS 2003.
package byclass

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// DefaultTolerance is the tolerance of fits by parts: single precision has no more than seven digits, and
// the answers are the largest scores.
const DefaultTolerance = 1e-4

// leastTolerance is about what sums in single precision reach.
const leastTolerance = 1e-6

// Input of a fit by parts. It must be the same for all parts.
type Input struct {
	// Graph has the weights, symmetric; it may be mapped, by [sparse.Open], and is checked by Order.
	Graph     *sparse.CSR
	GraphName string // of its file or folder, for errors; may be empty
	Targets   *models.Targets
	// Settings are of [propagation.LGC] or [propagation.Harmonic]; a tolerance of 0 means [DefaultTolerance].
	Settings propagation.Settings
	// Parts is the number of parts. A part with more than sixteen classes works on sixteen at a time.
	Parts int
	// Report is told of progress and may be nil.
	Report func(done, total float64, note string)
}

// InParts reports whether a learner can be fitted by parts.
func InParts(l models.Learner) bool {
	p, ok := l.(propagation.Learner)
	return ok && (p.Method == propagation.LGC || p.Method == propagation.Harmonic) && p.Solver == nil
}

// Run is a fit by parts.
type Run struct {
	in     *Input
	folder *checkpoint.Folder
	hash   func() string         // of the given graph
	key    func() checkpoint.Key // of a part, but for its number
	n      int
	alpha  float64 // 1 for harmonic functions
	steps  int     // 0 where they are not known beforehand

	// Of the graph in order, once it is open: see Order.
	graph   *sparse.CSR
	order   []int32   // vertex at each place; nil while parts are made
	labeled []int32   // places of the labeled points
	factor  []float32 // α/d_i, 0 where d_i is zero
	weight  []float32 // of the edges; nil for ones
	// Room that parts use one after the other.
	blocks [][]float32
	out    *best
}

// Remedy says what to do with a work folder of another run.
const Remedy = "the work folder holds parts of another graph, other labels or settings, or numbers of parts; " +
	"give another one, or remove it"

// Open makes a run that keeps its parts in the folder dir, which it makes if it is not there, and goes on
// from what the folder holds. A positive memory bounds the bytes of an array that is read. write is called
// to write files, such as a function that keeps interrupts away; it may be nil.
func Open(dir string, in *Input, memory int64, write func(func() error) error) (*Run, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	folder, err := checkpoint.Open(dir, "a fit in parts", true, memory, write)
	if err != nil {
		return nil, err
	}
	folder.Remedy = Remedy
	r := &Run{in: in, folder: folder, n: in.Graph.Rows, alpha: 1}
	if in.Settings.Method == propagation.LGC {
		r.alpha = cmp.Or(in.Settings.Alpha, propagation.DefaultAlpha)
		r.steps = steps(r.alpha, in.tolerance())
	}
	if most := in.Settings.MaxIterations; most > 0 && r.steps > most {
		return nil, models.Faultf("byclass: a residual of %g takes %d steps with α = %g, and %s allows %d",
			in.tolerance(), r.steps, r.alpha, param.Name("max-iterations"), most)
	}
	r.hash = sync.OnceValue(func() string { return data.HashPoints(in.Graph) })
	r.key = sync.OnceValue(r.partKey)
	return r, nil
}

// check returns an error for an input that cannot be fitted by parts.
func (in *Input) check() error {
	t := in.Targets
	classes := len(t.Classes)
	s := in.Settings
	switch {
	case s.Method != propagation.LGC && s.Method != propagation.Harmonic:
		return fmt.Errorf("byclass: %v is not fitted by parts of the classes; %v and %v are", s.Method,
			propagation.Harmonic, propagation.LGC)
	case t.Classes == nil:
		return errors.New("byclass: the labels are values; parts are of classes")
	case t.Len != in.Graph.Rows:
		return fmt.Errorf("byclass: targets of %d points for a graph of %d", t.Len, in.Graph.Rows)
	case len(t.Labeled) == 0:
		return errors.New("byclass: no point has a label")
	case classes < 2:
		return fmt.Errorf("byclass: labels of %d class; there must be two at least", classes)
	case in.Parts < 1 || in.Parts > classes:
		return fmt.Errorf("byclass: %d parts of %d classes; there must be at least 1 and a class in each",
			in.Parts, classes)
	case t.Weights != nil:
		return models.Faultf("byclass: %s is for fits at once", param.Name("label-weights"))
	case s.MassNormalization:
		return models.Faultf("byclass: %s needs the scores of all classes at once; fits in parts keep the best "+
			"class of every point", param.Name("class-mass"))
	case s.Priors != nil || s.ClassShares != 0:
		return models.Faultf("byclass: %s and %s need the scores of all classes at once; fits in parts keep "+
			"the best class of every point", param.Name("priors"), param.Name("class-shares"))
	case s.Tolerance != 0 && s.Tolerance < leastTolerance:
		return models.Faultf("byclass: %s is %g; in parts the solver works in single precision, which reaches %g",
			param.Name("tolerance"), s.Tolerance, float64(leastTolerance))
	}
	return nil
}

func (in *Input) tolerance() float64 {
	if in.Settings.Tolerance == 0 {
		return DefaultTolerance
	}
	return in.Settings.Tolerance
}

// steps returns the number of steps after which the error is below the tolerance: see the package.
func steps(alpha, tolerance float64) int {
	rho := alpha / (1 + math.Sqrt(1-alpha*alpha))
	return int(math.Ceil(math.Log(2/tolerance)/-math.Log(rho))) + 1
}

// Steps returns the number of steps for each sixteen classes, 0 where it is not known beforehand.
func (r *Run) Steps() int { return r.steps }

// StepBytes returns the bytes of the graph that a step reads.
func (r *Run) StepBytes() int64 { return 4*int64(r.in.Graph.NNZ()) + 8*int64(r.n) }

// Classes returns the classes lo ≤ c < hi of part p, counted from 0.
func (r *Run) Classes(p int) (lo, hi int) {
	c := len(r.in.Targets.Classes)
	return p * c / r.in.Parts, (p + 1) * c / r.in.Parts
}

// mostColumns is the largest number of classes that a part works on at a time; blocks of more than
// narrowColumns have room for all of these, for which the inner loop is fastest.
const (
	mostColumns   = 16
	narrowColumns = 8
)

// width returns the columns of a block for so many classes.
func width(classes int) int {
	if classes > narrowColumns {
		return mostColumns
	}
	return classes
}

// harmonicSteps is a guess at the steps of harmonic functions.
const harmonicSteps = 150

// PartCost is the largest of the given parts: two blocks, four of harmonic functions, the factors of the
// rows, and the best classes; before that, where it is not there, the order of the graph. Weights other than
// one count 4 bytes each. Mapped files do not count.
func (r *Run) PartCost(list ...int) stage.Cost {
	entries := int64(r.in.Graph.NNZ())
	blocks := 2
	steps := float64(r.steps)
	if r.in.Settings.Method == propagation.Harmonic {
		blocks = 4
		steps = harmonicSteps
	}
	out := stage.Cost{Remedy: fmt.Sprintf("make more parts: those of at most %d classes take the least memory",
		narrowColumns)}
	for _, p := range list {
		lo, hi := r.Classes(p)
		w := width(hi - lo)
		bytes := int64(r.n) * int64(4*blocks*w+4+resultBytes)
		if r.in.Graph.Val != nil {
			bytes += 4 * entries
		}
		// A few arrays that live as long as the part: the collector finds little to leave behind.
		out.Bytes = max(out.Bytes, bytes+bytes/16+stage.RuntimeBytes)
		times := float64((hi - lo + w - 1) / w)
		out.Operations = max(out.Operations, times*steps*stepOperations*float64(w)*(float64(entries)+1.5*float64(blocks*r.n)))
	}
	if !r.folder.Has(orderStage) {
		out.Bytes = max(out.Bytes, stage.HeapBytes(orderBytes*int64(r.n)))
		out.Operations += orderOperations * float64(entries)
	}
	return out
}

// Measured with 10⁷ and 10⁸ vertices of 12.5 neighbours, on two cores: a step takes the time of so many operations for
// each number that it reads, and the order of the graph, which is one thread's, for each entry. It holds orderBytes
// a vertex.
const (
	stepOperations  = 15
	orderOperations = 12_000
	orderBytes      = 14
)

// MergeCost is the best class of every point, of the merge and of a part, and the answers.
func (r *Run) MergeCost() stage.Cost {
	return stage.Cost{Bytes: stage.DenseBytes(int64(r.n) * (2*resultBytes + 4 + 4 + 8 + 8)),
		Remedy: "merge on a machine with more memory"}
}

// Kept returns the bytes that the folder takes: the graph in order, and the best class of every point in
// each part.
func (r *Run) Kept() int64 {
	entry := int64(4)
	if r.in.Graph.Val != nil {
		entry = 12
	}
	return entry*int64(r.in.Graph.NNZ()) + int64(r.n)*(8+4+resultBytes*int64(r.in.Parts))
}

// Names of the stages.
const (
	orderStage  = "order.npz"
	orderFolder = "graph"
)

func partName(p int) string { return fmt.Sprintf("part-%05d.npz", p) }

// partKey is the key of a part, but for its number.
func (r *Run) partKey() checkpoint.Key {
	t := r.in.Targets
	labeled := make([]int64, len(t.Labeled))
	for q, i := range t.Labeled {
		labeled[q] = int64(i)
	}
	shares := t.Shares()
	hash, err := npy.Sum([]archive.Array{{Name: "labeled", Data: labeled},
		{Name: "shares", Data: shares.RawMatrix().Data}, {Name: "classes", Data: t.Classes}})
	if err != nil {
		hash = err.Error()
	}
	k := r.graphKey()
	k["hash of the labels"] = hash
	k["alpha"] = strconv.FormatFloat(r.alpha, 'g', -1, 64)
	k["method"] = r.in.Settings.Method.String()
	k["tolerance"] = strconv.FormatFloat(r.in.tolerance(), 'g', -1, 64)
	k["count of parts"] = strconv.Itoa(r.in.Parts)
	return k
}

// graphKey is the key of the order.
func (r *Run) graphKey() checkpoint.Key {
	g := r.in.Graph
	return checkpoint.Key{"vertices": strconv.Itoa(g.Rows), "entries": strconv.Itoa(g.NNZ()),
		"hash of the graph": r.hash()}
}

// CheckPart returns an error for a number of no part.
func (r *Run) CheckPart(p int) error {
	if p < 0 || p >= r.in.Parts {
		return fmt.Errorf("byclass: part %d of %d; they are counted from 0", p, r.in.Parts)
	}
	return nil
}

// Missing returns the parts that the folder does not hold.
func (r *Run) Missing() []int {
	var out []int
	for p := range r.in.Parts {
		if !r.folder.Has(partName(p)) {
			out = append(out, p)
		}
	}
	return out
}

func (r *Run) report(done, total float64, format string, args ...any) {
	if r.in.Report != nil {
		r.in.Report(done, total, fmt.Sprintf(format, args...))
	}
}

// Order writes the graph in order into the folder, unless it is there, and opens it. It checks the graph.
func (r *Run) Order(ctx context.Context) error {
	if r.graph != nil {
		return nil
	}
	path := r.folder.Path(orderFolder)
	if err := r.loadOrder(); err != nil {
		return err
	}
	if r.order == nil {
		g := r.in.Graph
		if err := g.CheckGraph(); err != nil {
			return fmt.Errorf("%s: %s; make the graph again", cmp.Or(r.in.GraphName, "the graph"), strings.TrimPrefix(err.Error(), "sparse: "))
		}
		r.report(0, 1, "order of %d vertices", g.Rows)
		order := g.ProductOrder()
		if err := ctx.Err(); err != nil {
			return err
		}
		// The folder comes first: the stage says that it is whole.
		if err := g.PermuteFolder(path, order, nil); err != nil {
			return err
		}
		if err := r.folder.Save(orderStage, r.graphKey(), struct{}{}, archive.Array{Name: "order", Data: order}); err != nil {
			return err
		}
		r.order = order
	}
	return r.openOrdered(path)
}

// loadOrder reads the order, if the folder holds it.
func (r *Run) loadOrder() error {
	if r.order != nil {
		return nil
	}
	arrays, err := r.folder.Load(orderStage, r.graphKey(), &struct{}{})
	if arrays == nil || err != nil {
		return err
	}
	order := checkpoint.Elements[int32](arrays, "order")
	seen := make([]bool, r.n)
	fault := len(order) != r.n
	for p := 0; p < len(order) && !fault; p++ {
		i := order[p]
		if fault = i < 0 || int(i) >= r.n || seen[i]; !fault {
			seen[i] = true
		}
	}
	if fault {
		return fmt.Errorf("%s: no order of %d vertices; remove it and run again", r.folder.Path(orderStage), r.n)
	}
	r.order = order
	return nil
}

// openOrdered opens the graph in order, which may have changed since it was written.
func (r *Run) openOrdered(path string) error {
	g, err := sparse.Open(path, 0)
	if err != nil {
		return err
	}
	if g.Rows != r.n || g.NNZ() != r.in.Graph.NNZ() || (g.Val == nil) != (r.in.Graph.Val == nil) || len(r.order) != r.n {
		err = fmt.Errorf("%d vertices and %d entries where the graph has %d and %d", g.Rows, g.NNZ(), r.n,
			r.in.Graph.NNZ())
	} else {
		err = g.CheckRows(0, g.Rows)
	}
	if err != nil {
		return fmt.Errorf("%s: %s; remove %s and run again", path, strings.TrimPrefix(err.Error(), "sparse: "),
			r.folder.Path(orderStage))
	}

	r.factor = make([]float32, r.n)
	if g.Val != nil {
		r.weight = make([]float32, len(g.Val))
	}
	par.For(r.n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			degree := float64(g.Ptr[i+1] - g.Ptr[i])
			if g.Val != nil {
				degree = 0
				for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
					degree += g.Val[p]
					r.weight[p] = float32(g.Val[p])
				}
			}
			if degree > 0 {
				r.factor[i] = float32(r.alpha / degree)
			}
		}
	})
	r.graph = g
	r.placeLabels()
	r.order = nil // the merge reads it again
	return nil
}

// placeLabels finds the places of the labeled points.
func (r *Run) placeLabels() {
	t := r.in.Targets
	position := make(map[int32]int, len(t.Labeled))
	for q, i := range t.Labeled {
		position[int32(i)] = q
	}
	r.labeled = make([]int32, len(t.Labeled))
	for place, i := range r.order {
		if q, ok := position[i]; ok {
			r.labeled[q] = int32(place)
		}
	}
}
