// Command suspects measures how well bigfit suspects finds wrong labels: some of the labels of sets in BIGFIT_DATA
// are exchanged, models are fitted with defaults, and the labels that disagree are compared with the exchanged ones.
//
//	go run ./bench/suspects -sets mnist -labels 600 -points 20000 -share 0.05 -draws 5
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bigfit/bigfit"
	"github.com/bigfit/bigfit/bench/sets"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
)

func main() {
	log.SetFlags(0)
	b := &bench{}
	flag.IntVar(&b.labels, "labels", 600, "labels of a set, drawn evenly; 0 for all points")
	flag.IntVar(&b.points, "points", 20_000, "points of a set; of larger ones so many are drawn")
	flag.IntVar(&b.draws, "draws", 5, "draws of labels and of wrong ones")
	flag.Float64Var(&b.share, "share", 0.05, "share of the labels that are exchanged")
	names := flag.String("models", "auto,lgc,harmonic,poisson,eigenmap,rls", "models, each with its defaults")
	only := flag.String("sets", "mnist,usps-all,isolet,coil20,news20", "sets of BIGFIT_DATA")
	flag.Parse()
	if !(b.share > 0 && b.share < 1) || b.draws < 1 || b.labels < 0 {
		log.Fatal("-share is between 0 and 1, -draws at least 1, -labels at least 0")
	}
	if err := b.run(context.Background(), strings.Split(*only, ","), strings.Split(*names, ",")); err != nil {
		log.Fatal("suspects: ", err)
	}
}

// bench holds the flags.
type bench struct {
	labels, points, draws int
	share                 float64
}

// run prints a row for each set and model, a mean over the draws.
func (b *bench) run(ctx context.Context, only, names []string) error {
	fmt.Println("| set | labels, wrong | model | found among as many first | listed | recall | estimated | seconds of the fit |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, s := range sets.All {
		if !slices.Contains(only, s.Name) {
			continue
		}
		l, err := s.Read(os.Getenv("BIGFIT_DATA"), b.points)
		if err != nil {
			return err
		}
		for _, name := range names {
			sum, err := b.measure(ctx, l, name)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.Name, name, err)
			}
			fmt.Printf("| %s, %d | %.0f, %.0f | %s | %.2f | %.1f | %.2f | %.1f | %.1f |\n", s.Name, l.Truth.Len(), sum.labels,
				sum.wrong, name, sum.first, sum.listed, sum.recall, sum.estimated, sum.fit)
		}
	}
	return nil
}

// result is a mean over draws: numbers of labels, shares of the exchanged ones that are found, and seconds of the fit.
type result struct {
	labels, wrong, listed, estimated float64
	// first is the share among as many first suspects as labels were exchanged, recall that among all.
	first, recall float64
	fit           float64
}

// add adds a draw of weight w.
func (r *result) add(d result, w float64) {
	r.labels += w * d.labels
	r.wrong += w * d.wrong
	r.listed += w * d.listed
	r.estimated += w * d.estimated
	r.first += w * d.first
	r.recall += w * d.recall
	r.fit += w * d.fit
}

// measure fits a model to the labels of each draw, some of them exchanged, and compares its suspects with those.
func (b *bench) measure(ctx context.Context, l *sets.Loaded, name string) (mean result, err error) {
	for draw := range b.draws {
		seed := uint64(draw + 1)
		y := l.Truth
		if b.labels > 0 && b.labels < y.Len() {
			if y, err = y.Draw(b.labels, seed); err != nil {
				return mean, err
			}
		}
		y, exchanged := sets.Exchange(y, b.share, seed)
		one, err := suspectsOf(ctx, l.X, y, exchanged, name, seed)
		if err != nil {
			return mean, err
		}
		mean.add(one, 1/float64(b.draws))
	}
	return mean, nil
}

// suspectsOf is measure for one draw.
func suspectsOf(ctx context.Context, x data.Points, y *data.Labels, exchanged map[int]bool, name string, seed uint64) (result, error) {
	begin := time.Now()
	m, err := bigfit.Fit(ctx, bigfit.FromData(x), bigfit.FromLabels(y), &bigfit.Options{Model: name, Seed: seed})
	if !bigfit.Usable(err) {
		return result{}, err
	}
	out := result{labels: float64(len(y.Labeled())), wrong: float64(len(exchanged)), fit: time.Since(begin).Seconds()}

	t, err := models.ClassTargets(y)
	if err != nil {
		return result{}, err
	}
	found := labeling.SuspectsOfFit(m.Underlying(), t)
	if found == nil {
		return result{}, fmt.Errorf("the fit held too few labels out to judge them; give more labels")
	}
	out.listed, out.estimated = float64(len(found.List)), float64(found.Wrong)
	out.first = recall(found.List[:min(len(found.List), len(exchanged))], exchanged)
	out.recall = recall(found.List, exchanged)
	return out, nil
}

// recall is the share of the exchanged labels in a list.
func recall(list []active.Suspect, exchanged map[int]bool) float64 {
	found := 0
	for _, s := range list {
		if exchanged[s.Point] {
			found++
		}
	}
	return float64(found) / float64(len(exchanged))
}
