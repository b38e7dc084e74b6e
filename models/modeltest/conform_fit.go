package modeltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/models"
)

// checkLearns: the model repeats three quarters of the targets, of values better
// than their mean does.
func (c *checker) checkLearns() {
	c.each(func(k kind) {
		in := c.input(blobs(sampleSize, false, 1), k)
		m := c.fit(k.name, in)
		a := c.ask(k.name, m, in.Points)
		for _, p := range []*models.Prediction{a.query, a.training} {
			if p != nil && k.learns != models.LearnsInside {
				c.repeats(k.name, in.Targets, m.Output(), p)
			}
		}

		// info prints the summary, so it must not be empty.
		if s := m.Summary(); s.Labeled != len(in.Targets.Labeled) || s.Text == "" {
			c.fault(k.name, "the summary names %d labeled points of %d and says %q", s.Labeled,
				len(in.Targets.Labeled), s.Text)
		}
	})
}

// repeats compares the answers for the labeled points with their targets.
func (c *checker) repeats(at string, t *models.Targets, o models.Output, p *models.Prediction) {
	right, total := 0, 0
	var wrong, spread float64
	_, cols := t.Y.Dims()
	for q, i := range t.Labeled {
		// Classes are compared by their names: model and targets may number them in other ways.
		if t.Classes != nil {
			total++
			if o.Classes[p.Classes[i]] == t.Classes[t.Class(q)] {
				right++
			}
			continue
		}

		for j := range cols {
			y := t.Y.At(q, j)
			f := p.Scores.At(i, j)
			switch {
			case math.IsNaN(y):
			case t.Labels != nil:
				total++
				if y > 0 == (f > 0) {
					right++
				}
			default:
				mean := mat.Sum(t.Y.ColView(j)) / float64(len(t.Labeled))
				wrong += (f - y) * (f - y)
				spread += (y - mean) * (y - mean)
			}
		}
	}

	// A learner that ignores its targets repeats a third of three classes. Regularized ones miss
	// some.
	if 4*right < 3*total {
		c.fault(at, "it repeats %d of %d targets", right, total)
	}
	if wrong > spread/2 {
		c.fault(at, "the squares of the errors are %.3g in sum, those about the mean %.3g", wrong, spread)
	}
}

// sameModel demands the same answers and files of two models, in bits.
func (c *checker) sameModel(at, what string, a, b models.Model) {
	query := queries(false)
	if d := difference(c.ask(at, a, query), c.ask(at, b, query), 0); d != "" {
		c.fault(at, "%s: %s", what, d)
	}

	// Equal answers to a few queries do not prove equal models, but equal files do.
	x, err := a.Encode()
	c.must(at, "Encode", err)
	y, err := b.Encode()
	c.must(at, "Encode", err)
	if d := encodedDifference(x, y); d != "" {
		c.fault(at, "%s: the files differ: %s", what, d)
	}
}

// checkRefit: a second fit makes the same model, and leaves its input alone.
func (c *checker) checkRefit() {
	c.each(func(k kind) {
		in := c.input(blobs(sampleSize, false, 1), k)
		untouched := c.input(blobs(sampleSize, false, 1), k)
		first := c.fit(k.name, in)
		for range 2 { // an order of a map may be the same by chance
			c.sameModel(k.name, "fitted again", first, c.fit(k.name, in))
		}
		if !sameInput(in, untouched) {
			c.fault(k.name+" input", "Fit changed its input")
		}
	})
}

// sameInput compares everything but the search indexes that the graphs have made.
func sameInput(a, b *models.Input) bool {
	x := *a
	y := *b
	// DeepEqual says that NaN is not NaN
	if !sameData(x.Targets.Y.RawMatrix().Data, y.Targets.Y.RawMatrix().Data) {
		return false
	}

	// The targets are equal beside Y, which was compared above.
	s := *x.Targets
	t := *y.Targets
	s.Y = nil
	t.Y = nil
	x.Targets = &s
	y.Targets = &t

	// A graph makes its search index when it is first asked, which is no change of the input.
	if x.Graph != nil {
		g := *x.Graph
		h := *y.Graph
		g.Neighborhood, h.Neighborhood = g.Keep(), h.Keep()
		x.Graph = &g
		y.Graph = &h
	}

	return reflect.DeepEqual(x, y)
}

// checkThreads: any number of threads makes the same model.
func (c *checker) checkThreads() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	c.first(func(k kind) {
		// These points are enough for several ranges of a parallel loop.
		in := c.input(blobs(7*sampleSize, false, 2), k)
		runtime.GOMAXPROCS(1)
		one := c.fit(k.name, in)
		alone := c.ask(k.name, one, queries(false))
		runtime.GOMAXPROCS(2)
		c.sameModel(k.name, "fitted by 1 and by 2 threads", one, c.fit(k.name, in))
		if d := difference(alone, c.ask(k.name, one, queries(false)), 0); d != "" {
			c.fault(k.name, "answers by 1 and by 2 threads: %s", d)
		}
	})
}

// checkPermuted: the order of the points does not matter.
func (c *checker) checkPermuted() {
	c.each(func(k kind) {
		s := blobs(sampleSize, false, 1)
		query := queries(false)
		in := c.input(s, k)

		// Points, targets, graph and eigenpairs move together: the input describes the same
		// problem.
		order := c.order(in)
		moved := s.take(order)
		other := *in
		other.Points = moved.x
		var err error
		other.Targets, err = k.targets(moved)
		c.must(k.name, "the targets", err)
		if in.Graph != nil {
			other.Graph = permutedGraph(in.Graph, moved.x, order)
		}

		// New eigenpairs could have other signs or another basis of an eigenspace, so the rows
		// move.
		if in.Pairs != nil {
			pairs := *in.Pairs
			rows, cols := pairs.Vectors.Dims()
			pairs.Vectors = mat.NewDense(rows, cols, nil)
			for p, i := range order {
				pairs.Vectors.SetRow(p, in.Pairs.Vectors.RawRowView(i))
			}
			other.Pairs = &pairs
		}

		// The answers of the first fit are brought into the order of the second.
		a := c.answer(k.name, in, query)
		b := c.answer(k.name, &other, query)
		a.training = reordered(a.training, order)
		if d := difference(a, b, c.tolerance()); d != "" {
			c.fault(k.name, "with the points in another order: %s", d)
		}
	})
}

// order returns a permutation that leaves the components of the graph in order,
// as the null vectors of a Laplacian come in it.
func (c *checker) order(in *models.Input) []int {
	n := in.Len()

	// Every permutation of a connected graph serves; with few components one is found soon.
	for seed := uint64(0); ; seed++ {
		order := rand.New(rand.NewPCG(seed, 4)).Perm(n)
		if in.Graph == nil {
			return order
		}
		seen := int32(0)
		inOrder := true
		for _, i := range order {
			of := in.Graph.Components.Of[i]
			inOrder = inOrder && of <= seen
			if of == seen {
				seen++
			}
		}

		if inOrder {
			return order
		}
	}
}

func permutedGraph(g *models.Graph, x data.Points, order []int) *models.Graph {
	// Row p of the new graph is row order[p] of the old one.
	at := make([]int32, len(order))
	for p, i := range order {
		at[p] = int32(i)
	}
	out := models.NewGraph(g.W.Permute(at))
	degrees := out.Degrees
	out.Neighborhood = g.Keep()
	out.Degrees, out.Points = degrees, x
	return out
}

// checkTypes: the type of the coordinates does not matter where it holds them
// exactly.
func (c *checker) checkTypes() {
	c.each(func(k kind) {
		s := blobs(sampleSize, true, 1)
		query := queries(true)
		want := c.answer(k.name, c.input(s, k), query)
		for name, convert := range map[string]func(data.Points) data.Points{"float32": converted[float32],
			"uint8": converted[uint8], "float16": halves} {
			c.try(k.name+" "+name, func() {
				got := c.answer(k.name+" "+name, c.input(s.with(convert(s.x)), k), convert(query))
				if d := difference(want, got, c.tolerance()); d != "" {
					c.fault(k.name+" "+name, "float64 and %s points: %s", name, d)
				}
			})
		}
	})
}

func converted[T data.Element](x data.Points) data.Points {
	n, d := x.Dims()
	out := data.NewDense[T](n, d)
	row := make([]float64, d)
	for i := range n {
		data.RowTo(row, x, i)
		for j, v := range row {
			out.Row(i)[j] = T(v)
		}
	}
	return out
}

// halves returns x in float16, in two parts as of two files.
func halves(x data.Points) data.Points {
	n, d := x.Dims()
	dense := converted[float32](x).(*data.Dense[float32])
	bits := make([]uint16, n*d)
	for i, v := range dense.Data {
		bits[i] = simd.ToHalf(v)
	}
	cut := n / 3
	out, err := data.Joined(data.NewHalves(cut, d, bits), data.NewHalves(n-cut, d, bits[cut*d:]))
	if err != nil {
		panic(err)
	}
	return out
}

// checkSparse: sparse points are the same points, and so are sparse new ones.
func (c *checker) checkSparse() {
	c.each(func(k kind) {
		s := blobs(sampleSize, false, 1)
		query := queries(false)
		m := c.fit(k.name, c.input(s, k))
		want := c.ask(k.name, m, query)
		got := c.answer(k.name, c.input(s.with(data.ToSparse(s.x)), k), data.ToSparse(query))
		if d := difference(want, got, c.tolerance()); d != "" {
			c.fault(k.name, "sparse and dense points: %s", d)
		}
		c.try(k.name+" mixed", func() {
			if d := difference(want, c.ask(k.name+" mixed", m, data.ToSparse(query)),
				c.tolerance()); d != "" {
				c.fault(k.name+" mixed", "sparse and dense new points for a model of dense ones: %s", d)
			}
		})
	})
}

// answered fits a sample and demands finite answers.
func (c *checker) answered(k kind, s *sample, query data.Points) {
	c.answer(k.name, c.input(s, k), query)
}

// checkDuplicates: points that are there twice or four times are nothing special.
func (c *checker) checkDuplicates() {
	c.each(func(k kind) {
		order := data.Range(0, sampleSize)
		order = append(order, order[:30]...)
		for range 2 * neighborCount { // one more often than it has neighbours
			order = append(order, 40)
		}
		c.answered(k, blobs(sampleSize, false, 1).take(order), queries(false))
	})
}

// checkFewPoints: fewer points than neighbours, eigenpairs and the like are asked
// for are enough.
func (c *checker) checkFewPoints() {
	c.each(func(k kind) {
		// Five points with four labels: one class may have a single label.
		s := blobs(5, false, 1)
		s.labeled = []bool{true, true, true, true, false}
		c.answered(k, s, queries(false))
	})
}

// checkSoft: distributions with one class, and weights of one, give the bits of hard labels. Distributions of
// several classes and other weights are learned, or are an error that says so.
func (c *checker) checkSoft() {
	if !c.info.Learns.Has(models.LearnsClasses) {
		return
	}
	s := blobs(sampleSize, false, 1)
	for _, k := range kinds {
		if k.learns != models.LearnsClasses {
			continue
		}
		c.try(k.name, func() {
			hard := c.input(s, k)
			want := c.ask(k.name, c.fit(k.name, hard), queries(false))
			in := *hard
			all := mat.NewDense(sampleSize, len(hard.Targets.Classes), nil)
			ones := make([]float64, sampleSize)
			for q, i := range hard.Targets.Labeled {
				hard.Targets.SharesTo(all.RawRowView(i), q)
				ones[i] = 1
			}
			var err error
			in.Targets, err = models.ShareTargets(all, hard.Targets.Classes, nil)
			c.must(k.name, "distributions of one class", err)
			in.Targets, err = in.Targets.Weighted(ones)
			c.must(k.name, "weights of one", err)
			got := c.ask(k.name, c.fit(k.name, &in), queries(false))
			if want.query != nil && !mat.Equal(got.query.Scores, want.query.Scores) {
				c.fault(k.name, "distributions of one class give other scores than hard labels")
			}
		})
	}

	for what, learns := range map[string]models.Learns{"shares": models.LearnsShares, "weights": models.LearnsWeights} {
		c.try(what, func() {
			in := c.input(s, kinds[0])
			t := *in.Targets
			in.Targets = &t
			if learns == models.LearnsShares {
				t.Soft = true
				t.Y = mat.DenseCopyOf(t.Y)
				t.Y.SetRow(0, []float64{0.2, -0.6, -0.6})
			} else {
				t.Weights = make([]float64, len(t.Labeled))
				for q := range t.Weights {
					t.Weights[q] = 1 + float64(q%2)
				}
			}
			if c.info.Learns.Has(learns) {
				c.fit(what, in)
				return
			}
			word := map[models.Learns]string{models.LearnsShares: "probabilities", models.LearnsWeights: "weights"}[learns]
			if err := c.refuse(what, "labels with "+what, in); !strings.Contains(err.Error(), word) {
				c.fault(what, "the error does not speak of %s: %v", word, err)
			}
		})
	}
}

// checkColumns: constant and collinear columns are nothing special.
func (c *checker) checkColumns() {
	c.each(func(k kind) {
		s := blobs(sampleSize, false, 1)
		c.answered(k, s.with(degenerate(s.x)), degenerate(queries(false)))
	})
}

// degenerate adds a constant column, a copy and a multiple of another.
func degenerate(x data.Points) data.Points {
	n, d := x.Dims()
	out := data.NewDense[float64](n, d+3)
	for i := range n {
		row := out.Row(i)
		data.RowTo(row[:d], x, i)
		row[d], row[d+1], row[d+2] = 50, row[0], -2*row[1]
	}
	return out
}

// checkShifted: values with a constant added give answers with it added, unless the learner says that it draws them
// towards 0.
func (c *checker) checkShifted() {
	if !c.info.Learns.Has(models.LearnsValues) {
		return
	}
	const shift = 1000
	s := blobs(sampleSize, false, 1)
	k := kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.learns == models.LearnsValues })]
	c.try(k.name, func() {
		in := c.input(s, k)
		plain := c.answer(k.name, in, queries(false))
		moved := *in
		targets := *in.Targets
		moved.Targets = &targets
		targets.Y = mat.DenseCopyOf(in.Targets.Y)
		targets.Y.Apply(func(_, _ int, v float64) float64 { return v + shift }, targets.Y)
		got := c.answer(k.name, &moved, queries(false))

		most := 0.0
		for _, p := range [][2]*models.Prediction{{plain.query, got.query}, {plain.training, got.training}} {
			if p[0] == nil {
				continue
			}
			n, _ := p[0].Scores.Dims()
			for i := range n {
				most = max(most, math.Abs(p[1].Scores.At(i, 0)-p[0].Scores.At(i, 0)-shift))
			}
		}
		said := c.info.ShrinksToZero && in.Values["intercept"] != "true"
		if shrinks := most > 1; shrinks != said {
			c.fault(k.name, "with %d added to the values the answers differ by %.3g from what they were with it added, and "+
				"Info says that they are drawn to 0: %v", shift, most, said)
		}
	})
}

// checkOneClass: labels of one class are an error that says so.
func (c *checker) checkOneClass() {
	if !c.info.Learns.Has(models.LearnsClasses) {
		return
	}
	s := blobs(sampleSize, false, 1)
	labeled := []int{0, 3, 9, 30}
	ones := mat.NewDense(len(labeled), 1, []float64{1, 1, 1, 1})
	for what, t := range map[string]*models.Targets{
		"one class":                {Len: sampleSize, Labeled: labeled, Y: ones, Classes: []int64{7}},
		"two classes, one labeled": {Len: sampleSize, Labeled: labeled, Y: ones, Classes: []int64{3, 7}},
		"three classes, one labeled": {Len: sampleSize, Labeled: labeled, Classes: []int64{1, 3, 7},
			Y: mat.NewDense(4, 3, []float64{1, -1, -1, 1, -1, -1, 1, -1, -1, 1, -1, -1})},
	} {
		c.try(what, func() {
			in := c.input(s, kinds[0])
			in.Targets = t
			if err := c.refuse(what, what, in); !names(err.Error(), "class") &&
				!names(err.Error(), "classes") {
				c.fault(what, "the error does not speak of classes: %v", err)
			}
		})
	}
}

// checkSingleLabel: a class with a single labeled point is learned.
func (c *checker) checkSingleLabel() {
	for _, k := range kinds {
		if k.learns != models.LearnsClasses || !c.info.Learns.Has(k.learns) {
			continue
		}

		c.try(k.name, func() {
			// Of the first cluster, point 0 alone keeps its label.
			s := blobs(sampleSize, false, 1)
			for i := range s.labeled {
				s.labeled[i] = s.labeled[i] && (s.blob[i] != 0 || i == 0)
			}
			in := c.input(s, k)
			m := c.fit(k.name, in)
			c.ask(k.name, m, queries(false))
			if got := m.Output().Classes; !slices.Equal(got, in.Targets.Classes) {
				c.fault(k.name, "the classes are %v, those of the targets %v", got, in.Targets.Classes)
			}
		})
	}
}

// checkNoLabels: targets for no point are an error.
func (c *checker) checkNoLabels() {
	c.each(func(k kind) {
		in := c.input(blobs(sampleSize, false, 1), k)
		none := *in.Targets
		none.Labeled = nil
		none.Y = &mat.Dense{}
		in.Targets = &none
		c.refuse(k.name, "targets without a labeled point", in)
	})
}

// checkNaN: a point that is not finite is an error, of Fit or, where the learner
// asks for no points, of Predict.
func (c *checker) checkNaN() {
	c.first(func(k kind) {
		for what, bad := range map[string]float64{"NaN": math.NaN(), "infinity": math.Inf(1)} {
			for _, at := range []int{0, sampleSize - 1} { // labeled and not
				if !c.info.Needs.Has(models.NeedsPoints) {
					continue
				}
				in := c.input(blobs(sampleSize, false, 1), k)
				x := converted[float64](in.Points).(*data.Dense[float64])
				x.Row(at)[1] = bad
				in.Points = x
				c.try(what, func() { c.refuse(what, fmt.Sprintf("%s in point %d", what, at), in) })
			}
		}
	})
}

// checkMissing: an input without a part that the learner needs, or with parts of different lengths,
// is an error.
func (c *checker) checkMissing() {
	c.first(func(k kind) {
		for what, take := range map[string]func(in *models.Input) bool{
			"targets": func(in *models.Input) bool { in.Targets = nil; return true },
			"points": func(in *models.Input) bool {
				in.Points = nil
				return c.info.Needs.Has(models.NeedsPoints)
			},
			"graph": func(in *models.Input) bool {
				in.Graph = nil
				return c.info.UsesGraph(in.Values)
			},
			"eigenpairs": func(in *models.Input) bool {
				in.Pairs = nil
				return c.info.Needs.Has(models.NeedsEigenpairs)
			},
			"last point": func(in *models.Input) bool {
				in.Points = data.Select(in.Points, data.Range(0, sampleSize-1))
				return c.info.Needs.Has(models.NeedsPoints)
			},
			"last vertex": func(in *models.Input) bool {
				if in.Graph != nil {
					g, err := graphOf(context.Background(),
						data.Select(in.Points, data.Range(0, sampleSize-1)))
					c.must("last vertex", "the graph", err)
					in.Graph = g
				}
				return in.Graph != nil
			},
		} {

			// A learner that does not need the part is not asked.
			in := c.input(blobs(sampleSize, false, 1), k)
			if take(in) {
				c.try(what, func() { c.refuse(what, "an input without "+what, in) })
			}
		}
	})
}

// checkPlain: at 0, the parameter that decides about the graph leaves it out, and
// with gamma-i the learner is then the plain machine.
func (c *checker) checkPlain() {
	p, ok := c.param(c.info.GraphIf)
	if !ok || p.Check("0") != nil {
		return
	}

	c.each(func(k kind) {
		s := blobs(sampleSize, false, 1)
		query := queries(false)
		in := c.inputWith(s, k, models.Values{p.Name: "0"})

		// With the parameter at 0 the learner must not look at the graph: none is as good as one.
		in.Graph = nil
		without := c.answer(k.name, in, query)
		var err error
		in.Graph, err = graphOf(context.Background(), s.x)
		c.must(k.name, "the graph", err)
		if d := difference(without, c.answer(k.name, in, query), 0); d != "" {
			c.fault(k.name, "%s 0 with and without a graph: %s", p.Name, d)
		}
		if p.Name != "gamma-i" {
			return
		}

		// The plain machine may be solved in another way, so its answers are compared by
		// tolerance.
		if c.s.Plain == nil {
			c.must(k.name, "gamma-i 0", errors.New("the suite names no plain machine to compare with"))
		}
		plainInput, err := input(c.s.Plain.Learner, s, k, c.s.Plain.Values)
		c.must(k.name, "the input of the plain machine", err)
		m, err := c.s.Plain.Learner.Fit(context.Background(), plainInput)
		c.must(k.name, "the plain machine", unusable(err))
		if d := difference(without, c.ask(k.name, m, query), c.tolerance()); d != "" {
			c.fault(k.name, "gamma-i 0 and the plain machine: %s", d)
		}
	})
}

// watcher looks at the calls of a hook.
type watcher struct {
	mu     sync.Mutex // never waited for by the hook
	cancel func()
	at     int // the call that cancels, from 1 on; 0 for none
	calls  int
	ended  bool
	faults []string
	when   time.Time // of the cancellation
	last   bool      // the call that cancelled said that all was done
}

func watch(cancel func(), at int) *watcher { return &watcher{cancel: cancel, at: at} }

// report is the hook.
func (w *watcher) report(p models.Progress) {
	// A hook that waited here would order calls that overlap, and hide them.
	overlap := !w.mu.TryLock()
	if overlap {
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	runtime.Gosched() // lets another call begin
	w.calls++
	fault := func(format string, args ...any) {
		if len(w.faults) < 3 {
			w.faults = append(w.faults, fmt.Sprintf(format, args...))
		}
	}

	if overlap {
		fault("two calls of Progress overlap")
	}
	if w.ended {
		fault("Progress is called after the end of Fit")
	}
	if !(p.Total > 0 && p.Done >= 0 && p.Done <= p.Total) || math.IsInf(p.Total, 0) {
		fault("call %d of Progress says %v of %v", w.calls, p.Done, p.Total)
	}

	// The time is taken before the cancellation, so it contains all that the fit still does.
	if w.cancel != nil && w.calls == w.at {
		w.when, w.last = time.Now(), p.Done >= p.Total
		w.cancel()
	}
}

// end says that Fit has returned.
func (w *watcher) end() (calls int, faults []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	return w.calls, w.faults
}

// A fit may take patience to end after it is cancelled. The suite waits for one that goes on until it
// is abandoned.
var patience, abandoned = slower(time.Second), slower(20 * time.Second)

// slower returns how long what takes d without the race detector may take.
func slower(d time.Duration) time.Duration {
	if testmode.In(testmode.Race) {
		return 5 * d
	}
	return d
}

// checkCancel: a fit that is cancelled, before it begins or while it reports
// progress, ends within a second with the error of the context.
func (c *checker) checkCancel() {
	c.first(func(k kind) {
		// A larger problem than elsewhere: a fit must be under way when it is cancelled.
		s := blobs(7*sampleSize, false, 2)
		for i := range s.labeled {
			s.labeled[i] = i%3 != 0 || i%2 == 0
		}
		in := c.input(s, k)
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		c.cancelled(k.name+" before", cancelled, in, watch(nil, 0))

		// A deadline has another error than a cancellation, and both must come through.
		late, release := context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
		defer release()
		c.cancelled(k.name+" deadline", late, in, watch(nil, 0))

		// A first fit counts the calls; others are cancelled at the first call and in the middle.
		w := watch(nil, 0)
		in.Progress = w.report
		c.fit(k.name, in)
		calls, _ := w.end()
		for _, at := range slices.Compact([]int{min(1, calls), calls / 2}) {
			if at > 0 {
				ctx, cancel := context.WithCancel(context.Background())
				c.cancelled(fmt.Sprintf("%s during", k.name), ctx, in, watch(cancel, at))
				cancel()
			}
		}
	})
}

// cancelled fits under a context that is cancelled by w or was before.
func (c *checker) cancelled(at string, ctx context.Context, in *models.Input, w *watcher) {
	own := *in
	own.Progress = w.report
	w.when = time.Now()
	type result struct {
		m   models.Model
		err error
	}

	// The fit runs beside the check, which gives up on one that never ends.
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("panic: %v", p)
			}
			done <- r
		}()
		r.m, r.err = c.l.Fit(ctx, &own)
	}()

	var r result
	select {
	case r = <-done:
	case <-time.After(abandoned):
		c.fault(at, "the fit goes on %v after it began", abandoned)
		return
	}

	w.end()
	if r.err == nil && w.last { // there was nothing left to do
		return
	}
	if ctx.Err() == nil || !errors.Is(r.err, ctx.Err()) || !missing(r.m) {
		c.fault(at, "the model is %T and the error %v, that of the context %v", r.m, r.err, ctx.Err())
	}
	if took := time.Since(w.when); took > patience {
		c.fault(at, "it took %v to end", took)
	}
}
