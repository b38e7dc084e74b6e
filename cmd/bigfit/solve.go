package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// solveOptions are the flags of bigfit solve.
type solveOptions struct {
	out       string
	factor    string // file to read
	save      string // file of the factor to write
	serve     bool
	laplacian sparse.Kind
	shift     float64
	power     int
	cg        cg.Settings
}

func (a *app) solveCommand() *cobra.Command {
	o := solveOptions{power: 1, cg: cg.Settings{Tolerance: shell.DefaultTolerance, MaxIterations: 10_000}}
	cmd := &cobra.Command{
		Use:   "solve graph.npz B.npy -o X.npy",
		Short: "Solve linear systems with a graph's Laplacian",
		Long: `Solve (L + cI)ᵖX = B, where L is the Laplacian of a graph. The graph is any symmetric
non-negative matrix saved by bigfit graph or scipy.sparse.save_npz. B has a row for each
point and a column for each right-hand side, and so has X.

Without --shift the system is singular. It has solutions only if B has no part along
the null vectors of the graph's components, and --project takes that part from B first.
The solution without such a part is written.

If some columns are not within the tolerance after the last iteration, the last iterate
is written and the exit code is 3.

A factor of L + cI is exact where the graph has small separators, and approximate elsewhere.
--save-factor F.npz makes it and keeps it in a file, also without B, and --factor F.npz
takes it from there. The file belongs to the graph, the kind of Laplacian and the shift,
and is refused with others; any power will do.

With --serve the factor is made once, or read, and kept in memory. Each line on stdin, B.npy and X.npy with a tab between them,
is a system to solve; a line on stdout answers it.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.serve && len(args) != 1:
				return shell.Usagef("bigfit solve --serve takes one argument, the graph; the right-hand " +
					"sides come on stdin")
			case o.serve && (o.power != 1 || a.Given["output"]):
				return shell.Usagef("--serve goes without --power and --output: solve again for a power, " +
					"and name the outputs on stdin")
			case o.factor != "" && o.save != "":
				return shell.Usagef("--factor reads a factor and --save-factor makes one; give one of both")
			case !o.serve && o.save != "" && len(args) == 1 && !a.Given["output"]:
			case !o.serve && len(args) != 2:
				return shell.Usagef("bigfit solve takes two arguments, the graph and the right-hand "+
					"sides; %d are given", len(args))
			case o.laplacian == sparse.RandomWalk:
				return shell.Usagef("--laplacian random-walk is not symmetric; solve with " +
					"normalized, for D^½B, and take D^-½X")
			case !(o.shift >= 0):
				return shell.Usagef("--shift is %v; it must be at least 0", o.shift)
			case o.power < 1:
				return shell.Usagef("--power is %d; it must be at least 1", o.power)
			case !(o.cg.Tolerance > 0 && o.cg.Tolerance < 1):
				return shell.Usagef("--tolerance is %v; it must be between 0 and 1", o.cg.Tolerance)
			case o.cg.MaxIterations < 1:
				return shell.Usagef("--max-iterations is %d; it must be at least 1", o.cg.MaxIterations)
			}

			switch {
			case o.serve:
				return a.serve(cmd.Context(), args[0], os.Stdin, &o)
			case len(args) == 1:
				return a.saveFactor(cmd.Context(), args[0], &o)
			}
			return a.solve(cmd.Context(), args[0], args[1], &o)
		},
	}

	f := cmd.Flags()
	shell.NameFlag(f, &o.laplacian, "laplacian", "Laplacian; combinatorial is D−W",
		sparse.Combinatorial, sparse.Normalized)
	f.Float64Var(&o.shift, "shift", 0, "c of (L + cI)ᵖ")
	f.IntVar(&o.power, "power", o.power, "power p of (L + cI)ᵖ, which is never formed")
	f.BoolVar(&o.cg.Project, "project", false,
		"take from B what it has along the null vectors, without --shift")
	f.Float64Var(&o.cg.Tolerance, "tolerance", o.cg.Tolerance,
		"largest residual of a column, relative to that of B")
	f.IntVar(&o.cg.MaxIterations, "max-iterations", o.cg.MaxIterations,
		"iterations after which the run gives up")
	f.StringVar(&o.factor, "factor", "", "`file` of a factor to solve with")
	f.StringVar(&o.save, "save-factor", "", "`file` to keep the factor in")
	f.BoolVar(&o.serve, "serve", false, "keep the factor, and solve for the files that lines on stdin name")
	f.StringVarP(&o.out, "output", "o", "X.npy", "`file` to write")
	return cmd
}

// solveSummary describes a solution.
type solveSummary struct {
	Points      int     `json:"points"`
	Columns     int     `json:"columns"`
	Components  int     `json:"components"`
	MaxResidual float64 `json:"max_residual"` // recomputed
	Iterations  int     `json:"iterations"`
	Products    int     `json:"products"`
	Method      string  `json:"method"` // of the preconditioner

	out string
}

func (s *solveSummary) String() string {
	return fmt.Sprintf("%s: %d columns for %d points, relative residuals up to %.1e, recomputed, after %d "+
		"iterations with the preconditioner %s", s.out, s.Columns, s.Points, s.MaxResidual, s.Iterations, s.Method)
}

// system is a graph's Laplacian to solve with.
type system struct {
	name   string // of the file of the graph
	graph  *pipeline.GraphFile
	l      *sparse.Laplacian
	factor *cg.Factor // nil for a preconditioner that is chosen and made anew
}

// readSystem reads a graph, and makes or reads the factor that is asked for; with always, it makes one in
// any case.
func (a *app) readSystem(ctx context.Context, path string, o *solveOptions, always bool) (*system, error) {
	a.Reads(pipeline.HashGraph, path)
	a.Points.TakeVertices(path)
	g, err := pipeline.OpenGraph(path, int64(a.Memory), nil)
	if err != nil {
		return nil, err
	}
	l, err := sparse.NewLaplacian(g.W, o.laplacian)
	if err != nil {
		return nil, err
	}
	s := &system{name: path, graph: g, l: l.With(o.power, o.shift)}

	switch {
	case o.factor != "":
		s.factor, err = cg.LoadFactor(o.factor, s.l, a.Left())
	case o.save != "" || always:
		err = a.makeFactor(ctx, s, o)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// makeFactor makes the factor of a system, and writes it where that is asked for.
func (a *app) makeFactor(ctx context.Context, s *system, o *solveOptions) error {
	n := s.graph.W.Rows
	if err := a.Need("factor", cg.FactorBytes(n, s.graph.W.NNZ()), 0, "give fewer points"); err != nil {
		return err
	}
	st := a.Progress.Stage("factor")
	s.factor = cg.NewFactor(s.l, a.Seed)
	st.Done(s.factor.Method().String())
	if o.save == "" {
		return nil
	}
	return a.Write(ctx, func() error { return s.factor.Save(o.save, a.Files) })
}

// checkFiles refuses names of files that cannot be those of solutions and of a factor.
func (o *solveOptions) checkFiles(inputs []string, answers ...string) error {
	return cmp.Or(shell.CheckArchive("a factor", o.save),
		shell.CheckAnswers(append(inputs, o.factor), answers, o.save))
}

// saveFactor makes a factor and solves nothing.
func (a *app) saveFactor(ctx context.Context, graph string, o *solveOptions) error {
	if err := o.checkFiles([]string{graph}); err != nil {
		return err
	}
	s, err := a.readSystem(ctx, graph, o, true)
	if err != nil {
		return err
	}
	sum := &solveSummary{Points: s.graph.W.Rows, Components: s.graph.Components.Count(),
		Method: s.factor.Method().String()}
	return a.Print(sum, fmt.Sprintf("%s: the factor for %d points, %s", o.save, sum.Points, sum.Method))
}

func (a *app) solve(ctx context.Context, graph, right string, o *solveOptions) error {
	if err := o.checkFiles([]string{graph, right}, o.out); err != nil {
		return err
	}
	s, err := a.readSystem(ctx, graph, o, false)
	if err != nil {
		return err
	}
	sum, short := a.solveFor(ctx, s, right, o)
	if sum == nil {
		return short
	}
	if err := a.Print(sum, sum.String()); err != nil {
		return err
	}
	return short
}

// solveFor solves for the right-hand sides in a file and writes the solutions. A summary beside an error
// tells that columns missed the tolerance; they are written too, as the exit code 3 promises.
func (a *app) solveFor(ctx context.Context, s *system, right string, o *solveOptions) (*solveSummary, error) {
	b, err := data.ReadValues(right, data.ReadOptions{Limit: a.Left(), Points: s.graph.W.Rows})
	if err != nil {
		return nil, err
	}
	n, m := b.Dims()
	if n != s.graph.W.Rows {
		return nil, fmt.Errorf("%s has %d rows and %s has %d points", right, n, s.name, s.graph.W.Rows)
	}
	// One NaN would spread over all points of its component.
	for i, v := range b.RawMatrix().Data {
		if v != v {
			return nil, fmt.Errorf("%s: row %d, column %d is NaN; every value must be finite", right, i/m, i%m)
		}
	}

	set := cg.LaplacianSettings{Settings: o.cg, Seed: a.Seed}
	if s.factor != nil {
		set.Preconditioner = s.factor
	}
	bytes, err := cg.LaplacianBytes(s.l, m, &set)
	if err != nil {
		return nil, err
	}
	if err := a.Need("solve", bytes+8*int64(n)*int64(m), 0, "give fewer columns at a time"); err != nil {
		return nil, err
	}
	st := a.Progress.Stage("solve")
	set.MemoryLimit = int64(a.Memory)
	set.OnIteration = func(c cg.State) error { st.Update(float64(c.Iteration), 0, ""); return ctx.Err() }
	r, solveErr := cg.Laplacian(ctx, s.l, s.graph.Components, b, &set)

	// A singular system without a solution is an input fault; the message names the column and the
	// component.
	if null := (*cg.NullComponentError)(nil); errors.As(solveErr, &null) {
		return nil, fmt.Errorf("%s: column %d has %.3g of its norm along the null vector of component %d, "+
			"so that there is no solution; give --shift, or --project to leave that part out",
			right, null.Column, null.Relative, null.Vector)
	}
	if !models.Usable(solveErr) {
		return nil, solveErr
	}

	sum := &solveSummary{Points: n, Columns: m, Components: s.graph.Components.Count(),
		MaxResidual: slices.Max(r.Residuals), Iterations: slices.Max(r.Iterations), Products: r.Products,
		Method: r.Method.String(), out: o.out}
	st.Done(fmt.Sprintf("%d iterations", sum.Iterations))
	answers := pipeline.CoordinateAnswers("", r.X)
	answers.Settings.Answers = "solutions"
	if err := a.Write(ctx, func() error { return a.WriteAnswers(o.out, answers, nil) }); err != nil {
		return nil, err
	}
	return sum, solveErr
}

// served is the answer of solve --serve to a line.
type served struct {
	*solveSummary
	Fault string `json:"fault,omitempty"` // why there is no solution, or why it is not within the tolerance
}

// serve makes the factor of a system and solves for every pair of files that a line of requests names.
func (a *app) serve(ctx context.Context, graph string, requests io.Reader, o *solveOptions) error {
	if err := o.checkFiles([]string{graph}); err != nil {
		return err
	}
	s, err := a.readSystem(ctx, graph, o, true)
	if err != nil {
		return err
	}

	// The first line tells that the factor is there.
	method := s.factor.Method().String()
	ready := served{solveSummary: &solveSummary{Points: s.graph.W.Rows, Components: s.graph.Components.Count(),
		Method: method}}
	if err := a.Print(ready, "factor: "+method); err != nil {
		return err
	}
	for lines := bufio.NewScanner(requests); lines.Scan(); {
		right, out, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			return shell.Usagef("%q is no request; a line is the file of B, a tab, and the file of X to write",
				lines.Text())
		}
		one := *o
		one.out = out
		if err := shell.CheckAnswers([]string{graph, right}, []string{out}); err != nil {
			return err
		}
		sum, err := a.solveFor(ctx, s, right, &one)
		answer := served{solveSummary: sum}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			answer.Fault = err.Error()
		}
		text := answer.Fault
		if sum != nil {
			text = sum.String()
		}
		if err := a.Print(answer, text); err != nil {
			return err
		}
	}
	return nil
}
