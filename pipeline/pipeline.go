// Package pipeline leads from points to a model: principal components, an index,
// the graph of nearest neighbours, eigenpairs of its Laplacian, a learner fitted to
// targets, and answers in batches. Each stage says what it takes before it begins
// and how far it is; nothing is printed.
//
//	x, err := data.ReadPoints("X.npy", data.ReadOptions{})
//	y, err := data.ReadLabels("y.npy", data.LabelOptions{})
//	t, err := models.ClassTargets(y)
//	l := all.Learner("lapsvm")
//	m, err := (&pipeline.Pipeline{}).Fit(ctx, l, &models.Input{Points: x, Targets: t,
//		Values: models.Values{"gamma-a": "1e-6", "gamma-i": "0.01"}}, nil)
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Pipeline holds what all stages have in common. The zero value is ready for use.
type Pipeline struct {
	// Seed of everything random.
	Seed uint64
	// Memory, if positive, bounds the bytes that the stages may take: what needs
	// more is refused before it begins, or done in a way that needs less.
	Memory int64
	// Time estimates the seconds of a search for neighbours by a method; nil measures
	// this machine, where a search is long.
	Time func(context.Context, choice.Work, knn.Method) (float64, error)
	// Observer, if not nil, is told about the stages.
	Observer stage.Observer
	// Checkpoint, if not nil, keeps what is done, and has what is done already.
	Checkpoint *Checkpoint
}

// silent is the observer of a pipeline that has none. It refuses what exceeds the
// memory.
type silent struct{ memory int64 }

func (s silent) Announce(stage string, c stage.Cost) error {
	if s.memory > 0 && c.Bytes > s.memory {
		return fmt.Errorf("pipeline: %s needs %d bytes of memory and %d are allowed; %s", stage, c.Bytes,
			s.memory, c.Remedy)
	}
	return nil
}
func (silent) Note(string)                     {}
func (silent) Begin(string)                    {}
func (silent) Update(float64, float64, string) {}
func (silent) End(string)                      {}

// Observed returns the observer, or one that refuses too much memory and is silent.
func (p *Pipeline) Observed() stage.Observer {
	if p.Observer == nil {
		return silent{p.Memory}
	}
	return p.Observer
}

// Fit fits a learner to in. What in lacks of what the learner needs is made: the
// graph by the settings g (nil for the defaults) of in.Points, the eigenpairs, and
// required values, which cross-validation chooses on the learner's documented grid or,
// where labels are too few for that, a fixed rule: see [models.Chosen].
// A graph that is given without points is joined with in.Points, if the learner
// answers through the graph. What is made is left in in, and Seed and Memory of in
// are those of p.
//
// An error that is [models.Usable] comes with the model that was reached.
func (p *Pipeline) Fit(ctx context.Context, l models.Learner, in *models.Input,
	g *GraphSettings) (models.Model, error) {
	info := l.Info()
	in.Seed = p.Seed
	in.Memory = p.Memory
	if err := in.Check(); err != nil {
		return nil, err
	}
	if info.Needs.Has(models.NeedsPoints) && in.Points == nil {
		return nil, fmt.Errorf("pipeline: %s needs points", info.Name)
	}

	settings := g.filled()
	if g == nil && info.OpenGraph && in.Points != nil && in.Graph == nil {
		var err error
		if settings, err = AutoGraph(in.Points, nil); err != nil {
			return nil, err
		}
	}

	in.Edges = 2 * in.Len() * settings.Graph.K   // each is stored twice
	short, err := p.choose(ctx, l, in, settings) // of what was asked, but usable
	if err != nil {
		return nil, err
	}

	if c, ok := l.(models.Chooser); ok {
		v, why, err := c.Choose(in)
		if err != nil {
			return nil, err
		}
		if why != "" {
			in.Values = v
			in.Why = why
			p.Observed().Note(info.Name + ": " + why)
		}
	}

	cost, err := l.Cost(in)
	if err != nil {
		return nil, err
	}
	more, err := p.toMake(l, in, settings)
	if err != nil {
		return nil, err
	}
	cost.Bytes += more
	if err := p.Observed().Announce("fit", cost); err != nil {
		return nil, err
	}

	if info.UsesGraph(in.Values) {
		fault, err := p.Complete(ctx, l, in, settings)
		if err != nil {
			return nil, err
		}
		short = errors.Join(short, fault)
	}

	p.Observed().Begin("fit")
	in.Progress = func(s models.Progress) { p.Observed().Update(s.Done, s.Total, s.Note) }
	m, err := l.Fit(ctx, in)
	if !models.Usable(err) {
		return nil, err
	}
	text := m.Summary().Text
	if info.OpenGraph { // it chose more than a graph
		p.Observed().Note(info.Name + ": " + text)
		text = ""
	}

	p.Observed().End(text)
	m, fault := models.WithNames(m, in.Targets.Names)
	return m, errors.Join(short, err, fault)
}

// toMake returns the bytes of the graph and the eigenpairs that complete will make and
// that are held during the fit.
func (p *Pipeline) toMake(l models.Learner, in *models.Input, s *GraphSettings) (int64, error) {
	info := l.Info()
	n := int64(in.Len())
	if !info.UsesGraph(in.Values) {
		return 0, nil
	}
	var bytes int64
	if in.Graph == nil {
		// Columns, values and what a search keeps of each edge; components and degrees.
		// The lists are kept for updates.
		bytes = 16*int64(in.Edges) + 32*n + 4*n*int64(s.PCA) + 12*n*int64(s.Graph.K)
	}

	paired, ok := l.(models.Paired)
	if !ok || in.Pairs != nil {
		return bytes, nil
	}
	k, _, _, err := paired.Pairs(in)
	return bytes + 8*n*int64(k), err
}

// Complete makes the graph and the eigenpairs that a fit needs and in lacks, by s, nil for
// the defaults. The first error comes with usable results.
func (p *Pipeline) Complete(ctx context.Context, l models.Learner, in *models.Input,
	s *GraphSettings) (short, err error) {
	info := l.Info()
	s = s.filled()
	if in.Graph == nil && in.Points == nil {
		return nil, fmt.Errorf("pipeline: %s needs points or a graph", info.Name)
	}

	if in.Graph == nil {
		var made *Graph
		if made, short = p.Graph(ctx, in.Points, s); !models.Usable(short) {
			return nil, short
		}
		in.Graph = &made.Graph
	} else if in.Points != nil && in.Graph.Points == nil && info.KeepsGraph() {
		if in.Graph, err = p.Join(ctx, in.Graph, in.Points, s); err != nil {
			return nil, err
		}
	}

	if s.ClassWeights != nil {
		if err := weighClasses(in, s.ClassWeights); err != nil {
			return nil, err
		}
	}

	paired, ok := l.(models.Paired)
	if !ok || in.Pairs != nil {
		return short, nil
	}
	k, kind, tolerance, err := paired.Pairs(in)
	if err != nil {
		return nil, err
	}
	in.Laplacian = kind
	settings := &EigsSettings{Laplacian: kind, K: k, Tolerance: tolerance}

	var quotas []int32
	if parts, ok := l.(models.PartPaired); ok {
		if quotas, err = parts.Quotas(in); err != nil {
			return nil, err
		}
	}

	find := p.keptEigenpairs
	if quotas != nil {
		find = func(ctx context.Context, g *models.Graph, s *EigsSettings,
			start *mat.Dense) (*lanczos.Result, error) {
			return p.partEigenpairs(ctx, g, s, quotas, start)
		}
	}

	r, unfinished := find(ctx, in.Graph, settings, in.Start)
	if !models.Usable(unfinished) {
		return nil, unfinished
	}
	in.Pairs = r
	return errors.Join(short, unfinished), nil
}

// EigsSettings are the settings of eigenpairs, as the manifests of their files keep
// them.
type EigsSettings struct {
	Laplacian sparse.Kind   `json:"laplacian"`
	Largest   bool          `json:"largest,omitempty"`
	Power     int           `json:"power,omitempty"` // default 1
	K         int           `json:"k"`
	Tolerance float64       `json:"tolerance"` // default that of lanczos.Settings
	Seed      uint64        `json:"seed"`
	Graph     GraphSettings `json:"graph"` // what the graph was made with, if known
	// Certificate of the pairs that were found; nil in settings.
	Certificate any `json:"certificate,omitempty"`
}

// Eigenpairs computes eigenpairs of the Laplacian of a graph. change, if not nil,
// may add to the settings of the solver.
func (p *Pipeline) Eigenpairs(ctx context.Context, g *models.Graph, s *EigsSettings,
	change func(*lanczos.Settings)) (*lanczos.Result, error) {
	l, err := sparse.NewLaplacian(g.W, s.Laplacian)
	if err != nil {
		return nil, err
	}
	if err := checkWalk(l); err != nil {
		return nil, err
	}
	settings := &lanczos.Settings{K: s.K, Largest: s.Largest, Tolerance: s.Tolerance, Seed: p.Seed,
		MemoryLimit: p.Memory}
	if err := p.snapshots(g, s, settings); err != nil {
		return nil, err
	}

	if change != nil {
		change(settings)
	}
	if err := p.fitEigenpairs(g, s.Laplacian, settings); err != nil {
		return nil, err
	}
	p.Observed().Begin("eigenpairs")
	settings.OnRestart = func(s lanczos.State) error {
		p.Observed().Update(float64(s.Basis), float64(s.BasisMax), s.String())
		return nil
	}
	r, err := lanczos.Laplacian(ctx, l.With(max(s.Power, 1), 0), g.Components, settings)
	if errors.Is(err, lanczos.ErrSnapshot) {
		return nil, fmt.Errorf("%s: %w; %s", p.kept().Path(checkpoint.Snapshot), err, checkpoint.BeginAnew)
	}

	if r != nil {
		p.Observed().End(r.String())
	}
	return r, err
}

// fitEigenpairs announces the eigenpairs of g. Where they do not fit beside the graph that
// is held, the basis is made smaller by so much, or the smallest.
func (p *Pipeline) fitEigenpairs(g *models.Graph, kind sparse.Kind, s *lanczos.Settings) error {
	hard := cg.Hard(g.W, kind)
	announce := func(s lanczos.Settings) error {
		return p.AnnounceEigenpairs(g.W.Rows, g.Components, g.W.NNZ(), hard, s, "ask for fewer eigenpairs")
	}
	err := announce(*s)
	if err == nil || s.MemoryLimit <= 0 {
		return err
	}
	smaller := *s
	smaller.MemoryLimit -= 12*int64(g.W.NNZ()) + 40*int64(g.W.Rows)
	if _, _, short := lanczos.LaplacianBytes(g.W.Rows, g.Components, g.W.NNZ(), hard,
		&smaller); short != nil || smaller.MemoryLimit <= 0 {
		smaller.MemoryLimit = s.MemoryLimit
		smaller.Basis = 1
	}

	if announce(smaller) != nil {
		return err
	}
	*s = smaller
	return nil
}

// Outside prepares the search for the smallest eigenpairs by another program, as
// [lanczos.NewOutside] does, which reorder is for. spill is the folder for vectors that do not fit
// the memory ([lanczos.Outside.Spill]).
func (p *Pipeline) Outside(g *models.Graph, s *EigsSettings, reorder bool,
	spill string) (*lanczos.Outside, error) {
	l, err := sparse.NewLaplacian(g.W, s.Laplacian)
	if err != nil {
		return nil, err
	}
	if err := checkWalk(l); err != nil {
		return nil, err
	}
	if s.Largest || s.Power > 1 {
		return nil, fmt.Errorf("pipeline: other programs are given the smallest eigenpairs of a " +
			"Laplacian of power 1")
	}

	settings := lanczos.Settings{K: s.K, Tolerance: s.Tolerance, Seed: p.Seed}
	bytes, least := lanczos.OutsideBytes(g.W.Rows, s.K)
	if p.Memory > 0 && bytes > p.Memory/2 { // the rest spills
		bytes = least
	}
	if err := p.Observed().Announce("eigenpairs",
		stage.Cost{Bytes: bytes, Remedy: "take a larger machine for the check"}); err != nil {
		return nil, err
	}
	p.Observed().Begin("density")

	o, err := lanczos.NewOutside(l, g.Components, &settings, reorder)
	if err == nil {
		o.Spill(spill, p.Memory/2)
		p.Observed().End(fmt.Sprintf("%d pairs behind %d null vectors are to be found, up to about λ "+
			"= %.3g of %.3g", o.Wanted, o.Nullity, o.Cut, o.High))
	}
	return o, err
}

// checkWalk refuses degrees d so small that entries of the eigenvectors of a
// random-walk Laplacian, which are of size 1/√d, could not be read back.
func checkWalk(l *sparse.Laplacian) error {
	if l.Kind() != sparse.RandomWalk {
		return nil
	}
	for i, d := range l.Degrees() {
		if d > 0 && 1/math.Sqrt(d) > lanczos.LongestEntry/2 {
			return fmt.Errorf("pipeline: the edges of point %d weigh %.3g in all, so that its "+
				"entries in eigenvectors of the random-walk Laplacian would be of size %.0e; take "+
				"the normalized Laplacian, or multiply all weights by a constant (of heat weights, "+
				"give a larger t)", i, d, 1/math.Sqrt(d))
		}
	}
	return nil
}

// AnnounceEigenpairs announces what eigenpairs of a graph of n points, nnz stored
// edges and the components c (nil if they are not known) take; hard is [cg.Hard] of it.
// Where the memory allowed is short, the basis is made smaller before anything is refused.
func (p *Pipeline) AnnounceEigenpairs(n int, c *sparse.Components, nnz int, hard bool, s lanczos.Settings,
	remedy string) error {
	bytes, operations, err := lanczos.LaplacianBytes(n, c, nnz, hard, &s)
	if err != nil && s.MemoryLimit > 0 {
		s.MemoryLimit = 0
		s.Basis = 1
		bytes, operations, err = lanczos.LaplacianBytes(n, c, nnz, hard, &s)
	}
	if err != nil {
		return err
	}
	return p.Observed().Announce("eigenpairs", stage.Cost{Bytes: bytes, Operations: operations,
		Remedy: remedy})
}

// Batch is the most points that [Pipeline.Predict] answers for at once; they are fewer
// where their scores would take more than 64 MiB.
const Batch = 1 << 14

// finiteAnswers returns an error for a score or value that is not finite, of points from
// number lo on.
func finiteAnswers(p *models.Prediction, lo int) error {
	if p.Scores == nil {
		return nil
	}
	rows, _ := p.Scores.Dims()
	for i := range rows {
		for j, v := range p.Scores.RawRowView(i) {
			if v-v != 0 {
				return fmt.Errorf("pipeline: the answer for row %d would be %v in column %d: the "+
					"point, or numbers in the model, are too large to compute with; scale the points "+
					"and fit again", lo+i, v, j)
			}
		}
	}

	return nil
}

// batch is the number of points to answer for at once with so many scores each.
func batch(columns int) int { return max(min(Batch, 1<<23/max(columns, 1)), 512) }

// prepareIndex makes what the first search for neighbours would make, as a stage of its
// own: its points are not those to answer for.
func (p *Pipeline) prepareIndex(ctx context.Context, m models.Model) error {
	h, ok := models.Unnamed(m).(interface {
		PrepareIndex(ctx context.Context, begin func(), onProgress func(done, total int)) error
	})
	if !ok {
		return nil
	}
	begun := false
	err := h.PrepareIndex(ctx, func() { begun = true; p.Observed().Begin("index") },
		func(done, total int) { p.Observed().Update(float64(done), float64(total), "") })
	if begun && err == nil {
		p.Observed().End("the training points, for the search for neighbours")
	}
	return err
}

// Predict answers for all points of x in batches. Scores of classes are kept only if
// they are asked for, and so are probabilities, by s.
func (p *Pipeline) Predict(ctx context.Context, m models.Model, x data.Points, s models.PredictSettings,
	scores bool) (*models.Prediction, error) {
	n, d := x.Dims()
	if dim := m.Dim(); dim > 0 && d != dim {
		return nil, fmt.Errorf("pipeline: points of %d columns for a model of points of %d", d, dim)
	}
	o := m.Output()
	keep := scores || o.Kind != models.OutputClasses
	size := batch(o.Columns)
	c := m.QueryCost(min(n, size), &s)
	points := 8 * int64(min(n, size)) * int64(d)
	if m, ok := x.(*sparse.CSR); ok {
		points = 12 * int64(m.NNZ()) // at most
	}
	c.Bytes += points + 4*int64(n)
	for _, wanted := range []bool{keep, s.Probabilities} {
		if wanted {
			c.Bytes += 8 * int64(n) * int64(o.Columns)
		}
	}

	c.Remedy = "split the new points over several files"
	if err := p.Observed().Announce("prediction", c); err != nil {
		return nil, err
	}
	if err := p.prepareIndex(ctx, m); err != nil {
		return nil, err
	}
	p.Observed().Begin("predict")
	out := &models.Prediction{}
	if keep {
		out.Scores = mat.NewDense(max(n, 1), o.Columns, nil)
	}
	if s.Probabilities {
		out.Probabilities = mat.NewDense(max(n, 1), o.Columns, nil)
	}

	for lo := 0; lo < n || lo == 0; lo += size {
		hi := min(lo+size, n)
		s.OnProgress = func(done, total int) {
			p.Observed().Update(float64(lo)+float64(hi-lo)*float64(done)/float64(max(total, 1)),
				float64(n), "")
		}
		batch := x
		if hi-lo < n {
			batch = data.Slice(x, lo, hi)
		}
		answer, err := m.Predict(ctx, batch, &s)
		data.Release(x, lo, hi)
		if err != nil {
			return nil, err
		}
		if err := finiteAnswers(answer, lo); err != nil {
			return nil, err
		}

		out.Classes = append(out.Classes, answer.Classes...)
		out.Recall = answer.Recall
		if keep {
			out.Scores.Slice(lo, hi, 0, o.Columns).(*mat.Dense).Copy(answer.Scores)
		}
		if s.Probabilities {
			out.Probabilities.Slice(lo, hi, 0, o.Columns).(*mat.Dense).Copy(answer.Probabilities)
		}
	}

	text := fmt.Sprintf("%d points", n)
	if o.Extends {
		text += fmt.Sprintf(", %s extension", s.Extension)
	}
	p.Observed().End(text)
	return out, nil
}
