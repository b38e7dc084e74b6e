package pca

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/bigfit/bigfit/data"
)

// unitsOf returns points with columns of very different scales; column 2 has one value, whose mean is rounded.
func unitsOf(n int) *data.Dense[float64] {
	x := pcaPoints(n, 5, 0.6)
	for i := range n {
		row := x.Row(i)
		row[0] *= 1e4
		row[2] = 0.1
		row[4] = 1e6 + 1e-3*row[4]
	}
	return x
}

func TestStandardize(t *testing.T) {
	x := unitsOf(9000)
	p, err := Standardize(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	z, err := p.Apply(x)
	if err != nil {
		t.Fatal(err)
	}
	for j := range 5 {
		var mean, square float64
		for i := range z.Rows {
			v := float64(z.Row(i)[j])
			mean += v / float64(z.Rows)
			square += v * v / float64(z.Rows)
		}
		want := 1.0
		if j == 2 {
			want = 0
		}
		if !(math.Abs(mean) < 1e-5 && math.Abs(square-want) < 1e-5) || p.Variance[j] != want {
			t.Errorf("column %d: mean %g, mean square %g, variance %g", j, mean, square, p.Variance[j])
		}
	}
	if p.Total != 4 {
		t.Errorf("total variance %g", p.Total)
	}

	// Components of standardized points: in two steps and in one.
	c, err := New(t.Context(), z, 3)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := c.Apply(z)
	if err != nil {
		t.Fatal(err)
	}
	one, err := c.Standardized(p).Apply(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range steps.Data {
		if d := math.Abs(float64(steps.Data[i] - one.Data[i])); !(d < 1e-4) {
			t.Fatalf("element %d: %g and %g", i, steps.Data[i], one.Data[i])
		}
	}
}

func TestStandardizeFaults(t *testing.T) {
	if _, err := Standardize(t.Context(), data.ToSparse(unitsOf(20))); err == nil {
		t.Error("sparse points are standardized")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Standardize(ctx, unitsOf(20)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
