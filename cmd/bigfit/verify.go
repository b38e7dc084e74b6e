package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// errNotVerified is the end of a verification that found faults.
var errNotVerified = errors.New("the pairs are not the smallest eigenpairs of this Laplacian")

// verifySummary is the output of eigs --verify.
type verifySummary struct {
	Pairs         int         `json:"pairs"`
	Laplacian     sparse.Kind `json:"laplacian"`
	MaxResidual   float64     `json:"max_residual"`
	WorstPair     int         `json:"worst_pair"`
	Norm          float64     `json:"norm"`
	Orthogonality float64     `json:"orthogonality"`
	Zeros         int         `json:"zeros"`
	Components    int         `json:"components"`
	Exact         bool        `json:"exact"`
	Next          *float64    `json:"next_value,omitempty"`
	Faults        []string    `json:"faults"`
}

// verify checks saved eigenpairs. Which Laplacian they are of comes from their
// manifest, or, if there is none or flag is set, from the flags.
func (a *app) verify(ctx context.Context, run *eigsRun, o pipeline.EigsSettings, flag bool) error {
	g, err := pipeline.OpenGraph(run.graph, int64(a.memory), nil)
	if err != nil {
		return err
	}
	w := g.W
	f, err := lanczos.Load(run.verify, int64(a.memory))
	if err != nil {
		return err
	}
	if n, _ := f.Result.Vectors.Dims(); n != w.Rows {
		return fmt.Errorf("%s: eigenvectors of %d points, but %s has %d", run.verify, n, run.graph, w.Rows)
	}
	if f.Manifest != nil {
		if err := pipeline.Hashes(f.Manifest.Hashes).Agree(pipeline.HashGraph, data.HashPoints(w), run.verify, run.graph); err != nil {
			return err
		}
		var made pipeline.EigsSettings
		if err := json.Unmarshal(f.Manifest.Settings, &made); err != nil {
			return fmt.Errorf("%s: the settings in the manifest: %w", run.verify, err)
		}
		if made.Largest {
			return fmt.Errorf("%s holds the largest eigenpairs; only the smallest can be verified", run.verify)
		}
		if !flag {
			o.Laplacian = made.Laplacian
		}
		o.Power = max(made.Power, 1)
	}
	l, err := sparse.NewLaplacian(w, o.Laplacian)
	if err != nil {
		return err
	}
	st := a.progress.Stage("verify")
	v, err := lanczos.Verify(ctx, l.With(o.Power, 0), w.Components(), f.Result.Values, f.Result.Vectors,
		&lanczos.Settings{Tolerance: o.Tolerance, Seed: a.seed, MemoryLimit: int64(a.memory)})
	if err != nil {
		return err
	}
	st.Done(fmt.Sprintf("%d pairs", v.Pairs))
	s := verifySummary{v.Pairs, o.Laplacian, v.MaxResidual, v.WorstPair, v.Norm, v.Orthogonality, v.Zeros, v.Components, v.Exact, nil, v.Faults}
	if !math.IsInf(v.Next, 0) {
		s.Next = &v.Next
	}
	if err := a.print(s, fmt.Sprintf("%s: %s", run.verify, s)); err != nil {
		return err
	}
	if len(v.Faults) > 0 {
		return output(errNotVerified)
	}
	return nil
}

func (s verifySummary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pairs of the %s Laplacian; max ‖Lv−λv‖ = %.2e (%.2e·‖L‖, pair %d), max |VᵀV−I| = %.2e, %d zeros for %d components",
		s.Pairs, s.Laplacian, s.MaxResidual, s.MaxResidual/s.Norm, s.WorstPair, s.Orthogonality, s.Zeros, s.Components)
	switch {
	case s.Exact:
		b.WriteString("; compared with the whole spectrum")
	case s.Next != nil:
		fmt.Fprintf(&b, "; a search on the complement found %.6g", *s.Next)
	default:
		b.WriteString("; no search for missing pairs was possible")
	}
	for _, f := range s.Faults {
		b.WriteString("\n  fault: " + f)
	}
	if len(s.Faults) == 0 {
		b.WriteString("\n  no fault found")
	}
	return b.String()
}
