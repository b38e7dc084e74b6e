// Command calibration measures the probabilities of classifiers and the intervals of
// regressions on the sets in BIGFIT_DATA, by the measures of docs/probabilities.md:
//
//	go run ./bench/calibration -labels 20 -draws 10
//
// Each draw labels 20 points of each class. A model is fitted to the labels and calibrated on
// them, and its probabilities are measured on the other points of the set. The command prints
// Markdown. Labels are held out in ten folds; with -default they are held out as a fit does by itself.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/bench/sets"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/metrics"
)

// member is a learner with the values of its required parameters.
type member struct {
	name   string
	values models.Values
}

// members lists the models in the order of the columns.
var members = []member{
	{"auto", nil},
	{"lgc", nil},
	{"harmonic", nil},
	{"poisson", nil},
	{"eigenmap", nil},
	{"knn", nil},
	{"svm", models.Values{"gamma-a": "0.001"}},
	{"rls", models.Values{"gamma-a": "0.001"}},
	{"laprls", models.Values{"gamma-a": "0.0001", "gamma-i": "0.01", "laplacian": "normalized"}},
	{"svm-linear", models.Values{"gamma-a": "0.001"}},
}

func main() {
	log.SetFlags(0)
	perClass := flag.Int("labels", 20, "labels a class")
	draws := flag.Int("draws", 10, "draws of labels of each set")
	most := flag.Int("points", 5000, "points of a set; of larger ones so many are drawn")
	names := flag.String("models", "", "models (default all of the table)")
	only := flag.String("sets", "", "sets (default all)")
	byDefault := flag.Bool("default", false, "calibrate as fit does without --calibrate, not by ten folds")
	flag.Parse()
	ctx := context.Background()
	dir := os.Getenv("BIGFIT_DATA")

	chosen := func(list, name string) bool {
		return list == "" || slices.Contains(strings.Split(list, ","), name)
	}
	// The header names the chosen models only.
	var used []member
	header := []string{"set", "points", "classes"}
	for _, m := range members {
		if chosen(*names, m.name) {
			used = append(used, m)
			header = append(header, m.name)
		}
	}

	fmt.Printf("| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
	sums := make([]float64, len(used))
	count := 0.0
	for _, s := range sets.All {
		if !chosen(*only, s.Name) {
			continue
		}
		l, err := load(ctx, s, dir, *most)
		if err != nil {
			log.Fatal(err)
		}
		if l == nil {
			log.Printf("%s: left out, as a class has fewer than %d points", s.Name, fewestLabels)
			continue
		}

		// A cell holds the mean calibration error and the share of wrong classes.
		row := []string{s.Name, fmt.Sprint(l.truth.Len()), fmt.Sprint(len(l.truth.Classes))}
		for k, m := range used {
			var ece, wrong float64
			for d := range *draws {
				r, err := l.measure(ctx, m, *perClass, uint64(d), *byDefault)
				if err != nil {
					log.Fatalf("%s, %s: %v", s.Name, m.name, err)
				}
				ece += r.ECE / float64(*draws)
				wrong += float64(r.Coverage[0].Error) / float64(*draws)
			}
			sums[k] += ece
			row = append(row, fmt.Sprintf("%.3f (%.1f %%)", ece, 100*wrong))
		}

		count++
		fmt.Printf("| %s |\n", strings.Join(row, " | "))
	}

	// The last line is a mean over the sets, each with the same weight.
	row := []string{"mean", "", ""}
	for _, v := range sums {
		row = append(row, fmt.Sprintf("%.3f", v/count))
	}
	fmt.Printf("| %s |\n", strings.Join(row, " | "))
}

// measure fits a member to a draw and measures its probabilities for the other points.
func (l *loaded) measure(ctx context.Context, m member, perClass int,
	seed uint64, byDefault bool) (*metrics.ProbabilityReport, error) {
	y, _, err := l.truth.DrawEach(perClass, seed)
	if err != nil {
		return nil, err
	}
	t, err := models.ClassTargets(y)
	if err != nil {
		return nil, err
	}
	learner := all.Learner(m.name)
	fit, in, err := l.pipe.FitComplete(ctx, learner, l.input(t, m.values), &l.graph.Settings)
	if !models.Usable(err) {
		return nil, err
	}

	// Calibration sees the labels of the draw only.
	var calibrated models.Model
	if byDefault {
		calibrated, err = l.pipe.CalibrateByDefault(ctx, learner, fit, in)
	} else {
		calibrated, err = l.pipe.Calibrate(ctx, learner, fit, in, 0)
	}
	if !models.Usable(err) {
		return nil, err
	}

	var rows []int
	var truth []int
	for i, c := range l.truth.Index {
		if y.Index[i] == data.Unlabeled && c != data.Unlabeled {
			rows = append(rows, i)
			truth = append(truth, int(c))
		}
	}

	p, err := probabilities(ctx, calibrated, l.x, rows)
	if err != nil {
		return nil, err
	}
	return metrics.NewProbabilityReport(truth, p)
}

// probabilities returns the probabilities of the classes at the given points of x. A model on
// a graph was fitted to these points without their labels and remembers them.
func probabilities(ctx context.Context, m models.Model, x data.Points, rows []int) (*mat.Dense, error) {
	if _, ok := m.(models.Trained); !ok {
		p, err := m.Predict(ctx, data.Select(x, rows), &models.PredictSettings{Probabilities: true})
		if err != nil {
			return nil, err
		}
		return p.Probabilities, nil
	}

	// The model keeps probabilities for all points it was fitted to.
	p, err := models.TrainingProbabilities(m)
	if err != nil {
		return nil, err
	}
	_, c := p.Dims()
	out := mat.NewDense(len(rows), c, nil)
	for q, i := range rows {
		out.SetRow(q, p.RawRowView(i))
	}
	return out, nil
}
