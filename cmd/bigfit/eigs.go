package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

func (a *app) eigsCommand() *cobra.Command {
	o := eigsOptions{Tolerance: defaultTolerance}
	var out string
	cmd := &cobra.Command{
		Use:   "eigs graph.npz -k 100 -o eigs.npz",
		Short: "Compute the smallest eigenpairs of a graph's Laplacian",
		Long: `Compute the k smallest eigenpairs of the Laplacian of a graph, which is any
symmetric non-negative matrix saved by bigfit graph or scipy.sparse.save_npz.

The result holds values (k), vectors (n×k), residuals (k), components (n) and
degrees (n). The components of the graph give as many exact null vectors, which
come first.`,
		Args: oneArgument("the file of the graph"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(args, out); err != nil {
				return err
			}
			w, gm, err := a.loadGraph(args[0])
			if err != nil {
				return err
			}
			if o.K < 1 || o.K > w.Rows {
				return fmt.Errorf("%d eigenpairs asked of %s with %d points; -k must be between 1 and the number of points", o.K, args[0], w.Rows)
			}
			hashes := map[string]string{hashGraph: data.HashPoints(w)}
			if gm != nil {
				hashes[hashPoints] = gm.Hashes[hashPoints]
				if err := json.Unmarshal(gm.Settings, &o.Graph); err != nil {
					return fmt.Errorf("%s: the settings in the manifest: %w", args[0], err)
				}
			}
			o.Seed = a.seed
			c := w.Components()
			r, l, solveErr := a.eigenpairs(cmd.Context(), w, c, o)
			if solveErr != nil && !errors.Is(solveErr, lanczos.ErrNotConverged) {
				return solveErr
			}
			f := &lanczos.File{Result: r, Components: c, Degrees: l.Degrees()}
			if err := a.write(cmd.Context(), func() error { return saveEigs(out, f, o, hashes) }); err != nil {
				return err
			}
			s := eigsSummary{len(r.Values), r.Nullity, r.Values[len(r.Values)-1], r.MaxResidual(), r.Norm, r.Orthogonality, r.Degree, r.Products, r.Restarts}
			if err := a.print(s, fmt.Sprintf("%s: %s", out, s)); err != nil {
				return err
			}
			return solveErr
		},
	}
	o.flags(cmd.Flags())
	cmd.Flags().IntVarP(&o.K, "pairs", "k", 100, "number of eigenpairs")
	cmd.Flags().StringVarP(&out, "output", "o", "eigs.npz", "`file` to write")
	return cmd
}

// saveEigs writes eigenpairs with their manifest.
func saveEigs(path string, f *lanczos.File, o eigsOptions, hashes map[string]string) error {
	m, err := manifest.New(manifest.Eigs, o, hashes)
	if err != nil {
		return err
	}
	f.Manifest = m
	return f.Save(path)
}

type eigsSummary struct {
	Pairs         int     `json:"pairs"`
	Nullity       int     `json:"nullity"`
	Largest       float64 `json:"largest_value"`
	MaxResidual   float64 `json:"max_residual"`
	Norm          float64 `json:"norm"`
	Orthogonality float64 `json:"orthogonality"`
	Degree        int     `json:"filter_degree"`
	Products      int     `json:"products"`
	Restarts      int     `json:"restarts"`
}

func (s eigsSummary) String() string {
	return fmt.Sprintf("%d pairs, %d of them zero, up to λ = %.6g; max ‖Lv−λv‖ = %.2e (%.2e·‖L‖), max |VᵀV−I| = %.2e, both recomputed; filter degree %d, %d products, %d restarts",
		s.Pairs, s.Nullity, s.Largest, s.MaxResidual, s.MaxResidual/s.Norm, s.Orthogonality, s.Degree, s.Products, s.Restarts)
}

// largestEntry bounds eigenvectors of other programs: their squares are summed.
const largestEntry = 1e100

// loadEigs reads eigenpairs and completes them with the graph w they belong to,
// read from graphPath, which may be nil if the file says enough itself.
func (a *app) loadEigs(path string, w *sparse.CSR, graphPath string) (*lanczos.File, error) {
	f, err := lanczos.Load(path, int64(a.memory))
	if err != nil {
		return nil, err
	}
	n, _ := f.Result.Vectors.Dims()
	for i := range n {
		for j, v := range f.Result.Vectors.RawRowView(i) {
			if math.Abs(v) > largestEntry {
				return nil, fmt.Errorf("%s: row %d, column %d of vectors is %v; eigenvectors are of length 1, or at least not beyond %g", path, i, j, v, largestEntry)
			}
		}
	}
	if w != nil {
		if n != w.Rows {
			return nil, fmt.Errorf("%s: eigenvectors of %d points, but the graph has %d", path, n, w.Rows)
		}
		if err := sameHash(f.Manifest, hashGraph, data.HashPoints(w), path, graphPath); err != nil {
			return nil, err
		}
		f.Components, f.Degrees = w.Components(), w.Degrees()
	}
	if f.Components == nil || f.Degrees == nil {
		return nil, fmt.Errorf("%s: holds no components and degrees, so the graph is needed too; give it with --graph", path)
	}
	return f, nil
}
