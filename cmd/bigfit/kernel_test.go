package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// A ridge regression on the kernel that is written, by the normal equations alone, is laprls, on the
// training points and on new ones.
func TestKernel(t *testing.T) {
	t.Chdir(t.TempDir())
	const n, m = 80, 20
	x, truth := synthetic.TwoMoons(n+m, 0.1, 7)
	must(t, npy.WriteFile("X.npy", []int{n, 2}, x.Data[:2*n]))
	must(t, npy.WriteFile("new.npy", []int{m, 2}, x.Data[2*n:]))
	y := make([]int64, n)
	var labeled []int
	for i := range y {
		y[i] = -1
		if i%9 == 0 {
			y[i] = int64(truth.Index[i])
			labeled = append(labeled, i)
		}
	}
	must(t, npy.WriteFile("y.npy", nil, y))

	norms := "--gamma-a 0.01 --gamma-i 0.2 --power 2 --laplacian normalized --sigma 0.5 -k 6"
	out := succeed(t, strings.Fields("kernel X.npy "+norms+" -o K.npy --new new.npy --new-output Kn.npy --variances v.npy --json -q")...)
	var sum struct {
		Points, New int
		Sigma       float64
	}
	must(t, json.Unmarshal([]byte(strings.ReplaceAll(out, "new_points", "new")), &sum))
	if sum.Points != n || sum.New != m || sum.Sigma != 0.5 {
		t.Errorf("the summary is %+v of %s", sum, out)
	}
	succeed(t, strings.Fields("fit --model laprls X.npy y.npy "+norms+" -o m.npz -q")...)
	succeed(t, strings.Fields("predict m.npz X.npy --scores train.npy -o p.npy -q")...)
	succeed(t, strings.Fields("predict m.npz new.npy --scores fresh.npy -o p.npy -q")...)

	k := matrixOf(t, "K.npy", n, n)
	l := len(labeled)
	a := mat.NewDense(l, l, nil)
	b := mat.NewVecDense(l, nil)
	for p, i := range labeled {
		for q, j := range labeled {
			a.Set(p, q, k.At(i, j))
		}
		a.Set(p, p, a.At(p, p)+0.01*float64(l))
		b.SetVec(p, float64(2*y[i]-1))
	}
	var beta mat.VecDense
	must(t, beta.SolveVec(a, b))
	for _, c := range []struct {
		name, scores string
		k            *mat.Dense
	}{{"training points", "train.npy", k}, {"new points", "fresh.npy", matrixOf(t, "Kn.npy", m, n)}} {
		rows, _ := c.k.Dims()
		scores := matrixOf(t, c.scores, rows, 2)
		for i := range rows {
			f := 0.0
			for p, j := range labeled {
				f += c.k.At(i, j) * beta.AtVec(p)
			}
			if !(math.Abs(f-scores.At(i, 1)) <= 1e-9) {
				t.Fatalf("%s: point %d has %v, laprls %v", c.name, i, f, scores.At(i, 1))
			}
		}
	}
	v, err := npy.ReadFile("v.npy", 1<<20)
	must(t, err)
	variances, err := v.Float64s()
	must(t, err)
	for i, s := range variances {
		if !(s >= 0 && s <= 1) {
			t.Errorf("variance %d is %v", i, s)
		}
	}

	// The graph of a file gives the same bits, and γ_I = 0 the kernel alone.
	succeed(t, strings.Fields("graph X.npy -k 6 -o g.npz -q")...)
	succeed(t, strings.Fields("kernel g.npz X.npy --gamma-a 0.01 --gamma-i 0.2 --power 2 --laplacian normalized --sigma 0.5 -o again.npy -q --threads 1")...)
	if !mat.Equal(k, matrixOf(t, "again.npy", n, n)) {
		t.Error("the graph of a file gives other values")
	}
	succeed(t, strings.Fields("kernel X.npy --sigma 0.5 -o plain.npy -q")...)
	succeed(t, strings.Fields("kernel X.npy --sigma 0.5 --gamma-a 0.1 --gamma-i 0.1 -o tenth.npy -q")...)
	if !mat.EqualApprox(matrixOf(t, "plain.npy", n, n), matrixOf(t, "tenth.npy", n, n), 1e-12) {
		t.Error("the default is not γ_I/γ_A = 1")
	}
	succeed(t, strings.Fields("kernel X.npy --gamma-i 0 --sigma 0.5 -o plain.npy -q")...)
	plain := matrixOf(t, "plain.npy", n, n)
	for i := range n {
		d0 := x.Data[2*i] - x.Data[0]
		d1 := x.Data[2*i+1] - x.Data[1]
		if want := math.Exp(-(d0*d0 + d1*d1) / 0.5); !(math.Abs(plain.At(i, 0)-want) <= 1e-12) {
			t.Fatalf("k(x_%d, x_0) is %v, not %v", i, plain.At(i, 0), want)
		}
	}

	// Values in place of points: the plain kernel, warped, is the warped kernel.
	succeed(t, strings.Fields("kernel g.npz plain.npy --kernel precomputed --gamma-a 0.01 --gamma-i 0.2 --power 2 --laplacian normalized "+
		"-o given.npy --new plain.npy --new-output givenn.npy -q")...)
	for _, name := range []string{"given.npy", "givenn.npy"} {
		if !mat.EqualApprox(k, matrixOf(t, name, n, n), 1e-9) {
			t.Errorf("%s: values in place of points give others", name)
		}
	}

	must(t, npy.WriteFile("wide.npy", []int{2, 3}, make([]float64, 6)))
	for _, c := range []struct {
		line string
		want []string
	}{
		{"kernel", []string{"a graph, or points, are needed"}},
		{"kernel g.npz --gamma-i 1", []string{"needs the points (-X)"}},
		{"kernel X.npy --gamma-i -1", []string{"--gamma-i is -1"}},
		{"kernel X.npy --gamma-i 1 --gamma-a 0", []string{"--gamma-a is 0"}},
		{"kernel X.npy --gamma-i 1 --kernel precomputed", []string{"of which no graph is made"}},
		{"kernel g.npz plain.npy --gamma-i 1 --kernel precomputed --new plain.npy --variances v.npy", []string{"--variances needs points"}},
		{"kernel X.npy --gamma-i 1 --new new.npy", []string{"--new needs a file to write"}},
		{"kernel X.npy --gamma-i 1 --variances v.npy", []string{"give them with --new"}},
		{"kernel X.npy --gamma-i 1 --new wide.npy --new-output o.npy", []string{"wide.npy", "3", "2"}},
		{"kernel X.npy --gamma-i 1 --new new.npy --new-output K.npy", []string{"K.npy is to be written twice"}},
	} {
		fail(t, 2, c.want, strings.Fields(c.line)...)
	}
}

// matrixOf reads an array of the given shape.
func matrixOf(t *testing.T, path string, rows, columns int) *mat.Dense {
	t.Helper()
	a, err := npy.ReadFile(path, 1<<24)
	must(t, err)
	if len(a.Shape) != 2 || a.Shape[0] != rows || a.Shape[1] != columns {
		t.Fatalf("%s has the shape %v, not %d×%d", path, a.Shape, rows, columns)
	}
	values, err := a.Float64s()
	must(t, err)
	return mat.NewDense(rows, columns, values)
}
