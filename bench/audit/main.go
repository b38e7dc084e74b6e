// Command audit compares the list of suspicious labels of bigfit audit with confident learning (Northcutt, Jiang &
// Chuang 2021) from the same probabilities: labels of the sets in BIGFIT_DATA are exchanged, and the average
// precision says how early a list has them.
//
//	go run ./bench/audit --sets mnist --limit 10000 --share 0.05 --draws 5
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/audit"
	"github.com/bigfit/bigfit/bench/console"
	"github.com/bigfit/bigfit/bench/sets"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/pipeline"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run executes the command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	return console.Run(args, stdout, stderr,
		func(c *console.Console) *cobra.Command { return (&app{Console: c}).command() })
}

// app holds the flags of the command.
type app struct {
	*console.Console
	names        []string
	limit, draws int
	share        float64
	neighbours   bool
}

// command returns the command.
func (a *app) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Compare lists of suspicious labels with confident learning",
		Long: `Exchange a share of the labels of sets of BIGFIT_DATA, audit them, and print the mean average
precision of lists of all labels, the most suspicious first: the list and the scores of the audit; confident
learning by the same probabilities (labels off the diagonal of the confident joint, by self-confidence or by
margin, and all labels by margin); the values of labels by kNN-Shapley. Then the number of wrong labels by
estimate, and how often its range has the number of exchanged ones.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.compare(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&a.names, "sets", []string{"mnist"}, "sets of BIGFIT_DATA, or all")
	f.IntVar(&a.limit, "limit", 10000, "points of a set at most")
	f.IntVar(&a.draws, "draws", 5, "draws of wrong labels")
	f.Float64Var(&a.share, "share", 0.05, "share of the labels that are exchanged")
	f.BoolVar(&a.neighbours, "neighbours", false, "let the nearest neighbours judge, as of very large sets")
	return cmd
}

// compare audits each set with each draw of wrong labels and prints the mean average precisions.
func (a *app) compare(ctx context.Context) error {
	if !(a.share > 0 && a.share < 1) || a.draws < 1 {
		return console.Usagef("--share is %v and --draws %d; a share between 0 and 1 and a draw at least are needed", a.share, a.draws)
	}
	dir := os.Getenv("BIGFIT_DATA")
	a.Print(nil, fmt.Sprintf("%-12s %7s %8s %9s %8s %8s %8s %9s %8s %8s  %s", "set", "labels", "planted", "judge",
		"list", "scores", "cl self", "cl margin", "margin", "Shapley", "wrong (from – to), covered"))
	for _, s := range sets.All {
		if !slices.Contains(a.names, s.Name) && !slices.Contains(a.names, "all") {
			continue
		}
		loaded, err := s.Read(dir, a.limit)
		if err != nil {
			return err
		}
		if err := a.one(ctx, loaded); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
}

// one prints the row of a set.
func (a *app) one(ctx context.Context, s *sets.Loaded) error {
	var sum [6]float64
	var wrong, low, high, planted float64
	covered := 0
	judge := ""
	for draw := range a.draws {
		y, exchanged := sets.Exchange(s.Truth, a.share, uint64(draw+1))
		settings := &audit.Settings{Pipeline: &pipeline.Pipeline{Seed: uint64(draw + 1)}}
		if a.neighbours {
			settings.MostOperations = 1
		}
		r, err := audit.Run(ctx, s.X, &audit.Targets{Labels: y}, settings)
		if err != nil {
			return err
		}

		ours := make([]int, len(r.Labels.List))
		for p, v := range r.Labels.List {
			ours[p] = v.Point
		}
		worth := make([]int, len(r.Worth.Rows))
		order := byScore(len(worth), func(q int) float64 { return r.Worth.Value[q] })
		for p, q := range order {
			worth[p] = r.Worth.Rows[q]
		}
		scored := byScore(len(r.Labels.Score), func(q int) float64 { return -r.Labels.Score[q] })
		for p, q := range scored {
			scored[p] = r.Labels.Targets.Labeled[q]
		}
		for p, list := range [][]int{ours, scored, confident(r.Labels, selfConfidence, true), confident(r.Labels, margin, true),
			confident(r.Labels, margin, false), worth} {
			sum[p] += averagePrecision(list, exchanged) / float64(a.draws)
		}
		judge = r.Labels.Judge
		wrong += float64(r.Labels.Wrong) / float64(a.draws)
		low += float64(r.Labels.Low) / float64(a.draws)
		high += float64(r.Labels.High) / float64(a.draws)
		planted = float64(len(exchanged))
		if r.Labels.Low <= len(exchanged) && len(exchanged) <= r.Labels.High {
			covered++
		}
	}
	a.Print(nil, fmt.Sprintf("%-12s %7d %8.0f %9s %8.4f %8.4f %8.4f %9.4f %8.4f %8.4f  %.0f (%.0f – %.0f), %d of %d",
		s.Name, s.Truth.Len(), planted, judge, sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], wrong, low, high, covered,
		a.draws))
	return nil
}

// averagePrecision is the mean, over the points that are sought, of the share of sought ones up to their place
// in the list; a point that is not listed counts 0.
func averagePrecision(list []int, sought map[int]bool) float64 {
	sum := 0.0
	found := 0
	for p, i := range list {
		if sought[i] {
			found++
			sum += float64(found) / float64(p+1)
		}
	}
	return sum / float64(len(sought))
}

// A quality is small for labels that are likely wrong: selfConfidence is the probability of the given class
// (section 3.2 there), margin that less the largest of the others.
type quality func(p []float64, given int) float64

func selfConfidence(p []float64, given int) float64 { return p[given] }

func margin(p []float64, given int) float64 {
	other := 0.0
	for c, v := range p {
		if c != given {
			other = max(other, v)
		}
	}
	return p[given] - other
}

// confident lists points by confident learning, the smallest quality first: with prune those off the diagonal of
// the confident joint (section 3.1), else all.
func confident(l *audit.Labels, of quality, prune bool) []int {
	t := l.Targets
	classes := len(t.Classes)
	threshold := make([]float64, classes)
	count := make([]float64, classes)
	for q := range t.Labeled {
		if l.Known[q] {
			threshold[t.Class(q)] += l.Shares.At(q, t.Class(q))
			count[t.Class(q)]++
		}
	}

	var listed []int
	for q := range t.Labeled {
		if !l.Known[q] {
			continue
		}
		if !prune || offDiagonal(l.Shares, q, t.Class(q), threshold, count) {
			listed = append(listed, q)
		}
	}
	out := make([]int, len(listed))
	for p, at := range byScore(len(listed), func(p int) float64 {
		return of(l.Shares.RawRowView(listed[p]), t.Class(listed[p]))
	}) {
		out[p] = t.Labeled[listed[at]]
	}
	return out
}

// offDiagonal tells whether row q is confidently of another class than the given one. threshold has the sums
// of the probabilities of count labels.
func offDiagonal(shares *mat.Dense, q, given int, threshold, count []float64) bool {
	best := -1
	for c, p := range shares.RawRowView(q) {
		if count[c] > 0 && p >= threshold[c]/count[c] && (best < 0 || p > shares.At(q, best)) {
			best = c
		}
	}
	return best >= 0 && best != given
}

// byScore returns the numbers below n, the smallest score first.
func byScore(n int, score func(i int) float64) []int {
	order := data.Range(0, n)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score(a), score(b)) })
	return order
}
