package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
)

// kernelOptions say which kernel a model has.
type kernelOptions struct {
	kernel kernel.Kernel
	sigma  string // a number or the name of a rule
}

func newKernelOptions() kernelOptions {
	return kernelOptions{kernel: kernel.Kernel{Kind: kernel.Gaussian}, sigma: kernel.Median.String()}
}

// kernelFlags are the names of the flags of a kernel.
var kernelFlags = []string{"kernel", "sigma", "degree", "scale", "offset"}

func (o *kernelOptions) kernelFlags(f *pflag.FlagSet) {
	nameFlag(f, &o.kernel.Kind, "kernel", "kernel: linear, polynomial, gaussian, laplace, cosine, precomputed (by X)")
	f.StringVar(&o.sigma, "sigma", o.sigma, "`width` σ of the gaussian or laplace kernel, or a rule: median or mean distance")
	f.IntVar(&o.kernel.Degree, "degree", o.kernel.Degree, "degree of the polynomial kernel (scale·xᵀz + offset)^degree (default 3)")
	f.Float64Var(&o.kernel.Scale, "scale", o.kernel.Scale, "scale of the polynomial kernel (default 1)")
	f.Float64Var(&o.kernel.Offset, "offset", o.kernel.Offset, "offset of the polynomial kernel (default 0)")
}

// checkKernel returns an error if a setting is out of its range or is not one of
// the kernel asked for.
func (o *kernelOptions) checkKernel(given map[string]bool) error {
	if given["degree"] && o.kernel.Degree < 1 {
		return usagef("--degree is %d; it must be at least 1", o.kernel.Degree)
	}
	polynomial := []kernel.Kind{kernel.Polynomial}
	for _, c := range []struct {
		flag   string
		owners []kernel.Kind
	}{
		{"sigma", []kernel.Kind{kernel.Gaussian, kernel.Laplace}},
		{"degree", polynomial}, {"scale", polynomial}, {"offset", polynomial},
	} {
		if given[c.flag] && !slices.Contains(c.owners, o.kernel.Kind) {
			var names []string
			for _, k := range c.owners {
				names = append(names, k.String())
			}
			return usagef("--%s is for %s, not %v", c.flag, strings.Join(names, " and "), o.kernel.Kind)
		}
	}
	_, _, err := o.parseSigma()
	return err
}

// parseSigma returns the width of the kernel, or 0 and the rule for it.
func (o *kernelOptions) parseSigma() (float64, kernel.Rule, error) {
	var rule kernel.Rule
	if rule.UnmarshalText([]byte(o.sigma)) == nil {
		return 0, rule, nil
	}
	v, err := strconv.ParseFloat(o.sigma, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, 0, usagef("--sigma is %q; it must be positive, or median or mean", o.sigma)
	}
	return v, 0, nil
}

// kernelOn returns the kernel, its width chosen for the points x if a rule is
// to do that.
func (o *kernelOptions) kernelOn(x data.Points, seed uint64) (kernel.Kernel, error) {
	k := o.kernel
	if k.Kind != kernel.Gaussian && k.Kind != kernel.Laplace {
		return k.Fill()
	}
	sigma, rule, err := o.parseSigma()
	if err == nil && sigma == 0 {
		sigma, err = kernel.Width(x, rule, seed)
	}
	if err != nil {
		return k, err
	}
	k.Sigma = sigma
	return k.Fill()
}
