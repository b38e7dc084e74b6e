package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/pca"
	"github.com/bigfit/bigfit/sparse"
)

// task describes a problem for all programs. Its folder holds:
//
//	task.json                  this struct
//	X.npy        n×d float64   points
//	Y.npy        l×c float64   targets of the labeled points
//	labeled.npy  l int64       numbers of the labeled points; LapRLS only, for the others l = n
//	W.npz        n×n sparse    graph, in SciPy's format; LapRLS only
type task struct {
	Title     string  `json:"title"`
	Method    string  `json:"method"` // as in bigfit fit --model
	Sigma     float64 `json:"sigma"`
	C         float64 `json:"c,omitempty"`
	Epsilon   float64 `json:"epsilon,omitempty"`
	Nu        float64 `json:"nu,omitempty"`
	Tolerance float64 `json:"tolerance,omitempty"`
	GammaA    float64 `json:"gamma_a,omitempty"`
	GammaI    float64 `json:"gamma_i,omitempty"`
	Threads   int     `json:"threads"`
}

// work is one row of the table.
type work struct {
	name, script string
	make         func(ctx context.Context, folder string, n int) (*task, error)
}

// works lists the works in the order of the table.
var works = []work{
	{"laprls", "kernel_laprls.py", uspst},
	{"svc", "kernel_libsvm.py", digits(task{Title: "C-SVC", Method: kernelmachine.SVMName, C: 10})},
	{"one-class", "kernel_libsvm.py", digits(task{Title: "one class", Method: kernelmachine.OneClassName,
		Nu: 0.1})},
	{"svr-4", "kernel_libsvm.py", waves(4)},
	{"svr-64", "kernel_libsvm.py", waves(64)},
}

// write writes the folder of the task.
func (w *work) write(ctx context.Context, folder string, o *options) (*task, error) {
	if err := os.Mkdir(folder, 0o777); err != nil {
		return nil, err
	}
	t, err := w.make(ctx, folder, o.points)
	if err != nil {
		return nil, err
	}
	t.Threads = o.threads
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return t, os.WriteFile(filepath.Join(folder, "task.json"), text, 0o666)
}

// readTask reads the description of a task from its folder.
func readTask(folder string) (*task, error) {
	text, err := os.ReadFile(filepath.Join(folder, "task.json"))
	if err != nil {
		return nil, err
	}
	t := new(task)
	return t, json.Unmarshal(text, t)
}

// uspst writes the LapRLS problem of Sindhwani, Niyogi & Belkin (2005) on uspst with the
// first draw of labels: 10 neighbours, weights one, the normalized Laplacian, and σ the mean
// distance.
func uspst(ctx context.Context, folder string, _ int) (*task, error) {
	dir := os.Getenv("BIGFIT_DATA")
	if dir == "" {
		return nil, errors.New("BIGFIT_DATA is not set; it names the folder with sindhwani_uspst.npz and MNIST")
	}
	path := filepath.Join(dir, "sindhwani_uspst.npz")
	x, err := data.ReadPoints(path, data.ReadOptions{})
	if err != nil {
		return nil, err
	}

	y, err := data.ReadLabels(path, data.LabelOptions{NoUnlabeled: true})
	if err != nil {
		return nil, err
	}
	draws, err := data.ReadPoints(path+":idxLabs", data.ReadOptions{})
	if err != nil {
		return nil, err
	}
	// The first row of idxLabs is the first published draw.
	_, l := draws.Dims()
	first := make([]float64, l)
	data.RowTo(first, draws, 0)
	rows := make([]int, l)
	for i, v := range first {
		rows[i] = int(v)
	}
	targets, err := models.ClassTargets(y.Keep(rows))
	if err != nil {
		return nil, err
	}

	labeled := make([]int64, l)
	for p, i := range targets.Labeled {
		labeled[p] = int64(i)
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		return nil, err
	}
	w, _, err := knn.NewGraph(ctx, ix, knn.GraphSettings{K: 10})
	if err != nil {
		return nil, err
	}

	sigma, err := kernel.Width(x, kernel.Mean, 1)
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	_, c := targets.Y.Dims()
	return &task{
			Title:  fmt.Sprintf("LapRLS, uspst %d×%d, %d labels, %d classes", n, d, l, c),
			Method: kernelmachine.LapRLSName, Sigma: sigma, GammaA: 1e-6, GammaI: 1e-2,
		}, errors.Join(writePoints(folder, x), npy.WriteFile(filepath.Join(folder, "Y.npy"), []int{l, c},
			targets.Y.RawMatrix().Data),
			npy.WriteFile(filepath.Join(folder, "labeled.npy"), nil, labeled),
			sparse.WriteNPZ(filepath.Join(folder, "W.npz"), w, nil))
}

// writePoints writes X.npy.
func writePoints(folder string, x data.Points) error {
	n, d := x.Dims()
	values := make([]float64, n*d)
	for i := range n {
		data.RowTo(values[i*d:][:d], x, i)
	}
	return npy.WriteFile(filepath.Join(folder, "X.npy"), []int{n, d}, values)
}

// digits returns a function that writes a problem on the first n fours and nines of MNIST,
// in 50 principal components. t holds the settings.
func digits(t task) func(context.Context, string, int) (*task, error) {
	return func(ctx context.Context, folder string, n int) (*task, error) {
		e, err := papers.MNIST(papers.Options{Dir: os.Getenv("BIGFIT_DATA")})
		if err != nil {
			return nil, err
		}
		var rows []int
		var y []float64
		for i, c := range e.Truth.Index {
			switch digit := e.Truth.Classes[c]; {
			case len(rows) == n:
			case digit == 4:
				rows = append(rows, i)
				y = append(y, -1)
			case digit == 9:
				rows = append(rows, i)
				y = append(y, 1)
			}
		}

		// Fewer points would silently make an easier task.
		if len(rows) < n {
			return nil, fmt.Errorf("-n %d: there are %d fours and nines", n, len(rows))
		}
		all := data.Select(e.X, rows)
		p, err := pca.New(ctx, all, 50)
		if err != nil {
			return nil, err
		}
		x, err := p.Apply(all)
		if err != nil {
			return nil, err
		}

		sigma, err := kernel.Width(x, kernel.Mean, 1)
		if err != nil {
			return nil, err
		}
		// Half of the mean distance: the digits are closer within a class.
		out := t
		out.Title = fmt.Sprintf("%s, MNIST 4 and 9, %d×50", t.Title, n)
		out.Sigma = sigma / 2
		out.Tolerance = tolerance
		return &out, errors.Join(writePoints(folder, x), npy.WriteFile(filepath.Join(folder, "Y.npy"),
			[]int{n, 1}, y))
	}
}

// tolerance is the stopping tolerance of the support vector machines. With LIBSVM's default,
// 1e-3, the objectives of regression differ by a few parts in a million, more than
// objectiveBar.
const tolerance = 1e-4

// waves returns a function that writes a regression on n normal points x of d coordinates,
// with targets Σ_j sin(2x_j)/j plus noise of deviation 0.1.
func waves(d int) func(context.Context, string, int) (*task, error) {
	return func(ctx context.Context, folder string, n int) (*task, error) {
		rng := rand.New(rand.NewPCG(3, 2))
		x := data.NewDense[float64](n, d)
		z := make([]float64, n)
		for i := range z {
			for j := range d {
				v := rng.NormFloat64()
				x.Row(i)[j] = v
				z[i] += math.Sin(2*v) / float64(j+1)
			}
			z[i] += 0.1 * rng.NormFloat64()
		}

		// Distances grow with the root of d, and so does σ.
		return &task{
			Title:  fmt.Sprintf("ε-SVR, sum of sines, %d×%d", n, d),
			Method: kernelmachine.SVRName, Sigma: math.Sqrt(float64(d)) / 2, C: 2, Epsilon: 0.1,
			Tolerance: tolerance,
		}, errors.Join(writePoints(folder, x), npy.WriteFile(filepath.Join(folder, "Y.npy"), []int{n, 1}, z))
	}
}
