package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/cluster"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
)

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "Say what is in a file",
		Long: `Print format, arrays and manifest of any file that bigfit reads or writes, and
the degrees and components of a graph, and what a model is.`,
		Args: oneArgument("a file"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := data.Inspect(args[0], data.ReadOptions{Limit: int64(a.memory)})
			if err != nil {
				return err
			}
			info := fileInfo{FileInfo: f, Manifest: f.Manifest}
			if len(f.Manifest) > 0 && !json.Valid(f.Manifest) { // another program's
				if info.Manifest, err = json.Marshal(string(f.Manifest)); err != nil {
					return err
				}
			}
			if f.Format == data.FormatSciPy {
				w, err := sparse.ReadNPZ(f.Path, int64(a.memory))
				if err != nil {
					return err
				}
				// Any sparse matrix can be asked about; only some are graphs.
				if w.CheckGraph() == nil && w.Rows > 0 {
					s := summarizeGraph(w, w.Components())
					info.Graph = &s
				}
			}
			if manifestFormat(f.Manifest) == manifest.Model {
				m, _, err := all.Load(f.Path, int64(a.memory))
				if err != nil {
					return err
				}
				s := summarizeModel(m)
				info.Model, info.about = &s, describeModel(m)
			}
			return a.print(info, info.String())
		},
	}
}

type fileInfo struct {
	*data.FileInfo
	Manifest json.RawMessage `json:"manifest,omitempty"`
	Graph    *graphSummary   `json:"graph,omitempty"`
	Model    *modelSummary   `json:"model,omitempty"`

	about string // the model as text
}

// manifestFormat returns the format that a manifest names.
func manifestFormat(text []byte) string {
	var m manifest.Manifest
	if json.Unmarshal(text, &m) != nil {
		return ""
	}
	return m.Format
}

func (f fileInfo) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s", f.Path, f.Format, memorySize(f.Size))
	if f.Gzip {
		b.WriteString(", gzipped")
	}
	b.WriteString("\n")
	for _, x := range f.Arrays {
		shape := make([]string, len(x.Shape))
		for i, s := range x.Shape {
			shape[i] = fmt.Sprint(s)
		}
		fmt.Fprintf(&b, "  %-16s %-8s %s\n", x.Name, x.DType, strings.Join(shape, " × "))
	}
	if f.Graph != nil {
		fmt.Fprintf(&b, "  graph: %s\n", f.Graph)
	}
	if f.Model != nil {
		fmt.Fprintf(&b, "  model: %s\n", f.about)
	}
	if len(f.Manifest) > 0 {
		fmt.Fprintf(&b, "  manifest: %s\n", f.Manifest)
	}
	return b.String()
}

// modelSummary is what there is to say about a model of any kind.
type modelSummary struct {
	Model    string  `json:"model"`
	Labeled  int     `json:"labeled"`
	Classes  []int64 `json:"classes,omitempty"`
	Settings any     `json:"settings"`
	// Of the eigenmap.
	Rank       int                  `json:"rank,omitempty"`
	Candidates []eigenmap.Candidate `json:"candidates,omitempty"`
	// Of kernel machines.
	Kernel    *kernel.Kernel `json:"kernel,omitempty"`
	Expansion int            `json:"expansion,omitempty"` // points in it
	Gap       float64        `json:"gap,omitempty"`       // relative, of duality
	// Of kernel machines that are not exact: the means and the error they cost.
	Scale  *kernelmachine.ApproximationSettings `json:"scale,omitempty"`
	Report *kernelmachine.ApproximationReport   `json:"scale_report,omitempty"`
	// Of sssl: the errors of cross-validation, the part of the trace that is in the
	// eigenfunctions, and p of the eigenvalues' power law k^-p.
	Risk     []float64 `json:"risk,omitempty"`
	Captured float64   `json:"captured_trace,omitempty"`
	Decay    float64   `json:"decay,omitempty"`
	// Of vvmr: the outputs, and their labels if it is no regression.
	Outputs int     `json:"outputs,omitempty"`
	Labels  []int64 `json:"labels,omitempty"`
	// Of what was solved by iteration.
	Iterations int     `json:"iterations,omitempty"`
	Residual   float64 `json:"residual,omitempty"` // the largest, relative
	// Of transductive machines: the points without a label that took part, the
	// rounds of training, and the share of them in each output's class.
	Unlabeled int       `json:"unlabeled,omitempty"`
	Rounds    int       `json:"rounds,omitempty"`
	Positive  []float64 `json:"positive,omitempty"`
	// Of knn: the errors of leave-one-out.
	Tried []nearest.VoteError `json:"tried,omitempty"`
	// Unreached points of a graph are in components without a label and have
	// the class Fallback, or the mean value.
	Unreached int    `json:"unreached_points,omitempty"`
	Fallback  *int64 `json:"fallback_class,omitempty"`

	detail string // what the model is, as text
}

func summarizeModel(m models.Model) modelSummary {
	s := modelSummary{Model: m.Name(), Classes: m.Outcomes()}
	switch m := m.(type) {
	case *eigenmap.Model:
		s.Labeled, s.Settings, s.Rank, s.Candidates = m.Labeled, m.Settings, m.Rank, m.Candidates
		s.Unreached, s.Fallback = m.Unreached, &m.Classes[m.Fallback]
		s.detail = fmt.Sprintf("%d eigenvectors (rank %d)", m.Settings.Eigenvectors, m.Rank)
		if m.Settings.Penalty != eigenmap.NoPenalty {
			s.detail += fmt.Sprintf(", %s penalty with γ = %.3g", m.Settings.Penalty, m.Settings.Gamma)
			if len(m.Candidates) > 0 {
				s.detail += fmt.Sprintf(" by cross-validation over %d values", len(m.Candidates))
			}
		}
	case *propagation.Model:
		s.Labeled, s.Settings, s.Iterations, s.Unreached = m.Solution.Labeled, m.Solution.Settings, m.Iterations, m.Unreached
		if m.Classes != nil {
			s.Fallback = &m.Classes[m.Fallback]
		}
		for _, r := range m.Residuals {
			s.Residual = max(s.Residual, r)
		}
		switch m.Solution.Settings.Method {
		case propagation.LGC:
			s.detail = fmt.Sprintf("α = %g, ", m.Solution.Settings.Alpha)
		case propagation.Tikhonov:
			s.detail = describeNorms(m.Solution.Settings.Regularizer) + ", "
		}
		s.detail += fmt.Sprintf("%d iterations to a residual of %.1e", s.Iterations, s.Residual)
	case *linear.Model:
		s.Labeled, s.Settings, s.Iterations = m.Labeled, m.Settings, m.Iterations
		d, _ := m.Coefficients.Dims()
		s.detail = fmt.Sprintf("%d dimensions, %v loss, %s", d, m.Settings.Loss, describeNorms(m.Settings.Regularizer))
		if m.Iterations > 0 {
			s.detail += fmt.Sprintf(", %d iterations", m.Iterations)
		}
	case *kernelmachine.Machine:
		s.Labeled, s.Settings, s.Kernel, s.Gap = m.Labeled, m.Settings, &m.Kernel, m.Gap
		s.Expansion, _ = m.Coefficients.Dims()
		s.detail = fmt.Sprintf("expansion over %d points, %s, %s", s.Expansion, describeKernel(m.Kernel), describeNorms(m.Settings.Regularizer))
		if m.Gap > 0 {
			s.detail += fmt.Sprintf(", duality gap %.1e", m.Gap)
		}
	case *kernelmachine.TSVM:
		s = summarizeModel(m.Machine)
		s.Model, s.Settings = m.Name(), m.Settings
		s.transduced(m.Settings.Transduction, &m.Transduced)
	case *linear.TSVM:
		s = summarizeModel(m.Model)
		s.Model, s.Settings = m.Name(), m.Settings
		s.transduced(m.Settings.Transduction, &m.Transduced)
	case *nearest.Model:
		s.Labeled, s.Settings, s.Tried = len(m.Labels), m.Settings, m.Tried
		s.detail = fmt.Sprintf("%d nearest vote, %v distance", m.Settings.Vote, m.Settings.Metric)
		for _, v := range m.Tried {
			if v.Vote == m.Settings.Vote {
				s.detail += fmt.Sprintf(", leave-one-out error %.2f %%", 100*v.Error)
			}
		}
	case *kernelmachine.Approximate:
		s.Labeled, s.Settings, s.Kernel, s.Scale, s.Report = m.Labeled, m.Settings, &m.Kernel, &m.Scale, &m.Report
		s.Expansion, _ = m.Coefficients.Dims()
		if m.Frequencies != nil {
			s.Expansion = 0
		}
		s.detail = fmt.Sprintf("%s, %s, %s", describeScale(m), describeKernel(m.Kernel), describeNorms(m.Settings.Regularizer))
	case *kernelmachine.VVMR:
		s.Labeled, s.Settings, s.Kernel, s.Labels, s.Iterations, s.Residual = m.Labeled, m.Settings, &m.Kernel, m.Labels, m.Iterations, m.Residual
		s.Scale = m.Scale
		s.Expansion, s.Outputs = m.Coefficients.Dims()
		s.detail = describeVVMR(m)
	case *eigenmap.Embedding:
		n, d := m.Vectors.Dims()
		s.Settings = m.Settings
		s.detail = fmt.Sprintf("%d eigenvectors of the %v Laplacian at %d points", d, m.Settings.Laplacian, n)
	case *cluster.Spectral:
		s.Settings, s.Kernel = m.Settings, &m.Kernel
		s.Expansion, _ = m.Points.Dims()
		s.detail = fmt.Sprintf("%d functions with γ = %g, expansion over %d points, %s", len(m.Values), m.Settings.Gamma, s.Expansion, describeKernel(m.Kernel))
	case *eigenfunction.Model:
		s.Labeled, s.Settings, s.Kernel, s.Risk = m.Labeled, m.Settings, &m.Kernel, m.Risk
		s.Expansion, _ = m.Coefficients.Dims()
		s.Captured = m.Captured()
		s.detail = fmt.Sprintf("%d eigenfunctions", m.Settings.Eigenfunctions)
		if m.Risk != nil {
			s.detail += fmt.Sprintf(" of %d by cross-validation", len(m.Risk))
		}
		s.detail += fmt.Sprintf(" with %.4f of the trace, expansion over %d points, %s", s.Captured, s.Expansion, describeKernel(m.Kernel))
		if len(m.Values) > 1 {
			_, s.Decay = eigenfunction.PowerLaw(m.Values)
			s.detail += fmt.Sprintf(", eigenvalues λ_k ~ k^-%.2f", s.Decay)
		}
	}
	return s
}

// transduced adds what a transductive machine did with the other points.
func (s *modelSummary) transduced(t linear.Transduction, d *linear.Transduced) {
	s.Unlabeled, s.Rounds, s.Positive = len(d.Unlabeled), d.Rounds, t.Positive
	s.detail += fmt.Sprintf("; %d points without a label at weight %g got classes in %d rounds", s.Unlabeled, t.Weight, d.Rounds)
}

// describeModel is a line about a model.
func describeModel(m models.Model) string {
	s := summarizeModel(m)
	text := s.Model + ", "
	if s.Labeled > 0 {
		text += fmt.Sprintf("%d points labeled, ", s.Labeled)
	}
	if len(s.Classes) > 0 {
		text += fmt.Sprintf("%d classes, ", len(s.Classes))
	}
	return text + s.detail
}

// describeVVMR says what a vector-valued function is, with the relative residual of
// its equation.
func describeVVMR(m *kernelmachine.VVMR) string {
	size, outputs := m.Coefficients.Dims()
	text := fmt.Sprintf("%d outputs", outputs)
	if m.Labels != nil {
		text = fmt.Sprintf("%d labels", outputs)
	}
	switch {
	case m.Points == nil && m.Kernel.Kind == kernel.Linear:
		text += fmt.Sprintf(", %d dimensions", size)
	case m.Scale != nil && m.Scale.Approximation == kernelmachine.Nystrom:
		text += fmt.Sprintf(", %d landmarks (%v), kernel error %.2g", size, m.Scale.Sampling, m.KernelError)
	default:
		text += fmt.Sprintf(", expansion over %d points", size)
	}
	return text + fmt.Sprintf(", %s, %s, γ_O = %g, residual %.1e of equation (17) after %d iterations",
		describeKernel(m.Kernel), describeNorms(m.Settings.Regularizer), m.Settings.GammaO, m.Residual, m.Iterations)
}

// describeScale says how a machine stands for the exact one.
func describeScale(m *kernelmachine.Approximate) string {
	r := m.Report
	var text string
	switch m.Scale.Approximation {
	case kernelmachine.Nystrom:
		text = fmt.Sprintf("%d landmarks (%v), kernel error %.2g", r.Landmarks, m.Scale.Sampling, r.KernelError)
	case kernelmachine.Fourier:
		size, _ := m.Coefficients.Dims()
		text = fmt.Sprintf("%d Fourier features, kernel error %.2g", size, r.KernelError)
	case kernelmachine.MatrixFree:
		text = fmt.Sprintf("matrix-free, preconditioned by %d landmarks", r.Landmarks)
	}
	if r.Change > 0 {
		text += fmt.Sprintf(", half of them would change f by %.2g %%", 100*r.Change)
		if m.Classes != nil {
			text += fmt.Sprintf(" and %.2g %% of the classes", 100*r.Flips)
		}
	}
	if m.Settings.Method == kernelmachine.SVM {
		text += ", squared hinge"
	}
	if r.Iterations > 0 {
		text += fmt.Sprintf(", %d iterations", r.Iterations)
		if r.Residual > 0 {
			text += fmt.Sprintf(" to a residual of %.1e", r.Residual)
		}
	}
	return text
}

func describeNorms(r models.Regularizer) string {
	text := fmt.Sprintf("γ_A = %g", r.GammaA)
	if r.GammaI > 0 {
		text += fmt.Sprintf(", γ_I = %g (%v, %v Laplacian", r.GammaI, r.Scaling, r.Laplacian)
		if r.Power > 1 {
			text += fmt.Sprintf(" to the power %d", r.Power)
		}
		text += ")"
	}
	return text
}

func describeKernel(k kernel.Kernel) string {
	text := fmt.Sprintf("%v kernel", k.Kind)
	switch k.Kind {
	case kernel.Gaussian, kernel.Laplace:
		text += fmt.Sprintf(" with σ = %.6g", k.Sigma)
	case kernel.Polynomial:
		text += fmt.Sprintf(" (%g·xᵀz + %g)^%d", k.Scale, k.Offset, k.Degree)
	}
	return text
}
