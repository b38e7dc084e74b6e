// Command kernel times our exact kernel machines beside other programs on the same
// data, in one run:
//
//	go run ./bench/kernel                        everything; needs BIGFIT_DATA
//	go run ./bench/kernel -works laprls,svr-4 -repeat 5
//
// The peer of LapRLS on uspst is NumPy and SciPy on OpenBLAS; the time includes the kernel
// and the coefficients of all classes, but not the graph. The peer of C-SVC, ε-SVR and one
// class is LIBSVM, called through scikit-learn so that the time includes no reading of text
// files; the time of both programs includes kernel, dual and bias.
//
// The programs take turns, each in a process of its own, and the fastest of -repeat runs of
// each counts. This command judges every answer: it computes objectives in float64 from the
// coefficients that a program returned. It writes kernel.json and kernel.md, prints the
// table, and fails if outputs or objectives differ, or if a point is a support vector for one
// program alone and not on the margin. Run it on a machine that does nothing else.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/bench/peers"
)

// options holds the flags, described in main.
type options struct {
	works   string
	points  int
	repeat  int
	threads int
	peers   bool
	out     string
}

func main() {
	log.SetFlags(0)
	var names []string
	for _, w := range works {
		names = append(names, w.name)
	}
	var o options
	flag.StringVar(&o.works, "works", strings.Join(names, ","), "what to time")
	flag.IntVar(&o.points, "n", 10000, "points of the support vector machines")
	flag.IntVar(&o.repeat, "repeat", 3, "runs of each program")
	flag.IntVar(&o.threads, "threads", 2, "threads of ours and of OpenBLAS; LIBSVM has one")
	flag.BoolVar(&o.peers, "peers", true, "run the peers too")
	flag.StringVar(&o.out, "o", "bench-results", "folder for the results")
	one := flag.String("one", "", "measure ours once on the task in this folder, and print JSON")
	flag.Parse()

	var err error
	if *one != "" {
		err = measureOne(context.Background(), *one)
	} else {
		err = run(context.Background(), &o)
	}

	if err != nil {
		log.Fatal(err)
	}
}

// run times the chosen works and writes the table.
func run(ctx context.Context, o *options) error {
	chosen := strings.Split(o.works, ",")
	for _, name := range chosen {
		if !slices.ContainsFunc(works, func(w work) bool { return w.name == name }) {
			return fmt.Errorf("-works: there is no work %q", name)
		}
	}

	dir, err := os.MkdirTemp("", "bigfit-kernel-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	var rows []peers.Row
	var faults []string
	for _, w := range works {
		if !slices.Contains(chosen, w.name) {
			continue
		}
		// Each task is written once, and all programs read the same files.
		folder := filepath.Join(dir, w.name)
		t, err := w.write(ctx, folder, o)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		log.Print(t.Title)

		for range o.repeat {
			objects, err := w.turn(ctx, folder, o.peers)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			found, err := t.judge(folder, objects)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			faults = append(faults, found...)
			rows = peers.Add(rows, t.Title, objects...)
		}
	}

	// The table is written even if answers differ: it helps to see why.
	table, err := peers.Save(o.out, "kernel", "Kernel machines", rows)
	if err != nil {
		return err
	}
	fmt.Print(table)
	if len(faults) > 0 {
		return fmt.Errorf("answers differ:\n%s", strings.Join(faults, "\n"))
	}
	return nil
}

// turn runs our program and the peer once, in this order.
func (w *work) turn(ctx context.Context, folder string, others bool) ([]map[string]any, error) {
	objects, err := peers.Self(ctx, os.Stderr, "-one", folder)
	if err != nil || !others {
		return objects, err
	}
	more, err := peers.Run(ctx, os.Stderr, w.script, folder)
	return append(objects, more...), err
}
