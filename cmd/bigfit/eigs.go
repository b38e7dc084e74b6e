package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// eigsRun are the flags of bigfit eigs beside the settings of the pairs.
type eigsRun struct {
	out, checkpoint, start string
	resume                 bool
	restarts               int
	verify, graph          string
}

func (a *app) eigsCommand() *cobra.Command {
	o := eigsOptions{Tolerance: defaultTolerance, Power: 1}
	var r eigsRun
	cmd := &cobra.Command{
		Use:   "eigs graph.npz -k 100 -o eigs.npz",
		Short: "Compute the smallest eigenpairs of a graph's Laplacian",
		Long: `Compute the k smallest eigenpairs of the Laplacian of a graph, which is any
symmetric non-negative matrix saved by bigfit graph or scipy.sparse.save_npz.

The result holds values (k), vectors (n×k), residuals (k), components (n) and
degrees (n). The components of the graph give as many exact null vectors, which
come first. Residuals and orthogonality are recomputed, and a search on the
complement of the result makes sure that no pair was left out.

--checkpoint DIR keeps the state of the run there; after an interruption the same
command with --resume goes on and ends with the same bits. --start takes pairs of
an earlier run: fewer of the same graph, or of a graph to which points were added
at the end.

If not all pairs are within the tolerance after the last restart, the file holds
the first ones that are, the exit code is 3 and the checkpoint stays: --resume
with more --restarts goes on.

bigfit eigs --verify FILE --graph G checks pairs that are there already, of
whichever program, and exits with 1 if they are not the smallest ones.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if r.verify == "" {
				return oneArgument("the file of the graph")(cmd, args)
			}
			if len(args) > 0 {
				return fmt.Errorf("--verify takes the graph with --graph, not as an argument")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case r.verify != "" && r.graph == "":
				return usagef("--verify needs the graph with --graph")
			case r.verify != "":
				return a.verify(cmd.Context(), &r, o, cmd.Flags().Changed("laplacian"))
			case r.graph != "":
				return usagef("--graph goes with --verify; without it the graph is the argument")
			case r.resume && r.checkpoint == "":
				return usagef("--resume needs the folder with --checkpoint")
			case o.Power < 1:
				return usagef("--power is %d; it must be at least 1", o.Power)
			case r.restarts < 1:
				return usagef("--restarts is %d; it must be at least 1", r.restarts)
			}
			return a.eigs(cmd.Context(), args[0], &r, o)
		},
	}
	f := cmd.Flags()
	o.flags(f)
	f.IntVarP(&o.K, "pairs", "k", 100, "number of eigenpairs")
	f.BoolVar(&o.Largest, "largest", false, "the largest eigenpairs in place of the smallest")
	f.IntVar(&o.Power, "power", o.Power, "power p of the Laplacian, which is never formed")
	f.StringVarP(&r.out, "output", "o", "eigs.npz", "`file` to write")
	f.StringVar(&r.checkpoint, "checkpoint", "", "`folder` to keep the state of the run in")
	f.BoolVar(&r.resume, "resume", false, "go on from the checkpoint")
	f.IntVar(&r.restarts, "restarts", 60, "restarts after which the run gives up")
	f.StringVar(&r.start, "start", "", "`file` of eigenpairs to begin with")
	f.StringVar(&r.verify, "verify", "", "`file` of eigenpairs to check")
	f.StringVar(&r.graph, "graph", "", "`file` of the graph they belong to")
	return cmd
}

// eigs computes and saves eigenpairs.
func (a *app) eigs(ctx context.Context, path string, run *eigsRun, o eigsOptions) error {
	if err := checkOutput([]string{path, run.start}, run.out); err != nil {
		return err
	}
	w, gm, err := a.loadGraph(path)
	if err != nil {
		return err
	}
	if o.K < 1 || o.K > w.Rows {
		return fmt.Errorf("%d eigenpairs asked of %s with %d points; -k must be between 1 and the number of points", o.K, path, w.Rows)
	}
	hashes := map[string]string{hashGraph: data.HashPoints(w)}
	if gm != nil {
		hashes[hashPoints] = gm.Hashes[hashPoints]
		if err := json.Unmarshal(gm.Settings, &o.Graph); err != nil {
			return fmt.Errorf("%s: the settings in the manifest: %w", path, err)
		}
	}
	o.Seed = a.seed
	known, err := a.startVectors(run.start, w)
	if err != nil {
		return err
	}
	operator := fmt.Sprintf("%s of graph %s to the power %d", o.Laplacian, hashes[hashGraph], o.Power)
	file, resume, err := a.openCheckpoint(run, operator)
	if err != nil {
		return err
	}
	c := w.Components()
	r, l, solveErr := a.eigenpairs(ctx, w, c, o, func(s *lanczos.Settings) {
		s.Known, s.Resume, s.MaxRestarts = known, resume, run.restarts
		if file != "" {
			s.OnCheckpoint = func(snap *lanczos.Snapshot) error {
				return a.write(ctx, func() error { return saveCheckpoint(snap, file, operator) })
			}
		}
	})
	if errors.Is(solveErr, lanczos.ErrSnapshot) {
		return fmt.Errorf("%s: %w; %s", file, solveErr, beginAnew)
	}
	if !usable(solveErr) {
		return solveErr
	}
	if solveErr != nil {
		if !keepConverged(r, o) {
			return fmt.Errorf("%w; no pair is within the tolerance, so %s is not written", solveErr, run.out)
		}
		solveErr = fmt.Errorf("%w; %s holds the first %d of %d pairs", solveErr, run.out, len(r.Values), o.K)
		if file != "" && exists(file) {
			solveErr = fmt.Errorf("%w; --resume with more --restarts goes on from %s", solveErr, run.checkpoint)
		}
	}
	s := summarizeEigs(r, o.K)
	o.Certificate = &s
	f := &lanczos.File{Result: r, Components: c, Degrees: l.Degrees()}
	if err := a.write(ctx, func() error { return saveEigs(run.out, f, o, hashes) }); err != nil {
		return err
	}
	if file != "" && solveErr == nil {
		os.Remove(file) // the result is there; nothing to go on with
	}
	if err := a.print(s, fmt.Sprintf("%s: %s", run.out, s)); err != nil {
		return err
	}
	return solveErr
}

// startVectors reads eigenvectors to begin with and carries them over to the
// points of w; nil without a file.
func (a *app) startVectors(path string, w *sparse.CSR) (*mat.Dense, error) {
	if path == "" {
		return nil, nil
	}
	f, err := lanczos.Load(path, int64(a.memory))
	if err != nil {
		return nil, err
	}
	known, err := lanczos.Extend(w, f.Result.Vectors)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return known, nil
}

// openCheckpoint returns the file of the checkpoint, empty without one, and the
// snapshot to go on from, nil to begin anew.
func (a *app) openCheckpoint(run *eigsRun, operator string) (string, *lanczos.Snapshot, error) {
	if run.checkpoint == "" {
		return "", nil, nil
	}
	if err := os.MkdirAll(run.checkpoint, 0o777); err != nil {
		return "", nil, output(err)
	}
	removeLeftovers(run.checkpoint)
	file := filepath.Join(run.checkpoint, checkpointName)
	if err := checkOutput(nil, file); err != nil {
		return "", nil, err
	}
	if !run.resume {
		return file, nil, nil
	}
	if !exists(file) {
		a.note("%s: no checkpoint yet; beginning anew", run.checkpoint)
		return file, nil, nil
	}
	snap, err := lanczos.LoadSnapshot(file, operator, int64(a.memory))
	if err != nil {
		return "", nil, fmt.Errorf("%w; %s", err, beginAnew)
	}
	return file, snap, nil
}

// checkpointName is the file of the checkpoint in its folder.
const checkpointName = "eigs-snapshot.npz"

// beginAnew is what to do about a checkpoint that cannot be gone on from.
const beginAnew = "without --resume the run begins anew"

// removeLeftovers removes the temporary files that a kill left, of checkpoints
// half-written and of the check that one can be written.
func removeLeftovers(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // writing there will say what is wrong
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+checkpointName) {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// saveCheckpoint writes a checkpoint over the one before it.
func saveCheckpoint(snap *lanczos.Snapshot, file, operator string) error {
	err := snap.Save(file, operator)
	if err != nil && exists(file) {
		err = fmt.Errorf("%w; the checkpoint before it is unharmed, and --resume goes on from it", err)
	}
	return err
}

// exists reports whether there is a file with this name.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// keepConverged cuts r, which is not what o asked for, down to its first pairs
// within the tolerance, without those beyond an eigenvalue that was missed. It
// reports whether any are left.
func keepConverged(r *lanczos.Result, o eigsOptions) bool {
	sign := 1.0
	if o.Largest {
		sign = -1
	}
	k := r.ConvergedPairs(o.Tolerance)
	for k > 0 && sign*(r.Values[k-1]-r.Certificate.Next) > 2*o.Tolerance*r.Norm {
		k--
	}
	if k == 0 || k == len(r.Values) {
		return k > 0
	}
	if sign*(r.Values[k]-r.Certificate.Next) < 0 {
		r.Certificate.Next = r.Values[k]
	}
	r.Values, r.Residuals, r.Nullity = r.Values[:k], r.Residuals[:k], min(r.Nullity, k)
	n, _ := r.Vectors.Dims()
	raw := r.Vectors.RawMatrix()
	for i := range n {
		copy(raw.Data[i*k:(i+1)*k], raw.Data[i*raw.Stride:i*raw.Stride+k])
	}
	r.Vectors = mat.NewDense(n, k, raw.Data[:n*k])
	return true
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

// eigsSummary is what there is to say about computed eigenpairs: their
// certificate.
type eigsSummary struct {
	Pairs         int     `json:"pairs"` // all within the tolerance
	Asked         int     `json:"asked"`
	Nullity       int     `json:"nullity"`
	Last          float64 `json:"last_value"`
	MaxResidual   float64 `json:"max_residual"`
	Norm          float64 `json:"norm"`
	Orthogonality float64 `json:"orthogonality"`
	// Exact: the whole spectrum was computed. Next is an eigenvalue beyond the
	// last one; none below it was found.
	Exact    bool     `json:"exact"`
	Next     *float64 `json:"next_value,omitempty"`
	Degree   int      `json:"filter_degree"`
	Products int      `json:"products"`
	Restarts int      `json:"restarts"`
}

func summarizeEigs(r *lanczos.Result, asked int) eigsSummary {
	s := eigsSummary{Pairs: len(r.Values), Asked: asked, Nullity: r.Nullity, Last: r.Values[len(r.Values)-1],
		MaxResidual: r.MaxResidual(), Norm: r.Norm, Orthogonality: r.Orthogonality,
		Exact: r.Certificate.Exact, Degree: r.Degree, Products: r.Products, Restarts: r.Restarts}
	if next := r.Certificate.Next; !math.IsInf(next, 0) {
		s.Next = &next
	}
	return s
}

func (s eigsSummary) String() string {
	relative := 0.0
	if s.Norm > 0 {
		relative = s.MaxResidual / s.Norm
	}
	pairs := fmt.Sprintf("%d pairs", s.Pairs)
	if s.Pairs < s.Asked {
		pairs = fmt.Sprintf("only %d of %d pairs converged", s.Pairs, s.Asked)
	}
	text := fmt.Sprintf("%s, %d of them exact null vectors, up to λ = %.6g; max ‖Lv−λv‖ = %.2e (%.2e·‖L‖), max |VᵀV−I| = %.2e, both recomputed",
		pairs, s.Nullity, s.Last, s.MaxResidual, relative, s.Orthogonality)
	if s.Next != nil {
		how := "found by a search on the complement"
		switch {
		case s.Exact:
			how = "from the whole spectrum"
		case s.Pairs < s.Asked:
			how = "not converged"
		}
		text += fmt.Sprintf("; the next eigenvalue is about %.6g, %s", *s.Next, how)
	}
	return text + fmt.Sprintf("; filter degree %d, %d products, %d restarts", s.Degree, s.Products, s.Restarts)
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
