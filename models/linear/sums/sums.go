// Package sums fits linear models to points in parts. A part is a range of rows; it computes what
// of XᵀLᵖX and of the moments of labeled points its rows contribute, matrices of d×d and d×m, and
// keeps them in a work folder. Parts are independent: each may be a job of its own, on any
// computer that sees the files, in any order. The merge adds them up in the order of their numbers
// and solves, so that the model has the same bits whatever jobs ran where and how often.
//
// V. Sindhwani, P. Niyogi and M. Belkin, Linear manifold regularization for large scale
// semi-supervised learning, ICML 2005 workshop, section 3.
//
// # Keys
//
// The key of a part has the hashes of its own rows of points, graph and labels, so that a job
// hashes no more than its share and the merge, which computes all hashes, sees any change. It
// also has the hash of a sample of all points, because a part reads neighbours in other parts.
// The weights γ are not in the key: another merge takes the same parts. Moments of labeled
// points are summed where l ≥ d; else, and for hinges, the merge reads the labeled rows and is
// the fit in one piece with a given XᵀLᵖX.
package sums

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Input of a fit in parts. It must be the same for all parts, except for γ_A, γ_I, their scaling
// and the hinge, which matter to the merge alone.
type Input struct {
	// Points are dense, n×d, and may be mapped files: each part reads its rows and their
	// neighbours. Values are checked by the part that owns them.
	Points data.Points
	// Graph has the weights of the points; nil without intrinsic norm. It may be mapped too, by
	// [sparse.Open]: a part checks its rows of it, and those of their neighbours that it reads.
	// Whoever merges must have checked the whole: see [sparse.CSR.CheckGraph].
	Graph     *sparse.CSR
	GraphName string // of its file or folder, for errors; may be empty
	Targets   *models.Targets
	Settings  linear.Settings // see [linear.SettingsOf]
	Parts     int
	// Report is told of progress and may be nil.
	Report linear.Progress
}

// Run is a fit in parts.
type Run struct {
	x        data.Points
	w        *sparse.CSR
	wName    string
	t        *models.Targets
	settings linear.Settings
	parts    int
	progress linear.Progress
	folder   *checkpoint.Folder

	n, d    int
	made    map[int]keys
	sample  func() string // data.HashSample of the points
	checked map[int]bool  // parts of which CheckPart found no fault
}

// keys are the keys of the stages of a part.
type keys struct{ norm, labels checkpoint.Key }

// Remedy says what to do with a work folder of another run.
const Remedy = "the work folder holds parts of other points, graphs, labels or numbers of parts; " +
	"give another one, or remove its files part-*.npz"

// Open makes a run that keeps its parts in the folder dir, which it makes if it is not there,
// and goes on from what the folder holds. A positive memory bounds the bytes of an array that
// is read. write is called to write files, such as a function that keeps interrupts away; it
// may be nil.
func Open(dir string, in *Input, memory int64, write func(func() error) error) (*Run, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	folder, err := checkpoint.Open(dir, "a fit in parts", true, memory, write)
	if err != nil {
		return nil, err
	}
	// Hashes of points take a pass over a sample, so they wait until a key is needed.
	r := &Run{x: in.Points, w: in.Graph, wName: cmp.Or(in.GraphName, "the graph"), t: in.Targets,
		settings: in.Settings, parts: in.Parts, progress: in.Report, folder: folder, made: map[int]keys{},
		checked: map[int]bool{}}
	r.n, r.d = in.Points.Dims()
	r.sample = sync.OnceValue(func() string { return data.HashSample(r.x) })
	if in.Settings.Regularizer.GammaI == 0 {
		r.w = nil
	}
	folder.Remedy = Remedy
	return r, nil
}

// Check returns an error for an input that cannot be fitted in parts.
func (in *Input) Check() error {
	n, d := in.Points.Dims()
	reg := in.Settings.Regularizer
	_, sparsePoints := in.Points.(*sparse.CSR)
	switch {
	case sparsePoints || d > linear.MaxFormed:
		return fmt.Errorf("sums: fits in parts are for dense points of at most %d columns; these are %s",
			linear.MaxFormed, data.Describe(in.Points))
	case in.Parts < 1 || in.Parts > n:
		return fmt.Errorf("sums: %d parts of %d points; there must be at least 1 and a point in each",
			in.Parts, n)
	case in.Targets.Len != n:
		return fmt.Errorf("sums: targets for %d points, there are %d", in.Targets.Len, n)
	case len(in.Targets.Labeled) == 0:
		return errors.New("sums: no point has a target")
	case in.Targets.Weights != nil:
		return models.Faultf("sums: %s is for fits at once; parts sum labels that count alike", param.Name("label-weights"))
	case reg.GammaI == 0:
	case in.Graph == nil:
		return errors.New("sums: γ_I is positive but there is no graph")
	case in.Graph.Rows != n || in.Graph.Cols != n:
		return fmt.Errorf("sums: a graph of %d points for %d points", in.Graph.Rows, n)
	case reg.Coefficients != nil:
		return models.Faultf("sums: %s is for fits at once; parts sum the powers 1 and 2 alone",
			param.Name("penalty-coefficients"))
	case reg.Power > 2:
		return fmt.Errorf("sums: power %d of the Laplacian; parts reach neighbours only, which is "+
			"enough for powers 1 and 2", reg.Power)
	}

	return nil
}

func (r *Run) report(done, total float64, note string) {
	if r.progress != nil {
		r.progress(done, total, note)
	}
}

// Rows returns the rows lo ≤ i < hi of part p, counted from 0.
func (r *Run) Rows(p int) (lo, hi int) { return p * r.n / r.parts, (p + 1) * r.n / r.parts }

// moments reports whether parts sum the moments of labeled points: least squares with at least as
// many of them as columns. Else the merge reads the labeled rows.
func (r *Run) moments() bool {
	return r.settings.Loss == linear.LeastSquares && len(r.t.Labeled) >= r.d
}

// PartCost is the largest of the given parts: its blocks of points and d×d matrices. Mapped files
// do not count; a part gives their pages back, so that it holds some 200 MiB of them at a time.
// Operations count the products. [Run.CheckPart] must have found no fault.
func (r *Run) PartCost(list ...int) stage.Cost {
	square := int64(8 * r.d * r.d)
	bytes := 2 * square
	var operations float64
	var scale int64 // bytes of D^-½ of a row or neighbour
	if r.normalized() {
		scale = 8
	}
	for _, p := range list {
		lo, hi := r.Rows(p)
		labeled := float64(len(r.labeled(lo, hi).Labeled))
		ops := 2 * labeled * float64(r.d*r.d)
		if r.w != nil {
			ops += 2*float64(hi-lo)*float64(r.d*r.d) + 4*float64(r.w.Ptr[hi]-r.w.Ptr[lo])*float64(r.d)
			bytes = max(bytes, 8*int64(hi-lo)) // offsets, for the hash
			cuts := r.blocks(lo, hi)
			for k, from := range cuts[:len(cuts)-1] {
				rows := int64(cuts[k+1] - from)
				entries := r.w.Ptr[cuts[k+1]] - r.w.Ptr[from]
				bytes = max(bytes, 2*square+8*int64(r.d)*(2*rows+entries)+entries*(4+4+8)+24*rows+
					scale*(rows+entries))
			}
		}
		operations = max(operations, ops)
	}

	// The moments of labeled points: blocks of rows and two more matrices.
	if r.moments() {
		rows := int64(min(1<<14, len(r.t.Labeled)))
		bytes = max(bytes, 4*square+rows*int64(r.d)*(8+8)+8*3*rows)
	}
	return stage.Cost{Bytes: stage.DenseBytes(bytes), Operations: operations,
		Remedy: "give points of fewer columns, or a graph with fewer neighbours"}
}

// MergeCost returns the cost of the sums and of a fit to them.
func (r *Run) MergeCost() stage.Cost {
	d := int64(r.d)
	_, outputs := r.t.Y.Dims()
	fit := 8 * 5 * d * int64(outputs)
	if !r.moments() {
		fit = linear.SummedBytes(r.x, r.t, r.settings)
	}
	// Hashes of the graph hold the offsets of as many parts as run at a time.
	offsets := int64(par.Workers(r.parts, 1)) * 8 * int64(r.n/r.parts) // for hashes of the graph
	bytes := max(8*6*d*d+fit, offsets)
	return stage.Cost{Bytes: stage.DenseBytes(bytes), Remedy: "give fewer labels, or points of fewer columns"}
}

// Kept returns the bytes that the parts take in the folder.
func (r *Run) Kept() int64 {
	d := int64(r.d)
	_, outputs := r.t.Y.Dims()
	var one int64
	if r.w != nil {
		one += 8 * d * d
	}
	if r.moments() {
		one += 8 * (d + 1) * (d + int64(outputs))
	}
	return int64(r.parts) * one
}

func (r *Run) normalized() bool { return r.settings.Regularizer.Laplacian != sparse.Combinatorial }

// labeled returns the targets of rows lo to hi, numbered from lo.
func (r *Run) labeled(lo, hi int) *models.Targets {
	a := sort.SearchInts(r.t.Labeled, lo)
	b := sort.SearchInts(r.t.Labeled, hi)
	out := &models.Targets{Len: hi - lo}
	_, m := r.t.Y.Dims()
	if out.Y = (&mat.Dense{}); b > a {
		out.Y = r.t.Y.Slice(a, b, 0, m).(*mat.Dense)
	}
	for _, i := range r.t.Labeled[a:b] {
		out.Labeled = append(out.Labeled, i-lo)
	}
	return out
}

// Names of the files of part p, which is counted from 0.
func normName(p int) string   { return fmt.Sprintf("part-%05d-norm.npz", p) }
func labelsName(p int) string { return fmt.Sprintf("part-%05d-labels.npz", p) }

// keys returns the keys of part p: what all parts share, and the hashes of its own rows of the
// points, the graph and the targets. Every row is in one of them, so that the merge sees any
// change; and a sample of all points tells that no file of neighbours was replaced between two
// parts.
func (r *Run) keys(p int) keys {
	k, ok := r.made[p]
	if !ok {
		k = r.keysOf(p)
		r.made[p] = k
	}
	return k
}

// allKeys makes the keys of all parts, several at once.
func (r *Run) allKeys(ctx context.Context) error {
	list := make([]keys, r.parts)
	par.Until(ctx, r.parts, 1, func(p, _ int) {
		var ok bool
		if list[p], ok = r.made[p]; !ok {
			list[p] = r.keysOf(p)
		}
	})

	if err := ctx.Err(); err != nil {
		return err
	}
	for p, k := range list {
		r.made[p] = k
	}
	return nil
}

func (r *Run) keysOf(p int) keys {
	lo, hi := r.Rows(p)
	hash := sync.OnceValue(func() string { return data.HashPoints(data.Slice(r.x, lo, hi)) })
	common := func() checkpoint.Key {
		return checkpoint.Key{"points": strconv.Itoa(r.n), "columns": strconv.Itoa(r.d),
			"count of parts": strconv.Itoa(r.parts), "sample of all points": r.sample(),
			"hash of the points of the part": hash()}
	}
	// The norm depends on points, graph and power, and not on the labels.
	var k keys
	if r.w != nil {
		first := r.w.Ptr[lo]
		end := r.w.Ptr[hi]
		rows := &sparse.CSR{Rows: hi - lo, Cols: r.n, Ptr: make([]int64, hi-lo+1), Col: r.w.Col[first:end]}
		for i := range rows.Ptr {
			rows.Ptr[i] = r.w.Ptr[lo+i] - first
		}
		if r.w.Val != nil {
			rows.Val = r.w.Val[first:end]
		}
		k.norm = common()
		k.norm["hash of the graph of the part"] = data.HashPoints(rows)
		k.norm["laplacian"] = r.settings.Regularizer.Laplacian.String()
		k.norm["power"] = strconv.Itoa(r.settings.Regularizer.Power)
	}

	// The moments depend on the labels of the part, and not on the graph.
	if r.moments() {
		t := r.labeled(lo, hi)
		_, m := r.t.Y.Dims()
		k.labels = common()
		k.labels["outputs"] = strconv.Itoa(m)
		hash, err := npy.Sum([]archive.Array{{Name: "labeled", Data: asInt64(t.Labeled)},
			{Name: "targets", Data: values(t.Y)}})
		if err != nil {
			hash = err.Error()
		}
		k.labels["hash of the labels of the part"] = hash
	}

	return k
}

func asInt64(list []int) []int64 {
	out := make([]int64, len(list))
	for p, i := range list {
		out[p] = int64(i)
	}
	return out
}

// values returns the elements of y without gaps.
func values(y *mat.Dense) []float64 {
	var out []float64
	for i := range y.RawMatrix().Rows {
		out = append(out, y.RawRowView(i)...)
	}
	return out
}

// normState and labelState describe the stages of a part.
type normState struct {
	Rows   int     `json:"rows"`
	Volume float64 `json:"volume"` // sum of the degrees
}

type labelState struct {
	Labeled int `json:"labeled"`
}

// CheckPart returns an error for a number of no part, and for rows of the graph in part p that no
// graph has. It reads them once.
func (r *Run) CheckPart(p int) error {
	if p < 0 || p >= r.parts {
		return fmt.Errorf("sums: part %d of %d; they are counted from 0", p, r.parts)
	}
	if r.w == nil || r.checked[p] {
		return nil
	}
	lo, hi := r.Rows(p)
	err := r.checkRows(lo, hi)
	r.checked[p] = err == nil
	return err
}

// checkRows returns an error for rows lo to hi that no graph has.
func (r *Run) checkRows(lo, hi int) error {
	if err := r.w.CheckRows(lo, hi); err != nil {
		return fmt.Errorf("%s: %s; make the graph again", r.wName, strings.TrimPrefix(err.Error(),
			"sparse: "))
	}
	return nil
}

// Part computes part p unless the folder holds it. It returns whether it did anything.
func (r *Run) Part(ctx context.Context, p int) (bool, error) {
	if err := r.CheckPart(p); err != nil {
		return false, err
	}
	k := r.keys(p)
	lo, hi := r.Rows(p)
	var done bool
	if k.norm != nil {
		var s normState
		if stage, err := r.folder.Load(normName(p), k.norm, &s); err != nil {
			return false, err
		} else if stage == nil {
			if err := r.sumNorm(ctx, p, lo, hi); err != nil {
				return false, err
			}
			done = true
		}
	}

	// Each of the two stages is kept for itself: other labels need no new norm.
	if k.labels != nil {
		var s labelState
		if stage, err := r.folder.Load(labelsName(p), k.labels, &s); err != nil {
			return false, err
		} else if stage == nil {
			if err := r.sumLabels(ctx, p, lo, hi); err != nil {
				return false, err
			}
			done = true
		}
	}

	return done, nil
}

func (r *Run) sumNorm(ctx context.Context, p, lo, hi int) error {
	if err := r.checkPoints(lo, hi); err != nil {
		return err
	}
	m, volume, err := r.norm(ctx, lo, hi)
	if err != nil {
		return err
	}
	return r.folder.Save(normName(p), r.keys(p).norm, normState{hi - lo, volume}, archive.Array{Name: "norm",
		Shape: []int{r.d, r.d}, Data: m.RawMatrix().Data})
}

func (r *Run) sumLabels(ctx context.Context, p, lo, hi int) error {
	if err := r.checkPoints(lo, hi); err != nil {
		return err
	}
	t := r.labeled(lo, hi)
	if len(t.Labeled) == 0 {
		return r.folder.Save(labelsName(p), r.keys(p).labels, labelState{})
	}
	s, err := linear.SumLabeled(ctx, data.Slice(r.x, lo, hi), t)
	if err != nil {
		return err
	}

	// The rows are not needed again.
	m := len(s.TargetMean)
	data.Release(r.x, lo, hi)
	return r.folder.Save(labelsName(p), r.keys(p).labels, labelState{s.Rows}, archive.Array{Name: "mean",
		Data: s.Mean}, archive.Array{Name: "target_mean", Data: s.TargetMean},
		archive.Array{Name: "gram", Shape: []int{r.d, r.d}, Data: s.Gram.RawMatrix().Data},
		archive.Array{Name: "moments", Shape: []int{r.d, m}, Data: s.Moments.RawMatrix().Data})
}

// checkPoints returns an error for values of rows lo to hi that are not finite.
func (r *Run) checkPoints(lo, hi int) error {
	return data.CheckFinite(fmt.Sprintf("points from row %d on", lo), data.Slice(r.x, lo, hi))
}

// Missing returns the parts that the folder does not hold.
func (r *Run) Missing() []int {
	var out []int
	for p := range r.parts {
		if r.w != nil && !r.folder.Has(normName(p)) || r.moments() && !r.folder.Has(labelsName(p)) {
			out = append(out, p)
		}
	}
	return out
}

// Merge adds up the parts in the order of their numbers and fits the model. With a part missing
// the error is a [*checkpoint.MissingError]; a usable error comes with the model. It reads the points and the
// graph once, to see that the parts are theirs, and the labeled rows where those are not summed.
func (r *Run) Merge(ctx context.Context) (*linear.Model, error) {
	if missing := r.Missing(); missing != nil {
		return nil, &checkpoint.MissingError{Missing: missing, Parts: r.parts, Folder: r.folder.Path("")}
	}
	r.report(0, 1, "hashes of the points and the graph")
	if err := r.allKeys(ctx); err != nil {
		return nil, err
	}
	norm, err := r.sumOfNorms(ctx)
	if err != nil {
		return nil, err
	}

	// The norm takes the place of the points; the labeled rows are read where they were not
	// summed.
	problem, err := linear.NewSummed(r.x, norm)
	if err != nil {
		return nil, err
	}
	problem.Progress = r.progress
	if !r.moments() {
		return problem.Fit(ctx, r.t, &r.settings)
	}
	labels, err := r.sumOfLabels(ctx)
	if err != nil {
		return nil, err
	}
	return problem.FitSums(ctx, labels, r.t.Classes, &r.settings)
}

func (r *Run) sumOfNorms(ctx context.Context) (*linear.Norm, error) {
	if r.w == nil {
		return nil, nil
	}
	out := &linear.Norm{M: mat.NewDense(r.d, r.d, nil), Kind: r.settings.Regularizer.Laplacian,
		Power: r.settings.Regularizer.Power}
	for p := range r.parts {
		r.report(float64(p), float64(r.parts), "parts of XᵀLᵖX")
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var s normState
		stage, err := r.folder.Load(normName(p), r.keys(p).norm, &s)
		if err != nil {
			return nil, err
		}

		m, err := r.matrix(normName(p), stage, "norm", r.d)
		if err != nil {
			return nil, err
		}
		out.M.Add(out.M, m)
		out.Volume += s.Volume
	}

	// Each part is a sum over its rows only; the sum of all is symmetric.
	for i := range r.d {
		for j := range i {
			v := (out.M.At(i, j) + out.M.At(j, i)) / 2 // equal but for rounding
			out.M.Set(i, j, v)
			out.M.Set(j, i, v)
		}
	}

	return out, nil
}

func (r *Run) sumOfLabels(ctx context.Context) (*linear.Sums, error) {
	_, m := r.t.Y.Dims()
	out := &linear.Sums{Mean: make([]float64, r.d), TargetMean: make([]float64, m),
		Gram: mat.NewDense(r.d, r.d, nil), Moments: mat.NewDense(r.d, m, nil)}
	for p := range r.parts {
		r.report(float64(p), float64(r.parts), "parts of XᵀX")
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var s labelState
		name := labelsName(p)
		stage, err := r.folder.Load(name, r.keys(p).labels, &s)
		if err != nil {
			return nil, err
		}
		if s.Labeled == 0 {
			continue
		}

		// Arrays of a stage are checked before they are used as matrices.
		one := &linear.Sums{Rows: s.Labeled, Mean: checkpoint.Elements[float64](stage, "mean"),
			TargetMean: checkpoint.Elements[float64](stage, "target_mean")}
		if len(one.Mean) != r.d || len(one.TargetMean) != m || s.Labeled < 0 {
			return nil, fmt.Errorf("%s: means of %d columns and %d targets, there are %d and %d; "+
				"remove it and make it again", r.folder.Path(name), len(one.Mean),
				len(one.TargetMean), r.d, m)
		}
		if one.Gram, err = r.matrix(name, stage, "gram", r.d); err != nil {
			return nil, err
		}
		if one.Moments, err = r.matrix(name, stage, "moments", m); err != nil {
			return nil, err
		}
		out.Add(one)
	}

	return out, nil
}

// matrix returns the d×columns matrix of a stage. A file that disappeared has none.
func (r *Run) matrix(name string, stage checkpoint.Arrays, array string, columns int) (*mat.Dense, error) {
	v := checkpoint.Elements[float64](stage, array)
	if len(v) != r.d*columns {
		return nil, fmt.Errorf("%s: %d elements of %s, of %d×%d; remove it and make it again",
			r.folder.Path(name), len(v), array, r.d, columns)
	}
	return mat.NewDense(r.d, columns, v), nil
}
