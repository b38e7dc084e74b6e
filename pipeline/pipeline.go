// Package pipeline leads from points to a model: principal components, an index, the graph of
// nearest neighbours, eigenpairs of its Laplacian, a learner fitted to targets, and answers in
// batches. Each stage announces its cost before it begins and reports its progress to an
// observer; nothing is printed.
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

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Pipeline holds what all stages have in common. The zero value is ready for use.
type Pipeline struct {
	// Seed of everything random.
	Seed uint64
	// Memory, if positive, bounds the bytes of a stage. A stage that needs more is done in
	// a way that needs less, or refused with a *[MemoryError] before it begins. The bound
	// holds with and without an Observer.
	Memory int64
	// Time estimates the seconds of a search for neighbours by a method. If it is nil, long
	// searches are timed on this machine.
	Time func(context.Context, choice.Work, knn.Method) (float64, error)
	// Observer, if not nil, is told about the stages.
	Observer stage.Observer
	// Checkpoint, if not nil, keeps finished stages and supplies stages that were kept.
	Checkpoint *Checkpoint
}

// MemoryError refuses a stage that needs more memory than [Pipeline.Memory] allows.
type MemoryError struct {
	Stage        string
	Bytes, Limit int64
	Remedy       string // advice, in the imperative
}

// Error names the stage, both numbers of bytes and the remedy.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("pipeline: %s needs %d bytes of memory and %d are allowed; %s", e.Stage, e.Bytes,
		e.Limit, e.Remedy)
}

// silent is the observer of a pipeline without an Observer.
type silent struct{}

func (silent) Announce(string, stage.Cost) error { return nil }
func (silent) Note(string)                       {}
func (silent) Begin(string)                      {}
func (silent) Update(float64, float64, string)   {}
func (silent) End(string)                        {}

// limited is an observer that refuses stages that exceed the memory.
type limited struct {
	stage.Observer
	memory int64
}

// Announce asks the observer first: it may know more about the memory in use.
func (l limited) Announce(name string, c stage.Cost) error {
	if err := l.Observer.Announce(name, c); err != nil {
		return err
	}
	if c.Bytes > l.memory {
		return &MemoryError{Stage: name, Bytes: c.Bytes, Limit: l.memory, Remedy: c.Remedy}
	}
	return nil
}

// Observed returns the Observer, or a silent one. It refuses a stage with more bytes than
// Memory allows by a *[MemoryError], whatever the Observer says.
func (p *Pipeline) Observed() stage.Observer {
	o := p.Observer
	if o == nil {
		o = silent{}
	}
	if p.Memory > 0 {
		return limited{o, p.Memory}
	}
	return o
}

// Fit fits a learner to in and does not change in. A graph, eigenpairs and required values that
// in lacks are made: see [Pipeline.FitComplete].
//
// An error that is [models.Usable] comes with the model that was reached.
func (p *Pipeline) Fit(ctx context.Context, l models.Learner, in *models.Input,
	g *GraphSettings) (models.Model, error) {
	m, _, err := p.FitComplete(ctx, l, in, g)
	return m, err
}

// FitComplete fits a learner to in, and returns the model and the complete input of the fit: a
// copy of in with Seed and Memory of p and everything that was made. [Pipeline.Calibrate] and
// other fits to the same points take this input.
//
// FitComplete makes the inputs that the learner needs and in lacks: the graph of in.Points by
// the settings g (nil for the defaults), the eigenpairs, and required values. Cross-validation
// on the learner's documented grid chooses required values, or a fixed rule if there are too
// few labels: see [models.Chosen]. A graph without points gets in.Points, if the learner
// answers through the graph.
//
// An error that is [models.Usable] comes with the model that was reached.
func (p *Pipeline) FitComplete(ctx context.Context, l models.Learner, in *models.Input,
	g *GraphSettings) (models.Model, *models.Input, error) {
	in, err := p.own(l, in)
	if err != nil {
		return nil, nil, err
	}

	info := l.Info()
	settings, err := graphSettings(&info, in, g)
	if err != nil {
		return nil, nil, err
	}

	// Required values and the way to fit are chosen before the costs are known.
	// short collects errors of results that fall short but are usable.
	in.Edges = 2 * in.Len() * settings.Graph.K // each is stored twice
	short, err := p.choose(ctx, l, in, settings)
	if err != nil {
		return nil, nil, err
	}
	if err := p.chooseWay(l, in); err != nil {
		return nil, nil, err
	}
	if err := p.announceFit(l, in, settings); err != nil {
		return nil, nil, err
	}

	// Graph and eigenpairs are made last, when it is known that the fit may begin.
	if info.UsesGraph(in.Values) {
		fault, err := p.complete(ctx, l, in, settings)
		if err != nil {
			return nil, nil, err
		}
		short = errors.Join(short, fault)
	}

	p.Observed().Begin("fit")
	in.Progress = func(s models.Progress) { p.Observed().Update(s.Done, s.Total, s.Note) }
	m, err := l.Fit(ctx, in)
	if !models.Usable(err) {
		return nil, nil, err
	}
	text := m.Summary().Text
	if info.OpenGraph { // its summary says which models it chose, too long for a line of a stage
		p.Observed().Note(info.Name + ": " + text)
		text = ""
	}

	p.Observed().End(text)

	// The learner knows classes and points by number; a wrapper around the model knows their names.
	m, fault := models.WithNames(m, in.Targets.Names)
	if fault == nil && in.IDs != nil {
		ids := in.IDs
		// A model of nearest neighbours keeps its labeled points alone.
		if models.TrainingPoints(m) == len(in.Targets.Labeled) {
			ids = ids.Select(in.Targets.Labeled)
		}
		m, fault = models.WithIDs(m, ids)
	}
	if fault == nil && in.Columns != nil && m.Dim() > 0 {
		m, fault = models.WithColumns(m, in.Columns)
	}
	return m, in, errors.Join(short, err, fault)
}

// graphSettings returns g with its defaults, or the choice of [AutoGraph] for a learner that leaves the
// graph open, if g is nil.
func graphSettings(info *models.Info, in *models.Input, g *GraphSettings) (*GraphSettings, error) {
	if g == nil && info.OpenGraph && in.Points != nil && in.Graph == nil {
		return AutoGraph(in.Points, nil)
	}
	return g.filled(), nil
}

// own returns a copy of in for a fit of l by p, or an error if l cannot be fitted to in.
func (p *Pipeline) own(l models.Learner, in *models.Input) (*models.Input, error) {
	if l == nil {
		return nil, errors.New("pipeline: the learner is nil; all.Find says which there are")
	}
	if in == nil {
		return nil, errors.New("pipeline: the input is nil")
	}
	out := *in
	out.Seed = p.Seed
	out.Memory = p.Memory
	if err := out.Check(); err != nil {
		return nil, err
	}
	info := l.Info()
	if info.Needs.Has(models.NeedsPoints) && in.Points == nil {
		return nil, fmt.Errorf("pipeline: %s needs points", info.Name)
	}
	// Soft labels that the learner does not take are refused before a graph is made.
	if !in.Targets.Plain() {
		if err := info.CheckTargets(in.Targets); err != nil {
			return nil, err
		}
	}
	var err error
	out.Values, err = models.OrderShares(l.Params(), in.Values, in.Targets)
	return &out, err
}

// chooseWay lets a [models.Chooser] choose values by sizes, such as exact or landmarks.
func (p *Pipeline) chooseWay(l models.Learner, in *models.Input) error {
	c, ok := l.(models.Chooser)
	if !ok {
		return nil
	}
	v, why, err := c.Choose(in)
	if err != nil || why == "" {
		return err
	}
	in.Values = v
	in.Why = why
	p.Observed().Note(l.Info().Name + ": " + why)
	return nil
}

// announceFit announces a fit, with the graph and the eigenpairs that will be made for it.
func (p *Pipeline) announceFit(l models.Learner, in *models.Input, s *GraphSettings) error {
	cost, err := l.Cost(in)
	if err != nil {
		return err
	}
	more, err := p.toMake(l, in, s)
	if err != nil {
		return err
	}
	cost.Bytes += more
	return p.Observed().Announce("fit", cost)
}

// toMake returns the bytes of the graph and the eigenpairs that complete will make. They are
// held during the fit.
func (p *Pipeline) toMake(l models.Learner, in *models.Input, s *GraphSettings) (int64, error) {
	info := l.Info()
	n := int64(in.Len())
	if !info.UsesGraph(in.Values) {
		return 0, nil
	}
	var bytes int64
	if in.Graph == nil {
		// For each edge its column and its value; for each point components, degrees and the
		// lists, which are kept for updates.
		columns := s.PCA
		if in.Points != nil {
			_, d := in.Points.Dims()
			columns = s.projected(d)
		}
		bytes = 16*int64(in.Edges) + 32*n + 4*n*int64(columns) + 12*n*int64(s.Graph.K)
	}

	// Eigenvectors are n×k numbers that stay for the whole fit.
	paired, ok := l.(models.Paired)
	if !ok || in.Pairs != nil {
		return bytes, nil
	}
	k, _, _, err := paired.Pairs(in)
	return bytes + 8*n*int64(k), err
}

// Complete returns a copy of in with the graph and the eigenpairs that a fit needs. It makes
// the missing ones by s; a nil s means the defaults. An error that is [models.Usable] comes
// with the results that were reached.
func (p *Pipeline) Complete(ctx context.Context, l models.Learner, in *models.Input,
	s *GraphSettings) (*models.Input, error) {
	out := *in
	short, err := p.complete(ctx, l, &out, s)
	if err != nil {
		return nil, err
	}
	return &out, short
}

// complete is [Pipeline.Complete] on in itself. The first error comes with usable results.
func (p *Pipeline) complete(ctx context.Context, l models.Learner, in *models.Input,
	s *GraphSettings) (short, err error) {
	info := l.Info()
	s = s.filled()
	if in.Graph == nil && in.Points == nil {
		return nil, fmt.Errorf("pipeline: %s needs points or a graph", info.Name)
	}

	// A graph without points gets the points of the input, so that new points can join it.
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

	// Class weights cut edges, so they come before the eigenpairs.
	if s.ClassWeights != nil {
		if err := p.weighClasses(ctx, in, s); err != nil {
			return nil, err
		}
	} else if s.ClassGraphs {
		return nil, models.Faultf("%s need %s, a number for each class", param.Name("class-graphs"),
			param.Name("class-weights"))
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

	// Some learners say how many eigenvectors each component is to have.
	var quotas []int32
	if parts, ok := l.(models.PartPaired); ok {
		if quotas, err = parts.Quotas(in); err != nil {
			return nil, err
		}
	}

	// Both functions ask the checkpoint first.
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

// EigsSettings are the settings of eigenpairs in the manifests of their files.
type EigsSettings struct {
	Laplacian sparse.Kind `json:"laplacian"`
	Largest   bool        `json:"largest,omitempty"`
	Power     int         `json:"power,omitempty"` // default 1
	K         int         `json:"k"`
	// Below, if not 0, asks for all pairs with values below it in place of K pairs.
	Below     float64       `json:"below,omitempty"`
	Tolerance float64       `json:"tolerance"` // default: the default of lanczos.Settings
	Precision Precision     `json:"precision,omitempty"`
	Seed      uint64        `json:"seed"`
	Graph     GraphSettings `json:"graph"` // settings of the graph, if known
	// Certificate of the pairs that were found; nil in settings.
	Certificate any `json:"certificate,omitempty"`
}

// Precision is the precision of the eigenvectors that are kept and written.
type Precision int

const (
	// Double is float64.
	Double Precision = iota
	// Single is float32, in half of the memory: see [lanczos.Settings.Single].
	Single
)

var precisions = enum.New[Precision]("precision", "double", "single")

// String returns the name used on the command line and in manifests.
func (p Precision) String() string { return precisions.String(p) }

// MarshalText returns the name.
func (p Precision) MarshalText() ([]byte, error) { return precisions.Marshal(p) }

// UnmarshalText is the inverse of MarshalText.
func (p *Precision) UnmarshalText(text []byte) error { return precisions.Unmarshal(p, text) }

// Eigenpairs computes eigenpairs of the Laplacian of a graph. change, if not nil, may change the
// settings of the solver.
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
		Single: s.Precision == Single, MemoryLimit: p.eigenpairsLimit()}
	if err := p.snapshots(g, s, settings); err != nil {
		return nil, err
	}

	// The caller's changes come after the snapshot, which they may replace.
	if change != nil {
		change(settings)
	}
	l = l.With(max(s.Power, 1), 0)
	remedy := "ask for fewer eigenpairs"
	find := lanczos.Laplacian
	if s.Below != 0 {
		n, err := p.countBelow(l, g, s.Below, settings)
		if err != nil {
			return nil, err
		}
		settings.K = n.Pairs(l.Dim())
		remedy = fmt.Sprintf("%s: lower the bound", n)
		find = func(ctx context.Context, l *sparse.Laplacian, c *sparse.Components,
			s *lanczos.Settings) (*lanczos.Result, error) {
			return lanczos.Below(ctx, l, c, n, s)
		}
	}
	if err := p.fitEigenpairs(g, s.Laplacian, settings, remedy); err != nil {
		return nil, err
	}
	p.Observed().Begin("eigenpairs")
	settings.OnRestart = func(s lanczos.State) error {
		p.Observed().Update(float64(s.Basis), float64(s.BasisMax), s.String())
		return nil
	}
	r, err := find(ctx, l, g.Components, settings)
	// A snapshot that does not fit the operator is a fault of the folder, not of the run.
	if errors.Is(err, lanczos.ErrSnapshot) {
		return nil, fmt.Errorf("%s: %w; %s", p.kept().Path(checkpoint.Snapshot), err, checkpoint.BeginAnew)
	}

	if r != nil {
		p.Observed().End(r.String())
	}
	return r, err
}

// countBelow counts the eigenvalues of l, the Laplacian of g, below a bound, as a stage.
func (p *Pipeline) countBelow(l *sparse.Laplacian, g *models.Graph, bound float64,
	s *lanczos.Settings) (*lanczos.Count, error) {
	p.Observed().Begin("count")
	n, err := lanczos.CountBelow(l, g.Components, bound, s)
	if err == nil {
		p.Observed().End(n.String())
	}
	return n, err
}

// fitEigenpairs announces the eigenpairs of g. If they do not fit into memory beside the graph,
// the basis gets the memory that the graph leaves, or the smallest size.
func (p *Pipeline) fitEigenpairs(g *models.Graph, kind sparse.Kind, s *lanczos.Settings, remedy string) error {
	edges := lanczos.EdgesOf(g.W, kind, s)
	announce := func(s lanczos.Settings) error {
		return p.AnnounceEigenpairs(g.W.Rows, g.Components, edges, s, remedy)
	}
	err := announce(*s)
	if err == nil || s.MemoryLimit <= 0 {
		return err
	}
	// The graph takes 12 bytes an entry and 40 a vertex, and its copy for products 12 and 44; the basis
	// has to live with the rest.
	smaller := *s
	smaller.MemoryLimit -= 24*int64(g.W.NNZ()) + 84*int64(g.W.Rows)
	if _, _, short := lanczos.LaplacianBytes(g.W.Rows, g.Components, edges,
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

// External prepares the search for the smallest eigenpairs by another program: see
// [lanczos.NewExternalTask], also for reorder. spill is the folder for vectors that do not fit
// into memory ([lanczos.ExternalTask.Spill]).
func (p *Pipeline) External(g *models.Graph, s *EigsSettings, reorder bool,
	spill string) (*lanczos.ExternalTask, error) {
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
	bytes, least := lanczos.ExternalBytes(g.W.Rows, s.K)
	if p.Memory > 0 && bytes > p.Memory/2 { // the rest spills
		bytes = least
	}
	if err := p.Observed().Announce("eigenpairs",
		stage.Cost{Bytes: bytes, Remedy: "take a larger machine for the check"}); err != nil {
		return nil, err
	}
	p.Observed().Begin("density")

	o, err := lanczos.NewExternalTask(l, g.Components, &settings, reorder)
	if err == nil {
		o.Spill(spill, p.Memory/2)
		p.Observed().End(fmt.Sprintf("%d pairs behind %d null vectors are to be found, up to about λ "+
			"= %.3g of %.3g", o.Wanted, o.Nullity, o.Cut, o.High))
	}
	return o, err
}

// checkWalk refuses a random-walk Laplacian with a degree d so small that entries of its
// eigenvectors, of size 1/√d, could not be read back from a file.
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

// AnnounceEigenpairs announces the cost of eigenpairs of a graph with n points, the edges e
// and the components c (nil if they are not known). If the
// memory allowed is short, the basis is made smaller before anything is refused.
func (p *Pipeline) AnnounceEigenpairs(n int, c *sparse.Components, e lanczos.Edges, s lanczos.Settings,
	remedy string) error {
	bytes, operations, err := lanczos.LaplacianBytes(n, c, e, &s)
	if err != nil && s.MemoryLimit > 0 {
		s.MemoryLimit = 0
		s.Basis = 1
		bytes, operations, err = lanczos.LaplacianBytes(n, c, e, &s)
	}
	if err != nil {
		return err
	}
	return p.Observed().Announce("eigenpairs", stage.Cost{Bytes: withGarbage(bytes), Operations: operations,
		Remedy: remedy})
}

// withGarbage returns the memory of a search for eigenpairs whose vectors take these bytes. The blocks
// that come and go leave garbage: without these additions peaks of 60,000 points were up to 7 % above
// what was announced.
func withGarbage(bytes int64) int64 { return bytes + bytes/32 + stage.RuntimeBytes }

// eigenpairsLimit returns the memory that vectors of eigenpairs may take, 0 for any: the inverse of
// [withGarbage].
func (p *Pipeline) eigenpairsLimit() int64 {
	if p.Memory <= 0 {
		return 0
	}
	return max(1, (p.Memory-stage.RuntimeBytes)/33*32)
}

// Batch is the largest number of points that [Pipeline.Predict] answers for at once. It takes
// fewer if their scores would take more than 64 MiB.
const Batch = 1 << 14

// finiteAnswers returns an error for a score, value or probability that is not finite. lo is the
// number of the first point.
func finiteAnswers(p *models.Prediction, lo int) error {
	for _, answers := range []*mat.Dense{p.Scores, p.Probabilities} {
		if answers == nil {
			continue
		}
		rows, _ := answers.Dims()
		for i := range rows {
			for j, v := range answers.RawRowView(i) {
				if v-v != 0 {
					return fmt.Errorf("pipeline: the answer for row %d would be %v in column %d: the "+
						"point, or numbers in the model, are too large to compute with; scale the points "+
						"and fit again", lo+i, v, j)
				}
			}
		}
	}

	return nil
}

// batch returns the number of points to answer for at once with the given number of scores
// each: 2²³ scores are 64 MiB.
func batch(columns int) int { return max(min(Batch, 1<<23/max(columns, 1)), 512) }

// prepareIndex makes the index that the first search for neighbours would make. It is a stage
// of its own, because its progress counts training points, not the points to answer for.
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

// Predict answers for all points of x in batches. It keeps scores of classes only if scores is
// set, and probabilities only if s asks for them.
func (p *Pipeline) Predict(ctx context.Context, m models.Model, x data.Points, s models.PredictSettings,
	scores bool) (*models.Prediction, error) {
	n, d := x.Dims()
	if dim := m.Dim(); dim > 0 && d != dim {
		return nil, fmt.Errorf("pipeline: points of %d columns for a model of points of %d", d, dim)
	}

	// The cost of a batch, of its points widened to float64, and of all answers that are kept.
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

	predict := func(lo, hi int) error {
		s.OnProgress = func(done, total int) {
			p.Observed().Update(float64(lo)+float64(hi-lo)*float64(done)/float64(max(total, 1)),
				float64(n), "")
		}
		batch := x
		if hi-lo < n {
			batch = data.Slice(x, lo, hi)
		}

		answer, err := m.Predict(ctx, batch, &s)
		if err != nil {
			return err
		}
		if err := finiteAnswers(answer, lo); err != nil {
			return err
		}

		out.Classes = append(out.Classes, answer.Classes...)
		out.Recall = answer.Recall
		if keep {
			out.Scores.Slice(lo, hi, 0, o.Columns).(*mat.Dense).Copy(answer.Scores)
		}
		if s.Probabilities {
			out.Probabilities.Slice(lo, hi, 0, o.Columns).(*mat.Dense).Copy(answer.Probabilities)
		}
		return nil
	}

	// Without points the model is asked once all the same, for an answer of its form.
	var err error
	if n == 0 {
		err = predict(0, 0)
	} else {
		err = data.Each(x, size, predict)
	}
	if err != nil {
		return nil, err
	}

	text := fmt.Sprintf("%d points", n)
	if o.Extends {
		text += fmt.Sprintf(", %s extension", s.Extension)
	}
	p.Observed().End(text)
	return out, nil
}
