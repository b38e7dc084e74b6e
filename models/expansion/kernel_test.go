package expansion

import (
	"maps"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
)

// Values decode to a kernel, and the kernel encodes to values that decode to it.
func TestKernelParams(t *testing.T) {
	x := data.NewDense[float64](4, 1)
	for i, v := range []float64{0, 1, 3, 7} { // distances 1 2 3 4 6 7
		x.Row(i)[0] = v
	}
	for _, c := range []struct {
		given, used models.Values
		want        kernel.Kernel
	}{
		{nil, models.Values{"kernel": "gaussian", "sigma": "3.5"}, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 3.5}},
		{models.Values{"kernel": "laplace", "sigma": "mean"}, models.Values{"kernel": "laplace", "sigma": "3.8333333333333335"}, kernel.Kernel{Kind: kernel.Laplace, Sigma: 23.0 / 6}},
		{models.Values{"sigma": "0.25"}, models.Values{"kernel": "gaussian", "sigma": "0.25"}, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.25}},
		{models.Values{"kernel": "linear"}, models.Values{"kernel": "linear"}, kernel.Kernel{}},
		{models.Values{"kernel": "polynomial", "offset": "2"}, models.Values{"kernel": "polynomial", "degree": "3", "scale": "1", "offset": "2"}, kernel.Kernel{Kind: kernel.Polynomial, Degree: 3, Scale: 1, Offset: 2}},
	} {
		choice, err := KernelParams.Decode(c.given)
		if err != nil {
			t.Fatal(err)
		}
		k, err := choice.On(x, 1)
		if err != nil || k.Kernel != c.want {
			t.Errorf("%v is %+v, %v", c.given, k, err)
		}
		again := kernelChoiceOf(k.Kernel)
		if used := KernelParams.Encode(&again); !maps.Equal(used, c.used) {
			t.Errorf("%v is encoded as %v", c.given, used)
		}
		if back, err := again.On(nil, 0); err != nil || back.Kernel != k.Kernel {
			t.Errorf("%v came back as %+v, %v", k, back, err)
		}
	}
	for want, v := range map[string]models.Values{
		"sigma is 0; it must be positive, or median, mean, median/2 or median/4": {"sigma": "0"},
		"sigma is for kernel gaussian or laplace, not cosine":                    {"kernel": "cosine", "sigma": "1"},
		"degree is for kernel polynomial, not gaussian\nscale is":                {"degree": "2", "scale": "2"},
		`kernel is "sigmoid"`: {"kernel": "sigmoid"},
	} {
		if _, err := KernelParams.Decode(v); err == nil || !strings.Contains(param.Plain(err.Error()), want) {
			t.Errorf("%v: %v", v, err)
		}
	}
	if _, err := (KernelChoice{}).On(nil, 0); err == nil {
		t.Error("a width of no points")
	}
}
