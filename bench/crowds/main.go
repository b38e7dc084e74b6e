// Command crowds measures what the labels of several annotators are worth by their majority, by their consensus, and by
// their consensus with the graph as prior:
//
//	go run ./bench/crowds                        usps, news20 and mnist; needs BIGFIT_DATA
//	go run ./bench/crowds -sets coil20 -annotators 5 -accuracy 0.6,0.9
//
// For every draw some points are shown to all annotators. An annotator names the class of a point with its accuracy, and
// else another one at random; -accuracy gives one for each annotator in turn. The table has the errors of the most probable
// class at these points, and the errors of a model on all other points: fitted to the classes of the majority, to the
// shares of the votes, to the consensus without and with the graph, and to the most probable classes of the latter.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/bench/sets"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/annotators"
	"github.com/bigfit/bigfit/pipeline"
)

func main() {
	log.SetFlags(0)
	names := flag.String("sets", "usps,news20,mnist", "data sets")
	points := flag.Int("points", 300, "points that annotators are shown")
	people := flag.Int("annotators", 3, "annotators")
	accuracy := flag.String("accuracy", "0.7", "their accuracies, in turn")
	draws := flag.Int("draws", 10, "draws of points and answers")
	limit := flag.Int("n", 10000, "points of a set at most, drawn once; 0 is all")
	model := flag.String("model", "lgc", "model to fit")
	flag.Parse()

	var right []float64
	for _, text := range strings.Split(*accuracy, ",") {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v <= 0 || v > 1 {
			log.Fatalf("-accuracy: %q is no accuracy", text)
		}
		right = append(right, v)
	}
	l := all.Learner(*model)
	if l == nil {
		log.Fatalf("-model: there is no model %q", *model)
	}
	t := newTable()
	for _, name := range strings.Split(*names, ",") {
		i := slices.IndexFunc(sets.All, func(s sets.Set) bool { return s.Name == name })
		if i < 0 {
			log.Fatalf("-sets: there is no set %q", name)
		}
		s, err := sets.All[i].Read(os.Getenv("BIGFIT_DATA"), *limit)
		if err != nil {
			log.Fatal(err)
		}
		found, err := measure(context.Background(), s, l, &crowdOptions{*points, *people, right}, *draws)
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		for k, method := range methods {
			t.Add(results.Text(name), results.Text(method), results.Mean(found[k]))
		}
	}
	fmt.Print(t.Markdown())
}

// crowdOptions say who answers for how many points, with which accuracies in turn.
type crowdOptions struct {
	points, people int
	accuracy       []float64
}

// methods in the order of the columns.
var methods = []string{"points: majority", "points: consensus", "points: with graph", "model: majority", "model: votes",
	"model: consensus", "model: with graph", "model: with graph, hard"}

func newTable() *results.Table {
	show := results.Column{Key: "error_mean", Deviation: "error_std", Name: "error", Unit: "%", Kind: results.Numbers,
		Format: results.Format{Number: "%.1f"}}
	return &results.Table{Columns: []results.Column{{Key: "set"}, {Key: "method"}, show},
		Views: []results.View{{Rows: "set", Across: "method", Show: []string{show.Key}, Corner: "set"}}}
}

// measure returns the errors in percent of every method, one a draw.
func measure(ctx context.Context, s *sets.Loaded, l models.Learner, o *crowdOptions, draws int) ([][]float64, error) {
	points, people, accuracy := o.points, o.people, o.accuracy
	p := &pipeline.Pipeline{}
	settings, err := pipeline.AutoGraph(s.X, nil)
	if err != nil {
		return nil, err
	}
	g, err := p.Graph(ctx, s.X, settings)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(methods))
	for draw := range draws {
		a := crowd(s.Truth, points, people, accuracy, uint64(draw))
		plain, err := annotators.Agree(&annotators.Answers{Points: a.Points, Classes: len(a.Labels.Classes), Annotators: people,
			Point: a.Point, Class: a.Labels.Index, Annotator: a.Annotator}, nil)
		if err != nil {
			return nil, err
		}
		votes, err := annotators.Majority(&annotators.Answers{Points: a.Points, Classes: len(a.Labels.Classes), Annotators: people,
			Point: a.Point, Class: a.Labels.Index, Annotator: a.Annotator})
		if err != nil {
			return nil, err
		}
		in := &models.Input{Points: s.X, Graph: &g.Graph, Values: models.Values{}}
		graph, _, err := p.Agree(ctx, l, in, a, settings)
		if err != nil {
			return nil, err
		}

		soft := func(c *annotators.Consensus) (*models.Targets, error) {
			block := mat.NewDense(a.Points, len(a.Labels.Classes), nil)
			for r, i := range c.Rows {
				block.SetRow(i, c.Shares.RawRowView(r))
			}
			return models.ShareTargets(block, a.Labels.Classes, nil)
		}
		byVotes, err := soft(votes)
		if err != nil {
			return nil, err
		}
		byConsensus, err := soft(plain)
		if err != nil {
			return nil, err
		}
		hardVotes, err := models.ClassTargets(byVotes.ClassLabels())
		if err != nil {
			return nil, err
		}
		hardGraph, err := models.ClassTargets(graph.Targets.ClassLabels())
		if err != nil {
			return nil, err
		}

		for k, t := range []*models.Targets{hardVotes, byConsensus, graph.Targets, hardVotes, byVotes, byConsensus, graph.Targets,
			hardGraph} {
			answers := t.ClassLabels()
			if k >= 3 {
				own := *in
				own.Targets = t
				m, _, err := p.FitComplete(ctx, l, &own, settings)
				if err != nil {
					return nil, err
				}
				answer, err := pipeline.Training(m, false, false)
				if err != nil {
					return nil, err
				}
				answers = &data.Labels{Classes: t.Classes, Index: answer.Classes}
			}
			out[k] = append(out[k], 100*wrong(s.Truth, answers, byVotes.Labeled, k < 3))
		}
		log.Printf("%s, draw %d: %.1f", s.Name, draw, last(out))
	}
	return out, nil
}

// last returns the last error of each method.
func last(errors [][]float64) []float64 {
	var out []float64
	for _, e := range errors {
		out = append(out, e[len(e)-1])
	}
	return out
}

// wrong returns the share of wrong answers at the labeled points, or at all others.
func wrong(truth, answers *data.Labels, labeled []int, at bool) float64 {
	var count, total float64
	for i, c := range truth.Index {
		if _, is := slices.BinarySearch(labeled, i); is != at {
			continue
		}
		total++
		if answers.Classes[answers.Index[i]] != truth.Classes[c] {
			count++
		}
	}
	return count / total
}

// crowd draws points and the answers for them.
func crowd(truth *data.Labels, points, people int, accuracy []float64, seed uint64) *data.Annotations {
	rng := rand.New(rand.NewPCG(seed, 7))
	a := &data.Annotations{Points: truth.Len(), Labels: &data.Labels{Classes: truth.Classes}}
	for k := range people {
		a.Annotators = append(a.Annotators, fmt.Sprint(k))
	}
	for _, i := range rng.Perm(truth.Len())[:points] {
		for k := range people {
			class := truth.Index[i]
			if rng.Float64() >= accuracy[k%len(accuracy)] {
				class = (class + 1 + rng.Int32N(int32(len(truth.Classes))-1)) % int32(len(truth.Classes))
			}
			a.Point = append(a.Point, int32(i))
			a.Annotator = append(a.Annotator, int32(k))
			a.Labels.Index = append(a.Labels.Index, class)
		}
	}
	return a
}
