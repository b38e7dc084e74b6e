package papers

import (
	"context"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// TestMoonsFigure checks that γ_I = 0 is an SVM, what the errors are, and that the
// manifold wins.
func TestMoonsFigure(t *testing.T) {
	ctx := context.Background()
	x, y := synthetic.TwoMoons(400, 0.05, 3)
	fig, err := NewMoonsFigure(ctx, x, y, sparse.Combinatorial, 3)
	if err != nil {
		t.Fatal(err)
	}
	if labeled := fig.Drawn.Labeled(); len(labeled) != 2 || y.Index[labeled[0]] == y.Index[labeled[1]] || len(fig.Machines) != len(fig.GammaI) {
		t.Fatalf("labeled %v, %d machines for %d γ_I", labeled, len(fig.Machines), len(fig.GammaI))
	}
	targets, err := models.ClassTargets(fig.Drawn)
	if err != nil {
		t.Fatal(err)
	}
	svm, err := kernelmachine.Fit(ctx, &kernelmachine.Data{Points: x, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.35}}, targets,
		&kernelmachine.Settings{Method: kernelmachine.SVM, Regularizer: regularizer.Regularizer{GammaA: 1.0 / 32}, Tolerance: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	p, err := svm.Predict(ctx, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, c := range p.Classes {
		if c != y.Index[i] {
			wrong++
		}
	}
	if want := 100 * float64(wrong) / 398; !(fig.Errors[0]-want <= 1e-9 && want-fig.Errors[0] <= 1e-9) {
		t.Errorf("error %v at γ_I = 0, the SVM has %v", fig.Errors[0], want)
	}
	if last := fig.Errors[len(fig.Errors)-1]; !(fig.Errors[0] > 5 && last == 0) {
		t.Errorf("errors %v", fig.Errors)
	}
	wide, classes := synthetic.Digits(100, 1)
	if _, err := NewMoonsFigure(ctx, wide, classes, sparse.Normalized, 1); err == nil || !strings.Contains(err.Error(), "784 and 10") {
		t.Errorf("error %v", err)
	}
}
