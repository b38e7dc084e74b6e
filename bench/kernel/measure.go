package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// answerOf returns the name of the file with a program's answer, in the folder of the task.
// For LapRLS the file holds f at all points, n×c float64; for the other methods it holds the
// coefficients of all points, n float64, 0 outside of the support.
func answerOf(folder, program string) string {
	return filepath.Join(folder, strings.ReplaceAll(program, " ", "-")+".npy")
}

// ours is the name of our program in the table.
const ours = "bigfit"

// readBlock reads an array of two dimensions.
func readBlock(folder, name string) (*mat.Dense, error) {
	path := filepath.Join(folder, name)
	a, err := npy.ReadFile(path, 0)
	if err != nil {
		return nil, err
	}
	v, err := a.Float64s()
	if err != nil {
		return nil, err
	}
	if len(a.Shape) != 2 {
		return nil, fmt.Errorf("%s: shape %v; it must have two dimensions", path, a.Shape)
	}
	return mat.NewDense(a.Shape[0], a.Shape[1], v), nil
}

// readValues reads the numbers of an array of any shape.
func readValues(path string) ([]float64, error) {
	a, err := npy.ReadFile(path, 0)
	if err != nil {
		return nil, err
	}
	return a.Float64s()
}

// readFolder returns the points and the targets of a task.
func readFolder(folder string) (*data.Dense[float64], *models.Targets, error) {
	b, err := readBlock(folder, "X.npy")
	if err != nil {
		return nil, nil, err
	}
	n, d := b.Dims()
	x := &data.Dense[float64]{Rows: n, Cols: d, Data: b.RawMatrix().Data}
	t := &models.Targets{Len: n}
	if t.Y, err = readBlock(folder, "Y.npy"); err != nil {
		return nil, nil, err
	}
	// As many targets as points: all are labeled, and there is no list.
	if l, _ := t.Y.Dims(); l == n {
		for i := range n {
			t.Labeled = append(t.Labeled, i)
		}
		return x, t, nil
	}

	labeled, err := readValues(filepath.Join(folder, "labeled.npy"))
	for _, v := range labeled {
		t.Labeled = append(t.Labeled, int(v))
	}
	return x, t, err
}

// measureOne fits once, writes the answer and prints the measurement.
func measureOne(ctx context.Context, folder string) error {
	t, err := readTask(folder)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(t.Threads)
	line, err := t.measure(ctx, folder)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(line)
}

// measure fits once, writes the answer and returns the measurement.
func (t *task) measure(ctx context.Context, folder string) (map[string]any, error) {
	x, targets, err := readFolder(folder)
	if err != nil {
		return nil, err
	}
	s := &kernelmachine.Settings{Epsilon: t.Epsilon, Nu: t.Nu, Tolerance: t.Tolerance}
	var l *sparse.Laplacian
	switch t.Method {
	case kernelmachine.LapRLSName:
		w, err := sparse.ReadNPZ(filepath.Join(folder, "W.npz"), 0)
		if err != nil {
			return nil, err
		}
		if l, err = sparse.NewLaplacian(w, sparse.Normalized); err != nil {
			return nil, err
		}
		s.Regularizer = regularizer.Regularizer{GammaA: t.GammaA, GammaI: t.GammaI,
			Laplacian: sparse.Normalized}
	case kernelmachine.SVMName:
		s.Method = kernelmachine.SVM
		targets.Classes = []int64{-1, 1}
	case kernelmachine.SVRName:
		s.Method = kernelmachine.SVR
	case kernelmachine.OneClassName:
		s.Method = kernelmachine.OneClass
		s.GammaA = 1
	}

	// γ_A = 1/(2Cl) turns the papers' norm into LIBSVM's C.
	if t.C > 0 {
		s.GammaA = 1 / (2 * t.C * float64(len(targets.Labeled)))
	}
	begin := time.Now()
	cpu := cpuSeconds()
	m, err := kernelmachine.Fit(ctx, &kernelmachine.Data{Points: x,
		Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: t.Sigma}, Laplacian: l}, targets, s)
	if err != nil {
		return nil, err
	}

	// Writing the answer is not timed.
	line := map[string]any{"peer": ours, "seconds": time.Since(begin).Seconds(),
		"cpu_seconds": cpuSeconds() - cpu, "peak_bytes": peers.PeakBytes()}
	if l == nil {
		line["bias"] = m.Intercepts[0]
		line["gap"] = m.Gap
		return line, npy.WriteFile(answerOf(folder, ours), nil, coefficients(m, x))
	}

	p, err := m.Predict(ctx, x, nil)
	if err != nil {
		return nil, err
	}
	n, c := p.Scores.Dims()
	return line, npy.WriteFile(answerOf(folder, ours), []int{n, c}, p.Scores.RawMatrix().Data)
}

// coefficients returns the coefficients of all points of x: 0 except at the support points
// that m keeps, which are in the order of x.
func coefficients(m *kernelmachine.Machine, x *data.Dense[float64]) []float64 {
	support := m.Points.(*data.Dense[float64])
	v := make([]float64, x.Rows)
	p := 0
	for i := range v {
		if p < support.Rows && slices.Equal(x.Row(i), support.Row(p)) {
			v[i] = m.Coefficients.At(p, 0)
			p++
		}
	}
	return v
}

// cpuSeconds returns the processor time of all threads of this process so far, in steps of
// 0.01 s, or 0 if the system does not tell.
func cpuSeconds() float64 {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}

	// Fields 14 and 15 of the line, counted behind the name of the program, in ticks of 1/100 s.
	var user, system float64
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return (user + system) / 100
}
