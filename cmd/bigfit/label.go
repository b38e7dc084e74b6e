package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/findings"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/page"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/queue"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/server"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/store"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// labelOptions are the flags of bigfit label.
type labelOptions struct {
	source shell.GraphSource
	labels string // the file that grows
	y      string // labels of before
	given  shell.LabelOptions

	show            []string
	folder          string
	classes         []string
	annotator       string
	twice, target   float64
	listen          string
	hosts           []string
	headless        string
	count           int
	model           string
	out, answers    string
	report          string
	withoutModel    bool
	learner         models.Learner // of the model at the end
	refinesModel    string         // the model file that is labeled on; empty for points
	labelsOfTheFile *data.Labels   // that y holds
}

func (a *app) labelCommand() *cobra.Command {
	var o labelOptions
	cmd := &cobra.Command{
		Use:   "label X.npy… [labels.csv] --show COLUMN",
		Short: "Label points in a browser while a model learns",
		Long: `Open a page on this machine that asks for the labels that help most. It begins from
nothing, from the labels in labels.csv of the last time, or from those of -y. In place
of the points it takes a model file. After each label a model (lgc) learns in the
background and the questions are chosen anew. The page says how many answers are wrong
by estimate, and about how many labels lead to --target. It never stops by itself.

Classes have the keys 1 to 9 and a to z, and new ones are typed. Space skips, 0 is
unsure, Backspace undoes, and arrows go back and on. "," shows many near points at once.
"." shows the answer of the model, which is hidden otherwise because it sways people.

--show says what is looked at: columns of texts, of names of picture or sound files
(below --folder), or image:28x28 for the points themselves. Without it square images
are recognized; other points are shown as bars with the nearest labels.

Each label is appended to labels.csv (id, label, annotator, time, seconds, shown) and
on the disk before the page says so; several people may label into one file, each by a
command with --annotator. The same command goes on. "Finish" on the page, or Ctrl-C,
writes the model of all labels (--model, -o), and --predictions and --report as bigfit
fit does; a second Ctrl-C ends without.

The page is served on 127.0.0.1 under a random address that is printed, and ends with
the command. See docs/label.md about --listen before others may reach it.

--headless ORACLE answers the questions by a file of labels, in place of a person, until
-n are given: campaigns and tests run the same server.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.takeLabel(&o, args); err != nil {
				return err
			}
			return a.label(cmd.Context(), &o)
		},
	}

	f := cmd.Flags()
	f.VarP(&o.source.X, "points", "X", shell.PointsHelp)
	f.StringVarP(&o.y, "labels-file", "y", "", "`file` of labels to begin with, as fit reads it; it is not changed")
	o.given.Flags(f)
	o.source.Flags(a.App, f)
	f.StringVar(&o.source.File, "graph", "", "graph `file` of the points (default: made of the points, as for auto)")
	a.Points.LabelFlags(f)
	f.StringArrayVar(&o.show, "show", nil,
		"`column` to show, of X, its ids, or FILE:COLUMN, or image:WxH; may be repeated")
	f.StringVar(&o.folder, "folder", "",
		"`folder` of the files that columns name (default: that of their table); nothing outside is shown")
	f.StringSliceVar(&o.classes, "classes", nil, "`names` of classes that are there from the beginning")
	f.StringVar(&o.annotator, "annotator", "", "`name` of who labels, for the file")
	f.Float64Var(&o.twice, "twice", 0.05, "share of the points that two annotators are given")
	f.Float64Var(&o.target, "target", 5, "error in percent that is good enough")
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` to serve the page at; port 0 is any")
	f.StringSliceVar(&o.hosts, "host", nil, "further `names` by which browsers reach this machine")
	f.StringVar(&o.headless, "headless", "", "`file` of labels that answer in place of a person")
	f.IntVarP(&o.count, "count", "n", 100, "questions to answer with --headless")
	o.model = "auto"
	shell.ModelFlag(f, &o.model, "`name` of the model at the end")
	f.StringVarP(&o.out, "output", "o", "model.npz", "model `file` to write at the end")
	f.BoolVar(&o.withoutModel, "no-model", false, "end without a model")
	f.StringVar(&o.answers, "predictions", "", "also write the answers for all points to this `file`, as fit does")
	f.StringVar(&o.report, "report", "", "also write a report to this .html `file`, as fit does")
	return cmd
}

// takeLabel takes the arguments: points or a model, and the file of labels last.
func (a *app) takeLabel(o *labelOptions, args []string) error {
	if note := o.source.X.Take(args, &o.labels, false); note != "" {
		a.Note("%s", note)
	}
	o.labels = cmp.Or(o.labels, "labels.csv")
	switch {
	case len(o.source.X) == 0:
		return shell.Usagef("label needs points, or a model file")
	case !strings.EqualFold(filepath.Ext(o.labels), ".csv"):
		return shell.Usagef("%s: the file of the labels is a table; its name must end in .csv", o.labels)
	case a.Given["target"] && !(o.target > 0 && o.target < 100):
		return shell.Usagef("--target is %v; it is a percentage, above 0 and below 100", o.target)
	case o.y != "" && a.Points.Label != "":
		return shell.Usagef("--label %s and -y %s both give labels to begin with; give one of them", a.Points.Label, o.y)
	case !(o.twice >= 0 && o.twice <= 1):
		return shell.Usagef("--twice is %v; it is a share, from 0 to 1", o.twice)
	case o.headless != "" && o.count < 1:
		return shell.Usagef("--count is %d; it must be at least 1", o.count)
	case o.headless == "" && a.Given["count"]:
		return shell.Usagef("--count is for --headless; a person ends when it is enough")
	case o.withoutModel && (a.Given["output"] || o.answers != "" || o.report != ""):
		return shell.Usagef("--no-model makes nothing to write to -o, --predictions or --report")
	}
	if err := errors.Join(store.CheckName("--annotator", o.annotator), a.CheckReport(o.report)); err != nil {
		return shell.Usagef("%w", err)
	}

	// Labels and outputs are checked before hours of work, and no output may replace the labels.
	inputs := o.source.X.Inputs(o.y, o.source.File, o.headless)
	outputs := []string{o.answers}
	if !o.withoutModel {
		outputs = append(outputs, o.out, o.report)
	}
	if err := shell.CheckOutput(inputs, append(outputs, o.labels)...); err != nil {
		return err
	}
	if !o.withoutModel {
		if err := shell.CheckAnswers(inputs, []string{o.answers}, o.out); err != nil {
			return err
		}
	}
	var err error
	if o.learner, err = shell.FindLearner(o.model); err != nil {
		return err
	}
	if !o.learner.Info().Learns.Has(models.LearnsClasses) {
		return shell.Usagef("--model %s learns no classes", o.model)
	}
	if len(o.source.X) == 1 && isModel(o.source.X[0]) {
		o.refinesModel = o.source.X[0]
		o.source.X = nil
		if a.Given["model"] || o.y != "" || a.Points.Label != "" {
			return shell.Usagef("%s is a model, which keeps its learner and its labels; leave --model, --label and -y out",
				o.refinesModel)
		}
	}
	return nil
}

// isModel tells whether a file is a model.
func isModel(path string) bool {
	if !strings.EqualFold(filepath.Ext(path), ".npz") {
		return false
	}
	info, err := data.Inspect(path, data.ReadOptions{})
	var m archive.Manifest
	return err == nil && json.Unmarshal(info.Manifest, &m) == nil && m.Format == archive.Model
}

// labeled is what is labeled.
type labeled struct {
	in    *fitInput
	graph *models.Graph
	ids   *data.IDs
	model models.Model // that is labeled on; nil for points
}

// label runs the page until a person finishes, and makes the model.
func (a *app) label(ctx context.Context, o *labelOptions) error {
	points, err := a.readLabelPoints(ctx, o)
	if err != nil {
		return err
	}
	n := points.graph.Len()
	content, err := a.labelContent(o, points)
	if err != nil {
		return err
	}

	st, err := a.openLabels(o.labels)
	if err != nil {
		return err
	}
	planner := labeling.Planner{Pipeline: a.Pipeline()}
	pairs, err := planner.FieldPairs(ctx, points.graph, queue.PairsFor(n))
	if !models.Usable(err) {
		return err
	}
	// Rounds of learning are many, and print nothing.
	quiet := labeling.Planner{Pipeline: &pipeline.Pipeline{Seed: a.Seed, Memory: int64(a.Memory)}}
	q, err := queue.New(quiet, points.graph, points.ids, st, queue.Settings{Annotator: o.annotator,
		Target: o.target / 100, Twice: cmp.Or(o.twice, -1), Classes: o.classes, Given: o.labelsOfTheFile, Seed: a.Seed,
		Pairs: pairs})
	if err != nil {
		return err
	}
	s, err := server.New(q, content, page.Head{Title: labelTitle(o), File: filepath.Base(o.labels),
		Annotator: o.annotator, Target: o.target / 100})
	if err != nil {
		return err
	}

	before := q.State().Labeled
	if err := a.serveLabels(ctx, o, q, s); err != nil {
		return err
	}
	state := q.State()
	a.Tell("%s: %s, %d new; %s", o.labels, enum.Count(state.Labeled, "point")+" labeled", state.Labeled-before,
		state.Words)
	return a.finishLabels(ctx, o, points, q)
}

// openLabels opens the file of labels, and says what is in it.
func (a *app) openLabels(path string) (*store.Store, error) {
	_, err := os.Stat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	st, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	if torn := st.Torn(); torn > 0 {
		a.Warn(fmt.Sprintf("%s: its last row was torn, as after a kill, and was never said to be saved; its %d bytes were "+
			"removed", path, torn))
	}
	if events, _ := st.Events(); !isNew {
		a.Note("labels: %s of %s", enum.Count(len(events), "row"), path)
	}
	return st, nil
}

// serveLabels serves the page until a person finishes, or an interrupt.
func (a *app) serveLabels(ctx context.Context, o *labelOptions, q *queue.Queue, s *server.Server) error {
	l, err := s.Listen(o.listen, o.hosts)
	if err != nil {
		return err
	}
	interrupted := a.TakeInterrupt()
	defer par.Reserve(server.Processors)()
	running, stop := context.WithCancel(ctx)
	defer stop()

	// The learner ends before the model at the end is made, which needs the memory.
	var learner sync.WaitGroup
	learner.Go(func() { q.Learn(running) })
	served := make(chan error, 1)
	go func() { served <- s.Serve(running, l) }()
	answered := make(chan error, 1)
	if o.headless != "" {
		go func() { answered <- a.answerByFile(running, o, q, s.URL(l)) }()
	} else {
		a.Tell("label: open %s in a browser; Finish on the page or Ctrl-C here ends it", s.URL(l))
	}

	var fault error
	select {
	case <-s.Done():
	case <-interrupted:
		a.Tell("label: finishing; Ctrl-C again ends without a model")
	case err := <-answered:
		fault = err
	case err := <-served:
		fault = cmp.Or(err, errors.New("the server has ended"))
		served <- nil
	case <-ctx.Done():
		fault = ctx.Err()
	}
	stop()
	err = <-served
	learner.Wait()
	return errors.Join(fault, err)
}

// answerByFile answers the questions of the server by the labels of a file, through its address.
func (a *app) answerByFile(ctx context.Context, o *labelOptions, q *queue.Queue, url string) error {
	truth, err := o.given.ReadTruth(a.App, o.headless, q.State().Points)
	if err != nil {
		return err
	}
	if truth.Len() != q.State().Points {
		return fmt.Errorf("%s has %d labels for %d points", o.headless, truth.Len(), q.State().Points)
	}
	st := a.Progress.Stage("label")
	given, err := server.Answer(ctx, url, truth, o.count, func(k int) {
		st.Update(float64(k), float64(o.count), "questions")
	})
	if err != nil {
		return err
	}
	st.Done(fmt.Sprintf("%s answered by %s", enum.Count(given, "question"), o.headless))
	return nil
}

// readLabelPoints reads the points, or the model, and makes the graph.
func (a *app) readLabelPoints(ctx context.Context, o *labelOptions) (*labeled, error) {
	out := &labeled{in: &fitInput{hashes: pipeline.Hashes{}}}
	if o.refinesModel != "" {
		return out, a.readLabelModel(ctx, o, out)
	}
	a.Points.Shown = o.show
	a.Points.OpenGraph = o.source.File == ""
	x, err := a.ReadPoints(o.source.X, data.ReadOptions{})
	if err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	if n < 2 {
		return nil, fmt.Errorf("%s has %s; there is nothing to learn", o.source.X, enum.Count(n, "point"))
	}
	out.in.Points = x
	out.in.hashes[pipeline.HashPoints] = data.HashPoints(x)
	if out.ids, err = a.IDsOf(n); err != nil {
		return nil, err
	}
	if o.y != "" || a.Points.Label != "" {
		if o.labelsOfTheFile, err = o.given.ReadTruth(a.App, o.y, n); err != nil {
			return nil, err
		}
		if o.labelsOfTheFile.Len() != n {
			return nil, fmt.Errorf("%s has %d labels for %d points", cmp.Or(o.y, "--label "+a.Points.Label),
				o.labelsOfTheFile.Len(), n)
		}
	}

	if o.source.File != "" {
		g, err := a.GivenGraph(o.source.File, o.source.Params, &out.in.settings)
		if err != nil {
			return nil, err
		}
		if g.W.Rows != n {
			return nil, fmt.Errorf("%s has %d points but %s has %d", o.source.File, g.W.Rows, o.source.X, n)
		}
		if err := g.Made.Agree(pipeline.HashPoints, out.in.hashes[pipeline.HashPoints], o.source.File,
			o.source.X.String()); err != nil {
			return nil, err
		}
		if err := g.ReadKept(int64(a.Memory)); err != nil {
			return nil, err
		}
		out.graph = &g.Graph.Graph
		out.in.settings = g.Settings
	} else {
		made, err := pipeline.AutoGraph(x, o.source.Params.Values(pipeline.GraphParams.Params()))
		if err != nil {
			return nil, a.FlagFaults("", err)
		}
		g, err := a.Pipeline().Graph(ctx, x, made)
		if !models.Usable(err) {
			return nil, err
		}
		out.graph = &g.Graph
		out.in.settings = g.Settings
	}
	out.in.Graph = out.graph
	out.in.IDs = out.ids
	return out, nil
}

// readLabelModel reads a model with its graph and its labels.
func (a *app) readLabelModel(ctx context.Context, o *labelOptions, out *labeled) error {
	p, err := a.ReadLabeled(ctx, o.refinesModel, &shell.LabeledOptions{}, true)
	if err != nil {
		return err
	}
	if p.Targets.Classes == nil {
		return shell.Usagef("%s answers with %s; labels are classes", o.refinesModel, p.Model.Output().Kind)
	}
	if _, ok := models.Unnamed(p.Model).(models.Updater); !ok {
		return shell.Usagef("a %s model cannot take further labels; label the points, and fit anew", p.Model.Name())
	}
	o.labelsOfTheFile = p.Targets.ClassLabels()
	o.learner = p.Learner
	out.in.Input = p.Input
	out.in.hashes = p.Hashes
	out.model = p.Model
	out.graph = p.Graph
	if _, kept, err := pipeline.KeptGraph(p.Model); err == nil && out.in.Points == nil && kept.PCA == nil {
		out.in.Points = kept.Points
	}
	out.ids, err = a.IDsOf(p.Rows())
	out.in.IDs = out.ids
	return err
}

// labelContent says what is shown of the points.
func (a *app) labelContent(o *labelOptions, p *labeled) (*page.Content, error) {
	x := p.in.Points
	c := &page.Content{Points: x}
	if x != nil {
		_, d := x.Dims()
		c.Names = a.Points.ColumnNames(d)
	}
	folder := o.folder
	for _, show := range o.show {
		if shape, ok := strings.CutPrefix(show, "image:"); ok {
			if !page.CanChart(x) {
				return nil, shell.Usagef("--show %s is for dense points, which are not there", show)
			}
			_, d := x.Dims()
			if err := c.ShapeOf(shape, d); err != nil {
				return nil, shell.Usagef("--show %s: %w", show, err)
			}
			c.Columns = append(c.Columns, page.Column{Name: "image", Kind: page.Pixels})
			continue
		}
		col, err := a.Points.ReadColumn(a.App, show, p.graph.Len())
		if err != nil {
			return nil, err
		}
		kind := page.KindOf(col.Texts)
		c.Columns = append(c.Columns, page.Column{Name: col.Name, Kind: kind, Texts: col.Texts})
		if kind != page.Text {
			folder = cmp.Or(folder, col.Folder)
			col.Folder = folder // for the pictures of the report
		}
		if p.in.shown == nil && kind != page.Audio {
			p.in.shown = col
		}
	}

	// What is not said is seen from the points.
	if len(c.Columns) == 0 {
		side := 0
		if page.CanChart(x) {
			side = findings.SquareImages(x)
		}
		switch {
		case side > 0:
			c.Width, c.Height, c.Channels = side, side, 1
			c.Columns = []page.Column{{Name: "image", Kind: page.Pixels}}
			a.Note("show: the points as images of %d×%d; --show names another", side, side)
		case page.CanChart(x):
			c.Columns = []page.Column{{Name: "columns", Kind: page.Chart}}
			a.Note("show: the columns of the points as bars; --show names a column of texts or files")
		default:
			return nil, shell.Usagef("say with --show what a person looks at: a column of texts or of files of a table " +
				"beside the points, or FILE:COLUMN")
		}
	}
	if folder != "" {
		if err := c.OpenFolder(folder); err != nil {
			return nil, fmt.Errorf("--folder %s: %w", folder, err)
		}
		a.Note("show: files below %s", folder)
	}
	return c, nil
}

// labelTitle names the page by the points.
func labelTitle(o *labelOptions) string {
	if o.refinesModel != "" {
		return filepath.Base(o.refinesModel)
	}
	return filepath.Base(o.source.X[0])
}

// finishLabels makes the model of all labels, and what is written beside it.
func (a *app) finishLabels(ctx context.Context, o *labelOptions, p *labeled, q *queue.Queue) error {
	y := q.Labels()
	agreement := q.Agreement()
	if agreement.Pairs > 0 {
		a.Tell("annotators: %s labeled by two or more, Krippendorff's α %.2f", enum.Count(agreement.Pairs, "point"),
			agreement.Alpha)
	}
	if o.withoutModel {
		return a.printLabels(o, q.State(), y)
	}
	if len(y.Classes) < 2 {
		a.Tell("no model is made: it needs labels of two classes, and there are %s", enum.Count(len(y.Classes), "class"))
		return a.printLabels(o, q.State(), y)
	}

	plan := &fitPlan{learner: o.learner, model: o.learner.Info().Name, values: models.Values{}, settings: p.in.settings,
		calibrate: &calibrateFlag{}}
	plan.x = o.source.X
	plan.out, plan.predictions, plan.report = o.out, o.answers, o.report
	in := p.in
	t, err := pipeline.ClassTargets(y, 0, a.Seed)
	if err != nil {
		return err
	}
	in.labels = t
	in.Targets = t.Targets
	in.hashes[pipeline.HashLabels] = t.Hash()
	in.sections = labelSections(q.State(), agreement)
	a.Reads(pipeline.HashLabels, o.labels)
	// Labels that people gave one by one have no marks for points without one, about which there may be a doubt.
	a.Note("labels: %s", t.Summary())
	a.SayColumns(t, in.Points)

	var m models.Model
	var short error
	if p.model != nil {
		u, err := a.Pipeline().Update(ctx, o.learner, p.model, &pipeline.Growth{Labels: y})
		if !models.Usable(err) {
			return err
		}
		m, short = u.Model, err
		in.Input = *u.Input
	} else if m, short = a.fitRead(ctx, plan, in); !models.Usable(short) {
		return short
	}
	return a.finishFit(ctx, plan, in, m, short)
}

// labelResult is printed as JSON where no model is made.
type labelResult struct {
	File    string `json:"labels_file"`
	Points  int    `json:"points"`
	Labeled int    `json:"labeled"`
	Classes any    `json:"classes"` // integers or names
	// Rows are the labeled points, and Codes their labels as positions in Classes. They count of each annotator
	// the last label, and of several annotators what most say.
	Rows      []int           `json:"rows"`
	Codes     []int32         `json:"codes"`
	Estimate  *queue.Estimate `json:"estimate"` // of the error; null below some forty labels
	Agreement *float64        `json:"agreement"`
}

// printLabels prints the labels as JSON, where that is asked for. For people they are in the file.
func (a *app) printLabels(o *labelOptions, s queue.State, y *data.Labels) error {
	if !a.JSON {
		return nil
	}
	r := labelResult{File: o.labels, Points: s.Points, Labeled: s.Labeled, Classes: []string{}, Rows: []int{},
		Codes: []int32{}, Agreement: s.Agreement}
	if len(y.Classes) > 0 {
		r.Classes = data.ClassList(y.Classes, y.Names)
	}
	for _, i := range y.Labeled() {
		r.Rows = append(r.Rows, i)
		r.Codes = append(r.Codes, y.Index[i])
	}
	if len(s.Curve) > 0 {
		r.Estimate = &s.Curve[len(s.Curve)-1]
	}
	return a.Print(r, "")
}

// labelSections are the sections of the report on the labeling.
func labelSections(s queue.State, g queue.Agreement) []report.Section {
	out := report.Section{Title: "How it was labeled", Blocks: []report.Block{report.Paragraph(fmt.Sprintf(
		"%d of %d points are labeled. %s", s.Labeled, s.Points, s.Words))}}
	if len(g.People) > 1 {
		out.Blocks = append(out.Blocks, peopleTable(g))
	}
	return []report.Section{out}
}

// peopleTable compares the annotators.
func peopleTable(g queue.Agreement) *report.Table {
	t := &report.Table{Caption: "Annotators", Header: []string{"annotator", "labels", "points of others", "other label",
		"most often"}}
	for _, p := range g.People {
		var most []string
		for _, c := range p.Confusions {
			most = append(most, fmt.Sprintf("%s for %s: %d", c.Label, c.Others, c.Points))
		}
		t.Rows = append(t.Rows, []string{cmp.Or(p.Name, "(no name)"), fmt.Sprint(p.Labels), fmt.Sprint(p.Shared),
			fmt.Sprint(p.Differ), strings.Join(most, "; ")})
	}
	if g.Pairs > 0 {
		t.Note = fmt.Sprintf("Krippendorff's α is %.2f, of %s that two or more labeled: 1 where all agree, 0 where they "+
			"agree as by chance.", g.Alpha, enum.Count(g.Pairs, "point"))
	}
	return t
}
