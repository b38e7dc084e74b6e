package main

import (
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/solvers"
)

// meansOptions say how a kernel machine is fitted.
type meansOptions struct {
	means               string // empty: what the numbers imply
	landmarks, features int    // landmarks also of sssl
	sampling            solvers.Sampling
}

// meansFlags are the names of the flags of the means.
var meansFlags = []string{"means", "landmarks", "features", "sampling"}

// exact stands among the models.Means for none of them.
const exact = "exact"

func (o *meansOptions) meansFlags(f *pflag.FlagSet) {
	f.StringVar(&o.means, "means", o.means, "`means` of a kernel machine: exact, landmarks, features, matrix-free (default: by the number given)")
	f.IntVar(&o.landmarks, "landmarks", o.landmarks, "points, drawn by --seed, that f is an expansion over (default √n·ln n, 500 to 4000; of sssl: all)")
	f.IntVar(&o.features, "features", o.features, "random Fourier features, an even number (default 2000)")
	nameFlag(f, &o.sampling, "sampling", "how landmarks of kernel machines are drawn: rpcholesky, uniform, kmeans++")
}

// meansName returns the means asked for, or implied by a number.
func (o *meansOptions) meansName() string {
	switch {
	case o.means != "":
		return o.means
	case o.features > 0:
		return kernelmachine.Fourier.String()
	case o.landmarks > 0:
		return kernelmachine.Nystrom.String()
	}
	return exact
}

// checkMeans returns an error if the means are not for model m with kernel k, or a flag
// is not for the means.
func (o *meansOptions) checkMeans(m *modelSpec, own *modelOptions, given map[string]bool) error {
	if given["features"] && (o.features < 2 || o.features%2 != 0) {
		return usagef("--features is %d; it must be even and positive", o.features)
	}
	name := o.meansName()
	var means kernelmachine.Approximation
	if name != exact && means.UnmarshalText([]byte(name)) != nil {
		return usagef("--means is %q; it must be exact, landmarks, features or matrix-free", name)
	}
	squares := m.base.vvmr != nil || m.base.kernel.Method == kernelmachine.RLS
	iterates := m.base.vvmr != nil || !squares // whatever the means
	landmarks, features, free := kernelmachine.Nystrom.String(), kernelmachine.Fourier.String(), kernelmachine.MatrixFree.String()
	for _, c := range []struct {
		flag, owners string
		ok           bool
	}{
		{"landmarks", "landmarks and matrix-free", name == landmarks || name == free},
		{"sampling", "landmarks and matrix-free", name == landmarks || name == free},
		{"features", features, name == features},
		{"tolerance", "landmarks and matrix-free", iterates || name == landmarks || name == free},
		{"max-iterations", "landmarks and matrix-free", iterates || name == landmarks || name == free},
	} {
		if given[c.flag] && !c.ok {
			return usagef("--%s is for --means %s, not %s", c.flag, c.owners, name)
		}
	}
	switch k := own.kernel.Kind; {
	case name == features && m.base.vvmr != nil:
		return usagef("--means %s is not for %s; take exact, landmarks or matrix-free", name, m.name)
	case name == free && !squares:
		return usagef("--means %s is for least squares, rls and laprls, not %s; take --means landmarks", name, m.name)
	case name == free && own.intercept:
		return usagef("--means %s has no --intercept; leave it out, or take --means landmarks", name)
	case name == features && k != kernel.Gaussian && k != kernel.Laplace:
		return usagef("--means %s is for the gaussian and the laplace kernel, not %v", name, k)
	}
	return nil
}

// scale returns the settings of the means, nil for exact.
func (o *meansOptions) scale(seed uint64) *kernelmachine.ApproximationSettings {
	s := &kernelmachine.ApproximationSettings{Seed: seed, Sampling: o.sampling}
	if o.meansName() == exact || s.Approximation.UnmarshalText([]byte(o.meansName())) != nil {
		return nil
	}
	if s.Approximation == kernelmachine.Fourier {
		s.Features = o.features
	} else {
		s.Landmarks = o.landmarks
	}
	return s
}

// exactRemedy says how to fit without n² values.
func exactRemedy(m kernelmachine.Method) string {
	if m > kernelmachine.SVM {
		return "give fewer points, or take a linear --model"
	}
	return "take --means landmarks, give fewer points, or take a linear --model"
}

// ssslRemedy says how to find eigenfunctions in less memory.
const ssslRemedy = "take fewer --eigenvectors, or --landmarks"

// scaleRemedy says how to fit in less memory.
func scaleRemedy(s *kernelmachine.ApproximationSettings) string {
	if s.Approximation == kernelmachine.Fourier {
		return "take fewer --features"
	}
	return "take fewer --landmarks"
}
