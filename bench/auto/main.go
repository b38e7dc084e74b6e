// Command auto compares the automatic choice of a model with each of its members and with
// scikit-learn, on the same labels:
//
//	go run ./bench/auto                        everything; needs BIGFIT_DATA
//	go run ./bench/auto -sets g50c,coil -draws 3 -peers=false
//	go run ./bench/auto -sets webkb-page@webkb-link,usps/1@usps/2    columns of one view, the graph of another
//	go run ./bench/auto -sets usps#4,usps#5                          two classes of 10 and 90 % of the points
//
// The table of Laplacians in docs/models.md is made by
//
//	M=laprls,laprls:laplacian=normalized,lapsvm,lapsvm:laplacian=normalized
//	M=$M,laprls-linear,laprls-linear:laplacian=normalized
//	go run ./bench/auto -auto=false -members=false -peers=false -graph default -n 1500 -draws 3 -models $M
//
// For every set, every number of labels a class and every draw of the labels, each model is
// fitted to all points and measured on the points without a label. scikit-learn takes part
// with label spreading (7 neighbours, α 0.2 and 0.99), a support vector machine with C and
// width chosen by cross-validation on the labels, and the nearest labeled point. The command
// writes auto.json and auto.md. Errors do not depend on the machine; seconds do.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/bench/sets"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/sparse"
)

// options holds the flags, described in main.
type options struct {
	sets, labels, models string
	symmetry             sparse.Symmetry // of the graph of all models
	draws, limit         int
	peers, members       bool
	auto, priors         bool
	graph                string
	out                  string
}

func main() {
	log.SetFlags(0)
	var names []string
	for _, s := range sets.All {
		names = append(names, s.Name)
	}
	var o options
	flag.StringVar(&o.sets, "sets", strings.Join(names, ","), "data sets; SET@OTHER has the columns of the first and the "+
		"graph of the second, SET/1 and SET/2 are halves of the columns, SET#0 to SET#7 two classes made of those of SET")
	flag.StringVar(&o.labels, "labels", "5,20", "numbers of labels a class")
	flag.IntVar(&o.draws, "draws", 10, "draws of the labels")
	flag.IntVar(&o.limit, "n", 0, "points of a set at most, drawn once; 0 is all")
	flag.StringVar(&o.models, "models", "", "models with settings to fit beside auto and its "+
		"members, as NAME:PARAM=VALUE:…, with commas between")
	flag.BoolVar(&o.auto, "auto", true, "fit auto itself")
	flag.BoolVar(&o.priors, "priors", false, "tell the models that take priors the true shares of the classes")
	flag.StringVar(&o.graph, "graph", "auto", "the graph of all methods: auto, as auto makes it, or default, "+
		"as the other models make it where no flag tells of it")
	flag.TextVar(&o.symmetry, "symmetry", sparse.Either, "symmetrization of the graph of auto, its members and -models")
	flag.BoolVar(&o.members, "members", true, "fit each member of auto alone too")
	flag.BoolVar(&o.peers, "peers", true, "run scikit-learn too")
	flag.StringVar(&o.out, "o", "bench-results", "folder for the results")
	flag.Parse()
	if err := run(context.Background(), &o); err != nil {
		log.Fatal(err)
	}
}

// run measures all sets and numbers of labels. It writes the table after each of them.
func run(ctx context.Context, o *options) error {
	var labels []int
	for _, text := range strings.Split(o.labels, ",") {
		l, err := strconv.Atoi(text)
		if err != nil || l < 1 {
			return fmt.Errorf("-labels: %q is no number of labels", text)
		}
		labels = append(labels, l)
	}

	// All flags are checked before anything is fitted.
	fitted, err := parseModels(o)
	if err != nil {
		return err
	}
	if o.graph != "auto" && o.graph != "default" {
		return fmt.Errorf("-graph: %q is neither auto nor default", o.graph)
	}
	t := newTable()
	for _, name := range strings.Split(o.sets, ",") {
		// A set is read once for all numbers of labels.
		s, err := read(name, o.limit)
		if err != nil {
			return err
		}
		for _, l := range labels {
			found, err := measure(ctx, s, l, o, fitted)
			if err != nil {
				return fmt.Errorf("%s, %d labels a class: %w", name, l, err)
			}
			addRecords(t, s, l, found)
			log.Printf("%s, %d labels a class: %s", name, l, line(found))
			if err := save(o.out, t); err != nil {
				return err
			}
		}
	}

	fmt.Print(t.Markdown())
	return nil
}

// errorColumn describes the column of errors in percent: means over the draws.
var errorColumn = results.Column{Key: "error_mean", Deviation: "error_std", Name: "error", Unit: "%",
	Kind: results.Numbers, Format: results.Format{Number: "%.1f"}}

// newTable returns the table without records.
func newTable() *results.Table {
	return &results.Table{
		Columns: []results.Column{{Key: "set"}, {Key: "points", Kind: results.Integers},
			{Key: "labels", Kind: results.Integers}, {Key: "method"},
			errorColumn, {Key: "seconds", Kind: results.Numbers, Format: results.Format{Number: "%.2f"}},
			{Key: "case", PrintOnly: true}},
		Views: []results.View{{Rows: "case", Across: "method", Show: []string{errorColumn.Key},
			Corner: "set, labels a class", MarkLeast: true}},
		Notes: []string{"Errors in percent of the points without a label, means over the draws."},
	}
}

// addRecords adds a record for each outcome.
func addRecords(t *results.Table, s *loaded, labels int, found []outcome) {
	n, _ := s.X.Dims()
	for _, f := range found {
		t.Add(results.Text(s.Name), results.Integer(n), results.Integer(labels), results.Text(f.method),
			results.Mean(f.errors), results.Number(f.seconds), results.Text(fmt.Sprintf("%s, %d", s.Name, labels)))
	}
}

// line returns the mean errors of the outcomes on one line, for the log.
func line(found []outcome) string {
	var parts []string
	for _, f := range found {
		mean, _ := results.MeanStd(f.errors)
		parts = append(parts, fmt.Sprintf("%s %.1f", f.method, mean))
	}
	return strings.Join(parts, ", ")
}

// save writes the table as auto.json and auto.md.
func save(dir string, t *results.Table) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	text, err := t.MarshalJSON()
	if err != nil {
		return err
	}

	for name, content := range map[string]string{"auto.json": string(text), "auto.md": t.Markdown()} {
		err := atomicfile.Atomically(filepath.Join(dir, name),
			func(w io.Writer) error { _, err := io.WriteString(w, content); return err })
		if err != nil {
			return err
		}
	}

	return nil
}

// askPeers runs scikit-learn on the draws of a set. It hands over a folder with:
//
//	rows.npy   n int64    rows of the points in the file of the set
//	truth.npy  n int64    classes
//	given.npy  m×2 int64  pairs of a draw and a labeled point
func askPeers(ctx context.Context, s *loaded, draws [][]int) ([]outcome, error) {
	dir, err := os.MkdirTemp("", "bigfit-auto-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	rows := make([]int64, len(s.Rows))
	truth := make([]int64, len(s.Rows))
	for i, r := range s.Rows {
		rows[i] = int64(r)
		truth[i] = int64(s.Truth.Index[i])
	}

	// A list of pairs, because draws may have different numbers of labels.
	var given []int64 // pairs of a draw and a point
	for d, drawn := range draws {
		for _, i := range drawn {
			given = append(given, int64(d), int64(i))
		}
	}

	for name, a := range map[string]struct {
		shape []int
		data  []int64
	}{"rows": {nil, rows}, "truth": {nil, truth}, "given": {[]int{len(given) / 2, 2}, given}} {
		if err := npy.WriteFile(filepath.Join(dir, name+".npy"), a.shape, a.data); err != nil {
			return nil, err
		}
	}

	objects, err := peers.Run(ctx, os.Stderr, "auto_sklearn.py", filepath.Join(os.Getenv("BIGFIT_DATA"),
		s.Points), dir)
	if err != nil {
		return nil, err
	}

	// Each object is one fit: they are gathered by method.
	var out []outcome
	for _, object := range objects {
		name, _ := object["peer"].(string)
		seconds, _ := object["seconds"].(float64)
		e, ok := object["error"].(float64)
		if !ok {
			return nil, fmt.Errorf("auto_sklearn.py printed %v", object)
		}
		i := slices.IndexFunc(out, func(f outcome) bool { return f.method == name })
		if i < 0 {
			i = len(out)
			out = append(out, outcome{method: name})
		}
		out[i].errors = append(out[i].errors, e)
		out[i].seconds += seconds / math.Max(1, float64(len(draws)))
	}

	return out, nil
}
