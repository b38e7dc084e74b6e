package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/cluster"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// embedOptions are the flags of bigfit embed.
type embedOptions struct {
	source         shell.GraphSource
	transform, out string
	method         embedMethod
	dimensions     int
	alpha, time    float64 // of diffusion maps; time counts if it is given
	diffusion      bool    // time is given
	eigs           pipeline.EigsSettings
	regular        regularOptions
}

func (a *app) embedCommand() *cobra.Command {
	o := embedOptions{dimensions: 2, eigs: pipeline.EigsSettings{Laplacian: sparse.RandomWalk,
		Tolerance: shell.DefaultTolerance}, regular: regularOptions{power: 1}}
	cmd := &cobra.Command{
		Use:   "embed X.npy… -d 2 -o embedding.npy",
		Short: "Compute coordinates of points from their graph",
		Long: `Write a Laplacian eigenmap: for each point its entries in the eigenvectors of the
smallest eigenvalues of a graph's Laplacian. Eigenvectors that are constant on the
components are left out. The graph joins nearest neighbours of the points, the arguments
or -X. A graph may be given in their place, a sparse .npz. With both, the
graph is the first argument.

--method layout gives coordinates for pictures: points that the graph joins attract
each other and all points repel each other, as in LargeVis and UMAP, so that classes
come apart that two eigenvectors lay on top of each other. It takes about a second for
20,000 points, and new points cannot be added.

--alpha and --diffusion-time make diffusion maps (Coifman & Lafon 2006). The weights are
W_ij/(q_i q_j)^α for the degrees q: α = 1 takes the density of the points out. Coordinate
j is |1 − λ_j|^t times the eigenvector of the random walk, which has mean square one
under its stationary distribution. Distances are then diffusion distances.

With --gamma the coordinates are functions of a kernel's space instead: the
regularized eigenmap of Belkin, Niyogi & Sindhwani (2006), section 6.1, equation
14, with γ = γ_A/γ_I. It takes dense matrices of n², or --landmarks.

--model keeps what new points need, and

  bigfit embed --transform model.npz new.npy -o new_embedding.npy

gives them coordinates: by the functions, or of an eigenmap by the Nyström
extension through a new point's nearest neighbours.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.transform != "" {
				return a.transform(cmd.Context(), args, &o)
			}
			// A --method of coordinates says nothing of the graph, which a file may have.
			if o.source.Params["method"].Text == "" {
				delete(a.Given, "method")
			}
			// The value of --gamma cannot tell whether the flag was given.
			o.regular.asked = cmd.Flags().Changed("gamma")
			o.diffusion = cmd.Flags().Changed("diffusion-time")
			if o.method == layoutMethod {
				return a.layout(cmd.Context(), args, &o)
			}
			return a.embed(cmd.Context(), args, &o, cmd.Flags().Changed("laplacian"))
		},
	}

	f := cmd.Flags()
	f.IntVarP(&o.dimensions, "dimensions", "d", o.dimensions, "number of coordinates")
	f.VarP(&o.source.X, "points", "X", shell.PointsHelp)
	f.StringVar(&o.transform, "transform", "", "model `file` by which to give new points coordinates")
	shell.EigsFlags(f, &o.eigs)
	f.Float64Var(&o.alpha, "alpha", 0, "α of the weights W_ij/(q_i q_j)^α, from 0 to 1")
	f.Float64Var(&o.time, "diffusion-time", 0, "t of |1 − λ|^t in the coordinates of a diffusion map")
	o.regular.flags(f)
	f.IntVar(&o.regular.power, "power", o.regular.power, "power p of the Laplacian, with --gamma")
	o.source.Flags(a.App, f)
	takeMethod(f, &o.method)
	f.StringVarP(&o.out, "output", "o", "embedding.npy", "`file` to write")
	return cmd
}

// regularOptions are the flags of functions of a kernel's space.
type regularOptions struct {
	params    shell.ParamFlags // of expansion.KernelParams
	kernel    expansion.KernelChoice
	asked     bool // --gamma was given
	gamma     float64
	landmarks int
	power     int
	laplacian sparse.Kind
	model     string
}

func (o *regularOptions) flags(f *pflag.FlagSet) {
	f.Float64Var(&o.gamma, "gamma", o.gamma, "γ = γ_A/γ_I, the weight of the kernel's norm beside fᵀLf")
	o.params = shell.ParamFlags{}
	o.params.Add(f, expansion.KernelParams.Params(), false)
	f.IntVar(&o.landmarks, "landmarks", o.landmarks,
		"points, drawn by --seed, that the functions are expansions over (default: all)")
	f.StringVar(&o.model, "model", "", "model `file` to write, for new points")
}

// check refuses kernel flags without --gamma, and values of them that cannot work.
func (o *regularOptions) check(a *app) error {
	if !o.asked {
		// Flags of the kernel without --gamma would have no effect.
		for _, flag := range append([]string{"landmarks"}, slices.Sorted(maps.Keys(o.params))...) {
			if a.Given[flag] {
				return shell.Usagef("--%s goes with --gamma, for functions of a kernel's space", flag)
			}
		}
		return nil
	}
	// A precomputed kernel has values between the given points alone: the functions could not be
	// evaluated anywhere else.
	var err error
	o.kernel, err = shell.Decode(a.App, o.params, expansion.KernelParams)
	switch {
	case err != nil:
		return err
	case !(o.gamma > 0) || math.IsInf(o.gamma, 0):
		return shell.Usagef("--gamma is %v; it must be positive", o.gamma)
	case o.landmarks < 0 || a.Given["landmarks"] && o.landmarks == 0:
		return shell.Usagef("--landmarks is %d; it must be at least 1", o.landmarks)
	case o.kernel.Given():
		return shell.Usagef("--kernel is %v, which gives no points that functions can be expanded over",
			o.kernel.Kind)
	}

	return nil
}

// regularized finds functions of the kernel's space on the points as given, as a
// stage.
func (a *app) regularized(ctx context.Context, g *shell.Sourced, o *regularOptions,
	components, clusters int) (*cluster.Spectral, error) {
	n := g.W.Rows
	l, err := sparse.NewLaplacian(g.W, o.laplacian)
	if err != nil {
		return nil, err
	}
	// c clusters are cut out of c−1 functions; the constant one is left out.
	if components == 0 {
		components = clusters - 1
	}
	// The generalized eigenproblem is dense: about 12m³ operations for m landmarks, and 4nm² to
	// make its matrices.
	size := float64(n)
	if o.landmarks > 0 {
		size = float64(min(n, o.landmarks))
	}
	if err := a.Need("functions", cluster.SpectralBytes(g.X, o.landmarks), 12*size*size*size+
		4*float64(n)*size*size, "take fewer points with --landmarks"); err != nil {
		return nil, err
	}

	k, err := o.kernel.On(g.X, a.Seed)
	if err != nil {
		return nil, err
	}
	a.Note("kernel: %s", k)
	st := a.Progress.Stage("functions")
	m, err := cluster.FitSpectral(ctx, &kernelmachine.Data{Points: k.Points, Kernel: k.Kernel,
		Laplacian: l.With(o.power, 0)}, &cluster.SpectralSettings{Gamma: o.gamma, Components: components,
		Clusters:  clusters,
		Landmarks: o.landmarks, Seed: a.Seed})
	if err != nil {
		return nil, err
	}

	rows, _ := m.Coefficients.Dims()
	st.Done(fmt.Sprintf("%d functions over %d points, λ from %.4g to %.4g", components, rows, m.Values[0],
		m.Values[components-1]))
	return m, nil
}

// embedSummary is the output of embed.
type embedSummary struct {
	Model      string    `json:"model"`
	Points     int       `json:"points"`
	Dimensions int       `json:"dimensions"`
	Values     []float64 `json:"values,omitempty"`     // none of a layout
	Components int       `json:"components,omitempty"` // of the graph, if there was one
}

func (s embedSummary) String() string {
	text := fmt.Sprintf("%d points in %d dimensions", s.Points, s.Dimensions)
	if len(s.Values) > 0 {
		text += fmt.Sprintf(", λ from %.6g to %.6g", s.Values[0], s.Values[len(s.Values)-1])
	}
	// Eigenvectors of several components have unrelated signs and scales.
	switch {
	case s.Components > 1 && len(s.Values) > 0:
		text += fmt.Sprintf("; the graph has %d components, and only points of one component can be compared; "+
			"--method layout places all side by side", s.Components)
	case s.Components > 1:
		text += fmt.Sprintf("; the graph has %d components, which lie side by side", s.Components)
	}
	return text
}

func (a *app) embed(ctx context.Context, args []string, o *embedOptions, laplacian bool) error {
	if err := a.checkEmbed(args, o, laplacian); err != nil {
		return err
	}
	if err := shell.CheckAnswers(o.source.X.Inputs(o.source.File), []string{o.out},
		o.regular.model); err != nil {
		return err
	}
	g, notReached := a.LoadSource(ctx, &o.source)
	if !models.Usable(notReached) {
		return notReached
	}
	if n := g.W.Rows; o.dimensions >= n {
		return shell.Usagef("--dimensions is %d and there are %d points; there must be fewer",
			o.dimensions, n)
	}

	// Functions of a kernel's space are defined everywhere; an eigenmap has coordinates for the
	// points of its graph, and reaches others through their neighbours.
	sum := embedSummary{Points: g.W.Rows, Dimensions: o.dimensions}
	var m models.Model
	var e *mat.Dense
	var notConverged error
	if o.regular.asked {
		s, err := a.regularized(ctx, g, &o.regular, o.dimensions, 0)
		if err != nil {
			return err
		}
		m = s
		e = s.Embedding
		sum.Values = s.Values
	} else {
		s, err := a.eigenmap(ctx, g, o)
		if !models.Usable(err) {
			return err
		}
		notConverged = err
		m = s
		e = s.Vectors
		sum.Values = s.Values
		sum.Components = g.Components.Count()
	}

	sum.Model = m.Name()
	err := a.Write(ctx, func() error {
		if err := a.WriteAnswers(o.out, pipeline.CoordinateAnswers(m.Name(), e), g.Hashes); err != nil ||
			o.regular.model == "" {
			return err
		}
		return models.Save(o.regular.model, m, g.Hashes, a.Files)
	})
	if err != nil {
		return err
	}
	if err := a.Print(sum, fmt.Sprintf("%s: %s", o.out, sum)); err != nil {
		return err
	}
	return errors.Join(notReached, notConverged)
}

// checkEmbed refuses what can be known to be wrong before anything is read.
func (a *app) checkEmbed(args []string, o *embedOptions, laplacian bool) error {
	regular := o.regular.asked
	if err := o.source.Take(a.App, args, regular); err != nil {
		return err
	}
	if err := o.regular.check(a); err != nil {
		return err
	}
	// The regularized eigenmap needs a symmetric Laplacian, so its default differs from the plain
	// eigenmap's.
	o.regular.laplacian = o.eigs.Laplacian
	if regular && !laplacian {
		o.regular.laplacian = sparse.Combinatorial
	}

	switch {
	case o.dimensions < 1:
		return shell.Usagef("--dimensions is %d; it must be at least 1", o.dimensions)
	case !(o.eigs.Tolerance > 0 && o.eigs.Tolerance < 1):
		return shell.Usagef("--tolerance is %v; it must be positive and less than 1", o.eigs.Tolerance)
	case !(o.alpha >= 0 && o.alpha <= 1):
		return shell.Usagef("--alpha is %v; it must be from 0 to 1", o.alpha)
	case !(o.time >= 0) || math.IsInf(o.time, 1):
		return shell.Usagef("--diffusion-time is %v; it must be at least 0", o.time)
	case regular && (a.Given["alpha"] || o.diffusion):
		return shell.Usagef("--alpha and --diffusion-time are for eigenvectors of the graph, without --gamma")
	case o.diffusion && o.eigs.Laplacian != sparse.RandomWalk:
		return shell.Usagef("--diffusion-time is for --laplacian %v", sparse.RandomWalk)
	case !regular && a.Given["power"]:
		return shell.Usagef("--power goes with --gamma; the eigenvectors of all powers are the same")
	case o.regular.power < 1:
		return shell.Usagef("--power is %d; it must be at least 1", o.regular.power)
	case regular && o.regular.laplacian == sparse.RandomWalk:
		return shell.Usagef("--laplacian is %v; with --gamma it must be symmetric, combinatorial or normalized",
			o.regular.laplacian)
	case regular && a.Given["tolerance"]:
		return shell.Usagef("--tolerance is for eigenvectors of the graph, without --gamma")
	case !regular && o.regular.model != "" && len(o.source.X) == 0:
		return shell.Usagef("--model needs the points (-X), to find the neighbours of new ones")
	}

	return nil
}

// embedMethod is a way to find coordinates.
type embedMethod int

const (
	// The first method takes eigenvectors of the Laplacian, or functions of a kernel's space.
	_ embedMethod = iota
	// layoutMethod takes attraction and repulsion.
	layoutMethod
)

var embedMethods = enum.New[embedMethod]("method", "eigenmap", "layout")

// String returns the name used on the command line.
func (m embedMethod) String() string { return embedMethods.String(m) }

// MarshalText returns the name.
func (m embedMethod) MarshalText() ([]byte, error) { return embedMethods.Marshal(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *embedMethod) UnmarshalText(text []byte) error { return embedMethods.Unmarshal(m, text) }

// methodFlag is a --method that names a way to find coordinates, or a search for neighbours.
type methodFlag struct {
	pflag.Value // of the search
	embedding   *embedMethod
}

// Set takes either name. Both may be given, one after the other.
func (m methodFlag) Set(text string) error {
	if m.embedding.UnmarshalText([]byte(text)) == nil {
		return nil
	}
	return m.Value.Set(text)
}

// takeMethod lets the flag --method of the graph name a way to find coordinates, too.
func takeMethod(f *pflag.FlagSet, m *embedMethod) {
	flag := f.Lookup("method")
	flag.Value = methodFlag{flag.Value, m}
	flag.Usage = "how coordinates are found: " + strings.Join(embedMethods.All(), ", ") +
		" (default: eigenmap); or " + flag.Usage
}

// layout writes coordinates by attraction and repulsion.
func (a *app) layout(ctx context.Context, args []string, o *embedOptions) error {
	// A layout has no eigenvalues, no kernel and no way to place new points.
	for _, flag := range append([]string{"gamma", "landmarks", "laplacian", "model", "power", "tolerance"},
		slices.Sorted(maps.Keys(o.regular.params))...) {
		if a.Given[flag] {
			return shell.Usagef("--%s is not for --method layout", flag)
		}
	}
	if err := o.source.Take(a.App, args, false); err != nil {
		return err
	}
	if o.dimensions < 1 {
		return shell.Usagef("--dimensions is %d; it must be at least 1", o.dimensions)
	}
	if err := shell.CheckAnswers(o.source.X.Inputs(o.source.File), []string{o.out}); err != nil {
		return err
	}

	g, notReached := a.LoadSource(ctx, &o.source)
	if !models.Usable(notReached) {
		return notReached
	}
	y, err := a.Pipeline().Layout(ctx, &g.Graph.Graph, o.dimensions, nil, 0)
	if err != nil {
		return err
	}

	err = a.Write(ctx, func() error {
		return a.WriteAnswers(o.out, pipeline.CoordinateAnswers(o.method.String(), y), g.Hashes)
	})
	if err != nil {
		return err
	}
	sum := embedSummary{Model: o.method.String(), Points: g.W.Rows, Dimensions: o.dimensions,
		Components: g.Components.Count()}
	if err := a.Print(sum, fmt.Sprintf("%s: %s", o.out, sum)); err != nil {
		return err
	}
	return notReached
}

// eigenmap computes a Laplacian eigenmap.
func (a *app) eigenmap(ctx context.Context, g *shell.Sourced, o *embedOptions) (*eigenmap.Embedding, error) {
	eo := o.eigs
	// Each component has one null vector that is constant on it and says nothing; the coordinates
	// come after all of these.
	eo.K = o.dimensions + g.Components.Count()
	if eo.K > g.W.Rows {
		return nil, fmt.Errorf("the graph has %s of %s: of its coordinates %d are not constant on "+
			"the components", enum.Count(g.Components.Count(), "component"), enum.Count(g.W.Rows, "point"),
			g.W.Rows-g.Components.Count())
	}
	graph := g.Graph.Graph
	var density []float64
	if o.alpha > 0 {
		if err := a.Need("density", 8*int64(g.W.NNZ())+16*int64(g.W.Rows), 0, "leave --alpha out"); err != nil {
			return nil, err
		}
		graph.W, density = g.W.DensityNormalized(o.alpha)
		graph.Degrees = graph.W.Degrees()
	}
	r, notConverged := a.Pipeline().Eigenpairs(ctx, &graph, &eo, nil)
	if !models.Usable(notConverged) {
		return nil, notConverged
	}

	m, err := eigenmap.NewEmbedding(r, eo.Laplacian, &graph.Neighborhood)
	if err != nil {
		return nil, err
	}
	m.Alpha, m.Density = o.alpha, density
	if o.diffusion {
		if err := m.Diffuse(o.time); err != nil {
			return nil, err
		}
	}
	return m, notConverged
}

// transform gives new points coordinates by a saved model.
func (a *app) transform(ctx context.Context, args []string, o *embedOptions) error {
	// A saved model fixes the graph and the eigenvectors, so the flags that make them are refused
	// rather than ignored.
	for _, flag := range slices.Sorted(maps.Keys(a.Given)) {
		switch flag {
		case "transform", "points", "output", "threads", "seed", "memory-limit", "json", "progress", "quiet":
		default:
			return shell.Usagef("--%s is for making an embedding, not for --transform", flag)
		}
	}

	a.TakePoints(&o.source.X, args)
	if len(o.source.X) == 0 {
		return shell.Usagef("--transform needs the new points (-X), and no graph")
	}
	if err := shell.CheckAnswers(o.source.X.Inputs(o.transform), []string{o.out}); err != nil {
		return err
	}
	m, err := a.loadModel(o.transform)
	if err != nil {
		return err
	}
	if m.Output().Kind != models.OutputCoordinates {
		return fmt.Errorf("%s is a %s model, which gives no coordinates; make one with bigfit embed --model",
			o.transform, m.Name())
	}

	x, err := a.ReadPoints(o.source.X, data.ReadOptions{})
	if err != nil {
		return err
	}
	p, err := a.Pipeline().Predict(ctx, m, x, models.PredictSettings{}, true)
	if err != nil {
		return fmt.Errorf("%s: %w", o.source.X, err)
	}
	answers := pipeline.CoordinateAnswers(m.Name(), p.Scores)
	hashes := shell.AnswerHashes(x, o.out)
	if err := a.Write(ctx, func() error { return a.WriteAnswers(o.out, answers, hashes) }); err != nil {
		return err
	}

	values, _ := m.Summary().Fact("values").([]float64)
	sum := embedSummary{Model: m.Name(), Points: p.Len(), Dimensions: m.Output().Columns, Values: values}
	return a.Print(sum, fmt.Sprintf("%s: %s", o.out, sum))
}
