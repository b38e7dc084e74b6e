package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// kernelSettings holds the parameters of bigfit kernel.
type kernelSettings struct {
	norms  regularizer.Regularizer
	kernel expansion.KernelChoice
}

// warpParams are the parameters of a warped kernel: γ_A and γ_I matter by their ratio alone, and no
// labels choose them here.
var warpParams = append(models.Part(regularizer.Params.
	Change("gamma-a", func(p *models.Param) {
		p.Doc, p.Default, p.Required = "weight γ_A of the ambient norm; only γ_I/γ_A matters", "1", false
	}).
	Change("gamma-i", func(p *models.Param) {
		p.Doc, p.Default, p.Required = "weight γ_I of the intrinsic norm fᵀLᵖf; 0 writes k itself", "1", false
	}), func(s *kernelSettings) *regularizer.Regularizer { return &s.norms }),
	models.Part(expansion.KernelParams, func(s *kernelSettings) *expansion.KernelChoice { return &s.kernel })...)

// kernelOptions are the flags of bigfit kernel.
type kernelOptions struct {
	kernelSettings
	source                      shell.GraphSource
	params                      shell.ParamFlags
	fresh                       shards.Names
	out, between, variancesFile string
}

func (a *app) kernelCommand() *cobra.Command {
	o := kernelOptions{params: shell.ParamFlags{}}
	cmd := &cobra.Command{
		Use:   "kernel X.npy… --gamma-i 0.1 -o K.npy",
		Short: "Write a kernel matrix that includes the graph, for other programs",
		Long: `Write the matrix of the warped kernel among the points X, the arguments or -X,

  k̃(x, z) = k(x, z) − k_xᵀ(I + MK)⁻¹M k_z,  M = (γ_I/γ_A)·s·Lᵖ

in which points are alike if the graph of nearest neighbours joins them (Sindhwani,
Niyogi & Belkin 2005; s as --scaling says). A machine that takes values of a kernel
becomes semi-supervised with it. On the labeled rows and columns of l labels a support
vector machine with C = 1/(2γ_A l) is lapsvm, and ridge regression with alpha = γ_A l is
laprls. A Gaussian process with this covariance is one on the graph. The matrix is
symmetric and, but for rounding, has no negative eigenvalues.

  bigfit kernel X.npy --gamma-i 0.1 -o K.npy --new new.npy --new-output Knew.npy

writes the values between new points and those of X too, a row for each new point, and
--variances the values k̃(x, x) of new points, which Gaussian processes need. In Python:

  SVC(kernel="precomputed").fit(K[np.ix_(labeled, labeled)], y[labeled])
  .predict(Knew[:, labeled])

The first argument may be a graph, a sparse .npz; sparse points then need -X. With
--kernel precomputed X holds values of k, and a graph must be given. It takes dense
matrices: about 7n² numbers for n points, 1.4 GB for 5000, and 5n³ operations.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.kernel(cmd.Context(), args, &o) },
	}

	f := cmd.Flags()
	f.VarP(&o.source.X, "points", "X", shell.PointsHelp)
	o.params.Add(f, warpParams.Params(), false)
	o.source.Flags(a.App, f)
	f.Var(&o.fresh, "new", "`file` of new points; may be repeated")
	f.StringVar(&o.between, "new-output", "", "`file` to write with the values between new points and X")
	f.StringVar(&o.variancesFile, "variances", "", "`file` to write with k̃(x, x) of the new points")
	f.StringVarP(&o.out, "output", "o", "K.npy", "`file` to write")
	return cmd
}

// kernelSummary is the output of kernel.
type kernelSummary struct {
	Points int     `json:"points"`
	New    int     `json:"new_points,omitempty"`
	Kernel string  `json:"kernel"`
	Norms  string  `json:"norms"`
	Sigma  float64 `json:"sigma,omitempty"`
	Trace  float64 `json:"trace"`
}

func (a *app) kernel(ctx context.Context, args []string, o *kernelOptions) error {
	if err := a.checkKernel(args, o); err != nil {
		return err
	}
	g, notReached := a.loadKernel(ctx, o)
	if !models.Usable(notReached) {
		return notReached
	}
	n, d := g.X.Dims()
	m := 0
	var fresh data.Points
	if len(o.fresh) > 0 {
		var err error
		if fresh, err = a.ReadMore("new points", o.fresh, data.ReadOptions{Columns: d}); err != nil {
			return err
		}
		m, _ = fresh.Dims()
	}

	bytes := kernelmachine.WarpBytes(n, n, m)
	operations := kernelmachine.WarpOperations(n, n, m, d)
	if o.variancesFile != "" {
		// The problem is held meanwhile, and what was made of it.
		bytes = max(bytes, 8*(3*int64(n)*int64(n)+int64(m)*int64(n))+kernelmachine.VarianceBytes(n, m))
		operations += 2 * float64(n) * float64(n) * (float64(n)/3 + float64(m))
	}
	if err := a.Need("kernel", bytes, operations, "give fewer points"); err != nil {
		return err
	}

	source, err := o.kernelSettings.kernel.On(g.X, a.Seed)
	if err != nil {
		return err
	}
	a.Note("kernel: %s", source)
	found, err := a.warp(ctx, g, &kernelmachine.Data{Points: source.Points, Kernel: source.Kernel, Values: source.Values}, o, fresh)
	if err != nil {
		return err
	}

	sum := kernelSummary{Points: n, New: m, Kernel: source.String(), Norms: o.norms.Describe(),
		Sigma: source.Kernel.Sigma, Trace: mat.Trace(found.values)}
	if err := a.Write(ctx, func() error { return a.writeKernel(found, o, g.Hashes) }); err != nil {
		return err
	}
	text := fmt.Sprintf("%s: %d×%d, %s, %s, trace %.6g", o.out, n, n, sum.Kernel, sum.Norms, sum.Trace)
	if o.between != "" {
		text += fmt.Sprintf("; %s: %d×%d", o.between, m, n)
	}
	if err := a.Print(sum, text); err != nil {
		return err
	}
	return notReached
}

// loadKernel reads the points and their graph, or makes it. Values in place of points are not what the graph
// in a file was made of.
func (a *app) loadKernel(ctx context.Context, o *kernelOptions) (*shell.Sourced, error) {
	if !o.kernelSettings.kernel.Given() {
		return a.LoadSource(ctx, &o.source)
	}
	only := o.source
	only.X = nil
	g, err := a.LoadSource(ctx, &only)
	if err != nil {
		return nil, err
	}
	g.X, err = a.ReadPoints(o.source.X, data.ReadOptions{})
	if err != nil {
		return nil, err
	}
	g.Hashes[pipeline.HashPoints] = data.HashPoints(g.X)
	if n, columns := g.X.Dims(); n != columns || n != g.W.Rows {
		return nil, fmt.Errorf("%s holds %d×%d values of a kernel for a graph of %d points; it must be %d×%d",
			o.source.X, n, columns, g.W.Rows, g.W.Rows, g.W.Rows)
	}
	return g, nil
}

// checkKernel refuses what can be known to be wrong before anything is read.
func (a *app) checkKernel(args []string, o *kernelOptions) error {
	if err := o.source.Take(a.App, args, false); err != nil {
		return err
	}
	var err error
	if o.kernelSettings, err = shell.Decode(a.App, o.params, warpParams); err != nil {
		return err
	}
	if o.norms.GammaA == 0 {
		o.norms.GammaA = 1
	}
	if o.params["gamma-i"].Text == "" {
		o.norms.GammaI = 1
	}
	if o.norms, err = o.norms.Fill(); err != nil {
		return a.FlagFaults("", err)
	}
	switch {
	case len(o.source.X) == 0:
		return shell.Usagef("bigfit kernel needs the points (-X); the graph alone does not have them")
	case o.kernelSettings.kernel.Given() && o.source.File == "":
		return shell.Usagef("--kernel %s takes values in place of points, of which no graph is made; give a graph as the "+
			"first argument", o.kernelSettings.kernel.Kind)
	case len(o.fresh) > 0 && o.between == "" && o.variancesFile == "":
		return shell.Usagef("--new needs a file to write, --new-output or --variances")
	case len(o.fresh) == 0 && (o.between != "" || o.variancesFile != ""):
		return shell.Usagef("--new-output and --variances are of new points; give them with --new")
	case o.kernelSettings.kernel.Given() && o.variancesFile != "":
		return shell.Usagef("--variances needs points; values of a kernel do not say k(x, x) of new ones")
	}
	outputs := []string{o.out}
	for _, name := range []string{o.between, o.variancesFile} {
		if name != "" {
			outputs = append(outputs, name)
		}
	}
	return shell.CheckAnswers(append(o.source.X.Inputs(o.source.File), o.fresh...), outputs)
}

// warped holds the results of bigfit kernel.
type warped struct {
	values, between *mat.Dense // between is nil without new points
	variances       []float64
}

// warp computes the kernel, as a stage.
func (a *app) warp(ctx context.Context, g *shell.Sourced, d *kernelmachine.Data, o *kernelOptions,
	fresh data.Points) (*warped, error) {
	st := a.Progress.Stage("kernel")
	d.Report = func(done, total float64, note string) { st.Update(done, total, note) }
	if o.norms.GammaI > 0 {
		var err error
		if d.Laplacian, err = sparse.NewLaplacian(g.W, o.norms.Laplacian); err != nil {
			return nil, err
		}
	}
	p, err := kernelmachine.NewProblem(ctx, d)
	if err != nil {
		return nil, err
	}
	w, err := p.Warp(ctx, o.norms, data.Range(0, g.W.Rows))
	if err != nil {
		return nil, err
	}

	out := &warped{}
	if out.values, err = w.Values(ctx); err != nil {
		return nil, err
	}
	if o.between != "" {
		if out.between, err = w.Between(ctx, fresh); err != nil {
			return nil, fmt.Errorf("%s: %w", o.fresh, err)
		}
	}
	if o.variancesFile != "" {
		if out.variances, err = w.Variances(ctx, fresh); err != nil {
			return nil, err
		}
	}
	st.Done(fmt.Sprintf("%d×%d, %s", g.W.Rows, g.W.Rows, o.norms.Describe()))
	return out, nil
}

// writeKernel writes all files. They have no ids: their rows and columns are the points in their order.
func (a *app) writeKernel(w *warped, o *kernelOptions, hashes pipeline.Hashes) error {
	write := func(path string, answers pipeline.Answers) error {
		answers.Settings.Answers = "kernel"
		answers.Hashes = hashes
		answers.Files = a.Files
		return answers.Write(path)
	}
	err := write(o.out, pipeline.CoordinateAnswers("", w.values))
	if err == nil && w.between != nil {
		err = write(o.between, pipeline.CoordinateAnswers("", w.between))
	}
	if err == nil && o.variancesFile != "" {
		err = write(o.variancesFile, pipeline.Answers{Columns: []pipeline.Column{{Name: "variance", Values: w.variances}}})
	}
	return err
}
