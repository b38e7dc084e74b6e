package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
		Long: `Solve (L + cI)ᵖX = B, where L is the Laplacian of a graph: any symmetric non-negative
matrix saved by bigfit graph or scipy.sparse.save_npz. B has a row for each point and a
column for each right-hand side; X has the same shape.

Without --shift the system is singular: there are solutions only if B has no part along
the null vectors of the components of the graph. The solution that has no such part
either is written. --project takes that part from B first.

If some columns are not within the tolerance after the last iteration, the last iterate
is written and the exit code is 3.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 2:
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
}

func (a *app) solve(ctx context.Context, graph, right string, o *solveOptions) error {
	if err := shell.CheckAnswers([]string{graph, right}, []string{o.out}); err != nil {
		return err
	}
	g, err := pipeline.OpenGraph(graph, int64(a.Memory), nil)
	if err != nil {
		return err
	}
	b, err := data.ReadValues(right, data.ReadOptions{Limit: a.Left(), Points: g.W.Rows})
	if err != nil {
		return err
	}

	n, m := b.Dims()
	if n != g.W.Rows {
		return fmt.Errorf("%s has %d rows and %s has %d points", right, n, graph, g.W.Rows)
	}

	// One NaN would spread over all points of its component.
	for i, v := range b.RawMatrix().Data {
		if v != v {
			return fmt.Errorf("%s: row %d, column %d is NaN; every value must be finite", right, i/m, i%m)
		}
	}

	l, err := sparse.NewLaplacian(g.W, o.laplacian)
	if err != nil {
		return err
	}
	bytes, err := cg.Bytes(n, m, &o.cg)
	if err != nil {
		return err
	}
	if err := a.Need("solve", bytes+8*int64(n)*int64(m), 0, "give fewer columns at a time"); err != nil {
		return err
	}

	st := a.Progress.Stage("solve")
	s := cg.LaplacianSettings{Settings: o.cg, Seed: a.Seed}
	s.MemoryLimit = int64(a.Memory)
	s.OnIteration = func(c cg.State) error { st.Update(float64(c.Iteration), 0, ""); return ctx.Err() }
	r, solveErr := cg.Laplacian(ctx, l.With(o.power, o.shift), g.Components, b, &s)
	// A singular system without a solution is an input fault; the message names the column and the
	// component.
	if null := (*cg.NullComponentError)(nil); errors.As(solveErr, &null) {
		return fmt.Errorf("%s: column %d has %.3g of its norm along the null vector of component %d, "+
			"so that there is no solution; give --shift, or --project to leave that part out",
			right, null.Column, null.Relative, null.Vector)
	}
	if !models.Usable(solveErr) {
		return solveErr
	}

	sum := solveSummary{Points: n, Columns: m, Components: g.Components.Count(),
		MaxResidual: slices.Max(r.Residuals),
		Iterations:  slices.Max(r.Iterations), Products: r.Products, Method: r.Method.String()}
	st.Done(fmt.Sprintf("%d iterations", sum.Iterations))
	// Columns that missed the tolerance are written too, as the exit code 3 promises.
	answers := pipeline.CoordinateAnswers("", r.X)
	answers.Settings.Answers = "solutions"
	if err := a.Write(ctx, func() error { return a.WriteAnswers(o.out, answers, nil) }); err != nil {
		return err
	}
	if err := a.Print(sum, fmt.Sprintf("%s: %d columns for %d points, relative residuals up to %.1e, "+
		"recomputed, after %d iterations with the preconditioner %s",
		o.out, m, n, sum.MaxResidual, sum.Iterations, sum.Method)); err != nil {
		return err
	}
	return solveErr
}
