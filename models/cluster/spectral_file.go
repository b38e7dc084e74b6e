package cluster

import (
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/sparse"
)

// spectralChoice holds the settings in the values of a [Spectral].
type spectralChoice struct {
	SpectralSettings
	Kernel expansion.KernelChoice
}

// spectralParams are the parameters of spectralChoice.
var spectralParams = append(models.Table[spectralChoice]{
	{Param: models.Param{Name: "gamma", Doc: "weight γ = γ_A/γ_I of the ambient norm", Required: true,
		Range: models.Positive()},
		At: func(c *spectralChoice) any { return &c.Gamma }},
	{Param: models.Param{Name: "components", Doc: "number of functions", Default: "clusters − 1, or 2",
		Range: models.AtLeast(1)},
		At: func(c *spectralChoice) any { return &c.Components }},
	{Param: models.Param{Name: "clusters", Doc: "number of clusters", Default: "none",
		Range: models.AtLeast(2)},
		At: func(c *spectralChoice) any { return &c.Clusters }},
	{Param: models.Param{Name: "landmarks", Doc: "number of points that the functions are expansions over",
		Default: "all", Range: models.AtLeast(1)},
		At: func(c *spectralChoice) any { return &c.Landmarks }},
	{Param: models.Param{Name: "restarts", Doc: "runs of k-means, of which the best counts",
		Default: "10 for more than two clusters", Range: models.AtLeast(1)},
		At: func(c *spectralChoice) any { return &c.Restarts }},
	{Param: models.Param{Name: "laplacian", Doc: "definition of the Laplacian L", Default: "combinatorial",
		Choices: enum.All[sparse.Kind]()},
		At: func(c *spectralChoice) any { return &c.Laplacian }},
	{Param: models.Param{Name: "power", Doc: "power of the Laplacian", Default: "1",
		Range: models.AtLeast(1)},
		At: func(c *spectralChoice) any { return &c.Power }},
}, models.Part(expansion.KernelParams,
	func(c *spectralChoice) *expansion.KernelChoice { return &c.Kernel })...)

// values returns the settings and the kernel as values of parameters.
func (m *Spectral) values() models.Values {
	return spectralParams.Encode(&spectralChoice{m.Settings, m.KernelChoice()})
}

// Summary names the functions, γ and the kernel.
func (m *Spectral) Summary() models.Summary {
	size, p := m.Coefficients.Dims()
	return models.Summary{
		Values: m.values(),
		Facts:  []models.Fact{m.KernelFact(), {Key: "expansion", Value: size}},
		Text: fmt.Sprintf("%d functions with γ = %g, expansion over %d points, %s", p, m.Settings.Gamma,
			size, m.DescribeKernel()),
	}
}

// spectralFit is the part of a model in its manifest.
type spectralFit struct {
	Seed uint64 `json:"seed"`
}

// Encode returns the arrays of p functions that are expansions over m points:
//
//	coefficients  float64  m×p         coefficients α of the functions
//	values        float64  p           eigenvalues λ_j, ascending
//	centres       float64  clusters×p  centres of three or more clusters
//	classes       int64    clusters    0, 1, …: only with clusters
//
// and the points of the expansion ([expansion.Expansion.Arrays]).
func (m *Spectral) Encode() (*models.Encoded, error) {
	arrays := append(m.Arrays(), archive.Array{Name: "values", Data: m.Values})
	if m.Centres != nil {
		arrays = append(arrays, models.MatrixEntry("centres", m.Centres))
	}
	arrays = append(arrays, models.ClassEntries(m.Output().Classes)...)
	return &models.Encoded{Values: m.values(), Fit: spectralFit{m.Settings.Seed}, Arrays: arrays}, nil
}

// DecodeSpectral is the inverse of [Spectral.Encode].
func DecodeSpectral(r *models.Reader) (models.Model, error) {
	var f spectralFit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	c, err := spectralParams.Decode(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	s, err := c.fill()
	if err != nil {
		return nil, err
	}

	// The expansion would take the numbers of the clusters for classes of its own, so they
	// are compared with the settings here and taken away.
	s.Seed = f.Seed
	e, err := expansion.Read(r, c.Kernel, false)
	if err != nil {
		return nil, err
	}
	numbers := e.Classes
	e.Classes = nil
	m := &Spectral{Settings: s, Expansion: *e, Values: models.Numbers[float64](r, "values")}
	if !slices.Equal(numbers, m.Output().Classes) {
		return nil, fmt.Errorf("cluster: classes are %v for %d clusters", numbers, s.Clusters)
	}

	if s.Clusters > 2 {
		m.Centres = r.Matrix("centres")
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return m, m.check()
}

// check returns an error unless the parts of the model fit together.
func (m *Spectral) check() error {
	// Products of arrays that do not fit together would panic.
	_, p := m.Coefficients.Dims()
	if p != m.Settings.Components || len(m.Values) != p {
		return fmt.Errorf("cluster: coefficients of %d functions and %d values for %d components", p,
			len(m.Values), m.Settings.Components)
	}
	if m.Given {
		return errNoPoints
	}
	if err := m.CheckPoints(); err != nil {
		return err
	}

	if m.Centres != nil {
		if k, cols := m.Centres.Dims(); k != m.Settings.Clusters || cols != p {
			return fmt.Errorf("cluster: centres are %d×%d for %d clusters and %d components", k, cols,
				m.Settings.Clusters, p)
		}
	}
	return nil
}
