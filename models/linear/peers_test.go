package linear

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
)

// LIBLINEAR (-s 2) minimizes ½‖w‖² + C Σ (1 − y·f)₊² with a bias that is the
// weight of one more coordinate: with 1000 there its penalty is b²/2,000,000.
// Both answers are measured by our objective, which penalizes no b.
func TestSVMLinearBesideLIBLINEAR(t *testing.T) {
	train, err := exec.LookPath("liblinear-train")
	if err != nil {
		t.Skip("LIBLINEAR is not installed")
	}
	x, truth := planes(300, 9, 7)
	for i, c := range truth.Index {
		if c == 2 {
			truth.Index[i] = 1
		}
	}
	truth.Classes = []int64{-1, 1}
	y, err := models.ClassTargets(truth)
	if err != nil {
		t.Fatal(err)
	}
	const gammaA = 0.002
	p, err := NewProblem(context.Background(), x, nil, regularizer.Regularizer{})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := p.Fit(context.Background(), y, &Settings{Regularizer: regularizer.Regularizer{GammaA: gammaA}, Loss: SquaredHinge, Tolerance: 1e-10})
	if err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	var text strings.Builder
	// The first line decides which class LIBLINEAR's w is positive for.
	for i := 299; i >= 0; i-- {
		fmt.Fprintf(&text, "%+d", truth.Classes[truth.Index[i]])
		for j, v := range x.Row(i) {
			fmt.Fprintf(&text, " %d:%.17g", j+1, v)
		}
		text.WriteByte('\n')
	}
	if err := os.WriteFile(in, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	c := 1 / (2 * gammaA * 300)
	if log, err := exec.Command(train, "-q", "-s", "2", "-B", "1000", "-e", "1e-10", "-c", fmt.Sprintf("%.17g", c), in, out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, log)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var w []float64
	lines := bufio.NewScanner(f)
	for weights := false; lines.Scan(); {
		if weights {
			var v float64
			if _, err := fmt.Sscan(lines.Text(), &v); err != nil {
				t.Fatal(err)
			}
			w = append(w, v)
		}
		weights = weights || lines.Text() == "w"
	}
	if len(w) != 10 {
		t.Fatalf("LIBLINEAR's model has %d weights", len(w))
	}
	theirs := &Model{Settings: ours.Settings, Classes: ours.Classes, Coefficients: mat.NewDense(9, 1, w[:9]), Intercepts: []float64{1000 * w[9]}}
	a, b := p.Objective(ours, y)[0], p.Objective(theirs, y)[0]
	t.Logf("objective %.12g, LIBLINEAR %.12g", a, b)
	if !(math.Abs(a-b) <= 1e-6*b) || a > b*(1+1e-12) {
		t.Errorf("objective %v, LIBLINEAR's answer has %v", a, b)
	}
}

// Ridge minimizes ‖y − Xw − b‖² + α‖w‖²: α = γ_A l.
func TestRLSLinearBesideRidge(t *testing.T) {
	const python = "/usr/bin/python3"
	if testing.Short() {
		t.Skip("importing scikit-learn takes seconds")
	}
	x, truth := planes(200, 9, 8)
	y, err := models.ClassTargets(truth)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.npz"), filepath.Join(dir, "out.npy")
	entries := []archive.Array{{Name: "x", Shape: []int{200, 9}, Data: x.Data}, models.MatrixEntry("y", y.Y)}
	if err := npy.WriteArchive(in, entries); err != nil {
		t.Fatal(err)
	}
	const script = `
import sys
try:
    import numpy as np
    from sklearn.linear_model import Ridge
except ImportError:
    sys.exit(77)
a = np.load(sys.argv[1])
m = Ridge(alpha=float(sys.argv[3]), solver="cholesky").fit(a["x"], a["y"])
np.save(sys.argv[2], np.vstack([m.coef_.T, m.intercept_]).copy())
`
	const gammaA = 0.05
	cmd := exec.Command(python, "-c", script, in, out, fmt.Sprint(gammaA*200))
	if log, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == 77 {
		t.Skip("scikit-learn is not installed")
	} else if err != nil {
		t.Fatalf("%v: %s", err, log)
	}
	points, err := data.ReadPoints(out, data.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := points.(*data.Dense[float64])
	theirs := &Model{Coefficients: mat.NewDense(9, 3, want.Data[:27]), Intercepts: want.Data[27:]}
	for _, free := range []bool{false, true} {
		p := &Problem{given: x, x: x}
		if free {
			p.x = data.ToSparse(x)
			p.design = solvers.NewDesign(p.x)
		}
		ours, err := p.Fit(context.Background(), y, &Settings{Regularizer: regularizer.Regularizer{GammaA: gammaA}, Tolerance: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		theirs.Settings = ours.Settings
		a, b := p.Objective(ours, y), p.Objective(theirs, y)
		for o := range a {
			if !(math.Abs(a[o]-b[o]) <= 1e-6*b[o]) {
				t.Errorf("objective %v, that of Ridge %v", a[o], b[o])
			}
		}
		if e := far(theirs.Coefficients, ours.Coefficients); !(e <= 1e-8) {
			t.Errorf("coefficients are %.1e from those of Ridge", e)
		}
	}
}
