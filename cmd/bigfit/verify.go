package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// errNotVerified is the end of a verification that found faults.
var errNotVerified = errors.New("the pairs are not the smallest eigenpairs of this Laplacian")

// verify checks saved eigenpairs. Which Laplacian they are of comes from their
// manifest, or, if there is none or flag is set, from the flags.
func (a *app) verify(ctx context.Context, run *eigsRun, o pipeline.EigsSettings, flag bool) error {
	g, err := pipeline.OpenGraph(run.graph, int64(a.Memory), nil)
	if err != nil {
		return err
	}
	w := g.W
	f, err := lanczos.Load(run.verify, int64(a.Memory))
	if err != nil {
		return err
	}
	if n, _ := f.Result.Vectors.Dims(); n != w.Rows {
		return fmt.Errorf("%s: eigenvectors of %d points, but %s has %d", run.verify, n, run.graph, w.Rows)
	}

	// Pairs of bigfit carry the hash of their graph and their settings; pairs of another program
	// have neither, and the flags stand.
	if f.Manifest != nil {
		if err := pipeline.Hashes(f.Manifest.Hashes).Agree(pipeline.HashGraph, data.HashPoints(w), run.verify,
			run.graph); err != nil {
			return err
		}
		var made pipeline.EigsSettings
		if err := json.Unmarshal(f.Manifest.Settings, &made); err != nil {
			return fmt.Errorf("%s: the settings in the manifest: %w", run.verify, err)
		}
		if made.Largest {
			return fmt.Errorf("%s holds the largest eigenpairs; only the smallest can be verified",
				run.verify)
		}
		if !flag {
			o.Laplacian = made.Laplacian
		}
		o.Power = max(made.Power, 1)
	}

	// Verify recomputes residuals and orthogonality and searches the complement for a smaller
	// pair.
	l, err := sparse.NewLaplacian(w, o.Laplacian)
	if err != nil {
		return err
	}
	if f.Rounded && !a.Given["tolerance"] {
		o.Tolerance = shell.SingleTolerance
	}
	st := a.Progress.Stage("verify")
	v, err := lanczos.Verify(ctx, l.With(o.Power, 0), w.Components(), f.Result.Values, f.Result.Vectors,
		&lanczos.Settings{Tolerance: o.Tolerance, Single: f.Rounded, Seed: a.Seed, MemoryLimit: int64(a.Memory)})
	if err != nil {
		return err
	}

	st.Done(fmt.Sprintf("%d pairs", v.Pairs))
	s := summary.OfVerification(v, o.Laplacian)
	if err := a.Print(s, fmt.Sprintf("%s: %s", run.verify, s)); err != nil {
		return err
	}
	if len(v.Faults) > 0 {
		return shell.Output(errNotVerified)
	}
	return nil
}
