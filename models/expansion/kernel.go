package expansion

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
)

// Precomputed is the choice of values of a kernel that are given in place of points.
const Precomputed = "precomputed"

// KernelChoice names a kernel. Its width is a number or a rule that depends on the points. The
// zero value is the Gaussian kernel with the median distance as width.
type KernelChoice struct {
	// Kind is the name of a [kernel.Kind], or [Precomputed]; empty means gaussian.
	Kind string
	// Sigma is the width σ as a number, or the name of a [kernel.Rule]; empty means
	// median. Only kernels with a width use it.
	Sigma string
	// Degree, Scale and Offset have the meaning of the fields of [kernel.Kernel].
	Degree        int
	Scale, Offset float64
}

// WidthKernels lists the names of the kernels with a width.
var WidthKernels = slices.DeleteFunc(enum.All[kernel.Kind](), func(name string) bool {
	var k kernel.Kind
	return k.UnmarshalText([]byte(name)) != nil || !k.HasWidth()
})

// widthRules lists the names that may stand in place of a width: a rule, or a rule and a
// divisor.
var widthRules = append(enum.All[kernel.Rule](), "median/2", "median/4")

// KernelParams are the parameters of a [KernelChoice].
var KernelParams = models.Table[KernelChoice]{
	{Param: models.Param{Name: "kernel", Doc: "kernel between points; precomputed takes its values as X",
		Default: kernel.Gaussian.String(), Choices: append(enum.All[kernel.Kind](), Precomputed)},
		At: func(k *KernelChoice) any { return &k.Kind }},
	{Param: models.Param{Name: "sigma", Doc: "width σ of the kernel, or the rule for it: median or " +
		"mean distance between points, or a half or a quarter of the median", Unit: "distance",
		Kind: models.Float, Default: kernel.Median.String(),
		Range: models.Positive(), Choices: widthRules,
		Only: &models.Condition{Param: "kernel", In: WidthKernels}, Axis: true,
		Grid: []string{"median/4", "median/2", "median"}},
		At: func(k *KernelChoice) any { return &k.Sigma }},
	{Param: models.Param{Name: "degree",
		Doc: "degree of the polynomial kernel (scale·xᵀz + offset)^degree", Default: "3",
		Range: models.AtLeast(1), Only: onlyPolynomial},
		At: func(k *KernelChoice) any { return &k.Degree }},
	{Param: models.Param{Name: "scale", Doc: "scale of the polynomial kernel", Default: "1",
		Range: models.Positive(), Only: onlyPolynomial},
		At: func(k *KernelChoice) any { return &k.Scale }},
	{Param: models.Param{Name: "offset", Doc: "offset of the polynomial kernel", Default: "0",
		Range: models.NotNegative(), Only: onlyPolynomial},
		At: func(k *KernelChoice) any { return &k.Offset }},
}

var onlyPolynomial = &models.Condition{Param: "kernel", In: []string{kernel.Polynomial.String()}}

// kernelChoiceOf returns the choice that yields k.
func kernelChoiceOf(k kernel.Kernel) KernelChoice {
	c := KernelChoice{Kind: k.Kind.String(), Degree: k.Degree, Scale: k.Scale, Offset: k.Offset}
	if k.Sigma != 0 {
		c.Sigma = models.FormatFloat(k.Sigma)
	}
	return c
}

// Given tells whether values are given in place of points.
func (c KernelChoice) Given() bool { return c.Kind == Precomputed }

// Of returns a source of the points x, or of the values in x, with the kernel as far as it is
// known without looking at x: a width that a rule will choose is 0.
func (c KernelChoice) Of(x data.Points) (kernel.Source, error) {
	if c.Given() {
		return kernel.Source{Values: x}, nil
	}
	s := kernel.Source{Kernel: kernel.Kernel{Kind: kernel.Gaussian, Degree: c.Degree, Scale: c.Scale,
		Offset: c.Offset}, Points: x}
	if c.Kind == "" {
		return s, nil
	}
	err := s.Kernel.Kind.UnmarshalText([]byte(c.Kind))
	return s, err
}

// On is Of with the defaults of the kernel filled in. A rule for the width is applied to the
// points x, by seed: [kernel.Width] states the cost. x may be nil if there is no rule.
func (c KernelChoice) On(x data.Points, seed uint64) (kernel.Source, error) {
	s, err := c.Of(x)
	if err != nil || c.Given() {
		return s, err
	}

	if s.Kernel.Kind.HasWidth() {
		if s.Kernel.Sigma, err = c.width(x, seed); err != nil {
			return s, err
		}
	}

	s.Kernel, err = s.Kernel.Fill()
	return s, err
}

// width returns σ: the number in Sigma, or the width that its rule finds on x.
func (c KernelChoice) width(x data.Points, seed uint64) (float64, error) {
	rule := kernel.Median
	divisor := 1.0
	if c.Sigma != "" {
		if v, err := strconv.ParseFloat(c.Sigma, 64); err == nil {
			return v, nil
		}
		if !slices.Contains(widthRules, c.Sigma) {
			return 0, &models.ParamError{Name: "sigma", Value: c.Sigma,
				Must: "a number, positive, or " + enum.Or(widthRules)}
		}

		// "median/4" is a quarter of the rule median.
		name, part, divided := strings.Cut(c.Sigma, "/")
		if divided {
			divisor, _ = strconv.ParseFloat(part, 64)
		}
		if err := rule.UnmarshalText([]byte(name)); err != nil {
			return 0, err
		}
	}

	if x == nil {
		return 0, fmt.Errorf("models: the width is to be the %v distance, but there are no points", rule)
	}
	w, err := kernel.Width(x, rule, seed)
	return w / divisor, err
}

// ResolveWidth returns the values of in with a number in place of a rule for the width of the
// kernel: see [KernelChoice.On]. Learners with [KernelParams] use it as their Resolve.
func ResolveWidth(in *models.Input) (models.Values, error) {
	if in.Values.Float("sigma") != 0 {
		return in.Values, nil
	}
	own := models.Values{}
	for _, f := range KernelParams {
		if text, ok := in.Values[f.Name]; ok {
			own[f.Name] = text
		}
	}

	c, err := KernelParams.Decode(own)
	if err != nil {
		return nil, err
	}
	s, err := c.On(in.Points, in.Seed)
	if err != nil || !s.Kernel.Kind.HasWidth() {
		return in.Values, err
	}
	return in.Values.With(models.Values{"sigma": models.FormatFloat(s.Kernel.Sigma)}), nil
}
