// Command parts compares graphs searched in parts with graphs searched in one piece, on this
// machine:
//
//	go run ./bench/parts                                        1,000,000 points, 10 parts
//	go run ./bench/parts -points 1e7 -parts 100 -kills 2 -whole=false -works manifold
//
// The works are a 10-dimensional manifold and 20 curved sheets, in 64 coordinates, float32. With
// -kills, a second run in parts is killed (SIGKILL) that many times, at equal intervals of the
// time of the first run, and started again. Its graph must equal the first run's graph.
//
// It writes parts.json and parts.md. Run it on a machine that does nothing else.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bigfit/bigfit/bench/program"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// options holds the flags, described in main, and the program under test.
type options struct {
	points    float64
	parts     int
	overlap   int
	k, kills  int
	whole     bool
	works     string
	work, out string
	program   string
	bigfit    *program.Program
}

// The manifold of the points: see [synthetic.Manifold].
const (
	columns, intrinsic = 64, 10
	noise              = 0.01
	seed               = 1
)

// works holds functions that make n points, by the name of the work.
var works = map[string]func(n int) *data.Dense[float32]{
	"manifold": func(n int) *data.Dense[float32] {
		return synthetic.Manifold(n, columns, intrinsic, noise, seed)
	},
	"sheets": sheets,
}

func main() {
	log.SetFlags(log.Ltime)
	var o options
	flag.Float64Var(&o.points, "points", 1e6, "points")
	flag.IntVar(&o.parts, "parts", 10, "parts")
	flag.IntVar(&o.overlap, "overlap", 2, "parts of each point")
	flag.IntVar(&o.k, "k", 10, "neighbours")
	flag.IntVar(&o.kills, "kills", 0, "kills of a second run in parts")
	flag.BoolVar(&o.whole, "whole", true, "search in one piece too")
	flag.StringVar(&o.works, "works", "manifold,sheets", "points")
	flag.StringVar(&o.work, "work", "", "folder for points and graphs (default: a temporary one)")
	flag.StringVar(&o.out, "o", "bench-results", "folder for the results")
	flag.StringVar(&o.program, "bigfit", "", "bigfit program (default: built from this module)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	if err := run(ctx, &o); err != nil {
		log.Fatal(err)
	}
}

// check returns all faults of the flags.
func (o *options) check() error {
	var faults []error
	if !(o.points >= 1000 && o.points <= 1e9) {
		faults = append(faults, fmt.Errorf("-points is %g; it must be from 1000 to 1e9", o.points))
	}
	if o.kills < 0 {
		faults = append(faults, fmt.Errorf("-kills is %d; it must be 0 or more", o.kills))
	}
	for _, w := range strings.Split(o.works, ",") {
		if works[w] == nil {
			faults = append(faults, fmt.Errorf("-works has %q; works are manifold and sheets", w))
		}
	}
	return errors.Join(faults...)
}

// run measures all works. It writes the results after each of them.
func run(ctx context.Context, o *options) error {
	if err := o.check(); err != nil {
		return err
	}
	var err error
	if o.bigfit, err = program.Prepare(ctx, o.program, o.work, o.out); err != nil {
		return err
	}
	defer o.bigfit.Close()

	var all []measured
	for _, work := range strings.Split(o.works, ",") {
		rows, err := o.measure(ctx, work)
		if err != nil {
			return fmt.Errorf("%s: %w", work, err)
		}
		all = append(all, rows...)
		if err := o.save(all); err != nil {
			return err
		}
	}

	fmt.Print(o.table(all))
	return nil
}

// measured holds a run of the program on the points of a work. The recalls are texts, as the
// program prints them.
type measured struct {
	Work string `json:"work"`
	Run  string `json:"run"`
	*program.Usage
	Before string `json:"recall_before,omitempty"` // before the exchange across borders
	Recall string `json:"recall"`
}

// measure runs the program on the points of a work. The folder of a work holds the points
// X.npy, the work folders W and K of the runs in parts, and the graphs whole/, parts/ and
// killed/.
func (o *options) measure(ctx context.Context, work string) (rows []measured, err error) {
	dir := filepath.Join(o.bigfit.Work, fmt.Sprintf("%s-%.0f", work, o.points))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	points := filepath.Join(dir, "X.npy")
	if _, err := os.Stat(points); err != nil {
		x := works[work](int(o.points))
		if err := npy.WriteFile(points, []int{int(o.points), columns}, x.Data); err != nil {
			return nil, err
		}
	}

	common := []string{"graph", "X.npy", "--neighbors", strconv.Itoa(o.k)}
	parts := append(common, "--parts", strconv.Itoa(o.parts), "--overlap", strconv.Itoa(o.overlap))
	// Run the program once and keep what it reports.
	add := func(name string, args ...string) error {
		used, err := o.bigfit.Run(ctx, dir, args...)
		if err != nil {
			return err
		}
		row := measured{Work: work, Run: name, Usage: used}
		row.read()
		rows = append(rows, row)
		log.Printf("%s, %s: %.1f s, %d of %d MiB announced, %d MiB resident, recall %s, %s before", work,
			name, row.Seconds, row.Peak>>20, row.Announced>>20, row.Resident>>20, row.Recall, row.Before)
		return nil
	}

	if o.whole {
		if err := add("in one piece", append(common, "--method", "nn-descent", "-o",
			"whole/")...); err != nil {
			return nil, err
		}
	}

	// A work folder from an earlier run would be resumed.
	if err := os.RemoveAll(filepath.Join(dir, "W")); err != nil {
		return nil, err
	}
	if err := add("in parts", append(parts, "--work", "W", "-o", "parts/")...); err != nil {
		return nil, err
	}
	if o.kills == 0 {
		return rows, nil
	}
	if err := os.RemoveAll(filepath.Join(dir, "K")); err != nil {
		return nil, err
	}

	// The kills come at equal shares of the time that the undisturbed run took.
	again := append(parts, "--work", "K", "-o", "killed/")
	pause := time.Duration(rows[len(rows)-1].Seconds / float64(o.kills+1) * float64(time.Second))
	for i := range o.kills {
		if err := o.bigfit.Kill(ctx, pause, dir, again...); err != nil {
			return nil, fmt.Errorf("kill %d: %w", i+1, err)
		}
	}

	if err := add(fmt.Sprintf("in parts, after %d kills", o.kills), again...); err != nil {
		return nil, err
	}
	// bigfit diff fails if the graphs differ.
	cmd := exec.CommandContext(ctx, o.bigfit.Path, "diff", "parts/", "killed/")
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	log.Printf("the graphs: %s", strings.TrimSpace(string(text)))
	return rows, err
}

// read takes the recall from the notes of the program: "recall before the exchange: 0.91 …"
// and "recall 0.98 …".
func (m *measured) read() {
	for _, note := range m.Notes {
		before, rest, found := strings.Cut(note, "recall ")
		rest, early := strings.CutPrefix(rest, "before the exchange: ")
		// The word counts only at the beginning of a note or after a space.
		switch value, _, _ := strings.Cut(rest, " "); {
		case !found:
		case early:
			m.Before = value
		case before == "" || strings.HasSuffix(before, " "):
			m.Recall = value
		}
	}
}

// save writes parts.json and parts.md.
func (o *options) save(rows []measured) error {
	if err := atomicfile.Atomically(filepath.Join(o.out, "parts.json"), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}); err != nil {
		return err
	}
	return atomicfile.Atomically(filepath.Join(o.out, "parts.md"), func(w io.Writer) error {
		_, err := io.WriteString(w, o.table(rows))
		return err
	})
}

// table returns a table with a row for each run: time and memory, also relative to the search
// in one piece.
func (o *options) table(rows []measured) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.0f points of %d columns, %d neighbours, %d parts, overlap %d; %s\n\n| points "+
		"| run | time | peak (announced) | with mapped pages | recall (before the exchange) "+
		"|\n|---|---|---|---|---|---|\n",
		o.points, columns, o.k, o.parts, o.overlap, simd.Path())
	whole := measured{Usage: &program.Usage{}}
	for _, r := range rows {
		if r.Run == "in one piece" {
			whole = r
		}
		// Ratios are to the search in one piece of the same work.
		ratio := func(a, b float64) string {
			if whole.Work != r.Work || r.Run == whole.Run || b == 0 {
				return ""
			}
			return fmt.Sprintf(" = %.2f×", a/b)
		}

		fmt.Fprintf(&b, "| %s | %s | %.1f s%s | %d MiB%s (%d) | %d MiB%s | %s", r.Work, r.Run, r.Seconds,
			ratio(r.Seconds, whole.Seconds),
			r.Peak>>20, ratio(float64(r.Peak), float64(whole.Peak)), r.Announced>>20, r.Resident>>20,
			ratio(float64(r.Resident), float64(whole.Resident)), r.Recall)
		if r.Before != "" {
			fmt.Fprintf(&b, " (%s)", r.Before)
		}
		b.WriteString(" |\n")
	}

	return b.String()
}
